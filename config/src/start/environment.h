// SPDX-License-Identifier: Apache-2.0
//
// The environment: PPROF_* variables, values of %-expansions in paths, and
// messages on stderr if requested. A program with other rights than its caller,
// such as a setuid one, ignores it.
#pragma once

#include <limits.h>

#include "schema/schema.h"

PPROF_BEGIN_C_

// ppi_environment_enabled answers the value of PPROF_ENABLE; true without it.
pprof_status ppi_environment_enabled(bool *out, pprof_error *error);
// ppi_environment_asks answers whether PPROF_ENABLE is set to yes.
bool ppi_environment_asks(void);
// ppi_environment_reclaim answers the value of PPROF_RECLAIM; true without it.
pprof_status ppi_environment_reclaim(bool *out, pprof_error *error);
// ppi_environment_apply sets the values of PPROF_OUTPUT, PPROF_REPORT and
// PPROF_SET.
pprof_status ppi_environment_apply(ppi_config *config, pprof_error *error);
// ppi_environment_config_path answers PPROF_CONFIG, NULL when not set.
const char *ppi_environment_config_path(void);
// ppi_environment_nvtx answers PPROF_NVTX, NULL when not set.
const char *ppi_environment_nvtx(void);

// ppi_environment_unknown reports each PPROF_* variable that nothing reads,
// with the one that was probably meant.
void ppi_environment_unknown(void (*report)(const char *text));

// A copy of the environment, for a thread that reads it while the program may
// change it. One thread at a time reads from a copy; NULL: none does. Clearing
// it ends that, too.
typedef struct ppi_environment_copy {
  char *texts;  // "NAME=value" one after the other, zero-terminated
  size_t len;
} ppi_environment_copy;
// Answers false when there is no memory.
bool ppi_environment_copy_take(ppi_environment_copy *out);
void ppi_environment_copy_clear(ppi_environment_copy *copy);
void ppi_environment_answer_from(const ppi_environment_copy *copy);

// ppi_expand_path writes `path` with its %-expansions done, except %w.
// PPI_PATH_WINDOW replaces %w until ppi_expand_window puts a number.
#define PPI_PATH_WINDOW '\001'
pprof_status ppi_expand_path(const ppi_config_text *path, char out[PATH_MAX],
                             pprof_error *error);
// Answers CONFIG when the path gets too long.
pprof_status ppi_expand_window(const char *path, uint32_t window,
                               char out[PATH_MAX]);

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
// ppi_print_terminal prints a line on stderr if stderr is a terminal, unless
// PPROF_QUIET forbids it.
void ppi_print_terminal(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

PPROF_END_C_
