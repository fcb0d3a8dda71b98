// SPDX-License-Identifier: Apache-2.0
//
// Counts events into the table: a row found by the site's id, two sums and two
// buckets. Runs on the collector, under the sink's mutex.
#include "live/live_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

// ---- names ----
static void take_text(const pprof_run_info *info, const char *key, char *out,
                      size_t size) {
  const char *text = pprof_run_info_text(info, key);
  snprintf(out, size, "%s", text ? text : "");
}

pprof_status ppi_live_names_begin(ppi_live_names *names,
                                  const pprof_run_info *info) {
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  names->start_realtime_ns = base ? strtoull(base, NULL, 10) : 0;
  take_text(info, "host", names->host, sizeof names->host);
  take_text(info, "version", names->version, sizeof names->version);
  take_text(info, "uuid", names->uuid, sizeof names->uuid);
  return PPROF_STATUS_OK;
}

bool ppi_live_names_define(ppi_live_names *names,
                           const pprof_definition *definition) {
  size_t kind = (size_t)pprof_definition_get_kind(definition);
  size_t id = pprof_definition_id(definition);
  if (kind >= PPI_LIVE_NUM_KINDS ||
      !PPI_REACH(names->items[kind], names->num[kind], names->capacity[kind],
                 (size_t)id + 1))
    return false;
  ppi_live_name *item = &names->items[kind][id];
  bool is_other = item->text != NULL;
  ppi_free(item->text);
  item->text = ppi_strdup(pprof_definition_name(definition));
  item->parent = pprof_definition_parent(definition);
  return is_other && kind == PPROF_DEFINITION_SITE;
}

void ppi_live_names_introduce(const ppi_live_names *names,
                              ppi_live_header *header) {
  header->start_realtime_ns = names->start_realtime_ns;
  header->is_recording = names->is_recording;
  memcpy(header->host, names->host, sizeof header->host);
  memcpy(header->version, names->version, sizeof header->version);
  memcpy(header->uuid, names->uuid, sizeof header->uuid);
}

void ppi_live_names_clear(ppi_live_names *names) {
  for (size_t kind = 0; kind < PPI_LIVE_NUM_KINDS; kind++) {
    for (size_t id = 0; id < names->num[kind]; id++)
      ppi_free(names->items[kind][id].text);
    ppi_free(names->items[kind]);
  }
}

enum { MAX_STRETCHES = 1 << 16, HOST = 0, DEVICE = 1 };
#define EXEMPLAR_NS 60000000000ull  // a slower one is dropped after this

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool ppi_live_counts_begin(ppi_live_counts *counts, ppi_live_table *table,
                           const uint64_t *bounds_ns, size_t num_bounds) {
  *counts = (ppi_live_counts){.table = table};
  ppi_live_header *header = &table->header;
  header->header_size = sizeof *header;
  header->row_size = sizeof(ppi_live_row);
  header->num_bounds = (uint32_t)num_bounds;
  memcpy(header->bounds_ns, bounds_ns, num_bounds * sizeof *bounds_ns);
  __atomic_store_n(&header->magic, PPI_LIVE_MAGIC, __ATOMIC_RELEASE);
  return true;
}

void ppi_live_counts_end(ppi_live_counts *counts) {
  munmap(counts->table, sizeof *counts->table);
  PPI_FREE_ALL(counts->rows[HOST], counts->rows[DEVICE], counts->stretches);
  *counts = (ppi_live_counts){0};
}

void ppi_live_counts_forget(ppi_live_counts *counts,
                            const pprof_definition *definition) {
  size_t site = pprof_definition_id(definition);
  for (size_t side = HOST; side <= DEVICE; side++)
    if (site < counts->num_sites[side]) counts->rows[side][site] = 0;
}

// ---- rows ----

static const char *text_of(const ppi_live_names *names, size_t kind,
                           size_t id) {
  bool known = id < names->num[kind] && names->items[kind][id].text;
  return known ? names->items[kind][id].text : "";
}

static uint32_t parent_of(const ppi_live_names *names, size_t kind, size_t id) {
  return id < names->num[kind] ? names->items[kind][id].parent : 0;
}

static void copy_text(char *out, size_t size, const char *text) {
  size_t len = ppi_text_cut(text, size - 1);
  memcpy(out, text, len);
  memset(out + len, 0, size - len);
}

static uint32_t add_row(ppi_live_table *table, const char *name,
                        const char *category, uint32_t side) {
  const uint32_t place = table->header.num_rows;
  ppi_live_row *row = &table->rows[place];
  const bool is_last = place == PPI_LIVE_MAX_ROWS - 1;
  copy_text(row->name, sizeof row->name, is_last ? "<other>" : name);
  copy_text(row->category, sizeof row->category, is_last ? "" : category);
  row->is_device = is_last ? 0 : side;
  __atomic_store_n(&table->header.num_rows, place + 1, __ATOMIC_RELEASE);
  return place;
}

static uint32_t find_row(ppi_live_counts *counts, const ppi_live_names *names,
                         uint32_t site, uint32_t side) {
  ppi_live_table *table = counts->table;
  char name[PPI_LIVE_MAX_NAME], category[PPI_LIVE_MAX_CATEGORY];
  copy_text(name, sizeof name, text_of(names, PPROF_DEFINITION_SITE, site));
  copy_text(category, sizeof category,
            text_of(names, PPROF_DEFINITION_CATEGORY,
                    parent_of(names, PPROF_DEFINITION_SITE, site)));
  for (uint32_t i = 0; i < table->header.num_rows; i++)
    if (table->rows[i].is_device == side &&
        strcmp(table->rows[i].name, name) == 0 &&
        strcmp(table->rows[i].category, category) == 0)
      return i;
  if (table->header.num_rows == PPI_LIVE_MAX_ROWS) return PPI_LIVE_MAX_ROWS - 1;
  return add_row(table, name, category, side);
}

// NULL: no memory.
static ppi_live_row *row_of(ppi_live_counts *counts,
                            const ppi_live_names *names, uint32_t site,
                            uint32_t side) {
  if (!PPI_REACH(counts->rows[side], counts->num_sites[side],
                 counts->capacity[side], (size_t)site + 1))
    return NULL;
  uint16_t *place = &counts->rows[side][site];
  if (!*place) *place = (uint16_t)(find_row(counts, names, site, side) + 1);
  if (*place == PPI_LIVE_MAX_ROWS) counts->table->header.num_beyond++;
  return &counts->table->rows[*place - 1];
}

// ---- events ----

static void add_count(ppi_live_counts *counts, ppi_live_row *row,
                      const pprof_event *event, uint64_t start_ns,
                      uint64_t end_ns) {
  const uint64_t ns = end_ns > start_ns ? end_ns - start_ns : 0;
  row->is_used = 1;
  if (event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED)) {
    row->num_cut++;
    return;
  }
  row->sum_ns += ns;
  row->max_ns = PPI_MAX(row->max_ns, ns);
  row->last_end_ns = end_ns;
  const ppi_live_header *header = &counts->table->header;
  row->within[ppi_count_below(header->bounds_ns, header->num_bounds,
                              sizeof *header->bounds_ns, ns)]++;
  row->fine[ppi_live_fine_of(ns)]++;
  if (event->num_flows &&
      (ns >= row->slowest_ns || end_ns > row->slowest_end_ns + EXEMPLAR_NS)) {
    row->slowest_ns = ns;
    row->slowest_flow = event->flows[0];
    row->slowest_end_ns = end_ns;
  }
}

static void count_counter(ppi_live_counts *counts, const ppi_live_names *names,
                          const pprof_event *event) {
  ppi_live_header *header = &counts->table->header;
  char name[PPI_LIVE_MAX_NAME];
  uint32_t i = 0;
  copy_text(name, sizeof name,
            text_of(names, PPROF_DEFINITION_SITE, event->site));
  while (i < header->num_counters &&
         strcmp(header->counters[i].name, name) != 0)
    i++;
  if (i == PPI_LIVE_MAX_COUNTERS) return;
  header->counters[i].value = event->value;
  header->counters[i].time_ns = event->start_ns;
  if (i < header->num_counters) return;
  memcpy(header->counters[i].name, name, sizeof name);
  __atomic_store_n(&header->num_counters, i + 1, __ATOMIC_RELEASE);
}

static uint32_t device_of(ppi_live_counts *counts, const ppi_live_names *names,
                          uint32_t stream) {
  ppi_live_header *header = &counts->table->header;
  const uint32_t id = parent_of(names, PPROF_DEFINITION_STREAM, stream);
  char name[sizeof header->devices[0].name];
  uint32_t i = 0;
  copy_text(name, sizeof name, text_of(names, PPROF_DEFINITION_DEVICE, id));
  while (i < header->num_devices && strcmp(header->devices[i].name, name) != 0)
    i++;
  if (i < header->num_devices || i == PPI_LIVE_MAX_DEVICES) return i;
  memcpy(header->devices[i].name, name, sizeof name);
  __atomic_store_n(&header->num_devices, i + 1, __ATOMIC_RELEASE);
  return i;
}

static void add_stretch(ppi_live_counts *counts, const ppi_live_names *names,
                        const pprof_event *event) {
  const uint32_t device = device_of(counts, names, event->stream);
  if (device == PPI_LIVE_MAX_DEVICES || counts->num_stretches == MAX_STRETCHES)
    return;
  if (!PPI_ROOM(counts->stretches, counts->capacity_stretches,
                counts->num_stretches + 1))
    return;
  counts->stretches[counts->num_stretches++] =
      (ppi_live_stretch){event->device_start_ns, event->device_end_ns, device};
}

static void count_step(ppi_live_counts *counts, const ppi_live_names *names,
                       const pprof_event *event) {
  if (parent_of(names, PPROF_DEFINITION_SITE, event->site) !=
          PPROF_CATEGORY_PROFILE_STEP ||
      event->flags & PPROF_FLAG_CLIPPED)
    return;
  counts->table->header.num_steps++;
  if (event->work && event->work->items > 0 && event->work->items < 1e18)
    counts->table->header.num_items += (uint64_t)event->work->items;
}

// Outermost ranges on one thread do not overlap.
static void count_thread(ppi_live_counts *counts, const ppi_live_names *names,
                         const pprof_event *event) {
  ppi_live_header *header = &counts->table->header;
  char name[sizeof header->threads[0].name];
  uint32_t i = 0;
  if (event->depth || event->flags & PPROF_FLAG_ASYNC) return;
  copy_text(name, sizeof name,
            text_of(names, PPROF_DEFINITION_LANE, event->lane));
  if (!*name) return;
  while (i < header->num_threads && strcmp(header->threads[i].name, name) != 0)
    i++;
  if (i == PPI_LIVE_MAX_THREADS) return;
  if (i == header->num_threads) {
    memcpy(header->threads[i].name, name, sizeof name);
    __atomic_store_n(&header->num_threads, i + 1, __ATOMIC_RELEASE);
  }
  if (event->end_ns > event->start_ns)
    header->threads[i].busy_ns += event->end_ns - event->start_ns;
}

// Removes a range that the last checkpoint listed as open.
static void end_open(ppi_live_header *header, const pprof_event *event) {
  if (event->start_ns > header->checkpoint_ns) return;
  for (uint32_t i = 0; i < header->num_open; i++) {
    ppi_live_open *one = &header->open[i];
    if (one->start_ns == event->start_ns && one->lane == event->lane)
      one->is_used = 0;
  }
}

void ppi_live_count(ppi_live_counts *counts, const ppi_live_names *names,
                    const pprof_event *event) {
  counts->table->header.num_events++;
  end_open(&counts->table->header, event);
  if (event->kind == PPROF_KIND_COUNTER) {
    count_counter(counts, names, event);
  } else if (event->kind == PPROF_KIND_DEVICE_RANGE && event->device_end_ns) {
    ppi_live_row *row = row_of(counts, names, event->site, DEVICE);
    if (row)
      add_count(counts, row, event, event->device_start_ns,
                event->device_end_ns);
    add_stretch(counts, names, event);
  } else if (event->kind == PPROF_KIND_RANGE ||
             (event->kind == PPROF_KIND_DEVICE_RANGE &&
              !(event->flags & PPROF_FLAG_PAIRED))) {
    ppi_live_row *row = row_of(counts, names, event->site, HOST);
    if (row) add_count(counts, row, event, event->start_ns, event->end_ns);
    count_step(counts, names, event);
    count_thread(counts, names, event);
  }
}

// ---- checkpoints ----

PPI_ORDER(by_device_and_start, ppi_live_stretch,
          PPI_UP(device) PPI_UP(start_ns))

// Adds the busy time before `until_ns`, when no earlier range can come any
// more. Ranges that go on after it stay.
static void settle_busy(ppi_live_counts *counts, uint64_t until_ns) {
  ppi_live_header *header = &counts->table->header;
  size_t kept = 0;
  if (counts->num_stretches)
    qsort(counts->stretches, counts->num_stretches, sizeof *counts->stretches,
          by_device_and_start);
  for (size_t i = 0; i < counts->num_stretches; i++) {
    ppi_live_stretch one = counts->stretches[i];
    uint64_t *busy_until = &counts->busy_until_ns[one.device];
    const uint64_t from = PPI_MAX(one.start_ns, *busy_until);
    const uint64_t to = PPI_MIN(one.end_ns, until_ns);
    if (to > from) {
      header->devices[one.device].busy_ns += to - from;
      *busy_until = to;
    }
    if (one.end_ns > until_ns) counts->stretches[kept++] = one;
  }
  counts->num_stretches = kept == MAX_STRETCHES ? 0 : kept;
  for (uint32_t i = 0; i < header->num_devices; i++)
    header->devices[i].until_ns = until_ns;
}

// Keeps the oldest open ranges, sorted by begin.
static void keep_open(ppi_live_open *open, uint32_t *num,
                      const ppi_live_open *one) {
  uint32_t at = *num;
  if (at == PPI_LIVE_MAX_OPEN) {
    if (open[at - 1].start_ns <= one->start_ns) return;
    at--;
  } else {
    ++*num;
  }
  for (; at > 0 && open[at - 1].start_ns > one->start_ns; at--)
    open[at] = open[at - 1];
  open[at] = *one;
}

static void count_open(ppi_live_counts *counts, const ppi_live_names *names,
                       const pprof_checkpoint *checkpoint,
                       uint64_t *out_until_ns) {
  ppi_live_header *header = &counts->table->header;
  ppi_live_open open[PPI_LIVE_MAX_OPEN];
  uint64_t pending[PPI_LIVE_MAX_DEVICES + 1] = {0};
  uint32_t num = 0;
  for (size_t i = 0; i < pprof_checkpoint_num_open(checkpoint); i++) {
    pprof_event event;
    pprof_checkpoint_open(checkpoint, i, &event);
    const bool on_device = event.kind == PPROF_KIND_DEVICE_RANGE;
    if (parent_of(names, PPROF_DEFINITION_SITE, event.site) ==
        PPROF_CATEGORY_PROFILE_STEP)
      continue;  // programs without steps have the first one, too
    ppi_live_row *row =
        row_of(counts, names, event.site, on_device ? DEVICE : HOST);
    ppi_live_open one = {.start_ns = event.start_ns,
                         .flow = event.num_flows ? event.flows[0] : 0,
                         .lane = event.lane,
                         .is_device = on_device,
                         .is_used = 1};
    if (row) one.row = (uint32_t)(row - counts->table->rows) + 1;
    copy_text(one.thread, sizeof one.thread,
              text_of(names, PPROF_DEFINITION_LANE, event.lane));
    if (on_device) {
      *out_until_ns = PPI_MIN(*out_until_ns, event.start_ns);
      pending[device_of(counts, names, event.stream)]++;
    }
    keep_open(open, &num, &one);
  }
  memcpy(header->open, open, num * sizeof *open);
  __atomic_store_n(&header->num_open, num, __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < header->num_devices; i++)
    header->devices[i].num_pending = pending[i];
}

static void count_stats(ppi_live_header *header, const pprof_stats *stats) {
  header->recorded = stats->recorded;
  header->lost = stats->lost;
  header->late = stats->late;
  header->missed = stats->missed;
  header->marker_cost_ns_x1000 = stats->own_cost_ns_per_marker_x1000;
}

void ppi_live_count_checkpoint(ppi_live_counts *counts,
                               const ppi_live_names *names,
                               const pprof_checkpoint *checkpoint,
                               const pprof_stats *stats) {
  ppi_live_header *header = &counts->table->header;
  uint64_t time_ns = pprof_checkpoint_time_ns(checkpoint);
  const uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (!counts->cpu_begun_ns) counts->cpu_begun_ns = cpu_ns;
  header->collector_cpu_ns = cpu_ns - counts->cpu_begun_ns;
  if (stats) count_stats(header, stats);
  // A checkpoint without a new time promises nothing, and may list fewer ranges
  // than the one it repeats.
  if (time_ns == 0 || time_ns <= header->checkpoint_ns) return;
  if (!header->begun_ns) header->begun_ns = time_ns;
  uint64_t until_ns = time_ns;
  count_open(counts, names, checkpoint, &until_ns);
  settle_busy(counts, until_ns);
  header->checkpoint_ns = time_ns;
  __atomic_store_n(&header->num_checkpoints, header->num_checkpoints + 1,
                   __ATOMIC_RELEASE);
}
