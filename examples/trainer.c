// SPDX-License-Identifier: Apache-2.0
//
// A device that waits for the host: each step the host sorts a batch, then has
// the device multiply it, and waits for that before it begins the next one. The
// device is a stream of the cpu backend. For docs/cookbook.md: trainer [SAMPLES
// [TIMES]] sorts SAMPLES numbers and multiplies TIMES times.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pprof/pprof.h"

enum { ROWS = 96, COLUMNS = 96, SAMPLES = 60000, STEPS = 40 };

static size_t num_samples = SAMPLES;
static unsigned long times = 1;

struct batch {
  uint32_t *samples;
  float input[ROWS * COLUMNS], weights[COLUMNS * COLUMNS];
  float output[ROWS * COLUMNS];
};

static int compare(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void shuffle(struct batch *batch, uint32_t seed) {
  PPROF_SCOPE_CAT("shuffle", PPROF_CATEGORY_PREPROCESS);
  for (size_t i = 0; i < num_samples; i++) {
    seed = seed * 1664525u + 1013904223u;
    batch->samples[i] = seed;
  }
}

// Similar samples stand together.
static void sort(struct batch *batch) {
  PPROF_SCOPE_CAT("sort", PPROF_CATEGORY_PREPROCESS);
  qsort(batch->samples, num_samples, sizeof *batch->samples, compare);
  for (size_t i = 0; i < ROWS * COLUMNS; i++)
    batch->input[i] = (float)(batch->samples[i % num_samples] >> 8) / 16777216;
}

static void multiply(void *argument) {
  struct batch *batch = argument;
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++) {
      float sum = 0;
      for (int k = 0; k < COLUMNS; k++)
        sum += batch->input[row * COLUMNS + k] *
               batch->weights[k * COLUMNS + column];
      batch->output[row * COLUMNS + column] = sum;
    }
}

static int forward(struct batch *batch, pprof_device *device,
                   pprof_cpu_stream *stream) {
  PPROF_SITE(model, "model", PPROF_CATEGORY_FORWARD);
  pprof_device_push(device, stream, &model);
  pprof_status status = PPROF_STATUS_OK;
  for (unsigned long i = 0; i < times && status == PPROF_STATUS_OK; i++)
    status = pprof_cpu_stream_submit(stream, multiply, batch);
  pprof_device_pop(device, stream);
  return status == PPROF_STATUS_OK;
}

static void wait_for(pprof_cpu_stream *stream) {
  PPROF_SCOPE_CAT("wait", PPROF_CATEGORY_RUNTIME);
  pprof_cpu_stream_synchronize(stream);
}

static int train(struct batch *batch, pprof_cpu_stream *stream) {
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  for (uint32_t step = 0; step < STEPS; step++) {
    shuffle(batch, step);
    sort(batch);
    if (!forward(batch, device, stream)) return 0;
    wait_for(stream);
    pprof_step(ROWS);
  }
  return 1;
}

int main(int argc, char **argv) {
  pprof_error error;
  pprof_cpu_stream *stream = NULL;
  if (argc > 1) num_samples = strtoul(argv[1], NULL, 10);
  if (argc > 2) times = strtoul(argv[2], NULL, 10);
  struct batch *batch = calloc(1, sizeof *batch);
  if (!batch || num_samples == 0) return 1;
  batch->samples = calloc(num_samples, sizeof *batch->samples);
  if (!batch->samples || pprof_cpu_stream_create(&stream)) return 1;
  for (size_t i = 0; i < COLUMNS * COLUMNS; i++)
    batch->weights[i] = (float)(i % 7) / 7;
  if (pprof_start(NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  int good = train(batch, stream);
  good = pprof_stop(&error) == PPROF_STATUS_OK && good;
  printf("trainer: the last output is %g\n",
         (double)batch->output[ROWS * COLUMNS - 1]);
  pprof_cpu_stream_destroy(stream);
  free(batch->samples);
  free(batch);
  return good ? 0 : 1;
}
