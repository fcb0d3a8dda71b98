// SPDX-License-Identifier: Apache-2.0
//
// How a model's run is marked on its stream, the same for every device.
#include "pipeline_runner.h"

static void add_work(const struct run_marks *marks, double bytes,
                     double flops) {
  pprof_work_amount work = {sizeof(work), 1, bytes, flops, 0};
  pprof_device_work(marks->device, marks->stream, &work);
}

void run_begin(const struct run_marks *marks, struct model *model) {
  pprof_device_push(marks->device, marks->stream, &model->upload);
  add_work(marks, (double)(model_num_inputs(model) * sizeof(float)), 0);
}

void run_layer(const struct run_marks *marks, struct layer *layer) {
  size_t num_floats = layer_num_inputs(layer) + layer_num_outputs(layer) +
                      layer_num_weights(layer);
  pprof_device_next(marks->device, marks->stream, &layer->site);
  add_work(marks, (double)(num_floats * sizeof(float)), layer_flops(layer));
}

void run_download(const struct run_marks *marks, struct model *model) {
  pprof_device_next(marks->device, marks->stream, &model->download);
  add_work(marks, (double)(model_num_outputs(model) * sizeof(float)), 0);
}

void run_end(const struct run_marks *marks) {
  pprof_device_pop(marks->device, marks->stream);
}
