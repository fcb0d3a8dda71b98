// SPDX-License-Identifier: Apache-2.0
//
// Writes one family of metrics after the other, each for all processes. Times
// are written from whole nanoseconds, so their sums stay exact.
#include "live/live_metrics.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "live/live.h"

typedef struct writer {
  const ppi_metrics_process *processes;
  size_t num;
  const ppi_metrics_options *options;
  ppi_page *page;
} writer;

#define OTHER "<other>"

// ---- texts and numbers ----

// The value of a label, in quotes.
static void put_value(ppi_page *page, const char *text) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, text);
  ppi_page_text(page, "\"");
  for (const char *at = shown.bytes ? shown.bytes : ""; *at; at++) {
    if (*at == '\\' || *at == '"') ppi_page_text(page, "\\");
    ppi_page_bytes(page, at, 1);
  }
  ppi_page_text(page, "\"");
  page->failed |= shown.failed;
  ppi_page_clear(&shown);
}

// Seconds, to the nanosecond; `with_point`: also where they are whole.
static void put_seconds(ppi_page *page, uint64_t ns, bool with_point) {
  char digits[16];
  const uint64_t second = 1000000000u;
  ppi_page_format(page, "%" PRIu64, ns / second);
  int len = snprintf(digits, sizeof digits, "%09u", (unsigned)(ns % second));
  while (len > 0 && digits[len - 1] == '0') len--;
  if (len > 0 || with_point) ppi_page_text(page, ".");
  ppi_page_bytes(page, len > 0 ? digits : "0",
                 len > 0      ? (size_t)len
                 : with_point ? 1
                              : 0);
}

static void put_head(writer *to, const char *name, const char *type,
                     const char *help) {
  // In OpenMetrics a counter's family has no _total.
  static const char ending[] = "_total";
  size_t len = strlen(name);
  if (to->options->is_openmetrics && strcmp(type, "counter") == 0)
    len -= sizeof ending - 1;
  ppi_page_format(to->page, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)len, name,
                  help, (int)len, name, type);
}

static void put_process(writer *to, const char *name,
                        const ppi_metrics_process *process) {
  ppi_page_format(to->page, "%s{pid=\"%ld\",process=", name, process->pid);
  put_value(to->page, process->name);
}

static void put_label(writer *to, const char *name, const char *value) {
  ppi_page_format(to->page, ",%s=", name);
  put_value(to->page, value);
}

static void put_count(writer *to, uint64_t value) {
  ppi_page_format(to->page, "} %" PRIu64 "\n", value);
}

static void put_time(writer *to, uint64_t ns) {
  ppi_page_text(to->page, "} ");
  put_seconds(to->page, ns, false);
  ppi_page_text(to->page, "\n");
}

// ---- stages ----

// True: the row belongs to <other>: it came after `max_stages` rows, or is the
// table's own last row.
static bool is_other(const writer *to, const ppi_live_view *view, size_t at) {
  return at >= to->options->max_stages ||
         strcmp(view->rows[at].name, OTHER) == 0;
}

static void add_rows(ppi_live_row *into, const ppi_live_row *row) {
  into->is_used |= row->is_used;
  into->num_cut += row->num_cut;
  into->sum_ns += row->sum_ns;
  for (size_t i = 0; i <= PPI_LIVE_MAX_BOUNDS; i++)
    into->within[i] += row->within[i];
}

static void put_stage(writer *to, const char *name,
                      const ppi_metrics_process *process,
                      const ppi_live_row *row) {
  put_process(to, name, process);
  put_label(to, "stage", row->name);
  put_label(to, "category", row->category);
  put_label(to, "timed", row->is_device ? "device" : "host");
}

static void put_exemplar(writer *to, const ppi_live_header *header,
                         const ppi_live_row *row, size_t bound) {
  const bool below = bound == header->num_bounds ||
                     row->slowest_ns <= header->bounds_ns[bound];
  const bool above =
      bound == 0 || row->slowest_ns > header->bounds_ns[bound - 1];
  if (!to->options->is_openmetrics || !row->slowest_flow || !below || !above)
    return;
  ppi_page_format(to->page, " # {flow=\"%" PRIu64 "\"} ", row->slowest_flow);
  put_seconds(to->page, row->slowest_ns, false);
  ppi_page_text(to->page, " ");
  put_seconds(to->page, header->start_realtime_ns + row->slowest_end_ns, false);
}

static void put_histogram(writer *to, const ppi_metrics_process *process,
                          const ppi_live_row *row) {
  const ppi_live_header *header = &process->view->header;
  uint64_t num = 0;
  for (size_t i = 0; i <= header->num_bounds; i++) {
    num += row->within[i];
    put_stage(to, "pprof_stage_duration_seconds_bucket", process, row);
    ppi_page_text(to->page, ",le=\"");
    if (i < header->num_bounds)
      put_seconds(to->page, header->bounds_ns[i], to->options->is_openmetrics);
    else
      ppi_page_text(to->page, "+Inf");
    ppi_page_format(to->page, "\"} %" PRIu64, num);
    put_exemplar(to, header, row, i);
    ppi_page_text(to->page, "\n");
  }
  put_stage(to, "pprof_stage_duration_seconds_sum", process, row);
  put_time(to, row->sum_ns);
  put_stage(to, "pprof_stage_duration_seconds_count", process, row);
  put_count(to, num);
}

static void put_cut(writer *to, const ppi_metrics_process *process,
                    const ppi_live_row *row) {
  put_stage(to, "pprof_stage_cut_total", process, row);
  put_count(to, row->num_cut);
}

// Calls `put` for each stage, and once for <other>.
static void for_stages(writer *to,
                       void (*put)(writer *, const ppi_metrics_process *,
                                   const ppi_live_row *)) {
  for (size_t i = 0; i < to->num; i++) {
    const ppi_live_view *view = to->processes[i].view;
    ppi_live_row *other = ppi_alloc(sizeof *other);
    if (!other) {
      to->page->failed = true;
      return;
    }
    strcpy(other->name, OTHER);
    for (size_t at = 0; at < view->num_rows; at++) {
      if (is_other(to, view, at))
        add_rows(other, &view->rows[at]);
      else if (view->rows[at].is_used)
        put(to, &to->processes[i], &view->rows[at]);
    }
    if (other->is_used) put(to, &to->processes[i], other);
    ppi_free(other);
  }
}

static void put_stages(writer *to) {
  put_head(to, "pprof_stage_duration_seconds", "histogram",
           "How long calls of a stage took, on its thread or on the device.");
  if (to->options->is_openmetrics)
    ppi_page_text(to->page, "# UNIT pprof_stage_duration_seconds seconds\n");
  for_stages(to, put_histogram);
  put_head(to, "pprof_stage_cut_total", "counter",
           "Calls without a duration: cut by a window's end, or abandoned.");
  for_stages(to, put_cut);
  put_head(to, "pprof_stages_in_other", "gauge",
           "How many stages are together in the stage <other>.");
  for (size_t i = 0; i < to->num; i++) {
    const ppi_live_view *view = to->processes[i].view;
    size_t num = 0;
    for (size_t at = 0; at < view->num_rows; at++)
      num += is_other(to, view, at);
    put_process(to, "pprof_stages_in_other", &to->processes[i]);
    put_count(to, num);
  }
}

// The oldest open call of each stage; few calls are open.
static void put_open(writer *to) {
  put_head(to, "pprof_stage_open_since_seconds", "gauge",
           "Begin of the oldest open call of a stage, seconds since 1970.");
  for (size_t i = 0; i < to->num; i++) {
    const ppi_live_view *view = to->processes[i].view;
    bool seen[PPI_LIVE_MAX_ROWS] = {false};
    for (uint32_t at = 0; at < view->header.num_open; at++) {
      const ppi_live_open *open = &view->header.open[at];
      if (!open->is_used || !open->row || seen[open->row - 1] ||
          is_other(to, view, open->row - 1))
        continue;
      seen[open->row - 1] = true;
      put_stage(to, "pprof_stage_open_since_seconds", &to->processes[i],
                &view->rows[open->row - 1]);
      put_time(to, view->header.start_realtime_ns + open->start_ns);
    }
  }
}

// ---- the rest ----

// A value of the header, or of each item of one of its lists.
static const struct family {
  const char *name, *type, *help;
  enum { WHOLE, TIME, NUMBER } what;
  size_t value;       // from the begin of the item, or of the header
  const char *label;  // of an item's name, which is its begin; NULL: no list
  size_t items, item_size, num;
} families[] = {
#define AT(field) offsetof(ppi_live_header, field)
#define IN(field) AT(field), NULL, 0, 0, 0
#define OF(label, type, field, list)                                          \
  offsetof(ppi_live_##type, field), label, AT(list), sizeof(ppi_live_##type), \
      AT(num_##list)
    {"pprof_device_busy_seconds_total", "counter",
     "Time in which at least one range ran on the device.", TIME,
     OF("device", device, busy_ns, devices)},
    {"pprof_device_pending", "gauge",
     "Device ranges that were submitted, with no end found.", WHOLE,
     OF("device", device, num_pending, devices)},
    {"pprof_thread_busy_seconds_total", "counter",
     "Time in outermost ranges of threads of a name.", TIME,
     OF("thread", thread, busy_ns, threads)},
    {"pprof_value", "gauge", "The last value of a counter of the program.",
     NUMBER, OF("name", counter, value, counters)},
    {"pprof_steps_total", "counter", "Steps that ended.", WHOLE, IN(num_steps)},
    {"pprof_items_total", "counter", "Items that steps completed.", WHOLE,
     IN(num_items)},
    {"pprof_events_total", "counter", "Ranges, marks and counter samples.",
     WHOLE, IN(num_events)},
    {"pprof_recorded_total", "counter", "Records of the run, since its start.",
     WHOLE, IN(recorded)},
    {"pprof_lost_total", "counter",
     "Records that were lost for want of memory, since the run's start.", WHOLE,
     IN(lost)},
    {"pprof_missed_total", "counter",
     "Records that a log, trace or report had no room for.", WHOLE, IN(missed)},
    {"pprof_late_total", "counter",
     "Device ranges with times that came too late.", WHOLE, IN(late)},
    {"pprof_collector_cpu_seconds_total", "counter",
     "CPU time of the collector since it is looked at.", TIME,
     IN(collector_cpu_ns)},
#undef AT
#undef IN
#undef OF
};

static void put_item(writer *to, const struct family *family,
                     const ppi_metrics_process *process, const char *item) {
  uint64_t whole;
  double number;
  memcpy(&whole, item + family->value, sizeof whole);
  memcpy(&number, item + family->value, sizeof number);
  if (family->what == NUMBER && !isfinite(number)) return;
  put_process(to, family->name, process);
  if (family->label) put_label(to, family->label, item);
  if (family->what == WHOLE)
    put_count(to, whole);
  else if (family->what == TIME)
    put_time(to, whole);
  else {
    ppi_page_text(to->page, "} ");
    ppi_page_short(to->page, number);
    ppi_page_text(to->page, "\n");
  }
}

static void put_family(writer *to, const struct family *family) {
  put_head(to, family->name, family->type, family->help);
  for (size_t i = 0; i < to->num; i++) {
    const char *header = (const char *)&to->processes[i].view->header;
    uint32_t num = 1;
    if (family->label) memcpy(&num, header + family->num, sizeof num);
    for (uint32_t at = 0; at < num; at++)
      put_item(to, family, &to->processes[i],
               header + family->items + at * family->item_size);
  }
}

static void put_infos(writer *to) {
  put_head(to, "pprof_build_info", "gauge", "The library that records.");
  for (size_t i = 0; i < to->num; i++) {
    put_process(to, "pprof_build_info", &to->processes[i]);
    put_label(to, "version", to->processes[i].view->header.version);
    put_label(to, "host", to->processes[i].view->header.host);
    put_count(to, 1);
  }
  put_head(to, "pprof_recording", "gauge", "1 while a capture window is open.");
  for (size_t i = 0; i < to->num; i++) {
    put_process(to, "pprof_recording", &to->processes[i]);
    put_count(to, to->processes[i].view->header.is_recording != 0);
  }
}

void ppi_live_metrics(const ppi_metrics_process *processes, size_t num,
                      const ppi_metrics_options *options, ppi_page *page) {
  writer to = {processes, num, options, page};
  put_infos(&to);
  put_stages(&to);
  put_open(&to);
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    put_family(&to, &families[i]);
  if (options->is_openmetrics) ppi_page_text(page, "# EOF\n");
}

// ---- buckets ----

// OpenTelemetry's advice for gen_ai.*.duration: 10 ms, doubling, to 81.92 s.
static size_t genai(uint64_t out_ns[PPI_LIVE_MAX_BOUNDS]) {
  size_t num = 0;
  for (uint64_t ns = 10000000u; ns <= 81920000000u; ns *= 2) out_ns[num++] = ns;
  return num;
}

size_t ppi_metrics_bounds(const char *text,
                          bool (*parse)(const char *text, uint64_t *out_us),
                          uint64_t out_ns[PPI_LIVE_MAX_BOUNDS]) {
  size_t num = 0;
  if (strcmp(text, "genai") == 0) return genai(out_ns);
  if (strcmp(text, "usual") == 0) {
    memcpy(out_ns, ppi_live_usual_bounds,
           ppi_live_num_usual_bounds * sizeof *out_ns);
    return ppi_live_num_usual_bounds;
  }
  while (*(text += strspn(text, " "))) {
    char word[32];
    uint64_t us;
    size_t len = strcspn(text, " ");
    if (len >= sizeof word || num == PPI_LIVE_MAX_BOUNDS) return 0;
    memcpy(word, text, len);
    word[len] = 0;
    text += len;
    if (!parse(word, &us) || us > UINT64_MAX / 1000 ||
        (num && us * 1000 <= out_ns[num - 1]) || us == 0)
      return 0;
    out_ns[num++] = us * 1000;
  }
  return num;
}
