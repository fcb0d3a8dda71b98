// SPDX-License-Identifier: Apache-2.0
//
// Handles calls of the modules CORE and CORE2, for this tool and the chained
// one. Programs call these at any time on any thread, even before
// InitializeInjectionNvtx2 has returned and after the process's destructors.
#include "chain.h"
#include "event.h"
#include "text.h"

#define CORE(call) PPI_NVTX_NEXT(CORE, call)
#define CORE2(call) PPI_NVTX_NEXT(CORE2, call)
#define DEFAULT (&ppi_nvtx_domains[0])

static void mark_ex(const nvtx_attributes *attributes) {
  ppi_nvtx_described(PPI_NVTX_MARK, DEFAULT, attributes);
  nvtx_function next = CORE(MARK_EX);
  if (PPI_UNLIKELY(next != NULL)) ppi_nvtx_pass_event(next, NULL, attributes);
}

static uint64_t start_ex(const nvtx_attributes *attributes) {
  uint64_t id =
      (uint64_t)ppi_nvtx_described(PPI_NVTX_START, DEFAULT, attributes);
  nvtx_function next = CORE(START_EX);
  if (PPI_LIKELY(next == NULL)) return id;
  return ppi_nvtx_join_ids(id, ppi_nvtx_pass_event(next, NULL, attributes));
}

static void end(uint64_t id) {
  uint64_t theirs = 0;
  pprof_range range = {ppi_nvtx_split_ids(id, &theirs)};
  pprof_range_end(range);
  PPI_NVTX_PASS(CORE(END), (uint64_t), theirs);
}

static int push_ex(const nvtx_attributes *attributes) {
  nvtx_function next = CORE(PUSH_EX);
  if (PPI_UNLIKELY(next != NULL)) ppi_nvtx_pass_event(next, NULL, attributes);
  return ppi_nvtx_push(DEFAULT, attributes);
}

// The events that a text alone describes, as A and as W.
#define TEXT_EVENTS(a, A, read, type)                                      \
  static void mark_##a(const type *name) {                                 \
    read(PPI_NVTX_MARK, DEFAULT, NULL, name);                              \
    PPI_NVTX_PASS(CORE(MARK_##A), (const type *), name);                   \
  }                                                                        \
  static uint64_t start_##a(const type *name) {                            \
    uint64_t id = (uint64_t)read(PPI_NVTX_START, DEFAULT, NULL, name);     \
    nvtx_function next = CORE(START_##A);                                  \
    if (PPI_LIKELY(next == NULL)) return id;                               \
    return ppi_nvtx_join_ids(id, ((uint64_t(*)(const type *))next)(name)); \
  }                                                                        \
  static int push_##a(const type *name) {                                  \
    PPI_NVTX_PASS(CORE(PUSH_##A), (const type *), name);                   \
    return (int)read(PPI_NVTX_PUSH, DEFAULT, NULL, name);                  \
  }
TEXT_EVENTS(a, A, ppi_nvtx_ascii, char)
TEXT_EVENTS(w, W, ppi_nvtx_wide, wchar_t)

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
  PPI_NVTX_PASS(CORE(NAME_CATEGORY_A), (uint32_t, const char *), id, name);
}

static void name_category_w(uint32_t id, const wchar_t *name) {
  char text[256];
  name_category(NULL, id, ppi_nvtx_utf8(name, text, sizeof text));
  PPI_NVTX_PASS(CORE(NAME_CATEGORY_W), (uint32_t, const wchar_t *), id, name);
}

static void domain_mark(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  ppi_nvtx_described(PPI_NVTX_MARK, domain, attributes);
  nvtx_function next = CORE2(MARK);
  if (PPI_UNLIKELY(next != NULL) && domain)
    ppi_nvtx_pass_event(next, domain, attributes);
}

static uint64_t domain_start(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  uint64_t id =
      (uint64_t)ppi_nvtx_described(PPI_NVTX_START, domain, attributes);
  nvtx_function next = CORE2(START);
  if (PPI_LIKELY(next == NULL) || !domain) return id;
  return ppi_nvtx_join_ids(id, ppi_nvtx_pass_event(next, domain, attributes));
}

static void domain_end(void *handle, uint64_t id) {
  uint64_t theirs = 0;
  pprof_range range = {ppi_nvtx_split_ids(id, &theirs)};
  pprof_range_end(range);
  PPI_NVTX_PASS(CORE2(END), (void *, uint64_t), ppi_nvtx_next_handle(handle),
                theirs);
}

static int domain_push(void *handle, const nvtx_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  nvtx_function next = CORE2(PUSH);
  if (PPI_UNLIKELY(next != NULL) && domain)
    ppi_nvtx_pass_event(next, domain, attributes);
  return ppi_nvtx_push(domain, attributes);
}

static int domain_pop(void *handle) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  PPI_NVTX_PASS(CORE2(POP), (void *), ppi_nvtx_next_domain(domain));
  return ppi_nvtx_pop(domain);
}

static void domain_name_category_a(void *handle, uint32_t id,
                                   const char *name) {
  name_category(handle, id, name);
  PPI_NVTX_PASS(CORE2(NAME_CATEGORY_A), (void *, uint32_t, const char *),
                ppi_nvtx_next_handle(handle), id, name);
}

static void domain_name_category_w(void *handle, uint32_t id,
                                   const wchar_t *name) {
  char text[256];
  name_category(handle, id, ppi_nvtx_utf8(name, text, sizeof text));
  PPI_NVTX_PASS(CORE2(NAME_CATEGORY_W), (void *, uint32_t, const wchar_t *),
                ppi_nvtx_next_handle(handle), id, name);
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
  PPI_NVTX_PASS(CORE2(INITIALIZE), (const void *), reserved);
}

const ppi_nvtx_handler ppi_nvtx_core_handlers[] = {
    PPI_NVTX_HANDLER(CORE, MARK_EX, mark_ex),
    PPI_NVTX_HANDLER(CORE, MARK_A, mark_a),
    PPI_NVTX_HANDLER(CORE, MARK_W, mark_w),
    PPI_NVTX_HANDLER(CORE, START_EX, start_ex),
    PPI_NVTX_HANDLER(CORE, START_A, start_a),
    PPI_NVTX_HANDLER(CORE, START_W, start_w),
    PPI_NVTX_HANDLER(CORE, END, end),
    PPI_NVTX_HANDLER(CORE, PUSH_EX, push_ex),
    PPI_NVTX_HANDLER(CORE, PUSH_A, push_a),
    PPI_NVTX_HANDLER(CORE, PUSH_W, push_w),
    PPI_NVTX_HANDLER(CORE, POP, pop),
    PPI_NVTX_HANDLER(CORE, NAME_CATEGORY_A, name_category_a),
    PPI_NVTX_HANDLER(CORE, NAME_CATEGORY_W, name_category_w),
    PPI_NVTX_HANDLER(CORE2, MARK, domain_mark),
    PPI_NVTX_HANDLER(CORE2, START, domain_start),
    PPI_NVTX_HANDLER(CORE2, END, domain_end),
    PPI_NVTX_HANDLER(CORE2, PUSH, domain_push),
    PPI_NVTX_HANDLER(CORE2, POP, domain_pop),
    PPI_NVTX_HANDLER(CORE2, NAME_CATEGORY_A, domain_name_category_a),
    PPI_NVTX_HANDLER(CORE2, NAME_CATEGORY_W, domain_name_category_w),
    PPI_NVTX_HANDLER(CORE2, REGISTER_STRING_A, register_string_a),
    PPI_NVTX_HANDLER(CORE2, REGISTER_STRING_W, register_string_w),
    PPI_NVTX_HANDLER(CORE2, DOMAIN_CREATE_A, domain_create_a),
    PPI_NVTX_HANDLER(CORE2, DOMAIN_CREATE_W, domain_create_w),
    PPI_NVTX_HANDLER(CORE2, DOMAIN_DESTROY, domain_destroy),
    PPI_NVTX_HANDLER(CORE2, INITIALIZE, initialize),
};
const size_t ppi_nvtx_num_core_handlers =
    sizeof ppi_nvtx_core_handlers / sizeof *ppi_nvtx_core_handlers;
