// SPDX-License-Identifier: Apache-2.0
//
// What limits a run, as one verdict in words and numbers.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// What the verdict says of the names in it.
typedef enum ppi_limit_claim {
  PPI_CLAIM_NONE,        // too few units, or nothing to say
  PPI_CLAIM_LIMIT,       // they set the rate
  PPI_CLAIM_BALANCED,    // several set it alike
  PPI_CLAIM_KEEPS_UP,    // arrivals set it
  PPI_CLAIM_UNRECORDED,  // something there that is not recorded does
  PPI_CLAIM_PART,        // they take the greatest part
  PPI_NUM_CLAIMS
} ppi_limit_claim;
const char *ppi_limit_claim_name(ppi_limit_claim claim);

enum {
  PPI_LIMIT_NAMES = 4,
  PPI_LIMIT_MORE = 3,
  PPI_LIMIT_GAPS = 8,
  PPI_LIMIT_BLAMES = 16,
  PPI_LIMIT_SERVERS = 16,
  PPI_LIMIT_DEMANDS = 48
};

typedef enum ppi_server_kind {
  PPI_SERVER_THREADS,
  PPI_SERVER_DEVICE,
  PPI_SERVER_ONE_AT_A_TIME,  // a range that only so many are in
  PPI_NUM_SERVER_KINDS
} ppi_server_kind;
const char *ppi_server_kind_name(ppi_server_kind kind);

// What serves units.
typedef struct ppi_limit_server {
  ppi_server_kind kind;
  char name[96];       // of its greatest stage, or the device
  uint32_t num;        // units that it serves at a time
  double utilization;  // working time by `num` and the time
  double occupied;     // with what waits inside
  double demand_ns;    // working time for each unit
  double line_ns;      // for each request: in line for it, or held up by it
} ppi_limit_server;

// What a stage takes of a server.
typedef struct ppi_limit_demand {
  uint32_t server;
  char name[96];
  double utilization;  // its part of the server's
  double demand_ns;    // for each unit
} ppi_limit_demand;

// What a moment of a request belongs to.
typedef enum ppi_blame_kind {
  PPI_BLAME_WORK,       // a stage works for it
  PPI_BLAME_LINE,       // the stage's servers are taken
  PPI_BLAME_HELD,       // by a stage that does not take what is before it
  PPI_BLAME_BATCH,      // a batch of the stage fills
  PPI_BLAME_IDLE,       // the stage's server is free, and nothing is recorded
  PPI_BLAME_HAND_OVER,  // from thread to thread
  PPI_BLAME_PAUSED,     // everything stands still
  PPI_BLAME_OTHERS,     // all that are not listed
  PPI_NUM_BLAME_KINDS
} ppi_blame_kind;
const char *ppi_blame_kind_name(ppi_blame_kind kind);

// Of an average request; of those around the median, from quarter to quarter;
// and of the slowest twentieth.
typedef struct ppi_limit_blame {
  ppi_blame_kind kind;
  char name[96];  // of the stage, or the device; "": none
  double ns, usual_ns, slow_ns;
} ppi_limit_blame;

// What the thread that launched a device's next work did while the device was
// idle.
typedef enum ppi_gap_kind {
  PPI_GAP_LAUNCHING,   // in one stage, between two launches
  PPI_GAP_AFTER_WAIT,  // the same, behind a wait for the device
  PPI_GAP_STAGE,
  PPI_GAP_WAITING,     // for what another thread does
  PPI_GAP_STARTING,    // launched, and not begun
  PPI_GAP_NO_REQUEST,  // none had come
  PPI_GAP_NOTHING,     // nothing is recorded
  PPI_GAP_OTHERS,      // all that are not listed
  PPI_NUM_GAP_KINDS
} ppi_gap_kind;
const char *ppi_gap_kind_name(ppi_gap_kind kind);

typedef struct ppi_limit_gap {
  ppi_gap_kind kind;
  char name[96];  // of the stage; "": none
  double ns;      // for each unit
  double part;    // of the time
} ppi_limit_gap;

typedef struct ppi_limit {
  ppi_limit_claim claim;
  const char *verdict;  // static: "limit", "bursts", ...; NULL: none
  // Stages first, then where they are.
  char names[PPI_LIMIT_NAMES][96];
  size_t num_names;
  double utilization;   // of the busiest server, or of the one that is named
  double demand_ns;     // of the stage for each unit
  double bound;         // half of the stage: the rate times 1 + this at most
  char next_limit[96];  // what limits then
  char sentence[512];
  char next[256];
  char more[PPI_LIMIT_MORE][256];  // sentences beside it
  size_t num_more;
  // Where so many units are under way at all times: how many, else 0; the time
  // of one without lines, and the time from the end of one to that of the next.
  double under_way, round_ns, every_ns;
  ppi_limit_server servers[PPI_LIMIT_SERVERS];  // the busiest first
  size_t num_servers;
  ppi_limit_demand demands[PPI_LIMIT_DEMANDS];  // server by server, as these
  size_t num_demands;
  ppi_limit_blame blames[PPI_LIMIT_BLAMES];  // as gaps are
  size_t num_blames;
  // Waits before stages of requests, and those that another thread ended than
  // the request's numbers say.
  size_t num_edges, num_differ;
  // The device that is idle least, and by what; idle time is their sum.
  char idle_device[96];
  ppi_limit_gap gaps[PPI_LIMIT_GAPS];  // the greatest first, others last
  size_t num_gaps;
  bool says_gaps;  // in `more`
  double stops;    // a unit: waits for the device in which it ran empty
  char uuid[40];   // of the run; of several runs the verdict is of one
  double units;    // that were counted; verdicts of several runs go by it
} ppi_limit;

// ppi_limit_bound answers by how much the rate may rise at most where demand k
// takes factors[k] times as long: 1 is twice the rate. `out_server` is what
// limits then; PPI_LIMIT_SERVERS: nothing, a unit takes its time. By the laws
// of utilization and forced flow, and Little's; no server: 0.
double ppi_limit_bound(const ppi_limit *limit, const double *factors,
                       uint32_t *out_server);

PPROF_END_C_
