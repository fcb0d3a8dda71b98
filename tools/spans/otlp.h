// SPDX-License-Identifier: Apache-2.0
//
// Reads OpenTelemetry's spans as JSON: one ExportTraceServiceRequest, or one a
// line. The reader knows the attributes of the conventions for generative
// models, of vLLM and of SGLang. One thread.
#pragma once

#include "spans/span.h"

typedef struct ppi_otlp {
  ppi_span span;
  char service[PPI_SPAN_NAME];
  char key[PPI_SPAN_NAME];
  char value[PPI_SPAN_NAME];
} ppi_otlp;

void ppi_otlp_begin(ppi_otlp *otlp);
// ppi_otlp_take takes a value with its path, as ppi_json_path_take has them.
void ppi_otlp_take(ppi_otlp *otlp, const char *path, const char *value,
                   ppi_span_file *out);
