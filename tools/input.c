// SPDX-License-Identifier: Apache-2.0
//
// Logs and spools as the source of a sink.
#include "input.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_impl.h"
#include "event_impl.h"
#include "log_recover.h"
#include "pprof/log.h"

static struct ppi_tool_watch *watch_of(pprof_sink *sink) {
  return (struct ppi_tool_watch *)sink;
}

// A sink's own failure is told apart from the reader's by where it arose.
static pprof_status note(struct ppi_tool_watch *watch, pprof_status status) {
  if (status != PPROF_STATUS_OK) {
    watch->sink_failed = true;
    watch->sink_status = status;
  }
  return status;
}

#define FORWARD(sink, callback, ...)                  \
  struct ppi_tool_watch *watch = watch_of(sink);      \
  if (!watch->next->callback) return PPROF_STATUS_OK; \
  return note(watch, watch->next->callback(watch->next, __VA_ARGS__))

static pprof_status watch_begin(pprof_sink *sink, const pprof_run_info *info) {
  watch_of(sink)->begun = true;
  FORWARD(sink, begin, info);
}

static pprof_status watch_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  FORWARD(sink, define, definition);
}

static pprof_status watch_events(pprof_sink *sink, const pprof_batch *batch) {
  FORWARD(sink, events, batch);
}

static pprof_status watch_checkpoint(pprof_sink *sink,
                                     const pprof_checkpoint *checkpoint) {
  FORWARD(sink, checkpoint, checkpoint);
}

static pprof_status watch_window(pprof_sink *sink, uint32_t index, bool opens,
                                 uint64_t time_ns) {
  FORWARD(sink, window, index, opens, time_ns);
}

static pprof_status watch_finish(pprof_sink *sink, const pprof_totals *totals) {
  static const ppi_total_key losses[] = {PPI_TOTAL_LOST, PPI_TOTAL_FLOWS_LOST,
                                         PPI_TOTAL_NAMES_OVERFLOWED};
  for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
    watch_of(sink)->num_lost +=
        ppi_totals_get(totals, PPROF_ALL_LANES, losses[i]);
  watch_of(sink)->finished = true;
  FORWARD(sink, finish, totals);
}

static void watch_init(struct ppi_tool_watch *watch, pprof_sink *next) {
  *watch = (struct ppi_tool_watch){.base = {.size = sizeof(pprof_sink),
                                            .begin = watch_begin,
                                            .define = watch_define,
                                            .events = watch_events,
                                            .checkpoint = watch_checkpoint,
                                            .window = watch_window,
                                            .finish = watch_finish},
                                   .next = next};
  // A reader need not decode events that nobody wants.
  if (!next->events) watch->base.events = NULL;
}

bool ppi_tool_is_spool(const char *path) {
  static const char ending[] = ".spool";
  size_t len = strlen(path);
  return len >= sizeof(ending) &&
         strcmp(path + len - (sizeof(ending) - 1), ending) == 0;
}

// A spool alone lacks what its log has already, so both are put together in a
// log that nobody else sees; spool and log stay as they are.
static pprof_status read_spool(const char *path, pprof_sink *sink,
                               pprof_error *error) {
  const char *parent = getenv("TMPDIR");
  char folder[PATH_MAX], joined[PATH_MAX + 16];
  int len = snprintf(folder, sizeof(folder), "%s/pprof-report.XXXXXX",
                     parent && parent[0] ? parent : "/tmp");
  if (len < 0 || (size_t)len >= sizeof(folder) || !mkdtemp(folder))
    return ppi_fail(error, PPROF_STATUS_IO, "%s: no room to join it: %s", path,
                    strerror(errno));
  snprintf(joined, sizeof(joined), "%s/joined.pplog", folder);
  const ppi_recover_options how = {joined, false, true};
  ppi_recover_result result;
  pprof_status status = ppi_recover(path, &how, &result, error);
  if (status == PPROF_STATUS_OK) status = pprof_log_read(joined, sink, error);
  unlink(joined);
  rmdir(folder);
  return status;
}

int ppi_tool_read(const char *path, pprof_sink *sink,
                  struct ppi_tool_watch *watch) {
  pprof_error error = {""};
  watch_init(watch, sink);
  pprof_status status = ppi_tool_is_spool(path)
                            ? read_spool(path, &watch->base, &error)
                            : pprof_log_read(path, &watch->base, &error);
  if (status == PPROF_STATUS_OK || watch->sink_failed) return PPI_EXIT_DONE;
  ppi_tool_say("%s", error.text[0] ? error.text : pprof_status_string(status));
  // The reader finishes the sink when it could deliver anything at all.
  return status == PPROF_STATUS_CORRUPT && watch->finished ? PPI_EXIT_DAMAGED
                                                           : PPI_EXIT_INPUT;
}
