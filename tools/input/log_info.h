// SPDX-License-Identifier: Apache-2.0
//
// The data of `info` about a log, run by run: from its blocks' headers and from
// all of its content except the events.
#pragma once

#include "event/texts.h"
#include "log/format/log_file.h"

enum {
  PPI_TOOL_NUM_TYPES = PPI_LOG_CONTENTS + 1,
  PPI_TOOL_NUM_KINDS = PPROF_DEFINITION_ATTRIBUTES + 1
};

struct ppi_tool_blocks {
  uint64_t num_blocks, num_events, raw_bytes, stored_bytes;
};

struct ppi_tool_definition {
  pprof_definition_kind kind;
  uint32_t id, parent;
  uint64_t number;
  char *name;
};

struct ppi_tool_window {
  uint32_t index;
  bool closed;
  uint64_t opens_ns, closes_ns;
};

struct ppi_tool_run_info {
  uint64_t num_bytes, last_ns;  // bytes: from its header to the next one
  unsigned codecs;              // bit n: codec n is used
  char compressor[16];          // the library that compressed; "": unknown
  bool complete;                // the totals are there and nothing is damaged
  ppi_log_damage damage;
  struct ppi_tool_blocks blocks[PPI_TOOL_NUM_TYPES];  // by ppi_log_type
  ppi_texts texts, notes;                             // notes: of its totals
  // The latest of each (kind, id), in the order of first appearance.
  struct ppi_tool_definition *definitions;
  size_t num_definitions, definitions_capacity;
  uint32_t *places[PPI_TOOL_NUM_KINDS];  // by id: place in definitions, plus 1
  size_t num_places[PPI_TOOL_NUM_KINDS], places_capacity[PPI_TOOL_NUM_KINDS];
  uint64_t num_of_kind[PPI_TOOL_NUM_KINDS];
  struct ppi_tool_window *windows;
  size_t num_windows, windows_capacity;
  uint64_t totals[PPI_NUM_TOTALS];
};

struct ppi_tool_log_info {
  const char *path;
  bool skimmed;          // events were not read or checked for damage
  bool joined;           // with the spool of the dead process
  uint64_t trace_bytes;  // of the trace that became this log; 0: it is a log
  struct ppi_tool_run_info *runs;  // in the order of the file
  size_t num_runs, runs_capacity;
};

// Answers an exit status: PPI_EXIT_DONE, _DAMAGED or _INPUT, the latter two
// after a message. Cleared by ppi_tool_log_info_clear in any case.
int ppi_tool_log_info_read(const char *path, struct ppi_tool_log_info *out);
void ppi_tool_log_info_clear(struct ppi_tool_log_info *info);
// NULL: the run has no such text.
const char *ppi_tool_run_info_text(const struct ppi_tool_run_info *run,
                                   const char *key);
const char *ppi_tool_block_name(unsigned type);
