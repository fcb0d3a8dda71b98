// SPDX-License-Identifier: Apache-2.0
//
// The two models: their layers, weights, and the plain CPU reference that
// every device's output is checked against. Activations are rows of channels
// (NHWC); a product is a convolution's twin with `rows` in place of pixels.
#ifndef EXAMPLES_PIPELINE_MODEL_H_
#define EXAMPLES_PIPELINE_MODEL_H_

#include <stdbool.h>
#include <stddef.h>
#include "pprof/mark.h"

enum {
  MODEL_DETECT = 0,
  MODEL_CLASSIFY = 1,
  NUM_MODELS = 2,
  MAX_LAYERS = 3,
  GRID_SIZE = 32,
  NUM_ANCHORS = 8,
  NUM_CLASSES = 1024
};

typedef enum layer_kind { LAYER_CONVOLUTION, LAYER_PRODUCT } layer_kind;

// A convolution maps in_size^2 x in_channels to out_size^2 x out_channels,
// zero-padded by kernel / 2; weights are [ky][kx][in][out]. A product maps
// rows x in_channels to rows x out_channels; weights are [in][out].
struct layer {
  pprof_site site;
  layer_kind kind;
  int in_channels, out_channels;
  int in_size, out_size, kernel, stride;
  int rows;
  int repeats;  // it runs so often; the last time counts
  bool relu;
  float *weights, *bias;
};

struct model {
  pprof_site upload, download;
  int num_layers;
  struct layer layers[MAX_LAYERS];
};

// models_create makes the weights, the same ones in every run. NULL: no memory.
struct model *models_create(void);
void models_destroy(struct model *models);

// models_repeat has the layer called `name` run `repeats` times. False: there
// is none.
bool models_repeat(struct model *models, const char *name, int repeats);

size_t layer_num_inputs(const struct layer *layer);
size_t layer_num_outputs(const struct layer *layer);
size_t layer_num_weights(const struct layer *layer);
double layer_flops(const struct layer *layer);
size_t model_num_inputs(const struct model *model);
size_t model_num_outputs(const struct model *model);

// model_reference computes one output value at a time, in double, sharing no
// code with any device. False: no memory.
bool model_reference(const struct model *model, const float *input,
                     float *output);

#endif  // EXAMPLES_PIPELINE_MODEL_H_
