// SPDX-License-Identifier: Apache-2.0
//
// Draws the progress line. It must fit the terminal: a line that wraps cannot
// be rewritten.
#include "cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "file/text.h"

#define FIRST_NS 1000000000u
#define AGAIN_NS 100000000u
// Returns to the start of the line and clears it.
#define CLEAR "\r\033[K"

enum { USUAL_WIDTH = 80, LONGEST_REST = 32, LEAST_NAME = 8 };

bool ppi_tool_progress_can_show(int fd, const char *term) {
  return term && term[0] && strcmp(term, "dumb") != 0 && isatty(fd);
}

void ppi_tool_progress_open(struct ppi_tool_progress *progress) {
  *progress = (struct ppi_tool_progress){.now_ns = ppi_clock_monotonic_ns,
                                         .width = USUAL_WIDTH};
  if (!ppi_tool_progress_can_show(STDERR_FILENO, secure_getenv("TERM"))) return;
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    progress->width = size.ws_col;
  progress->out = stderr;
}

void ppi_tool_progress_begin(struct ppi_tool_progress *progress,
                             const char *path) {
  if (!progress->out) return;
  const char *slash = strrchr(path, '/');
  progress->name = slash && slash[1] ? slash + 1 : path;
  progress->num_events = progress->done = progress->total = 0;
  if (!progress->start_ns) progress->start_ns = progress->now_ns();
}

// A character may take two columns.
static void put_name(ppi_page *line, const char *name, size_t width) {
  size_t most = width > LONGEST_REST ? (width - LONGEST_REST) / 2 : 0, len = 0;
  ppi_page visible = {0};
  if (most < LEAST_NAME) return;
  ppi_page_visible(&visible, name);
  if (visible.failed) {
    line->failed = true;
  } else if (ppi_page_width(visible.bytes, visible.len) <= most) {
    ppi_page_bytes(line, visible.bytes, visible.len);
  } else {
    while (ppi_page_width(visible.bytes, len + 1) <= most - 3) len++;
    ppi_page_bytes(line, visible.bytes, len);
    ppi_page_text(line, "...");
  }
  ppi_page_text(line, ": ");
  ppi_page_clear(&visible);
}

static void put_events(ppi_page *line, uint64_t num) {
  static const char *const units[] = {"", " k", " M", " G", " T"};
  uint64_t tenths = num;
  size_t unit = 0;
  if (num < 1000) {
    ppi_page_format(line, "%" PRIu64 " event%s", num, num == 1 ? "" : "s");
    return;
  }
  for (; unit < 4 && tenths >= (unit ? 10000u : 1000u); unit++)
    tenths /= unit ? 1000 : 100;
  ppi_page_format(line, "%" PRIu64 ".%" PRIu64 "%s events", tenths / 10,
                  tenths % 10, units[unit]);
}

static void show(struct ppi_tool_progress *progress) {
  ppi_page line = {0};
  ppi_page_text(&line, CLEAR);
  put_name(&line, progress->name ? progress->name : "", progress->width);
  if (progress->total) {
    double part = (double)progress->done / (double)progress->total;
    ppi_page_format(&line, "%d %%", part < 1 ? (int)(100 * part) : 100);
    if (progress->num_events) ppi_page_text(&line, ", ");
  }
  if (progress->num_events || !progress->total)
    put_events(&line, progress->num_events);
  // A line that cannot be written does not fail the read.
  if (ppi_page_write(&line, progress->out) == PPROF_STATUS_OK)
    progress->is_shown = true;
}

static void tick(struct ppi_tool_progress *progress) {
  uint64_t now_ns = progress->now_ns();
  if (now_ns - progress->start_ns < FIRST_NS ||
      now_ns - progress->shown_ns < AGAIN_NS)
    return;
  progress->shown_ns = now_ns;
  show(progress);
}

void ppi_tool_progress_events(struct ppi_tool_progress *progress,
                              uint64_t num) {
  if (!progress->out) return;
  progress->num_events += num;
  tick(progress);
}

void ppi_tool_progress_bytes(struct ppi_tool_progress *progress, uint64_t done,
                             uint64_t total) {
  if (!progress->out) return;
  progress->done = done;
  progress->total = total;
  tick(progress);
}

void ppi_tool_progress_clear(struct ppi_tool_progress *progress) {
  if (!progress->is_shown) return;
  fputs(CLEAR, progress->out);
  fflush(progress->out);
  progress->is_shown = false;
}
