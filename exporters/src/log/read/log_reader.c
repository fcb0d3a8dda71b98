// SPDX-License-Identifier: Apache-2.0
//
// Reads logs into a sink, run by run and block by block, in file order: the
// same calls as from a live session. Consecutive segments of one run are one
// run. Called with a log by any owner; one thread, its own state.

#include "log/read/log_reader.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/uncancelled.h"
#include "log/format/log_contents.h"
#include "log/format/log_payload.h"
#include "log/format/log_totals.h"
#include "log/read/ahead.h"
#include "log/read/log_section.h"
#include "log/write/rotate.h"

typedef struct log_reader {
  pprof_sink tap;  // the payloads' sink: counts, then forwards
  pprof_sink *sink;
  ppi_log_file *file;
  ppi_log_payload payload;
  ppi_tally tally;  // of the run's part in the file
  bool begun, complete, sink_failed;
  bool skims;                 // leaves events and checkpoints out
  ppi_log_ahead *ahead;       // NULL: none
  ppi_log_contents contents;  // then: of the file
  // For a run in segments: the segments read, one run for the sink.
  ppi_tally earlier;
  uint32_t first_segment, segment;  // 0: none
  uint32_t *segments;               // all segments, in order
  size_t num_segments, segments_capacity;
  uint64_t num_before;    // records before the first segment
  uint32_t num_gaps;      // segments missing between the others
  uint32_t num_repeated;  // repeated, and left out
  bool goes_on;           // the totals have this number
  bool resumed;           // `segment` is not the first one read
  uint64_t num_windows;   // opened: every smaller index
  char uuid[PPI_LOG_UUID_LEN + 1];
} log_reader;

static log_reader *reader_of(pprof_sink *tap) {
  return (log_reader *)tap;
}

static pprof_status forward(log_reader *reader, pprof_status status) {
  if (status != PPROF_STATUS_OK) reader->sink_failed = true;
  return status;
}

static bool ends_in_compressor(const ppi_log_payload *payload) {
  size_t num = payload->info.num;
  return num > 0 &&
         strcmp(payload->info.items[num - 1].key, PPI_COMPRESSOR_KEY) == 0;
}

static pprof_status note_segment(log_reader *reader, uint32_t segment) {
  if (!PPI_PUSH(reader->segments, reader->num_segments,
                reader->segments_capacity, segment))
    return PPROF_STATUS_NO_MEMORY;
  reader->segment = segment;
  return PPROF_STATUS_OK;
}

static pprof_status begin(log_reader *reader) {
  ppi_text uuid = {"uuid", ppi_log_file_uuid(reader->file)};
  pprof_run_info info = {reader->payload.info.items, reader->payload.info.num,
                         NULL};
  if (ends_in_compressor(&reader->payload)) info.num_texts--;
  // A log without run info still names its owner.
  if (info.num_texts == 0)
    info = (pprof_run_info){&uuid, uuid.value[0] != '\0', NULL};
  reader->begun = true;
  reader->first_segment = ppi_segment_of(&info);
  PPI_TRY(note_segment(reader, reader->first_segment));
  reader->num_before = ppi_segment_records_before(&info);
  const char *named = pprof_run_info_text(&info, "uuid");
  snprintf(reader->uuid, sizeof reader->uuid, "%s", named ? named : "");
  return forward(reader, PPI_SINK_CALL(reader->sink, begin, &info));
}

static pprof_status tap_define(pprof_sink *tap,
                               const pprof_definition *definition) {
  log_reader *reader = reader_of(tap);
  return forward(reader, PPI_SINK_CALL(reader->sink, define, definition));
}

static pprof_status tap_events(pprof_sink *tap, const pprof_batch *batch) {
  log_reader *reader = reader_of(tap);
  // The previous segment gives the positions of a segment's lanes.
  if (reader->resumed && batch->num_events == 0 && batch->first_seq == 0)
    return PPROF_STATUS_OK;
  pprof_status status = ppi_tally_batch(&reader->tally, batch);
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  const ppi_columns *columns = ppi_columns_of(batch);
  return forward(reader,
                 ppi_log_payload_give(&reader->payload, columns, reader->sink));
}

static pprof_status read_window(log_reader *reader,
                                const ppi_log_block *block) {
  uint32_t index;
  bool opens;
  uint64_t time_ns;
  pprof_status status =
      ppi_log_payload_window(&reader->payload, block, &index, &opens, &time_ns);
  if (status != PPROF_STATUS_OK) return status;
  // A segment repeats the window in which it begins.
  if (opens && reader->resumed && index < reader->num_windows) return status;
  if (opens) reader->num_windows = (uint64_t)index + 1;
  return forward(reader,
                 PPI_SINK_CALL(reader->sink, window, index, opens, time_ns));
}

static pprof_status read_pieces(log_reader *reader,
                                const ppi_log_block *block) {
  bool whole;
  pprof_status status = ppi_log_payload_piece(&reader->payload, block, &whole);
  if (status != PPROF_STATUS_OK || !whole) return status;
  if (block->header.type == PPI_LOG_TOTALS) {
    reader->complete = true;
    reader->goes_on = ppi_segment_goes_on(reader->payload.notes.items,
                                          reader->payload.notes.num);
  }
  if (block->header.type != PPI_LOG_CHECKPOINT) return status;
  pprof_checkpoint checkpoint = {block->header.max_end_ns, reader->payload.open,
                                 reader->payload.num_open};
  return forward(reader, PPI_SINK_CALL(reader->sink, checkpoint, &checkpoint));
}

static pprof_status read_block(log_reader *reader, const ppi_log_block *block) {
  uint8_t type = block->header.type;
  if (type < PPI_LOG_INFO || type > PPI_LOG_TOTALS) return PPROF_STATUS_OK;
  // A sink that has begun has no use for a second run info.
  if (type == PPI_LOG_INFO && reader->begun) return PPROF_STATUS_OK;
  if (reader->skims && (type == PPI_LOG_EVENTS || type == PPI_LOG_CHECKPOINT))
    return reader->begun ? PPROF_STATUS_OK : begin(reader);
  PPI_TRY(ppi_log_payload_open(&reader->payload, block));
  if (type != PPI_LOG_INFO && !reader->begun) PPI_TRY(begin(reader));
  switch (type) {
    case PPI_LOG_DEFINITIONS:
      return ppi_log_payload_define(&reader->payload, block, &reader->tap);
    case PPI_LOG_EVENTS:
      return ppi_log_payload_events(&reader->payload, block, &reader->tap);
    case PPI_LOG_WINDOW:
      return read_window(reader, block);
    default:
      return read_pieces(reader, block);
  }
}

// The effect of a block's failure on reading: a bad block is counted.
static pprof_status judge(log_reader *reader, const ppi_log_block *block,
                          pprof_status status) {
  if (reader->sink_failed || status == PPROF_STATUS_NO_MEMORY) return status;
  if (status != PPROF_STATUS_OK) ppi_log_file_count_bad(reader->file, block);
  return PPROF_STATUS_OK;
}

static pprof_status deliver_first(log_reader *reader) {
  ppi_log_block block;
  pprof_status status =
      ppi_log_ahead_deliver(reader->ahead, &reader->tap, &block);
  return judge(reader, &block, status);
}

static pprof_status deliver_all(log_reader *reader) {
  pprof_status status = PPROF_STATUS_OK;
  while (reader->ahead && !ppi_log_ahead_is_empty(reader->ahead) &&
         status == PPROF_STATUS_OK)
    status = deliver_first(reader);
  return status;
}

// All other blocks are read here, once earlier ones are delivered.
static pprof_status take_block(log_reader *reader, const ppi_log_block *block) {
  bool is_ahead =
      reader->ahead && reader->begun && block->header.type == PPI_LOG_EVENTS;
  pprof_status status = PPROF_STATUS_OK;
  if (!is_ahead) {
    status = deliver_all(reader);
    if (status != PPROF_STATUS_OK) return status;
    return judge(reader, block, read_block(reader, block));
  }
  if (ppi_log_ahead_is_full(reader->ahead)) status = deliver_first(reader);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_log_ahead_put(reader->ahead, block);
}

static pprof_status read_blocks(log_reader *reader) {
  ppi_log_block block;
  while (ppi_log_file_next(reader->file, &block)) {
    pprof_status status =
        block.ok ? take_block(reader, &block) : PPROF_STATUS_OK;
    if (status != PPROF_STATUS_OK) return status;
  }
  PPI_TRY(deliver_all(reader));
  return reader->begun ? PPROF_STATUS_OK : begin(reader);
}

// ---- the end of a run ----

// Totals for a run that is incomplete.
static bool describe_gaps(const log_reader *reader, char *out, size_t size) {
  uint32_t first = reader->first_segment, last = reader->segment;
  if (first == 0) return false;
  size_t len = (size_t)snprintf(out, size, "%u", first);
  if (last > first)
    len += (size_t)snprintf(out + len, size - len, " to %u", last);
  if (first > 1)
    len += (size_t)snprintf(out + len, size - len, ", without the %u before",
                            first - 1);
  if (reader->num_before)
    len += (size_t)snprintf(out + len, size - len, " (%llu records)",
                            (unsigned long long)reader->num_before);
  if (reader->num_gaps)
    len += (size_t)snprintf(out + len, size - len, ", %u between them missing",
                            reader->num_gaps);
  if (reader->num_repeated)
    len += (size_t)snprintf(out + len, size - len, ", %u of them twice",
                            reader->num_repeated);
  if (reader->goes_on)
    snprintf(out + len, size - len, ", without those that follow");
  return first > 1 || reader->num_gaps || reader->num_repeated ||
         reader->goes_on;
}

static bool describe_unknown(const log_reader *reader, char *out, size_t size) {
  snprintf(out, size,
           "%llu of a kind that this version does not know were left out; read "
           "the log with a later version",
           (unsigned long long)reader->payload.num_unknown);
  return reader->payload.num_unknown;
}

static size_t copy_notes(const log_reader *reader, ppi_text *out) {
  size_t num = 0;
  for (size_t i = 0; reader->complete && i < reader->payload.notes.num; i++)
    if (strcmp(reader->payload.notes.items[i].key, PPI_SEGMENT_KEY) != 0)
      out[num++] = reader->payload.notes.items[i];
  return num;
}

static pprof_status notify_totals(log_reader *reader, ppi_tally *sum,
                                  ppi_text *notes) {
  const ppi_log_payload *payload = &reader->payload;
  char text[160], unknown[128];
  pprof_totals totals = {.notes = notes,
                         .num_notes = copy_notes(reader, notes)};
  if (describe_gaps(reader, text, sizeof text))
    notes[totals.num_notes++] = (ppi_text){"segments", text};
  if (describe_unknown(reader, unknown, sizeof unknown))
    notes[totals.num_notes++] = (ppi_text){"definitions", unknown};
  pprof_totals own = {0};
  if (reader->complete)
    own = (pprof_totals){payload->items, payload->num_items, NULL, 0};
  ppi_total *items;
  pprof_status status = ppi_log_totals_join(
      sum, &own,
      reader->complete
          ? ppi_totals_get(&own, PPROF_ALL_LANES, PPI_TOTAL_INCOMPLETE)
          : 1,
      &items, &totals.num_items);
  if (status != PPROF_STATUS_OK) return status;
  totals.items = items;
  status = forward(reader, PPI_SINK_CALL(reader->sink, finish, &totals));
  ppi_free(items);
  return status;
}

// Totals have counts that no event has. Without totals, counts come from the
// events.
static pprof_status finish(log_reader *reader) {
  const ppi_log_payload *payload = &reader->payload;
  if (reader->complete && !reader->segment && !payload->num_unknown) {
    pprof_totals totals = {payload->items, payload->num_items,
                           payload->notes.items, payload->notes.num};
    return forward(reader, PPI_SINK_CALL(reader->sink, finish, &totals));
  }
  ppi_text *notes = ppi_alloc((payload->notes.num + 2) * sizeof *notes);
  if (!notes) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = PPROF_STATUS_OK;
  if (!reader->complete)
    status = ppi_tally_join(&reader->earlier, &reader->tally);
  PPI_THEN(status, notify_totals(reader, &reader->earlier, notes));
  ppi_free(notes);
  return status;
}

// ---- runs and segments ----

// Adds the segment's share to the run's; the next segment begins.
static pprof_status resume(log_reader *reader, uint32_t segment) {
  pprof_status status = ppi_tally_join(&reader->earlier, &reader->tally);
  ppi_log_payload_reset(&reader->payload);
  ppi_tally_clear(&reader->tally);
  reader->num_gaps += segment - reader->segment - 1;
  if (status == PPROF_STATUS_OK) status = note_segment(reader, segment);
  reader->complete = reader->goes_on = false;
  reader->resumed = true;
  return status;
}

static pprof_status end_run(log_reader *reader) {
  if (!reader->begun) return PPROF_STATUS_OK;
  pprof_status status = finish(reader);
  reader->begun = false;
  return status;
}

static void clear_run(log_reader *reader) {
  ppi_log_payload_reset(&reader->payload);
  reader->payload.num_defined = reader->payload.num_unknown = 0;
  ppi_tally_clear(&reader->tally);
  ppi_tally_clear(&reader->earlier);
  reader->begun = reader->complete = reader->goes_on = reader->resumed = false;
  reader->first_segment = reader->segment = 0;
  reader->num_segments = 0;
  reader->num_before = 0;
  reader->num_gaps = reader->num_repeated = 0;
  reader->num_windows = 0;
}

static bool was_read(const log_reader *reader, uint32_t segment) {
  size_t at = reader->num_segments;
  while (at > 0 && reader->segments[at - 1] > segment) at--;
  return segment && at > 0 && reader->segments[at - 1] == segment;
}

// A run in segments stays open until the next part is known. *out_repeated:
// this segment was read before.
static pprof_status start_run(log_reader *reader, const char *path,
                              bool *out_repeated) {
  *out_repeated = false;
  if (reader->begun) {
    ppi_log_section next;
    pprof_status status =
        ppi_log_peek(path, ppi_log_file_run_offset(reader->file), &next);
    bool same = status == PPROF_STATUS_OK && reader->uuid[0] &&
                strcmp(next.uuid, reader->uuid) == 0;
    if (same && next.segment > reader->segment)
      return resume(reader, next.segment);
    *out_repeated = same && was_read(reader, next.segment);
    if (*out_repeated) return PPROF_STATUS_OK;
    PPI_TRY(end_run(reader));
  }
  clear_run(reader);
  return PPROF_STATUS_OK;
}

static void skip_blocks(log_reader *reader) {
  ppi_log_block block;
  while (ppi_log_file_next(reader->file, &block)) {
  }
  reader->num_repeated++;
}

static pprof_status read_run(log_reader *reader, const char *path) {
  bool repeated;
  pprof_status status = start_run(reader, path, &repeated);
  if (repeated)
    skip_blocks(reader);
  else if (status == PPROF_STATUS_OK)
    status = read_blocks(reader);
  if (status == PPROF_STATUS_OK && !reader->segment) status = end_run(reader);
  return status;
}

static pprof_status say(pprof_status status, const char *path,
                        pprof_error *error) {
  return ppi_fail(error, status, "%s: %s", path, pprof_status_string(status));
}

// Reports the first damage, but reads the rest, too.
static pprof_status read_runs(log_reader *reader, const char *path,
                              pprof_status *damaged, pprof_error *error) {
  for (bool more = true; more;) {
    pprof_status status = read_run(reader, path);
    if (status != PPROF_STATUS_OK) return say(status, path, error);
    if (*damaged == PPROF_STATUS_OK)
      *damaged = ppi_log_damage_report(ppi_log_file_damage(reader->file), path,
                                       reader->complete, error);
    if (*damaged == PPROF_STATUS_OK && reader->num_gaps)
      *damaged = ppi_fail(error, PPROF_STATUS_CORRUPT,
                          "%s: segments missing before it: %u", path,
                          reader->num_gaps);
    PPI_TRY(ppi_log_file_next_run(reader->file, path, &more, error));
  }
  return PPROF_STATUS_OK;
}

static pprof_status read_paths(log_reader *reader, const char *const *paths,
                               size_t num_paths, pprof_error *error) {
  pprof_status damaged = PPROF_STATUS_OK, status = PPROF_STATUS_OK;
  for (size_t i = 0; i < num_paths && status == PPROF_STATUS_OK; i++) {
    status = ppi_log_file_open(paths[i], &reader->file, error);
    if (status == PPROF_STATUS_OK && reader->skims)
      ppi_log_contents_skim(paths[i], reader->file, &reader->contents);
    PPI_THEN(status, read_runs(reader, paths[i], &damaged, error));
    ppi_log_file_close(reader->file);
    reader->file = NULL;
  }
  // Finishes the delivered part, whatever came after it.
  if (reader->sink_failed || status == PPROF_STATUS_NO_MEMORY) return status;
  pprof_status ended = end_run(reader);
  if (ended != PPROF_STATUS_OK && status == PPROF_STATUS_OK)
    return say(ended, paths[num_paths - 1], error);
  return status == PPROF_STATUS_OK ? damaged : status;
}

typedef struct log_reading {
  bool skims;
  ppi_jobs *jobs;  // NULL: decodes each block when it is delivered
} log_reading;

static pprof_status read_all(const char *const *paths, size_t num_paths,
                             const log_reading *how, pprof_sink *sink,
                             pprof_error *error) {
  log_reader *reader = ppi_alloc(sizeof *reader);
  if (!reader) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  reader->sink = sink;
  reader->skims = how->skims;
  reader->ahead = ppi_log_ahead_create(how->jobs);
  reader->tap = (pprof_sink){.size = sizeof(pprof_sink) | PPI_IN_COLUMNS,
                             .define = tap_define,
                             .events = tap_events};
  pprof_status status = ppi_log_payload_init(&reader->payload);
  status = status == PPROF_STATUS_OK
               ? read_paths(reader, paths, num_paths, error)
               : ppi_fail(error, status, "out of memory");
  ppi_log_ahead_destroy(reader->ahead);
  ppi_log_payload_clear(&reader->payload);
  ppi_tally_clear(&reader->tally);
  ppi_tally_clear(&reader->earlier);
  ppi_free(reader->segments);
  ppi_free(reader);
  return status;
}

pprof_status ppi_log_read_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error) {
  return ppi_log_read_ahead(paths, num_paths, NULL, sink, error);
}

pprof_status ppi_log_read_ahead(const char *const *paths, size_t num_paths,
                                ppi_jobs *jobs, pprof_sink *sink,
                                pprof_error *error) {
  const log_reading how = {.jobs = jobs};
  return read_all(paths, num_paths, &how, sink, error);
}

pprof_status ppi_log_skim_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error) {
  const log_reading how = {.skims = true};
  return read_all(paths, num_paths, &how, sink, error);
}

pprof_status pprof_log_read(const char *path, pprof_sink *sink,
                            pprof_error *error) {
  PPI_UNCANCELLED;
  return ppi_log_read_all(&path, 1, sink, error);
}
