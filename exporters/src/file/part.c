// SPDX-License-Identifier: Apache-2.0
//
// Opens, names and ends files with names that several processes want. One
// thread for each part.
#include "file/part.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "file/text.h"

enum { MAX_NAMES = 10000 };

ppi_path ppi_path_make(const char *format, ...) {
  ppi_path path;
  va_list values;
  va_start(values, format);
  vsnprintf(path.text, sizeof path.text, format, values);
  va_end(values);
  return path;
}

ppi_path ppi_path_beside(const char *beside, const char *name) {
  return ppi_path_make("%.*s%s", (int)(ppi_base_name(beside) - beside), beside,
                       name);
}

ppi_path ppi_path_absolute(const char *path) {
  char folder[PATH_MAX];
  if (path[0] == '/' || !getcwd(folder, sizeof folder))
    return ppi_path_make("%s", path);
  return ppi_path_make("%s/%s", folder, path);
}

// The length up to the base name's ending; ".gz" goes with the ending before
// it.
static size_t stem_len(const char *path) {
  const char *base = ppi_base_name(path);
  size_t len = strlen(path), end = len;
  if (len > 3 && strcmp(path + len - 3, ".gz") == 0) end = len - 3;
  for (size_t i = end; path + i > base + 1; i--)
    if (path[i - 1] == '.') return i - 1;
  return end;
}

ppi_path ppi_part_sibling(const char *path, int number) {
  size_t stem = stem_len(path);
  return number
             ? ppi_path_make("%.*s.%d%s", (int)stem, path, number, path + stem)
             : ppi_path_make("%s", path);
}

bool ppi_part_is_buffered(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &lock) != 0 &&
         (errno == EAGAIN || errno == EACCES);
}

// Checks only a file that existed before: a file system may give the files that
// we make to another user.
static bool is_own_file(int fd) {
  struct stat stat;
  return fstat(fd, &stat) == 0 &&
         (S_ISREG(stat.st_mode) || S_ISFIFO(stat.st_mode)) &&
         stat.st_uid == geteuid() && stat.st_nlink <= 1 &&
         fchmod(fd, 0600) == 0;
}

int ppi_part_create(const char *path) {
  static const int flags = O_RDWR | O_NOFOLLOW;
  int fd = -1;
  // Another process may remove the file between the two calls.
  for (int i = 0; i < 10; i++) {
    fd = ppi_fd_open(path, flags | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
    fd = ppi_fd_open(path, flags, 0);
    if (fd >= 0 || errno != ENOENT) break;
  }
  if (fd >= 0 && is_own_file(fd)) return fd;
  if (fd >= 0) close(fd);
  errno = EEXIST;
  return -1;
}

bool ppi_part_is_foreign_link(const char *path) {
  struct stat stat;
  return lstat(path, &stat) == 0 && S_ISLNK(stat.st_mode) &&
         stat.st_uid != geteuid() && stat.st_uid != 0;
}

bool ppi_part_is_there(const char *path) {
  struct stat stat;
  return lstat(path, &stat) == 0;
}

// -1 and EBUSY: another process writes it; EEXIST: it has contents to spare, or
// is no file of ours. An empty file is removed only under the lock, so a
// process with the lock sees that the name is gone.
static int open_free(const char *path, bool spare) {
  int fd = ppi_part_create(path);
  if (fd < 0) return -1;
  struct stat stat;
  int error = 0;
  if (ppi_part_is_buffered(fd))
    error = EBUSY;
  else if (fstat(fd, &stat) != 0)
    error = errno;
  else if (stat.st_nlink == 0 || (spare && stat.st_size > 0))
    error = EEXIST;
  else if (stat.st_size > 0 && ftruncate(fd, 0) != 0)
    error = errno;
  if (!error) return fd;
  close(fd);
  errno = error;
  return -1;
}

// Both names stay if `keeps` and if the file system can do so. An existing file
// `to` is replaced only on a file system with neither call.
static int give_name(const char *from, const char *to, bool keeps) {
  if (!keeps) {
    // By syscall: C libraries older than 2.28 have no function for it.
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
                RENAME_NOREPLACE) == 0)
      return 0;
    // Some file systems, and some sandboxes, do not know this call.
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return errno;
  }
  if (link(from, to) == 0) {
    if (!keeps) unlink(from);
    return 0;
  }
  if (errno == EEXIST || errno == ENOENT) return errno;
  if (ppi_part_is_there(to)) return EEXIST;
  return rename(from, to) == 0 ? 0 : errno;
}

int ppi_part_settle(const char *from, bool keeps, ppi_path *path) {
  const ppi_path wanted = *path;
  int error = EEXIST;
  for (int n = 0; error == EEXIST && n < MAX_NAMES; n++) {
    *path = ppi_part_sibling(wanted.text, n);
    error = give_name(from, path->text, keeps);
  }
  if (error) *path = wanted;
  return error;
}

static pprof_status fail(ppi_part *part, const char *path, int error,
                         pprof_error *out) {
  pprof_status status = ppi_fail(out, PPROF_STATUS_IO, "cannot write %s: %s",
                                 path, strerror(error));
  ppi_part_clear(part, false);
  return status;
}

// Renaming a file over a pipe or a device would replace it.
static pprof_status open_in_place(const char *path, bool is_pipe,
                                  ppi_part *part, pprof_error *error) {
  part->path = ppi_path_make("%s", path);
  if (is_pipe)
    return access(path, W_OK) == 0 ? PPROF_STATUS_OK
                                   : fail(part, path, errno, error);
  int failed = ppi_part_open_pipe(part);
  return failed ? fail(part, path, failed, error) : PPROF_STATUS_OK;
}

int ppi_part_open_pipe(ppi_part *part) {
  part->fd = ppi_fd_open(part->path.text, O_WRONLY, 0);
  part->id = ppi_fd_id_of(part->fd);
  return part->fd < 0 ? errno : 0;
}

bool ppi_part_own_table(ppi_part *part) {
  bool own = ppi_fd_own_table(part->fd);
  // The copy has a number that another file has taken: the caller opens the
  // part again, at its end.
  if (own && part->fd >= 0 && !ppi_fd_is(part->fd, &part->id)) {
    close(part->fd);
    part->fd = -1;
  }
  return own;
}

int ppi_part_hold(ppi_part *part) {
  if (ppi_fd_is(part->fd, &part->id)) return 0;
  part->fd = -1;
  if (!part->part_path.text[0]) return EBADF;
  int fd = ppi_fd_open(part->part_path.text, O_RDWR | O_NOFOLLOW, 0);
  if (fd < 0) return errno;
  if (!ppi_fd_is(fd, &part->id) || ppi_part_is_buffered(fd) ||
      lseek(fd, 0, SEEK_END) < 0) {
    close(fd);
    return EBADF;
  }
  part->fd = fd;
  return 0;
}

static bool is_foreign(const struct stat *stat) {
  return stat->st_uid != geteuid() && stat->st_uid != 0;
}

bool ppi_part_goes_in_place(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0 || ppi_part_is_foreign_link(path)) return false;
  return S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode) ||
         (!S_ISREG(found.st_mode) && !is_foreign(&found));
}

// True: a rename must not, or cannot, replace it.
static bool is_no_file(const char *path) {
  struct stat found;
  return ppi_part_is_foreign_link(path) ||
         (lstat(path, &found) == 0 && !S_ISREG(found.st_mode) &&
          !S_ISLNK(found.st_mode));
}

// -1 and errno; EBUSY, EEXIST: try another name. The .part claims the name, so
// the second check finds a file that came before it.
static int open_name(const ppi_part *part, ppi_part_taken taken) {
  ppi_part_taken is_used = taken ? taken : is_no_file;
  int fd = -1;
  if (!is_used(part->path.text)) {
    fd = open_free(part->part_path.text, taken != NULL);
    if (fd < 0 || !is_used(part->path.text)) return fd;
    unlink(part->part_path.text);
    close(fd);
  }
  errno = EBUSY;
  return -1;
}

// Tries the names in order. `*meets`: another run has an earlier name itself,
// not only its .part.
static bool open_first_free(const char *path, ppi_part_taken taken,
                            ppi_part *out, bool *meets) {
  for (int n = 0; n < MAX_NAMES; n++) {
    ppi_part_clear(out, false);
    out->path = ppi_part_sibling(path, n);
    out->part_path = ppi_path_make("%s.part", out->path.text);
    out->fd = open_name(out, taken);
    out->id = ppi_fd_id_of(out->fd);
    if (out->fd >= 0) return true;
    *meets = *meets || errno == EBUSY;
    if (errno != EBUSY && errno != EEXIST) break;
  }
  return false;
}

static pprof_status open_beside(const char *path, ppi_part_taken taken,
                                ppi_part *out, pprof_error *error) {
  bool meets = false;
  const ppi_path wanted = ppi_path_absolute(path);
  bool opened = open_first_free(wanted.text, taken, out, &meets);
  int reason = errno;
  out->replaces = !taken;
  // Only .part files were in the way.
  if (opened && !meets && !taken) out->path = wanted;
  if (opened) return PPROF_STATUS_OK;
  ppi_part_clear(out, false);
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write %s.part: %s", path,
                  strerror(reason));
}

pprof_status ppi_part_open(const char *path, ppi_part_taken taken,
                           ppi_part *out, pprof_error *error) {
  struct stat existing;
  *out = (ppi_part){.fd = -1};
  bool in_place = !taken && ppi_part_goes_in_place(path);
  if (in_place && stat(path, &existing) == 0 && S_ISDIR(existing.st_mode))
    return fail(out, path, EISDIR, error);
  return in_place ? open_in_place(path, S_ISFIFO(existing.st_mode), out, error)
                  : open_beside(path, taken, out, error);
}

int ppi_part_commit(ppi_part *part) {
  if (!part->part_path.text[0]) return 0;
  if (part->replaces)
    return rename(part->part_path.text, part->path.text) == 0 ? 0 : errno;
  return ppi_part_settle(part->part_path.text, false, &part->path);
}

void ppi_part_clear(ppi_part *part, bool remove) {
  // Still under the lock: no other process has opened it yet.
  if (remove && part->part_path.text[0]) unlink(part->part_path.text);
  ppi_fd_close(part->fd, &part->id);
  *part = (ppi_part){.fd = -1};
}
