// SPDX-License-Identifier: Apache-2.0
//
// Counts the processors that this process may use.
#include "base/processors.h"

#include <sched.h>

int ppi_num_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}
