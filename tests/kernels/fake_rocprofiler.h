// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for librocprofiler-sdk: its entry points, played by the test.
#pragma once

#include "rocm.h"

PPROF_BEGIN_C_

typedef struct fake_rocprofiler {
  const char *failing;  // an entry point that fails; NULL: none
  uint64_t now_ns;      // of its clock; each look takes 10 ns
  uint64_t dropped;     // told with the next records
  // A call of HIP on this thread: its callbacks are made, where they are asked
  // for. Answers its correlation.
  uint64_t (*call)(const char *function);
  // Code with a kernel is loaded.
  void (*load)(const ppi_rocm_symbol *symbol);
  // The device is done with something: it comes with the next flush.
  void (*deliver)(uint32_t kind, const void *record, size_t size);
} fake_rocprofiler;

// Exported: the one that this library is.
typedef fake_rocprofiler *fake_rocprofiler_get_type(void);

PPROF_END_C_
