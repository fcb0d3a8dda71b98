// SPDX-License-Identifier: Apache-2.0
//
// A whole session around device ranges: a clock that the test moves, a sink
// that keeps all it is given. The sink runs on the collector's thread; read
// what it kept after Flush or Stop.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "event/event.h"
#include "mark/thread.h"
#include "pprof/device.h"
#include "pprof/session.h"
#include "session/state/session_impl.h"
#include "tests/support/patience.h"
#include "tests/support/patient_flush.h"

namespace pprof_test {

// Each reading takes 5 ns, so that loops that wait for time come to an end.
inline std::atomic<uint64_t> test_clock_ns{1000000000000};

inline uint64_t TestNow() {
  return test_clock_ns.fetch_add(5);
}

inline void Advance(uint64_t ns) {
  test_clock_ns += ns;
}

class DeviceSession {
 public:
  explicit DeviceSession(bool test_clock = true) : test_clock_(test_clock) {
    if (test_clock && num_test_clocks_++ == 0)
      ppi_clock_inject(TestNow, 1000000000);
    pprof_options options = {};
    options.size = sizeof options;
    options.drain_interval_us = 200;
    // A flush waits in real time, as long as a busy machine takes for a cycle.
    options.stop_wait_ms = PPROF_PATIENCE_SECONDS * 1000;
    pprof_error error;
    EXPECT_EQ(pprof_session_create(&options, &session_, &error),
              PPROF_STATUS_OK)
        << error.text;
    sink_.owner = this;
    sink_.base.size = sizeof sink_.base;
    sink_.base.define = Define;
    sink_.base.events = Events;
    sink_.base.finish = Finish;
    EXPECT_EQ(pprof_session_add_sink(session_, &sink_.base), PPROF_STATUS_OK);
  }

  ~DeviceSession() {
    Stop();
    pprof_session_destroy(session_);
    if (test_clock_ && --num_test_clocks_ == 0) ppi_clock_inject(nullptr, 0);
  }

  pprof_session *get() {
    return session_;
  }

  // A start waits a second for the cycle that takes up the devices.
  void Start() {
    ASSERT_EQ(pprof_session_start(session_), PPROF_STATUS_OK);
    ASSERT_EQ(FlushPatiently(session_), PPROF_STATUS_OK);
    base_ns = ppi_recorder_in_force.spool.header->start_ticks;
  }

  // Runs one whole round of the collector, and another for memory that the
  // first freed.
  void Flush() {
    for (int i = 0; i < 2; i++) FlushPatiently(session_);
  }

  // The test's clock runs meanwhile, so that the wait for devices ends.
  void Stop() {
    std::atomic<bool> stopped{false};
    std::thread ticking([&] {
      while (!stopped) {
        if (test_clock_) Advance(1000000);
        std::this_thread::yield();
      }
    });
    pprof_session_stop(session_, nullptr);
    stopped = true;
    ticking.join();
    stats.size = sizeof stats;
    pprof_session_stats(session_, &stats);
  }

  bool HasNote(const std::string &text) const {
    for (const std::string &note : notes)
      if (note.find(text) != std::string::npos) return true;
    return false;
  }

  // Device ranges in the order of their submits, of those there are so far.
  std::vector<pprof_event> DeviceRanges() const {
    std::multimap<uint64_t, pprof_event> sorted;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const pprof_event &event : events)
      if (event.kind == PPROF_KIND_DEVICE_RANGE)
        sorted.emplace(event.start_ns, event);
    std::vector<pprof_event> ranges;
    for (const auto &item : sorted) ranges.push_back(item.second);
    return ranges;
  }

  uint64_t base_ns = 0;  // of the test's clock; 0 in the events' time
  std::vector<pprof_event> events;
  std::vector<double> items;  // of work, by event
  std::map<uint32_t, std::string> stream_names, device_names, site_names;
  std::map<uint32_t, uint32_t> site_categories;
  std::map<uint32_t, uint32_t> stream_devices;
  std::map<uint32_t, std::vector<std::string>> attributes;
  std::vector<std::string> notes;
  pprof_stats stats = {};

 private:
  mutable std::mutex mutex_;  // while the session runs, of `events`

  struct Sink {
    pprof_sink base = {};
    DeviceSession *owner = nullptr;
  };

  static DeviceSession *Owner(pprof_sink *sink) {
    return reinterpret_cast<Sink *>(sink)->owner;
  }

  static pprof_status Define(pprof_sink *sink, const pprof_definition *it) {
    DeviceSession *self = Owner(sink);
    if (it->kind == PPROF_DEFINITION_STREAM) {
      self->stream_names[it->id] = it->name;
      self->stream_devices[it->id] = it->parent;
    }
    if (it->kind == PPROF_DEFINITION_DEVICE)
      self->device_names[it->id] = it->name;
    if (it->kind == PPROF_DEFINITION_ATTRIBUTES)
      self->attributes[it->id].push_back(it->name);
    if (it->kind == PPROF_DEFINITION_SITE) {
      self->site_names[it->id] = it->name;
      self->site_categories[it->id] = it->parent;
    }
    return PPROF_STATUS_OK;
  }

  static pprof_status Events(pprof_sink *sink, const pprof_batch *batch) {
    DeviceSession *self = Owner(sink);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    for (size_t i = 0; i < batch->num_events; i++) {
      pprof_event event = *pprof_batch_at(batch, i);
      self->items.push_back(event.work ? event.work->items : 0);
      event.work = nullptr;
      event.flows = nullptr;
      self->events.push_back(event);
    }
    return PPROF_STATUS_OK;
  }

  static pprof_status Finish(pprof_sink *sink, const pprof_totals *totals) {
    for (size_t i = 0; i < totals->num_notes; i++)
      Owner(sink)->notes.push_back(std::string(totals->notes[i].key) + ": " +
                                   totals->notes[i].value);
    return PPROF_STATUS_OK;
  }

  // The clock of a session that runs does not change: not when a second one is
  // made, nor when the first one of two ends.
  static inline int num_test_clocks_ = 0;
  const bool test_clock_;
  pprof_session *session_ = nullptr;
  Sink sink_;
};

}  // namespace pprof_test
