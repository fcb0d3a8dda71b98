// SPDX-License-Identifier: Apache-2.0
//
// Reads traces of our own Chrome writer: the facts of each run and its events,
// exactly as recorded.
#pragma once

#include "event/event.h"
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

// An event as it was recorded.
typedef struct ppi_own_event {
  pprof_event event;
  pprof_work_amount work;
  pprof_numbers numbers;
  pprof_cpu_use cpu;
  uint64_t flows[PPI_MAX_EVENT_FLOWS];
} ppi_own_event;

typedef enum ppi_own_type {
  PPI_OWN_SHORT,   // 32 bits
  PPI_OWN_WHOLE,   // 64 bits
  PPI_OWN_TIME,    // of the trace, 64 bits
  PPI_OWN_REAL,    // the bits of a double
  PPI_OWN_FLAG,    // no word: `at` is a PPROF_FLAG_...
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

// Kinds of records beside those of events: WINDOW has its index and 1 if it
// opens, MORE has further words of the event before.
enum { PPI_OWN_WINDOW = 128, PPI_OWN_CHECKPOINT, PPI_OWN_MORE };

#define PPI_OWN_WORDS 4
typedef struct ppi_own_record {
  uint64_t key;    // `order`, or the time
  uint64_t order;  // in the trace
  uint64_t time, end;
  uint32_t row, site, flags;
  uint8_t kind, num;
  uint8_t keys[PPI_OWN_WORDS];  // places in ppi_own_members
  uint64_t words[PPI_OWN_WORDS];
} ppi_own_record;

PPROF_END_C_
