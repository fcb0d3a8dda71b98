// SPDX-License-Identifier: Apache-2.0
//
// A training loop that its loader holds up: each step unpacks a batch of
// images, turns them, and fits a linear model to them, all on one thread. For
// docs/first-answer.md.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pprof/pprof.h"

enum { SIDE = 128, PIXELS = SIDE * SIDE, IMAGES = 16, STEPS = 40, PASSES = 3 };

struct loader {
  uint8_t packed[2 * PIXELS];  // pairs: how often, how much brighter
  size_t num_packed;
  uint8_t image[PIXELS];
  float batch[IMAGES][PIXELS];
};

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 24;
}

static void make_packed(struct loader *loader) {
  uint32_t state = 1;
  loader->num_packed = 0;
  for (int left = PIXELS; left > 0;) {
    int run = (int)next_random(&state) % 3 + 1;
    if (run > left) run = left;
    loader->packed[loader->num_packed++] = (uint8_t)run;
    loader->packed[loader->num_packed++] = (uint8_t)next_random(&state);
    left -= run;
  }
}

// Each pixel is predicted from those before it, as PNG's fourth filter does.
static uint8_t predict(const uint8_t *image, int at) {
  int left = at ? image[at - 1] : 0;
  int above = at >= SIDE ? image[at - SIDE] : 0;
  int corner = at > SIDE ? image[at - SIDE - 1] : 0;
  int guess = left + above - corner;
  int to_left = abs(guess - left), to_above = abs(guess - above);
  int to_corner = abs(guess - corner);
  if (to_left <= to_above && to_left <= to_corner) return (uint8_t)left;
  return (uint8_t)(to_above <= to_corner ? above : corner);
}

static void unpack(struct loader *loader, uint8_t seed) {
  PPROF_SCOPE_CAT("unpack", PPROF_CATEGORY_DATALOADER);
  for (int pass = 0; pass < PASSES; pass++) {  // one for each colour
    int at = 0;
    for (size_t i = 0; i < loader->num_packed; i += 2)
      for (int run = loader->packed[i]; run > 0; run--, at++)
        loader->image[at] = (uint8_t)(predict(loader->image, at) +
                                      loader->packed[i + 1] + seed);
  }
}

static void turn(struct loader *loader, float *out) {
  PPROF_SCOPE_CAT("turn", PPROF_CATEGORY_DATALOADER);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      out[x * SIDE + y] = (float)loader->image[y * SIDE + x] / 255;
}

static void load(struct loader *loader, int step) {
  PPROF_SCOPE_CAT("load", PPROF_CATEGORY_DATALOADER);
  for (int i = 0; i < IMAGES; i++) {
    unpack(loader, (uint8_t)(step + i));
    turn(loader, loader->batch[i]);
  }
}

static void fit(struct loader *loader, float *weights) {
  PPROF_SCOPE_CAT("fit", PPROF_CATEGORY_FORWARD);
  for (int i = 0; i < IMAGES; i++) {
    const float *image = loader->batch[i];
    float sum = 0;
    for (int k = 0; k < PIXELS; k++) sum += weights[k] * image[k];
    float step = 1e-5f * ((float)(i % 2) - sum);
    for (int k = 0; k < PIXELS; k++) weights[k] += step * image[k];
  }
}

int main(void) {
  pprof_error error;
  struct loader *loader = calloc(1, sizeof *loader);
  float *weights = calloc(PIXELS, sizeof *weights);
  if (!loader || !weights) return 1;
  make_packed(loader);
  if (pprof_start(NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  for (int step = 0; step < STEPS; step++) {
    load(loader, step);
    fit(loader, weights);
    pprof_step(IMAGES);
  }
  pprof_status status = pprof_stop(&error);
  printf("loader: the first weight is %g\n", (double)weights[PIXELS / 2]);
  free(weights);
  free(loader);
  return status == PPROF_STATUS_OK ? 0 : 1;
}
