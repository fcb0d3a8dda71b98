// SPDX-License-Identifier: Apache-2.0
//
// What stood in names that fold: with each range in the log, after a kill and
// from window to window, and as range and sum in the report.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <signal.h>
#include <sys/wait.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/inject.h"
#include "mark/recorder.h"
#include "spool/chunks.h"
#include "tests/support/report_text.h"
#include "tests/unit/started_case.h"

namespace pprof_test {
namespace {

constexpr uint32_t kCategory = PPROF_CATEGORY_INFERENCE;
using Numbers = std::vector<uint64_t>;

struct Sums {
  uint64_t n, min, max, sum;
  bool operator==(const Sums &other) const {
    return n == other.n && min == other.min && max == other.max &&
           sum == other.sum;
  }
};
void PrintTo(const Sums &sums, std::ostream *out) {
  *out << sums.n << ": " << sums.min << " to " << sums.max << ", " << sums.sum;
}
// Of a row, by place, those that there are.
using Places = std::map<size_t, Sums>;

class NamesNumbersTest : public StartedTest {
 protected:
  static void Push(const std::string &name) {
    pprof_inject_push_(0, nullptr, name.c_str(),
                       PPROF_INJECT_STYLE_(kCategory, 0));
  }
  static void Pop() {
    pprof_inject_pop_(0);
  }
  static void Mark(const std::string &name) {
    Push(name);
    Pop();
  }
  static void Decode(int num, int from = 0) {
    for (int i = from; i < from + num; i++)
      Mark("decode step " + std::to_string(i));
  }
  static Places PlacesOf(const std::string &path, const std::string &row) {
    Report report;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read(path.c_str(), report.sink(), &error))
        << error.text;
    const ppi_figures *figures = ppi_report_figures(report.get());
    Places places;
    for (size_t i = 0; figures && i < figures->num_names; i++) {
      const ppi_report_name &name = figures->names[i];
      for (size_t k = 0; row == name.name && k < PPROF_MOST_NUMBERS; k++) {
        const ppi_number_sums &at = name.numbers.at[k];
        if (at.n) places[k + 1] = {at.n, at.min, at.max, at.sum};
      }
    }
    return places;
  }
  static const RecordedEvent &The(const Recording &read,
                                  const std::string &name) {
    static const RecordedEvent none = {};
    for (const RecordedEvent &event : read.events)
      if (event.name == name && !event.numbers.empty()) return event;
    ADD_FAILURE() << name;
    return none;
  }
};

// The names that came before the shape folded, and again, are among them.
TEST_F(NamesNumbersTest, RangeAndSumOfAllCalls) {
  Start("");
  Decode(1000);
  Decode(10);
  Stop();
  EXPECT_EQ((Places{{1, {1010, 0, 999, 999 * 1000 / 2 + 45}}}),
            PlacesOf(At("run.pplog"), "decode step {}"));
}

TEST_F(NamesNumbersTest, FourPlacesInTheirOrder) {
  Start("");
  for (int i = 0; i < 100; i++) {
    const std::string n = std::to_string(i);
    Mark("context_2(" + n + ")_generation_" + n + "(32)_7_8");
  }
  Stop();
  EXPECT_EQ(
      (Places{{1, {100, 2, 2, 200}},
              {2, {100, 0, 99, 4950}},
              {3, {100, 0, 99, 4950}},
              {4, {100, 32, 32, 3200}}}),
      PlacesOf(At("run.pplog"), "context_{}({})_generation_{}({})_{}_{}"));
}

TEST_F(NamesNumbersTest, OfListsAndHexadecimalNumbers) {
  Start("");
  for (int i = 1; i <= 50; i++) {
    char name[64];
    snprintf(name, sizeof name, "Linear in=[[%d,4096]] at 0x%x", i, i);
    Mark(name);
  }
  Stop();
  EXPECT_EQ((Places{{1, {50, 1, 50, 1275}},
                    {2, {50, 4096, 4096, 204800}},
                    {3, {50, 1, 50, 1275}}}),
            PlacesOf(At("run.pplog"), "Linear in={} at {}"));
}

// `layer7 step {}` folds first, and into `layer{} step {}` later.
TEST_F(NamesNumbersTest, OfAShapeThatFoldsIntoAWiderOne) {
  Start("");
  for (int layer = 0; layer < 40; layer++)
    for (int step = 0; step < 40; step++)
      Mark("layer" + std::to_string(layer) + " step " + std::to_string(step));
  Stop();
  EXPECT_EQ(
      (Places{{1, {1600, 0, 39, 40 * 780}}, {2, {1600, 0, 39, 40 * 780}}}),
      PlacesOf(At("run.pplog"), "layer{} step {}"));
}

TEST_F(NamesNumbersTest, ASumThatIsTooLargeIsTheLargest) {
  Start("names: {shapes: [\"at {n}\"]}\n");
  Mark("at 0");
  for (int i = 0; i < 3; i++) Mark("at 0xfffffffffffffffe");
  Mark("at 0xffffffffffffffff");  // no number
  Stop();
  EXPECT_EQ((Places{{1, {4, 0, UINT64_MAX - 1, UINT64_MAX}}}),
            PlacesOf(At("run.pplog"), "at {}"));
}

TEST_F(NamesNumbersTest, OfNestedRangesMarksAndThoseThatEndAnywhere) {
  Start(
      "names: {shapes: [\"outer {n}\", \"inner {n}\", \"mark {n} {n}\","
      " \"async {n} {n} {n} {n}\"]}\n");
  for (const char *name : {"outer 0", "inner 0", "mark 0 0", "async 0 0 0 0"})
    Mark(name);
  Push("outer 11");
  Push("inner 22");
  pprof_inject_mark_(0, nullptr, "mark 3 4", PPROF_INJECT_STYLE_(kCategory, 0));
  pprof_range range = pprof_inject_begin_(0, nullptr, "async 5 6 7 8",
                                          PPROF_INJECT_STYLE_(kCategory, 0));
  Pop();
  pprof_flow(5);
  Pop();
  std::thread([&] { pprof_range_end(range); }).join();
  Stop();
  const Recording read = Events(At("run.pplog"));
  EXPECT_EQ((Numbers{11}), The(read, "outer {}").numbers);
  EXPECT_EQ((std::vector<uint64_t>{5}), The(read, "outer {}").flows);
  EXPECT_EQ((Numbers{22}), The(read, "inner {}").numbers);
  EXPECT_EQ((Numbers{3, 4}), The(read, "mark {} {}").numbers);
  EXPECT_EQ((Numbers{5, 6, 7, 8}), The(read, "async {} {} {} {}").numbers);
  EXPECT_EQ(0u, The(read, "async {} {} {} {}").event.stream);
}

TEST_F(NamesNumbersTest, OfNamesThatPythonGives) {
  Start("names: {fold: all}\n");
  for (uint64_t i = 0; i < 100; i++) {
    const std::string name = "step " + std::to_string(i);
    pprof_site site = {name.c_str(), kCategory, 0, 0, {PPROF_SITE_ONCE_, 0}};
    pprof_push(&site);
    pprof_pop();
  }
  for (int i = 0; i < 100; i++) {
    pprof_push_name(("turn " + std::to_string(i)).c_str(), kCategory);
    pprof_pop();
  }
  Stop();
  EXPECT_EQ((Places{{1, {100, 0, 99, 4950}}}),
            PlacesOf(At("run.pplog"), "step {}"));
  EXPECT_EQ((Places{{1, {100, 0, 99, 4950}}}),
            PlacesOf(At("run.pplog"), "turn {}"));
}

TEST_F(NamesNumbersTest, NoneWhereNothingFoldsOrNamesAreHashed) {
  for (const char *config :
       {"names: {fold: off}\n", "privacy: {names: hash}\n"}) {
    Start(config);
    Decode(100);
    Stop();
    for (const RecordedEvent &event : Events(At("run.pplog")).events)
      EXPECT_TRUE(event.numbers.empty()) << config << event.name;
    ASSERT_EQ(0, unlink(At("run.pplog").c_str()));
  }
}

// Its window ends with step 1.
TEST_F(NamesNumbersTest, ARangeThatAnEdgeCutsHasThem) {
  Start("names: {shapes: [\"long {n}\"]}\ncapture: {steps: [0, 2]}\n");
  Mark("long 0");
  pprof_step(1);
  Push("long 17");
  pprof_step(1);
  Pop();
  Stop();
  const RecordedEvent cut = The(Events(At("run.pplog")), "long {}");
  EXPECT_TRUE(cut.event.flags & PPROF_FLAG_CLIPPED);
  EXPECT_EQ((Numbers{17}), cut.numbers);
}

TEST_F(NamesNumbersTest, AKilledProcessHasThemWhenRecovered) {
  pid_t pid = fork();
  if (pid == 0) {
    Start(
        "names: {shapes: [\"long {n}\", \"async {n}\"]}\n"
        "drain_interval: 1s\n");
    Mark("long 0");
    Decode(300);
    Push("long 17");
    Mark("async 0");
    pprof_inject_begin_(0, nullptr, "async 18",
                        PPROF_INJECT_STYLE_(kCategory, 0));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string path = Recover(At("run.pplog.part"));
  EXPECT_EQ((Places{{1, {300, 0, 299, 299 * 300 / 2}}}),
            PlacesOf(path, "decode step {}"));
  const Recording read = Events(path);
  EXPECT_EQ((Numbers{17}), The(read, "long {}").numbers);
  EXPECT_EQ((Numbers{18}), The(read, "async {}").numbers);
}

// A thread that has its lane marks on in it; for numbers there is no chunk.
TEST_F(NamesNumbersTest, WithoutRoomTheRangeIsThereAndTheNumbersAreCounted) {
  Start(
      "names: {shapes: [\"late {n}\"]}\nmemory_limit: 2MiB\n"
      "drain_interval: 1s\n");
  Mark("late 0");
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  std::vector<uint32_t> taken;
  while (uint32_t chunk = ppi_chunk_take(spool)) taken.push_back(chunk);
  Mark("late 1");
  for (uint32_t chunk : taken) ppi_chunk_give(spool, chunk);
  Mark("late 2");
  Stop();
  const Recording read = Events(At("run.pplog"));
  EXPECT_EQ(3u, read.events.size());
  EXPECT_EQ(0u, read.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(1u, read.Total(PPI_TOTAL_FLOWS_LOST));
  EXPECT_EQ((Places{{1, {2, 0, 2, 2}}}), PlacesOf(At("run.pplog"), "late {}"));
}

TEST_F(NamesNumbersTest, SaysWhetherTheyMakeUpTheName) {
  Start("names: {full: on}\n");
  Decode(100);
  for (int i = 0; i < 100; i++) Mark("in=[" + std::to_string(i) + "]");
  Stop();
  const Recording read = Events(At("run.pplog"));
  EXPECT_EQ(uint32_t{PPROF_NAME_IN_FULL},
            The(read, "decode step {}").full_name);
  EXPECT_EQ(uint32_t{PPROF_NAME_TOO_MUCH}, The(read, "in={}").full_name);
}

}  // namespace
}  // namespace pprof_test
