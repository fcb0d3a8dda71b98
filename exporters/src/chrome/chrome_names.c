// SPDX-License-Identifier: Apache-2.0
//
// Keeps the definitions for the Chrome writer, by id. Names of sites and
// categories are escaped once, here, and not at each event.
#include "chrome/chrome_names.h"

#include "base/mem.h"
#include "chrome/chrome_text.h"
#include "event/launch_shape.h"

// Sessions stop at 65 536 names. An id far beyond comes from a broken sender
// and must not cost memory.
#define MAX_ID (1u << 20)

static ppi_chrome_name *slot(ppi_chrome_names *names, uint32_t id) {
  return PPI_REACH(names->items, names->num_items, names->capacity,
                   (size_t)id + 1)
             ? &names->items[id]
             : NULL;
}

// Attributes may come from any program, so a launch's shape is parsed and
// written again.
static bool read_shape(const char *text, char out[PPI_LAUNCH_SHAPE_TEXT]) {
  ppi_launch_shape shape;
  if (!ppi_launch_shape_read(text, &shape)) return false;
  ppi_launch_shape_put(&shape, out);
  out[0] = ',';
  out[strlen(out) - 1] = '\0';
  return true;
}

pprof_status ppi_chrome_names_set(ppi_chrome_names *names,
                                  const pprof_definition *definition) {
  uint32_t id = pprof_definition_id(definition);
  if (id >= MAX_ID) return PPROF_STATUS_CORRUPT;
  const char *text = pprof_definition_name(definition);
  char members[PPI_LAUNCH_SHAPE_TEXT];
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  if (kind == PPROF_DEFINITION_ATTRIBUTES) {
    if (!read_shape(text, members)) return PPROF_STATUS_OK;
    text = members;
  }
  ppi_chrome_name *name = slot(names, id);
  if (!name) return PPROF_STATUS_NO_MEMORY;
  ppi_page escaped = {0};
  bool often =
      kind == PPROF_DEFINITION_SITE || kind == PPROF_DEFINITION_CATEGORY;
  if (often) ppi_page_json(&escaped, text);
  char *copy = often ? escaped.bytes : ppi_strdup(text);
  if (!copy || escaped.failed) {
    ppi_page_clear(&escaped);
    return PPROF_STATUS_NO_MEMORY;
  }
  PPI_FREE_ALL(name->text, name->escaped, name->head);
  name->head = NULL;
  names->version++;
  name->known = true;
  name->parent = pprof_definition_parent(definition);
  name->number = pprof_definition_number(definition);
  name->text = often ? NULL : copy;
  name->escaped = often ? copy : NULL;
  name->escaped_len = escaped.len;
  return PPROF_STATUS_OK;
}

const ppi_chrome_name *ppi_chrome_names_get(const ppi_chrome_names *names,
                                            uint32_t id) {
  if (id >= names->num_items || !names->items[id].known) return NULL;
  return &names->items[id];
}

void ppi_chrome_names_clear(ppi_chrome_names *names) {
  for (size_t i = 0; i < names->num_items; i++) {
    PPI_FREE_ALL(names->items[i].text, names->items[i].escaped,
                 names->items[i].head);
  }
  ppi_free(names->items);
  memset(names, 0, sizeof *names);
}
