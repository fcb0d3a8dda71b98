// SPDX-License-Identifier: Apache-2.0
//
// Programs whose times are reckoned, not run: with other durations they say
// what would truly have been.
#ifndef PPT_WHATIF_PROGRAM_H_
#define PPT_WHATIF_PROGRAM_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "event_feed.h"
#include "whatif/whatif_causes.h"
#include "whatif/whatif_replay.h"

namespace pprof_test {

using Factors = std::map<std::string, double>;

// Durations by stage and item, times a stage's factor. Multiples of 64 ns, so
// that factors such as a quarter leave whole ones.
class Durations {
 public:
  explicit Durations(const Factors &factors) : factors_(factors) {}
  // `least` to twice that, in us.
  uint64_t Of(const std::string &stage, size_t item, uint64_t least) {
    std::seed_seq seed{std::hash<std::string>{}(stage), item};
    std::mt19937_64 random(seed);
    uint64_t units = least * 1000 / 64;
    uint64_t usual = (units + random() % units) * 64;
    auto found = factors_.find(stage);
    double factor = found == factors_.end() ? 1 : found->second;
    return static_cast<uint64_t>(factor * static_cast<double>(usual));
  }

 private:
  Factors factors_;
};

// A run as events, and the truth about it.
struct Program {
  EventFeed feed;
  std::deque<uint64_t> flows;
  std::vector<double> ends;  // of each request or step
  Program() {
    for (uint32_t i = 1; i <= 4; i++) feed.Lane(i, 100 + i, "thread");
    feed.Lane(1001, 0, "gpu");
    feed.Device(1, "gpu");
    feed.Stream(1, 1);
  }
  void Serve(pprof_event *event, uint64_t flow) {
    if (!flow) return;
    flows.push_back(flow);
    event->flows = &flows.back();
    event->num_flows = 1;
  }
  void Host(uint32_t lane, const std::string &name, uint64_t from, uint64_t to,
            uint64_t flow = 0) {
    Serve(&feed.Range(lane, name, PPROF_CATEGORY_USER_DEFINED, from, to), flow);
  }
  void OnDevice(uint32_t lane, const std::string &name, uint64_t submit,
                uint64_t from, uint64_t to, uint64_t flow = 0) {
    Serve(&feed.OnDevice(lane, 1, name, PPROF_CATEGORY_INFERENCE, submit, from,
                         to),
          flow);
  }
  void EndStep(uint64_t from, uint64_t to) {
    feed.Step(from, to);
    ends.push_back(static_cast<double>(to));
  }
};

constexpr uint64_t kLag = 640;  // from what is waited for to what waits
constexpr size_t kItems = 60;

// One thread loads, submits and waits; each step is over then.
inline void TrainingLoop(Durations times, Program *out, uint64_t load_us,
                         uint64_t model_us) {
  uint64_t now = kLag, device_end = 0, before = 0;
  for (size_t i = 0; i < kItems; i++) {
    uint64_t loaded = now + times.Of("load", i, load_us);
    out->Host(1, "load", now, loaded);
    uint64_t submit = loaded + kLag;
    uint64_t begins = std::max(submit, device_end) + kLag;
    device_end = begins + times.Of("model", i, model_us);
    out->OnDevice(1, "model", submit, begins, device_end);
    uint64_t waits = submit + kLag, end = std::max(waits, device_end) + kLag;
    out->Host(1, "wait", waits, end);
    out->EndStep(before, end + kLag);
    before = end + kLag;
    now = end + 2 * kLag;
  }
}

// The host runs ahead of the device by one item.
inline void DoubleBuffered(Durations times, Program *out) {
  uint64_t now = kLag, before = 0;
  std::vector<uint64_t> device_ends(1, 0);
  for (size_t i = 0; i < kItems; i++) {
    uint64_t loaded = now + times.Of("load", i, 20);
    out->Host(1, "load", now, loaded);
    uint64_t submit = loaded + kLag;
    uint64_t begins = std::max(submit, device_ends.back()) + kLag;
    device_ends.push_back(begins + times.Of("model", i, 100));
    out->OnDevice(1, "model", submit, begins, device_ends.back());
    uint64_t waits = submit + kLag, end = waits + kLag;
    if (i) end = std::max(waits, device_ends[i]) + kLag;
    out->Host(1, "wait", waits, end);
    out->EndStep(before, end + kLag);
    before = end + kLag;
    now = end + 2 * kLag;
  }
}

// One thread parses, another ranks; so many are under way. With `marked` the
// waits are ranges.
inline void TwoThreads(Durations times, Program *out, size_t in_flight,
                       bool marked, uint64_t parse_us, uint64_t rank_us) {
  uint64_t parsed = 0, ranked = 0;
  for (size_t i = 0; i < kItems; i++) {
    uint64_t freed =
        i >= in_flight ? static_cast<uint64_t>(out->ends[i - in_flight]) : 0;
    uint64_t begins = std::max(parsed, freed) + kLag;
    if (marked) out->Host(1, "wait for room", parsed, begins);
    parsed = begins + times.Of("parse", i, parse_us);
    out->Host(1, "parse", begins, parsed, i + 1);
    begins = std::max(parsed, ranked) + kLag;
    if (marked) out->Host(2, "wait for input", ranked, begins);
    ranked = begins + times.Of("rank", i, rank_us);
    out->Host(2, "rank", begins, ranked, i + 1);
    out->ends.push_back(static_cast<double>(ranked));
  }
}

// Three threads and a device: decode, detect (submits), choose (waits).
inline void Pipeline(Durations times, Program *out, size_t in_flight) {
  uint64_t decoded = 0, submitted = 0, detected = 0, chosen = 0;
  for (size_t i = 0; i < kItems; i++) {
    uint64_t flow = i + 1;
    uint64_t freed =
        i >= in_flight ? static_cast<uint64_t>(out->ends[i - in_flight]) : 0;
    uint64_t from = std::max(decoded, freed) + kLag;
    decoded = from + times.Of("decode", i, 50);
    out->Host(1, "decode", from, decoded, flow);
    from = std::max(decoded, submitted) + kLag;
    uint64_t submit = from + kLag;
    submitted = submit + kLag;
    out->Host(2, "submit", from, submitted, flow);
    uint64_t begins = std::max(submit, detected) + kLag;
    detected = begins + times.Of("detect", i, 90);
    out->OnDevice(2, "detect", submit, begins, detected, flow);
    from = std::max(submitted, chosen) + kLag;
    uint64_t waited = std::max(from, detected) + kLag;
    out->Host(3, "wait", from, waited, flow);
    chosen = waited + times.Of("choose", i, 30);
    out->Host(3, "choose", waited, chosen, flow);
    out->ends.push_back(static_cast<double>(chosen));
  }
}

// A thread's range calls another thread and waits for it.
inline void Calls(Durations times, Program *out) {
  uint64_t now = kLag;
  for (size_t i = 0; i < kItems; i++) {
    uint64_t from = now + 3 * kLag, to = from + times.Of("work", i, 40);
    out->Host(2, "work", from, to, i + 1);
    out->Host(1, "call", now, to + kLag, i + 1);
    uint64_t answered = to + 2 * kLag + times.Of("answer", i, 20);
    out->Host(1, "answer", to + 2 * kLag, answered, i + 1);
    out->ends.push_back(static_cast<double>(answered));
    now = answered + kLag;
  }
}

// The model of a program, and what it says.
class Model {
 public:
  explicit Model(Program *program, std::mt19937_64 *random = nullptr)
      : Model([=](pprof_sink *sink) {
          return program->feed.DeliverAs(sink, random, 0);
        }) {}
  explicit Model(const std::function<pprof_status(pprof_sink *)> &deliver) {
    ppi_whatif_log_init(&log_);
    EXPECT_EQ(PPROF_STATUS_OK, deliver(&log_.base));
    ppi_whatif_log_settle(&log_);
    EXPECT_TRUE(ppi_whatif_graph_make(&graph_, &log_));
    bool steps = graph_.num_requests == 0;
    EXPECT_TRUE(ppi_whatif_replay_open(
        &replay_, &graph_, steps ? PPI_WHATIF_STEPS : PPI_WHATIF_REQUESTS, 0));
  }
  ~Model() {
    ppi_whatif_replay_close(&replay_);
    ppi_whatif_graph_clear(&graph_);
    ppi_whatif_log_clear(&log_);
  }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  ppi_whatif_result Run(const Factors &factors) {
    std::vector<double> scales(log_.num_stages + 1, -1);
    for (size_t i = 0; i < log_.num_stages; i++) {
      auto found = factors.find(log_.stages[i].name);
      if (found != factors.end()) scales[i + 1] = found->second;
    }
    ppi_whatif_result result;
    ppi_whatif_replay_run(&replay_, scales.data(), true, &result);
    return result;
  }
  // When each request or step ends, after Run.
  std::vector<double> Ends() const {
    std::vector<double> ends;
    for (size_t i = 0; i < graph_.num_requests; i++) {
      double end = 0;
      const ppi_whatif_request &request = graph_.requests[i];
      for (size_t k = request.first; k < request.first + request.num; k++)
        end = std::max(end, replay_.ends[graph_.last[graph_.served[k].range]]);
      ends.push_back(end);
    }
    for (size_t i = 0; i < log_.num_steps && ends.size() <= i; i++)
      ends.push_back(replay_.ends[graph_.before[graph_.step_points[i]]]);
    return ends;
  }
  std::string Limit(const ppi_whatif_result &result) const {
    return result.limit ? log_.stages[result.limit - 1].name : "";
  }
  std::vector<std::string> Waits() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < log_.num_stages; i++)
      if (graph_.is_wait[i + 1]) names.push_back(log_.stages[i].name);
    std::sort(names.begin(), names.end());
    return names;
  }
  double End(uint32_t piece) const {
    return replay_.ends[piece];
  }
  const ppi_whatif_graph &graph() const {
    return graph_;
  }

 private:
  ppi_whatif_log log_;
  ppi_whatif_graph graph_;
  ppi_whatif_replay replay_;
};

}  // namespace pprof_test

#endif  // PPT_WHATIF_PROGRAM_H_
