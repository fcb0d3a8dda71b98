// SPDX-License-Identifier: Apache-2.0
//
// What a stage does, from its text: see pipeline.c.
#ifndef TESTS_CAUSES_REAL_REAL_WORK_H_
#define TESTS_CAUSES_REAL_REAL_WORK_H_

#include <pthread.h>
#include <stdint.h>

#include "pprof/pprof.h"

uint64_t real_now_ns(void);
void real_sleep_until_ns(uint64_t at);

// Starts the devices that `work` needs.
void real_prepare(const char *work);
void real_work(const char *work, uint64_t flow);

#endif  // TESTS_CAUSES_REAL_REAL_WORK_H_
