// SPDX-License-Identifier: Apache-2.0
//
// Keeps definitions of several runs for the formats.
#include "export/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/utf8.h"
#include "names/names.h"

#define HIGH_BITS 0x8080808080808080u

// The number of bytes from `at` on that are UTF-8.
static size_t num_good(const unsigned char *at, const unsigned char *end) {
  const unsigned char *from = at;
  for (size_t len; at < end; at += len) {
    uint64_t word = HIGH_BITS;
    if (end - at >= (ptrdiff_t)sizeof word) memcpy(&word, at, sizeof word);
    len = word & HIGH_BITS ? ppi_utf8_length(at, end) : sizeof word;
    if (!len) break;
  }
  return (size_t)(at - from);
}

char *ppi_export_text(const char *text, size_t len) {
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char *end = at + len;
  size_t good = num_good(at, end);
  char *out = ppi_alloc((good == len ? len : len * 3) + 1), *to = out;
  for (; out && at < end; good = num_good(at, end)) {
    to = mempcpy(to, at, good);
    at += good;
    if (at == end) break;
    to = mempcpy(to, "\xef\xbf\xbd", 3);
    at++;
  }
  return out;
}

static bool copy_text(const pprof_run_info *info, const char *key, char **out) {
  const char *text = pprof_run_info_text(info, key);
  if (!text) text = "";
  *out = ppi_export_text(text, strlen(text));
  return *out != NULL;
}

pprof_status ppi_export_names_begin(ppi_export_names *names,
                                    const pprof_run_info *info) {
  for (size_t i = 0; i < PPI_NUM_EXPORT_KINDS; i++)
    ppi_map_clear(&names->ids[i]);
  if (!PPI_ROOM(names->runs, names->runs_capacity, names->num_runs + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_export_run *run = &names->runs[names->num_runs++];
  memset(run, 0, sizeof *run);
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  run->base_ns = base ? strtoull(base, NULL, 10) : 0;
  bool room = copy_text(info, "uuid", &run->uuid) &&
              copy_text(info, "host", &run->host) &&
              copy_text(info, "pid", &run->pid) &&
              copy_text(info, "rank", &run->rank) &&
              copy_text(info, "command", &run->command) &&
              copy_text(info, "version", &run->version);
  return room ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static pprof_status add_row(ppi_export_names *names, pprof_definition_kind kind,
                            uint32_t id, uint32_t *out) {
  struct ppi_export_rows *rows = &names->kinds[kind];
  if (!PPI_ROOM(rows->items, rows->capacity, rows->num + 1))
    return PPROF_STATUS_NO_MEMORY;
  rows->items[rows->num] =
      (ppi_export_name){.run = (uint32_t)names->num_runs, .id = id};
  *out = (uint32_t)rows->num++;
  return PPROF_STATUS_OK;
}

// Finds the number of an id; a new one gets a row.
static pprof_status find(ppi_export_names *names, pprof_definition_kind kind,
                         uint32_t id, size_t *out_number) {
  struct ppi_export_rows *rows = &names->kinds[kind];
  ppi_map *ids = &names->ids[kind];
  size_t num = ids->num;
  size_t number = ppi_map_number(ids, (ppi_map_key){0, id});
  if (number == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  *out_number = number;
  if (number < num) return PPROF_STATUS_OK;
  if (!PPI_ROOM(rows->current, rows->current_capacity, number + 1))
    return PPROF_STATUS_NO_MEMORY;
  return add_row(names, kind, id, &rows->current[number]);
}

pprof_status ppi_export_names_row(ppi_export_names *names,
                                  pprof_definition_kind kind, uint32_t id,
                                  uint32_t *out_row) {
  size_t number;
  pprof_status status = find(names, kind, id, &number);
  if (status != PPROF_STATUS_OK) return status;
  struct ppi_export_rows *rows = &names->kinds[kind];
  *out_row = rows->current[number];
  ppi_export_name *row = &rows->items[*out_row];
  if (row->text) return PPROF_STATUS_OK;
  bool is_ours = kind == PPROF_DEFINITION_CATEGORY && ppi_category_name(id);
  row->text = ppi_strdup(is_ours ? ppi_category_name(id) : "");
  return row->text ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static pprof_status parent_of(ppi_export_names *names,
                              const pprof_definition *definition,
                              ppi_export_name *out) {
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  out->has_parent =
      kind == PPROF_DEFINITION_SITE || kind == PPROF_DEFINITION_STREAM;
  if (!out->has_parent) return PPROF_STATUS_OK;
  return ppi_export_names_row(
      names,
      kind == PPROF_DEFINITION_SITE ? PPROF_DEFINITION_CATEGORY
                                    : PPROF_DEFINITION_DEVICE,
      pprof_definition_parent(definition), &out->parent);
}

// Whether the earlier definition names another thing.
static bool is_another(const ppi_export_name *known, const ppi_export_name *now,
                       pprof_definition_kind kind) {
  if (!known->is_defined) return false;
  if (kind == PPROF_DEFINITION_LANE) return known->number != now->number;
  if (kind == PPROF_DEFINITION_SITE)
    return known->parent != now->parent || strcmp(known->text, now->text) != 0;
  return kind == PPROF_DEFINITION_ATTRIBUTES &&
         strcmp(known->text, now->text) != 0;
}

pprof_status ppi_export_names_set(ppi_export_names *names,
                                  const pprof_definition *definition,
                                  uint32_t *out_row) {
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  uint32_t id = pprof_definition_id(definition);
  ppi_export_name now = {.run = (uint32_t)names->num_runs,
                         .id = id,
                         .color = pprof_definition_color(definition),
                         .number = pprof_definition_number(definition),
                         .is_defined = true};
  size_t number;
  pprof_status status = parent_of(names, definition, &now);
  if (status == PPROF_STATUS_OK) status = find(names, kind, id, &number);
  if (status != PPROF_STATUS_OK) return status;
  const char *text = pprof_definition_name(definition);
  now.text = ppi_export_text(text, strlen(text));
  if (!now.text) return PPROF_STATUS_NO_MEMORY;
  struct ppi_export_rows *rows = &names->kinds[kind];
  if (is_another(&rows->items[rows->current[number]], &now, kind))
    status = add_row(names, kind, id, &rows->current[number]);
  if (status != PPROF_STATUS_OK) {
    ppi_free(now.text);
    return status;
  }
  *out_row = rows->current[number];
  ppi_free(rows->items[*out_row].text);
  rows->items[*out_row] = now;
  return PPROF_STATUS_OK;
}

const char *ppi_export_category(const ppi_export_names *names, uint32_t site) {
  const ppi_export_name *row =
      ppi_export_names_at(names, PPROF_DEFINITION_SITE, site);
  if (!row->has_parent) return "";
  const char *text =
      ppi_export_names_at(names, PPROF_DEFINITION_CATEGORY, row->parent)->text;
  return text ? text : "";
}

uint64_t ppi_export_shift(const ppi_export_names *names, uint32_t run) {
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < names->num_runs; i++) {
    uint64_t base_ns = names->runs[i].base_ns;
    if (!base_ns) return 0;
    if (base_ns < first_ns) first_ns = base_ns;
  }
  return run ? names->runs[run - 1].base_ns - first_ns : 0;
}

static void clear_run(ppi_export_run *run) {
  ppi_free(run->uuid);
  ppi_free(run->host);
  ppi_free(run->pid);
  ppi_free(run->rank);
  ppi_free(run->command);
  ppi_free(run->version);
}

void ppi_export_names_clear(ppi_export_names *names) {
  for (size_t i = 0; i < names->num_runs; i++) clear_run(&names->runs[i]);
  ppi_free(names->runs);
  for (size_t i = 0; i < PPI_NUM_EXPORT_KINDS; i++) {
    struct ppi_export_rows *rows = &names->kinds[i];
    for (size_t j = 0; j < rows->num; j++) ppi_free(rows->items[j].text);
    ppi_free(rows->items);
    ppi_free(rows->current);
    ppi_map_clear(&names->ids[i]);
  }
  *names = (ppi_export_names){0};
}
