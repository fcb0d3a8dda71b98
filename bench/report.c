// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of reading a log into a report, against reading the same
// log into an empty sink: report [-n RANGES] [-r REPETITIONS] [-l LANES] [-s
// RANGES_PER_SECOND] [-d PERCENT] [-q RANGES_PER_REQUEST] [-w FILE | -f FILE].
// Ways alternate in one process; figures are medians. With -w it writes that
// log and is done; with -f it reads that log once into a report and prints how
// many events there were.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "log/format/codec.h"
#include "log/format/log_file.h"
#include "log/format/log_format.h"
#include "pprof/export.h"
#include "pprof/log.h"
#include "print/report_print.h"
#include "report/report.h"
#include "report_log.h"
#include "rows.h"
#include "timing.h"

#define RESIDENT_BOUND_MB 64.0

// The decoder runs before and after the report. The mean is the cost of
// decoding; the difference bounds the error of a ratio.
typedef enum way { INFLATE, DECODE, REPORT, DECODE_AGAIN, NUM_WAYS } way;

// The number of events; UINT64_MAX when reading failed.
typedef uint64_t (*reader)(const char *path);

static uint64_t process_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t inflate_all(const char *path) {
  static uint8_t raw[PPI_LOG_MAX_RAW];
  ppi_codec *codec = NULL;
  ppi_log_file *file = NULL;
  ppi_log_block block;
  uint64_t num_events = 0;
  if (ppi_codec_create(1, &codec) != PPROF_STATUS_OK) return UINT64_MAX;
  if (ppi_log_file_open(path, &file, NULL) == PPROF_STATUS_OK) {
    while (ppi_log_file_next(file, &block)) {
      const ppi_log_header *header = &block.header;
      if (block.ok && ppi_codec_inflate(codec, header->codec, block.stored,
                                        header->stored_len, raw,
                                        header->raw_len) == PPROF_STATUS_OK)
        num_events += header->type == PPI_LOG_EVENTS ? header->num_events : 0;
    }
    ppi_log_file_close(file);
  }
  ppi_codec_destroy(codec);
  return num_events;
}

typedef struct counting {
  pprof_sink base;
  uint64_t num_events;
} counting;

static pprof_status count(pprof_sink *sink, const pprof_batch *batch) {
  ((counting *)sink)->num_events += batch->num_events;
  return PPROF_STATUS_OK;
}

static uint64_t decode_all(const char *path) {
  counting sink = {.base = {.size = sizeof(pprof_sink), .events = count}};
  pprof_error error = {""};
  if (pprof_log_read(path, &sink.base, &error) == PPROF_STATUS_OK)
    return sink.num_events;
  fprintf(stderr, "report: %s\n", error.text);
  return UINT64_MAX;
}

static bool write_views(const pprof_report *report) {
  FILE *out = fopen("/dev/null", "w");
  bool ok =
      out && pprof_report_write_json(report, NULL, out) == PPROF_STATUS_OK;
  if (out) fclose(out);
  return ok;
}

static uint64_t count_reported(const pprof_report *report) {
  const ppi_figures *figures = ppi_report_figures(report);
  uint64_t num = 0;
  for (size_t i = 0; i < figures->num_names; i++)
    num += figures->names[i].host.n + figures->names[i].device.n;
  return num;
}

// With all that `pprof-report LOG` asks for.
static uint64_t report_all(const char *path) {
  const ppi_report_options how = {.style = PPI_STYLE_ANSWER};
  ppi_report_details details = {.warmup = -1};
  pprof_report *report = NULL;
  pprof_error error = {""};
  uint64_t num_events = UINT64_MAX;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) return UINT64_MAX;
  ppi_report_need(&how, PPI_FORMAT_TABLE, &details);
  ppi_report_set_details(report, &details);
  pprof_status status = pprof_log_read(path, pprof_report_sink(report), &error);
  if (status == PPROF_STATUS_OK && write_views(report))
    num_events = count_reported(report);
  else
    fprintf(stderr, "report: %s\n", error.text);
  pprof_report_destroy(report);
  return num_events;
}

static const struct row {
  const char *name;
  reader read;
} rows[NUM_WAYS] = {[INFLATE] = {"inflate", inflate_all},
                    [DECODE] = {"inflate, decode", decode_all},
                    [REPORT] = {"inflate, decode, report", report_all},
                    [DECODE_AGAIN] = {"", decode_all}};

typedef struct bench {
  bench_log log;
  char path[600];
  uint64_t num_events;  // that are in the log
  int repetitions;
  double *ns[NUM_WAYS];  // per event, by repetition
} bench;

static bool measure(bench *self, int repetition) {
  for (int i = 0; i < NUM_WAYS; i++) {
    uint64_t start_ns = process_ns();
    uint64_t num = rows[i].read(self->path);
    double ns = (double)(process_ns() - start_ns) / (double)self->num_events;
    if (num != self->num_events) {
      fprintf(stderr, "report: %s: %" PRIu64 " of %" PRIu64 " events\n",
              rows[i].name, num, self->num_events);
      return false;
    }
    if (repetition >= 0) self->ns[i][repetition] = ns;
  }
  return true;
}

// The most that a process had resident which does nothing but report; 0 when
// that is not known.
static double peak_mb(const char *path) {
  int ends[2];
  double kib = 0;
  if (pipe(ends) != 0) return 0;
  pid_t child = fork();
  if (child == 0) {
    char line[128];
    bool ok = report_all(path) != UINT64_MAX;
    FILE *status = fopen("/proc/self/status", "r");
    while (ok && status && fgets(line, sizeof line, status))
      if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
    _exit(ok && write(ends[1], &kib, sizeof kib) == sizeof kib ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &kib, sizeof kib) != sizeof kib) kib = 0;
  close(ends[0]);
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
    ;
  return kib * 1024 / 1e6;
}

static double median_ratio(const bench *self, way a, way b, way c) {
  double *ratios = calloc((size_t)self->repetitions, sizeof *ratios);
  if (!ratios) exit(1);
  for (int i = 0; i < self->repetitions; i++)
    ratios[i] = self->ns[a][i] / ((self->ns[b][i] + self->ns[c][i]) / 2);
  double out = median(ratios, (size_t)self->repetitions);
  free(ratios);
  return out;
}

// Of one core, in million events a second.
static double least_rate(const bench_log *log) {
  if (log->device_percent) return 10;
  return log->num_lanes == 1 ? 40 : 20;
}

static void print_results(const bench *self, double resident_mb) {
  size_t num = (size_t)self->repetitions;
  const bench_log *log = &self->log;
  double ratio = median_ratio(self, REPORT, DECODE, DECODE_AGAIN),
         again = median_ratio(self, DECODE_AGAIN, DECODE, DECODE),
         inflate = median_ratio(self, INFLATE, DECODE, DECODE_AGAIN);
  printf("%-26s %12s %8s\n", "", "ns an event", "ratio");
  printf("%-26s %12.2f %8.2f\n", rows[INFLATE].name,
         median(self->ns[INFLATE], num), inflate);
  printf("%-26s %12.2f %8.2f   A/A %.3f\n", rows[DECODE].name,
         median(self->ns[DECODE], num), 1.0, again);
  printf("%-26s %12.2f %8.2f\n\n", rows[REPORT].name,
         median(self->ns[REPORT], num), ratio);
  char what[64];
  int len = snprintf(what, sizeof what, "%u lane%s%s%s", log->num_lanes,
                     log->num_lanes > 1 ? "s" : "",
                     log->device_percent ? ", kernels" : "",
                     log->request_ranges ? ", requests" : "");
  bench_row(what, 1e3 / median(self->ns[REPORT], num), "million/s",
            -least_rate(log));
  snprintf(what + len, sizeof what - (size_t)len, ": resident");
  bench_row(what, resident_mb, "MB", RESIDENT_BOUND_MB);
}

static bool write_log(bench *self) {
  pprof_error error = {""};
  uint64_t num_ranges = 0;
  pprof_status status =
      bench_log_write(&self->log, self->path, &num_ranges, &error);
  if (status != PPROF_STATUS_OK) {
    fprintf(stderr, "report: %s: %s\n", self->path,
            error.text[0] ? error.text : pprof_status_string(status));
    return false;
  }
  self->num_events = decode_all(self->path);
  struct stat stat_;
  bool ok = self->num_events >= num_ranges && self->num_events != UINT64_MAX &&
            stat(self->path, &stat_) == 0;
  if (ok)
    printf("log: %" PRIu64 " ranges, %" PRIu64 " steps, %u threads, %" PRIu64
           " ranges a second, %.1f MB\n",
           num_ranges, self->num_events - num_ranges, self->log.num_lanes,
           self->log.ranges_per_second, (double)stat_.st_size / 1e6);
  return ok;
}

static bool run(bench *self) {
  if (!write_log(self)) return false;
  double resident_mb = peak_mb(self->path);
  printf("medians of %d repetitions, pinned, CPU time of the process\n\n",
         self->repetitions);
  fflush(stdout);
  bool ok = true;
  for (int i = 0; i < NUM_WAYS && ok; i++)
    ok = (self->ns[i] = calloc((size_t)self->repetitions, sizeof(double)));
  // Repetition -1 warms up.
  for (int i = -1; ok && i < self->repetitions; i++) ok = measure(self, i);
  ok &= resident_mb > 0;
  if (ok) print_results(self, resident_mb);
  for (int i = 0; i < NUM_WAYS; i++) free(self->ns[i]);
  return ok;
}

static bool read_once(const char *path) {
  pin(0);
  uint64_t num = report_all(path);
  if (num == UINT64_MAX) return false;
  printf("%" PRIu64 "\n", num);
  return true;
}

static bool take_options(int argc, char **argv, bench *self,
                         const char **out_path, const char **in_path) {
  int option;
  while ((option = getopt(argc, argv, "n:r:l:s:d:q:w:f:")) != -1) {
    double value = optarg ? strtod(optarg, NULL) : 0;
    if (option == 'w')
      *out_path = optarg;
    else if (option == 'f')
      *in_path = optarg;
    else if (option == '?' || value < 1 || value > 1e12)
      return false;
    else if (option == 'n')
      self->log.num_ranges = (uint64_t)value;
    else if (option == 'r')
      self->repetitions =
          (int)(value < MAX_REPETITIONS ? value : MAX_REPETITIONS);
    else if (option == 'l')
      self->log.num_lanes = (uint32_t)value;
    else if (option == 'q')
      self->log.request_ranges = (uint64_t)value;
    else if (option == 's')
      self->log.ranges_per_second = (uint64_t)value;
    else
      self->log.device_percent = (uint32_t)(value < 100 ? value : 100);
  }
  return optind == argc && self->log.num_lanes <= BENCH_LOG_LANES;
}

int main(int argc, char **argv) {
  bench self = {.log = {10000000, 2, 10000000, 0, 0}, .repetitions = 5};
  const char *wanted = NULL, *given = NULL, *tmp = getenv("TMPDIR");
  if (!take_options(argc, argv, &self, &wanted, &given)) {
    fprintf(stderr,
            "usage: report [-n RANGES] [-r REPETITIONS] [-l LANES, at most %d]"
            " [-s RANGES_PER_SECOND] [-d PERCENT] [-q RANGES_PER_REQUEST]"
            " [-w FILE | -f FILE]\n",
            BENCH_LOG_LANES);
    return 2;
  }
  if (given) return read_once(given) ? 0 : 1;
  if (wanted) {
    snprintf(self.path, sizeof self.path, "%s", wanted);
    return write_log(&self) ? 0 : 1;
  }
  char folder[512];
  snprintf(folder, sizeof folder, "%s/report.XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return 1;
  snprintf(self.path, sizeof self.path, "%s/bench.pplog", folder);
  char build[64];
  snprintf(build, sizeof build, "static, pprof %s", pprof_version());
  print_build(build);
  pin(0);
  bool ok = run(&self);
  unlink(self.path);
  rmdir(folder);
  return ok ? 0 : 1;
}
