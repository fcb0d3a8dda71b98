// SPDX-License-Identifier: Apache-2.0
//
// Implements the log writer, a sink on the collector's thread that closes
// blocks into a staging ring. It waits for the disk only in finish and, for its
// first blocks, in begin.
#include "log/write/log_writer.h"

#include <errno.h>

#include "base/start_thread.h"
#include "base/uncancelled.h"
#include "base/wait.h"
#include "log/format/log_contents.h"
#include "log/write/log_loss.h"
#include "log/write/log_place.h"
#include "log/write/log_ring.h"

enum {
  // A group of blocks takes at most three of the longest, and the ring's end
  // may waste one more.
  BLOCKS_PER_RING = 6,
  DEFAULT_LIMIT_MS = 10000,
  FIRST_BLOCKS_MS = 200,
  // Of a segment: a fourth of the shortest allowed one.
  SHORT_BEGINNING = 16 * 1024
};

typedef struct log_writer {
  pprof_sink base;
  ppi_log_place place;
  ppi_rotate rotate;  // only of a log with segments or a limit
  uint64_t segment_bytes, segment_len, begin_len;
  bool has_more;  // the segment is longer than its beginning
  uint32_t keep;
  ppi_disk *disk;
  ppi_log_budget budget;
  ppi_log_io *io;
  ppi_log_ring ring;
  ppi_log_assembler assembler;
  bool assembling, finished;
  uint32_t num_runs;    // finished
  uint64_t num_blocks;  // of earlier segments
  ppi_log_loss loss;
  ppi_log_contents contents;
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
                              writer->place.part.part_path.text,
                              ppi_log_place_reason(&writer->place, error));
  return writer->status;
}

static pprof_status fail(log_writer *writer, pprof_status status) {
  char why[160];
  if (writer->status == PPROF_STATUS_OK && status != PPROF_STATUS_OK)
    writer->status = ppi_fail(&writer->error, status, "%s: %s",
                              writer->place.part.part_path.text,
                              status == PPROF_STATUS_NO_MEMORY
                                  ? ppi_describe_no_memory(why, sizeof why)
                                  : pprof_status_string(status));
  return writer->status;
}

// ---- the way into the ring ----

static bool kept(pprof_sink *sink, uint32_t lane, uint64_t *out_seq) {
  log_writer *writer = writer_of(sink);
  ppi_rotate_see(&writer->rotate, lane);
  if (writer->budget.full) {
    // Records that the log lacks are counted, once and for all.
    *out_seq = ppi_rotate_lane_end(&writer->rotate, lane);
    return true;
  }
  *out_seq = ppi_log_ring_kept(&writer->ring, writer->io, lane);
  return true;
}

// The numbers go to the next blocks instead.
static pprof_status refuse(log_writer *writer, const uint8_t *blocks,
                           size_t len) {
  uint64_t num_blocks;
  pprof_status status =
      ppi_log_budget_refuse(&writer->budget, blocks, len, &num_blocks);
  writer->assembler.next_number -= num_blocks;
  return status;
}

static pprof_status put_blocks(void *user, const uint8_t *blocks, size_t len) {
  log_writer *writer = user;
  pprof_status status;
  if (ppi_log_loss_takes(&writer->loss, &writer->budget, blocks, len, &status))
    return status;
  if (!ppi_log_budget_take(&writer->budget, writer->place.segment_path.text,
                           len))
    return refuse(writer, blocks, len);
  writer->segment_len += len;
  ppi_log_contents_note(&writer->contents, blocks, len);
  return ppi_log_ring_put(&writer->ring, writer->io, blocks, len);
}

// The start of each callback.
static pprof_status check(log_writer *writer) {
  if (writer->status != PPROF_STATUS_OK) return writer->status;
  if (!writer->io || writer->finished) return PPROF_STATUS_INVALID;
  int error = ppi_log_io_look(writer->io).error;
  if (error) return fail_io(writer, error);
  ppi_log_ring_drain(&writer->ring, writer->io);
  return PPROF_STATUS_OK;
}

static bool ready(pprof_sink *sink) {
  log_writer *writer = writer_of(sink);
  // After a failure, the next callback reports it.
  if (check(writer) != PPROF_STATUS_OK) return true;
  return ppi_log_ring_has_room(&writer->ring);
}

// ---- callbacks ----

// A process may end at once: from the beginning, the file leads to the spool
// with the rest. The wait for a slow disk is bounded.
static void wait_for_first_blocks(log_writer *writer) {
  uint64_t deadline_ns = ppi_monotonic_ns() + FIRST_BLOCKS_MS * 1000000ull;
  while (check(writer) == PPROF_STATUS_OK) {
    uint64_t num_written = ppi_log_io_look(writer->io).num_written;
    if (num_written >= writer->ring.num_staged ||
        !ppi_log_io_wait(writer->io, num_written, deadline_ns))
      return;
  }
}

// A further run follows those in the file.
static pprof_status reopen(log_writer *writer) {
  int error = ppi_log_place_reopen(&writer->place);
  if (error) return fail_io(writer, error);
  ppi_log_assembler_clear(&writer->assembler);
  writer->assembling = writer->finished = false;
  ppi_log_ring_restart(&writer->ring);
  writer->contents = (ppi_log_contents){0};
  ppi_tally_clear(&writer->loss.given);
  writer->loss.num_ended = 0;
  return PPROF_STATUS_OK;
}

static bool counts(const log_writer *writer) {
  return writer->segment_bytes > 0 || writer->disk;
}

static void name_segment(log_writer *writer) {
  writer->place.segment_path =
      ppi_segment_path(writer->place.part.path.text,
                       writer->segment_bytes ? writer->rotate.segment : 0);
}

// The beginning of the file.
static pprof_status notify_info(log_writer *writer,
                                const pprof_run_info *info) {
  const ppi_text taken = {"name_taken", ppi_log_place_taken(&writer->place)};
  bool is_taken = taken.value;
  pprof_status status = PPROF_STATUS_OK;
  if (counts(writer)) {
    ppi_log_budget_begin_essential(&writer->budget);
    status = ppi_rotate_begin(&writer->rotate, info);
    if (!ppi_texts_join(&writer->rotate.texts, &taken, is_taken))
      status = PPROF_STATUS_NO_MEMORY;
  }
  name_segment(writer);
  PPI_THEN(status, writer->segment_bytes
                       ? ppi_rotate_info(&writer->rotate, &writer->assembler)
                       : ppi_log_assembler_info(&writer->assembler, info,
                                                &taken, is_taken));
  if (counts(writer)) ppi_log_budget_end_essential(&writer->budget);
  return status;
}

static pprof_status start_io(log_writer *writer, const pprof_run_info *info) {
  const char *uuid = pprof_run_info_text(info, "uuid");
  ppi_log_io_files files = {.keep = writer->keep, .disk = writer->disk};
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, uuid ? uuid : "");
  ppi_disk_set_run(writer->disk, ppi_log_remove_own, uuid ? uuid : "");
  return ppi_log_io_start(&writer->place.part, &files, writer->ring.staging,
                          header, &writer->io);
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  log_writer *writer = writer_of(sink);
  if (writer->io) return PPROF_STATUS_INVALID;
  if (writer->status != PPROF_STATUS_OK) return writer->status;
  if (writer->finished && counts(writer)) return PPROF_STATUS_UNSUPPORTED;
  if (writer->finished && reopen(writer) != PPROF_STATUS_OK)
    return writer->status;
  if (!ppi_log_ring_open(&writer->ring, info->staging,
                         writer->place.part.part_path.text))
    return fail(writer, PPROF_STATUS_NO_MEMORY);
  pprof_status status = ppi_log_assembler_init(
      &writer->assembler, put_blocks, writer,
      (size_t)(writer->ring.staging->size / BLOCKS_PER_RING), 0);
  if (status != PPROF_STATUS_OK) return fail(writer, status);
  writer->assembling = true;
  status = start_io(writer, info);
  if (status != PPROF_STATUS_OK) return fail(writer, status);
  fail(writer, notify_info(writer, info));
  writer->begin_len = writer->segment_len;
  wait_for_first_blocks(writer);
  return writer->status;
}

// Full by its bytes. After a long beginning, a segment has at least as many
// bytes again, so that beginnings are never most of the output.
static bool is_full(const log_writer *writer) {
  uint64_t most = ppi_log_assembler_max_block(&writer->assembler);
  uint64_t limit = writer->segment_bytes, begin_len = writer->begin_len;
  if (limit > 2 * most) limit -= most;
  if (begin_len > SHORT_BEGINNING) limit = PPI_MAX(limit, 2 * begin_len);
  return writer->segment_bytes > 0 && !writer->budget.full &&
         writer->has_more && writer->segment_len >= limit;
}

// The newest whole segment is never removed for newer ones.
static pprof_status let_go(const log_writer *writer) {
  uint32_t segment = writer->rotate.segment;
  if (!writer->disk || segment < 2) return PPROF_STATUS_OK;
  const ppi_path path =
      ppi_segment_path(writer->place.part.path.text, segment - 1);
  return ppi_disk_add_segment(writer->disk, path.text) ? PPROF_STATUS_OK
                                                       : PPROF_STATUS_NO_MEMORY;
}

// The segment's totals, and the next segment's required beginning.
static pprof_status turn(log_writer *writer) {
  pprof_status status = ppi_rotate_end(&writer->rotate, &writer->assembler);
  if (status == PPROF_STATUS_OK &&
      !ppi_log_loss_turn(&writer->loss, writer->rotate.num_earlier))
    status = PPROF_STATUS_NO_MEMORY;
  name_segment(writer);
  writer->num_blocks += writer->assembler.next_number;
  writer->segment_len = 0;
  return status == PPROF_STATUS_OK
             ? ppi_rotate_start(&writer->rotate, &writer->assembler)
             : status;
}

static pprof_status turn_if_full(log_writer *writer) {
  if (!is_full(writer)) return PPROF_STATUS_OK;
  pprof_status status = ppi_log_assembler_flush(&writer->assembler);
  if (status != PPROF_STATUS_OK || writer->budget.full) return status;
  status = let_go(writer);
  ppi_log_budget_begin_essential(&writer->budget);
  if (status == PPROF_STATUS_OK) status = turn(writer);
  ppi_log_budget_end_essential(&writer->budget);
  PPI_THEN(status, ppi_rotate_notify(&writer->rotate, &writer->assembler));
  writer->begin_len = writer->segment_len;
  writer->has_more = false;
  return status;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  bool now = true;
  if (status == PPROF_STATUS_OK && writer->segment_bytes)
    status = fail(writer, ppi_rotate_define(&writer->rotate, definition, &now));
  if (status != PPROF_STATUS_OK || writer->budget.full || !now) return status;
  status = ppi_log_assembler_define(&writer->assembler, definition);
  if (status == PPROF_STATUS_OK && writer->segment_bytes &&
      definition->kind == PPROF_DEFINITION_SITE && definition->number)
    status = ppi_rotate_notify_site(&writer->rotate, definition->number,
                                    &writer->assembler);
  return fail(writer, status);
}

// Segments change before a batch, not within it.
static pprof_status count_batch(log_writer *writer, const pprof_batch *batch) {
  ppi_rotate *rotate = &writer->rotate;
  pprof_status status = turn_if_full(writer);
  if (status == PPROF_STATUS_OK) status = ppi_rotate_deliver(rotate, batch);
  bool tells = writer->segment_bytes && !writer->budget.full;
  if (status == PPROF_STATUS_OK && tells)
    status = ppi_rotate_notify_events(rotate, batch, &writer->assembler);
  if (status != PPROF_STATUS_OK) return status;
  if (writer->budget.full) return ppi_log_budget_drop(&writer->budget, batch);
  writer->has_more = true;
  return writer->segment_bytes ? ppi_rotate_count(rotate, batch) : status;
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (!status && !ppi_log_loss_note(&writer->loss, batch))
    status = fail(writer, PPROF_STATUS_NO_MEMORY);
  if (status == PPROF_STATUS_OK && counts(writer))
    status = fail(writer, count_batch(writer, batch));
  if (status != PPROF_STATUS_OK || writer->budget.full) return status;
  return fail(writer, ppi_log_assembler_events(&writer->assembler, batch));
}

static pprof_status checkpoint(pprof_sink *sink,
                               const pprof_checkpoint *checkpoint) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status != PPROF_STATUS_OK || writer->budget.full) return status;
  // With little memory, checkpoints are frequent, and the next one has more.
  if (ppi_log_ring_is_behind(&writer->ring)) return status;
  if (writer->segment_bytes) {
    status = turn_if_full(writer);
    PPI_THEN(status, ppi_rotate_notify_open(&writer->rotate, checkpoint,
                                            &writer->assembler));
    if (status != PPROF_STATUS_OK || writer->budget.full)
      return fail(writer, status);
    writer->has_more = true;
  }
  return fail(writer,
              ppi_log_assembler_checkpoint(&writer->assembler, checkpoint));
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  log_writer *writer = writer_of(sink);
  pprof_status status = check(writer);
  if (status == PPROF_STATUS_OK && writer->segment_bytes)
    status = fail(
        writer, ppi_rotate_window_edge(&writer->rotate, index, opens, time_ns));
  if (status != PPROF_STATUS_OK || writer->budget.full) return status;
  return fail(writer, ppi_log_assembler_window(&writer->assembler, index, opens,
                                               time_ns));
}

// Moves the backlog into the ring as room comes, until all of it is in the
// file.
static pprof_status push_backlog(log_writer *writer, uint64_t deadline_ns) {
  for (;;) {
    uint64_t num_written = ppi_log_io_look(writer->io).num_written;
    pprof_status status = check(writer);
    bool is_done = !ppi_log_ring_is_behind(&writer->ring) &&
                   num_written >= writer->ring.num_staged;
    if (status != PPROF_STATUS_OK || is_done) return status;
    if (!ppi_log_io_wait(writer->io, num_written, deadline_ns))
      return fail_io(writer, ETIMEDOUT);
  }
}

static void close_io(log_writer *writer, uint64_t deadline_ns) {
  if (!writer->io) return;
  ppi_log_io_state state;
  int error = ppi_log_io_finish(writer->io, deadline_ns, &state);
  writer->io = NULL;
  if (state.num_aside)
    ppi_log_place_note_aside(&writer->place, state.num_aside);
  writer->stats.num_blocks = writer->num_blocks + writer->assembler.next_number;
  writer->stats.num_blocks_lost = writer->stats.num_blocks - state.num_written;
  writer->stats.num_bytes = state.num_bytes;
  if (error) fail_io(writer, error);
}

static pprof_status notify_totals(log_writer *writer,
                                  const pprof_totals *totals) {
  if (!counts(writer)) {
    pprof_status put =
        ppi_log_contents_put(&writer->contents, &writer->assembler);
    return put ? put
               : ppi_log_assembler_totals(&writer->assembler, totals, NULL);
  }
  // The rest may be refused; then the totals state it.
  PPI_TRY(ppi_log_assembler_flush(&writer->assembler));
  ppi_log_budget_begin_essential(&writer->budget);
  return ppi_log_budget_totals(&writer->budget, &writer->rotate, totals,
                               &writer->assembler);
}

static void name_loss(log_writer *writer, int error, uint64_t num) {
  writer->status = ppi_fail(
      &writer->error, PPROF_STATUS_IO, "%s: %s; %llu records are not in it",
      writer->place.part.part_path.text,
      ppi_log_place_reason(&writer->place, error), (unsigned long long)num);
}

// The disk has ended the log. The file states that if it can still be written;
// the error always does.
static void notify_loss(log_writer *writer, const pprof_totals *totals) {
  ppi_log_budget *budget = &writer->budget;
  ppi_log_io_state state = ppi_log_io_look(writer->io);
  ppi_log_loss_rest rest = {&writer->assembler, writer->ring.staging,
                            ppi_backlog_rest(&writer->ring.backlog),
                            state.num_written - writer->num_blocks,
                            &writer->rotate.earlier};
  budget->error = state.error ? state.error : ETIMEDOUT;
  if (ppi_log_loss_settle(&writer->loss, budget, &rest, totals)) return;
  name_loss(writer, budget->error,
            ppi_log_loss_missing(&writer->loss, budget, totals, state.segment));
  // A full segment has its totals in the ring.
  bool is_behind =
      writer->segment_bytes && state.segment != writer->rotate.segment;
  if (!state.error || is_behind) return;
  if (!ppi_log_loss_speak(&writer->loss, budget, &writer->rotate, &rest,
                          totals))
    ppi_log_io_last_words(writer->io, &writer->loss.words);
}

static void give_name(log_writer *writer) {
  int error = ppi_log_place_settle(&writer->place);
  if (error == ENOENT && !ppi_log_place_is_elsewhere(&writer->place))
    name_loss(writer, error,
              ppi_log_loss_num_given(&writer->loss, &writer->rotate.earlier));
  else if (error)
    fail_io(writer, error);
  uint64_t dropped = ppi_log_budget_num_dropped(&writer->budget);
  if (dropped && writer->status == PPROF_STATUS_OK)
    writer->status =
        ppi_fail(&writer->error, PPROF_STATUS_IO,
                 "%s: the disk limit left no room for %llu records",
                 writer->place.segment_path.text, (unsigned long long)dropped);
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  log_writer *writer = writer_of(sink);
  uint64_t deadline_ns = ppi_monotonic_ns() + writer->limit_ms * 1000000;
  pprof_status status = check(writer);
  if (writer->finished || !writer->io) return status;
  PPI_THEN(status, fail(writer, notify_totals(writer, totals)));
  if (status == PPROF_STATUS_OK) push_backlog(writer, deadline_ns);
  if (writer->status == PPROF_STATUS_IO) notify_loss(writer, totals);
  close_io(writer, deadline_ns);
  writer->finished = true;
  writer->num_runs++;
  if (writer->status == PPROF_STATUS_OK) give_name(writer);
  return writer->status;
}

static void destroy(pprof_sink *sink) {
  PPI_UNCANCELLED;
  log_writer *writer = writer_of(sink);
  bool begun = writer->io || writer->finished;
  uint64_t deadline_ns = ppi_monotonic_ns() + writer->limit_ms * 1000000;
  if (writer->io && !writer->status) {
    // Stopped without finish: gathered events still go to the file.
    fail(writer, ppi_log_assembler_flush(&writer->assembler));
    push_backlog(writer, deadline_ns);
  }
  // The writer waits only once for a disk that does not answer.
  bool answers =
      !writer->status || (writer->io && ppi_log_io_look(writer->io).error);
  close_io(writer, answers ? deadline_ns : 0);
  ppi_log_budget_close(&writer->budget);  // it borrows the part's path
  ppi_log_place_clear(&writer->place, begun || writer->num_runs);
  if (writer->assembling) ppi_log_assembler_clear(&writer->assembler);
  ppi_log_ring_clear(&writer->ring);
  ppi_log_loss_clear(&writer->loss);
  ppi_rotate_clear(&writer->rotate);
  ppi_disk_destroy(writer->disk);
  ppi_free(writer);
}

// ---- creation ----

pprof_status ppi_log_writer_create(const char *path,
                                   const ppi_log_rotation *rotation,
                                   pprof_sink **out, pprof_error *error) {
  (void)ppi_codec_writer();  // loaded by the starting thread, not by the
                             // collector
  log_writer *writer = ppi_alloc(sizeof *writer);
  if (!writer) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  writer->base = (pprof_sink){.size = sizeof(pprof_sink),
                              PPI_SINK_CALLBACKS(),
                              .kept = kept,
                              .destroy = destroy,
                              .ready = ready};
  writer->limit_ms = DEFAULT_LIMIT_MS;
  writer->segment_bytes = rotation ? rotation->segment_bytes : 0;
  pprof_status status = ppi_log_place_open(&writer->place, path,
                                           writer->segment_bytes > 0, error);
  if (status != PPROF_STATUS_OK) {
    ppi_free(writer);
    return status;
  }
  writer->base.name = writer->place.part.path.text;
  if (rotation) {
    writer->keep = rotation->keep;
    writer->disk = ppi_disk_ref(rotation->disk);
    ppi_log_budget_open(&writer->budget, writer->disk,
                        writer->place.part.part_path.text);
  }
  *out = &writer->base;
  return PPROF_STATUS_OK;
}

pprof_status pprof_log_writer_create(const char *path, pprof_sink **out,
                                     pprof_error *error) {
  PPI_UNCANCELLED;
  return ppi_log_writer_create(path, NULL, out, error);
}

void ppi_log_writer_set_limit_ms(pprof_sink *sink, uint64_t limit_ms) {
  writer_of(sink)->limit_ms = limit_ms;
}

ppi_log_writer_stats ppi_log_writer_look(pprof_sink *sink) {
  log_writer *writer = writer_of(sink);
  ppi_log_writer_stats stats = writer->stats;
  if (!writer->io) return stats;
  stats.num_blocks = writer->num_blocks + writer->assembler.next_number;
  stats.num_bytes = ppi_log_io_look(writer->io).num_bytes;
  return stats;
}

const char *ppi_log_writer_error(const pprof_sink *sink) {
  return ((const log_writer *)sink)->error.text;
}

const char *ppi_log_writer_note(const pprof_sink *sink) {
  return ((const log_writer *)sink)->place.note;
}

const char *ppi_log_writer_part_path(const pprof_sink *sink) {
  return ((const log_writer *)sink)->place.part.part_path.text;
}

const char *ppi_log_writer_path(const pprof_sink *sink) {
  const log_writer *writer = (const log_writer *)sink;
  return writer->place.segment_path.text[0] && writer->finished
             ? writer->place.segment_path.text
             : writer->place.part.path.text;
}
