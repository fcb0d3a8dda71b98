// SPDX-License-Identifier: Apache-2.0
//
// A batch is copied with all that its events borrow, in one piece of memory:
// events, work amounts, use of CPU, requests.
#include "held.h"

#include <string.h>

#include "mem.h"

struct ppi_held_batch {
  ppi_held_batch *next;
  size_t num_bytes;
  pprof_batch batch;
  pprof_event events[];
};

typedef struct needs {
  size_t num_work, num_cpu, num_flows;
} needs;

static needs count(const pprof_batch *batch) {
  needs all = {0, 0, 0};
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    all.num_work += event->work != NULL;
    all.num_cpu += event->cpu != NULL;
    all.num_flows += event->num_flows;
  }
  return all;
}

static size_t size_of(const pprof_batch *batch, const needs *all) {
  return sizeof(ppi_held_batch) + batch->num_events * sizeof(pprof_event) +
         all->num_work * sizeof(pprof_work_amount) +
         all->num_cpu * sizeof(pprof_cpu_use) +
         all->num_flows * sizeof(uint64_t);
}

static void copy(ppi_held_batch *to, const pprof_batch *batch,
                 const needs *all) {
  pprof_work_amount *work = (void *)(to->events + batch->num_events);
  pprof_cpu_use *cpu = (void *)(work + all->num_work);
  uint64_t *flows = (void *)(cpu + all->num_cpu);
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
    if (event->num_flows == 0) continue;
    memcpy(flows, event->flows, event->num_flows * sizeof *flows);
    event->flows = flows;
    flows += event->num_flows;
  }
  to->batch = *batch;
  to->batch.events = to->events;
  to->batch.stride = sizeof *to->events;
}

bool ppi_held_put(ppi_held *held, const pprof_batch *batch, size_t most_bytes) {
  needs all = count(batch);
  size_t size = size_of(batch, &all);
  if (size > most_bytes || held->num_bytes > most_bytes - size) return false;
  ppi_held_batch *put = ppi_alloc(size);
  if (!put) return false;
  copy(put, batch, &all);
  put->num_bytes = size;
  if (held->first)
    held->last->next = put;
  else
    held->first = put;
  held->last = put;
  held->num_bytes += size;
  return true;
}

const pprof_batch *ppi_held_first(const ppi_held *held) {
  return held->first ? &held->first->batch : NULL;
}

void ppi_held_drop(ppi_held *held) {
  ppi_held_batch *gone = held->first;
  held->first = gone->next;
  held->num_bytes -= gone->num_bytes;
  ppi_free(gone);
}

void ppi_held_clear(ppi_held *held) {
  while (held->first) ppi_held_drop(held);
}
