// SPDX-License-Identifier: Apache-2.0
//
// Keeps the state of a run that encoder and decoder share.
#include "log/format/log_model.h"

#include <string.h>

void ppi_log_model_reset(ppi_log_model *model) {
  ppi_log_model kept = *model;
  memset(model, 0, sizeof *model);
  model->shapes = kept.shapes;
  model->shapes_capacity = kept.shapes_capacity;
  model->levels = kept.levels;
  model->num_levels = kept.num_levels;
  model->levels_capacity = kept.levels_capacity;
  for (uint32_t i = 0; i < kept.num_levels && i <= kept.deepest; i++)
    model->levels[i].used = false;
}

void ppi_log_model_clear(ppi_log_model *model) {
  ppi_free(model->shapes);
  ppi_free(model->levels);
  memset(model, 0, sizeof *model);
}

uint32_t ppi_log_model_add_shape(ppi_log_model *model, const ppi_shape *shape) {
  if (!PPI_ROOM(model->shapes, model->shapes_capacity, model->num_shapes + 1))
    return UINT32_MAX;
  model->shapes[model->num_shapes] = *shape;
  return (uint32_t)model->num_shapes++;
}
