// SPDX-License-Identifier: Apache-2.0
//
// Checks paths that other processes wrote.
#include "log/recover/recover_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "file/part.h"
#include "file/text.h"
#include "log/read/log_glance.h"
#include "log/write/rotate.h"

bool ppi_recover_is_part(const char *path) {
  return ppi_ends_with(path, ".part");
}

bool ppi_recover_is_empty_part(const char *path) {
  char start[PPI_LOG_FILE_HEADER_SIZE];
  // NONBLOCK: opening a FIFO must not wait for a writer.
  int fd = ppi_recover_is_part(path)
               ? ppi_fd_open(path, O_RDONLY | O_NONBLOCK, 0)
               : -1;
  if (fd < 0) return false;
  struct stat stat;
  bool regular = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
  ssize_t num = regular ? read(fd, start, sizeof start) : -1;
  close(fd);
  return num >= 0 && (size_t)num < sizeof start &&
         memcmp(start, PPI_LOG_MAGIC,
                PPI_MIN((size_t)num, strlen(PPI_LOG_MAGIC))) == 0;
}

static bool is_own_file(const char *path) {
  struct stat stat;
  return lstat(path, &stat) == 0 && S_ISREG(stat.st_mode) &&
         stat.st_uid == geteuid();
}

// An empty file does not name its owner yet.
static bool is_of_run(const char *path, const char *uuid) {
  ppi_log_glance found;
  if (!is_own_file(path)) return false;
  if (ppi_log_glance_at(path, &found, NULL) != PPROF_STATUS_OK)
    return ppi_ends_with(path, ".pplog.part") &&
           ppi_recover_is_empty_part(path);
  ppi_free(found.spool_path);
  return uuid[0] && strcmp(found.uuid, uuid) == 0;
}

// Whether the other one of log and .part, or a segment of the log, is there.
static bool has_left(const char *reported, const char *uuid) {
  size_t len = strlen(reported) - (ppi_recover_is_part(reported) ? 5 : 0);
  char *log = ppi_alloc(len + sizeof ".part");
  if (!log) return false;
  memcpy(log, reported, len);
  bool found =
      is_of_run(log, uuid) || (uuid[0] && ppi_segments_last(log, uuid) > 0);
  strcpy(log + len, ".part");
  found = found || is_of_run(log, uuid);
  ppi_free(log);
  return found;
}

// Whether `path` lies directly in the folder.
static bool lies_in(const char *path, const char *folder) {
  struct stat left, right;
  char *own = ppi_path_beside(path, ".");
  bool same = own && stat(own, &left) == 0 && stat(folder, &right) == 0 &&
              left.st_dev == right.st_dev && left.st_ino == right.st_ino;
  ppi_free(own);
  return same;
}

char *ppi_recover_name_of(const char *uuid, const char *ending) {
  static const char plain[] = "0123456789abcdefABCDEF-";
  char name[PPI_LOG_UUID_LEN + 32];
  bool is_plain = uuid[0] && strspn(uuid, plain) == strlen(uuid);
  snprintf(name, sizeof name, "pprof.%s%s", is_plain ? uuid : "recovered",
           ending);
  return ppi_strdup(name);
}

char *ppi_recover_place_of(const ppi_recover_place *place,
                           const char *reported) {
  bool part = ppi_recover_is_part(reported);
  const char *name = ppi_base_name(reported);
  if (!place->foreign && has_left(reported, place->uuid))
    return ppi_strdup(reported);
  if (!ppi_ends_with(name, part ? ".pplog.part" : ".pplog"))
    return ppi_recover_name_of(place->uuid,
                               part ? ".pplog.part" : ".flight.pplog");
  if (place->foreign) return ppi_strdup(name);
  char *beside = ppi_path_beside(place->spool_path, name);
  char *here = ppi_path_beside(place->spool_path, ".");
  if (beside && here && !has_left(beside, place->uuid)) {
    bool stays = lies_in(reported, here) ||
                 (place->folder && lies_in(reported, place->folder));
    ppi_free(beside);
    beside = ppi_strdup(stays ? reported : name);
  }
  ppi_free(here);
  return beside;
}
