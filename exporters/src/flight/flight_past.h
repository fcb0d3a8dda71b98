// SPDX-License-Identifier: Apache-2.0
//
// State that a flight recorder keeps beside the ring: run info, the latest
// definitions, and windows with events that may still be in the ring.
#pragma once

#include "event/texts.h"

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
// ppi_flight_past_at makes an array, by id, of the definitions that blocks from
// number `first` on begin with; NULL: no memory, or none of that kind. The
// caller's to free.
const pprof_definition **ppi_flight_past_at(const ppi_flight_past *past,
                                            pprof_definition_kind kind,
                                            uint64_t first);
// `position`: the ring's head before the edge went in; `tail`: its oldest
// block.
bool ppi_flight_past_window(ppi_flight_past *past, uint32_t index, bool opens,
                            uint64_t time_ns, uint64_t position, uint64_t tail);
void ppi_flight_past_clear(ppi_flight_past *past);
