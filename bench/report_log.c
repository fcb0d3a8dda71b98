// SPDX-License-Identifier: Apache-2.0
//
// Writes a made log. Its threads call modules, modules call operators, and
// these call inner ones, with log-normal times in full nanoseconds. Steps and
// checkpoints come as in a session.
#include "report_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/event.h"
#include "event/tally.h"
#include "pprof/log.h"

enum {
  // A session takes a checkpoint a second, and one after so many records.
  MOST_UNCHECKED = 1 << 18,
  BATCH = 1000,
  MAX_GROUP = 1 + 3 + 2 * 3 * 5,
  NUM_ACTIVE = 3,  // requests at a time
  NUM_OUTER = 3,
  NUM_MIDDLE = 10,
  STEP_SITE = BENCH_LOG_NAMES + 1,
  FIRST_KERNEL,
  NUM_KERNELS = 8
};

typedef struct lane {
  uint64_t now_ns, num_events;
  uint64_t random;
  uint64_t device_ns;  // when its stream is free
  uint64_t flow;       // the request of its group; 0: none
} lane;

typedef struct writer {
  const bench_log *log;
  pprof_sink *sink;
  ppi_tally tally;
  double mean_ns;  // of one range, and as much again lies between four
  lane lanes[BENCH_LOG_LANES];
  pprof_event events[BATCH + MAX_GROUP];
  uint64_t flows[BATCH + MAX_GROUP];
  uint64_t num_ranges, num_steps, step_ns;
  pprof_status status;
} writer;

// splitmix64: any seed will do, and lanes need seeds of their own.
static uint64_t next_random(lane *self) {
  uint64_t x = self->random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double unit_random(lane *self) {
  return ((double)(next_random(self) >> 11) + 0.5) / 9007199254740992.0;
}

static void pass_gap(const writer *self, lane *in) {
  in->now_ns += 1 + (uint64_t)(unit_random(in) * self->mean_ns / 2);
}

static void pass_leaf(const writer *self, lane *in) {
  const double sigma = 0.8;
  double normal = sqrt(-2 * log(unit_random(in))) *
                  cos(6.283185307179586 * unit_random(in));
  in->now_ns +=
      1 + (uint64_t)(self->mean_ns * exp(sigma * normal - sigma * sigma / 2));
}

// All that a group does is for one of those that are active.
static void pick_request(const writer *self, lane *in) {
  uint64_t ranges = self->log->request_ranges;
  double all = (double)in->now_ns / self->mean_ns * self->log->num_lanes;
  if (ranges)
    in->flow =
        1 + (uint64_t)(all / (double)ranges) + next_random(in) % NUM_ACTIVE;
}

static void serve(writer *self, size_t at, const lane *in) {
  self->flows[at] = in->flow;
  self->events[at].flows = &self->flows[at];
  self->events[at].num_flows = in->flow != 0;
}

static void put(writer *self, size_t *num, uint32_t lane_id, uint32_t depth,
                uint32_t site, uint64_t start_ns) {
  self->events[*num] = (pprof_event){.start_ns = start_ns,
                                     .end_ns = self->lanes[lane_id - 1].now_ns,
                                     .site = site,
                                     .lane = lane_id,
                                     .depth = depth,
                                     .kind = PPROF_KIND_RANGE};
  serve(self, (*num)++, &self->lanes[lane_id - 1]);
}

// Each lane has a stream, which is busy for about half of the time.
static void put_kernel(writer *self, size_t *num, uint32_t lane_id,
                       uint64_t start_ns) {
  lane *in = &self->lanes[lane_id - 1];
  uint64_t begin_ns =
      in->now_ns > in->device_ns ? in->now_ns : in->device_ns + 1;
  in->device_ns = begin_ns + 1 +
                  (uint64_t)(unit_random(in) * self->mean_ns * 150 /
                             self->log->device_percent);
  self->events[*num] = (pprof_event){
      .start_ns = start_ns,
      .end_ns = in->now_ns,
      .device_start_ns = begin_ns,
      .device_end_ns = in->device_ns,
      .site = FIRST_KERNEL + (uint32_t)(next_random(in) % NUM_KERNELS),
      .lane = lane_id,
      .stream = lane_id,
      .depth = 3,
      .kind = PPROF_KIND_DEVICE_RANGE};
  serve(self, (*num)++, in);
}

// Adds one outer range and the ranges in it, in the order of their ends.
static void add_group(writer *self, size_t *num, uint32_t lane_id) {
  lane *in = &self->lanes[lane_id - 1];
  uint64_t random = next_random(in);
  pass_gap(self, in);
  pick_request(self, in);
  uint64_t outer_ns = in->now_ns;
  for (uint64_t i = 1 + random % 3; i > 0; i--) {
    uint64_t choice = next_random(in);
    pass_gap(self, in);
    uint64_t middle_ns = in->now_ns;
    for (uint64_t j = 1 + choice % 5; j > 0; j--) {
      pass_gap(self, in);
      uint64_t leaf_ns = in->now_ns;
      pass_leaf(self, in);
      if (self->log->device_percent &&
          next_random(in) % 100 < self->log->device_percent)
        put_kernel(self, num, lane_id, leaf_ns);
      const uint32_t first = 1 + NUM_OUTER + NUM_MIDDLE;
      uint32_t site =
          first + (uint32_t)(next_random(in) % (BENCH_LOG_NAMES + 1 - first));
      put(self, num, lane_id, 2, site, leaf_ns);
    }
    pass_gap(self, in);
    uint32_t site = 1 + NUM_OUTER + (uint32_t)(choice >> 32) % NUM_MIDDLE;
    put(self, num, lane_id, 1, site, middle_ns);
  }
  pass_gap(self, in);
  put(self, num, lane_id, 0, 1 + (uint32_t)(random >> 32) % NUM_OUTER,
      outer_ns);
}

// Blocks not yet on disk pile up in the writer's memory.
static void wait_for_disk(pprof_sink *sink) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (sink->ready && !sink->ready(sink)) nanosleep(&pause, NULL);
}

static void send(writer *self, uint32_t lane_id, const pprof_event *events,
                 size_t num, uint64_t *num_before) {
  pprof_batch batch = {.size = sizeof batch,
                       .stride = sizeof *events,
                       .events = events,
                       .num_events = num,
                       .first_seq = *num_before,
                       .end_seq = *num_before + num,
                       .lane = lane_id};
  *num_before += num;
  if (self->status != PPROF_STATUS_OK) return;
  wait_for_disk(self->sink);
  self->status = ppi_tally_batch(&self->tally, &batch);
  if (self->status == PPROF_STATUS_OK)
    self->status = self->sink->events(self->sink, &batch);
}

static uint32_t pick_lane(const writer *self) {
  uint32_t first = 0;
  for (uint32_t i = 1; i < self->log->num_lanes; i++)
    if (self->lanes[i].now_ns < self->lanes[first].now_ns) first = i;
  return first + 1;
}

static pprof_event step_event(const writer *self, uint64_t end_ns) {
  return (pprof_event){.start_ns = self->step_ns,
                       .end_ns = end_ns,
                       .value = (double)self->num_steps,
                       .site = STEP_SITE,
                       .kind = PPROF_KIND_RANGE,
                       .flags = PPROF_FLAG_ASYNC};
}

static void end_step(writer *self, uint64_t at_ns) {
  pprof_event step = step_event(self, at_ns);
  uint64_t before = self->num_steps++;
  send(self, 0, &step, 1, &before);
  self->step_ns = at_ns;
}

// The lane furthest behind is between two groups. The other lanes have
// delivered all ranges that began before that moment.
static void add_checkpoint(writer *self, uint64_t at_ns) {
  pprof_event step = step_event(self, at_ns);
  pprof_checkpoint checkpoint = {at_ns, &step, 1};
  if (self->status == PPROF_STATUS_OK)
    self->status = self->sink->checkpoint(self->sink, &checkpoint);
}

static void add_ranges(writer *self) {
  uint64_t interval = PPI_MIN(self->log->ranges_per_second, MOST_UNCHECKED);
  uint64_t next_checkpoint = interval, next_step = BENCH_LOG_STEP;
  while (self->status == PPROF_STATUS_OK &&
         self->num_ranges < self->log->num_ranges) {
    uint32_t lane_id = pick_lane(self);
    lane *in = &self->lanes[lane_id - 1];
    if (self->num_ranges >= next_step) {
      end_step(self, in->now_ns);
      next_step += BENCH_LOG_STEP;
    }
    if (self->num_ranges >= next_checkpoint) {
      add_checkpoint(self, in->now_ns);
      next_checkpoint += interval;
    }
    size_t num = 0;
    while (num < BATCH) add_group(self, &num, lane_id);
    send(self, lane_id, self->events, num, &in->num_events);
    self->num_ranges += num;
  }
}

static void define(writer *self, pprof_definition_kind kind, uint32_t id,
                   uint32_t parent, uint64_t number, const char *name) {
  pprof_definition definition = {kind, id, parent, 0, number, name};
  if (self->status == PPROF_STATUS_OK)
    self->status = self->sink->define(self->sink, &definition);
}

static void define_sites(writer *self) {
  static const char *const levels[] = {"module", "operator", "inner"};
  // The outermost ones are phases of a step.
  static const uint32_t categories[] = {0, PPROF_CATEGORY_OPERATOR,
                                        PPROF_CATEGORY_OPERATOR_INNER};
  static const uint32_t phases[NUM_OUTER] = {PPROF_CATEGORY_FORWARD,
                                             PPROF_CATEGORY_BACKWARD,
                                             PPROF_CATEGORY_OPTIMIZATION};
  char name[32];
  for (uint32_t site = 1; site <= BENCH_LOG_NAMES; site++) {
    int level = site <= NUM_OUTER ? 0 : site <= NUM_OUTER + NUM_MIDDLE ? 1 : 2;
    snprintf(name, sizeof name, "%s_%u", levels[level], site);
    define(self, PPROF_DEFINITION_SITE, site,
           level ? categories[level] : phases[site - 1], 0, name);
  }
  define(self, PPROF_DEFINITION_SITE, STEP_SITE, PPROF_CATEGORY_PROFILE_STEP, 0,
         "step");
  for (uint32_t i = 0; i < NUM_KERNELS; i++) {
    snprintf(name, sizeof name, "kernel_%u", i);
    define(self, PPROF_DEFINITION_SITE, FIRST_KERNEL + i, PPROF_CATEGORY_KERNEL,
           0, name);
  }
}

static void define_all(writer *self) {
  static const struct category {
    uint32_t id;
    const char *name;
  } categories[] = {{PPROF_CATEGORY_FORWARD, "Forward"},
                    {PPROF_CATEGORY_BACKWARD, "Backward"},
                    {PPROF_CATEGORY_OPTIMIZATION, "Optimization"},
                    {PPROF_CATEGORY_OPERATOR, "Operator"},
                    {PPROF_CATEGORY_OPERATOR_INNER, "OperatorInner"},
                    {PPROF_CATEGORY_KERNEL, "Kernel"},
                    {PPROF_CATEGORY_PROFILE_STEP, "ProfileStep"}};
  char name[32];
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    define(self, PPROF_DEFINITION_CATEGORY, categories[i].id, 0, 0,
           categories[i].name);
  define(self, PPROF_DEFINITION_LANE, 0, 0, 0, "process");
  define(self, PPROF_DEFINITION_DEVICE, 1, 0, 0, "GPU 0");
  for (uint32_t i = 1; i <= self->log->num_lanes; i++) {
    snprintf(name, sizeof name, "worker %u", i);
    define(self, PPROF_DEFINITION_LANE, i, 0, 1000 + i, name);
  }
  for (uint32_t i = 1; i <= self->log->num_lanes; i++)
    define(self, PPROF_DEFINITION_STREAM, i, 1, i, "stream");
  define_sites(self);
}

static void end_run(writer *self) {
  pprof_sink *sink = self->sink;
  uint64_t end_ns = 0;
  for (uint32_t i = 0; i < self->log->num_lanes; i++)
    if (self->lanes[i].now_ns > end_ns) end_ns = self->lanes[i].now_ns;
  end_step(self, end_ns);
  if (self->status == PPROF_STATUS_OK)
    self->status = sink->window(sink, 0, false, end_ns);
  ppi_total *items = NULL;
  size_t num = 0;
  if (self->status == PPROF_STATUS_OK)
    self->status = ppi_tally_items_beside(&self->tally, NULL, &items, &num);
  if (self->status != PPROF_STATUS_OK) return;
  const pprof_totals totals = {items, num, NULL, 0};
  self->status = sink->finish(sink, &totals);
  ppi_free(items);
}

static void write_run(writer *self) {
  const ppi_text texts[] = {{"uuid", "00000000000000000000000000000001"},
                            {"host", "bench"},
                            {"pid", "1"},
                            {"time_base_realtime_ns", "1700000000000000000"}};
  const pprof_run_info info = {texts, 4, NULL};
  pprof_sink *sink = self->sink;
  self->status = sink->begin(sink, &info);
  define_all(self);
  if (self->status == PPROF_STATUS_OK)
    self->status = sink->window(sink, 0, true, 0);
  add_ranges(self);
  end_run(self);
}

pprof_status bench_log_write(const bench_log *log, const char *path,
                             uint64_t *out, pprof_error *error) {
  if (log->num_lanes < 1 || log->num_lanes > BENCH_LOG_LANES ||
      log->ranges_per_second < 1)
    return PPROF_STATUS_INVALID;
  writer *self = calloc(1, sizeof *self);
  if (!self) return PPROF_STATUS_NO_MEMORY;
  self->log = log;
  self->mean_ns = 1e9 * log->num_lanes / (double)log->ranges_per_second;
  for (uint32_t i = 0; i < log->num_lanes; i++) self->lanes[i].random = i << 16;
  pprof_status status = pprof_log_writer_create(path, &self->sink, error);
  if (status == PPROF_STATUS_OK) {
    write_run(self);
    status = self->status;
    self->sink->destroy(self->sink);
  }
  *out = self->num_ranges;
  ppi_tally_clear(&self->tally);
  free(self);
  return status;
}
