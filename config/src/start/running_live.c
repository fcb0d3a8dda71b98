// SPDX-License-Identifier: Apache-2.0
//
// Attaches the sink that counts for viewers, and decides who may view.
#include "start/running_live.h"

#include <unistd.h>

#include "file/file_io.h"
#include "live/live_metrics.h"

enum { FILE_LIMIT_MS = 1000 };

static bool stats_of(void *user, pprof_stats *out) {
  const ppi_running *run = user;
  return pprof_session_stats(run->session, out) == PPROF_STATUS_OK;
}

void ppi_running_add_live(ppi_running *run) {
  uint64_t bounds_ns[PPI_LIVE_MAX_BOUNDS];
  const ppi_live_options options = {
      .bounds_ns = bounds_ns,
      .num_bounds = ppi_metrics_bounds(run->config.metrics.buckets.text,
                                       ppi_parse_duration, bounds_ns),
      .stats = stats_of,
      .user = run};
  ppi_live *live = NULL;
  run->metrics_fd = -1;
  if ((!run->config.control.socket && !run->metrics_path[0]) ||
      ppi_running_calls->live_create(&options, &live) != PPROF_STATUS_OK ||
      !live)
    return;
  pprof_sink *sink = ppi_live_sink(live);
  if (ppi_running_calls->session_add_sink(run->session, sink) ==
      PPROF_STATUS_OK)
    run->live = live;
  else
    sink->destroy(sink);
}

int ppi_running_watch(void *user) {
  const ppi_running *run = user;
  return run->live ? ppi_live_watch(run->live) : -1;
}

void ppi_running_unwatch(void *user) {
  const ppi_running *run = user;
  if (run->live) ppi_live_leave(run->live);
}

// The program's name as the system has it.
static void name_program(char out[64]) {
  extern char *program_invocation_short_name;
  snprintf(out, 64, "%s", program_invocation_short_name);
}

static void put_file(const ppi_running *run, const ppi_page *page) {
  ppi_part part;
  pprof_error error = {""};
  if (ppi_part_open(run->metrics_path, NULL, &part, &error) !=
      PPROF_STATUS_OK) {
    ppi_message(PPI_MESSAGE_WARN, "%s", error.text);
    return;
  }
  if (ppi_file_io_write(&part, page->bytes, page->len, FILE_LIMIT_MS))
    ppi_message(PPI_MESSAGE_WARN, "cannot write %s", run->metrics_path);
  ppi_part_clear(&part, true);  // if it was not taken
}

void ppi_running_write_metrics(void *user) {
  ppi_running *run = user;
  char name[64];
  ppi_live_view view;
  ppi_page page = {0};
  const ppi_metrics_options how = {.max_stages = PPI_METRICS_USUAL_STAGES};
  if (!run->live || !run->metrics_path[0]) return;
  if (run->metrics_fd < 0) {
    run->metrics_fd = ppi_live_watch(run->live);
    run->metrics_id = ppi_fd_id_of(run->metrics_fd);
  }
  // The program may have closed it, and opened another file with this number.
  if (!ppi_fd_is(run->metrics_fd, &run->metrics_id)) return;
  if (ppi_live_read(run->metrics_fd, &view)) {
    name_program(name);
    const ppi_metrics_process own = {(long)getpid(), name, &view};
    ppi_live_metrics(&own, 1, &how, &page);
    if (!page.failed) put_file(run, &page);
  }
  ppi_page_clear(&page);
  ppi_live_view_clear(&view);
}

void ppi_running_end_metrics(ppi_running *run) {
  ppi_running_write_metrics(run);
  if (run->metrics_fd < 0) return;
  ppi_fd_close(run->metrics_fd, &run->metrics_id);
  run->metrics_fd = -1;
  ppi_live_leave(run->live);
}

void ppi_running_live_in_forked_child(ppi_running *run) {
  if (!run->live) return;
  ppi_live_in_forked_child(run->live);
  if (run->metrics_fd >= 0) ppi_fd_close(run->metrics_fd, &run->metrics_id);
  run->metrics_fd = -1;
}
