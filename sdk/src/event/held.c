// SPDX-License-Identifier: Apache-2.0
//
// A batch is copied with all that its events borrow, in one piece of memory:
// events, work amounts, use of CPU, numbers, requests.
#include "event/held.h"

#include <string.h>

#include "base/mem.h"

struct ppi_held_item {
  ppi_held_item *next;
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
  return sizeof(ppi_held_item) + batch->num_events * sizeof(pprof_event) +
         all->num_work * sizeof(pprof_work_amount) +
         all->num_cpu * sizeof(pprof_cpu_use) +
         all->num_numbers * sizeof(pprof_numbers) +
         all->num_flows * sizeof(uint64_t);
}

static void copy(ppi_held_item *to, const pprof_batch *batch,
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

static void append(ppi_held *held, ppi_held_item *item, size_t size) {
  item->num_bytes = size;
  if (held->first)
    held->last->next = item;
  else
    held->first = item;
  held->last = item;
  held->num_bytes += size;
}

bool ppi_held_put(ppi_held *held, const pprof_batch *batch, size_t most_bytes) {
  needs all = count(batch);
  size_t size = size_of(batch, &all);
  if (size > most_bytes || held->num_bytes > most_bytes - size) return false;
  ppi_held_item *put = ppi_alloc(size);
  if (!put) return false;
  copy(put, batch, &all);
  append(held, put, size);
  held->last_batch = put;
  return true;
}

static void forget_earlier(ppi_held *held, const pprof_definition *definition) {
  ppi_held_item *before = held->last_batch;
  ppi_held_item *at = before ? before->next : held->first;
  for (; at; before = at, at = at->next) {
    if (at->definition.kind != definition->kind ||
        at->definition.id != definition->id)
      continue;
    *(before ? &before->next : &held->first) = at->next;
    if (held->last == at) held->last = before;
    held->num_bytes -= at->num_bytes;
    ppi_free(at);
    return;
  }
}

bool ppi_held_define(ppi_held *held, const pprof_definition *definition) {
  const char *name = definition->name ? definition->name : "";
  size_t size = sizeof(ppi_held_item) + strlen(name) + 1;
  ppi_held_item *put = ppi_alloc(size);
  if (!put) return false;
  put->is_definition = true;
  put->definition = *definition;
  put->definition.name = strcpy((char *)put->events, name);
  forget_earlier(held, definition);
  append(held, put, size);
  return true;
}

ppi_held_view ppi_held_first(const ppi_held *held) {
  const ppi_held_item *first = held->first;
  if (!first) return (ppi_held_view){NULL, NULL};
  if (first->is_definition) return (ppi_held_view){NULL, &first->definition};
  return (ppi_held_view){&first->batch, NULL};
}

void ppi_held_drop(ppi_held *held) {
  ppi_held_item *gone = held->first;
  held->first = gone->next;
  if (held->last_batch == gone) held->last_batch = NULL;
  held->num_bytes -= gone->num_bytes;
  ppi_free(gone);
}

void ppi_held_clear(ppi_held *held) {
  while (held->first) ppi_held_drop(held);
}
