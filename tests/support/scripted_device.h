// SPDX-License-Identifier: Apache-2.0
//
// The state of a scripted device, for scripted_backend.cc.
#pragma once

#include <time.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "scripted_backend.h"

namespace scripted {

struct Event {
  scripted_device *device;
  uint64_t pool;
  bool recorded = false;
  bool happens = false;
  bool destroyed = false;
  bool awaited = false;  // of an anchor, which waits until it is ready
  bool in_graph = false;
  uint64_t true_ns = 0;
  size_t record = 0;  // index in records
};

struct Operation {
  Event *event;  // nullptr: work
  uint64_t put_ns;
  uint64_t duration_ns;
};

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace scripted

struct scripted_device {
  std::mutex mutex;
  scripted_script script;
  pprof_backend backend;
  int index = 0;
  uint64_t zero_ns = 0;
  std::vector<uint64_t> latencies_ns;
  std::vector<scripted_record> records;
  // Never freed, and kept here so that leak checkers find them.
  std::vector<scripted::Event *> events;
  std::vector<void *> streams;
  uint64_t num_creates = 0, num_record_calls = 0, num_calls = 0;
  size_t num_live = 0, num_calls_after_error = 0, num_violations = 0;
  bool broken = false, told = false;
  bool starve_anchors = false, fail_creates = false, fail_records = false;
  bool entered = false;
  std::thread::id collector;
  std::string first_violation;
  std::map<uint64_t, bool> gone_pools;  // whether that was reported

  // True when the event went with its pool.
  bool IsGone(uint64_t pool) {
    auto found = gone_pools.find(pool);
    if (found == gone_pools.end()) return false;
    if (found->second) Violation("used with a pool known to be gone");
    return true;
  }

  uint64_t Now() {
    return script.now ? script.now() : scripted::MonotonicNs();
  }

  int64_t Clock(uint64_t host_ns) {
    __int128 since = static_cast<__int128>(host_ns) - zero_ns;
    __int128 drift = since * script.drift_ppb;
    // Rounded down, also where negative, so that the clock never jumps.
    drift = (drift - (drift < 0 ? 999999999 : 0)) / 1000000000;
    __int128 shown = static_cast<__int128>(host_ns) + script.skew_ns + drift;
    __int128 step = script.resolution_ns ? script.resolution_ns : 1;
    __int128 over = shown % step;
    return static_cast<int64_t>(shown - (over < 0 ? over + step : over));
  }

  void Violation(const char *what) {
    if (num_violations++ == 0) first_violation = what;
  }

  void CheckCollector(const char *what) {
    if (!entered || collector != std::this_thread::get_id()) Violation(what);
  }

  // Counts a call; true when it must answer DEVICE.
  bool IsBroken() {
    num_calls++;
    if (script.sticky_at && num_calls >= script.sticky_at) broken = true;
    if (broken && told) num_calls_after_error++;
    told = broken;
    return broken;
  }
};
