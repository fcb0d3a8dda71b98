// SPDX-License-Identifier: Apache-2.0
//
// Host time. Markers read raw ticks; the collector turns them into integer ns
// of the run once. The tick domain never changes while the process lives: when
// the TSC cannot be trusted any more, the slow path continues the same count
// from CLOCK_MONOTONIC.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

typedef enum ppi_clock_mode {
  PPI_CLOCK_UNSET = 0,
  PPI_CLOCK_TICKS = 1,      // TSC or the virtual counter
  PPI_CLOCK_MONOTONIC = 2,  // clock_gettime, one tick = 1 ns
  PPI_CLOCK_CONTINUED = 3,  // was TICKS until a jump; clock_gettime since
  PPI_CLOCK_INJECTED = 4    // a test's function
} ppi_clock_mode;

typedef struct ppi_clock {
  uint32_t mode;
  uint32_t reserved;
  uint64_t ticks_per_second;
  uint64_t (*other)(void);  // serves where the counter does not
  uint64_t anchor_ticks;    // pair for CONTINUED
  uint64_t anchor_monotonic_ns;
} ppi_clock;
extern PPI_HIDDEN ppi_clock ppi_clock_state;

uint64_t ppi_clock_ticks_slow(void);  // but of an injected clock

static inline uint64_t ppi_clock_counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

// Whether ppi_clock_counter is the clock.
static inline bool ppi_clock_is_counter(void) {
  return ppi_clock_state.mode == PPI_CLOCK_TICKS;
}
// Reads the clock if it is not the counter.
static inline uint64_t ppi_clock_other(void) {
  return ppi_clock_state.other();
}
static inline uint64_t ppi_clock_ticks(void) {
  if (PPI_LIKELY(ppi_clock_is_counter())) return ppi_clock_counter();
  return ppi_clock_other();
}

// ppi_clock_init finds the clock and its rate; once per process, any thread.
void ppi_clock_init(void);
// ppi_clock_watch makes each change of the clock call `changed`. Call it once,
// before there are threads that may change it.
void ppi_clock_watch(void (*changed)(void));
// The result of ppi_clock_init as text: the source of the rate, or why there is
// no TSC.
const char *ppi_clock_note(void);
// clock_gettime did not move while the rate was measured.
bool ppi_clock_stood_still(void);
const char *ppi_clock_name(void);
uint64_t ppi_clock_monotonic_ns(void);
uint64_t ppi_clock_realtime_ns(void);

// Lengths of time, in the clock's ticks and in ns.
static inline uint64_t ppi_clock_ticks_of(uint64_t ns) {
  return (uint64_t)((unsigned __int128)ns * ppi_clock_state.ticks_per_second /
                    1000000000u);
}
static inline uint64_t ppi_clock_ns_of(uint64_t ticks) {
  return (uint64_t)((unsigned __int128)ticks * 1000000000u /
                    ppi_clock_state.ticks_per_second);
}

// Tests: `now` counts ticks from now on; NULL: the real clock again.
void ppi_clock_inject(uint64_t (*now)(void), uint64_t ticks_per_second);
// The same, exported only for benches and tests of libpprof.so.
PPROF_API void pprof_clock_inject_(uint64_t (*now)(void),
                                   uint64_t ticks_per_second);

// A scale turns tick differences into ns without ever rounding twice:
// ns = ticks * mult >> 56, in 128 bits.
typedef struct ppi_scale {
  uint64_t base_ticks;
  uint64_t mult;
} ppi_scale;
ppi_scale ppi_scale_make(uint64_t base_ticks, uint64_t ticks_per_second);
// Ticks before the base become 0.
static inline uint64_t ppi_scale_ns(const ppi_scale *scale, uint64_t ticks) {
  if (ticks <= scale->base_ticks) return 0;
  unsigned __int128 product =
      (unsigned __int128)(ticks - scale->base_ticks) * scale->mult;
  return (uint64_t)(product >> 56);
}

// One reading of all clocks, which took `width_ticks`.
typedef struct ppi_clock_sample {
  uint64_t ticks, width_ticks, monotonic_ns, realtime_ns;
} ppi_clock_sample;
ppi_clock_sample ppi_clock_take_sample(void);

// ppi_clock_check compares two samples; when the tick count and
// CLOCK_MONOTONIC differ by more than 1 000 ppm and 1 ms, the TSC has jumped:
// it ends TSC use and answers false.
bool ppi_clock_check(const ppi_clock_sample *before,
                     const ppi_clock_sample *now);

PPROF_END_C_
