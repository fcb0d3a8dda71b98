// SPDX-License-Identifier: Apache-2.0
#include "export/paths.h"

#include <string.h>

pprof_status ppi_export_paths(pprof_report **out) {
  const ppi_report_details details = {.paths = true, .warmup = -1};
  pprof_status status = pprof_report_create(out);
  if (status == PPROF_STATUS_OK) ppi_report_set_details(*out, &details);
  return status;
}

bool ppi_export_next_frame(ppi_export_frame *frame) {
  if (!*frame->rest) return false;
  frame->name = frame->rest;
  frame->len = strcspn(frame->name, PPI_PATH_CATEGORY PPI_PATH_STEP);
  const char *at = frame->name + frame->len;
  if (*at == *PPI_PATH_CATEGORY) at++;
  frame->category = at;
  frame->category_len = strcspn(at, PPI_PATH_DEVICE PPI_PATH_STEP);
  at += strcspn(at, PPI_PATH_STEP);
  frame->rest = *at ? at + 1 : at;
  return true;
}
