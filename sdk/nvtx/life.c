// SPDX-License-Identifier: Apache-2.0
//
// Answers NVTX when it looks for a tool, and follows the process's life. The
// entry points run once for each linkage unit and extension, on any thread,
// nested, at the same time, in library constructors, and after our own
// destructor. They never wait for a thread, and a slot is live as soon as it is
// written.
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "chain.h"
#include "device.h"
#include "event.h"
#include "process.h"
#include "start/injected.h"
#include "text.h"
#include "values.h"

// ---- extended calls ----

#define PAYLOAD(call) next_call(NVTX_EXTENSION_PAYLOAD, NVTX_PAYLOAD_##call)
#define COUNTER(call) next_call(NVTX_EXTENSION_COUNTERS, NVTX_COUNTER_##call)

static inline nvtx_function next_call(uint32_t module, uint32_t call) {
  if (!ppi_nvtx_is_chained()) return NULL;
  return ppi_nvtx_next_extension(module, call);
}

static uint64_t schema_register(
    void *handle, const ppi_payload_schema_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t id = domain && attributes
                    ? ppi_payload_schema_register(&ppi_nvtx_known_schemas,
                                                  domain->number, attributes)
                    : 0;
  if (!id) pprof_inject_bad_();
  nvtx_function next = PAYLOAD(SCHEMA_REGISTER);
  if (PPI_UNLIKELY(next != NULL)) {
    ppi_nvtx_schema_copy copy;
    ppi_nvtx_remember_id(id, ((uint64_t(*)(void *, const void *))next)(
                                 ppi_nvtx_next_domain(domain),
                                 ppi_nvtx_translate_schema(attributes, &copy)));
  }
  return id;
}

static uint64_t enum_register(void *handle,
                              const ppi_payload_enum_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t id = domain && attributes
                    ? ppi_payload_enum_register(&ppi_nvtx_known_schemas,
                                                domain->number, attributes)
                    : 0;
  if (!id) pprof_inject_bad_();
  nvtx_function next = PAYLOAD(ENUM_REGISTER);
  if (PPI_UNLIKELY(next != NULL))
    ppi_nvtx_remember_id(id, ((uint64_t(*)(void *, const void *))next)(
                                 ppi_nvtx_next_domain(domain), attributes));
  return id;
}

// The name of an event with its message in a field of the payload.
typedef struct message {
  char text[PPI_NVTX_MAX_TEXT + 8];
  bool found;
} message;

static void take_wide(message *to, const ppi_payload_value *value) {
  wchar_t wide[512];
  size_t num = value->len < 511 ? value->len : 511;
  for (size_t i = 0; i < num; i++) {
    uint32_t c = 0;
    memcpy(&c, (const char *)value->text + i * value->char_bytes,
           value->char_bytes);
    wide[i] = (wchar_t)c;
  }
  wide[num] = 0;
  ppi_nvtx_utf8(wide, to->text, sizeof to->text);
}

static bool visit_message(void *user, const ppi_payload_value *value) {
  message *to = user;
  if (!(value->flags & PPI_PAYLOAD_ENTRY_MESSAGE)) return true;
  if (value->kind == PPI_PAYLOAD_VALUE_HANDLE) {
    const ppi_nvtx_string *string =
        ppi_nvtx_string_of((void *)(uintptr_t)value->number.u64);
    if (!string) return true;
    strncpy(to->text, string->text, sizeof to->text - 1);
  } else if (value->kind == PPI_PAYLOAD_VALUE_TEXT && value->char_bytes == 1) {
    size_t len =
        value->len < PPI_NVTX_MAX_TEXT ? value->len : PPI_NVTX_MAX_TEXT;
    memcpy(to->text, value->text, len);
    to->text[len] = 0;
  } else if (value->kind == PPI_PAYLOAD_VALUE_TEXT && value->char_bytes <= 4) {
    take_wide(to, value);
  } else {
    return true;
  }
  to->found = true;
  return false;
}

static void find_message(const ppi_nvtx_domain *domain,
                         const ppi_payload_blob *payloads, size_t num,
                         message *out) {
  const ppi_payload_event event = {&ppi_nvtx_known_schemas, domain->number,
                                   payloads, num};
  out->found = false;
  ppi_payload_decode(&event, visit_message, out);
}

static int64_t payload_event(ppi_nvtx_kind kind, void *handle,
                             const ppi_payload_blob *payloads, size_t num) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_event event;
  message name = {.found = false};
  if (!domain) return ppi_nvtx_bad_domain(kind);
  if (!ppi_nvtx_begin(domain, NULL, &event)) return ppi_nvtx_nothing(kind);
  bool brings = num != 0;
  if (payloads && num <= PPI_NVTX_MAX_PAYLOADS)
    find_message(domain, payloads, num, &name);
  if (name.found) event.name = name.text;
  int64_t result = ppi_nvtx_emit_more(kind, domain, NULL, &event);
  bool kept = kind == PPI_NVTX_START ? result != 0 : result >= 0;
  const pprof_range range = {kind == PPI_NVTX_START ? (uint64_t)result : 0};
  const ppi_nvtx_target target = {kind, domain, &event, range};
  if (brings && kept) ppi_nvtx_use_payloads(&target, payloads, num);
  return result;
}

// Passes an event's payloads on, if there is a next tool.
static uint64_t pass_payloads(nvtx_function next, void *handle,
                              const ppi_payload_blob *payloads, size_t num) {
  ppi_nvtx_payload_copy copy;
  if (!next) return 0;
  return ((uint64_t(*)(void *, const void *, size_t))next)(
      ppi_nvtx_next_handle(handle),
      ppi_nvtx_translate_payloads(payloads, num, &copy), num);
}

static void mark_payload(void *handle, const ppi_payload_blob *payloads,
                         size_t num) {
  payload_event(PPI_NVTX_MARK, handle, payloads, num);
  pass_payloads(PAYLOAD(MARK), handle, payloads, num);
}

static int push_payload(void *handle, const ppi_payload_blob *payloads,
                        size_t num) {
  int level = (int)payload_event(PPI_NVTX_PUSH, handle, payloads, num);
  pass_payloads(PAYLOAD(PUSH), handle, payloads, num);
  return level;
}

static uint64_t start_payload(void *handle, const ppi_payload_blob *payloads,
                              size_t num) {
  uint64_t id = (uint64_t)payload_event(PPI_NVTX_START, handle, payloads, num);
  nvtx_function next = PAYLOAD(START);
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_join_ids(id, pass_payloads(next, handle, payloads, num));
}

// At a range's end all is known except the name.
static void add_at_end(const ppi_nvtx_target *target,
                       const ppi_payload_blob *payloads, size_t num) {
  if (!target->domain || num == 0 ||
      __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED) == 0)
    return;
  const ppi_nvtx_event event = {NULL, NULL, PPROF_CATEGORY_USER_DEFINED};
  ppi_nvtx_target named = *target;
  named.event = &event;
  ppi_nvtx_use_payloads(&named, payloads, num);
}

static int pop_payload(void *handle, const ppi_payload_blob *payloads,
                       size_t num) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  const ppi_nvtx_target target = {PPI_NVTX_PUSH, domain, NULL, {0}};
  add_at_end(&target, payloads, num);
  int level = ppi_nvtx_pop(domain);
  pass_payloads(PAYLOAD(POP), handle, payloads, num);
  return level;
}

static void end_payload(void *handle, uint64_t id,
                        const ppi_payload_blob *payloads, size_t num) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t theirs = 0;
  pprof_range range = {ppi_nvtx_split_ids(id, &theirs)};
  const ppi_nvtx_target target = {PPI_NVTX_START, domain, NULL, range};
  add_at_end(&target, payloads, num);
  pprof_range_end(range);
  ppi_nvtx_payload_copy copy;
  PPI_NVTX_PASS(PAYLOAD(END), (void *, uint64_t, const void *, size_t),
                ppi_nvtx_next_domain(domain), theirs,
                ppi_nvtx_translate_payloads(payloads, num, &copy), num);
}

// Every domain with a valid handle is recorded.
static uint8_t domain_is_enabled(void *handle) {
  return ppi_nvtx_domain_of(handle) != NULL;
}

static uint64_t counter_register(void *handle,
                                 const nvtx_counter_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t id = ppi_nvtx_counter_register(domain, attributes);
  nvtx_function next = COUNTER(REGISTER);
  if (PPI_UNLIKELY(next != NULL && attributes != NULL)) {
    nvtx_counter_attributes copy = *attributes;
    copy.schema = ppi_nvtx_next_id(copy.schema);
    ppi_nvtx_remember_id(id, ((uint64_t(*)(void *, const void *))next)(
                                 ppi_nvtx_next_domain(domain), &copy));
  }
  return id;
}

static void sample_int64(void *handle, uint64_t id, int64_t value) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_counter_sample(domain, id, (double)value);
  PPI_NVTX_PASS(COUNTER(SAMPLE_INT64), (void *, uint64_t, int64_t),
                ppi_nvtx_next_domain(domain), ppi_nvtx_next_id(id), value);
}

static void sample_float64(void *handle, uint64_t id, double value) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_counter_sample(domain, id, value);
  PPI_NVTX_PASS(COUNTER(SAMPLE_FLOAT64), (void *, uint64_t, double),
                ppi_nvtx_next_domain(domain), ppi_nvtx_next_id(id), value);
}

static void sample(void *handle, uint64_t id, const void *bytes, size_t size) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_counter_group(domain, id, bytes, size);
  PPI_NVTX_PASS(COUNTER(SAMPLE), (void *, uint64_t, const void *, size_t),
                ppi_nvtx_next_domain(domain), ppi_nvtx_next_id(id), bytes,
                size);
}

// Deferred events and batches of counters have times of other clocks. They are
// only counted: recorded as of now, they would be wrong.
static void event_submit(void *handle, const ppi_payload_blob *payloads,
                         size_t num) {
  pprof_inject_foreign_();
  pass_payloads(PAYLOAD(EVENT_SUBMIT), handle, payloads, num);
}

static void event_batch_submit(void *handle, const nvtx_event_batch *batch) {
  pprof_inject_foreign_();
  nvtx_function next = PAYLOAD(EVENT_BATCH_SUBMIT);
  if (!next || !batch) return;
  nvtx_event_batch copy = *batch;
  copy.schema = ppi_nvtx_next_id(copy.schema);
  ((void (*)(void *, const void *))next)(ppi_nvtx_next_handle(handle), &copy);
}

static void counter_batch_submit(void *handle,
                                 const nvtx_counter_batch *batch) {
  pprof_inject_foreign_();
  nvtx_function next = COUNTER(BATCH_SUBMIT);
  if (!next || !batch) return;
  nvtx_counter_batch copy = *batch;
  copy.id = ppi_nvtx_next_id(copy.id);
  ((void (*)(void *, const void *))next)(ppi_nvtx_next_handle(handle), &copy);
}

typedef struct extension_handler {
  uint8_t module, call;
  nvtx_function function;
} extension_handler;

#define HANDLER(module, call, handler) \
  { NVTX_EXTENSION_##module, NVTX_##call, (nvtx_function)handler }

static const extension_handler extension_handlers[] = {
    HANDLER(PAYLOAD, PAYLOAD_SCHEMA_REGISTER, schema_register),
    HANDLER(PAYLOAD, PAYLOAD_ENUM_REGISTER, enum_register),
    HANDLER(PAYLOAD, PAYLOAD_MARK, mark_payload),
    HANDLER(PAYLOAD, PAYLOAD_PUSH, push_payload),
    HANDLER(PAYLOAD, PAYLOAD_POP, pop_payload),
    HANDLER(PAYLOAD, PAYLOAD_START, start_payload),
    HANDLER(PAYLOAD, PAYLOAD_END, end_payload),
    HANDLER(PAYLOAD, PAYLOAD_DOMAIN_IS_ENABLED, domain_is_enabled),
    HANDLER(PAYLOAD, PAYLOAD_EVENT_SUBMIT, event_submit),
    HANDLER(PAYLOAD, PAYLOAD_EVENT_BATCH_SUBMIT, event_batch_submit),
    HANDLER(COUNTERS, COUNTER_REGISTER, counter_register),
    HANDLER(COUNTERS, COUNTER_SAMPLE_INT64, sample_int64),
    HANDLER(COUNTERS, COUNTER_SAMPLE_FLOAT64, sample_float64),
    HANDLER(COUNTERS, COUNTER_SAMPLE, sample),
    HANDLER(COUNTERS, COUNTER_BATCH_SUBMIT, counter_batch_submit),
};

// Another major version may have other calls in these places.
static bool is_known(const nvtx_extension *extension) {
  return extension->size >= sizeof *extension && extension->compat >> 8 == 1 &&
         extension->num_segments > 0 && extension->segments &&
         extension->segments[0].slots;
}

static void fill_extension(const nvtx_extension *extension) {
  if (!is_known(extension)) return;
  const nvtx_segment *segment = &extension->segments[0];
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (size_t i = 0; i < sizeof extension_handlers / sizeof *extension_handlers;
       i++)
    if (extension_handlers[i].module == extension->module &&
        extension_handlers[i].call < segment->num_slots)
      __atomic_store_n(&segment->slots[extension_handlers[i].call],
                       (intptr_t)extension_handlers[i].function,
                       __ATOMIC_RELAXED);
}

#define EXPORTED __attribute__((visibility("default")))

typedef int (*initialize_function)(nvtx_get_export_table get);
typedef int (*initialize_extension_function)(nvtx_extension *extension);
EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(nvtx_get_export_table get);
EXPORTED int InitializeInjectionNvtxExtension(nvtx_extension *extension);

// Where a program links this library's objects into itself, NVTX finds them by
// these names.
extern const initialize_function InitializeInjectionNvtx2_fnptr;
extern const initialize_extension_function
    InitializeInjectionNvtxExtension_fnptr;
const initialize_function InitializeInjectionNvtx2_fnptr =
    InitializeInjectionNvtx2;
const initialize_extension_function InitializeInjectionNvtxExtension_fnptr =
    InitializeInjectionNvtxExtension;

// The arguments that a copy of this library passes to the next one.
typedef struct entry_points {
  initialize_function initialize;
  initialize_extension_function initialize_extension;
} entry_points;
static const entry_points own = {InitializeInjectionNvtx2,
                                 InitializeInjectionNvtxExtension};

static struct {
  uint32_t prepared;  // the handlers below are registered
  uint32_t attached;  // a request for a session was made and answered
  uint32_t refused;   // PPROF_ENABLE=0
} life;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_inside(uintptr_t address) {
  return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

// A unit in this library or in libpprof would call itself for ever.
static bool is_own_unit(nvtx_get_export_table get) {
  uintptr_t at = (uintptr_t)get;
  // Where we are linked into the program, its units are not ours.
  return (is_inside(at) && !is_inside(getauxval(AT_PHDR))) ||
         pprof_inject_is_own_((const void *)at);
}

// atexit handlers registered before ours still mark: recording goes on.
static void at_exit(void) {
  if (!__atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    pprof_inject_flush_();
}

static void in_forked_child(void) {
  ppi_nvtx_objects_in_forked_child();
  ppi_nvtx_device_in_forked_child();
  ppi_nvtx_values_in_forked_child();
  if (__atomic_load_n(&life.attached, __ATOMIC_RELAXED))
    __atomic_store_n(&ppi_nvtx_process.orphaned, 1, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void close_library(void) {
  __atomic_store_n(&ppi_nvtx_process.closed, 1, __ATOMIC_RELEASE);
}

static bool attach(void) {
  if (PPI_LIKELY(__atomic_load_n(&life.attached, __ATOMIC_ACQUIRE)))
    return !__atomic_load_n(&life.refused, __ATOMIC_RELAXED);
  // Equal for all threads, and set before this thread records.
  __atomic_store_n(&ppi_nvtx_settings, pprof_inject_get_settings_(),
                   __ATOMIC_RELEASE);
  if (!__atomic_exchange_n(&life.prepared, 1, __ATOMIC_ACQ_REL)) {
    atexit(at_exit);
    pthread_atfork(NULL, NULL, in_forked_child);
  }
  bool wanted = pprof_inject_attach_();
  __atomic_store_n(&life.refused, !wanted, __ATOMIC_RELAXED);
  __atomic_store_n(&life.attached, 1, __ATOMIC_RELEASE);
  return wanted;
}

typedef struct module_table {
  nvtx_function **slots;
  unsigned num;
} module_table;

static module_table find_table(const nvtx_callbacks *callbacks,
                               uint32_t module) {
  module_table table = {NULL, 0};
  if (!callbacks->get_module_table(module, &table.slots, &table.num) ||
      !table.slots)
    table.num = 0;
  return table;
}

static void fill(const module_table *tables, const ppi_nvtx_handler *handlers,
                 size_t num) {
  for (size_t i = 0; i < num; i++) {
    const module_table *table = &tables[handlers[i].module];
    unsigned call = handlers[i].call;
    if (call < table->num && table->slots[call])
      __atomic_store_n(table->slots[call], handlers[i].function,
                       __ATOMIC_RELAXED);
  }
}

// Calls that only the next tool wants go to it directly: their arguments
// contain nothing of ours.
static void fill_with_next(const module_table *tables) {
  for (uint32_t module = 1; module < NVTX_NUM_MODULES; module++) {
    if (module == NVTX_MODULE_SYNC) continue;
    for (unsigned i = 1; i < tables[module].num && i < NVTX_MAX_CALLS; i++) {
      nvtx_function next = ppi_nvtx_next(module, i);
      nvtx_function *slot = tables[module].slots[i];
      if (next && slot) __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    }
  }
}

static void fill_slots(const nvtx_callbacks *callbacks) {
  module_table tables[NVTX_NUM_MODULES] = {{NULL, 0}};
  for (uint32_t module = 1; module < NVTX_NUM_MODULES; module++)
    tables[module] = find_table(callbacks, module);
  // Everything that handlers use is ready before a slot points to them.
  __atomic_thread_fence(__ATOMIC_RELEASE);
  fill_with_next(tables);
  fill(tables, ppi_nvtx_core_handlers, ppi_nvtx_num_core_handlers);
  fill(tables, ppi_nvtx_naming_handlers, ppi_nvtx_num_naming_handlers);
}

static void notify_version(nvtx_get_export_table get) {
  const nvtx_version_info *info = get(NVTX_TABLE_VERSION);
  if (info && info->size >= sizeof *info && info->set_tool_version)
    info->set_tool_version(3);
}

// A program without a loader of its own has a second C library beside its own
// by now, in which threads cannot be started.
static bool is_static_program(void) {
  return getauxval(AT_BASE) == 0;
}

// Events that any copy of pprof emits are recorded already: only the tool
// behind us gets them.
static bool is_emission(nvtx_get_export_table get) {
  return get(NVTX_TABLE_PPROF) != NULL;
}

static int pass_on(nvtx_get_export_table get) {
  ppi_nvtx_chain_load();
  return ppi_nvtx_chain_unit(get);
}

// CUDA calls this before its first context, if CUDA_INJECTION64_PATH names us:
// kernels are traced from the first one.
int InitializeInjection(void) {
  if (is_static_program() ||
      __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE) ||
      pprof_inject_owner_(&own) != &own)
    return 0;
  return attach();
}

int InitializeInjectionNvtx2(nvtx_get_export_table get) {
  if (!get || is_static_program() ||
      __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    return 0;
  bool emission = is_emission(get);
  if (!emission && is_own_unit(get)) return 0;
  // A second copy of this library leaves it all to the first.
  const entry_points *owner = pprof_inject_owner_(&own);
  if (owner != &own) return owner->initialize(get);
  if (emission) return pass_on(get);
  const nvtx_callbacks *callbacks = get(NVTX_TABLE_CALLBACKS);
  if (!callbacks || callbacks->size < sizeof *callbacks ||
      !callbacks->get_module_table || !attach())
    return 0;
  ppi_nvtx_chain_load();
  notify_version(get);
  fill_slots(callbacks);
  return 1;
}

// 1 whatever it is: after a 0 the unit takes every domain for disabled.
int InitializeInjectionNvtxExtension(nvtx_extension *extension) {
  const entry_points *owner = pprof_inject_owner_(&own);
  if (owner != &own) return owner->initialize_extension(extension);
  if (!extension || __atomic_load_n(&ppi_nvtx_process.closed, __ATOMIC_ACQUIRE))
    return 1;
  fill_extension(extension);
  ppi_nvtx_chain_extension(extension);
  return 1;
}
