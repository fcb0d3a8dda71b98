// SPDX-License-Identifier: Apache-2.0
//
// Numbers the names and threads of a run from its definitions.
#include "report/table/table_ids.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "event/recorded_wait.h"

static uint32_t *slot_of(ppi_table_list *list, uint32_t id) {
  if (id < list->num) return &list->items[id];
  uint32_t *grown =
      ppi_grow(list->items, &list->capacity, (size_t)id + 1, sizeof *grown);
  if (!grown) return NULL;
  memset(grown + list->num, 0, (id + 1 - list->num) * sizeof *grown);
  list->items = grown;
  list->num = (size_t)id + 1;
  return &grown[id];
}

static size_t add_name(ppi_table_ids *ids, uint32_t category,
                       const char *text) {
  char place[16];
  snprintf(place, sizeof place, "%u", category);
  size_t number =
      ppi_map_number(&ids->known_names, ppi_map_key_of(place, text));
  if (number == SIZE_MAX || number < ids->num_names) return number;
  if (!PPI_ROOM(ids->names, ids->names_capacity, ids->num_names + 1))
    return SIZE_MAX;
  ids->names[number] = (ppi_table_name){ppi_strdup(text), category, 0, 0};
  if (!ids->names[number].text) return SIZE_MAX;
  return ids->num_names++;
}

static pprof_status define_site(ppi_table_ids *ids,
                                const pprof_definition *definition) {
  uint32_t *slot = slot_of(&ids->sites, definition->id);
  size_t number = add_name(ids, definition->parent, definition->name);
  if (!slot || number == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  *slot = (uint32_t)number + 1;
  uint64_t into = definition->number;
  if (into && into < PPI_MAX_ID && into != definition->id)
    ids->names[number].folds_into = (uint32_t)into;
  return PPROF_STATUS_OK;
}

// Lanes of one thread share a row; a lane without a thread has its own.
static size_t add_thread(ppi_table_ids *ids, uint32_t lane, uint64_t number,
                         const char *name) {
  ppi_map_key key = {number ? 0 : 1, number ? number : lane};
  size_t index = ppi_map_number(&ids->known_threads, key);
  if (index == SIZE_MAX) return index;
  if (index == ids->num_threads) {
    if (!PPI_ROOM(ids->threads, ids->threads_capacity, index + 1))
      return SIZE_MAX;
    ids->threads[index] = (ppi_table_thread){.number = number};
    ids->num_threads++;
  }
  char *copy = ppi_strdup(name);
  if (!copy) return SIZE_MAX;
  ppi_free(ids->threads[index].name);
  ids->threads[index].name = copy;
  return index;
}

static pprof_status define_lane(ppi_table_ids *ids,
                                const pprof_definition *definition) {
  uint32_t *slot = slot_of(&ids->lanes, definition->id);
  size_t number =
      add_thread(ids, definition->id, definition->number, definition->name);
  if (!slot || number == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  *slot = (uint32_t)number + 1;
  return PPROF_STATUS_OK;
}

static pprof_status define_device(ppi_table_ids *ids,
                                  const pprof_definition *definition) {
  size_t need = (size_t)definition->id + 1;
  char *copy = ppi_strdup(definition->name);
  char **grown =
      ppi_grow(ids->devices, &ids->devices_capacity, need, sizeof *grown);
  if (grown) ids->devices = grown;
  if (!grown || !copy) {
    ppi_free(copy);
    return PPROF_STATUS_NO_MEMORY;
  }
  for (; ids->num_devices < need; ids->num_devices++)
    grown[ids->num_devices] = NULL;
  ppi_free(grown[definition->id]);
  grown[definition->id] = copy;
  return PPROF_STATUS_OK;
}

pprof_status ppi_table_ids_define(ppi_table_ids *ids,
                                  const pprof_definition *definition) {
  if (definition->id >= PPI_MAX_ID || definition->parent >= PPI_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  switch (definition->kind) {
    case PPROF_DEFINITION_SITE:
      return define_site(ids, definition);
    case PPROF_DEFINITION_LANE:
      return define_lane(ids, definition);
    case PPROF_DEFINITION_DEVICE:
      return define_device(ids, definition);
    case PPROF_DEFINITION_STREAM: {
      uint32_t *slot = slot_of(&ids->streams, definition->id);
      if (!slot) return PPROF_STATUS_NO_MEMORY;
      *slot = definition->parent;
      return PPROF_STATUS_OK;
    }
    default:
      return PPROF_STATUS_OK;
  }
}

size_t ppi_table_ids_new_name(ppi_table_ids *ids, uint32_t site) {
  char text[32];
  snprintf(text, sizeof text, "<site %u>", site);
  const pprof_definition unknown = {
      .kind = PPROF_DEFINITION_SITE, .id = site, .name = text};
  return ppi_table_ids_define(ids, &unknown) == PPROF_STATUS_OK
             ? ids->sites.items[site] - 1
             : SIZE_MAX;
}

size_t ppi_table_ids_new_thread(ppi_table_ids *ids, uint32_t lane) {
  const pprof_definition unknown = {
      .kind = PPROF_DEFINITION_LANE, .id = lane, .name = ""};
  return ppi_table_ids_define(ids, &unknown) == PPROF_STATUS_OK
             ? ids->lanes.items[lane] - 1
             : SIZE_MAX;
}

size_t ppi_table_ids_wait(ppi_table_ids *ids, size_t name, uint64_t how,
                          uint64_t in) {
  char text[PPI_WAIT_ROW];
  if (!in || in >= ids->sites.num || !ids->sites.items[in]) return name;
  ppi_wait_row(ids->names[name].text, how,
               ids->names[ids->sites.items[in] - 1].text, text);
  size_t number = add_name(ids, ids->names[name].category, text);
  if (number != SIZE_MAX) ids->names[number].waits_as = (uint32_t)name + 1;
  return number;
}

// A damaged log may fold names in a circle.
uint32_t ppi_table_ids_folded(const ppi_table_ids *ids, uint32_t name) {
  enum { MOST_FOLDS = 16 };
  if (ids->names[name].waits_as) name = ids->names[name].waits_as - 1;
  for (int i = 0; i < MOST_FOLDS; i++) {
    uint32_t site = ids->names[name].folds_into;
    if (!site || site >= ids->sites.num || !ids->sites.items[site]) break;
    name = ids->sites.items[site] - 1;
  }
  return name;
}

uint32_t ppi_table_ids_device(const ppi_table_ids *ids, uint32_t stream) {
  return stream < ids->streams.num ? ids->streams.items[stream] : 0;
}

const char *ppi_table_ids_device_name(const ppi_table_ids *ids,
                                      uint32_t device) {
  return device < ids->num_devices ? ids->devices[device] : NULL;
}

void ppi_table_ids_clear(ppi_table_ids *ids) {
  for (size_t i = 0; i < ids->num_names; i++) ppi_free(ids->names[i].text);
  for (size_t i = 0; i < ids->num_threads; i++) ppi_free(ids->threads[i].name);
  for (size_t i = 0; i < ids->num_devices; i++) ppi_free(ids->devices[i]);
  ppi_free(ids->names);
  ppi_free(ids->threads);
  ppi_free(ids->devices);
  ppi_map_clear(&ids->known_names);
  ppi_map_clear(&ids->known_threads);
  ppi_free(ids->sites.items);
  ppi_free(ids->lanes.items);
  ppi_free(ids->streams.items);
  *ids = (ppi_table_ids){0};
}
