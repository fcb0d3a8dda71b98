// SPDX-License-Identifier: Apache-2.0
//
// Keeps the durations of the names that a caller adds.
#include "input/usual.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"
#include "base/sort.h"
#include "cli/say.h"
#include "input/input.h"
#include "pprof/log.h"

void ppi_tool_usual_add(struct ppi_tool_usual *usual, const char *name,
                        bool on_device) {
  if (ppi_tool_usual_find(usual, name, on_device)) return;
  PPI_MUST_PUSH(usual->names, usual->num, usual->capacity,
                (struct ppi_tool_usual_name){
                    .name = ppi_tool_must(ppi_strdup(name)),
                    .on_device = on_device,
                    .times = ppi_tool_must(ppi_alloc(
                        PPI_USUAL_MAX_TIMES * sizeof *usual->names->times))});
}

const struct ppi_tool_usual_name *ppi_tool_usual_find(
    const struct ppi_tool_usual *usual, const char *name, bool on_device) {
  for (size_t i = 0; i < usual->num; i++)
    if (usual->names[i].on_device == on_device &&
        strcmp(usual->names[i].name, name) == 0)
      return &usual->names[i];
  return NULL;
}

void ppi_tool_usual_clear(struct ppi_tool_usual *usual) {
  for (size_t i = 0; i < usual->num; i++) {
    ppi_free(usual->names[i].name);
    ppi_free(usual->names[i].times);
  }
  ppi_free(usual->names);
  *usual = (struct ppi_tool_usual){0};
}

// ---- a log ----

// Fills in the durations. `places` has for each site its names' places + 1:
// host, device.
struct filler {
  pprof_sink base;
  struct ppi_tool_usual *usual;
  uint32_t (*places)[2];
  size_t num_sites, capacity;
};

static struct filler *filler_of(pprof_sink *sink) {
  return (struct filler *)sink;
}

static pprof_status filler_begin(pprof_sink *sink, const pprof_run_info *info) {
  (void)info;
  filler_of(sink)->num_sites = 0;
  return PPROF_STATUS_OK;
}

static uint32_t place_of(const struct filler *filler, const char *name,
                         bool on_device) {
  const struct ppi_tool_usual_name *one =
      ppi_tool_usual_find(filler->usual, name, on_device);
  return one ? (uint32_t)(one - filler->usual->names) + 1 : 0;
}

static pprof_status filler_define(pprof_sink *sink,
                                  const pprof_definition *definition) {
  struct filler *filler = filler_of(sink);
  size_t id = pprof_definition_id(definition);
  const char *name = pprof_definition_name(definition);
  if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE)
    return PPROF_STATUS_OK;
  PPI_MUST_REACH(filler->places, filler->num_sites, filler->capacity, id);
  filler->places[id][0] = place_of(filler, name, false);
  filler->places[id][1] = place_of(filler, name, true);
  return PPROF_STATUS_OK;
}

static void keep(struct filler *filler, uint32_t place, uint64_t ns) {
  if (!place) return;
  struct ppi_tool_usual_name *one = &filler->usual->names[place - 1];
  one->times[one->num++ % PPI_USUAL_MAX_TIMES] = ns;
  if (ns > one->max_ns) one->max_ns = ns;
}

static pprof_status filler_events(pprof_sink *sink, const pprof_batch *batch) {
  struct filler *filler = filler_of(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    bool is_cut = event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED);
    if (event->site >= filler->num_sites || is_cut) continue;
    const uint32_t *places = filler->places[event->site];
    if (event->kind == PPROF_KIND_RANGE)
      keep(filler, places[0], event->end_ns - event->start_ns);
    if (event->kind == PPROF_KIND_DEVICE_RANGE && event->device_end_ns)
      keep(filler, places[1], event->device_end_ns - event->device_start_ns);
  }
  return PPROF_STATUS_OK;
}

void ppi_tool_quantiles(uint64_t *times, size_t num, uint64_t *p50_ns,
                        uint64_t *p99_ns) {
  if (num == 0) return;
  ppi_sort_numbers(times, num);
  *p50_ns = times[ppi_rank_of(num, 50 * PPI_RANK_PERCENT) - 1];
  *p99_ns = times[ppi_rank_of(num, 99 * PPI_RANK_PERCENT) - 1];
}

int ppi_tool_usual_read(struct ppi_tool_usual *usual, const char *path) {
  struct filler filler = {.base = {.size = sizeof filler.base,
                                   .begin = filler_begin,
                                   .define = filler_define,
                                   .events = filler_events},
                          .usual = usual};
  pprof_error error = {""};
  // A running process's log ends in an unfinished block, which is no damage.
  pprof_status status = pprof_log_read(path, &filler.base, &error);
  ppi_free(filler.places);
  for (size_t i = 0; i < usual->num; i++) {
    struct ppi_tool_usual_name *one = &usual->names[i];
    size_t num = PPI_MIN(one->num, (uint64_t)PPI_USUAL_MAX_TIMES);
    ppi_tool_quantiles(one->times, num, &one->p50_ns, &one->p99_ns);
  }
  if (status == PPROF_STATUS_OK || status == PPROF_STATUS_CORRUPT)
    return PPI_EXIT_DONE;
  return ppi_tool_fail(
      PPI_EXIT_INPUT, "%s",
      error.text[0] ? error.text : pprof_status_string(status));
}
