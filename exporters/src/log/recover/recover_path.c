// SPDX-License-Identifier: Apache-2.0
//
// Checks paths that other processes wrote.
#include "log/recover/recover_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "file/text.h"
#include "log/read/log_glance.h"
#include "log/write/rotate.h"

bool ppi_recover_is_part(const char *path) {
  return ppi_ends_with(path, ".part");
}

ppi_path ppi_recover_without_part(const char *path) {
  size_t len = strlen(path) - (ppi_recover_is_part(path) ? 5 : 0);
  return ppi_path_make("%.*s", (int)len, path);
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
  return uuid[0] && strcmp(found.uuid, uuid) == 0;
}

// Whether the other one of log and .part, or a segment of the log, is there.
static bool has_left(const char *reported, const char *uuid) {
  const ppi_path log = ppi_recover_without_part(reported);
  return is_of_run(log.text, uuid) ||
         (uuid[0] && ppi_segments_last(log.text, uuid) > 0) ||
         is_of_run(ppi_path_make("%s.part", log.text).text, uuid);
}

// Whether `path` lies directly in the folder.
static bool lies_in(const char *path, const char *folder) {
  struct stat left, right;
  return stat(ppi_path_beside(path, ".").text, &left) == 0 &&
         stat(folder, &right) == 0 && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

ppi_path ppi_recover_name_of(const char *uuid, const char *ending) {
  static const char plain[] = "0123456789abcdefABCDEF-";
  bool is_plain = uuid[0] && strspn(uuid, plain) == strlen(uuid);
  return ppi_path_make("pprof.%s%s", is_plain ? uuid : "recovered", ending);
}

ppi_path ppi_recover_place_of(const ppi_recover_place *place,
                              const char *reported) {
  bool part = ppi_recover_is_part(reported);
  const char *name = ppi_base_name(reported);
  if (!place->foreign && has_left(reported, place->uuid))
    return ppi_path_make("%s", reported);
  if (!ppi_ends_with(name, part ? ".pplog.part" : ".pplog"))
    return ppi_recover_name_of(place->uuid,
                               part ? ".pplog.part" : ".flight.pplog");
  const ppi_path beside = ppi_path_beside(place->spool_path, name);
  if (!place->foreign && has_left(beside.text, place->uuid)) return beside;
  bool stays =
      !place->foreign &&
      (lies_in(reported, ppi_path_beside(place->spool_path, ".").text) ||
       (place->folder && lies_in(reported, place->folder)));
  return ppi_path_make("%s", stays ? reported : name);
}
