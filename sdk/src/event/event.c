// SPDX-License-Identifier: Apache-2.0
//
// Implements getters for sinks. Pure reads of borrowed structures.
#include <string.h>

#include "base/mem.h"
#include "event/event.h"

bool ppi_definition_keep(pprof_definition *kept, const pprof_definition *from) {
  char *name = ppi_strdup(from->name ? from->name : "");
  if (!name) return false;
  ppi_free((char *)kept->name);
  *kept = *from;
  kept->name = name;
  return true;
}

pprof_definition_kind pprof_definition_get_kind(
    const pprof_definition *definition) {
  return definition->kind;
}

uint32_t pprof_definition_id(const pprof_definition *definition) {
  return definition->id;
}

const char *pprof_definition_name(const pprof_definition *definition) {
  return ppi_definition_text(definition->kind, definition->name);
}

uint32_t pprof_definition_parent(const pprof_definition *definition) {
  return definition->parent;
}

uint32_t pprof_definition_color(const pprof_definition *definition) {
  return definition->color;
}

uint64_t pprof_definition_number(const pprof_definition *definition) {
  return definition->number;
}

const char *pprof_run_info_text(const pprof_run_info *info, const char *key) {
  for (size_t i = 0; i < info->num_texts; i++)
    if (strcmp(info->texts[i].key, key) == 0) return info->texts[i].value;
  return NULL;
}

uint64_t pprof_checkpoint_time_ns(const pprof_checkpoint *checkpoint) {
  return checkpoint->time_ns;
}

size_t pprof_checkpoint_num_open(const pprof_checkpoint *checkpoint) {
  return checkpoint->num_open;
}

void pprof_checkpoint_open(const pprof_checkpoint *checkpoint, size_t i,
                           pprof_event *out) {
  *out = checkpoint->open[i];
}

static const struct {
  const char *name;
  bool per_lane;
} total_keys[] = {
#define PPI_TOTAL_ROW(name, key, per_lane) {key, per_lane},
    PPI_TOTAL_LIST(PPI_TOTAL_ROW)
#undef PPI_TOTAL_ROW
};

const char *ppi_total_name(ppi_total_key key) {
  return total_keys[key].name;
}

bool ppi_total_is_per_lane(ppi_total_key key) {
  return total_keys[key].per_lane;
}

uint64_t ppi_totals_get(const pprof_totals *totals, uint32_t lane,
                        ppi_total_key key) {
  for (size_t i = 0; i < totals->num_items; i++)
    if (totals->items[i].lane == lane && totals->items[i].key == key)
      return totals->items[i].value;
  return 0;
}

uint64_t pprof_totals_value(const pprof_totals *totals, uint32_t lane,
                            const char *key) {
  for (uint32_t i = 0; i < PPI_NUM_TOTALS; i++)
    if (strcmp(total_keys[i].name, key) == 0)
      return ppi_totals_get(totals, lane, (ppi_total_key)i);
  return 0;
}
