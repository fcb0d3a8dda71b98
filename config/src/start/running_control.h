// SPDX-License-Identifier: Apache-2.0
//
// The control thread of a run, and reloading the file.
#pragma once

#include "start/running.h"

PPROF_BEGIN_C_

void ppi_running_start_control(ppi_running *run);

PPROF_END_C_
