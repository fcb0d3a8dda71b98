// SPDX-License-Identifier: Apache-2.0
//
// Adds up what ranges use of devices and processors, and energy.
#include "report/figures/use.h"

#include <string.h>

#include "base/mem.h"
#include "base/rank.h"
#include "report/figures/keyed.h"

// ---- waits of device ranges ----

bool ppi_queue_add(ppi_queue *queue, const pprof_event *event) {
  uint64_t start_ns = event->device_start_ns, end_ns = event->device_end_ns;
  uint64_t delay_ns =
      start_ns > event->start_ns ? start_ns - event->start_ns : 0;
  if (end_ns > start_ns) queue->device_ns += end_ns - start_ns;
  queue->error_ns += event->device_error_ns;
  queue->num_unresolved += delay_ns < event->device_error_ns;
  ppi_spread_add(&queue->delay, delay_ns);
  return ppi_histogram_add(&queue->delays, delay_ns);
}

bool ppi_queue_knows_mean(const ppi_queue *queue) {
  return queue->delay.n && queue->delay.sum >= queue->error_ns;
}

// A delay less its error is a lower bound. Unresolved delays have the bound 0
// and sort first. The quantile of the bounds is above 0 if its rank is beyond
// these.
bool ppi_queue_knows_quantile(const ppi_queue *queue, unsigned percent) {
  uint64_t n = queue->delay.n;
  return n &&
         ppi_rank_of(n, percent * PPI_RANK_PERCENT) > queue->num_unresolved;
}

// ---- CPU use of one name's host ranges ----

// Clamps CPU use to the range's length: the kernel's readings lie a moment
// outside of the range.
static pprof_cpu_use within(const pprof_cpu_use *use, uint64_t real_ns) {
  pprof_cpu_use kept = *use;
  kept.user_ns = PPI_MIN(use->user_ns, real_ns);
  kept.sys_ns = PPI_MIN(use->sys_ns, real_ns - kept.user_ns);
  uint64_t rest_ns = real_ns - kept.user_ns - kept.sys_ns;
  kept.run_queue_ns = PPI_MIN(use->run_queue_ns, rest_ns);
  return kept;
}

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns, uint64_t waits_ns) {
  sums->num_asked++;
  if (!(use->known & PPROF_CPU_TIMES)) return;
  sums->num_known++;
  sums->num_queued += (use->known & PPROF_CPU_RUN_QUEUE) != 0;
  const pprof_cpu_use kept = within(use, real_ns);
  sums->real_ns += real_ns;
  sums->user_ns += kept.user_ns;
  sums->sys_ns += kept.sys_ns;
  sums->inner_ns += use->inner_ns;
  sums->run_queue_ns += kept.run_queue_ns;
  sums->voluntary += use->voluntary_switches;
  sums->involuntary += use->involuntary_switches;
  sums->minor_faults += use->minor_faults;
  sums->major_faults += use->major_faults;
  if (!(use->known & PPROF_CPU_RUN_QUEUE)) return;
  uint64_t off_ns = real_ns - kept.user_ns - kept.sys_ns;
  uint64_t blocked_ns = off_ns - kept.run_queue_ns;
  sums->waits_ns += waits_ns;
  sums->unrecorded_ns += blocked_ns - PPI_MIN(blocked_ns, waits_ns);
  sums->on_processor_ns += waits_ns - PPI_MIN(off_ns, waits_ns);
}

bool ppi_waits_inside_add(ppi_waits_inside *waits, uint64_t start_ns,
                          uint64_t length_ns) {
  enum { MOST = 4096 };
  // So many waits lie in no measured range, or in a long one: they become one.
  if (waits->num == MOST) {
    waits->num = 0;
    uint64_t all_ns = 0;
    for (size_t i = 0; i < MOST; i++) all_ns += waits->items[i].length_ns;
    waits->items[waits->num++].length_ns = all_ns;
  }
  return PPI_PUSH(waits->items, waits->num, waits->capacity,
                  (ppi_wait_inside){start_ns, length_ns});
}

uint64_t ppi_waits_inside_of(ppi_waits_inside *waits, uint64_t start_ns) {
  uint64_t all_ns = 0;
  while (waits->num && waits->items[waits->num - 1].start_ns >= start_ns)
    all_ns += waits->items[--waits->num].length_ns;
  if (all_ns) waits->items[waits->num++] = (ppi_wait_inside){start_ns, all_ns};
  return all_ns;
}

// ---- a stage under its device's roofline ----

static double quotient(double part, double of) {
  return part > 0 && of > 0 ? part / of : 0;
}

ppi_roofline_reported ppi_roofline_tell(const ppi_roofline *roofline) {
  const ppi_roofline *from = roofline;
  ppi_roofline_reported reported = {.rate = quotient(from->flops, from->own_s)};
  reported.mfu = 100 * quotient(reported.rate, from->peak_flops);
  reported.wall_mfu =
      100 * quotient(quotient(from->flops, from->wall_s), from->peak_flops);
  reported.intensity = quotient(from->flops, from->bytes);
  reported.ridge = quotient(from->peak_flops, from->peak_bytes);
  double by_memory = reported.intensity * from->peak_bytes;
  if (reported.ridge > 0 && reported.intensity > 0)
    reported.reach =
        100 * quotient(reported.rate, reported.intensity < reported.ridge
                                          ? by_memory
                                          : from->peak_flops);
  return reported;
}
