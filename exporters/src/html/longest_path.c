// SPDX-License-Identifier: Apache-2.0
//
// Writes the longest path through one request.
#include "html/longest_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/json_put.h"
#include "html/page_data.h"
#include "report/parts/request_walk.h"

static bool is_whole(const ppi_picture *picture,
                     const ppi_picture_request *request, uint32_t stage) {
  const ppi_request_run *run = request->of;
  if (stage == PPI_SEEN_NONE) return false;
  for (size_t i = 0; i < run->num_stages; i++)
    if (strcmp(run->stages[i].name, picture->stages[stage].name) == 0 &&
        strcmp(run->stages[i].category_name, picture->stages[stage].category) ==
            0)
      return run->stages[i].is_whole;
  return false;
}

static size_t list_parts(const ppi_picture *picture, size_t request,
                         ppi_request_part *parts) {
  size_t num = 0;
  for (size_t i = 0; i < picture->num_kept; i++) {
    const ppi_picture_event *event = &picture->events[i];
    if (!(event->requests >> request & 1) || event->kind == PPROF_KIND_MARK)
      continue;
    parts[num++] = (ppi_request_part){
        .start_ns = event->start_ns,
        .end_ns = event->end_ns,
        .device_start_ns = event->device_start_ns,
        .device_end_ns = event->device_end_ns,
        .site = event->stage,
        .lane = event->row,
        .stream = event->stream_row,
        .is_async = event->flags & PPROF_FLAG_ASYNC,
        .is_whole =
            is_whole(picture, &picture->requests[request], event->stage)};
  }
  qsort(parts, num, sizeof *parts, ppi_request_part_order);
  return num;
}

static int compare_pieces(const void *left, const void *right) {
  const ppi_path_piece *a = left, *b = right;
  return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void put_path(ppi_page *page, const ppi_path *path,
                     const ppi_request_part *parts, unsigned level) {
  if (path->num)
    qsort(path->items, path->num, sizeof *path->items, compare_pieces);
  ppi_put_array(page, "path");
  for (size_t i = 0; i < path->num; i += (size_t)1 << level) {
    const ppi_path_piece *piece = &path->items[i];
    const ppi_request_part *part = &parts[piece->part];
    bool on_device = part->device_end_ns > part->device_start_ns;
    ppi_put_array(page, NULL);
    PPI_PUT_NUMBERS(page, part->site, on_device, piece->start_ns, piece->end_ns,
                    on_device ? part->stream - 1 : part->lane);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}

pprof_status ppi_longest_path_put(ppi_page *page, const ppi_picture *picture,
                                  size_t request, unsigned level) {
  ppi_request_part *parts = ppi_alloc((picture->num_kept + 1) * sizeof *parts);
  ppi_part_times *times = ppi_alloc((picture->num_kept + 1) * sizeof *times);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  ppi_path path = {0};
  if (parts && times) {
    ppi_walk walk = {.parts = parts,
                     .num = list_parts(picture, request, parts),
                     .times = times,
                     .path = &path};
    status = ppi_walk_critical(&walk);
    if (status == PPROF_STATUS_OK) put_path(page, &path, parts, level);
  }
  ppi_free(path.items);
  ppi_free(parts);
  ppi_free(times);
  return status;
}
