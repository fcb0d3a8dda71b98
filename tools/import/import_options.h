// SPDX-License-Identifier: Apache-2.0
//
// How a trace is read.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "names/choice.h"

// `on_progress` (or NULL) is called now and then with what has been done of
// `total`; `say` (or NULL) gets in words what was taken for what.
typedef struct ppi_import_options {
  void (*on_progress)(void *context, uint64_t done, uint64_t total);
  void (*say)(void *context, const char *text);
  void *context;
  const char *device_process;  // a glob; processes called so are devices
  bool by_shape;  // names have the shapes of their inputs behind them
  // Python's functions lie around operators, and what was called in some has so
  // many of these behind its name.
  bool by_stack;
  uint32_t num_callers;
  const ppi_choice *choice;  // whose categories names have; NULL: none
} ppi_import_options;
