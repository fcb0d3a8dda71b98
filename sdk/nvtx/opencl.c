// SPDX-License-Identifier: Apache-2.0
//
// Answers OpenCL's loader, which loads this library as a layer from
// OPENCL_LAYERS. The call comes at the program's first OpenCL call, under a
// lock of the loader. libpprof.so implements the layer.
#include <string.h>

#include "opencl_injected.h"

#define EXPORTED __attribute__((visibility("default")))
#define API_VERSION 0x4240
#define NAME 0x4241
#define INVALID_VALUE (-30)

EXPORTED int InitializeInjection(void);
EXPORTED int clGetLayerInfo(uint32_t what, size_t size, void *out,
                            size_t *out_size);
EXPORTED int clInitLayer(uint32_t num, const void *target, uint32_t *out_num,
                         const void **out_layer);

int clGetLayerInfo(uint32_t what, size_t size, void *out, size_t *out_size) {
  static const uint32_t version = 100;
  static const char name[] = "pprof";
  const void *from = what == NAME ? (const void *)name : &version;
  size_t needed = what == NAME ? sizeof name : sizeof version;
  if ((what != NAME && what != API_VERSION) || (out && size < needed))
    return INVALID_VALUE;
  if (out) memcpy(out, from, needed);
  if (out_size) *out_size = needed;
  return 0;
}

int clInitLayer(uint32_t num, const void *target, uint32_t *out_num,
                const void **out_layer) {
  if (!out_num || !out_layer) return INVALID_VALUE;
  return pprof_inject_opencl_(num, target, out_num, out_layer,
                              InitializeInjection);
}
