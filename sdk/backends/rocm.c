// SPDX-License-Identifier: Apache-2.0
//
// Traces kernels by rocprofiler-sdk. It asks tools for their needs when the
// program loads ROCm; tracing begins later. Calls of HIP come on the program's
// threads. Records of their work come on a thread of the library's, which only
// puts them aside for the collector.
#include "rocm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_util.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "bounded_clock.h"
#include "kernels/launch.h"
#include "rocm_injected.h"

#define BUFFER_BYTES ((size_t)256 << 10)
#define MOST_WAITING 262144u  // records; beyond that they are lost, and counted
#define MOST_OPERATIONS 1024
#define MOST_DEVICES 64u

typedef struct record {
  struct record *next;
  bool is_kernel;
  union {
    ppi_rocm_kernel kernel;
    ppi_rocm_copy copy;
  } of;
} record;

typedef struct symbol {
  char *name;
  uint32_t registers;
} symbol;

static struct {
  ppi_rocm_api api;
  uint64_t symbols_context, context, buffer;
  pthread_mutex_t mutex;  // guards the members down to `devices`
  record *waiting, **waiting_end;
  uint32_t num_waiting;
  ppi_map symbol_numbers;  // by kernel
  symbol *symbols;
  size_t symbols_capacity;
  uint64_t devices[MOST_DEVICES];  // agents that are GPUs
  size_t num_devices;
  int32_t operations[MOST_OPERATIONS];  // of HIP, that give work
  size_t num_operations;
  bool is_graph[MOST_OPERATIONS];  // by operation
  uint32_t generation;
  bool is_configured, is_on, has_ended;  // atomic
  uint64_t num_lost;                     // atomic
  ppi_bounded_clock clock;               // collector
} rocm = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_set(const bool *flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag, bool value) {
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

// ---- calls, on the program's threads ----

static ppi_launch_kind kind_of(int32_t operation) {
  bool is_graph =
      operation >= 0 && operation < MOST_OPERATIONS && rocm.is_graph[operation];
  return is_graph ? PPI_LAUNCH_GRAPH : PPI_LAUNCH_WORK;
}

static void on_call(ppi_rocm_call call, uint64_t *user, void *data) {
  (void)user, (void)data;
  uint32_t correlation = (uint32_t)call.correlation;
  if (rocm.generation != ppi_backend_generation || !is_set(&rocm.is_on)) return;
  if (call.phase == PPI_ROCM_ENTER)
    ppi_launch_begin(correlation, kind_of(call.operation));
  else if (call.phase == PPI_ROCM_EXIT)
    ppi_launch_end(correlation, true);
}

// The name of a kernel's descriptor is the kernel's name and ".kd".
static void keep_symbol(const ppi_rocm_symbol *from) {
  const char *given = from->name ? from->name : "?";
  size_t len = strlen(given);
  if (len > 3 && strcmp(given + len - 3, ".kd") == 0) len -= 3;
  char *name = ppi_alloc(len + 1);
  if (name) memcpy(name, given, len);
  pthread_mutex_lock(&rocm.mutex);
  size_t num = rocm.symbol_numbers.num;
  if (name && PPI_ROOM(rocm.symbols, rocm.symbols_capacity, num + 1) &&
      ppi_map_number(&rocm.symbol_numbers, (ppi_map_key){0, from->kernel}) ==
          num) {
    rocm.symbols[num] = (symbol){name, from->vector_registers};
    name = NULL;
  }
  pthread_mutex_unlock(&rocm.mutex);
  ppi_free(name);
}

static void on_code(ppi_rocm_call call, uint64_t *user, void *data) {
  (void)user, (void)data;
  if (call.operation == PPI_ROCM_CODE_SYMBOL && call.phase == PPI_ROCM_ENTER &&
      call.payload)
    keep_symbol(call.payload);
}

// ---- records, on a thread of the library's ----

static void lose(uint64_t num) {
  __atomic_fetch_add(&rocm.num_lost, num, __ATOMIC_RELAXED);
}

static void put_aside(const ppi_rocm_header *header) {
  bool is_kernel = header->kind == PPI_ROCM_BUFFER_KERNEL;
  record *made = ppi_alloc(sizeof *made);
  if (made) {
    *made = (record){.is_kernel = is_kernel};
    if (is_kernel)
      made->of.kernel = *(const ppi_rocm_kernel *)header->payload;
    else
      made->of.copy = *(const ppi_rocm_copy *)header->payload;
  }
  pthread_mutex_lock(&rocm.mutex);
  bool has_room = made && rocm.num_waiting < MOST_WAITING;
  if (has_room) {
    *(rocm.waiting ? rocm.waiting_end : &rocm.waiting) = made;
    rocm.waiting_end = &made->next;
    rocm.num_waiting++;
  }
  pthread_mutex_unlock(&rocm.mutex);
  if (has_room) return;
  ppi_free(made);
  lose(1);
}

static void on_records(uint64_t context, uint64_t buffer,
                       ppi_rocm_header **headers, size_t num, void *data,
                       uint64_t num_dropped) {
  (void)context, (void)buffer, (void)data;
  if (num_dropped) lose(num_dropped);
  for (size_t i = 0; i < num; i++) {
    const ppi_rocm_header *header = headers[i];
    if (header->category == PPI_ROCM_CATEGORY_TRACING && header->payload &&
        (header->kind == PPI_ROCM_BUFFER_KERNEL ||
         header->kind == PPI_ROCM_BUFFER_COPY))
      put_aside(header);
  }
}

// ---- the traced kinds ----

static bool begins(const char *name, const char *with) {
  return strncmp(name, with, strlen(with)) == 0;
}

static bool gives_work(const char *name) {
  static const char *const beginnings[] = {
      "hipLaunch",      "hipExtLaunch", "hipModuleLaunch", "hipExtModuleLaunch",
      "hipGraphLaunch", "hipMemcpy",    "hipMemset",       "hipDrvMemcpy"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (begins(name, beginnings[i])) return true;
  return false;
}

// By name: numbers differ between versions.
static int take_operation(int kind, int32_t operation, void *data) {
  const char *name = NULL;
  (void)data;
  if (operation < 0 || operation >= MOST_OPERATIONS ||
      rocm.num_operations == MOST_OPERATIONS ||
      rocm.api.rocprofiler_query_callback_tracing_kind_operation_name(
          kind, operation, &name, NULL) != PPI_ROCM_SUCCESS ||
      !name || !gives_work(name))
    return 0;
  rocm.is_graph[operation] = begins(name, "hipGraphLaunch");
  rocm.operations[rocm.num_operations++] = operation;
  return 0;
}

static int take_agents(int version, const void **agents, size_t num,
                       void *data) {
  (void)version, (void)data;
  for (size_t i = 0; i < num && rocm.num_devices < MOST_DEVICES; i++) {
    const ppi_rocm_agent *agent = agents[i];
    if (agent->type == PPI_ROCM_AGENT_GPU)
      rocm.devices[rocm.num_devices++] = agent->id;
  }
  return 0;
}

// Names of kernels come from the first code on, with or without tracing.
static bool ask_for_names(void) {
  const ppi_rocm_api *api = &rocm.api;
  return api->rocprofiler_create_context(&rocm.symbols_context) ==
             PPI_ROCM_SUCCESS &&
         api->rocprofiler_configure_callback_tracing_service(
             rocm.symbols_context, PPI_ROCM_CALL_CODE, NULL, 0, on_code,
             NULL) == PPI_ROCM_SUCCESS &&
         api->rocprofiler_start_context(rocm.symbols_context) ==
             PPI_ROCM_SUCCESS;
}

// In one context: otherwise calls and records have different correlations.
static bool ask_for_work(void) {
  const ppi_rocm_api *api = &rocm.api;
  rocm.num_operations = 0;
  api->rocprofiler_iterate_callback_tracing_kind_operations(
      PPI_ROCM_CALL_HIP, take_operation, NULL);
  return rocm.num_operations &&
         api->rocprofiler_create_context(&rocm.context) == PPI_ROCM_SUCCESS &&
         api->rocprofiler_create_buffer(
             rocm.context, BUFFER_BYTES, BUFFER_BYTES / 2,
             PPI_ROCM_POLICY_DISCARD, on_records, NULL,
             &rocm.buffer) == PPI_ROCM_SUCCESS &&
         api->rocprofiler_configure_buffer_tracing_service(
             rocm.context, PPI_ROCM_BUFFER_KERNEL, NULL, 0, rocm.buffer) ==
             PPI_ROCM_SUCCESS &&
         api->rocprofiler_configure_buffer_tracing_service(
             rocm.context, PPI_ROCM_BUFFER_COPY, NULL, 0, rocm.buffer) ==
             PPI_ROCM_SUCCESS &&
         api->rocprofiler_configure_callback_tracing_service(
             rocm.context, PPI_ROCM_CALL_HIP, rocm.operations,
             rocm.num_operations, on_call, NULL) == PPI_ROCM_SUCCESS;
}

static int begin(void) {
  int code = rocm.api.rocprofiler_start_context(rocm.context);
  if (code == PPI_ROCM_SUCCESS) set(&rocm.is_on, true);
  return code;
}

// Any answer but 0 makes the library forget us. If launches may be wanted, the
// first ones are recorded until a request comes.
static int initialize(void (*finalize)(ppi_rocm_client client), void *data) {
  (void)finalize, (void)data;
  if (!ask_for_names() || !ask_for_work()) return -1;
  rocm.api.rocprofiler_query_available_agents(
      PPI_ROCM_AGENT_VERSION, take_agents, sizeof(ppi_rocm_agent), NULL);
  set(&rocm.is_configured, true);
  if (ppi_launches_are_open()) begin();
  return 0;
}

// At the end of the process. The library has delivered all of its records by
// then.
static void finalize(void *data) {
  (void)data;
  set(&rocm.has_ended, true);
}

static bool load(void) {
  static const ppi_symbol symbols[] = {
#define PPI_ROCM_SYMBOL(name, parameters) \
  {#name, NULL, offsetof(ppi_rocm_api, name), false},
      PPI_ROCM_LIST(PPI_ROCM_SYMBOL)
#undef PPI_ROCM_SYMBOL
  };
  const char *own[] = {secure_getenv("PPROF_ROCPROFILER_PATH"), NULL};
  const char *const names[] = {"librocprofiler-sdk.so.1", NULL};
  ppi_library library = {"rocprofiler-sdk", own[0] && *own[0] ? own : names,
                         symbols, sizeof symbols / sizeof *symbols};
  return ppi_library_load(&library, &rocm.api, NULL) == PPROF_STATUS_OK;
}

void *pprof_inject_rocm_(uint32_t version, void *client, int (*attach)(void)) {
  static ppi_rocm_tool tool = {sizeof tool, initialize, finalize, NULL};
  if (version < PPI_ROCM_VERSION || version >= 2 * PPI_ROCM_VERSION ||
      is_set(&rocm.is_configured))
    return NULL;
  if (attach) attach();
  if (!ppi_launches_are_open() || !load()) return NULL;
  ppi_backend_watch_fork();
  rocm.generation = ppi_backend_generation;
  ((ppi_rocm_client *)client)->name = "pprof";
  return &tool;
}

// ---- the source ----

// The library's clock counts ns of its own.
static void look_at_clock(void) {
  for (int i = 0; i < 8; i++) {
    uint64_t ns = 0, begin = ppi_clock_ticks();
    if (rocm.api.rocprofiler_get_timestamp(&ns) != PPI_ROCM_SUCCESS) return;
    const ppi_clock_call call = {ppi_clock_ns_of(begin),
                                 ppi_clock_ns_of(ppi_clock_ticks()), ns};
    ppi_bounded_clock_see(&rocm.clock, &call);
  }
}

static pprof_status start(pprof_error *error) {
  if (!is_set(&rocm.is_configured))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "not traced: the program has not used ROCm, or "
                    "ROCP_TOOL_LIBRARIES does not name libpprof_nvtx.so");
  if (rocm.generation != ppi_backend_generation || is_set(&rocm.has_ended))
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                    "ROCm: not in a forked child, nor when the process ends");
  look_at_clock();
  if (is_set(&rocm.is_on)) return PPROF_STATUS_OK;
  __atomic_store_n(&rocm.num_lost, 0, __ATOMIC_RELAXED);
  int code = begin();
  if (code == PPI_ROCM_SUCCESS) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_UNAVAILABLE,
                  "ROCm: rocprofiler-sdk does not start (%d)", code);
}

static int device_of(uint64_t agent) {
  for (size_t i = 0; i < rocm.num_devices; i++)
    if (rocm.devices[i] == agent) return (int)i;
  return -1;
}

static void place(ppi_device_work *work, uint64_t start_ns, uint64_t end_ns) {
  if (!rocm.clock.is_known || !start_ns) return;
  work->start =
      ppi_clock_ticks_of(ppi_bounded_clock_host(&rocm.clock, start_ns));
  work->end = ppi_clock_ticks_of(ppi_bounded_clock_host(&rocm.clock, end_ns));
  work->error = ppi_clock_ticks_of(ppi_bounded_clock_error(&rocm.clock));
}

static void name_kernel(uint64_t kernel, char *text, size_t size,
                        ppi_device_work *out) {
  pthread_mutex_lock(&rocm.mutex);
  size_t at = ppi_map_find(&rocm.symbol_numbers, (ppi_map_key){0, kernel});
  // Names stay where they are until the process ends.
  if (at != SIZE_MAX) {
    out->name = rocm.symbols[at].name;
    out->shape.registers = rocm.symbols[at].registers;
  }
  pthread_mutex_unlock(&rocm.mutex);
  if (at != SIZE_MAX) return;
  snprintf(text, size, "kernel %llu", (unsigned long long)kernel);
  out->name = text;
}

static void tell_kernel(const ppi_rocm_kernel *from,
                        ppi_device_work_taker *take, void *taker) {
  char text[32];
  ppi_device_work work = {.kind = PPI_DEVICE_WORK_KERNEL,
                          .correlation = (uint32_t)from->correlation,
                          .device = PPI_MAX(device_of(from->agent), 0),
                          .stream = (uint32_t)from->queue,
                          .shape = {.shared_bytes = from->group_bytes}};
  for (int i = 0; i < 3; i++) {
    uint32_t block = from->block[i];
    work.shape.block[i] = block;
    work.shape.grid[i] =
        block ? (uint32_t)(((uint64_t)from->all[i] + block - 1) / block) : 0;
  }
  place(&work, from->start, from->end);
  name_kernel(from->kernel, text, sizeof text, &work);
  take(taker, &work);
}

static void tell_copy(const ppi_rocm_copy *from, ppi_device_work_taker *take,
                      void *taker) {
  static const char *const names[] = {"MEMCPY", "MEMCPY_HtoH", "MEMCPY_HtoD",
                                      "MEMCPY_DtoH", "MEMCPY_DtoD"};
  const int32_t num = sizeof names / sizeof *names;
  int32_t kind = from->operation;
  int device = device_of(from->to_agent);
  if (device < 0) device = PPI_MAX(device_of(from->from_agent), 0);
  ppi_device_work work = {.kind = PPI_DEVICE_WORK_COPY,
                          .correlation = (uint32_t)from->correlation,
                          .device = device,
                          .bytes = from->bytes,
                          .name = names[kind > 0 && kind < num ? kind : 0]};
  place(&work, from->start, from->end);
  take(taker, &work);
}

static void flush(bool all, ppi_device_work_taker *take, void *taker) {
  (void)all;
  if (!is_set(&rocm.has_ended)) {
    look_at_clock();
    rocm.api.rocprofiler_flush_buffer(rocm.buffer);
  }
  pthread_mutex_lock(&rocm.mutex);
  record *at = rocm.waiting, *next;
  rocm.waiting = NULL;
  rocm.num_waiting = 0;
  pthread_mutex_unlock(&rocm.mutex);
  for (; at; at = next) {
    next = at->next;
    if (at->is_kernel)
      tell_kernel(&at->of.kernel, take, taker);
    else
      tell_copy(&at->of.copy, take, taker);
    ppi_free(at);
  }
}

static void stop(void) {
  set(&rocm.is_on, false);
  if (!is_set(&rocm.has_ended)) rocm.api.rocprofiler_stop_context(rocm.context);
}

static bool num_dropped(uint64_t *out) {
  *out = __atomic_load_n(&rocm.num_lost, __ATOMIC_RELAXED);
  return true;
}

static bool is_used(void) {
  return is_set(&rocm.is_configured);
}

const ppi_kernel_source *ppi_rocm_source(void) {
  static const ppi_kernel_source source = {.backend = "hip",
                                           .start = start,
                                           .flush = flush,
                                           .stop = stop,
                                           .num_dropped = num_dropped,
                                           .is_used = is_used};
  return &source;
}
