// SPDX-License-Identifier: Apache-2.0
//
// Joins the unfinished log and the spool of a dead process in a private log.
#include "input/joined.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "file/text.h"
#include "log/read/log_glance.h"
#include "log/recover/log_recover.h"
#include "log/recover/recover_path.h"

// A path of a call; `made` is NULL if nothing was joined.
struct joined {
  char *path, *made;
};

static struct joined *all;
static size_t num_all, all_capacity;

bool ppi_tool_is_spool(const char *path) {
  return ppi_ends_with(path, ".spool");
}

char *ppi_tool_private_log(const char *path, pprof_error *error) {
  const char *parent = secure_getenv("TMPDIR");
  char folder[PATH_MAX];
  char *made = NULL;
  int len = snprintf(folder, sizeof(folder), "%s/pprof-report.XXXXXX",
                     parent && parent[0] ? parent : "/tmp");
  if (len < 0 || (size_t)len >= sizeof(folder) || !mkdtemp(folder)) {
    ppi_fail(error, PPROF_STATUS_IO, "%s: no room for a log of it: %s", path,
             strerror(errno));
  } else if (asprintf(&made, "%s/made.pplog", folder) < 0) {
    rmdir(folder);
    ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
    return NULL;
  }
  return made;
}

void ppi_tool_private_log_remove(char *made) {
  if (!made) return;
  unlink(made);
  *strrchr(made, '/') = '\0';
  rmdir(made);
  free(made);
}

// Not for a dump, nor for a log without its spool.
static bool may_have_spool(const char *path) {
  ppi_log_glance found;
  if (!ppi_ends_with(path, ".part")) return false;
  if (ppi_log_glance_at(path, &found, NULL) != PPROF_STATUS_OK)
    return ppi_recover_is_empty_part(path);
  const char *spool = found.spool_path.text;
  return !found.flight[0] && (!spool[0] || access(spool, F_OK) == 0);
}

static pprof_status make(struct joined *item, ppi_recover_result *out,
                         pprof_error *error) {
  item->made = ppi_tool_private_log(item->path, error);
  const ppi_recover_options how = {
      .output = item->made, .keep = true, .log_only = true};
  return item->made ? ppi_recover(item->path, &how, out, error)
                    : PPROF_STATUS_IO;
}

static pprof_status join(struct joined *item, pprof_error *error) {
  ppi_recover_result result = {.path = ""};
  bool is_spool = ppi_tool_is_spool(item->path);
  if (!is_spool && !may_have_spool(item->path)) return PPROF_STATUS_OK;
  pprof_status status = make(item, &result, error);
  if (status != PPROF_STATUS_OK || !result.spool_path[0]) {
    ppi_tool_private_log_remove(item->made);
    item->made = NULL;
  } else if (!is_spool) {
    ppi_tool_say("%s: unfinished, read together with its spool %s", item->path,
                 result.spool_path);
  }
  // A .part without its spool is still read.
  return is_spool ? status : PPROF_STATUS_OK;
}

static struct joined *find(const char *path) {
  for (size_t i = 0; i < num_all; i++)
    if (strcmp(all[i].path, path) == 0) return &all[i];
  return NULL;
}

pprof_status ppi_tool_join(const char *path, const char **out,
                           pprof_error *error) {
  struct joined *item = find(path);
  pprof_status status = PPROF_STATUS_OK;
  if (!item) {
    PPI_MUST_ROOM(all, all_capacity, num_all + 1);
    struct joined fresh = {ppi_tool_must(ppi_strdup(path)), NULL};
    status = join(&fresh, error);
    if (status != PPROF_STATUS_OK) {
      ppi_free(fresh.path);
      return status;
    }
    item = &all[num_all++];
    *item = fresh;
  }
  *out = item->made ? item->made : path;
  return status;
}

bool ppi_tool_is_joined(const char *path) {
  const struct joined *item = find(path);
  return item && item->made;
}

void ppi_tool_join_clear(void) {
  for (size_t i = 0; i < num_all; i++) {
    ppi_free(all[i].path);
    ppi_tool_private_log_remove(all[i].made);
  }
  ppi_free(all);
  all = NULL;
  num_all = all_capacity = 0;
}
