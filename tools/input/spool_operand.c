// SPDX-License-Identifier: Apache-2.0
//
// Finds spools: of a process, where a session puts them by itself; of an
// unfinished log, the one that the log names. Shows them one after the other.
#include "input/spool_operand.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "file/json_put.h"
#include "pprof/log.h"
#include "recover/forensics_names.h"
#include "spool/spool_folders.h"

// `path` is the spool's, `named` its name in messages.
static void show(ppi_spool_list *list, const char *path, const char *named) {
  ppi_forensics found;
  pprof_error error = {""};
  int code = PPI_EXIT_INPUT;
  pprof_status status = ppi_forensics_read(path, &found, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_tool_failed(code, status, &error);
  } else if (list->show(list, path, named, &found)) {
    list->num_shown++;
    code = found.num_damaged ? PPI_EXIT_DAMAGED : PPI_EXIT_DONE;
  }
  list->code = PPI_MAX(list->code, code);
  ppi_forensics_clear(&found);
}

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

static int of_log(const char *path, ppi_spool_list *list) {
  struct spool_finder finder = {
      .base = {.size = sizeof finder.base, .begin = find_begin}};
  pprof_error error = {""};
  pprof_status status = pprof_log_read(path, &finder.base, &error);
  if (finder.path[0] && access(finder.path, F_OK) == 0) {
    show(list, finder.path, path);
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
  return ppi_tool_failed(PPI_EXIT_INPUT, status, &error);
}

static int of_file(const char *path, ppi_spool_list *list) {
  if (ppi_ends_with(path, ".part")) return of_log(path, list);
  show(list, path, path);
  return PPI_EXIT_DONE;
}

// ---- a process's spool ----

struct search {
  uint32_t pid;
  ppi_spool_list *list;
  size_t num_found;
};

static void visit_if_owned(const char *path, void *user) {
  struct search *search = user;
  if (ppi_forensics_owner(path) != search->pid) return;
  search->num_found++;
  show(search->list, path, path);
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
  show(search->list, path, path);
}

// Only spools of the process's own user count: others may claim its number.
static uid_t owner_of(pid_t pid) {
  char path[32];
  struct stat stat_;
  snprintf(path, sizeof path, "/proc/%ld", (long)pid);
  return stat(path, &stat_) == 0 ? stat_.st_uid : geteuid();
}

static int of_process(const char *operand, ppi_spool_list *list) {
  char *end;
  errno = 0;
  long pid = strtol(operand, &end, 10);
  if (errno || *end || pid <= 0 || pid > INT_MAX)
    return ppi_tool_fail(PPI_EXIT_INPUT, "'%s' is not the number of a process",
                         operand);
  struct search search = {(uint32_t)pid, list, 0};
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

// A number is a process, unless a file has that name. A dead process has the
// spools that it left.
static int of_operand(const char *operand, ppi_spool_list *list) {
  bool is_number =
      operand[0] && strspn(operand, "0123456789") == strlen(operand);
  return is_number && access(operand, F_OK) != 0 ? of_process(operand, list)
                                                 : of_file(operand, list);
}

// ---- the list ----

int ppi_spool_list_begin(ppi_spool_list *list,
                         const struct ppi_tool_options *options,
                         const char *schema) {
  list->options = *options;
  if (!options->output) list->options.output = "-";
  list->json = strcmp(options->format, "json") == 0;
  list->code = ppi_tool_output_check(&list->options, list->options.output);
  if (list->code != PPI_EXIT_DONE || !list->json) return list->code;
  ppi_tool_rows_begin(&list->page, schema);
  ppi_put_array(&list->page, "processes");
  ppi_put_line(&list->page);
  return list->code;
}

void ppi_spool_list_operands(ppi_spool_list *list, bool are_files) {
  for (int i = 0; i < list->options.num_inputs; i++) {
    const char *operand = list->options.inputs[i];
    int code = (are_files ? of_file : of_operand)(operand, list);
    list->code = PPI_MAX(list->code, code);
  }
}

static void show_any(const char *path, void *user) {
  ppi_spool_list *list = user;
  int code = list->code;
  if (list->is_wanted && !list->is_wanted(path)) return;
  show(list, path, path);
  if (list->code == PPI_EXIT_INPUT) list->code = code;
}

void ppi_spool_list_all(ppi_spool_list *list) {
  ppi_spool_visit(geteuid(), show_any, list);
}

int ppi_spool_list_end(ppi_spool_list *list, const char *nothing) {
  if (list->json)
    ppi_page_text(&list->page, "]}\n");
  else if (!list->num_shown && nothing && list->code == PPI_EXIT_DONE)
    ppi_page_text(&list->page, nothing);
  return list->page.len
             ? ppi_tool_output_page(&list->options, &list->page, list->code)
             : list->code;
}

void ppi_spool_put_head(ppi_spool_list *list, const char *path,
                        const ppi_forensics *found) {
  ppi_put_line(&list->page);
  ppi_put_object(&list->page, NULL);
  ppi_put_text(&list->page, "path", path);
  ppi_put_u64(&list->page, "pid", found->pid);
  ppi_put_bool(&list->page, "alive", found->alive);
}

const char *ppi_spool_name(const ppi_forensics *found, uint32_t kind,
                           uint32_t id) {
  const ppi_definition_record *record =
      id ? ppi_forensics_find(found, kind, id) : NULL;
  const char *name = record ? ppi_definition_text(kind, record->name) : "";
  return *name ? name : NULL;
}

uint64_t ppi_spool_tid(const ppi_forensics *found, const ppi_open_item *item) {
  const ppi_definition_record *lane =
      ppi_forensics_find(found, PPROF_DEFINITION_LANE, item->lane);
  return item->tid ? item->tid : lane ? lane->number : 0;
}

const char *ppi_spool_state(const ppi_open_item *item) {
  switch (item->kind) {
    case PPI_OPEN_RANGE:
      return "open";
    case PPI_OPEN_NOTHING:
      return "nothing open";
    case PPI_OPEN_CHANGING:
      return "changing";
    case PPI_OPEN_LANE_LAST:
      return "last on device";
    case PPI_OPEN_CROSS_THREAD:
      return "cross-thread";
    case PPI_OPEN_DEVICE:
      return item->submitted ? "submitted" : "being submitted";
    case PPI_OPEN_FINISHED:
      return "last finished";
  }
  return "";
}
