// SPDX-License-Identifier: Apache-2.0
//
// The records of a process as nested ranges.
#pragma once

#include "import/sweeper.h"

// ppi_nest_take takes the next record of the process.
void ppi_nest_take(ppi_sweeper *sweeper, const ppi_record *record);
void ppi_nest_device(ppi_sweeper *sweeper, const ppi_device_record *record);
void ppi_nest_checkpoint(ppi_sweeper *sweeper, uint64_t time);
// ppi_nest_finish ends what is open at the end of the trace.
void ppi_nest_finish(ppi_sweeper *sweeper);
