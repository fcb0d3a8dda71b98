// SPDX-License-Identifier: Apache-2.0
//
// Keeps the counters of a category as series of points.
#include "report/machine/series.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/columns.h"
#include "report/figures/histogram.h"

static bool series_of(ppi_machine_run *run, const char *name, uint32_t *out) {
  const ppi_machine_series *known = ppi_machine_run_find(run, name);
  ppi_machine_series fresh = {.stride = 1};
  *out = known ? (uint32_t)(known - run->series) : (uint32_t)run->num;
  return known || (ppi_set_text(&fresh.name, name) &&
                   PPI_PUSH(run->series, run->num, run->capacity, fresh));
}

static bool define_site(ppi_machine_run *run, uint32_t id, const char *name) {
  uint32_t number;
  if (!series_of(run, name, &number)) return false;
  if (!PPI_REACH(run->by_site, run->num_sites, run->sites_capacity,
                 (size_t)id + 1))
    return false;
  run->by_site[id] = number + 1;
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
  return PPI_PUSH(series->points, series->num, series->capacity,
                  (ppi_machine_point){event->start_ns, event->value});
}

pprof_status ppi_machine_run_events(ppi_machine_run *run,
                                    const pprof_batch *batch) {
  pprof_status status = PPROF_STATUS_OK;
  pprof_event room;
  if (!run->num_sites) return status;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++) {
    const pprof_event *event = ppi_batch_rest(batch, i);
    if (event->kind != PPROF_KIND_COUNTER || event->site >= run->num_sites ||
        !run->by_site[event->site])
      continue;
    status = ppi_or_no_memory(
        add_point(run, &run->series[run->by_site[event->site] - 1],
                  ppi_batch_at(batch, i, &room)));
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
