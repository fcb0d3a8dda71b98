// SPDX-License-Identifier: Apache-2.0
//
// Finds spools: of a process, where a session puts them by itself; of an
// unfinished log, the one that the log names.
#include "input/spool_operand.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "input/input.h"
#include "pprof/log.h"
#include "recover/forensics.h"
#include "spool/spool_folders.h"

// ---- a log's spool ----

struct spool_finder {
  pprof_sink base;
  char path[PATH_MAX];
  bool begun;
};

// Takes the spool's path from the run's texts and ends the read.
static pprof_status find_begin(pprof_sink *sink, const pprof_run_info *info) {
  struct spool_finder *finder = (struct spool_finder *)sink;
  const char *path = pprof_run_info_text(info, "spool");
  finder->begun = true;
  if (path) snprintf(finder->path, sizeof finder->path, "%s", path);
  return PPROF_STATUS_UNAVAILABLE;
}

static int of_log(const char *path, ppi_tool_spool_fn visit, void *user) {
  struct spool_finder finder = {
      .base = {.size = sizeof finder.base, .begin = find_begin}};
  pprof_error error = {""};
  pprof_status status = pprof_log_read(path, &finder.base, &error);
  if (finder.path[0] && access(finder.path, F_OK) == 0) {
    visit(finder.path, path, user);
    return PPI_EXIT_DONE;
  }
  if (finder.path[0])
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: its spool %s is gone: the run has ended, or was "
                         "recovered",
                         path, finder.path);
  if (finder.begun)
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: the run had no spool; what is open is not known",
                         path);
  return ppi_tool_fail(
      PPI_EXIT_INPUT, "%s",
      error.text[0] ? error.text : pprof_status_string(status));
}

int ppi_tool_spool_of_file(const char *path, ppi_tool_spool_fn visit,
                           void *user) {
  static const char ending[] = ".part";
  size_t len = strlen(path);
  bool is_part = len > sizeof ending - 1 &&
                 strcmp(path + len - (sizeof ending - 1), ending) == 0;
  if (is_part) return of_log(path, visit, user);
  visit(path, path, user);
  return PPI_EXIT_DONE;
}

// ---- a process's spool ----

struct search {
  uint32_t pid;
  ppi_tool_spool_fn visit;
  void *user;
  size_t num_found;
};

static void visit_if_owned(const char *path, void *user) {
  struct search *search = user;
  if (ppi_forensics_owner(path) != search->pid) return;
  search->num_found++;
  search->visit(path, path, search->user);
}

// Visits a spool of a dead process with this number, even if the number is in
// use again.
static void visit_if_left(const char *path, void *user) {
  struct search *search = user;
  ppi_forensics found;
  if (ppi_forensics_owner(path) != 0) return;
  bool is_its = ppi_forensics_read(path, &found, NULL) == PPROF_STATUS_OK &&
                found.pid == search->pid;
  ppi_forensics_clear(&found);
  if (!is_its) return;
  search->num_found++;
  search->visit(path, path, search->user);
}

// Only spools of the process's own user count: others may claim its number.
static uid_t owner_of(pid_t pid) {
  char path[32];
  struct stat stat_;
  snprintf(path, sizeof path, "/proc/%ld", (long)pid);
  return stat(path, &stat_) == 0 ? stat_.st_uid : geteuid();
}

static int of_process(const char *operand, ppi_tool_spool_fn visit,
                      void *user) {
  char *end;
  errno = 0;
  long pid = strtol(operand, &end, 10);
  if (errno || *end || pid <= 0 || pid > INT_MAX)
    return ppi_tool_fail(PPI_EXIT_INPUT, "'%s' is not the number of a process",
                         operand);
  struct search search = {(uint32_t)pid, visit, user, 0};
  ppi_spool_visit(owner_of((pid_t)pid), visit_if_owned, &search);
  if (!search.num_found) ppi_spool_visit(geteuid(), visit_if_left, &search);
  if (search.num_found) return PPI_EXIT_DONE;
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
    return ppi_tool_fail(PPI_EXIT_INPUT, "process %ld is not running", pid);
  if (errno == EPERM && kill((pid_t)pid, 0) != 0)
    return ppi_tool_fail(PPI_EXIT_INPUT, "process %ld is another user's", pid);
  return ppi_tool_fail(PPI_EXIT_INPUT,
                       "process %ld has no spool in /dev/shm or "
                       "XDG_RUNTIME_DIR: start its recording, or name its log",
                       pid);
}

int ppi_tool_spool_of(const char *operand, ppi_tool_spool_fn visit,
                      void *user) {
  bool is_number =
      operand[0] && strspn(operand, "0123456789") == strlen(operand);
  if (is_number && access(operand, F_OK) != 0)
    return of_process(operand, visit, user);
  return ppi_tool_spool_of_file(operand, visit, user);
}
