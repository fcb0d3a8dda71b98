// SPDX-License-Identifier: Apache-2.0
//
// Walks over a log's runs and blocks. It reads a piece of the file at a time.
// Bytes outside whole blocks are skipped up to the next block or run header,
// and counted.
#include "log/format/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "file/buffer.h"
#include "file/codec_fast.h"

enum {
  BUFFER_SIZE = 4 * PPI_LOG_MAX_BLOCK,
  HEADER_BYTES = 512  // bytes read if only a header is wanted
};

typedef enum walk_place { PLACE_NOTHING, PLACE_BLOCK, PLACE_RUN } walk_place;

struct ppi_log_file {
  int fd;
  uint64_t size;    // the file's size at the last check
  uint64_t offset;  // of the next block; at a run's end, of the next run
  uint64_t buffer_offset;
  size_t buffer_len;
  bool buffer_ends;  // the file has no more
  bool skims;
  uint8_t *buffer;
  ppi_log_run *runs;
  walk_place place;       // what is at `offset` when a run ends
  uint32_t num_runs;      // begun
  const uint64_t *stops;  // the next offsets of the walk, then stops_end
  size_t num_stops;       // left
  uint64_t stops_end;     // 0: a plain walk
  // The current run of the walk.
  uint64_t run_offset;
  ppi_log_damage damage;
  bool bad_tail;         // unreadable bytes end at `offset`
  uint64_t next_number;  // expected
  uint32_t first_crc;    // of block 0's header; 0: not read
  uint32_t last_crc;     // of the latest block's header
  bool complete;         // its totals were the last block
  bool ended, whole_header;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  char uuid[PPI_LOG_UUID_LEN + 1];
};

// Answers up to `need` bytes at `offset`; fewer only at the file's end.
static const uint8_t *load(ppi_log_file *file, uint64_t offset, size_t need,
                           size_t *out_len) {
  bool inside = offset >= file->buffer_offset &&
                offset - file->buffer_offset <= file->buffer_len &&
                (file->buffer_ends ||
                 file->buffer_len - (offset - file->buffer_offset) >= need);
  if (!inside) {
    file->buffer_offset = offset;
    file->buffer_len = 0;
    file->buffer_ends = false;
    size_t wanted =
        file->skims ? PPI_MAX(need, (size_t)HEADER_BYTES) : BUFFER_SIZE;
    int times = 0;
    while (file->buffer_len < wanted) {
      ssize_t got =
          pread(file->fd, file->buffer + file->buffer_len,
                wanted - file->buffer_len, (off_t)(offset + file->buffer_len));
      if (got < 0 && ppi_fd_interrupted(&times)) continue;
      file->buffer_ends = got <= 0;
      if (got <= 0) break;
      file->buffer_len += (size_t)got;
    }
  }
  size_t at = (size_t)(offset - file->buffer_offset);
  *out_len = PPI_MIN(need, file->buffer_len - at);
  return file->buffer + at;
}

static void load_runs(ppi_log_file *file, const uint8_t *bytes,
                      uint32_t num_runs) {
  for (uint32_t i = 0; i < num_runs; i++)
    ppi_log_run_load(bytes + PPI_LOG_HEADER_SIZE + (size_t)i * PPI_LOG_RUN_SIZE,
                     &file->runs[i]);
}

// A log grows while it is being written.
static bool is_in_file(ppi_log_file *file, uint64_t end) {
  struct stat stat;
  if (end > file->size && fstat(file->fd, &stat) == 0 && stat.st_size > 0)
    file->size = (uint64_t)stat.st_size;
  return end <= file->size;
}

// For skipped events, it is enough that the file has all of their bytes.
static bool skims_events(ppi_log_file *file, uint64_t offset,
                         const ppi_log_header *header) {
  return (header->type == PPI_LOG_EVENTS ||
          header->type == PPI_LOG_CHECKPOINT) &&
         is_in_file(file, offset + ppi_log_block_size(header));
}

// A block with valid header and runs, completely in the file.
static bool block_at(ppi_log_file *file, uint64_t offset, ppi_log_block *out) {
  size_t len;
  size_t first = file->skims ? PPI_LOG_HEADER_SIZE : PPI_LOG_MAX_BLOCK;
  const uint8_t *bytes = load(file, offset, first, &len);
  if (len < PPI_LOG_HEADER_SIZE || !ppi_log_header_load(bytes, &out->header))
    return false;
  size_t runs_end = ppi_log_runs_end(&out->header);
  bool skimmed = file->skims && skims_events(file, offset, &out->header);
  size_t need = skimmed ? runs_end : ppi_log_block_size(&out->header);
  // A false header costs no more than itself.
  bytes = load(file, offset, runs_end, &len);
  if (len < runs_end || !ppi_log_header_is_whole(bytes, runs_end)) return false;
  bytes = load(file, offset, need, &len);
  if (len < need || !ppi_log_header_is_whole(bytes, runs_end)) return false;
  load_runs(file, bytes, out->header.num_runs);
  out->offset = offset;
  out->size = ppi_log_block_size(&out->header);
  out->runs = file->runs;
  out->bytes = bytes;
  out->stored = skimmed ? NULL : bytes + runs_end;
  out->ok = skimmed || ppi_fast_crc32(0, out->stored, out->header.stored_len) ==
                           out->header.payload_crc;
  return true;
}

void ppi_log_file_skim(ppi_log_file *file) {
  file->skims = true;
}

static void count_damage(ppi_log_file *file, uint64_t from, uint64_t to) {
  if (from == to) return;
  // With a reader ahead, blocks that cannot be decoded are reported late.
  if (file->damage.num_bytes == 0 || from < file->damage.first_offset)
    file->damage.first_offset = from;
  file->damage.num_bytes += to - from;
}

// A run's header; its checksum makes it certain.
static bool header_at(ppi_log_file *file, uint64_t offset) {
  size_t len;
  const uint8_t *bytes = load(file, offset, PPI_LOG_FILE_HEADER_SIZE, &len);
  return len == PPI_LOG_FILE_HEADER_SIZE &&
         memcmp(bytes, PPI_LOG_MAGIC, 8) == 0 &&
         ppi_load32(bytes + 60) == (uint32_t)crc32(0, bytes, 60) &&
         ppi_load32(bytes + 12) == PPI_LOG_BYTE_ORDER;
}

static walk_place place_at(ppi_log_file *file, uint64_t offset,
                           ppi_log_block *out) {
  if (block_at(file, offset, out)) return PLACE_BLOCK;
  return header_at(file, offset) ? PLACE_RUN : PLACE_NOTHING;
}

// The position of either magic in `bytes`; false: it can only begin in the last
// 7 bytes. Both contain "PP", so one search finds both.
static bool find_magic(const uint8_t *bytes, size_t len, size_t *out) {
  size_t from = 0;
  const uint8_t *found;
  while ((found = memmem(bytes + from, len - from, "PP", 2))) {
    size_t at = (size_t)(found - bytes);
    *out = at - 1;
    if (at > 0 && len - at >= 3 &&
        memcmp(bytes + *out, PPI_LOG_BLOCK_MAGIC, 4) == 0)
      return true;
    *out = at;
    if (len - at >= 8 && memcmp(found, PPI_LOG_MAGIC, 8) == 0) return true;
    from = at + 1;
  }
  return false;
}

// The next block or run header at or after *offset; the file's end if there is
// none.
static walk_place find_place(ppi_log_file *file, uint64_t *offset,
                             ppi_log_block *out) {
  for (;;) {
    size_t len, at;
    const uint8_t *bytes = load(file, *offset, PPI_LOG_HEADER_SIZE, &len);
    if (len < 8) {
      *offset += len;
      return PLACE_NOTHING;
    }
    len = file->buffer_len - (size_t)(*offset - file->buffer_offset);
    if (!find_magic(bytes, len, &at)) {
      *offset += len - 7;
      continue;
    }
    *offset += at;
    walk_place place = place_at(file, *offset, out);
    if (place != PLACE_NOTHING) return place;
    ++*offset;
  }
}

// Whether a block belongs to a run without a header. Within a run only copies
// of a block repeat a number, and nothing follows the totals.
static bool begins_run(const ppi_log_file *file, const ppi_log_block *block,
                       bool after_damage) {
  uint64_t number = block->header.number;
  if (file->next_number == 0) return false;
  if (after_damage) return file->complete || number < file->next_number;
  uint32_t crc = ppi_load32(block->bytes + 4);
  if (file->complete)
    return number < file->next_number && crc != file->last_crc;
  return number == 0 && block->header.type == PPI_LOG_INFO &&
         crc != file->first_crc;
}

static void check_number(ppi_log_file *file, uint64_t number) {
  if (number > file->next_number)
    file->damage.num_missing += number - file->next_number;
  file->next_number = number + 1;
}

static void note_block(ppi_log_file *file, const ppi_log_block *block) {
  const ppi_log_header *header = &block->header;
  file->last_crc = ppi_load32(block->bytes + 4);
  if (header->number == 0) file->first_crc = file->last_crc;
  file->complete = block->ok && header->type == PPI_LOG_TOTALS &&
                   !(header->flags & PPI_LOG_MORE);
}

void ppi_log_file_jump(ppi_log_file *file, const uint64_t *offsets, size_t num,
                       uint64_t end) {
  file->stops = offsets;
  file->num_stops = num;
  file->stops_end = end;
}

bool ppi_log_file_look(ppi_log_file *file, uint64_t offset,
                       ppi_log_block *out) {
  return block_at(file, offset, out);
}

// Skipped blocks are not missing. If false stops have led the walk beyond one,
// it does not go back.
static void go_to_stop(ppi_log_file *file) {
  if (file->stops_end == 0 || file->ended) return;
  ppi_log_block block;
  for (; file->num_stops && *file->stops < file->offset; file->num_stops--)
    file->stops++;
  uint64_t stop = file->num_stops ? *file->stops++ : file->stops_end;
  if (file->num_stops)
    file->num_stops--;
  else
    file->stops_end = 0;
  if (stop < file->offset) return;
  file->offset = stop;
  if (block_at(file, file->offset, &block))
    file->next_number = PPI_MAX(file->next_number, block.header.number);
}

bool ppi_log_file_next(ppi_log_file *file, ppi_log_block *out) {
  go_to_stop(file);
  while (!file->ended) {
    uint64_t at = file->offset;
    walk_place place = place_at(file, at, out);
    if (place == PLACE_NOTHING) place = find_place(file, &at, out);
    bool after_damage = at > file->offset;
    count_damage(file, file->offset, at);
    file->offset = at;
    if (place != PLACE_BLOCK || begins_run(file, out, after_damage)) {
      file->damage.cut = after_damage || file->bad_tail;
      file->place = place;
      file->ended = true;
      break;
    }
    file->offset = at + out->size;
    file->bad_tail = !out->ok;
    if (!out->ok) count_damage(file, at, file->offset);
    // A repeated block counts once.
    if (out->header.number < file->next_number) continue;
    check_number(file, out->header.number);
    note_block(file, out);
    out->run = file->num_runs - 1;
    return true;
  }
  return false;
}

void ppi_log_file_count_bad(ppi_log_file *file, const ppi_log_block *block) {
  count_damage(file, block->offset, block->offset + block->size);
}

const ppi_log_damage *ppi_log_file_damage(const ppi_log_file *file) {
  return &file->damage;
}

void ppi_log_damage_add(ppi_log_damage *sum, const ppi_log_damage *more) {
  if (sum->num_bytes == 0) sum->first_offset = more->first_offset;
  sum->num_bytes += more->num_bytes;
  sum->num_missing += more->num_missing;
  sum->cut = more->cut;
}

uint64_t ppi_log_file_run_offset(const ppi_log_file *file) {
  return file->run_offset;
}

const uint8_t *ppi_log_file_header(const ppi_log_file *file) {
  return file->whole_header ? file->header : NULL;
}

const char *ppi_log_file_uuid(const ppi_log_file *file) {
  return file->uuid;
}

static pprof_status not_a_log(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_INVALID, "%s: not a pprof log", path);
}

// A run begins at `offset`, with or without its header.
static pprof_status start_run(ppi_log_file *file, uint64_t offset,
                              const char *path, pprof_error *error) {
  file->offset = file->run_offset = offset;
  file->num_runs++;
  file->damage = (ppi_log_damage){0, 0, 0, false};
  file->next_number = 0;
  file->first_crc = file->last_crc = 0;
  file->stops_end = 0;
  file->bad_tail = file->complete = file->ended = false;
  memset(file->uuid, 0, sizeof file->uuid);
  file->whole_header = header_at(file, offset);
  if (!file->whole_header) return PPROF_STATUS_OK;
  size_t len;
  const uint8_t *header = load(file, offset, PPI_LOG_FILE_HEADER_SIZE, &len);
  memcpy(file->header, header, PPI_LOG_FILE_HEADER_SIZE);
  file->offset += PPI_LOG_FILE_HEADER_SIZE;
  unsigned major = header[8] | (unsigned)header[9] << 8;
  unsigned minor = header[10] | (unsigned)header[11] << 8;
  if (major > PPI_LOG_MAJOR)
    return ppi_fail(error, PPROF_STATUS_VERSION,
                    "%s: log version %u.%u, this pprof reads up to %d", path,
                    major, minor, PPI_LOG_MAJOR);
  memcpy(file->uuid, header + 16, PPI_LOG_UUID_LEN);
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_file_next_run(ppi_log_file *file, const char *path,
                                   bool *out_more, pprof_error *error) {
  ppi_log_block block;
  while (ppi_log_file_next(file, &block)) continue;
  *out_more = file->place != PLACE_NOTHING;
  return *out_more ? start_run(file, file->offset, path, error)
                   : PPROF_STATUS_OK;
}

pprof_status ppi_log_file_seek_run(ppi_log_file *file, uint64_t offset,
                                   const char *path, pprof_error *error) {
  return start_run(file, offset, path, error);
}

// A damaged header costs only itself if a block follows. A cut header is the
// whole file.
static pprof_status read_header(ppi_log_file *file, const char *path,
                                pprof_error *error) {
  size_t len;
  const uint8_t *header = load(file, 0, PPI_LOG_FILE_HEADER_SIZE, &len);
  bool magic = memcmp(header, PPI_LOG_MAGIC, PPI_MIN(len, 8u)) == 0;
  if (len == 0)
    return ppi_fail(error, PPROF_STATUS_INVALID, "%s: the file is empty", path);
  ppi_log_block block;
  if (len < PPI_LOG_FILE_HEADER_SIZE
          ? !magic || len < 8
          : !magic && !block_at(file, PPI_LOG_FILE_HEADER_SIZE, &block))
    return not_a_log(path, error);
  return start_run(file, 0, path, error);
}

static pprof_status open_failed(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_IO, "%s: %s", path, strerror(errno));
}

static pprof_status open_regular(ppi_log_file *file, const char *path,
                                 pprof_error *error) {
  // NONBLOCK: opening a FIFO must not wait for a writer.
  file->fd = ppi_fd_open(path, O_RDONLY | O_NONBLOCK, 0);
  if (file->fd < 0) return open_failed(path, error);
  struct stat stat;
  if (fstat(file->fd, &stat) != 0) return open_failed(path, error);
  if (S_ISDIR(stat.st_mode))
    return ppi_fail(error, PPROF_STATUS_IO, "%s: is a folder", path);
  if (!S_ISREG(stat.st_mode)) return not_a_log(path, error);
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_file_open(const char *path, ppi_log_file **out,
                               pprof_error *error) {
  ppi_log_file *file = ppi_alloc(sizeof *file);
  if (!file) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = open_regular(file, path, error);
  if (status == PPROF_STATUS_OK) {
    file->buffer = ppi_alloc(BUFFER_SIZE);
    file->runs = ppi_alloc(PPI_LOG_MAX_RUNS * sizeof *file->runs);
    status = file->buffer && file->runs
                 ? read_header(file, path, error)
                 : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  if (status != PPROF_STATUS_OK) {
    ppi_log_file_close(file);
    return status;
  }
  *out = file;
  return PPROF_STATUS_OK;
}

void ppi_log_file_close(ppi_log_file *file) {
  if (!file) return;
  if (file->fd >= 0) close(file->fd);
  PPI_FREE_ALL(file->buffer, file->runs, file);
}

pprof_status ppi_log_damage_report(const ppi_log_damage *damage,
                                   const char *path, bool complete,
                                   pprof_error *error) {
  unsigned long long offset = damage->first_offset, bytes = damage->num_bytes;
  if (damage->num_bytes > 0)
    return ppi_fail(error, PPROF_STATUS_CORRUPT,
                    "%s@0x%llx: %s, %llu bytes unreadable", path, offset,
                    damage->cut && !complete ? "ended without stop" : "damaged",
                    bytes);
  if (damage->num_missing > 0)
    return ppi_fail(error, PPROF_STATUS_CORRUPT, "%s: %llu blocks are missing",
                    path, (unsigned long long)damage->num_missing);
  return PPROF_STATUS_OK;
}

static pprof_status scan_run(ppi_log_file *file, ppi_log_visit visit,
                             void *user) {
  pprof_status status = PPROF_STATUS_OK;
  ppi_log_block block;
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block))
    if (visit) status = visit(user, &block);
  return status;
}

pprof_status ppi_log_scan(const char *path, ppi_log_visit visit, void *user,
                          ppi_log_damage *damage, pprof_error *error) {
  ppi_log_file *file;
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  pprof_status damaged = PPROF_STATUS_OK;
  *damage = (ppi_log_damage){0, 0, 0, false};
  for (bool more = true; more && status == PPROF_STATUS_OK;) {
    status = scan_run(file, visit, user);
    if (status != PPROF_STATUS_OK) break;
    ppi_log_damage_add(damage, &file->damage);
    if (damaged == PPROF_STATUS_OK)
      damaged =
          ppi_log_damage_report(&file->damage, path, file->complete, error);
    status = ppi_log_file_next_run(file, path, &more, error);
  }
  ppi_log_file_close(file);
  return status == PPROF_STATUS_OK ? damaged : status;
}
