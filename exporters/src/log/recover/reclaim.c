// SPDX-License-Identifier: Apache-2.0
//
// Takes away spools of dead processes on one thread, which may be killed at any
// time: each step is a recover or one unlink. Threads of two processes exclude
// each other by recover's claim.
#include "log/recover/reclaim.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/start_thread.h"
#include "base/thread_id.h"
#include "base/wait.h"
#include "log/recover/log_recover.h"
#include "log/recover/log_rescue.h"
#include "spool/spool.h"
#include "spool/spool_folders.h"

enum {
  MOST_SPOOLS = 4096,  // of a folder; the others wait for the next start
  CALM_WAIT_MS = 100,
  UNUSED_S = 60,  // a new file may be in the making
  NICE = 10       // low, but not idle: others may wait for its locks
};

typedef struct leftover {
  char *path;
  struct timespec changed;
  uint64_t bytes;
} leftover;

typedef struct reclaim_counts {
  uint64_t num_recovered, num_removed, num_given_up, num_left;
  uint64_t bytes, records, num_unread;  // of spools that were given up
} reclaim_counts;

struct ppi_reclaim {
  pthread_mutex_t mutex;  // guards the next two lines
  pthread_cond_t progress;
  bool stop, calm, ended, abandoned, is_news;
  char text[256];
  // Owned by the thread once it has started.
  pthread_t thread;
  bool own_table;
  ppi_reclaim_options options;
  char folders[2][PATH_MAX];
  size_t num_folders;
  leftover *spools;
  size_t num, capacity;
  uint64_t bytes, bound;  // size of the folder's spools, and its limit
  reclaim_counts counts;
};

// ---- the spools there are ----

// Calls `look` until it answers false.
static void look_into(const char *folder,
                      bool (*look)(const char *path, void *), void *user) {
  char path[PATH_MAX];
  DIR *entries = ppi_fd_opendir(folder);
  const struct dirent *entry = NULL;
  bool more = entries != NULL;
  while (more && (entry = readdir(entries))) {
    if (!ppi_spool_is_name(entry->d_name)) continue;
    int len = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (len > 0 && (size_t)len < sizeof path) more = look(path, user);
  }
  if (entries) closedir(entries);
}

// Checks the name alone. Another copy of the library may have a session in this
// process: opening and closing its spool here would release its lock.
static bool is_not_another(const char *path, void *user) {
  bool *found = user;
  *found = !ppi_salvage_is_in_use(path);
  return !*found;
}

static bool is_any_there(const ppi_reclaim *self) {
  bool found = false;
  for (size_t i = 0; i < self->num_folders && !found; i++)
    look_into(self->folders[i], is_not_another, &found);
  return found;
}

// For a thread without its own table of descriptors: whether the process has
// the file open.
static bool is_open_here(const char *path) {
  struct stat file, open_one;
  bool found = false;
  char name[64];
  DIR *entries =
      stat(path, &file) == 0 ? ppi_fd_opendir("/proc/self/fd") : NULL;
  if (!entries) return true;
  for (const struct dirent *entry = readdir(entries); entry && !found;
       entry = readdir(entries)) {
    snprintf(name, sizeof name, "/proc/self/fd/%.16s", entry->d_name);
    found = stat(name, &open_one) == 0 && open_one.st_dev == file.st_dev &&
            open_one.st_ino == file.st_ino;
  }
  closedir(entries);
  return found;
}

static bool is_stopped(ppi_reclaim *self) {
  pthread_mutex_lock(&self->mutex);
  bool stop = self->stop;
  pthread_mutex_unlock(&self->mutex);
  return stop;
}

static void remove_unused(ppi_reclaim *self, const char *path) {
  struct stat stat;
  if (lstat(path, &stat) == 0 && stat.st_mtime + UNUSED_S < time(NULL) &&
      unlink(path) == 0)
    self->counts.num_removed++;
}

static bool add_spool(const char *path, void *user) {
  ppi_reclaim *self = user;
  struct stat stat;
  uint64_t most = PPI_MAX(self->options.limit_bytes,
                          PPI_SPOOL_MIN_CHUNKS * (uint64_t)PPI_CHUNK_SIZE);
  if (!self->own_table && is_open_here(path)) return !is_stopped(self);
  if (ppi_salvage_is_unused(path)) {
    remove_unused(self, path);
  } else if (ppi_salvage_is_left(path, &stat) &&
             (uint64_t)stat.st_blocks * 512 <= most) {
    bool has_room = PPI_ROOM(self->spools, self->capacity, self->num + 1);
    char *copy = has_room ? ppi_strdup(path) : NULL;
    if (!copy) return false;
    uint64_t bytes = (uint64_t)stat.st_blocks * 512;
    self->spools[self->num++] = (leftover){copy, stat.st_mtim, bytes};
    self->bytes += bytes;
  }
  return self->num < MOST_SPOOLS && !is_stopped(self);
}

PPI_ORDER(by_age, leftover, PPI_UP(changed.tv_sec) PPI_UP(changed.tv_nsec))

static void clear_list(ppi_reclaim *self) {
  for (size_t i = 0; i < self->num; i++) ppi_free(self->spools[i].path);
  ppi_free(self->spools);
  self->spools = NULL;
  self->num = self->capacity = 0;
  self->bytes = 0;
}

// ---- the fate of one spool ----

// Recovers without a log: only the content of a flight recorder's ring.
static pprof_status count_into(int fd, ppi_salvage *salvage, uint64_t *out) {
  ppi_rescue rescue;
  ppi_recover_result ignored;
  uint64_t cursor = 0;
  uint32_t next = 0;
  memset(&ignored, 0, sizeof ignored);
  const ppi_ring *ring = ppi_salvage_ring(salvage);
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  if (!staging && ring) staging = ppi_ring_blocks(ring);
  pprof_status status = ppi_rescue_begin(&rescue, fd, "", &ignored);
  do {
    next = 0;
    if (status == PPROF_STATUS_OK && staging)
      status = ppi_rescue_copy_staged(&rescue, staging, &cursor, &next);
    if (status == PPROF_STATUS_OK && !next)
      status =
          ppi_rescue_finish(&rescue, salvage, ppi_salvage_run_info(salvage));
    *out += ppi_tally_get(&rescue.tally, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
    if (status == PPROF_STATUS_OK && next)
      status = ppi_rescue_begin_segment(&rescue, fd, "");
  } while (status == PPROF_STATUS_OK && next);
  ppi_rescue_clear(&rescue);
  return status;
}

static bool count_records(ppi_salvage *salvage, uint64_t *out) {
  int fd = ppi_fd_open("/dev/null", O_WRONLY, 0);
  if (fd < 0) return false;
  pprof_status status = count_into(fd, salvage, out);
  close(fd);
  return status == PPROF_STATUS_OK;
}

// A damaged spool, or one of another build, is not read.
static bool give_up(ppi_reclaim *self, const leftover *left) {
  ppi_salvage *salvage = NULL;
  struct stat stat;
  uint64_t records = 0;
  bool claimed = true, counted = false;
  pprof_status status = ppi_salvage_open(left->path, &salvage, NULL);
  if (status == PPROF_STATUS_OK) {
    claimed = ppi_salvage_claim(salvage);
    counted = claimed && count_records(salvage, &records);
  } else {
    claimed = ppi_salvage_is_left(left->path, &stat);
  }
  bool gone = claimed && unlink(left->path) == 0;
  ppi_salvage_close(salvage);
  if (!gone) return false;
  self->counts.num_given_up++;
  self->counts.bytes += left->bytes;
  self->counts.records += records;
  self->counts.num_unread += !counted;
  return true;
}

// Whether the spool takes no memory any more, or is not ours.
static bool is_settled(ppi_reclaim *self, const leftover *left) {
  ppi_recover_result result;
  pprof_status status = ppi_recover_in_place(left->path, &result);
  if (status == PPROF_STATUS_BUSY) return true;
  if (status == PPROF_STATUS_OK && access(left->path, F_OK) != 0) {
    if (result.already_whole)
      self->counts.num_removed++;
    else
      self->counts.num_recovered++;
    return true;
  }
  if (self->bytes > self->bound && give_up(self, left)) return true;
  self->counts.num_left++;
  return false;
}

// ---- the thread ----

static void become_calm(ppi_reclaim *self) {
  pthread_mutex_lock(&self->mutex);
  bool first = !self->calm;
  self->calm = true;
  pthread_cond_broadcast(&self->progress);
  pthread_mutex_unlock(&self->mutex);
  if (first) setpriority(PRIO_PROCESS, ppi_thread_id(), NICE);
}

static void visit_folder(ppi_reclaim *self, const char *folder, bool last) {
  struct statvfs file_system;
  self->bound = self->options.limit_bytes;
  // A file system without a size has no limit.
  if (statvfs(folder, &file_system) == 0 && file_system.f_blocks)
    self->bound = PPI_MIN(
        self->bound, (uint64_t)file_system.f_blocks * file_system.f_frsize / 8);
  look_into(folder, add_spool, self);
  if (self->num) qsort(self->spools, self->num, sizeof *self->spools, by_age);
  for (size_t i = 0; i < self->num && !is_stopped(self); i++) {
    if (last && self->bytes <= self->bound) become_calm(self);
    const leftover *left = &self->spools[i];
    if (is_settled(self, left)) self->bytes -= left->bytes;
  }
  clear_list(self);
}

static void write_text(char *out, size_t size, const reclaim_counts *counts) {
  char given_up[160] = "";
  char unread[48] = "";
  if (counts->num_unread)
    snprintf(unread, sizeof unread, ", those of %" PRIu64 " unknown",
             counts->num_unread);
  if (counts->num_given_up)
    snprintf(given_up, sizeof given_up,
             ", %" PRIu64 " given up (%" PRIu64 " KiB, %" PRIu64 " records%s)",
             counts->num_given_up, counts->bytes >> 10, counts->records,
             unread);
  snprintf(out, size,
           "spools of dead processes: %" PRIu64 " recovered, %" PRIu64
           " removed%s, %" PRIu64 " left",
           counts->num_recovered, counts->num_removed, given_up,
           counts->num_left);
}

static void destroy(ppi_reclaim *self) {
  pthread_cond_destroy(&self->progress);
  pthread_mutex_destroy(&self->mutex);
  ppi_free(self);
}

static void *run(void *argument) {
  ppi_reclaim *self = argument;
  // The program cannot close descriptors opened here, and its children do not
  // get them.
  self->own_table = ppi_fd_own_table(-1);
  for (size_t i = 0; i < self->num_folders; i++)
    visit_folder(self, self->folders[i], i + 1 == self->num_folders);
  const reclaim_counts *counts = &self->counts;
  pthread_mutex_lock(&self->mutex);
  self->is_news =
      counts->num_recovered || counts->num_removed || counts->num_given_up;
  write_text(self->text, sizeof self->text, counts);
  bool abandoned = self->abandoned;
  if (self->is_news && !abandoned)
    self->options.reported(self->options.user, self->text);
  self->calm = self->ended = true;
  pthread_cond_broadcast(&self->progress);
  pthread_mutex_unlock(&self->mutex);
  if (abandoned) destroy(self);
  return NULL;
}

// ---- the owner ----

// The program may change its folder, and its environment, at any time.
static void find_folders(ppi_reclaim *self, const char *folder) {
  const char *by_default[2];
  size_t num = folder ? 1 : ppi_spool_folders(by_default);
  for (size_t i = 0; i < num; i++)
    if (realpath(folder ? folder : by_default[i],
                 self->folders[self->num_folders]))
      self->num_folders++;
}

static ppi_reclaim *create(const ppi_reclaim_options *options) {
  ppi_reclaim *self = ppi_alloc(sizeof *self);
  if (!self) return NULL;
  ppi_wait_init(&self->progress);
  pthread_mutex_init(&self->mutex, NULL);
  self->options = *options;
  find_folders(self, options->folder);
  return self;
}

// Writes `*what` under the mutex.
static void wait_for(ppi_reclaim *self, const bool *what, uint64_t wait_ms) {
  uint64_t end_ns = ppi_monotonic_ns() + wait_ms * 1000000;
  while (!*what && ppi_wait_until(&self->progress, &self->mutex, end_ns)) {
  }
}

ppi_reclaim *ppi_reclaim_start(const ppi_reclaim_options *options) {
  ppi_reclaim *self = create(options);
  if (!self) return NULL;
  if (!is_any_there(self) ||
      ppi_start_thread(&self->thread, "pprof-reclaim", run, self) != 0) {
    destroy(self);
    return NULL;
  }
  pthread_mutex_lock(&self->mutex);
  wait_for(self, &self->calm, CALM_WAIT_MS);
  pthread_mutex_unlock(&self->mutex);
  return self;
}

bool ppi_reclaim_news(ppi_reclaim *self, char *out, size_t size) {
  if (!self) return false;
  pthread_mutex_lock(&self->mutex);
  bool is_news = self->ended && self->is_news;
  if (is_news) snprintf(out, size, "%s", self->text);
  self->is_news = self->is_news && !is_news;
  pthread_mutex_unlock(&self->mutex);
  return is_news;
}

void ppi_reclaim_finish(ppi_reclaim *self, uint64_t wait_ms) {
  if (!self) return;
  pthread_mutex_lock(&self->mutex);
  self->stop = true;
  wait_for(self, &self->ended, wait_ms);
  pthread_mutex_unlock(&self->mutex);
}

void ppi_reclaim_destroy(ppi_reclaim *self) {
  if (!self) return;
  pthread_mutex_lock(&self->mutex);
  self->stop = self->abandoned = true;
  bool ended = self->ended;
  pthread_t thread = self->thread;
  pthread_mutex_unlock(&self->mutex);
  if (!ended) {
    pthread_detach(thread);
    return;
  }
  pthread_join(thread, NULL);
  destroy(self);
}
