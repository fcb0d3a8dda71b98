// SPDX-License-Identifier: Apache-2.0
//
// The kernel's number of a thread.
#pragma once

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The call itself: older C libraries than 2.30 have no gettid.
static inline uint32_t ppi_thread_id(void) {
  return (uint32_t)syscall(SYS_gettid);
}
