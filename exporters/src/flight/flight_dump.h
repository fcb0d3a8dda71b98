// SPDX-License-Identifier: Apache-2.0
//
// One dump: the file header, run info, definitions and windows, then blocks of
// the ring with new numbers. It begins with the first block that reaches its
// span and ends with the first checkpoint behind it; ranges open there are
// clipped. The owner serializes the calls.
#pragma once

#include "event/tally.h"
#include "event/texts.h"
#include "file/part.h"
#include "log/format/lane_high_water.h"
#include "log/format/log_block.h"
#include "log/format/log_payload.h"

typedef struct ppi_flight_window {
  uint32_t index;
  bool closed;
  uint64_t open_ns, close_ns;
  uint64_t opened_at, closed_at;  // positions in the ring, or before it
} ppi_flight_window;

typedef struct ppi_flight_definitions {
  pprof_definition *items;  // by id; kind 0: not defined
  size_t num, capacity;
} ppi_flight_definitions;

// A definition until another took its id.
typedef struct ppi_flight_replaced {
  pprof_definition was;
  uint64_t until;  // number of the first block after it
} ppi_flight_replaced;

// What is known beside the ring: run info, the latest definitions, and windows
// with events that may still be in the ring.
typedef struct ppi_flight_past {
  ppi_texts texts;  // of the run's info
  ppi_flight_definitions kinds[PPROF_DEFINITION_ATTRIBUTES + 1];
  ppi_flight_replaced *replaced;  // in their order
  size_t num_replaced, replaced_capacity;
  ppi_flight_window *windows;
  size_t num_windows, windows_capacity;
} ppi_flight_past;

// These answer false when out of memory.
//
// `next`: the first block with events that the definition describes. `oldest`:
// the first block in the ring.
bool ppi_flight_past_define(ppi_flight_past *past,
                            const pprof_definition *definition, uint64_t next,
                            uint64_t oldest);
// `position`: the ring's head before the edge went in; `tail`: its oldest
// block.
bool ppi_flight_past_window(ppi_flight_past *past, uint32_t index, bool opens,
                            uint64_t time_ns, uint64_t position, uint64_t tail);
void ppi_flight_past_clear(ppi_flight_past *past);

typedef struct ppi_disk ppi_disk;

typedef struct ppi_flight_span {
  uint64_t moment_ns, from_ns, to_ns;
} ppi_flight_span;

typedef struct ppi_flight_dump {
  pprof_sink tally_sink;  // of blocks that are copied
  ppi_flight_span span;
  ppi_part part;   // open
  ppi_disk *disk;  // borrowed; may be NULL
  bool begun;      // info, definitions and windows are written
  bool over;       // behind its span, or it failed
  pprof_status status;
  pprof_error error;
  ppi_log_assembler assembler;
  ppi_log_payload payload;
  ppi_buffer out;  // closed, not yet in the file
  ppi_tally tally;
  ppi_lane_high_water ends;
  uint32_t *windows;  // open ones
  size_t num_windows, windows_capacity;
  uint64_t first_ns;  // nothing begins before, unless its blocks say so
  uint64_t last_ns;
  uint64_t last_step;  // number of the latest step + 1; 0: there was none
  uint32_t step_site;
} ppi_flight_dump;

// Takes `part`, also on failure.
pprof_status ppi_flight_dump_open(ppi_flight_dump *dump, const char *uuid,
                                  const ppi_flight_span *span, ppi_part *part,
                                  ppi_disk *disk);
// True: a block, not yet copied, belongs to the dump. The answer also depends
// on `begun`.
bool ppi_flight_dump_wants(const ppi_flight_dump *dump,
                           const ppi_log_header *header);
// Delivers the state before the first block, which has position `position` and
// number `first_block`. `first_ns`: nothing in the ring begins before. Does not
// touch the file.
void ppi_flight_dump_begin(ppi_flight_dump *dump, const ppi_flight_past *past,
                           uint64_t position, uint64_t first_block,
                           uint64_t first_ns, const char *reason);
// Takes one block, which it changes.
void ppi_flight_dump_block(ppi_flight_dump *dump, uint8_t *bytes, uint32_t len);
// Writes totals; then the file gets its name. `counts`: the counts of the
// session, by PPI_TOTAL_ key. The answer is dump->status.
pprof_status ppi_flight_dump_finish(ppi_flight_dump *dump,
                                    const uint64_t counts[PPI_NUM_TOTALS],
                                    const char *reason);
void ppi_flight_dump_clear(ppi_flight_dump *dump);
