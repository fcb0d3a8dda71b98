// SPDX-License-Identifier: Apache-2.0
//
// One result of the figures of a finished report, and all of them.
#pragma once

#include "report/figures/figures.h"

enum { PPI_FINDING_VALUES = 6 };

typedef struct ppi_finding_value {
  const char *name;
  double number;
  const char *unit;  // "ns", "%", "B/s", ...; "": a count
} ppi_finding_value;

// Texts are ASCII, except for recorded names in them. A printer escapes
// unprintable bytes and breaks lines.
typedef struct ppi_finding {
  const char *id;   // stable, for scripts; docs/findings.md#ID
  bool is_problem;  // something to change; else a fact
  bool is_limit;    // about the recording: other findings may be incomplete
  bool in_answer;   // the line of the answer has the same content
  uint64_t
      ns;  // part of an average unit's time that it explains; sorts findings
  char text[320];  // one or two sentences, with figures and their bases
  char sure[160];  // how sure, as a clause: "20 calls"; "": as sure as `text`
  char next[240];  // what to do; "": nothing
  ppi_finding_value values[PPI_FINDING_VALUES];
  size_t num_values;
} ppi_finding;

// Limits come first, then the findings that explain most.
typedef struct ppi_findings {
  ppi_finding *items;
  size_t num, capacity;
  // One sentence: which stage, how much, why. "": no time was recorded.
  char answer[1024];
  char process[96];  // the input of the answer, if there are several; "": all
  char answer_next[256];  // what to do then; "": the text of a finding in the
                          // answer
  // If `num` is 0: why there is no finding.
  char nothing[160];
  ppi_base_kind base;  // the kind of unit of the run
} ppi_findings;
