// SPDX-License-Identifier: Apache-2.0
//
// Keeps the ranges in which kernels of graphs were captured.
#include "report/parts/captures.h"

#include <string.h>

#include "base/mem.h"
#include "event/launch_shape.h"

#define LONGEST_NAME 4096

static bool is_of_device(uint32_t category) {
  return category == PPROF_CATEGORY_KERNEL ||
         category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
}

// 0: no site has that name.
static uint32_t site_of(const ppi_run_ids *ids, const char *name) {
  for (size_t i = 1; i < ids->sites.num; i++) {
    const ppi_run_site *site = ids->sites.items[i];
    if (site && site->is_defined && !is_of_device(site->category) &&
        strcmp(site->name, name) == 0)
      return (uint32_t)i;
  }
  return 0;
}

static pprof_status add_site(ppi_capture *capture, uint32_t site) {
  if (!PPI_ROOM(capture->sites, capture->capacity, capture->num + 1))
    return PPROF_STATUS_NO_MEMORY;
  capture->sites[capture->num++] = site;
  return PPROF_STATUS_OK;
}

static ppi_capture *item_of(ppi_captures *captures, uint32_t id) {
  size_t at = ppi_map_number(&captures->ids, (ppi_map_key){0, id});
  if (at == SIZE_MAX) return NULL;
  if (at < captures->num) return &captures->items[at];
  if (!PPI_ROOM(captures->items, captures->capacity, captures->num + 1))
    return NULL;
  captures->items[captures->num++] = (ppi_capture){.num = 0};
  return &captures->items[at];
}

pprof_status ppi_captures_define(ppi_captures *captures, const ppi_run_ids *ids,
                                 uint32_t id, const char *text) {
  const char *at = ppi_captured_find(text);
  char name[LONGEST_NAME];
  pprof_status status = PPROF_STATUS_OK;
  if (!at && ppi_captures_at(captures, id) == 0) return status;
  ppi_capture *capture = item_of(captures, id);
  if (!capture) return PPROF_STATUS_NO_MEMORY;
  capture->num = 0;  // a new definition replaces the sites
  while (at && status == PPROF_STATUS_OK &&
         ppi_captured_next(&at, name, sizeof name)) {
    uint32_t site = site_of(ids, name);
    if (site) status = add_site(capture, site);
  }
  return status;
}

uint32_t ppi_captures_at(const ppi_captures *captures, uint32_t attributes) {
  size_t at = ppi_map_find(&captures->ids, (ppi_map_key){0, attributes});
  return at < captures->num ? (uint32_t)at + 1 : 0;
}

void ppi_captures_clear(ppi_captures *captures) {
  for (size_t i = 0; i < captures->num; i++) ppi_free(captures->items[i].sites);
  ppi_map_clear(&captures->ids);
  ppi_free(captures->items);
  *captures = (ppi_captures){.num = 0};
}
