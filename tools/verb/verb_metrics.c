// SPDX-License-Identifier: Apache-2.0
//
// Runs `metrics`: serves figures of running processes to Prometheus by HTTP.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_wanted.h"
#include "live/http.h"
#include "live/live_metrics.h"
#include "live/live_process.h"
#include "verb/verbs.h"

struct metrics {
  const struct ppi_tool_options *options;
  struct ppi_live_processes all;
  size_t max_stages;
};

// Makes the page on the server's thread, one at a time.
static char *make(void *user, const char *accept, size_t *out_len,
                  const char **out_type) {
  struct metrics *self = user;
  ppi_metrics_process processes[PPI_LIVE_MAX_PROCESSES];
  size_t num = 0;
  ppi_page page = {0};
  const ppi_metrics_options how = {
      .is_openmetrics =
          accept && strstr(accept, "application/openmetrics-text"),
      .max_stages = self->max_stages};
  if (self->options->num_inputs == 0) ppi_live_find_more(&self->all);
  ppi_live_look_at_all(&self->all);
  for (size_t i = 0; i < self->all.num; i++) {
    const struct ppi_live_process *process = self->all.items[i];
    const ppi_live_view *view = ppi_live_last(process);
    if (process->socket < 0 || !view) continue;
    processes[num++] = (ppi_metrics_process){process->pid, process->name, view};
  }
  ppi_live_metrics(processes, num, &how, &page);
  char *text = page.failed ? NULL : malloc(page.len + 1);
  if (text) memcpy(text, page.bytes, page.len);
  *out_len = page.len;
  *out_type =
      how.is_openmetrics ? PPI_METRICS_OPEN_TYPE : PPI_METRICS_TEXT_TYPE;
  ppi_page_clear(&page);
  return text;
}

// Serves until a signal. The signal is blocked before the server's thread
// starts, so this thread gets it.
static int serve(struct metrics *self) {
  const struct ppi_http_page page = {make, self};
  sigset_t endings, before;
  int number = 0;
  sigemptyset(&endings);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &endings, &before);
  ppi_http *http = ppi_http_start(self->options->metrics.listen, &page);
  if (http) {
    ppi_tool_say("http://%s/metrics", ppi_http_address(http));
    sigwait(&endings, &number);
    ppi_http_stop(http);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return http ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

int ppi_tool_metrics(const struct ppi_tool_options *options) {
  static struct metrics served;  // until the process ends
  struct metrics *self = &served;
  int code = PPI_EXIT_USAGE;
  self->options = options;
  if (ppi_wanted_number("stages", options->metrics.stages, 1,
                        &self->max_stages)) {
    // Without names, processes may also come later.
    code = options->num_inputs
               ? ppi_live_find(options->inputs, options->num_inputs, &self->all)
               : PPI_EXIT_DONE;
    if (code == PPI_EXIT_DONE) code = serve(self);
    ppi_live_close(&self->all);
  }
  return code;
}
