// SPDX-License-Identifier: Apache-2.0
//
// From a configuration to a running session: pprof_start and pprof_stop.
#pragma once

#include "start/in_code.h"

PPROF_BEGIN_C_

// ppi_compose_load reads the input of pprof_start: defaults, the file (NULL:
// PPROF_CONFIG, if set), the environment.
pprof_status ppi_compose_load(const char *config_path, ppi_config *config,
                              pprof_error *error);
// The same, with the program's options in code.
pprof_status ppi_compose_load_with(const char *config_path,
                                   const ppi_in_code *code, ppi_config *config,
                                   pprof_error *error);

// pprof_start and pprof_start_with, for a caller that follows forks itself
// (Python).
PPROF_API pprof_status pprof_start_alone_(const char *config_path,
                                          pprof_error *error);
PPROF_API pprof_status
pprof_start_alone_with_(const pprof_start_options *options, pprof_error *error);
// The same with the configuration itself, as YAML, instead of a path.
PPROF_API pprof_status pprof_start_alone_text_(
    const pprof_start_options *options, const char *text, pprof_error *error);

// pprof_last_log_ answers the log of the process's last stopped run; "": none,
// or its name is too long for `out`.
PPROF_API void pprof_last_log_(char *out, size_t size);

PPROF_END_C_
