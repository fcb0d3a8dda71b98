// SPDX-License-Identifier: Apache-2.0
//
// Conditions that are waited for until a time of CLOCK_MONOTONIC: the real one,
// whatever clock is injected.
#pragma once

#include <pthread.h>

#include "pprof/base.h"

uint64_t ppi_monotonic_ns(void);

// ppi_wait_init makes a condition for ppi_wait_until.
void ppi_wait_init(pthread_cond_t *cond);

// ppi_wait_until waits with the mutex, as pthread_cond_wait does; false: the
// deadline has passed.
bool ppi_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                    uint64_t deadline_ns);
