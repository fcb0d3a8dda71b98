// SPDX-License-Identifier: Apache-2.0
//
// Runs the I/O thread. It copies a block out of the ring before writing it: if
// its writer gives up on it meanwhile, the ring's memory may go away.
#include "log/write/log_io.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/start_thread.h"
#include "base/wait.h"
#include "log/format/lane_high_water.h"
#include "log/write/rotate.h"

enum { LAST_WORDS_BYTES = 64 * 1024, RESERVE_BYTES = 512 * 1024 };

struct ppi_log_io {
  pthread_mutex_t mutex;  // guards all but part, copy and header
  pthread_cond_t work, progress;
  pthread_t thread;
  ppi_part part;
  bool own_table;  // only this thread can close it, in its own table
  ppi_staging *staging;
  bool started, stop, abandoned, ended;
  ppi_log_io_state state;
  ppi_lane_high_water kept;  // of written blocks
  uint32_t keep;
  ppi_disk *disk;
  uint8_t *copy;
  ppi_buffer words;  // the last ones
  off_t end;         // end of the whole blocks; -1: no regular file
  off_t reserved;    // end of the room from the file system
  bool reserves;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
};

int ppi_write_all(int fd, const void *bytes, size_t len) {
  const uint8_t *at = bytes;
  int times = 0;
  while (len > 0) {
    ssize_t written = write(fd, at, len);
    if (written < 0 && ppi_fd_interrupted(&times)) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    at += written;
    len -= (size_t)written;
  }
  return 0;
}

static void destroy(ppi_log_io *io) {
  ppi_part_clear(&io->part, false);
  pthread_cond_destroy(&io->work);
  pthread_cond_destroy(&io->progress);
  pthread_mutex_destroy(&io->mutex);
  ppi_disk_destroy(io->disk);
  ppi_lane_high_water_clear(&io->kept);
  ppi_free(io->copy);
  ppi_buffer_clear(&io->words);
  ppi_free(io);
}

// Waits for a block and copies it; false: the thread has to end.
static bool take_block(ppi_log_io *io, uint32_t *out_len) {
  const void *bytes = NULL;
  uint64_t number;
  pthread_mutex_lock(&io->mutex);
  bool found = false;
  while (!io->abandoned && !io->state.error) {
    found = ppi_staging_peek(io->staging, &bytes, out_len, &number);
    if (found || io->stop) break;
    pthread_cond_wait(&io->work, &io->mutex);
  }
  if (found && *out_len > PPI_LOG_MAX_BLOCK) {
    io->state.error = EIO;
    found = false;
  }
  if (found) memcpy(io->copy, bytes, *out_len);
  pthread_mutex_unlock(&io->mutex);
  return found;
}

static int hold(ppi_log_io *io) {
  return io->own_table ? 0 : ppi_part_hold(&io->part);
}

// Cuts off a partly written block and unused room, so that the next block
// follows the last whole one.
static void cut_back(ppi_log_io *io) {
  if (hold(io) || io->end < 0 || ftruncate(io->part.fd, io->end) != 0) return;
  lseek(io->part.fd, io->end, SEEK_SET);
}

static bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

static int give_room(const ppi_log_io *io, off_t end) {
  return ppi_fd_reserve(io->part.fd, (uint64_t)io->end,
                        (uint64_t)(end - io->end));
}

// Reserves room for a block and for last words after it: a full disk is noticed
// while these still fit. Most file systems can do that.
static int reserve(ppi_log_io *io, uint32_t len) {
  struct rlimit most;
  off_t need = io->end + (off_t)len + LAST_WORDS_BYTES;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < (rlim_t)need)
    return EFBIG;
  if (!io->reserves || need <= io->reserved) return 0;
  off_t wanted = need + RESERVE_BYTES;
  int error = most.rlim_cur < (rlim_t)wanted ? EFBIG : give_room(io, wanted);
  if (is_full(error)) error = give_room(io, wanted = need);
  io->reserves = !error || is_full(error);
  if (!error) io->reserved = wanted;
  return is_full(error) ? error : 0;
}

static int try_write(ppi_log_io *io, uint32_t len) {
  struct stat stat;
  int error = hold(io);
  if (!error && io->end >= 0) {
    // Nobody can find a file without a name.
    if (fstat(io->part.fd, &stat) == 0 && stat.st_nlink == 0) return ENOENT;
    error = reserve(io, len);
  }
  if (!error) error = ppi_write_all(io->part.fd, io->copy, len);
  if (error)
    cut_back(io);
  else if (io->end >= 0)
    io->end += (off_t)len;
  return error;
}

// The program may close the number between this check and the use.
static int write_block(ppi_log_io *io, uint32_t len) {
  enum { TRIES = 3 };
  int error = EBADF;
  for (int i = 0; error == EBADF && i < TRIES; i++) error = try_write(io, len);
  return error;
}

static void note_written(ppi_log_io *io, uint32_t len, int error) {
  pthread_mutex_lock(&io->mutex);
  if (error) {
    io->state.error = error;
  } else {
    io->state.num_written++;
    io->state.num_bytes += len;
    if (len) ppi_lane_high_water_raise_block(&io->kept, io->copy);
    if (!io->abandoned) ppi_staging_release(io->staging);
  }
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

// ---- segments ----

static bool begins_segment(const ppi_log_io *io, uint32_t len) {
  ppi_log_header header;
  return io->state.num_written > 0 && len >= PPI_LOG_HEADER_SIZE &&
         ppi_log_header_load(io->copy, &header) &&
         header.type == PPI_LOG_INFO && header.number == 0;
}

// The file of the next segment, locked, with its header, under a name of its
// own.
static int open_next(const ppi_log_io *io, const char *path, int *out_fd) {
  int fd = ppi_part_create(path);
  if (fd < 0) return errno;
  int error = ppi_part_is_buffered(fd) ? EBUSY : 0;
  if (!error && ftruncate(fd, 0) != 0) error = errno;
  if (!error) error = ppi_write_all(fd, io->header, sizeof io->header);
  if (error) {
    if (error != EBUSY) unlink(path);
    close(fd);
  } else {
    *out_fd = fd;
  }
  return error;
}

static void remove_oldest(const ppi_log_io *io) {
  if (io->keep == 0 || io->state.segment < io->keep) return;
  const ppi_path path =
      ppi_segment_path(io->part.path.text, io->state.segment - io->keep + 1);
  ppi_log_remove_own(path.text, (const char *)io->header + 16);
  ppi_disk_forget(io->disk, path.text);
}

// The .part's name is never free for another process.
static int swap_files(ppi_log_io *io, ppi_path *done, const char *next) {
  int fd = -1;
  // Checked by its name, so before the name changes.
  int error = hold(io);
  if (!error) error = open_next(io, next, &fd);
  if (error) return error;
  // A file under its final name is not changed any more.
  cut_back(io);
  error = ppi_part_settle(io->part.part_path.text, true, done);
  if (!error && rename(next, io->part.part_path.text) != 0) error = errno;
  if (error) {
    unlink(next);
    close(fd);
    return error;
  }
  error = ppi_fd_close(io->part.fd, &io->part.id);
  io->part.fd = fd;
  io->part.id = ppi_fd_id_of(fd);
  io->end = (off_t)sizeof io->header;
  io->reserved = 0;
  return error;
}

static int turn_segment(ppi_log_io *io) {
  const ppi_path wanted =
      ppi_segment_path(io->part.path.text, io->state.segment);
  const ppi_path next = ppi_path_make("%s.next", io->part.part_path.text);
  ppi_path done = wanted;
  int error = swap_files(io, &done, next.text);
  if (error) return error;
  // The writer is ahead of the file: newer segments may have got its room.
  if (!ppi_disk_knows(io->disk, wanted.text)) unlink(done.text);
  remove_oldest(io);
  pthread_mutex_lock(&io->mutex);
  io->state.segment++;
  io->state.num_aside += strcmp(done.text, wanted.text) != 0;
  pthread_mutex_unlock(&io->mutex);
  return 0;
}

static int write_blocks(ppi_log_io *io) {
  // A pipe cannot be cut.
  int error = ppi_part_hold(&io->part);
  io->end = error ? -1 : lseek(io->part.fd, 0, SEEK_CUR);
  if (!error) error = ppi_write_all(io->part.fd, io->header, sizeof io->header);
  if (error) {
    cut_back(io);
    io->end = -1;
    note_written(io, 0, error);
  }
  if (io->end >= 0) io->end += (off_t)sizeof io->header;
  uint32_t len;
  while (!error && take_block(io, &len)) {
    ppi_disk_sweep(io->disk);
    if (begins_segment(io, len)) error = turn_segment(io);
    if (!error) error = write_block(io, len);
    note_written(io, len, error);
  }
  return error;
}

// A disk that failed may still take this.
static void write_last_words(ppi_log_io *io) {
  pthread_mutex_lock(&io->mutex);
  while (!io->stop && !io->abandoned) pthread_cond_wait(&io->work, &io->mutex);
  bool has_words = !io->abandoned && io->words.len > 0;
  pthread_mutex_unlock(&io->mutex);
  if (has_words && io->end > 0 && hold(io) == 0 &&
      ppi_write_all(io->part.fd, io->words.data, io->words.len) == 0)
    io->end += (off_t)io->words.len;
}

static void note_start(ppi_log_io *io) {
  pthread_mutex_lock(&io->mutex);
  io->started = true;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

static void *run(void *argument) {
  ppi_log_io *io = argument;
  io->own_table = ppi_part_own_table(&io->part);
  note_start(io);
  if (write_blocks(io)) write_last_words(io);
  cut_back(io);
  // A network file system may report a failed write here.
  int closed = io->part.fd < 0 ? 0 : ppi_fd_close(io->part.fd, &io->part.id);
  io->part.fd = -1;
  pthread_mutex_lock(&io->mutex);
  if (!io->state.error) io->state.error = closed;
  io->ended = true;
  bool abandoned = io->abandoned;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
  if (abandoned) destroy(io);
  return NULL;
}

static void wait_for_start(ppi_log_io *io) {
  pthread_mutex_lock(&io->mutex);
  while (!io->started) pthread_cond_wait(&io->progress, &io->mutex);
  pthread_mutex_unlock(&io->mutex);
}

pprof_status ppi_log_io_start(ppi_part *part, const ppi_log_io_files *files,
                              ppi_staging *staging, const uint8_t *header,
                              ppi_log_io **out) {
  ppi_log_io *io = ppi_alloc(sizeof *io);
  if (!io) return PPROF_STATUS_NO_MEMORY;
  pthread_cond_init(&io->work, NULL);
  ppi_wait_init(&io->progress);
  pthread_mutex_init(&io->mutex, NULL);
  io->part = *part;
  io->staging = staging;
  memcpy(io->header, header, sizeof io->header);
  io->keep = files->keep;
  io->disk = ppi_disk_ref(files->disk);
  io->state.segment = 1;
  io->reserves = true;
  io->copy = ppi_alloc(PPI_LOG_MAX_BLOCK);
  if (!io->copy || ppi_start_thread(&io->thread, "pprof-log", run, io) != 0) {
    io->part.fd = -1;  // still owned by the caller
    destroy(io);
    return PPROF_STATUS_NO_MEMORY;
  }
  wait_for_start(io);
  // The thread's own table has a copy, and with it the lock.
  if (io->own_table) ppi_fd_close(part->fd, &part->id);
  part->fd = -1;
  *out = io;
  return PPROF_STATUS_OK;
}

void ppi_log_io_wake(ppi_log_io *io) {
  pthread_mutex_lock(&io->mutex);
  pthread_cond_signal(&io->work);
  pthread_mutex_unlock(&io->mutex);
}

ppi_log_io_state ppi_log_io_look(ppi_log_io *io) {
  pthread_mutex_lock(&io->mutex);
  ppi_log_io_state state = io->state;
  pthread_mutex_unlock(&io->mutex);
  return state;
}

uint64_t ppi_log_io_kept(ppi_log_io *io, uint32_t lane) {
  pthread_mutex_lock(&io->mutex);
  uint64_t kept = ppi_lane_high_water_of(&io->kept, lane);
  pthread_mutex_unlock(&io->mutex);
  return kept;
}

bool ppi_log_io_wait(ppi_log_io *io, uint64_t num_written,
                     uint64_t deadline_ns) {
  bool waits = true;
  pthread_mutex_lock(&io->mutex);
  while (io->state.num_written <= num_written && !io->state.error && waits)
    waits = ppi_wait_until(&io->progress, &io->mutex, deadline_ns);
  bool progress = io->state.num_written > num_written || io->state.error;
  pthread_mutex_unlock(&io->mutex);
  return progress;
}

void ppi_log_io_last_words(ppi_log_io *io, const ppi_buffer *words) {
  pthread_mutex_lock(&io->mutex);
  ppi_buffer_bytes(&io->words, words->data, words->len);
  if (io->words.failed) ppi_buffer_clear(&io->words);
  pthread_mutex_unlock(&io->mutex);
}

int ppi_log_io_finish(ppi_log_io *io, uint64_t deadline_ns,
                      ppi_log_io_state *out) {
  bool waits = true;
  pthread_mutex_lock(&io->mutex);
  io->stop = true;
  pthread_cond_signal(&io->work);
  while (!io->ended && waits)
    waits = ppi_wait_until(&io->progress, &io->mutex, deadline_ns);
  bool ended = io->ended;
  int error = io->state.error;
  *out = io->state;
  if (!ended) {
    io->abandoned = true;
    pthread_detach(io->thread);
  }
  pthread_mutex_unlock(&io->mutex);
  if (!ended) return error ? error : ETIMEDOUT;
  pthread_join(io->thread, NULL);
  destroy(io);
  return error;
}
