// SPDX-License-Identifier: Apache-2.0
//
// The threads that are older than the session: an end without a begin on one of
// them may be of a range that began before.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_older_list lists the threads of the process, before there is an epoch.
void ppi_older_list(void);
bool ppi_older_has(uint32_t tid);

PPROF_END_C_
