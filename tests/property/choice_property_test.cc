// SPDX-License-Identifier: Apache-2.0
//
// Random programs under `requests: every`: each request is there as a whole or
// not at all, live and also when recover takes it from a spool left behind; and
// no name of a hashed session lies in its log.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "mark/thread.h"
#include "names/glob.h"
#include "recover/salvage.h"
#include "session/choice_session.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

using Random = std::mt19937_64;
// What a request left behind: {name, kind}, how often.
using Trace = std::map<std::pair<std::string, int>, int>;
using Requests = std::map<uint64_t, Trace>;

PPROF_SITE(mark_site, "mark", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(cross_thread_site, "cross-thread", PPROF_CATEGORY_USER_DEFINED);

// Runs markers and keeps what each of them is to leave. The model knows of a
// stack only that what begins inside a range inherits its requests.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  void Run(int num_markers) {
    for (int i = 0; i < num_markers; i++) Step();
    while (!stack_.empty()) Pop();
  }

  Requests expected;  // of every request
  uint64_t num_begun = 0, num_without = 0;

 private:
  struct Frame {
    std::string name;
    std::vector<uint64_t> flows;
  };

  uint64_t Pick(uint64_t n) {
    return random_() % n;
  }

  void Expect(const std::string &name, int kind,
              const std::vector<uint64_t> &flows) {
    for (uint64_t flow : flows) expected[flow][{name, kind}]++;
    num_begun++;
    num_without += flows.empty();
  }

  void Pop() {
    Expect(stack_.back().name, PPROF_KIND_RANGE, stack_.back().flows);
    stack_.pop_back();
    pprof_pop();
  }

  void Push() {
    Frame frame = {"range " + std::to_string(Pick(5)), {}};
    if (!stack_.empty()) frame.flows = stack_.back().flows;
    stack_.push_back(frame);
    pprof_push_name(frame.name.c_str(), PPROF_CATEGORY_USER_DEFINED);
  }

  void Flow() {
    if (stack_.empty() || stack_.back().flows.size() > 8) return;
    const uint64_t flow = 1 + Pick(200);
    for (uint64_t known : stack_.back().flows)
      if (known == flow) return;
    stack_.back().flows.push_back(flow);
    pprof_flow(flow);
  }

  void Wander() {
    std::vector<uint64_t> flows;
    if (!stack_.empty()) flows = stack_.back().flows;
    pprof_range range = pprof_range_begin(&cross_thread_site);
    if (Pick(2)) {
      const uint64_t flow = 1000 + Pick(50);
      flows.push_back(flow);
      pprof_range_flow(range, flow);
    }
    pprof_range_end(range);
    Expect("cross-thread", PPROF_KIND_RANGE, flows);
  }

  void Step() {
    switch (Pick(6)) {
      case 0:
      case 1:
        if (stack_.size() < 6) Push();
        break;
      case 2:
        if (!stack_.empty()) Pop();
        break;
      case 3:
        Flow();
        break;
      case 4:
        pprof_mark(&mark_site);
        Expect("mark", PPROF_KIND_MARK,
               stack_.empty() ? std::vector<uint64_t>() : stack_.back().flows);
        break;
      default:
        Wander();
    }
  }

  Random random_;
  std::vector<Frame> stack_;
};

Requests KeptOf(const Requests &all, uint64_t every) {
  Requests kept;
  for (const auto &request : all)
    if (ppi_request_is_kept(request.first, every)) kept.insert(request);
  return kept;
}

Requests Found(const Recording &recording) {
  Requests found;
  for (const auto &recorded : recording.events)
    for (uint64_t flow : recorded.flows)
      found[flow][{recorded.name, recorded.event.kind}]++;
  return found;
}

uint64_t NumWithout(const Recording &recording) {
  uint64_t num = 0;
  for (const auto &recorded : recording.events) num += recorded.flows.empty();
  return num;
}

// Of records that are all in the spool still.
void Recover(const std::string &spool, Recording *out, uint64_t *out_excluded) {
  const std::string path = ::testing::TempDir() + "choice_property.spool";
  std::ofstream(path, std::ios::binary) << spool;
  pprof_error error = {};
  ppi_salvage *salvage = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_salvage_open(path.c_str(), &salvage, &error))
      << error.text;
  pprof_sink *sink = RecordingSink::Make(out);
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink));
  *out_excluded = pprof_totals_value(ppi_salvage_totals(salvage),
                                     PPROF_ALL_LANES, "excluded");
  RecordingSink::Destroy(sink);
  ppi_salvage_close(salvage);
  unlink(path.c_str());
}

std::string SpoolBytes() {
  const ppi_spool &spool = ppi_recorder_in_force.spool;
  return std::string(reinterpret_cast<const char *>(spool.base), spool.size);
}

TEST(ChoicePropertyTest, RequestsWholeOrNothing) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE(seed);
    ppi_choice choice = {};
    choice.requests_every = 1 + seed % 7;
    LiveSession live;
    // Half of the spools are looked at before the collector came.
    live.options.drain_interval_us = seed % 2 ? kKeptAwayUs : 200;
    live.options.memory_limit_bytes = 4u << 20;
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(live.session(), &choice));
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    Program program(seed);
    program.Run(600);
    std::string spool;
    if (seed % 2) spool = SpoolBytes();
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    const Requests kept = KeptOf(program.expected, choice.requests_every);
    EXPECT_EQ(kept, Found(live.recording));
    // A checkpoint that comes meanwhile adds the ranges that it lists as open.
    EXPECT_LE(program.num_without, NumWithout(live.recording));
    if (!spool.empty()) {
      EXPECT_EQ(program.num_without, NumWithout(live.recording));
    }
    EXPECT_EQ(0u, live.Stats().lost);
    EXPECT_EQ(program.num_begun, live.Stats().recorded + live.Stats().excluded);
    if (spool.empty()) continue;
    Recording recovered;
    uint64_t excluded = 0;
    Recover(spool, &recovered, &excluded);
    EXPECT_EQ(kept, Found(recovered));
    EXPECT_EQ(program.num_without, NumWithout(recovered));
    EXPECT_EQ(live.Stats().excluded, excluded);
  }
}

// What the collector excluded, and freed, is counted when the rest is found.
TEST(ChoicePropertyTest, FreedOnesAreCounted) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE(seed);
    ppi_choice choice = {};
    choice.requests_every = 5;
    LiveSession live;
    live.options.drain_interval_us = kKeptAwayUs;
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(live.session(), &choice));
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    Program program(seed);
    program.Run(400);
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
    const size_t num_delivered = live.recording.events.size();
    program.Run(400);
    const std::string spool = SpoolBytes();
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    Recording recovered;
    uint64_t excluded = 0;
    Recover(spool, &recovered, &excluded);
    EXPECT_EQ(live.recording.events.size(),
              num_delivered + recovered.events.size());
    EXPECT_EQ(live.Stats().excluded, excluded);
  }
}

std::string Slurp(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

const std::vector<std::string> &Secrets() {
  static const std::vector<std::string> secrets = {
      "zq-confidential-range", "zq-confidential-kind", "zq-confidential-worker",
      "zq-confidential-step"};
  return secrets;
}

void UseSecrets() {
  const std::vector<std::string> &names = Secrets();
  const uint32_t category = pprof_category_register(names[1].c_str());
  pprof_thread_name(names[2].c_str());
  for (int i = 0; i < 3; i++) {
    pprof_push_name(names[0].c_str(), category);
    pprof_push_name(names[3].c_str(), PPROF_CATEGORY_PROFILE_STEP);
    pprof_pop();
    pprof_pop();
    pprof_push_name("known", category);
    pprof_pop();
  }
}

TEST(ChoicePropertyTest, NoClearNameInTheLog) {
  const std::string path = ::testing::TempDir() + "choice_property.pplog";
  const char *allow[] = {"kn*"};
  ppi_choice choice = {};
  choice.hash_names = true;
  choice.allow = allow;
  choice.num_allow = 1;
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  pprof_sink *log = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_log_writer_create(path.c_str(), &log, &live.error))
      << live.error.text;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live.session(), log));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(live.session(), &choice));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  UseSecrets();
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  const std::string spool = SpoolBytes();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  Recording read;
  pprof_sink *sink = RecordingSink::Make(&read);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), sink, &live.error));
  RecordingSink::Destroy(sink);
  EXPECT_EQ(9u, read.events.size());
  EXPECT_EQ(3u, read.Named("known").size());
  std::string texts = Slurp(path) + spool;
  for (const auto &names : {read.sites, read.categories, read.lanes})
    for (const auto &name : names) texts += name.second + "\n";
  for (const std::string &secret : Secrets())
    EXPECT_EQ(std::string::npos, texts.find(secret)) << secret;
  unlink(path.c_str());
}

}  // namespace
}  // namespace pprof_test
