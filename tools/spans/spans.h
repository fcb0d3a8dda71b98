// SPDX-License-Identifier: Apache-2.0
//
// Turns files of spans with request ids into the text of a trace of our own:
// OpenTelemetry's JSON and Dynamo's request trace. One thread.
#pragma once

#include "json/source.h"

PPROF_BEGIN_C_

typedef struct ppi_spans ppi_spans;

// ppi_spans_is answers whether a file with this head has spans.
bool ppi_spans_is(const char *head, size_t len);
// ppi_spans_open continues `source` after its first block `head`. `source` must
// outlive the result. NULL: out of memory.
ppi_spans *ppi_spans_open(ppi_source *source, const char *head, size_t len);
// ppi_spans_next hands out the next part of the text, 0 at its end; after that
// ppi_spans_failure states the file's fault, or NULL.
size_t ppi_spans_next(ppi_spans *spans, const char **out);
const char *ppi_spans_failure(const ppi_spans *spans);
// ppi_spans_kind names the format ("spans of OpenTelemetry" or Dynamo's), with
// notes on it.
const char *ppi_spans_kind(const ppi_spans *spans);
// ppi_spans_num_bad counts the spans without usable times, which are left out.
uint64_t ppi_spans_num_bad(const ppi_spans *spans, uint64_t *out_all);
void ppi_spans_close(ppi_spans *spans);

PPROF_END_C_
