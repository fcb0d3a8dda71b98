// SPDX-License-Identifier: Apache-2.0
//
// The source of a device's own tracing: one table of functions for each
// vendor's library (sdk/backends), or a test's.
#pragma once

#include "kernels/occupancy.h"

typedef enum ppi_device_work_kind {
  PPI_DEVICE_WORK_KERNEL = 0,
  PPI_DEVICE_WORK_COPY,
  PPI_DEVICE_WORK_SET,
  // No work, but memory: taken, and given back.
  PPI_DEVICE_WORK_TAKE,
  PPI_DEVICE_WORK_GIVE
} ppi_device_work_kind;

// One piece of work that a device has done. Times are ppi_clock_ticks.
typedef struct ppi_device_work {
  ppi_device_work_kind kind;
  uint32_t correlation;        // of the call that launched it; 0: not known
  int device;                  // index of the backend's
  uint32_t context, stream;    // the library's numbers
  uint64_t start, end, error;  // by how much their place may be off
  uint64_t bytes;              // of a copy, a set or memory
  const char *name;  // of a kernel as the library gives it, of the kind of
                     // copy, or of where memory is; borrowed for the call
  uint64_t node;     // of a graph; 0: of none, or not known
  ppi_launch_shape shape;  // of a kernel, without its occupancy; all 0: unknown
} ppi_device_work;

// The receiver of a source's reports, in no order, on the thread that calls
// `flush`.
typedef void ppi_device_work_taker(void *taker, const ppi_device_work *work);

typedef struct ppi_kernel_source ppi_kernel_source;
struct ppi_kernel_source {
  const char *backend;  // the backend of its devices
  // Begins to trace: calls go to ppi_launch_begin and ppi_launch_end from then
  // on. BUSY: there is nothing to trace in this process yet, so that it is
  // asked again. UNAVAILABLE: there is no such library, or somebody else has
  // it. `error` says which.
  pprof_status (*start)(pprof_error *error);
  // Reports what is complete so far; with `all` what is not, too, where the
  // library gives it. The collector.
  void (*flush)(bool all, ppi_device_work_taker *take, void *taker);
  // Ends it; nobody calls the launches any more.
  void (*stop)(void);
  // Pieces of work that the library itself says it has lost, since the start;
  // false: it does not know.
  bool (*num_dropped)(uint64_t *out);
  // Whether the program has used such a device by now.
  bool (*is_used)(void);
  // The room of a device; all 0: unknown. NULL: no device has it.
  ppi_device_limits (*limits)(int device);
  // The next source, if this one is unavailable; the first available one is
  // used.
  const ppi_kernel_source *next;
};
