// SPDX-License-Identifier: Apache-2.0
//
// What runs the models: an OpenCL device, or worker threads of the CPU
// backend. Submitting never waits for the device; one slot of buffers per
// request in flight and model.
#ifndef EXAMPLES_PIPELINE_RUNNER_H_
#define EXAMPLES_PIPELINE_RUNNER_H_

#include <stdbool.h>
#include <stddef.h>
#include "pipeline_model.h"
#include "pprof/device.h"

enum { NUM_SLOTS = 4 };

// Each call answers false after a device error, with the reason in `error`.
// submit: one thread per model; `input` and `output` stay untouched by the
// caller until wait (one thread per model) has returned.
struct runner {
  const char *name;
  char description[160];
  char error[256];
  bool (*submit)(struct runner *runner, int model, int slot, const float *input,
                 float *output);
  bool (*wait)(struct runner *runner, int model, int slot);
  void (*destroy)(struct runner *runner);
};

// NULL with a reason in `why_not` when there is no such device.
struct runner *runner_create_opencl(struct model *models, char *why_not,
                                    size_t why_not_size);
struct runner *runner_create_cpu(struct model *models, char *why_not,
                                 size_t why_not_size);

// The ranges of one model's run on a stream: upload, each layer, download. Each
// begins where the one before ends, so neighbours share a device event.
struct run_marks {
  pprof_device *device;
  void *stream;
};
void run_begin(const struct run_marks *marks, struct model *model);
void run_layer(const struct run_marks *marks, struct layer *layer);
void run_download(const struct run_marks *marks, struct model *model);
void run_end(const struct run_marks *marks);

#endif  // EXAMPLES_PIPELINE_RUNNER_H_
