// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over all processes of a trace, from records to the sink: finds device
// rows, nests ranges, and reads what our own traces say beside them.
#pragma once

#include "import/emit.h"

// ppi_nest_take takes the next record of the process.
void ppi_nest_take(ppi_sweeper *sweeper, const ppi_record *record);
void ppi_nest_device(ppi_sweeper *sweeper, const ppi_device_record *record);
void ppi_nest_checkpoint(ppi_sweeper *sweeper, uint64_t time);
// ppi_nest_finish ends the ranges open at the end of the trace.
void ppi_nest_finish(ppi_sweeper *sweeper);

// ppi_callers_name adds the callers to the record's name. The open ranges of
// its row lie around it, except with `is_async`. The answer is the stack for
// ranges inside the record, + 1; 0: each has its own.
uint32_t ppi_callers_name(ppi_sweeper *sweeper, ppi_record *record,
                          bool is_async);
void ppi_callers_clear(ppi_sweeper *sweeper);

// ppi_launchers_find finds rows with an innermost open range that lasts until
// `end`, and of these the one with most launches. PPI_NO_PLACE: none.
uint32_t ppi_launchers_find(ppi_sweeper *sweeper, uint64_t end);
// ppi_launchers_update comes after each change of a row's open ranges.
void ppi_launchers_update(ppi_sweeper *sweeper, uint32_t row);
void ppi_launchers_clear(ppi_launchers *launchers);

// ppi_devices_take finds the processes that are devices, and makes device
// records of the ranges on their rows.
void ppi_devices_take(ppi_importer *importer);
// ppi_devices_has answers whether a record became a device record, and so is no
// host's.
bool ppi_devices_has(const ppi_importer *importer, const ppi_record *record);

// Of a run of our own trace. ppi_own_word keeps a word of the next event, and
// ppi_own_next answers all words of the event that came; NULL: none.
// ppi_own_complete adds them to the event and answers its lane; ppi_own_list
// adds what a checkpoint lists of an open range.
void ppi_own_begin(ppi_sweeper *sweeper);
void ppi_own_word(ppi_sweeper *sweeper, const ppi_record *record);
ppi_own_event *ppi_own_next(ppi_sweeper *sweeper);
uint32_t ppi_own_complete(ppi_sweeper *sweeper, const ppi_open *open,
                          pprof_event *event);
void ppi_own_list(ppi_sweeper *sweeper, const ppi_open *open,
                  pprof_event *event);
void ppi_own_window(ppi_sweeper *sweeper, const ppi_record *record);
void ppi_own_finish(ppi_sweeper *sweeper);
void ppi_own_clear(ppi_sweeper *sweeper);

// ppi_sweep delivers all processes.
pprof_status ppi_sweep(ppi_importer *importer);
