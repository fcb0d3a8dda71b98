// SPDX-License-Identifier: Apache-2.0
//
// Defines each launch shape and each place of capture once.
#include "kernels/shapes.h"

#include "base/mem.h"
#include "kernels/captured.h"
#include "mark/recorder.h"
#include "names/name_hash.h"

// As names are stored: possibly as hashes.
static void put_captured(uint32_t path, char *text, size_t size) {
  uint32_t sites[PPI_CAPTURED_DEPTH];
  const char *names[PPI_CAPTURED_DEPTH];
  size_t num = 0;
  for (uint32_t i = 0, end = ppi_captured_sites(path, sites); i < end; i++) {
    const ppi_definition_record *record =
        ppi_names_site_record(ppi_recorder_in_force.names, sites[i]);
    if (record) names[num++] = record->name;
  }
  ppi_captured_put(text, size, names, num);
}

static bool define(uint32_t id, const ppi_kernel_source *source,
                   const ppi_device_work *work, uint32_t path) {
  char text[PPI_MAX_NAME] = "{}";
  ppi_launch_shape shape = work->shape;
  const ppi_device_limits limits =
      source->limits ? source->limits(work->device) : (ppi_device_limits){0};
  ppi_occupancy(&limits, &shape);
  if (shape.block[0]) ppi_launch_shape_put(&shape, text);
  if (path) put_captured(path, text, sizeof text);
  const pprof_definition own = {PPROF_DEFINITION_ATTRIBUTES, id, 0, 0, 0, text};
  return ppi_names_define(ppi_recorder_in_force.names, &own);
}

// A device's limits are part of the report.
static ppi_map_key key_of(const ppi_device_work *work, uint32_t path) {
  const char *bytes = (const char *)&work->shape;
  uint32_t device = (uint32_t)work->device + path * 0x9e3779b1u;
  return (ppi_map_key){ppi_names_hash(bytes, sizeof work->shape, device),
                       ppi_names_hash(bytes, sizeof work->shape, ~device)};
}

uint32_t ppi_kernel_shape_id(ppi_kernel_shapes *shapes,
                             const ppi_kernel_source *source,
                             const ppi_device_work *work) {
  uint32_t path = ppi_captured_path(work->node);
  if (!work->shape.block[0] && !path) return 0;
  const ppi_map_key key = key_of(work, path);
  size_t at = ppi_map_find(&shapes->numbers, key);
  if (at == SIZE_MAX && shapes->numbers.num < PPI_MOST_SHAPES) {
    if (PPI_ROOM(shapes->is_defined, shapes->capacity, shapes->numbers.num + 1))
      at = ppi_map_number(&shapes->numbers, key);
    if (at != SIZE_MAX)
      shapes->is_defined[at] = define((uint32_t)at + 1, source, work, path);
  }
  if (at != SIZE_MAX && shapes->is_defined[at]) return (uint32_t)at + 1;
  shapes->num_without++;
  return 0;
}

void ppi_kernel_shapes_clear(ppi_kernel_shapes *shapes) {
  ppi_map_clear(&shapes->numbers);
  ppi_free(shapes->is_defined);
  *shapes = (ppi_kernel_shapes){0};
}
