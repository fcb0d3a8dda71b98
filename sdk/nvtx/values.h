// SPDX-License-Identifier: Apache-2.0
//
// Records the numbers of events, and counters.
#pragma once

#include "nvtx.h"
#include "payload.h"

extern ppi_payload_schemas ppi_nvtx_known_schemas;
void ppi_nvtx_values_in_forked_child(void);

#define PPI_NVTX_MAX_PAYLOADS 1024u  // of one event; more make no sense

// The event of a number.
typedef struct ppi_nvtx_target {
  ppi_nvtx_kind kind;
  const ppi_nvtx_domain *domain;
  const ppi_nvtx_event *event;  // its name may be NULL: not known
  pprof_range range;            // of a start
} ppi_nvtx_target;

// ppi_nvtx_use_attributes takes the payload that the attributes have.
void ppi_nvtx_use_attributes(const ppi_nvtx_target *target,
                             const nvtx_attributes *attributes);
void ppi_nvtx_use_payloads(const ppi_nvtx_target *target,
                           const ppi_payload_blob *payloads, size_t num);

uint64_t ppi_nvtx_counter_register(ppi_nvtx_domain *domain,
                                   const nvtx_counter_attributes *attributes);
void ppi_nvtx_counter_sample(ppi_nvtx_domain *domain, uint64_t id,
                             double value);
void ppi_nvtx_counter_group(ppi_nvtx_domain *domain, uint64_t id,
                            const void *bytes, size_t size);
