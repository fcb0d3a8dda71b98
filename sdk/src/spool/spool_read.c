// SPDX-License-Identifier: Apache-2.0
//
// Reads the present parts of a spool's file.
#include "spool/spool_read.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool ppi_read_at(int fd, void *out, uint64_t size, uint64_t offset) {
  uint8_t *at = out;
  int times = 0;
  while (size > 0) {
    ssize_t got = pread(fd, at, size, (off_t)offset);
    if (got < 0 && ppi_fd_interrupted(&times)) continue;
    if (got <= 0) return false;
    at += got;
    offset += (uint64_t)got;
    size -= (uint64_t)got;
  }
  return true;
}

// The next byte from `offset` on that is of `whence`, at most `end`;
// `otherwise` where the file system does not report holes.
static uint64_t seek(int fd, uint64_t offset, int whence, uint64_t end,
                     uint64_t otherwise) {
  off_t at = lseek(fd, (off_t)offset, whence);
  // Behind the last data there are only holes.
  if (at < 0) return errno == ENXIO ? end : otherwise;
  return PPI_MIN((uint64_t)at, end);
}

bool ppi_read_sparse(int fd, void *out, uint64_t size, uint64_t offset) {
  uint64_t end = offset + size;
  struct stat stat;
  if (fstat(fd, &stat) != 0 || (uint64_t)stat.st_size < end) return false;
  for (uint64_t at = offset; at < end;) {
    uint64_t data = seek(fd, at, SEEK_DATA, end, at);
    if (data == end) break;
    uint64_t hole = seek(fd, data, SEEK_HOLE, end, end);
    // Another process has cut the file meanwhile.
    if (hole <= data) return false;
    if (!ppi_read_at(fd, (uint8_t *)out + (data - offset), hole - data, data))
      return false;
    at = hole;
  }
  return true;
}

bool ppi_spool_fill(const ppi_spool *spool, uint64_t offset, uint64_t size) {
  return ppi_read_sparse(spool->fd, spool->base + offset, size, offset);
}
