// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost and the error of device timing on a CUDA device: device
// [OPTIONS]. Every row alternates with its control in the same run; README.md
// explains the rows. Exits 0 when all was measured and each bound is met, 1
// when a bound is missed, 2 for wrong usage, 3 without a device.
#include "device_bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const struct {
  const char *name;
  bench_part measure;
} parts[] = {
    {"host", bench_part_host},         {"gpu", bench_part_gpu},
    {"spin", bench_part_spin},         {"stop", bench_part_stop},
    {"pipeline", bench_part_pipeline}, {"rate", bench_part_rate},
    {"place", bench_part_place},       {"kernels", bench_part_kernels}};
enum { NUM_PARTS = sizeof parts / sizeof *parts };

static int usage(FILE *out) {
  fputs(
      "usage: device [OPTIONS]\n\n"
      "  --only PARTS     some of host,gpu,spin,stop,pipeline,rate,place,\n"
      "                   kernels\n"
      "  --minutes M      length of the part `place`; 8\n"
      "  --quick          fewer repetitions, all within a minute\n"
      "  --out FILE       write the results as JSON\n"
      "  --scratch DIR    folder for logs; /tmp\n"
      "  --list           print the names of the parts\n",
      out);
  return out == stdout ? 0 : 2;
}

// Whether the comma-separated `list` holds `name`.
static bool holds(const char *list, const char *name) {
  size_t len = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
      return true;
  }
  return false;
}

static bool is_part(const char *name, size_t len) {
  for (int i = 0; i < NUM_PARTS; i++)
    if (strlen(parts[i].name) == len && strncmp(parts[i].name, name, len) == 0)
      return true;
  return false;
}

static bool are_parts(const char *list) {
  for (const char *at = list;;) {
    size_t len = strcspn(at, ",");
    if (!is_part(at, len)) return false;
    if (!at[len]) return true;
    at += len + 1;
  }
}

// 0: go on; else 1 + the exit status.
static int parse(int argc, char **argv, bench_options *out) {
  static const struct option options[] = {
      {"only", required_argument, NULL, 'o'},
      {"minutes", required_argument, NULL, 'm'},
      {"quick", no_argument, NULL, 'q'},
      {"out", required_argument, NULL, 'f'},
      {"scratch", required_argument, NULL, 's'},
      {"list", no_argument, NULL, 'l'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0}};
  *out = (bench_options){.scratch = "/tmp"};
  int c;
  while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
    char *end = "";
    switch (c) {
      case 'o':
        out->only = optarg;
        break;
      case 'm':
        out->minutes = strtod(optarg, &end);
        if (*end || !(out->minutes > 0 && out->minutes <= 60))
          return 1 + usage(stderr);
        break;
      case 'q':
        out->quick = true;
        break;
      case 'f':
        out->out = optarg;
        break;
      case 's':
        out->scratch = optarg;
        break;
      case 'l':
        for (int i = 0; i < NUM_PARTS; i++) puts(parts[i].name);
        return 1;
      default:
        return 1 + usage(c == 'h' ? stdout : stderr);
    }
  }
  if (out->minutes == 0) out->minutes = out->quick ? 0.25 : 8;
  return optind < argc || (out->only && !are_parts(out->only))
             ? 1 + usage(stderr)
             : 0;
}

// The first line of `path` that begins with `key`, from behind its colon.
static void read_line(const char *path, const char *key, char out[160]) {
  char line[256];
  snprintf(out, 160, "unknown");
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    const char *colon = strchr(line, ':');
    const char *text = colon ? colon + 1 : line;
    text += strspn(text, " \t");
    snprintf(out, 160, "%.*s", (int)strcspn(text, "\n"), text);
    break;
  }
  if (file) fclose(file);
}

static void add_cpu_facts(bench_report *report) {
  char text[160];
  struct utsname name;
  read_line("/proc/cpuinfo", "model name", text);
  bench_fact_add(report, "cpu", text);
  snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
  bench_fact_add(report, "cpus", text);
  uname(&name);
  snprintf(text, sizeof text, "%.32s %.32s %.64s", name.sysname, name.machine,
           name.release);
  bench_fact_add(report, "system", text);
}

static void add_gpu_facts(bench_report *report) {
  char text[160];
  struct cudaDeviceProp properties;
  int driver = 0, runtime = 0;
  BENCH_CHECK(cudaGetDeviceProperties(&properties, 0));
  BENCH_CHECK(cudaDriverGetVersion(&driver));
  BENCH_CHECK(cudaRuntimeGetVersion(&runtime));
  bench_fact_add(report, "gpu", properties.name);
  read_line("/sys/module/nvidia/version", "", text);
  bench_fact_add(report, "driver", text);
  snprintf(text, sizeof text, "driver %d.%d, runtime %d.%d", driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  bench_fact_add(report, "cuda", text);
}

static void add_run_facts(bench_report *report, int argc, char **argv) {
  char text[160] = "device";
  time_t now = time(NULL);
  struct tm utc;
  for (int i = 1; i < argc; i++) {
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, " %s", argv[i]);
  }
  bench_fact_add(report, "command", text);
  gmtime_r(&now, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  bench_fact_add(report, "date", text);
  snprintf(text, sizeof text, "pprof %s, gcc %s", pprof_version(), __VERSION__);
  bench_fact_add(report, "build", text);
}

static void find_call(const char *name, void *out) {
  enum cudaDriverEntryPointQueryResult found;
  void *call = NULL;
  BENCH_CHECK(cudaGetDriverEntryPointByVersion(name, &call, 12000,
                                               cudaEnableLegacyStream, &found));
  if (found != cudaDriverEntryPointSuccess || !call) {
    fprintf(stderr, "device: the driver has no %s\n", name);
    exit(3);
  }
  memcpy(out, &call, sizeof call);
}

static bool open_device(bench_run *run) {
  pprof_error why_not = {""};
  int num = 0;
  cudaError_t error = cudaGetDeviceCount(&num);
  if (error != cudaSuccess || num == 0)
    return bench_fail("no CUDA device: %s", cudaGetErrorString(error));
  BENCH_CHECK(cudaSetDevice(0));
  BENCH_CHECK(cudaFree(NULL));  // makes the context
  run->device = pprof_device_get(pprof_backend_cuda(), 0);
  if (!pprof_device_available(run->device, &why_not))
    return bench_fail("pprof finds no device: %s", why_not.text);
  find_call("cuEventRecord", &run->record);
  find_call("cuStreamIsCapturing", &run->is_capturing);
  return true;
}

static bool run_parts(bench_run *run) {
  bool ok = true;
  for (int i = 0; i < NUM_PARTS; i++) {
    if (run->options.only && !holds(run->options.only, parts[i].name)) continue;
    fprintf(stderr, "device: %s ...\n", parts[i].name);
    uint64_t begin = bench_now_ns();
    ok = parts[i].measure(run) && ok;
    BENCH_CHECK(cudaDeviceSynchronize());
    fprintf(stderr, "device: %s took %.1f s\n", parts[i].name,
            (double)(bench_now_ns() - begin) / 1e9);
  }
  return ok;
}

static bool all_met(const bench_report *report) {
  for (size_t i = 0; i < report->num_rows; i++)
    if (report->rows[i].verdict == BENCH_MISSED) return false;
  return true;
}

static bool write_json(const bench_report *report, const char *path) {
  FILE *out = fopen(path, "w");
  if (!out) return bench_fail("cannot write %s", path);
  bool ok = bench_report_write_json(report, out);
  return (fclose(out) == 0 && ok) || bench_fail("cannot write %s", path);
}

int main(int argc, char **argv) {
  static bench_run run;
  int status = parse(argc, argv, &run.options);
  if (status) return status - 1;
  if (!open_device(&run)) return 3;
  add_run_facts(&run.report, argc, argv);
  add_gpu_facts(&run.report);
  add_cpu_facts(&run.report);
  bool ok = run_parts(&run);
  bench_report_print(&run.report, stdout);
  if (run.options.out) ok = write_json(&run.report, run.options.out) && ok;
  ok = ok && all_met(&run.report);
  bench_report_clear(&run.report);
  return ok ? 0 : 1;
}
