// SPDX-License-Identifier: Apache-2.0
//
// Random marker programs on several threads against a model: which records a
// lane holds, in order, and that per lane always
//   begun = recorded + lost + excluded (+ open, of which none is left at stop).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "pprof/mark.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

constexpr uint32_t kMaxFrames = 512;
constexpr size_t kMaxFlows = 64;

struct ModelEvent {
  std::string name;
  uint32_t kind, depth, flags;
  std::vector<uint64_t> flows;
  double value, items;

  bool operator==(const ModelEvent &other) const {
    return name == other.name && kind == other.kind && depth == other.depth &&
           flags == other.flags && flows == other.flows &&
           value == other.value && items == other.items;
  }
};

std::ostream &operator<<(std::ostream &out, const ModelEvent &event) {
  out << event.name << " kind " << event.kind << " depth " << event.depth
      << " flags " << event.flags << " value " << event.value << " items "
      << event.items << " flows";
  for (uint64_t flow : event.flows) out << ' ' << flow;
  return out;
}

// Models the expected behaviour of a lane, without the lane's code.
class Model {
 public:
  void Push(const std::string &name) {
    begun++;
    Frame frame = {name, {}, 0, stack_.size() >= kMaxFrames};
    if (!stack_.empty()) frame.flows = stack_.back().flows;
    if (frame.lost) lost++;
    stack_.push_back(frame);
  }
  void Pop() {
    if (stack_.empty())
      unmatched++;
    else
      End(0);
  }
  size_t Depth() const {
    return stack_.size();
  }
  void CloseScope(size_t depth) {
    if (stack_.size() <= depth) {
      unmatched++;
      return;
    }
    while (stack_.size() > depth + 1) End(PPROF_FLAG_ABANDONED);
    End(0);
  }
  void Point(const std::string &name, uint32_t kind, double value) {
    begun++;
    std::vector<uint64_t> flows;
    if (!stack_.empty() && stack_.size() <= kMaxFrames)
      flows = stack_.back().flows;
    events.push_back({name, kind, (uint32_t)stack_.size(), 0, flows, value, 0});
  }
  void Flow(uint64_t flow) {
    const bool has_frame = !stack_.empty() && stack_.size() <= kMaxFrames;
    if (has_frame && std::count(stack_.back().flows.begin(),
                                stack_.back().flows.end(), flow))
      return;
    if (stack_.empty() || stack_.size() > kMaxFrames || flow == 0 ||
        stack_.back().flows.size() >= kMaxFlows)
      flows_lost++;
    else
      stack_.back().flows.push_back(flow);
  }
  void Work(double items) {
    if (stack_.empty() || stack_.size() > kMaxFrames)
      flows_lost++;
    else
      stack_.back().items += items;
  }
  void ThreadLeaves() {
    while (!stack_.empty()) End(PPROF_FLAG_ABANDONED);
  }

  std::vector<ModelEvent> events;
  uint64_t begun = 0, lost = 0, unmatched = 0, flows_lost = 0;
  uint64_t ranges_begun = 0, ranges_lost = 0;

 private:
  struct Frame {
    std::string name;
    std::vector<uint64_t> flows;
    double items;
    bool lost;
  };
  void End(uint32_t flags) {
    Frame frame = stack_.back();
    stack_.pop_back();
    if (frame.lost) return;
    events.push_back({frame.name, PPROF_KIND_RANGE, (uint32_t)stack_.size(),
                      flags, frame.flows, 0, frame.items});
  }
  std::vector<Frame> stack_;
};

pprof_site sites[4] = {{"site 0", 0, 0, 0, {0, 0}},
                       {"site 1", 3, 0, 0, {0, 0}},
                       {"site 2", 4, 0, 0, {0, 0}},
                       {"site 3", 15, 0, 0, {0, 0}}};
const char *const kNames[3] = {"name 0", "name 1", "name 2"};
pprof_site wander_site = {"wander", 6, 0, 0, {0, 0}};

// A thread's program: the same calls go to the markers and to the model.
class Program {
 public:
  Program(uint64_t seed, std::string lane_name, uint32_t push_bias)
      : name(std::move(lane_name)), random_(seed), push_bias_(push_bias) {}

  void Run(int num_calls) {
    pprof_thread_name(name.c_str());
    for (int i = 0; i < num_calls; i++) Call();
    for (pprof_range range : ranges_) pprof_range_end(range);
    model.ThreadLeaves();
  }

  std::string name;
  Model model;

 private:
  uint32_t Pick(uint32_t n) {
    return (uint32_t)(random_() % n);
  }
  void Push() {
    uint32_t i = Pick(7);
    if (i < 4) {
      pprof_push(&sites[i]);
      model.Push("site " + std::to_string(i));
    } else {
      pprof_push_name(kNames[i - 4], 0);
      model.Push(kNames[i - 4]);
    }
  }
  void Scope() {
    size_t depth = model.Depth();
    pprof_scope_token token = pprof_scope_push_(&sites[0]);
    model.Push("site 0");
    for (uint32_t i = Pick(4); i-- > 0;) Call();
    pprof_scope_pop_(&token);
    model.CloseScope(depth);
  }
  void Wander() {
    if (ranges_.empty() || Pick(2)) {
      pprof_range range = pprof_range_begin(&wander_site);
      model.ranges_begun++;
      if (range.id)
        ranges_.push_back(range);
      else
        model.ranges_lost++;
    } else {
      pprof_range_end(ranges_.back());
      ranges_.pop_back();
    }
  }
  void Attach() {
    if (Pick(2)) {
      uint64_t flow = Pick(50);
      pprof_flow(flow);
      model.Flow(flow);
    } else {
      pprof_work_amount work = {sizeof work, 1.0 + Pick(4), 0, 0,
                                (double)Pick(2)};
      pprof_work(&work);
      model.Work(work.items);
    }
  }
  void Call() {
    uint32_t call = Pick(100);
    if (call < push_bias_) {
      Push();
    } else if (call < 65) {
      pprof_pop();
      model.Pop();
    } else if (call < 70) {
      Scope();
    } else if (call < 76) {
      pprof_mark(&sites[1]);
      model.Point("site 1", PPROF_KIND_MARK, 0);
    } else if (call < 82) {
      double value = Pick(1000) / 8.0;
      pprof_count(&sites[2], value);
      model.Point("site 2", PPROF_KIND_COUNTER, value);
    } else if (call < 90) {
      Wander();
    } else {
      Attach();
    }
  }

  std::mt19937_64 random_;
  uint32_t push_bias_;
  std::vector<pprof_range> ranges_;
};

std::vector<Program> RunPrograms(LiveSession *live, uint64_t seed,
                                 uint32_t push_bias, int num_calls) {
  std::vector<Program> programs;
  for (int i = 0; i < 3; i++)
    programs.emplace_back(seed * 10 + i, "program " + std::to_string(i),
                          push_bias);
  EXPECT_EQ(PPROF_STATUS_OK, live->Start());
  std::vector<std::thread> threads;
  for (Program &program : programs)
    threads.emplace_back([&program, num_calls] { program.Run(num_calls); });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(PPROF_STATUS_OK, live->Stop());
  return programs;
}

uint64_t Begun(const Program &program) {
  return program.model.begun + program.model.ranges_begun;
}

void ExpectBalance(const LiveSession &live, const Program &program) {
  const Recording &recording = live.recording;
  uint32_t lane = recording.LaneNamed(program.name);
  ASSERT_NE(UINT32_MAX, lane);
  EXPECT_EQ(Begun(program), recording.Total(PPI_TOTAL_RECORDED, lane) +
                                recording.Total(PPI_TOTAL_LOST, lane) +
                                recording.Total(PPI_TOTAL_EXCLUDED, lane));
  uint64_t delivered = 0;
  for (const auto &event : recording.events)
    delivered += event.event.lane == lane;
  EXPECT_EQ(delivered, recording.Total(PPI_TOTAL_RECORDED, lane));
}

class LanePropertyTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(LanePropertyTest, LaneHoldsWhatTheModelSays) {
  for (uint64_t seed = 1; seed <= Seeds(4); seed++) {
    LiveSession live;
    live.options.memory_limit_bytes = 16u << 20;
    auto programs = RunPrograms(&live, seed, GetParam(), 3000);
    for (const Program &program : programs) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + program.name);
      ExpectBalance(live, program);
      uint32_t lane = live.recording.LaneNamed(program.name);
      const Model &model = program.model;
      EXPECT_EQ(model.lost + model.ranges_lost,
                live.recording.Total(PPI_TOTAL_LOST, lane));
      EXPECT_EQ(model.unmatched,
                live.recording.Total(PPI_TOTAL_UNMATCHED, lane));
      EXPECT_EQ(model.flows_lost,
                live.recording.Total(PPI_TOTAL_FLOWS_LOST, lane));
      std::vector<ModelEvent> found;
      for (const auto &event : live.recording.OfLane(lane))
        found.push_back({event.name, event.event.kind, event.event.depth,
                         event.event.flags, event.flows, event.event.value,
                         event.has_work ? event.work.items : 0});
      ASSERT_EQ(model.events.size(), found.size());
      for (size_t i = 0; i < found.size(); i++)
        ASSERT_EQ(model.events[i], found[i]) << i;
    }
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED, 0));
    EXPECT_FALSE(live.recording.undefined_site);
    EXPECT_FALSE(live.recording.gap);
  }
}

// The full ring, far behind a collector that does not come: what was accepted
// is there, what was not is counted.
TEST_P(LanePropertyTest, SumsHoldWhenMemoryRunsOut) {
  for (uint64_t seed = 1; seed <= Seeds(4); seed++) {
    LiveSession live;
    live.options.memory_limit_bytes = 1;
    live.options.drain_interval_us = kKeptAwayUs;
    auto programs = RunPrograms(&live, seed, GetParam(), 30000);
    uint64_t begun = 0;
    for (const Program &program : programs) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + program.name);
      begun += Begun(program);
      uint32_t lane = live.recording.LaneNamed(program.name);
      if (lane == UINT32_MAX) continue;  // no room even for its lane
      ExpectBalance(live, program);
      EXPECT_EQ(program.model.unmatched,
                live.recording.Total(PPI_TOTAL_UNMATCHED, lane));
    }
    EXPECT_GT(live.recording.Total(PPI_TOTAL_LOST), 0u);
    EXPECT_EQ(begun, live.recording.Total(PPI_TOTAL_RECORDED) +
                         live.recording.Total(PPI_TOTAL_LOST));
    pprof_stats stats = live.Stats();
    EXPECT_EQ(begun, stats.recorded + stats.lost + stats.excluded);
  }
}

// Shallow with surplus pops, balanced, and ever deeper.
INSTANTIATE_TEST_SUITE_P(PushBias, LanePropertyTest,
                         ::testing::Values(25, 33, 55));

}  // namespace
}  // namespace pprof_test
