// SPDX-License-Identifier: Apache-2.0
//
// One thing that a finished report's figures say, and all of them.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

enum { PPI_FINDING_VALUES = 6 };

typedef struct ppi_finding_value {
  const char *name;
  double number;
  const char *unit;  // "ns", "%", "B/s", ...; "": a count
} ppi_finding_value;

// Texts are ASCII, but for the names in them, which stand there as recorded: a
// printer makes what is not printable visible, and breaks lines.
typedef struct ppi_finding {
  const char *id;   // stays, for scripts; docs/findings.md#ID
  bool is_problem;  // something to change; else a fact
  bool is_limit;    // of what was recorded: other findings may miss something
  bool in_answer;   // the line of the answer says all of it
  uint64_t ns;      // what of an average unit's time it explains; it orders
  char text[320];   // one or two sentences, with figures and what they are of
  char sure[160];   // how sure, as a clause: "20 calls"; "": as sure as `text`
  char next[240];   // what to do; "": nothing
  ppi_finding_value values[PPI_FINDING_VALUES];
  size_t num_values;
} ppi_finding;

// Limits first, then what explains most.
typedef struct ppi_findings {
  ppi_finding *items;
  size_t num, capacity;
  // One sentence: which stage, how much, why. "": no time was recorded.
  char answer[1024];
  char process[96];       // of several, the one that the answer is of; "": all
  char answer_next[256];  // what to do then; "": what a finding in it says
  // Where `num` is 0: why nothing stands out.
  char nothing[160];
  ppi_base_kind base;  // what the run is made of
} ppi_findings;

PPROF_END_C_
