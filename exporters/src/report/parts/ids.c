// SPDX-License-Identifier: Apache-2.0
//
// Looks up categories, sites, devices and streams of a run by id.
#include "report/parts/ids.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/spans/distribution.h"

static const uint32_t phase_categories[PPI_NUM_PHASES] = {
    [PPI_PHASE_PROFILE_STEP] = PPROF_CATEGORY_PROFILE_STEP,
    [PPI_PHASE_DATALOADER] = PPROF_CATEGORY_DATALOADER,
    [PPI_PHASE_FORWARD] = PPROF_CATEGORY_FORWARD,
    [PPI_PHASE_BACKWARD] = PPROF_CATEGORY_BACKWARD,
    [PPI_PHASE_OPTIMIZATION] = PPROF_CATEGORY_OPTIMIZATION,
    [PPI_PHASE_PREPROCESS] = PPROF_CATEGORY_PREPROCESS,
    [PPI_PHASE_INFERENCE] = PPROF_CATEGORY_INFERENCE,
    [PPI_PHASE_POSTPROCESS] = PPROF_CATEGORY_POSTPROCESS,
    [PPI_PHASE_CPU_TASK] = PPROF_CATEGORY_CPU_TASK,
};

int ppi_phase_of(uint32_t category) {
  for (int i = 0; i < PPI_NUM_PHASES; i++)
    if (phase_categories[i] == category) return i;
  return -1;
}

bool ppi_memory_can_own(uint32_t category) {
  return category != PPROF_CATEGORY_OPERATOR_INNER &&
         category != PPROF_CATEGORY_RUNTIME &&
         category != PPROF_CATEGORY_PYTHON_OP;
}

static uint32_t traits_of(uint32_t category, const char *name) {
  uint32_t traits = 0;
  int phase = ppi_phase_of(category);
  if (phase > PPI_PHASE_PROFILE_STEP) traits |= PPI_TRAIT_PHASE;
  if (phase == PPI_PHASE_PROFILE_STEP) traits |= PPI_TRAIT_STEP;
  if (phase == PPI_PHASE_DATALOADER) traits |= PPI_TRAIT_DATALOADER;
  if (category == PPROF_CATEGORY_COMMUNICATION)
    traits |= PPI_TRAIT_COMMUNICATION;
  if (category == PPROF_CATEGORY_RUNTIME) traits |= PPI_TRAIT_RUNTIME;
  if (category == PPROF_CATEGORY_OPERATOR) traits |= PPI_TRAIT_OPERATOR;
  if (ppi_memory_can_own(category)) traits |= PPI_TRAIT_OWNS_MEMORY;
  if (ppi_paddle_communicates(category, name))
    traits |= PPI_TRAIT_PADDLE_COMMUNICATION;
  return traits;
}

static void *item_in(ppi_run_table *table, uint32_t id, size_t item_size) {
  if (!PPI_REACH(table->items, table->num, table->capacity, (size_t)id + 1))
    return NULL;
  if (!table->items[id]) table->items[id] = ppi_alloc(item_size);
  return table->items[id];
}

void *ppi_run_item_at(ppi_run_table *table, uint32_t id, size_t item_size) {
  return id < PPI_RUN_MAX_ID ? item_in(table, id, item_size) : NULL;
}

// In a damaged log an event may have an undefined id, which gets a placeholder
// name.
static bool name_unknown(char **name, const char *what, uint32_t id) {
  if (*name) return true;
  char text[32];
  snprintf(text, sizeof text, "<%s %u>", what, id);
  return ppi_set_text(name, text);
}

ppi_run_category *ppi_run_category_at(ppi_run_ids *ids, uint32_t id) {
  ppi_run_category *category =
      ppi_run_item_at(&ids->categories, id, sizeof *category);
  if (category && !name_unknown(&category->name, "category", id)) return NULL;
  return category;
}

// The category may lack a definition: a flag makes ranges communication.
ppi_run_category *ppi_run_communication(ppi_run_ids *ids) {
  uint32_t id = PPROF_CATEGORY_COMMUNICATION;
  ppi_run_category *category =
      ppi_run_item_at(&ids->categories, id, sizeof *category);
  if (category && !category->name &&
      !ppi_set_text(&category->name, "Communication"))
    return NULL;
  return category;
}

ppi_run_site *ppi_run_site_at(ppi_run_ids *ids, uint32_t id) {
  ppi_run_site *site = id < ids->sites.num ? ids->sites.items[id] : NULL;
  if (!site) site = ppi_run_item_at(&ids->sites, id, sizeof *site);
  if (!site || site->place) return site;
  if (!name_unknown(&site->name, "site", id)) return NULL;
  site->traits = traits_of(site->category, site->name);
  ppi_run_category *place = ppi_run_category_at(ids, site->category);
  if (!place || !PPI_ROOM(ids->marks, ids->marks_capacity, ids->sites.num))
    return NULL;
  ids->marks[id] = (ppi_run_mark){place, site->traits, site->category};
  ids->num_marked++;
  site->place = place;
  return site;
}

ppi_run_site *ppi_run_new_site(ppi_run_ids *ids, uint32_t number,
                               uint32_t category, const char *name) {
  ppi_run_site *site = item_in(&ids->sites, number, sizeof *site);
  if (!site || !ppi_set_text(&site->name, name)) return NULL;
  site->category = category;
  site->is_defined = true;
  return ppi_run_site_at(ids, number);
}

static bool copy_steps(ppi_run_ids *ids, ppi_run_device *device) {
  bool done = true;
  for (size_t i = 0; i < ids->steps.num_steps; i++) {
    const ppi_identity_step *step = &ids->steps.steps[i];
    done = done && ppi_identity_step_at(&device->identity, step->key,
                                        step->start_ns, step->end_ns);
  }
  return done;
}

ppi_run_device *ppi_run_device_at(ppi_run_ids *ids, uint32_t id) {
  ppi_run_device *device = ppi_run_item_at(&ids->devices, id, sizeof *device);
  if (!device || device->name) return device;
  if (!name_unknown(&device->name, "device", id)) return NULL;
  return copy_steps(ids, device) ? device : NULL;
}

uint32_t ppi_run_device_id(const ppi_run_ids *ids, uint32_t stream) {
  if (stream >= ids->streams.num || !ids->streams.items[stream]) return 0;
  return ((const ppi_run_stream *)ids->streams.items[stream])->device;
}

ppi_run_device *ppi_run_device_of(ppi_run_ids *ids, uint32_t stream) {
  return ppi_run_device_at(ids, ppi_run_device_id(ids, stream));
}

// A paired range counts its time under its own name only.
const ppi_spread *ppi_run_for_names(const ppi_run_ids *ids,
                                    const ppi_device_spreads *spreads) {
  return ids->has_kernels ? &spreads->general : &spreads->unpaired;
}

ppi_spread ppi_run_inside(const ppi_run_ids *ids, ppi_run_row *row) {
  ppi_spread inside = row->own;
  if (!row->is_sum) ppi_device_spreads_complete(&row->inside, &row->host);
  if (!row->has_pairs)
    ppi_spread_merge(&inside, ppi_run_for_names(ids, &row->inside));
  return inside;
}

uint32_t ppi_portable_category(uint32_t category) {
  return category < PPROF_CATEGORY_FIRST_REGISTERED ? category
                                                    : PPI_CATEGORY_REGISTERED;
}

static void clear_items(ppi_run_ids *ids) {
  for (size_t i = 0; i < ids->categories.num; i++) {
    ppi_run_category *category = ids->categories.items[i];
    if (!category) continue;
    ppi_free(category->name);
    ppi_union_clear(&category->host);
    ppi_union_clear(&category->device);
  }
  for (size_t i = 0; i < ids->sites.num; i++) {
    ppi_run_site *site = ids->sites.items[i];
    if (!site) continue;
    ppi_free(site->name);
    ppi_histogram_clear(&site->row.host_times);
    ppi_histogram_clear(&site->device_times);
    ppi_messages_clear(&site->messages);
    ppi_histogram_clear(&site->sizes);
    ppi_first_calls_clear(&site->host_first_calls);
    ppi_first_calls_clear(&site->device_first_calls);
  }
  for (size_t i = 0; i < ids->devices.num; i++) {
    ppi_run_device *device = ids->devices.items[i];
    if (!device) continue;
    ppi_free(device->name);
    ppi_identity_clear(&device->identity);
  }
}

static void clear_table(ppi_run_table *table) {
  for (size_t i = 0; i < table->num; i++) ppi_free(table->items[i]);
  ppi_free(table->items);
}

void ppi_run_clear_ids(ppi_run_ids *ids) {
  clear_items(ids);
  clear_table(&ids->categories);
  clear_table(&ids->sites);
  ppi_free(ids->marks);
  clear_table(&ids->lanes);
  clear_table(&ids->devices);
  clear_table(&ids->streams);
  ppi_identity_clear(&ids->steps);
  PPI_FREE_ALL(ids->input.uuid, ids->input.host, ids->input.pid,
               ids->input.command, ids->input.rank, ids->input.config);
}
