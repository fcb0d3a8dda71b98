// SPDX-License-Identifier: Apache-2.0
//
// Definitions, windows and lookups of a run that is being delivered.
#include "report/run/run.h"

#include <stdio.h>
#include <string.h>

#include "base/base_impl.h"
#include "base/mem.h"

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
  if (id < table->num && table->items[id]) return table->items[id];
  if (id >= table->num) {
    void **grown =
        ppi_grow(table->items, &table->capacity, (size_t)id + 1, sizeof *grown);
    if (!grown) return NULL;
    table->items = grown;
    memset(grown + table->num, 0, (id + 1 - table->num) * sizeof *grown);
    table->num = (size_t)id + 1;
  }
  return table->items[id] = ppi_alloc(item_size);
}

static void *item_at(ppi_run_table *table, uint32_t id, size_t item_size) {
  return id < PPI_RUN_MAX_ID ? item_in(table, id, item_size) : NULL;
}

static bool set_name(char **name, const char *text) {
  if (*name && strcmp(*name, text) == 0) return true;
  char *copy = ppi_strdup(text);
  if (!copy) return false;
  ppi_free(*name);
  *name = copy;
  return true;
}

// A record may name what no definition told of, in a damaged log: it gets a
// name that says so.
static bool name_unknown(char **name, const char *what, uint32_t id) {
  if (*name) return true;
  char text[32];
  snprintf(text, sizeof text, "<%s %u>", what, id);
  return set_name(name, text);
}

ppi_run_category *ppi_run_category_at(ppi_run *run, uint32_t id) {
  ppi_run_category *category = item_at(&run->categories, id, sizeof *category);
  if (category && !name_unknown(&category->name, "category", id)) return NULL;
  return category;
}

// Nobody needs to have defined it: a flag makes ranges communication.
ppi_run_category *ppi_run_communication(ppi_run *run) {
  uint32_t id = PPROF_CATEGORY_COMMUNICATION;
  ppi_run_category *category = item_at(&run->categories, id, sizeof *category);
  if (category && !category->name &&
      !set_name(&category->name, "Communication"))
    return NULL;
  return category;
}

ppi_run_site *ppi_run_site_at(ppi_run *run, uint32_t id) {
  ppi_run_site *site = id < run->sites.num ? run->sites.items[id] : NULL;
  if (!site) site = item_at(&run->sites, id, sizeof *site);
  if (!site || site->place) return site;
  if (!name_unknown(&site->name, "site", id)) return NULL;
  site->traits = traits_of(site->category, site->name);
  ppi_run_category *place = ppi_run_category_at(run, site->category);
  ppi_run_mark *marks =
      ppi_grow(run->marks, &run->marks_capacity, run->sites.num, sizeof *marks);
  if (marks) run->marks = marks;
  if (!place || !marks) return NULL;
  marks[id] = (ppi_run_mark){place, site->traits};
  site->place = place;
  return site;
}

ppi_run_site *ppi_run_new_site(ppi_run *run, uint32_t number, uint32_t category,
                               const char *name) {
  ppi_run_site *site = item_in(&run->sites, number, sizeof *site);
  if (!site || !set_name(&site->name, name)) return NULL;
  site->category = category;
  site->is_defined = true;
  return ppi_run_site_at(run, number);
}

static pprof_status copy_steps(ppi_run *run, ppi_run_device *device) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->steps.num_steps; i++) {
    const ppi_identity_step *step = &run->steps.steps[i];
    if (status == PPROF_STATUS_OK)
      status = ppi_identity_step_at(&device->identity, step->key,
                                    step->start_ns, step->end_ns);
  }
  return status;
}

ppi_run_device *ppi_run_device_at(ppi_run *run, uint32_t id) {
  ppi_run_device *device = item_at(&run->devices, id, sizeof *device);
  if (!device || device->name) return device;
  if (!name_unknown(&device->name, "device", id)) return NULL;
  return copy_steps(run, device) == PPROF_STATUS_OK ? device : NULL;
}

uint32_t ppi_run_device_id(const ppi_run *run, uint32_t stream) {
  if (stream >= run->streams.num || !run->streams.items[stream]) return 0;
  return ((const ppi_run_stream *)run->streams.items[stream])->device;
}

ppi_run_device *ppi_run_device_of(ppi_run *run, uint32_t stream) {
  return ppi_run_device_at(run, ppi_run_device_id(run, stream));
}

ppi_run_thread *ppi_run_process(ppi_run *run) {
  return ppi_run_thread_at(run, 0);
}

ppi_run_lane *ppi_run_lane_slot(ppi_run *run, uint32_t id) {
  return item_at(&run->lanes, id, sizeof(ppi_run_lane));
}

// A lane without a definition counts as a thread of its own.
ppi_run_lane *ppi_run_lane_at(ppi_run *run, uint32_t id) {
  ppi_run_lane *lane = ppi_run_lane_slot(run, id);
  if (!lane || lane->thread) return lane;
  lane->id = id;
  if (!lane->is_defined) lane->number = id ? (uint64_t)1 << 63 | id : 0;
  lane->thread = ppi_run_thread_at(run, lane->number);
  if (!lane->thread) return NULL;
  lane->thread->num_lanes++;
  return lane;
}

static pprof_status define_named(char **name, const char *text) {
  return set_name(name, text) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static pprof_status define_site(ppi_run *run,
                                const pprof_definition *definition) {
  uint32_t id = definition->id;
  ppi_run_site *site = item_at(&run->sites, id, sizeof *site);
  if (!site) return PPROF_STATUS_NO_MEMORY;
  bool is_used = site->place;
  site->category = definition->parent;
  site->place = NULL;
  site->is_defined = true;
  pprof_status status = define_named(&site->name, definition->name);
  // Ranges that wait for their checkpoint go by its place.
  if (status != PPROF_STATUS_OK || !is_used) return status;
  return ppi_run_site_at(run, id) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition) {
  uint32_t id = definition->id;
  if (id >= PPI_RUN_MAX_ID || definition->parent >= PPI_RUN_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  switch (definition->kind) {
    case PPROF_DEFINITION_SITE:
      return ppi_run_site_is_another(run, definition)
                 ? ppi_run_label_site(run, definition)
                 : define_site(run, definition);
    case PPROF_DEFINITION_CATEGORY: {
      ppi_run_category *category =
          item_at(&run->categories, id, sizeof *category);
      if (!category) return PPROF_STATUS_NO_MEMORY;
      return define_named(&category->name, definition->name);
    }
    case PPROF_DEFINITION_LANE:
      return ppi_run_lane_defined(run, id, definition->number);
    case PPROF_DEFINITION_DEVICE: {
      ppi_run_device *device = ppi_run_device_at(run, id);
      if (!device) return PPROF_STATUS_NO_MEMORY;
      return define_named(&device->name, definition->name);
    }
    case PPROF_DEFINITION_STREAM: {
      ppi_run_stream *stream = item_at(&run->streams, id, sizeof *stream);
      if (!stream) return PPROF_STATUS_NO_MEMORY;
      stream->device = definition->parent;
      return PPROF_STATUS_OK;
    }
    case PPROF_DEFINITION_ATTRIBUTES:
      break;
  }
  return PPROF_STATUS_OK;
}

static bool copy_text(char **out, const pprof_run_info *info, const char *key) {
  const char *text = pprof_run_info_text(info, key);
  *out = ppi_strdup(text ? text : "");
  return *out != NULL;
}

pprof_status ppi_run_begin(ppi_run *run, const pprof_run_info *info) {
  bool copied = copy_text(&run->input.uuid, info, "uuid") &&
                copy_text(&run->input.host, info, "host") &&
                copy_text(&run->input.pid, info, "pid");
  return copied ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static void insert_window(ppi_run *run, uint32_t index, uint64_t time_ns) {
  size_t at = run->windows.num;
  while (at > 0 && run->windows.items[at - 1].start_ns > time_ns) at--;
  size_t behind = run->windows.num - at;
  memmove(run->windows.items + at + 1, run->windows.items + at,
          behind * sizeof *run->windows.items);
  memmove(run->window_indexes + at + 1, run->window_indexes + at,
          behind * sizeof *run->window_indexes);
  run->windows.num++;
  run->windows.items[at] = (ppi_span){time_ns, UINT64_MAX};
  run->window_indexes[at] = index;
}

pprof_status ppi_run_window(ppi_run *run, uint32_t index, bool opens,
                            uint64_t time_ns) {
  size_t at = run->windows.num;
  run->last_ns = PPI_MAX(run->last_ns, time_ns);
  while (at > 0 && run->window_indexes[at - 1] != index) at--;
  if (at > 0) {
    ppi_span *window = &run->windows.items[at - 1];
    if (opens) return PPROF_STATUS_OK;
    window->end_ns = PPI_MAX(time_ns, window->start_ns);
    return PPROF_STATUS_OK;
  }
  if (!opens) return PPROF_STATUS_OK;
  ppi_span *grown = ppi_grow(run->windows.items, &run->windows.capacity,
                             run->windows.num + 1, sizeof *grown);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  run->windows.items = grown;
  uint32_t *indexes =
      ppi_grow(run->window_indexes, &run->window_indexes_capacity,
               run->windows.num + 1, sizeof *indexes);
  if (!indexes) return PPROF_STATUS_NO_MEMORY;
  run->window_indexes = indexes;
  insert_window(run, index, time_ns);
  return PPROF_STATUS_OK;
}

static void clear_items(ppi_run *run) {
  for (size_t i = 0; i < run->categories.num; i++) {
    ppi_run_category *category = run->categories.items[i];
    if (!category) continue;
    ppi_free(category->name);
    ppi_union_clear(&category->host);
    ppi_union_clear(&category->device);
  }
  for (size_t i = 0; i < run->sites.num; i++) {
    ppi_run_site *site = run->sites.items[i];
    if (!site) continue;
    ppi_free(site->name);
    ppi_histogram_clear(&site->row.host_times);
    ppi_histogram_clear(&site->device_times);
    ppi_messages_clear(&site->messages);
    ppi_early_clear(&site->host_early);
    ppi_early_clear(&site->device_early);
  }
  for (size_t i = 0; i < run->devices.num; i++) {
    ppi_run_device *device = run->devices.items[i];
    if (!device) continue;
    ppi_free(device->name);
    ppi_identity_clear(&device->identity);
  }
}

static void clear_table(ppi_run_table *table) {
  for (size_t i = 0; i < table->num; i++) ppi_free(table->items[i]);
  ppi_free(table->items);
}

void ppi_run_clear(ppi_run *run) {
  clear_items(run);
  ppi_run_clear_threads(run);
  clear_table(&run->categories);
  clear_table(&run->sites);
  ppi_run_clear_labels(run);
  ppi_free(run->marks);
  clear_table(&run->lanes);
  clear_table(&run->devices);
  clear_table(&run->streams);
  for (size_t i = 0; i < run->num_queues; i++)
    ppi_queue_clear(&run->queues[i].sums);
  ppi_run_clear_pairs(run);
  ppi_run_clear_details(run);
  ppi_distribution_clear(&run->distribution);
  ppi_interference_clear(&run->interference);
  ppi_requests_clear(&run->requests);
  ppi_memory_clear(&run->memory);
  ppi_perf_clear(&run->perf);
  ppi_free(run->held_steps.items);
  ppi_free(run->borders.times_ns);
  ppi_free(run->queues);
  ppi_free(run->work);
  ppi_free(run->listed);
  ppi_free(run->windows.items);
  ppi_free(run->window_indexes);
  ppi_identity_clear(&run->steps);
  ppi_free(run->input.uuid);
  ppi_free(run->input.host);
  ppi_free(run->input.pid);
  *run = (ppi_run){0};
}
