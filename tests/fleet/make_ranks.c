// SPDX-License-Identifier: Apache-2.0
//
// make_ranks FOLDER RANKS[:FIRST:END] STEPS SEED[:HOST:LATER]
// [RANK STAGE SINCE PERCENT]...: the logs of a data-parallel training that
// never was, rank-N.pplog, by the real writer; with FIRST and END, of its ranks
// those alone, END not included; with HOST and LATER, its hosts count from
// HOST, and it began so many seconds later.
// Each length is drawn by rank, step and stage alone; a step's all_reduce ends
// at once everywhere, but for 20 us, with the last rank that comes. A rank of
// the arguments takes so many percent of a stage's length from a step on. Eight
// ranks share a host; host N's clock is N * 1 ms ahead.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "pprof/log.h"
#include "pprof/mark.h"

enum { LOAD, FORWARD, BACKWARD, ALL_REDUCE, OPTIMIZER, NUM_STAGES };
enum { STEP = NUM_STAGES + 1, COMPUTE, NCCL };
enum { LANE_PROCESS = 0, LANE_MAIN, LANE_DEVICE };
enum { RANKS_OF_HOST = 8, STEP_EVENTS = 5, SPREAD_PERCENT = 3 };
#define US ((uint64_t)1000)
#define ALL_REDUCE_NS (500 * US)
#define BASE_NS UINT64_C(1700000000000000000)
#define SHIFT_NS (1000 * US)
#define LEAVES_NS (20.0 * US)

static const struct stage {
  const char *name;
  uint32_t category;
  uint64_t usual_ns;
} stages[NUM_STAGES] = {
    [LOAD] = {"load", PPROF_CATEGORY_DATALOADER, 1000 * US},
    [FORWARD] = {"forward", PPROF_CATEGORY_FORWARD, 4000 * US},
    [BACKWARD] = {"backward", PPROF_CATEGORY_BACKWARD, 8000 * US},
    [ALL_REDUCE] = {"all_reduce", PPROF_CATEGORY_COMMUNICATION, 0},
    [OPTIMIZER] = {"optimizer", PPROF_CATEGORY_OPTIMIZATION, 500 * US},
};

typedef struct planted {
  unsigned rank, stage, since, percent;
} planted;

typedef struct fleet_law {
  unsigned num_ranks, num_steps;
  unsigned first, end;  // of the ranks that are written
  uint64_t seed;
  unsigned first_host;
  uint64_t later_s;
  planted *slow;
  int num_slow;
  uint64_t *ends;  // of each step's all_reduce
} fleet_law;

// splitmix64's finalizer.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static double draw(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return ((double)(mix(*state) >> 11) + 0.5) / 9007199254740992.0;
}

// Log-normal around the usual length; one load in a hundred takes four times as
// long.
static uint64_t length(const fleet_law *fleet, unsigned rank, unsigned step,
                       unsigned stage) {
  uint64_t state = mix(mix(mix(fleet->seed + stage) + step) + rank);
  double normal =
      sqrt(-2 * log(draw(&state))) * cos(6.283185307179586 * draw(&state));
  double ns =
      (double)stages[stage].usual_ns * exp(normal * SPREAD_PERCENT / 100.0);
  if (stage == LOAD && draw(&state) < 0.01) ns *= 4;
  for (int i = 0; i < fleet->num_slow; i++) {
    const planted *slow = &fleet->slow[i];
    if (slow->rank == rank && slow->stage == stage && slow->since <= step)
      ns = ns * slow->percent / 100;
  }
  return (uint64_t)ns;
}

// When a rank leaves a step's all_reduce.
static uint64_t leaves(const fleet_law *fleet, unsigned rank, unsigned step) {
  uint64_t state = mix(mix(mix(fleet->seed + ALL_REDUCE) + step) + rank);
  return fleet->ends[step] + (uint64_t)(draw(&state) * LEAVES_NS);
}

// When a rank has all of a step's gradients; its optimizer of the step before
// comes first.
static uint64_t arrives(const fleet_law *fleet, unsigned rank, unsigned step) {
  uint64_t at = step ? leaves(fleet, rank, step - 1) +
                           length(fleet, rank, step - 1, OPTIMIZER)
                     : 0;
  for (unsigned stage = LOAD; stage <= BACKWARD; stage++)
    at += length(fleet, rank, step, stage);
  return at;
}

static void meet(fleet_law *fleet) {
  for (unsigned step = 0; step < fleet->num_steps; step++) {
    uint64_t last = 0;
    for (unsigned rank = 0; rank < fleet->num_ranks; rank++) {
      uint64_t at = arrives(fleet, rank, step);
      if (at > last) last = at;
    }
    fleet->ends[step] = last + ALL_REDUCE_NS;
  }
}

// ---- a rank's log ----

typedef struct made {
  pprof_event *steps, *host, *device;
  size_t num_host, num_device;
} made;

static pprof_event range(uint32_t site, uint64_t start_ns, uint64_t end_ns) {
  return (pprof_event){.start_ns = start_ns,
                       .end_ns = end_ns,
                       .site = site,
                       .lane = LANE_MAIN,
                       .kind = PPROF_KIND_RANGE};
}

static void add_device(made *to, uint32_t site, uint64_t submit_ns,
                       uint64_t start_ns, uint64_t end_ns) {
  pprof_event event = range(site, submit_ns, submit_ns);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.stream = site == COMPUTE ? 1 : 2;
  event.device_start_ns = start_ns;
  event.device_end_ns = end_ns;
  event.flags = site == NCCL ? PPROF_FLAG_COMMUNICATION : 0;
  to->device[to->num_device++] = event;
}

// The device computes while forward and backward run, and reduces from the
// middle of backward on.
static uint64_t make_step(const fleet_law *fleet, unsigned rank, unsigned step,
                          uint64_t at, made *to) {
  uint64_t begun = at, starts[NUM_STAGES], ends[NUM_STAGES];
  for (unsigned stage = 0; stage < NUM_STAGES; stage++) {
    starts[stage] = at;
    at = stage == ALL_REDUCE ? leaves(fleet, rank, step)
                             : at + length(fleet, rank, step, stage);
    ends[stage] = at;
    to->host[to->num_host++] = range(stage + 1, starts[stage], at);
  }
  uint64_t middle = (starts[BACKWARD] + ends[BACKWARD]) / 2;
  add_device(to, COMPUTE, starts[FORWARD], starts[FORWARD], ends[BACKWARD]);
  add_device(to, NCCL, middle, middle, ends[ALL_REDUCE]);
  to->steps[step] = range(STEP, begun, at);
  to->steps[step].lane = LANE_PROCESS;
  to->steps[step].flags = PPROF_FLAG_ASYNC;
  to->steps[step].value = step;
  return at;
}

static pprof_status give(pprof_sink *sink, uint32_t lane,
                         const pprof_event *events, size_t num_events) {
  const pprof_batch batch = {.size = sizeof(batch),
                             .stride = sizeof(pprof_event),
                             .events = events,
                             .num_events = num_events,
                             .end_seq = num_events,
                             .lane = lane};
  return sink->events(sink, &batch);
}

static pprof_status define(pprof_sink *sink) {
  const pprof_definition rest[] = {
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_PROFILE_STEP, 0, 0, 0,
       "ProfileStep"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_KERNEL, 0, 0, 0, "Kernel"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_DATALOADER, 0, 0, 0,
       "Dataloader"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_FORWARD, 0, 0, 0, "Forward"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_BACKWARD, 0, 0, 0, "Backward"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_COMMUNICATION, 0, 0, 0,
       "Communication"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_OPTIMIZATION, 0, 0, 0,
       "Optimization"},
      {PPROF_DEFINITION_SITE, STEP, PPROF_CATEGORY_PROFILE_STEP, 0, 0,
       "ProfileStep"},
      {PPROF_DEFINITION_SITE, COMPUTE, PPROF_CATEGORY_KERNEL, 0, 0, "gemm"},
      {PPROF_DEFINITION_SITE, NCCL, PPROF_CATEGORY_KERNEL, 0, 0,
       "ncclAllReduce"},
      {PPROF_DEFINITION_LANE, LANE_PROCESS, 0, 0, 0, "process"},
      {PPROF_DEFINITION_LANE, LANE_MAIN, 0, 0, 100, "main"},
      {PPROF_DEFINITION_LANE, LANE_DEVICE, 0, 0, 0, "gpu:0"},
      {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu:0"},
      {PPROF_DEFINITION_STREAM, 1, 1, 0, 7, "compute"},
      {PPROF_DEFINITION_STREAM, 2, 1, 0, 8, "nccl"},
  };
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
    if (status == PPROF_STATUS_OK) status = sink->define(sink, &rest[i]);
  for (uint32_t i = 0; i < NUM_STAGES && status == PPROF_STATUS_OK; i++) {
    const pprof_definition site = {
        PPROF_DEFINITION_SITE, i + 1, stages[i].category, 0, 0, stages[i].name};
    status = sink->define(sink, &site);
  }
  return status;
}

static pprof_status begin(const fleet_law *fleet, unsigned rank,
                          pprof_sink *sink) {
  char uuid[33], host[32], pid[16], number[16], base[24];
  unsigned node = fleet->first_host + rank / RANKS_OF_HOST;
  snprintf(uuid, sizeof uuid, "%016llx%016x",
           (unsigned long long)mix(fleet->seed), rank);
  snprintf(host, sizeof host, "node%u", node);
  snprintf(pid, sizeof pid, "%u", 1000 + rank);
  snprintf(number, sizeof number, "%u", rank);
  snprintf(base, sizeof base, "%llu",
           (unsigned long long)(BASE_NS + fleet->later_s * 1000000000 +
                                node * SHIFT_NS));
  const ppi_text texts[] = {
      {"uuid", uuid},       {"host", host},
      {"pid", pid},         {"rank", number},
      {"version", "0.1.0"}, {"time_base_realtime_ns", base},
      {"command", "train"}};
  const pprof_run_info info = {texts, sizeof(texts) / sizeof(texts[0]), NULL};
  return sink->begin(sink, &info);
}

static pprof_status write_rank(const fleet_law *fleet, unsigned rank, made *to,
                               pprof_sink *sink) {
  const pprof_totals totals = {NULL, 0, NULL, 0};
  uint64_t at = 0;
  to->num_host = to->num_device = 0;
  for (unsigned step = 0; step < fleet->num_steps; step++)
    at = make_step(fleet, rank, step, at, to);
  pprof_status status = begin(fleet, rank, sink);
  if (status == PPROF_STATUS_OK) status = define(sink);
  if (status == PPROF_STATUS_OK)
    status = give(sink, LANE_PROCESS, to->steps, fleet->num_steps);
  if (status == PPROF_STATUS_OK)
    status = give(sink, LANE_MAIN, to->host, to->num_host);
  if (status == PPROF_STATUS_OK)
    status = give(sink, LANE_DEVICE, to->device, to->num_device);
  return status == PPROF_STATUS_OK ? sink->finish(sink, &totals) : status;
}

static int write_log(const fleet_law *fleet, const char *folder, unsigned rank,
                     made *to) {
  char path[4096];
  pprof_sink *sink;
  pprof_error error = {""};
  snprintf(path, sizeof path, "%s/rank-%u.pplog", folder, rank);
  pprof_status status = pprof_log_writer_create(path, &sink, &error);
  if (status == PPROF_STATUS_OK) {
    status = write_rank(fleet, rank, to, sink);
    sink->destroy(sink);
  }
  if (status == PPROF_STATUS_OK) return 0;
  fprintf(stderr, "make_ranks: %s: %s %s\n", path, pprof_status_string(status),
          error.text);
  return 1;
}

static int take_ranks(fleet_law *fleet, const char *text) {
  int num =
      sscanf(text, "%u:%u:%u", &fleet->num_ranks, &fleet->first, &fleet->end);
  if (num == 1) fleet->end = fleet->num_ranks;
  return (num != 1 && num != 3) || fleet->end > fleet->num_ranks;
}

static int take_seed(fleet_law *fleet, const char *text) {
  int num = sscanf(text, "%" SCNu64 ":%u:%" SCNu64, &fleet->seed,
                   &fleet->first_host, &fleet->later_s);
  return num != 1 && num != 3;
}

static int take_planted(fleet_law *fleet, int argc, char **argv) {
  for (int i = 0; i + 3 < argc; i += 4) {
    planted *slow = &fleet->slow[fleet->num_slow++];
    *slow = (planted){.rank = (unsigned)atoi(argv[i]),
                      .stage = NUM_STAGES,
                      .since = (unsigned)atoi(argv[i + 2]),
                      .percent = (unsigned)atoi(argv[i + 3])};
    for (unsigned stage = 0; stage < NUM_STAGES; stage++)
      if (strcmp(stages[stage].name, argv[i + 1]) == 0) slow->stage = stage;
    if (slow->stage == NUM_STAGES) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5 || (argc - 5) % 4 != 0) {
    fputs(
        "usage: make_ranks FOLDER RANKS[:FIRST:END] STEPS SEED[:HOST:LATER]"
        " [RANK STAGE SINCE PERCENT]...\n",
        stderr);
    return 2;
  }
  fleet_law fleet = {.num_steps = (unsigned)atoi(argv[3])};
  fleet.slow = calloc((size_t)argc, sizeof *fleet.slow);
  fleet.ends = calloc(fleet.num_steps, sizeof *fleet.ends);
  size_t num = (size_t)fleet.num_steps * STEP_EVENTS;
  made to = {.steps = calloc(num, sizeof *to.steps),
             .host = calloc(num, sizeof *to.host),
             .device = calloc(num, sizeof *to.device)};
  bool room = fleet.slow && fleet.ends && to.steps && to.host && to.device;
  int code = !room || take_ranks(&fleet, argv[2]) ||
             take_seed(&fleet, argv[4]) ||
             take_planted(&fleet, argc - 5, argv + 5);
  if (!code) meet(&fleet);
  for (unsigned rank = fleet.first; rank < fleet.end && !code; rank++)
    code = write_log(&fleet, argv[1], rank, &to);
  free(fleet.slow);
  free(fleet.ends);
  free(to.steps);
  free(to.host);
  free(to.device);
  return code;
}
