// SPDX-License-Identifier: Apache-2.0
//
// The kernel's number of a thread.
#pragma once

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The system call itself: C libraries before 2.30 have no gettid.
static inline uint32_t ppi_thread_id(void) {
  return (uint32_t)syscall(SYS_gettid);
}
