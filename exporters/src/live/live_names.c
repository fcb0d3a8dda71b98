// SPDX-License-Identifier: Apache-2.0
//
// Keeps the names of definitions, which come once, whether anybody watches or
// not.
#include "live/live_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void take_text(const pprof_run_info *info, const char *key, char *out,
                      size_t size) {
  const char *text = pprof_run_info_text(info, key);
  snprintf(out, size, "%s", text ? text : "");
}

pprof_status ppi_live_names_begin(ppi_live_names *names,
                                  const pprof_run_info *info) {
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  names->start_realtime_ns = base ? strtoull(base, NULL, 10) : 0;
  take_text(info, "host", names->host, sizeof names->host);
  take_text(info, "version", names->version, sizeof names->version);
  take_text(info, "uuid", names->uuid, sizeof names->uuid);
  return PPROF_STATUS_OK;
}

bool ppi_live_names_define(ppi_live_names *names,
                           const pprof_definition *definition) {
  size_t kind = (size_t)pprof_definition_get_kind(definition);
  size_t id = pprof_definition_id(definition);
  if (kind >= PPI_LIVE_NUM_KINDS ||
      !PPI_REACH(names->items[kind], names->num[kind], names->capacity[kind],
                 (size_t)id + 1))
    return false;
  ppi_live_name *item = &names->items[kind][id];
  bool is_other = item->text != NULL;
  ppi_free(item->text);
  item->text = ppi_strdup(pprof_definition_name(definition));
  item->parent = pprof_definition_parent(definition);
  return is_other && kind == PPROF_DEFINITION_SITE;
}

void ppi_live_names_introduce(const ppi_live_names *names,
                              ppi_live_header *header) {
  header->start_realtime_ns = names->start_realtime_ns;
  header->is_recording = names->is_recording;
  memcpy(header->host, names->host, sizeof header->host);
  memcpy(header->version, names->version, sizeof header->version);
  memcpy(header->uuid, names->uuid, sizeof header->uuid);
}

void ppi_live_names_clear(ppi_live_names *names) {
  for (size_t kind = 0; kind < PPI_LIVE_NUM_KINDS; kind++) {
    for (size_t id = 0; id < names->num[kind]; id++)
      ppi_free(names->items[kind][id].text);
    ppi_free(names->items[kind]);
  }
}
