// SPDX-License-Identifier: Apache-2.0
//
// An instrumented program for PPROF_DISABLE, compiled as C and as C++ by
// disable_test.sh and linked without the library: a marker that needs a symbol
// of it does not link. It answers 0 when every marker answers nothing.
#include <string.h>

#include "markers.h"

int main(void) {
  pprof_error why = {""};
  pprof_device *device = pprof_device_get(pprof_backend_opencl(), 0);
  if (device || pprof_device_available(device, &why)) return 1;
  if (strcmp(why.text, "compiled with PPROF_DISABLE") != 0) return 2;
  if (pprof_backend_cuda() || pprof_backend_hip()) return 3;
  if (pprof_category_register("mine") != PPROF_CATEGORY_USER_DEFINED) return 4;
  if (pprof_range_begin(&markers_file_site).id != 0) return 5;
  return markers_all() ? 6 : 0;
}
