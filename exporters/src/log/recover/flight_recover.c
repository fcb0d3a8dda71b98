// SPDX-License-Identifier: Apache-2.0
//
// Makes a dump of the moment of the process's death. Definitions and windows
// come from the spool, since the ring may have lost its own.
#include "log/recover/flight_recover.h"

#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "flight/flight_io.h"
#include "log/format/staged.h"
#include "log/read/log_glance.h"
#include "log/write/log_writer.h"

enum { MAX_NAMES = 10000 };

typedef struct recovery {
  pprof_sink past_sink;  // of the first walk through the spool
  pprof_sink tail_sink;  // of the second
  pprof_sink row_sink;   // of blocks of definitions
  ppi_salvage *salvage;
  const ppi_staging *blocks;
  ppi_flight_past past;
  ppi_flight_dump dump;
  ppi_flight_span span;
  ppi_lane_high_water ends;  // of all blocks, including skipped ones
  // Definitions of rows in blocks: those before the dump's first block, and
  // whether later blocks have some. By lane, 1 + the number of its first record
  // there.
  ppi_flight_past rows;
  ppi_lane_high_water redefined, firsts;
  uint8_t *copy;
  pprof_event *events;
  size_t capacity;
  uint64_t first_ns, num_left_out;
  uint64_t first_block;  // cursor after the dump's first block; 0: none
  ppi_flight_recovery *out;
  char reason[PPI_FLIGHT_REASON_MAX];
} recovery;

static recovery *of_tail(pprof_sink *sink) {
  return (recovery *)(void *)((char *)sink - offsetof(recovery, tail_sink));
}

static uint64_t kept_in_ring(void *user, uint32_t lane) {
  const recovery *job = user;
  return PPI_MAX(ppi_lane_high_water_of(&job->ends, lane),
                 ppi_salvage_dropped(job->salvage, lane));
}

static bool is_inside(const recovery *job, const pprof_event *event) {
  return PPI_MAX(event->end_ns, event->device_end_ns) >= job->span.from_ns;
}

// ---- the spool's first walk ----

static pprof_status past_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  return ppi_flight_past_define(&((recovery *)sink)->past, definition, 0, 0)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status past_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  return ppi_flight_past_window(&((recovery *)sink)->past, index, opens,
                                time_ns, 0, 0)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

// Without a cut, nothing begins before the dump.
static pprof_status past_events(pprof_sink *sink, const pprof_batch *batch) {
  recovery *job = (recovery *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (is_inside(job, event) && !(event->flags & PPROF_FLAG_CLIPPED))
      job->first_ns = PPI_MIN(job->first_ns, event->start_ns);
  }
  return PPROF_STATUS_OK;
}

static pprof_status read_past(recovery *job) {
  job->past_sink = (pprof_sink){.size = sizeof(pprof_sink),
                                .define = past_define,
                                .events = past_events,
                                .window = past_window};
  const pprof_run_info *info = ppi_salvage_run_info(job->salvage);
  if (!ppi_texts_join(&job->past.texts, info->texts, info->num_texts))
    return PPROF_STATUS_NO_MEMORY;
  return ppi_salvage_deliver(job->salvage, kept_in_ring, job, true,
                             &job->past_sink);
}

// ---- the ring's blocks ----

// Windows are better in the spool; rows have only their current names there.
static bool wants(const recovery *job, const ppi_log_block *block) {
  uint8_t type = block->header.type;
  return (type == PPI_LOG_EVENTS || type == PPI_LOG_CHECKPOINT ||
          type == PPI_LOG_DEFINITIONS) &&
         block->ok && ppi_flight_dump_wants(&job->dump, &block->header);
}

static pprof_status define_row(pprof_sink *sink,
                               const pprof_definition *definition) {
  recovery *job =
      (recovery *)(void *)((char *)sink - offsetof(recovery, row_sink));
  if (definition->kind != PPROF_DEFINITION_LANE) return PPROF_STATUS_OK;
  if (job->first_block)
    return ppi_lane_high_water_raise(&job->redefined, definition->id, 1);
  return ppi_flight_past_define(&job->rows, definition, 0, 0)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status look_at_rows(recovery *job, const ppi_log_block *block) {
  job->row_sink =
      (pprof_sink){.size = sizeof(pprof_sink), .define = define_row};
  pprof_status status = ppi_log_payload_open(&job->dump.payload, block);
  return status == PPROF_STATUS_OK
             ? ppi_log_payload_define(&job->dump.payload, block, &job->row_sink)
             : status;
}

static pprof_status note_firsts(recovery *job, const ppi_log_block *block) {
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i < block->header.num_runs; i++) {
    const ppi_log_run *run = &block->runs[i];
    if (status == PPROF_STATUS_OK &&
        !ppi_lane_high_water_of(&job->firsts, run->lane))
      status = ppi_lane_high_water_raise(&job->firsts, run->lane,
                                         run->first_seq + 1);
  }
  return status;
}

// The spool's name of a row may be newer than the dump's first block. The
// thread that had the row before may be gone.
static pprof_status name_rows(recovery *job) {
  const ppi_flight_definitions *known = &job->past.kinds[PPROF_DEFINITION_LANE];
  const ppi_flight_definitions *rows = &job->rows.kinds[PPROF_DEFINITION_LANE];
  size_t num = PPI_MAX(known->num, job->firsts.num);
  bool done = true;
  for (uint32_t id = 0; id < num && done; id++) {
    uint64_t first = ppi_lane_high_water_of(&job->firsts, id);
    bool is_known = id < known->num && known->items[id].name;
    bool is_other = ppi_lane_high_water_of(&job->redefined, id) ||
                    (first && (!is_known || first - 1 < ppi_salvage_first(
                                                            job->salvage, id)));
    const pprof_definition gone = {PPROF_DEFINITION_LANE,  id,           0, 0,
                                   (uint64_t)1 << 63 | id, "left thread"};
    if (id < rows->num && rows->items[id].name)
      done = ppi_flight_past_define(&job->past, &rows->items[id], 0, 0);
    else if (is_other && id)
      done = ppi_flight_past_define(&job->past, &gone, 0, 0);
  }
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static bool next_block(recovery *job, uint64_t *cursor, ppi_log_block *out) {
  return ppi_log_next_staged(job->blocks, cursor, job->dump.payload.runs, out);
}

static pprof_status look_at_blocks(recovery *job) {
  uint64_t cursor = 0;
  ppi_log_block block;
  pprof_status status = PPROF_STATUS_OK;
  job->first_ns = UINT64_MAX;
  while (status == PPROF_STATUS_OK && next_block(job, &cursor, &block)) {
    if (!block.ok) continue;
    if (block.header.type == PPI_LOG_DEFINITIONS)
      status = look_at_rows(job, &block);
    if (block.header.type != PPI_LOG_EVENTS) continue;
    status = ppi_lane_high_water_raise_block(&job->ends, block.bytes);
    if (status != PPROF_STATUS_OK || !wants(job, &block)) continue;
    status = note_firsts(job, &block);
    job->first_ns = PPI_MIN(job->first_ns, block.header.min_start_ns);
    if (!job->first_block) job->first_block = cursor;
  }
  return status;
}

static void copy_blocks(recovery *job) {
  uint64_t cursor = 0;
  ppi_log_block block;
  while (!job->dump.over && next_block(job, &cursor, &block)) {
    if (block.size > PPI_LOG_MAX_BLOCK) continue;
    bool begun = job->first_block && cursor >= job->first_block;
    if (!begun || !wants(job, &block)) {
      if (block.header.type == PPI_LOG_EVENTS)
        job->num_left_out += block.header.num_events;
      continue;
    }
    memcpy(job->copy, block.bytes, (size_t)block.size);
    ppi_flight_dump_block(&job->dump, job->copy, (uint32_t)block.size);
    job->out->num_blocks++;
  }
}

// ---- the spool's second walk ----

// Windows in the dump's span. A window that was open at death begins with the
// dump at the earliest.
static pprof_status tail_events(pprof_sink *sink, const pprof_batch *batch) {
  recovery *job = of_tail(sink);
  if (!PPI_ROOM(job->events, job->capacity, batch->num_events + 1))
    return PPROF_STATUS_NO_MEMORY;
  pprof_event *events = job->events;
  pprof_batch inside = *batch;
  inside.events = events;
  inside.stride = sizeof *events;
  inside.num_events = 0;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (!is_inside(job, event)) {
      job->num_left_out++;
      continue;
    }
    pprof_event *copy = &events[inside.num_events++];
    *copy = *event;
    if (copy->flags & PPROF_FLAG_CLIPPED)
      copy->start_ns = PPI_MAX(copy->start_ns, job->dump.first_ns);
    job->dump.last_ns = PPI_MAX(job->dump.last_ns, event->end_ns);
  }
  if (inside.num_events == 0) return PPROF_STATUS_OK;
  job->out->num_records += inside.num_events;
  pprof_status status = ppi_tally_batch(&job->dump.tally, &inside);
  return status == PPROF_STATUS_OK
             ? ppi_log_assembler_events(&job->dump.assembler, &inside)
             : status;
}

static pprof_status tail_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  return definition->kind == PPROF_DEFINITION_LANE
             ? ppi_log_assembler_define(&of_tail(sink)->dump.assembler,
                                        definition)
             : PPROF_STATUS_OK;
}

static pprof_status add_tail(recovery *job) {
  job->tail_sink = (pprof_sink){
      .size = sizeof(pprof_sink), .define = tail_define, .events = tail_events};
  pprof_status status = ppi_salvage_deliver(job->salvage, kept_in_ring, job,
                                            false, &job->tail_sink);
  return status == PPROF_STATUS_OK
             ? ppi_log_assembler_flush(&job->dump.assembler)
             : status;
}

// Losses are known for the whole run only.
static void count(const recovery *job, uint64_t counts[PPI_NUM_TOTALS]) {
  const pprof_totals *totals = ppi_salvage_totals(job->salvage);
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
    counts[key] = ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key);
  // CPU times are those of the whole run, not of the dump.
  for (int i = 0; i < 4; i++) counts[PPI_TOTAL_CPU_PROCESS_NS + i] = 0;
  counts[PPI_TOTAL_EXCLUDED] +=
      job->num_left_out + ppi_ring_overwritten(ppi_salvage_ring(job->salvage));
  counts[PPI_TOTAL_INCOMPLETE] = 1;
}

static pprof_status make_dump(recovery *job) {
  pprof_status status = look_at_blocks(job);
  if (status == PPROF_STATUS_OK) status = read_past(job);
  if (status == PPROF_STATUS_OK) status = name_rows(job);
  if (status != PPROF_STATUS_OK) return status;
  ppi_flight_dump_begin(&job->dump, &job->past, 1, UINT64_MAX, job->first_ns,
                        job->reason);
  copy_blocks(job);
  job->dump.over = false;
  if (job->dump.status != PPROF_STATUS_OK) return job->dump.status;
  PPI_TRY(add_tail(job));
  uint64_t counts[PPI_NUM_TOTALS];
  count(job, counts);
  return ppi_flight_dump_finish(&job->dump, counts, job->reason);
}

// ---- names ----

// Whether an earlier recover made the dump at `path`.
static bool is_made(const recovery *job, const char *path, const char *uuid) {
  ppi_log_glance found;
  return ppi_log_glance_at(path, &found, NULL) == PPROF_STATUS_OK &&
         strcmp(found.uuid, uuid) == 0 &&
         strcmp(found.flight, job->reason) == 0;
}

// A dump of a process that died during a dump has that name, too.
static bool is_used(const char *name) {
  return ppi_part_is_there(name) ||
         ppi_part_is_there(ppi_path_make("%s.part", name).text);
}

static bool find_made(const recovery *job, const char *path, const char *uuid,
                      char out[PPI_RECOVER_PATH_MAX]) {
  for (int n = 0; n < MAX_NAMES; n++) {
    const ppi_path name = ppi_log_numbered_path(path, n);
    bool made = is_made(job, name.text, uuid);
    if (made) snprintf(out, PPI_RECOVER_PATH_MAX, "%s", name.text);
    if (made || !is_used(name.text)) return made;
  }
  return false;
}

static pprof_status recover_at(recovery *job, const char *path,
                               const char *uuid, pprof_error *error) {
  ppi_part part;
  pprof_status status = ppi_flight_open_part(path, &part, error);
  if (status != PPROF_STATUS_OK) return status;
  snprintf(job->out->path, sizeof job->out->path, "%s", part.path.text);
  status = ppi_flight_dump_open(&job->dump, uuid, &job->span, &part, NULL);
  job->copy = ppi_alloc(PPI_LOG_MAX_BLOCK);
  if (!job->copy) status = PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK) status = make_dump(job);
  if (job->dump.status == PPROF_STATUS_OK) job->dump.status = status;
  if (status != PPROF_STATUS_OK)
    ppi_fail(error, status, "%s",
             job->dump.error.text[0] ? job->dump.error.text
                                     : pprof_status_string(status));
  ppi_flight_dump_clear(&job->dump);
  ppi_flight_past_clear(&job->past);
  ppi_flight_past_clear(&job->rows);
  ppi_lane_high_water_clear(&job->redefined);
  ppi_lane_high_water_clear(&job->firsts);
  ppi_lane_high_water_clear(&job->ends);
  ppi_free(job->events);
  ppi_free(job->copy);
  return status;
}

pprof_status ppi_flight_recover(ppi_salvage *salvage, const char *path,
                                ppi_flight_recovery *out, pprof_error *error) {
  const ppi_ring *ring = ppi_salvage_ring(salvage);
  uint64_t death_ns = ppi_salvage_last_time_ns(salvage);
  *out = (ppi_flight_recovery){0};
  recovery job = {.salvage = salvage,
                  .blocks = ppi_ring_blocks(ring),
                  .dump = {.part.fd = -1},
                  .out = out};
  job.span = (ppi_flight_span){
      death_ns, death_ns - PPI_MIN(death_ns, ring->before_ns), UINT64_MAX};
  snprintf(job.reason, sizeof job.reason, PPI_FLIGHT_DEATH "%llu.%06llu s",
           (unsigned long long)(death_ns / 1000000000),
           (unsigned long long)(death_ns / 1000 % 1000000));
  const char *uuid = pprof_run_info_text(ppi_salvage_run_info(salvage), "uuid");
  if (!uuid) uuid = "";
  out->already_whole = find_made(&job, path, uuid, out->path);
  return out->already_whole ? PPROF_STATUS_OK
                            : recover_at(&job, path, uuid, error);
}
