// SPDX-License-Identifier: Apache-2.0
//
// OpenTelemetry's spans as JSON (an ExportTraceServiceRequest, one or one a
// line), with the attributes of its conventions for generative models and those
// of vLLM and SGLang. One thread.
#pragma once

#include "spans/span.h"

typedef struct ppi_otlp {
  ppi_span span;
  char service[PPI_SPAN_NAME];
  char key[PPI_SPAN_NAME];
  char value[PPI_SPAN_NAME];
} ppi_otlp;

void ppi_otlp_begin(ppi_otlp *otlp);
// ppi_otlp_take is a ppi_json_path_take's work.
void ppi_otlp_take(ppi_otlp *otlp, const char *path, const char *value,
                   ppi_span_text *out);
