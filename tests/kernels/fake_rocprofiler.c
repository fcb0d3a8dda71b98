// SPDX-License-Identifier: Apache-2.0
//
// The rules of the real one that a tool can break are kept: callbacks come for
// what was asked for, in contexts that were started, records by a buffer.
#include "fake_rocprofiler.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define FAILED 1
#define MOST 64

enum { NUM_CONTEXTS = 8, RECORD_BYTES = 256 };

static const char *const functions[] = {"hipGetDevice", "hipLaunchKernel",
                                        "hipGraphLaunch", "hipMemcpyAsync",
                                        "hipStreamSynchronize"};
#define NUM_FUNCTIONS (sizeof functions / sizeof *functions)

static fake_rocprofiler fake;
static struct {
  uint64_t num_contexts;
  bool is_started[NUM_CONTEXTS];
  ppi_rocm_callback *on_call, *on_code;
  uint64_t call_context, code_context, record_context;
  bool is_wanted[NUM_FUNCTIONS], wants[16];
  ppi_rocm_records *on_records;
  uint64_t next_correlation;
  ppi_rocm_header headers[MOST], *pointers[MOST];
  uint64_t bytes[MOST][RECORD_BYTES / 8];
  size_t num;
} state;

static int answer(const char *name) {
  return fake.failing && strcmp(fake.failing, name) == 0 ? FAILED
                                                         : PPI_ROCM_SUCCESS;
}

static uint64_t call(const char *function) {
  int32_t at = 0;
  uint64_t user = 0;
  while (at < (int32_t)NUM_FUNCTIONS && strcmp(functions[at], function) != 0)
    at++;
  ppi_rocm_call record = {.context = state.call_context,
                          .correlation = ++state.next_correlation,
                          .kind = PPI_ROCM_CALL_HIP,
                          .operation = at};
  bool is_seen = at < (int32_t)NUM_FUNCTIONS && state.on_call &&
                 state.is_wanted[at] && state.is_started[state.call_context];
  for (record.phase = PPI_ROCM_ENTER; is_seen && record.phase <= PPI_ROCM_EXIT;
       record.phase++)
    state.on_call(record, &user, NULL);
  return record.correlation;
}

static void load(const ppi_rocm_symbol *symbol) {
  uint64_t user = 0;
  const ppi_rocm_call record = {.context = state.code_context,
                                .kind = PPI_ROCM_CALL_CODE,
                                .operation = PPI_ROCM_CODE_SYMBOL,
                                .phase = PPI_ROCM_ENTER,
                                .payload = (void *)symbol};
  if (state.on_code && state.is_started[state.code_context])
    state.on_code(record, &user, NULL);
}

static void deliver(uint32_t kind, const void *record, size_t size) {
  if (!state.wants[kind] || !state.is_started[state.record_context] ||
      state.num == MOST)
    return;
  memcpy(state.bytes[state.num], record, size);
  state.headers[state.num] = (ppi_rocm_header){PPI_ROCM_CATEGORY_TRACING, kind,
                                               state.bytes[state.num]};
  state.pointers[state.num] = &state.headers[state.num];
  state.num++;
}

EXPORT fake_rocprofiler *fake_rocprofiler_get(void);
EXPORT fake_rocprofiler *fake_rocprofiler_get(void) {
  fake.call = call;
  fake.load = load;
  fake.deliver = deliver;
  return &fake;
}

#define ENTRY(name, parameters) \
  EXPORT int name parameters;   \
  EXPORT int name parameters

ENTRY(rocprofiler_create_context, (uint64_t * context)) {
  *context = state.num_contexts++ % NUM_CONTEXTS;
  return answer("rocprofiler_create_context");
}

ENTRY(rocprofiler_create_buffer,
      (uint64_t context, size_t size, size_t watermark, int policy,
       ppi_rocm_records *records, void *data, uint64_t *buffer)) {
  (void)size, (void)watermark, (void)policy, (void)data;
  state.on_records = records;
  state.record_context = context;
  *buffer = 4711;
  return answer("rocprofiler_create_buffer");
}

ENTRY(rocprofiler_configure_buffer_tracing_service,
      (uint64_t context, int kind, const int32_t *operations, size_t num,
       uint64_t buffer)) {
  (void)operations, (void)num;
  state.wants[kind] = context == state.record_context && buffer == 4711;
  return answer("rocprofiler_configure_buffer_tracing_service");
}

ENTRY(rocprofiler_configure_callback_tracing_service,
      (uint64_t context, int kind, const int32_t *operations, size_t num,
       ppi_rocm_callback *callback, void *data)) {
  (void)data;
  if (kind == PPI_ROCM_CALL_CODE) {
    state.on_code = callback;
    state.code_context = context;
  } else {
    state.on_call = callback;
    state.call_context = context;
    for (size_t i = 0; i < num; i++) state.is_wanted[operations[i]] = true;
  }
  return answer("rocprofiler_configure_callback_tracing_service");
}

ENTRY(rocprofiler_iterate_callback_tracing_kind_operations,
      (int kind, ppi_rocm_operation *take, void *data)) {
  for (size_t i = 0; i < NUM_FUNCTIONS; i++) take(kind, (int32_t)i, data);
  return PPI_ROCM_SUCCESS;
}

ENTRY(rocprofiler_query_callback_tracing_kind_operation_name,
      (int kind, int32_t operation, const char **name, uint64_t *len)) {
  (void)kind;
  *name = functions[operation];
  if (len) *len = strlen(*name);
  return answer("rocprofiler_query_callback_tracing_kind_operation_name");
}

ENTRY(rocprofiler_query_available_agents,
      (int version, ppi_rocm_agents *take, size_t size, void *data)) {
  static const ppi_rocm_agent agents[] = {{sizeof *agents, 100, 1},
                                          {sizeof *agents, 200, 2},
                                          {sizeof *agents, 300, 2}};
  const void *pointers[] = {&agents[0], &agents[1], &agents[2]};
  (void)size;
  take(version, pointers, 3, data);
  return PPI_ROCM_SUCCESS;
}

ENTRY(rocprofiler_start_context, (uint64_t context)) {
  int result = answer("rocprofiler_start_context");
  state.is_started[context] = result == PPI_ROCM_SUCCESS;
  return result;
}

ENTRY(rocprofiler_stop_context, (uint64_t context)) {
  state.is_started[context] = false;
  return answer("rocprofiler_stop_context");
}

ENTRY(rocprofiler_flush_buffer, (uint64_t buffer)) {
  size_t num = state.num;
  uint64_t dropped = fake.dropped;
  (void)buffer;
  state.num = 0;
  fake.dropped = 0;
  if (num || dropped)
    state.on_records(state.record_context, buffer, state.pointers, num, NULL,
                     dropped);
  return answer("rocprofiler_flush_buffer");
}

ENTRY(rocprofiler_get_timestamp, (uint64_t * ns)) {
  *ns = __atomic_add_fetch(&fake.now_ns, 10, __ATOMIC_RELAXED);
  return answer("rocprofiler_get_timestamp");
}
