// SPDX-License-Identifier: Apache-2.0
//
// Places device events on the run's timeline with a stated error.
#include "device/device_clock.h"

#include <math.h>
#include <stdlib.h>

#define RENEW_NS 1000000000u
// The time between attempts: until the drift is known, and later. An attempt
// costs the collector at most TRIES times 100 us: a few per cent at first, then
// one.
#define RETRY_NS 10000000u
#define PAUSE_NS 50000000u
// The shortest distance of two anchors that shows the drift: a bracket of 6 us
// in it is 60 ppm.
#define BASE_NS 100000000u
// Attempts of one anchor: one of them may be disturbed.
#define TRIES 4
// Drift may add this much to the bound, or as much as all else does, before
// the next anchor is due.
#define DRIFT_ADDS_NS 1000u
// Until two anchors exist the drift may be anything a crystal does.
#define UNKNOWN_DRIFT 200e-6
// More than two clocks ever drift by: one of them has jumped.
#define MAX_DRIFT 2e-3
// How far a crystal's drift may change unnoticed: at once, and each ns (1 ppm a
// minute) since it was observed. An H200's was steady over 12 s.
#define UNSTEADY_DRIFT 0.5e-6
#define WANDER (1e-6 / 60e9)
// The resolution of events in CUDA's documentation; measured steps are finer.
#define RELATIVE_RESOLUTION_NS 500u
// Absolute times: a step beyond this means only that few times came yet.
#define MAX_STEP_NS 100000u
#define UNKNOWN_RESOLUTION_NS 1000u

static ppi_scale run_scale(void) {
  const ppi_spool_header *header = ppi_recorder_in_force.spool.header;
  return ppi_scale_make(header->start_ticks, header->ticks_per_second);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Absolute times show how coarse the device's clock is.
static pprof_status elapsed(ppi_device_session *session, void *from, void *to,
                            int64_t *out_ns) {
  const pprof_device *device = session->device;
  pprof_status status =
      device->backend->event_elapsed(device->context, from, to, out_ns);
  if (status == PPROF_STATUS_OK && !from)
    session->clocks->step_ns = greatest_common_divisor(
        session->clocks->step_ns, (uint64_t)llabs(*out_ns));
  return status;
}

// Differences of floats keep no such pattern: what CUDA states.
static uint64_t resolution_ns(const ppi_device_session *session) {
  if (!ppi_device_is_absolute(session)) return RELATIVE_RESOLUTION_NS;
  return session->clocks->step_ns < MAX_STEP_NS ? session->clocks->step_ns
                                                : UNKNOWN_RESOLUTION_NS;
}

void ppi_event_destroy(const ppi_device_session *session, uint32_t pool,
                       void *event) {
  const pprof_device *device = session->device;
  if (event && !ppi_pool_is_gone(session, pool))
    device->backend->event_destroy(device->context, session->pools[pool].id, 1,
                                   &event);
}

// The anchor's host times are CLOCK_MONOTONIC; one sample taken now carries
// them over to the run's clock.
static void to_run_clock(const pprof_anchor *from, ppi_anchor *out) {
  ppi_clock_sample sample = ppi_clock_take_sample();
  ppi_scale scale = run_scale();
  uint64_t width_ns = from->host_after_ns - from->host_before_ns;
  uint64_t middle = from->host_before_ns + width_ns / 2;
  int64_t before_sample = (int64_t)(sample.monotonic_ns - middle);
  int64_t run_ns = (int64_t)ppi_scale_ns(&scale, sample.ticks) - before_sample;
  out->host_ns = run_ns > 0 ? (uint64_t)run_ns : 0;
  scale.base_ticks = 0;
  out->bracket_ns = width_ns + ppi_scale_ns(&scale, sample.width_ticks);
  out->device_ns = from->device_ns;
  out->event = from->event;
}

// The error of a time `since_ns` from an anchor. Both the bracket and the drift
// may be wrong by their full bounds.
static uint64_t bound_ns(const ppi_device_session *session,
                         const ppi_device_clock *clock,
                         const ppi_anchor *anchor, int64_t since_ns) {
  double age = fabs((double)since_ns);
  double drift_error =
      clock->drift_known ? clock->drift_error + age * WANDER : UNKNOWN_DRIFT;
  uint64_t float_step_ns =
      ppi_device_is_absolute(session) ? 0 : (uint64_t)(age / (1 << 23)) + 1;
  return anchor->bracket_ns / 2 + (uint64_t)(age * drift_error) +
         float_step_ns + resolution_ns(session) + 1;
}

// The anchor that gives the best device time: mostly the last one, but an older
// one if the last is wide or far.
static const ppi_anchor *best_anchor(const ppi_device_session *session,
                                     const ppi_device_clock *clock,
                                     int64_t device_ns) {
  const ppi_anchor *best = NULL;
  uint64_t best_ns = UINT64_MAX;
  for (uint32_t i = clock->num_anchors; i-- > 0;) {
    const ppi_anchor *anchor = &clock->anchors[i];
    uint64_t its_ns =
        bound_ns(session, clock, anchor, device_ns - anchor->device_ns);
    if (its_ns >= best_ns) continue;
    best = anchor;
    best_ns = its_ns;
  }
  return best;
}

static int64_t run_ns_at(const ppi_device_clock *clock,
                         const ppi_anchor *anchor, int64_t since_ns) {
  double placed = (double)since_ns * (1 + clock->drift);
  return (int64_t)anchor->host_ns + (int64_t)llround(placed);
}

// The drift by one pair of anchors. Both may be off by half their bracket,
// their times by the device's resolution; differences of floats were added up,
// each off by its own step. The older the pair, the more the drift may have
// changed since.
static double pair_drift(const ppi_device_session *session,
                         const ppi_anchor *from, const ppi_anchor *to,
                         int64_t now_ns, double *out_drift) {
  double base = (double)(to->device_ns - from->device_ns);
  double passed = (double)(int64_t)(to->host_ns - from->host_ns);
  double off = (double)(from->bracket_ns / 2 + to->bracket_ns / 2 +
                        resolution_ns(session) + 2);
  if (!ppi_device_is_absolute(session)) off += base / (1 << 23) + PPI_ANCHORS;
  double age = (double)(now_ns - to->device_ns) + base / 2;
  *out_drift = (passed - base) / base;
  return off / base + age * WANDER;
}

// Takes the pair with the tightest drift. A past change of drift is expected
// again.
static void learn_drift(const ppi_device_session *session,
                        ppi_device_clock *clock) {
  const ppi_anchor *anchors = clock->anchors;
  int64_t now_ns = anchors[clock->num_anchors - 1].device_ns;
  double best = UNKNOWN_DRIFT, drift = 0;
  for (uint32_t to = 1; to < clock->num_anchors; to++) {
    for (uint32_t from = 0; from < to; from++) {
      double its_drift;
      if (anchors[to].device_ns - anchors[from].device_ns < (int64_t)BASE_NS)
        break;
      double error =
          pair_drift(session, &anchors[from], &anchors[to], now_ns, &its_drift);
      if (error >= best) continue;
      best = error;
      drift = its_drift;
    }
  }
  double change = clock->drift_known ? fabs(drift - clock->drift) : 0;
  if (best >= UNKNOWN_DRIFT) return;
  clock->drift_error = best + change + UNSTEADY_DRIFT;
  clock->drift = drift;
  clock->drift_known = true;
}

// Forgets the oldest `num` anchors.
static void forget_anchors(ppi_device_session *session, uint32_t pool,
                           uint32_t num) {
  ppi_device_clock *clock = &session->clocks->of_pools[pool];
  for (uint32_t i = 0; i < num; i++)
    ppi_event_destroy(session, pool, clock->anchors[i].event);
  clock->num_anchors -= num;
  memmove(clock->anchors, clock->anchors + num,
          clock->num_anchors * sizeof *clock->anchors);
}

static void forget_all(ppi_device_session *session, uint32_t pool) {
  ppi_device_clock *clock = &session->clocks->of_pools[pool];
  forget_anchors(session, pool, clock->num_anchors);
  clock->drift = 0;
  clock->drift_known = false;
}

// Puts the anchor on the device's time line: after the last one.
static bool link_anchor(ppi_device_session *session, uint32_t pool,
                        ppi_anchor *anchor) {
  const ppi_device_clock *clock = &session->clocks->of_pools[pool];
  const ppi_anchor *last = &clock->anchors[clock->num_anchors - 1];
  if (ppi_device_is_absolute(session))
    return anchor->device_ns > last->device_ns;
  int64_t since_ns = 0;
  pprof_status status = elapsed(session, last->event, anchor->event, &since_ns);
  ppi_pool_note_status(session, pool, status);
  anchor->device_ns = last->device_ns + since_ns;
  return status == PPROF_STATUS_OK && since_ns > 0;
}

// Answers whether the anchor is better than what is known without it. One that
// contradicts the others says that the drift has changed or a clock has
// jumped: those before the last, or all, are of no use any more.
static bool admit_anchor(ppi_device_session *session, uint32_t pool,
                         ppi_anchor *anchor) {
  ppi_device_clock *clock = &session->clocks->of_pools[pool];
  if (clock->num_anchors == 0) return true;
  if (!link_anchor(session, pool, anchor)) {
    forget_all(session, pool);
    return true;
  }
  const ppi_anchor *best = best_anchor(session, clock, anchor->device_ns);
  int64_t since_ns = anchor->device_ns - best->device_ns;
  uint64_t known_ns = bound_ns(session, clock, best, since_ns);
  int64_t expected = run_ns_at(clock, best, since_ns);
  uint64_t off_ns = (uint64_t)llabs((int64_t)anchor->host_ns - expected);
  if (off_ns <= known_ns + anchor->bracket_ns / 2)
    return anchor->bracket_ns / 2 < known_ns;
  double limit = clock->drift_known ? UNKNOWN_DRIFT : MAX_DRIFT;
  if ((double)off_ns > (double)since_ns * limit) {
    forget_all(session, pool);
  } else {
    forget_anchors(session, pool, clock->num_anchors - 1);
    clock->drift_error = UNKNOWN_DRIFT;
  }
  return true;
}

bool ppi_anchor_record(ppi_device_session *session, uint32_t pool,
                       pprof_anchor *out) {
  const pprof_device *device = session->device;
  uint64_t id = session->pools[pool].id;
  *out = (pprof_anchor){.size = sizeof *out};
  if (ppi_device_has_failed(session) || ppi_pool_is_gone(session, pool) ||
      !PPI_BACKEND_HAS(device->backend, anchor))
    return false;
  pprof_status status =
      device->backend->event_create(device->context, id, 1, &out->event);
  ppi_pool_note_status(session, pool, status);
  if (status != PPROF_STATUS_OK) return false;
  status = device->backend->anchor(device->context, id, out);
  ppi_pool_note_status(session, pool, status);
  if (status == PPROF_STATUS_OK && out->host_after_ns >= out->host_before_ns)
    return true;
  ppi_event_destroy(session, pool, out->event);
  return false;
}

static bool try_anchor(ppi_device_session *session, uint32_t pool,
                       ppi_anchor *out) {
  pprof_anchor anchor;
  if (!ppi_anchor_record(session, pool, &anchor)) return false;
  to_run_clock(&anchor, out);
  return true;
}

// As narrow as this device's brackets are: no other try does much better.
static bool is_narrow(const ppi_device_clock *clock, uint64_t bracket_ns) {
  uint64_t narrowest = UINT64_MAX;
  for (uint32_t i = 0; i < clock->num_anchors; i++)
    narrowest = PPI_MIN(narrowest, clock->anchors[i].bracket_ns);
  return clock->num_anchors && bracket_ns <= narrowest + narrowest / 4;
}

static bool take_narrowest(ppi_device_session *session, uint32_t pool,
                           ppi_anchor *out) {
  ppi_anchor next;
  if (!try_anchor(session, pool, out)) return false;
  for (int i = 1; i < TRIES; i++) {
    if (is_narrow(&session->clocks->of_pools[pool], out->bracket_ns)) break;
    if (!try_anchor(session, pool, &next)) break;
    bool is_better = next.bracket_ns < out->bracket_ns;
    ppi_event_destroy(session, pool, is_better ? out->event : next.event);
    if (is_better) *out = next;
  }
  return true;
}

static void take_anchor(ppi_device_session *session, uint32_t pool) {
  ppi_device_clock *clock = &session->clocks->of_pools[pool];
  ppi_anchor anchor;
  clock->retry = true;
  if (!take_narrowest(session, pool, &anchor)) return;
  if (!admit_anchor(session, pool, &anchor)) {
    ppi_event_destroy(session, pool, anchor.event);
    return;
  }
  if (clock->num_anchors == PPI_ANCHORS) forget_anchors(session, pool, 1);
  clock->anchors[clock->num_anchors++] = anchor;
  clock->retry = false;
  learn_drift(session, clock);
}

// How long after an attempt the next one is due.
static uint64_t pause_ns(const ppi_device_session *session, uint32_t pool) {
  const ppi_device_clock *clock = &session->clocks->of_pools[pool];
  if (clock->num_anchors == 0)
    return __atomic_load_n(&session->pools[pool].num_free, __ATOMIC_RELAXED)
               ? RETRY_NS
               : RENEW_NS;
  if (clock->retry) return clock->drift_known ? PAUSE_NS : RETRY_NS;
  if (!clock->drift_known) return BASE_NS;
  const ppi_anchor *last = &clock->anchors[clock->num_anchors - 1];
  uint64_t rest_ns = bound_ns(session, clock, last, 0);
  double adds = (double)PPI_MAX(rest_ns, DRIFT_ADDS_NS);
  double due = PPI_MIN(adds / clock->drift_error, (double)RENEW_NS);
  return PPI_MAX((uint64_t)due, PAUSE_NS);
}

void ppi_device_clock_renew(ppi_device_session *session, bool in_use) {
  if (!PPI_BACKEND_HAS(session->device->backend, anchor)) return;
  ppi_scale scale = run_scale();
  uint64_t now = PPI_MAX(ppi_scale_ns(&scale, ppi_clock_ticks()), 1u);
  if (in_use) session->clocks->last_used_ns = now;
  if (!session->clocks->last_used_ns ||
      now - session->clocks->last_used_ns > 2 * (uint64_t)RENEW_NS)
    return;
  uint32_t num = __atomic_load_n(&session->num_pools, __ATOMIC_ACQUIRE);
  for (uint32_t pool = 0; pool < num; pool++) {
    ppi_device_clock *clock = &session->clocks->of_pools[pool];
    if (clock->tried_ns && now - clock->tried_ns < pause_ns(session, pool))
      continue;
    clock->tried_ns = now;
    take_anchor(session, pool);
  }
}

// The known facts of a range before it is placed on the timeline.
typedef struct placement {
  int64_t start_ns;
  int64_t duration_ns;
  uint64_t error_ns;
} placement;

static pprof_status by_anchor(ppi_device_session *session, uint32_t pool,
                              void *begin, placement *out) {
  const ppi_device_clock *clock = &session->clocks->of_pools[pool];
  const ppi_anchor *last = &clock->anchors[clock->num_anchors - 1];
  int64_t since_ns = 0;
  bool absolute = ppi_device_is_absolute(session);
  PPI_TRY(elapsed(session, absolute ? NULL : last->event, begin, &since_ns));
  int64_t device_ns = absolute ? since_ns : last->device_ns + since_ns;
  const ppi_anchor *best = best_anchor(session, clock, device_ns);
  if (absolute)
    since_ns = device_ns - best->device_ns;
  else if (best != last)
    PPI_TRY(elapsed(session, best->event, begin, &since_ns));
  out->start_ns = run_ns_at(clock, best, since_ns);
  out->error_ns = bound_ns(session, clock, best, since_ns);
  return PPROF_STATUS_OK;
}

// Without an anchor only the passive bounds hold: submitted before, found ready
// after. The range is put in the middle.
static void by_bounds(uint64_t submit_ns, uint64_t seen_ns, placement *out) {
  int64_t slack = (int64_t)(seen_ns - submit_ns) - out->duration_ns;
  if (slack < 0) slack = 0;
  out->start_ns = (int64_t)submit_ns + slack / 2;
  out->error_ns = (uint64_t)slack / 2 + 1;
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
  if (ppi_device_is_absolute(session)) {
    int64_t begin_ns = 0, end_ns = 0;
    status = elapsed(session, NULL, begin, &begin_ns);
    PPI_THEN(status, elapsed(session, NULL, end, &end_ns));
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
                                    ppi_slot *slot, ppi_placed *placed) {
  const ppi_pair *pair = &session->pairs[index];
  bool by_clock = PPI_BACKEND_HAS(session->device->backend, anchor);
  if (by_clock && !session->clocks->of_pools[pair->pool].num_anchors) {
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
  ppi_stream *stream = slot->flags & PPROF_FLAG_ASYNC
                           ? NULL
                           : &session->streams[pair->begin_at - 1];
  clamp(&at, stream, submit_ns, seen_ns, slot->start);
  placed->clamped += at.start_ns != placed_ns;
  set_times(session, index, slot, &at);
  if (stream) remember_place(stream, slot);
  placed->clock_error_ns = PPI_MAX(placed->clock_error_ns, at.error_ns);
  return PPROF_STATUS_OK;
}

void ppi_device_clock_forget_pool(ppi_device_session *session, uint32_t pool) {
  forget_all(session, pool);
  session->clocks->of_pools[pool] = (ppi_device_clock){0};
}

void ppi_device_clock_clear(ppi_device_session *session) {
  for (uint32_t pool = 0; pool < PPI_EVENT_POOLS; pool++)
    forget_all(session, pool);
}
