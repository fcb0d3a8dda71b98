// SPDX-License-Identifier: Apache-2.0
//
// Passes every callback to every attached sink, in the order of attachment.
#include "event/tee.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "event/call.h"
#include "event/columns.h"

// One of the two; the other is NULL. Both NULL: nothing waits.
typedef struct buffered_view {
  const pprof_batch *batch;
  const pprof_definition *definition;
} buffered_view;

// ---- buffered batches ----

struct ppi_buffered_item {
  ppi_buffered_item *next;
  size_t num_bytes;
  bool is_definition;
  pprof_definition definition;
  pprof_batch batch;
  pprof_event events[];  // of a definition: its name
};

typedef struct needs {
  size_t num_work, num_cpu, num_numbers, num_flows;
} needs;

static needs count(const pprof_batch *batch) {
  needs all = {0};
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    all.num_work += event->work != NULL;
    all.num_cpu += event->cpu != NULL;
    all.num_numbers += event->numbers != NULL;
    all.num_flows += event->num_flows;
  }
  return all;
}

static size_t size_of(const pprof_batch *batch, const needs *all) {
  return sizeof(ppi_buffered_item) + batch->num_events * sizeof(pprof_event) +
         all->num_work * sizeof(pprof_work_amount) +
         all->num_cpu * sizeof(pprof_cpu_use) +
         all->num_numbers * sizeof(pprof_numbers) +
         all->num_flows * sizeof(uint64_t);
}

static void copy(ppi_buffered_item *to, const pprof_batch *batch,
                 const needs *all) {
  pprof_work_amount *work = (void *)(to->events + batch->num_events);
  pprof_cpu_use *cpu = (void *)(work + all->num_work);
  pprof_numbers *numbers = (void *)(cpu + all->num_cpu);
  uint64_t *flows = (void *)(numbers + all->num_numbers);
  for (size_t i = 0; i < batch->num_events; i++) {
    pprof_event *event = &to->events[i];
    *event = *pprof_batch_at(batch, i);
    if (event->work) {
      *work = *event->work;
      event->work = work++;
    }
    if (event->cpu) {
      *cpu = *event->cpu;
      event->cpu = cpu++;
    }
    if (event->numbers) {
      *numbers = *event->numbers;
      event->numbers = numbers++;
    }
    if (event->num_flows == 0) continue;
    memcpy(flows, event->flows, event->num_flows * sizeof *flows);
    event->flows = flows;
    flows += event->num_flows;
  }
  to->batch = *batch;
  to->batch.events = to->events;
  to->batch.stride = sizeof *to->events;
}

static void append(ppi_buffered *buffered, ppi_buffered_item *item,
                   size_t size) {
  item->num_bytes = size;
  if (buffered->first)
    buffered->last->next = item;
  else
    buffered->first = item;
  buffered->last = item;
  buffered->num_bytes += size;
}

// False: all together would exceed `most_bytes`, or there is no memory.
static bool put_batch(ppi_buffered *buffered, const pprof_batch *batch,
                      size_t most_bytes) {
  needs all = count(batch);
  size_t size = size_of(batch, &all);
  if (size > most_bytes || buffered->num_bytes > most_bytes - size)
    return false;
  ppi_buffered_item *put = ppi_alloc(size);
  if (!put) return false;
  copy(put, batch, &all);
  append(buffered, put, size);
  buffered->last_batch = put;
  return true;
}

static void forget_earlier(ppi_buffered *buffered,
                           const pprof_definition *definition) {
  ppi_buffered_item *before = buffered->last_batch;
  ppi_buffered_item *at = before ? before->next : buffered->first;
  for (; at; before = at, at = at->next) {
    if (at->definition.kind != definition->kind ||
        at->definition.id != definition->id)
      continue;
    *(before ? &before->next : &buffered->first) = at->next;
    if (buffered->last == at) buffered->last = before;
    buffered->num_bytes -= at->num_bytes;
    ppi_free(at);
    return;
  }
}

// Replaces an earlier definition of the id if no batch lies between, so that
// the ids limit what exceeds the bound. False: no memory.
static bool put_definition(ppi_buffered *buffered,
                           const pprof_definition *definition) {
  const char *name = definition->name ? definition->name : "";
  size_t size = sizeof(ppi_buffered_item) + strlen(name) + 1;
  ppi_buffered_item *put = ppi_alloc(size);
  if (!put) return false;
  put->is_definition = true;
  put->definition = *definition;
  put->definition.name = strcpy((char *)put->events, name);
  forget_earlier(buffered, definition);
  append(buffered, put, size);
  return true;
}

// The oldest item, valid until it is dropped.
static buffered_view oldest(const ppi_buffered *buffered) {
  const ppi_buffered_item *first = buffered->first;
  if (!first) return (buffered_view){NULL, NULL};
  if (first->is_definition) return (buffered_view){NULL, &first->definition};
  return (buffered_view){&first->batch, NULL};
}

static void drop_oldest(ppi_buffered *buffered) {
  ppi_buffered_item *gone = buffered->first;
  buffered->first = gone->next;
  if (buffered->last_batch == gone) buffered->last_batch = NULL;
  buffered->num_bytes -= gone->num_bytes;
  ppi_free(gone);
}

static void clear_buffered(ppi_buffered *buffered) {
  while (buffered->first) drop_oldest(buffered);
}

// For each sink that has no room: about 100 000 events; less in a small cgroup.
enum { MOST_HELD = 16 << 20 };

#define FOR_ATTACHED(tee, sink, callback, ...)                  \
  do {                                                          \
    for (size_t i_ = 0; i_ < (tee)->num_sinks; i_++) {          \
      pprof_sink *sink = (tee)->sinks[i_];                      \
      if (!(tee)->detached[i_] && PPI_SINK_HAS(sink, callback)) \
        settle(tee, i_, sink->callback(sink, __VA_ARGS__));     \
    }                                                           \
    return PPROF_STATUS_OK;                                     \
  } while (0)

static void settle(ppi_tee *tee, size_t i, pprof_status status) {
  if (status == PPROF_STATUS_OK) return;
  tee->detached[i] = true;
  if (tee->errors[i] == PPROF_STATUS_OK) tee->errors[i] = status;
  if (tee->first_error == PPROF_STATUS_OK)
    __atomic_store_n(&tee->first_error, status, __ATOMIC_RELEASE);
}

static pprof_status tee_begin(pprof_sink *base, const pprof_run_info *info) {
  FOR_ATTACHED((ppi_tee *)base, sink, begin, info);
}

// ---- sinks that have no room ----

static pprof_status note_lane(ppi_missed *missed, const pprof_batch *batch,
                              bool is_missed) {
  if (!PPI_REACH(missed->lanes, missed->num_lanes, missed->capacity,
                 (size_t)batch->lane + 1))
    return PPROF_STATUS_NO_MEMORY;
  if (is_missed)
    missed->lanes[batch->lane].end = batch->end_seq;
  else
    missed->lanes[batch->lane].given = batch->end_seq;
  return PPROF_STATUS_OK;
}

static pprof_status give(ppi_tee *tee, size_t i, const pprof_batch *batch) {
  pprof_sink *sink = tee->sinks[i];
  ppi_missed *missed = &tee->missed[i];
  bool misses =
      missed->waits && !put_batch(&missed->buffered, batch, tee->most_buffered);
  pprof_status status = PPROF_STATUS_OK;
  if (PPI_SINK_HAS(sink, kept) && PPI_SINK_HAS(sink, ready))
    status = note_lane(missed, batch, misses);
  if (status != PPROF_STATUS_OK) return status;
  if (misses) return ppi_tally_batch(&missed->tally, batch);
  return missed->waits ? PPROF_STATUS_OK : sink->events(sink, batch);
}

// Ordered after the buffered events: an id may have a new meaning from here on.
static pprof_status tee_define(pprof_sink *base,
                               const pprof_definition *definition) {
  ppi_tee *tee = (ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++) {
    pprof_sink *sink = tee->sinks[i];
    ppi_buffered *buffered = &tee->missed[i].buffered;
    if (tee->detached[i] || !PPI_SINK_HAS(sink, define)) continue;
    if (!buffered->first)
      settle(tee, i, sink->define(sink, definition));
    else if (!put_definition(buffered, definition))
      settle(tee, i, PPROF_STATUS_NO_MEMORY);
  }
  return PPROF_STATUS_OK;
}

static pprof_status give_one(pprof_sink *sink, const buffered_view *buffered) {
  return buffered->batch ? sink->events(sink, buffered->batch)
                         : sink->define(sink, buffered->definition);
}

static bool has_buffered(const ppi_missed *missed, buffered_view *out) {
  *out = oldest(&missed->buffered);
  return out->batch || out->definition;
}

// Delivers buffered batches as far as there is room.
static void give_buffered(ppi_tee *tee, size_t i) {
  pprof_sink *sink = tee->sinks[i];
  ppi_missed *missed = &tee->missed[i];
  bool room = PPI_SINK_HAS(sink, ready) ? sink->ready(sink) : true;
  buffered_view buffered;
  while (room && has_buffered(missed, &buffered)) {
    settle(tee, i, give_one(sink, &buffered));
    drop_oldest(&missed->buffered);
    if (tee->detached[i]) clear_buffered(&missed->buffered);
    room = tee->detached[i] || sink->ready(sink);
  }
  missed->waits = !room;
}

void ppi_tee_settle(ppi_tee *tee) {
  tee->base.ready(&tee->base);
  for (size_t i = 0; i < tee->num_sinks; i++) {
    ppi_missed *missed = &tee->missed[i];
    for (buffered_view buffered; has_buffered(missed, &buffered);
         drop_oldest(&missed->buffered))
      settle(tee, i,
             buffered.batch ? ppi_tally_batch(&missed->tally, buffered.batch)
                            : give_one(tee->sinks[i], &buffered));
  }
}

static pprof_status tee_events(pprof_sink *base, const pprof_batch *batch) {
  ppi_tee *tee = (ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (!tee->detached[i] && PPI_SINK_HAS(tee->sinks[i], events))
      settle(tee, i, give(tee, i, batch));
  return PPROF_STATUS_OK;
}

static uint64_t num_missed(const ppi_tee *tee, size_t i) {
  return ppi_tally_get(&tee->missed[i].tally, PPROF_ALL_LANES,
                       PPI_TOTAL_RECORDED);
}

uint64_t ppi_tee_num_missed(const ppi_tee *tee) {
  uint64_t sum = 0;
  for (size_t i = 0; i < tee->num_sinks; i++) sum += num_missed(tee, i);
  return sum;
}

bool ppi_tee_describe_missed(const ppi_tee *tee, size_t i, char *text,
                             size_t size) {
  uint64_t num = num_missed(tee, i);
  const pprof_sink *sink = tee->sinks[i];
  char number[32];
  snprintf(number, sizeof number, "sink %zu", i + 1);
  snprintf(text, size, "%s: had no room for %llu records",
           PPI_SINK_HAS(sink, name) ? sink->name : number,
           (unsigned long long)num);
  return num > 0;
}

// A checkpoint's promise is only for sinks that got everything before it.
static pprof_status tee_checkpoint(pprof_sink *base,
                                   const pprof_checkpoint *checkpoint) {
  ppi_tee *tee = (ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++) {
    pprof_sink *sink = tee->sinks[i];
    if (!tee->detached[i] && !tee->missed[i].waits &&
        PPI_SINK_HAS(sink, checkpoint))
      settle(tee, i, sink->checkpoint(sink, checkpoint));
  }
  return PPROF_STATUS_OK;
}

// ---- and the others ----

static pprof_status tee_window(pprof_sink *base, uint32_t index, bool opens,
                               uint64_t time_ns) {
  FOR_ATTACHED((ppi_tee *)base, sink, window, index, opens, time_ns);
}

// The totals of a sink that has missed records: of those that it got.
static pprof_status finish_missed(ppi_tee *tee, size_t i,
                                  const pprof_totals *totals) {
  pprof_totals own = *totals;
  ppi_total *items = NULL;
  pprof_sink *sink = tee->sinks[i];
  pprof_status status =
      ppi_tally_less(totals, &tee->missed[i].tally, &items, &own.num_items);
  own.items = items;
  pprof_status finished =
      sink->finish(sink, status == PPROF_STATUS_OK ? &own : totals);
  ppi_free(items);
  if (finished != PPROF_STATUS_OK) return finished;
  return status == PPROF_STATUS_OK ? PPROF_STATUS_IO : status;
}

static void finish_sink(ppi_tee *tee, size_t i, const pprof_totals *totals) {
  pprof_sink *sink = tee->sinks[i];
  if (!PPI_SINK_HAS(sink, finish)) return;
  settle(tee, i,
         num_missed(tee, i) ? finish_missed(tee, i, totals)
                            : sink->finish(sink, totals));
}

// Detached sinks are finished, too: a failed log still has to close its file. A
// second error of theirs is ignored.
static pprof_status tee_finish(pprof_sink *base, const pprof_totals *totals) {
  ppi_tee *tee = (ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (i + 1 != tee->finishes_last) finish_sink(tee, i, totals);
  if (tee->finishes_last) finish_sink(tee, tee->finishes_last - 1, totals);
  return tee->first_error;
}

static bool tee_kept(pprof_sink *base, uint32_t lane, uint64_t *out_seq) {
  const ppi_tee *tee = (const ppi_tee *)base;
  bool any = false;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < tee->num_sinks; i++) {
    pprof_sink *sink = tee->sinks[i];
    if (tee->detached[i] || !PPI_SINK_HAS(sink, kept)) continue;
    uint64_t seq = 0;
    if (!sink->kept(sink, lane, &seq)) seq = 0;
    const ppi_missed *missed = &tee->missed[i];
    if (lane < missed->num_lanes && seq >= missed->lanes[lane].given)
      seq = PPI_MAX(seq, missed->lanes[lane].end);
    if (seq < least) least = seq;
    any = true;
  }
  if (any) *out_seq = least;
  return any;
}

static bool tee_ready(pprof_sink *base) {
  ppi_tee *tee = (ppi_tee *)base;
  bool all = true;
  for (size_t i = 0; i < tee->num_sinks; i++) {
    if (!tee->detached[i]) give_buffered(tee, i);
    all = all && (tee->detached[i] || !tee->missed[i].waits);
  }
  return all;
}

void ppi_tee_init(ppi_tee *tee) {
  memset(tee, 0, sizeof *tee);
  tee->most_buffered = (size_t)ppi_memory_share(MOST_HELD);
  tee->base = (pprof_sink){.size = sizeof(pprof_sink) | PPI_IN_COLUMNS,
                           PPI_SINK_CALLBACKS(tee_),
                           .kept = tee_kept,
                           .ready = tee_ready};
}

pprof_status ppi_tee_add(ppi_tee *tee, pprof_sink *sink) {
  if (sink->size < sizeof(size_t)) return PPROF_STATUS_INVALID;
  if (tee->num_sinks == PPI_MAX_SINKS) return PPROF_STATUS_BUSY;
  tee->sinks[tee->num_sinks++] = sink;
  if (PPI_SINK_HAS(sink, events))
    tee->base.size &= sink->size | ~PPI_IN_COLUMNS;
  return PPROF_STATUS_OK;
}

void ppi_tee_forget_sinks(ppi_tee *tee) {
  for (size_t i = 0; i < tee->num_sinks; i++) {
    clear_buffered(&tee->missed[i].buffered);
    ppi_tally_clear(&tee->missed[i].tally);
    ppi_free(tee->missed[i].lanes);
    tee->missed[i] = (ppi_missed){0};
  }
  tee->num_sinks = 0;
}

void ppi_tee_destroy_sinks(ppi_tee *tee) {
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (PPI_SINK_HAS(tee->sinks[i], destroy))
      tee->sinks[i]->destroy(tee->sinks[i]);
  ppi_tee_forget_sinks(tee);
}
