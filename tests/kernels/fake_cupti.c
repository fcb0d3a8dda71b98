// SPDX-License-Identifier: Apache-2.0
//
// The rules of the real one that a client can break are kept: one subscriber,
// callbacks only for what is enabled, records in buffers of the client's.
#include "fake_cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define RECORD_BYTES 160u
#define NOT_INITIALIZED 15
#define MAX_LIMIT_REACHED 12

static const char *const functions[] = {NULL,
                                        "cuLaunchKernel",
                                        "cuGraphLaunch",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuMemcpyDtoH_v2",
                                        "cuMemsetD8Async",
                                        "cuStreamSynchronize",
                                        "cuMemAlloc_v2",
                                        "cuMemFree_v2",
                                        "cuCtxGetCurrent"};
#define NUM_FUNCTIONS (sizeof functions / sizeof *functions)

// Of the runtime, and what each calls of the driver inside.
static const char *const runtime[][2] = {
    {NULL, NULL},
    {"cudaLaunchKernel_v7000", "cuLaunchKernel"},
    {"cudaStreamSynchronize_v3020", "cuStreamSynchronize"},
    {"cudaMalloc_v3020", "cuMemAlloc_v2"},
    {"cudaGetDevice_v3020", "cuCtxGetCurrent"}};
#define NUM_RUNTIME (sizeof runtime / sizeof *runtime)

static fake_cupti fake;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of the buffer
static struct {
  ppi_cupti_callback *callback;
  void *user;
  ppi_cupti_request *request;
  ppi_cupti_complete *complete;
  int enabled[NUM_FUNCTIONS], enabled_runtime[NUM_RUNTIME];
  uint32_t seen;  // bits: callbacks of the resource domain
  int kinds[64];
  bool has_ended;
  uint32_t next_correlation;
  uint8_t *buffer;
  size_t size, used;
} state = {.next_correlation = 1};

static int answer(const char *name) {
  if (state.has_ended) abort();
  fake.num_calls++;
  for (size_t i = 0; i < 8 && fake.results[i].name; i++) {
    if (strcmp(fake.results[i].name, name) != 0) continue;
    if (fake.results[i].after == 0) return fake.results[i].result;
    fake.results[i].after--;
  }
  return PPI_CUPTI_OK;
}

static void call_back(uint32_t domain, uint32_t id, uint32_t site,
                      uint32_t correlation, int *result) {
  uint64_t data = 0;
  bool is_driver = domain == PPI_CUPTI_DOMAIN_DRIVER;
  ppi_cupti_call call = {.site = site,
                         .function = is_driver ? functions[id] : runtime[id][0],
                         .result = result,
                         .data = &data,
                         .correlation = correlation};
  if (state.callback &&
      (is_driver ? state.enabled[id] : state.enabled_runtime[id]))
    state.callback(state.user, domain, id, &call);
}

static void call_driver(const char *function, uint32_t correlation, int result,
                        void (*inside)(void *), void *argument) {
  uint32_t id = 1;
  while (id < NUM_FUNCTIONS && strcmp(functions[id], function) != 0) id++;
  if (id == NUM_FUNCTIONS) return;
  call_back(PPI_CUPTI_DOMAIN_DRIVER, id, PPI_CUPTI_ENTER, correlation, &result);
  if (inside) inside(argument);
  call_back(PPI_CUPTI_DOMAIN_DRIVER, id, PPI_CUPTI_EXIT, correlation, &result);
}

static uint32_t call(const char *function, int result, void (*inside)(void *),
                     void *argument) {
  uint32_t id = 1, correlation = __atomic_fetch_add(&state.next_correlation, 1,
                                                    __ATOMIC_RELAXED);
  while (id < NUM_RUNTIME &&
         strncmp(runtime[id][0], function, strlen(function)) != 0)
    id++;
  if (id == NUM_RUNTIME) {
    call_driver(function, correlation, result, inside, argument);
    return correlation;
  }
  call_back(PPI_CUPTI_DOMAIN_RUNTIME, id, PPI_CUPTI_ENTER, correlation,
            &result);
  call_driver(runtime[id][1], correlation, result, inside, argument);
  call_back(PPI_CUPTI_DOMAIN_RUNTIME, id, PPI_CUPTI_EXIT, correlation, &result);
  return correlation;
}

static void tell_node(uint32_t id, uintptr_t node, uintptr_t original) {
  const ppi_cupti_graph graph = {.node = (void *)node,
                                 .original_node = (void *)original};
  const ppi_cupti_resource resource = {.graph = &graph};
  if (state.callback && state.seen & 1u << id)
    state.callback(state.user, PPI_CUPTI_DOMAIN_RESOURCE, id, &resource);
}

static void initialize(void) {
  tell_node(PPI_CUPTI_CU_INIT_FINISHED, 0, 0);
}

static void end(void) {
  state.has_ended = true;
}

static void capture_node(uintptr_t node) {
  tell_node(PPI_CUPTI_GRAPHNODE_CREATED, node, 0);
}

static void clone_node(uintptr_t node, uintptr_t original) {
  tell_node(PPI_CUPTI_GRAPHNODE_CLONED, node, original);
}

static void complete(void) {
  pthread_mutex_lock(&mutex);
  uint8_t *buffer = state.buffer;
  size_t size = state.size, used = state.used;
  state.buffer = NULL;
  pthread_mutex_unlock(&mutex);
  if (buffer) state.complete(NULL, 0, buffer, size, used);
}

// Whether the buffer is full now.
static int write_record(const void *record, size_t size) {
  size_t max = 0;
  if (!state.buffer) {
    state.used = 0;
    state.request(&state.buffer, &state.size, &max);
  }
  if (!state.buffer) {
    fake.num_no_buffer++;
    fake.dropped++;
    return 0;
  }
  memcpy(state.buffer + state.used, record, size);
  state.used += RECORD_BYTES;
  return state.used / RECORD_BYTES == fake.records_a_buffer ||
         state.used + RECORD_BYTES > state.size;
}

static void deliver(const void *record, size_t size) {
  uint32_t kind;
  memcpy(&kind, record, sizeof kind);
  if (!state.kinds[kind]) return;
  pthread_mutex_lock(&mutex);
  int is_full = write_record(record, size);
  pthread_mutex_unlock(&mutex);
  if (is_full) complete();
}

static void reset(void) {
  complete();
}

EXPORT fake_cupti *fake_cupti_get(void);
EXPORT fake_cupti *fake_cupti_get(void) {
  fake.call = call;
  fake.initialize = initialize;
  fake.end = end;
  fake.capture_node = capture_node;
  fake.clone_node = clone_node;
  fake.deliver = deliver;
  fake.reset = reset;
  return &fake;
}

#define ENTRY(name, parameters) \
  EXPORT int name parameters;   \
  EXPORT int name parameters

ENTRY(cuptiSubscribe,
      (void **subscriber, ppi_cupti_callback *callback, void *user)) {
  int result = answer("cuptiSubscribe");
  if (result) return result;
  if (state.callback) return PPI_CUPTI_MULTIPLE_SUBSCRIBERS;
  state.callback = callback;
  state.user = user;
  *subscriber = &state;
  fake.num_subscribed++;
  return PPI_CUPTI_OK;
}

ENTRY(cuptiUnsubscribe, (void *subscriber)) {
  if (subscriber != &state || !state.callback) return NOT_INITIALIZED;
  state.callback = NULL;
  memset(state.enabled, 0, sizeof state.enabled);
  memset(state.enabled_runtime, 0, sizeof state.enabled_runtime);
  state.seen = 0;
  fake.num_unsubscribed++;
  return answer("cuptiUnsubscribe");
}

ENTRY(cuptiEnableCallback,
      (uint32_t on, void *subscriber, uint32_t domain, uint32_t id)) {
  int result = answer("cuptiEnableCallback");
  if (subscriber != &state) return NOT_INITIALIZED;
  if (result) return result;
  if (domain == PPI_CUPTI_DOMAIN_RESOURCE && on) state.seen |= 1u << id;
  if (domain == PPI_CUPTI_DOMAIN_DRIVER && id < NUM_FUNCTIONS)
    state.enabled[id] = (int)on;
  if (domain == PPI_CUPTI_DOMAIN_RUNTIME && id < NUM_RUNTIME)
    state.enabled_runtime[id] = (int)on;
  return PPI_CUPTI_OK;
}

ENTRY(cuptiGetCallbackName, (uint32_t domain, uint32_t id, const char **out)) {
  bool is_driver = domain == PPI_CUPTI_DOMAIN_DRIVER;
  if (id == 0 || id >= (is_driver ? NUM_FUNCTIONS : NUM_RUNTIME))
    return NOT_INITIALIZED;
  *out = is_driver ? functions[id] : runtime[id][0];
  return PPI_CUPTI_OK;
}

ENTRY(cuptiActivityEnable, (uint32_t kind)) {
  int result = answer("cuptiActivityEnable");
  if (!result && !state.kinds[kind]) fake.num_kinds++;
  if (!result) state.kinds[kind] = 1;
  return result;
}

ENTRY(cuptiActivityDisable, (uint32_t kind)) {
  fake.num_kinds -= (uint32_t)state.kinds[kind];
  state.kinds[kind] = 0;
  return answer("cuptiActivityDisable");
}

ENTRY(cuptiActivityRegisterCallbacks,
      (ppi_cupti_request * request, ppi_cupti_complete *on_complete)) {
  int result = answer("cuptiActivityRegisterCallbacks");
  if (result) return result;
  state.request = request;
  state.complete = on_complete;
  return PPI_CUPTI_OK;
}

ENTRY(cuptiActivityRegisterTimestampCallback, (uint64_t(*now)(void))) {
  fake.now = now;
  return answer("cuptiActivityRegisterTimestampCallback");
}

ENTRY(cuptiActivitySetAttribute,
      (uint32_t attribute, size_t *size, void *value)) {
  (void)attribute, (void)size, (void)value;
  return answer("cuptiActivitySetAttribute");
}

ENTRY(cuptiActivityGetNextRecord,
      (uint8_t * buffer, size_t valid, void **record)) {
  uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : buffer;
  if (next + RECORD_BYTES > buffer + valid) return MAX_LIMIT_REACHED;
  *record = next;
  return PPI_CUPTI_OK;
}

ENTRY(cuptiActivityGetNumDroppedRecords,
      (void *context, uint32_t stream, size_t *out)) {
  (void)context, (void)stream;
  *out = fake.dropped;
  return answer("cuptiActivityGetNumDroppedRecords");
}

ENTRY(cuptiActivityFlushAll, (uint32_t flag)) {
  int result = answer("cuptiActivityFlushAll");
  (void)flag;
  if (!result) complete();
  return result;
}

ENTRY(cuptiGetGraphNodeId, (void *node, uint64_t *out)) {
  int result = answer("cuptiGetGraphNodeId");
  if (!result) *out = (uintptr_t)node + 1000;
  return result;
}

ENTRY(cuptiGetResultString, (int code, const char **out)) {
  int result = answer("cuptiGetResultString");
  if (!result) *out = code == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR";
  return result;
}

ENTRY(cuptiGetVersion, (uint32_t * out)) {
  *out = 130001;
  return answer("cuptiGetVersion");
}

ENTRY(cuptiFinalize, (void)) {
  fake.num_finalized++;
  return answer("cuptiFinalize");
}
