// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder: a sink that keeps the latest blocks of a log in a ring
// and writes those around a moment to a file of their own. Its callbacks are
// the collector's; one thread of its own writes the files.
#pragma once

#include "flight/flight_state.h"
#include "flight/rule.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

typedef struct ppi_disk ppi_disk;

typedef struct ppi_flight_options {
  uint64_t before_ns, after_ns;  // what a dump spans around its moment
  uint64_t every_ns;             // least time between two dumps of rules
  uint64_t limit;                // dumps of rules in a run; 0: no bound
  const char *path;              // of the first dump; copied
  const ppi_rule *rules;         // copied
  size_t num_rules;              // at most PPI_MAX_RULES
  ppi_disk *disk;                // borrowed until destroy; may be NULL
  // Of a ring on the heap, where the session has none in its spool
  // (ppi_session_set_ring). 0: 16 MiB.
  uint64_t memory_bytes;
  // How long finish waits for the disk; 0: 10 s.
  uint64_t wait_ms;
} ppi_flight_options;

// Errors: INVALID (too many rules, no path), NO_MEMORY.
pprof_status ppi_flight_create(const ppi_flight_options *options,
                               pprof_sink **out, pprof_error *error);

// ppi_flight_trigger asks for a dump around now, to `path` or, NULL, to the
// configured one; where a file has that name, to the next of .1 .2 ... beside
// it. out_path (`size` bytes) says where: until it is whole, .part is behind
// that name, and state.triggered is set.
//
// Errors: BUSY (the one asked for before is not whole yet, or no session
// runs), IO (no file can be made there, out_path says why), INVALID (out_path
// is too short).
pprof_status ppi_flight_trigger(pprof_sink *sink, const char *path,
                                char *out_path, size_t size);
// ppi_flight_dumped answers true when the dump that ppi_flight_trigger put at
// `out_path` is over, and how it went.
bool ppi_flight_dumped(pprof_sink *sink, const char *out_path,
                       pprof_status *out_status);
// In place of those in the options, from now on. What quantiles know of the
// past is gone when the rules are others.
pprof_status ppi_flight_set_rules(pprof_sink *sink, const ppi_rule *rules,
                                  size_t num_rules, uint64_t every_ns,
                                  uint64_t limit);
ppi_flight_state ppi_flight_look(pprof_sink *sink);

PPROF_END_C_
