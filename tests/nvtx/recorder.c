// SPDX-License-Identifier: Apache-2.0
//
// A tool of the plainest kind: an injection that writes a line for every call
// into the file that RECORDER_FILE names, with the arguments it was given and
// handles of its own, ids and pointers counted from 1. RECORDER_INIT=0 makes it
// refuse; compiled with NO_EXTENSION it lacks that entry point.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "client.h"

#define EXPORT __attribute__((visibility("default")))

// Handles are addresses in here, so that a stranger's is recognised; set: it
// was destroyed.
static char handles[1000];
static unsigned num_handles;

static __attribute__((format(printf, 1, 2))) void line(const char *format,
                                                       ...) {
  const char *path = getenv("RECORDER_FILE");
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  if (len < 0 || !path) return;
  if (len > (int)sizeof text - 2) len = sizeof text - 2;
  text[len++] = '\n';
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  // One write a line: whole lines even when processes and threads mix.
  if (write(file, text, (size_t)len) != len) abort();
  close(file);
}

static void *new_handle(void) {
  unsigned number = __atomic_add_fetch(&num_handles, 1, __ATOMIC_RELAXED);
  return &handles[number % sizeof handles];
}

// 0 for none, -1 for one that is not ours, -2 for one that is no more.
static long number_of(const void *handle) {
  if (!handle) return 0;
  const char *at = handle;
  if (at < handles || at >= handles + sizeof handles) return -1;
  return *at ? -2 : at - handles;
}

static const char *narrow(const wchar_t *wide, char out[256]) {
  size_t num = 0;
  for (; wide && *wide && num + 12 < 256; wide++)
    num += (size_t)snprintf(out + num, 256 - num, *wide < 128 ? "%c" : "\\u%x",
                            (unsigned)*wide);
  out[num] = 0;
  return out;
}

static const char *shown(const char *text) {
  return text ? text : "(null)";
}

static void event_line(const char *call, const void *domain,
                       const nvtxEventAttributes_t *event) {
  char wide[256], text[512] = "";
  if (!event) {
    line("%s domain %ld (null)", call, number_of(domain));
    return;
  }
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII)
    snprintf(text, sizeof text, "'%s'", shown(event->message.ascii));
  if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE)
    snprintf(text, sizeof text, "'%s'", narrow(event->message.unicode, wide));
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    snprintf(text, sizeof text, "string %ld",
             number_of(event->message.registered));
  line("%s domain %ld %s category %u color %d %#x payload %d %#llx", call,
       number_of(domain), text, (unsigned)event->category,
       (int)event->colorType, (unsigned)event->color, (int)event->payloadType,
       event->payloadType == NVTX_PAYLOAD_TYPE_EXT
           ? (unsigned long long)*(
                 const uint64_t *)(uintptr_t)event->payload.ullValue
           : (unsigned long long)event->payload.ullValue);
}

static __thread int level;
static uint64_t last_id;

static uint64_t new_id(void) {
  return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED) + 1000;
}

static void mark_ex(const nvtxEventAttributes_t *event) {
  event_line("MarkEx", NULL, event);
}
static void mark_a(const char *text) {
  line("MarkA '%s'", shown(text));
}
static void mark_w(const wchar_t *text) {
  char out[256];
  line("MarkW '%s'", narrow(text, out));
}
static uint64_t start_ex(const nvtxEventAttributes_t *event) {
  event_line("RangeStartEx", NULL, event);
  return new_id();
}
static uint64_t start_a(const char *text) {
  line("RangeStartA '%s'", shown(text));
  return new_id();
}
static uint64_t start_w(const wchar_t *text) {
  char out[256];
  line("RangeStartW '%s'", narrow(text, out));
  return new_id();
}
static void range_end(uint64_t id) {
  line("RangeEnd %llu", (unsigned long long)id);
}
static int push_ex(const nvtxEventAttributes_t *event) {
  event_line("RangePushEx", NULL, event);
  return level++;
}
static int push_a(const char *text) {
  line("RangePushA '%s'", shown(text));
  return level++;
}
static int push_w(const wchar_t *text) {
  char out[256];
  line("RangePushW '%s'", narrow(text, out));
  return level++;
}
static int pop(void) {
  line("RangePop");
  return --level;
}
static void name_category_a(uint32_t category, const char *text) {
  line("NameCategoryA %u '%s'", (unsigned)category, shown(text));
}
static void name_thread_a(uint32_t thread, const char *text) {
  line("NameOsThreadA %d '%s'", thread == (uint32_t)gettid(), shown(text));
}

static void domain_mark(void *domain, const nvtxEventAttributes_t *event) {
  event_line("DomainMarkEx", domain, event);
}
static uint64_t domain_start(void *domain, const nvtxEventAttributes_t *event) {
  event_line("DomainRangeStartEx", domain, event);
  return new_id();
}
static void domain_end(void *domain, uint64_t id) {
  line("DomainRangeEnd domain %ld %llu", number_of(domain),
       (unsigned long long)id);
}
static int domain_push(void *domain, const nvtxEventAttributes_t *event) {
  event_line("DomainRangePushEx", domain, event);
  return level++;
}
static int domain_pop(void *domain) {
  line("DomainRangePop domain %ld", number_of(domain));
  return --level;
}
static void *resource_create(void *domain,
                             const nvtxResourceAttributes_t *attributes) {
  line("DomainResourceCreate domain %ld type %#x", number_of(domain),
       (unsigned)attributes->identifierType);
  return new_handle();
}
static void resource_destroy(void *resource) {
  line("DomainResourceDestroy %ld", number_of(resource));
}
static void domain_name_category(void *domain, uint32_t category,
                                 const char *text) {
  line("DomainNameCategoryA domain %ld %u '%s'", number_of(domain),
       (unsigned)category, shown(text));
}
static void *register_string(void *domain, const char *text) {
  void *handle = new_handle();
  line("DomainRegisterStringA domain %ld '%s' is %ld", number_of(domain),
       shown(text), number_of(handle));
  return handle;
}
static void *domain_create(const char *name) {
  void *handle = new_handle();
  line("DomainCreateA '%s' is %ld", shown(name), number_of(handle));
  return handle;
}
static void domain_destroy(void *domain) {
  const long number = number_of(domain);
  line("DomainDestroy %ld", number);
  if (number > 0) handles[number] = 1;
}
static void initialize(const void *reserved) {
  (void)reserved;
  line("Initialize");
}
static void *sync_create(void *domain,
                         const nvtxSyncUserAttributes_t *attributes) {
  void *handle = new_handle();
  line("SyncUserCreate domain %ld '%s' is %ld", number_of(domain),
       shown(attributes->message.ascii), number_of(handle));
  return handle;
}
static void sync_acquire(void *user) {
  line("SyncUserAcquireStart %ld", number_of(user));
}

static const struct slot {
  unsigned module, index;
  client_function function;
} slots[] = {
    {CLIENT_CORE, 1, (client_function)mark_ex},
    {CLIENT_CORE, 2, (client_function)mark_a},
    {CLIENT_CORE, 3, (client_function)mark_w},
    {CLIENT_CORE, 4, (client_function)start_ex},
    {CLIENT_CORE, 5, (client_function)start_a},
    {CLIENT_CORE, 6, (client_function)start_w},
    {CLIENT_CORE, 7, (client_function)range_end},
    {CLIENT_CORE, 8, (client_function)push_ex},
    {CLIENT_CORE, 9, (client_function)push_a},
    {CLIENT_CORE, 10, (client_function)push_w},
    {CLIENT_CORE, 11, (client_function)pop},
    {CLIENT_CORE, 12, (client_function)name_category_a},
    {CLIENT_CORE, 14, (client_function)name_thread_a},
    {CLIENT_CORE2, 1, (client_function)domain_mark},
    {CLIENT_CORE2, 2, (client_function)domain_start},
    {CLIENT_CORE2, 3, (client_function)domain_end},
    {CLIENT_CORE2, 4, (client_function)domain_push},
    {CLIENT_CORE2, 5, (client_function)domain_pop},
    {CLIENT_CORE2, 6, (client_function)resource_create},
    {CLIENT_CORE2, 7, (client_function)resource_destroy},
    {CLIENT_CORE2, 8, (client_function)domain_name_category},
    {CLIENT_CORE2, 10, (client_function)register_string},
    {CLIENT_CORE2, 12, (client_function)domain_create},
    {CLIENT_CORE2, 14, (client_function)domain_destroy},
    {CLIENT_CORE2, 15, (client_function)initialize},
    {CLIENT_SYNC, 1, (client_function)sync_create},
    {CLIENT_SYNC, 3, (client_function)sync_acquire},
};

EXPORT int InitializeInjectionNvtx2(client_get_export_table get);

int InitializeInjectionNvtx2(client_get_export_table get) {
  const char *answer = getenv("RECORDER_INIT");
  const client_callbacks *callbacks = get(1);
  client_function **table;
  unsigned size;
  line("init");
  if ((answer && answer[0] == '0') || !callbacks) return 0;
  for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
    if (callbacks->get_module_function_table(slots[i].module, &table, &size) &&
        slots[i].index < size && table[slots[i].index])
      *table[slots[i].index] = slots[i].function;
  return 1;
}

#ifndef NO_EXTENSION
static uint64_t schema_register(void *domain,
                                const nvtxPayloadSchemaAttr_t *schema) {
  const int own =
      (schema->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  line("PayloadSchemaRegister domain %ld '%s' entries %zu own %d",
       number_of(domain), shown(schema->name), schema->numEntries, own);
  return own ? schema->schemaId : ((uint64_t)7 << 32) + new_id();
}
static uint64_t counter_register(void *domain,
                                 const nvtxCounterAttr_t *attributes) {
  line("CounterRegister domain %ld '%s'", number_of(domain),
       shown(attributes->name));
  return ((uint64_t)8 << 32) + 1;
}
static void counter_int(void *domain, uint64_t id, int64_t value) {
  line("CounterSampleInt64 domain %ld %#llx %lld", number_of(domain),
       (unsigned long long)id, (long long)value);
}

static void counter_batch(void *domain, const nvtxCounterBatch_t *batch) {
  line("CounterBatchSubmit domain %ld %#llx", number_of(domain),
       (unsigned long long)batch->counterId);
}

EXPORT int InitializeInjectionNvtxExtension(client_module_info *info);

int InitializeInjectionNvtxExtension(client_module_info *info) {
  line("extension %u", (unsigned)info->module);
  if (info->module == CLIENT_PAYLOAD)
    info->segments[0].slots[0] = (intptr_t)schema_register;
  if (info->module == CLIENT_COUNTERS) {
    info->segments[0].slots[0] = (intptr_t)counter_register;
    info->segments[0].slots[1] = (intptr_t)counter_int;
    info->segments[0].slots[5] = (intptr_t)counter_batch;
  }
  return 1;
}
#endif
