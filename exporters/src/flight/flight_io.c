// SPDX-License-Identifier: Apache-2.0
//
// Writes dumps on a thread of its own. It locks the mutex while it reads the
// ring and copies a block from it, never while it uses a file.
#include "flight/flight_io.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/memory_limit.h"
#include "base/start_thread.h"
#include "base/wait.h"
#include "file/disk.h"
#include "log/write/log_writer.h"
#include "session/collect/spool_counts.h"

// ---- the ring ----

// One thread produces and consumes. A kill at any moment leaves whole blocks
// between tail and head, as the tail moves before its blocks are overwritten.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MIN_BYTES = 256 * 1024, DEFAULT_BYTES = 16 * 1024 * 1024 };

static bool take_spool_ring(ppi_flight_ring *ring, const ppi_staging *staging,
                            const char *path) {
  ppi_ring *found = staging ? ppi_staging_ring(staging) : NULL;
  if (!found || !ppi_staging_claim(ppi_ring_blocks(found), path)) return false;
  ring->ring = found;
  // The resident memory of the process is then constant from its start on. On
  // older kernels pages are made when first used.
  madvise(found, sizeof *found + ppi_ring_blocks(found)->size,
          MADV_POPULATE_WRITE);
  return true;
}

pprof_status ppi_flight_ring_open(ppi_flight_ring *ring,
                                  const ppi_staging *staging, uint64_t bytes,
                                  const char *path) {
  if (!take_spool_ring(ring, staging, path)) {
    if (bytes == 0) bytes = DEFAULT_BYTES;
    bytes = PPI_MAX(ppi_memory_share(bytes), (uint64_t)MIN_BYTES);
    ring->heap = ppi_alloc(bytes);
    if (!ring->heap) return PPROF_STATUS_NO_MEMORY;
    ring->ring = ring->heap;
    ppi_staging_init(ring->ring + 1, bytes - sizeof *ring->ring);
  }
  ring->blocks = ppi_ring_blocks(ring->ring);
  return PPROF_STATUS_OK;
}

static void flight_ring_clear(ppi_flight_ring *ring) {
  ppi_buffer_clear(&ring->backlog.groups);
  ppi_lane_high_water_clear(&ring->kept);
  ppi_lane_high_water_clear(&ring->dropped);
  ppi_free(ring->heap);
  *ring = (ppi_flight_ring){0};
}

// Called before the tail moves to `tail`, so that a kill finds the count for
// either tail.
static void count_for(ppi_ring *ring, uint64_t tail, uint64_t num) {
  bool newer = ring->counted[1].tail == ppi_ring_blocks(ring)->tail;
  ring->counted[!newer].num_overwritten = num;
  __atomic_store_n(&ring->counted[!newer].tail, tail, __ATOMIC_RELEASE);
}

// Lanes may still have the records of a dropped block. `recover` must count
// them once, as overwritten; out of memory, it counts them twice.
static void note_dropped(ppi_flight_ring *ring, const uint8_t *bytes) {
  if (ring->heap ||
      ppi_lane_high_water_raise_block(&ring->dropped, bytes) != PPROF_STATUS_OK)
    return;
  ppi_spool_note_dropped(ring->dropped.items, ring->dropped.num);
}

static bool drop_oldest(ppi_flight_ring *ring, uint64_t pin) {
  const void *bytes;
  uint32_t len;
  uint64_t number;
  ppi_log_header header;
  if (ring->blocks->tail >= pin ||
      !ppi_staging_peek(ring->blocks, &bytes, &len, &number))
    return false;
  uint64_t num = ppi_ring_overwritten(ring->ring);
  if (ppi_log_header_load(bytes, &header) && header.type == PPI_LOG_EVENTS) {
    num += header.num_events;
    note_dropped(ring, bytes);
  }
  count_for(ring->ring, ppi_staging_after(ring->blocks), num);
  ppi_staging_release(ring->blocks);
  return true;
}

uint64_t ppi_flight_ring_oldest(const ppi_flight_ring *ring, uint64_t none) {
  const void *bytes;
  uint32_t len;
  uint64_t number;
  return ppi_staging_peek(ring->blocks, &bytes, &len, &number) ? number : none;
}

typedef struct pinned_ring {
  ppi_flight_ring *ring;
  uint64_t pin;
} pinned_ring;

static bool stage(void *user, const uint8_t *blocks, size_t len) {
  pinned_ring *to = user;
  ppi_staging_block group[PPI_LOG_MAX_GROUP] = {{0}};
  size_t num = ppi_backlog_split(blocks, len, group);
  while (!ppi_staging_put(to->ring->blocks, group, num))
    if (!drop_oldest(to->ring, to->pin)) return false;
  // Out of memory: some records that are kept count as not kept.
  for (size_t i = 0; i < num; i++)
    ppi_lane_high_water_raise_block(&to->ring->kept, group[i].bytes);
  return true;
}

pprof_status ppi_flight_ring_put(ppi_flight_ring *ring, const uint8_t *blocks,
                                 size_t len, uint64_t pin) {
  pinned_ring to = {ring, pin};
  return ppi_backlog_put(&ring->backlog, stage, &to, blocks, len);
}

void ppi_flight_ring_settle(ppi_flight_ring *ring, uint64_t pin) {
  pinned_ring to = {ring, pin};
  ppi_backlog_drain(&ring->backlog, stage, &to);
}

bool ppi_flight_ring_has_room(const ppi_flight_ring *ring) {
  return ring->backlog.groups.len < ring->blocks->size;
}

// Positions grow from 0. Answers the block at *at, or the oldest one if that is
// overwritten, and moves *at behind it. False when there is none yet.
static bool flight_ring_next(const ppi_flight_ring *ring, uint64_t *at,
                             const uint8_t **out_bytes, uint32_t *out_len) {
  uint64_t tail = ring->blocks->tail;
  uint64_t cursor = *at > tail ? *at - tail : 0;
  const void *bytes;
  uint64_t number;
  if (!ppi_staging_walk(ring->blocks, &cursor, &bytes, out_len, &number))
    return false;
  *at = tail + cursor;
  *out_bytes = bytes;
  return true;
}

enum { MAX_NAMES = 10000 };

// ---- dumps ----

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
    const ppi_path name = ppi_log_numbered_path(path, n);
    if (!ppi_part_is_there(name.text))
      return ppi_part_open(name.text, ppi_part_is_there, out, error);
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
  while (flight_ring_next(&flight->ring, &at, &bytes, &len)) {
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
  while (!dump->over && flight_ring_next(&flight->ring, &at, &bytes, &len)) {
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
  flight_ring_clear(&flight->ring);
  ppi_flight_past_clear(&flight->past);
  ppi_disk_destroy(flight->disk);
  pthread_cond_destroy(&flight->work);
  pthread_cond_destroy(&flight->progress);
  pthread_mutex_destroy(&flight->mutex);
  PPI_FREE_ALL(flight->copy, flight->path, flight);
}
