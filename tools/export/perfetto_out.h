// SPDX-License-Identifier: Apache-2.0
//
// Encodes packets of a Perfetto trace, gathers them, and writes them
// compressed, some at a time. One thread.
#pragma once

#include <stdio.h>

#include "export/perfetto.pb-c.h"
#include "file/buffer.h"
#include "pprof/base.h"

typedef struct ppi_perfetto_out {
  FILE *file;
  ppi_buffer raw, packed;  // `failed`: out of memory
} ppi_perfetto_out;

// ppi_perfetto_encode appends a packet to any bytes, as a trace has it.
void ppi_perfetto_encode(ppi_buffer *into, const PpiPerfetto__Packet *packet);
void ppi_perfetto_put(ppi_perfetto_out *out, const PpiPerfetto__Packet *packet);
// ppi_perfetto_move appends the encoded packets of `from` and empties it.
void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from);
// ppi_perfetto_flush writes the gathered packets. Errors: NO_MEMORY; the caller
// checks the file at its end.
pprof_status ppi_perfetto_flush(ppi_perfetto_out *out);
void ppi_perfetto_clear(ppi_perfetto_out *out);
