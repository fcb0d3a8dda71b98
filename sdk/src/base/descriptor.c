// SPDX-License-Identifier: Apache-2.0
//
// Makes descriptors that stay open in a program that closes all others.
#include "base/descriptor.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/masked.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { FIRST_UNKNOWN = 3, UNSHARE = 2 };

// By number: the library's own calls are points of cancellation.
// The thread sanitizer follows descriptors by those.
static int open_at(const char *path, int flags, unsigned mode) {
#ifdef __SANITIZE_THREAD__
  return open(path, flags | O_CLOEXEC, mode);
#else
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
#endif
}

static void close_now(int fd) {
  syscall(SYS_close, fd);
}

// open answers the lowest free number; if another thread was faster, it is a
// higher one.
unsigned ppi_fd_stand_in(void) {
  int error = errno;
  unsigned standing = 0;
  for (int fd = 0; fd < FIRST_UNKNOWN; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    int made = open_at("/", O_PATH, 0);
    if (made == fd)
      standing |= 1u << fd;
    else if (made >= 0)
      close_now(made);
  }
  errno = error;
  return standing;
}

// The program may have opened a file of its own in a stand-in's place.
void ppi_fd_stand_down(unsigned standing) {
  int error = errno;
  for (int fd = 0; fd < FIRST_UNKNOWN; fd++) {
    if (!(standing & 1u << fd)) continue;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && flags & O_PATH) close_now(fd);
  }
  errno = error;
}

// Moves `fd` to a higher number if it has a standard one. Stand-ins may be
// missing: another thread has ended them, or a sandbox refuses them.
static int settle(unsigned standing, int fd) {
  if (fd >= 0 && fd < FIRST_UNKNOWN) {
    int above = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_UNKNOWN);
    int error = errno;
    close_now(fd);
    errno = error;
    fd = above;
  }
  ppi_fd_stand_down(standing);
  return fd;
}

// A file that is only read may have a low number for a moment: prints to it
// fail as before. Opening it then needs no further calls.
int ppi_fd_open(const char *path, int flags, unsigned mode) {
  bool writes = (flags & O_ACCMODE) != O_RDONLY;
  unsigned standing = writes ? ppi_fd_stand_in() : 0;
  return settle(standing, open_at(path, flags, mode));
}

FILE *ppi_fd_fopen(const char *path) {
  int fd = ppi_fd_open(path, O_RDONLY, 0);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (fd >= 0 && !file) close(fd);
  return file;
}

DIR *ppi_fd_opendir(const char *path) {
  int fd = ppi_fd_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (fd >= 0 && !folder) close(fd);
  return folder;
}

int ppi_fd_pipe(int ends[2]) {
  unsigned standing = ppi_fd_stand_in();
  int made = pipe2(ends, O_CLOEXEC | O_NONBLOCK);
  if (made == 0) {
    ends[0] = settle(0, ends[0]);
    ends[1] = settle(0, ends[1]);
  }
  ppi_fd_stand_down(standing);
  if (made != 0 || (ends[0] >= 0 && ends[1] >= 0)) return made;
  int error = errno;
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0) close(ends[i]);
  errno = error;
  return -1;
}

int ppi_fd_socket(void) {
  unsigned standing = ppi_fd_stand_in();
  return settle(standing,
                socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int ppi_fd_accept(int socket) {
  unsigned standing = ppi_fd_stand_in();
  return settle(standing,
                accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int ppi_fd_copy(int fd) {
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

// Older C libraries do not know the call.
int ppi_fd_memory(const char *name, uint64_t size) {
  const unsigned cloexec = 1, sealable = 2;
  unsigned standing = ppi_fd_stand_in();
  int fd = settle(standing,
                  (int)syscall(SYS_memfd_create, name, cloexec | sealable));
  if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

bool ppi_fd_interrupted(int *times) {
  enum { MOST_TIMES = 1000 };
  return errno == EINTR && ++*times < MOST_TIMES;
}

int ppi_fd_reserve(int fd, uint64_t at, uint64_t size) {
  ppi_calm before;
  int error, times = 0;
  ppi_mask_signals(&before);
  do
    error = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size) == 0
                ? 0
                : errno;
  while (error && ppi_fd_interrupted(&times));
  ppi_unmask_signals(&before);
  return error;
}

int ppi_fd_perf(const struct perf_event_attr *attr) {
  return settle(0, (int)syscall(SYS_perf_event_open, attr, 0, -1, -1,
                                PERF_FLAG_FD_CLOEXEC));
}

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
  int nowhere = open_at("/dev/null", O_RDWR, 0);
  if (nowhere < 0) return;
  dup2(nowhere, fd);
  close(nowhere);
}

bool ppi_fd_own_table(int keep) {
  unsigned above = keep < FIRST_UNKNOWN ? FIRST_UNKNOWN : (unsigned)keep + 1;
  // The copy ends below `above`: files from there on are never ours to keep
  // open.
  if (syscall(SYS_close_range, above, UINT_MAX, UNSHARE) != 0) return false;
  if (above > FIRST_UNKNOWN + 1)
    syscall(SYS_close_range, FIRST_UNKNOWN, above - 2, 0);
  for (int fd = 0; fd < FIRST_UNKNOWN; fd++)
    if (fd != keep) lead_nowhere(fd);
  ppi_fd_stand_in();
  return true;
}
#endif
