// SPDX-License-Identifier: Apache-2.0
//
// What the environment says: PPROF_* variables, what %-expansions in paths
// stand for, and messages on stderr for those who asked for them.
#ifndef PPI_ENVIRONMENT_H_
#define PPI_ENVIRONMENT_H_

#include <limits.h>

#include "schema.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_environment_enabled answers what PPROF_ENABLE says; true without it.
pprof_status ppi_environment_enabled(bool *out, pprof_error *error);
// ppi_environment_apply sets what PPROF_OUTPUT and PPROF_SET give.
pprof_status ppi_environment_apply(ppi_config *config, pprof_error *error);
// ppi_environment_config_path answers PPROF_CONFIG, NULL when not set.
const char *ppi_environment_config_path(void);

// ppi_expand_path writes `path` with its %-expansions done.
pprof_status ppi_expand_path(const ppi_config_text *path, char out[PATH_MAX],
                             pprof_error *error);

typedef enum ppi_message_level {
  PPI_MESSAGE_OFF = 0,
  PPI_MESSAGE_ERROR,
  PPI_MESSAGE_WARN,
  PPI_MESSAGE_INFO,
  PPI_MESSAGE_DEBUG
} ppi_message_level;
pprof_status ppi_environment_log_level(ppi_message_level *out,
                                       pprof_error *error);
// ppi_message prints a line on stderr when PPROF_LOG_LEVEL asks for `level`.
void ppi_message(ppi_message_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif  // PPI_ENVIRONMENT_H_
