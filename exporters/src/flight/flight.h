// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder: a sink that keeps the latest blocks of a log in a ring
// and writes those around a moment to a file of their own. Its callbacks are
// the collector's; one thread of its own writes the files.
#pragma once

#include "flight/flight_state.h"
#include "flight/rule.h"

PPROF_BEGIN_C_

typedef struct ppi_disk ppi_disk;

typedef struct ppi_flight_options {
  uint64_t before_ns, after_ns;  // the span of a dump around its moment
  uint64_t every_ns;             // the least time between two dumps of rules
  uint64_t limit;                // dumps of rules in a run; 0: no bound
  const char *path;              // of the first dump; copied
  const ppi_rule *rules;         // copied
  size_t num_rules;              // at most PPI_MAX_RULES
  ppi_disk *disk;                // borrowed until destroy; may be NULL
  // The size of a ring on the heap, for a session without one in its spool
  // (ppi_session_set_ring). 0: 16 MiB.
  uint64_t memory_bytes;
  // How long finish waits for the disk; 0: 10 s.
  uint64_t wait_ms;
} ppi_flight_options;

// Errors: INVALID (too many rules, no path), NO_MEMORY.
pprof_status ppi_flight_create(const ppi_flight_options *options,
                               pprof_sink **out, pprof_error *error);

// ppi_flight_trigger asks for a dump around now, to `path` or, NULL, to the
// configured path; if that exists, to the first free of .1 .2 ... beside it.
// out_path (`size` bytes) returns the name. Until the file is complete, the
// name ends in .part, and state.triggered is set.
//
// Errors: BUSY (the dump asked for before is not complete, or no session runs),
// IO (the file cannot be made; out_path has the reason), INVALID (out_path is
// too short).
pprof_status ppi_flight_trigger(pprof_sink *sink, const char *path,
                                char *out_path, size_t size);
// ppi_flight_dumped answers true when the dump at `out_path` from
// ppi_flight_trigger is over; out_status is its result.
bool ppi_flight_dumped(pprof_sink *sink, const char *out_path,
                       pprof_status *out_status);
// Replaces the rules of the options from now on. Different rules begin with
// empty quantiles.
pprof_status ppi_flight_set_rules(pprof_sink *sink, const ppi_rule *rules,
                                  size_t num_rules, uint64_t every_ns,
                                  uint64_t limit);
ppi_flight_state ppi_flight_look(pprof_sink *sink);

PPROF_END_C_
