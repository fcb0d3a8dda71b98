// SPDX-License-Identifier: Apache-2.0
//
// The log writer: a sink on the collector's thread that closes blocks into a
// staging ring and does not wait for the disk, but in finish and, for its first
// blocks, in begin.
#include "log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_impl.h"
#include "log_block.h"
#include "log_io.h"
#include "mem.h"

enum {
  HEAP_RING_BYTES = 1024 * 1024,
  // A ring in the spool shorter than this cannot hold a few blocks of use.
  MIN_RING_BYTES = 96 * 1024,
  // A group of blocks takes at most three of the longest, and the end of the
  // ring may waste one more.
  BLOCKS_PER_RING = 6,
  DEFAULT_LIMIT_MS = 10000,
  FIRST_BLOCKS_MS = 200
};

// The records of a run are kept once its block is in the file.
typedef struct promise {
  uint64_t number, end_seq;
  uint32_t lane;
} promise;

typedef struct log_writer {
  pprof_sink base;
  char *path, *part_path;
  int fd;  // until the I/O thread takes it
  ppi_log_io *io;
  ppi_staging *staging;
  void *heap_ring;  // NULL: the ring is in the spool
  ppi_log_assembler assembler;
  bool assembling, finished;
  ppi_buffer backlog;  // closed while the ring was full: u32 length, blocks
  uint64_t *kept;      // by lane
  size_t num_kept, kept_capacity;
  promise *promises;
  size_t first_promise, num_promises, promises_capacity;
  ppi_log_writer_stats stats;
  uint64_t limit_ms;
  pprof_status status;  // the first failure
  pprof_error error;
} log_writer;

static log_writer *writer_of(pprof_sink *sink) {
  return (log_writer *)sink;
}

static pprof_status fail_io(log_writer *writer, int error) {
  if (writer->status == PPROF_STATUS_OK)
    writer->status = ppi_fail(&writer->error, PPROF_STATUS_IO, "%s: %s",
                              writer->part_path, strerror(error));
  return writer->status;
}

static pprof_status fail(log_writer *writer, pprof_status status) {
  if (writer->status == PPROF_STATUS_OK && status != PPROF_STATUS_OK)
    writer->status = ppi_fail(&writer->error, status, "%s: %s",
                              writer->part_path, pprof_status_string(status));
  return writer->status;
}

// ---- kept ----

static bool set_kept(log_writer *writer, uint32_t lane, uint64_t end_seq) {
  if (lane >= writer->num_kept) {
    void *grown = ppi_grow(writer->kept, &writer->kept_capacity,
                           (size_t)lane + 1, sizeof *writer->kept);
    if (!grown) return false;
    writer->kept = grown;
    memset(writer->kept + writer->num_kept, 0,
           (lane + 1 - writer->num_kept) * sizeof *writer->kept);
    writer->num_kept = (size_t)lane + 1;
  }
  writer->kept[lane] = PPI_MAX(writer->kept[lane], end_seq);
  return true;
}

static bool add_promise(log_writer *writer, uint64_t number,
                        const ppi_log_run *run) {
  // What is done makes room once it is half, also when the file always lags.
  if (writer->first_promise > writer->num_promises / 2) {
    writer->num_promises -= writer->first_promise;
    memmove(writer->promises, writer->promises + writer->first_promise,
            writer->num_promises * sizeof *writer->promises);
    writer->first_promise = 0;
  }
  void *grown = ppi_grow(writer->promises, &writer->promises_capacity,
                         writer->num_promises + 1, sizeof *writer->promises);
  if (!grown) return false;
  writer->promises = grown;
  writer->promises[writer->num_promises++] =
      (promise){number, run->end_seq, run->lane};
  return true;
}

// A block has reached the ring.
static bool note_block(log_writer *writer, const uint8_t *block,
                       const ppi_log_header *header) {
  if (header->type != PPI_LOG_EVENTS) return true;
  for (uint32_t i = 0; i < header->num_runs; i++) {
    ppi_log_run run;
    ppi_log_run_load(block + PPI_LOG_HEADER_SIZE + i * PPI_LOG_RUN_SIZE, &run);
    bool noted = writer->heap_ring ? add_promise(writer, header->number, &run)
                                   : set_kept(writer, run.lane, run.end_seq);
    if (!noted) return false;
  }
  return true;
}

static bool kept(pprof_sink *sink, uint32_t lane, uint64_t *out_seq) {
  log_writer *writer = writer_of(sink);
  if (writer->io && writer->first_promise < writer->num_promises) {
    uint64_t next_number = ppi_log_io_look(writer->io).next_number;
    while (writer->first_promise < writer->num_promises) {
      const promise *first = &writer->promises[writer->first_promise];
      if (first->number >= next_number) break;
      if (!set_kept(writer, first->lane, first->end_seq)) break;
      writer->first_promise++;
    }
  }
  *out_seq = lane < writer->num_kept ? writer->kept[lane] : 0;
  return true;
}

// ---- the way into the ring ----

static size_t split_group(const uint8_t *bytes, size_t len,
                          ppi_staging_block *out) {
  size_t num = 0;
  ppi_log_header header;
  while (len > 0 && num < PPI_LOG_MAX_GROUP &&
         ppi_log_header_load(bytes, &header)) {
    size_t size = ppi_log_block_size(&header);
    out[num++] = (ppi_staging_block){bytes, (uint32_t)size, header.number};
    bytes += size;
    len -= size;
  }
  return num;
}

static bool stage_group(log_writer *writer, const uint8_t *bytes, size_t len) {
  ppi_staging_block blocks[PPI_LOG_MAX_GROUP] = {{0}};
  size_t num = split_group(bytes, len, blocks);
  if (!ppi_staging_put(writer->staging, blocks, num)) return false;
  for (size_t i = 0; i < num; i++) {
    ppi_log_header header;
    ppi_log_header_load(blocks[i].bytes, &header);
    if (!note_block(writer, blocks[i].bytes, &header))
      fail(writer, PPROF_STATUS_NO_MEMORY);
  }
  ppi_log_io_wake(writer->io);
  return true;
}

static pprof_status put_blocks(void *user, const uint8_t *blocks, size_t len) {
  log_writer *writer = user;
  if (writer->backlog.len == 0 && stage_group(writer, blocks, len))
    return writer->status;
  uint8_t prefix[4];
  ppi_store32(prefix, (uint32_t)len);
  ppi_buffer_bytes(&writer->backlog, prefix, sizeof prefix);
  ppi_buffer_bytes(&writer->backlog, blocks, len);
  return writer->backlog.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static void drain_backlog(log_writer *writer) {
  ppi_buffer *backlog = &writer->backlog;
  size_t done = 0;
  while (done < backlog->len) {
    size_t len = ppi_load32(backlog->data + done);
    if (!stage_group(writer, backlog->data + done + 4, len)) break;
    done += 4 + len;
  }
  if (done == 0) return;
  backlog->len -= done;
  memmove(backlog->data, backlog->data + done, backlog->len);
}

// What each callback begins with.
static pprof_status check(log_writer *writer) {
  if (writer->status != PPROF_STATUS_OK) return writer->status;
  if (!writer->io || writer->finished) return PPROF_STATUS_INVALID;
  int error = ppi_log_io_look(writer->io).error;
  if (error) return fail_io(writer, error);
  drain_backlog(writer);
  return writer->status;
}

static bool ready(pprof_sink *sink) {
  log_writer *writer = writer_of(sink);
  // Whoever has failed says so at the next callback.
  if (check(writer) != PPROF_STATUS_OK) return true;
  // Two blocks, what the ring's end may waste, and the heads of its entries.
  uint64_t need =
      3 * (uint64_t)(ppi_log_assembler_max_block(&writer->assembler) + 24);
  return writer->backlog.len == 0 && ppi_staging_free(writer->staging) >= need;
}

// ---- callbacks ----

static bool take_spool_ring(log_writer *writer, ppi_staging *staging) {
  if (!staging || staging->size < MIN_RING_BYTES ||
      !ppi_staging_claim(staging, writer->part_path))
    return false;
  writer->staging = staging;
  return true;
}

static bool make_heap_ring(log_writer *writer) {
  uint64_t bytes = sizeof(ppi_staging) + HEAP_RING_BYTES;
  writer->heap_ring = ppi_alloc(bytes);
  if (!writer->heap_ring) return false;
  writer->staging = ppi_staging_init(writer->heap_ring, bytes);
  return true;
}

// A process may end at once: from the beginning the file leads to the spool,
// which has the rest. A disk that takes longer than this is not waited for.
static void wait_for_first_blocks(log_writer *writer) {
  uint64_t deadline_ns = ppi_monotonic_ns() + FIRST_BLOCKS_MS * 1000000ull;
  while (check(writer) == PPROF_STATUS_OK) {
    uint64_t num_written = ppi_log_io_look(writer->io).num_written;
    if (num_written >= writer->assembler.next_number ||
        !ppi_log_io_wait(writer->io, num_written, deadline_ns))
      return;
  }
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  log_writer *writer = writer_of(sink);
  if (writer->io || writer->finished) return PPROF_STATUS_INVALID;
  if (!take_spool_ring(writer, info->staging) && !make_heap_ring(writer))
    return fail(writer, PPROF_STATUS_NO_MEMORY);
  pprof_status status = ppi_log_assembler_init(
      &writer->assembler, put_blocks, writer,
      (size_t)(writer->staging->size / BLOCKS_PER_RING), 0);
  if (status != PPROF_STATUS_OK) return fail(writer, status);
  writer->assembling = true;
  const char *uuid = pprof_run_info_text(info, "uuid");
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, uuid ? uuid : "");
  status = ppi_log_io_start(writer->fd, writer->staging, header, &writer->io);
  if (status != PPROF_STATUS_OK) return fail(writer, status);
  writer->fd = -1;
  fail(writer, ppi_log_assembler_info(&writer->assembler, info));
  wait_for_first_blocks(writer);
  return writer->status;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status != PPROF_STATUS_OK) return status;
  return fail(writer, ppi_log_assembler_define(&writer->assembler, definition));
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status != PPROF_STATUS_OK) return status;
  return fail(writer, ppi_log_assembler_events(&writer->assembler, batch));
}

static pprof_status checkpoint(pprof_sink *sink,
                               const pprof_checkpoint *checkpoint) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status != PPROF_STATUS_OK) return status;
  return fail(writer,
              ppi_log_assembler_checkpoint(&writer->assembler, checkpoint));
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status != PPROF_STATUS_OK) return status;
  return fail(writer, ppi_log_assembler_window(&writer->assembler, index, opens,
                                               time_ns));
}

// Moves the backlog into the ring as room comes; the last wait, for the ring
// to run empty, is the I/O thread's own.
static pprof_status push_backlog(log_writer *writer, uint64_t deadline_ns) {
  for (;;) {
    uint64_t num_written = ppi_log_io_look(writer->io).num_written;
    pprof_status status = check(writer);
    if (status != PPROF_STATUS_OK || writer->backlog.len == 0) return status;
    if (!ppi_log_io_wait(writer->io, num_written, deadline_ns))
      return fail_io(writer, ETIMEDOUT);
  }
}

static void close_io(log_writer *writer, uint64_t deadline_ns) {
  if (!writer->io) return;
  ppi_log_io_state state;
  int error = ppi_log_io_finish(writer->io, deadline_ns, &state);
  writer->io = NULL;
  writer->stats.num_blocks = writer->assembler.next_number;
  writer->stats.num_blocks_lost = writer->stats.num_blocks - state.num_written;
  writer->stats.num_bytes = state.num_bytes;
  if (error) fail_io(writer, error);
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  log_writer *writer = writer_of(sink);
  uint64_t deadline_ns = ppi_monotonic_ns() + writer->limit_ms * 1000000;
  pprof_status status = check(writer);
  if (writer->finished || !writer->io) return status;
  if (status == PPROF_STATUS_OK)
    status = fail(writer, ppi_log_assembler_totals(&writer->assembler, totals));
  if (status == PPROF_STATUS_OK) push_backlog(writer, deadline_ns);
  close_io(writer, deadline_ns);
  writer->finished = true;
  if (writer->status == PPROF_STATUS_OK &&
      rename(writer->part_path, writer->path) != 0)
    fail_io(writer, errno);
  return writer->status;
}

static void destroy(pprof_sink *sink) {
  log_writer *writer = writer_of(sink);
  bool begun = writer->io || writer->finished;
  if (writer->io && writer->status == PPROF_STATUS_OK) {
    // Stopped without finish: what was gathered still goes to the file.
    uint64_t deadline_ns = ppi_monotonic_ns() + writer->limit_ms * 1000000;
    fail(writer, ppi_log_assembler_flush(&writer->assembler));
    push_backlog(writer, deadline_ns);
    close_io(writer, deadline_ns);
  }
  close_io(writer, 0);
  if (writer->fd >= 0) close(writer->fd);
  if (!begun) unlink(writer->part_path);
  if (writer->assembling) ppi_log_assembler_clear(&writer->assembler);
  ppi_buffer_clear(&writer->backlog);
  ppi_free(writer->heap_ring);
  ppi_free(writer->kept);
  ppi_free(writer->promises);
  ppi_free(writer->path);
  ppi_free(writer->part_path);
  ppi_free(writer);
}

// ---- creation ----

char *ppi_log_sibling_path(const char *path, const char *infix) {
  static const char suffix[] = ".pplog";
  size_t len = strlen(path), stem = len;
  if (len > sizeof suffix - 1 &&
      strcmp(path + len - (sizeof suffix - 1), suffix) == 0)
    stem = len - (sizeof suffix - 1);
  size_t size = len + strlen(infix) + 2;
  char *out = ppi_alloc(size);
  if (out)
    snprintf(out, size, "%.*s.%s%s", (int)stem, path, infix, path + stem);
  return out;
}

static char *join(const char *a, const char *between, const char *b) {
  size_t size = strlen(a) + strlen(between) + strlen(b) + 1;
  char *out = ppi_alloc(size);
  if (out) snprintf(out, size, "%s%s%s", a, between, b);
  return out;
}

// The spool names the log, and the program may change its folder.
static char *absolute(const char *path) {
  char folder[PPI_STAGING_PATH_MAX];
  if (path[0] == '/' || !getcwd(folder, sizeof folder)) return ppi_strdup(path);
  return join(folder, "/", path);
}

// Opens a .part file that holds nothing and that nobody writes. -1 and EEXIST
// when this one is another run's, EBUSY when that run lives. A recover that
// removes an empty one does so under the lock, so whoever has the lock sees
// that the name is gone.
static int open_free(const char *part_path) {
  int fd = open(part_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool held = fcntl(fd, F_OFD_SETLK, &lock) != 0 &&
              (errno == EAGAIN || errno == EACCES);
  struct stat stat;
  if (held ||
      (fstat(fd, &stat) == 0 && (stat.st_size > 0 || stat.st_nlink == 0))) {
    close(fd);
    errno = held ? EBUSY : EEXIST;
    return -1;
  }
  return fd;
}

// Neither of two that live replaces the other's log.
static pprof_status keep_apart(log_writer *writer) {
  size_t len = strlen(writer->part_path) - strlen(".part");
  char *path = ppi_strdup(writer->part_path);
  if (!path) return PPROF_STATUS_NO_MEMORY;
  path[len] = 0;
  ppi_free(writer->path);
  writer->path = path;
  return PPROF_STATUS_OK;
}

// What a run that died left under PATH.part waits for `recover`; the next run
// writes beside it.
static pprof_status open_part(log_writer *writer, pprof_error *error) {
  char infix[16] = "";
  bool meets = false;
  for (int n = 0; n < 10000; n++) {
    snprintf(infix, sizeof infix, "%d", n);
    char *path = n ? ppi_log_sibling_path(writer->path, infix)
                   : ppi_strdup(writer->path);
    ppi_free(writer->part_path);
    writer->part_path = path ? join(path, ".part", "") : NULL;
    ppi_free(path);
    if (!writer->part_path)
      return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
    writer->fd = open_free(writer->part_path);
    if (writer->fd >= 0)
      return meets && keep_apart(writer) != PPROF_STATUS_OK
                 ? ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory")
                 : PPROF_STATUS_OK;
    meets = meets || errno == EBUSY;
    if (errno != EEXIST && errno != EBUSY) break;
  }
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write %s: %s",
                  writer->part_path, strerror(errno));
}

static pprof_status open_writer(log_writer *writer, const char *path,
                                pprof_error *error) {
  struct stat existing;
  size_t len = strlen(path);
  if (len == 0 || path[len - 1] == '/' ||
      (stat(path, &existing) == 0 && S_ISDIR(existing.st_mode)))
    return ppi_fail(error, PPROF_STATUS_IO,
                    "cannot write '%s': it names a folder, not a file", path);
  writer->path = absolute(path);
  if (!writer->path)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  return open_part(writer, error);
}

pprof_status pprof_log_writer_create(const char *path, pprof_sink **out,
                                     pprof_error *error) {
  log_writer *writer = ppi_alloc(sizeof *writer);
  if (!writer) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  writer->base = (pprof_sink){.size = sizeof(pprof_sink),
                              .begin = begin,
                              .define = define,
                              .events = events,
                              .checkpoint = checkpoint,
                              .window = window,
                              .finish = finish,
                              .kept = kept,
                              .destroy = destroy,
                              .ready = ready};
  writer->fd = -1;
  writer->limit_ms = DEFAULT_LIMIT_MS;
  pprof_status status = open_writer(writer, path, error);
  if (status != PPROF_STATUS_OK) {
    ppi_free(writer->path);
    ppi_free(writer->part_path);
    ppi_free(writer);
    return status;
  }
  *out = &writer->base;
  return PPROF_STATUS_OK;
}

void ppi_log_writer_set_limit_ms(pprof_sink *sink, uint64_t limit_ms) {
  writer_of(sink)->limit_ms = limit_ms;
}

ppi_log_writer_stats ppi_log_writer_look(pprof_sink *sink) {
  log_writer *writer = writer_of(sink);
  ppi_log_writer_stats stats = writer->stats;
  if (!writer->io) return stats;
  stats.num_blocks = writer->assembler.next_number;
  stats.num_bytes = ppi_log_io_look(writer->io).num_bytes;
  return stats;
}

const char *ppi_log_writer_error(const pprof_sink *sink) {
  return ((const log_writer *)sink)->error.text;
}

const char *ppi_log_writer_part_path(const pprof_sink *sink) {
  return ((const log_writer *)sink)->part_path;
}

const char *ppi_log_writer_path(const pprof_sink *sink) {
  return ((const log_writer *)sink)->path;
}
