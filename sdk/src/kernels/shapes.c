// SPDX-License-Identifier: Apache-2.0
#include "kernels/shapes.h"

#include "base/mem.h"
#include "mark/recorder.h"
#include "names/name_hash.h"

static bool define(uint32_t id, const ppi_kernel_source *source,
                   const ppi_device_work *work) {
  char text[PPI_LAUNCH_SHAPE_TEXT];
  ppi_launch_shape shape = work->shape;
  const ppi_device_limits limits =
      source->limits ? source->limits(work->device) : (ppi_device_limits){0};
  ppi_occupancy(&limits, &shape);
  ppi_launch_shape_put(&shape, text);
  const pprof_definition own = {PPROF_DEFINITION_ATTRIBUTES, id, 0, 0, 0, text};
  return ppi_names_define(ppi_recorder_in_force.names, &own);
}

// A device's limits are part of what is told.
static ppi_map_key key_of(const ppi_device_work *work) {
  const char *bytes = (const char *)&work->shape;
  uint32_t device = (uint32_t)work->device;
  return (ppi_map_key){ppi_names_hash(bytes, sizeof work->shape, device),
                       ppi_names_hash(bytes, sizeof work->shape, ~device)};
}

uint32_t ppi_kernel_shape_id(ppi_kernel_shapes *shapes,
                             const ppi_kernel_source *source,
                             const ppi_device_work *work) {
  if (!work->shape.block[0]) return 0;
  const ppi_map_key key = key_of(work);
  size_t at = ppi_map_find(&shapes->numbers, key);
  if (at == SIZE_MAX && shapes->numbers.num < PPI_MOST_SHAPES) {
    bool *grown = ppi_grow(shapes->is_defined, &shapes->capacity,
                           shapes->numbers.num + 1, sizeof *grown);
    if (grown) shapes->is_defined = grown;
    at = grown ? ppi_map_number(&shapes->numbers, key) : SIZE_MAX;
    if (at != SIZE_MAX) grown[at] = define((uint32_t)at + 1, source, work);
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
