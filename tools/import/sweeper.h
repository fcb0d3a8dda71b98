// SPDX-License-Identifier: Apache-2.0
//
// The sweep over all processes of a trace, from records to the sink: which rows
// are devices, what lies in what, and our own traces.
#pragma once

#include "import/emit.h"
#include "import/importer.h"

// ppi_nest_take takes the next record of the process.
void ppi_nest_take(ppi_sweeper *sweeper, const ppi_record *record);
void ppi_nest_device(ppi_sweeper *sweeper, const ppi_device_record *record);
void ppi_nest_checkpoint(ppi_sweeper *sweeper, uint64_t time);
// ppi_nest_finish ends what is open at the end of the trace.
void ppi_nest_finish(ppi_sweeper *sweeper);

// ppi_callers_name gives the record, whose row's open ranges are all around
// it, its name; the record may be `is_async`, then none is. It answers the
// stack that what lies in it has instead of its own, + 1; 0: its own.
uint32_t ppi_callers_name(ppi_sweeper *sweeper, ppi_record *record,
                          bool is_async);
void ppi_callers_clear(ppi_sweeper *sweeper);

// ppi_launchers_find finds the row that launches most of those whose innermost
// open range lasts until `end`; PPI_NO_PLACE: none, or out of memory (false).
bool ppi_launchers_find(ppi_sweeper *sweeper, uint64_t end, uint32_t *out);
// ppi_launchers_update follows a change of what is open on a row.
void ppi_launchers_update(ppi_sweeper *sweeper, uint32_t row);
void ppi_launchers_clear(ppi_launchers *launchers);

// ppi_devices_take decides which processes are devices, and makes device
// records of what lies on their rows.
pprof_status ppi_devices_take(ppi_importer *importer);
// ppi_devices_has answers whether a record is one of those, and so none of a
// host's.
bool ppi_devices_has(const ppi_importer *importer, const ppi_record *record);

// ppi_own_sweep delivers the run of a process.
pprof_status ppi_own_sweep(ppi_importer *importer, uint32_t process,
                           const uint64_t *skips, bool is_main);

// ppi_sweep delivers all processes.
pprof_status ppi_sweep(ppi_importer *importer);
