// SPDX-License-Identifier: Apache-2.0
//
// Handles the extensions: events with payloads, schemas, counters. The memory
// extension, and all later ones, are accepted and not recorded.
#include "extension.h"

#include <string.h>

#include "chain.h"
#include "event.h"
#include "text.h"
#include "values.h"

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

static void mark_payload(void *handle, const ppi_payload_blob *payloads,
                         size_t num) {
  payload_event(PPI_NVTX_MARK, handle, payloads, num);
  nvtx_function next = PAYLOAD(MARK);
  ppi_nvtx_payload_copy copy;
  if (next)
    ((void (*)(void *, const void *, size_t))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)),
        ppi_nvtx_translate_payloads(payloads, num, &copy), num);
}

static int push_payload(void *handle, const ppi_payload_blob *payloads,
                        size_t num) {
  int level = (int)payload_event(PPI_NVTX_PUSH, handle, payloads, num);
  nvtx_function next = PAYLOAD(PUSH);
  ppi_nvtx_payload_copy copy;
  if (next)
    ((int (*)(void *, const void *, size_t))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)),
        ppi_nvtx_translate_payloads(payloads, num, &copy), num);
  return level;
}

static uint64_t start_payload(void *handle, const ppi_payload_blob *payloads,
                              size_t num) {
  uint64_t id = (uint64_t)payload_event(PPI_NVTX_START, handle, payloads, num);
  nvtx_function next = PAYLOAD(START);
  ppi_nvtx_payload_copy copy;
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_join_ids(
      id, ((uint64_t(*)(void *, const void *, size_t))next)(
              ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)),
              ppi_nvtx_translate_payloads(payloads, num, &copy), num));
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
  nvtx_function next = PAYLOAD(POP);
  ppi_nvtx_payload_copy copy;
  if (next)
    ((int (*)(void *, const void *, size_t))next)(
        ppi_nvtx_next_domain(domain),
        ppi_nvtx_translate_payloads(payloads, num, &copy), num);
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
  nvtx_function next = PAYLOAD(END);
  ppi_nvtx_payload_copy copy;
  if (next)
    ((void (*)(void *, uint64_t, const void *, size_t))next)(
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
  nvtx_function next = COUNTER(SAMPLE_INT64);
  if (next)
    ((void (*)(void *, uint64_t, int64_t))next)(ppi_nvtx_next_domain(domain),
                                                ppi_nvtx_next_id(id), value);
}

static void sample_float64(void *handle, uint64_t id, double value) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_counter_sample(domain, id, value);
  nvtx_function next = COUNTER(SAMPLE_FLOAT64);
  if (next)
    ((void (*)(void *, uint64_t, double))next)(ppi_nvtx_next_domain(domain),
                                               ppi_nvtx_next_id(id), value);
}

static void sample(void *handle, uint64_t id, const void *bytes, size_t size) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_counter_group(domain, id, bytes, size);
  nvtx_function next = COUNTER(SAMPLE);
  if (next)
    ((void (*)(void *, uint64_t, const void *, size_t))next)(
        ppi_nvtx_next_domain(domain), ppi_nvtx_next_id(id), bytes, size);
}

// Deferred events and batches of counters have times of other clocks. They are
// only counted: recorded as of now, they would be wrong.
static void event_submit(void *handle, const ppi_payload_blob *payloads,
                         size_t num) {
  pprof_inject_foreign_();
  nvtx_function next = PAYLOAD(EVENT_SUBMIT);
  ppi_nvtx_payload_copy copy;
  if (next)
    ((void (*)(void *, const void *, size_t))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)),
        ppi_nvtx_translate_payloads(payloads, num, &copy), num);
}

static void event_batch_submit(void *handle, const nvtx_event_batch *batch) {
  pprof_inject_foreign_();
  nvtx_function next = PAYLOAD(EVENT_BATCH_SUBMIT);
  if (!next || !batch) return;
  nvtx_event_batch copy = *batch;
  copy.schema = ppi_nvtx_next_id(copy.schema);
  ((void (*)(void *, const void *))next)(
      ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)), &copy);
}

static void counter_batch_submit(void *handle,
                                 const nvtx_counter_batch *batch) {
  pprof_inject_foreign_();
  nvtx_function next = COUNTER(BATCH_SUBMIT);
  if (!next || !batch) return;
  nvtx_counter_batch copy = *batch;
  copy.id = ppi_nvtx_next_id(copy.id);
  ((void (*)(void *, const void *))next)(
      ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)), &copy);
}

typedef struct extension_handler {
  uint8_t module, call;
  nvtx_function function;
} extension_handler;

#define HANDLER(module, call, handler) \
  { NVTX_EXTENSION_##module, NVTX_##call, (nvtx_function)handler }

static const extension_handler handlers[] = {
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

void ppi_nvtx_fill_extension(const nvtx_extension *extension) {
  if (!is_known(extension)) return;
  const nvtx_segment *segment = &extension->segments[0];
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    if (handlers[i].module == extension->module &&
        handlers[i].call < segment->num_slots)
      __atomic_store_n(&segment->slots[handlers[i].call],
                       (intptr_t)handlers[i].function, __ATOMIC_RELAXED);
}
