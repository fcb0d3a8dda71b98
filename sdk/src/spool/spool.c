// SPDX-License-Identifier: Apache-2.0
//
// Makes, grows and removes the spool.
#include "spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/random.h"
#include "spool/spool_limit.h"

// A ring shorter than this holds too few blocks; a pool smaller than that too
// few lanes.
#define RING_MIN_CHUNKS 4u
#define POOL_MIN_CHUNKS 16u

// The pool's chunks that have memory from the start: for names, lanes, the
// table of ranges and its slots, and one more. Chunks kept ready, without and
// with other users of the room, and chunks allocated at a time.
#define FIRST_CHUNKS 5u
#define READY_CHUNKS 4u
#define READY_TIGHT_CHUNKS 64u
#define PART_CHUNKS 16u
// First chunks of the staging ring.
#define STAGING_FIRST_MIN 2u
#define STAGING_FIRST_MAX 16u

// The missing memory of the session's spool, in words; the collector's.
static char want[128];

// The one reserved address range, reused by each session, so that a late
// writer's lane address stays valid for the life of the process.
static struct {
  pthread_mutex_t mutex;
  uint8_t *base;
  uint64_t size;
} reserved = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

void ppi_spool_in_forked_child(void) {
  pthread_mutex_init(&reserved.mutex, NULL);
}

static uint8_t *reserve_range(uint64_t size) {
  pthread_mutex_lock(&reserved.mutex);
  if (reserved.size < size) {
    void *range = mmap(NULL, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    reserved.base = range == MAP_FAILED ? NULL : range;
    reserved.size = range == MAP_FAILED ? 0 : size;
  }
  uint8_t *base = reserved.base;
  pthread_mutex_unlock(&reserved.mutex);
  return base;
}

static void abandon_range(void) {
  pthread_mutex_lock(&reserved.mutex);
  reserved.base = NULL;
  reserved.size = 0;
  pthread_mutex_unlock(&reserved.mutex);
}

static bool map_over(ppi_spool *spool, int fd) {
  int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  void *memory =
      mmap(spool->base, spool->size, PROT_READ | PROT_WRITE, flags, fd, 0);
  return memory != MAP_FAILED;
}

static bool is_memory_backed(const struct statfs *stat) {
  return stat->f_type == TMPFS_MAGIC || stat->f_type == RAMFS_MAGIC;
}

static bool give_reason(ppi_spool *spool, const char *what, const char *dir) {
  snprintf(spool->not_crash_safe, sizeof spool->not_crash_safe, "%s %.300s",
           what, dir);
  return false;
}

// In whole chunks.
static uint32_t staging_all(uint32_t num_chunks) {
  return PPI_MAX(num_chunks / 8, 4u);
}

// Of a spool that may have `most` chunks.
static uint32_t staging_first(uint32_t num_chunks, uint64_t most) {
  uint32_t share = (uint32_t)PPI_MIN(PPI_MAX(most / 64, STAGING_FIRST_MIN),
                                     STAGING_FIRST_MAX);
  return PPI_MIN(share, staging_all(num_chunks));
}

// A file that was cut stays cut: extended again with zeros, it would pass for a
// spool.
static int allocate(const ppi_spool *spool, uint32_t from, uint32_t to) {
  off_t at = (off_t)from * PPI_CHUNK_SIZE;
  off_t size = (off_t)(to - from) * PPI_CHUNK_SIZE;
  int error = ppi_fd_reserve(spool->fd, (uint64_t)at, (uint64_t)size);
  return error == EOPNOTSUPP ? posix_fallocate(spool->fd, at, size) : error;
}

// Memory is allocated before the first write: on a sparse file a full tmpfs
// would answer with SIGBUS inside a marker. A file above the limit of file
// sizes would end the program with SIGXFSZ.
static bool allocate_file(ppi_spool *spool, const char *dir) {
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < spool->size)
    return give_reason(spool, "ulimit -f forbids so large a file in", dir);
  uint32_t pool = 1 + staging_all((uint32_t)(spool->size / PPI_CHUNK_SIZE));
  int error = ftruncate(spool->fd, (off_t)spool->size) == 0 ? 0 : errno;
  if (!error) error = allocate(spool, 0, 1 + spool->staging_chunks);
  if (!error) error = allocate(spool, pool, pool + FIRST_CHUNKS);
  if (error) {
    snprintf(spool->not_crash_safe, sizeof spool->not_crash_safe,
             "no room for %llu KiB in %.280s: %s",
             (unsigned long long)(ppi_spool_bytes(spool) >> 10), dir,
             strerror(error));
    return false;
  }
  return true;
}

// Opens a file without a name, where the system has such files: a process that
// dies while it makes its spool then leaves nothing.
static bool open_file(ppi_spool *spool, const char *dir, bool unnamed) {
  snprintf(spool->path, sizeof spool->path, "%.400s/pprof-%016llx.spool", dir,
           (unsigned long long)ppi_random64());
  spool->fd = unnamed
                  ? ppi_fd_open(dir, O_TMPFILE | O_RDWR, 0600)
                  : ppi_fd_open(spool->path,
                                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  spool->fd_id = ppi_fd_id_of(spool->fd);
  return spool->fd >= 0;
}

// Locked before it is filled: a process that finds it then knows that its owner
// lives.
static bool lock(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &whole) == 0;
}

static bool lock_file(ppi_spool *spool, const char *dir) {
  return lock(spool->fd) ||
         give_reason(spool, "files cannot be locked in", dir);
}

bool ppi_spool_hold(ppi_spool *spool) {
  if (spool->fd < 0 || ppi_fd_is(spool->fd, &spool->fd_id))
    return spool->fd >= 0;
  int fd = ppi_fd_open(spool->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return false;
  if (ppi_fd_is(fd, &spool->fd_id) && lock(fd)) {
    spool->fd = fd;
    return true;
  }
  close(fd);
  return false;
}

void ppi_spool_publish(ppi_spool *spool) {
  char self[64];
  if (!spool->unnamed) return;
  snprintf(self, sizeof self, "/proc/self/fd/%d", spool->fd);
  spool->unnamed = false;
  errno = EBADF;
  if (ppi_fd_is(spool->fd, &spool->fd_id) &&
      linkat(AT_FDCWD, self, AT_FDCWD, spool->path, AT_SYMLINK_FOLLOW) == 0)
    return;
  snprintf(spool->not_crash_safe, sizeof spool->not_crash_safe,
           "%.280s cannot be given its name: %s", spool->path, strerror(errno));
  spool->path[0] = 0;
  spool->header->crash_safe = 0;
}

static bool fill_file(ppi_spool *spool, const char *dir) {
  if (!lock_file(spool, dir) || !allocate_file(spool, dir)) return false;
  return map_over(spool, spool->fd) || give_reason(spool, "cannot map in", dir);
}

static bool make_file(ppi_spool *spool, const char *dir) {
  // Without /proc the file could get no name.
  spool->unnamed =
      access("/proc/self/fd", X_OK) == 0 && open_file(spool, dir, true);
  if (!spool->unnamed && !open_file(spool, dir, false))
    return give_reason(spool, "cannot write in", dir);
  if (fill_file(spool, dir)) return true;
  if (!spool->unnamed) unlink(spool->path);
  spool->unnamed = false;
  ppi_fd_close(spool->fd, &spool->fd_id);
  spool->fd = -1;
  return false;
}

// The first few chunks must fit the free part of the folder's quarter, the
// configured limit and the cgroup's.
static bool has_room(ppi_spool *spool, const char *dir) {
  ppi_spool_limit limit = ppi_spool_limit_in(dir, spool->size);
  spool->staging_chunks = staging_first(
      (uint32_t)(spool->size / PPI_CHUNK_SIZE), limit.bytes / PPI_CHUNK_SIZE);
  if (limit.bytes >= ppi_spool_bytes(spool)) return true;
  snprintf(spool->not_crash_safe, sizeof spool->not_crash_safe,
           "%.200s: a spool may have %llu KiB (%s) and needs %llu", dir,
           (unsigned long long)(limit.bytes >> 10), limit.name,
           (unsigned long long)(ppi_spool_bytes(spool) >> 10));
  return false;
}

static bool create_in(ppi_spool *spool, uint64_t size, const char *dir) {
  struct statfs stat;
  if (statfs(dir, &stat) != 0)
    return give_reason(spool, "no spool folder", dir);
  spool->size = size;
  return has_room(spool, dir) && make_file(spool, dir);
}

static bool create_by_default(ppi_spool *spool, uint64_t size) {
  const char *runtime_dir = secure_getenv("XDG_RUNTIME_DIR");
  const char *dirs[] = {"/dev/shm", runtime_dir};
  for (size_t i = 0; i < 2; i++) {
    struct statfs stat;
    if (!dirs[i] || statfs(dirs[i], &stat) != 0) continue;
    if (!is_memory_backed(&stat)) continue;
    if (create_in(spool, size, dirs[i])) return true;
  }
  if (!spool->not_crash_safe[0])
    give_reason(spool, "no memory-backed folder:", "/dev/shm is not one");
  return false;
}

static bool create_file(ppi_spool *spool, uint64_t size, const char *dir) {
  if (!dir) return create_by_default(spool, size);
  if (strcmp(dir, "memory") != 0) return create_in(spool, size, dir);
  return give_reason(spool, "the spool is set to", "memory");
}

static void look_up(ppi_spool *spool);

pprof_status ppi_spool_create(ppi_spool *spool, uint64_t limit_bytes,
                              const char *dir) {
  memset(spool, 0, sizeof *spool);
  spool->fd = -1;
  uint64_t size = limit_bytes / PPI_CHUNK_SIZE * PPI_CHUNK_SIZE;
  size = PPI_MAX(size, PPI_SPOOL_MIN_CHUNKS * (uint64_t)PPI_CHUNK_SIZE);
  spool->base = reserve_range(size);
  if (!spool->base) return PPROF_STATUS_NO_MEMORY;
  if (create_file(spool, size, dir)) {
    spool->not_crash_safe[0] = 0;
    // A forked child must not reach the parent's spool.
    madvise(spool->base, spool->size, MADV_DONTFORK);
  } else {
    spool->path[0] = 0;
    spool->size = size;
    if (!map_over(spool, -1)) return PPROF_STATUS_NO_MEMORY;
  }
  uint32_t num_chunks = (uint32_t)(spool->size / PPI_CHUNK_SIZE);
  if (!spool->staging_chunks)
    spool->staging_chunks = staging_first(num_chunks, num_chunks);
  ppi_spool_layout(spool, num_chunks);
  spool->header->num_allocated =
      PPI_MIN(spool->header->pool_first + FIRST_CHUNKS, num_chunks);
  want[0] = 0;
  look_up(spool);
  spool->grow_below = UINT32_MAX;
  return PPROF_STATUS_OK;
}

uint64_t ppi_spool_bytes(const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  uint32_t pool = FIRST_CHUNKS;
  if (header)
    pool = ppi_spool_num_allocated(header) - 1 -
           (uint32_t)(header->staging_size / PPI_CHUNK_SIZE);
  return (uint64_t)(1 + spool->staging_chunks + pool) * PPI_CHUNK_SIZE;
}

const char *ppi_spool_want(void) {
  return want[0] ? want : NULL;
}

// Set by the collector; other threads may ask for the free memory.
static void publish_room(ppi_spool *spool, uint32_t allocated, uint32_t room) {
  __atomic_store_n(&spool->room, room, __ATOMIC_RELAXED);
  __atomic_store_n(&spool->seen_allocated, allocated, __ATOMIC_RELAXED);
}

// Markers may take memory only where the folder has ample room.
static void look_up(ppi_spool *spool) {
  uint64_t taken = ppi_spool_bytes(spool);
  uint32_t allocated = ppi_spool_num_allocated(spool->header);
  uint32_t left = spool->header->num_chunks - allocated;
  ppi_spool_limit limit = ppi_spool_limit_now(
      spool->fd < 0 ? NULL : spool->path, &spool->fd_id, taken, spool->size);
  uint64_t room = limit.bytes > taken ? limit.bytes - taken : 0;
  spool->limit = limit.name;
  spool->limit_now = limit.bytes;
  spool->is_tight = limit.shared / PPI_SPOOL_AMPLE < limit.own;
  publish_room(spool, allocated,
               PPI_MIN((uint32_t)(room / PPI_CHUNK_SIZE), left));
  __atomic_store_n(&spool->most,
                   spool->is_tight ? allocated : allocated + spool->room,
                   __ATOMIC_RELAXED);
}

void ppi_spool_memory(const ppi_spool *spool, char *out, size_t size) {
  snprintf(out, size, "%.1f MiB of at most %.1f (%s)",
           (double)ppi_spool_bytes(spool) / (1 << 20),
           (double)spool->limit_now / (1 << 20), spool->limit);
}

bool ppi_spool_has_its_limit(const ppi_spool *spool) {
  return spool->limit_now >= spool->size;
}

static void refuse(ppi_spool *spool, const char *why) {
  uint64_t taken = ppi_spool_bytes(spool);
  snprintf(want, sizeof want, "%.1f of %.1f MiB, no room for more: %s",
           (double)taken / (1 << 20), (double)spool->size / (1 << 20), why);
  __atomic_store_n(&spool->refused, true, __ATOMIC_RELAXED);
  __atomic_store_n(&spool->most, ppi_spool_num_allocated(spool->header),
                   __ATOMIC_RELAXED);
}

// Markers may raise it at the same time.
static void raise_allocated(ppi_spool_header *header, uint32_t to) {
  uint32_t before = ppi_spool_num_allocated(header);
  while (before < to && !__atomic_compare_exchange_n(
                            &header->num_allocated, &before, to, false,
                            __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static int give_memory(ppi_spool *spool, uint32_t from, uint32_t to) {
  if (spool->fd < 0) return 0;
  return ppi_spool_hold(spool) ? allocate(spool, from, to) : EBADF;
}

// Other spools may grow at the same time: a sixteenth of the shared room each
// leaves room for them.
static uint32_t most_at_once(const ppi_spool *spool) {
  uint32_t most = spool->is_tight ? spool->room / 16 : spool->room;
  return PPI_MIN(most, PART_CHUNKS);
}

static bool add_part(ppi_spool *spool, uint32_t chunks) {
  look_up(spool);
  uint32_t from = spool->seen_allocated;
  if (from >= spool->header->num_chunks) return false;
  uint32_t to = from + PPI_MIN(chunks, most_at_once(spool));
  int error = from < to ? give_memory(spool, from, to) : 0;
  if (error || from == to) {
    refuse(spool, error ? strerror(error) : spool->limit);
    return false;
  }
  raise_allocated(spool->header, to);
  publish_room(spool, to, spool->room - (to - from));
  want[0] = 0;
  return true;
}

// Chunks that can be taken now.
static uint32_t num_ready(const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  uint32_t used = __atomic_load_n(&header->untouched, __ATOMIC_RELAXED);
  uint32_t num = ppi_spool_num_allocated(header);
  return num - PPI_MIN(used, num) +
         __atomic_load_n(&header->num_free, __ATOMIC_RELAXED);
}

// As many chunks as are in use, at most an eighth of the remaining room.
static uint32_t num_wanted(const ppi_spool *spool) {
  uint32_t least = spool->is_tight ? READY_TIGHT_CHUNKS : READY_CHUNKS;
  uint32_t ready = num_ready(spool);
  uint32_t all =
      ppi_spool_num_allocated(spool->header) - spool->header->pool_first;
  uint32_t used = all - PPI_MIN(all, ready);
  return PPI_MIN(PPI_MAX(least, used), PPI_MAX(spool->room / 8, READY_CHUNKS));
}

// Doubles the log writer's ring once it was full.
static void grow_staging(ppi_spool *spool) {
  ppi_staging *staging = ppi_spool_staging(spool);
  const ppi_spool_header *header = spool->header;
  uint64_t size = sizeof *staging + 2 * staging->size;
  if (staging->num_full == spool->staging_num_full ||
      size > header->staging_size)
    return;
  uint32_t wanted = (uint32_t)((size + PPI_CHUNK_SIZE - 1) / PPI_CHUNK_SIZE);
  uint32_t has = spool->staging_chunks;
  if (wanted > has) {
    look_up(spool);
    if (wanted - has > spool->room / 8 ||
        wanted > spool->limit_now / PPI_CHUNK_SIZE / 8 ||
        give_memory(spool, 1 + has, 1 + wanted) != 0) {
      spool->staging_num_full = staging->num_full;
      return;
    }
    spool->staging_chunks = wanted;
  }
  if (ppi_staging_double(staging)) spool->staging_num_full = staging->num_full;
}

void ppi_spool_grow(ppi_spool *spool) {
  if (!spool->grow_below) return;
  grow_staging(spool);
  bool has_moved =
      ppi_spool_num_allocated(spool->header) != spool->seen_allocated;
  if (spool->refused || (num_ready(spool) >= spool->grow_below && !has_moved))
    return;
  look_up(spool);
  uint32_t wanted = num_wanted(spool);
  spool->grow_below = PPI_MAX(wanted / 2, 1u);
  for (uint32_t ready; (ready = num_ready(spool)) < wanted;)
    if (!add_part(spool, wanted - ready)) break;
}

void ppi_spool_look_again(ppi_spool *spool) {
  if (!spool->grow_below) return;
  __atomic_store_n(&spool->refused, false, __ATOMIC_RELAXED);
  look_up(spool);
}

void ppi_spool_layout(ppi_spool *spool, uint32_t num_chunks) {
  ppi_spool_header *header = (ppi_spool_header *)(void *)spool->base;
  spool->header = header;
  header->version = PPI_SPOOL_VERSION;
  header->pid = (uint32_t)getpid();
  header->num_chunks = num_chunks;
  header->crash_safe = spool->fd >= 0;
  uint32_t names = PPI_MIN(PPI_MAX(num_chunks / 16, 1u), PPI_NAMES_CHUNKS);
  header->names_size = (uint64_t)names * PPI_CHUNK_SIZE;
  uint64_t next = PPI_CHUNK_SIZE;
  header->staging_offset = next;
  header->staging_size = (uint64_t)staging_all(num_chunks) * PPI_CHUNK_SIZE;
  next += header->staging_size;
  header->pool_first = (uint32_t)(next / PPI_CHUNK_SIZE);
  header->untouched = header->pool_first;
  // The ring doubles again and again, so it can fill nearly all of its area.
  uint64_t first = spool->staging_chunks * (uint64_t)PPI_CHUNK_SIZE;
  ppi_staging_init(spool->base + header->staging_offset,
                   first ? first : header->staging_size);
  // The magic comes last: a spool without it was never in use.
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(header->magic, PPI_SPOOL_MAGIC, sizeof header->magic);
}

void ppi_spool_allocate_for(ppi_spool *spool, uint32_t chunks) {
  uint32_t wanted = chunks + READY_CHUNKS;
  if (!spool->grow_below) return;
  for (uint32_t ready; (ready = num_ready(spool)) < wanted;)
    if (!add_part(spool, wanted - ready)) break;
}

bool ppi_spool_add_ring(ppi_spool *spool, uint64_t bytes) {
  ppi_spool_header *header = spool->header;
  uint64_t chunks = PPI_MIN(bytes, spool->limit_now / 2) / PPI_CHUNK_SIZE;
  uint32_t left = PPI_MIN(header->num_chunks - header->pool_first,
                          spool->room + FIRST_CHUNKS);
  if (chunks < RING_MIN_CHUNKS || left < POOL_MIN_CHUNKS) return false;
  chunks = PPI_MIN(chunks, left - POOL_MIN_CHUNKS);
  if (chunks < RING_MIN_CHUNKS) return false;
  // The ring is written before anything is allocated behind the session.
  uint32_t first = header->pool_first + (uint32_t)chunks + FIRST_CHUNKS;
  uint32_t from = ppi_spool_num_allocated(header);
  if (first > from) {
    if (give_memory(spool, from, first) != 0) return false;
    header->num_allocated = first;
  }
  header->ring_offset = (uint64_t)header->pool_first * PPI_CHUNK_SIZE;
  header->ring_size = chunks * PPI_CHUNK_SIZE;
  header->pool_first += (uint32_t)chunks;
  header->untouched = header->pool_first;
  ppi_ring *ring = (ppi_ring *)(void *)(spool->base + header->ring_offset);
  ppi_staging_init(ring + 1, header->ring_size - sizeof *ring);
  ppi_spool_staging(spool)->ring_pages =
      (uint32_t)((header->ring_offset - header->staging_offset) /
                 PPI_RING_PAGE);
  return true;
}

static void map_nothing_over(ppi_spool *spool) {
  mmap(spool->base, spool->size, PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void ppi_spool_forget(ppi_spool *spool) {
  map_nothing_over(spool);
  // Closing drops no lock of the parent's; keeping it open would hold on to
  // the file's memory.
  ppi_fd_close(spool->fd, &spool->fd_id);
  spool->fd = -1;
}

void ppi_spool_destroy(ppi_spool *spool, bool abandon) {
  if (!spool->base) return;
  if (spool->fd >= 0) unlink(spool->path);
  map_nothing_over(spool);
  ppi_fd_close(spool->fd, &spool->fd_id);
  if (abandon) abandon_range();
  // `base` stays: a thread that never left its marker may still use it.
  spool->fd = -1;
}

// Uses only limits that the collector has read before, and calls that a signal
// handler may make. Two threads may do so at once.
bool ppi_spool_add_chunk(ppi_spool *spool) {
  ppi_spool_header *header = spool->header;
  uint32_t from = ppi_spool_num_allocated(header);
  if (from >= __atomic_load_n(&spool->most, __ATOMIC_RELAXED)) return false;
  int before = errno;
  bool done = spool->fd < 0 || (ppi_fd_is(spool->fd, &spool->fd_id) &&
                                allocate(spool, from, from + 1) == 0);
  errno = before;
  if (done)
    raise_allocated(header, from + 1);
  else  // until the collector has looked
    __atomic_store_n(&spool->most, from, __ATOMIC_RELAXED);
  return done;
}

// ---- slots ----

PPI_ORDER(compare_slots, ppi_slot_order, PPI_UP(order) PPI_UP(index))

void ppi_slots_sort(ppi_slot_order *list, size_t num) {
  qsort(list, num, sizeof *list, compare_slots);
}
