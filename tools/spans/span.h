// SPDX-License-Identifier: Apache-2.0
//
// Turns spans and requests of other tracers into events. One thread.
#pragma once

#include "pprof/event.h"

#define PPI_SPAN_NAME 256

// Attributes of a request: times in seconds, numbers of tokens; negative: none.
typedef struct ppi_span_served {
  double queue, prefill, first, decode, gap;
  double tokens_in, tokens_out;
} ppi_span_served;

typedef struct ppi_span {
  char name[PPI_SPAN_NAME];
  char service[PPI_SPAN_NAME];
  uint64_t start_ns, end_ns;
  uint64_t flow;  // of its trace or session; 0: none
  uint64_t id;    // of the span
  ppi_span_served served;
} ppi_span;

void ppi_span_clear(ppi_span *span);
// ppi_span_number turns an id into a number below 2^53, never 0.
uint64_t ppi_span_number(const char *id);
// ppi_span_real and ppi_span_whole read a text; negative or false: no such
// number.
double ppi_span_real(const char *text);
bool ppi_span_whole(const char *text, uint64_t *out);
// ppi_span_time reads nanoseconds, whole or as a float; false: *out is 0.
bool ppi_span_time(const char *text, uint64_t *out);

// The clock of a file's spans: the time of day, or another one, such as a
// machine's uptime or one in other units. In a file with both the time of day
// counts.
typedef enum ppi_span_clock {
  PPI_SPAN_CLOCK_UNKNOWN,
  PPI_SPAN_CLOCK_DAY,
  PPI_SPAN_CLOCK_OTHER
} ppi_span_clock;

// A range, a mark or a counter of a file of spans.
typedef struct ppi_span_event {
  pprof_kind kind;
  const char *name, *category, *service;
  size_t row;  // of the service, from 1
  uint64_t start_ns, end_ns;
  uint32_t flags;
  uint64_t flows[2];    // 0: none
  double items, value;  // items 0: none
} ppi_span_event;

typedef void (*ppi_span_take)(void *context, const ppi_span_event *event);

// The events of a file's spans, with its rows and counts.
typedef struct ppi_span_file {
  ppi_span_take take;
  void *context;
  char (*services)[PPI_SPAN_NAME];  // rows, from 1
  size_t num_services, services_capacity;
  uint64_t num_spans, num_requests;
  uint64_t num_from_schedule;  // requests timed from the schedule
  uint64_t num_bad;            // spans without usable times
  ppi_span_clock clock;
  ppi_span *early;  // of another clock, until a time of day comes
  size_t num_early, early_capacity;
} ppi_span_file;

void ppi_span_file_clear(ppi_span_file *file);
// ppi_span_put adds a range. A span with a first token or a number of tokens
// becomes a request with phases. The flow is the trace's or the session's.
void ppi_span_put(ppi_span_file *file, const ppi_span *span);
void ppi_span_put_counter(ppi_span_file *file, const ppi_span *span,
                          const char *name, double value);
// ppi_span_file_end chooses a clock for spans that wait for one.
void ppi_span_file_end(ppi_span_file *file);
