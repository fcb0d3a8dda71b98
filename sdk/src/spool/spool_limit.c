// SPDX-License-Identifier: Apache-2.0
//
// Computes the limit of a spool: the smallest of three.
#include "spool/spool_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/base.h"
#include "base/memory_limit.h"
#include "spool/spool_folders.h"

#define NOBODY_KNOWS (UINT64_MAX / 2)

// The size of all other spools in the folder, of any user: everyone who may
// list the folder can read sizes.
static uint64_t others_in(const char *folder, const ppi_fd_id *own) {
  uint64_t sum = 0;
  DIR *dir = ppi_fd_opendir(folder);
  struct dirent *entry;
  struct stat file;
  while (dir && (entry = readdir(dir))) {
    if (!ppi_spool_is_name(entry->d_name) ||
        fstatat(dirfd(dir), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if ((uint64_t)file.st_dev != own->device ||
        (uint64_t)file.st_ino != own->inode)
      sum += (uint64_t)file.st_blocks * 512;
  }
  if (dir) closedir(dir);
  return sum;
}

static bool folder_of(const char *path, char *out, size_t size) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  size_t len = slash ? (size_t)(slash - path) : 0;
  if (len == 0 || len >= size) return false;
  memcpy(out, path, len);
  out[len] = 0;
  return true;
}

// A quarter of the free room and the spools, less the spools.
static uint64_t quarter_left(uint64_t free, uint64_t spools) {
  uint64_t quarter = (free + spools) / 4;
  return quarter > spools ? quarter - spools : 0;
}

// The rest of the folder's quarter; unlimited if it is unknown. Spools are
// listed only if the limit could matter with all of the folder's used bytes as
// spools.
static uint64_t shared_room(const char *folder, const ppi_fd_id *own,
                            uint64_t taken, uint64_t most) {
  struct statfs found;
  if (!folder || statfs(folder, &found) != 0) return NOBODY_KNOWS;
  uint64_t block = (uint64_t)found.f_bsize;
  uint64_t free = found.f_bavail * block;
  uint64_t used = (found.f_blocks - found.f_bfree) * block;
  uint64_t least = quarter_left(free, PPI_MAX(used, taken));
  if (least / PPI_SPOOL_AMPLE >= most) return least;
  return quarter_left(free, others_in(folder, own) + taken);
}

static ppi_spool_limit least_of(uint64_t most, uint64_t taken,
                                uint64_t shared) {
  uint64_t cgroup = ppi_cgroup_limit("") / 16;
  ppi_spool_limit limit = {most, "memory_limit", most, shared};
  if (cgroup < most) {
    limit.bytes = limit.own = cgroup;
    limit.name = "1/16 of the cgroup's memory";
  }
  if (taken + shared < limit.bytes) {
    limit.bytes = taken + shared;
    limit.name = "1/4 of the folder's room, for all spools together";
  }
  return limit;
}

ppi_spool_limit ppi_spool_limit_in(const char *folder, uint64_t most) {
  const ppi_fd_id none = {0, 0};
  return least_of(most, 0, shared_room(folder, &none, 0, most));
}

ppi_spool_limit ppi_spool_limit_now(const char *path, const ppi_fd_id *own,
                                    uint64_t taken, uint64_t most) {
  char folder[PATH_MAX];
  bool found = folder_of(path, folder, sizeof folder);
  return least_of(most, taken,
                  shared_room(found ? folder : NULL, own, taken, most));
}
