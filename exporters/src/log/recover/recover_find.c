// SPDX-License-Identifier: Apache-2.0
//
// Finds the spool of a log's file by the spools' own data.
#include "log/recover/recover_find.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/mem.h"
#include "spool/spool_folders.h"

typedef struct search {
  const char *part, *uuid;
  char *found;
  bool is_named;
  pprof_status status;
} search;

const char *ppi_recover_staged_log(const ppi_salvage *salvage) {
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  if (!staging || !staging->claimed ||
      !memchr(staging->log_path, '\0', sizeof staging->log_path))
    return "";
  return staging->log_path;
}

bool ppi_recover_same_file(const char *a, const char *b) {
  struct stat left, right;
  return stat(a, &left) == 0 && stat(b, &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

bool ppi_recover_is_written(const char *path) {
  int fd = ppi_fd_open(path, O_RDONLY, 0);
  if (fd < 0) return false;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool buffered = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return buffered;
}

static bool is_named(const ppi_salvage *salvage, const search *self) {
  const char *staged = ppi_recover_staged_log(salvage);
  return staged[0] && ppi_recover_same_file(self->part, staged);
}

// An empty file may have got its name from another run.
static bool is_of(const ppi_salvage *salvage, const search *self) {
  const char *uuid = pprof_run_info_text(ppi_salvage_run_info(salvage), "uuid");
  if (!ppi_salvage_is_own(salvage)) return false;
  return !self->uuid[0] || (uuid && strcmp(uuid, self->uuid) == 0);
}

static void look_at(const char *path, void *user) {
  search *self = user;
  ppi_salvage *salvage;
  if (self->found || self->status != PPROF_STATUS_OK) return;
  pprof_status status = ppi_salvage_open(path, &salvage, NULL);
  bool is_alive = status == PPROF_STATUS_BUSY;
  if (is_alive) status = ppi_salvage_open_live(path, &salvage, NULL);
  if (status == PPROF_STATUS_OK) {
    bool names_it = is_named(salvage, self);
    self->is_named = self->is_named || names_it;
    if (names_it && !is_alive && is_of(salvage, self) &&
        !(self->found = ppi_strdup(path)))
      status = PPROF_STATUS_NO_MEMORY;
    ppi_salvage_close(salvage);
  }
  if (status == PPROF_STATUS_NO_MEMORY) self->status = status;
}

pprof_status ppi_recover_find(const char *part, const char *uuid, char **out,
                              bool *out_named) {
  search self = {.part = part, .uuid = uuid};
  ppi_spool_visit(geteuid(), look_at, &self);
  *out = self.found;
  *out_named = self.is_named;
  return self.status;
}
