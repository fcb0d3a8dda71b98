// SPDX-License-Identifier: Apache-2.0
//
// Random events of all kinds, seeded: nested ranges as a thread makes them, and
// records with any fields at all.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "pprof/event.h"

namespace pplog {

struct Lane {
  uint64_t seq = 0;
  uint64_t now = 0;
  uint32_t depth = 0;
};

// Owns the data that events point to.
struct Events {
  std::vector<pprof_event> events;
  std::vector<std::vector<uint64_t>> flows;
  std::vector<pprof_work_amount> work;
  std::vector<pprof_cpu_use> cpu;
  std::vector<pprof_numbers> numbers;

  explicit Events(size_t n)
      : events(n), flows(n), work(n), cpu(n), numbers(n) {}
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  uint64_t Below(uint64_t n) {
    return random_() % n;
  }
  uint64_t Any() {
    uint64_t value = random_();
    return value >> Below(64);  // all magnitudes
  }
  double AnyDouble() {
    switch (Below(4)) {
      case 0:
        return static_cast<double>(Below(1000));
      case 1:
        return 5e7 * static_cast<double>(Below(3));
      default: {
        uint64_t bits = random_();  // NaNs and infinities among them
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
      }
    }
  }

  // Ranges as a thread makes them, with some of everything else.
  void Nested(Lane *lane, uint32_t id, pprof_event *event) {
    uint32_t depth = static_cast<uint32_t>(Below(4));
    uint64_t start = lane->now + Below(100);
    lane->now = start + Below(1000);
    *event = {};
    event->kind = PPROF_KIND_RANGE;
    event->lane = id;
    event->site = 1 + depth;
    event->depth = depth;
    event->start_ns = start;
    event->end_ns = lane->now;
    if (Below(3) == 0) event->start_ns -= Below(start + 1);
  }

  void Wild(uint32_t id, pprof_event *event) {
    *event = {};
    event->kind = static_cast<uint32_t>(Below(5) ? 1 + Below(4) : random_());
    event->lane = static_cast<uint32_t>(Below(2) ? id : random_());
    event->site = static_cast<uint32_t>(Any());
    event->depth = static_cast<uint32_t>(Below(2) ? Below(2000) : random_());
    event->flags = static_cast<uint32_t>(Below(2) ? Below(64) : random_());
    event->stream = static_cast<uint32_t>(Any());
    event->start_ns = Any();
    event->end_ns = Any();
    event->device_start_ns = Below(2) ? Any() : 0;
    event->device_end_ns = Below(2) ? Any() : 0;
    event->device_error_ns = Below(2) ? Any() : 0;
    if (Below(2)) event->value = AnyDouble();
    if (Below(2)) event->attributes = static_cast<uint32_t>(Any());
  }

  Events Make(Lane *lane, uint32_t id, size_t n, unsigned wildness) {
    Events made(n);
    for (size_t i = 0; i < n; i++) {
      pprof_event *event = &made.events[i];
      if (Below(100) < wildness)
        Wild(id, event);
      else
        Nested(lane, id, event);
      event->window = Below(50) ? window_ : static_cast<uint32_t>(Below(3));
      AddFlows(&made, i);
      if (Below(100) < wildness) {
        made.work[i] = {sizeof(pprof_work_amount), AnyDouble(), AnyDouble(),
                        AnyDouble(), AnyDouble()};
        event->work = &made.work[i];
      }
      if (Below(100) < wildness) AddCpu(&made, i);
      if (Below(100) < wildness + 10) AddNumbers(&made, i);
    }
    return made;
  }

 private:
  // Unknown values are zero.
  void AddCpu(Events *made, size_t i) {
    pprof_cpu_use *cpu = &made->cpu[i];
    *cpu = {};
    cpu->size = sizeof *cpu;
    made->events[i].cpu = cpu;
    if (Below(3) == 0) return;
    cpu->known = PPROF_CPU_TIMES;
    cpu->user_ns = Any();
    cpu->sys_ns = Any();
    cpu->inner_ns = Any();
    cpu->voluntary_switches = Any();
    cpu->involuntary_switches = Any();
    cpu->minor_faults = Any();
    cpu->major_faults = Any();
    if (Below(2) == 0) return;
    cpu->known |= PPROF_CPU_RUN_QUEUE;
    cpu->run_queue_ns = Any();
  }

  void AddNumbers(Events *made, size_t i) {
    pprof_numbers *numbers = &made->numbers[i];
    *numbers = {};
    numbers->size = sizeof *numbers;
    numbers->num = static_cast<uint32_t>(Below(PPROF_MOST_NUMBERS + 1));
    numbers->full_name = static_cast<uint32_t>(Below(PPROF_NAME_TOO_MUCH + 1));
    for (uint32_t k = 0; k < numbers->num; k++) numbers->values[k] = Any();
    made->events[i].numbers = numbers;
  }

  void AddFlows(Events *made, size_t i) {
    if (Below(4) == 0) return;
    if (i > 0 && Below(3))
      made->flows[i] = made->flows[i - 1];
    else
      for (uint64_t k = Below(5); k > 0; k--) made->flows[i].push_back(Any());
    if (Below(300) == 0) made->flows[i].assign(512, random_());
    made->events[i].flows = made->flows[i].data();
    made->events[i].num_flows = made->flows[i].size();
  }

  std::mt19937_64 random_;
  uint32_t window_ = 0;
};

}  // namespace pplog
