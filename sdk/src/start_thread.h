// SPDX-License-Identifier: Apache-2.0
//
// The one way in which threads of the library's own begin.
#ifndef PPI_START_THREAD_H_
#define PPI_START_THREAD_H_

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_start_thread starts a thread that takes none of the application's
// signals. Answers 0 or errno.
int ppi_start_thread(pthread_t *out, const char *name, void *(*run)(void *),
                     void *argument);

#ifdef __cplusplus
}
#endif

#endif  // PPI_START_THREAD_H_
