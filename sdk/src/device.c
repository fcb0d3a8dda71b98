// SPDX-License-Identifier: Apache-2.0
//
// Device ranges as the marking threads see them: a slot, a host side, two
// events put into the stream. Never creates an event, never waits.
#include <string.h>

#include "device_impl.h"
#include "mem.h"

static struct {
  // Opening may take seconds; markers that meet a new stream wait for `mutex`
  // alone.
  pthread_mutex_t open_mutex;
  pthread_mutex_t mutex;
  pprof_device *list;
  uint32_t num;
  uint32_t null_serial;  // the session that saw a NULL device; atomic
  void (*attach_all)(void);
} devices = {.mutex = PTHREAD_MUTEX_INITIALIZER,
             .open_mutex = PTHREAD_MUTEX_INITIALIZER};

// pprof_device_get never fails: this one stands in when memory is out.
static pprof_device no_memory_device = {.name = "?",
                                        .why_not = {"out of memory"}};

void ppi_device_in_forked_child(void) {
  pthread_mutex_init(&devices.open_mutex, NULL);
  pthread_mutex_init(&devices.mutex, NULL);
}

pprof_device *ppi_device_list(void) {
  return __atomic_load_n(&devices.list, __ATOMIC_ACQUIRE);
}

bool ppi_device_null_used(void) {
  return __atomic_load_n(&devices.null_serial, __ATOMIC_RELAXED) ==
         ppi_recorder_in_force.serial;
}

void ppi_device_set_attach_hook(void (*attach_all)(void)) {
  __atomic_store_n(&devices.attach_all, attach_all, __ATOMIC_RELEASE);
}

static pprof_device *find_device(const pprof_backend *backend, int index) {
  for (pprof_device *device = devices.list; device; device = device->next)
    if (device->backend == backend && device->index == index) return device;
  return NULL;
}

static pprof_device *open_device(const pprof_backend *backend, int index) {
  pprof_device *device = ppi_alloc(sizeof *device);
  if (!device) return &no_memory_device;
  device->backend = backend;
  device->index = index;
  device->id = ++devices.num;
  size_t len = strnlen(backend->name ? backend->name : "?", 24);
  memcpy(device->name, backend->name ? backend->name : "?", len);
  pprof_error number;
  ppi_fail(&number, PPROF_STATUS_OK, ":%d", index);
  memcpy(device->name + len, number.text, strlen(number.text) + 1);
  pprof_status status = PPROF_STATUS_OK;
  if (PPI_BACKEND_HAS(backend, open))
    status = backend->open(index, &device->context, &device->why_not);
  device->available = status == PPROF_STATUS_OK;
  if (!device->available && !device->why_not.text[0])
    ppi_fail(&device->why_not, status, "%s", pprof_status_string(status));
  device->next = devices.list;
  __atomic_store_n(&devices.list, device, __ATOMIC_RELEASE);
  return device;
}

pprof_device *pprof_device_get(const pprof_backend *backend, int index) {
  if (!backend) return NULL;
  pthread_mutex_lock(&devices.open_mutex);
  pprof_device *device = find_device(backend, index);
  if (!device) device = open_device(backend, index);
  pthread_mutex_unlock(&devices.open_mutex);
  void (*attach_all)(void) =
      __atomic_load_n(&devices.attach_all, __ATOMIC_ACQUIRE);
  if (attach_all && device->available &&
      !__atomic_load_n(&device->session, __ATOMIC_ACQUIRE))
    attach_all();
  return device;
}

bool pprof_device_available(pprof_device *device, pprof_error *why_not) {
  if (device && device->available) return true;
  ppi_fail(why_not, PPROF_STATUS_UNAVAILABLE, "%s",
           device ? device->why_not.text : "the device is NULL");
  return false;
}

// Streams are few: a small table, found without a lock, filled under one.
static ppi_stream *find_stream(ppi_device_session *session, uint64_t stable_id,
                               bool *out_full) {
  uint32_t at = (uint32_t)((stable_id * 0x9e3779b97f4a7c15u) >> 32);
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    ppi_stream *stream = &session->streams[(at + i) % PPI_STREAMS];
    uint32_t id = __atomic_load_n(&stream->id, __ATOMIC_ACQUIRE);
    if (id == 0 || stream->stable_id == stable_id) return stream;
  }
  *out_full = true;
  return NULL;
}

static uint32_t num_streams;  // of the process; under devices.mutex

static ppi_stream_name *find_name(pprof_device *device, uint64_t stable_id) {
  for (uint32_t i = 0; i < device->num_names; i++)
    if (device->names[i].stable_id == stable_id) return &device->names[i];
  return NULL;
}

// Names the stream where it is defined already or `defines`; a stream that is
// never used has no definition. Answers its id. Under devices.mutex.
static uint32_t define_locked(ppi_device_session *session, uint64_t stable_id,
                              bool defines) {
  bool full = false;
  ppi_stream *stream = find_stream(session, stable_id, &full);
  if (!stream || (!defines && stream->id == 0)) return 0;
  if (defines && stream->id) return stream->id;
  uint32_t id = stream->id ? stream->id : ++num_streams;
  const ppi_stream_name *known = find_name(session->device, stable_id);
  pprof_definition definition = {
      PPROF_DEFINITION_STREAM, id, session->device->id, 0, stable_id,
      known ? known->name : ""};
  ppi_names_define(ppi_recorder_in_force.names, &definition);
  if (stream->id == 0) stream->stable_id = stable_id;
  __atomic_store_n(&stream->id, id, __ATOMIC_RELEASE);
  return id;
}

// 0 when there are too many.
static uint32_t stream_id(ppi_device_session *session, uint64_t stable_id,
                          void *handle) {
  bool full = false;
  ppi_stream *stream = find_stream(session, stable_id, &full);
  uint32_t id = stream ? __atomic_load_n(&stream->id, __ATOMIC_ACQUIRE) : 0;
  if (!id && !full) {
    pthread_mutex_lock(&devices.mutex);
    id = define_locked(session, stable_id, true);
    pthread_mutex_unlock(&devices.mutex);
    stream = find_stream(session, stable_id, &full);
  }
  if (id && __atomic_load_n(&stream->handle, __ATOMIC_RELAXED) != handle)
    __atomic_store_n(&stream->handle, handle, __ATOMIC_RELAXED);
  return id;
}

// The id of a stream that cannot be asked any more.
static uint32_t last_stream_id(ppi_device_session *session,
                               const void *handle) {
  for (uint32_t i = 0; i < PPI_STREAMS; i++) {
    const ppi_stream *stream = &session->streams[i];
    uint32_t id = __atomic_load_n(&stream->id, __ATOMIC_ACQUIRE);
    if (id && __atomic_load_n(&stream->handle, __ATOMIC_RELAXED) == handle)
      return id;
  }
  return stream_id(session, (uint64_t)(uintptr_t)handle, (void *)handle);
}

static void add_note(ppi_device_session *session, uint32_t note) {
  __atomic_fetch_or(&session->notes, note, __ATOMIC_RELAXED);
}

static pprof_status ask_stream(const pprof_device *device, void *stream,
                               pprof_stream_info *out) {
  *out = (pprof_stream_info){.size = sizeof *out};
  out->stable_id = (uint64_t)(uintptr_t)stream;
  if (!PPI_BACKEND_HAS(device->backend, stream_info)) return PPROF_STATUS_OK;
  return device->backend->stream_info(device->context, stream, out);
}

// Asks as a marker: what the answer means for the session is kept.
static pprof_status ask_for(ppi_device_session *session, void *stream,
                            pprof_stream_info *out) {
  if (ppi_device_has_failed(session)) return PPROF_STATUS_DEVICE;
  pprof_status status = ask_stream(session->device, stream, out);
  ppi_device_heed(session, status);
  if (status == PPROF_STATUS_UNSUPPORTED)
    add_note(session, PPI_DEVICE_NOTE_UNTIMED);
  else if (status != PPROF_STATUS_OK && status != PPROF_STATUS_DEVICE)
    add_note(session, PPI_DEVICE_NOTE_NOT_STREAM);
  return status;
}

static bool record_event(ppi_device_session *session, void *event,
                         void *stream) {
  if (ppi_device_has_failed(session)) return false;
  const pprof_device *device = session->device;
  pprof_status status =
      device->backend->event_record(device->context, event, stream);
  ppi_device_heed(session, status);
  return status == PPROF_STATUS_OK;
}

// Under devices.mutex.
static void remember_pool(pprof_device *device, uint64_t id) {
  for (uint32_t i = 0; i < device->num_pools; i++)
    if (device->pools[i] == id) return;
  if (device->num_pools < PPI_EVENT_POOLS)
    device->pools[device->num_pools++] = id;
}

uint32_t ppi_device_pools(const pprof_device *device, uint64_t *out) {
  pthread_mutex_lock(&devices.mutex);
  uint32_t num = device->num_pools;
  memcpy(out, device->pools, num * sizeof *out);
  pthread_mutex_unlock(&devices.mutex);
  return num;
}

// The pool's index; a pool seen for the first time is added, and filled by the
// collector.
static uint32_t find_pool(ppi_device_session *session, uint64_t id) {
  uint32_t num = __atomic_load_n(&session->num_pools, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < num; i++)
    if (session->pools[i].id == id) return i;
  pthread_mutex_lock(&devices.mutex);
  remember_pool(session->device, id);
  num = session->num_pools;
  uint32_t i = 0;
  while (i < num && session->pools[i].id != id) i++;
  if (i == num && num < PPI_EVENT_POOLS) {
    session->pools[num].id = id;
    __atomic_store_n(&session->num_pools, num + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&devices.mutex);
  return i;
}

static uint64_t lose_range(ppi_lane *lane) {
  ppi_count(&lane->lost, 1);
  ppi_count(&lane->device_lost, 1);
  return 0;
}

// Nothing to time it: the host side is kept, in the process's own table.
static uint64_t open_host_only(ppi_lane *lane, uint32_t stream, uint32_t site) {
  ppi_recorder *recorder = &ppi_recorder_in_force;
  uint32_t taken =
      ppi_slots_take(recorder->ranges, &recorder->ranges->free_list);
  if (!taken) return lose_range(lane);
  ppi_slot *slot =
      ppi_table_slot(recorder->spool.base, recorder->ranges, taken - 1);
  ppi_slot_begin(slot, lane, site, PPROF_KIND_DEVICE_RANGE);
  slot->stream = stream;
  slot->flags = PPROF_FLAG_NO_DEVICE_TIME;
  slot->start = ppi_clock_ticks();
  return ppi_range_id(0, ppi_slot_open(recorder->ranges, taken - 1), taken - 1);
}

static uint64_t open_slot(ppi_lane *lane, ppi_device_session *session,
                          uint32_t pool, uint32_t stream, uint32_t site) {
  uint32_t taken =
      ppi_slots_take(session->table, &session->pools[pool].free_list);
  if (!taken) return 0;
  __atomic_fetch_sub(&session->pools[pool].num_free, 1, __ATOMIC_RELAXED);
  ppi_slot *slot = ppi_table_slot(ppi_recorder_in_force.spool.base,
                                  session->table, taken - 1);
  ppi_slot_begin(slot, lane, site, PPROF_KIND_DEVICE_RANGE);
  slot->stream = stream;
  ppi_pair *pair = &session->pairs[taken - 1];
  // The collector may look at a former use of the slot in a `next` chain.
  __atomic_store_n(&pair->shared_end, 0, __ATOMIC_RELAXED);
  pair->feeds = 0;
  pair->has_begin = pair->has_end = pair->passed = pair->begin_placed = false;
  return taken;
}

static uint64_t open_timed(ppi_lane *lane, ppi_device_session *session,
                           void *stream, const pprof_stream_info *info,
                           uint32_t site) {
  uint32_t id = stream_id(session, info->stable_id, stream);
  uint32_t pool = find_pool(session, info->pool);
  if (!id || pool >= PPI_EVENT_POOLS) {
    add_note(session,
             id ? PPI_DEVICE_NOTE_MANY_POOLS : PPI_DEVICE_NOTE_MANY_STREAMS);
    return open_host_only(lane, id, site);
  }
  uint64_t taken = open_slot(lane, session, pool, id, site);
  if (!taken) {
    if (__atomic_load_n(&session->pools[pool].filled, __ATOMIC_ACQUIRE))
      return lose_range(lane);
    add_note(session, PPI_DEVICE_NOTE_NEW_POOL);
    return open_host_only(lane, id, site);
  }
  uint32_t index = (uint32_t)taken - 1;
  ppi_slot *slot =
      ppi_table_slot(ppi_recorder_in_force.spool.base, session->table, index);
  if (info->capturing)
    slot->flags = PPROF_FLAG_IN_GRAPH | PPROF_FLAG_NO_DEVICE_TIME;
  slot->start = ppi_clock_ticks();
  uint32_t gen = ppi_slot_open(session->table, index);
  ppi_pair *pair = &session->pairs[index];
  if (!info->capturing)
    pair->has_begin = record_event(session, pair->begin, stream);
  return ppi_range_id(session->table_index, gen, index);
}

static uint64_t open_range(ppi_lane *lane, pprof_device *device, void *stream,
                           uint32_t site) {
  if (site == 0) return lose_range(lane);
  if (!device) {
    __atomic_store_n(&devices.null_serial, ppi_recorder_in_force.serial,
                     __ATOMIC_RELAXED);
    return open_host_only(lane, 0, site);
  }
  ppi_device_session *session =
      __atomic_load_n(&device->session, __ATOMIC_ACQUIRE);
  if (!session) return open_host_only(lane, 0, site);
  pprof_stream_info info;
  if (ask_for(session, stream, &info) != PPROF_STATUS_OK)
    return open_host_only(lane, last_stream_id(session, stream), site);
  return open_timed(lane, session, stream, &info, site);
}

// A marker that ends a device range runs while no window is open, too: the
// end event must still go into the stream. `serial` on the wiped page tells a
// live session from a stopped one and from a raw clone's child. False: there
// is nothing to end; `*out_lane` is NULL for a thread that has none then.
static bool enter_to_end(ppi_thread **out_thread, ppi_lane **out_lane) {
  if (!ppi_epoch_page || !__atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE))
    return false;
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || thread->busy) return false;
  *out_lane = ppi_enter(out_thread, false);
  if (*out_lane) return true;
  __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t serial = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE);
  if (serial) {
    *out_thread = thread;
    *out_lane = serial == thread->serial ? thread->lane : NULL;
    return true;
  }
  ppi_leave(thread);
  return false;
}

// A surplus end, or that of a range which began while nothing recorded.
static void end_nothing(ppi_lane *lane) {
  if (!lane)
    __atomic_fetch_add(&ppi_recorder_in_force.ranges->unmatched, 1,
                       __ATOMIC_RELAXED);
  else if (lane->before_left == UINT32_MAX)
    ppi_count(&lane->begun_before, 1);
  else
    ppi_count(&lane->unmatched, 1);
}

// A checkpoint may be looking at the slot.
static void add_flag(ppi_slot *slot, uint8_t flag) {
  __atomic_fetch_or(&slot->flags, flag, __ATOMIC_RELAXED);
}

static void record_end(const ppi_slot_ref *ref, ppi_device_session *session,
                       void *stream) {
  ppi_pair *pair = &session->pairs[ref->index];
  pprof_stream_info info;
  if (!pair->has_begin || ask_for(session, stream, &info) != PPROF_STATUS_OK)
    return;
  if (info.capturing) {
    add_flag(ref->slot, PPROF_FLAG_IN_GRAPH);
    return;
  }
  if (session->pools[pair->pool].id != info.pool) return;
  if (stream_id(session, info.stable_id, stream) != ref->slot->stream)
    add_flag(ref->slot, PPROF_FLAG_ASYNC);
  pair->has_end = record_event(session, pair->end, stream);
}

static void settle_untimed(const ppi_slot_ref *ref, const ppi_pair *pair) {
  if (!pair->has_begin || (!pair->has_end && !pair->shared_end))
    add_flag(ref->slot, PPROF_FLAG_NO_DEVICE_TIME);
}

static ppi_device_session *session_of(const ppi_slot_ref *ref) {
  for (pprof_device *device = ppi_device_list(); device;
       device = device->next) {
    ppi_device_session *session =
        __atomic_load_n(&device->session, __ATOMIC_ACQUIRE);
    if (session && session->table == ref->table) return session;
  }
  return NULL;
}

// `shared_end` is the index + 1 of the slot whose begin event ends this range.
static void close_range(ppi_lane *lane, uint64_t id, uint64_t now, void *stream,
                        uint32_t shared_end) {
  ppi_slot_ref ref;
  if (id == 0) return;
  if (!ppi_range_find(id, &ref) || ref.slot->kind != PPROF_KIND_DEVICE_RANGE) {
    end_nothing(lane);
    return;
  }
  // A range of a device that is timed keeps its slot over an edge.
  bool ours = lane && ref.table->device == 0 ? ppi_slot_end_or_count(lane, &ref)
                                             : ppi_slot_end(&ref);
  if (!ours) return;
  ref.slot->end = now;
  ref.slot->end_lane = lane ? lane->id : ref.slot->lane;
  ppi_device_session *session = session_of(&ref);
  if (session) {
    ppi_pair *pair = &session->pairs[ref.index];
    __atomic_store_n(&pair->shared_end, shared_end, __ATOMIC_RELAXED);
    if (!shared_end) record_end(&ref, session, stream);
    settle_untimed(&ref, pair);
  }
  ppi_slot_ended(&ref);
}

static void remember(ppi_thread *thread, pprof_device *device, void *stream,
                     uint64_t range) {
  uint32_t depth = thread->device_depth++;
  if (depth < PPI_DEVICE_STACK)
    thread->device_stack[depth] =
        (ppi_open_device_range){device, stream, range};
}

// The innermost open range of this thread on that stream, or -1. The one flat
// stack serves all streams.
static int find_innermost(const ppi_thread *thread, const pprof_device *device,
                          const void *stream) {
  int depth = (int)PPI_MIN(thread->device_depth, PPI_DEVICE_STACK);
  for (int i = depth - 1; i >= 0; i--)
    if (thread->device_stack[i].device == device &&
        thread->device_stack[i].stream == stream)
      return i;
  return -1;
}

static uint64_t take_out(ppi_thread *thread, int at) {
  uint64_t range = thread->device_stack[at].range;
  uint32_t depth = PPI_MIN(thread->device_depth, PPI_DEVICE_STACK);
  memmove(&thread->device_stack[at], &thread->device_stack[at + 1],
          (depth - (uint32_t)at - 1) * sizeof *thread->device_stack);
  thread->device_depth--;
  return range;
}

// Opens a range on the thread's stack.
static uint64_t push_range(ppi_thread *thread, ppi_lane *lane,
                           pprof_device *device, void *stream,
                           pprof_site *site) {
  if (thread->device_depth >= PPI_DEVICE_STACK) return lose_range(lane);
  return open_range(lane, device, stream, ppi_site_id(site, lane->stack_epoch));
}

void pprof_device_push(pprof_device *device, void *stream, pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return;
  uint64_t range = push_range(thread, lane, device, stream, site);
  remember(thread, device, stream, range);
  ppi_leave(thread);
}

void pprof_device_pop(pprof_device *device, void *stream) {
  ppi_thread *thread;
  ppi_lane *lane;
  if (!enter_to_end(&thread, &lane)) return;
  int at = lane ? find_innermost(thread, device, stream) : -1;
  if (lane && thread->device_depth > PPI_DEVICE_STACK)
    thread->device_depth--;  // of one too deep, counted lost at its push
  else if (at >= 0)
    close_range(lane, take_out(thread, at), ppi_clock_ticks(), stream, 0);
  else if (lane && __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE))
    end_nothing(lane);
  ppi_leave(thread);
}

// The index + 1 of the new range's slot when its begin event can serve as the
// old one's end; 0: the chain is broken, and both have their own.
static uint32_t share_event(uint64_t before, uint64_t range) {
  ppi_slot_ref old, ref;
  if (!before || !range || !ppi_range_find(range, &ref) ||
      !ppi_range_find(before, &old) || old.table != ref.table)
    return 0;
  ppi_device_session *session = session_of(&ref);
  if (!session || !session->pairs[ref.index].has_begin ||
      session->pairs[ref.index].pool != session->pairs[old.index].pool)
    return 0;
  session->pairs[ref.index].feeds = old.index + 1;
  return ref.index + 1;
}

void pprof_device_next(pprof_device *device, void *stream, pprof_site *site) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) {
    pprof_device_pop(device, stream);
    return;
  }
  uint64_t now = ppi_clock_ticks();
  int at = find_innermost(thread, device, stream);
  uint64_t before = 0;
  if (at >= 0)
    before = take_out(thread, at);
  else
    end_nothing(lane);
  uint64_t range = push_range(thread, lane, device, stream, site);
  close_range(lane, before, now, stream, share_event(before, range));
  remember(thread, device, stream, range);
  ppi_leave(thread);
}

pprof_range pprof_device_range_begin(pprof_device *device, void *stream,
                                     pprof_site *site) {
  pprof_range range = {0};
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, true);
  if (!lane) return range;
  range.id =
      open_range(lane, device, stream, ppi_site_id(site, lane->stack_epoch));
  ppi_leave(thread);
  return range;
}

void pprof_device_range_end(pprof_range range, void *stream) {
  ppi_thread *thread;
  ppi_lane *lane;
  if (range.id == 0 || !enter_to_end(&thread, &lane)) return;
  close_range(lane, range.id, ppi_clock_ticks(), stream, 0);
  ppi_leave(thread);
}

pprof_device_token pprof_device_scope_push_(pprof_device *device, void *stream,
                                            pprof_site *site) {
  pprof_device_token token = {pprof_device_range_begin(device, stream, site),
                              stream};
  return token;
}

void pprof_device_scope_pop_(const pprof_device_token *token) {
  pprof_device_range_end(token->range, token->stream);
}

void pprof_device_work(pprof_device *device, void *stream,
                       const pprof_work_amount *work) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  int at = find_innermost(thread, device, stream);
  ppi_slot_ref ref;
  ppi_work amount = ppi_work_read(work);
  if (at >= 0 && ppi_range_is_open(thread->device_stack[at].range, &ref))
    ppi_slot_add_work(ref.slot, &amount);
  else
    ppi_count(&lane->flows_lost, 1);
  ppi_leave(thread);
}

// Under devices.mutex. The table is small; a name beyond it is forgotten.
static void remember_name(pprof_device *device, uint64_t stable_id,
                          const char *name) {
  ppi_stream_name *known = find_name(device, stable_id);
  if (!known && device->num_names < PPI_NAMED_STREAMS)
    known = &device->names[device->num_names++];
  if (!known) return;
  size_t len = strnlen(name, sizeof known->name - 1);
  // No half of a UTF-8 character at the end.
  if (name[len])
    while (len && ((unsigned char)name[len] & 0xc0u) == 0x80u) len--;
  known->stable_id = stable_id;
  memcpy(known->name, name, len);
  known->name[len] = '\0';
}

void pprof_stream_name(pprof_device *device, void *stream, const char *name) {
  pprof_stream_info info;
  if (!device || !device->available || !name) return;
  ppi_thread *thread;
  ppi_lane *lane;
  bool live = enter_to_end(&thread, &lane);
  ppi_device_session *session =
      live ? __atomic_load_n(&device->session, __ATOMIC_ACQUIRE) : NULL;
  if (!(session && ppi_device_has_failed(session)) &&
      ask_stream(device, stream, &info) == PPROF_STATUS_OK && !info.capturing) {
    pthread_mutex_lock(&devices.mutex);
    remember_pool(device, info.pool);
    remember_name(device, info.stable_id, name);
    if (session) define_locked(session, info.stable_id, false);
    pthread_mutex_unlock(&devices.mutex);
    if (session) find_pool(session, info.pool);
  }
  if (live) ppi_leave(thread);
}
