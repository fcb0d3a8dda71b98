// SPDX-License-Identifier: Apache-2.0
//
// The two models' layers and weights, and the reference that checks devices.
#include "pipeline_model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_image.h"

#define SITE(label, category) \
  {                           \
    label, category, 0, 0, {  \
      0, 0                    \
    }                         \
  }
#define CONVOLUTION(label, in, out, from, to, window, step, positive)         \
  {                                                                           \
    .site = SITE(label, PPROF_CATEGORY_INFERENCE), .kind = LAYER_CONVOLUTION, \
    .in_channels = in, .out_channels = out, .in_size = from, .out_size = to,  \
    .kernel = window, .stride = step, .repeats = 1, .relu = positive          \
  }
#define PRODUCT(label, in, out, positive)                                    \
  {                                                                          \
    .site = SITE(label, PPROF_CATEGORY_INFERENCE), .kind = LAYER_PRODUCT,    \
    .in_channels = in, .out_channels = out, .rows = MAX_BOXES, .repeats = 1, \
    .relu = positive                                                         \
  }

// 77, 75 and 57 MFLOP; 50 and 67 MFLOP.
static struct model model_table[NUM_MODELS] = {
    {.upload = SITE("detector.upload", PPROF_CATEGORY_MEMCPY),
     .download = SITE("detector.download", PPROF_CATEGORY_MEMCPY),
     .num_layers = 3,
     .layers = {CONVOLUTION("detector.stem", 3, 64, 128, 64, 7, 2, true),
                CONVOLUTION("detector.down", 64, 64, 64, 32, 3, 2, true),
                CONVOLUTION("detector.head", 64, 6 * NUM_ANCHORS, 32, GRID_SIZE,
                            3, 1, false)}},
    {.upload = SITE("classifier.upload", PPROF_CATEGORY_MEMCPY),
     .download = SITE("classifier.download", PPROF_CATEGORY_MEMCPY),
     .num_layers = 2,
     .layers = {PRODUCT("classifier.hidden", CROP_FLOATS, 2048, true),
                PRODUCT("classifier.logits", 2048, NUM_CLASSES, false)}}};

static size_t num_taps(const struct layer *layer) {
  size_t window = layer->kind == LAYER_CONVOLUTION
                      ? (size_t)(layer->kernel * layer->kernel)
                      : 1;
  return window * (size_t)layer->in_channels;
}

size_t layer_num_inputs(const struct layer *layer) {
  size_t pixels = layer->kind == LAYER_CONVOLUTION
                      ? (size_t)(layer->in_size * layer->in_size)
                      : (size_t)layer->rows;
  return pixels * (size_t)layer->in_channels;
}

size_t layer_num_outputs(const struct layer *layer) {
  size_t pixels = layer->kind == LAYER_CONVOLUTION
                      ? (size_t)(layer->out_size * layer->out_size)
                      : (size_t)layer->rows;
  return pixels * (size_t)layer->out_channels;
}

size_t layer_num_weights(const struct layer *layer) {
  return num_taps(layer) * (size_t)layer->out_channels;
}

double layer_flops(const struct layer *layer) {
  return 2.0 * (double)num_taps(layer) * (double)layer_num_outputs(layer);
}

size_t model_num_inputs(const struct model *model) {
  return layer_num_inputs(&model->layers[0]);
}

size_t model_num_outputs(const struct model *model) {
  return layer_num_outputs(&model->layers[model->num_layers - 1]);
}

bool models_repeat(struct model *models, const char *name, int repeats) {
  for (int m = 0; m < NUM_MODELS; m++)
    for (int i = 0; i < models[m].num_layers; i++) {
      if (strcmp(models[m].layers[i].site.name, name) != 0) continue;
      models[m].layers[i].repeats = repeats;
      return true;
    }
  return false;
}

// He's scale keeps activations near one however deep the model is.
static bool make_weights(struct layer *layer, uint32_t *state) {
  size_t num = layer_num_weights(layer);
  float scale = sqrtf(6.0f / (float)num_taps(layer));
  layer->weights = malloc(num * sizeof(float));
  layer->bias = calloc((size_t)layer->out_channels, sizeof(float));
  if (!layer->weights || !layer->bias) return false;
  for (size_t i = 0; i < num; i++) {
    *state = *state * 1664525u + 1013904223u;
    layer->weights[i] = scale * ((float)(*state >> 8) / 8388608.0f - 1.0f);
  }
  for (int i = 0; i < layer->out_channels; i++)
    layer->bias[i] = 0.01f * (float)(i % 7 - 3);
  return true;
}

struct model *models_create(void) {
  uint32_t state = 20240229;
  for (int m = 0; m < NUM_MODELS; m++) {
    for (int i = 0; i < model_table[m].num_layers; i++) {
      if (make_weights(&model_table[m].layers[i], &state)) continue;
      models_destroy(model_table);
      return NULL;
    }
  }
  return model_table;
}

void models_destroy(struct model *models) {
  for (int m = 0; models && m < NUM_MODELS; m++) {
    for (int i = 0; i < models[m].num_layers; i++) {
      free(models[m].layers[i].weights);
      free(models[m].layers[i].bias);
      models[m].layers[i].weights = models[m].layers[i].bias = NULL;
    }
  }
}

static double convolution_at(const struct layer *layer, const float *in,
                             size_t pixel, int channel) {
  int centre_x = (int)(pixel % (size_t)layer->out_size) * layer->stride;
  int centre_y = (int)(pixel / (size_t)layer->out_size) * layer->stride;
  double sum = layer->bias[channel];
  for (int ky = 0; ky < layer->kernel; ky++) {
    for (int kx = 0; kx < layer->kernel; kx++) {
      int y = centre_y + ky - layer->kernel / 2;
      int x = centre_x + kx - layer->kernel / 2;
      if (y < 0 || x < 0 || y >= layer->in_size || x >= layer->in_size)
        continue;
      for (int c = 0; c < layer->in_channels; c++) {
        int tap = (ky * layer->kernel + kx) * layer->in_channels + c;
        sum += (double)in[(y * layer->in_size + x) * layer->in_channels + c] *
               layer->weights[tap * layer->out_channels + channel];
      }
    }
  }
  return sum;
}

static double product_at(const struct layer *layer, const float *in, size_t row,
                         int channel) {
  double sum = layer->bias[channel];
  for (int c = 0; c < layer->in_channels; c++)
    sum += (double)in[row * (size_t)layer->in_channels + (size_t)c] *
           layer->weights[c * layer->out_channels + channel];
  return sum;
}

static void layer_reference(const struct layer *layer, const float *in,
                            float *out) {
  size_t num = layer_num_outputs(layer);
  for (size_t i = 0; i < num; i++) {
    size_t row = i / (size_t)layer->out_channels;
    int channel = (int)(i % (size_t)layer->out_channels);
    double value = layer->kind == LAYER_CONVOLUTION
                       ? convolution_at(layer, in, row, channel)
                       : product_at(layer, in, row, channel);
    out[i] = (float)(layer->relu && value < 0 ? 0 : value);
  }
}

bool model_reference(const struct model *model, const float *input,
                     float *output) {
  const float *in = input;
  float *between[MAX_LAYERS] = {NULL};
  bool done = true;
  for (int i = 0; i < model->num_layers && done; i++) {
    float *out = output;
    if (i + 1 < model->num_layers) {
      out = between[i] =
          malloc(layer_num_outputs(&model->layers[i]) * sizeof(float));
    }
    done = out != NULL;
    if (done) layer_reference(&model->layers[i], in, out);
    in = out;
  }
  for (int i = 0; i < MAX_LAYERS; i++) free(between[i]);
  return done;
}
