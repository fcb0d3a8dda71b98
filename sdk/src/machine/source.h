// SPDX-License-Identifier: Apache-2.0
//
// A source of figures of the machine: one file and one row of the table in
// machine.c each. All on the sampler's thread.
#pragma once

#include "pprof/mark.h"

PPROF_BEGIN_C_

// How often a source is asked where it costs little.
#define PPI_MACHINE_PERIOD_MS 50u
#define PPI_MACHINE_PERIOD_NS (PPI_MACHINE_PERIOD_MS * 1000000ull)

// The sources: name, as `machine_without` has it; what it reads, for the note
// where it is absent; ms between two questions where they cost little; the most
// of a core, in 1/100 000: a source with a higher cost is asked less often.
// clang-format off
#define PPI_MACHINE_SOURCES(each) \
  each(processors, "/proc/stat", 250, 8) \
  each(process, "/proc/self", 250, 3) \
  each(cgroup, "cpu.stat", PPI_MACHINE_PERIOD_MS, 8) \
  each(pressure, "/proc/pressure", 250, 4) \
  each(frequency, "cpufreq, \"cpu MHz\" of /proc/cpuinfo", 1000, 2) \
  each(cpu_energy, "RAPL, readable by root alone on most systems", 1000, 2) \
  each(gpu, "libnvidia-ml.so.1", PPI_MACHINE_PERIOD_MS, 16) \
  each(gpu_state, "libnvidia-ml.so.1", 1000, 2) \
  each(gpu_energy, "libnvidia-ml.so.1", 1000, 8) \
  each(gpu_use, "libnvidia-ml.so.1", 1000, 6)
// clang-format on

// ppi_machine_put records `value` under `name`, a counter, if it has changed.
void ppi_machine_put(const char *name, double value);

// All levels are recorded once more when they are next put.
void ppi_machine_repeat(void);
void ppi_machine_set_category(uint32_t category);

// A row of PPI_MACHINE_SOURCES with its functions.
typedef struct ppi_machine_source {
  const char *name, *what;
  uint64_t period_ns;
  uint32_t share;
  bool (*open)(void);  // false: absent
  void (*sample)(void);
} ppi_machine_source;

// The cost of a source's answers: a mean, so that one slow answer does not
// silence the source. A driver's first answer can cost a hundred times as much
// as the others and does not count.
typedef struct ppi_machine_costs {
  uint64_t num, mean_ns;
} ppi_machine_costs;

// ppi_machine_rest_ns adds a cost and returns how long the source rests.
uint64_t ppi_machine_rest_ns(const ppi_machine_source *source,
                             ppi_machine_costs *costs, uint64_t cost_ns);

// Each source's file defines these two.
#define PPI_MACHINE_SOURCE_(name, ...)                \
  extern const ppi_machine_source ppi_machine_##name; \
  bool ppi_machine_open_##name(void);                 \
  void ppi_machine_sample_##name(void);
PPI_MACHINE_SOURCES(PPI_MACHINE_SOURCE_)
#undef PPI_MACHINE_SOURCE_
// The share of the thread itself, beside asking.
extern const ppi_machine_source ppi_machine_wakes;

// ppi_machine_read reads a small file of /proc or /sys as one text.
bool ppi_machine_read(const char *path, char *out, size_t size);
// ppi_machine_number finds the number behind `key` ("some avg10=", "total=").
bool ppi_machine_number(const char *text, const char *key, double *out);
// The places of /proc, /sys and NVML's library, for a test. NULL: the
// machine's.
void ppi_machine_set_places(const char *root, const char *nvml);
const char *ppi_machine_root(void);
const char *ppi_machine_nvml(void);
uint64_t ppi_machine_now_ns(int clock);

PPROF_END_C_
