// SPDX-License-Identifier: Apache-2.0
#include "import/dialects.h"

#include <string.h>

const ppi_dialect *ppi_dialect_of(uint32_t bits) {
  static const ppi_dialect dialects[] = {
      {PPI_IS_PADDLE, "a Paddle trace", .has_day_times = true,
       .has_device_rows = true},
      {PPI_IS_PYTORCH, "a PyTorch trace", .has_device_rows = true},
      {PPI_IS_ORT, "an ONNX Runtime trace", .has_coarse_times = true},
      {UINT32_MAX, "a Chrome trace", .has_device_rows = true},
  };
  unsigned i = 0;
  while (!(dialects[i].is & (bits | 1u << 31))) i++;
  return &dialects[i];
}

static const char of_perf[] =
    "samples of perf, which have no ranges; speedscope opens what perf script"
    " prints";
static const char of_ftrace[] = "ftrace's text, which ui.perfetto.dev opens";

const char *ppi_foreign_head(const void *bytes, size_t len) {
  static const struct {
    const char *head, *what;
  } files[] = {
      {"PERFILE2", of_perf},
      {"# tracer: ", of_ftrace},
      {"\x17\x08\x44tracing",
       "a trace of trace-cmd; trace-cmd report prints it"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (len >= strlen(files[i].head) &&
        memcmp(bytes, files[i].head, strlen(files[i].head)) == 0)
      return files[i].what;
  return NULL;
}

const char *ppi_foreign_of(const char *key, size_t len) {
  static const struct {
    const char *key, *what;
  } files[] = {
      {"profiles",
       "a profile of speedscope; what it was made from may be a Chrome trace,"
       " as py-spy record -f chrometrace writes"},
      {"libs",
       "a profile of the Firefox profiler, which has samples;"
       " profiler.firefox.com opens it"},
      {"linux-perf-json-version", of_perf},
      {"systemTraceEvents", of_ftrace},
      {"rocprofiler-sdk-tool",
       "rocprofv3's own JSON; rocprof --hip-trace writes a Chrome trace"},
      {"NvtxEvent",
       "lines of nsys export --type json; its --type sqlite is read"},
      {"CudaEvent",
       "lines of nsys export --type json; its --type sqlite is read"},
      {"TraceProcessEvent",
       "lines of nsys export --type json; its --type sqlite is read"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strlen(files[i].key) == len && memcmp(files[i].key, key, len) == 0)
      return files[i].what;
  return NULL;
}
