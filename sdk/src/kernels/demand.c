// SPDX-License-Identifier: Apache-2.0
//
// Turns kernels on for a while, in a session that runs without them.
#include "kernels/demand.h"

#include "kernels/launch.h"

// After the end, for work that still runs.
#define LATE_S 1u

static uint32_t phase_of(const ppi_kernels_demand *demand) {
  return __atomic_load_n(&demand->phase, __ATOMIC_ACQUIRE);
}

static void go_to(ppi_kernels_demand *demand, ppi_kernels_phase phase) {
  __atomic_store_n(&demand->phase, phase, __ATOMIC_RELEASE);
}

bool ppi_kernels_ask(ppi_kernels_demand *demand, uint64_t ns) {
  uint32_t phase = phase_of(demand);
  if (phase != PPI_KERNELS_FREE && phase != PPI_KERNELS_OVER) return false;
  demand->ns = ns;
  __atomic_store_n(&demand->is_cut, false, __ATOMIC_RELAXED);
  go_to(demand, PPI_KERNELS_ASKED);
  return true;
}

bool ppi_kernels_take_back(ppi_kernels_demand *demand) {
  uint32_t asked = PPI_KERNELS_ASKED;
  return __atomic_compare_exchange_n(&demand->phase, &asked, PPI_KERNELS_FREE,
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void ppi_kernels_cut(ppi_kernels_demand *demand) {
  __atomic_store_n(&demand->is_cut, true, __ATOMIC_RELAXED);
}

bool ppi_kernels_is_over(const ppi_kernels_demand *demand, pprof_status *out,
                         pprof_error *why) {
  if (phase_of(demand) != PPI_KERNELS_OVER) return false;
  *out = demand->status;
  if (why) *why = demand->why;
  return true;
}

// ---- the collector ----

static void begin(ppi_kernels_demand *demand, ppi_kernels *kernels,
                  const ppi_kernel_source *source, const ppi_drain *drain) {
  demand->reported = kernels->counts.reported;
  demand->why.text[0] = '\0';
  demand->status = ppi_kernels_start_now(kernels, source, &demand->why);
  double seconds = (double)demand->ns / 1e9;
  demand->until =
      ppi_clock_ticks() +
      (uint64_t)(seconds * (double)drain->spool->header->ticks_per_second);
  go_to(demand, demand->status == PPROF_STATUS_OK ? PPI_KERNELS_TRACED
                                                  : PPI_KERNELS_OVER);
}

// A tool that came late may report calls without their work.
static void end(ppi_kernels_demand *demand, ppi_kernels *kernels,
                ppi_drain *drain) {
  ppi_kernels_rest(kernels, drain);
  demand->status = PPROF_STATUS_OK;
  if (kernels->counts.reported == demand->reported)
    demand->status =
        ppi_fail(&demand->why, PPROF_STATUS_UNAVAILABLE,
                 ppi_launches_any()
                     ? "the program launched work, but the driver reported "
                       "none: tracing began too late; use devices.kernels or "
                       "pprof-report run --kernels"
                     : "the program launched nothing on a device in that time");
  go_to(demand, PPI_KERNELS_OVER);
}

void ppi_kernels_serve(ppi_kernels_demand *demand, ppi_kernels *kernels,
                       const ppi_kernel_source *source, ppi_drain *drain) {
  uint32_t phase = phase_of(demand);
  if (phase == PPI_KERNELS_ASKED) begin(demand, kernels, source, drain);
  uint64_t now = phase > PPI_KERNELS_ASKED ? ppi_clock_ticks() : 0;
  bool is_cut = __atomic_load_n(&demand->is_cut, __ATOMIC_RELAXED);
  if (phase == PPI_KERNELS_TRACED && (is_cut || now >= demand->until)) {
    ppi_launches_close();
    demand->until = PPI_MIN(demand->until, now);
    kernels->until = demand->until;
    go_to(demand, PPI_KERNELS_ENDING);
  }
  uint64_t late = LATE_S * drain->spool->header->ticks_per_second;
  if (phase == PPI_KERNELS_ENDING &&
      (!ppi_kernels_poll(kernels, drain) || now >= demand->until + late))
    end(demand, kernels, drain);
}

void ppi_kernels_stop(ppi_kernels_demand *demand, ppi_kernels *kernels,
                      ppi_drain *drain) {
  uint32_t phase = phase_of(demand);
  if (phase == PPI_KERNELS_TRACED || phase == PPI_KERNELS_ENDING)
    end(demand, kernels, drain);
  else
    ppi_kernels_rest(kernels, drain);
}
