// SPDX-License-Identifier: Apache-2.0
//
// Domains, registered strings, named categories.
#pragma once

#include "nvtx.h"

// All answer NULL, or a substitute, when there is no room.
extern ppi_nvtx_domain ppi_nvtx_domains[];
#define PPI_NVTX_NUM_DOMAINS 1025u  // and the default one, which is [0]
// `*out_first`: it had no handle before.
ppi_nvtx_domain *ppi_nvtx_domain_create(const char *name, bool *out_first);
ppi_nvtx_string *ppi_nvtx_string_register(ppi_nvtx_domain *domain,
                                          const char *text);
// NULL: `handle` is unknown.
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

// ppi_nvtx_domain_of answers the domain of a program's handle; NULL: unknown.
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

// ppi_nvtx_category answers the current category of the domain's events.
static inline uint32_t ppi_nvtx_category(ppi_nvtx_domain *domain) {
  return ppi_nvtx_category_resolve(
      domain, 0, __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED));
}
