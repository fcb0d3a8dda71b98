// SPDX-License-Identifier: Apache-2.0
//
// Which host ranges of one OS thread a device range was submitted in, and
// which phases of that thread are outermost. Events arrive in any order; what
// later ones may still change is held until a checkpoint's horizon passes it.
#ifndef PPI_SCOPE_H_
#define PPI_SCOPE_H_

#include "histogram.h"
#include "union.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_device_class {
  PPI_DEVICE_OTHER = 0,
  PPI_DEVICE_KERNEL,
  PPI_DEVICE_COPY,    // Memcpy and Memset
  PPI_DEVICE_PAIRED,  // without the paired ones inside it; modulo 2^64
  PPI_NUM_DEVICE_CLASSES
} ppi_device_class;

typedef struct ppi_device_sums {
  uint64_t ns[PPI_NUM_DEVICE_CLASSES];
} ppi_device_sums;

// Which device ranges count depends on whether the run has kernels, which is
// known at its end only: so each choice has a spread of its own.
typedef struct ppi_device_spreads {
  ppi_spread all, unpaired;
  ppi_spread kernels, general;  // general: kernels and copies
} ppi_device_spreads;

typedef struct ppi_scope_row {
  ppi_spread host;  // filled for phases only, once they are known outermost
  ppi_device_spreads inside;
} ppi_scope_row;

typedef struct ppi_scope {
  uint64_t start_ns, end_ns;
  ppi_device_sums inside;
  ppi_scope_row *row;
  uint32_t depth;
} ppi_scope;

typedef struct ppi_submit {
  uint64_t time_ns;
  ppi_device_sums sums;
} ppi_submit;

typedef struct ppi_scope_list {
  ppi_scope *items;
  size_t num, capacity;
} ppi_scope_list;

typedef struct ppi_submit_list {
  ppi_submit *items;
  size_t num, capacity;
} ppi_submit_list;

typedef struct ppi_scopes {
  ppi_scope_list phases;    // not yet known to be outermost
  ppi_scope_list fresh;     // saw no submission yet
  ppi_scope_list kept;      // saw those settled so far
  ppi_submit_list coming;   // seen by no scope yet
  ppi_submit_list carried;  // seen by all scopes but those still open
  uint64_t cover_end_ns;    // the last end of an outermost phase
} ppi_scopes;

// An open range of this thread: known to cover [start_ns, end_ns].
typedef struct ppi_open_scope {
  uint64_t start_ns, end_ns;
  bool is_phase;
} ppi_open_scope;

// No range that starts before `time_ns` and is not in `open`, and no device
// range submitted before `device_ns`, comes later. `open` is sorted by start.
// `last`: nothing comes later at all.
typedef struct ppi_scope_horizon {
  uint64_t time_ns, device_ns;
  const ppi_open_scope *open;
  size_t num_open;
  bool last;
} ppi_scope_horizon;

pprof_status ppi_scopes_add(ppi_scopes *scopes, const ppi_scope *scope);
pprof_status ppi_scopes_add_phase(ppi_scopes *scopes, const ppi_scope *scope);
pprof_status ppi_scopes_submit(ppi_scopes *scopes, const ppi_submit *submit);
pprof_status ppi_scopes_settle(ppi_scopes *scopes,
                               const ppi_scope_horizon *horizon);
void ppi_scopes_clear(ppi_scopes *scopes);

void ppi_device_spreads_add(ppi_device_spreads *spreads,
                            const ppi_device_sums *sums);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SCOPE_H_
