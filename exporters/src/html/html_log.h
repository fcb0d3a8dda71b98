// SPDX-License-Identifier: Apache-2.0
//
// The page of one log.
#ifndef PPI_HTML_LOG_H_
#define PPI_HTML_LOG_H_

#include <stdio.h>

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_html_write_log reads the log `path` twice. Errors: those of
// pprof_log_read and of ppi_html_write; INVALID: the log has changed meanwhile.
pprof_status ppi_html_write_log(const char *path, FILE *out,
                                pprof_error *error);

#ifdef __cplusplus
}
#endif

#endif  // PPI_HTML_LOG_H_
