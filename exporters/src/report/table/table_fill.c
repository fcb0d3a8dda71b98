// SPDX-License-Identifier: Apache-2.0
//
// Turns events into rows, and rows into a table once a checkpoint has passed
// them.
#include "report/table/table_fill.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "event/recorded_wait.h"

// ---- rows ----

// Outer ranges come first, and device ranges after host ranges. Of two ranges
// with equal start and depth, the empty one comes first.
static int compare_rows(const void *left, const void *right) {
  const ppi_range *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  bool a_works = a->on_device != PPI_NO_RANGE;
  bool b_works = b->on_device != PPI_NO_RANGE;
  if (a_works != b_works) return a_works ? 1 : -1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static uint64_t start_of(const void *item) {
  return ((const ppi_range *)item)->start_ns;
}

// Ranges that nest come in the order of their ends, inner ones first. `sizes`
// is room for numbers of rows. False: these rows do not, and `out` is not
// filled.
static bool order_nested(ppi_range *rows, size_t num, uint32_t *sizes,
                         ppi_range *out) {
  for (size_t i = 0; i < num; i++) {
    size_t first = i;
    while (first && rows[first - 1].start_ns >= rows[i].start_ns)
      first -= sizes[first - 1];
    sizes[i] = (uint32_t)(i + 1 - first);
  }
  // A row comes behind all rows that ended before it began, and those around.
  size_t depth = 0;
  uint32_t around = PPI_NO_RANGE;
  for (size_t i = num; i-- > 0;) {
    for (; around != PPI_NO_RANGE && around >= i + sizes[around]; depth--)
      around = rows[around].parent;
    rows[i].parent = around;
    out[i + 1 - sizes[i] + depth] = rows[i];
    if (sizes[i] == 1) continue;
    around = (uint32_t)i;
    depth++;
  }
  for (size_t i = 1; i < num; i++)
    if (out[i - 1].start_ns >= out[i].start_ns &&
        compare_rows(&out[i - 1], &out[i]) >= 0)
      return false;
  return true;
}

static void order_thread(ppi_range *rows, size_t num, uint32_t *sizes,
                         ppi_range *out) {
  if (order_nested(rows, num, sizes, out)) return;
  ppi_sort(rows, num, sizeof *rows, start_of, compare_rows);
  memcpy(out, rows, num * sizeof *rows);
}

// Sorts rows by thread and begin; rows that begin at `until_ns` or later come
// last.
static bool order_rows(ppi_range *rows, size_t num, uint32_t num_threads,
                       uint64_t until_ns, size_t *out_num) {
  *out_num = 0;
  if (!num) return true;
  size_t *places = ppi_alloc(((size_t)num_threads + 1) * sizeof *places);
  uint32_t *sizes = ppi_realloc(NULL, (num + 1) * sizeof *sizes);
  ppi_range *to = ppi_realloc(NULL, (num + 1) * sizeof *to);
  bool done = places && sizes && to;
  if (done) {
    for (size_t i = 0; i < num; i++)
      if (rows[i].start_ns < until_ns) places[rows[i].thread + 1]++;
    for (size_t i = 0; i < num_threads; i++) places[i + 1] += places[i];
    size_t later = *out_num = places[num_threads];
    for (size_t i = 0; i < num; i++) {
      bool is_reported = rows[i].start_ns < until_ns;
      to[is_reported ? places[rows[i].thread]++ : later++] = rows[i];
    }
    for (size_t i = 0, first = 0; i < num_threads; first = places[i++])
      order_thread(to + first, places[i] - first, sizes, rows + first);
    memcpy(rows + *out_num, to + *out_num, (num - *out_num) * sizeof *rows);
  }
  PPI_FREE_ALL(places, sizes, to);
  return done;
}

// The innermost range that may be open when `row` begins.
static uint32_t around_work(const ppi_range *rows, uint32_t top,
                            const ppi_range *row) {
  while (top != PPI_NO_RANGE && rows[top].end_ns <= row->start_ns &&
         rows[top].start_ns < row->start_ns)
    top = rows[top].parent;
  return top;
}

// A range's parent is the last range of lesser depth that has not ended. A
// device range's parent is the range that submitted it.
static void nest_rows(ppi_range *rows, size_t num) {
  uint32_t top = PPI_NO_RANGE;
  for (size_t i = 0; i < num; i++) {
    ppi_range *row = &rows[i];
    if (!i || rows[i - 1].thread != row->thread) top = PPI_NO_RANGE;
    row->parent = PPI_NO_RANGE;
    if (row->flags & PPI_RANGE_LOOSE) continue;
    if (!(!(row->flags & PPI_RANGE_LOOSE) && row->on_device == PPI_NO_RANGE)) {
      row->parent = around_work(rows, top, row);
      continue;
    }
    while (top != PPI_NO_RANGE &&
           (rows[top].depth >= row->depth || rows[top].end_ns < row->start_ns))
      top = rows[top].parent;
    row->parent = top;
    top = (uint32_t)i;
  }
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
    const ppi_range_flows list = {(uint32_t)fill->num_flows,
                                  (uint32_t)event->num_flows};
    for (size_t i = 0; i < event->num_flows; i++)
      if (!PPI_PUSH(fill->flows, fill->num_flows, fill->flows_capacity,
                    event->flows[i]))
        return false;
    if (!PPI_REACH(fill->flow_lists, fill->num_lists, fill->lists_capacity,
                   1) ||
        !PPI_PUSH(fill->flow_lists, fill->num_lists, fill->lists_capacity,
                  list))
      return false;
  }
  *out = (uint32_t)fill->num_lists - 1;
  return true;
}

static bool add_device(ppi_table_fill *fill, const pprof_event *event,
                       uint32_t *out) {
  *out = PPI_NO_RANGE;
  if (event->kind != PPROF_KIND_DEVICE_RANGE) return true;
  bool is_timed = !(event->flags & PPROF_FLAG_NO_DEVICE_TIME);
  const ppi_range_device device = {
      .start_ns = is_timed ? event->device_start_ns : 0,
      .end_ns =
          is_timed ? PPI_MAX(event->device_start_ns, event->device_end_ns) : 0,
      .stream = event->stream,
      .device = ppi_table_ids_device(&fill->ids, event->stream),
      .is_paired = (event->flags & PPROF_FLAG_PAIRED) != 0};
  *out = (uint32_t)fill->num_devices;
  return PPI_PUSH(fill->devices, fill->num_devices, fill->devices_capacity,
                  device);
}

static bool add_cpu(ppi_table_fill *fill, const pprof_event *event,
                    uint32_t *out) {
  *out = PPI_NO_RANGE;
  if (!event->cpu || !event->cpu->known) return true;
  *out = (uint32_t)fill->num_cpus;
  return PPI_PUSH(fill->cpus, fill->num_cpus, fill->cpus_capacity, *event->cpu);
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
  if (wait && wait[PPI_WAIT_HOW] & PPI_WAIT_LOWER) flags |= PPI_RANGE_LOWER;
  return flags;
}

static bool add_row(ppi_table_fill *fill, const pprof_batch *batch, size_t at,
                    uint32_t more_flags) {
  const pprof_event *event = ppi_batch_rest(batch, at);
  if (!PPI_ROOM(fill->rows, fill->rows_capacity, fill->num_rows + 1))
    return false;
  size_t name = ppi_table_ids_name(&fill->ids, event->site);
  size_t thread = ppi_table_ids_thread(&fill->ids, event->lane);
  if (name == SIZE_MAX || thread == SIZE_MAX) return false;
  uint32_t category = fill->ids.names[name].category;
  const uint64_t *wait = ppi_wait_numbers(event, category);
  const uint64_t *whole = ppi_wait_whole(batch, at, category);
  if (whole)
    name = ppi_table_ids_wait(&fill->ids, name, whole[PPI_WAIT_HOW],
                              whole[PPI_WAIT_IN]);
  if (name == SIZE_MAX) return false;
  ppi_range *row = &fill->rows[fill->num_rows];
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
    return false;
  fill->num_rows++;
  return true;
}

static bool is_range(const pprof_event *event) {
  return event->kind == PPROF_KIND_RANGE ||
         event->kind == PPROF_KIND_DEVICE_RANGE;
}

// Leaves out ranges from the begin of that one on which is one too many, by
// their begins. So the ranges that stay are the same in any order of delivery.
// Ranges from `until_ns` on belong to later tables, and do not count.
static bool leave_out(ppi_table_fill *fill, uint64_t until_ns) {
  size_t num = 0;
  uint64_t *begins = ppi_realloc(NULL, fill->num_rows * sizeof *begins);
  if (!begins) return false;
  for (size_t i = 0; i < fill->num_rows; i++)
    begins[i] = fill->rows[i].start_ns;
  uint64_t full_ns = ppi_number_at(begins, fill->num_rows, fill->most_rows);
  ppi_free(begins);
  if (full_ns >= until_ns) return true;
  for (size_t i = 0; i < fill->num_rows; i++)
    if (fill->rows[i].start_ns < full_ns) fill->rows[num++] = fill->rows[i];
  fill->num_rows = num;
  fill->full_ns = full_ns;
  return true;
}

static bool is_full(const ppi_table_fill *fill, uint64_t until_ns) {
  return fill->full_ns && fill->full_ns < until_ns;
}

static bool bound_rows(ppi_table_fill *fill, size_t most, uint64_t until_ns) {
  return !fill->most_rows || fill->num_rows <= most ||
         leave_out(fill, until_ns);
}

static bool is_left_out(const ppi_table_fill *fill, const pprof_batch *batch,
                        const ppi_columns *columns, size_t at) {
  uint64_t start_ns = columns ? columns->rows[at].start_ns
                              : pprof_batch_at(batch, at)->start_ns;
  return start_ns >= fill->full_ns;
}

static pprof_status add_event(ppi_table_fill *fill, const pprof_batch *batch,
                              size_t at) {
  const pprof_event *event = ppi_batch_rest(batch, at);
  if (event->site >= PPI_MAX_ID || event->lane >= PPI_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  return !is_range(event) || add_row(fill, batch, at, 0)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

// The first row of a shape is made from its event, and the others are copies.
static pprof_status add_shaped(ppi_table_fill *fill, const ppi_columns *columns,
                               size_t at) {
  const ppi_column_row *times = &columns->rows[at];
  ppi_range *shape = &fill->shapes[times->at];
  size_t num_rows = fill->num_rows;
  if (shape->parent != PPI_NO_RANGE) {
    pprof_status status = add_event(fill, &columns->batch, at);
    if (status != PPROF_STATUS_OK || num_rows == fill->num_rows) return status;
    ppi_range *row = &fill->rows[num_rows];
    row->parent = row->on_device == PPI_NO_RANGE ? PPI_NO_RANGE : 0;
    *shape = *row;
  } else if (!PPI_PUSH(fill->rows, fill->num_rows, fill->rows_capacity,
                       *shape)) {
    return PPROF_STATUS_NO_MEMORY;
  }
  fill->rows[num_rows].start_ns = times->start_ns;
  fill->rows[num_rows].end_ns = times->end_ns;
  return PPROF_STATUS_OK;
}

pprof_status ppi_table_fill_events(ppi_table_fill *fill,
                                   const pprof_batch *batch) {
  const ppi_columns *columns = ppi_columns_of(batch);
  if (fill->skips || !batch->num_events) return PPROF_STATUS_OK;
  fill->num_shapes = 0;
  if (columns && !PPI_REACH(fill->shapes, fill->num_shapes,
                            fill->shapes_capacity, columns->num_shapes))
    return PPROF_STATUS_NO_MEMORY;
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++) {
    if (fill->full_ns && is_left_out(fill, batch, columns, i)) continue;
    status = columns && !columns->rows[i].is_whole
                 ? add_shaped(fill, columns, i)
                 : add_event(fill, batch, i);
  }
  if (status == PPROF_STATUS_OK &&
      !bound_rows(fill, fill->most_rows + fill->most_rows / 4, UINT64_MAX))
    status = PPROF_STATUS_NO_MEMORY;
  return status;
}

// ---- tables ----

static bool hand_over(ppi_table_fill *fill, size_t num, uint64_t until_ns) {
  const ppi_range_table table = {.rows = fill->rows,
                                 .num = num,
                                 .flow_lists = fill->flow_lists,
                                 .flows = fill->flows,
                                 .devices = fill->devices,
                                 .cpus = fill->cpus,
                                 .from_ns = fill->reported_ns,
                                 .to_ns = until_ns};
  return fill->reader(fill->context, &table, &fill->ids) == PPROF_STATUS_OK;
}

// A row that ends after the table may enclose rows of the next one.
static void mark_open(ppi_range *rows, size_t reported, uint64_t until_ns) {
  for (size_t i = 0; i < reported; i++)
    if (!(rows[i].flags & PPI_RANGE_OPEN) && rows[i].end_ns >= until_ns)
      rows[i].flags |= PPI_RANGE_OPEN | PPI_RANGE_ENDED;
}

// Until the next ranges come, others may have the room of their rows.
static void give_room(ppi_table_fill *fill) {
  size_t num = PPI_MAX(fill->num_rows, 1);
  ppi_range *rows = ppi_realloc(fill->rows, num * sizeof *rows);
  if (!rows) return;
  fill->rows = rows;
  fill->rows_capacity = num;
}

// Rows that begin or end after the table stay for the next one, with their
// lists; of a full table, only those that end after it. The lists are emptied
// once no row stays.
static void forget(ppi_table_fill *fill, size_t reported, bool full) {
  size_t num = 0, from = full ? reported : fill->num_rows;
  for (size_t i = 0; i < from; i++) {
    ppi_range *row = &fill->rows[i];
    if (i < reported && !(row->flags & PPI_RANGE_ENDED)) continue;
    row->flags &= ~(uint32_t)(PPI_RANGE_OPEN | PPI_RANGE_ENDED);
    fill->rows[num++] = *row;
  }
  fill->num_rows = num;
  give_room(fill);
  if (num) return;
  ppi_free(fill->devices);
  fill->devices = NULL;
  fill->devices_capacity = 0;
  fill->num_lists = fill->num_flows = 0;
  fill->num_devices = fill->num_cpus = 0;
}

static bool tell(ppi_table_fill *fill, uint64_t until_ns) {
  size_t reported = 0;
  bool full = is_full(fill, until_ns);
  uint64_t all_ns = full ? PPI_MAX(fill->reported_ns, fill->full_ns) : until_ns;
  bool done = order_rows(fill->rows, fill->num_rows,
                         (uint32_t)fill->ids.num_threads, all_ns, &reported);
  if (!done) return false;
  nest_rows(fill->rows, reported);
  mark_open(fill->rows, reported, until_ns);
  done = hand_over(fill, reported, all_ns);
  if (!done) return false;
  forget(fill, reported, full);
  if (full) fill->full_ns = 0;
  fill->reported_ns = until_ns;
  return done;
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
  // A checkpoint that does not advance may be incomplete, and promises nothing
  // new.
  if (checkpoint->time_ns <= fill->checkpoint_ns) return PPROF_STATUS_OK;
  fill->checkpoint_ns = checkpoint->time_ns;
  uint64_t until_ns = horizon_of(fill, checkpoint);
  if (until_ns <= fill->reported_ns) return PPROF_STATUS_OK;
  if (!bound_rows(fill, fill->most_rows, until_ns))
    return PPROF_STATUS_NO_MEMORY;
  // A full one does not wait, and leaves all out up to here.
  if (is_full(fill, until_ns)) until_ns = checkpoint->time_ns;
  for (size_t i = 0; i < checkpoint->num_open && !fill->skips; i++) {
    pprof_event open = checkpoint->open[i];
    if (open.site >= PPI_MAX_ID || open.lane >= PPI_MAX_ID)
      return PPROF_STATUS_CORRUPT;
    if (open.kind != PPROF_KIND_RANGE || open.start_ns >= until_ns) continue;
    open.end_ns = PPI_MAX(open.end_ns, until_ns);
    const pprof_batch one = {
        .stride = sizeof open, .events = &open, .num_events = 1};
    if (!add_row(fill, &one, 0, PPI_RANGE_OPEN)) return PPROF_STATUS_NO_MEMORY;
  }
  return tell(fill, until_ns) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static void clear_rows(ppi_table_fill *fill) {
  PPI_FREE_ALL(fill->rows, fill->flow_lists, fill->flows, fill->devices,
               fill->cpus, fill->shapes);
  *fill = (ppi_table_fill){.ids = fill->ids};
}

bool ppi_table_fill_finish(ppi_table_fill *fill) {
  bool done =
      bound_rows(fill, fill->most_rows, UINT64_MAX) && tell(fill, UINT64_MAX);
  clear_rows(fill);
  return done;
}

void ppi_table_fill_clear(ppi_table_fill *fill) {
  ppi_table_ids_clear(&fill->ids);
  clear_rows(fill);
}
