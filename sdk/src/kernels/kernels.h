// SPDX-License-Identifier: Apache-2.0
//
// Turns devices' own records into events: a device range for each kernel and
// copy. It is on the lane of the launching thread, at the depth of the launch,
// so that ranges around the launch are around the work, too.
#pragma once

#include "base/map.h"
#include "deliver/drain.h"
#include "event/texts.h"
#include "kernels/source.h"

PPROF_BEGIN_C_

// The most shapes that are distinguished. Kernels of further ones have no
// shape.
#define PPI_MOST_SHAPES 4096u

// All zero is the empty one.
typedef struct ppi_kernel_shapes {
  ppi_map numbers;
  bool *is_defined;  // by number
  size_t capacity;
  uint64_t num_without;  // kernels beyond that many
} ppi_kernel_shapes;

typedef struct ppi_levels {
  ppi_map places;
  uint64_t *bytes;  // by the number of the place
  size_t capacity;
} ppi_levels;

// A session's counts beside events.
typedef struct ppi_kernel_counts {
  uint64_t reported;    // pieces of work
  uint64_t unlaunched;  // of these, without the call that launched them
  uint64_t by_wait;     // launched while another thread waited in its range
  uint64_t senseless;   // with impossible times; their events have no times
  uint64_t dropped;     // losses that the source states
  uint64_t cost_ns;     // of our hooks of launches, on the host
  uint64_t costs;       // launches by which that is known
} ppi_kernel_counts;

typedef struct ppi_kernels {
  const ppi_kernel_source *source;  // NULL: nothing is traced
  const ppi_kernel_source *wanted;  // its library is not loaded yet; or NULL
  uint32_t refused;  // bits of wanted kinds that the source lacks
  bool by_capture;   // of graphs: where they were captured, too
  bool all_calls;    // calls of the device's API are reported, too
  ppi_drain *drain;
  uint32_t lane;            // its events have this lane's numbers
  uint64_t next_seq;        // and the next one
  uint64_t flushed;         // ticks of the last look
  uint64_t reported_until;  // no later event begins before it, unless it was
                            // listed
  uint64_t until;           // ticks; work without a known call is not ours if
                            // it starts then or later
  ppi_map streams, names;
  uint32_t *stream_ids, *sites;  // by their numbers there
  size_t streams_capacity, sites_capacity;
  ppi_kernel_shapes shapes;
  ppi_levels levels;
  ppi_kernel_counts counts;
  bool is_unsure;       // the source does not know how many it has lost
  uint32_t num_times;   // how often it began on demand
  pprof_status error;   // the first error of a sink
  pprof_error why_not;  // nothing is traced; empty: it is, or is not asked for
} ppi_kernels;

// ppi_kernels_start begins to trace the kinds of `source`, now or once it can.
// A failure becomes a note of the session. The owner's thread, before anything
// records.
void ppi_kernels_start(ppi_kernels *kernels, const ppi_kernel_source *source);
// ppi_kernels_start_now begins while the session records. Not OK: it cannot
// begin now, and `why` has the reason. The collector.
pprof_status ppi_kernels_start_now(ppi_kernels *kernels,
                                   const ppi_kernel_source *source,
                                   pprof_error *why);
// ppi_kernels_poll reports the work that is complete, not more often than every
// 20 ms. Answers whether more may come. The collector, like the following ones.
bool ppi_kernels_poll(ppi_kernels *kernels, ppi_drain *drain);
// ppi_kernels_rest reports all that the source still has, and ends it.
void ppi_kernels_rest(ppi_kernels *kernels, ppi_drain *drain);
// ppi_kernels_settled answers the time before which all work that was launched
// has been reported: `now`, or when the oldest call began that is still
// awaited.
uint64_t ppi_kernels_settled(ppi_kernels *kernels, uint64_t now);
// ppi_kernels_notes adds the notes for a report.
void ppi_kernels_notes(const ppi_kernels *kernels, ppi_texts *out);
void ppi_kernels_clear(ppi_kernels *kernels);

PPROF_END_C_
