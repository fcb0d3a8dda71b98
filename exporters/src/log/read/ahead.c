// SPDX-License-Identifier: Apache-2.0
//
// Decodes blocks in a ring of a few more than there are threads. The user puts
// and delivers blocks; each is a job between.
#include "log/read/ahead.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "log/format/log_payload.h"

// More decoded blocks than these only take memory: one thread delivers them.
#define MOST_SLOTS 8u

typedef struct slot {
  ppi_job job;
  ppi_log_payload payload;
  ppi_log_block block;  // with copies of its own
  ppi_log_run *runs;
  uint8_t *stored;
  ppi_columns *columns;  // by run
  // Of all runs.
  ppi_column_row *rows;
  ppi_column_shape *shapes;
  pprof_event *events;
  size_t runs_capacity, stored_capacity, columns_capacity;
  size_t rows_capacity, shapes_capacity, events_capacity;
  void **lists;  // what events point to
  size_t num_lists, lists_capacity;
  uint32_t num_decoded;  // runs
  pprof_status status;   // of the run after these
} slot;

struct ppi_log_ahead {
  ppi_jobs *jobs;
  uint64_t num_put, num_delivered;
  size_t num_slots;
  slot slots[];
};

// ---- the job ----

static bool keep_list(slot *self, void **list, size_t *capacity, size_t *num) {
  if (!*num) return true;
  if (!PPI_PUSH(self->lists, self->num_lists, self->lists_capacity, *list))
    return false;
  *list = NULL;
  *capacity = *num = 0;
  return true;
}

static bool keep_lists(slot *self, ppi_run_decoder *from) {
  return keep_list(self, (void **)&from->flows, &from->flows_capacity,
                   &from->num_flows) &&
         keep_list(self, (void **)&from->work, &from->work_capacity,
                   &from->num_work) &&
         keep_list(self, (void **)&from->cpu, &from->cpu_capacity,
                   &from->num_cpu) &&
         keep_list(self, (void **)&from->numbers, &from->numbers_capacity,
                   &from->num_numbers);
}

// Each run follows the one before it: there is room for all.
static pprof_status decode_runs(slot *self) {
  ppi_run_decoder *decoder = &self->payload.decoder;
  const uint8_t *at = self->payload.raw;
  size_t num_rows = 0, num_shapes = 0, num_events = 0;
  pprof_status status = PPROF_STATUS_OK;
  for (; self->num_decoded < self->block.header.num_runs; self->num_decoded++) {
    const ppi_log_run *run = &self->runs[self->num_decoded];
    decoder->rows = self->rows + num_rows;
    decoder->rows_capacity = self->rows_capacity - num_rows;
    decoder->shapes = self->shapes + num_shapes;
    decoder->shapes_capacity = self->shapes_capacity - num_shapes;
    decoder->events = self->events + num_events;
    decoder->events_capacity = self->events_capacity - num_events;
    status = ppi_run_decode(decoder, run, at);
    if (status == PPROF_STATUS_OK && !keep_lists(self, decoder))
      status = PPROF_STATUS_NO_MEMORY;
    if (status != PPROF_STATUS_OK) break;
    self->columns[self->num_decoded] = ppi_run_decoder_columns(decoder, run);
    at += run->payload_len;
    num_rows += run->num_events;
    num_shapes += decoder->model.num_shapes;
    num_events += decoder->num_events;
  }
  decoder->rows = NULL;
  decoder->shapes = NULL;
  decoder->events = NULL;
  decoder->rows_capacity = decoder->shapes_capacity = 0;
  decoder->events_capacity = 0;
  return status;
}

static void decode(ppi_job *job, unsigned worker) {
  slot *self = (slot *)job;
  (void)worker;
  for (size_t i = 0; i < self->num_lists; i++) ppi_free(self->lists[i]);
  self->num_lists = 0;
  self->num_decoded = 0;
  self->status = ppi_log_payload_open(&self->payload, &self->block);
  if (self->status == PPROF_STATUS_OK) self->status = decode_runs(self);
}

// ---- its user ----

ppi_log_ahead *ppi_log_ahead_create(ppi_jobs *jobs) {
  size_t num = jobs ? PPI_MIN(ppi_jobs_num(jobs) + 2u, MOST_SLOTS) : 0;
  ppi_log_ahead *ahead =
      num ? ppi_alloc(sizeof *ahead + num * sizeof *ahead->slots) : NULL;
  if (!ahead) return NULL;
  ahead->jobs = jobs;
  pprof_status status = PPROF_STATUS_OK;
  while (ahead->num_slots < num && status == PPROF_STATUS_OK) {
    slot *next = &ahead->slots[ahead->num_slots++];
    next->job.run = decode;
    status = ppi_log_payload_init(&next->payload);
  }
  if (status == PPROF_STATUS_OK) return ahead;
  ppi_log_ahead_destroy(ahead);
  return NULL;
}

bool ppi_log_ahead_is_full(const ppi_log_ahead *ahead) {
  return ahead->num_put - ahead->num_delivered == ahead->num_slots;
}

bool ppi_log_ahead_is_empty(const ppi_log_ahead *ahead) {
  return ahead->num_put == ahead->num_delivered;
}

static bool make_room(slot *self, const ppi_log_header *header) {
  // Bounded by the bytes; the decoder wants room for one more.
  size_t num_rows = PPI_MIN(header->num_events, PPI_LOG_MAX_RAW / 2) + 1;
  return PPI_ROOM(self->runs, self->runs_capacity, header->num_runs + 1u) &&
         PPI_ROOM(self->stored, self->stored_capacity,
                  header->stored_len + 1u) &&
         PPI_ROOM(self->columns, self->columns_capacity,
                  header->num_runs + 1u) &&
         PPI_ROOM(self->rows, self->rows_capacity, num_rows) &&
         PPI_ROOM(self->shapes, self->shapes_capacity, num_rows) &&
         PPI_ROOM(self->events, self->events_capacity, num_rows);
}

pprof_status ppi_log_ahead_put(ppi_log_ahead *ahead,
                               const ppi_log_block *block) {
  slot *next = &ahead->slots[ahead->num_put % ahead->num_slots];
  const ppi_log_header *header = &block->header;
  if (!make_room(next, header)) return PPROF_STATUS_NO_MEMORY;
  memcpy(next->runs, block->runs, header->num_runs * sizeof *next->runs);
  memcpy(next->stored, block->stored, header->stored_len);
  next->block = *block;
  next->block.runs = next->runs;
  next->block.stored = next->stored;
  next->block.bytes = NULL;
  ahead->num_put++;
  ppi_jobs_put(ahead->jobs, &next->job, true);
  return PPROF_STATUS_OK;
}

static pprof_status deliver(slot *self, pprof_sink *sink) {
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i < self->num_decoded && status == PPROF_STATUS_OK; i++)
    status = ppi_log_payload_give(&self->payload, &self->columns[i], sink);
  return status == PPROF_STATUS_OK ? self->status : status;
}

pprof_status ppi_log_ahead_deliver(ppi_log_ahead *ahead, pprof_sink *sink,
                                   ppi_log_block *out) {
  slot *first = &ahead->slots[ahead->num_delivered % ahead->num_slots];
  ppi_jobs_wait(ahead->jobs, &first->job);
  *out = first->block;
  pprof_status status = deliver(first, sink);
  ahead->num_delivered++;
  return status;
}

static void clear_slot(slot *self) {
  for (size_t i = 0; i < self->num_lists; i++) ppi_free(self->lists[i]);
  ppi_log_payload_clear(&self->payload);
  PPI_FREE_ALL(self->lists, self->runs, self->stored, self->columns, self->rows,
               self->events, self->shapes);
}

void ppi_log_ahead_destroy(ppi_log_ahead *ahead) {
  if (!ahead) return;
  for (; ahead->num_delivered < ahead->num_put; ahead->num_delivered++)
    ppi_jobs_wait(ahead->jobs,
                  &ahead->slots[ahead->num_delivered % ahead->num_slots].job);
  for (size_t i = 0; i < ahead->num_slots; i++) clear_slot(&ahead->slots[i]);
  ppi_free(ahead);
}
