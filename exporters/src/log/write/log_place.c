// SPDX-License-Identifier: Apache-2.0
//
// Chooses the names of a log's file, from the wanted one to the final one.
#include "log/write/log_place.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "file/text.h"
#include "log/write/log_loss.h"

// ---- the program and its root ----

static ppi_fd_id find_root(void) {
  struct stat root;
  if (stat("/", &root) != 0) return (ppi_fd_id){0};
  return (ppi_fd_id){root.st_dev, root.st_ino};
}

bool ppi_log_place_is_elsewhere(const ppi_log_place *place) {
  ppi_fd_id now = find_root();
  return now.device != place->root.device || now.inode != place->root.inode;
}

// A program with another user or another root cannot reach its files, though
// they exist.
const char *ppi_log_place_reason(ppi_log_place *place, int error) {
  if (error == ENOENT && ppi_log_place_is_elsewhere(place))
    return "the program has another root (chroot); 'pprof-report recover' "
           "finds it";
  if ((error != EACCES && error != EPERM) || geteuid() == place->user)
    return ppi_log_loss_reason(error);
  snprintf(place->why, sizeof place->why,
           "%s as user %u; as user %u 'pprof-report recover' makes the log",
           strerror(error), (unsigned)geteuid(), (unsigned)place->user);
  return place->why;
}

// ---- names ----

static void note_name(ppi_log_place *place, const char *wanted,
                      const char *path) {
  if (strcmp(ppi_base_name(wanted), ppi_base_name(path)) != 0)
    snprintf(place->note, sizeof place->note,
             "%.100s was there already: the log is %.100s",
             ppi_base_name(wanted), ppi_base_name(path));
}

void ppi_log_place_note_aside(ppi_log_place *place, uint32_t num) {
  snprintf(place->note, sizeof place->note,
           "%.100s: %u segments have a number behind theirs, as their names "
           "were there already",
           ppi_base_name(place->part.path.text), num);
}

const char *ppi_log_place_taken(const ppi_log_place *place) {
  const char *wanted = ppi_base_name(place->wanted.text);
  bool is_own = strcmp(wanted, ppi_base_name(place->part.path.text)) == 0;
  return is_own ? NULL : wanted;
}

// ---- the file ----

static pprof_status open_part(ppi_log_place *place, const char *path,
                              bool in_segments, pprof_error *error) {
  struct stat existing;
  size_t len = strlen(path);
  bool exists =
      len > 0 && !ppi_part_is_foreign_link(path) && stat(path, &existing) == 0;
  mode_t mode = exists ? existing.st_mode : 0;
  // A folder or a device there is a wrong setting. Other files under a log's
  // name are passed over, like logs and pipes.
  if (len == 0 || path[len - 1] == '/' ||
      (S_ISDIR(mode) && existing.st_uid == geteuid()))
    return ppi_fail(error, PPROF_STATUS_IO,
                    "cannot write '%s': it names a folder, not a file", path);
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return ppi_fail(error, PPROF_STATUS_IO, "cannot write '%s': it is a device",
                    path);
  pprof_status status = ppi_part_open(
      path, in_segments ? ppi_segments_are_there : ppi_part_is_there,
      &place->part, error);
  if (status == PPROF_STATUS_OK) note_name(place, path, place->part.path.text);
  return status;
}

pprof_status ppi_log_place_open(ppi_log_place *place, const char *path,
                                bool in_segments, pprof_error *error) {
  place->wanted = ppi_path_make("%s", path);
  place->user = geteuid();
  place->root = find_root();
  return open_part(place, path, in_segments, error);
}

void ppi_log_place_clear(ppi_log_place *place, bool has_file) {
  ppi_part_clear(&place->part, !has_file);
}

int ppi_log_place_reopen(ppi_log_place *place) {
  ppi_part *part = &place->part;
  const char *path = place->segment_path.text;
  struct stat found;
  // A file that belongs to another run by now is left alone.
  if (stat(path, &found) != 0 || found.st_dev != place->done.st_dev ||
      found.st_ino != place->done.st_ino)
    return ENOENT;
  // A rename would replace a .part that another run has begun since.
  if (link(path, part->part_path.text) != 0) return errno;
  unlink(path);
  part->fd = ppi_fd_open(part->part_path.text, O_RDWR, 0);
  if (part->fd < 0) return errno;
  part->id = ppi_fd_id_of(part->fd);
  if (ppi_part_is_buffered(part->fd)) return errno;
  return lseek(part->fd, 0, SEEK_END) < 0 ? errno : 0;
}

int ppi_log_place_settle(ppi_log_place *place) {
  ppi_path path = place->segment_path;
  int error = ppi_part_settle(place->part.part_path.text, false, &path);
  note_name(place, place->segment_path.text, path.text);
  place->segment_path = path;
  stat(path.text, &place->done);
  return error;
}
