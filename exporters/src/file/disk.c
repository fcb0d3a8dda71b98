// SPDX-License-Identifier: Apache-2.0
//
// Counts the bytes of a session's files and removes the oldest for newer ones.
// Collector, I/O threads and exporters call it, under one lock, which is free
// while a file is removed.
#include "file/disk.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

// Identifies a file, whatever its name; not known: there has been no file.
typedef struct file_id {
  dev_t device;
  ino_t inode;
  bool is_known;
} file_id;

typedef struct disk_file {
  char *path;
  uint64_t bytes;
  file_id id;
  bool removable, yields, is_segment;
} disk_file;

struct ppi_disk {
  pthread_mutex_t mutex;
  uint32_t num_refs;
  ppi_disk_remove remove;
  char uuid[40];
  uint64_t limit, used;
  disk_file *files;  // the oldest first
  size_t num_files, files_capacity;
  disk_file *doomed;  // no longer counted, still in the file system
  size_t num_doomed, doomed_capacity;
};

ppi_disk *ppi_disk_create(uint64_t limit_bytes) {
  ppi_disk *disk = ppi_alloc(sizeof *disk);
  if (!disk) return NULL;
  pthread_mutex_init(&disk->mutex, NULL);
  disk->num_refs = 1;
  disk->limit = limit_bytes;
  return disk;
}

ppi_disk *ppi_disk_ref(ppi_disk *disk) {
  if (!disk) return NULL;
  pthread_mutex_lock(&disk->mutex);
  disk->num_refs++;
  pthread_mutex_unlock(&disk->mutex);
  return disk;
}

void ppi_disk_destroy(ppi_disk *disk) {
  if (!disk) return;
  pthread_mutex_lock(&disk->mutex);
  bool last = --disk->num_refs == 0;
  pthread_mutex_unlock(&disk->mutex);
  if (!last) return;
  ppi_disk_sweep(disk);
  for (size_t i = 0; i < disk->num_files; i++) ppi_free(disk->files[i].path);
  ppi_free(disk->files);
  ppi_free(disk->doomed);
  pthread_mutex_destroy(&disk->mutex);
  ppi_free(disk);
}

void ppi_disk_set_run(ppi_disk *disk, ppi_disk_remove remove,
                      const char *uuid) {
  if (!disk) return;
  pthread_mutex_lock(&disk->mutex);
  // Set once: it is read without the lock.
  if (!disk->remove) snprintf(disk->uuid, sizeof disk->uuid, "%s", uuid);
  disk->remove = remove;
  pthread_mutex_unlock(&disk->mutex);
}

// ---- under the lock ----

static disk_file *find(const ppi_disk *disk, const char *path) {
  // The file that grows is nearly always the latest.
  for (size_t i = disk->num_files; i > 0; i--)
    if (strcmp(disk->files[i - 1].path, path) == 0) return &disk->files[i - 1];
  return NULL;
}

static disk_file *find_or_add(ppi_disk *disk, const char *path) {
  disk_file *file = find(disk, path);
  if (file) return file;
  if (!PPI_ROOM(disk->files, disk->files_capacity, disk->num_files + 1))
    return NULL;
  char *copy = ppi_strdup(path);
  if (!copy) return NULL;
  disk->files[disk->num_files] = (disk_file){.path = copy};
  return &disk->files[disk->num_files++];
}

static disk_file take_out(ppi_disk *disk, disk_file *file) {
  disk_file out = *file;
  size_t at = (size_t)(file - disk->files);
  disk->used -= file->bytes;
  disk->num_files--;
  memmove(file, file + 1, (disk->num_files - at) * sizeof *file);
  return out;
}

static char *drop(ppi_disk *disk, disk_file *file) {
  return take_out(disk, file).path;
}

static uint64_t room(const ppi_disk *disk) {
  return disk->used < disk->limit ? disk->limit - disk->used : 0;
}

static bool may_go(const disk_file *file) {
  return file->removable || file->yields;
}

static bool doom_while_short(ppi_disk *disk, uint64_t bytes, bool yielding) {
  for (size_t i = 0; i < disk->num_files && room(disk) < bytes;) {
    disk_file *file = &disk->files[i];
    if (!may_go(file) || file->yields != yielding)
      i++;
    else if (!PPI_PUSH(disk->doomed, disk->num_doomed, disk->doomed_capacity,
                       take_out(disk, file)))
      return false;
  }
  return true;
}

// Removes nothing where the bytes would not fit even then.
static bool make_room(ppi_disk *disk, uint64_t bytes) {
  uint64_t stays = 0;
  for (size_t i = 0; i < disk->num_files; i++)
    if (!may_go(&disk->files[i])) stays += disk->files[i].bytes;
  if (stays > disk->limit || disk->limit - stays < bytes) return false;
  return doom_while_short(disk, bytes, true) &&
         doom_while_short(disk, bytes, false) && room(disk) >= bytes;
}

// ---- calls ----

bool ppi_disk_room(ppi_disk *disk, uint64_t bytes) {
  if (!disk) return true;
  pthread_mutex_lock(&disk->mutex);
  bool fits = make_room(disk, bytes);
  pthread_mutex_unlock(&disk->mutex);
  ppi_disk_sweep(disk);
  return fits;
}

// Called before the lock is taken: a disk may not answer.
static file_id look(const char *path) {
  struct stat found;
  if (lstat(path, &found) != 0) return (file_id){.is_known = false};
  return (file_id){found.st_dev, found.st_ino, true};
}

static bool add_file(ppi_disk *disk, const char *path, uint64_t bytes,
                     bool removable) {
  disk_file *file = find_or_add(disk, path);
  if (!file) return false;
  file->bytes += bytes;
  file->removable = removable;
  disk->used += bytes;
  return true;
}

bool ppi_disk_add(ppi_disk *disk, const char *path, uint64_t bytes,
                  bool removable) {
  if (!disk) return true;
  file_id id = look(path);
  pthread_mutex_lock(&disk->mutex);
  bool added = add_file(disk, path, bytes, removable);
  if (added) find(disk, path)->id = id;
  pthread_mutex_unlock(&disk->mutex);
  return added;
}

bool ppi_disk_add_segment(ppi_disk *disk, const char *path) {
  if (!disk) return true;
  pthread_mutex_lock(&disk->mutex);
  bool added = add_file(disk, path, 0, true);
  if (added) find(disk, path)->is_segment = true;
  pthread_mutex_unlock(&disk->mutex);
  return added;
}

bool ppi_disk_take(ppi_disk *disk, const char *path, uint64_t bytes) {
  if (!disk) return true;
  pthread_mutex_lock(&disk->mutex);
  bool taken = add_file(disk, path, 0, false) && make_room(disk, bytes) &&
               add_file(disk, path, bytes, false);
  pthread_mutex_unlock(&disk->mutex);
  return taken;
}

bool ppi_disk_add_yielding(ppi_disk *disk, const char *path) {
  if (!disk) return true;
  file_id id = look(path);
  pthread_mutex_lock(&disk->mutex);
  bool added = add_file(disk, path, 0, false);
  if (added) {
    disk_file *file = find(disk, path);
    file->yields = true;
    file->id = id;
  }
  pthread_mutex_unlock(&disk->mutex);
  return added;
}

bool ppi_disk_grow(ppi_disk *disk, const char *path, uint64_t bytes) {
  if (!disk) return true;
  char *dropped = NULL;
  pthread_mutex_lock(&disk->mutex);
  disk_file *file = find(disk, path);
  bool grows = file && room(disk) >= bytes;
  if (grows) {
    file->bytes += bytes;
    disk->used += bytes;
  } else if (file) {
    dropped = drop(disk, file);
  }
  pthread_mutex_unlock(&disk->mutex);
  ppi_free(dropped);
  return grows;
}

void ppi_disk_settle(ppi_disk *disk, const char *path, const char *to) {
  if (!disk) return;
  pthread_mutex_lock(&disk->mutex);
  disk_file *file = find(disk, path);
  uint64_t bytes = file ? file->bytes : 0;
  char *dropped = file ? drop(disk, file) : NULL;
  add_file(disk, to, bytes, false);
  pthread_mutex_unlock(&disk->mutex);
  ppi_free(dropped);
}

static void remove_same(const disk_file *file) {
  file_id now = look(file->path);
  if (file->id.is_known && now.is_known && now.device == file->id.device &&
      now.inode == file->id.inode)
    unlink(file->path);
}

void ppi_disk_sweep(ppi_disk *disk) {
  if (!disk) return;
  for (;;) {
    pthread_mutex_lock(&disk->mutex);
    disk_file gone = {.path = NULL};
    if (disk->num_doomed) gone = disk->doomed[--disk->num_doomed];
    ppi_disk_remove remove = disk->remove;
    pthread_mutex_unlock(&disk->mutex);
    if (!gone.path) return;
    if (!gone.is_segment)
      remove_same(&gone);
    else if (remove)
      remove(gone.path, disk->uuid);
    ppi_free(gone.path);
  }
}

void ppi_disk_forget(ppi_disk *disk, const char *path) {
  if (!disk) return;
  pthread_mutex_lock(&disk->mutex);
  disk_file *file = find(disk, path);
  char *dropped = file ? drop(disk, file) : NULL;
  pthread_mutex_unlock(&disk->mutex);
  ppi_free(dropped);
}

bool ppi_disk_knows(ppi_disk *disk, const char *path) {
  if (!disk) return true;
  pthread_mutex_lock(&disk->mutex);
  bool known = find(disk, path) != NULL;
  pthread_mutex_unlock(&disk->mutex);
  return known;
}

uint64_t ppi_disk_used(ppi_disk *disk) {
  if (!disk) return 0;
  pthread_mutex_lock(&disk->mutex);
  uint64_t used = disk->used;
  pthread_mutex_unlock(&disk->mutex);
  return used;
}
