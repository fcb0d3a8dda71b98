// SPDX-License-Identifier: Apache-2.0
//
// Starts processes that read logs, and takes their figures in the inputs'
// order. A process that is ahead waits with its figures at its pipe.
#include "input/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "file/text.h"
#include "input/input.h"
#include "input/sums.h"
#include "log/write/log_io.h"

typedef struct reader {
  pid_t pid;  // 0: none
  int fd;     // of its figures
} reader;

struct ppi_tool_readers {
  const struct ppi_tool_options *options;
  const ppi_report_details *details;
  long jobs, jobs_of_each;
  int num_begun, num_taken;
  reader *items;  // of the inputs
};

// ---- in the process of one log ----

static pprof_report *read_log(const ppi_tool_readers *readers,
                              const char *path) {
  struct ppi_tool_watch watch;
  struct ppi_tool_runs met = {.items = NULL};
  ppi_tool_sums sums;
  ppi_tool_sums_of(readers->options, path, &sums);
  pprof_report *report = ppi_tool_sums_read(&sums, readers->details);
  if (report) return report;
  ppi_report_details details = *readers->details;
  ppi_tool_set_jobs(readers->jobs_of_each);
  details.jobs = readers->jobs_of_each > 1 ? ppi_tool_jobs(path) : NULL;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) return NULL;
  ppi_report_set_details(report, &details);
  int code = ppi_tool_read_again(path, pprof_report_sink(report), &watch, &met);
  bool is_good = code == PPI_EXIT_DONE && !watch.sink_failed &&
                 !watch.num_repeated && ppi_report_figures(report) &&
                 !ppi_report_total(report, PPI_TOTAL_INCOMPLETE) &&
                 !ppi_report_depends_on_jobs(report);
  return is_good ? report : NULL;
}

static _Noreturn void be_reader(const ppi_tool_readers *readers,
                                const char *path, int fd) {
  ppi_carry carry = {.reads = false};
  int nothing = ppi_fd_open("/dev/null", O_RDWR, 0);
  if (nothing < 0 || dup2(nothing, STDERR_FILENO) < 0) _exit(1);
  signal(SIGPIPE, SIG_DFL);
  pprof_report *report = read_log(readers, path);
  if (!report) _exit(1);
  ppi_report_carry(&carry, report);
  _exit(carry.failed || ppi_write_all(fd, carry.bytes, carry.len) != 0);
}

// ---- in ours ----

static void begin_next(ppi_tool_readers *readers) {
  int ends[2], at = readers->num_begun++;
  const char *path = readers->options->inputs[at];
  // Other inputs make files of their own, which have to be removed.
  if (!ppi_ends_with(path, ".pplog") || pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t pid = fork();
  if (pid == 0) be_reader(readers, path, ends[1]);
  close(ends[1]);
  if (pid > 0)
    readers->items[at] = (reader){pid, ends[0]};
  else
    close(ends[0]);
}

ppi_tool_readers *ppi_tool_readers_begin(const struct ppi_tool_options *options,
                                         const ppi_report_details *details) {
  size_t num = (size_t)options->num_inputs;
  long jobs = ppi_tool_num_jobs(options->inputs, num);
  if (num < 2 || jobs < 2) return NULL;
  ppi_tool_readers *readers = ppi_tool_must(ppi_alloc(sizeof *readers));
  *readers = (ppi_tool_readers){.options = options,
                                .details = details,
                                .jobs = jobs,
                                .jobs_of_each = PPI_MAX(jobs / (long)num, 1)};
  readers->items = ppi_tool_must(ppi_alloc(num * sizeof *readers->items));
  for (long i = 0; i < jobs && i < (long)num; i++) begin_next(readers);
  return readers;
}

static pprof_report *report_of(const ppi_tool_readers *readers,
                               ppi_carry *carry) {
  pprof_report *report;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  ppi_report_set_details(report, readers->details);
  carry->reads = true;
  ppi_report_carry(carry, report);
  if (!carry->failed) return report;
  pprof_report_destroy(report);
  return NULL;
}

static bool has_ended_well(pid_t pid) {
  int status = 1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0;
}

pprof_report *ppi_tool_readers_take(ppi_tool_readers *readers) {
  enum { PIECE = 1 << 16 };
  reader *of = &readers->items[readers->num_taken++];
  pprof_report *report = NULL;
  ppi_carry carry = {.reads = false};
  ssize_t got = of->pid ? 1 : 0;
  while (got > 0 && PPI_ROOM(carry.bytes, carry.capacity, carry.len + PIECE)) {
    got = read(of->fd, carry.bytes + carry.len, PIECE);
    if (got > 0) carry.len += (size_t)got;
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (of->pid) {
    close(of->fd);
    if (has_ended_well(of->pid) && got == 0)
      report = report_of(readers, &carry);
    of->pid = 0;
  }
  ppi_free(carry.bytes);
  if (readers->num_begun < readers->options->num_inputs) begin_next(readers);
  return report;
}

void ppi_tool_readers_end(ppi_tool_readers *readers) {
  if (!readers) return;
  for (int i = readers->num_taken; i < readers->num_begun; i++) {
    if (!readers->items[i].pid) continue;
    close(readers->items[i].fd);
    kill(readers->items[i].pid, SIGTERM);
    has_ended_well(readers->items[i].pid);
  }
  ppi_free(readers->items);
  ppi_free(readers);
}
