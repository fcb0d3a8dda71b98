// SPDX-License-Identifier: Apache-2.0
//
// Every call of NVTX, once or more, on one thread: calls [PART...]. What a call
// answers is printed, what it records is in the log; calls_test.py knows both.
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

static void core(void) {
  nvtxEventAttributes_t event = event_of("push ex");
  event.category = 7;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff336699;
  nvtxInitialize(NULL);
  nvtxNameCategoryA(7, "seven");
  nvtxNameCategoryW(8, L"eight \x00e9");
  say("push", nvtxRangePushA("push a"));
  say("push", nvtxRangePushW(L"push w \x00e9 \x6f22 \x1f600"));
  say("push", nvtxRangePushEx(&event));
  say("pop", nvtxRangePop());
  say("pop", nvtxRangePop());
  say("pop", nvtxRangePop());
  say("pop", nvtxRangePop());
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w \x6f22");
  event = event_of("mark ex");
  event.category = 8;
  nvtxMarkEx(&event);
  nvtxRangeId_t a = nvtxRangeStartA("start a");
  nvtxRangeId_t w = nvtxRangeStartW(L"start w");
  event = event_of("start ex");
  nvtxRangeId_t ex = nvtxRangeStartEx(&event);
  say("ids differ", a && w && ex && a != w && w != ex && a != ex);
  nvtxRangeEnd(w);
  nvtxRangeEnd(a);
  nvtxDomainRangeEnd(NULL, ex);
}

static void domains(void) {
  nvtxDomainHandle_t alpha = nvtxDomainCreateA("alpha");
  nvtxDomainHandle_t beta = nvtxDomainCreateW(L"beta \x03b2");
  say("domains differ", alpha && beta && alpha != beta);
  nvtxDomainNameCategoryA(alpha, 7, "alpha seven");
  nvtxDomainNameCategoryW(beta, 7, L"beta seven");
  nvtxStringHandle_t text = nvtxDomainRegisterStringA(alpha, "registered a");
  nvtxStringHandle_t wide = nvtxDomainRegisterStringW(beta, L"registered w");
  say("strings differ", text && wide && text != wide);
  nvtxEventAttributes_t event = event_of_string(text);
  event.category = 7;
  say("push", nvtxDomainRangePushEx(alpha, &event));
  event = event_of_string(wide);
  event.category = 7;
  say("push", nvtxDomainRangePushEx(beta, &event));
  say("push", push_in(alpha, "alpha inner"));
  say("pop", nvtxDomainRangePop(alpha));
  // Partly overlapping: each domain has its own stack.
  say("pop", nvtxDomainRangePop(alpha));
  say("pop", nvtxDomainRangePop(beta));
  say("pop", nvtxDomainRangePop(beta));
  event = event_of_string(text);
  nvtxDomainMarkEx(alpha, &event);
  nvtxRangeId_t id = nvtxDomainRangeStartEx(beta, &event);
  say("id", id != 0);
  nvtxDomainRangeEnd(beta, id);
  say("push", push_in(NULL, "default domain"));
  say("pop", nvtxDomainRangePop(NULL));
  nvtxDomainDestroy(beta);
  nvtxDomainDestroy(NULL);
  say("push", push_in(alpha, "alpha after"));
  say("pop", nvtxDomainRangePop(alpha));
  nvtxDomainDestroy(alpha);
}

static void mark_value(const char *name, int type, const void *value,
                       size_t size) {
  nvtxEventAttributes_t event = event_of(name);
  event.payloadType = type;
  memcpy(&event.payload, value, size);
  nvtxMarkEx(&event);
}

// Numbers that an event carries, of every type.
static void values(void) {
  const uint64_t large = 18446744073709551615u;
  const int64_t negative = -9;
  const double half = 0.5;
  const uint32_t most = 4294967295u;
  const int32_t minus = -3;
  const float quarter = 0.25f;
  mark_value("u64", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, &large, sizeof large);
  mark_value("i64", NVTX_PAYLOAD_TYPE_INT64, &negative, sizeof negative);
  mark_value("double", NVTX_PAYLOAD_TYPE_DOUBLE, &half, sizeof half);
  mark_value("u32", NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, &most, sizeof most);
  mark_value("i32", NVTX_PAYLOAD_TYPE_INT32, &minus, sizeof minus);
  mark_value("float", NVTX_PAYLOAD_TYPE_FLOAT, &quarter, sizeof quarter);
}

// The same of ranges.
static void range_values(void) {
  nvtxEventAttributes_t event = event_of("pushed");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 4096;
  say("push", nvtxRangePushEx(&event));
  say("pop", nvtxRangePop());
  event.message.ascii = "started";
  nvtxRangeEnd(nvtxRangeStartEx(&event));
}

static void name_resource(nvtxDomainHandle_t domain, int type,
                          uint64_t identifier, const char *name) {
  nvtxResourceAttributes_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.identifierType = type;
  attributes.identifier.ullValue = identifier;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxResourceHandle_t handle = nvtxDomainResourceCreate(domain, &attributes);
  say("resource", handle != NULL);
  nvtxDomainResourceDestroy(handle);
}

// Whatever can be named; only threads show without a device.
static void resources(void) {
  void *const thing = (void *)(uintptr_t)0x1000;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("resources");
  name_resource(domain, NVTX_RESOURCE_TYPE_GENERIC_POINTER, 0x1000, "pointer");
  name_resource(domain, NVTX_RESOURCE_TYPE_GENERIC_HANDLE, 3, "handle");
  name_resource(domain, NVTX_RESOURCE_TYPE_CUDA_DEVICE, 0, "device");
  name_resource(domain, NVTX_RESOURCE_TYPE_CUDA_STREAM, 0x1000, "stream");
  name_resource(domain, NVTX_RESOURCE_TYPE_CUDART_STREAM, 0x1000, "stream");
  name_resource(NULL, 0x7fff0001, 1, "unknown");
  nvtxDomainResourceDestroy(NULL);
#define NAME_BOTH(call, what) \
  call##A(what, #call);       \
  call##W(what, L"wide")
  NAME_BOTH(nvtxNameCuDevice, 0);
  NAME_BOTH(nvtxNameCuContext, thing);
  NAME_BOTH(nvtxNameCuStream, thing);
  NAME_BOTH(nvtxNameCuEvent, thing);
  NAME_BOTH(nvtxNameCudaDevice, 0);
  NAME_BOTH(nvtxNameCudaStream, thing);
  NAME_BOTH(nvtxNameCudaEvent, thing);
  NAME_BOTH(nvtxNameClDevice, thing);
  NAME_BOTH(nvtxNameClContext, thing);
  NAME_BOTH(nvtxNameClCommandQueue, thing);
  NAME_BOTH(nvtxNameClMemObject, thing);
  NAME_BOTH(nvtxNameClSampler, thing);
  NAME_BOTH(nvtxNameClProgram, thing);
  NAME_BOTH(nvtxNameClEvent, thing);
#undef NAME_BOTH
  nvtxMarkA("in a named thread");
  nvtxNameOsThreadW((uint32_t)gettid(), L"first name");
  nvtxNameOsThreadA((uint32_t)gettid(), "worker of calls");
}

// The name reaches the thread by the resource call alone.
static void thread_resource(void) {
  nvtxMarkA("in a thread named as a resource");
  name_resource(NULL, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE,
                (uint64_t)gettid(), "resource thread");
}

static void locks(void) {
  nvtxSyncUserAttributes_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "lock";
  nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(NULL, &attributes);
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireFailed(lock);
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireSuccess(lock);
  nvtxDomainSyncUserReleasing(lock);
  nvtxDomainSyncUserDestroy(lock);
  nvtxMarkA("after locks");
}

typedef struct message {
  uint64_t communicator;
  size_t bytes;
  int32_t operation;
} message;

static uint64_t register_message(nvtxDomainHandle_t domain, uint64_t id) {
  static const nvtxPayloadEnum_t operations[] = {{"sum", 0, 0}, {"max", 3, 0}};
  nvtxPayloadEnumAttr_t values;
  memset(&values, 0, sizeof values);
  values.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  values.name = "operation";
  values.entries = operations;
  values.numEntries = 2;
  values.sizeOfEnum = sizeof(int32_t);
  const uint64_t type = nvtxPayloadEnumRegister(domain, &values);
  say("enum id is a tool's", type >= (uint64_t)1 << 32);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "Communicator ID"},
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
       .name = "Message size [bytes]",
       .offset = offsetof(message, bytes)},
      {.type = type,
       .name = "Reduction operation",
       .offset = offsetof(message, operation)},
  };
  nvtxPayloadSchemaAttr_t schema = {0};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "message";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = sizeof(message);
  if (id) schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

// Schemas: an id of the program's own, and one that the tool chooses.
static void payloads(void) {
  const uint64_t own = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
  say("enabled", nvtxDomainIsEnabled(domain) != 0);
  say("own id", register_message(domain, own) == own);
  const uint64_t given = register_message(domain, 0);
  say("given id is a tool's", given >= (uint64_t)1 << 32);
  message first = {1, 1048576, 0}, second = {1, 4096, 3};
  nvtxPayloadData_t data = {own, sizeof first, &first};
  nvtxEventAttributes_t event = event_of_payload("AllReduce", &data, 1);
  say("push", nvtxDomainRangePushEx(domain, &event));
  say("pop", nvtxDomainRangePop(domain));
  data = (nvtxPayloadData_t){given, SIZE_MAX, &second};
  event = event_of_payload("Broadcast", &data, 1);
  say("push", nvtxDomainRangePushEx(domain, &event));
  say("pop", nvtxDomainRangePop(domain));
  event = event_of_payload("Send", &data, 1);
  nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &event);
  nvtxDomainRangeEnd(domain, id);
  data.size = sizeof second;
  event = event_of_payload("Barrier", &data, 1);
  nvtxDomainMarkEx(domain, &event);
}

typedef struct named_bytes {
  char name[24];
  size_t bytes;
} named_bytes;

typedef struct registered_bytes {
  nvtxStringHandle_t name;
  size_t bytes;
} registered_bytes;

// A schema of a fixed size, with an id that the tool chooses.
static uint64_t register_fixed(nvtxDomainHandle_t domain,
                               const nvtxPayloadSchemaEntry_t *entries,
                               size_t num, size_t size) {
  nvtxPayloadSchemaAttr_t schema = {0};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = num;
  schema.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

// A range serves the request of a W3C traceparent.
static void context_calls(void) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
       .name = "traceparent",
       .arrayOrUnionDetail = 56}};
  const char text[56] =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  nvtxDomainHandle_t domain = nvtxDomainCreateA("contexts");
  nvtxPayloadData_t data = {register_fixed(domain, entries, 1, sizeof text),
                            sizeof text, text};
  nvtxEventAttributes_t event = event_of_payload("pushed", &data, 1);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  event = event_of_payload("started", &data, 1);
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
}

// Events whose name is in their payload: a text of fixed size, or a handle.
static uint64_t register_named(nvtxDomainHandle_t domain, uint64_t type) {
  const int by_handle =
      type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
  const nvtxPayloadSchemaEntry_t entries[] = {
      {.flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
       .type = type,
       .name = "name",
       .arrayOrUnionDetail = by_handle ? 0 : sizeof((named_bytes *)0)->name},
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
       .name = "bytes",
       .offset = by_handle ? offsetof(registered_bytes, bytes)
                           : offsetof(named_bytes, bytes)},
  };
  return register_fixed(
      domain, entries, 2,
      by_handle ? sizeof(registered_bytes) : sizeof(named_bytes));
}

static void payload_calls(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payload calls");
  const uint64_t by_text =
      register_named(domain, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
  const uint64_t by_handle = register_named(
      domain, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
  const named_bytes push = {"payload push", 100},
                    full = {"twenty-four letters used", 200};
  const registered_bytes start = {
      nvtxDomainRegisterStringA(domain, "payload start"), 300};
  nvtxPayloadData_t data = {by_text, sizeof push, &push};
  say("push", nvtxRangePushPayload(domain, &data, 1));
  say("push", push_in(domain, "plain inner"));
  say("pop", nvtxDomainRangePop(domain));
  say("pop", nvtxRangePopPayload(domain, NULL, 0));
  data.payload = &full;
  nvtxMarkPayload(domain, &data, 1);
  data = (nvtxPayloadData_t){by_handle, sizeof start, &start};
  nvtxRangeId_t range = nvtxRangeStartPayload(domain, &data, 1);
  say("id", range != 0);
  // What the end brings is added to the range.
  nvtxRangeEndPayload(domain, range, &data, 1);
}

static int64_t program_clock(void) {
  return 0;
}

static int64_t program_clock_of(void *data) {
  return *(int64_t *)data;
}

// Times that are not ours: accepted, and no more.
static void deferred(void) {
  static int64_t zero;
  const nvtxSyncPoint_t points[2] = {{0, 0}, {1, 1}};
  nvtxScopeAttr_t scope = {sizeof scope, "node", 1, 0};
  nvtxTimeDomainAttr_t time = {
      .timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC};
  nvtxEventBatch_t batch;
  memset(&batch, 0, sizeof batch);
  nvtxScopeRegister(NULL, &scope);
  const uint64_t id = nvtxTimeDomainRegister(NULL, &time);
  const int64_t before = nvtxTimestampGet(), after = nvtxTimestampGet();
  say("timestamps are in order", before <= after);
  nvtxTimerSource(NULL, id, 0, program_clock);
  nvtxTimerSourceWithData(NULL, id, 0, program_clock_of, &zero);
  nvtxTimeSyncPoint(NULL, id, id, 0, 0);
  nvtxTimeSyncPointTable(NULL, id, id, points, 2);
  nvtxTimestampConversionFactor(NULL, id, id, 1.0, 0, 0);
  nvtxEventSubmit(NULL, NULL, 0);
  nvtxEventBatchSubmit(NULL, &batch);
  nvtxMarkA("after deferred");
}

typedef struct pair {
  int64_t used;
  double share;
} pair;

static uint64_t register_pair(nvtxDomainHandle_t domain) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64, .name = "used"},
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
       .name = "share",
       .offset = offsetof(pair, share)},
  };
  nvtxPayloadSchemaAttr_t schema = {0};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(pair);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

static uint64_t register_counter(nvtxDomainHandle_t domain, const char *name,
                                 uint64_t schema, uint64_t id) {
  nvtxCounterAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.structSize = sizeof attributes;
  attributes.schemaId = schema;
  attributes.name = name;
  attributes.counterId = id;
  return nvtxCounterRegister(domain, &attributes);
}

static void counters(void) {
  const uint64_t own = NVTX_COUNTER_ID_STATIC_START + 9;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("counters");
  uint64_t depth =
      register_counter(domain, "queue depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64, 0);
  say("given id is a tool's", depth >= (uint64_t)1 << 32);
  say("own id", register_counter(domain, "load", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
                                 own) == own);
  nvtxCounterSampleInt64(domain, depth, -4);
  nvtxCounterSampleInt64(domain, depth, 12);
  nvtxCounterSampleFloat64(domain, own, 0.75);
  nvtxCounterSampleNoValue(domain, own, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  const int64_t five = 5;
  nvtxCounterSample(domain, depth, &five, sizeof five);
  uint64_t group = register_counter(domain, "memory", register_pair(domain), 0);
  const pair sample = {1000, 0.25};
  nvtxCounterSample(domain, group, &sample, sizeof sample);
  const int64_t times[2] = {1, 2}, batch_values[2] = {6, 7};
  const nvtxCounterBatch_t batch = {depth, batch_values, sizeof batch_values,
                                    0,     times,        sizeof times};
  nvtxCounterBatchSubmit(domain, &batch);
}

// Names as PyTorch makes them, and some that only look alike.
static void grammars(void) {
  static const char *const names[] = {
      "aten::add, seq = 12, op_id = 3",
      "aten::add, seq = 13, op_id = 4",
      "aten::mul, op_id = 5, sizes = [[2, 3], [3]]",
      "AddBackward0, stashed seq=12",
      "aten::linear, seq = 7, op_id = 1, sizes = [], input_op_ids = [(1,0)]",
      "a, b, seq",
      "seq = 5",
      "wait, for it"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    nvtxRangePushA(names[i]);
    nvtxRangePop();
  }
}

static void range_in(nvtxDomainHandle_t domain, const char *name) {
  nvtxEventAttributes_t event =
      event_of_string(nvtxDomainRegisterStringA(domain, name));
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}

// What a server of language models marks: five sorts of ranges, nearly each
// with a name of its own. SERVER_STEPS: how often, 400 by default.
static void server(void) {
  const char *steps = getenv("SERVER_STEPS");
  nvtxDomainHandle_t domain = nvtxDomainCreateA("server");
  char name[128];
  for (unsigned i = 0, end = steps ? (unsigned)atoi(steps) : 400; i < end;
       i++) {
    unsigned batch = 1 + i * 7 % 64;
    snprintf(name, sizeof name, "execute_context_%u(%u)_generation_%u(%u)",
             i % 3, i % 3 * 1024 + i, batch, batch);
    nvtxRangePushA(name);
    nvtxRangePushA("gpu_model_runner: forward");
    snprintf(name, sizeof name, "Linear in=[[%u,4096]] out=[[%u,11008]]",
             batch + i % 999, batch + i % 999);
    nvtxRangePushA(name);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePop();
    snprintf(name, sizeof name, "decode step %u", i);
    range_in(domain, name);
    snprintf(name, sizeof name, "layer%u", i % 32);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

// Ten iterations of a server or of PyTorch: names that it has itself, in the
// way in which it tells them, one of them with numbers around the others.
enum way { PUSHED, REGISTERED, STARTED };
static const struct replay {
  const char *name, *domain, *around;
  enum way way;
  const char *names[9];
} replays[] = {
    {"vllm",
     "NVTX",
     "execute_context_%u(%u)_generation_%u(%u)",
     REGISTERED,
     {"gpu_model_runner: preprocess", "gpu_model_runner: forward",
      "gpu_model_runner: postprocess", "gpu_model_runner: sample",
      "gpu_model_runner: draft", "gpu_model_runner: bookkeep",
      "gpu_model_runner: eplb", "gpu_model_runner: ModelRunnerOutput"}},
    {"sglang",
     "NVTX",
     NULL,
     REGISTERED,
     {"scheduler.recv_requests", "scheduler.process_input_requests",
      "scheduler.get_next_batch_to_run", "scheduler.run_batch",
      "scheduler.process_batch_result"}},
    {"trtllm",
     "TensorRT-LLM",
     "[Executor] _forward_step %u: %u ctx reqs, %u ctx tokens, %u gen reqs",
     REGISTERED,
     {"_fetch_new_requests", "_schedule", "_prepare_inputs", "_forward_step",
      "_sample_async", "_update_requests", "_handle_responses"}},
    {"dynamo",
     NULL,
     NULL,
     STARTED,
     {"preprocess.template", "preprocess.tokenize", "route.select_worker",
      "transport.tcp.send", "transport.tcp.wait_backend",
      "pybridge.invoke_generator", "detokenize"}},
    {"torch",
     NULL,
     NULL,
     PUSHED,
     {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__, seq = 3",
      "aten::linear, seq = 12, op_id = 40",
      "autograd::engine::evaluate_function: AddmmBackward0, seq = 12",
      "AddmmBackward0, seq = 12", "Optimizer.step#SGD.step",
      "Optimizer.zero_grad#SGD.zero_grad", "nccl:all_reduce"}},
};

static void begin_one(enum way way, nvtxDomainHandle_t domain, const char *name,
                      nvtxRangeId_t *out) {
  if (way == STARTED) *out = nvtxRangeStartA(name);
  if (way == PUSHED) nvtxRangePushA(name);
  if (way != REGISTERED) return;
  nvtxEventAttributes_t event =
      event_of_string(nvtxDomainRegisterStringA(domain, name));
  nvtxDomainRangePushEx(domain, &event);
}

static void end_one(enum way way, nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  if (way == STARTED) nvtxRangeEnd(id);
  if (way == PUSHED) nvtxRangePop();
  if (way == REGISTERED) nvtxDomainRangePop(domain);
}

static void run_replay(const struct replay *replay) {
  nvtxDomainHandle_t domain =
      replay->domain ? nvtxDomainCreateA(replay->domain) : NULL;
  nvtxRangeId_t around = 0, id = 0;
  char name[128];
  for (unsigned i = 0; i < 10; i++) {
    if (replay->around) {
      snprintf(name, sizeof name, replay->around, i, i % 3, 7 * i, 64 - i);
      begin_one(replay->way, domain, name, &around);
    }
    for (const char *const *at = replay->names; *at; at++) {
      begin_one(replay->way, domain, *at, &id);
      end_one(replay->way, domain, id);
    }
    if (replay->around) end_one(replay->way, domain, around);
  }
}

// Waits for its input to end: until then it can be looked at.
static void wait_for_end(void) {
  char one;
  say("waits", 0);
  while (read(STDIN_FILENO, &one, 1) > 0) continue;
}

static const struct part {
  const char *name;
  void (*run)(void);
} parts[] = {
    {"core", core},
    {"domains", domains},
    {"values", values},
    {"range_values", range_values},
    {"resources", resources},
    {"thread_resource", thread_resource},
    {"locks", locks},
    {"payloads", payloads},
    {"payload_calls", payload_calls},
    {"context_calls", context_calls},
    {"deferred", deferred},
    {"counters", counters},
    {"grammars", grammars},
    {"server", server},
    {"wait", wait_for_end},
};

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    for (size_t k = 0; k < sizeof replays / sizeof *replays; k++)
      if (strcmp(argv[i], replays[k].name) == 0) run_replay(&replays[k]);
  for (int i = 1; i < argc; i++)
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
      if (strcmp(argv[i], parts[k].name) == 0) parts[k].run();
  return 0;
}
