// SPDX-License-Identifier: Apache-2.0
//
// Placing device events on the run's timeline with a stated error.
#include "device_clock.h"

#include <math.h>
#include <stdlib.h>

#define RENEW_NS 1000000000u
#define RETRY_NS 10000000u
// Until two anchors exist the drift may be anything a crystal does.
#define UNKNOWN_DRIFT 200e-6
// What CUDA's documentation states for its events; measured steps are finer.
#define RELATIVE_RESOLUTION_NS 500u
// Absolute times: a step beyond the one is only that few times were seen yet.
#define MAX_STEP_NS 100000u
#define UNKNOWN_RESOLUTION_NS 1000u
// What no clock drifts by; more is a wrong reading.
#define MAX_DRIFT 2e-3

static ppi_scale run_scale(void) {
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  return ppi_scale_make(header->start_ticks, header->ticks_per_second);
}

static uint64_t run_now_ns(void) {
  ppi_scale scale = run_scale();
  return ppi_scale_ns(&scale, ppi_clock_ticks());
}

static bool is_absolute(const ppi_device_session *session) {
  return session->device->backend->caps & PPROF_BACKEND_ABSOLUTE_TIME;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Absolute times tell how coarse the device's clock is.
static pprof_status elapsed(ppi_device_session *session, void *from, void *to,
                            int64_t *out_ns) {
  const pprof_device *device = session->device;
  pprof_status status =
      device->backend->event_elapsed(device->context, from, to, out_ns);
  if (status == PPROF_STATUS_OK && !from)
    session->step_ns =
        greatest_common_divisor(session->step_ns, (uint64_t)llabs(*out_ns));
  return status;
}

// Differences of floats keep no such pattern: what CUDA states.
static uint64_t resolution_ns(const ppi_device_session *session) {
  if (!is_absolute(session)) return RELATIVE_RESOLUTION_NS;
  return session->step_ns < MAX_STEP_NS ? session->step_ns
                                        : UNKNOWN_RESOLUTION_NS;
}

static uint64_t float_step_ns(const ppi_device_session *session,
                              int64_t elapsed_ns) {
  if (is_absolute(session)) return 0;
  return (uint64_t)(fabs((double)elapsed_ns) / (1 << 23)) + 1;
}

static void destroy_event(const ppi_device_session *session, uint32_t pool,
                          void *event) {
  const pprof_device *device = session->device;
  if (event)
    device->backend->event_destroy(device->context, session->pools[pool].id, 1,
                                   &event);
}

// The anchor's host times are CLOCK_MONOTONIC; one sample taken now carries
// them over to the run's clock.
static void to_run_clock(const pprof_anchor *anchor, uint64_t *out_ns,
                         uint64_t *out_bracket_ns) {
  ppi_clock_sample sample = ppi_clock_take_sample();
  ppi_scale scale = run_scale();
  uint64_t middle = anchor->host_before_ns +
                    (anchor->host_after_ns - anchor->host_before_ns) / 2;
  int64_t before_sample = (int64_t)(sample.monotonic_ns - middle);
  int64_t run_ns = (int64_t)ppi_scale_ns(&scale, sample.ticks) - before_sample;
  *out_ns = run_ns > 0 ? (uint64_t)run_ns : 0;
  scale.base_ticks = 0;
  *out_bracket_ns = anchor->host_after_ns - anchor->host_before_ns +
                    ppi_scale_ns(&scale, sample.width_ticks);
}

// Both anchors may be off by half their bracket, the times by the device's
// resolution; what the drift has changed by is expected to change again.
static void learn_drift(ppi_device_session *session, ppi_device_clock *clock,
                        const pprof_anchor *anchor, uint64_t host_ns,
                        uint64_t bracket_ns) {
  int64_t device_ns = anchor->device_ns - clock->device_ns;
  if (!is_absolute(session) && elapsed(session, clock->event, anchor->event,
                                       &device_ns) != PPROF_STATUS_OK)
    return;
  int64_t passed = (int64_t)(host_ns - clock->host_ns);
  if (device_ns < (int64_t)RENEW_NS / 4 || passed <= 0) return;
  double drift = (double)(passed - device_ns) / (double)device_ns;
  if (fabs(drift) > MAX_DRIFT) return;
  double off =
      (double)(clock->bracket_ns / 2 + bracket_ns / 2 + resolution_ns(session) +
               float_step_ns(session, device_ns) + 2);
  clock->drift_error = off / (double)device_ns;
  if (clock->drift_known) clock->drift_error += fabs(drift - clock->drift);
  clock->drift = drift;
  clock->drift_known = true;
}

static void set_anchor(ppi_device_session *session, uint32_t pool,
                       const pprof_anchor *anchor) {
  ppi_device_clock *clock = &session->clocks[pool];
  uint64_t host_ns, bracket_ns;
  to_run_clock(anchor, &host_ns, &bracket_ns);
  if (clock->known) learn_drift(session, clock, anchor, host_ns, bracket_ns);
  destroy_event(session, pool, clock->event);
  clock->event = anchor->event;
  clock->device_ns = anchor->device_ns;
  clock->host_ns = host_ns;
  clock->bracket_ns = bracket_ns;
  clock->known = true;
}

static void take_anchor(ppi_device_session *session, uint32_t pool) {
  const pprof_device *device = session->device;
  pprof_anchor anchor = {.size = sizeof anchor};
  uint64_t id = session->pools[pool].id;
  if (ppi_device_has_failed(session)) return;
  pprof_status status =
      device->backend->event_create(device->context, id, 1, &anchor.event);
  ppi_device_heed(session, status);
  if (status != PPROF_STATUS_OK) return;
  status = device->backend->anchor(device->context, id, &anchor);
  ppi_device_heed(session, status);
  if (status == PPROF_STATUS_OK)
    set_anchor(session, pool, &anchor);
  else
    destroy_event(session, pool, anchor.event);
}

void ppi_device_clock_renew(ppi_device_session *session, bool in_use) {
  if (!PPI_BACKEND_HAS(session->device->backend, anchor)) return;
  uint64_t now = PPI_MAX(run_now_ns(), 1u);
  if (in_use) session->last_used_ns = now;
  if (!session->last_used_ns ||
      now - session->last_used_ns > 2 * (uint64_t)RENEW_NS)
    return;
  uint32_t num = __atomic_load_n(&session->num_pools, __ATOMIC_ACQUIRE);
  bool due = false;
  for (uint32_t pool = 0; pool < num; pool++)
    due |=
        !session->clocks[pool].known &&
        __atomic_load_n(&session->pools[pool].num_free, __ATOMIC_RELAXED) > 0;
  uint64_t age = now - session->last_anchor_ns;
  if (session->last_anchor_ns && age < (due ? RETRY_NS : RENEW_NS)) return;
  session->last_anchor_ns = now;
  for (uint32_t pool = 0; pool < num; pool++) take_anchor(session, pool);
}

// What is known of one range before it is put on the timeline.
typedef struct placement {
  int64_t start_ns;
  int64_t duration_ns;
  uint64_t error_ns;
} placement;

static pprof_status by_anchor(ppi_device_session *session, uint32_t pool,
                              void *begin, placement *out) {
  const ppi_device_clock *clock = &session->clocks[pool];
  int64_t since = 0;
  bool absolute = is_absolute(session);
  pprof_status status =
      elapsed(session, absolute ? NULL : clock->event, begin, &since);
  if (status != PPROF_STATUS_OK) return status;
  if (absolute) since -= clock->device_ns;
  double placed = (double)since * (1 + clock->drift);
  out->start_ns = (int64_t)clock->host_ns + (int64_t)llround(placed);
  double age = fabs((double)since);
  double drift_error = clock->drift_known ? clock->drift_error : UNKNOWN_DRIFT;
  out->error_ns = clock->bracket_ns / 2 + (uint64_t)(age * drift_error) +
                  float_step_ns(session, since) + resolution_ns(session) + 1;
  return PPROF_STATUS_OK;
}

// Without an anchor only the passive bounds hold: submitted before, seen ready
// after. The range is put in the middle.
static void by_bounds(uint64_t submit_ns, uint64_t seen_ns, placement *out) {
  int64_t slack = (int64_t)(seen_ns - submit_ns) - out->duration_ns;
  if (slack < 0) slack = 0;
  out->start_ns = (int64_t)submit_ns + slack / 2;
  out->error_ns = (uint64_t)slack / 2 + 1;
}

static ppi_stream *stream_of(ppi_device_session *session, uint32_t id) {
  for (uint32_t i = 0; i < PPI_STREAMS; i++)
    if (__atomic_load_n(&session->streams[i].id, __ATOMIC_ACQUIRE) == id)
      return &session->streams[i];
  return NULL;
}

static bool within(int64_t shift, uint64_t error_ns) {
  return shift > 0 && (uint64_t)shift <= error_ns;
}

// A shift that no bound proves adds to the error.
static void shift_to(placement *at, int64_t start_ns) {
  at->error_ns += (uint64_t)llabs(start_ns - at->start_ns);
  at->start_ns = start_ns;
}

// Times on one stream never decrease, as far as its order is known: two threads
// may put their events in another order than they say. What the stated errors
// do not explain is such a case.
static void follow_stream(placement *at, const ppi_stream *stream,
                          uint64_t submit_ticks) {
  uint64_t error_ns = at->error_ns + stream->last_error_ns;
  int64_t last = (int64_t)stream->last_end_ns;
  int64_t from =
      submit_ticks >= stream->last_end_ticks ? last : last - at->duration_ns;
  if (within(from - at->start_ns, error_ns)) shift_to(at, from);
  uint32_t num = PPI_MIN(stream->num_places, PPI_STREAM_PLACES);
  for (uint32_t i = 0; i < num; i++) {
    int64_t inner = (int64_t)stream->places[i].start_ns;
    if (submit_ticks < stream->places[i].submit_ticks &&
        within(at->start_ns - inner, error_ns))
      shift_to(at, inner);
  }
}

// The bounds that always hold. A shift moves the whole range, never its
// duration, and is counted.
static void clamp(placement *at, const ppi_stream *stream, uint64_t submit_ns,
                  uint64_t seen_ns, uint64_t submit_ticks) {
  int64_t end_ns = at->start_ns + at->duration_ns;
  if (end_ns > (int64_t)seen_ns) at->start_ns -= end_ns - (int64_t)seen_ns;
  at->start_ns = PPI_MAX(at->start_ns, (int64_t)submit_ns);
  if (stream && stream->num_places) follow_stream(at, stream, submit_ticks);
}

static void remember_place(ppi_stream *stream, const ppi_slot *slot) {
  uint32_t i = stream->num_places++ % PPI_STREAM_PLACES;
  stream->places[i].submit_ticks = slot->start;
  stream->places[i].start_ns = slot->device_start_ns;
  if (slot->end < stream->last_end_ticks) return;
  stream->last_end_ticks = slot->end;
  stream->last_end_ns = slot->device_end_ns;
  stream->last_error_ns = slot->device_error_ns;
}

static void take_chained(placement *at, const ppi_pair *pair) {
  if (!pair->begin_placed) return;
  int64_t chained = (int64_t)pair->begin_ns;
  if ((uint64_t)llabs(at->start_ns - chained) <= at->error_ns / 2)
    shift_to(at, chained);
}

static pprof_status read_duration(ppi_device_session *session, void *begin,
                                  void *end, int64_t *out_ns) {
  pprof_status status;
  if (is_absolute(session)) {
    int64_t begin_ns = 0, end_ns = 0;
    status = elapsed(session, NULL, begin, &begin_ns);
    if (status == PPROF_STATUS_OK)
      status = elapsed(session, NULL, end, &end_ns);
    *out_ns = end_ns - begin_ns;
  } else {
    status = elapsed(session, begin, end, out_ns);
  }
  // Some drivers answer a tiny negative time for two events back to back.
  *out_ns = PPI_MAX(*out_ns, 0);
  return status;
}

static void set_times(ppi_device_session *session, uint32_t index,
                      ppi_slot *slot, const placement *at) {
  const ppi_pair *pair = &session->pairs[index];
  slot->device_start_ns = (uint64_t)at->start_ns;
  slot->device_end_ns = (uint64_t)(at->start_ns + at->duration_ns);
  slot->device_error_ns = at->error_ns;
  if (!pair->shared_end) return;
  ppi_pair *next = &session->pairs[pair->shared_end - 1];
  next->begin_ns = slot->device_end_ns;
  next->begin_placed = true;
}

pprof_status ppi_device_clock_place(ppi_device_session *session, uint32_t index,
                                    ppi_slot *slot, ppi_resolve_stats *stats) {
  const ppi_pair *pair = &session->pairs[index];
  bool by_clock = PPI_BACKEND_HAS(session->device->backend, anchor);
  if (by_clock && !session->clocks[pair->pool].known) {
    if (!session->last_chance) return PPROF_STATUS_BUSY;
    by_clock = false;
  }
  void *end =
      pair->shared_end ? session->pairs[pair->shared_end - 1].begin : pair->end;
  placement at = {0, 0, 0};
  pprof_status status =
      read_duration(session, pair->begin, end, &at.duration_ns);
  ppi_scale scale = run_scale();
  uint64_t submit_ns = ppi_scale_ns(&scale, slot->start);
  uint64_t seen_ns = ppi_scale_ns(&scale, ppi_clock_ticks());
  if (status == PPROF_STATUS_OK && by_clock)
    status = by_anchor(session, pair->pool, pair->begin, &at);
  else
    by_bounds(submit_ns, seen_ns, &at);
  if (status != PPROF_STATUS_OK) return status;
  take_chained(&at, pair);
  int64_t placed_ns = at.start_ns;
  ppi_stream *stream =
      slot->flags & PPROF_FLAG_ASYNC ? NULL : stream_of(session, slot->stream);
  clamp(&at, stream, submit_ns, seen_ns, slot->start);
  stats->clamped += at.start_ns != placed_ns;
  set_times(session, index, slot, &at);
  if (stream) remember_place(stream, slot);
  stats->clock_error_ns = PPI_MAX(stats->clock_error_ns, at.error_ns);
  return PPROF_STATUS_OK;
}

void ppi_device_clock_clear(ppi_device_session *session) {
  for (uint32_t pool = 0; pool < PPI_EVENT_POOLS; pool++) {
    destroy_event(session, pool, session->clocks[pool].event);
    session->clocks[pool].event = NULL;
  }
}
