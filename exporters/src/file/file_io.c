// SPDX-License-Identifier: Apache-2.0
//
// Writes a file on its own thread. Pieces go through a queue to the thread and
// come back empty: memory grows to the longest queue.
#include "file/file_io.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/start_thread.h"
#include "base/wait.h"

// ---- packing ----
// The size of a packed piece; bytes that do not compress take more.
enum {
  PACKED_BYTES = PPI_FILE_PIECE + 4096,
  STORED_HEADER = 5,
  GZIP_LEVEL = 3
};

static void *zlib_alloc(voidpf opaque, uInt items, uInt size) {
  (void)opaque;
  return ppi_alloc((size_t)items * size);
}

static void zlib_free(voidpf opaque, voidpf memory) {
  (void)opaque;
  ppi_free(memory);
}

bool ppi_file_pack_open(ppi_file_pack *pack, bool gzip,
                        ppi_codec_library limit) {
  pack->gzip = gzip;
  if (!gzip) return true;
  pack->packed = ppi_alloc(PACKED_BYTES);
  if (ppi_fast_has_parts(limit)) {
    pack->igzip = ppi_fast_deflater_create(PPI_CODEC_IGZIP, 1);
    return pack->packed && pack->igzip;
  }
  pack->stream.zalloc = zlib_alloc;
  pack->stream.zfree = zlib_free;
  pack->has_stream =
      pack->packed && deflateInit2(&pack->stream, GZIP_LEVEL, Z_DEFLATED,
                                   -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  return pack->has_stream;
}

void ppi_file_pack_clear(ppi_file_pack *pack) {
  if (pack->has_stream) deflateEnd(&pack->stream);
  if (pack->igzip) ppi_fast_deflater_destroy(PPI_CODEC_IGZIP, pack->igzip);
  ppi_free(pack->packed);
  pack->packed = NULL;
  pack->igzip = NULL;
  pack->has_stream = false;
}

// Frees the bytes at once, as the file stays open for a while. A file without
// links has lost its name, perhaps to another file.
static int give_up_room(const ppi_part *part) {
  struct stat now;
  if (ftruncate(part->fd, 0) == 0 && fstat(part->fd, &now) == 0 && now.st_nlink)
    unlink(part->part_path.text);
  return PPI_FILE_OVER_LIMIT;
}

static int write_all(ppi_file_pack *pack, const void *bytes, size_t len) {
  const char *at = bytes;
  ppi_part *part = pack->part;
  int error = pack->own_table || len == 0 ? 0 : ppi_part_hold(part);
  if (error) return error;
  if (part->part_path.text[0] &&
      !ppi_disk_grow(pack->disk, part->part_path.text, len))
    return give_up_room(part);
  int times = 0;
  while (len > 0) {
    ssize_t written = write(part->fd, at, len);
    if (written < 0 && ppi_fd_interrupted(&times)) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += written;
    len -= (size_t)written;
  }
  return 0;
}

// Stores bytes unpacked, as one block of the format. Answers the length.
static size_t store(const unsigned char *bytes, size_t len,
                    unsigned char *out) {
  out[0] = 0;
  for (int i = 0; i < 2; i++) {
    out[1 + i] = (unsigned char)(len >> 8 * i);
    out[3 + i] = (unsigned char)~out[1 + i];
  }
  memcpy(out + STORED_HEADER, bytes, len);
  return len + STORED_HEADER;
}

// Deflates blocks without references to bytes before them, up to a whole byte.
static size_t deflate_part(ppi_file_pack *pack, const unsigned char *bytes,
                           size_t len) {
  if (pack->igzip) {
    size_t packed = ppi_fast_deflate_part(pack->igzip, bytes, len, pack->packed,
                                          PACKED_BYTES);
    return packed ? packed : store(bytes, len, pack->packed);
  }
  deflateReset(&pack->stream);
  pack->stream.next_in = (Bytef *)(uintptr_t)bytes;
  pack->stream.avail_in = (uInt)len;
  pack->stream.next_out = pack->packed;
  pack->stream.avail_out = PACKED_BYTES;
  deflate(&pack->stream, Z_SYNC_FLUSH);
  return PACKED_BYTES - pack->stream.avail_out;
}

static int write_part(ppi_file_pack *pack, const unsigned char *bytes,
                      size_t len) {
  pack->crc = ppi_fast_crc32(pack->crc, bytes, len);
  pack->raw_len += (uint32_t)len;
  return write_all(pack, pack->packed, deflate_part(pack, bytes, len));
}

// Writes an empty last block and the trailer of gzip.
static int write_end(ppi_file_pack *pack) {
  unsigned char end[10] = {3, 0};
  for (int i = 0; i < 4; i++) {
    end[2 + i] = (unsigned char)(pack->crc >> 8 * i);
    end[6 + i] = (unsigned char)(pack->raw_len >> 8 * i);
  }
  return write_all(pack, end, sizeof end);
}

int ppi_file_pack_write(ppi_file_pack *pack, const void *bytes, size_t len,
                        bool last) {
  static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  const unsigned char *at = bytes;
  if (!pack->gzip) return write_all(pack, bytes, len);
  int error = pack->begun ? 0 : write_all(pack, header, sizeof header);
  pack->begun = true;
  for (size_t part; len > 0 && !error; at += part, len -= part) {
    part = PPI_MIN(len, (size_t)PPI_FILE_PIECE);
    error = write_part(pack, at, part);
  }
  return last && !error ? write_end(pack) : error;
}

struct ppi_file_io {
  pthread_mutex_t mutex;  // guards all but part and pack, the thread's
  pthread_cond_t work, progress;
  pthread_t thread;
  ppi_part part;
  ppi_file_pack pack;
  ppi_file_piece *first, **end, *spare;
  size_t num, most;  // pieces that wait
  bool started, stop, whole, abandoned, ended;
  int error;
  uint64_t write_began_ns;  // of the write under way; 0: none
};

static void free_pieces(ppi_file_piece *piece) {
  while (piece) {
    ppi_file_piece *next = piece->next;
    ppi_free(piece);
    piece = next;
  }
}

static void destroy(ppi_file_io *io) {
  free_pieces(io->first);
  free_pieces(io->spare);
  ppi_file_pack_clear(&io->pack);
  ppi_disk_destroy(io->pack.disk);
  ppi_part_clear(&io->part, false);
  pthread_cond_destroy(&io->work);
  pthread_cond_destroy(&io->progress);
  pthread_mutex_destroy(&io->mutex);
  ppi_free(io);
}

// ---- the thread ----

static void note_start(ppi_file_io *io) {
  pthread_mutex_lock(&io->mutex);
  io->started = true;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

static void note_error(ppi_file_io *io, int error) {
  pthread_mutex_lock(&io->mutex);
  io->error = error;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

static ppi_file_piece *take(ppi_file_io *io) {
  pthread_mutex_lock(&io->mutex);
  while (!io->first && !io->stop) pthread_cond_wait(&io->work, &io->mutex);
  bool dropped = io->abandoned || (io->stop && !io->whole);
  ppi_file_piece *piece = dropped ? NULL : io->first;
  if (piece) {
    io->first = piece->next;
    if (!io->first) io->end = &io->first;
    io->write_began_ns = ppi_monotonic_ns();
  }
  pthread_mutex_unlock(&io->mutex);
  return piece;
}

static void give_back(ppi_file_io *io, ppi_file_piece *piece) {
  pthread_mutex_lock(&io->mutex);
  piece->next = io->spare;
  io->spare = piece;
  io->num--;
  io->write_began_ns = 0;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
}

static int write_pieces(ppi_file_io *io) {
  bool is_pipe = !io->part.part_path.text[0] && io->part.fd < 0;
  int error =
      is_pipe ? ppi_part_open_pipe(&io->part) : ppi_part_hold(&io->part);
  ppi_file_piece *piece;
  while (!error && (piece = take(io))) {
    error = ppi_file_pack_write(&io->pack, piece->bytes, piece->len, false);
    give_back(io, piece);
  }
  return error;
}

// Names the file before it is closed: the close frees its lock.
static int name_file(ppi_file_io *io) {
  int error = ppi_file_pack_write(&io->pack, "", 0, true);
  if (!error) error = ppi_part_commit(&io->part);
  if (!error && io->part.part_path.text[0])
    ppi_disk_settle(io->pack.disk, io->part.part_path.text, io->part.path.text);
  return error;
}

// A file that was removed for others may have lost its name to another run.
static void remove_file(ppi_file_io *io) {
  const char *path = io->part.part_path.text;
  if (!path[0] || !ppi_disk_knows(io->pack.disk, path)) return;
  unlink(path);
  ppi_disk_forget(io->pack.disk, path);
}

static int close_file(ppi_file_io *io) {
  int error = ppi_fd_close(io->part.fd, &io->part.id);
  io->part.fd = -1;
  return error;
}

static void *run(void *argument) {
  ppi_file_io *io = argument;
  io->pack.own_table = ppi_part_own_table(&io->part);
  note_start(io);
  int error = write_pieces(io);
  pthread_mutex_lock(&io->mutex);
  bool whole = !error && io->whole && !io->abandoned;
  pthread_mutex_unlock(&io->mutex);
  if (whole) error = name_file(io);
  if (!whole || error) remove_file(io);
  int closed = close_file(io);
  if (whole && !error) error = closed;
  if (error) note_error(io, error);
  pthread_mutex_lock(&io->mutex);
  io->ended = true;
  bool abandoned = io->abandoned;
  pthread_cond_broadcast(&io->progress);
  pthread_mutex_unlock(&io->mutex);
  if (abandoned) destroy(io);
  return NULL;
}

// ---- the caller ----

static ppi_file_io *create(bool gzip, ppi_disk *disk, uint64_t most_bytes) {
  ppi_file_io *io = ppi_alloc(sizeof *io);
  if (!io) return NULL;
  pthread_cond_init(&io->work, NULL);
  ppi_wait_init(&io->progress);
  pthread_mutex_init(&io->mutex, NULL);
  io->part.fd = -1;
  io->end = &io->first;
  io->most = (size_t)PPI_MAX(most_bytes / PPI_FILE_PIECE, (uint64_t)1);
  io->pack.part = &io->part;
  io->pack.disk = ppi_disk_ref(disk);
  if (ppi_file_pack_open(&io->pack, gzip, PPI_CODEC_IGZIP)) return io;
  destroy(io);
  return NULL;
}

pprof_status ppi_file_io_start(ppi_part *part, bool gzip, ppi_disk *disk,
                               uint64_t most_bytes, ppi_file_io **out) {
  ppi_file_io *io = create(gzip, disk, most_bytes);
  if (!io) return PPROF_STATUS_NO_MEMORY;
  io->part = *part;
  if (ppi_start_thread(&io->thread, "pprof-file", run, io) != 0) {
    io->part = (ppi_part){.fd = -1};
    destroy(io);
    return PPROF_STATUS_NO_MEMORY;
  }
  pthread_mutex_lock(&io->mutex);
  while (!io->started) pthread_cond_wait(&io->progress, &io->mutex);
  pthread_mutex_unlock(&io->mutex);
  // The thread's own table has a copy of the descriptor, and of the lock.
  if (io->pack.own_table) ppi_fd_close(part->fd, &part->id);
  *part = (ppi_part){.fd = -1};
  *out = io;
  return PPROF_STATUS_OK;
}

bool ppi_file_io_has_room(ppi_file_io *io) {
  pthread_mutex_lock(&io->mutex);
  bool room = io->num < io->most || io->error;
  pthread_mutex_unlock(&io->mutex);
  return room;
}

uint64_t ppi_file_io_deadline(ppi_file_io *io, uint64_t limit_ms) {
  pthread_mutex_lock(&io->mutex);
  uint64_t from = io->write_began_ns ? io->write_began_ns : ppi_monotonic_ns();
  pthread_mutex_unlock(&io->mutex);
  return from + limit_ms * 1000000;
}

// With the mutex; false: the deadline has come.
static bool wait_for_progress(ppi_file_io *io, uint64_t deadline_ns) {
  if (deadline_ns == PPI_FILE_FOR_EVER)
    return pthread_cond_wait(&io->progress, &io->mutex) == 0;
  return ppi_wait_until(&io->progress, &io->mutex, deadline_ns);
}

int ppi_file_io_put(ppi_file_io *io, ppi_file_piece **piece,
                    uint64_t deadline_ns) {
  pthread_mutex_lock(&io->mutex);
  bool in_time = true;
  while (deadline_ns && io->num >= io->most && !io->error && in_time)
    in_time = wait_for_progress(io, deadline_ns);
  ppi_file_piece *empty = io->spare;
  if (empty) io->spare = empty->next;
  int error = io->error ? io->error : in_time ? 0 : ETIMEDOUT;
  pthread_mutex_unlock(&io->mutex);
  if (!empty) empty = ppi_alloc(sizeof *empty);
  if (!error && !empty) error = ENOMEM;
  if (error) {
    ppi_free(empty);
    return error;
  }
  (*piece)->next = NULL;
  pthread_mutex_lock(&io->mutex);
  *io->end = *piece;
  io->end = &(*piece)->next;
  io->num++;
  pthread_cond_signal(&io->work);
  pthread_mutex_unlock(&io->mutex);
  *piece = empty;
  return 0;
}

int ppi_file_io_finish(ppi_file_io *io, bool whole, uint64_t deadline_ns) {
  pthread_mutex_lock(&io->mutex);
  io->stop = true;
  io->whole = whole;
  pthread_cond_signal(&io->work);
  bool in_time = true;
  while (!io->ended && in_time) in_time = wait_for_progress(io, deadline_ns);
  bool ended = io->ended;
  int error = io->error;
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

int ppi_file_io_write(ppi_part *part, const char *bytes, size_t len,
                      uint64_t limit_ms) {
  ppi_file_io *io = NULL;
  ppi_file_piece *piece = ppi_alloc(sizeof *piece);
  if (!piece || ppi_file_io_start(part, false, NULL, len, &io) != 0) {
    ppi_free(piece);
    return ENOMEM;
  }
  uint64_t deadline_ns = ppi_file_io_deadline(io, limit_ms);
  int error = 0;
  for (size_t left = len; left > 0 && !error;) {
    piece->len = PPI_MIN(left, (size_t)PPI_FILE_PIECE);
    memcpy(piece->bytes, bytes + len - left, piece->len);
    left -= piece->len;
    error = ppi_file_io_put(io, &piece, deadline_ns);
  }
  ppi_free(piece);
  int ended = ppi_file_io_finish(io, !error, deadline_ns);
  return error ? error : ended;
}
