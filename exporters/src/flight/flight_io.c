// SPDX-License-Identifier: Apache-2.0
//
// Writes dumps on a thread of its own. It locks the mutex while it reads the
// ring and copies a block from it, never while it uses a file.
#include "flight/flight_io.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/start_thread.h"
#include "base/wait.h"
#include "file/disk.h"
#include "log/write/log_writer.h"

enum { MAX_NAMES = 10000 };

uint64_t ppi_flight_pin(const ppi_flight *flight) {
  uint64_t pin = UINT64_MAX;
  for (int i = 0; i < PPI_FLIGHT_NUM_JOBS; i++)
    if (flight->jobs[i].phase != PPI_FLIGHT_IDLE)
      pin = PPI_MIN(pin, flight->jobs[i].at);
  return pin;
}

pprof_status ppi_flight_open_part(const char *path, ppi_part *out,
                                  pprof_error *error) {
  for (int n = 0; n < MAX_NAMES; n++) {
    char infix[16];
    snprintf(infix, sizeof infix, "%d", n);
    char *name = n ? ppi_log_sibling_path(path, infix) : ppi_strdup(path);
    if (!name) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
    bool taken = ppi_part_is_there(name);
    pprof_status status = PPROF_STATUS_OK;
    if (!taken) status = ppi_part_open(name, ppi_part_is_there, out, error);
    ppi_free(name);
    if (!taken) return status;
  }
  return ppi_fail(error, PPROF_STATUS_IO, "%s: %d files have that name", path,
                  MAX_NAMES);
}

static void note_error(ppi_flight *flight, const char *text) {
  ppi_flight_state *state = &flight->state;
  state->num_failed++;
  if (!state->error[0]) snprintf(state->error, sizeof state->error, "%s", text);
}

// Records the result of a dump that is over, under the mutex.
static void settle(ppi_flight *flight, ppi_flight_job *job, pprof_status status,
                   const char *error) {
  if (status == PPROF_STATUS_OK)
    flight->state.num_dumps++;
  else
    note_error(flight, error);
  if (job == &flight->jobs[PPI_FLIGHT_ASKED]) flight->asked_status = status;
  job->phase = PPI_FLIGHT_IDLE;
  pthread_cond_broadcast(&flight->progress);
}

// With the mutex, which is given up meanwhile.
static void open_dump(ppi_flight *flight, ppi_flight_job *job) {
  pprof_error error = {{0}};
  pprof_status status = PPROF_STATUS_OK;
  job->phase = PPI_FLIGHT_CLAIMED;
  pthread_mutex_unlock(&flight->mutex);
  if (job == &flight->jobs[PPI_FLIGHT_RULE])
    status = ppi_flight_open_part(flight->path, &job->part, &error);
  if (status == PPROF_STATUS_OK) {
    status = ppi_flight_dump_open(&job->dump, flight->uuid, &job->span,
                                  &job->part, flight->disk);
    error = job->dump.error;
    if (status != PPROF_STATUS_OK) ppi_flight_dump_clear(&job->dump);
  }
  pthread_mutex_lock(&flight->mutex);
  job->phase = PPI_FLIGHT_RUNNING;
  if (status != PPROF_STATUS_OK) settle(flight, job, status, error.text);
}

// The first start of the events in wanted blocks from `at` on.
static uint64_t first_start(const ppi_flight *flight, const ppi_flight_job *job,
                            uint64_t at) {
  uint64_t first_ns = UINT64_MAX;
  const uint8_t *bytes;
  uint32_t len;
  while (ppi_flight_ring_next(&flight->ring, &at, &bytes, &len)) {
    ppi_log_header header;
    if (ppi_log_header_load(bytes, &header) && header.type == PPI_LOG_EVENTS &&
        header.num_events > 0 && ppi_flight_dump_wants(&job->dump, &header))
      first_ns = PPI_MIN(first_ns, header.min_start_ns);
  }
  return first_ns;
}

static void begin_dump(ppi_flight *flight, ppi_flight_job *job, uint64_t at,
                       uint64_t first_block) {
  ppi_flight_dump_begin(&job->dump, &flight->past, at, first_block,
                        first_start(flight, job, at), job->reason);
}

// The counts of the session during the span of the dump.
static void count(const ppi_flight *flight, const ppi_flight_job *job,
                  uint64_t out[PPI_NUM_TOTALS]) {
  const uint64_t *now = flight->now.counts;
  for (int key = 0; key < PPI_NUM_TOTALS; key++)
    out[key] = now[key] - PPI_MIN(now[key], job->before[key]);
  out[PPI_TOTAL_CLOCK_ERROR_NS] = now[PPI_TOTAL_CLOCK_ERROR_NS];
  out[PPI_TOTAL_OWN_COST] = now[PPI_TOTAL_OWN_COST];
  out[PPI_TOTAL_CRASH_SAFE] = now[PPI_TOTAL_CRASH_SAFE];
  out[PPI_TOTAL_EXCLUDED] += job->num_left_out;
}

// With the mutex, which is given up meanwhile.
static void finish_dump(ppi_flight *flight, ppi_flight_job *job) {
  if (!job->dump.begun) begin_dump(flight, job, job->at, UINT64_MAX);
  uint64_t counts[PPI_NUM_TOTALS];
  count(flight, job, counts);
  pthread_mutex_unlock(&flight->mutex);
  pprof_status status = ppi_flight_dump_finish(&job->dump, counts, job->reason);
  pprof_error error = job->dump.error;
  ppi_flight_dump_clear(&job->dump);
  pthread_mutex_lock(&flight->mutex);
  settle(flight, job, status, error.text);
}

// Takes the job one block further, under the mutex, which is unlocked
// meanwhile. False: it has to wait for more blocks.
static bool serve(ppi_flight *flight, ppi_flight_job *job) {
  ppi_flight_dump *dump = &job->dump;
  const uint8_t *bytes;
  uint32_t len;
  uint64_t at = job->at;
  // ppi_flight_io_finish may wait for room.
  if (flight->ring.backlog.groups.len > 0)
    pthread_cond_broadcast(&flight->progress);
  while (!dump->over &&
         ppi_flight_ring_next(&flight->ring, &at, &bytes, &len)) {
    ppi_log_header header;
    bool good = ppi_log_header_load(bytes, &header) && len <= PPI_LOG_MAX_BLOCK;
    if (!good || !ppi_flight_dump_wants(dump, &header)) {
      if (good && header.type == PPI_LOG_EVENTS)
        job->num_left_out += header.num_events;
      job->at = at;
      continue;
    }
    if (!dump->begun && header.type == PPI_LOG_EVENTS)
      begin_dump(flight, job, job->at, header.number);
    memcpy(flight->copy, bytes, len);
    job->at = at;
    pthread_mutex_unlock(&flight->mutex);
    ppi_flight_dump_block(dump, flight->copy, len);
    pthread_mutex_lock(&flight->mutex);
    return true;
  }
  if (!dump->over && !flight->stop) return false;
  finish_dump(flight, job);
  return true;
}

static bool serve_any(ppi_flight *flight) {
  bool served = false;
  for (int i = 0; i < PPI_FLIGHT_NUM_JOBS && !flight->abandoned; i++) {
    ppi_flight_job *job = &flight->jobs[i];
    if (job->phase == PPI_FLIGHT_READY) {
      open_dump(flight, job);
      served = true;
    } else if (job->phase == PPI_FLIGHT_RUNNING) {
      served |= serve(flight, job);
    }
  }
  return served;
}

static void *run(void *argument) {
  ppi_flight *flight = argument;
  pthread_mutex_lock(&flight->mutex);
  while (!flight->abandoned) {
    if (serve_any(flight)) continue;
    if (flight->stop) break;
    pthread_cond_wait(&flight->work, &flight->mutex);
  }
  flight->ended = true;
  bool orphan = flight->orphan;
  pthread_cond_broadcast(&flight->progress);
  pthread_mutex_unlock(&flight->mutex);
  if (orphan) ppi_flight_free(flight);
  return NULL;
}

pprof_status ppi_flight_io_start(ppi_flight *flight) {
  return ppi_start_thread(&flight->thread, "pprof-flight", run, flight)
             ? PPROF_STATUS_NO_MEMORY
             : PPROF_STATUS_OK;
}

// Moves the backlog into the ring as dumps make room. False: the deadline came
// first.
static bool settle_ring(ppi_flight *flight, uint64_t deadline_ns) {
  bool waits = true;
  for (;;) {
    ppi_flight_ring_settle(&flight->ring, ppi_flight_pin(flight));
    if (flight->ring.backlog.groups.len == 0 || !waits) break;
    pthread_cond_signal(&flight->work);
    waits = ppi_wait_until(&flight->progress, &flight->mutex, deadline_ns);
  }
  return flight->ring.backlog.groups.len == 0;
}

pprof_status ppi_flight_io_finish(ppi_flight *flight, uint64_t deadline_ns) {
  pthread_mutex_lock(&flight->mutex);
  flight->running = false;
  bool waits = settle_ring(flight, deadline_ns);
  flight->stop = true;
  pthread_cond_signal(&flight->work);
  while (!flight->ended && waits)
    waits = ppi_wait_until(&flight->progress, &flight->mutex, deadline_ns);
  bool ended = flight->ended;
  if (!ended) {
    flight->abandoned = true;
    note_error(flight, "the disk did not take a dump in time");
    pthread_detach(flight->thread);
  }
  pthread_mutex_unlock(&flight->mutex);
  if (ended) pthread_join(flight->thread, NULL);
  return ended ? PPROF_STATUS_OK : PPROF_STATUS_IO;
}

void ppi_flight_free(ppi_flight *flight) {
  for (int i = 0; i < PPI_FLIGHT_NUM_JOBS; i++) {
    ppi_flight_job *job = &flight->jobs[i];
    if (job->phase == PPI_FLIGHT_READY) ppi_part_clear(&job->part, true);
    if (job->phase != PPI_FLIGHT_RUNNING) continue;
    job->dump.status = PPROF_STATUS_IO;
    ppi_flight_dump_clear(&job->dump);
  }
  if (flight->assembling) ppi_log_assembler_clear(&flight->assembler);
  ppi_rule_engine_destroy(flight->engine);
  ppi_rule_engine_destroy(flight->next_engine);
  ppi_flight_ring_clear(&flight->ring);
  ppi_flight_past_clear(&flight->past);
  ppi_disk_destroy(flight->disk);
  pthread_cond_destroy(&flight->work);
  pthread_cond_destroy(&flight->progress);
  pthread_mutex_destroy(&flight->mutex);
  ppi_free(flight->copy);
  ppi_free(flight->path);
  ppi_free(flight);
}
