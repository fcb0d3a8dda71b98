// SPDX-License-Identifier: Apache-2.0
//
// Chooses a run's paths: expanded, distinct, and different from those of other
// processes and of injection.
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "start/running_paths.h"

static const char *where_of(const ppi_config_text *path) {
  return path->where[0] ? path->where : "output";
}

// For a path shorter than PATH_MAX.
static void folder_of(const char *path, char out[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  size_t len = slash ? (size_t)(slash - path) : 0;
  memcpy(out, path, len);
  out[len] = 0;
  if (len == 0) strcpy(out, slash ? "/" : ".");
}

// Reports are written at the end, but an unwritable folder is reported at the
// start.
static pprof_status check_folder(const ppi_config_text *from, const char *path,
                                 pprof_error *error) {
  char name[PATH_MAX];
  folder_of(path, name);
  if (access(name, W_OK | X_OK) == 0) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "%s: cannot write into %s: %s",
                  where_of(from), ppi_quote_of(name).text, strerror(errno));
}

// An empty, unlocked file belongs to a run that was killed.
static bool is_begun(const char *part) {
  struct stat found;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = ppi_fd_open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return errno != ENOENT;
  bool begun = fstat(fd, &found) != 0 || found.st_size > 0 ||
               fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
  close(fd);
  return begun;
}

// Injection must not replace other files. The parent's files are at risk in a
// forked child, or in another program with the same settings. A second copy of
// the library in the program may have files, too. A child that goes on as its
// parent did must not replace the parent's files either.
static bool needs_own_name(const ppi_running *run,
                           const ppi_config_text *template, const char *path) {
  char part[PATH_MAX + 8];
  if (run->follows && !run->injected) return !strstr(template->text, "%p");
  if (!run->injected) return false;
  snprintf(part, sizeof part, "%s.part", path);
  if (is_begun(part)) return true;
  return strstr(template->text, "%p") ? access(path, F_OK) == 0 : run->forked;
}

// The program may change its folder before the end.
static pprof_status make_absolute(const ppi_running *run,
                                  const ppi_config_text *from,
                                  char path[PATH_MAX], pprof_error *error) {
  char whole[2 * PATH_MAX];
  if (path[0] == '/' || !run->folder[0]) return PPROF_STATUS_OK;
  int len = snprintf(whole, sizeof whole, "%s/%s", run->folder, path);
  if (len >= PATH_MAX)
    return ppi_fail(error, PPROF_STATUS_CONFIG, "%s: the path is too long",
                    where_of(from));
  memcpy(path, whole, (size_t)len + 1);
  return PPROF_STATUS_OK;
}

static pprof_status expand_own(const ppi_running *run,
                               const ppi_config_text *template,
                               char path[PATH_MAX], pprof_error *error) {
  pprof_status status = ppi_expand_path(template, path, error);
  // A daemon leaves the folder in which it was started.
  if (status == PPROF_STATUS_OK && run->follows)
    status = make_absolute(run, template, path, error);
  if (status != PPROF_STATUS_OK || !needs_own_name(run, template, path))
    return status;
  char infix[24] = "injected";
  if (!strstr(template->text, "%p"))
    snprintf(infix, sizeof infix, "%ld", (long)getpid());
  const ppi_path own = ppi_log_sibling_path(path, infix);
  bool fits = strlen(own.text) < PATH_MAX;
  if (fits) strcpy(path, own.text);
  return fits ? PPROF_STATUS_OK
              : ppi_fail(error, PPROF_STATUS_CONFIG, "%s: the path is too long",
                         where_of(template));
}

static pprof_status expand_flight(ppi_running *run, pprof_error *error) {
  const ppi_config_text *output = &run->config.flight.output;
  char *path = run->flight_output;
  pprof_status status = expand_own(run, output, path, error);
  if (status == PPROF_STATUS_OK && run->config.log &&
      strcmp(path, run->output) == 0)
    return ppi_config_refuse_taken(output, path, error);
  if (status == PPROF_STATUS_OK) status = check_folder(output, path, error);
  return status == PPROF_STATUS_OK ? make_absolute(run, output, path, error)
                                   : status;
}

// The path with the window's number, if it has one.
static pprof_status check_export(const ppi_config_export *item,
                                 const char *path, pprof_error *error) {
  char shown[PATH_MAX];
  pprof_status status = ppi_expand_window(path, 0, shown);
  if (status != PPROF_STATUS_OK)
    return ppi_fail(error, status, "%s: the path is too long",
                    where_of(&item->path));
  return check_folder(&item->path, shown, error);
}

static pprof_status expand_export(ppi_running *run, size_t at,
                                  pprof_error *error) {
  const ppi_config_export *item = &run->config.exports[at];
  char *path = run->export_paths[at];
  PPI_TRY(expand_own(run, &item->path, path, error));
  bool taken =
      (run->config.log && strcmp(path, run->output) == 0) ||
      (run->config.flight.given && strcmp(path, run->flight_output) == 0);
  for (size_t i = 0; i < at; i++)
    taken = taken || strcmp(path, run->export_paths[i]) == 0;
  if (taken) return ppi_config_refuse_taken(&item->path, path, error);
  return check_export(item, path, error);
}

static pprof_status make_all_absolute(ppi_running *run, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++) {
    const ppi_config_export *item = &run->config.exports[i];
    // A trace makes its own path absolute; a window's trace is opened much
    // later.
    if (item->format != PPI_EXPORT_CHROME || item->per_window)
      status = make_absolute(run, &item->path, run->export_paths[i], error);
  }
  return status;
}

// Below /proc a name is a descriptor's number (/dev/stdin and /dev/fd lead
// there) or a temporary folder: later it may name another file.
static bool leads_into_proc(const char *path) {
  enum { MOST_LINKS = 40 };
  char at[PATH_MAX], folder[PATH_MAX], link[PATH_MAX], next[2 * PATH_MAX];
  strcpy(at, path);
  for (int i = 0; i < MOST_LINKS; i++) {
    struct statfs system;
    folder_of(at, folder);
    if (strncmp(at, "/proc/", 6) == 0 ||
        (statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC))
      return true;
    ssize_t len = readlink(at, link, sizeof link - 1);
    if (len <= 0) return false;
    link[len] = 0;
    snprintf(next, sizeof next, "%s%s%s", link[0] == '/' ? "" : folder,
             link[0] == '/' ? "" : "/", link);
    if (strlen(next) >= sizeof at) return false;
    strcpy(at, next);
  }
  return false;
}

// The files that the control thread checks, from any current folder.
static pprof_status keep_watched(ppi_running *run, const char *config_path,
                                 pprof_error *error) {
  static const ppi_config_text nowhere = {"", "configuration"};
  const ppi_config_text *file = &run->config.control.file;
  pprof_status status = PPROF_STATUS_OK;
  if (file->text[0]) {
    status = ppi_expand_path(file, run->touch_path, error);
    PPI_THEN(status, make_absolute(run, file, run->touch_path, error));
  }
  if (status != PPROF_STATUS_OK || !config_path) return status;
  if (strlen(config_path) >= sizeof run->config_path)
    return ppi_fail(error, PPROF_STATUS_CONFIG, "the path is too long");
  if (leads_into_proc(config_path)) return status;
  strcpy(run->config_path, config_path);
  return make_absolute(run, &nowhere, run->config_path, error);
}

static pprof_status expand_metrics(ppi_running *run, pprof_error *error) {
  const ppi_config_text *file = &run->config.metrics.file;
  char *path = run->metrics_path;
  if (!file->text[0]) return PPROF_STATUS_OK;
  pprof_status status = expand_own(run, file, path, error);
  if (status == PPROF_STATUS_OK) status = check_folder(file, path, error);
  return status == PPROF_STATUS_OK ? make_absolute(run, file, path, error)
                                   : status;
}

pprof_status ppi_running_expand_paths(ppi_running *run, const char *config_path,
                                      pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  if (run->config.log)
    status = expand_own(run, &run->config.output, run->output, error);
  strcpy(run->wanted, run->output);
  if (status == PPROF_STATUS_OK && run->config.flight.given)
    status = expand_flight(run, error);
  if (status == PPROF_STATUS_OK) status = expand_metrics(run, error);
  for (size_t i = 0; i < run->config.num_exports && status == PPROF_STATUS_OK;
       i++)
    status = expand_export(run, i, error);
  if (status == PPROF_STATUS_OK) status = make_all_absolute(run, error);
  return status == PPROF_STATUS_OK ? keep_watched(run, config_path, error)
                                   : status;
}

void ppi_running_note_path(char path[PATH_MAX], const char *own) {
  if (strcmp(ppi_base_name(path), ppi_base_name(own)) == 0 ||
      strlen(own) >= PATH_MAX)
    return;
  ppi_message(PPI_MESSAGE_WARN, "%s is there already: recording to %s", path,
              own);
  strcpy(path, own);
}

// Injection's file has the name that the program's run is about to write.
static void keep_older(const char *path, const ppi_running *next) {
  bool meets = next->config.log && strcmp(path, next->output) == 0;
  for (size_t i = 0; i < next->config.num_exports; i++)
    meets = meets || strcmp(path, next->export_paths[i]) == 0;
  ppi_path apart = ppi_log_sibling_path(path, "injected");
  if (meets && ppi_part_settle(path, false, &apart) != 0)
    ppi_message(PPI_MESSAGE_WARN, "cannot rename %s", path);
}

void ppi_running_keep_older(const ppi_running *ended, const ppi_running *next) {
  if (ended->config.log) keep_older(ended->output, next);
  for (size_t i = 0; i < ended->config.num_exports; i++)
    keep_older(ended->export_paths[i], next);
}
