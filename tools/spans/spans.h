// SPDX-License-Identifier: Apache-2.0
//
// Turns files of spans with request ids into events: OpenTelemetry's JSON and
// Dynamo's request trace. One thread.
#pragma once

#include "json/source.h"
#include "spans/span.h"

typedef struct ppi_spans ppi_spans;

// ppi_spans_is answers whether a file with this head has spans.
bool ppi_spans_is(const char *head, size_t len);
// ppi_spans_open continues `source` after its first block `head`. `source` must
// outlive the result.
ppi_spans *ppi_spans_open(ppi_source *source, const char *head, size_t len,
                          ppi_span_take take_event, void *context);
// ppi_spans_read takes one value or block, and answers false at the end; after
// that ppi_spans_failure states the file's fault, or NULL.
bool ppi_spans_read(ppi_spans *spans);
const char *ppi_spans_failure(const ppi_spans *spans);
// ppi_spans_kind names the format ("spans of OpenTelemetry" or Dynamo's), with
// notes on it.
const char *ppi_spans_kind(const ppi_spans *spans);
// ppi_spans_num_bad counts the spans without usable times, which are left out.
uint64_t ppi_spans_num_bad(const ppi_spans *spans, uint64_t *out_all);
void ppi_spans_close(ppi_spans *spans);
