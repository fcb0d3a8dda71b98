// SPDX-License-Identifier: Apache-2.0
//
// Manages the folder of control sockets. Nothing here waits: connecting to a
// socket with a full queue fails at once.
#include "control/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"

// In /tmp anyone may have taken a folder's name, so there are ten.
enum { IN_TMP = 2, NUM_FOLDERS = IN_TMP + 10, QUEUE = 64 };

// The folders for sockets of `uid`, in the order in which we try to make them.
// false: there are no more.
static bool folder_at(uid_t uid, int at, char out[PPI_CONTROL_PATH_MAX]) {
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  bool known = runtime && runtime[0] == '/' && uid == geteuid();
  int len = -1;
  if (at == 0 && known)
    len = snprintf(out, PPI_CONTROL_PATH_MAX, "%s/pprof", runtime);
  if (at == 1)
    len = snprintf(out, PPI_CONTROL_PATH_MAX, "/run/user/%u/pprof", uid);
  if (at == IN_TMP)
    len = snprintf(out, PPI_CONTROL_PATH_MAX, "/tmp/pprof-%u", uid);
  if (at > IN_TMP)
    len = snprintf(out, PPI_CONTROL_PATH_MAX, "/tmp/pprof-%u.%d", uid,
                   at - IN_TMP);
  return len > 0 && (size_t)len < PPI_CONTROL_PATH_MAX;
}

// Another user who may write there could replace our socket.
static pprof_status check_folder(const char *path, uid_t uid,
                                 pprof_error *error) {
  struct stat found;
  if (lstat(path, &found) != 0)
    return ppi_fail(error, PPROF_STATUS_IO, "%s: %s", path, strerror(errno));
  const char *wrong = S_ISLNK(found.st_mode)    ? "is a symbolic link"
                      : !S_ISDIR(found.st_mode) ? "is no folder"
                      : found.st_uid != uid     ? "belongs to another user"
                      : found.st_mode & 077     ? "is open to other users"
                                                : NULL;
  if (!wrong) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "%s %s", path, wrong);
}

static bool socket_path(const char *folder, const char *prefix, long pid,
                        char out[PPI_CONTROL_PATH_MAX]) {
  int len =
      snprintf(out, PPI_CONTROL_PATH_MAX, "%s/%s%ld.sock", folder, prefix, pid);
  return len > 0 && (size_t)len < PPI_CONTROL_PATH_MAX;
}

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, path);
  return address;
}

// A connection, or -1 with errno; ECONNREFUSED: the socket has no listener.
static int try_connect(const char *path) {
  struct sockaddr_un address = address_of(path);
  int fd = ppi_fd_socket();
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int failed = errno;
  close(fd);
  errno = failed;
  return -1;
}

static bool is_stale(const char *path) {
  struct stat found;
  if (lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  int fd = try_connect(path);
  if (fd < 0) return errno == ECONNREFUSED;
  close(fd);
  return false;
}

// Removes sockets without a listener, or lists the processes of others: `max`
// at most.
static size_t walk(const char *folder, bool removes, pid_t *out, size_t max) {
  DIR *entries = ppi_fd_opendir(folder);
  size_t num = 0;
  if (!entries) return 0;
  for (struct dirent *entry = readdir(entries); entry && (removes || num < max);
       entry = readdir(entries)) {
    char path[PPI_CONTROL_PATH_MAX];
    char *end;
    long pid = strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || strcmp(end, ".sock") != 0 ||
        !socket_path(folder, "", pid, path) || is_stale(path) != removes)
      continue;
    if (removes)
      unlink(path);
    else if (pid > 0)
      out[num++] = (pid_t)pid;
  }
  closedir(entries);
  return num;
}

static void remove_stale(const char *folder) {
  walk(folder, true, NULL, 0);
}

static int by_number(const void *a, const void *b) {
  const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
  return x < y ? -1 : x > y;
}

size_t ppi_control_list(pid_t *out, size_t max) {
  char folder[PPI_CONTROL_PATH_MAX];
  size_t num = 0;
  for (int at = 0; at < NUM_FOLDERS; at++)
    if (folder_at(geteuid(), at, folder) &&
        check_folder(folder, geteuid(), NULL) == PPROF_STATUS_OK)
      num += walk(folder, false, out + num, max - num);
  if (num) qsort(out, num, sizeof *out, by_number);
  return num;
}

// Binds another name and renames it once it listens, so that no process takes
// it for a stale socket. The mode comes from the descriptor: the process's
// umask is not ours to change.
static bool bind_at(int fd, const char *folder, const char *path) {
  char first[PPI_CONTROL_PATH_MAX];
  if (!socket_path(folder, ".", (long)getpid(), first)) {
    errno = ENAMETOOLONG;
    return false;
  }
  struct sockaddr_un address = address_of(first);
  unlink(first);
  fchmod(fd, 0600);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return false;
  if (chmod(first, 0600) == 0 && listen(fd, QUEUE) == 0 &&
      rename(first, path) == 0)
    return true;
  int failed = errno;
  unlink(first);
  errno = failed;
  return false;
}

static pprof_status listen_in(const char *folder, int *out_fd,
                              char out_path[PPI_CONTROL_PATH_MAX],
                              pprof_error *error) {
  mkdir(folder, 0700);
  PPI_TRY(check_folder(folder, geteuid(), error));
  remove_stale(folder);
  if (!socket_path(folder, "", (long)getpid(), out_path))
    return ppi_fail(error, PPROF_STATUS_IO, "%s: the path is too long", folder);
  if (access(out_path, F_OK) == 0)
    return ppi_fail(error, PPROF_STATUS_BUSY, "%s is in use", out_path);
  *out_fd = ppi_fd_socket();
  if (*out_fd >= 0 && bind_at(*out_fd, folder, out_path))
    return PPROF_STATUS_OK;
  ppi_fail(error, PPROF_STATUS_IO, "%s: %s", out_path, strerror(errno));
  if (*out_fd >= 0) close(*out_fd);
  return PPROF_STATUS_IO;
}

int ppi_control_listen(char out_path[PPI_CONTROL_PATH_MAX],
                       pprof_error *error) {
  int fd = -1;
  pprof_status status = PPROF_STATUS_IO;
  char folder[PPI_CONTROL_PATH_MAX];
  error->text[0] = 0;
  // Skips a folder that only a login makes: without its variable it may go away
  // while we run. A socket in use is this process's own, from another copy of
  // this library.
  for (int at = 0; at < NUM_FOLDERS && status == PPROF_STATUS_IO; at++)
    if (at != 1 && folder_at(geteuid(), at, folder))
      status = listen_in(folder, &fd, out_path, error);
  return status == PPROF_STATUS_OK ? fd : -1;
}

void ppi_control_sweep(void) {
  char folder[PPI_CONTROL_PATH_MAX];
  for (int at = 0; at < NUM_FOLDERS; at++)
    if (folder_at(geteuid(), at, folder) &&
        check_folder(folder, geteuid(), NULL) == PPROF_STATUS_OK)
      remove_stale(folder);
}

bool ppi_control_peer_may(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

// Whether the process at the other end is `pid`; one that another namespace
// hides has the number 0.
static bool peer_is(int fd, pid_t pid) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.pid == pid || peer.pid == 0);
}

static pprof_status find_process(pid_t pid, uid_t *out_uid,
                                 pprof_error *error) {
  char path[32];
  struct stat found;
  if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH))
    return ppi_fail(error, PPROF_STATUS_INVALID, "there is no process %ld",
                    (long)pid);
  snprintf(path, sizeof path, "/proc/%ld", (long)pid);
  *out_uid = stat(path, &found) == 0 ? found.st_uid : geteuid();
  if (*out_uid == geteuid() || geteuid() == 0) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_INVALID,
                  "process %ld belongs to another user", (long)pid);
}

// -1 with an empty error: there is none at this place.
static int connect_in(const char *folder, uid_t uid, pid_t pid,
                      pprof_error *error) {
  char path[PPI_CONTROL_PATH_MAX];
  if (!socket_path(folder, "", (long)pid, path)) return -1;
  if (access(folder, F_OK) != 0 ||
      check_folder(folder, uid, error) != PPROF_STATUS_OK ||
      access(path, F_OK) != 0)
    return -1;
  int fd = try_connect(path);
  if (fd < 0) {
    if (errno != ECONNREFUSED)
      ppi_fail(error, PPROF_STATUS_IO, "%s: %s", path, strerror(errno));
    return -1;
  }
  if (peer_is(fd, pid)) return fd;
  ppi_fail(error, PPROF_STATUS_INVALID, "%s belongs to another process", path);
  close(fd);
  return -1;
}

int ppi_control_connect(pid_t pid, pprof_error *error) {
  uid_t uid = 0;
  pprof_error own = {""};
  int fd = -1;
  char folder[PPI_CONTROL_PATH_MAX];
  if (find_process(pid, &uid, error) != PPROF_STATUS_OK) return -1;
  for (int at = 0; at < NUM_FOLDERS && fd < 0; at++)
    if (folder_at(uid, at, folder)) fd = connect_in(folder, uid, pid, &own);
  if (fd >= 0) return fd;
  if (own.text[0])
    ppi_fail(error, PPROF_STATUS_IO, "%s", own.text);
  else
    ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
             "process %ld cannot be asked: it does not record with pprof, or"
             " 'control.socket' is false there",
             (long)pid);
  return -1;
}
