// SPDX-License-Identifier: Apache-2.0
//
// Gathers what `info` prints.
#include "log_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input.h"
#include "mem.h"
#include "options.h"

// A damaged file may claim any id; definitions beyond are counted, not kept.
enum { MAX_ID = 1 << 20 };

struct info_sink {
  pprof_sink base;
  struct ppi_tool_log_info *info;
};

static struct ppi_tool_log_info *info_of(pprof_sink *sink) {
  return ((struct info_sink *)sink)->info;
}

const char *ppi_tool_block_name(unsigned type) {
  static const char *const names[PPI_TOOL_NUM_TYPES] = {
      "?", "info", "definitions", "events", "checkpoints", "windows", "totals"};
  return names[type < PPI_TOOL_NUM_TYPES ? type : 0];
}

const char *ppi_tool_log_info_text(const struct ppi_tool_log_info *info,
                                   const char *key) {
  for (size_t i = 0; i < info->num_texts; i++)
    if (strcmp(info->texts[i].key, key) == 0) return info->texts[i].value;
  return NULL;
}

static pprof_status info_begin(pprof_sink *sink, const pprof_run_info *run) {
  struct ppi_tool_log_info *info = info_of(sink);
  info->texts = ppi_alloc((run->num_texts + 1) * sizeof(*info->texts));
  if (!info->texts) return PPROF_STATUS_NO_MEMORY;
  for (; info->num_texts < run->num_texts; info->num_texts++) {
    ppi_text *copy = &info->texts[info->num_texts];
    copy->key = ppi_strdup(run->texts[info->num_texts].key);
    copy->value = ppi_strdup(run->texts[info->num_texts].value);
    if (!copy->key || !copy->value) return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

// The place of definition (kind, id), made when it is new. NULL: no memory.
static struct ppi_tool_definition *place_of(struct ppi_tool_log_info *info,
                                            pprof_definition_kind kind,
                                            uint32_t id) {
  size_t before = info->places_capacity[kind];
  uint32_t *places = ppi_grow(info->places[kind], &info->places_capacity[kind],
                              (size_t)id + 1, sizeof(*places));
  if (!places) return NULL;
  memset(places + before, 0,
         (info->places_capacity[kind] - before) * sizeof(*places));
  info->places[kind] = places;
  if (places[id]) return &info->definitions[places[id] - 1];
  struct ppi_tool_definition *all =
      ppi_grow(info->definitions, &info->definitions_capacity,
               info->num_definitions + 1, sizeof(*all));
  if (!all) return NULL;
  info->definitions = all;
  places[id] = (uint32_t)++info->num_definitions;
  info->num_of_kind[kind]++;
  memset(&all[places[id] - 1], 0, sizeof(*all));
  return &all[places[id] - 1];
}

static pprof_status info_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  struct ppi_tool_log_info *info = info_of(sink);
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  uint32_t id = pprof_definition_id(definition);
  if ((unsigned)kind >= PPI_TOOL_NUM_KINDS) return PPROF_STATUS_OK;
  if (id >= MAX_ID) {
    info->num_of_kind[kind]++;
    return PPROF_STATUS_OK;
  }
  struct ppi_tool_definition *place = place_of(info, kind, id);
  if (!place) return PPROF_STATUS_NO_MEMORY;
  const char *name = pprof_definition_name(definition);
  ppi_free(place->name);
  *place = (struct ppi_tool_definition){
      .kind = kind,
      .id = id,
      .parent = pprof_definition_parent(definition),
      .number = pprof_definition_number(definition),
      .name = ppi_strdup(name ? name : "")};
  return place->name ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static pprof_status info_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  struct ppi_tool_log_info *info = info_of(sink);
  if (time_ns > info->last_ns) info->last_ns = time_ns;
  if (!opens) {
    for (size_t i = info->num_windows; i-- > 0;) {
      if (info->windows[i].index != index) continue;
      info->windows[i].closed = true;
      info->windows[i].closes_ns = time_ns;
      break;
    }
    return PPROF_STATUS_OK;
  }
  struct ppi_tool_window *windows =
      ppi_grow(info->windows, &info->windows_capacity, info->num_windows + 1,
               sizeof(*windows));
  if (!windows) return PPROF_STATUS_NO_MEMORY;
  info->windows = windows;
  windows[info->num_windows++] =
      (struct ppi_tool_window){index, false, time_ns, 0};
  return PPROF_STATUS_OK;
}

static pprof_status info_finish(pprof_sink *sink, const pprof_totals *totals) {
  struct ppi_tool_log_info *info = info_of(sink);
  for (unsigned key = 0; key < PPI_NUM_TOTALS; key++)
    info->totals[key] =
        ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key);
  return PPROF_STATUS_OK;
}

static pprof_status visit_block(void *user, const ppi_log_block *block) {
  struct ppi_tool_log_info *info = user;
  const ppi_log_header *header = &block->header;
  unsigned type = header->type < PPI_TOOL_NUM_TYPES ? header->type : 0;
  struct ppi_tool_blocks *blocks = &info->blocks[type];
  blocks->num_blocks++;
  blocks->num_events += header->num_events;
  blocks->raw_bytes += header->raw_len;
  blocks->stored_bytes += block->size;
  if (header->codec < 32) info->codecs |= 1u << header->codec;
  if (block->ok && header->max_end_ns > info->last_ns)
    info->last_ns = header->max_end_ns;
  return PPROF_STATUS_OK;
}

int ppi_tool_log_info_read(const char *path, struct ppi_tool_log_info *out) {
  struct info_sink sink = {.base = {.size = sizeof(pprof_sink),
                                    .begin = info_begin,
                                    .define = info_define,
                                    .window = info_window,
                                    .finish = info_finish},
                           .info = out};
  struct ppi_tool_watch watch;
  struct stat file;
  *out = (struct ppi_tool_log_info){.path = path};
  if (stat(path, &file) == 0) out->file_bytes = (uint64_t)file.st_size;
  int code = ppi_tool_read(path, &sink.base, &watch);
  if (watch.sink_failed) {
    ppi_tool_say("%s: out of memory", path);
    return PPI_EXIT_INPUT;
  }
  if (code == PPI_EXIT_INPUT || ppi_tool_is_spool(path)) return code;
  pprof_status status =
      ppi_log_scan(path, visit_block, out, &out->damage, NULL);
  if (status != PPROF_STATUS_OK) code = PPI_EXIT_DAMAGED;
  out->complete =
      code == PPI_EXIT_DONE && out->blocks[PPI_LOG_TOTALS].num_blocks > 0;
  return code;
}

void ppi_tool_log_info_clear(struct ppi_tool_log_info *info) {
  for (size_t i = 0; i < info->num_texts; i++) {
    ppi_free((char *)info->texts[i].key);
    ppi_free((char *)info->texts[i].value);
  }
  for (size_t i = 0; i < info->num_definitions; i++)
    ppi_free(info->definitions[i].name);
  for (size_t i = 0; i < PPI_TOOL_NUM_KINDS; i++) ppi_free(info->places[i]);
  ppi_free(info->texts);
  ppi_free(info->definitions);
  ppi_free(info->windows);
}
