// SPDX-License-Identifier: Apache-2.0
//
// A source of figures of the machine: one file and one row of the table in
// machine.c each. All on the sampler's thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/mark.h"

PPROF_BEGIN_C_

// How often a source is asked where it costs little.
#define PPI_MACHINE_PERIOD_NS 50000000ull

// A counter: recorded when its value changes. Static, like sites.
typedef struct ppi_machine_level {
  pprof_site site;
  char name[40];
  double last;
  uint32_t round;
} ppi_machine_level;

// ppi_machine_put records `value` under `name` if it has changed; `name` is the
// same at each call.
void ppi_machine_put(ppi_machine_level *level, const char *name, double value);

// All levels are recorded once more when they are next put.
void ppi_machine_repeat(void);
void ppi_machine_set_category(uint32_t category);

typedef struct ppi_machine_source {
  const char *name;  // as `machine_without` has it
  const char *what;  // what it reads, for the note where it is absent
  uint64_t period_ns;
  // The most of a core, in 1/100 000: a source with a higher cost is asked less
  // often.
  uint32_t share;
  bool (*open)(void);  // false: absent
  void (*sample)(void);
  void (*close)(void);  // NULL: nothing to do
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

extern const ppi_machine_source ppi_machine_gpu, ppi_machine_gpu_state,
    ppi_machine_gpu_use, ppi_machine_gpu_energy, ppi_machine_cgroup,
    ppi_machine_pressure, ppi_machine_processors, ppi_machine_frequency,
    ppi_machine_process, ppi_machine_cpu_energy;
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
