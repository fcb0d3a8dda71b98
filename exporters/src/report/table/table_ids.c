// SPDX-License-Identifier: Apache-2.0
//
// Looks names and threads up by the ids of their definitions.
#include "report/table/table_ids.h"

#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/recorded_wait.h"

static uint32_t *slot_of(ppi_table_list *list, uint32_t id) {
  return PPI_REACH(list->items, list->num, list->capacity, (size_t)id + 1)
             ? &list->items[id]
             : NULL;
}

static ppi_map_key key_of(uint32_t category, const char *text) {
  char place[16];
  snprintf(place, sizeof place, "%u", category);
  return ppi_map_key_of(place, text);
}

bool ppi_table_ids_has(const ppi_table_ids *ids, uint32_t category,
                       const char *text) {
  return ppi_map_find(&ids->known_names, key_of(category, text)) != SIZE_MAX;
}

size_t ppi_table_ids_add(ppi_table_ids *ids, uint32_t category,
                         const char *text) {
  size_t number = ppi_map_number(&ids->known_names, key_of(category, text));
  if (number == SIZE_MAX || number < ids->num_names) return number;
  ppi_table_name name = {.text = ppi_strdup(text), .category = category};
  return name.text &&
                 PPI_PUSH(ids->names, ids->num_names, ids->names_capacity, name)
             ? number
             : SIZE_MAX;
}

static bool define_site(ppi_table_ids *ids,
                        const pprof_definition *definition) {
  uint32_t *slot = slot_of(&ids->sites, definition->id);
  size_t number = ppi_table_ids_add(ids, definition->parent, definition->name);
  if (!slot || number == SIZE_MAX) return false;
  *slot = (uint32_t)number + 1;
  uint64_t into = definition->number;
  if (into && into < PPI_MAX_ID && into != definition->id)
    ids->names[number].folds_into = (uint32_t)into;
  return true;
}

// Whether it is `name` with a domain behind it: "python [NCCL]".
static bool has_domain(const char *with, const char *name) {
  size_t len = name ? strlen(name) : 0;
  return len && strncmp(with, name, len) == 0 &&
         strncmp(with + len, " [", 2) == 0;
}

// Lanes of one thread share a row; a lane without a thread has its own.
static size_t add_thread(ppi_table_ids *ids, uint32_t lane, uint64_t number,
                         const char *name) {
  ppi_map_key key = {number ? 0 : 1, number ? number : lane};
  size_t index = ppi_map_number(&ids->known_threads, key);
  if (index == SIZE_MAX) return index;
  if (!PPI_REACH(ids->threads, ids->num_threads, ids->threads_capacity,
                 index + 1))
    return SIZE_MAX;
  ids->threads[index].number = number;
  if (name && has_domain(name, ids->threads[index].name)) return index;
  return ppi_set_text(&ids->threads[index].name, name) ? index : SIZE_MAX;
}

static bool define_lane(ppi_table_ids *ids,
                        const pprof_definition *definition) {
  uint32_t *slot = slot_of(&ids->lanes, definition->id);
  size_t number =
      add_thread(ids, definition->id, definition->number, definition->name);
  if (!slot || number == SIZE_MAX) return false;
  *slot = (uint32_t)number + 1;
  return true;
}

static bool define_device(ppi_table_ids *ids,
                          const pprof_definition *definition) {
  return PPI_REACH(ids->devices, ids->num_devices, ids->devices_capacity,
                   (size_t)definition->id + 1) &&
         ppi_set_text(&ids->devices[definition->id], definition->name);
}

static bool define(ppi_table_ids *ids, const pprof_definition *definition) {
  switch (definition->kind) {
    case PPROF_DEFINITION_SITE:
      return define_site(ids, definition);
    case PPROF_DEFINITION_LANE:
      return define_lane(ids, definition);
    case PPROF_DEFINITION_DEVICE:
      return define_device(ids, definition);
    case PPROF_DEFINITION_STREAM: {
      uint32_t *slot = slot_of(&ids->streams, definition->id);
      if (slot) *slot = definition->parent;
      return slot;
    }
    default:
      return true;
  }
}

pprof_status ppi_table_ids_define(ppi_table_ids *ids,
                                  const pprof_definition *definition) {
  if (definition->id >= PPI_MAX_ID || definition->parent >= PPI_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  return define(ids, definition) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
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
  size_t by = ids->sites.items[in] - 1;
  const ppi_map_key key = {name << 32 | by, ppi_wait_has_holder(how)};
  size_t at = ppi_map_number(&ids->known_waits, key);
  if (at < ids->num_waits) return ids->waits[at];
  ppi_wait_row(ids->names[name].text, how, ids->names[by].text, text);
  size_t number = ppi_table_ids_add(ids, ids->names[name].category, text);
  if (at == SIZE_MAX || number == SIZE_MAX) return SIZE_MAX;
  ids->names[number].waits_as = (uint32_t)name + 1;
  ids->names[number].waits_by = (uint32_t)by + 1;
  return PPI_PUSH(ids->waits, ids->num_waits, ids->waits_capacity,
                  (uint32_t)number)
             ? number
             : SIZE_MAX;
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
  PPI_FREE_ALL(ids->names, ids->threads, ids->devices);
  ppi_map_clear(&ids->known_names);
  ppi_map_clear(&ids->known_threads);
  ppi_map_clear(&ids->known_waits);
  PPI_FREE_ALL(ids->waits, ids->sites.items, ids->lanes.items,
               ids->streams.items);
  *ids = (ppi_table_ids){0};
}
