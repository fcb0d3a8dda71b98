// SPDX-License-Identifier: Apache-2.0
//
// The walk over a log's blocks. Reads a piece of the file at a time; what is no
// whole block is skipped up to the next one and counted.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base_impl.h"
#include "buffer.h"
#include "log_format.h"
#include "mem.h"

enum { BUFFER_SIZE = 4 * PPI_LOG_MAX_BLOCK };

struct ppi_log_file {
  int fd;
  uint64_t offset;  // of the next block
  uint64_t buffer_offset;
  size_t buffer_len;
  bool buffer_ends;  // nothing follows in the file
  uint8_t *buffer;
  ppi_log_run *runs;
  ppi_log_damage damage;
  bool bad_tail;         // unreadable bytes end where `offset` is
  uint64_t next_number;  // expected
  bool stopped;
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
    while (file->buffer_len < BUFFER_SIZE) {
      ssize_t got = pread(file->fd, file->buffer + file->buffer_len,
                          BUFFER_SIZE - file->buffer_len,
                          (off_t)(offset + file->buffer_len));
      if (got < 0 && errno == EINTR) continue;
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

// A block whose header and runs are whole, and all of it in the file.
static bool block_at(ppi_log_file *file, uint64_t offset, ppi_log_block *out) {
  size_t len;
  const uint8_t *bytes = load(file, offset, PPI_LOG_MAX_BLOCK, &len);
  if (len < PPI_LOG_HEADER_SIZE || !ppi_log_header_load(bytes, &out->header))
    return false;
  size_t runs_end = ppi_log_runs_end(&out->header);
  if (len < ppi_log_block_size(&out->header) ||
      !ppi_log_header_is_whole(bytes, runs_end))
    return false;
  load_runs(file, bytes, out->header.num_runs);
  out->offset = offset;
  out->size = ppi_log_block_size(&out->header);
  out->runs = file->runs;
  out->bytes = bytes;
  out->stored = bytes + runs_end;
  out->ok = (uint32_t)crc32(0, out->stored, out->header.stored_len) ==
            out->header.payload_crc;
  return true;
}

static void count_damage(ppi_log_file *file, uint64_t from, uint64_t to) {
  if (from == to) return;
  if (file->damage.num_bytes == 0) file->damage.first_offset = from;
  file->damage.num_bytes += to - from;
}

// The next place at or after `offset` where a block stands; the file's end
// when there is none.
static uint64_t find_block(ppi_log_file *file, uint64_t offset,
                           ppi_log_block *out, bool *found) {
  *found = false;
  for (;;) {
    size_t len;
    const uint8_t *bytes = load(file, offset, PPI_LOG_HEADER_SIZE, &len);
    if (len < 4) return offset + len;
    len = file->buffer_len - (size_t)(offset - file->buffer_offset);
    const uint8_t *at = memmem(bytes, len, PPI_LOG_BLOCK_MAGIC, 4);
    if (!at) {
      offset += len - 3;  // a magic may begin in the last three bytes
      continue;
    }
    offset += (uint64_t)(at - bytes);
    *found = block_at(file, offset, out);
    if (*found) return offset;
    offset++;
  }
}

static void check_number(ppi_log_file *file, uint64_t number) {
  if (number > file->next_number)
    file->damage.num_missing += number - file->next_number;
  file->next_number = number + 1;
}

bool ppi_log_file_next(ppi_log_file *file, ppi_log_block *out) {
  while (!file->stopped) {
    bool found = block_at(file, file->offset, out);
    uint64_t at = file->offset;
    if (!found) at = find_block(file, file->offset, out, &found);
    count_damage(file, file->offset, at);
    if (!found) {
      file->damage.cut = at > file->offset || file->bad_tail;
      file->stopped = true;
      break;
    }
    file->offset = at + out->size;
    file->bad_tail = !out->ok;
    if (!out->ok) count_damage(file, at, file->offset);
    // A block seen before counts once.
    if (out->header.number < file->next_number) continue;
    check_number(file, out->header.number);
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

const char *ppi_log_file_uuid(const ppi_log_file *file) {
  return file->uuid;
}

static pprof_status not_a_log(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_INVALID, "%s: not a pprof log", path);
}

static pprof_status check_version(ppi_log_file *file, const uint8_t *header,
                                  const char *path, pprof_error *error) {
  unsigned major = header[8] | (unsigned)header[9] << 8;
  unsigned minor = header[10] | (unsigned)header[11] << 8;
  if (major > PPI_LOG_MAJOR)
    return ppi_fail(error, PPROF_STATUS_VERSION,
                    "%s: log version %u.%u, this pprof reads up to %d", path,
                    major, minor, PPI_LOG_MAJOR);
  memcpy(file->uuid, header + 16, PPI_LOG_UUID_LEN);
  return PPROF_STATUS_OK;
}

// A damaged header costs itself, as long as a block follows it. One that is
// cut is all there is.
static pprof_status read_header(ppi_log_file *file, const char *path,
                                pprof_error *error) {
  size_t len;
  const uint8_t *header = load(file, 0, PPI_LOG_FILE_HEADER_SIZE, &len);
  bool magic = memcmp(header, PPI_LOG_MAGIC, PPI_MIN(len, 8u)) == 0;
  if (len == 0)
    return ppi_fail(error, PPROF_STATUS_INVALID, "%s: the file is empty", path);
  if (len < PPI_LOG_FILE_HEADER_SIZE)
    return magic && len >= 8 ? PPROF_STATUS_OK : not_a_log(path, error);
  bool whole = ppi_load32(header + 60) == (uint32_t)crc32(0, header, 60) &&
               ppi_load32(header + 12) == PPI_LOG_BYTE_ORDER;
  if (magic && whole) {
    file->offset = PPI_LOG_FILE_HEADER_SIZE;
    return check_version(file, header, path, error);
  }
  ppi_log_block block;
  if (!magic && !block_at(file, PPI_LOG_FILE_HEADER_SIZE, &block))
    return not_a_log(path, error);
  return PPROF_STATUS_OK;
}

static pprof_status open_failed(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_IO, "%s: %s", path, strerror(errno));
}

static pprof_status open_regular(ppi_log_file *file, const char *path,
                                 pprof_error *error) {
  // NONBLOCK: opening a FIFO must not wait for a writer.
  file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
  ppi_free(file->buffer);
  ppi_free(file->runs);
  ppi_free(file);
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

pprof_status ppi_log_scan(const char *path, ppi_log_visit visit, void *user,
                          ppi_log_damage *damage, pprof_error *error) {
  ppi_log_file *file;
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_block block;
  bool complete = false;
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block)) {
    complete = block.ok && block.header.type == PPI_LOG_TOTALS &&
               !(block.header.flags & PPI_LOG_MORE);
    if (visit) status = visit(user, &block);
  }
  if (status == PPROF_STATUS_OK) {
    *damage = *ppi_log_file_damage(file);
    status = ppi_log_damage_report(damage, path, complete, error);
  }
  ppi_log_file_close(file);
  return status;
}
