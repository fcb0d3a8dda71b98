// SPDX-License-Identifier: Apache-2.0
//
// Who writes traces in Chrome's format, and what is special about each. How
// their categories and names read stands in classify.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Bits of ppi_class.is, and of what a trace was seen to have.
enum {
  PPI_IS_PYTORCH = 256,
  PPI_IS_PADDLE = 512,
  PPI_IS_ORT = 1024,
  PPI_IS_ANY_DIALECT = PPI_IS_PYTORCH | PPI_IS_PADDLE | PPI_IS_ORT
};

typedef struct ppi_dialect {
  uint32_t is;
  const char *what;       // "a Paddle trace"
  bool has_day_times;     // without a base, too
  bool has_coarse_times;  // whole microseconds
  bool has_device_rows;   // processes are numbered by device
} ppi_dialect;

// ppi_dialect_of answers the first of those that are among the bits; for none,
// Chrome's own.
const ppi_dialect *ppi_dialect_of(uint32_t bits);

PPROF_END_C_
