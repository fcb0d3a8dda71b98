// SPDX-License-Identifier: Apache-2.0
//
// Collects one input of `compare`: for each stage the durations of its calls in
// the order of time, run by run, and the runs' provenance. It is a sink of its
// own, since autocorrelation needs the order, which reports do not keep. One
// thread.
#pragma once

#include "base/map.h"
#include "compare/compare_calls.h"
#include "compare/compare_machine.h"
#include "compare/compare_stats.h"
#include "pprof/report.h"

PPROF_BEGIN_C_

// A name of a category, on the host or on devices. With `energy`, each run has
// one value: the energy of a call or an item.
typedef struct ppi_compare_stage {
  char *name, *category;
  bool on_device, is_step;
  ppi_metric energy;   // 0: it has times
  bool is_unresolved;  // in a run: too short for the sampling of power
  double error;        // of energy: relative, summed over the runs
  uint64_t calls;      // in all runs, cold ones too
  uint64_t num_cut;    // of ranges that a window's edge or the end cut: those
                       // are no samples
  uint64_t first_ns;   // of the first call in the first run that has one
  double total_ns;     // of all calls
  float *values;       // samples
  size_t *ends;        // of each run in `values`
  size_t num_values, values_capacity, num_runs, ends_capacity;
  ppi_calls pending;  // of the run being read
} ppi_compare_stage;
ppi_runs ppi_compare_stage_runs(const ppi_compare_stage *stage);

// The provenance of an input's runs: machine, models, configuration, version.
typedef enum ppi_provenance_key {
  PPI_PROVENANCE_HOST = 0,
  PPI_PROVENANCE_CPU,
  PPI_PROVENANCE_NUM_CPUS,
  PPI_PROVENANCE_KERNEL,
  PPI_PROVENANCE_CONTAINER,
  PPI_PROVENANCE_CLOCK,
  PPI_PROVENANCE_DEVICES,  // names without numbers
  PPI_PROVENANCE_MODELS,
  PPI_PROVENANCE_CONFIG,
  PPI_PROVENANCE_VERSION,
  PPI_NUM_PROVENANCE
} ppi_provenance_key;
// Two values of CONFIG differ when anything but the names of files does.
const char *ppi_provenance_name(ppi_provenance_key key);

struct ppi_site_stages {
  char *name;
  uint32_t category;
  uint32_t fold;        // the site that it folds into; 0: none
  size_t host, device;  // in `stages`, plus 1
};

typedef struct ppi_samples {
  pprof_sink base;
  size_t num_warm;       // calls of each stage that are left out of each run
  bool wants_energy;     // set after init: stages have energy, too
  pprof_report *report;  // of the run being read; NULL: none
  ppi_compare_stage *stages;
  size_t num_stages, stages_capacity;
  ppi_map numbers;  // of stages, by key
  // The values of each key in the order they came, joined; NULL: unknown.
  char *places[PPI_NUM_PROVENANCE];
  ppi_map configs;          // which texts of CONFIG have come
  char *uuid, *host, *pid;  // of the first run
  uint64_t started_ns;      // since 1970; 0: unknown
  size_t num_runs;
  ppi_compare_machine machine;  // of all runs
  // Of the run being read.
  struct ppi_site_stages *sites;  // by id
  size_t num_sites, sites_capacity;
  char **categories;  // by id
  size_t num_categories, categories_capacity;
} ppi_samples;

// The sink is `base`; its `destroy` is NULL, ppi_samples_clear frees.
void ppi_samples_init(ppi_samples *samples, size_t num_warm);
void ppi_samples_clear(ppi_samples *samples);
// ppi_samples_adjust scales device times to the clock of `base` and answers the
// factor; 0: the clocks are alike, or unknown.
double ppi_samples_adjust(ppi_samples *samples,
                          const ppi_compare_machine *base);
// ppi_stages_compare orders pointers to stages: steps first, then by time.
int ppi_stages_compare(const void *a, const void *b);
// NULL: there is no such stage.
const ppi_compare_stage *ppi_samples_find(const ppi_samples *samples,
                                          const ppi_compare_stage *like);

PPROF_END_C_
