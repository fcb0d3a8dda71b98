// SPDX-License-Identifier: Apache-2.0
//
// Reads Dynamo's request trace, dynamo.request.trace.v1. Each line of JSON is a
// finished request or a tool call of an agent. One thread.
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
                     ppi_span_file *out);
