// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps all it is given, and a session around it: for tests of the
// record path. The sink's calls come from the collector's thread; a test looks
// after a flush or the stop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "event/event.h"
#include "pprof/session.h"
#include "session/state/session_impl.h"
#include "tests/support/patience.h"
#include "tests/support/patient_flush.h"

namespace pprof_test {

struct RecordedEvent {
  pprof_event event;  // its pointers are not to be followed
  std::vector<uint64_t> flows;
  bool has_work;
  pprof_work_amount work;
  bool has_cpu;
  pprof_cpu_use cpu;
  std::vector<uint64_t> numbers;  // of its name
  uint32_t full_name;             // PPROF_NAME_...
  std::string name;
  uint32_t batch_lane;
};

struct WindowCall {
  uint32_t index;
  bool opens;
  uint64_t time_ns;
};

// The sink's input and its settings. It belongs to the test and outlives the
// sink.
struct Recording {
  std::vector<RecordedEvent> events;
  std::vector<WindowCall> windows;
  std::map<uint32_t, std::string> sites, categories, lanes;
  std::map<uint32_t, uint32_t> site_categories;
  std::map<uint32_t, uint64_t> lane_threads;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> totals;  // {lane, key}
  std::map<std::string, std::string> notes, info;
  std::map<uint32_t, uint64_t> next_seq;
  std::vector<size_t> num_open;  // of each checkpoint
  size_t num_begun = 0, num_finished = 0, num_destroyed = 0, num_batches = 0;
  bool undefined_site = false, gap = false;

  // The batch that fails, counted from 1, and how.
  size_t fail_at_batch = 0;
  pprof_status begin_status = PPROF_STATUS_OK;
  pprof_status fail_status = PPROF_STATUS_IO;
  pprof_status finish_status = PPROF_STATUS_OK;
  std::function<bool()> ready;
  std::function<bool(uint32_t, uint64_t *)> kept;
  std::function<void(bool opens)> on_window;

  uint64_t Total(ppi_total_key key, uint32_t lane = PPROF_ALL_LANES) const {
    auto found = totals.find({lane, key});
    return found == totals.end() ? 0 : found->second;
  }
  uint32_t LaneNamed(const std::string &name) const {
    for (const auto &lane : lanes)
      if (lane.second == name) return lane.first;
    return UINT32_MAX;
  }
  std::vector<RecordedEvent> Named(const std::string &name) const {
    std::vector<RecordedEvent> found;
    for (const auto &event : events)
      if (event.name == name) found.push_back(event);
    return found;
  }
  std::vector<RecordedEvent> OfLane(uint32_t lane) const {
    std::vector<RecordedEvent> found;
    for (const auto &event : events)
      if (event.batch_lane == lane) found.push_back(event);
    return found;
  }
};

struct RecordingSink {
  pprof_sink base;
  Recording *recording;

  static Recording *Of(pprof_sink *sink) {
    return reinterpret_cast<RecordingSink *>(sink)->recording;
  }

  static pprof_status Begin(pprof_sink *sink, const pprof_run_info *info) {
    Recording *recording = Of(sink);
    recording->num_begun++;
    for (size_t i = 0; i < info->num_texts; i++)
      recording->info[info->texts[i].key] = info->texts[i].value;
    return recording->begin_status;
  }

  static pprof_status Define(pprof_sink *sink,
                             const pprof_definition *definition) {
    Recording *recording = Of(sink);
    uint32_t id = pprof_definition_id(definition);
    const char *name = pprof_definition_name(definition);
    switch (pprof_definition_get_kind(definition)) {
      case PPROF_DEFINITION_SITE:
        recording->sites[id] = name;
        recording->site_categories[id] = pprof_definition_parent(definition);
        break;
      case PPROF_DEFINITION_CATEGORY:
        recording->categories[id] = name;
        break;
      case PPROF_DEFINITION_LANE:
        recording->lanes[id] = name;
        recording->lane_threads[id] = pprof_definition_number(definition);
        break;
      default:
        break;
    }
    return PPROF_STATUS_OK;
  }

  static void Keep(Recording *recording, const pprof_event *event,
                   uint32_t batch_lane) {
    RecordedEvent kept = {};
    kept.event = *event;
    kept.batch_lane = batch_lane;
    kept.flows.assign(event->flows, event->flows + event->num_flows);
    kept.has_work = event->work != nullptr;
    if (event->work) kept.work = *event->work;
    kept.event.flows = nullptr;
    kept.has_cpu = event->cpu != nullptr;
    if (event->cpu) kept.cpu = *event->cpu;
    if (event->numbers) {
      const pprof_numbers *from = event->numbers;
      kept.numbers.assign(from->values, from->values + from->num);
      kept.full_name = from->full_name;
    }
    kept.event.work = nullptr;
    kept.event.cpu = nullptr;
    kept.event.numbers = nullptr;
    auto name = recording->sites.find(event->site);
    if (name == recording->sites.end())
      recording->undefined_site = true;
    else
      kept.name = name->second;
    recording->events.push_back(kept);
  }

  static pprof_status Events(pprof_sink *sink, const pprof_batch *batch) {
    Recording *recording = Of(sink);
    recording->num_batches++;
    if (recording->num_batches == recording->fail_at_batch)
      return recording->fail_status;
    if (recording->next_seq[batch->lane] > batch->first_seq)
      recording->gap = true;
    recording->next_seq[batch->lane] = batch->end_seq;
    for (size_t i = 0; i < batch->num_events; i++)
      Keep(recording, pprof_batch_at(batch, i), batch->lane);
    return PPROF_STATUS_OK;
  }

  static pprof_status Checkpoint(pprof_sink *sink,
                                 const pprof_checkpoint *checkpoint) {
    Of(sink)->num_open.push_back(pprof_checkpoint_num_open(checkpoint));
    return PPROF_STATUS_OK;
  }

  static pprof_status Window(pprof_sink *sink, uint32_t index, bool opens,
                             uint64_t time_ns) {
    Of(sink)->windows.push_back({index, opens, time_ns});
    if (Of(sink)->on_window) Of(sink)->on_window(opens);
    return PPROF_STATUS_OK;
  }

  static pprof_status Finish(pprof_sink *sink, const pprof_totals *totals) {
    Recording *recording = Of(sink);
    recording->num_finished++;
    for (size_t i = 0; i < totals->num_items; i++) {
      const ppi_total &item = totals->items[i];
      recording->totals[{item.lane, item.key}] = pprof_totals_value(
          totals, item.lane, ppi_total_name((ppi_total_key)item.key));
    }
    for (size_t i = 0; i < totals->num_notes; i++)
      recording->notes[totals->notes[i].key] = totals->notes[i].value;
    return recording->finish_status;
  }

  static bool Kept(pprof_sink *sink, uint32_t lane, uint64_t *out_seq) {
    return Of(sink)->kept(lane, out_seq);
  }

  static bool Ready(pprof_sink *sink) {
    Recording *recording = Of(sink);
    return !recording->ready || recording->ready();
  }

  static void Destroy(pprof_sink *sink) {
    Of(sink)->num_destroyed++;
    delete reinterpret_cast<RecordingSink *>(sink);
  }

  static pprof_sink *Make(Recording *recording) {
    RecordingSink *sink = new RecordingSink();
    sink->recording = recording;
    sink->base.size = sizeof sink->base;
    sink->base.begin = Begin;
    sink->base.define = Define;
    sink->base.events = Events;
    sink->base.checkpoint = Checkpoint;
    sink->base.window = Window;
    sink->base.finish = Finish;
    sink->base.kept = recording->kept ? Kept : nullptr;
    sink->base.destroy = Destroy;
    sink->base.ready = Ready;
    return &sink->base;
  }
};

// A collector that comes only when it is asked.
constexpr uint32_t kKeptAwayUs = 4000000000u;

// A session with one recording sink. Small memory, so that a test takes little.
class LiveSession {
 public:
  LiveSession() {
    options.size = sizeof options;
    options.memory_limit_bytes = 8u << 20;
    // A busy machine may keep the collector away for seconds.
    options.stop_wait_ms = PPROF_PATIENCE_SECONDS * 1000u;
  }
  ~LiveSession() {
    pprof_session_destroy(session_);
  }

  pprof_session *Create() {
    if (session_) return session_;
    if (pprof_session_create(&options, &session_, &error) != PPROF_STATUS_OK)
      return nullptr;
    pprof_sink *sink = RecordingSink::Make(&recording);
    if (pprof_session_add_sink(session_, sink) != PPROF_STATUS_OK)
      RecordingSink::Destroy(sink);
    return session_;
  }
  // A start waits for the collector's first cycle for a second, and a busy
  // machine may give it no processor for longer. One that is kept away has had
  // its cycle here.
  pprof_status Start() {
    if (!Create()) return PPROF_STATUS_NO_MEMORY;
    pprof_status status = pprof_session_start(session_);
    if (status == PPROF_STATUS_OK && options.drain_interval_us == kKeptAwayUs)
      status = FlushPatiently(session_);
    return status;
  }
  pprof_status Flush() {
    return pprof_session_flush(session_);
  }
  pprof_status Stop() {
    return pprof_session_stop(session_, &error);
  }
  void Destroy() {
    pprof_session_destroy(session_);
    session_ = nullptr;
  }
  pprof_stats Stats() {
    pprof_stats stats = {};
    stats.size = sizeof stats;
    pprof_session_stats(session_, &stats);
    return stats;
  }
  pprof_session *session() {
    return session_;
  }

  pprof_options options = {};
  pprof_error error = {};
  Recording recording;

 private:
  LiveSession(const LiveSession &) = delete;
  LiveSession &operator=(const LiveSession &) = delete;
  pprof_session *session_ = nullptr;
};

}  // namespace pprof_test
