// SPDX-License-Identifier: Apache-2.0
//
// Copies a batch with everything that its events borrow, in one piece of
// memory: events, work amounts, use of CPU, numbers, requests.
#include "event/buffered.h"

#include <string.h>

#include "base/mem.h"

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

bool ppi_buffered_put(ppi_buffered *buffered, const pprof_batch *batch,
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

bool ppi_buffered_define(ppi_buffered *buffered,
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

ppi_buffered_view ppi_buffered_first(const ppi_buffered *buffered) {
  const ppi_buffered_item *first = buffered->first;
  if (!first) return (ppi_buffered_view){NULL, NULL};
  if (first->is_definition)
    return (ppi_buffered_view){NULL, &first->definition};
  return (ppi_buffered_view){&first->batch, NULL};
}

void ppi_buffered_drop(ppi_buffered *buffered) {
  ppi_buffered_item *gone = buffered->first;
  buffered->first = gone->next;
  if (buffered->last_batch == gone) buffered->last_batch = NULL;
  buffered->num_bytes -= gone->num_bytes;
  ppi_free(gone);
}

void ppi_buffered_clear(ppi_buffered *buffered) {
  while (buffered->first) ppi_buffered_drop(buffered);
}
