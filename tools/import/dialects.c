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

const char *ppi_foreign_of(const char *key, size_t len) {
  static const struct {
    const char *key, *what;
  } files[] = {
      {"profiles",
       "a profile of speedscope, which has stacks of samples; what"
       " it was made from may be a Chrome trace"},
      {"libs", "a profile of the Firefox profiler, which has samples"},
      {"linux-perf-json-version", "samples of perf"},
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
