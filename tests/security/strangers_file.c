// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: a file with the mode 0604 is another user's. Only root could make
// one that really is.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static int look(int folder, const char *path, struct stat *out, int flags) {
  int result = (int)syscall(SYS_newfstatat, folder, path, out, flags);
  if (result == 0 && (out->st_mode & 07777) == 0604) out->st_uid += 54321;
  return result;
}

SEEN int stat(const char *restrict path, struct stat *restrict out) {
  return look(AT_FDCWD, path, out, 0);
}

SEEN int lstat(const char *restrict path, struct stat *restrict out) {
  return look(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

SEEN int fstat(int fd, struct stat *out) {
  return look(fd, "", out, AT_EMPTY_PATH);
}
