// SPDX-License-Identifier: Apache-2.0
//
// Files of spans with the ids of requests, as the text of a trace of our own:
// OpenTelemetry's JSON and Dynamo's request trace. One thread.
#pragma once

#include "json/source.h"

PPROF_BEGIN_C_

typedef struct ppi_spans ppi_spans;

// ppi_spans_is answers whether a file that begins so is one.
bool ppi_spans_is(const char *head, size_t len);
// ppi_spans_open reads on in `source`, whose first block is `head`; it lives as
// long as what it answers. NULL: out of memory.
ppi_spans *ppi_spans_open(ppi_source *source, const char *head, size_t len);
// ppi_spans_next hands out the next part of the text, 0 at its end;
// ppi_spans_failure then says what is wrong with the file, or NULL.
size_t ppi_spans_next(ppi_spans *spans, const char **out);
const char *ppi_spans_failure(const ppi_spans *spans);
// ppi_spans_kind is "spans of OpenTelemetry" or Dynamo's, with what is to be
// known of them.
const char *ppi_spans_kind(const ppi_spans *spans);
// ppi_spans_num_bad is how many of all were left out, without usable times.
uint64_t ppi_spans_num_bad(const ppi_spans *spans, uint64_t *out_all);
void ppi_spans_close(ppi_spans *spans);

PPROF_END_C_
