// SPDX-License-Identifier: Apache-2.0
//
// Options of an import.
#pragma once

#include "names/choice.h"

// `on_progress` (or NULL) gets the bytes done of `total` now and then. `say`
// (or NULL) gets messages on the import's decisions.
typedef struct ppi_import_options {
  void (*on_progress)(void *context, uint64_t done, uint64_t total);
  void (*say)(void *context, const char *text);
  void *context;
  const char *device_process;  // a glob of processes that are devices
  bool by_shape;               // names end with the shapes of their inputs
  // Python functions lie around operators. A name has its `num_callers`
  // innermost callers behind it.
  bool by_stack;
  uint32_t num_callers;
  const ppi_choice *choice;  // categories by name; NULL: none
} ppi_import_options;
