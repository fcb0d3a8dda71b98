// SPDX-License-Identifier: Apache-2.0
//
// Stage threads, requests in flight, and the check of every output.
#include "pipeline_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_image.h"
#include "pipeline_queue.h"

enum { NUM_FRAMES = 2, BATCH = 8, NUM_STAGES = 5 };
static const double tolerance = 1e-4;

struct request {
  uint64_t id;
  int frame, slot, num_boxes;
  bool failed;
  pprof_range range;
  struct box candidates[NUM_CANDIDATES], boxes[MAX_BOXES];
  uint8_t *rgb;
  float *input, *detect, *crops, *logits;
};

// What the requests of one frame must answer: the reference's own way through
// the pipeline.
struct expectation {
  uint8_t *frame;
  float *detect, *crops, *logits;
};

struct pipeline;

struct stage {
  const char *name;
  void (*run)(struct pipeline *pipeline, struct request *request);
  struct pipeline *pipeline;
  struct queue *in, *out;
  pthread_t thread;
  bool started;
};

// queues[i] feeds stage i; the last one holds the free requests.
struct pipeline {
  struct model *models;
  struct runner *runner;
  struct expectation expected[NUM_FRAMES];
  struct request requests[NUM_SLOTS];
  struct queue queues[NUM_STAGES + 1];
  struct stage stages[NUM_STAGES];
  struct pipeline_result result;  // of the last stage until it is joined
};

static void add_work(double items, double bytes, double flops) {
  pprof_work_amount work = {sizeof(work), items, bytes, flops, 0};
  pprof_work(&work);
}

static void prepare(struct pipeline *pipeline, struct request *request) {
  {
    PPROF_SCOPE_CAT("decode", PPROF_CATEGORY_DATALOADER);
    pprof_flow(request->id);
    add_work(1, FRAME_BYTES + RGB_BYTES, 0);
    image_decode(pipeline->expected[request->frame].frame, request->rgb);
  }
  PPROF_SCOPE_CAT("preprocess", PPROF_CATEGORY_PREPROCESS);
  pprof_flow(request->id);
  add_work(1, RGB_BYTES + INPUT_FLOATS * sizeof(float), 0);
  {
    PPROF_SCOPE_CAT("resize", PPROF_CATEGORY_OPERATOR);
    image_resize(request->rgb, request->input);
  }
  PPROF_SCOPE_CAT("normalise", PPROF_CATEGORY_OPERATOR);
  image_normalise(request->input);
}

static void submit(struct pipeline *pipeline, struct request *request,
                   int model, const float *input, float *output) {
  struct runner *runner = pipeline->runner;
  if (request->failed) return;
  request->failed =
      !runner->submit(runner, model, request->slot, input, output);
}

static void wait_for(struct pipeline *pipeline, struct request *request,
                     int model) {
  struct runner *runner = pipeline->runner;
  PPROF_SCOPE("wait for device");
  pprof_flow(request->id);
  if (request->failed) return;
  request->failed = !runner->wait(runner, model, request->slot);
}

static void detect(struct pipeline *pipeline, struct request *request) {
  PPROF_SCOPE_CAT("detect", PPROF_CATEGORY_INFERENCE);
  pprof_flow(request->id);
  submit(pipeline, request, MODEL_DETECT, request->input, request->detect);
}

static void choose(struct pipeline *pipeline, struct request *request) {
  wait_for(pipeline, request, MODEL_DETECT);
  if (request->failed) return;
  PPROF_SCOPE_CAT("choose boxes", PPROF_CATEGORY_CPU_TASK);
  pprof_flow(request->id);
  {
    PPROF_SCOPE_CAT("rank", PPROF_CATEGORY_OPERATOR);
    boxes_rank(request->detect, GRID_SIZE, NUM_ANCHORS, request->candidates);
  }
  {
    PPROF_SCOPE_CAT("suppress", PPROF_CATEGORY_OPERATOR);
    request->num_boxes = boxes_suppress(request->candidates, request->boxes);
  }
  PPROF_SCOPE_CAT("crop", PPROF_CATEGORY_OPERATOR);
  boxes_crop(request->input, request->boxes, request->num_boxes,
             request->crops);
  add_work(request->num_boxes, 0, 0);
}

static void classify(struct pipeline *pipeline, struct request *request) {
  PPROF_SCOPE_CAT("classify", PPROF_CATEGORY_INFERENCE);
  pprof_flow(request->id);
  submit(pipeline, request, MODEL_CLASSIFY, request->crops, request->logits);
}

// The largest difference, relative to the largest expected value. NaN counts
// as infinite.
static double difference(const float *got, const float *want, size_t num) {
  double largest = 0, scale = 0;
  for (size_t i = 0; i < num; i++) {
    double apart = fabs((double)got[i] - (double)want[i]);
    if (!(apart <= largest)) largest = isnan(apart) ? INFINITY : apart;
    scale = fmax(scale, fabs((double)want[i]));
  }
  return scale > 0 ? largest / scale : INFINITY;
}

// A device's rounding may swap two boxes of nearly equal score; then the
// classifier is judged by the crops that it was given.
static bool follow_crops(struct pipeline *pipeline,
                         const struct request *request) {
  struct expectation *expected = &pipeline->expected[request->frame];
  size_t bytes = sizeof(float) * CROP_FLOATS * MAX_BOXES;
  if (difference(request->crops, expected->crops, CROP_FLOATS * MAX_BOXES) <
      tolerance)
    return true;
  PPROF_SCOPE("reference again");
  memcpy(expected->crops, request->crops, bytes);
  return model_reference(&pipeline->models[MODEL_CLASSIFY], expected->crops,
                         expected->logits);
}

static void check(struct pipeline *pipeline, struct request *request) {
  const struct expectation *expected = &pipeline->expected[request->frame];
  const struct model *models = pipeline->models;
  PPROF_SCOPE("check");
  double apart = difference(request->detect, expected->detect,
                            model_num_outputs(&models[MODEL_DETECT]));
  if (!follow_crops(pipeline, request)) request->failed = true;
  apart = fmax(apart, difference(request->logits, expected->logits,
                                 model_num_outputs(&models[MODEL_CLASSIFY])));
  if (!(apart <= tolerance) || request->num_boxes == 0) request->failed = true;
  struct pipeline_result *result = &pipeline->result;
  result->largest_error = fmax(result->largest_error, apart);
}

static void complete(struct pipeline *pipeline, struct request *request) {
  PPROF_SITE(batch_done, "batch done", PPROF_CATEGORY_USER_DEFINED);
  struct pipeline_result *result = &pipeline->result;
  pprof_work_amount work = {sizeof(work), 1, 0, 0, 0};
  pprof_range_work(request->range, &work);
  pprof_range_end(request->range);
  result->num_done++;
  result->num_failed += request->failed;
  result->num_boxes += request->num_boxes;
  if (result->num_done % BATCH != 0) return;
  pprof_mark(&batch_done);
  pprof_step(BATCH);
}

static void postprocess(struct pipeline *pipeline, struct request *request) {
  wait_for(pipeline, request, MODEL_CLASSIFY);
  if (!request->failed) {
    PPROF_SCOPE_CAT("postprocess", PPROF_CATEGORY_POSTPROCESS);
    pprof_flow(request->id);
    add_work(request->num_boxes, 0, 0);
    for (int i = 0; i < request->num_boxes; i++) {
      float probability;
      classes_read(request->logits + i * NUM_CLASSES, NUM_CLASSES,
                   &probability);
      request->boxes[i].score = probability;
    }
    check(pipeline, request);
  }
  complete(pipeline, request);
}

static void *stage_main(void *argument) {
  struct stage *stage = argument;
  struct request *request;
  pprof_thread_name(stage->name);
  while ((request = queue_take(stage->in)) != NULL) {
    stage->run(stage->pipeline, request);
    queue_put(stage->out, request);
  }
  queue_close(stage->out);
  return NULL;
}

static void *floats(size_t num) {
  return calloc(num, sizeof(float));
}

static bool expectation_init(struct expectation *expected,
                             const struct model *models, int seed,
                             struct request *scratch) {
  PPROF_SCOPE("reference");
  expected->frame = malloc(FRAME_BYTES);
  expected->detect = floats(model_num_outputs(&models[MODEL_DETECT]));
  expected->crops = floats(CROP_FLOATS * MAX_BOXES);
  expected->logits = floats(model_num_outputs(&models[MODEL_CLASSIFY]));
  if (!expected->frame || !expected->detect || !expected->crops ||
      !expected->logits)
    return false;
  frame_generate(expected->frame, (uint32_t)seed);
  image_decode(expected->frame, scratch->rgb);
  image_resize(scratch->rgb, scratch->input);
  image_normalise(scratch->input);
  if (!model_reference(&models[MODEL_DETECT], scratch->input, expected->detect))
    return false;
  boxes_rank(expected->detect, GRID_SIZE, NUM_ANCHORS, scratch->candidates);
  int num_boxes = boxes_suppress(scratch->candidates, scratch->boxes);
  boxes_crop(scratch->input, scratch->boxes, num_boxes, expected->crops);
  return model_reference(&models[MODEL_CLASSIFY], expected->crops,
                         expected->logits);
}

static bool request_init(struct request *request, const struct model *models,
                         int slot) {
  request->slot = slot;
  request->rgb = malloc(RGB_BYTES);
  request->input = floats(INPUT_FLOATS);
  request->detect = floats(model_num_outputs(&models[MODEL_DETECT]));
  request->crops = floats(CROP_FLOATS * MAX_BOXES);
  request->logits = floats(model_num_outputs(&models[MODEL_CLASSIFY]));
  return request->rgb && request->input && request->detect && request->crops &&
         request->logits;
}

static void free_all(struct pipeline *pipeline) {
  for (int i = 0; i < NUM_SLOTS; i++) {
    struct request *request = &pipeline->requests[i];
    free(request->rgb);
    free(request->input);
    free(request->detect);
    free(request->crops);
    free(request->logits);
  }
  for (int i = 0; i < NUM_FRAMES; i++) {
    free(pipeline->expected[i].frame);
    free(pipeline->expected[i].detect);
    free(pipeline->expected[i].crops);
    free(pipeline->expected[i].logits);
  }
  for (int i = 0; i <= NUM_STAGES; i++) queue_destroy(&pipeline->queues[i]);
  free(pipeline);
}

static struct pipeline *make_pipeline(struct runner *runner,
                                      struct model *models) {
  static pprof_site depths[NUM_STAGES + 1] = {
      {"queue: frames", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}},
      {"queue: to detect", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}},
      {"queue: to choose", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}},
      {"queue: to classify", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}},
      {"queue: to read", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}},
      {"free slots", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}}};
  struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
  if (!pipeline) return NULL;
  pipeline->runner = runner;
  pipeline->models = models;
  for (int i = 0; i <= NUM_STAGES; i++)
    queue_init(&pipeline->queues[i], &depths[i]);
  bool good = true;
  for (int i = 0; i < NUM_SLOTS && good; i++)
    good = request_init(&pipeline->requests[i], models, i);
  for (int i = 0; i < NUM_FRAMES && good; i++)
    good = expectation_init(&pipeline->expected[i], models, i,
                            &pipeline->requests[0]);
  if (good) return pipeline;
  free_all(pipeline);
  return NULL;
}

static bool start_stages(struct pipeline *pipeline) {
  static const struct stage table[NUM_STAGES] = {
      {.name = "prepare", .run = prepare},
      {.name = "detect", .run = detect},
      {.name = "choose", .run = choose},
      {.name = "classify", .run = classify},
      {.name = "read", .run = postprocess}};
  bool good = true;
  for (int i = 0; i < NUM_STAGES && good; i++) {
    struct stage *stage = &pipeline->stages[i];
    *stage = table[i];
    stage->pipeline = pipeline;
    stage->in = &pipeline->queues[i];
    stage->out = &pipeline->queues[i + 1];
    good = stage->started =
        pthread_create(&stage->thread, NULL, stage_main, stage) == 0;
  }
  return good;
}

static void feed(struct pipeline *pipeline, int num_requests) {
  PPROF_SITE(site, "request", PPROF_CATEGORY_USER_DEFINED);
  struct queue *free_slots = &pipeline->queues[NUM_STAGES];
  for (int i = 0; i < NUM_SLOTS; i++)
    queue_put(free_slots, &pipeline->requests[i]);
  for (int i = 0; i < num_requests; i++) {
    struct request *request = queue_take(free_slots);
    request->id = (uint64_t)i + 1;
    request->frame = i % NUM_FRAMES;
    request->failed = false;
    request->num_boxes = 0;
    request->range = pprof_range_begin(&site);
    pprof_range_flow(request->range, request->id);
    queue_put(&pipeline->queues[0], request);
  }
}

bool pipeline_run(struct runner *runner, struct model *models, int num_requests,
                  struct pipeline_result *out) {
  PPROF_SITE(ready, "ready", PPROF_CATEGORY_USER_DEFINED);
  struct pipeline *pipeline = make_pipeline(runner, models);
  if (!pipeline) return false;
  pprof_mark(&ready);
  pprof_step(0);  // step 0 was the setting up
  bool good = start_stages(pipeline);
  if (good) feed(pipeline, num_requests);
  // Closing the first queue ends the stages one after the other.
  queue_close(&pipeline->queues[0]);
  for (int i = 0; i < NUM_STAGES; i++)
    if (pipeline->stages[i].started)
      pthread_join(pipeline->stages[i].thread, NULL);
  *out = pipeline->result;
  free_all(pipeline);
  return good;
}
