// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { FIRST_UNKNOWN = 3, UNSHARE = 2 };

ppi_fd_id ppi_fd_id_of(int fd) {
  struct stat found;
  if (fd < 0 || fstat(fd, &found) != 0) return (ppi_fd_id){0, 0};
  return (ppi_fd_id){(uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

bool ppi_fd_is(int fd, const ppi_fd_id *id) {
  ppi_fd_id now = ppi_fd_id_of(fd);
  return now.inode && now.device == id->device && now.inode == id->inode;
}

int ppi_fd_close(int fd, const ppi_fd_id *id) {
  if (!ppi_fd_is(fd, id)) return EBADF;
  return close(fd) == 0 ? 0 : errno;
}

// The thread sanitizer takes descriptors of all threads for one table.
#if defined(__SANITIZE_THREAD__)
#define ONE_TABLE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONE_TABLE 1
#endif
#endif

#ifdef ONE_TABLE
bool ppi_fd_own_table(int keep) {
  (void)keep;
  return false;
}
#else
static void lead_nowhere(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0 ||
      !(S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode)))
    return;
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, fd);
  close(nowhere);
}

bool ppi_fd_own_table(int keep) {
  unsigned above = keep < FIRST_UNKNOWN ? FIRST_UNKNOWN : (unsigned)keep + 1;
  // The copy ends below `above`: what is there is never ours to hold.
  if (syscall(SYS_close_range, above, UINT_MAX, UNSHARE) != 0) return false;
  if (above > FIRST_UNKNOWN + 1)
    syscall(SYS_close_range, FIRST_UNKNOWN, above - 2, 0);
  for (int fd = 0; fd < FIRST_UNKNOWN; fd++)
    if (fd != keep) lead_nowhere(fd);
  return true;
}
#endif
