// SPDX-License-Identifier: Apache-2.0
//
// Packets of a Perfetto trace on their way to the file: encoded, gathered, and
// written compressed, some at a time. One thread.
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
// ppi_perfetto_move appends encoded packets, which `from` has no more.
void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from);
// ppi_perfetto_flush writes what is gathered. Errors: NO_MEMORY; what the file
// says is for whoever ends it.
pprof_status ppi_perfetto_flush(ppi_perfetto_out *out);
void ppi_perfetto_clear(ppi_perfetto_out *out);
