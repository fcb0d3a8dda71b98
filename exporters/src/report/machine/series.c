// SPDX-License-Identifier: Apache-2.0
//
// Keeps the counters of a category as series of points.
#include "report/machine/series.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/histogram.h"

static bool series_of(ppi_machine_run *run, const char *name, uint32_t *out) {
  for (size_t i = 0; i < run->num; i++) {
    *out = (uint32_t)i;
    if (strcmp(run->series[i].name, name) == 0) return true;
  }
  ppi_machine_series *grown =
      ppi_grow(run->series, &run->capacity, run->num + 1, sizeof *grown);
  if (!grown) return false;
  run->series = grown;
  char *copy = ppi_strdup(name);
  if (!copy) return false;
  *out = (uint32_t)run->num;
  grown[run->num++] = (ppi_machine_series){.name = copy, .stride = 1};
  return true;
}

static bool define_site(ppi_machine_run *run, uint32_t id, const char *name) {
  uint32_t number;
  if (!series_of(run, name, &number)) return false;
  size_t num = PPI_MAX(run->num_sites, (size_t)id + 1);
  uint32_t *grown =
      ppi_grow(run->by_site, &run->sites_capacity, num, sizeof *grown);
  if (!grown) return false;
  run->by_site = grown;
  memset(grown + run->num_sites, 0, (num - run->num_sites) * sizeof *grown);
  run->num_sites = num;
  grown[id] = number + 1;
  return true;
}

pprof_status ppi_machine_run_define(ppi_machine_run *run,
                                    const pprof_definition *definition) {
  uint32_t id = pprof_definition_id(definition);
  const char *name = pprof_definition_name(definition);
  if (definition->kind == PPROF_DEFINITION_CATEGORY &&
      strcmp(name, run->wanted) == 0)
    run->category = id;
  if (definition->kind != PPROF_DEFINITION_SITE) return PPROF_STATUS_OK;
  bool is_ours = run->category && definition->parent == run->category;
  if (is_ours && id < PPI_MAX_ID)
    return ppi_or_no_memory(define_site(run, id, name));
  if (id < run->num_sites) run->by_site[id] = 0;
  return PPROF_STATUS_OK;
}

static bool add_point(ppi_machine_run *run, ppi_machine_series *series,
                      const pprof_event *event) {
  run->first_ns = run->num_events ? PPI_MIN(run->first_ns, event->start_ns)
                                  : event->start_ns;
  run->last_ns = PPI_MAX(run->last_ns, event->start_ns);
  run->num_events++;
  if (series->num_all++ % series->stride) return true;
  if (series->num == PPI_MACHINE_POINTS) {
    for (size_t i = 0; i < series->num / 2; i++)
      series->points[i] = series->points[2 * i];
    series->num /= 2;
    series->stride *= 2;
  }
  ppi_machine_point *grown = ppi_grow(series->points, &series->capacity,
                                      series->num + 1, sizeof *grown);
  if (!grown) return false;
  series->points = grown;
  grown[series->num++] = (ppi_machine_point){event->start_ns, event->value};
  return true;
}

pprof_status ppi_machine_run_events(ppi_machine_run *run,
                                    const pprof_batch *batch) {
  pprof_status status = PPROF_STATUS_OK;
  if (!run->num_sites) return status;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->kind != PPROF_KIND_COUNTER || event->site >= run->num_sites ||
        !run->by_site[event->site])
      continue;
    status = ppi_or_no_memory(
        add_point(run, &run->series[run->by_site[event->site] - 1], event));
  }
  return status;
}

const ppi_machine_series *ppi_machine_run_find(const ppi_machine_run *run,
                                               const char *name) {
  for (size_t i = 0; i < run->num; i++)
    if (strcmp(run->series[i].name, name) == 0) return &run->series[i];
  return NULL;
}

const ppi_machine_series *ppi_machine_run_find_gpu(const ppi_machine_run *run,
                                                   unsigned device,
                                                   const char *what) {
  char name[64];
  snprintf(name, sizeof name, "gpu:%u.%s", device, what);
  return ppi_machine_run_find(run, name);
}

void ppi_machine_run_clear(ppi_machine_run *run) {
  for (size_t i = 0; i < run->num; i++) {
    ppi_free(run->series[i].name);
    ppi_free(run->series[i].points);
  }
  ppi_free(run->series);
  ppi_free(run->by_site);
  *run = (ppi_machine_run){0};
}
