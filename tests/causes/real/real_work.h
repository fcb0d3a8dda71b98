// SPDX-License-Identifier: Apache-2.0
//
// Does the work of a stage, from its text: see pipeline.c.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "pprof/pprof.h"

uint64_t real_now_ns(void);
void real_sleep_until_ns(uint64_t at);

// Starts the devices that `work` needs.
void real_prepare(const char *work);
void real_work(const char *work, uint64_t flow);
