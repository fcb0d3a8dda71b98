// SPDX-License-Identifier: Apache-2.0
//
// Starts the library's own threads, and has the messages for no memory and no
// thread.
#pragma once

#include <pthread.h>

#include "pprof/base.h"

// ppi_start_thread starts a thread that takes none of the application's
// signals. Answers 0 or errno.
int ppi_start_thread(pthread_t *out, const char *name, void *(*run)(void *),
                     void *argument);

// ppi_describe_no_memory says why the last call was answered NO_MEMORY: no
// thread can be made, or a limit leaves no room. Answers `text`.
const char *ppi_describe_no_memory(char *text, size_t size);
