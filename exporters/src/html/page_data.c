// SPDX-License-Identifier: Apache-2.0
//
// Maps a run's ids to the picture's numbers of stages and rows. A run may use
// an id again; a number of the picture belongs to one name.
#include "html/page_data.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static bool set_id(ppi_picture_ids *ids, uint32_t id, uint32_t number) {
  if (id >= PPI_MAX_ID) return true;
  if (!PPI_REACH(ids->items, ids->num, ids->capacity, (size_t)id + 1))
    return false;
  ids->items[id] = number + 1;
  return true;
}

static uint32_t id_of(const ppi_picture_ids *ids, uint32_t id) {
  return id < ids->num && ids->items[id] ? ids->items[id] - 1 : PPI_SEEN_NONE;
}

static bool set_text(char **text, const char *to) {
  char *copy = ppi_strdup(to);
  if (!copy) return false;
  ppi_free(*text);
  *text = copy;
  return true;
}

// ---- runs ----

static bool note_run(ppi_picture *picture, const pprof_run_info *info) {
  if (!PPI_ROOM(picture->runs, picture->runs_capacity, picture->num_runs + 1))
    return false;
  ppi_picture_run *run = &picture->runs[picture->num_runs];
  *run = (ppi_picture_run){.first_ns = UINT64_MAX};
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  const char *uuid = pprof_run_info_text(info, "uuid");
  const char *host = pprof_run_info_text(info, "host");
  const char *pid = pprof_run_info_text(info, "pid");
  snprintf(run->uuid, sizeof run->uuid, "%s", uuid ? uuid : "");
  if (base) run->base_ns = strtoull(base, NULL, 10);
  run->host = ppi_strdup(host ? host : "");
  run->pid = ppi_strdup(pid ? pid : "");
  picture->num_runs++;
  return run->host && run->pid;
}

pprof_status ppi_page_data_begin(ppi_picture *picture,
                                 const pprof_run_info *info) {
  ppi_page_data_clear_run(picture);
  if (picture->at_run++ < picture->num_runs) return PPROF_STATUS_OK;
  return note_run(picture, info) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// ---- definitions ----

static bool set_category(ppi_picture *picture, uint32_t id, const char *name) {
  if (id >= PPI_MAX_ID) return true;
  if (!PPI_REACH(picture->categories, picture->num_categories,
                 picture->categories_capacity, (size_t)id + 1))
    return false;
  return set_text(&picture->categories[id], name);
}

static bool note_stage(ppi_picture *picture, const char *name,
                       const char *category) {
  if (!PPI_ROOM(picture->stages, picture->stages_capacity,
                picture->num_stages + 1))
    return false;
  picture->stages[picture->num_stages] = (ppi_picture_stage){
      .name = ppi_strdup(name), .category = ppi_strdup(category)};
  ppi_picture_stage *stage = &picture->stages[picture->num_stages++];
  return stage->name && stage->category;
}

// The last number is that of all stages without room for their own.
static bool set_site(ppi_picture *picture, const pprof_definition *definition) {
  uint32_t parent = pprof_definition_parent(definition);
  const char *name = pprof_definition_name(definition);
  char unknown[32];  // the name in reports
  snprintf(unknown, sizeof unknown, "<category %u>", parent);
  const char *category = unknown;
  if (parent < picture->num_categories && picture->categories[parent])
    category = picture->categories[parent];
  ppi_map_key key = ppi_map_key_of(name, category);
  size_t number = ppi_map_find(&picture->stage_numbers, key);
  if (number == SIZE_MAX && picture->num_stages < PPI_PICTURE_STAGES) {
    number = ppi_map_number(&picture->stage_numbers, key);
    bool is_last = picture->num_stages == PPI_PICTURE_STAGES - 1;
    if (number == SIZE_MAX || !note_stage(picture, is_last ? "<other>" : name,
                                          is_last ? "" : category))
      return false;
  }
  if (number == SIZE_MAX) number = PPI_PICTURE_STAGES - 1;
  uint32_t id = pprof_definition_id(definition);
  uint64_t into = pprof_definition_number(definition);
  if (into && into < PPI_MAX_ID && !set_id(&picture->folds, id, (uint32_t)into))
    return false;
  return set_id(&picture->sites, id, (uint32_t)number);
}

// A lane with another number has another thread, which gets its own row.
static bool set_lane(ppi_picture *picture, uint32_t id,
                     const pprof_definition *definition) {
  if (id >= PPI_MAX_ID) return true;
  uint64_t number = pprof_definition_number(definition);
  if (!PPI_REACH(picture->lane_names, picture->num_lane_names,
                 picture->lane_names_capacity, (size_t)id + 1))
    return false;
  struct ppi_picture_lane *grown = picture->lane_names;
  grown[id].life += grown[id].name && grown[id].number != number;
  grown[id].number = number;
  return set_text(&grown[id].name, pprof_definition_name(definition));
}

static bool set_device(ppi_picture *picture, uint32_t id, const char *name) {
  size_t number =
      ppi_map_number(&picture->device_numbers, ppi_map_key_of(name, ""));
  if (number == SIZE_MAX) return false;
  if (number == picture->num_devices) {
    if (!PPI_PUSH(picture->devices, picture->num_devices,
                  picture->devices_capacity, ppi_strdup(name)))
      return false;
    if (!picture->devices[number]) return false;
  }
  return set_id(&picture->run_devices, id, (uint32_t)number);
}

static bool set_stream(ppi_picture *picture, uint32_t id,
                       const pprof_definition *definition) {
  if (id >= PPI_MAX_ID) return true;
  if (!PPI_REACH(picture->stream_names, picture->num_stream_names,
                 picture->stream_names_capacity, (size_t)id + 1))
    return false;
  struct ppi_picture_stream *grown = picture->stream_names;
  grown[id].number = pprof_definition_number(definition);
  grown[id].device =
      id_of(&picture->run_devices, pprof_definition_parent(definition));
  return set_text(&grown[id].name, pprof_definition_name(definition));
}

pprof_status ppi_page_data_define(ppi_picture *picture,
                                  const pprof_definition *definition) {
  uint32_t id = pprof_definition_id(definition);
  const char *name = pprof_definition_name(definition);
  bool done = true;
  switch (pprof_definition_get_kind(definition)) {
    case PPROF_DEFINITION_CATEGORY:
      done = set_category(picture, id, name);
      break;
    case PPROF_DEFINITION_SITE:
      done = set_site(picture, definition);
      break;
    case PPROF_DEFINITION_LANE:
      done = set_lane(picture, id, definition);
      break;
    case PPROF_DEFINITION_DEVICE:
      done = set_device(picture, id, name);
      break;
    case PPROF_DEFINITION_STREAM:
      done = set_stream(picture, id, definition);
      break;
    default:
      break;
  }
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

// A damaged log may lack a definition.
static void name_unknown(ppi_picture *picture, uint32_t site) {
  char name[32];  // the name in reports
  snprintf(name, sizeof name, "<site %u>", site);
  set_site(picture,
           &(pprof_definition){
               .kind = PPROF_DEFINITION_SITE, .id = site, .name = name});
}

static uint32_t unfolded(ppi_picture *picture, uint32_t site) {
  if (id_of(&picture->sites, site) == PPI_SEEN_NONE)
    name_unknown(picture, site);
  return id_of(&picture->sites, site);
}

uint32_t ppi_page_data_stage(ppi_picture *picture, uint32_t site) {
  uint32_t stage = unfolded(picture, site);
  if (stage == PPI_SEEN_NONE) return stage;
  uint32_t into = picture->stages[stage].into;
  return into ? into - 1 : stage;
}

// A site folds into another of its category, at most four times in a row, as in
// reports.
static uint32_t root_of(const ppi_picture *picture, uint32_t id) {
  uint32_t stage = id_of(&picture->sites, id);
  for (int i = 0; i < 4; i++) {
    uint32_t into = id_of(&picture->folds, id);
    uint32_t next = into == PPI_SEEN_NONE ? into : id_of(&picture->sites, into);
    if (next == PPI_SEEN_NONE || strcmp(picture->stages[next].category,
                                        picture->stages[stage].category) != 0)
      break;
    id = into;
    stage = next;
  }
  return stage;
}

void ppi_page_data_fold(ppi_picture *picture) {
  for (uint32_t id = 0; id < picture->folds.num; id++) {
    uint32_t stage = id_of(&picture->sites, id);
    if (stage == PPI_SEEN_NONE) continue;
    uint32_t root = root_of(picture, id);
    if (root != stage) picture->stages[stage].into = root + 1;
  }
}

// ---- rows ----

static uint32_t row_of(ppi_picture *picture, const ppi_picture_row *row,
                       uint64_t life) {
  ppi_map_key key = {(uint64_t)row->run << 32 | row->lane,
                     life << 2 | (uint64_t)row->kind};
  size_t number = ppi_map_find(&picture->row_numbers, key);
  if (number != SIZE_MAX) return (uint32_t)number;
  ppi_picture_row *grown =
      picture->num_rows < PPI_PICTURE_ROWS
          ? ppi_grow(picture->rows, &picture->rows_capacity,
                     picture->num_rows + 1, sizeof *grown)
          : NULL;
  if (grown) {
    picture->rows = grown;
    number = ppi_map_number(&picture->row_numbers, key);
  }
  if (number == SIZE_MAX) {
    picture->num_rows_left_out++;
    return PPI_SEEN_NONE;
  }
  grown[number] = *row;
  grown[number].name = ppi_strdup(row->name ? row->name : "");
  grown[number].first_track = SIZE_MAX;
  picture->num_rows++;
  return (uint32_t)number;
}

// Cross-thread ranges have a row for each name. The folds of names are known
// only after the first reading.
static uint32_t async_row(ppi_picture *picture, const pprof_event *event) {
  const ppi_picture_row row = {.kind = PPI_ROW_ASYNC,
                               .run = (uint32_t)picture->at_run - 1,
                               .lane = unfolded(picture, event->site)};
  return row.lane == PPI_SEEN_NONE ? row.lane : row_of(picture, &row, 0);
}

uint32_t ppi_page_data_row(ppi_picture *picture, const pprof_event *event) {
  if (event->flags & PPROF_FLAG_ASYNC) return async_row(picture, event);
  const struct ppi_picture_lane *lane = event->lane < picture->num_lane_names
                                            ? &picture->lane_names[event->lane]
                                            : NULL;
  const ppi_picture_row row = {.kind = PPI_ROW_THREAD,
                               .run = (uint32_t)picture->at_run - 1,
                               .lane = event->lane,
                               .number = lane ? lane->number : 0,
                               .name = lane ? lane->name : NULL};
  return row_of(picture, &row, lane ? lane->life : 0);
}

uint32_t ppi_page_data_stream_row(ppi_picture *picture,
                                  const pprof_event *event) {
  if (event->kind != PPROF_KIND_DEVICE_RANGE || !event->device_end_ns ||
      event->stream >= picture->num_stream_names)
    return PPI_SEEN_NONE;
  const struct ppi_picture_stream *stream =
      &picture->stream_names[event->stream];
  const ppi_picture_row row = {.kind = PPI_ROW_STREAM,
                               .run = (uint32_t)picture->at_run - 1,
                               .lane = event->stream,
                               .device = stream->device,
                               .number = stream->number,
                               .name = stream->name};
  return row_of(picture, &row, 0);
}

static void clear_ids(ppi_picture_ids *ids) {
  ppi_free(ids->items);
  *ids = (ppi_picture_ids){NULL, 0, 0};
}

void ppi_page_data_clear_run(ppi_picture *picture) {
  for (size_t i = 0; i < picture->num_categories; i++)
    ppi_free(picture->categories[i]);
  for (size_t i = 0; i < picture->num_lane_names; i++)
    ppi_free(picture->lane_names[i].name);
  for (size_t i = 0; i < picture->num_stream_names; i++)
    ppi_free(picture->stream_names[i].name);
  picture->num_categories = picture->num_lane_names = 0;
  picture->num_stream_names = 0;
  clear_ids(&picture->sites);
  clear_ids(&picture->folds);
  clear_ids(&picture->run_devices);
}
