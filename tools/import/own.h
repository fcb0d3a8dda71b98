// SPDX-License-Identifier: Apache-2.0
//
// Reads traces of our own Chrome writer: the facts of each run and its events,
// exactly as recorded.
#pragma once

#include "event/event.h"
#include "json/json.h"

PPROF_BEGIN_C_

#define PPI_OWN_MAX_TEXTS 1024
#define PPI_OWN_MAX_TEXT 4096
#define PPI_OWN_MAX_DEFINITIONS 65536
#define PPI_OWN_NONE SIZE_MAX

typedef struct ppi_own_definition {
  uint32_t id, of;
  uint64_t number;
  char *name;
} ppi_own_definition;

// Ordered by id.
typedef struct ppi_own_definitions {
  ppi_own_definition *items;
  size_t num, capacity;
} ppi_own_definitions;

typedef struct ppi_own_texts {
  ppi_text *items;
  size_t num, capacity;
} ppi_own_texts;

// Facts beside the events of a run.
typedef struct ppi_own_facts {
  ppi_own_texts texts, notes;
  uint64_t totals[PPI_NUM_TOTALS];
  uint64_t shift_ns;  // the shift of its times in this trace
  uint64_t counters_not_finite;
  uint64_t reported_until_ns;  // of a run without a stop, or without windows
  ppi_own_definitions lanes, devices, streams;
  // Of the parser: where it is.
  int depth;
  char key[64], member[64];
  char text[PPI_OWN_MAX_TEXT + 1];
  size_t text_len;
  ppi_own_definition next;
} ppi_own_facts;

// ppi_own_facts_take takes the tokens between the braces of the object. False:
// out of memory.
bool ppi_own_facts_take(ppi_own_facts *facts, const ppi_json_token *token);
// ppi_own_find answers the place of `id`; PPI_OWN_NONE: none.
size_t ppi_own_find(const ppi_own_definitions *definitions, uint32_t id);
void ppi_own_facts_clear(ppi_own_facts *facts);

// An event in parts of one size: MAIN, then the optional parts.
typedef enum ppi_own_part {
  PPI_OWN_MAIN,    // end, value, number of a paired device range, report time
  PPI_OWN_WINDOW,  // index, 1 if it opens; the only part
  PPI_OWN_DEVICE,  // start, end, error, stream
  PPI_OWN_WORK,    // items, bytes, flops, params
  PPI_OWN_CPU,     // known, user, sys, inner
  PPI_OWN_CPU_2,   // run queue, switches, minor faults
  PPI_OWN_CPU_3,   // major faults
  PPI_OWN_FLOWS,   // up to four
  PPI_OWN_NUMBERS  // up to four
} ppi_own_part;

typedef union ppi_own_word {
  uint64_t u;
  double d;
} ppi_own_word;

typedef struct ppi_own_record {
  uint64_t time, order;
  uint32_t row, site, window, flags, depth;
  uint8_t kind, part, num;  // `num`: of the words, where it varies
  ppi_own_word words[4];
} ppi_own_record;

PPROF_END_C_
