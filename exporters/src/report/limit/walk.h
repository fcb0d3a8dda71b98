// SPDX-License-Identifier: Apache-2.0
//
// Divides the time of requests: each moment belongs to the stage that the
// needed server works on.
#pragma once

#include "report/figures/limit.h"
#include "report/limit/model.h"

// A gap of at most this is the way from one stage to the next.
static const uint64_t ppi_hand_over_ns = 150000;

// A piece of a request's time.
typedef struct ppi_blame_piece {
  uint64_t ns;
  uint32_t unit;  // of the examined requests
  uint32_t of;    // a name; for a line, a station; else PPI_NONE
  ppi_blame_kind kind;
  bool is_gap;  // no range of the request is open, and none of its work is
                // submitted
} ppi_blame_piece;

// An idle stretch before a stage.
typedef struct ppi_idle {
  uint64_t ns;
  uint32_t name;
} ppi_idle;

// Sums over the examined requests.
typedef struct ppi_blame {
  size_t num_units;
  double latency_ns;
  double *own_ns;        // by name: in calls of it, on threads
  double *alone_ns;      // twice the time that halving each call would save:
                         // another branch beside it may take as long
  double *device_ns;     // by station: on a device
  double *line_ns;       // by station: in line for it, or blocked by it
  double *batch_ns;      // by name: a batch of it fills
  double *idle_ns;       // by name: its rows are free, and nothing is recorded
  double *elsewhere_ns;  // by name: calls on no row
  double *edge_ns;  // by name: calls without the request's number that ended
                    // waits before its stages
  double pause_ns;
  // Recorded waits before calls of requests; and those of them that were not
  // ended by the request's previous thread.
  size_t num_edges, num_differ;
  ppi_blame_piece *pieces;
  size_t num_pieces, pieces_capacity;
  uint64_t *latencies;  // of each examined request
  ppi_idle *idles;
  size_t num_idles, idles_capacity;
} ppi_blame;

// False: out of memory.
bool ppi_blame_find(const ppi_limit_model *model, ppi_blame *out);
void ppi_blame_clear(ppi_blame *blame);

// The station on which `behind` begins where a call ends; PPI_NONE: none.
uint32_t ppi_station_behind(const ppi_limit_model *model, uint64_t end_ns,
                            const ppi_limit_call *behind);
// Calls on no row may end where other calls begin. They are the queue of those
// calls if the servers are taken for most of that time, and far more than
// usually. A busy event loop is always taken, whatever its tasks wait for.
bool ppi_are_queues(const ppi_limit_model *model, uint32_t name, uint32_t at);
// The index of the row's call around `time_ns`, or of the next one.
size_t ppi_row_place(const ppi_limit_model *model, const ppi_limit_row *row,
                     uint64_t time_ns);
// Whether `row` is in a call at `time_ns`, and its latest call by begin.
bool ppi_row_is_taken(const ppi_limit_model *model, const ppi_limit_row *row,
                      uint64_t time_ns, uint32_t *out_last);
// The places that only a few calls of `name` have at a time; PPI_NONE: none.
uint32_t ppi_station_of_places(const ppi_limit_model *model, uint32_t name);
// The number of taken rows of a station at `time_ns`; `out_until_ns` is the
// time of the next change.
uint32_t ppi_station_taken(const ppi_station *station, uint64_t time_ns,
                           uint64_t *out_until_ns);
// When the number of taken rows of any station changes. False: out of memory.
bool ppi_changes_list(const ppi_limit_model *model, ppi_times *out);
// Adds to `holders`, by station and last for pauses, when in `spans` each of
// them holds up requests in front of `station`. False: out of memory.
bool ppi_find_holders(const ppi_limit_model *model, const ppi_times *all,
                      uint32_t station, const ppi_intervals *spans,
                      ppi_intervals *holders);
// The time in which all of its servers are taken.
uint64_t ppi_station_full_ns(const ppi_station *station, uint64_t from_ns,
                             uint64_t to_ns);
