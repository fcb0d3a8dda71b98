// SPDX-License-Identifier: Apache-2.0
//
// Names and threads of a run, by the definitions that came so far.
#pragma once

#include "base/map.h"
#include "event/event.h"

PPROF_BEGIN_C_

typedef struct ppi_table_name {
  char *text;
  uint32_t category;
  uint32_t folds_into;  // a site's id; 0: none
  uint32_t waits_as;    // of a wait with its ender: the name without it, + 1
  uint32_t waits_by;    // the ender's name, + 1
} ppi_table_name;

typedef struct ppi_table_thread {
  uint64_t number;  // of the operating system; 0: not a thread
  char *name;       // the latest
} ppi_table_thread;

typedef struct ppi_table_list {
  uint32_t *items;  // numbers + 1, by id; 0: not defined
  size_t num, capacity;
} ppi_table_list;

// All zero is the empty one.
typedef struct ppi_table_ids {
  ppi_table_name *names;
  size_t num_names, names_capacity;
  ppi_table_thread *threads;
  size_t num_threads, threads_capacity;
  ppi_map known_names, known_threads, known_waits;
  uint32_t *waits;  // names of waits with their enders, by known_waits
  size_t num_waits, waits_capacity;
  ppi_table_list sites, lanes, streams;
  char **devices;  // names, by id
  size_t num_devices, devices_capacity;
} ppi_table_ids;

pprof_status ppi_table_ids_define(ppi_table_ids *ids,
                                  const pprof_definition *definition);
// The number of a name, which is added if it is missing. SIZE_MAX: out of
// memory.
size_t ppi_table_ids_add(ppi_table_ids *ids, uint32_t category,
                         const char *text);
bool ppi_table_ids_has(const ppi_table_ids *ids, uint32_t category,
                       const char *text);
// The number of an event's site or lane by its current definition. An undefined
// one gets a placeholder name. SIZE_MAX: out of memory.
size_t ppi_table_ids_new_name(ppi_table_ids *ids, uint32_t site);
size_t ppi_table_ids_new_thread(ppi_table_ids *ids, uint32_t lane);
static inline size_t ppi_table_ids_name(ppi_table_ids *ids, uint32_t site) {
  if (site < ids->sites.num && ids->sites.items[site])
    return ids->sites.items[site] - 1;
  return ppi_table_ids_new_name(ids, site);
}
static inline size_t ppi_table_ids_thread(ppi_table_ids *ids, uint32_t lane) {
  if (lane < ids->lanes.num && ids->lanes.items[lane])
    return ids->lanes.items[lane] - 1;
  return ppi_table_ids_new_thread(ids, lane);
}
// The name of waits called `name` that the range of site `in` ended. SIZE_MAX:
// out of memory.
size_t ppi_table_ids_wait(ppi_table_ids *ids, size_t name, uint64_t how,
                          uint64_t in);
// The name that `name` folds into, by all definitions so far; or itself.
uint32_t ppi_table_ids_folded(const ppi_table_ids *ids, uint32_t name);
uint32_t ppi_table_ids_device(const ppi_table_ids *ids, uint32_t stream);
// NULL: no device is defined by that id.
const char *ppi_table_ids_device_name(const ppi_table_ids *ids,
                                      uint32_t device);
void ppi_table_ids_clear(ppi_table_ids *ids);

PPROF_END_C_
