// SPDX-License-Identifier: Apache-2.0
//
// One span or request of another tracer, and the text of a trace of our own
// that it becomes. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "file/text.h"

PPROF_BEGIN_C_

#define PPI_SPAN_NAME 256

// Times of a request that are told beside its span, in seconds; negative: not
// told.
typedef struct ppi_span_served {
  double queue, prefill, first, decode, gap;
  double tokens_in, tokens_out;
} ppi_span_served;

typedef struct ppi_span {
  char name[PPI_SPAN_NAME];
  char service[PPI_SPAN_NAME];
  uint64_t start_ns, end_ns;
  uint64_t flow;  // of its trace or session; 0: it stands for itself
  uint64_t id;    // of the span
  ppi_span_served served;
} ppi_span;

void ppi_span_clear(ppi_span *span);
// ppi_span_number is a number of an id, below 2^53, never 0.
uint64_t ppi_span_number(const char *id);
// ppi_span_seconds and its like read a text; negative: it is no such number.
double ppi_span_real(const char *text);
bool ppi_span_whole(const char *text, uint64_t *out);
// ppi_span_time reads nanoseconds, of a float too; false: *out is 0.
bool ppi_span_time(const char *text, uint64_t *out);

// Which clock the spans of a file have: that of the day, or one that began not
// long ago, such as a machine's or one in other units. Where both are there the
// day's holds.
typedef enum ppi_span_clock {
  PPI_SPAN_CLOCK_UNKNOWN,
  PPI_SPAN_CLOCK_DAY,
  PPI_SPAN_CLOCK_OTHER
} ppi_span_clock;

// What the spans of a file have come to.
typedef struct ppi_span_text {
  ppi_page page;
  char (*services)[PPI_SPAN_NAME];  // rows, from 1
  size_t num_services, services_capacity;
  uint64_t first_ns, last_ns;
  bool any;
  uint64_t num_spans, num_requests;
  uint64_t num_from_schedule;  // whose first token was told from there on
  uint64_t num_bad;            // without usable times
  ppi_span_clock clock;
  ppi_span *early;  // of another clock, until one of the day's comes
  size_t num_early, early_capacity;
} ppi_span_text;

void ppi_span_text_begin(ppi_span_text *text);
void ppi_span_text_clear(ppi_span_text *text);
// ppi_span_put: what has tokens or a first one is a request with its phases,
// all else a range; in the flow of the trace or session.
void ppi_span_put(ppi_span_text *text, const ppi_span *span);
void ppi_span_put_counter(ppi_span_text *text, const ppi_span *span,
                          const char *name, double value);
// ppi_span_text_end: windows, and the names of rows.
void ppi_span_text_end(ppi_span_text *text);

PPROF_END_C_
