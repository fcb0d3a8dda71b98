// SPDX-License-Identifier: Apache-2.0
//
// Names that fold: one row each in the live report, in the log, in segments and
// in what is recovered; what is wanted is decided by the full name.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <signal.h>
#include <sys/wait.h>

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include "inject/inject.h"
#include "mark/recorder.h"
#include "names/names_area.h"
#include "tests/support/long_run.h"
#include "tests/support/patient_flush.h"
#include "tests/support/report_text.h"
#include "tests/unit/started_case.h"

namespace pprof_test {
namespace {

constexpr uint32_t kCategory = PPROF_CATEGORY_INFERENCE;

struct Row {
  size_t calls;
  uint64_t ns;
  bool operator==(const Row &other) const {
    return calls == other.calls && ns == other.ns;
  }
};

class NamesFoldTest : public StartedTest {
 protected:
  static void Mark(const std::string &name) {
    pprof_push_name(name.c_str(), kCategory);
    pprof_pop();
  }
  static void Decode(int num, int from = 0) {
    for (int i = from; i < from + num; i++) {
      Mark("decode step " + std::to_string(i));
      if (i % 500 == 499) FlushPatiently(pprof_session_current());
    }
  }
  // Rows of the category by name, as the report has them.
  static std::map<std::string, Row> RowsOf(const std::string &path) {
    Report report;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read(path.c_str(), report.sink(), &error))
        << error.text;
    const ppi_figures *figures = ppi_report_figures(report.get());
    std::map<std::string, Row> rows;
    for (size_t i = 0; figures && i < figures->num_names; i++) {
      const ppi_report_name &name = figures->names[i];
      if (name.category == kCategory)
        rows[name.name] = {static_cast<size_t>(name.host.n), name.host.sum};
    }
    return rows;
  }
  // What the events of the log add up to, whatever they are called.
  static Row SumOf(const std::string &path) {
    Row sum = {0, 0};
    for (const RecordedEvent &event : Events(path).events) {
      if (event.event.kind != PPROF_KIND_RANGE) continue;
      sum.calls++;
      sum.ns += event.event.end_ns - event.event.start_ns;
    }
    return sum;
  }
};

using Rows = std::map<std::string, Row>;

TEST_F(NamesFoldTest, OneRowWhoseTotalsAreTheMembers) {
  Start("names: {fold: all}\n");
  Decode(1000);
  Stop();
  const Row sum = SumOf(At("run.pplog"));
  EXPECT_EQ(1000u, sum.calls);
  EXPECT_EQ((Rows{{"decode step {}", sum}}), RowsOf(At("run.pplog")));
}

TEST_F(NamesFoldTest, OwnNamesStayUnlessAsked) {
  Start("");
  Decode(100);
  Stop();
  EXPECT_EQ(100u, RowsOf(At("run.pplog")).size());
}

// Of free numbers all names from the second on, and the first one afterwards;
// digits of words stay, and so do counters.
TEST_F(NamesFoldTest, AllFoldsFromTheSecondNameOn) {
  Start("names: {fold: all}\n");
  for (int i = 0; i < 32; i++) Mark("layer" + std::to_string(i));
  Mark("once 1");
  Decode(2);
  Stop();
  const Rows rows = RowsOf(At("run.pplog"));
  EXPECT_EQ(34u, rows.size());
  EXPECT_EQ(1u, rows.count("once 1"));
  ASSERT_EQ(1u, rows.count("decode step {}"));
  EXPECT_EQ(2u, rows.at("decode step {}").calls);
}

// Python's sites stay from the second time on that a name comes.
TEST_F(NamesFoldTest, ChosenShapesAndAllFoldWhatPythonNames) {
  for (const char *config :
       {"names: {fold: all}\n", "names: {shapes: [\"step {i} of {n}\"]}\n"}) {
    Start(config);
    std::deque<std::string> texts;
    std::deque<pprof_site> kept;
    for (int i = 0; i < 200; i++) {
      texts.push_back("step " + std::to_string(i) + " of 200");
      pprof_site once = {
          texts.back().c_str(), kCategory, 0, 0, {PPROF_SITE_ONCE_, 0}};
      pprof_push(&once);
      pprof_pop();
      kept.push_back(
          {texts.back().c_str(), kCategory, 0, 0, {PPROF_SITE_NAMED_, 0}});
    }
    for (int round = 0; round < 2; round++)
      for (pprof_site &site : kept) {
        pprof_push(&site);
        pprof_pop();
      }
    pprof_site gauges[] = {{"free 0", kCategory, 0, 0, {PPROF_SITE_NAMED_, 0}},
                           {"free 1", kCategory, 0, 0, {PPROF_SITE_NAMED_, 0}}};
    for (pprof_site &gauge : gauges) pprof_count(&gauge, 1);
    Stop();
    const std::string path = At("run.pplog");
    EXPECT_EQ((Rows{{"step {} of {}", SumOf(path)}}), RowsOf(path)) << config;
    EXPECT_EQ(600u, SumOf(path).calls) << config;
    std::set<std::string> counters;
    for (const RecordedEvent &event : Events(path).events)
      if (event.event.kind == PPROF_KIND_COUNTER) counters.insert(event.name);
    EXPECT_EQ((std::set<std::string>{"free 0", "free 1"}), counters);
    unlink(path.c_str());
  }
}

TEST_F(NamesFoldTest, KeptNamesStayAndForcedOnesFoldAtOnce) {
  Start("names: {fold: all, keep: [layer*], shapes: [\"batch {n}\"]}\n");
  for (int i = 0; i < 50; i++) Mark("layer" + std::to_string(i));
  Mark("batch 1");
  Mark("batch 2");
  Stop();
  const Rows rows = RowsOf(At("run.pplog"));
  EXPECT_EQ(51u, rows.size());
  ASSERT_EQ(1u, rows.count("batch {}"));
  EXPECT_EQ(2u, rows.at("batch {}").calls);
}

// What a server marks by NVTX, each name once.
std::string ServersName(uint64_t i) {
  const std::string n = std::to_string(i), batch = std::to_string(1 + i % 64);
  switch (i % 5) {
    case 0:
      return "execute_context_" + n + "(" + n + ")_generation_" + batch;
    case 1:
      return "Linear in=[[" + n + ",4096]] out=[[" + n + ",11008]]";
    case 2:
      return "block" + n + " step " + n;
    case 3:
      return "req 123e4567-e89b-12d3-a456-" + std::to_string(100000000000 + i);
    default:
      return "decode step " + n;
  }
}

uint64_t NamesEnd() {
  return __atomic_load_n(&ppi_recorder_in_force.spool.header->names_end,
                         __ATOMIC_RELAXED);
}

TEST_F(NamesFoldTest, NamesWithoutEndAreFewRowsAndTakeNoMemory) {
  const uint64_t num = Rounds(200000, 10000000);
  uint64_t resident = 0, names_end = 0;
  Start("");
  for (uint64_t i = 0; i < num; i++) {
    const std::string name = ServersName(i);
    pprof_inject_push_(0, nullptr, name.c_str(),
                       PPROF_INJECT_STYLE_(kCategory, 0));
    pprof_inject_pop_(0);
    if (i % 500 == 499) FlushPatiently(pprof_session_current());
    if (i != num / 10) continue;
    resident = ResidentBytes();
    names_end = NamesEnd();
  }
  EXPECT_EQ(names_end, NamesEnd());
  if (!kIsSanitized) {
    EXPECT_LE(ResidentBytes(), resident + (1u << 20));
  }
  Stop();
  uint64_t calls = 0;
  const Rows rows = RowsOf(At("run.pplog"));
  for (const auto &row : rows) calls += row.second.calls;
  EXPECT_EQ(num, calls);
  EXPECT_EQ(5u, rows.size());
  EXPECT_EQ(num / 5, rows.count("req {}") ? rows.at("req {}").calls : 0);
}

TEST_F(NamesFoldTest, ManyNamesAreFewSites) {
  Start("names: {fold: all}\n");
  Decode(200000);
  Stop();
  const Recording read = Events(At("run.pplog"));
  EXPECT_EQ(200000u, read.events.size());
  EXPECT_GE(40u, read.sites.size());
  EXPECT_EQ(0u, read.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

TEST_F(NamesFoldTest, FiltersSeeTheFullName) {
  Start("names: {fold: all}\nexclude: [\"decode step 7??\"]\n");
  Decode(1000);
  Stop();
  const Recording read = Events(At("run.pplog"));
  EXPECT_EQ(900u, read.events.size());
  EXPECT_EQ(100u, read.Total(PPI_TOTAL_EXCLUDED));
  EXPECT_EQ(1u, RowsOf(At("run.pplog")).size());
}

TEST_F(NamesFoldTest, WindowRulesSeeTheFullName) {
  Start(
      "names: {fold: all}\n"
      "capture: {marker: decode step 900, from: 1, to: 1}\n");
  Decode(1000);
  Stop();
  const Recording read = Events(At("run.pplog"));
  ASSERT_EQ(1u, read.events.size());
  EXPECT_EQ("decode step 900", read.events[0].name);
}

TEST_F(NamesFoldTest, SegmentsFoldEachAlone) {
  Start("names: {fold: all}\nrotate: {size: 64KiB}\n");
  Decode(20);
  FlushPatiently(pprof_session_current());
  Decode(120000, 20);
  Mark("decode step 3");
  Stop();
  ASSERT_TRUE(pplog::Exists(At("run.0002.pplog")));
  size_t calls = 0;
  for (int i = 1;; i++) {
    char name[32];
    snprintf(name, sizeof name, "run.%04d.pplog", i);
    if (!pplog::Exists(At(name))) break;
    const Rows rows = RowsOf(At(name));
    ASSERT_EQ(1u, rows.size()) << name;
    EXPECT_EQ("decode step {}", rows.begin()->first) << name;
    calls += rows.begin()->second.calls;
  }
  EXPECT_EQ(120021u, calls);
}

TEST_F(NamesFoldTest, AKilledProcessFoldsWhenRecovered) {
  pid_t pid = fork();
  if (pid == 0) {
    Start("names: {fold: all}\ndrain_interval: 1s\n");
    Decode(300);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string path = Recover(At("run.pplog.part"));
  const Row sum = SumOf(path);
  EXPECT_EQ(300u, sum.calls);
  EXPECT_EQ((Rows{{"decode step {}", sum}}), RowsOf(path));
}

TEST_F(NamesFoldTest, HashedNamesFold) {
  Start("names: {fold: all}\nprivacy: {names: hash}\n");
  Decode(1000);
  Stop();
  EXPECT_EQ(1u, RowsOf(At("run.pplog")).size());
  EXPECT_GE(40u, Events(At("run.pplog")).sites.size());
}

// Ids go from name to name; what folds keeps its own.
TEST_F(NamesFoldTest, AmongNamesWithoutEnd) {
  Start("names: {fold: all}\n");
  std::string word = "aaaa";
  for (uint32_t i = 0; i < 2 * PPI_MAX_SITES; i++) {
    for (size_t k = 0, left = i; k < 4; k++, left /= 20)
      word[k] = static_cast<char>('g' + left % 20);
    Mark("job " + word);
    if (i % 100 == 0) Mark("decode step " + std::to_string(i));
    if (i % 1000 == 0) FlushPatiently(pprof_session_current());
  }
  Stop();
  const Rows rows = RowsOf(At("run.pplog"));
  ASSERT_EQ(1u, rows.count("decode step {}"));
  EXPECT_EQ(2 * PPI_MAX_SITES / 100 + 1, rows.at("decode step {}").calls);
}

}  // namespace
}  // namespace pprof_test
