// SPDX-License-Identifier: Apache-2.0
//
// Rows of tables become calls; when there are too many, every other stretch of
// time goes, and so does what comes in its place later.
#include "report/limit/limit_calls.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

// A chunk has so many calls at least, where there are more, and of one table no
// more than so many are taken.
enum { LEAST = PPI_LIMIT_CALLS / 16, MOST = PPI_LIMIT_CALLS / 4, DEPTHS = 16 };

static uint32_t flags_of(const ppi_range_table *table, size_t row,
                         const ppi_table_ids *ids) {
  uint32_t flags = 0, of = table->flags[row];
  uint32_t category = ids->names[table->name[row]].category;
  if (table->on_device[row] != PPI_NO_RANGE) flags |= PPI_CALL_DEVICE;
  if (of & PPI_RANGE_LOOSE) flags |= PPI_CALL_LOOSE;
  if (of & PPI_RANGE_STEP) flags |= PPI_CALL_STEP;
  if (of & PPI_RANGE_REQUEST) flags |= PPI_CALL_REQUEST;
  if (of & PPI_RANGE_CUT) flags |= PPI_CALL_CUT;
  if (of & PPI_RANGE_WAIT) flags |= PPI_CALL_WAIT;
  if (of & PPI_RANGE_TIMED) flags |= PPI_CALL_TIMED;
  if (of & PPI_RANGE_LOCK) flags |= PPI_CALL_LOCK;
  if (of & PPI_RANGE_POSTED) flags |= PPI_CALL_POSTED;
  if (category != PPROF_CATEGORY_KERNEL && category != PPROF_CATEGORY_MEMCPY &&
      category != PPROF_CATEGORY_MEMSET)
    flags |= PPI_CALL_NAMED;
  return flags;
}

static bool add_flows(ppi_limit_calls *calls, const ppi_range_table *table,
                      size_t row, ppi_limit_call *call) {
  if (!table->served[row]) return true;
  ppi_range_flows list = table->flow_lists[table->served[row]];
  uint64_t *grown = ppi_grow(calls->flows, &calls->flows_capacity,
                             calls->num_flows + list.num, sizeof *grown);
  if (!grown) return false;
  calls->flows = grown;
  call->first = (uint32_t)calls->num_flows;
  call->num = list.num;
  memcpy(grown + calls->num_flows, table->flows + list.first,
         list.num * sizeof *grown);
  calls->num_flows += list.num;
  return true;
}

static void take_cpu(const ppi_range_table *table, size_t row,
                     ppi_limit_call *call) {
  if (table->used[row] == PPI_NO_RANGE) return;
  const pprof_cpu_use *cpu = &table->cpus[table->used[row]];
  call->has_cpu = (cpu->known & PPROF_CPU_TIMES) != 0;
  call->has_queued = (cpu->known & PPROF_CPU_RUN_QUEUE) != 0;
  call->cpu_ns = cpu->user_ns + cpu->sys_ns;
  call->queued_ns = cpu->run_queue_ns;
}

// A device range without a time says nothing.
static bool is_wanted(const ppi_range_table *table, size_t row) {
  if (table->flags[row] & PPI_RANGE_OPEN) return false;
  if (table->on_device[row] == PPI_NO_RANGE) return true;
  return table->devices[table->on_device[row]].end_ns > 0;
}

static pprof_status add_call(ppi_limit_calls *calls,
                             const ppi_range_table *table, size_t row,
                             const ppi_table_ids *ids) {
  ppi_limit_call call = {.start_ns = table->start_ns[row],
                         .end_ns = table->end_ns[row],
                         .name = table->name[row],
                         .row = table->thread[row],
                         .host = table->thread[row],
                         .parent = PPI_NO_CALL,
                         .ended_by = table->ended_by[row],
                         .flags = flags_of(table, row, ids)};
  if (table->parent[row] != PPI_NO_RANGE)
    call.parent = calls->places[table->parent[row]];
  if (call.flags & PPI_CALL_DEVICE) {
    const ppi_range_device *device = &table->devices[table->on_device[row]];
    call.submit_ns = call.last_submit_ns = call.start_ns;
    call.start_ns = device->start_ns;
    call.end_ns = device->end_ns;
    call.row = device->stream;
    call.work_ns = call.end_ns - call.start_ns;
  }
  take_cpu(table, row, &call);
  ppi_limit_call *grown =
      ppi_grow(calls->items, &calls->capacity, calls->num + 1, sizeof *grown);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  calls->items = grown;
  if (!add_flows(calls, table, row, &call)) return PPROF_STATUS_NO_MEMORY;
  grown[calls->num++] = call;
  return PPROF_STATUS_OK;
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
}

static ppi_limit_chunk *open_chunk(ppi_limit_calls *calls,
                                   const ppi_range_table *table) {
  size_t num = calls->num_chunks;
  ppi_limit_chunk *last = num ? &calls->chunks[num - 1] : NULL;
  bool is_next = last && last->to_ns == table->from_ns && last->num < LEAST;
  if (is_next) return last;
  ppi_limit_chunk *grown =
      ppi_grow(calls->chunks, &calls->chunks_capacity, num + 1, sizeof *grown);
  if (!grown) return NULL;
  calls->chunks = grown;
  grown[num] = (ppi_limit_chunk){table->from_ns, table->from_ns, calls->num, 0};
  calls->num_chunks++;
  return &grown[num];
}

// ---- a table ----

// What of a large table is taken: outer ranges first, all time if possible.
typedef struct choice {
  uint32_t depth;  // ranges inside so many others, or fewer
  uint64_t to_ns;
} choice;

// Depths are at `places` of the rows until calls are.
static choice choose(const ppi_range_table *table, uint32_t *depths) {
  size_t nums[DEPTHS] = {0}, num = 0;
  uint64_t last_ns = table->from_ns;
  choice out = {0, table->to_ns};
  for (size_t i = 0; i < table->num; i++) {
    uint32_t around = table->parent[i];
    bool is_host = table->on_device[i] == PPI_NO_RANGE;
    depths[i] = around == PPI_NO_RANGE || !is_host ? 0 : depths[around] + 1;
    nums[PPI_MIN(depths[i], (uint32_t)DEPTHS - 1)]++;
    last_ns = PPI_MAX(last_ns, table->start_ns[i]);
  }
  num = nums[0];
  while (out.depth + 1 < DEPTHS && num + nums[out.depth + 1] <= MOST)
    num += nums[++out.depth];
  if (out.depth + 1 == DEPTHS) out.depth = UINT32_MAX;
  if (num <= MOST) return out;
  double part = (double)MOST / (double)num;
  out.to_ns =
      table->from_ns + (uint64_t)(part * (double)(last_ns - table->from_ns));
  return out;
}

static pprof_status take_rows(ppi_limit_calls *calls,
                              const ppi_range_table *table,
                              const ppi_table_ids *ids, choice of) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < table->num && status == PPROF_STATUS_OK; i++) {
    bool is_taken = calls->places[i] <= of.depth &&
                    table->start_ns[i] < of.to_ns && is_wanted(table, i);
    uint32_t around = table->parent[i];
    if (is_taken) {
      calls->places[i] = (uint32_t)calls->num;
      status = add_call(calls, table, i, ids);
    } else {
      calls->places[i] =
          around == PPI_NO_RANGE ? PPI_NO_CALL : calls->places[around];
    }
  }
  return status;
}

// What the next table would add is not wanted until the time that is skipped
// for each chunk is over.
static void decide_next(ppi_limit_calls *calls, const ppi_range_table *table) {
  while (calls->num > PPI_LIMIT_CALLS && calls->num_chunks > 1) thin_out(calls);
  if (table->to_ns == UINT64_MAX) return;
  const ppi_limit_chunk *last = &calls->chunks[calls->num_chunks - 1];
  uint64_t stride = PPI_MAX(calls->stride, 1);
  uint64_t chunk_ns = table->to_ns - last->from_ns;
  if (last->num >= LEAST)
    calls->skip_to_ns = table->to_ns + (stride - 1) * chunk_ns;
  calls->fill.skips = table->to_ns < calls->skip_to_ns;
}

static pprof_status read_table(void *context, const ppi_range_table *table,
                               const ppi_table_ids *ids) {
  ppi_limit_calls *calls = context;
  if (calls->fill.skips) {
    calls->fill.skips = table->to_ns < calls->skip_to_ns;
    return PPROF_STATUS_OK;
  }
  ppi_limit_chunk *chunk = open_chunk(calls, table);
  uint32_t *places = ppi_grow(calls->places, &calls->places_capacity,
                              table->num + 1, sizeof *places);
  if (places) calls->places = places;
  if (!chunk || !places) return PPROF_STATUS_NO_MEMORY;
  choice of = choose(table, places);
  pprof_status status = take_rows(calls, table, ids, of);
  chunk->to_ns = of.to_ns;
  chunk->num = calls->num - chunk->first;
  if (status == PPROF_STATUS_OK) decide_next(calls, table);
  return status;
}

void ppi_limit_calls_begin(ppi_limit_calls *calls) {
  calls->fill.reader = read_table;
  calls->fill.context = calls;
  calls->fill.most_rows = PPI_LIMIT_CALLS;
}

void ppi_limit_calls_clear(ppi_limit_calls *calls) {
  ppi_table_fill_clear(&calls->fill);
  ppi_free(calls->items);
  ppi_free(calls->flows);
  ppi_free(calls->chunks);
  ppi_free(calls->places);
  *calls = (ppi_limit_calls){0};
}

void ppi_limit_loop_clear(ppi_limit_loop *loop) {
  ppi_free(loop->calls);
  ppi_free(loop->turns);
  *loop = (ppi_limit_loop){0};
}
