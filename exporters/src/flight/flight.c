// SPDX-License-Identifier: Apache-2.0
//
// Puts a log's blocks into the ring, checks events against the rules, and
// serves the other threads' calls: the sink of the flight recorder.
#include "flight/flight.h"

#include "base/wait.h"
#include "file/disk.h"
#include "flight/flight_io.h"
#include "session/collect/spool_counts.h"

enum {
  // The ring's: a dump begins and ends with whole blocks.
  BLOCKS_PER_RING = 16,
  DEFAULT_WAIT_MS = 10000
};

static ppi_flight *flight_of(pprof_sink *sink) {
  return (ppi_flight *)sink;
}

static pprof_status fail(ppi_flight *flight, pprof_status status) {
  if (flight->status == PPROF_STATUS_OK) flight->status = status;
  return flight->status;
}

// ---- dumps ----

static void set_job(ppi_flight *flight, ppi_flight_job *job,
                    uint64_t moment_ns) {
  uint64_t to_ns;
  if (__builtin_add_overflow(moment_ns, flight->after_ns, &to_ns))
    to_ns = UINT64_MAX;
  uint64_t from_ns = moment_ns - PPI_MIN(moment_ns, flight->before_ns);
  job->span = (ppi_flight_span){moment_ns, from_ns, to_ns};
  job->at = flight->ring.blocks->tail;
  job->num_left_out = ppi_ring_overwritten(flight->ring.ring);
  flight->has_moment = true;
  flight->last_moment_ns = moment_ns;
  memset(job->before, 0, sizeof job->before);
  uint64_t num = PPI_MIN(flight->num_history, (uint64_t)PPI_FLIGHT_HISTORY);
  for (uint64_t i = 0; i < num; i++) {
    const ppi_flight_counts *counts =
        &flight->history[(flight->num_history - num + i) % PPI_FLIGHT_HISTORY];
    if (i > 0 && counts->time_ns > from_ns) break;
    if (counts->time_ns <= from_ns || flight->num_history > num)
      memcpy(job->before, counts->counts, sizeof job->before);
  }
}

static void describe_rule(const ppi_flight *flight, size_t rule, uint64_t ns,
                          char out[PPI_FLIGHT_REASON_MAX]) {
  bool hashed = ppi_rule_engine_is_hashed(flight->engine, rule);
  const char *text = ppi_rule_engine_rule(flight->engine, rule)->text;
  snprintf(out, PPI_FLIGHT_REASON_MAX,
           "a part of the run, around %llu.%06llu s: rule %zu%s%s",
           (unsigned long long)(ns / 1000000000),
           (unsigned long long)(ns / 1000 % 1000000), rule + 1,
           hashed ? "" : ", ", hashed ? "" : text);
}

// Asks for a dump, since a rule became true at `ns`.
static void fire(ppi_flight *flight, size_t rule, uint64_t ns) {
  ppi_flight_job *job = &flight->jobs[PPI_FLIGHT_RULE];
  pthread_mutex_lock(&flight->mutex);
  flight->state.num_fired++;
  uint64_t last_ns = flight->last_moment_ns;
  bool soon =
      flight->has_moment && (ns < last_ns || ns - last_ns < flight->every_ns);
  bool many = flight->limit > 0 && flight->num_rule_dumps >= flight->limit;
  if (soon || many || job->phase != PPI_FLIGHT_IDLE) {
    flight->state.num_suppressed++;
  } else {
    set_job(flight, job, ns);
    describe_rule(flight, rule, ns, job->reason);
    flight->num_rule_dumps++;
    job->phase = PPI_FLIGHT_READY;
    pthread_cond_signal(&flight->work);
  }
  pthread_mutex_unlock(&flight->mutex);
}

static void look_at_events(ppi_flight *flight, const pprof_batch *batch) {
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    uint32_t buffered = ppi_rule_engine_event(flight->engine, event);
    for (size_t rule = 0; buffered; rule++, buffered >>= 1)
      if (buffered & 1)
        fire(flight, rule, PPI_MAX(event->end_ns, event->device_end_ns));
  }
}

// ---- the collector's calls ----

static pprof_status put_blocks(void *user, const uint8_t *blocks, size_t len) {
  ppi_flight *flight = user;
  pthread_mutex_lock(&flight->mutex);
  pprof_status status =
      ppi_flight_ring_put(&flight->ring, blocks, len, ppi_flight_pin(flight));
  flight->state.num_overwritten = ppi_ring_overwritten(flight->ring.ring);
  if (ppi_flight_pin(flight) != UINT64_MAX) pthread_cond_signal(&flight->work);
  pthread_mutex_unlock(&flight->mutex);
  return status;
}

// Each callback begins with this check.
static pprof_status check(ppi_flight *flight) {
  if (flight->status != PPROF_STATUS_OK) return flight->status;
  if (!flight->begun || flight->finished) return PPROF_STATUS_INVALID;
  pthread_mutex_lock(&flight->mutex);
  ppi_flight_ring_settle(&flight->ring, ppi_flight_pin(flight));
  ppi_rule_engine *old = flight->next_engine ? flight->engine : NULL;
  if (flight->next_engine) flight->engine = flight->next_engine;
  flight->next_engine = NULL;
  pthread_mutex_unlock(&flight->mutex);
  ppi_rule_engine_destroy(old);
  return PPROF_STATUS_OK;
}

static bool ready(pprof_sink *sink) {
  ppi_flight *flight = flight_of(sink);
  if (check(flight) != PPROF_STATUS_OK) return true;
  pthread_mutex_lock(&flight->mutex);
  bool room = ppi_flight_ring_has_room(&flight->ring);
  pthread_mutex_unlock(&flight->mutex);
  return room;
}

static pprof_status begin_ring(ppi_flight *flight, const pprof_run_info *info) {
  pprof_status status = ppi_flight_ring_open(
      &flight->ring, info->staging, flight->memory_bytes, flight->path);
  if (status != PPROF_STATUS_OK) return status;
  flight->ring.ring->before_ns = flight->before_ns;
  status = ppi_log_assembler_init(
      &flight->assembler, put_blocks, flight,
      (size_t)(flight->ring.blocks->size / BLOCKS_PER_RING), 0);
  flight->assembling = status == PPROF_STATUS_OK;
  if (status != PPROF_STATUS_OK) return status;
  if (!ppi_texts_join(&flight->past.texts, info->texts, info->num_texts))
    return PPROF_STATUS_NO_MEMORY;
  const char *uuid = pprof_run_info_text(info, "uuid");
  snprintf(flight->uuid, sizeof flight->uuid, "%s", uuid ? uuid : "");
  return ppi_flight_io_start(flight);
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_flight *flight = flight_of(sink);
  if (flight->begun) return PPROF_STATUS_BUSY;
  pprof_status status = begin_ring(flight, info);
  if (status != PPROF_STATUS_OK) return fail(flight, status);
  flight->begun = true;
  pthread_mutex_lock(&flight->mutex);
  flight->known_at_ns = ppi_monotonic_ns();
  flight->running = true;
  pthread_mutex_unlock(&flight->mutex);
  return status;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  ppi_flight *flight = flight_of(sink);
  pprof_status status = check(flight);
  if (status != PPROF_STATUS_OK) return status;
  // Must come first: it closes the block with the events that still use the old
  // definition.
  status = ppi_log_assembler_define(&flight->assembler, definition);
  if (status != PPROF_STATUS_OK) return fail(flight, status);
  uint64_t next = flight->assembler.next_number;
  pthread_mutex_lock(&flight->mutex);
  bool good =
      ppi_flight_past_define(&flight->past, definition, next,
                             ppi_flight_ring_oldest(&flight->ring, next));
  if (flight->next_engine && definition->kind == PPROF_DEFINITION_SITE)
    good &= ppi_rule_engine_define(flight->next_engine, definition->id,
                                   definition->name);
  pthread_mutex_unlock(&flight->mutex);
  if (flight->engine && definition->kind == PPROF_DEFINITION_SITE)
    good &= ppi_rule_engine_define(flight->engine, definition->id,
                                   definition->name);
  return good ? status : fail(flight, PPROF_STATUS_NO_MEMORY);
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_flight *flight = flight_of(sink);
  pprof_status status = check(flight);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_log_assembler_events(&flight->assembler, batch);
  if (status != PPROF_STATUS_OK) return fail(flight, status);
  if (flight->engine) look_at_events(flight, batch);
  return status;
}

// Checkpoints are frequent when memory is short. The counts kept therefore have
// a least distance: they reach back twice the time before a dump.
static void keep_counts(ppi_flight *flight, uint64_t time_ns) {
  if (!ppi_spool_counts_now(flight->now.counts)) return;
  flight->now.time_ns = time_ns;
  uint64_t num = flight->num_history;
  uint64_t apart_ns = flight->before_ns / (PPI_FLIGHT_HISTORY / 2);
  if (num > 0 &&
      time_ns <
          flight->history[(num - 1) % PPI_FLIGHT_HISTORY].time_ns + apart_ns)
    return;
  flight->history[num % PPI_FLIGHT_HISTORY] = flight->now;
  flight->num_history++;
}

static pprof_status checkpoint(pprof_sink *sink,
                               const pprof_checkpoint *checkpoint) {
  ppi_flight *flight = flight_of(sink);
  pprof_status status = check(flight);
  if (status != PPROF_STATUS_OK) return status;
  pthread_mutex_lock(&flight->mutex);
  flight->known_ns = PPI_MAX(flight->known_ns, checkpoint->time_ns);
  flight->known_at_ns = ppi_monotonic_ns();
  if (!flight->ring.heap) keep_counts(flight, flight->known_ns);
  pthread_mutex_unlock(&flight->mutex);
  status = ppi_log_assembler_checkpoint(&flight->assembler, checkpoint);
  return status == PPROF_STATUS_OK ? status : fail(flight, status);
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  ppi_flight *flight = flight_of(sink);
  pprof_status status = check(flight);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_log_assembler_flush(&flight->assembler);
  if (status != PPROF_STATUS_OK) return fail(flight, status);
  pthread_mutex_lock(&flight->mutex);
  const ppi_staging *blocks = flight->ring.blocks;
  bool good = ppi_flight_past_window(&flight->past, index, opens, time_ns,
                                     blocks->head, blocks->tail);
  pthread_mutex_unlock(&flight->mutex);
  if (!good) return fail(flight, PPROF_STATUS_NO_MEMORY);
  status = ppi_log_assembler_window(&flight->assembler, index, opens, time_ns);
  return status == PPROF_STATUS_OK ? status : fail(flight, status);
}

// Dumps end with the run if they still wait for later events.
static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_flight *flight = flight_of(sink);
  (void)totals;
  if (flight->finished || !flight->begun) return flight->status;
  if (check(flight) == PPROF_STATUS_OK)
    fail(flight, ppi_log_assembler_flush(&flight->assembler));
  flight->finished = true;
  if (ppi_flight_io_finish(flight,
                           ppi_monotonic_ns() + flight->wait_ms * 1000000) !=
      PPROF_STATUS_OK)
    fail(flight, PPROF_STATUS_IO);
  return flight->status;
}

static bool kept(pprof_sink *sink, uint32_t lane, uint64_t *out_seq) {
  const ppi_flight *flight = flight_of(sink);
  *out_seq = ppi_lane_high_water_of(&flight->ring.kept, lane);
  return *out_seq > 0;
}

static void destroy(pprof_sink *sink) {
  ppi_flight *flight = flight_of(sink);
  if (flight->begun && !flight->finished)
    ppi_flight_io_finish(flight,
                         ppi_monotonic_ns() + flight->wait_ms * 1000000);
  pthread_mutex_lock(&flight->mutex);
  bool left = flight->abandoned && !flight->ended;
  flight->orphan = left;
  pthread_mutex_unlock(&flight->mutex);
  if (!left) ppi_flight_free(flight);
}

// ---- creation ----

static bool fill(ppi_flight *flight, const ppi_flight_options *options) {
  // The spool names the dump.
  flight->path = ppi_strdup(ppi_path_absolute(options->path).text);
  flight->copy = ppi_alloc(PPI_LOG_MAX_BLOCK);
  flight->before_ns = options->before_ns;
  flight->after_ns = options->after_ns;
  flight->every_ns = options->every_ns;
  flight->limit = options->limit;
  flight->memory_bytes = options->memory_bytes;
  flight->wait_ms = options->wait_ms ? options->wait_ms : DEFAULT_WAIT_MS;
  flight->disk = options->disk ? ppi_disk_ref(options->disk) : NULL;
  if (options->num_rules > 0)
    flight->engine = ppi_rule_engine_create(options->rules, options->num_rules);
  return flight->path && flight->copy &&
         (flight->engine || options->num_rules == 0);
}

pprof_status ppi_flight_create(const ppi_flight_options *options,
                               pprof_sink **out, pprof_error *error) {
  if (!options->path || !options->path[0])
    return ppi_fail(error, PPROF_STATUS_INVALID, "a dump needs a path");
  if (options->num_rules > PPI_MAX_RULES)
    return ppi_fail(error, PPROF_STATUS_INVALID, "more than %d rules",
                    PPI_MAX_RULES);
  (void)ppi_codec_writer();  // loaded here, not on the collector
  ppi_flight *flight = ppi_alloc(sizeof *flight);
  if (!flight) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  flight->base = (pprof_sink){.size = sizeof(pprof_sink),
                              PPI_SINK_CALLBACKS(),
                              .kept = kept,
                              .destroy = destroy,
                              .ready = ready};
  pthread_cond_init(&flight->work, NULL);
  ppi_wait_init(&flight->progress);
  pthread_mutex_init(&flight->mutex, NULL);
  if (!fill(flight, options)) {
    ppi_flight_free(flight);
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  flight->base.name = flight->path;
  *out = &flight->base;
  return PPROF_STATUS_OK;
}

// ---- other threads' calls ----

// Claims the job before its file is made; its blocks stay in the ring from now
// on.
static bool claim(ppi_flight *flight, ppi_flight_job *job) {
  if (!flight->running || job->phase != PPI_FLIGHT_IDLE) return false;
  // Under the mutex, `running` means that the spool exists.
  uint64_t now_ns;
  if (flight->ring.heap || !ppi_spool_now_ns(&now_ns))
    now_ns = flight->known_ns + ppi_monotonic_ns() - flight->known_at_ns;
  set_job(flight, job, now_ns);
  job->phase = PPI_FLIGHT_CLAIMED;
  uint64_t ns = job->span.moment_ns;
  snprintf(job->reason, sizeof job->reason,
           "a part of the run, around %llu.%06llu s: asked for",
           (unsigned long long)(ns / 1000000000),
           (unsigned long long)(ns / 1000 % 1000000));
  return true;
}

// Hands the new file to the thread, unless that has been asked to stop.
static pprof_status hand_over(ppi_flight *flight, ppi_flight_job *job,
                              pprof_status status, ppi_part *part) {
  if (status == PPROF_STATUS_OK && flight->stop) status = PPROF_STATUS_BUSY;
  job->phase = PPI_FLIGHT_IDLE;
  if (status != PPROF_STATUS_OK) return status;
  snprintf(flight->asked_path, sizeof flight->asked_path, "%s",
           part->path.text);
  flight->asked_status = PPROF_STATUS_OK;
  job->part = *part;
  job->phase = PPI_FLIGHT_READY;
  pthread_cond_signal(&flight->work);
  return status;
}

pprof_status ppi_flight_trigger(pprof_sink *sink, const char *path,
                                char *out_path, size_t size) {
  ppi_flight *flight = flight_of(sink);
  ppi_flight_job *job = &flight->jobs[PPI_FLIGHT_ASKED];
  pthread_mutex_lock(&flight->mutex);
  bool claimed = claim(flight, job);
  pthread_mutex_unlock(&flight->mutex);
  if (!claimed) return PPROF_STATUS_BUSY;
  ppi_part part = {.fd = -1};
  pprof_error error = {{0}};
  pprof_status status =
      ppi_flight_open_part(path ? path : flight->path, &part, &error);
  if (status == PPROF_STATUS_IO) snprintf(out_path, size, "%s", error.text);
  if (status == PPROF_STATUS_OK &&
      strlen(part.path.text) >= PPI_MIN(size, (size_t)PPI_FLIGHT_PATH_MAX))
    status = PPROF_STATUS_INVALID;
  if (status == PPROF_STATUS_OK) snprintf(out_path, size, "%s", part.path.text);
  pthread_mutex_lock(&flight->mutex);
  status = hand_over(flight, job, status, &part);
  pthread_mutex_unlock(&flight->mutex);
  if (status != PPROF_STATUS_OK) ppi_part_clear(&part, true);
  return status;
}

bool ppi_flight_dumped(pprof_sink *sink, const char *out_path,
                       pprof_status *out_status) {
  ppi_flight *flight = flight_of(sink);
  pthread_mutex_lock(&flight->mutex);
  bool known = strcmp(out_path, flight->asked_path) == 0;
  ppi_flight_phase phase = flight->jobs[PPI_FLIGHT_ASKED].phase;
  bool over = !known || phase == PPI_FLIGHT_IDLE || flight->abandoned;
  if (over)
    *out_status = !known              ? PPROF_STATUS_INVALID
                  : flight->abandoned ? PPROF_STATUS_IO
                                      : flight->asked_status;
  pthread_mutex_unlock(&flight->mutex);
  return over;
}

static bool define_sites(ppi_rule_engine *engine, const ppi_flight_past *past) {
  const ppi_flight_definitions *sites = &past->kinds[PPROF_DEFINITION_SITE];
  bool good = true;
  for (size_t i = 0; i < sites->num; i++)
    if (sites->items[i].name)
      good &= ppi_rule_engine_define(engine, (uint32_t)i, sites->items[i].name);
  return good;
}

pprof_status ppi_flight_set_rules(pprof_sink *sink, const ppi_rule *rules,
                                  size_t num_rules, uint64_t every_ns,
                                  uint64_t limit) {
  ppi_flight *flight = flight_of(sink);
  if (num_rules > PPI_MAX_RULES) return PPROF_STATUS_INVALID;
  ppi_rule_engine *engine = ppi_rule_engine_create(rules, num_rules);
  if (!engine) return PPROF_STATUS_NO_MEMORY;
  pthread_mutex_lock(&flight->mutex);
  bool good = define_sites(engine, &flight->past);
  ppi_rule_engine *unused = engine;
  if (good) {
    unused = flight->next_engine;
    flight->next_engine = engine;
    flight->every_ns = every_ns;
    flight->limit = limit;
  }
  pthread_mutex_unlock(&flight->mutex);
  ppi_rule_engine_destroy(unused);
  return good ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

ppi_flight_state ppi_flight_look(pprof_sink *sink) {
  ppi_flight *flight = flight_of(sink);
  pthread_mutex_lock(&flight->mutex);
  ppi_flight_state state = flight->state;
  state.triggered = flight->jobs[PPI_FLIGHT_ASKED].phase != PPI_FLIGHT_IDLE;
  pthread_mutex_unlock(&flight->mutex);
  return state;
}
