// SPDX-License-Identifier: Apache-2.0
//
// What limits a run, as one verdict in words and numbers.
#pragma once

#include "report/figures/carry.h"

PPROF_BEGIN_C_

// The verdict's claim about the names in it.
typedef enum ppi_limit_claim {
  PPI_CLAIM_NONE,        // too few units, or no verdict
  PPI_CLAIM_LIMIT,       // the names set the rate
  PPI_CLAIM_BALANCED,    // several names set the rate equally
  PPI_CLAIM_KEEPS_UP,    // arrivals set the rate
  PPI_CLAIM_UNRECORDED,  // something unrecorded sets the rate
  PPI_CLAIM_PART,        // the names take the greatest part of the time
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

// Servers that are busy for this part of the time are full.
static const double ppi_saturated = 0.9;

typedef enum ppi_server_kind {
  PPI_SERVER_THREADS,
  PPI_SERVER_DEVICE,
  PPI_SERVER_ONE_AT_A_TIME,  // a range that few threads enter at a time
  PPI_SERVER_LOCK,           // what one thread has while others wait for it
  PPI_NUM_SERVER_KINDS
} ppi_server_kind;
const char *ppi_server_kind_name(ppi_server_kind kind);

// A server of units: threads, a device or a range.
typedef struct ppi_limit_server {
  ppi_server_kind kind;
  char name[96];        // of its greatest stage, or the device
  bool is_elsewhere;    // on no thread of the run
  uint32_t num;         // units that it serves at a time
  double utilization;   // working time / (`num` * time)
  double batches_save;  // the part of it that larger batches save at most
  double occupied;      // the same, with waits inside
  double demand_ns;     // working time for each unit
  double line_ns;       // for each request: in line or blocked by it
} ppi_limit_server;

// A stage's part of a server's time.
typedef struct ppi_limit_demand {
  uint32_t server;
  char name[96];
  double utilization;  // its part of the server's utilization
  double demand_ns;    // for each unit
} ppi_limit_demand;

// The cause of a moment of a request.
typedef enum ppi_blame_kind {
  PPI_BLAME_WORK,       // a stage works for the request
  PPI_BLAME_LINE,       // the stage's servers are taken
  PPI_BLAME_HELD,       // a later stage does not take its input
  PPI_BLAME_BATCH,      // a batch of the stage fills
  PPI_BLAME_IDLE,       // the stage's server is free, and nothing is recorded
  PPI_BLAME_HAND_OVER,  // from thread to thread
  PPI_BLAME_PAUSED,     // everything stands still
  PPI_BLAME_OTHERS,     // all causes without a row
  PPI_NUM_BLAME_KINDS
} ppi_blame_kind;
const char *ppi_blame_kind_name(ppi_blame_kind kind);

// Mean times of all requests (ns), of the middle half by length (usual_ns), and
// of the slowest twentieth (slow_ns).
typedef struct ppi_limit_blame {
  ppi_blame_kind kind;
  char name[96];  // of the stage, or the device; "": none
  double ns, usual_ns, slow_ns;
} ppi_limit_blame;

// The activity of the thread that launched a device's next work, while the
// device was idle.
typedef enum ppi_gap_kind {
  PPI_GAP_LAUNCHING,   // within a stage, between two launches
  PPI_GAP_AFTER_WAIT,  // the same, after a wait for the device
  PPI_GAP_STAGE,
  PPI_GAP_WAITING,     // for another thread
  PPI_GAP_STARTING,    // launched, but not started
  PPI_GAP_NO_REQUEST,  // no request had arrived
  PPI_GAP_NOTHING,     // nothing is recorded
  PPI_GAP_OTHERS,      // all gaps without a row
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
  // Stages first, then their servers.
  char names[PPI_LIMIT_NAMES][96];
  size_t num_names;
  double utilization;   // of the busiest or of the named server
  double demand_ns;     // of the stage for each unit
  double bound;         // most rise of the rate with half the stage's time
  char next_limit[96];  // the limit at that rate
  char sentence[512];
  char next[256];
  char more[PPI_LIMIT_MORE][256];  // further sentences
  size_t num_more;
  // The constant number of units under way, else 0. round_ns is a unit's time
  // without lines, every_ns the time between two ends.
  double under_way, round_ns, every_ns;
  ppi_limit_server servers[PPI_LIMIT_SERVERS];  // the busiest first
  size_t num_servers;
  ppi_limit_demand demands[PPI_LIMIT_DEMANDS];  // in the servers' order
  size_t num_demands;
  ppi_limit_blame blames[PPI_LIMIT_BLAMES];  // the greatest first, others last
  size_t num_blames;
  // Waits before stages of requests; those of them that another thread than the
  // request's last one ended.
  size_t num_edges, num_differ;
  // The least idle device, and its gaps: idle time is their sum.
  char idle_device[96];
  ppi_limit_gap gaps[PPI_LIMIT_GAPS];  // the greatest first, others last
  size_t num_gaps;
  bool says_gaps;  // `more` has a sentence on gaps
  double stops;    // for each unit: waits that let the device run empty
  char uuid[40];   // of the run that has the verdict
  double units;    // counted units
} ppi_limit;

// ppi_limit_carry: a verdict that was read lasts as long as the process.
void ppi_limit_carry(ppi_carry *carry, ppi_limit *limit);

// ppi_limit_bound answers the greatest possible rise of the rate: 1 is twice
// the rate. Demand k takes factors[k] times as long. The rise is 0 without
// servers. `out_server` is the next limit; PPI_LIMIT_SERVERS: none, a unit's
// own time. The bound follows from the utilization law, the forced flow law and
// Little's law.
double ppi_limit_bound(const ppi_limit *limit, const double *factors,
                       uint32_t *out_server);

PPROF_END_C_
