// SPDX-License-Identifier: Apache-2.0
//
// The rules, one row each: the function ppi_rule_NAME, the id, the default
// threshold and its unit, and the reason for it.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

// clang-format off
#define PPI_RULES(each) \
  each(lost, "lost", 0, "%", \
       "any loss may be the reason") \
  each(clock_error, "clock-error", 5, "%", \
       "a busy or idle share is then no surer than by a twentieth") \
  each(left_out, "left-out", 1, "", \
       "what one log lacks may be all that others wait for") \
  each(names, "names", 1, "", \
       "one is the sign that names hold numbers or paths") \
  each(device_times, "device-times", 1, "%", \
       "shares are rounded to a hundredth") \
  each(not_timed, "not-timed", 1, "", \
       "one process without device times is too many") \
  each(own_cost, "own-cost", 1, "%", \
       "shares are rounded to a hundredth") \
  each(identity, "identity", 1, "", \
       "one device is a defect of the profiler") \
  each(device_bound, "device-bound", 90, "%", \
       "the rest is less than what a queue needs") \
  each(host_bound, "host-bound", 20, "%", \
       "a fifth of the device's time is worth a change") \
  each(copies, "copies", 15, "%", \
       "less is what most programs need") \
  each(device_memory, "device-memory", 5, "%", \
       "less is what a cache of memory brings") \
  each(launch_bound, "launch-bound", 20, "us", \
       "a submission takes the host 2 to 20 us") \
  each(interference, "interference", 1.1, "", \
       "a tenth is more than devices vary by") \
  each(memory_grows, "memory-grows", 10, "%", \
       "less is what caches do that fill late") \
  each(dominates, "dominates", 50, "%", \
       "half of the time is more than all else") \
  each(queueing, "queueing", 20, "%", \
       "a fifth of the latency is worth a change") \
  each(waiting, "waiting", 20, "%", \
       "a fifth of the time is worth a change") \
  each(input_bound, "input-bound", 20, "%", \
       "a fifth of the time is worth a change") \
  each(uneven, "uneven", 3, "", \
       "a call in 100 of thrice the time shapes the latency") \
  each(first_call, "first-call", 10, "", \
       "less is what a cold cache takes") \
  each(computes, "computes", 80, "%", \
       "the rest is what any thread is disturbed by") \
  each(blocks, "blocks", 20, "%", \
       "faster code cannot save more than that") \
  each(processor_wait, "processor-wait", 20, "%", \
       "a fifth of the time is worth a change") \
  each(tail, "tail", 50, "%", \
       "half of the difference is more than all else") \
  each(few_requests, "few-requests", 1000, "", \
       "ten are beyond P99 then") \
  each(slow_rank, "slow-rank", 1.1, "", \
       "a tenth more on one rank is lost on all") \
  each(roofline, "roofline", 1, "%", \
       "of less time little is to be won") \
  each(machine, "machine", 1, "", \
       "each row has its own part of the run, times this") \
  each(collections, "collections", 3, "%", \
       "less is what reference counts leave over") \
  each(held_loop, "held-loop", 20, "ms", \
       "a request that waits so long notices") \
  each(held_lock, "held-lock", 3, "%", \
       "less is what a change of threads takes")
// clang-format on

#define PPI_RULE_DECLARE_(name, id, threshold, unit, why) \
  void ppi_rule_##name(ppi_search *search);
PPI_RULES(PPI_RULE_DECLARE_)
#undef PPI_RULE_DECLARE_

PPROF_END_C_
