// SPDX-License-Identifier: Apache-2.0
//
// A run of columns back to records.
#pragma once

#include "event/columns.h"
#include "log/format/log_model.h"

PPROF_BEGIN_C_

typedef struct ppi_run_decoder {
  ppi_log_model model;
  // As in ppi_columns; there are as many shapes as in the model.
  ppi_column_row *rows;
  size_t rows_capacity;
  ppi_column_shape *shapes;
  size_t shapes_capacity;
  pprof_event *events;
  size_t num_events, events_capacity;
  uint64_t *flows;  // of the run; lists are contiguous
  size_t num_flows, flows_capacity;
  pprof_work_amount *work;
  size_t num_work, work_capacity;
  pprof_cpu_use *cpu;
  size_t num_cpu, cpu_capacity;
  pprof_numbers *numbers;
  size_t num_numbers, numbers_capacity;
} ppi_run_decoder;

// Decodes a run into decoder->rows, run->num_events of them, valid until the
// next call. CORRUPT when the bytes are not such a run; NO_MEMORY.
pprof_status ppi_run_decode(ppi_run_decoder *decoder, const ppi_log_run *run,
                            const uint8_t *payload);
// ppi_run_decoder_columns answers the decoded run.
ppi_columns ppi_run_decoder_columns(const ppi_run_decoder *decoder,
                                    const ppi_log_run *run);
void ppi_run_decoder_clear(ppi_run_decoder *decoder);

PPROF_END_C_
