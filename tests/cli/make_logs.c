// SPDX-License-Identifier: Apache-2.0
//
// Writes the logs that the command line's cases read, from events given here:
// good.pplog, lossy.pplog whose run says that it lost three records, good.pplog
// once more in the three segments of cut.pplog, elsewhere.pplog of another
// host, no_device.pplog of a machine without the program's device, wrong.pplog,
// which no writer of ours would write, and joules/300.pplog and the like of a
// device with sampled power.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "event/event.h"
#include "log/format/codec.h"
#include "log/write/log_writer.h"
#include "pprof/log.h"

#define MS(n) ((uint64_t)(n)*1000000)
enum { LANE_PROCESS = 0, LANE_MAIN = 1, LANE_DEVICE = 2 };
enum { SITE_STEP = 1, SITE_DECODE, SITE_DETECT, SITE_MODEL, SITE_PARSE };

static const pprof_definition definitions[] = {
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_PROFILE_STEP, 0, 0, 0,
     "ProfileStep"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_DATALOADER, 0, 0, 0,
     "Dataloader"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, 0, 0, "Inference"},
    {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_USER_DEFINED, 0, 0, 0,
     "UserDefined"},
    {PPROF_DEFINITION_SITE, SITE_STEP, PPROF_CATEGORY_PROFILE_STEP, 0, 0,
     "ProfileStep"},
    {PPROF_DEFINITION_SITE, SITE_DECODE, PPROF_CATEGORY_DATALOADER, 0, 0,
     "decode"},
    {PPROF_DEFINITION_SITE, SITE_DETECT, PPROF_CATEGORY_INFERENCE, 0, 0,
     "detect"},
    {PPROF_DEFINITION_SITE, SITE_MODEL, PPROF_CATEGORY_INFERENCE, 0, 0,
     "model"},
    {PPROF_DEFINITION_SITE, SITE_PARSE, PPROF_CATEGORY_USER_DEFINED, 0, 0,
     "parse"},
    {PPROF_DEFINITION_LANE, LANE_PROCESS, 0, 0, 0, "process"},
    {PPROF_DEFINITION_LANE, LANE_MAIN, 0, 0, 4242, "main"},
    {PPROF_DEFINITION_LANE, LANE_DEVICE, 0, 0, 0, "cpu:0"},
    {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "cpu:0"},
    {PPROF_DEFINITION_STREAM, 1, 1, 0, 7, "models"},
};

static ppi_text texts[] = {
    {"uuid", "00112233445566778899aabbccddeeff"},
    {"host", "example"},
    {"pid", "4242"},
    {"version", "0.1.0"},
    {"time_base_realtime_ns", "1700000000000000000"},
    {"command", "made"},
};

static pprof_event range(uint32_t site, uint32_t from_ms, uint32_t to_ms) {
  return (pprof_event){.start_ns = MS(from_ms),
                       .end_ns = MS(to_ms),
                       .site = site,
                       .lane = LANE_MAIN,
                       .kind = PPROF_KIND_RANGE};
}

static pprof_event step(uint32_t number, uint32_t from_ms, uint32_t to_ms) {
  pprof_event event = range(SITE_STEP, from_ms, to_ms);
  event.lane = LANE_PROCESS;
  event.flags = PPROF_FLAG_ASYNC;
  event.value = number;
  return event;
}

static bool has_no_device;

static pprof_event device_range(uint32_t submit_ms, uint32_t from_ms,
                                uint32_t to_ms) {
  pprof_event event = range(SITE_MODEL, submit_ms, submit_ms + 1);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  if (has_no_device) {
    event.flags = PPROF_FLAG_NO_DEVICE_TIME;
    return event;
  }
  event.device_start_ns = MS(from_ms);
  event.device_end_ns = MS(to_ms);
  event.device_error_ns = 1000;
  event.stream = 1;
  event.depth = 1;
  return event;
}

static pprof_status give(pprof_sink *sink, uint32_t lane,
                         const pprof_event *events, size_t num_events) {
  pprof_batch batch = {.size = sizeof(batch),
                       .stride = sizeof(pprof_event),
                       .events = events,
                       .num_events = num_events,
                       .first_seq = 0,
                       .end_seq = num_events,
                       .lane = lane};
  return sink->events(sink, &batch);
}

// What the two DECODE ranges used, in logs that tell.
static bool tells_cpu;
static const pprof_cpu_use decode_use = {
    .size = sizeof(decode_use),
    .known = PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE,
    .user_ns = MS(5),
    .sys_ns = MS(1),
    .run_queue_ns = MS(1),
    .voluntary_switches = 2,
    .minor_faults = 40};

static pprof_status give_all(pprof_sink *sink) {
  const pprof_event steps[] = {step(0, 0, 50), step(1, 50, 100)};
  pprof_event host[] = {
      range(SITE_DECODE, 0, 10),  range(SITE_DETECT, 10, 40),
      range(SITE_PARSE, 40, 50),  range(SITE_DECODE, 50, 60),
      range(SITE_DETECT, 60, 95),
  };
  const pprof_event device[] = {device_range(12, 15, 35),
                                device_range(61, 65, 90)};
  if (tells_cpu) host[0].cpu = host[3].cpu = &decode_use;
  pprof_status status = give(sink, LANE_PROCESS, steps, 2);
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_MAIN, host, 5);
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_DEVICE, device, 2);
  return status;
}

// Lists the last DETECT range as open, which its event has told.
static bool lists_late;

static pprof_status give_checkpoint(pprof_sink *sink) {
  const pprof_event late = range(SITE_DETECT, 60, 91);
  const pprof_checkpoint checkpoint = {MS(91), &late, 1};
  return lists_late ? sink->checkpoint(sink, &checkpoint) : PPROF_STATUS_OK;
}

static bool write_log(const char *folder, const char *name, uint64_t num_lost,
                      uint64_t segment_bytes) {
  char path[4096];
  pprof_error error = {""};
  pprof_sink *sink;
  const pprof_run_info info = {texts, sizeof(texts) / sizeof(texts[0]), NULL};
  const ppi_total items[] = {
      {LANE_PROCESS, PPI_TOTAL_RECORDED, 2},
      {LANE_MAIN, PPI_TOTAL_RECORDED, 7},
      {LANE_MAIN, PPI_TOTAL_LOST, num_lost},
      {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 9},
      {PPROF_ALL_LANES, PPI_TOTAL_LOST, num_lost},
      {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1},
      {LANE_MAIN, PPI_TOTAL_NO_DEVICE_TIME, 2},
      {PPROF_ALL_LANES, PPI_TOTAL_NO_DEVICE_TIME, 2},
  };
  const size_t num_items = sizeof(items) / sizeof(items[0]);
  const pprof_totals totals = {items, num_items - (has_no_device ? 0 : 2), NULL,
                               0};
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  if (num_lost) texts[0].value = "ffeeddccbbaa99887766554433221100";
  const ppi_log_rotation rotation = {segment_bytes, 0, NULL};
  pprof_status status = ppi_log_writer_create(path, &rotation, &sink, &error);
  if (status == PPROF_STATUS_OK) {
    status = sink->begin(sink, &info);
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
      if (status == PPROF_STATUS_OK)
        status = sink->define(sink, &definitions[i]);
    if (status == PPROF_STATUS_OK) status = sink->window(sink, 0, true, 0);
    if (status == PPROF_STATUS_OK) status = give_all(sink);
    if (status == PPROF_STATUS_OK) status = give_checkpoint(sink);
    if (status == PPROF_STATUS_OK)
      status = sink->window(sink, 0, false, MS(100));
    if (status == PPROF_STATUS_OK) status = sink->finish(sink, &totals);
    sink->destroy(sink);
  }
  if (status != PPROF_STATUS_OK)
    fprintf(stderr, "make_logs: %s: %s %s\n", path, pprof_status_string(status),
            error.text);
  return status == PPROF_STATUS_OK;
}

// Records that come again, one of them of a site that nobody defined, and
// totals that say what no event does.
static bool write_wrong(const char *folder) {
  char path[4096];
  pprof_sink *sink;
  const pprof_run_info info = {texts, sizeof(texts) / sizeof(texts[0]), NULL};
  const ppi_total items[] = {
      {LANE_PROCESS, PPI_TOTAL_RECORDED, 2},
      {LANE_MAIN, PPI_TOTAL_RECORDED, 8},
      {LANE_MAIN, PPI_TOTAL_CLIPPED, 4},
      {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 10},
      {PPROF_ALL_LANES, PPI_TOTAL_CLIPPED, 4},
  };
  const pprof_totals totals = {items, sizeof(items) / sizeof(items[0]), NULL,
                               0};
  pprof_event again = range(99, 96, 97);
  again.flags = PPROF_FLAG_CLIPPED;
  snprintf(path, sizeof(path), "%s/wrong.pplog", folder);
  if (pprof_log_writer_create(path, &sink, NULL) != PPROF_STATUS_OK)
    return false;
  pprof_status status = sink->begin(sink, &info);
  for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
    if (status == PPROF_STATUS_OK) status = sink->define(sink, &definitions[i]);
  if (status == PPROF_STATUS_OK) status = give_all(sink);
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_MAIN, &again, 1);
  if (status == PPROF_STATUS_OK) status = sink->finish(sink, &totals);
  sink->destroy(sink);
  return status == PPROF_STATUS_OK;
}

// ---- joules ----

enum { CATEGORY_MACHINE = 40, SITE_WATTS = 1, SITE_JOULES, SITE_LONG };
enum { SITE_SHORT = SITE_LONG + 1, LANE_GPU = 2, SECONDS = 60 };

static pprof_event level(uint32_t site, uint32_t at_ms, double value) {
  pprof_event event = range(site, at_ms, at_ms);
  event.kind = PPROF_KIND_COUNTER;
  event.value = value;
  return event;
}

// Of each second `model` has the first half, at `watts`, and in ten of them
// `resize` 50 ms; the other half is at 80 W. A call of `model` has four items.
static pprof_status give_joules(pprof_sink *sink, double watts) {
  static const pprof_work_amount four = {sizeof four, 4, 0, 0, 0};
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i <= 10 * SECONDS && status == PPROF_STATUS_OK; i++) {
    const pprof_event at = level(SITE_WATTS, 100 * i, i % 10 < 5 ? watts : 80);
    status = give(sink, LANE_MAIN, &at, 1);
  }
  const pprof_event ends[] = {
      level(SITE_JOULES, 0, 1000),
      level(SITE_JOULES, 1000 * SECONDS, 1000 + SECONDS * (watts + 80) / 2)};
  if (status == PPROF_STATUS_OK) status = give(sink, LANE_MAIN, ends, 2);
  for (uint32_t i = 0; i < SECONDS && status == PPROF_STATUS_OK; i++) {
    const uint32_t at = 1000 * i;
    pprof_event both[] = {device_range(at, at, at + 500),
                          device_range(at, at + 600, at + 650)};
    both[0].site = SITE_LONG;
    both[1].site = SITE_SHORT;
    both[0].lane = both[1].lane = LANE_GPU;
    both[0].depth = both[1].depth = 0;
    both[0].work = &four;
    status = give(sink, LANE_GPU, both, i < 10 ? 2 : 1);
  }
  return status;
}

static bool write_joules(const char *folder, unsigned watts) {
  static const pprof_definition all[] = {
      {PPROF_DEFINITION_CATEGORY, CATEGORY_MACHINE, 0, 0, 0, "Machine"},
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, 0, 0,
       "Inference"},
      {PPROF_DEFINITION_SITE, SITE_WATTS, CATEGORY_MACHINE, 0, 0,
       "gpu:0.power_w"},
      {PPROF_DEFINITION_SITE, SITE_JOULES, CATEGORY_MACHINE, 0, 0,
       "gpu:0.energy_j"},
      {PPROF_DEFINITION_SITE, SITE_LONG, PPROF_CATEGORY_INFERENCE, 0, 0,
       "model"},
      {PPROF_DEFINITION_SITE, SITE_SHORT, PPROF_CATEGORY_INFERENCE, 0, 0,
       "resize"},
      {PPROF_DEFINITION_LANE, LANE_MAIN, 0, 0, 4242, "main"},
      {PPROF_DEFINITION_LANE, LANE_GPU, 0, 0, 0, "gpu:0"},
      {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu:0"},
      {PPROF_DEFINITION_STREAM, 1, 1, 0, 7, "models"}};
  const pprof_run_info info = {texts, sizeof texts / sizeof *texts, NULL};
  const pprof_totals totals = {NULL, 0, NULL, 0};
  char path[4096], uuid[33];
  pprof_sink *sink;
  snprintf(uuid, sizeof uuid, "%032u", watts);
  texts[0].value = uuid;
  snprintf(path, sizeof path, "%s/joules/%u.pplog", folder, watts);
  if (pprof_log_writer_create(path, &sink, NULL) != PPROF_STATUS_OK)
    return false;
  pprof_status status = sink->begin(sink, &info);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (status == PPROF_STATUS_OK) status = sink->define(sink, &all[i]);
  if (status == PPROF_STATUS_OK) status = sink->window(sink, 0, true, 0);
  if (status == PPROF_STATUS_OK) status = give_joules(sink, watts);
  if (status == PPROF_STATUS_OK)
    status = sink->window(sink, 0, false, MS(1000 * SECONDS));
  if (status == PPROF_STATUS_OK) status = sink->finish(sink, &totals);
  sink->destroy(sink);
  return status == PPROF_STATUS_OK;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: make_logs FOLDER\n", stderr);
    return 2;
  }
  // Sizes are the same then whatever the machine has.
  ppi_codec_limit(PPI_CODEC_ZLIB_ONLY);
  bool made = write_log(argv[1], "good.pplog", 0, 0) &&
              write_log(argv[1], "lossy.pplog", 3, 0);
  texts[0].value = "c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0";
  made = made && write_log(argv[1], "cut.pplog", 0, 1);
  texts[0].value = "cccccccccccccccccccccccccccccccc";
  tells_cpu = true;
  made = made && write_log(argv[1], "cpu.pplog", 0, 0);
  tells_cpu = false;
  texts[0].value = "dddddddddddddddddddddddddddddddd";
  has_no_device = true;
  made = made && write_log(argv[1], "no_device.pplog", 0, 0);
  has_no_device = false;
  texts[0].value = "abababababababababababababababab";
  lists_late = true;
  made = made && write_log(argv[1], "late.pplog", 0, 0);
  lists_late = false;
  texts[0].value = "99999999999999999999999999999999";
  texts[1].value = "elsewhere";
  made = made && write_log(argv[1], "elsewhere.pplog", 0, 0);
  made = made && write_wrong(argv[1]);
  texts[1].value = "example";
  char joules[4096];
  snprintf(joules, sizeof joules, "%s/joules", argv[1]);
  made = made && mkdir(joules, 0777) == 0;
  // Before and after, three runs each.
  for (unsigned i = 0; i < 6; i++)
    made = made && write_joules(argv[1], (i % 2 ? 270 : 300) + i / 2);
  return made ? 0 : 1;
}
