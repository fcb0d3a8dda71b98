// SPDX-License-Identifier: Apache-2.0
//
// The I/O thread. It copies a block out of the ring before writing it: should
// its writer give up on it meanwhile, the ring's memory may go away.
#include "log_io.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"

struct ppi_log_io {
  pthread_mutex_t mutex;  // guards all but fd, copy and header
  pthread_cond_t work, progress;
  pthread_t thread;
  int fd;
  ppi_staging *staging;
  bool stop, abandoned, ended;
  ppi_log_io_state state;
  uint8_t *copy;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
};

uint64_t ppi_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int ppi_write_all(int fd, const void *bytes, size_t len) {
  const uint8_t *at = bytes;
  while (len > 0) {
    ssize_t written = write(fd, at, len);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    at += written;
    len -= (size_t)written;
  }
  return 0;
}

static void destroy(ppi_log_io *io) {
  if (io->fd >= 0) close(io->fd);
  pthread_cond_destroy(&io->work);
  pthread_cond_destroy(&io->progress);
  pthread_mutex_destroy(&io->mutex);
  ppi_free(io->copy);
  ppi_free(io);
}

// Waits for a block and copies it; false when the thread is to end.
static bool take_block(ppi_log_io *io, uint32_t *out_len,
                       uint64_t *out_number) {
  const void *bytes = NULL;
  pthread_mutex_lock(&io->mutex);
  bool found = false;
  while (!io->abandoned && !io->state.error) {
    found = ppi_staging_peek(io->staging, &bytes, out_len, out_number);
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

// What a failed write left of a block is cut off, so that what is in the file
// is whole.
static void cut_back(ppi_log_io *io, uint64_t num_bytes) {
  if (ftruncate(io->fd, (off_t)num_bytes) != 0) return;
}

static void note_written(ppi_log_io *io, uint32_t len, uint64_t number,
                         int error) {
  pthread_mutex_lock(&io->mutex);
  if (error) {
    io->state.error = error;
  } else {
    io->state.num_written++;
    io->state.next_number = number + 1;
    io->state.num_bytes += len;
    if (!io->abandoned) ppi_staging_release(io->staging);
  }
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

static void write_blocks(ppi_log_io *io) {
  int error = ppi_write_all(io->fd, io->header, sizeof io->header);
  uint64_t num_bytes = sizeof io->header;
  uint32_t len;
  uint64_t number;
  if (error) note_written(io, 0, 0, error);
  while (!error && take_block(io, &len, &number)) {
    error = ppi_write_all(io->fd, io->copy, len);
    if (error) cut_back(io, num_bytes);
    num_bytes += len;
    note_written(io, len, number, error);
  }
}

static void *run(void *argument) {
  ppi_log_io *io = argument;
  write_blocks(io);
  pthread_mutex_lock(&io->mutex);
  io->ended = true;
  bool abandoned = io->abandoned;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
  if (abandoned) destroy(io);
  return NULL;
}

// The thread inherits the mask: no handler of the application runs on it.
static int start_blocked(ppi_log_io *io) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&io->thread, NULL, run, io);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_setname_np(io->thread, "pprof-log");
  return error;
}

pprof_status ppi_log_io_start(int fd, ppi_staging *staging,
                              const uint8_t *header, ppi_log_io **out) {
  ppi_log_io *io = ppi_alloc(sizeof *io);
  if (!io) return PPROF_STATUS_NO_MEMORY;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&io->work, NULL);
  pthread_cond_init(&io->progress, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&io->mutex, NULL);
  io->fd = fd;
  io->staging = staging;
  memcpy(io->header, header, sizeof io->header);
  io->copy = ppi_alloc(PPI_LOG_MAX_BLOCK);
  if (!io->copy || start_blocked(io) != 0) {
    io->fd = -1;  // still the caller's
    destroy(io);
    return PPROF_STATUS_NO_MEMORY;
  }
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

static struct timespec timespec_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                           .tv_nsec = (long)(ns % 1000000000u)};
}

bool ppi_log_io_wait(ppi_log_io *io, uint64_t num_written,
                     uint64_t deadline_ns) {
  struct timespec until = timespec_of(deadline_ns);
  int waited = 0;
  pthread_mutex_lock(&io->mutex);
  while (io->state.num_written <= num_written && !io->state.error &&
         waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&io->progress, &io->mutex, &until);
  bool progress = io->state.num_written > num_written || io->state.error;
  pthread_mutex_unlock(&io->mutex);
  return progress;
}

int ppi_log_io_finish(ppi_log_io *io, uint64_t deadline_ns,
                      ppi_log_io_state *out) {
  struct timespec until = timespec_of(deadline_ns);
  int waited = 0;
  pthread_mutex_lock(&io->mutex);
  io->stop = true;
  pthread_cond_signal(&io->work);
  while (!io->ended && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&io->progress, &io->mutex, &until);
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
  // A network file system may report here what it could not write.
  if (close(io->fd) != 0 && !error) error = errno;
  io->fd = -1;
  destroy(io);
  return error;
}
