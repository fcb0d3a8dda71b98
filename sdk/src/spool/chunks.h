// SPDX-License-Identifier: Apache-2.0
//
// The spool's chunks: any thread takes them, and their last user gives them
// back.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// ppi_chunk_take answers a chunk number, 0 when there is none left. Lock-free;
// where the collector is late it gives the next chunk its memory itself.
uint32_t ppi_chunk_take(ppi_spool *spool);
void ppi_chunk_give(ppi_spool *spool, uint32_t chunk);
// ppi_spool_touch_ahead faults in the next `chunks` untouched ones, each once;
// collector.
void ppi_spool_touch_ahead(ppi_spool *spool, uint32_t chunks);
// About how many chunks the pool has, and may get, and how many of them are
// left.
uint32_t ppi_spool_chunks_all(const ppi_spool *spool);
uint32_t ppi_spool_chunks_free(const ppi_spool *spool);

PPROF_END_C_
