// SPDX-License-Identifier: Apache-2.0
//
// A scope around nothing, whose way while no session runs is looked at by
// marker_code_test.py.
#include "pprof/mark.h"

void one_scope(void);
void one_scope(void) {
  PPROF_SCOPE("scope");
}
