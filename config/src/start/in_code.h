// SPDX-License-Identifier: Apache-2.0
//
// A program's options in code (pprof_start_with), as a part of its
// configuration.
#pragma once

#include "pprof/pprof.h"
#include "schema/schema.h"

PPROF_BEGIN_C_

typedef struct ppi_in_code {
  const char *config_text;  // for the start, instead of a file; NULL: none
  bool has_schedule;
  bool is_heard;  // on_window is there, or was in the process's parent
  pprof_schedule schedule;
  ppi_config_text window_log;                                 // "": none
  void (*on_window)(void *user, const pprof_window *window);  // NULL: none
  void *user;
} ppi_in_code;

// ppi_in_code_take copies `options` except the path; INVALID as
// pprof_start_with.
pprof_status ppi_in_code_take(ppi_in_code *code,
                              const pprof_start_options *options,
                              pprof_error *error);
// Applied after the file and before the environment; applied after both.
void ppi_in_code_set_schedule(const ppi_in_code *code, ppi_config *config);
pprof_status ppi_in_code_set_outputs(const ppi_in_code *code,
                                     ppi_config *config, pprof_error *error);

PPROF_END_C_
