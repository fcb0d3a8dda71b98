// SPDX-License-Identifier: Apache-2.0
//
// Finds a spool's log: its path is in the log writer's ring, after five words.
#include "recover/forensics_log.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "spool/spool_read.h"

static bool read_path(int fd, char *out, size_t size) {
  struct {
    char magic[8];
    uint32_t version;
  } start;
  uint64_t at;
  uint32_t claimed;
  if (!ppi_read_at(fd, &start, sizeof start, 0) ||
      memcmp(start.magic, PPI_SPOOL_MAGIC, sizeof start.magic) != 0 ||
      start.version != PPI_SPOOL_VERSION ||
      !ppi_read_at(fd, &at, sizeof at,
                   offsetof(ppi_spool_header, staging_offset)) ||
      at < PPI_CHUNK_SIZE || at > INT64_MAX - sizeof(ppi_staging) ||
      !ppi_read_at(fd, &claimed, sizeof claimed,
                   at + offsetof(ppi_staging, claimed)) ||
      !claimed)
    return false;
  size_t len = size < PPI_STAGING_PATH_MAX ? size : PPI_STAGING_PATH_MAX;
  return ppi_read_at(fd, out, len, at + offsetof(ppi_staging, log_path)) &&
         out[0] == '/' && memchr(out, 0, len);
}

bool ppi_forensics_log(const char *path, char *out, size_t size) {
  int fd = ppi_fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  bool found = fd >= 0 && read_path(fd, out, size);
  if (fd >= 0) close(fd);
  if (!found) out[0] = 0;
  return found;
}
