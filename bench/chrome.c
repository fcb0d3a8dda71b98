// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of writing a Chrome trace, against fprintf: chrome [-n
// RANGES] [-r REPETITIONS]. Both write the same events, and the same bytes of
// them, into /dev/null, in turns. Figures are medians.
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "chrome/chrome.h"
#include "event/event.h"
#include "pprof/log.h"
#include "report_log.h"
#include "rows.h"
#include "timing.h"

#define RATIO_BOUND 4.0

enum { MAX_ID = 128, NAME_LEN = 32, BUFFER = 65536, PID = 1 };

typedef struct named {
  bool known;
  pprof_definition definition;
  char name[NAME_LEN];
} named;

// The ranges of a log's threads: both ways put them where they come.
typedef struct events {
  pprof_sink base;
  named names[PPROF_DEFINITION_STREAM + 1][MAX_ID];
  pprof_event *items;
  size_t num, capacity;
} events;

static pprof_status keep_name(pprof_sink *sink,
                              const pprof_definition *definition) {
  events *self = (events *)sink;
  if (definition->kind > PPROF_DEFINITION_STREAM || definition->id >= MAX_ID)
    return PPROF_STATUS_INVALID;
  named *item = &self->names[definition->kind][definition->id];
  item->known = true;
  item->definition = *definition;
  snprintf(item->name, sizeof item->name, "%s", definition->name);
  item->definition.name = item->name;
  return PPROF_STATUS_OK;
}

static pprof_status keep_ranges(pprof_sink *sink, const pprof_batch *batch) {
  events *self = (events *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->kind != PPROF_KIND_RANGE || event->flags & PPROF_FLAG_ASYNC)
      continue;
    if (self->num == self->capacity) return PPROF_STATUS_NO_MEMORY;
    self->items[self->num++] = *event;
  }
  return PPROF_STATUS_OK;
}

static pprof_status send(const events *self, pprof_sink *sink) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0, end; i < self->num && !status; i = end) {
    for (end = i; end < self->num; end++)
      if (self->items[end].lane != self->items[i].lane) break;
    const pprof_batch batch = {.size = sizeof batch,
                               .stride = sizeof *self->items,
                               .events = &self->items[i],
                               .num_events = end - i,
                               .first_seq = i,
                               .end_seq = end,
                               .lane = self->items[i].lane};
    status = sink->events(sink, &batch);
  }
  return status;
}

static pprof_status tell(const events *self, pprof_sink *sink) {
  const ppi_text texts[] = {{"pid", "1"}};
  const pprof_run_info info = {texts, 1, NULL};
  const pprof_totals totals = {NULL, 0, NULL, 0};
  pprof_status status = sink->begin(sink, &info);
  for (int kind = 0; kind <= PPROF_DEFINITION_STREAM; kind++)
    for (int id = 0; id < MAX_ID && !status; id++)
      if (self->names[kind][id].known)
        status = sink->define(sink, &self->names[kind][id].definition);
  if (!status) status = send(self, sink);
  return status ? status : sink->finish(sink, &totals);
}

static bool write_trace(const events *self, int fd) {
  pprof_sink *sink;
  if (ppi_chrome_writer_create_fd(fd, false, &sink, NULL)) return false;
  bool ok = tell(self, sink) == PPROF_STATUS_OK;
  sink->destroy(sink);
  return ok;
}

// The least that fprintf can be asked for: names that need no escape, integers.
static bool print_events(const events *self, int fd) {
  static char buffer[BUFFER];
  FILE *out = fdopen(dup(fd), "w");
  if (!out) return false;
  setvbuf(out, buffer, _IOFBF, sizeof buffer);
  for (size_t i = 0; i < self->num; i++) {
    const pprof_event *event = &self->items[i];
    const named *site = &self->names[PPROF_DEFINITION_SITE][event->site];
    const named *lane = &self->names[PPROF_DEFINITION_LANE][event->lane];
    uint64_t length_ns = event->end_ns - event->start_ns;
    // Of a depth of 0, which the trace leaves out, ".0" prints no digit.
    fprintf(
        out,
        "%s{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%" PRIu64
        ".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64
        ",\"pid\":%d,\"tid\":%" PRIu64 ",\"args\":{\"window\":%" PRIu32
        "%s%.0" PRIu32 "}}",
        i ? ",\n" : "", site->name,
        self->names[PPROF_DEFINITION_CATEGORY][site->definition.parent].name,
        event->start_ns / 1000, event->start_ns % 1000, length_ns / 1000,
        length_ns % 1000, PID, lane->definition.number, event->window,
        event->depth ? ",\"depth\":" : "", event->depth);
  }
  return fclose(out) == 0;
}

typedef bool (*writer)(const events *self, int fd);

enum { TRACE, PRINTF, TRACE_AGAIN, NUM_WAYS };
static const writer ways[NUM_WAYS] = {write_trace, print_events, write_trace};

static uint64_t size_of(int fd) {
  struct stat stat_;
  return fstat(fd, &stat_) == 0 ? (uint64_t)stat_.st_size : 0;
}

// The trace has fprintf's output between its head and its tail.
static bool is_same(const events *self, uint64_t *out_len) {
  static const char head[] = "\"traceEvents\":[\n";
  int trace = memfd_create("trace", 0), printed = memfd_create("printed", 0);
  bool same = trace >= 0 && printed >= 0 && write_trace(self, trace) &&
              print_events(self, printed);
  uint64_t len = size_of(printed), trace_len = size_of(trace);
  same = same && len > 0 && len < trace_len;
  const char *a =
      same ? mmap(NULL, trace_len, PROT_READ, MAP_PRIVATE, trace, 0) : NULL;
  const char *b =
      same ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, printed, 0) : NULL;
  const char *at = same ? memmem(a, trace_len, head, sizeof head - 1) : NULL;
  if (at) at += sizeof head - 1;
  same = at && len <= trace_len - (uint64_t)(at - a) && !memcmp(at, b, len);
  if (a) munmap((void *)(uintptr_t)a, trace_len);
  if (b) munmap((void *)(uintptr_t)b, len);
  close(trace);
  close(printed);
  *out_len = len;
  return same;
}

typedef struct figures {
  double *ns[NUM_WAYS];  // per event, by repetition
  double *ratios, *again;
  size_t num;
} figures;

static bool print_results(figures *self) {
  double ratio = median(self->ratios, self->num);
  double trace = median(self->ns[TRACE], self->num);
  printf("%-14s %12s %8s\n", "", "ns an event", "ratio");
  printf("%-14s %12.1f %8.2f\n", "fprintf", median(self->ns[PRINTF], self->num),
         ratio);
  printf("%-14s %12.1f %8.2f   A/A %.3f\n\n", "Chrome trace", trace, 1.0,
         median(self->again, self->num));
  printf("fprintf against the trace %.2f, at least %.2f: %s\n", ratio,
         RATIO_BOUND, ratio >= RATIO_BOUND ? "met" : "MISSED");
  bench_row("Chrome trace against fprintf", ratio, "x its rate", -RATIO_BOUND);
  bench_row("Chrome trace, one core", 1e3 / trace, "million/s", 0);
  return ratio >= RATIO_BOUND;
}

static bool measure_once(const events *self, int fd, double out[NUM_WAYS]) {
  for (int way = 0; way < NUM_WAYS; way++) {
    uint64_t start_ns = thread_ns();
    if (!ways[way](self, fd)) return false;
    out[way] = (double)(thread_ns() - start_ns) / (double)self->num;
  }
  return true;
}

static bool measure_all(const events *self, int fd, figures *out) {
  double ns[NUM_WAYS];
  if (!measure_once(self, fd, ns)) return false;  // warms up
  for (size_t i = 0; i < out->num; i++) {
    if (!measure_once(self, fd, ns)) return false;
    for (int way = 0; way < NUM_WAYS; way++) out->ns[way][i] = ns[way];
    out->ratios[i] = ns[PRINTF] / ((ns[TRACE] + ns[TRACE_AGAIN]) / 2);
    out->again[i] = ns[TRACE_AGAIN] / ns[TRACE];
  }
  return true;
}

static bool measure(const events *self, size_t repetitions) {
  int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  double *all = calloc(repetitions * (NUM_WAYS + 2), sizeof *all);
  figures out = {.num = repetitions};
  bool ok = fd >= 0 && all;
  for (int way = 0; ok && way < NUM_WAYS; way++)
    out.ns[way] = all + (size_t)way * repetitions;
  if (ok) {
    out.ratios = all + NUM_WAYS * repetitions;
    out.again = out.ratios + repetitions;
    ok = measure_all(self, fd, &out) && print_results(&out);
  }
  free(all);
  if (fd >= 0) close(fd);
  return ok;
}

// The log that `report` reads.
static bool read_ranges(uint64_t num, const char *path, events *out) {
  const bench_log log = {num, 2, 10000000, 0, 0};
  pprof_error error = {""};
  uint64_t num_ranges = 0;
  pprof_status status = bench_log_write(&log, path, &num_ranges, &error);
  out->base = (pprof_sink){
      .size = sizeof(pprof_sink), .define = keep_name, .events = keep_ranges};
  out->items = malloc(num_ranges * sizeof *out->items);
  out->capacity = num_ranges;
  if (!status) status = pprof_log_read(path, &out->base, &error);
  if (status) fprintf(stderr, "chrome: %s: %s\n", path, error.text);
  return !status && out->num == num_ranges;
}

static bool run(uint64_t num, size_t repetitions, const char *path) {
  static events all;
  uint64_t len;
  bool ok = read_ranges(num, path, &all);
  if (ok && !is_same(&all, &len)) {
    fprintf(stderr, "chrome: the two did not write the same\n");
    ok = false;
  }
  if (ok) {
    printf(
        "%zu ranges, %.1f bytes each; medians of %zu repetitions, pinned, "
        "thread CPU time\n\n",
        all.num, (double)len / (double)all.num, repetitions);
    ok = measure(&all, repetitions);
  }
  free(all.items);
  return ok;
}

int main(int argc, char **argv) {
  double num = 2e5, repetitions = 21;
  int option;
  while ((option = getopt(argc, argv, "n:r:")) != -1) {
    double value = optarg ? strtod(optarg, NULL) : 0;
    if (option == '?' || value < 1 || value > 1e9) num = 0;
    *(option == 'n' ? &num : &repetitions) = value;
  }
  if (optind != argc || num < 1 || repetitions > MAX_REPETITIONS) {
    fprintf(stderr, "usage: chrome [-n RANGES] [-r REPETITIONS]\n");
    return 2;
  }
  char path[512];
  const char *tmp = getenv("TMPDIR");
  snprintf(path, sizeof path - sizeof "/bench.pplog", "%s/chrome.XXXXXX",
           tmp ? tmp : "/tmp");
  if (!mkdtemp(path)) return 1;
  size_t folder_len = strlen(path);
  strcat(path, "/bench.pplog");
  char build[64];
  snprintf(build, sizeof build, "static, pprof %s", pprof_version());
  print_build(build);
  pin(0);
  bool ok = run((uint64_t)num, (size_t)repetitions, path);
  unlink(path);
  path[folder_len] = '\0';
  rmdir(path);
  return ok ? 0 : 1;
}
