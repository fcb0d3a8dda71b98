// SPDX-License-Identifier: Apache-2.0
//
// Traces kernels by CUPTI's activity records. A process has one CUPTI library:
// the program's own, if it has one. Its callbacks run on the program's threads
// and on its own. They only put filled buffers aside, and the collector reads
// these.
#include "cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "backend_util.h"
#include "base/mem.h"
#include "cupti_driver.h"
#include "cupti_functions.h"
#include "kernels/api_call.h"
#include "kernels/captured.h"

// ---- records ----

static const char *copy_name(uint8_t kind) {
  static const char *const names[] = {
      "MEMCPY",      "MEMCPY_HtoD", "MEMCPY_DtoH", "MEMCPY_HtoA",
      "MEMCPY_AtoH", "MEMCPY_AtoA", "MEMCPY_AtoD", "MEMCPY_DtoA",
      "MEMCPY_DtoD", "MEMCPY_HtoH", "MEMCPY_PtoP"};
  return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

// Their common fields, each at its own offset.
#define WORK_OF(record, of_kind)                                               \
  {                                                                            \
    .kind = PPI_DEVICE_WORK_##of_kind, .correlation = (record)->correlation,   \
    .device = (int)(record)->device, .context = (record)->context,             \
    .stream = (record)->stream, .start = (record)->start, .end = (record)->end \
  }

// The two kinds of copies have their correlation and node elsewhere.
static ppi_device_work copy_of(const ppi_cupti_memcpy *record,
                               uint32_t correlation, uint64_t node) {
  ppi_device_work work = WORK_OF(record, COPY);
  work.correlation = correlation;
  work.bytes = record->bytes;
  work.name = copy_name(record->copy_kind);
  work.node = node;
  return work;
}

static ppi_device_work set_of(const ppi_cupti_memset *record) {
  ppi_device_work work = WORK_OF(record, SET);
  work.bytes = record->bytes;
  work.name = "MEMSET";
  work.node = record->graph_node;
  return work;
}

static ppi_launch_shape shape_of(const ppi_cupti_kernel *record) {
  ppi_launch_shape shape = {.registers = record->registers};
  const int32_t shared[] = {record->static_shared, record->dynamic_shared};
  for (int i = 0; i < 3; i++) {
    shape.grid[i] = (uint32_t)PPI_MAX(record->grid[i], 0);
    shape.block[i] = (uint32_t)PPI_MAX(record->block[i], 0);
  }
  for (int i = 0; i < 2; i++)
    shape.shared_bytes += (uint32_t)PPI_MAX(shared[i], 0);
  return shape;
}

static ppi_device_work kernel_of(const ppi_cupti_kernel *record) {
  ppi_device_work work = WORK_OF(record, KERNEL);
  work.name = record->name ? record->name : "?";
  work.node = record->graph_node;
  work.shape = shape_of(record);
  return work;
}

// NULL: a kind of memory that is not allocated.
static const char *place_of(const ppi_cupti_memory *record, char *room,
                            size_t size) {
  switch (record->memory_kind) {
    case PPI_CUPTI_MEMORY_PINNED:
      return "pinned";
    case PPI_CUPTI_MEMORY_MANAGED:
      return "managed";
    case PPI_CUPTI_MEMORY_DEVICE:
    case PPI_CUPTI_MEMORY_ARRAY:
      snprintf(room, size, "gpu:%u", record->device);
      return room;
  }
  return NULL;
}

static bool read_memory(const ppi_cupti_memory *record, ppi_device_work *out) {
  static char room[24];  // one collector per process
  const char *place = place_of(record, room, sizeof room);
  bool is_taken = record->operation == PPI_CUPTI_MEMORY_TAKEN;
  if (!place || (!is_taken && record->operation != PPI_CUPTI_MEMORY_GIVEN))
    return false;
  *out = (ppi_device_work){
      .kind = is_taken ? PPI_DEVICE_WORK_TAKE : PPI_DEVICE_WORK_GIVE,
      .correlation = record->correlation,
      .device = (int)record->device,
      .context = record->context,
      .stream = record->stream,
      .start = record->time,
      .end = record->time,
      .bytes = record->bytes,
      .name = place};
  return true;
}

// False: the record is uninteresting or unreadable.
static bool read_work(const void *record, ppi_device_work *out) {
  switch (*(const uint32_t *)record) {
    case PPI_CUPTI_KIND_CONCURRENT_KERNEL:
      *out = kernel_of(record);
      return true;
    case PPI_CUPTI_KIND_MEMSET:
      *out = set_of(record);
      return true;
    case PPI_CUPTI_KIND_MEMCPY: {
      const ppi_cupti_memcpy *copy = record;
      *out = copy_of(copy, copy->correlation, copy->graph_node);
      return true;
    }
    case PPI_CUPTI_KIND_MEMORY2:
      return read_memory(record, out);
    case PPI_CUPTI_KIND_MEMCPY2: {
      const ppi_cupti_memcpy2 *copy = record;
      *out = copy_of(record, copy->correlation, copy->graph_node);
      return true;
    }
  }
  return false;
}

// Some thousand kernels. The buffers that wait for the collector are bounded;
// further records are lost, and counted.
#define BUFFER_BYTES ((size_t)256 << 10)
#define MOST_WAITING 128u
#define MOST_SPARE 16u

typedef struct buffer {
  struct buffer *next;
  size_t valid;
} buffer;

enum { OFF, ON, ENDING };

static struct {
  pthread_mutex_t
      mutex;  // guards the lists; never locked while CUPTI is called
  pthread_mutex_t calling;  // the collector calls CUPTI, or CUDA ends
  buffer *waiting, **waiting_end, *spare;
  uint32_t num_waiting, num_spare;
  uint64_t num_lost;    // records of buffers that were given up
  uint32_t state;       // atomic
  uint32_t generation;  // of the process that subscribed
  bool loaded;
  bool has_ended;  // by `calling`: CUDA ends with the process; then the next
                   // two hold
  bool knows_dropped;
  size_t num_dropped;
  ppi_cupti_api api;
  void *subscriber;
  bool tells;  // atomic: calls become ranges
} cupti = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .calling = PTHREAD_MUTEX_INITIALIZER};

// A buffer's list link lies behind what CUPTI fills.
static buffer *link_of(uint8_t *bytes) {
  return (buffer *)(void *)(bytes + BUFFER_BYTES);
}

static uint8_t *bytes_of(buffer *link) {
  return (uint8_t *)link - BUFFER_BYTES;
}

static uint8_t *take_spare(void) {
  pthread_mutex_lock(&cupti.mutex);
  buffer *spare = cupti.spare;
  if (spare) {
    cupti.spare = spare->next;
    cupti.num_spare--;
  }
  pthread_mutex_unlock(&cupti.mutex);
  return spare ? bytes_of(spare) : NULL;
}

static void on_request(uint8_t **bytes, size_t *size, size_t *max_records) {
  *max_records = 0;
  *bytes = take_spare();
  if (!*bytes) *bytes = ppi_alloc_lines(BUFFER_BYTES + sizeof(buffer));
  *size = *bytes ? BUFFER_BYTES : 0;
}

static uint64_t num_records(uint8_t *bytes, size_t valid) {
  uint64_t num = 0;
  void *record = NULL;
  while (valid && cupti.api.cuptiActivityGetNextRecord(bytes, valid, &record) ==
                      PPI_CUPTI_OK)
    num++;
  return num;
}

static void on_complete(void *context, uint32_t stream, uint8_t *bytes,
                        size_t size, size_t valid) {
  (void)context, (void)stream, (void)size;
  if (!bytes) return;
  buffer *link = link_of(bytes);
  *link = (buffer){NULL, valid};
  pthread_mutex_lock(&cupti.mutex);
  bool has_room = valid && cupti.num_waiting < MOST_WAITING;
  if (has_room) {
    *(cupti.waiting ? cupti.waiting_end : &cupti.waiting) = link;
    cupti.waiting_end = &link->next;
    cupti.num_waiting++;
  }
  pthread_mutex_unlock(&cupti.mutex);
  if (has_room) return;
  uint64_t lost = num_records(bytes, valid);
  __atomic_fetch_add(&cupti.num_lost, lost, __ATOMIC_RELAXED);
  ppi_free(bytes);
}

static buffer *take_waiting(void) {
  pthread_mutex_lock(&cupti.mutex);
  buffer *waiting = cupti.waiting;
  cupti.waiting = NULL;
  cupti.num_waiting = 0;
  pthread_mutex_unlock(&cupti.mutex);
  return waiting;
}

// Zeroed, as CUPTI's options require.
static void give_back(buffer *link) {
  uint8_t *bytes = bytes_of(link);
  memset(bytes, 0, link->valid);
  pthread_mutex_lock(&cupti.mutex);
  bool is_kept = cupti.num_spare < MOST_SPARE;
  if (is_kept) {
    link->next = cupti.spare;
    cupti.spare = link;
    cupti.num_spare++;
  }
  pthread_mutex_unlock(&cupti.mutex);
  if (!is_kept) ppi_free(bytes);
}

static bool ask_dropped(size_t *out) {
  *out = 0;
  return cupti.api.cuptiActivityGetNumDroppedRecords(NULL, 0, out) ==
         PPI_CUPTI_OK;
}

// At the end of the process, CUDA goes before the session does. CUPTI's
// remaining records are taken first; after that it is not called.
static void before_cuda_ends(void) {
  if (cupti.generation != ppi_backend_generation ||
      __atomic_load_n(&cupti.state, __ATOMIC_RELAXED) != ON)
    return;
  pthread_mutex_lock(&cupti.calling);
  cupti.api.cuptiActivityFlushAll(PPI_CUPTI_FLUSH_FORCED);
  cupti.knows_dropped = ask_dropped(&cupti.num_dropped);
  cupti.has_ended = true;
  pthread_mutex_unlock(&cupti.calling);
}

static void watch_end(void) {
  (void)atexit(before_cuda_ends);
}

// Handlers run in the order in which they came, the last one first. CUDA's are
// there once it is initialized.
static void cuda_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_end);
}

static void end_now(void);

static bool is_on(void) {
  return __atomic_load_n(&cupti.state, __ATOMIC_RELAXED) == ON;
}

static void begin_call(ppi_launcher *self, ppi_cupti_function *function,
                       uint32_t correlation) {
  cuda_is_there();
  if (!is_on()) return;
  if (self && __atomic_load_n(&function->is_reported, __ATOMIC_RELAXED) &&
      __atomic_load_n(&cupti.tells, __ATOMIC_RELAXED))
    ppi_call_begin(self, &function->site, !ppi_calls_are_wanted());
  if (!function->is_launch) return;
  if (self) self->has_captured = false;
  ppi_launch_begin(correlation, function->kind);
}

static void end_call(ppi_launcher *self, const ppi_cupti_function *function,
                     const ppi_cupti_call *call) {
  int result = call->result ? *(const int *)call->result : 0;
  bool is_work = result == 0 && !(self && self->has_captured);
  if (function->is_launch) ppi_launch_end(call->correlation, is_work);
  if (self) ppi_call_end(self, &function->site);
  if (__atomic_load_n(&cupti.state, __ATOMIC_RELAXED) == ENDING) end_now();
}

// Some launches measure the cost of this, so that the others do not read the
// clock for it.
static void on_call(ppi_launcher *self, ppi_cupti_function *function,
                    const ppi_cupti_call *call) {
  bool is_end = call->site != PPI_CUPTI_ENTER, is_launch = function->is_launch;
  if (self && is_launch && !is_end) self->num_calls++;
  bool is_sample =
      self && is_launch && self->num_calls % PPI_LAUNCH_SAMPLE == 0;
  uint64_t begin = is_sample ? ppi_clock_ticks() : 0;
  if (is_end)
    end_call(self, function, call);
  else
    begin_call(self, function, call->correlation);
  if (is_sample) ppi_launch_cost(ppi_clock_ticks() - begin, is_end);
}

static bool ask_node(void *node, uint64_t *out) {
  return node && cupti.api.cuptiGetGraphNodeId(node, out) == PPI_CUPTI_OK;
}

// A graph's launch runs copies of the captured nodes.
static void on_node(ppi_launcher *self, uint32_t id,
                    const ppi_cupti_resource *resource) {
  bool is_new = id == PPI_CUPTI_GRAPHNODE_CREATED;
  uint64_t node, original;
  if (is_new && self) self->has_captured = true;
  const ppi_cupti_graph *graph = resource ? resource->graph : NULL;
  if (!graph || !ppi_captured_are_wanted() || !ask_node(graph->node, &node))
    return;
  if (is_new)
    ppi_captured_node(node);
  else if (ask_node(graph->original_node, &original))
    ppi_captured_copy(node, original);
}

static void on_callback(void *user, uint32_t domain, uint32_t id,
                        const void *data) {
  (void)user;
  if (cupti.generation != ppi_backend_generation) return;
  ppi_launcher *self = ppi_launcher_self();
  ppi_cupti_function *function = ppi_cupti_function_of(domain, id);
  if (function)
    on_call(self, function, data);
  else if (domain == PPI_CUPTI_DOMAIN_RESOURCE &&
           id == PPI_CUPTI_CU_INIT_FINISHED)
    cuda_is_there();
  else if (domain == PPI_CUPTI_DOMAIN_RESOURCE)
    on_node(self, id, data);
}

// CUPTI's hooks in the driver make launches slower until CUPTI is finalized.
// That is safe only at the end of a call of the program's: a range of another
// call could not be closed then.
static void end_now(void) {
  uint32_t ending = ENDING;
  if (ppi_calls_any_open() ||
      !__atomic_compare_exchange_n(&cupti.state, &ending, OFF, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  cupti.api.cuptiUnsubscribe(cupti.subscriber);
  ppi_calls_forget();
  cupti.api.cuptiFinalize();
}

static void enable_resources(void) {
  cupti.api.cuptiEnableCallback(1, cupti.subscriber, PPI_CUPTI_DOMAIN_RESOURCE,
                                PPI_CUPTI_CU_INIT_FINISHED);
  cupti.api.cuptiEnableCallback(1, cupti.subscriber, PPI_CUPTI_DOMAIN_RESOURCE,
                                PPI_CUPTI_GRAPHNODE_CREATED);
  if (ppi_captured_are_wanted())
    cupti.api.cuptiEnableCallback(1, cupti.subscriber,
                                  PPI_CUPTI_DOMAIN_RESOURCE,
                                  PPI_CUPTI_GRAPHNODE_CLONED);
}

static const uint32_t kinds[] = {
    PPI_CUPTI_KIND_CONCURRENT_KERNEL, PPI_CUPTI_KIND_MEMCPY,
    PPI_CUPTI_KIND_MEMSET, PPI_CUPTI_KIND_MEMCPY2, PPI_CUPTI_KIND_MEMORY2};
#define NUM_KINDS (sizeof kinds / sizeof *kinds)

static pprof_status fail(pprof_error *error, const char *what, int code) {
  const char *text = NULL;
  cupti.api.cuptiGetResultString(code, &text);
  return ppi_fail(error, PPROF_STATUS_UNAVAILABLE, "CUPTI: %s: %s (%d)", what,
                  text ? text : "unknown", code);
}

// Kernels are required; other kinds that it does not know are left out.
static pprof_status enable_kinds(pprof_error *error) {
  int code = cupti.api.cuptiActivityEnable(kinds[0]);
  if (code) return fail(error, "no records of kernels", code);
  for (size_t i = 1; i < NUM_KINDS; i++)
    cupti.api.cuptiActivityEnable(kinds[i]);
  return PPROF_STATUS_OK;
}

// Records then have times of the markers' clock.
static uint64_t now_ticks(void) {
  return ppi_clock_ticks();
}

// First of all: only one subscriber is possible, and it may register callbacks.
static pprof_status subscribe(pprof_error *error) {
  uint8_t zeroed = 1;
  size_t size = sizeof zeroed;
  int code = cupti.api.cuptiSubscribe(&cupti.subscriber, on_callback, NULL);
  if (code == PPI_CUPTI_MULTIPLE_SUBSCRIBERS)
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "CUPTI: another tool of this process has it (Nsight, a "
                    "debugger, torch.profiler)");
  if (code) return fail(error, "no subscription", code);
  code = cupti.api.cuptiActivityRegisterTimestampCallback(now_ticks);
  if (!code)
    code = cupti.api.cuptiActivityRegisterCallbacks(on_request, on_complete);
  if (!code) {
    cupti.api.cuptiActivitySetAttribute(PPI_CUPTI_ATTRIBUTE_ZEROED, &size,
                                        &zeroed);
    return PPROF_STATUS_OK;
  }
  cupti.api.cuptiUnsubscribe(cupti.subscriber);
  return fail(error, "its records cannot be had", code);
}

static bool is_mapped(const char *const *names) {
  void *found = NULL;
  for (size_t i = 0; names[i] && !found; i++)
    found = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
  if (found) dlclose(found);
  return found;
}

// A framework brings its own library. If ours were loaded before, the process
// would have two, and neither would work.
static bool comes_later(const char *const *names) {
  static const char *const driver[] = {"libcuda.so.1", NULL};
  return !is_mapped(names) && !is_mapped(driver);
}

static pprof_status load(pprof_error *error) {
  static const ppi_symbol symbols[] = {
#define PPI_CUPTI_SYMBOL(name, parameters) \
  {#name, NULL, offsetof(ppi_cupti_api, name), false},
      PPI_CUPTI_LIST(PPI_CUPTI_SYMBOL)
#undef PPI_CUPTI_SYMBOL
  };
  const char *const names[] = {"libcupti.so.13",
                               "libcupti.so.12",
                               "libcupti.so.11.8",
                               "/usr/local/cuda/lib64/libcupti.so",
                               "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                               NULL};
  const char *own[] = {secure_getenv("PPROF_CUPTI_PATH"), NULL};
  ppi_library library = {"CUPTI", own[0] && *own[0] ? own : names, symbols,
                         sizeof symbols / sizeof *symbols};
  if (cupti.loaded) return PPROF_STATUS_OK;
  if (library.sonames == names && comes_later(names))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "not traced: the program has not used CUDA");
  pprof_status status = ppi_library_load(&library, &cupti.api, error);
  cupti.loaded = status == PPROF_STATUS_OK;
  return status;
}

static pprof_status start(pprof_error *error) {
  ppi_backend_watch_fork();
  pprof_status status = load(error);
  if (status != PPROF_STATUS_OK) return status;
  // A session that has just ended may still be subscribed.
  uint32_t ending = ENDING;
  bool is_there = __atomic_compare_exchange_n(
      &cupti.state, &ending, OFF, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  cupti.generation = ppi_backend_generation;
  cupti.num_lost = 0;
  if (!is_there) status = subscribe(error);
  if (status != PPROF_STATUS_OK) return status;
  __atomic_store_n(&cupti.state, ON, __ATOMIC_RELEASE);
  ppi_cupti_enable_functions(&cupti.api, cupti.subscriber);
  enable_resources();
  if (ppi_cupti_driver_answer() == 0) cuda_is_there();
  status = enable_kinds(error);
  __atomic_store_n(&cupti.tells, status == PPROF_STATUS_OK, __ATOMIC_RELAXED);
  if (status == PPROF_STATUS_OK) return status;
  __atomic_store_n(&cupti.state, OFF, __ATOMIC_RELEASE);
  cupti.api.cuptiUnsubscribe(cupti.subscriber);
  return status;
}

// False: CUDA has ended. Else call `leave`. At the session's end the driver is
// asked, too: CUDA may have ended without a handler of ours.
static bool enter(bool at_end) {
  pthread_mutex_lock(&cupti.calling);
  if (!cupti.has_ended &&
      !(at_end && ppi_cupti_driver_answer() == PPI_CUPTI_DRIVER_ENDED))
    return true;
  pthread_mutex_unlock(&cupti.calling);
  return false;
}

static void leave(void) {
  pthread_mutex_unlock(&cupti.calling);
}

static void flush(bool all, ppi_device_work_taker *take, void *taker) {
  if (enter(all)) {
    cupti.api.cuptiActivityFlushAll(all ? PPI_CUPTI_FLUSH_FORCED : 0);
    leave();
  }
  buffer *next;
  for (buffer *at = take_waiting(); at; at = next) {
    next = at->next;
    void *record = NULL;
    ppi_device_work work;
    while (cupti.api.cuptiActivityGetNextRecord(bytes_of(at), at->valid,
                                                &record) == PPI_CUPTI_OK)
      if (read_work(record, &work)) take(taker, &work);
    give_back(at);
  }
}

// Records stop here; the hooks go at the end of the program's next call.
static void stop(void) {
  if (enter(true)) {
    for (size_t i = 0; i < NUM_KINDS; i++)
      cupti.api.cuptiActivityDisable(kinds[i]);
    leave();
  }
  __atomic_store_n(&cupti.state, ENDING, __ATOMIC_RELEASE);
}

static bool num_dropped(uint64_t *out) {
  size_t dropped = cupti.num_dropped;
  bool is_there = enter(true), is_known = cupti.knows_dropped;
  if (is_there) {
    is_known = ask_dropped(&dropped);
    leave();
  }
  *out = __atomic_load_n(&cupti.num_lost, __ATOMIC_RELAXED) + dropped;
  return is_known;
}

const ppi_kernel_source *ppi_cupti_source(void) {
  static const ppi_kernel_source source = {.backend = "cuda",
                                           .start = start,
                                           .flush = flush,
                                           .stop = stop,
                                           .num_dropped = num_dropped,
                                           .is_used = ppi_cupti_driver_is_used,
                                           .limits = ppi_cupti_driver_limits};
  return &source;
}
