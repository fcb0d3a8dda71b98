// SPDX-License-Identifier: Apache-2.0
//
// Passes calls on to the next tool, with that tool's handles in place of ours.
// `next` NULL: nothing is passed on.
#pragma once

#include "objects.h"
#include "payload.h"
#include "settings.h"

// The next tool's functions stand in shadow slots.
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

#define PPI_NVTX_NEXT(module, call) \
  ppi_nvtx_next(NVTX_MODULE_##module, NVTX_##module##_##call)

// These answer the next tool's handle; NULL of the default domain.
static inline void *ppi_nvtx_next_domain(const ppi_nvtx_domain *domain) {
  return domain ? domain->next : NULL;
}
static inline void *ppi_nvtx_next_handle(void *handle) {
  return ppi_nvtx_next_domain(ppi_nvtx_domain_of(handle));
}

// ppi_nvtx_pass_event passes an event of the domain on (NULL: the call has
// none). Answers what the next tool did; of other calls than starts that means
// nothing.
uint64_t ppi_nvtx_pass_event(nvtx_function next, const ppi_nvtx_domain *domain,
                             const nvtx_attributes *attributes);
// PPI_NVTX_PASS passes a call with these types of arguments on, if there is a
// next tool.
#define PPI_NVTX_PASS(call, types, ...)                                   \
  do {                                                                    \
    nvtx_function next_ = (call);                                         \
    if (PPI_UNLIKELY(next_ != NULL)) ((void(*) types)next_)(__VA_ARGS__); \
  } while (0)

// A range's id while calls are passed on: one number for both tools' ids. It is
// never 0, as programs expect. Splitting it ends it.
uint64_t ppi_nvtx_join_ids(uint64_t ours, uint64_t theirs);
uint64_t ppi_nvtx_split(uint64_t id, uint64_t *out_theirs);
static inline uint64_t ppi_nvtx_split_ids(uint64_t id, uint64_t *out_theirs) {
  if (!ppi_nvtx_is_chained()) return id;
  return ppi_nvtx_split(id, out_theirs);
}

// Each tool has its own ids (schemas, counters). Events that exceed these
// copies are passed on unchanged.
typedef struct ppi_nvtx_payload_copy {
  ppi_payload_blob blobs[16];
} ppi_nvtx_payload_copy;
typedef struct ppi_nvtx_schema_copy {
  ppi_payload_schema_attributes attributes;
  ppi_payload_schema_entry entries[32];
} ppi_nvtx_schema_copy;
void ppi_nvtx_remember_id(uint64_t ours, uint64_t theirs);
uint64_t ppi_nvtx_next_id(uint64_t ours);
const ppi_payload_blob *ppi_nvtx_translate_payloads(
    const ppi_payload_blob *payloads, size_t num, ppi_nvtx_payload_copy *copy);
const ppi_payload_schema_attributes *ppi_nvtx_translate_schema(
    const ppi_payload_schema_attributes *attributes,
    ppi_nvtx_schema_copy *copy);
