// SPDX-License-Identifier: Apache-2.0
//
// Handles calls of the modules CORE and CORE2, for this tool and the chained
// one. Programs call these at any time on any thread, even before
// InitializeInjectionNvtx2 has returned and after the process's destructors.
#include "chain.h"
#include "event.h"
#include "text.h"

#define CORE(call) ppi_nvtx_next(NVTX_MODULE_CORE, NVTX_CORE_##call)
#define CORE2(call) ppi_nvtx_next(NVTX_MODULE_CORE2, NVTX_CORE2_##call)
#define DEFAULT (&ppi_nvtx_domains[0])

static void mark_ex(const nvtx_attributes *attributes) {
  ppi_nvtx_described(PPI_NVTX_MARK, DEFAULT, attributes);
  ppi_nvtx_forward_mark(attributes, CORE(MARK_EX));
}

static void mark_a(const char *name) {
  ppi_nvtx_ascii(PPI_NVTX_MARK, DEFAULT, NULL, name);
  nvtx_function next = CORE(MARK_A);
  if (PPI_UNLIKELY(next != NULL)) ((void (*)(const char *))next)(name);
}

static void mark_w(const wchar_t *name) {
  ppi_nvtx_wide(PPI_NVTX_MARK, DEFAULT, NULL, name);
  nvtx_function next = CORE(MARK_W);
  if (PPI_UNLIKELY(next != NULL)) ((void (*)(const wchar_t *))next)(name);
}

static uint64_t start_ex(const nvtx_attributes *attributes) {
  uint64_t id =
      (uint64_t)ppi_nvtx_described(PPI_NVTX_START, DEFAULT, attributes);
  return ppi_nvtx_forward_start(attributes, CORE(START_EX), id);
}

static uint64_t start_a(const char *name) {
  uint64_t id = (uint64_t)ppi_nvtx_ascii(PPI_NVTX_START, DEFAULT, NULL, name);
  nvtx_function next = CORE(START_A);
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_join_ids(id, ((uint64_t(*)(const char *))next)(name));
}

static uint64_t start_w(const wchar_t *name) {
  uint64_t id = (uint64_t)ppi_nvtx_wide(PPI_NVTX_START, DEFAULT, NULL, name);
  nvtx_function next = CORE(START_W);
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_join_ids(id, ((uint64_t(*)(const wchar_t *))next)(name));
}

static void end(uint64_t id) {
  uint64_t theirs = 0;
  pprof_range range = {ppi_nvtx_split_ids(id, &theirs)};
  pprof_range_end(range);
  nvtx_function next = CORE(END);
  if (PPI_UNLIKELY(next != NULL)) ((void (*)(uint64_t))next)(theirs);
}

static int push_ex(const nvtx_attributes *attributes) {
  ppi_nvtx_forward_push(attributes, CORE(PUSH_EX));
  return ppi_nvtx_push(DEFAULT, attributes);
}

static int push_a(const char *name) {
  nvtx_function next = CORE(PUSH_A);
  if (PPI_UNLIKELY(next != NULL)) ((int (*)(const char *))next)(name);
  return (int)ppi_nvtx_ascii(PPI_NVTX_PUSH, DEFAULT, NULL, name);
}

static int push_w(const wchar_t *name) {
  nvtx_function next = CORE(PUSH_W);
  if (PPI_UNLIKELY(next != NULL)) ((int (*)(const wchar_t *))next)(name);
  return (int)ppi_nvtx_wide(PPI_NVTX_PUSH, DEFAULT, NULL, name);
}

static int pop(void) {
  nvtx_function next = CORE(POP);
  if (PPI_UNLIKELY(next != NULL)) ((int (*)(void))next)();
  return ppi_nvtx_pop(DEFAULT);
}

static void name_category(void *handle, uint32_t id, const char *name) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  if (domain && name)
    ppi_nvtx_category_name(domain, id, name);
  else
    pprof_inject_bad_();
}

static void name_category_a(uint32_t id, const char *name) {
  name_category(NULL, id, name);
  nvtx_function next = CORE(NAME_CATEGORY_A);
  if (next) ((void (*)(uint32_t, const char *))next)(id, name);
}

static void name_category_w(uint32_t id, const wchar_t *name) {
  char text[256];
  name_category(NULL, id, ppi_nvtx_utf8(name, text, sizeof text));
  nvtx_function next = CORE(NAME_CATEGORY_W);
  if (next) ((void (*)(uint32_t, const wchar_t *))next)(id, name);
}

static void domain_mark(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_described(PPI_NVTX_MARK, domain, attributes);
  nvtx_function next = CORE2(MARK);
  if (PPI_UNLIKELY(next != NULL))
    ppi_nvtx_pass_domain_mark(domain, attributes, next);
}

static uint64_t domain_start(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t id =
      (uint64_t)ppi_nvtx_described(PPI_NVTX_START, domain, attributes);
  nvtx_function next = CORE2(START);
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_pass_domain_start(domain, attributes, next, id);
}

static void domain_end(void *handle, uint64_t id) {
  uint64_t theirs = 0;
  pprof_range range = {ppi_nvtx_split_ids(id, &theirs)};
  pprof_range_end(range);
  nvtx_function next = CORE2(END);
  if (PPI_UNLIKELY(next != NULL))
    ((void (*)(void *, uint64_t))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)), theirs);
}

static int domain_push(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  nvtx_function next = CORE2(PUSH);
  if (PPI_UNLIKELY(next != NULL))
    ppi_nvtx_pass_domain_push(domain, attributes, next);
  return ppi_nvtx_push(domain, attributes);
}

static int domain_pop(void *handle) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  nvtx_function next = CORE2(POP);
  if (PPI_UNLIKELY(next != NULL))
    ((int (*)(void *))next)(ppi_nvtx_next_domain(domain));
  return ppi_nvtx_pop(domain);
}

static void domain_name_category_a(void *handle, uint32_t id,
                                   const char *name) {
  name_category(handle, id, name);
  nvtx_function next = CORE2(NAME_CATEGORY_A);
  if (next)
    ((void (*)(void *, uint32_t, const char *))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)), id, name);
}

static void domain_name_category_w(void *handle, uint32_t id,
                                   const wchar_t *name) {
  char text[256];
  name_category(handle, id, ppi_nvtx_utf8(name, text, sizeof text));
  nvtx_function next = CORE2(NAME_CATEGORY_W);
  if (next)
    ((void (*)(void *, uint32_t, const wchar_t *))next)(
        ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle)), id, name);
}

// NULL is a handle that events may name, too: they are counted `invalid`.
static ppi_nvtx_string *register_string(ppi_nvtx_domain *domain,
                                        const char *text) {
  ppi_nvtx_string *string =
      domain && text ? ppi_nvtx_string_register(domain, text) : NULL;
  if (!string) pprof_inject_bad_();
  return string;
}

static void *register_string_a(void *handle, const char *text) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_string *string = register_string(domain, text);
  nvtx_function next = CORE2(REGISTER_STRING_A);
  if (next && string)
    string->next = ((void *(*)(void *, const char *))next)(
        ppi_nvtx_next_domain(domain), text);
  return string;
}

static void *register_string_w(void *handle, const wchar_t *text) {
  char utf8[PPI_NVTX_MAX_TEXT + 8];
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_string *string =
      register_string(domain, ppi_nvtx_utf8(text, utf8, sizeof utf8));
  nvtx_function next = CORE2(REGISTER_STRING_W);
  if (next && string)
    string->next = ((void *(*)(void *, const wchar_t *))next)(
        ppi_nvtx_next_domain(domain), text);
  return string;
}

static ppi_nvtx_domain *create_domain(const char *name, bool *out_first) {
  *out_first = false;
  ppi_nvtx_domain *domain =
      name ? ppi_nvtx_domain_create(name, out_first) : NULL;
  if (!domain) pprof_inject_bad_();
  return domain;
}

// A domain is one for the next tool, too, however many units have it.
static void *domain_create_a(const char *name) {
  bool first;
  ppi_nvtx_domain *domain = create_domain(name, &first);
  nvtx_function next = CORE2(DOMAIN_CREATE_A);
  if (next && first) domain->next = ((void *(*)(const char *))next)(name);
  return domain;
}

static void *domain_create_w(const wchar_t *name) {
  char text[1024];
  bool first;
  ppi_nvtx_domain *domain =
      create_domain(ppi_nvtx_utf8(name, text, sizeof text), &first);
  nvtx_function next = CORE2(DOMAIN_CREATE_W);
  if (next && first) domain->next = ((void *(*)(const wchar_t *))next)(name);
  return domain;
}

// True when this was the last handle, or a surplus one.
static bool give_domain_back(ppi_nvtx_domain *domain) {
  int32_t users = __atomic_load_n(&domain->users, __ATOMIC_RELAXED);
  if (domain->number == 0) return true;
  if (users <= 0) {
    pprof_inject_bad_();
    return true;
  }
  users = __atomic_sub_fetch(&domain->users, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&domain->category, PPI_NVTX_RESOLVE, __ATOMIC_RELAXED);
  return users <= 0;
}

// Only the handle ends: records of the domain stay, and the same name is the
// same domain again. The default domain never ends.
static void domain_destroy(void *handle) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  if (!domain) {
    pprof_inject_bad_();
    return;
  }
  bool last = give_domain_back(domain);
  nvtx_function next = CORE2(DOMAIN_DESTROY);
  if (next && last) ((void (*)(void *))next)(ppi_nvtx_next_domain(domain));
}

static void initialize(const void *reserved) {
  nvtx_function next = CORE2(INITIALIZE);
  if (next) ((void (*)(const void *))next)(reserved);
}

#define CORE_HANDLER(call, handler) \
  { NVTX_MODULE_CORE, NVTX_CORE_##call, (nvtx_function)handler }
#define CORE2_HANDLER(call, handler) \
  { NVTX_MODULE_CORE2, NVTX_CORE2_##call, (nvtx_function)handler }

const ppi_nvtx_handler ppi_nvtx_core_handlers[] = {
    CORE_HANDLER(MARK_EX, mark_ex),
    CORE_HANDLER(MARK_A, mark_a),
    CORE_HANDLER(MARK_W, mark_w),
    CORE_HANDLER(START_EX, start_ex),
    CORE_HANDLER(START_A, start_a),
    CORE_HANDLER(START_W, start_w),
    CORE_HANDLER(END, end),
    CORE_HANDLER(PUSH_EX, push_ex),
    CORE_HANDLER(PUSH_A, push_a),
    CORE_HANDLER(PUSH_W, push_w),
    CORE_HANDLER(POP, pop),
    CORE_HANDLER(NAME_CATEGORY_A, name_category_a),
    CORE_HANDLER(NAME_CATEGORY_W, name_category_w),
    CORE2_HANDLER(MARK, domain_mark),
    CORE2_HANDLER(START, domain_start),
    CORE2_HANDLER(END, domain_end),
    CORE2_HANDLER(PUSH, domain_push),
    CORE2_HANDLER(POP, domain_pop),
    CORE2_HANDLER(NAME_CATEGORY_A, domain_name_category_a),
    CORE2_HANDLER(NAME_CATEGORY_W, domain_name_category_w),
    CORE2_HANDLER(REGISTER_STRING_A, register_string_a),
    CORE2_HANDLER(REGISTER_STRING_W, register_string_w),
    CORE2_HANDLER(DOMAIN_CREATE_A, domain_create_a),
    CORE2_HANDLER(DOMAIN_CREATE_W, domain_create_w),
    CORE2_HANDLER(DOMAIN_DESTROY, domain_destroy),
    CORE2_HANDLER(INITIALIZE, initialize),
};
const size_t ppi_nvtx_num_core_handlers =
    sizeof ppi_nvtx_core_handlers / sizeof *ppi_nvtx_core_handlers;
