// SPDX-License-Identifier: Apache-2.0
//
// A pipeline of two models and CPU work, instrumented throughout:
//
//   decode, preprocess -> detector -> choose boxes -> classifier -> read
//   (thread)              (device)    (thread)        (device)      (thread)
//
// Several requests are in flight; each carries its id as a flow and a range
// from submission to completion. Every output is checked against a plain CPU
// reference; a mismatch exits 1.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_runner.h"
#include "pipeline_stages.h"
#include "pprof/pprof.h"

struct arguments {
  const char *config, *device;
  const char *repeat;  // "detector.down=3"
  int num_requests;
};

static int usage(FILE *out) {
  fprintf(out,
          "usage: pipeline [--config FILE] [--requests N]"
          " [--device opencl|cpu|auto]\n"
          "                [--repeat LAYER=N]\n"
          "  --config FILE  what to record [$PPROF_CONFIG, else everything]\n"
          "  --requests N   how many frames to process [48]\n"
          "  --device NAME  what runs the models [auto]\n"
          "  --repeat L=N   run a layer N times, such as detector.down=3\n");
  return out == stdout ? 0 : 2;
}

static bool parse_count(const char *text, int *out) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < 1 || value > 1000000)
    return false;
  *out = (int)value;
  return true;
}

// 0: run; otherwise the exit code plus one.
static int parse(int argc, char **argv, struct arguments *out) {
  static const struct option options[] = {
      {"config", required_argument, NULL, 'c'},
      {"requests", required_argument, NULL, 'n'},
      {"device", required_argument, NULL, 'd'},
      {"repeat", required_argument, NULL, 'r'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0}};
  int letter;
  while ((letter = getopt_long(argc, argv, "c:n:d:r:h", options, NULL)) != -1) {
    if (letter == 'h') return usage(stdout) + 1;
    if (letter == 'c') out->config = optarg;
    if (letter == 'd') out->device = optarg;
    if (letter == 'r') out->repeat = optarg;
    if (letter == '?' ||
        (letter == 'n' && !parse_count(optarg, &out->num_requests)))
      return usage(stderr) + 1;
  }
  bool known = strcmp(out->device, "auto") == 0 ||
               strcmp(out->device, "opencl") == 0 ||
               strcmp(out->device, "cpu") == 0;
  return optind == argc && known ? 0 : usage(stderr) + 1;
}

static struct runner *make_runner(const char *device, struct model *models) {
  char why_not[256] = "";
  struct runner *runner = NULL;
  if (strcmp(device, "cpu") != 0)
    runner = runner_create_opencl(models, why_not, sizeof(why_not));
  if (!runner && strcmp(device, "opencl") == 0)
    fprintf(stderr, "pipeline: no OpenCL device: %s\n", why_not);
  if (runner || strcmp(device, "opencl") == 0) return runner;
  if (strcmp(device, "auto") == 0)
    fprintf(stderr, "pipeline: no OpenCL device (%s), using threads\n",
            why_not);
  runner = runner_create_cpu(models, why_not, sizeof(why_not));
  if (!runner) fprintf(stderr, "pipeline: cpu device: %s\n", why_not);
  return runner;
}

static bool repeat(struct model *models, const char *text) {
  const char *equals = strchr(text, '=');
  char name[64];
  int repeats;
  if (!equals || (size_t)(equals - text) >= sizeof(name) ||
      !parse_count(equals + 1, &repeats))
    return false;
  snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
  return models_repeat(models, name, repeats);
}

static int run(const struct arguments *arguments) {
  struct pipeline_result result = {0, 0, 0, 0};
  struct model *models = models_create();
  if (models && arguments->repeat && !repeat(models, arguments->repeat)) {
    fprintf(stderr, "pipeline: no layer and number: '%s'\n", arguments->repeat);
    models_destroy(models);
    return 2;
  }
  struct runner *runner =
      models ? make_runner(arguments->device, models) : NULL;
  bool good =
      runner && pipeline_run(runner, models, arguments->num_requests, &result);
  if (good) {
    printf("pipeline: %d requests on %s (%s), %d boxes classified\n",
           result.num_done, runner->name, runner->description,
           result.num_boxes);
    printf(
        "pipeline: %d outputs agree with the CPU reference, %d do not;"
        " largest relative difference %.2g\n",
        result.num_done - result.num_failed, result.num_failed,
        result.largest_error);
    if (runner->error[0]) fprintf(stderr, "pipeline: %s\n", runner->error);
  }
  if (runner) runner->destroy(runner);
  models_destroy(models);
  return good && result.num_failed == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  struct arguments arguments = {NULL, "auto", NULL, 48};
  pprof_error error = {""};
  int refused = parse(argc, argv, &arguments);
  if (refused) return refused - 1;
  if (pprof_start(arguments.config, &error) != PPROF_STATUS_OK) {
    fprintf(stderr, "pipeline: %s\n", error.text);
    return 2;
  }
  pprof_thread_name("main");
  int exit_code = run(&arguments);
  if (pprof_stop(&error) != PPROF_STATUS_OK) {
    fprintf(stderr, "pipeline: %s\n", error.text);
    return 1;
  }
  if (arguments.config)
    printf("pipeline: recorded as %s says\n", arguments.config);
  return exit_code;
}
