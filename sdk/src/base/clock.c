// SPDX-License-Identifier: Apache-2.0
//
// Chooses the clock and its rate. The rate is the kernel's own calibration
// (perf's mmap page), else CPUID's, else measured against CLOCK_MONOTONIC_RAW.
#include "base/clock.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/descriptor.h"

ppi_clock ppi_clock_state = {.other = ppi_clock_ticks_slow};

static pthread_once_t init_once = PTHREAD_ONCE_INIT;
static uint32_t real_mode;
static uint64_t real_rate;
static const char *note = "not initialised";
static bool stood_still;

static uint64_t read_clock_ns(clockid_t id) {
  struct timespec time;
  clock_gettime(id, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t ppi_clock_monotonic_ns(void) {
  if (ppi_clock_state.mode == PPI_CLOCK_INJECTED)
    return (uint64_t)((unsigned __int128)ppi_clock_state.other() * 1000000000u /
                      ppi_clock_state.ticks_per_second);
  return read_clock_ns(CLOCK_MONOTONIC);
}

uint64_t ppi_clock_realtime_ns(void) {
  return read_clock_ns(CLOCK_REALTIME);
}

uint64_t ppi_clock_ticks_slow(void) {
  switch (ppi_clock_state.mode) {
    case PPI_CLOCK_CONTINUED: {
      uint64_t ns =
          ppi_clock_monotonic_ns() - ppi_clock_state.anchor_monotonic_ns;
      return ppi_clock_state.anchor_ticks + ppi_clock_ticks_of(ns);
    }
    case PPI_CLOCK_TICKS:
      return ppi_clock_counter();
    default:
      return ppi_clock_monotonic_ns();
  }
}

#if defined(__x86_64__)
static bool has_invariant_counter(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}

static uint64_t rate_from_cpuid(void) {
  unsigned denominator, numerator, crystal_hz, d;
  if (!__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &d)) return 0;
  if (!denominator || !numerator || !crystal_hz) return 0;
  return (uint64_t)crystal_hz * numerator / denominator;
}
#else
static bool has_invariant_counter(void) {
#if defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

static uint64_t rate_from_cpuid(void) {
  uint64_t rate = 0;
#if defined(__aarch64__)
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
#endif
  return rate;
}
#endif

static uint64_t rate_of_page(const struct perf_event_mmap_page *page) {
  if (!page->cap_user_time || page->time_mult == 0) return 0;
  unsigned __int128 scaled = (unsigned __int128)1000000000u << page->time_shift;
  return (uint64_t)((scaled + page->time_mult / 2) / page->time_mult);
}

static uint64_t rate_from_kernel(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  int fd = ppi_fd_perf(&attr);
  if (fd < 0) return 0;
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  uint64_t rate = 0;
  if (page != MAP_FAILED) {
    rate = rate_of_page(page);
    munmap(page, size);
  }
  close(fd);
  return rate;
}

// One pair of readings, the tightest of a few.
static void read_pair(uint64_t *out_ticks, uint64_t *out_ns) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 16; i++) {
    uint64_t before = ppi_clock_counter();
    uint64_t ns = read_clock_ns(CLOCK_MONOTONIC_RAW);
    uint64_t width = ppi_clock_counter() - before;
    if (width >= best) continue;
    best = width;
    *out_ticks = before + width / 2;
    *out_ns = ns;
  }
}

// 0: the clock stands still or goes back, as a test's fake clock may. A pair
// takes longer than PAIR_NS, so a clock that moves never needs all rounds. It
// sleeps first: the processor is the program's.
static uint64_t rate_measured(uint64_t for_ns) {
  enum { PAIR_NS = 50 };
  uint64_t ticks = 0, ns = 0, ticks_after = 0, ns_after = 0;
  read_pair(&ticks, &ns);
  const struct timespec pause = {0, (long)for_ns};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  for (uint64_t left = for_ns / PAIR_NS; left; left--) {
    read_pair(&ticks_after, &ns_after);
    if (ns_after - ns >= for_ns) break;
  }
  if (ns_after <= ns) return 0;
  return (uint64_t)((unsigned __int128)(ticks_after - ticks) * 1000000000u /
                    (ns_after - ns));
}

static bool agrees(uint64_t rate, uint64_t measured) {
  uint64_t off = rate > measured ? rate - measured : measured - rate;
  return off < measured / 1000;
}

static void go_by_clock_gettime(const char *why) {
  real_mode = PPI_CLOCK_MONOTONIC;
  real_rate = 1000000000u;
  note = why;
}

static void note_standstill(void) {
  stood_still = true;
  go_by_clock_gettime(
      "clock_gettime stood still at the start: times are what it says");
}

static void find_clock(void) {
  go_by_clock_gettime("no invariant counter: clock_gettime(CLOCK_MONOTONIC)");
  if (!has_invariant_counter()) return;
  uint64_t measured = rate_measured(1000000);
  if (measured == 0) {
    note_standstill();
    return;
  }
  real_mode = PPI_CLOCK_TICKS;
  real_rate = rate_from_kernel();
  note = "invariant counter, rate from the kernel";
  if (real_rate && agrees(real_rate, measured)) return;
  real_rate = rate_from_cpuid();
  note = "invariant counter, rate from the processor";
  if (real_rate && agrees(real_rate, measured)) return;
  real_rate = rate_measured(20000000);
  note = "invariant counter, rate measured over 20 ms";
  if (!real_rate) note_standstill();
}

static void init(void) {
  find_clock();
  if (ppi_clock_state.mode != PPI_CLOCK_UNSET) return;  // injected before
  ppi_clock_state.ticks_per_second = real_rate;
  ppi_clock_state.mode = real_mode;
}

void ppi_clock_init(void) {
  pthread_once(&init_once, init);
}

const char *ppi_clock_note(void) {
  return ppi_clock_state.mode == PPI_CLOCK_CONTINUED
             ? "the counter jumped: clock_gettime(CLOCK_MONOTONIC) since then"
             : note;
}

bool ppi_clock_stood_still(void) {
  return stood_still;
}

const char *ppi_clock_name(void) {
  switch (ppi_clock_state.mode) {
    case PPI_CLOCK_TICKS:
    case PPI_CLOCK_CONTINUED:
      return "tsc";
    case PPI_CLOCK_INJECTED:
      return "injected";
    default:
      return "monotonic";
  }
}

static void (*when_changed)(void);

void ppi_clock_watch(void (*changed)(void)) {
  when_changed = changed;
}

static void change_mode(uint32_t mode) {
  __atomic_store_n(&ppi_clock_state.mode, mode, __ATOMIC_RELEASE);
  if (when_changed) when_changed();
}

void ppi_clock_inject(uint64_t (*now)(void), uint64_t ticks_per_second) {
  ppi_clock_init();
  ppi_clock_state.other = now ? now : ppi_clock_ticks_slow;
  ppi_clock_state.ticks_per_second = now ? ticks_per_second : real_rate;
  change_mode(now ? (uint32_t)PPI_CLOCK_INJECTED : real_mode);
}

void pprof_clock_inject_(uint64_t (*now)(void), uint64_t ticks_per_second) {
  ppi_clock_inject(now, ticks_per_second);
}

ppi_scale ppi_scale_make(uint64_t base_ticks, uint64_t ticks_per_second) {
  unsigned __int128 scaled = (unsigned __int128)1000000000u << 56;
  unsigned __int128 mult = (scaled + ticks_per_second / 2) / ticks_per_second;
  return (ppi_scale){base_ticks, (uint64_t)mult};
}

ppi_clock_sample ppi_clock_take_sample(void) {
  ppi_clock_sample best = {0};
  best.width_ticks = UINT64_MAX;
  for (int i = 0; i < 4; i++) {
    uint64_t before = ppi_clock_ticks();
    uint64_t monotonic_ns = ppi_clock_monotonic_ns();
    uint64_t after = ppi_clock_ticks();
    if (after - before >= best.width_ticks) continue;
    best.width_ticks = after - before;
    best.ticks = before + (after - before) / 2;
    best.monotonic_ns = monotonic_ns;
  }
  best.realtime_ns = ppi_clock_realtime_ns();
  return best;
}

bool ppi_clock_check(const ppi_clock_sample *before,
                     const ppi_clock_sample *now) {
  if (ppi_clock_state.mode != PPI_CLOCK_TICKS) return true;
  ppi_scale scale =
      ppi_scale_make(before->ticks, ppi_clock_state.ticks_per_second);
  uint64_t by_ticks = ppi_scale_ns(&scale, now->ticks);
  uint64_t by_kernel = now->monotonic_ns - before->monotonic_ns;
  uint64_t off =
      by_ticks > by_kernel ? by_ticks - by_kernel : by_kernel - by_ticks;
  if (off < 1000000 || off < by_kernel / 1000) return true;
  ppi_clock_state.anchor_monotonic_ns = before->monotonic_ns;
  ppi_clock_state.anchor_ticks = before->ticks;
  change_mode(PPI_CLOCK_CONTINUED);
  return false;
}
