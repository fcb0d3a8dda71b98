// SPDX-License-Identifier: Apache-2.0
//
// Runs the models on the CPU backend's streams (one worker thread per model),
// for machines without OpenCL. Inner loops run over output channels, so that
// the compiler can use vectors; the reference goes the other way round.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_runner.h"

struct job {
  struct job_slot *slot;
  const struct layer *layer;
  const float *in;
  float *out;
};

struct job_slot {
  struct cpu_runner *runner;
  float *between[2];
  float *input, *output;  // the device's own copies
  struct job jobs[MAX_LAYERS];
  const float *host_input;
  float *host_output;
  const struct model *model;
  bool done;
};

struct cpu_runner {
  struct runner base;
  struct model *models;
  pprof_cpu_stream *streams[NUM_MODELS];
  struct job_slot slots[NUM_MODELS][NUM_SLOTS];
  pthread_mutex_t mutex;
  pthread_cond_t finished;
};

static void accumulate(float *restrict sums, const float *restrict in,
                       const float *restrict weights, int num_in, int num_out) {
  for (int c = 0; c < num_in; c++) {
    float value = in[c];
    for (int o = 0; o < num_out; o++) sums[o] += value * weights[o];
    weights += num_out;
  }
}

static void finish_row(const struct layer *layer, float *row) {
  for (int o = 0; layer->relu && o < layer->out_channels; o++)
    row[o] = row[o] > 0 ? row[o] : 0;
}

static void convolve_pixel(const struct job *job, int x, int y, float *row) {
  const struct layer *layer = job->layer;
  memcpy(row, layer->bias, sizeof(float) * (size_t)layer->out_channels);
  for (int ky = 0; ky < layer->kernel; ky++) {
    int from_y = y * layer->stride + ky - layer->kernel / 2;
    if (from_y < 0 || from_y >= layer->in_size) continue;
    for (int kx = 0; kx < layer->kernel; kx++) {
      int from_x = x * layer->stride + kx - layer->kernel / 2;
      if (from_x < 0 || from_x >= layer->in_size) continue;
      accumulate(
          row,
          job->in + (from_y * layer->in_size + from_x) * layer->in_channels,
          layer->weights + (ky * layer->kernel + kx) * layer->in_channels *
                               layer->out_channels,
          layer->in_channels, layer->out_channels);
    }
  }
  finish_row(layer, row);
}

static void convolve(void *argument) {
  const struct job *job = argument;
  int size = job->layer->out_size;
  for (int y = 0; y < size; y++)
    for (int x = 0; x < size; x++)
      convolve_pixel(job, x, y,
                     job->out + (y * size + x) * job->layer->out_channels);
}

static void multiply(void *argument) {
  const struct job *job = argument;
  const struct layer *layer = job->layer;
  for (int r = 0; r < layer->rows; r++) {
    float *row = job->out + r * layer->out_channels;
    memcpy(row, layer->bias, sizeof(float) * (size_t)layer->out_channels);
    accumulate(row, job->in + r * layer->in_channels, layer->weights,
               layer->in_channels, layer->out_channels);
    finish_row(layer, row);
  }
}

static void upload(void *argument) {
  struct job_slot *slot = argument;
  memcpy(slot->input, slot->host_input,
         model_num_inputs(slot->model) * sizeof(float));
}

static void download(void *argument) {
  struct job_slot *slot = argument;
  memcpy(slot->host_output, slot->output,
         model_num_outputs(slot->model) * sizeof(float));
}

static void announce(void *argument) {
  struct job_slot *slot = argument;
  pthread_mutex_lock(&slot->runner->mutex);
  slot->done = true;
  pthread_cond_broadcast(&slot->runner->finished);
  pthread_mutex_unlock(&slot->runner->mutex);
}

static bool enqueue(struct cpu_runner *self, int model, void (*run)(void *),
                    void *argument) {
  pprof_status status =
      pprof_cpu_stream_submit(self->streams[model], run, argument);
  if (status == PPROF_STATUS_OK) return true;
  snprintf(self->base.error, sizeof(self->base.error), "cpu stream: %s",
           pprof_status_string(status));
  return false;
}

static bool cpu_submit(struct runner *runner, int model, int slot_index,
                       const float *input, float *output) {
  struct cpu_runner *self = (struct cpu_runner *)runner;
  struct job_slot *slot = &self->slots[model][slot_index];
  struct model *to_run = &self->models[model];
  struct run_marks marks = {pprof_device_get(pprof_backend_cpu(), 0),
                            self->streams[model]};
  slot->host_input = input;
  slot->host_output = output;
  slot->done = false;
  run_begin(&marks, to_run);
  bool good = enqueue(self, model, upload, slot);
  for (int i = 0; i < to_run->num_layers && good; i++) {
    struct layer *layer = &to_run->layers[i];
    run_layer(&marks, layer);
    for (int k = 0; k < layer->repeats && good; k++)
      good = enqueue(self, model,
                     layer->kind == LAYER_CONVOLUTION ? convolve : multiply,
                     &slot->jobs[i]);
  }
  run_download(&marks, to_run);
  good = good && enqueue(self, model, download, slot);
  run_end(&marks);
  return good && enqueue(self, model, announce, slot);
}

static bool cpu_wait(struct runner *runner, int model, int slot_index) {
  struct cpu_runner *self = (struct cpu_runner *)runner;
  struct job_slot *slot = &self->slots[model][slot_index];
  pthread_mutex_lock(&self->mutex);
  while (!slot->done) pthread_cond_wait(&self->finished, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
  return true;
}

static void cpu_destroy(struct runner *runner) {
  struct cpu_runner *self = (struct cpu_runner *)runner;
  for (int m = 0; m < NUM_MODELS; m++) {
    if (self->streams[m]) pprof_cpu_stream_destroy(self->streams[m]);
    for (int s = 0; s < NUM_SLOTS; s++) {
      struct job_slot *slot = &self->slots[m][s];
      free(slot->between[0]);
      free(slot->between[1]);
      free(slot->input);
      free(slot->output);
    }
  }
  pthread_cond_destroy(&self->finished);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

static bool slot_init(struct cpu_runner *self, int model, int slot_index) {
  struct job_slot *slot = &self->slots[model][slot_index];
  const struct model *to_run = &self->models[model];
  slot->runner = self;
  slot->model = to_run;
  slot->input = malloc(model_num_inputs(to_run) * sizeof(float));
  slot->output = malloc(model_num_outputs(to_run) * sizeof(float));
  if (!slot->input || !slot->output) return false;
  const float *in = slot->input;
  for (int i = 0; i < to_run->num_layers; i++) {
    const struct layer *layer = &to_run->layers[i];
    float *out = slot->output;
    if (i + 1 < to_run->num_layers)
      out = slot->between[i] = malloc(layer_num_outputs(layer) * sizeof(float));
    if (!out) return false;
    slot->jobs[i] = (struct job){slot, layer, in, out};
    in = out;
  }
  return true;
}

struct runner *runner_create_cpu(struct model *models, char *why_not,
                                 size_t why_not_size) {
  static const char *const names[NUM_MODELS] = {"detector", "classifier"};
  struct cpu_runner *self = calloc(1, sizeof(*self));
  bool good = self != NULL;
  snprintf(why_not, why_not_size, "out of memory");
  if (!good) return NULL;
  self->base = (struct runner){.name = "cpu",
                               .description = "worker threads",
                               .submit = cpu_submit,
                               .wait = cpu_wait,
                               .destroy = cpu_destroy};
  self->models = models;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->finished, NULL);
  for (int m = 0; m < NUM_MODELS && good; m++) {
    good = pprof_cpu_stream_create(&self->streams[m]) == PPROF_STATUS_OK;
    if (good)
      pprof_stream_name(pprof_device_get(pprof_backend_cpu(), 0),
                        self->streams[m], names[m]);
    for (int s = 0; s < NUM_SLOTS && good; s++) good = slot_init(self, m, s);
  }
  if (good) return &self->base;
  cpu_destroy(&self->base);
  return NULL;
}
