// SPDX-License-Identifier: Apache-2.0
#include "report/answer/lanes.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

ppi_answer_lane *ppi_answer_lanes_at(ppi_answer_lanes *lanes, uint32_t id) {
  if (lanes->num && lanes->items[lanes->last].id == id)
    return &lanes->items[lanes->last];
  size_t low = 0, high = lanes->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (lanes->items[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  lanes->last = low;
  if (low < lanes->num && lanes->items[low].id == id) return &lanes->items[low];
  ppi_answer_lane *grown =
      ppi_grow(lanes->items, &lanes->capacity, lanes->num + 1, sizeof *grown);
  if (!grown) {
    lanes->last = 0;
    return NULL;
  }
  lanes->items = grown;
  memmove(grown + low + 1, grown + low, (lanes->num++ - low) * sizeof *grown);
  grown[low] = (ppi_answer_lane){.id = id};
  return &grown[low];
}

pprof_status ppi_answer_lanes_add(ppi_answer_lanes *lanes,
                                  const ppi_item *item) {
  ppi_answer_lane *lane = ppi_answer_lanes_at(lanes, item->lane);
  if (!lane) return PPROF_STATUS_NO_MEMORY;
  if (PPI_LIKELY(!item->flags))
    return ppi_hold_add(&lane->hold, &lanes->pool, item->start_ns, item->end_ns,
                        item->site, item->depth);
  ppi_held held = {item->start_ns, item->end_ns, item->site,
                   (uint16_t)item->depth, (uint16_t)item->flags};
  return ppi_hold_add_slow(&lane->hold, &lanes->pool, &held);
}

pprof_status ppi_answer_lanes_sort(ppi_answer_lanes *lanes) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < lanes->num && status == PPROF_STATUS_OK; i++)
    if (lanes->items[i].hold.unsorted)
      status = ppi_hold_sort(&lanes->items[i].hold, &lanes->pool);
  return status;
}

pprof_status ppi_answer_lanes_drop(ppi_answer_lanes *lanes,
                                   uint64_t horizon_ns) {
  pprof_status status = PPROF_STATUS_OK;
  size_t kept = 0;
  for (size_t i = 0; i < lanes->num; i++) {
    ppi_hold *hold = &lanes->items[i].hold;
    if (hold->num_pages && status == PPROF_STATUS_OK)
      status = ppi_hold_drop(hold, &lanes->pool, horizon_ns);
    if (hold->num_pages) lanes->items[kept++] = lanes->items[i];
  }
  lanes->num = kept;
  lanes->last = 0;
  return status;
}

size_t ppi_answer_lanes_count(const ppi_answer_lanes *lanes) {
  size_t num = 0;
  for (size_t i = 0; i < lanes->num; i++) {
    const ppi_hold *hold = &lanes->items[i].hold;
    for (size_t j = 0; j < hold->num_pages; j++)
      num += ppi_hold_count(hold->pages[j]);
  }
  return num;
}

void ppi_answer_lanes_list(const ppi_answer_lanes *lanes, ppi_item *out) {
  for (size_t i = 0; i < lanes->num; i++) {
    const ppi_hold *hold = &lanes->items[i].hold;
    for (size_t j = 0; j < hold->num_pages; j++) {
      ppi_hold_place place = ppi_hold_last(hold->pages[j]);
      while (place.num_words) {
        ppi_held held;
        ppi_hold_back(&place, &held);
        *out++ = (ppi_item){.start_ns = held.start_ns,
                            .end_ns = held.end_ns,
                            .site = held.site,
                            .lane = lanes->items[i].id,
                            .depth = held.depth,
                            .flags = held.flags,
                            .is_copy = true};
      }
    }
  }
}

void ppi_answer_lanes_clear(ppi_answer_lanes *lanes) {
  for (size_t i = 0; i < lanes->num; i++)
    ppi_hold_clear(&lanes->items[i].hold, &lanes->pool);
  ppi_hold_pool_clear(&lanes->pool);
  ppi_free(lanes->items);
  *lanes = (ppi_answer_lanes){0};
}
