// SPDX-License-Identifier: Apache-2.0
//
// Keeps definitions of several runs for the formats.
#include "export/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/say.h"
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
  char *out = ppi_tool_must(ppi_alloc((good == len ? len : len * 3) + 1));
  for (char *to = out; at < end; good = num_good(at, end)) {
    to = mempcpy(to, at, good);
    at += good;
    if (at == end) break;
    to = mempcpy(to, "\xef\xbf\xbd", 3);
    at++;
  }
  return out;
}

static char *text_of(const pprof_run_info *info, const char *key) {
  const char *text = pprof_run_info_text(info, key);
  return text ? ppi_export_text(text, strlen(text)) : ppi_export_text("", 0);
}

void ppi_export_names_begin(ppi_export_names *names,
                            const pprof_run_info *info) {
  for (size_t i = 0; i < PPI_NUM_EXPORT_KINDS; i++)
    ppi_map_clear(&names->ids[i]);
  PPI_MUST_ROOM(names->runs, names->runs_capacity, names->num_runs + 1);
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  names->runs[names->num_runs++] =
      (ppi_export_run){.uuid = text_of(info, "uuid"),
                       .host = text_of(info, "host"),
                       .pid = text_of(info, "pid"),
                       .rank = text_of(info, "rank"),
                       .command = text_of(info, "command"),
                       .version = text_of(info, "version"),
                       .base_ns = base ? strtoull(base, NULL, 10) : 0};
}

static uint32_t add_row(ppi_export_names *names, pprof_definition_kind kind,
                        uint32_t id) {
  struct ppi_export_rows *rows = &names->kinds[kind];
  PPI_MUST_ROOM(rows->items, rows->capacity, rows->num + 1);
  rows->items[rows->num] =
      (ppi_export_name){.run = (uint32_t)names->num_runs, .id = id};
  return (uint32_t)rows->num++;
}

// The place of an id's row; a new id gets a row.
static uint32_t *find(ppi_export_names *names, pprof_definition_kind kind,
                      uint32_t id) {
  struct ppi_export_rows *rows = &names->kinds[kind];
  ppi_map *ids = &names->ids[kind];
  size_t num = ids->num;
  size_t number = ppi_tool_number(ids, (ppi_map_key){0, id});
  if (number == num) {
    PPI_MUST_ROOM(rows->current, rows->current_capacity, number + 1);
    rows->current[number] = add_row(names, kind, id);
  }
  return &rows->current[number];
}

uint32_t ppi_export_names_row(ppi_export_names *names,
                              pprof_definition_kind kind, uint32_t id) {
  uint32_t at = *find(names, kind, id);
  ppi_export_name *row = &names->kinds[kind].items[at];
  const char *ours =
      kind == PPROF_DEFINITION_CATEGORY ? ppi_category_name(id) : NULL;
  if (!row->text) row->text = ppi_tool_must(ppi_strdup(ours ? ours : ""));
  return at;
}

const ppi_export_name *ppi_export_names_of(ppi_export_names *names,
                                           pprof_definition_kind kind,
                                           uint32_t id) {
  return ppi_export_names_at(names, kind,
                             ppi_export_names_row(names, kind, id));
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

void ppi_export_names_set(ppi_export_names *names,
                          const pprof_definition *definition) {
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  struct ppi_export_rows *rows = &names->kinds[kind];
  uint32_t id = pprof_definition_id(definition);
  const char *text = pprof_definition_name(definition);
  bool is_site = kind == PPROF_DEFINITION_SITE;
  ppi_export_name now = {
      .run = (uint32_t)names->num_runs,
      .id = id,
      .color = pprof_definition_color(definition),
      .number = pprof_definition_number(definition),
      .is_defined = true,
      .has_parent = is_site || kind == PPROF_DEFINITION_STREAM};
  if (now.has_parent)
    now.parent = ppi_export_names_row(
        names, is_site ? PPROF_DEFINITION_CATEGORY : PPROF_DEFINITION_DEVICE,
        pprof_definition_parent(definition));
  now.text = ppi_export_text(text, strlen(text));
  uint32_t *at = find(names, kind, id);
  if (is_another(&rows->items[*at], &now, kind)) *at = add_row(names, kind, id);
  ppi_free(rows->items[*at].text);
  rows->items[*at] = now;
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
  PPI_FREE_ALL(run->uuid, run->host, run->pid, run->rank, run->command,
               run->version);
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
