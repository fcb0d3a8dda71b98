// SPDX-License-Identifier: Apache-2.0
//
// Random programs with a checkpoint forced at every point, and markers that
// come while one is being taken. A checkpoint keeps the promises of event.h.
// Every view is the same as from the raw events, without checkpoints.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "pprof/device.h"
#include "pprof/session.h"
#include "report_text.h"
#include "scripted_backend.h"
#include "tests/support/patient_flush.h"

namespace {

using pprof_test::Report;
using Random = std::mt19937_64;

uint64_t Pick(Random *random, uint64_t n) {
  return (*random)() % n;
}

// No two readings are alike, so that a range is known by its begin.
std::atomic<uint64_t> now_ns{1000000};
uint64_t Now() {
  return now_ns.fetch_add(1 + now_ns.load() % 40);
}

PPROF_SITE(load_site, "load", PPROF_CATEGORY_DATALOADER);
PPROF_SITE(forward_site, "forward", PPROF_CATEGORY_FORWARD);
PPROF_SITE(infer_site, "infer", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(user_site, "user", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(op_site, "op", PPROF_CATEGORY_OPERATOR);
PPROF_SITE(talk_site, "talk", PPROF_CATEGORY_COMMUNICATION);
PPROF_SITE(gpu_site, "gpu:0", PPROF_CATEGORY_MEMORY);

pprof_site *AnySite(Random *random) {
  pprof_site *sites[] = {&load_site, &forward_site, &infer_site,
                         &user_site, &op_site,      &talk_site};
  return sites[Pick(random, 6)];
}

// ---- what the collector delivered ----

using Key = std::tuple<uint32_t, uint32_t, uint64_t>;  // kind, site, start

Key KeyOf(const pprof_event &event) {
  return Key(event.kind, event.site, event.start_ns);
}

struct HeldEvent {
  pprof_event event;
  std::vector<uint64_t> flows;
  pprof_work_amount work;
  bool has_work;
};

struct HeldBatch {
  std::vector<HeldEvent> events;
  uint64_t first_seq, end_seq;
  uint32_t lane;
};

// Checks each checkpoint against the events before and after it. It keeps the
// events, so that they can be delivered again without checkpoints. It marks
// after the collector has read the stacks and before it delivers.
struct Truth {
  pprof_sink base;
  pprof_sink *report;  // gets the same without checkpoints
  std::deque<HeldBatch> batches;
  std::set<Key> delivered, promised;
  std::map<uint32_t, std::string> site_names;
  std::map<uint32_t, uint32_t> categories;
  uint64_t told_ns = 0;
  uint64_t latest_ns = 0;  // the latest begin of a range of a thread
  size_t num_whole = 0, num_listed = 0, num_steps = 0;
  std::vector<pprof_range> *ranges;
  Random *random;
};

Truth *Of(pprof_sink *sink) {
  return reinterpret_cast<Truth *>(sink);
}

void Interrupt(Truth *truth) {
  Random *random = truth->random;
  if (!truth->ranges->empty() && Pick(random, 2)) {
    pprof_range_end(truth->ranges->back());
    truth->ranges->pop_back();
  }
  if (Pick(random, 4) == 0)
    truth->ranges->push_back(pprof_range_begin(AnySite(random)));
  if (Pick(random, 8) == 0) {
    pprof_push(AnySite(random));
    pprof_pop();
  }
}

void Hold(Truth *truth, const pprof_batch *batch) {
  HeldBatch held = {{}, batch->first_seq, batch->end_seq, batch->lane};
  for (size_t i = 0; i < batch->num_events; i++) {
    HeldEvent one = {};
    one.event = *pprof_batch_at(batch, i);
    one.flows.assign(one.event.flows, one.event.flows + one.event.num_flows);
    one.has_work = one.event.work != nullptr;
    if (one.has_work) one.work = *one.event.work;
    held.events.push_back(one);
    const pprof_event &event = one.event;
    const Key key = KeyOf(event);
    truth->delivered.insert(key);
    if (event.kind == PPROF_KIND_RANGE)
      truth->latest_ns = std::max(truth->latest_ns, event.start_ns);
    const bool is_step =
        truth->categories[event.site] == PPROF_CATEGORY_PROFILE_STEP;
    truth->num_steps += is_step;
    const bool is_range =
        event.kind == PPROF_KIND_RANGE || event.kind == PPROF_KIND_DEVICE_RANGE;
    if (truth->promised.erase(key) || !is_range) continue;
    EXPECT_GE(event.start_ns, truth->told_ns)
        << "neither delivered nor listed: " << truth->site_names[event.site];
  }
  truth->batches.push_back(held);
}

pprof_status HoldEvents(pprof_sink *sink, const pprof_batch *batch) {
  Hold(Of(sink), batch);
  Interrupt(Of(sink));
  return PPROF_STATUS_OK;
}

pprof_status CheckCheckpoint(pprof_sink *sink,
                             const pprof_checkpoint *checkpoint) {
  Truth *truth = Of(sink);
  const size_t num = pprof_checkpoint_num_open(checkpoint);
  std::set<Key> listed;
  for (size_t i = 0; i < num; i++) {
    pprof_event open;
    pprof_checkpoint_open(checkpoint, i, &open);
    EXPECT_EQ(0u, truth->delivered.count(KeyOf(open)))
        << "listed as open, and delivered: " << truth->site_names[open.site];
    EXPECT_TRUE(listed.insert(KeyOf(open)).second);
  }
  const uint64_t time_ns = pprof_checkpoint_time_ns(checkpoint);
  if (time_ns > truth->told_ns) {
    EXPECT_LE(truth->latest_ns, time_ns) << "delivered before it, begun later";
    truth->told_ns = time_ns;
    truth->promised = listed;
    truth->num_whole++;
    truth->num_listed += num;
  }
  return PPROF_STATUS_OK;
}

pprof_status Define(pprof_sink *sink, const pprof_definition *definition) {
  Truth *truth = Of(sink);
  const uint32_t id = pprof_definition_id(definition);
  if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE) {
    truth->site_names[id] = pprof_definition_name(definition);
    truth->categories[id] = pprof_definition_parent(definition);
  }
  return truth->report->define(truth->report, definition);
}

pprof_status TellAgain(Truth *truth) {
  for (HeldBatch &held : truth->batches) {
    std::vector<pprof_event> events;
    for (HeldEvent &one : held.events) {
      events.push_back(one.event);
      events.back().flows = one.flows.empty() ? nullptr : one.flows.data();
      events.back().work = one.has_work ? &one.work : nullptr;
    }
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof(pprof_event);
    batch.events = events.data();
    batch.num_events = events.size();
    batch.first_seq = held.first_seq;
    batch.end_seq = held.end_seq;
    batch.lane = held.lane;
    const pprof_status status = truth->report->events(truth->report, &batch);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

pprof_status Finish(pprof_sink *sink, const pprof_totals *totals) {
  Truth *truth = Of(sink);
  const pprof_status status = TellAgain(truth);
  if (status != PPROF_STATUS_OK) return status;
  return truth->report->finish(truth->report, totals);
}

pprof_sink MakeSink() {
  pprof_sink base = {};
  base.size = sizeof base;
  base.begin = [](pprof_sink *sink, const pprof_run_info *info) {
    return Of(sink)->report->begin(Of(sink)->report, info);
  };
  base.define = Define;
  base.events = HoldEvents;
  base.checkpoint = CheckCheckpoint;
  base.window = [](pprof_sink *sink, uint32_t index, bool opens, uint64_t at) {
    return Of(sink)->report->window(Of(sink)->report, index, opens, at);
  };
  base.finish = Finish;
  return base;
}

// ---- a random program ----

struct Device {
  pprof_device *device;
  void *streams[2];
};

// It lives as long as the process.
const Device &TheDevice() {
  static const Device made = [] {
    static const uint64_t latencies[] = {1, 30};
    scripted_script script = {};
    script.now = Now;
    script.latencies_ns = latencies;
    script.num_latencies = 2;
    script.caps = PPROF_BACKEND_ABSOLUTE_TIME;
    scripted_device *fake = scripted_device_create(&script);
    Device device = {};
    device.device = pprof_device_get(scripted_device_backend(fake),
                                     scripted_device_index(fake));
    for (void *&stream : device.streams)
      stream = scripted_stream_create(fake, 1);
    return device;
  }();
  return made;
}

class Program {
 public:
  Program(Random *random, pprof_session *session, bool steps)
      : random_(random), session_(session), steps_(steps) {}

  void Run(size_t num) {
    for (size_t i = 0; i < num; i++) {
      Operation();
      if (Pick(random_, 4)) Checkpoint();
    }
    for (; depth_ > 0; depth_--) pprof_pop();
    Checkpoint();
  }

  std::vector<pprof_range> ranges;

 private:
  // Only the collector marks in between, while this thread waits.
  void Checkpoint() {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session_));
  }

  void Operation() {
    switch (Pick(random_, 14)) {
      case 0:
      case 1:
      case 2:
        pprof_push(AnySite(random_));
        depth_++;
        break;
      case 3:
      case 4:
        if (depth_ == 0) break;
        pprof_pop();
        depth_--;
        break;
      case 5:
      case 6:
        ranges.push_back(pprof_range_begin(AnySite(random_)));
        break;
      case 7:
        if (ranges.empty()) break;
        pprof_range_end(ranges.front());
        ranges.erase(ranges.begin());
        break;
      case 8:
        if (steps_) pprof_step(Pick(random_, 5));
        break;
      case 9:
        OnDevice();
        break;
      default:
        Point();
    }
  }

  void OnDevice() {
    const Device &on = TheDevice();
    void *stream = on.streams[Pick(random_, 2)];
    pprof_device_push(on.device, stream, AnySite(random_));
    scripted_stream_submit(stream, 1 + Pick(random_, 1000));
    if (Pick(random_, 3) == 0) Checkpoint();
    pprof_device_pop(on.device, stream);
  }

  void Point() {
    const pprof_work_amount work = {sizeof work, 2, 100, 1e6, 0};
    switch (Pick(random_, 4)) {
      case 0:
        pprof_mark(AnySite(random_));
        break;
      case 1:
        pprof_count(&gpu_site, static_cast<double>(Pick(random_, 1000)));
        break;
      case 2:
        pprof_flow(1 + Pick(random_, 5));
        break;
      case 3:
        pprof_work(&work);
        break;
    }
  }

  Random *random_;
  pprof_session *session_;
  bool steps_;
  size_t depth_ = 0;
};

// ---- Model, by its definition ----

struct Phase {
  uint64_t calls = 0, total_ns = 0;
};

// No range is cut here. A device range is a phase by its host side.
std::map<uint32_t, Phase> PhasesOf(Truth *truth) {
  struct Range {
    uint32_t category, lane;
    uint64_t start_ns, end_ns;
    bool is_async;
  };
  std::vector<Range> phases;
  for (const HeldBatch &batch : truth->batches)
    for (const HeldEvent &one : batch.events) {
      const pprof_event &event = one.event;
      const uint32_t category = truth->categories[event.site];
      const bool is_phase = category == PPROF_CATEGORY_DATALOADER ||
                            category == PPROF_CATEGORY_FORWARD ||
                            category == PPROF_CATEGORY_INFERENCE;
      if (event.kind != PPROF_KIND_RANGE &&
          event.kind != PPROF_KIND_DEVICE_RANGE)
        continue;
      if (!is_phase) continue;
      EXPECT_EQ(0u, event.flags & PPROF_FLAG_CLIPPED);
      phases.push_back({category, event.lane, event.start_ns, event.end_ns,
                        (event.flags & PPROF_FLAG_ASYNC) != 0});
    }
  std::map<uint32_t, Phase> found;
  for (const Range &range : phases) {
    const bool is_hidden =
        std::any_of(phases.begin(), phases.end(), [&](const Range &around) {
          return !range.is_async && !around.is_async &&
                 around.lane == range.lane &&
                 around.start_ns < range.start_ns &&
                 range.end_ns < around.end_ns;
        });
    if (is_hidden) continue;
    found[range.category].calls++;
    found[range.category].total_ns += range.end_ns - range.start_ns;
  }
  return found;
}

void ExpectPhases(Truth *truth, Report &live) {
  const ppi_figures *figures = ppi_report_figures(live.get());
  ASSERT_NE(nullptr, figures);
  const std::pair<uint32_t, ppi_phase_kind> kinds[] = {
      {PPROF_CATEGORY_DATALOADER, PPI_PHASE_DATALOADER},
      {PPROF_CATEGORY_FORWARD, PPI_PHASE_FORWARD},
      {PPROF_CATEGORY_INFERENCE, PPI_PHASE_INFERENCE}};
  std::map<uint32_t, Phase> want = PhasesOf(truth);
  for (const auto &kind : kinds) {
    EXPECT_EQ(want[kind.first].calls, figures->phases[kind.second].host.n);
    EXPECT_EQ(want[kind.first].total_ns, figures->phases[kind.second].host.sum);
  }
}

pprof_session *MakeSession(uint32_t drain_interval_us) {
  pprof_options options = {};
  options.size = sizeof options;
  options.memory_limit_bytes = 4u << 20;
  options.drain_interval_us = drain_interval_us;
  options.stop_wait_ms = 30000;
  pprof_session *session = nullptr;
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_create(&options, &session, nullptr));
  return session;
}

class CheckpointPropertyTest : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    ppi_clock_inject(Now, 1000000000);
  }
  void TearDown() override {
    ppi_clock_inject(nullptr, 0);
  }

  static void SetDetails(Report *report, bool paddle) {
    ppi_report_details details = {};
    details.by_thread = details.operator_parts = true;
    details.requests = details.paths = details.kernels = true;
    details.paddle_distribution = paddle;
    details.warmup = -1;
    ppi_report_set_details(report->get(), &details);
  }
};

TEST_P(CheckpointPropertyTest, EveryViewAgreesWithTheRawEvents) {
  Random random(GetParam());
  Report live, raw;
  const bool paddle = Pick(&random, 2);
  SetDetails(&live, paddle);
  SetDetails(&raw, paddle);
  // A flush alone makes it look.
  pprof_session *session = MakeSession(3600u * 1000000);
  ASSERT_NE(nullptr, session);
  Truth truth = {};
  truth.base = MakeSink();
  truth.report = raw.sink();
  truth.random = &random;
  Program program(&random, session, Pick(&random, 4) != 0);
  truth.ranges = &program.ranges;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, &truth.base));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, live.sink()));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  program.Run(150);
  while (!program.ranges.empty()) {
    pprof_range_end(program.ranges.back());
    program.ranges.pop_back();
  }
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  // Step 0 is listed from the start, and is no event without steps.
  EXPECT_LE(truth.promised.size(), truth.num_steps ? 0u : 1u);
  EXPECT_GT(truth.num_whole, 50u);
  EXPECT_GT(truth.num_listed, 50u);
  EXPECT_EQ(raw.Json(), live.Json());
  for (const char *view : {"model", "stages", "requests", "queue", "perf"})
    EXPECT_EQ(raw.Table(view), live.Table(view)) << view;
  ExpectPhases(&truth, live);
  pprof_session_destroy(session);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckpointPropertyTest,
                         testing::Range<uint64_t>(0, 40));

// One phase after the other, each opened with pprof_range_begin: none may be
// lost, whenever the collector looks.
TEST(CheckpointTest, PhasesThatWanderAreAllThere) {
  Report live;
  pprof_session *session = MakeSession(0);
  ASSERT_NE(nullptr, session);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, live.sink()));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  for (int i = 0; i < 100; i++) {
    pprof_range range = pprof_range_begin(&forward_site);
    pprof_range_end(range);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session));
  }
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  const ppi_figures *figures = ppi_report_figures(live.get());
  ASSERT_NE(nullptr, figures);
  EXPECT_EQ(100u, figures->phases[PPI_PHASE_FORWARD].host.n);
  pprof_session_destroy(session);
}

}  // namespace
