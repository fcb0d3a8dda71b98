// SPDX-License-Identifier: Apache-2.0
//
// Dynamo's request trace, dynamo.request.trace.v1: a line of JSON for each
// request that ended, and for tools that agents called. One thread.
#pragma once

#include "spans/span.h"

typedef struct ppi_dynamo {
  ppi_span span;  // without its end
  char event[PPI_SPAN_NAME], session[PPI_SPAN_NAME], tool[PPI_SPAN_NAME];
  char request[PPI_SPAN_NAME];  // its id
  uint64_t event_ms;
  double total_ms, tool_ms, queue_depth, hit_rate;
  uint64_t tool_start_ms, tool_end_ms;
} ppi_dynamo;

void ppi_dynamo_begin(ppi_dynamo *dynamo);
void ppi_dynamo_take(ppi_dynamo *dynamo, const char *path, const char *value,
                     ppi_span_text *out);
