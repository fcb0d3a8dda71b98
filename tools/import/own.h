// SPDX-License-Identifier: Apache-2.0
//
// Reads traces of our own Chrome writer: the facts of each run and its events,
// exactly as recorded.
#pragma once

#include "event/texts.h"
#include "import/fields.h"
#include "spans/json_path.h"

PPROF_BEGIN_C_

#define PPI_OWN_MAX_TEXTS 1024
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

// Facts beside the events of a run.
typedef struct ppi_own_facts {
  ppi_texts texts, notes;
  uint64_t totals[PPI_NUM_TOTALS];
  uint64_t shift_ns;  // the shift of its times in this trace
  uint64_t counters_not_finite;
  uint64_t reported_until_ns;  // of a run without a stop, or without windows
  ppi_own_definitions lanes, devices, streams;
  // Of the parser.
  ppi_json_path path;
  ppi_own_definition next;
} ppi_own_facts;

// ppi_own_facts_take takes the tokens between the braces of the object.
void ppi_own_facts_take(ppi_own_facts *facts, const ppi_json_token *token);
// ppi_own_find answers the place of `id`; PPI_OWN_NONE: none.
size_t ppi_own_find(const ppi_own_definitions *definitions, uint32_t id);
void ppi_own_facts_clear(ppi_own_facts *facts);

// What an event has beside its record. `event` has its value, window, stream
// and device times.
typedef struct ppi_own_event {
  pprof_event event;
  pprof_numbers numbers;   // size 0: none
  pprof_work_amount work;  // likewise
  pprof_cpu_use cpu;       // likewise
  uint64_t flows[PPI_MAX_EVENT_FLOWS];
} ppi_own_event;

typedef enum ppi_own_type {
  PPI_OWN_SHORT,   // 32 bits
  PPI_OWN_WHOLE,   // 64 bits
  PPI_OWN_TIME,    // of the trace, 64 bits
  PPI_OWN_REAL,    // the bits of a double
  PPI_OWN_FLAG,    // no word: `at` is a PPROF_FLAG_...
  PPI_OWN_DEPTH,   // no word: of the record
  PPI_OWN_SIDE,    // no word: the event repeats the device side of another
  PPI_OWN_FLOW,    // one of a list
  PPI_OWN_NUMBER,  // one of a list
} ppi_own_type;

// A member of an event's args, and its place in ppi_own_event. The first two
// stand for lists.
typedef struct ppi_own_member {
  const char *text;
  size_t len;
  ppi_own_type type;
  uint32_t at;
} ppi_own_member;
enum { PPI_OWN_FLOWS, PPI_OWN_NUMBERS };
extern const ppi_own_member ppi_own_members[];

// A run that is being swept.
typedef struct ppi_own_run {
  const ppi_own_facts *facts;
  // By stream, from 1; [0] of ranges on none, the last one of the stream that
  // has no definition. 0: not defined yet.
  uint32_t *stream_lanes;
  uint32_t *open;  // windows
  size_t num_open, capacity;
  ppi_own_event next;  // the words so far
  bool has_words;
} ppi_own_run;

PPROF_END_C_
