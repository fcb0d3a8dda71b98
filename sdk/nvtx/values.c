// SPDX-License-Identifier: Apache-2.0
//
// Records the numbers of events, and counters. An amount of data that a range
// moved is the range's work. Other numbers become counters, named after the
// event.
#include "values.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "objects.h"
#include "settings.h"

#define NUM_COUNTERS 1024u
#define SHOWN ((size_t)700)  // of an event's name in a counter's

ppi_payload_schemas ppi_nvtx_known_schemas;

// The counter "EVENT.FIELD"; "FIELD" where the event is not known.
static void count(const ppi_nvtx_target *target, const char *field,
                  double value) {
  char name[1024];
  const ppi_nvtx_event *event = target->event;
  size_t len = event->name ? strnlen(event->name, SHOWN) : 0;
  if (len < SHOWN && len) len = pprof_inject_name_len_(event->name);
  int shown = (int)len;
  snprintf(name, sizeof name, "%.*s%s%.300s", shown, len ? event->name : "",
           len ? "." : "", field);
  pprof_inject_count_(target->domain->number, name, event->style, value);
}

static void add_work(const ppi_nvtx_target *target, double items,
                     double bytes) {
  pprof_work_amount work = {sizeof work, items, bytes, 0, 0};
  if (target->kind == PPI_NVTX_START)
    pprof_range_work(target->range, &work);
  else
    pprof_inject_work_(target->domain->number, &work);
}

static void add_flow(const ppi_nvtx_target *target, uint64_t flow) {
  if (target->kind == PPI_NVTX_START)
    pprof_range_flow(target->range, flow);
  else if (target->kind == PPI_NVTX_PUSH)
    pprof_inject_flow_(target->domain->number, flow);
}

static void use_number(const ppi_nvtx_target *target, double value,
                       uint64_t bits) {
  uint32_t use = PPI_NVTX_SETTING(payload);
  bool has_work = target->kind != PPI_NVTX_MARK;
  if (use == PPI_NVTX_PAYLOAD_FLOW)
    add_flow(target, bits);
  else if (use == PPI_NVTX_PAYLOAD_BYTES && has_work)
    add_work(target, 0, value);
  else if (use == PPI_NVTX_PAYLOAD_ITEMS && has_work)
    add_work(target, value, 0);
  else if (use != PPI_NVTX_PAYLOAD_IGNORE)
    count(target, "payload", value);
}

// A number that only identifies an object needs no counter.
static bool is_identifier(const char *name) {
  size_t len = strlen(name);
  if (len < 2 || strcasecmp(name + len - 2, "id") != 0) return false;
  return len == 2 || strchr(" _-.", name[len - 3]) || name[len - 2] == 'I';
}

// A text with this name is the context of a request.
static bool add_context(const ppi_nvtx_target *target,
                        const ppi_payload_value *value) {
  char text[56] = "";
  if (value->kind != PPI_PAYLOAD_VALUE_TEXT || value->char_bytes != 1 ||
      strcmp(value->name, "traceparent") != 0)
    return false;
  size_t len = value->len < sizeof text ? value->len : sizeof text - 1;
  memcpy(text, value->text, len);
  add_flow(target, pprof_flow_traceparent(text));
  return true;
}

static double number_of(const ppi_payload_value *value) {
  if (value->kind == PPI_PAYLOAD_VALUE_REAL)
    return value->number.f64 * value->scale;
  return value->scale * (value->kind == PPI_PAYLOAD_VALUE_SIGNED
                             ? (double)value->number.i64
                             : (double)value->number.u64);
}

static bool visit_value(void *user, const ppi_payload_value *value) {
  char path[256];
  if (add_context(user, value)) return true;
  if ((value->flags & PPI_PAYLOAD_ENTRY_HIDDEN) || value->is_bytes ||
      value->label || value->kind > PPI_PAYLOAD_VALUE_REAL ||
      value->type == PPI_PAYLOAD_TYPE_ADDRESS || is_identifier(value->name))
    return true;
  count(user, ppi_payload_value_path(value, path, sizeof path),
        number_of(value));
  return true;
}

void ppi_nvtx_use_payloads(const ppi_nvtx_target *target,
                           const ppi_payload_blob *payloads, size_t num) {
  double bytes;
  if (!payloads || num > PPI_NVTX_MAX_PAYLOADS) {
    pprof_inject_bad_();
    return;
  }
  if (!PPI_NVTX_SETTING(fields)) return;
  const ppi_payload_event event = {&ppi_nvtx_known_schemas,
                                   target->domain->number, payloads, num};
  if (ppi_payload_bytes(&event, &bytes)) {
    if (target->kind == PPI_NVTX_MARK)
      count(target, "bytes", bytes);
    else
      add_work(target, 0, bytes);
  }
  if (ppi_payload_decode(&event, visit_value, (void *)target) ==
      PPI_PAYLOAD_UNKNOWN)
    pprof_inject_bad_();
}

void ppi_nvtx_use_attributes(const ppi_nvtx_target *target,
                             const nvtx_attributes *a) {
  switch (a->payload_type) {
    case NVTX_PAYLOAD_U64:
      use_number(target, (double)a->payload.u64, a->payload.u64);
      break;
    case NVTX_PAYLOAD_I64:
      use_number(target, (double)a->payload.i64, a->payload.u64);
      break;
    case NVTX_PAYLOAD_DOUBLE:
      use_number(target, a->payload.f64, (uint64_t)a->payload.f64);
      break;
    case NVTX_PAYLOAD_U32:
      use_number(target, a->payload.u32, a->payload.u32);
      break;
    case NVTX_PAYLOAD_I32:
      use_number(target, a->payload.i32, (uint64_t)a->payload.i32);
      break;
    case NVTX_PAYLOAD_FLOAT:
      use_number(target, (double)a->payload.f32, (uint64_t)a->payload.f32);
      break;
    case NVTX_PAYLOAD_SCHEMA:
      ppi_nvtx_use_payloads(target, a->payload.pointer, (size_t)a->payload_num);
      break;
    default:
      pprof_inject_bad_();
  }
}

typedef struct counter {
  uint64_t id;  // 0: free; atomic, published last
  uint64_t schema;
  const ppi_nvtx_domain *domain;  // of an id that the program chose, else NULL
  const char *name;
} counter;

static struct {
  ppi_guard guard;
  uint64_t last_dynamic;
  counter list[NUM_COUNTERS];
} counters;

static counter *find_counter(const ppi_nvtx_domain *domain, uint64_t id) {
  const ppi_nvtx_domain *scope =
      id < NVTX_COUNTER_DYNAMIC_FIRST ? domain : NULL;
  uint32_t at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32);
  for (uint32_t i = 0; i < NUM_COUNTERS; i++) {
    counter *found = &counters.list[(at + i) % NUM_COUNTERS];
    uint64_t known = __atomic_load_n(&found->id, __ATOMIC_ACQUIRE);
    if (known == 0 || (known == id && found->domain == scope)) return found;
  }
  return NULL;
}

static uint64_t register_locked(ppi_nvtx_domain *domain,
                                const nvtx_counter_attributes *attributes) {
  uint64_t id = attributes->id;
  if (id == 0) id = NVTX_COUNTER_DYNAMIC_FIRST + counters.last_dynamic++;
  counter *place = find_counter(domain, id);
  if (!place || id < NVTX_COUNTER_STATIC_FIRST) return 0;
  const char *name = attributes->name ? attributes->name : "<unnamed>";
  const char *copy = ppi_nvtx_copy(name, strnlen(name, 255));
  if (!copy) return 0;
  place->schema = attributes->schema;
  place->name = copy;
  place->domain = id < NVTX_COUNTER_DYNAMIC_FIRST ? domain : NULL;
  __atomic_store_n(&place->id, id, __ATOMIC_RELEASE);
  return id;
}

uint64_t ppi_nvtx_counter_register(ppi_nvtx_domain *domain,
                                   const nvtx_counter_attributes *attributes) {
  if (!domain || !attributes || attributes->size < sizeof *attributes ||
      !ppi_guard_take(&counters.guard)) {
    pprof_inject_bad_();
    return 0;
  }
  uint64_t id = register_locked(domain, attributes);
  ppi_guard_give(&counters.guard);
  if (!id) pprof_inject_bad_();
  return id;
}

static const counter *known_counter(ppi_nvtx_domain *domain, uint64_t id) {
  counter *found = domain && id ? find_counter(domain, id) : NULL;
  if (found && __atomic_load_n(&found->id, __ATOMIC_ACQUIRE)) return found;
  pprof_inject_bad_();
  return NULL;
}

void ppi_nvtx_counter_sample(ppi_nvtx_domain *domain, uint64_t id,
                             double value) {
  const counter *found = known_counter(domain, id);
  if (!found) return;
  pprof_inject_count_(domain->number, found->name, ppi_nvtx_category(domain),
                      value);
}

static bool visit_sample(void *user, const ppi_payload_value *value) {
  char path[256];
  const ppi_nvtx_target *target = user;
  if (value->kind > PPI_PAYLOAD_VALUE_REAL) return true;
  const char *field = ppi_payload_value_path(value, path, sizeof path);
  if (*field) {
    count(target, field, number_of(value));
    return true;
  }
  pprof_inject_count_(target->domain->number, target->event->name,
                      target->event->style, number_of(value));
  return true;
}

void ppi_nvtx_counter_group(ppi_nvtx_domain *domain, uint64_t id,
                            const void *bytes, size_t size) {
  const counter *found = known_counter(domain, id);
  if (!found || !bytes) return;
  ppi_nvtx_event event = {NULL, found->name, ppi_nvtx_category(domain)};
  const ppi_payload_blob payload = {found->schema, size, bytes};
  const ppi_payload_event payloads = {&ppi_nvtx_known_schemas, domain->number,
                                      &payload, 1};
  const pprof_range none = {0};
  ppi_nvtx_target target = {PPI_NVTX_MARK, domain, &event, none};
  if (ppi_payload_decode(&payloads, visit_sample, &target) ==
      PPI_PAYLOAD_UNKNOWN)
    pprof_inject_bad_();
}

void ppi_nvtx_values_in_forked_child(void) {
  ppi_guard_give(&counters.guard);
}
