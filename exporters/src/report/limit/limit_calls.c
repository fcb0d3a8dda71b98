// SPDX-License-Identifier: Apache-2.0
//
// Turns rows of tables into calls. If there are too many, it first drops ranges
// inside outermost ranges that have hundreds of them. Then it drops every other
// stretch of time, now and in later tables.
#include "report/limit/limit_calls.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/histogram.h"
#include "report/figures/machine.h"

// LEAST: calls in a chunk, at least, if the run has as many. MOST: calls taken
// from one table, at most.
enum {
  LEAST = PPI_LIMIT_CALLS / 16,
  MOST = PPI_LIMIT_CALLS / 4,
  MOST_ROWS = 4 * PPI_LIMIT_CALLS,
  DEPTHS = 16,
  DEEP = 256,  // so many calls for each outermost one
  STREAMS = 64
};

size_t ppi_calls_below(const ppi_limit_call *calls, const uint32_t *list,
                       size_t num, bool by_end, uint64_t limit_ns) {
  size_t low = 0;
  while (low < num) {
    size_t middle = (low + num) / 2;
    const ppi_limit_call *call = &calls[list[middle]];
    if ((by_end ? call->end_ns : call->start_ns) < limit_ns)
      low = middle + 1;
    else
      num = middle;
  }
  return low;
}

// A runtime's call that returns once a device has done all submitted work.
static bool synchronizes(const char *name) {
  return strstr(name, "Synchronize") || strstr(name, "clFinish") ||
         strstr(name, "clWaitForEvents");
}

static bool is_on_device(const ppi_range_table *table, size_t row) {
  uint32_t at = table->rows[row].on_device;
  return at != PPI_NO_RANGE && table->devices[at].end_ns > 0;
}

static bool is_named(uint32_t category) {
  return category != PPROF_CATEGORY_KERNEL &&
         category != PPROF_CATEGORY_MEMCPY && category != PPROF_CATEGORY_MEMSET;
}

static uint32_t flags_of(const ppi_range_table *table, size_t row,
                         const ppi_table_ids *ids) {
  uint32_t flags = table->rows[row].flags & ~(uint32_t)PPI_RANGE_ENDED;
  uint32_t category = ids->names[table->rows[row].name].category;
  if (is_on_device(table, row)) flags |= PPI_CALL_DEVICE;
  if (category == PPROF_CATEGORY_MEMCPY) flags |= PPI_CALL_COPY;
  if (category == PPROF_CATEGORY_RUNTIME &&
      synchronizes(ids->names[table->rows[row].name].text))
    flags |= PPI_CALL_SYNC;
  if (is_named(category)) flags |= PPI_CALL_NAMED;
  return flags;
}

static bool add_flows(ppi_limit_calls *calls, const ppi_range_table *table,
                      size_t row, ppi_limit_call *call) {
  if (!table->rows[row].served) return true;
  ppi_range_flows list = table->flow_lists[table->rows[row].served];
  if (!PPI_ROOM(calls->flows, calls->flows_capacity,
                calls->num_flows + list.num))
    return false;
  call->first = (uint32_t)calls->num_flows;
  call->num = list.num;
  memcpy(calls->flows + calls->num_flows, table->flows + list.first,
         list.num * sizeof *calls->flows);
  calls->num_flows += list.num;
  return true;
}

static void take_cpu(const ppi_range_table *table, size_t row,
                     ppi_limit_call *call) {
  if (table->rows[row].used == PPI_NO_RANGE) return;
  const pprof_cpu_use *cpu = &table->cpus[table->rows[row].used];
  if (cpu->known & PPROF_CPU_TIMES) call->flags |= PPI_CALL_CPU;
  call->cpu_ns = cpu->user_ns + cpu->sys_ns;
  call->queued_ns = cpu->run_queue_ns;
}

// A device range without a device time is one of its thread, unless its launch
// is. Only open ranges of a thread have others inside.
static bool is_wanted(const ppi_range_table *table, size_t row) {
  const uint32_t others = PPI_RANGE_LOOSE | PPI_RANGE_STEP | PPI_RANGE_REQUEST;
  if (table->rows[row].flags & PPI_RANGE_OPEN)
    return !(table->rows[row].flags & others) &&
           table->rows[row].on_device == PPI_NO_RANGE;
  if (table->rows[row].on_device == PPI_NO_RANGE) return true;
  return is_on_device(table, row) ||
         (!table->devices[table->rows[row].on_device].is_paired &&
          table->rows[row].end_ns > table->rows[row].start_ns);
}

// The call that an earlier table left open; PPI_NO_CALL: none. It ends here,
// unless this row is open, too.
static uint32_t known_call(ppi_limit_calls *calls, const ppi_range_table *table,
                           size_t row) {
  const ppi_table_ids *ids = &calls->fill.ids;
  if (table->rows[row].start_ns >= table->from_ns ||
      table->rows[row].on_device != PPI_NO_RANGE)
    return PPI_NO_CALL;
  for (size_t i = 0; i < calls->num_open; i++) {
    uint32_t at = calls->open[i];
    ppi_limit_call *call = &calls->items[at];
    if (call->row != table->rows[row].thread ||
        call->start_ns != table->rows[row].start_ns ||
        ppi_table_ids_folded(ids, call->name) !=
            ppi_table_ids_folded(ids, table->rows[row].name))
      continue;
    call->end_ns = table->rows[row].end_ns;
    if (table->rows[row].flags & PPI_RANGE_OPEN) return at;
    take_cpu(table, row, call);
    call->name = table->rows[row].name;
    call->ended_by = table->rows[row].ended_by;
    // An open wait has no numbers yet.
    call->flags =
        (call->flags & ~(uint32_t)PPI_CALL_OPEN) | flags_of(table, row, ids);
    calls->num_open--;
    memmove(&calls->open[i], &calls->open[i + 1],
            (calls->num_open - i) * sizeof *calls->open);
    return at;
  }
  return PPI_NO_CALL;
}

// Lists open calls again from call `from` on.
static void find_open(ppi_limit_calls *calls, size_t from) {
  while (calls->num_open && calls->open[calls->num_open - 1] >= from)
    calls->num_open--;
  for (size_t i = from; i < calls->num; i++)
    if (calls->items[i].flags & PPI_CALL_OPEN)
      calls->open[calls->num_open++] = (uint32_t)i;
}

// ---- thinning ----

// Keeps the calls of every other chunk; their flows stay where they are.
static void thin_out(ppi_limit_calls *calls) {
  size_t num = 0, num_chunks = 0;
  for (size_t i = 0; i < calls->num_chunks; i += 2) {
    ppi_limit_chunk chunk = calls->chunks[i];
    ppi_limit_call *to = &calls->items[num];
    memmove(to, &calls->items[chunk.first], chunk.num * sizeof *to);
    for (size_t k = 0; k < chunk.num; k++)
      if (to[k].parent != PPI_NO_CALL)
        to[k].parent = to[k].parent < chunk.first
                           ? PPI_NO_CALL
                           : to[k].parent - (uint32_t)(chunk.first - num);
    calls->chunks[num_chunks++] =
        (ppi_limit_chunk){chunk.from_ns, chunk.to_ns, num, chunk.num};
    num += chunk.num;
  }
  calls->num = num;
  calls->num_chunks = num_chunks;
  calls->stride = calls->stride ? 2 * calls->stride : 2;
  find_open(calls, 0);
}

static ppi_limit_chunk *open_chunk(ppi_limit_calls *calls,
                                   const ppi_range_table *table) {
  size_t num = calls->num_chunks;
  ppi_limit_chunk *last = num ? &calls->chunks[num - 1] : NULL;
  bool is_next = last && last->to_ns == table->from_ns && last->num < LEAST;
  if (is_next) return last;
  if (!PPI_ROOM(calls->chunks, calls->chunks_capacity, num + 1)) return NULL;
  calls->chunks[num] =
      (ppi_limit_chunk){table->from_ns, table->from_ns, calls->num, 0};
  calls->num_chunks++;
  return &calls->chunks[num];
}

// ---- depths ----

typedef ppi_limit_place place;

// Numbers of calls, by their depth.
typedef struct depths {
  size_t nums[DEPTHS];
  size_t num_outer;  // that are ranges
} depths;

static bool is_kernel(const ppi_limit_call *call) {
  return call->flags & PPI_CALL_DEVICE && !(call->flags & PPI_CALL_NAMED) &&
         call->parent != PPI_NO_CALL;
}

static void count_depth(depths *of, uint32_t depth, uint32_t flags) {
  of->nums[PPI_MIN(depth, (uint32_t)DEPTHS - 1)]++;
  of->num_outer += !depth && !(flags & (PPI_CALL_OPEN | PPI_CALL_DEVICE));
}

// A kernel has the depth of ranges beside its launch.
static void find_depths(const ppi_limit_calls *calls, place *places,
                        depths *out) {
  for (size_t i = 0; i < calls->num; i++) {
    const ppi_limit_call *call = &calls->items[i];
    bool is_inner = is_kernel(call) || !(call->flags & PPI_CALL_DEVICE);
    places[i] = (place){0, 0};
    if (is_inner && call->parent != PPI_NO_CALL)
      places[i].depth = places[call->parent].depth + 1;
    // The later half decides which are outermost: a start-up has others.
    if (i == calls->num / 2) out->num_outer = 0;
    count_depth(out, places[i].depth, call->flags);
  }
}

// The greatest depth that leaves at most `most` calls, or 0; *out_num: the
// number left.
static uint32_t depth_for(const depths *of, size_t most, size_t *out_num) {
  uint32_t depth = 0;
  *out_num = of->nums[0];
  while (depth + 1 < DEPTHS && *out_num + of->nums[depth + 1] <= most)
    *out_num += of->nums[++depth];
  return depth + 1 < DEPTHS ? depth : UINT32_MAX;
}

// The calls to keep: at most `depth` deep, with a begin before `to_ns`.
typedef struct keep {
  uint32_t depth;
  uint64_t to_ns;
  uint32_t last[STREAMS];  // kernels that later ones join
} keep;

// Consecutive kernels of one kept call become one call.
static bool joins(ppi_limit_calls *calls, keep *of,
                  const ppi_limit_call *call) {
  uint32_t *last = call->row < STREAMS ? &of->last[call->row] : NULL;
  ppi_limit_call *before =
      last && *last != PPI_NO_CALL ? &calls->items[*last] : NULL;
  bool is_one = before && before->parent == call->parent &&
                before->end_ns <= call->start_ns;
  if (!is_one) {
    if (last) *last = (uint32_t)calls->num;
    return false;
  }
  before->end_ns = call->end_ns;
  before->last_submit_ns = call->submit_ns;
  before->work_ns += call->work_ns;
  before->dropped += 1 + call->dropped;
  return true;
}

static void drop_into(ppi_limit_call *around, const ppi_limit_call *call) {
  around->dropped += call->dropped + ((call->flags & PPI_CALL_SYNC) != 0);
  around->memory_ns += call->memory_ns;
}

// Adds a call if it is kept, and sets where it is then. `call` has the place of
// its parent.
static bool keep_call(ppi_limit_calls *calls, keep *of,
                      const ppi_limit_call *call, bool was_kernel, place *at) {
  bool is_below = at->depth > of->depth;
  uint64_t begin_ns =
      call->flags & PPI_CALL_DEVICE ? call->submit_ns : call->start_ns;
  at->now = call->parent;
  if (is_below && !was_kernel && call->parent != PPI_NO_CALL)
    drop_into(&calls->items[call->parent], call);
  if (begin_ns >= of->to_ns || (is_below && !was_kernel)) return true;
  if (is_below && joins(calls, of, call)) return true;
  at->now = (uint32_t)calls->num;
  return PPI_PUSH(calls->items, calls->num, calls->capacity, *call);
}

static keep keep_of(uint32_t depth, uint64_t to_ns) {
  keep of = {.depth = depth, .to_ns = to_ns};
  memset(of.last, 0xff, sizeof of.last);
  return of;
}

static bool keep_depth(ppi_limit_calls *calls, uint32_t depth, place *places) {
  bool done = true;
  calls->num = 0;
  for (size_t i = 0; i < calls->num_chunks; i++) {
    ppi_limit_chunk *chunk = &calls->chunks[i];
    size_t first = chunk->first, until = first + chunk->num;
    keep of = keep_of(depth, UINT64_MAX);
    chunk->first = calls->num;
    for (size_t k = first; k < until && done; k++) {
      ppi_limit_call call = calls->items[k];
      bool was_kernel = is_kernel(&call);
      if (call.parent != PPI_NO_CALL) call.parent = places[call.parent].now;
      done = keep_call(calls, &of, &call, was_kernel, &places[k]);
    }
    chunk->num = calls->num - chunk->first;
  }
  find_open(calls, 0);
  return done;
}

// If outermost ranges have hundreds inside, stretches of time would hold only
// few outermost ranges.
static bool drop_inner(ppi_limit_calls *calls) {
  size_t num, half = calls->num / 2;
  depths of = {.num_outer = 0};
  if (calls->most_depth == 1) return false;
  place *places = ppi_alloc((calls->num + 1) * sizeof *places);
  if (!places) return false;
  find_depths(calls, places, &of);
  bool is_deep = of.num_outer && calls->num - half >= DEEP * of.num_outer;
  if (is_deep) {
    uint32_t depth = depth_for(&of, PPI_LIMIT_CALLS / 2, &num);
    calls->most_depth = depth + 1;
    is_deep = keep_depth(calls, depth, places);
  }
  ppi_free(places);
  return is_deep && calls->num <= PPI_LIMIT_CALLS;
}

bool ppi_limit_calls_end(ppi_limit_calls *calls) {
  size_t num = calls->num_open ? calls->num : 0;
  bool done = !num || PPI_ROOM(calls->kept, calls->kept_capacity, num);
  for (size_t i = 0; i < num && done; i++)
    calls->kept[i].depth = (calls->items[i].flags & PPI_CALL_OPEN) != 0;
  if (num && done) done = keep_depth(calls, 0, calls->kept);
  ppi_free(calls->kept);
  calls->kept = NULL;
  calls->kept_capacity = 0;
  return done;
}

// ---- a table ----

// Of a row: the call that it is or lies in, if that is in `calls`, and how many
// are around that.
static const place no_place = {PPI_NO_CALL, UINT32_MAX};

static place around(const ppi_range_table *table, size_t row,
                    const place *places) {
  uint32_t parent = table->rows[row].parent;
  return parent == PPI_NO_RANGE ? no_place : places[parent];
}

// Device work has its own name if its launch lies in no stage.
static bool is_stageless(const ppi_range_table *table, size_t row,
                         const place *places, const ppi_table_ids *ids) {
  uint32_t launch = table->rows[row].parent;
  if (!is_on_device(table, row) || around(table, row, places).depth)
    return false;
  while (!is_wanted(table, launch)) launch = table->rows[launch].parent;
  return ids->names[table->rows[launch].name].category ==
         PPROF_CATEGORY_RUNTIME;
}

static bool is_kernel_row(const ppi_range_table *table, size_t row,
                          const place *places, const ppi_table_ids *ids) {
  return is_on_device(table, row) &&
         !is_named(ids->names[table->rows[row].name].category) &&
         around(table, row, places).depth != no_place.depth &&
         !is_stageless(table, row, places, ids);
}

// A row that is no call has the place of the range around it. One that becomes
// a call has none yet.
static void place_rows(ppi_limit_calls *calls, const ppi_range_table *table,
                       const ppi_table_ids *ids, depths *out) {
  place *places = calls->kept;
  for (size_t i = 0; i < table->num; i++) {
    uint32_t known = known_call(calls, table, i);
    places[i] = around(table, i, places);
    if (known != PPI_NO_CALL) {
      places[i] = (place){known, 0};
      for (uint32_t at = known; (at = calls->items[at].parent) != PPI_NO_CALL;)
        places[i].depth++;
    } else if (is_wanted(table, i)) {
      bool is_device = is_on_device(table, i);
      bool is_inner = !is_device || is_kernel_row(table, i, places, ids);
      places[i] = (place){PPI_NO_CALL, is_inner ? places[i].depth + 1 : 0};
      count_depth(out, places[i].depth,
                  (table->rows[i].flags & PPI_RANGE_OPEN) |
                      (is_device ? PPI_CALL_DEVICE : 0u));
    }
  }
}

static ppi_limit_call call_of(const ppi_range_table *table, size_t row,
                              const ppi_table_ids *ids) {
  const ppi_range *from = &table->rows[row];
  ppi_limit_call call = {.start_ns = from->start_ns,
                         .end_ns = from->end_ns,
                         .name = from->name,
                         .row = from->thread,
                         .host = from->thread,
                         .ended_by = from->ended_by,
                         .flags = flags_of(table, row, ids)};
  if (call.flags & PPI_CALL_DEVICE) {
    const ppi_range_device *device = &table->devices[from->on_device];
    call.submit_ns = call.last_submit_ns = call.start_ns;
    call.start_ns = device->start_ns;
    call.end_ns = device->end_ns;
    call.row = device->stream;
    call.work_ns = call.end_ns - call.start_ns;
  }
  if (ids->names[call.name].category == PPROF_CATEGORY_RUNTIME &&
      ppi_is_of_device_memory(ids->names[call.name].text))
    call.memory_ns = call.end_ns - call.start_ns;
  take_cpu(table, row, &call);
  return call;
}

static bool take_row(ppi_limit_calls *calls, keep *of,
                     const ppi_range_table *table, size_t row,
                     const ppi_table_ids *ids) {
  place *at = &calls->kept[row];
  const place outer = around(table, row, calls->kept);
  if (at->now != PPI_NO_CALL) return true;
  at->now = outer.now;
  if (!is_wanted(table, row)) return true;
  size_t num = calls->num;
  bool is_inner = is_kernel_row(table, row, calls->kept, ids);
  // The call around it counts runtime calls alone.
  if (at->depth > of->depth && !is_inner &&
      ids->names[table->rows[row].name].category != PPROF_CATEGORY_RUNTIME)
    return true;
  ppi_limit_call call = call_of(table, row, ids);
  if (is_stageless(table, row, calls->kept, ids)) call.flags |= PPI_CALL_NAMED;
  call.parent = outer.now;
  if (!keep_call(calls, of, &call, is_inner, at)) return false;
  if (calls->num == num) return true;
  return add_flows(calls, table, row, &calls->items[num]) &&
         (!(call.flags & PPI_CALL_OPEN) ||
          PPI_PUSH(calls->open, calls->num_open, calls->open_capacity,
                   (uint32_t)num));
}

// Keeps the outer ranges of a large table, over all its time if possible.
// Answers the end of the time that is kept.
static bool take_rows(ppi_limit_calls *calls, const ppi_range_table *table,
                      const ppi_table_ids *ids, uint64_t *out_to_ns) {
  size_t num;
  uint64_t last_ns = table->from_ns;
  depths all = {.num_outer = 0};
  place_rows(calls, table, ids, &all);
  // A full table of few outermost ranges: later ones get more room.
  if (table->num >= PPI_LIMIT_CALLS && table->num >= DEEP * all.num_outer)
    calls->fill.most_rows = MOST_ROWS;
  uint32_t depth = depth_for(&all, MOST, &num);
  if (calls->most_depth) depth = PPI_MIN(depth, calls->most_depth - 1);
  for (size_t i = 0; i < table->num; i++)
    last_ns = PPI_MAX(last_ns, table->rows[i].start_ns);
  *out_to_ns = table->to_ns;
  if (num > MOST)
    *out_to_ns =
        table->from_ns + (uint64_t)((double)MOST / (double)num *
                                    (double)(last_ns - table->from_ns));
  keep of = keep_of(depth, *out_to_ns);
  bool done = true;
  for (size_t i = 0; i < table->num && done; i++)
    done = take_row(calls, &of, table, i, ids);
  return done;
}

// Skips tables until the time that is left out after each chunk has passed.
static void decide_next(ppi_limit_calls *calls, const ppi_range_table *table) {
  while (calls->num > PPI_LIMIT_CALLS && calls->num_chunks > 1)
    if (!drop_inner(calls)) thin_out(calls);
  if (table->to_ns == UINT64_MAX) return;
  const ppi_limit_chunk *last = &calls->chunks[calls->num_chunks - 1];
  uint64_t stride = PPI_MAX(calls->stride, 1);
  uint64_t chunk_ns = table->to_ns - last->from_ns;
  if (last->num >= LEAST)
    calls->skip_to_ns = table->to_ns + (stride - 1) * chunk_ns;
  calls->fill.skips = table->to_ns < calls->skip_to_ns;
}

// Until the next table, others may have the room of calls that were not kept.
static void give_room(ppi_limit_calls *calls) {
  size_t num = PPI_MAX(calls->num, 1);
  ppi_limit_call *items = ppi_realloc(calls->items, num * sizeof *calls->items);
  if (!items) return;
  calls->items = items;
  calls->capacity = num;
}

static pprof_status read_table(void *context, const ppi_range_table *table,
                               const ppi_table_ids *ids) {
  ppi_limit_calls *calls = context;
  if (calls->fill.skips) {
    calls->fill.skips = table->to_ns < calls->skip_to_ns;
    return PPROF_STATUS_OK;
  }
  ppi_limit_chunk *chunk = open_chunk(calls, table);
  if (!chunk || !PPI_ROOM(calls->kept, calls->kept_capacity, table->num + 1) ||
      !take_rows(calls, table, ids, &chunk->to_ns))
    return PPROF_STATUS_NO_MEMORY;
  chunk->num = calls->num - chunk->first;
  decide_next(calls, table);
  give_room(calls);
  return PPROF_STATUS_OK;
}

void ppi_limit_calls_begin(ppi_limit_calls *calls) {
  calls->fill.reader = read_table;
  calls->fill.context = calls;
  calls->fill.most_rows = PPI_LIMIT_CALLS;
}

void ppi_limit_calls_clear(ppi_limit_calls *calls) {
  ppi_table_fill_clear(&calls->fill);
  PPI_FREE_ALL(calls->items, calls->flows, calls->chunks, calls->kept,
               calls->open);
  *calls = (ppi_limit_calls){0};
}

void ppi_limit_loop_clear(ppi_limit_loop *loop) {
  ppi_free(loop->calls);
  ppi_free(loop->turns);
  *loop = (ppi_limit_loop){0};
}
