// SPDX-License-Identifier: Apache-2.0
//
// The insides of libpprof_nvtx.so: what stands for the program's domains,
// strings and categories, and what its files do for each other. Nothing here is
// ever freed: a handler may run after everything else in the process.
#ifndef PPI_NVTX_H_
#define PPI_NVTX_H_

#include "abi.h"
#include "base/guard.h"
#include "inject/inject.h"
#include "payload.h"

#define PPI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PPI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define PPI_NVTX_MAX_TEXT ((size_t)4096)

// A domain handle. The default domain has one, too, though programs say NULL.
typedef struct ppi_nvtx_domain {
  uint32_t number;   // 0: the default domain; published last
  int32_t users;     // creations less destructions; atomic
  const char *name;  // NULL: the default domain
  // (epoch << 32 | category of events without one) + 1; PPI_NVTX_RESOLVE: not
  // known, or to be looked at each time. Atomic.
  uint64_t category;
  void *next;  // the chained tool's handle
  // Categories met lately, by the low bits of their ids: id << 32 | category
  // << 16 | low half of the epoch. Atomic.
  uint64_t recent[4];
} ppi_nvtx_domain;

#define PPI_NVTX_RESOLVE UINT64_C(0)

// A name with one category and colour.
typedef struct ppi_nvtx_site {
  pprof_site site;
  struct ppi_nvtx_site *next;
} ppi_nvtx_site;

// A registered string's handle.
typedef struct ppi_nvtx_string {
  const char *text;
  const ppi_nvtx_domain *domain;
  ppi_nvtx_site *sites;  // atomic
  void *next;            // the chained tool's handle
} ppi_nvtx_string;

// An event as a call describes it.
typedef struct ppi_nvtx_event {
  pprof_site *site;  // of a registered name, else NULL
  const char *name;
  uint64_t style;  // color << 32 | category
} ppi_nvtx_event;

// objects.c. All answer NULL, or what stands for it, when there is no room.
extern ppi_nvtx_domain ppi_nvtx_domains[];
#define PPI_NVTX_NUM_DOMAINS 1025u  // and the default one, which is [0]
// `*out_first`: nobody had a handle of it.
ppi_nvtx_domain *ppi_nvtx_domain_create(const char *name, bool *out_first);
ppi_nvtx_string *ppi_nvtx_string_register(ppi_nvtx_domain *domain,
                                          const char *text);
// NULL when `handle` is none of ours.
extern uintptr_t ppi_nvtx_strings;  // where they lie, 0: nowhere yet; atomic
#define PPI_NVTX_NUM_STRINGS (1u << 18)
static inline ppi_nvtx_string *ppi_nvtx_string_of(void *handle) {
  uintptr_t first = __atomic_load_n(&ppi_nvtx_strings, __ATOMIC_ACQUIRE);
  uintptr_t offset = (uintptr_t)handle - first;
  ppi_nvtx_string *string = handle;
  if (!first || offset >= PPI_NVTX_NUM_STRINGS * sizeof *string ||
      offset % sizeof *string != 0 ||
      !__atomic_load_n(&string->text, __ATOMIC_ACQUIRE))
    return NULL;
  return string;
}
// The string's name in that style; NULL: there is no room.
pprof_site *ppi_nvtx_string_find(ppi_nvtx_string *string, uint64_t style);
static inline uint64_t ppi_nvtx_site_style(const ppi_nvtx_site *site) {
  return PPROF_INJECT_STYLE_(site->site.category, site->site.color);
}
static inline pprof_site *ppi_nvtx_string_site(ppi_nvtx_string *string,
                                               uint64_t style) {
  ppi_nvtx_site *first = __atomic_load_n(&string->sites, __ATOMIC_ACQUIRE);
  if (PPI_LIKELY(first && ppi_nvtx_site_style(first) == style))
    return &first->site;
  return ppi_nvtx_string_find(string, style);
}
void ppi_nvtx_category_name(ppi_nvtx_domain *domain, uint32_t id,
                            const char *name);
uint32_t ppi_nvtx_category_resolve(ppi_nvtx_domain *domain, uint32_t id,
                                   uint32_t epoch);
const char *ppi_nvtx_copy(const char *text, size_t len);
void ppi_nvtx_objects_in_forked_child(void);

// ppi_nvtx_domain_of answers the domain that a program's handle stands for;
// NULL when it is none of ours.
static inline ppi_nvtx_domain *ppi_nvtx_domain_of(void *handle) {
  if (!handle) return &ppi_nvtx_domains[0];
  uintptr_t offset = (uintptr_t)handle - (uintptr_t)ppi_nvtx_domains;
  ppi_nvtx_domain *domain = handle;
  if (offset >= PPI_NVTX_NUM_DOMAINS * sizeof *domain ||
      offset % sizeof *domain != 0 ||
      (domain != &ppi_nvtx_domains[0] &&
       !__atomic_load_n(&domain->number, __ATOMIC_ACQUIRE)))
    return NULL;
  return domain;
}

// ppi_nvtx_category answers the category of the domain's events as they are.
static inline uint32_t ppi_nvtx_category(ppi_nvtx_domain *domain) {
  return ppi_nvtx_category_resolve(
      domain, 0, __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED));
}

// text.c: UTF-32 to UTF-8, as much as fits, zero-terminated.
const char *ppi_nvtx_utf8(const wchar_t *wide, char *out, size_t size);

// values.c: numbers and payloads become counters, work, flows.
extern ppi_payload_schemas ppi_nvtx_known_schemas;
void ppi_nvtx_values_in_forked_child(void);

// device.c: device time beside the host's, where the configuration asks for it.
void ppi_nvtx_device_push(uint32_t domain, int level);
void ppi_nvtx_stream_name(void *stream, const char *name);
void ppi_nvtx_device_in_forked_child(void);

// life.c.
extern const pprof_inject_settings_ *ppi_nvtx_settings;  // atomic
#define PPI_NVTX_SETTING(name)                                      \
  __atomic_load_n(                                                  \
      &__atomic_load_n(&ppi_nvtx_settings, __ATOMIC_ACQUIRE)->name, \
      __ATOMIC_RELAXED)
// What a handler has to do beside recording; looked at each time, so it is one
// word. Atomic.
enum { PPI_NVTX_CHAINED = 1, PPI_NVTX_TIMED = 2 };
extern uint32_t ppi_nvtx_extras;
// ppi_nvtx_revive starts a session in a forked child, once; false: there is
// nothing to revive.
bool ppi_nvtx_revive(void);

// chain.c: the next tool, whose functions stand in shadow slots.
extern nvtx_function ppi_nvtx_shadow[NVTX_NUM_MODULES][NVTX_MAX_CALLS];
static inline bool ppi_nvtx_is_chained(void) {
  return PPI_UNLIKELY(__atomic_load_n(&ppi_nvtx_extras, __ATOMIC_RELAXED) &
                      PPI_NVTX_CHAINED);
}
void ppi_nvtx_chain_load(void);
// ppi_nvtx_chain_unit attaches a unit to the next tool alone; 0: there is none.
int ppi_nvtx_chain_unit(nvtx_get_export_table get);
int ppi_nvtx_chain_extension(nvtx_extension *extension);
nvtx_function ppi_nvtx_next_extension(uint32_t module, uint32_t call);
static inline nvtx_function ppi_nvtx_next(uint32_t module, uint32_t call) {
  if (!ppi_nvtx_is_chained()) return NULL;
  return __atomic_load_n(&ppi_nvtx_shadow[module][call], __ATOMIC_ACQUIRE);
}

// core.c, naming.c, extension.c: what goes into a unit's slots.
typedef struct ppi_nvtx_handler {
  uint8_t module, call;
  nvtx_function function;
} ppi_nvtx_handler;
extern const ppi_nvtx_handler ppi_nvtx_core_handlers[];
extern const size_t ppi_nvtx_num_core_handlers;
void ppi_nvtx_fill_extension(const nvtx_extension *extension);
extern const ppi_nvtx_handler ppi_nvtx_naming_handlers[];
extern const size_t ppi_nvtx_num_naming_handlers;

#endif  // PPI_NVTX_H_
