// SPDX-License-Identifier: Apache-2.0
//
// Streams events into a Chrome trace file: a sink. It keeps names, the roots of
// its rows, the stages of flows (chrome_flow.h) and buffered
// slices (chrome_rows.h).
#include "chrome/chrome.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/memory_limit.h"
#include "base/uncancelled.h"
#include "chrome/chrome_rows.h"
#include "chrome/chrome_write.h"
#include "event/recorded_wait.h"
#include "file/program.h"

enum { LIMIT_MS = 10000, MOST_BYTES = 32 << 20 };

// Ranges that end before they start (a clock's step) are shown without length;
// the totals count them.
static uint64_t end_of(uint64_t start_ns, uint64_t end_ns) {
  return end_ns > start_ns ? end_ns : start_ns;
}

static ppi_chrome_slice host_side(const ppi_chrome_writer *writer,
                                  const pprof_event *event) {
  const ppi_chrome_name *site =
      ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_SITE], event->site);
  ppi_chrome_slice slice = {
      .start_ns = event->start_ns,
      .end_ns = end_of(event->start_ns, event->end_ns),
      .flows = event->flows,
      .num_flows = event->num_flows,
      .site = event->site,
      .flags = event->flags,
      .window = event->window,
      .depth = event->depth,
      .cpu = event->cpu,
      .numbers = event->numbers,
  };
  if (event->work) slice.work = *event->work;
  const uint64_t *wait = ppi_wait_numbers(event, site ? site->parent : 0);
  if (wait) slice.woken_by = (uint32_t)wait[PPI_WAIT_BY];
  if (site && site->parent == PPROF_CATEGORY_PROFILE_STEP &&
      event->kind == PPROF_KIND_RANGE && event->value >= 0 &&
      event->value < 0x1p63) {
    slice.is_step = true;
    slice.step = (uint64_t)event->value;
  }
  return slice;
}

// A kernel or copy has no host range of its own, only one around its launch.
static bool is_launched(const ppi_chrome_writer *writer,
                        const pprof_event *event) {
  const ppi_chrome_name *site =
      ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_SITE], event->site);
  return site && event->depth > 0 && event->end_ns <= event->start_ns &&
         (site->parent == PPROF_CATEGORY_KERNEL ||
          site->parent == PPROF_CATEGORY_MEMCPY ||
          site->parent == PPROF_CATEGORY_MEMSET);
}

static pprof_status add_device_range(ppi_chrome_writer *writer,
                                     const pprof_event *event) {
  ppi_chrome_slice slice = host_side(writer, event);
  bool timed = !(event->flags & PPROF_FLAG_NO_DEVICE_TIME) &&
               (event->device_start_ns | event->device_end_ns) != 0;
  slice.is_submission = true;
  slice.stream = event->stream;
  slice.is_timed = timed;
  slice.device_start_ns = event->device_start_ns;
  slice.device_end_ns = event->device_end_ns;
  slice.device_error_ns = event->device_error_ns;
  pprof_status status =
      ppi_chrome_rows_hold(writer, PPI_CHROME_SUBMIT, event->lane, &slice);
  if (status != PPROF_STATUS_OK || !timed) return status;
  slice.is_submission = false;
  slice.start_ns = event->device_start_ns;
  slice.end_ns = end_of(event->device_start_ns, event->device_end_ns);
  slice.has_device_error = true;
  slice.attributes = event->attributes;
  slice.device_error_ns = event->device_error_ns;
  if (event->device_start_ns >= event->start_ns) {
    slice.has_queue = true;
    slice.queue_ns = event->device_start_ns - event->start_ns;
  }
  slice.lane = event->lane;
  slice.has_arrow = slice.has_queue && is_launched(writer, event);
  return ppi_chrome_rows_hold(writer, PPI_CHROME_STREAM, event->stream, &slice);
}

static pprof_status add_range(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t batch_lane) {
  ppi_chrome_slice slice = host_side(writer, event);
  slice.is_async = event->flags & PPROF_FLAG_ASYNC || event->lane != batch_lane;
  if (slice.is_async)
    return ppi_chrome_rows_hold(writer, PPI_CHROME_ASYNC, event->lane, &slice);
  return ppi_chrome_rows_nest(writer, event->lane, &slice);
}

static pprof_status add_point(ppi_chrome_writer *writer,
                              const pprof_event *event) {
  uint32_t tid;
  PPI_TRY(ppi_chrome_rows_first(writer, event->lane, &tid));
  if (event->kind == PPROF_KIND_MARK)
    ppi_chrome_write_mark(writer, event, tid);
  else if (event->value - event->value == 0)
    ppi_chrome_write_counter(writer, event, tid);
  else
    writer->num_not_finite++;  // JSON cannot express them
  return PPROF_STATUS_OK;
}

// An incomplete trace is not finished: a session calls finish after a failure,
// too.
static pprof_status keep_failure(ppi_chrome_writer *writer,
                                 pprof_status status) {
  if (writer->out.status == PPROF_STATUS_OK) writer->out.status = status;
  return writer->out.status;
}

static pprof_status add_event(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t batch_lane) {
  writer->num_too_much +=
      event->numbers && event->numbers->full_name == PPROF_NAME_TOO_MUCH;
  switch (event->kind) {
    case PPROF_KIND_RANGE:
      return add_range(writer, event, batch_lane);
    case PPROF_KIND_DEVICE_RANGE:
      return add_device_range(writer, event);
    case PPROF_KIND_MARK:
    case PPROF_KIND_COUNTER:
      return add_point(writer, event);
    default:
      return PPROF_STATUS_OK;
  }
}

// The slice of a row that differs from others of its shape by its times alone;
// NULL: the row is no such one. It lasts until the next call.
static ppi_chrome_slice *slice_of_row(ppi_chrome_writer *writer,
                                      const ppi_columns *columns, size_t i) {
  const ppi_column_row *row = &columns->rows[i];
  if (row->is_whole) return NULL;
  const pprof_event *event = &columns->shapes[row->at].event;
  if (event->kind != PPROF_KIND_RANGE || event->numbers ||
      event->flags & PPROF_FLAG_ASYNC || event->lane != columns->batch.lane)
    return NULL;
  ppi_chrome_slice *slice = &writer->of_shapes[row->at];
  if (!slice->is_made) {
    *slice = host_side(writer, event);
    slice->is_made = true;
  }
  slice->start_ns = row->start_ns;
  slice->end_ns = row->end_ns;
  return slice;
}

static bool begin_shapes(ppi_chrome_writer *writer,
                         const ppi_columns *columns) {
  if (!PPI_ROOM(writer->of_shapes, writer->of_shapes_capacity,
                columns->num_shapes + 1))
    return false;
  memset(writer->of_shapes, 0, columns->num_shapes * sizeof *writer->of_shapes);
  return true;
}

// An import takes the same checkpoints as a report of the run, but the last one
// if it has no events behind it.
static void write_checkpoint(ppi_chrome_writer *writer) {
  if (!writer->is_checked) return;
  ppi_chrome_write_checkpoint(writer);
  writer->is_checked = false;
}

static pprof_status chrome_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  const ppi_columns *columns = ppi_columns_of(batch);
  write_checkpoint(writer);
  if (columns && !begin_shapes(writer, columns))
    return keep_failure(writer, PPROF_STATUS_NO_MEMORY);
  for (size_t i = 0; i < batch->num_events; i++) {
    pprof_event room;
    ppi_chrome_slice *slice = columns ? slice_of_row(writer, columns, i) : NULL;
    pprof_status status =
        slice ? ppi_chrome_rows_nest(writer, batch->lane, slice)
              : add_event(writer, ppi_batch_at(batch, i, &room), batch->lane);
    if (status != PPROF_STATUS_OK) return keep_failure(writer, status);
  }
  return writer->out.status;
}

static pprof_status chrome_checkpoint(pprof_sink *sink,
                                      const pprof_checkpoint *checkpoint) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  write_checkpoint(writer);
  writer->reported_until_ns = pprof_checkpoint_time_ns(checkpoint);
  pprof_status status = ppi_chrome_rows_check(writer, checkpoint);
  writer->is_checked = true;
  return keep_failure(writer, status);
}

static uint32_t process_id(const pprof_run_info *info) {
  const char *text = pprof_run_info_text(info, "pid");
  unsigned long pid = text ? strtoul(text, NULL, 10) : 0;
  return pid > 0 && pid < PPI_CHROME_FIRST_DEVICE_PID ? (uint32_t)pid : 1;
}

// The run's own process id, unless an earlier run has it.
static uint32_t free_pid(const ppi_chrome_writer *writer, uint32_t wanted) {
  uint32_t spare = PPI_CHROME_FIRST_OWN_PID;
  for (size_t i = 0; i < writer->num_begun; i++) {
    if (writer->pids[i] >= spare) spare = writer->pids[i] + 1;
    if (writer->pids[i] == wanted) wanted = 0;
  }
  return wanted ? wanted : spare;
}

// Clears the last run, so that its names do not reach the next one.
static void clear_run(ppi_chrome_writer *writer) {
  ppi_chrome_rows_clear(writer);
  for (size_t i = 0; i < PPI_CHROME_NUM_NAMES; i++)
    ppi_chrome_names_clear(&writer->names[i]);
  ppi_texts_clear(&writer->texts);
  ppi_free(writer->program);
  writer->program = NULL;
  writer->num_not_finite = writer->num_too_much = writer->reported_until_ns = 0;
  writer->is_checked = false;
  writer->has_windows = false;
}

static void place_run(ppi_chrome_writer *writer, const pprof_run_info *info) {
  size_t run = writer->num_begun;
  writer->pid = writer->own_pid = process_id(info);
  if (writer->shifts_ns) {
    writer->shift_ns = writer->shifts_ns[run];
    writer->label = writer->labels ? writer->labels[run] : NULL;
    writer->pid = writer->pids[run] = free_pid(writer, writer->pid);
  }
  writer->num_begun++;
}

// From now on its own thread writes the file; without a path, the caller's
// thread does.
static pprof_status start_io(ppi_chrome_writer *writer) {
  if (!writer->path) return PPROF_STATUS_OK;
  return ppi_file_io_start(&writer->part, writer->gzip, writer->disk,
                           writer->most_bytes, &writer->out.io);
}

static pprof_status copy_program(ppi_chrome_writer *writer,
                                 const pprof_run_info *info) {
  const char *command = pprof_run_info_text(info, "command");
  if (!command) return PPROF_STATUS_OK;
  ppi_page name = {0};
  ppi_page_program(&name, command);
  bool failed = name.failed;
  if (!failed && name.len) failed = !(writer->program = ppi_strdup(name.bytes));
  ppi_page_clear(&name);
  return failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static pprof_status chrome_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  bool first = writer->num_begun == 0;
  if (writer->num_begun > writer->num_finished ||
      writer->num_begun == writer->num_runs)
    return PPROF_STATUS_BUSY;
  if (!first) clear_run(writer);
  place_run(writer, info);
  pprof_status status =
      ppi_texts_join(&writer->texts, info->texts, info->num_texts)
          ? PPROF_STATUS_OK
          : PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK) status = copy_program(writer, info);
  if (status == PPROF_STATUS_OK && first) status = start_io(writer);
  if (status != PPROF_STATUS_OK) return keep_failure(writer, status);
  if (first) ppi_chrome_write_head(writer);
  return writer->out.status;
}

static bool is_same_name(const ppi_chrome_name *known,
                         const pprof_definition *definition) {
  ppi_page escaped = {0};
  ppi_page_json(&escaped, pprof_definition_name(definition));
  bool is_same = !escaped.failed && known->parent == definition->parent &&
                 strcmp(escaped.bytes, known->escaped) == 0;
  ppi_page_clear(&escaped);
  return is_same;
}

static bool is_another_name(const ppi_chrome_writer *writer,
                            const pprof_definition *definition) {
  if (definition->kind != PPROF_DEFINITION_SITE) return false;
  const ppi_chrome_name *known = ppi_chrome_names_get(
      &writer->names[PPROF_DEFINITION_SITE], definition->id);
  return known && !is_same_name(known, definition);
}

static bool is_another_thread(const ppi_chrome_writer *writer,
                              const pprof_definition *definition) {
  if (definition->kind != PPROF_DEFINITION_LANE) return false;
  const ppi_chrome_name *lane = ppi_chrome_names_get(
      &writer->names[PPROF_DEFINITION_LANE], definition->id);
  return lane && lane->number != definition->number;
}

static pprof_status chrome_define(pprof_sink *sink,
                                  const pprof_definition *definition) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  if (!ppi_definition_is_known(kind)) return PPROF_STATUS_OK;
  pprof_status status = PPROF_STATUS_OK;
  bool is_renamed = is_another_name(writer, definition);
  if (is_renamed) ppi_chrome_write_fold(writer, definition->id);
  if (is_another_thread(writer, definition))
    status = ppi_chrome_rows_leave(writer, pprof_definition_id(definition));
  else if (is_renamed && writer->num_buffered)
    status = ppi_chrome_rows_rename(writer, pprof_definition_id(definition));
  PPI_THEN(status, ppi_chrome_names_set(&writer->names[kind], definition));
  return keep_failure(writer, status);
}

static pprof_status chrome_window(pprof_sink *sink, uint32_t index, bool opens,
                                  uint64_t time_ns) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  writer->has_windows = true;
  ppi_chrome_write_window(writer, index, opens, time_ns);
  return writer->out.status;
}

// A caller that asks, such as a session's collector, must not wait in a call. A
// caller that never asks, such as a log's reader, waits for the disk.
static bool chrome_ready(pprof_sink *sink) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  writer->out.deadline_ns = PPI_FILE_NO_WAIT;
  // A failed writer reports its failure at the next callback.
  return writer->out.status != PPROF_STATUS_OK || !writer->out.io ||
         ppi_file_io_has_room(writer->out.io);
}

static uint64_t deadline_of(const ppi_chrome_writer *writer) {
  return ppi_file_io_deadline(writer->out.io, writer->limit_ms);
}

static pprof_status end_file(ppi_chrome_writer *writer, bool whole) {
  ppi_chrome_out *out = &writer->out;
  int error = 0;
  if (out->io)
    error = ppi_file_io_finish(out->io, whole,
                               whole ? out->deadline_ns : deadline_of(writer));
  else if (whole)
    error = ppi_file_pack_write(&out->pack, "", 0, true);
  out->io = NULL;
  ppi_chrome_out_fail(out, error);
  return out->status;
}

static pprof_status chrome_finish(pprof_sink *sink,
                                  const pprof_totals *totals) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  if (writer->num_begun == writer->num_finished) return PPROF_STATUS_INVALID;
  if (writer->out.status != PPROF_STATUS_OK) return writer->out.status;
  // The rest may wait for room.
  if (writer->out.io && writer->out.deadline_ns != PPI_FILE_FOR_EVER)
    writer->out.deadline_ns = deadline_of(writer);
  pprof_status status = ppi_chrome_rows_check(writer, NULL);
  if (status != PPROF_STATUS_OK) return status;
  // Arrows continue the list of events; without an event there are none.
  ppi_chrome_flows_write(&writer->flows, &writer->out.page);
  ppi_chrome_write_names(writer);
  if (writer->num_runs > 1) ppi_chrome_write_run(writer, totals);
  writer->num_finished++;
  if (writer->num_finished < writer->num_runs) return writer->out.status;
  ppi_chrome_write_tail(writer, totals);
  ppi_chrome_out_flush(&writer->out);
  if (writer->out.status != PPROF_STATUS_OK) return writer->out.status;
  writer->finished = true;
  return end_file(writer, true);
}

// Removes the .part of a writer that never began. If the disk has dropped that
// file for others, its path may belong to another writer.
static void drop_part(ppi_chrome_writer *writer) {
  ppi_part *part = &writer->part;
  bool is_there = part->part_path.text[0] &&
                  ppi_disk_knows(writer->disk, part->part_path.text);
  if (is_there) ppi_disk_forget(writer->disk, part->part_path.text);
  ppi_part_clear(part, is_there);
}

static void chrome_destroy(pprof_sink *sink) {
  PPI_UNCANCELLED;
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  if (!writer) return;
  // A viewer cannot use half a trace; the log survives.
  if (!writer->finished) end_file(writer, false);
  clear_run(writer);
  ppi_chrome_flows_clear(&writer->flows);
  drop_part(writer);
  ppi_disk_destroy(writer->disk);
  ppi_chrome_out_clear(&writer->out);
  PPI_FREE_ALL(writer->of_shapes, writer->shifts_ns, writer->pids, writer->path,
               writer);
}

static ppi_chrome_writer *create_writer(void) {
  ppi_chrome_writer *writer = ppi_alloc(sizeof *writer);
  if (!writer) return NULL;
  writer->base = (pprof_sink){
      .size = sizeof(pprof_sink) | PPI_IN_COLUMNS,
      PPI_SINK_CALLBACKS(chrome_),
      .destroy = chrome_destroy,
      .ready = chrome_ready,
  };
  writer->part.fd = -1;
  writer->num_runs = 1;
  writer->next_tid = PPI_CHROME_FIRST_OWN_TID;
  writer->device_pid = PPI_CHROME_FIRST_DEVICE_PID;
  ppi_chrome_writer_set_bounds(&writer->base, LIMIT_MS,
                               ppi_memory_share(MOST_BYTES));
  pprof_status status = ppi_chrome_flows_init(&writer->flows);
  if (status == PPROF_STATUS_OK) status = ppi_chrome_out_open(&writer->out);
  if (status == PPROF_STATUS_OK) return writer;
  chrome_destroy(&writer->base);
  return NULL;
}

pprof_status ppi_chrome_writer_create_fd(int fd, bool gzip, pprof_sink **out,
                                         pprof_error *error) {
  ppi_chrome_writer *writer = create_writer();
  bool has_pack =
      writer && ppi_file_pack_open(&writer->out.pack, gzip, PPI_CODEC_IGZIP);
  if (!has_pack) {
    chrome_destroy(writer ? &writer->base : NULL);
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  writer->part = (ppi_part){.fd = fd};
  writer->out.pack.part = &writer->part;
  writer->out.pack.own_table = true;  // the caller's to keep open
  *out = &writer->base;
  return PPROF_STATUS_OK;
}

pprof_status ppi_chrome_writer_expect(pprof_sink *sink,
                                      const ppi_chrome_plan *plan) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  if (plan->num_runs < 2) return PPROF_STATUS_OK;
  size_t size = plan->num_runs * sizeof *writer->shifts_ns;
  writer->shifts_ns = ppi_alloc(size);
  writer->pids = ppi_alloc(plan->num_runs * sizeof *writer->pids);
  if (!writer->shifts_ns || !writer->pids) return PPROF_STATUS_NO_MEMORY;
  memcpy(writer->shifts_ns, plan->shifts_ns, size);
  writer->base_ns = plan->base_ns;
  writer->labels = plan->labels;
  writer->num_runs = plan->num_runs;
  // Two processes may use one number for two requests.
  writer->flows.pushed_out = true;
  return PPROF_STATUS_OK;
}

static bool ends_with(const char *text, const char *end) {
  size_t len = strlen(text), end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static pprof_status open_file(ppi_chrome_writer *writer, const char *path,
                              pprof_error *error) {
  pprof_status status = ppi_part_open(path, NULL, &writer->part, error);
  if (status != PPROF_STATUS_OK) return status;
  writer->gzip = ends_with(path, ".gz");
  writer->base.name = writer->path = ppi_strdup(writer->part.path.text);
  return writer->path
             ? status
             : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

pprof_status pprof_chrome_writer_create(const char *path, pprof_sink **out,
                                        pprof_error *error) {
  PPI_UNCANCELLED;
  if (!path || !*path || !out)
    return ppi_fail(error, PPROF_STATUS_INVALID, "a trace needs a path");
  ppi_chrome_writer *writer = create_writer();
  if (!writer) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = open_file(writer, path, error);
  if (status != PPROF_STATUS_OK) {
    chrome_destroy(&writer->base);
    return status;
  }
  *out = &writer->base;
  return PPROF_STATUS_OK;
}

void ppi_chrome_writer_set_disk(pprof_sink *sink, ppi_disk *disk) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  // Without memory to add the file here, the disk refuses its growth later.
  if (writer->part.part_path.text[0])
    ppi_disk_add_yielding(disk, writer->part.part_path.text);
  writer->disk = ppi_disk_ref(disk);
}

void ppi_chrome_writer_set_bounds(pprof_sink *sink, uint64_t limit_ms,
                                  uint64_t most_bytes) {
  ppi_chrome_writer *writer = (ppi_chrome_writer *)sink;
  writer->limit_ms = limit_ms;
  writer->most_bytes = most_bytes;
}

const char *ppi_chrome_writer_path(const pprof_sink *sink) {
  return ((const ppi_chrome_writer *)sink)->path;
}

int ppi_chrome_writer_error(const pprof_sink *sink) {
  return ((const ppi_chrome_writer *)sink)->out.error_number;
}

bool ppi_chrome_writer_is_whole(const pprof_sink *sink) {
  return ((const ppi_chrome_writer *)sink)->finished;
}
