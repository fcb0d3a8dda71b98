// SPDX-License-Identifier: Apache-2.0
//
// Arrows between the stages of a request. The stages of a flow are kept until
// the end, or until memory is short. Then its arrows are written, sorted by
// time: one start, a step at each stage between, one end. Ranges inside another
// of the same flow on the same row are part of that stage. Private to the
// Chrome writer; one thread.
#pragma once

#include "chrome/chrome_text.h"

PPROF_BEGIN_C_

// At worst 10 MiB. A flow beyond them pushes out the flow without a new stage
// for longest. A flow of many stages is written piece by piece.
#define PPI_CHROME_MAX_STAGES 32768
#define PPI_CHROME_MAX_FLOW_STAGES 4096
#define PPI_CHROME_FLOW_BUCKETS 16384

typedef struct ppi_chrome_stage {
  uint64_t start_ns, end_ns;
  uint32_t pid, tid;
} ppi_chrome_stage;

typedef struct ppi_chrome_flow {
  struct ppi_chrome_flow *next;           // in its bucket
  struct ppi_chrome_flow *newer, *older;  // by last stage
  uint64_t flow;
  uint64_t id;  // in the trace
  ppi_chrome_stage *stages;
  size_t num_stages, capacity;
} ppi_chrome_flow;

typedef struct ppi_chrome_flows {
  ppi_chrome_flow **buckets;
  ppi_chrome_flow *newest, *oldest;
  size_t num_stages;
  // Flow ids serve as ids of arrows until the first flow is pushed out. After
  // that, a returning flow could not be distinguished from a written one.
  bool pushed_out;
  uint64_t next_id;
} ppi_chrome_flows;

pprof_status ppi_chrome_flows_init(ppi_chrome_flows *flows);
void ppi_chrome_flows_clear(ppi_chrome_flows *flows);
// ppi_chrome_flows_add may write arrows of other flows to `out`. A comma and a
// line end precede each, as for all events after the first.
pprof_status ppi_chrome_flows_add(ppi_chrome_flows *flows, ppi_page *out,
                                  uint64_t flow, const ppi_chrome_stage *stage);
void ppi_chrome_flows_write(ppi_chrome_flows *flows, ppi_page *out);

PPROF_END_C_
