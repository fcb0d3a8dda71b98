// SPDX-License-Identifier: Apache-2.0
//
// pprof_report: a run while it is delivered, figures once it has finished.
// Owner's thread; as a sink, the thread of whoever delivers.
#include "report.h"

#include "mem.h"
#include "report_run.h"

struct pprof_report {
  pprof_sink sink;
  ppi_run *run;  // from begin to finish
  ppi_figures figures;
  bool finished;
};

static ppi_run *run_of(pprof_sink *sink) {
  return ((pprof_report *)(void *)sink)->run;
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (report->run || report->finished) return PPROF_STATUS_BUSY;
  report->run = ppi_alloc(sizeof *report->run);
  if (!report->run) return PPROF_STATUS_NO_MEMORY;
  return ppi_run_begin(report->run, info);
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  ppi_run *run = run_of(sink);
  return run ? ppi_run_define(run, definition) : PPROF_STATUS_BUSY;
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_run *run = run_of(sink);
  return run ? ppi_run_events(run, batch) : PPROF_STATUS_BUSY;
}

static pprof_status take_checkpoint(pprof_sink *sink,
                                    const pprof_checkpoint *checkpoint) {
  ppi_run *run = run_of(sink);
  return run ? ppi_run_checkpoint(run, checkpoint) : PPROF_STATUS_BUSY;
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  ppi_run *run = run_of(sink);
  return run ? ppi_run_window(run, index, opens, time_ns) : PPROF_STATUS_BUSY;
}

static void drop_run(pprof_report *report) {
  if (!report->run) return;
  ppi_run_clear(report->run);
  ppi_free(report->run);
  report->run = NULL;
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (!report->run) return PPROF_STATUS_BUSY;
  pprof_status status = ppi_run_finish(report->run, totals, &report->figures);
  drop_run(report);
  if (status == PPROF_STATUS_OK)
    report->finished = true;
  else
    ppi_figures_clear(&report->figures);
  return status;
}

// The report belongs to its owner, whoever delivers to it.
static void keep(pprof_sink *sink) {
  (void)sink;
}

pprof_status pprof_report_create(pprof_report **out) {
  pprof_report *report = ppi_alloc(sizeof *report);
  if (!report) return PPROF_STATUS_NO_MEMORY;
  report->sink = (pprof_sink){.size = sizeof report->sink,
                              .begin = begin,
                              .define = define,
                              .events = events,
                              .checkpoint = take_checkpoint,
                              .window = window,
                              .finish = finish,
                              .destroy = keep};
  *out = report;
  return PPROF_STATUS_OK;
}

pprof_sink *pprof_report_sink(pprof_report *report) {
  return report ? &report->sink : NULL;
}

// Built aside, so that a failure leaves `into` as it was.
pprof_status pprof_report_merge(pprof_report *into, const pprof_report *from) {
  if (!into || !from || into == from) return PPROF_STATUS_INVALID;
  if (!into->finished || !from->finished) return PPROF_STATUS_BUSY;
  ppi_figures sum = {0};
  pprof_status status = ppi_figures_add(&sum, &into->figures);
  if (status == PPROF_STATUS_OK) status = ppi_figures_add(&sum, &from->figures);
  if (status != PPROF_STATUS_OK) {
    ppi_figures_clear(&sum);
    return status;
  }
  ppi_figures_clear(&into->figures);
  into->figures = sum;
  return PPROF_STATUS_OK;
}

void pprof_report_destroy(pprof_report *report) {
  if (!report) return;
  drop_run(report);
  ppi_figures_clear(&report->figures);
  ppi_free(report);
}

const ppi_figures *ppi_report_figures(const pprof_report *report) {
  return report->finished ? &report->figures : NULL;
}

bool ppi_report_identity_ok(const pprof_report *report) {
  for (size_t i = 0; i < report->figures.num_devices; i++)
    if (report->figures.devices[i].failed) return false;
  return true;
}

uint64_t ppi_report_total(const pprof_report *report, ppi_total_key key) {
  return report->figures.totals[key];
}
