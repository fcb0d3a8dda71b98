// SPDX-License-Identifier: Apache-2.0
//
// Writes folded stacks: a line for each path of stages, with its own time in
// ns. The time of devices has a root of its own, since it passed beside the
// host's.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/say.h"
#include "export/formats.h"
#include "export/paths.h"
#include "file/text.h"

typedef struct folded {
  ppi_export base;
  pprof_report *report;
  FILE *file;
} folded;

// A semicolon separates frames; the last blank separates the number.
static void put_frame(ppi_page *line, const char *name) {
  if (line->len) ppi_page_text(line, ";");
  size_t from = line->len;
  ppi_page_visible(line, name);
  for (size_t i = from; i < line->len; i++)
    if (line->bytes[i] == ';') line->bytes[i] = ':';
}

// A longer line loses its middle.
enum { MOST_LINE = 16384 };

static void put_path(ppi_page *line, const ppi_figures *figures,
                     const ppi_report_path *path) {
  const ppi_report_path *frames[PPI_PATH_LEVELS];
  size_t num = ppi_export_frames(figures, path, frames), inner = 0;
  for (size_t len = 0; inner < num; inner++) {
    len += strlen(frames[inner]->name) + 1;
    if (len > MOST_LINE / 2) break;
  }
  if (path->on_device) ppi_page_text(line, "[device]");
  for (size_t i = num; i-- > 0;) {
    bool is_cut = i >= inner && i > 0 && line->len > MOST_LINE / 2;
    put_frame(line, is_cut ? "[...]" : frames[i]->name);
    if (is_cut) i = PPI_MAX(inner, 1);
  }
}

static pprof_status close_folded(ppi_export *export, pprof_error *error) {
  folded *out = (folded *)export;
  const ppi_figures *figures = ppi_report_figures(out->report);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; figures && i < figures->num_paths; i++) {
    const ppi_report_path *path = &figures->paths[i];
    uint64_t own_ns = path->on_device ? path->device_ns : path->self_ns;
    if (!own_ns || status != PPROF_STATUS_OK) continue;
    ppi_page line = {0};
    put_path(&line, figures, path);
    ppi_page_format(&line, " %" PRIu64 "\n", own_ns);
    status = ppi_page_write(&line, out->file);
  }
  if (status == PPROF_STATUS_NO_MEMORY)
    return ppi_fail(error, status, "out of memory");
  return ppi_export_end(out->file, error);
}

static void destroy_folded(ppi_export *export) {
  pprof_report_destroy(((folded *)export)->report);
  free(export);
}

static pprof_status create_folded(const ppi_export_target *target,
                                  ppi_export **out, pprof_error *error) {
  folded *made = calloc(1, sizeof *made);
  if (!made || ppi_export_paths(&made->report) != PPROF_STATUS_OK) {
    free(made);
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  made->base.sink = pprof_report_sink(made->report);
  made->base.close = close_folded;
  made->base.destroy = destroy_folded;
  made->file = target->file;
  *out = &made->base;
  return PPROF_STATUS_OK;
}

const ppi_export_format ppi_format_folded = {
    .name = "folded",
    .ending = ".folded",
    .holds = "own time of each path of stages, in ns",
    .opened_by = "flamegraph.pl, inferno, speedscope",
    .parts = 0,
    .create = create_folded,
};
