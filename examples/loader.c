// SPDX-License-Identifier: Apache-2.0
//
// A training loop that its loader holds up: each step unpacks a batch of
// images, turns them, and fits a linear model to them. For docs/cookbook.md:
// loader [THREADS [STEPS]]. The threads share a batch; the default is one.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pprof/pprof.h"

enum { SIDE = 128, PIXELS = SIDE * SIDE, IMAGES = 16, STEPS = 40, PASSES = 3 };

struct loader {
  uint8_t packed[2 * PIXELS];  // pairs: how often, how much brighter
  size_t num_packed;
  float batch[IMAGES][PIXELS];
};

// Of a batch every num_threads-th image, from the first one on.
struct share {
  struct loader *loader;
  int step, first, num_threads;
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
  int candidate = left + above - corner;
  int to_left = abs(candidate - left), to_above = abs(candidate - above);
  int to_corner = abs(candidate - corner);
  if (to_left <= to_above && to_left <= to_corner) return (uint8_t)left;
  return (uint8_t)(to_above <= to_corner ? above : corner);
}

static void unpack(const struct loader *loader, uint8_t seed, uint8_t *image) {
  PPROF_SCOPE_CAT("unpack", PPROF_CATEGORY_PREPROCESS);
  for (int pass = 0; pass < PASSES; pass++) {  // one for each colour
    int at = 0;
    for (size_t i = 0; i < loader->num_packed; i += 2)
      for (int run = loader->packed[i]; run > 0; run--, at++)
        image[at] =
            (uint8_t)(predict(image, at) + loader->packed[i + 1] + seed);
  }
}

static void turn(const uint8_t *image, float *out) {
  PPROF_SCOPE_CAT("turn", PPROF_CATEGORY_PREPROCESS);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++)
      out[x * SIDE + y] = (float)image[y * SIDE + x] / 255;
}

static void *load_share(void *context) {
  const struct share *share = context;
  uint8_t image[PIXELS];
  for (int i = share->first; i < IMAGES; i += share->num_threads) {
    unpack(share->loader, (uint8_t)(share->step + i), image);
    turn(image, share->loader->batch[i]);
  }
  return NULL;
}

static int load(struct loader *loader, int step, int num_threads) {
  PPROF_SCOPE_CAT("load", PPROF_CATEGORY_DATALOADER);
  pthread_t threads[IMAGES];
  struct share shares[IMAGES];
  for (int i = 0; i < num_threads; i++) {
    shares[i] = (struct share){loader, step, i, num_threads};
    if (i && pthread_create(&threads[i], NULL, load_share, &shares[i]))
      return 0;
  }
  load_share(&shares[0]);
  for (int i = 1; i < num_threads; i++) pthread_join(threads[i], NULL);
  return 1;
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

int main(int argc, char **argv) {
  int num_threads = argc > 1 ? atoi(argv[1]) : 1;
  int num_steps = argc > 2 ? atoi(argv[2]) : STEPS;
  if (num_threads < 1 || num_threads > IMAGES || num_steps < 1) {
    fprintf(stderr, "loader: 1 to %d threads, 1 step or more\n", IMAGES);
    return 2;
  }
  pprof_error error;
  struct loader *loader = calloc(1, sizeof *loader);
  float *weights = calloc(PIXELS, sizeof *weights);
  if (!loader || !weights) return 1;
  make_packed(loader);
  if (pprof_start(NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  int good = 1;
  for (int step = 0; step < num_steps && good; step++) {
    good = load(loader, step, num_threads);
    fit(loader, weights);
    pprof_step(IMAGES);
  }
  pprof_status status = pprof_stop(&error);
  printf("loader: the first weight is %g\n", (double)weights[PIXELS / 2]);
  free(weights);
  free(loader);
  return good && status == PPROF_STATUS_OK ? 0 : 1;
}
