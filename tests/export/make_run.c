// SPDX-License-Identifier: Apache-2.0
//
// Writes rich.pplog, which has one of everything that formats may have to hold:
// ranges that begin and end together, loose ones, marks, counters, requests,
// work, CPU use, overlapping work of a stream, work without a time, names that
// are markup elsewhere. Then other.pplog: the same run of another process, 1 s
// later. The tests' expectations are typed from this page.
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "pprof/log.h"

#define MS(n) ((uint64_t)(n)*1000000)
enum { LANE_PROCESS = 0, LANE_MAIN, LANE_WORKER, LANE_DEVICE };
enum { STEP = 1, SERVE, PREPARE, INFER, MODEL, COPY, DEPTH, NOTE, FETCH };

static const pprof_definition definitions[] = {
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_PROFILE_STEP, 0, 0, 0,
     "ProfileStep"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, 0, 0, "Inference"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_USER_DEFINED, 0, 0, 0,
     "UserDefined"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_KERNEL, 0, 0, 0, "Kernel"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_MEMCPY, 0, 0, 0, "Memcpy"},
    {PPROF_DEFINITION_SITE, STEP, PPROF_CATEGORY_PROFILE_STEP, 0, 0,
     "ProfileStep"},
    {PPROF_DEFINITION_SITE, SERVE, PPROF_CATEGORY_USER_DEFINED, 0xff8000, 0,
     "serve"},
    {PPROF_DEFINITION_SITE, PREPARE, PPROF_CATEGORY_USER_DEFINED, 0, 0,
     "pre;pare \"<x>\""},
    {PPROF_DEFINITION_SITE, INFER, PPROF_CATEGORY_INFERENCE, 0, 0, "infer"},
    {PPROF_DEFINITION_SITE, MODEL, PPROF_CATEGORY_KERNEL, 0, 0, "gemm"},
    {PPROF_DEFINITION_SITE, COPY, PPROF_CATEGORY_MEMCPY, 0, 0, "Memcpy HtoD"},
    {PPROF_DEFINITION_SITE, DEPTH, PPROF_CATEGORY_USER_DEFINED, 0, 0, "depth"},
    {PPROF_DEFINITION_SITE, NOTE, PPROF_CATEGORY_USER_DEFINED, 0, 0, "note"},
    {PPROF_DEFINITION_SITE, FETCH, PPROF_CATEGORY_USER_DEFINED, 0, 0, "fetch"},
    {PPROF_DEFINITION_LANE, LANE_PROCESS, 0, 0, 0, "process"},
    {PPROF_DEFINITION_LANE, LANE_MAIN, 0, 0, 100, "main"},
    {PPROF_DEFINITION_LANE, LANE_WORKER, 0, 0, 101, "worker"},
    {PPROF_DEFINITION_LANE, LANE_DEVICE, 0, 0, 0, "gpu:0"},
    {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu:0"},
    {PPROF_DEFINITION_STREAM, 1, 1, 0, 7, "compute"},
    {PPROF_DEFINITION_ATTRIBUTES, 1, 0, 0, 0, "{\"grid\":[1,2,3]}"},
};

static ppi_text texts[] = {
    {"uuid", "0123456789abcdef0123456789abcdef"},
    {"host", "node1"},
    {"pid", "100"},
    {"rank", "0"},
    {"version", "0.1.0"},
    {"time_base_realtime_ns", "1700000000000000000"},
    {"command", "serve --port 80"},
};

static pprof_event range(uint32_t site, uint32_t from_ms, uint32_t to_ms,
                         uint32_t depth) {
  return (pprof_event){.start_ns = MS(from_ms),
                       .end_ns = MS(to_ms),
                       .site = site,
                       .lane = LANE_MAIN,
                       .depth = depth,
                       .kind = PPROF_KIND_RANGE};
}

static pprof_event point(uint32_t site, uint32_t at_ms, pprof_kind kind,
                         double value) {
  pprof_event event = range(site, at_ms, at_ms, 0);
  event.kind = kind;
  event.value = value;
  return event;
}

static pprof_event device_range(uint32_t site, uint32_t submit_ms,
                                uint32_t from_ms, uint32_t to_ms) {
  pprof_event event = range(site, submit_ms, submit_ms, 2);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.stream = 1;
  event.device_start_ns = MS(from_ms);
  event.device_end_ns = MS(to_ms);
  if (to_ms) return event;
  event.flags = PPROF_FLAG_NO_DEVICE_TIME;
  event.depth = 1;
  return event;
}

static pprof_event loose(uint32_t site, uint32_t lane, uint32_t from_ms,
                         uint32_t to_ms, double value) {
  pprof_event event = range(site, from_ms, to_ms, 0);
  event.lane = lane;
  event.flags = PPROF_FLAG_ASYNC;
  event.value = value;
  return event;
}

static pprof_status give(pprof_sink *sink, uint32_t lane,
                         const pprof_event *events, size_t num_events) {
  pprof_batch batch = {.size = sizeof(batch),
                       .stride = sizeof(pprof_event),
                       .events = events,
                       .num_events = num_events,
                       .end_seq = num_events,
                       .lane = lane};
  return sink->events(sink, &batch);
}

static pprof_status give_main(pprof_sink *sink) {
  static const uint64_t flow = 77;
  static const pprof_work_amount work = {
      .size = sizeof(work), .items = 4, .bytes = 1000};
  static const pprof_cpu_use cpu = {.size = sizeof(cpu),
                                    .known = PPROF_CPU_TIMES,
                                    .user_ns = MS(5),
                                    .sys_ns = MS(1)};
  pprof_event events[] = {
      point(DEPTH, 1, PPROF_KIND_COUNTER, 3),
      range(PREPARE, 0, 2, 1),
      range(INFER, 2, 8, 1),
      range(SERVE, 0, 8, 0),
      point(DEPTH, 11, PPROF_KIND_COUNTER, 5.5),
      point(NOTE, 15, PPROF_KIND_MARK, 0),
      range(INFER, 12, 18, 1),
      range(SERVE, 10, 20, 0),
  };
  events[2].flows = events[3].flows = &flow;
  events[2].num_flows = events[3].num_flows = 1;
  events[3].work = &work;
  events[6].cpu = &cpu;
  return give(sink, LANE_MAIN, events, sizeof(events) / sizeof(events[0]));
}

static pprof_status give_rest(pprof_sink *sink) {
  const pprof_event steps[] = {loose(STEP, LANE_PROCESS, 0, 10, 0),
                               loose(STEP, LANE_PROCESS, 10, 30, 1)};
  // `fetch` began on the main thread.
  pprof_event worker[] = {loose(FETCH, LANE_MAIN, 1, 9, 0),
                          range(INFER, 5, 25, 0)};
  pprof_event device[] = {
      device_range(MODEL, 3, 4, 7), device_range(MODEL, 13, 14, 17),
      device_range(COPY, 14, 16, 19), device_range(MODEL, 19, 0, 0)};
  worker[1].lane = LANE_WORKER;
  device[0].attributes = 1;
  pprof_status status = give(sink, LANE_PROCESS, steps, 2);
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_WORKER, worker, 2);
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_DEVICE, device, 4);
  return status;
}

static pprof_status give_all(pprof_sink *sink) {
  const pprof_run_info info = {texts, sizeof(texts) / sizeof(texts[0]), NULL};
  const ppi_total items[] = {
      {LANE_PROCESS, PPI_TOTAL_RECORDED, 2},
      {LANE_MAIN, PPI_TOTAL_RECORDED, 12},
      {LANE_WORKER, PPI_TOTAL_RECORDED, 2},
      {LANE_MAIN, PPI_TOTAL_NO_DEVICE_TIME, 1},
      {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 16},
      {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1},
      {PPROF_ALL_LANES, PPI_TOTAL_NO_DEVICE_TIME, 1},
  };
  const pprof_totals totals = {items, sizeof(items) / sizeof(items[0]), NULL,
                               0};
  pprof_status status = sink->begin(sink, &info);
  for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
    if (status == PPROF_STATUS_OK) status = sink->define(sink, &definitions[i]);
  if (status == PPROF_STATUS_OK) status = sink->window(sink, 0, true, 0);
  if (status == PPROF_STATUS_OK) status = give_main(sink);
  if (status == PPROF_STATUS_OK) status = give_rest(sink);
  if (status == PPROF_STATUS_OK) status = sink->window(sink, 0, false, MS(30));
  return status == PPROF_STATUS_OK ? sink->finish(sink, &totals) : status;
}

static int write_log(const char *folder, const char *name) {
  char path[4096];
  pprof_sink *sink;
  pprof_error error = {""};
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  pprof_status status = pprof_log_writer_create(path, &sink, &error);
  if (status == PPROF_STATUS_OK) {
    status = give_all(sink);
    sink->destroy(sink);
  }
  if (status == PPROF_STATUS_OK) return 0;
  fprintf(stderr, "make_run: %s: %s %s\n", path, pprof_status_string(status),
          error.text);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: make_run FOLDER\n", stderr);
    return 2;
  }
  if (write_log(argv[1], "rich.pplog")) return 1;
  texts[0].value = "fedcba9876543210fedcba9876543210";
  texts[1].value = "node2";
  texts[2].value = "200";
  texts[3].value = "1";
  texts[5].value = "1700000001000000000";
  return write_log(argv[1], "other.pplog");
}
