// SPDX-License-Identifier: Apache-2.0
//
// Writes folded stacks: a line for each path of stages, with its own time in
// ns. The time of devices has a root of its own, since it passed beside the
// host's.
#include <inttypes.h>

#include "cli/say.h"
#include "export/formats.h"
#include "file/text.h"

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
  const ppi_figures *figures = ppi_report_figures(export->report);
  for (size_t i = 0; figures && i < figures->num_paths; i++) {
    const ppi_report_path *path = &figures->paths[i];
    uint64_t own_ns = path->on_device ? path->device_ns : path->self_ns;
    if (!own_ns) continue;
    ppi_page line = {0};
    put_path(&line, figures, path);
    ppi_page_format(&line, " %" PRIu64 "\n", own_ns);
    if (ppi_page_write(&line, export->file) == PPROF_STATUS_NO_MEMORY)
      ppi_tool_must(NULL);
  }
  return ppi_export_end(export->file, error);
}

const ppi_export_format ppi_format_folded = {
    .name = "folded",
    .ending = ".folded",
    .holds = "own time of each path of stages, in ns",
    .opened_by = "flamegraph.pl, inferno, speedscope",
    .of_paths = true,
    .size = sizeof(ppi_export),
    .close = close_folded,
};
