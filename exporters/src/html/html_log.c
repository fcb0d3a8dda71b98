// SPDX-License-Identifier: Apache-2.0
//
// Writes the page of one log.
#include "html/html_log.h"

#include "event/tee.h"
#include "html/html.h"
#include "pprof/log.h"

// One reading of the log feeds the report and the survey.
static pprof_status read_first(const char *path, pprof_report *report,
                               ppi_picture *picture, pprof_error *error) {
  ppi_tee both;
  ppi_report_details details = {.warmup = -1};
  ppi_html_need(&details);
  ppi_report_set_details(report, &details);
  ppi_tee_init(&both);
  pprof_status status = ppi_tee_add(&both, pprof_report_sink(report));
  PPI_THEN(status, ppi_tee_add(&both, ppi_picture_survey(picture)));
  PPI_THEN(status, pprof_log_read(path, &both.base, error));
  if (status == PPROF_STATUS_OK) status = both.first_error;
  ppi_tee_forget_sinks(&both);
  return status;
}

static pprof_status write_with(const char *path, FILE *out,
                               pprof_report *report, ppi_picture *picture,
                               pprof_error *error) {
  const ppi_report_options options = {0};
  pprof_status status = read_first(path, report, picture, error);
  PPI_THEN(status, ppi_picture_plan(picture, ppi_report_figures(report)));
  PPI_THEN(status, pprof_log_read(path, ppi_picture_detail(picture), error));
  PPI_THEN(status, ppi_html_write(report, picture, &options, out));
  return status;
}

pprof_status ppi_html_write_log(const char *path, FILE *out,
                                pprof_error *error) {
  pprof_report *report = NULL;
  ppi_picture *picture = NULL;
  pprof_status status = pprof_report_create(&report);
  if (status == PPROF_STATUS_OK) status = ppi_picture_create(&picture);
  PPI_THEN(status, write_with(path, out, report, picture, error));
  ppi_picture_destroy(picture);
  pprof_report_destroy(report);
  return status;
}
