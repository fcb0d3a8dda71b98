// SPDX-License-Identifier: Apache-2.0
//
// Keeps streams for the marking threads. The table is read without a lock and
// filled under the devices' lock; a thread remembers the streams it uses. The
// collector frees idle places.
#include "device/device_stream.h"

// A place is offered when its stream had no range for 1 / IDLE_PER_S seconds,
// and looked for when three quarters of them are in use.
#define IDLE_PER_S 10u
#define LOOKS_PER_S 100u
#define LOOK_FROM (PPI_STREAMS - PPI_STREAMS / 4)

static uint32_t id_of(const ppi_stream *stream) {
  return __atomic_load_n(&stream->id, __ATOMIC_ACQUIRE);
}

static uint64_t stable_id_of(const ppi_stream *stream) {
  return __atomic_load_n(&stream->stable_id, __ATOMIC_RELAXED);
}

// The `i`-th place to look for a stream at.
static ppi_stream *probe(ppi_device_session *session, uint64_t stable_id,
                         uint32_t i) {
  uint32_t at = (uint32_t)((stable_id * 0x9e3779b97f4a7c15u) >> 32);
  return &session->streams[(at + i) % PPI_STREAMS];
}

// Streams are few: a small table, found without a lock, filled under one. An
// empty place where it belongs; NULL: there are too many. Places change hands
// only while none is empty, so that no search ends too early.
static ppi_stream *find_stream(ppi_device_session *session,
                               uint64_t stable_id) {
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    ppi_stream *stream = probe(session, stable_id, i);
    if (id_of(stream) == 0 || stable_id_of(stream) == stable_id) return stream;
  }
  return NULL;
}

static uint32_t num_streams;  // of the process; under the devices' lock

uint32_t ppi_stream_define(uint32_t device, uint64_t stable_id) {
  ppi_device_lock();
  pprof_definition definition = {
      PPROF_DEFINITION_STREAM, ++num_streams, device, 0, stable_id, ""};
  bool defined = ppi_names_define(ppi_recorder_in_force.names, &definition);
  ppi_device_unlock();
  return defined ? definition.id : 0;
}

static ppi_stream_name *find_name(pprof_device *device, uint64_t stable_id) {
  for (uint32_t i = 0; i < device->num_names; i++)
    if (device->names[i].stable_id == stable_id) return &device->names[i];
  return NULL;
}

// Writes a definition of the place's row, a new one with `begins`; published
// last.
static void define_row(ppi_device_session *session, ppi_stream *stream,
                       bool begins) {
  uint64_t stable_id = stable_id_of(stream);
  uint32_t id = begins ? ++num_streams : stream->id;
  const ppi_stream_name *known = find_name(session->device, stable_id);
  pprof_definition definition = {
      PPROF_DEFINITION_STREAM, id, session->device->id, 0, stable_id,
      known ? known->name : ""};
  ppi_names_define(ppi_recorder_in_force.names, &definition);
  stream->is_named = known != NULL;
  if (begins) stream->is_shared = false;
  __atomic_store_n(&stream->id, id, __ATOMIC_RELEASE);
}

// A marker that knew the place's last stream may still be opening a range on
// it. Both are then in one row and wait for each other, as on one stream; their
// times are each their own.
static ppi_stream *take_idle(ppi_device_session *session, uint64_t stable_id) {
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    ppi_stream *stream = probe(session, stable_id, i);
    if (stream->is_named ||
        !__atomic_exchange_n(&stream->is_idle, 0, __ATOMIC_RELAXED))
      continue;
    __atomic_fetch_sub(&session->num_idle, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->stable_id, stable_id, __ATOMIC_RELAXED);
    stream->is_shared = true;
    ppi_device_add_note(session, PPI_DEVICE_NOTE_SHARED_ROWS);
    return stream;
  }
  return NULL;
}

// The stream's place, found or taken under the devices' lock; NULL when there
// is none left. A name is of one stream: it begins a row.
static ppi_stream *take_place(ppi_device_session *session, uint64_t stable_id) {
  ppi_stream *stream = find_stream(session, stable_id);
  if (stream && stream->id) return stream;
  if (stream) {
    __atomic_store_n(&stream->stable_id, stable_id, __ATOMIC_RELAXED);
    define_row(session, stream, true);
    __atomic_fetch_add(&session->num_streams, 1, __ATOMIC_RELAXED);
    return stream;
  }
  stream = take_idle(session, stable_id);
  if (stream && find_name(session->device, stable_id))
    define_row(session, stream, true);
  return stream;
}

static uint32_t place_of(const ppi_device_session *session,
                         const ppi_stream *stream) {
  return (uint32_t)(stream - session->streams) + 1;
}

// The latest stream of a handle has it; the default stream's is every
// context's.
static void move_handle(ppi_device_session *session, ppi_stream *stream,
                        void *handle) {
  static char none;
  if (__atomic_load_n(&stream->handle, __ATOMIC_RELAXED) == handle) return;
  for (uint32_t i = 0; handle && i < PPI_STREAMS; i++) {
    void *its = handle;
    __atomic_compare_exchange_n(&session->streams[i].handle, &its, &none, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&stream->handle, handle, __ATOMIC_RELAXED);
}

static void end_idleness(ppi_device_session *session, ppi_stream *stream) {
  if (__atomic_load_n(&stream->is_idle, __ATOMIC_RELAXED) &&
      __atomic_exchange_n(&stream->is_idle, 0, __ATOMIC_RELAXED))
    __atomic_fetch_sub(&session->num_idle, 1, __ATOMIC_RELAXED);
}

// The stream's place in the table + 1; 0 when there are too many.
static uint32_t find_place(ppi_device_session *session, uint64_t stable_id,
                           void *handle) {
  ppi_stream *stream = find_stream(session, stable_id);
  bool may_take =
      stream || __atomic_load_n(&session->num_idle, __ATOMIC_RELAXED);
  if (may_take && (!stream || !id_of(stream))) {
    ppi_device_lock();
    stream = take_place(session, stable_id);
    ppi_device_unlock();
  }
  if (!stream) return 0;
  end_idleness(session, stream);
  move_handle(session, stream, handle);
  return place_of(session, stream);
}

static void see(ppi_device_session *session, uint32_t place, uint64_t now) {
  if (place) session->streams[place - 1].seen_ticks = now;
}

// The end of an open range is unknown.
static void see_streams_in_use(ppi_device_session *session, uint64_t now) {
  const ppi_table *table = session->table;
  for (uint32_t i = 0; i < session->next_unused; i++) {
    uint64_t state = __atomic_load_n(&table->states[i], __ATOMIC_ACQUIRE);
    uint32_t kind = PPI_STATE_OF(state);
    bool has_ended = kind == PPI_SLOT_ENDED;
    if (!has_ended && kind != PPI_SLOT_OPEN && kind != PPI_SLOT_ENDING)
      continue;
    see(session, session->pairs[i].begin_at, now);
    if (has_ended) see(session, session->pairs[i].end_at, now);
  }
}

static void offer_idle(ppi_device_session *session, ppi_stream *stream,
                       uint64_t before) {
  if (PPI_MAX(stream->seen_ticks, stream->last_end_ticks) >= before ||
      __atomic_exchange_n(&stream->is_idle, 1, __ATOMIC_RELAXED))
    return;
  __atomic_fetch_add(&session->num_idle, 1, __ATOMIC_RELAXED);
}

void ppi_streams_look(ppi_device_session *session) {
  uint64_t now = ppi_clock_ticks();
  uint64_t second = ppi_recorder_in_force.spool.header->ticks_per_second;
  if (__atomic_load_n(&session->num_streams, __ATOMIC_RELAXED) < LOOK_FROM ||
      now - session->looked_ticks < second / LOOKS_PER_S)
    return;
  session->looked_ticks = now;
  see_streams_in_use(session, now);
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    ppi_stream *stream = &session->streams[i];
    if (!id_of(stream)) continue;
    if (!stream->seen_ticks) stream->seen_ticks = now;
    offer_idle(session, stream, now - second / IDLE_PER_S);
  }
}

uint32_t ppi_stream_find_last(ppi_device_session *session, const void *handle) {
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    const ppi_stream *stream = &session->streams[i];
    if (id_of(stream) &&
        __atomic_load_n(&stream->handle, __ATOMIC_RELAXED) == handle)
      return place_of(session, stream);
  }
  return find_place(session, (uint64_t)(uintptr_t)handle, (void *)handle);
}

uint32_t ppi_stream_id_at(const ppi_device_session *session, uint32_t place) {
  return place ? id_of(&session->streams[place - 1]) : 0;
}

pprof_status ppi_stream_ask(const pprof_device *device, void *stream,
                            pprof_stream_info *out) {
  out->size = sizeof *out;
  out->stable_id = (uint64_t)(uintptr_t)stream;
  if (!PPI_BACKEND_HAS(device->backend, stream_info)) return PPROF_STATUS_OK;
  return device->backend->stream_info(device->context, stream, out);
}

pprof_status ppi_stream_ask_for(ppi_device_session *session, void *stream,
                                pprof_stream_info *out) {
  if (ppi_device_has_failed(session)) return PPROF_STATUS_DEVICE;
  pprof_status status = ppi_stream_ask(session->device, stream, out);
  ppi_device_note_status(session, status);
  if (status == PPROF_STATUS_UNSUPPORTED)
    ppi_device_add_note(session, PPI_DEVICE_NOTE_UNTIMED);
  else if (status != PPROF_STATUS_OK && status != PPROF_STATUS_DEVICE &&
           status != PPROF_STATUS_UNAVAILABLE)
    ppi_device_add_note(session, PPI_DEVICE_NOTE_NOT_STREAM);
  return status;
}

static uint64_t pool_id(const ppi_device_session *session, uint32_t pool) {
  return __atomic_load_n(&session->pools[pool].id, __ATOMIC_RELAXED);
}

static uint32_t find_pool(const ppi_device_session *session, uint64_t id) {
  uint32_t num = ppi_device_num_pools(session);
  for (uint32_t i = 0; i < num; i++)
    if (!ppi_pool_is_vacant(session, i) && pool_id(session, i) == id) return i;
  return PPI_EVENT_POOLS;
}

// Under the devices' lock. The collector left a vacant one as a new one is, but
// for `gone`.
static uint32_t add_pool(ppi_device_session *session, uint64_t id) {
  uint32_t num = session->num_pools;
  for (uint32_t i = 0; i < num; i++) {
    ppi_event_pool *pool = &session->pools[i];
    if (!ppi_pool_is_vacant(session, i)) continue;
    __atomic_store_n(&pool->id, id, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->gone, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->vacant, 0, __ATOMIC_RELEASE);
    return i;
  }
  if (num == PPI_EVENT_POOLS) return num;
  __atomic_store_n(&session->pools[num].id, id, __ATOMIC_RELAXED);
  __atomic_store_n(&session->num_pools, num + 1, __ATOMIC_RELEASE);
  return num;
}

// The pool's index; a new pool is added, and filled by the collector.
static uint32_t find_or_add_pool(ppi_device_session *session, uint64_t id) {
  uint32_t i = find_pool(session, id);
  if (i < PPI_EVENT_POOLS) return i;
  ppi_device_lock();
  i = find_pool(session, id);
  if (i == PPI_EVENT_POOLS) i = add_pool(session, id);
  ppi_device_unlock();
  return i;
}

// The collector makes events for what is wanted.
static uint32_t want_pool(ppi_device_session *session, uint64_t id) {
  uint32_t pool = find_or_add_pool(session, id);
  if (pool >= PPI_EVENT_POOLS ||
      __atomic_load_n(&session->pools[pool].wanted, __ATOMIC_RELAXED))
    return pool;
  ppi_device_lock();
  ppi_device_remember_pool(session->device, id);
  ppi_device_unlock();
  __atomic_store_n(&session->pools[pool].wanted, 1, __ATOMIC_RELAXED);
  return pool;
}

// Its place may be another stream's by now, or on offer.
static bool has_place(const ppi_device_session *session,
                      const ppi_known_stream *known) {
  const ppi_stream *stream = &session->streams[known->at - 1];
  return stable_id_of(stream) == known->info.stable_id &&
         id_of(stream) == known->id &&
         !__atomic_load_n(&stream->is_idle, __ATOMIC_RELAXED);
}

// Handles come back, so only the backend can say that a stream is still the
// same.
const ppi_known_stream *ppi_stream_know(ppi_thread *thread,
                                        ppi_device_session *session,
                                        void *stream,
                                        pprof_status *out_status) {
  uintptr_t bits = (uintptr_t)stream;
  ppi_known_stream *known =
      &thread->devices
           .known[(bits ^ bits >> 4 ^ bits >> 9) % PPI_KNOWN_STREAMS];
  bool is_known = known->session == session && known->handle == stream &&
                  known->serial == ppi_recorder_in_force.serial &&
                  !ppi_pool_is_gone(session, known->pool) &&
                  pool_id(session, known->pool) == known->info.pool;
  pprof_stream_info info = {.known = is_known ? &known->info : NULL};
  *out_status = ppi_stream_ask_for(session, stream, &info);
  if (*out_status != PPROF_STATUS_OK) return NULL;
  known->info.capturing = info.capturing;
  bool is_same =
      is_known && info.pool == known->info.pool &&
      ((info.stable_id == known->info.stable_id && has_place(session, known)) ||
       (info.capturing && info.stable_id == 0));
  if (PPI_LIKELY(is_same)) return known;
  known->session = session;
  known->serial = ppi_recorder_in_force.serial;
  known->handle = stream;
  known->info = info;
  known->info.known = NULL;
  known->at = info.stable_id || !info.capturing
                  ? find_place(session, info.stable_id, stream)
                  : ppi_stream_find_last(session, stream);
  known->id = ppi_stream_id_at(session, known->at);
  known->pool = want_pool(session, info.pool);
  // Nothing to go by the next time.
  if (!known->at || known->pool >= PPI_EVENT_POOLS) known->session = NULL;
  return known;
}

// Under the devices' lock. The table is small; a name beyond it is forgotten.
static void remember_name(pprof_device *device, uint64_t stable_id,
                          const char *name) {
  ppi_stream_name *known = find_name(device, stable_id);
  if (!known && device->num_names < PPI_NAMED_STREAMS)
    known = &device->names[device->num_names++];
  if (!known) return;
  size_t len = ppi_text_cut(name, sizeof known->name - 1);
  known->stable_id = stable_id;
  memcpy(known->name, name, len);
  known->name[len] = '\0';
}

void ppi_stream_set_name(pprof_device *device, ppi_device_session *session,
                         const pprof_stream_info *info, const char *name) {
  ppi_device_lock();
  ppi_device_remember_pool(device, info->pool);
  remember_name(device, info->stable_id, name);
  ppi_stream *stream = session ? find_stream(session, info->stable_id) : NULL;
  // A stream that is never used has no definition.
  if (stream && stream->id) define_row(session, stream, stream->is_shared);
  ppi_device_unlock();
  if (session) want_pool(session, info->pool);
}
