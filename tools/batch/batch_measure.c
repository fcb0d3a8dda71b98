// SPDX-License-Identifier: Apache-2.0
//
// Counts the batches that a command finished, and their time, from its logs.
#include "batch/batch_measure.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "compare/compare_wanted.h"
#include "event/event.h"
#include "input/input.h"
#include "input/usual.h"

// Between the ends of the first and the last batch, all batches but one are
// done. That needs neither their order nor the gaps between them.
struct tally {
  pprof_sink base;
  const char *stages;
  bool *counts;  // by site
  size_t num_sites, capacity;
  uint64_t num, first_end_ns, last_end_ns, longest_ns;
  uint64_t *times;  // of the batches of all runs that count, MAX_TIMES at most
  size_t num_times, times_capacity, first_time;
  ppi_batch_try *out;
};

enum { MAX_TIMES = 1 << 20 };

static struct tally *tally_of(pprof_sink *sink) {
  return (struct tally *)sink;
}

static pprof_status tally_begin(pprof_sink *sink, const pprof_run_info *info) {
  struct tally *tally = tally_of(sink);
  (void)info;
  tally->num_sites = 0;
  tally->first_time = SIZE_MAX;
  tally->num = tally->last_end_ns = tally->longest_ns = 0;
  tally->first_end_ns = UINT64_MAX;
  return PPROF_STATUS_OK;
}

static pprof_status tally_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  struct tally *tally = tally_of(sink);
  size_t id = definition->id;
  if (definition->kind != PPROF_DEFINITION_SITE) return PPROF_STATUS_OK;
  PPI_MUST_REACH(tally->counts, tally->num_sites, tally->capacity, id);
  tally->counts[id] = tally->stages
                          ? ppi_wanted_matches(tally->stages, definition->name)
                          : definition->parent == PPROF_CATEGORY_PROFILE_STEP;
  return PPROF_STATUS_OK;
}

static void keep_time(struct tally *tally, uint64_t duration, bool is_first) {
  if (tally->num_times == MAX_TIMES) return;
  PPI_MUST_ROOM(tally->times, tally->times_capacity, tally->num_times + 1);
  if (is_first) tally->first_time = tally->num_times;
  tally->times[tally->num_times++] = duration;
}

static pprof_status tally_events(pprof_sink *sink, const pprof_batch *batch) {
  struct tally *tally = tally_of(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->kind != PPROF_KIND_RANGE || event->site >= tally->num_sites ||
        !tally->counts[event->site] ||
        (event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED)))
      continue;
    uint64_t duration = event->end_ns - event->start_ns;
    tally->num++;
    bool is_first = event->end_ns < tally->first_end_ns;
    keep_time(tally, duration, is_first);
    if (is_first) tally->first_end_ns = event->end_ns;
    if (event->end_ns > tally->last_end_ns) tally->last_end_ns = event->end_ns;
    if (duration > tally->longest_ns) tally->longest_ns = duration;
  }
  return PPROF_STATUS_OK;
}

static pprof_status tally_finish(pprof_sink *sink, const pprof_totals *totals) {
  struct tally *tally = tally_of(sink);
  ppi_batch_try *out = tally->out;
  (void)totals;
  if (tally->num == 0) return PPROF_STATUS_OK;
  bool only_one = tally->num == 1;
  if (!only_one && tally->first_time < tally->num_times)
    tally->times[tally->first_time] = tally->times[--tally->num_times];
  uint64_t span =
      only_one ? tally->longest_ns : tally->last_end_ns - tally->first_end_ns;
  out->num_runs++;
  out->num_batches += only_one ? 1 : tally->num - 1;
  if (span > out->span_ns) out->span_ns = span;
  return PPROF_STATUS_OK;
}

void ppi_batch_measure(const char *folder, const char *prefix,
                       const char *stages, bool removes, ppi_batch_try *out) {
  struct tally tally = {.base = {.size = sizeof(pprof_sink),
                                 .begin = tally_begin,
                                 .define = tally_define,
                                 .events = tally_events,
                                 .finish = tally_finish},
                        .stages = stages,
                        .out = out};
  struct ppi_tool_watch watch;
  struct dirent **entries = NULL;
  int num = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < num; i++) {
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    bool is_ours = strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0 &&
                   len > 0 && (size_t)len < sizeof path;
    free(entries[i]);
    if (!is_ours) continue;
    if (out->survived) ppi_tool_read(path, &tally.base, &watch);
    if (removes) unlink(path);
  }
  free(entries);
  ppi_tool_quantiles(tally.times, tally.num_times, &out->p50_ns, &out->p99_ns);
  ppi_free(tally.counts);
  ppi_free(tally.times);
}

double ppi_batch_throughput(const ppi_batch_try *try) {
  if (!try->num_runs || !try->span_ns) return 0;
  return (double)try->num_batches * (double)try->batch * 1e9 /
         (double)try->span_ns;
}
