// SPDX-License-Identifier: Apache-2.0
//
// Turns events into rows, and rows into a table once a checkpoint has passed
// them.
#include "report/table/table_fill.h"

#include "base/base.h"
#include "base/mem.h"
#include "event/recorded_wait.h"

pprof_status ppi_table_fill_define(ppi_table_fill *fill,
                                   const pprof_definition *definition) {
  return ppi_table_ids_define(&fill->ids, definition);
}

// ---- lists of rows ----

static bool same_flows(const ppi_table_fill *fill, const pprof_event *event) {
  if (fill->num_lists < 2) return false;
  const ppi_range_flows *last = &fill->flow_lists[fill->num_lists - 1];
  if (last->num != event->num_flows) return false;
  for (size_t i = 0; i < event->num_flows; i++)
    if (fill->flows[last->first + i] != event->flows[i]) return false;
  return true;
}

// Consecutive ranges with equal flows share a list; list 0 is empty.
static bool add_flows(ppi_table_fill *fill, const pprof_event *event,
                      uint32_t *out) {
  *out = 0;
  if (!event->num_flows) return true;
  if (!same_flows(fill, event)) {
    size_t need = fill->num_flows + event->num_flows;
    uint64_t *flows =
        ppi_grow(fill->flows, &fill->flows_capacity, need, sizeof *flows);
    if (flows) fill->flows = flows;
    ppi_range_flows *lists = ppi_grow(fill->flow_lists, &fill->lists_capacity,
                                      fill->num_lists + 2, sizeof *lists);
    if (lists) fill->flow_lists = lists;
    if (!flows || !lists) return false;
    if (!fill->num_lists) lists[fill->num_lists++] = (ppi_range_flows){0, 0};
    lists[fill->num_lists++] = (ppi_range_flows){(uint32_t)fill->num_flows,
                                                 (uint32_t)event->num_flows};
    for (size_t i = 0; i < event->num_flows; i++)
      flows[fill->num_flows++] = event->flows[i];
  }
  *out = (uint32_t)fill->num_lists - 1;
  return true;
}

static bool add_device(ppi_table_fill *fill, const pprof_event *event,
                       uint32_t *out) {
  *out = PPI_NO_RANGE;
  if (event->kind != PPROF_KIND_DEVICE_RANGE) return true;
  if (!PPI_ROOM(fill->devices, fill->devices_capacity, fill->num_devices + 1))
    return false;
  bool is_timed = !(event->flags & PPROF_FLAG_NO_DEVICE_TIME);
  fill->devices[fill->num_devices] = (ppi_range_device){
      .start_ns = is_timed ? event->device_start_ns : 0,
      .end_ns =
          is_timed ? PPI_MAX(event->device_start_ns, event->device_end_ns) : 0,
      .error_ns = event->device_error_ns,
      .stream = event->stream,
      .device = ppi_table_ids_device(&fill->ids, event->stream),
      .is_paired = (event->flags & PPROF_FLAG_PAIRED) != 0};
  *out = (uint32_t)fill->num_devices++;
  return true;
}

static bool add_cpu(ppi_table_fill *fill, const pprof_event *event,
                    uint32_t *out) {
  *out = PPI_NO_RANGE;
  if (!event->cpu || !event->cpu->known) return true;
  if (!PPI_ROOM(fill->cpus, fill->cpus_capacity, fill->num_cpus + 1))
    return false;
  fill->cpus[fill->num_cpus] = *event->cpu;
  *out = (uint32_t)fill->num_cpus++;
  return true;
}

// ---- rows ----

static uint32_t flags_of(const ppi_table_fill *fill, const pprof_event *event,
                         size_t name) {
  uint32_t flags = 0;
  if (event->flags & PPROF_FLAG_ASYNC) flags |= PPI_RANGE_LOOSE;
  if (event->flags & PPROF_FLAG_CLIPPED) flags |= PPI_RANGE_CUT;
  if (event->flags & PPROF_FLAG_REQUEST) flags |= PPI_RANGE_REQUEST;
  uint32_t category = fill->ids.names[name].category;
  if (category == PPROF_CATEGORY_PROFILE_STEP) flags |= PPI_RANGE_STEP;
  const uint64_t *wait = ppi_wait_numbers(event, category);
  if (wait) flags |= PPI_RANGE_WAIT;
  if (wait && wait[PPI_WAIT_HOW] & PPI_WAIT_TIMED_OUT) flags |= PPI_RANGE_TIMED;
  if (wait && ppi_wait_is_for_lock(wait[PPI_WAIT_HOW])) flags |= PPI_RANGE_LOCK;
  if (wait && PPI_WAIT_KIND(wait[PPI_WAIT_HOW]) == PPI_WAIT_SEMAPHORE)
    flags |= PPI_RANGE_POSTED;
  return flags;
}

static pprof_status add_row(ppi_table_fill *fill, const pprof_batch *batch,
                            size_t at, uint32_t more_flags) {
  const pprof_event *event = pprof_batch_at(batch, at);
  if (!PPI_ROOM(fill->rows, fill->rows_capacity, fill->num_rows + 1))
    return PPROF_STATUS_NO_MEMORY;
  size_t name = ppi_table_ids_name(&fill->ids, event->site);
  size_t thread = ppi_table_ids_thread(&fill->ids, event->lane);
  if (name == SIZE_MAX || thread == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  uint32_t category = fill->ids.names[name].category;
  const uint64_t *wait = ppi_wait_numbers(event, category);
  const uint64_t *whole = ppi_wait_whole(batch, at, category);
  if (whole)
    name = ppi_table_ids_wait(&fill->ids, name, whole[PPI_WAIT_HOW],
                              whole[PPI_WAIT_IN]);
  if (name == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  ppi_table_row *row = &fill->rows[fill->num_rows];
  row->start_ns = event->start_ns;
  row->end_ns = PPI_MAX(event->start_ns, event->end_ns);
  row->name = (uint32_t)name;
  row->thread = (uint32_t)thread;
  row->depth = event->depth;
  row->flags = flags_of(fill, event, name) | more_flags;
  row->ended_by = wait ? (uint32_t)wait[PPI_WAIT_BY] : 0;
  if (!add_flows(fill, event, &row->served) ||
      !add_device(fill, event, &row->on_device) ||
      !add_cpu(fill, event, &row->used))
    return PPROF_STATUS_NO_MEMORY;
  fill->num_rows++;
  return PPROF_STATUS_OK;
}

static bool is_range(const pprof_event *event) {
  return event->kind == PPROF_KIND_RANGE ||
         event->kind == PPROF_KIND_DEVICE_RANGE;
}

// Threads deliver batches in turns. A full table is therefore complete up to
// two batch lengths before its last end.
static void note_reach(ppi_table_fill *fill, const pprof_batch *batch) {
  const pprof_event *first = pprof_batch_at(batch, 0);
  const pprof_event *last = pprof_batch_at(batch, batch->num_events - 1);
  fill->last_ns = PPI_MAX(fill->last_ns, last->end_ns);
  if (last->end_ns > first->end_ns)
    fill->batch_ns = PPI_MAX(fill->batch_ns, last->end_ns - first->end_ns);
  fill->is_full = fill->most_rows && fill->num_rows >= fill->most_rows;
}

pprof_status ppi_table_fill_events(ppi_table_fill *fill,
                                   const pprof_batch *batch) {
  pprof_status status = PPROF_STATUS_OK;
  if (fill->skips || fill->is_full || !batch->num_events) return status;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->site >= PPI_MAX_ID || event->lane >= PPI_MAX_ID)
      return PPROF_STATUS_CORRUPT;
    if (is_range(event)) status = add_row(fill, batch, i, 0);
  }
  note_reach(fill, batch);
  return status;
}

// ---- tables ----

typedef struct columns {
  uint64_t *start_ns, *end_ns;
  uint32_t *name, *thread, *parent, *flags, *served, *on_device, *used,
      *ended_by;
  void *memory;
} columns;

static bool make_columns(const ppi_table_row *rows, size_t num, columns *out) {
  char *memory = ppi_realloc(
      NULL, (num + 1) * (2 * sizeof(uint64_t) + 8 * sizeof(uint32_t)));
  if (!memory) return false;
  uint64_t *longs = (uint64_t *)(void *)memory;
  uint32_t *words = (uint32_t *)(void *)(longs + 2 * num);
  *out = (columns){longs,           longs + num,     words,
                   words + num,     words + 2 * num, words + 3 * num,
                   words + 4 * num, words + 5 * num, words + 6 * num,
                   words + 7 * num, memory};
  for (size_t i = 0; i < num; i++) {
    out->start_ns[i] = rows[i].start_ns;
    out->end_ns[i] = rows[i].end_ns;
    out->name[i] = rows[i].name;
    out->thread[i] = rows[i].thread;
    out->parent[i] = rows[i].parent;
    out->flags[i] = rows[i].flags;
    out->served[i] = rows[i].served;
    out->on_device[i] = rows[i].on_device;
    out->used[i] = rows[i].used;
    out->ended_by[i] = rows[i].ended_by;
  }
  return true;
}

static pprof_status hand_over(ppi_table_fill *fill, size_t num,
                              uint64_t until_ns) {
  columns by;
  if (!make_columns(fill->rows, num, &by)) return PPROF_STATUS_NO_MEMORY;
  const ppi_range_table table = {.num = num,
                                 .start_ns = by.start_ns,
                                 .end_ns = by.end_ns,
                                 .name = by.name,
                                 .thread = by.thread,
                                 .parent = by.parent,
                                 .flags = by.flags,
                                 .served = by.served,
                                 .on_device = by.on_device,
                                 .used = by.used,
                                 .ended_by = by.ended_by,
                                 .flow_lists = fill->flow_lists,
                                 .flows = fill->flows,
                                 .devices = fill->devices,
                                 .cpus = fill->cpus,
                                 .from_ns = fill->reported_ns,
                                 .to_ns = until_ns};
  pprof_status status = fill->reader(fill->context, &table, &fill->ids);
  ppi_free(by.memory);
  return status;
}

// A row that ends after the table may enclose rows of the next one.
static void mark_open(ppi_table_row *rows, size_t reported, uint64_t until_ns) {
  for (size_t i = 0; i < reported; i++)
    if (!(rows[i].flags & PPI_RANGE_OPEN) && rows[i].end_ns >= until_ns)
      rows[i].flags |= PPI_RANGE_OPEN | PPI_RANGE_ENDED;
}

// Rows that begin or end after the table stay for the next one, with their
// lists. The lists are emptied once no row stays.
static void forget(ppi_table_fill *fill, size_t reported) {
  size_t num = 0;
  for (size_t i = 0; i < fill->num_rows && !fill->is_full; i++) {
    ppi_table_row row = fill->rows[i];
    if (i < reported && !(row.flags & PPI_RANGE_ENDED)) continue;
    row.flags &= ~(uint32_t)(PPI_RANGE_OPEN | PPI_RANGE_ENDED);
    fill->rows[num++] = row;
  }
  fill->num_rows = num;
  if (num) return;
  fill->num_lists = fill->num_flows = 0;
  fill->num_devices = fill->num_cpus = 0;
}

static pprof_status tell(ppi_table_fill *fill, uint64_t until_ns) {
  size_t reported = 0;
  uint64_t all_ns = until_ns;
  if (fill->is_full)
    all_ns =
        PPI_MAX(fill->reported_ns,
                fill->last_ns - PPI_MIN(fill->last_ns, 2 * fill->batch_ns));
  all_ns = PPI_MIN(all_ns, until_ns);
  pprof_status status =
      ppi_table_order(&fill->rows, fill->num_rows,
                      (uint32_t)fill->ids.num_threads, all_ns, &reported);
  if (status != PPROF_STATUS_OK) return status;
  fill->rows_capacity = fill->num_rows + 1;
  ppi_table_nest(fill->rows, reported);
  if (!fill->is_full) mark_open(fill->rows, reported, all_ns);
  status = hand_over(fill, reported, all_ns);
  if (status != PPROF_STATUS_OK) return status;
  forget(fill, reported);
  fill->is_full = false;
  fill->reported_ns = until_ns;
  return status;
}

// Ranges wait for the device work that they submitted, unless that takes too
// much memory.
static uint64_t horizon_of(const ppi_table_fill *fill,
                           const pprof_checkpoint *checkpoint) {
  uint64_t horizon_ns = checkpoint->time_ns;
  if (fill->num_rows >= PPI_TABLE_ROWS) return horizon_ns;
  for (size_t i = 0; i < checkpoint->num_open; i++)
    if (checkpoint->open[i].kind == PPROF_KIND_DEVICE_RANGE)
      horizon_ns = PPI_MIN(horizon_ns, checkpoint->open[i].start_ns);
  return horizon_ns;
}

pprof_status ppi_table_fill_checkpoint(ppi_table_fill *fill,
                                       const pprof_checkpoint *checkpoint) {
  pprof_status status = PPROF_STATUS_OK;
  // A checkpoint that does not advance may be incomplete, and promises nothing
  // new.
  if (checkpoint->time_ns <= fill->checkpoint_ns) return status;
  fill->checkpoint_ns = checkpoint->time_ns;
  uint64_t until_ns = horizon_of(fill, checkpoint);
  if (until_ns <= fill->reported_ns) return status;
  for (size_t i = 0; i < checkpoint->num_open && !fill->skips; i++) {
    pprof_event open = checkpoint->open[i];
    if (open.site >= PPI_MAX_ID || open.lane >= PPI_MAX_ID)
      return PPROF_STATUS_CORRUPT;
    if (open.kind != PPROF_KIND_RANGE || open.start_ns >= until_ns) continue;
    open.end_ns = PPI_MAX(open.end_ns, until_ns);
    const pprof_batch one = {
        .stride = sizeof open, .events = &open, .num_events = 1};
    status = add_row(fill, &one, 0, PPI_RANGE_OPEN);
    if (status != PPROF_STATUS_OK) return status;
  }
  return tell(fill, until_ns);
}

pprof_status ppi_table_fill_finish(ppi_table_fill *fill) {
  return tell(fill, UINT64_MAX);
}

void ppi_table_fill_clear(ppi_table_fill *fill) {
  ppi_table_ids_clear(&fill->ids);
  ppi_free(fill->rows);
  ppi_free(fill->flow_lists);
  ppi_free(fill->flows);
  ppi_free(fill->devices);
  ppi_free(fill->cpus);
}
