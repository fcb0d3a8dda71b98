// SPDX-License-Identifier: Apache-2.0
//
// Makes numbers that no other process has.
#include "base/random.h"

#include <linux/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

// The call itself: older C libraries than 2.25 have no name for it.
uint64_t ppi_random64(void) {
  uint64_t random;
  if (syscall(SYS_getrandom, &random, sizeof random, GRND_NONBLOCK) !=
      sizeof random)
    random = ppi_clock_realtime_ns() ^ (uint64_t)getpid() << 40;
  return random;
}
