// SPDX-License-Identifier: Apache-2.0
//
// The page of one log.
#pragma once

#include <stdio.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_html_write_log reads the log `path` twice. Errors: those of
// pprof_log_read and of ppi_html_write; INVALID: the log has changed meanwhile.
pprof_status ppi_html_write_log(const char *path, FILE *out,
                                pprof_error *error);

PPROF_END_C_
