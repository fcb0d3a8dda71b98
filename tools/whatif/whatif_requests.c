// SPDX-License-Identifier: Apache-2.0
//
// Requests: which ranges serve each, from where to where; and the thread that
// ends steps.
#include "whatif/whatif_requests.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"

// Nobody asks for more of one request.
enum { MOST_LOOKED_AT = PPI_WHATIF_MOST_SERVED + 1 };

static bool serves(const ppi_whatif_log *log, const ppi_whatif_range *range,
                   uint64_t flow) {
  for (uint32_t i = 0; i < range->num_flows; i++)
    if (log->flows[range->first_flow + i] == flow) return true;
  return false;
}

static bool lies_in_one(const ppi_whatif_log *log,
                        const ppi_whatif_range *range, uint64_t flow) {
  for (uint32_t id = range->parent; id;) {
    const ppi_whatif_range *outer = ppi_whatif_range_at(log, id);
    if (serves(log, outer, flow)) return true;
    id = outer->parent;
  }
  return false;
}

static int compare_served(const void *left, const void *right) {
  const ppi_whatif_served *a = left, *b = right;
  if (a->flow != b->flow) return a->flow < b->flow ? -1 : 1;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->range > b->range) - (a->range < b->range);
}

static bool list_served(ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  size_t num = 0;
  for (size_t i = 0; i < log->num_ranges; i++) num += log->ranges[i].num_flows;
  graph->served = ppi_alloc((num + 1) * sizeof *graph->served);
  if (!graph->served) return false;
  for (size_t i = 0; i < log->num_ranges; i++) {
    const ppi_whatif_range *range = &log->ranges[i];
    for (uint32_t k = 0; k < range->num_flows; k++) {
      uint64_t flow = log->flows[range->first_flow + k];
      if (!lies_in_one(log, range, flow))
        graph->served[graph->num_served++] =
            (ppi_whatif_served){flow, range->start_ns, (uint32_t)i + 1};
    }
  }
  if (graph->num_served > 1)
    qsort(graph->served, graph->num_served, sizeof *graph->served,
          compare_served);
  return true;
}

static int by_number(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static int by_start(const void *left, const void *right) {
  const ppi_whatif_request *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->flow > b->flow) - (a->flow < b->flow);
}

static size_t end_of_request(const ppi_whatif_graph *graph, size_t first,
                             ppi_whatif_request *out) {
  size_t at = first;
  *out = (ppi_whatif_request){.flow = graph->served[first].flow,
                              .start_ns = graph->served[first].start_ns,
                              .first = first};
  for (; at < graph->num_served && graph->served[at].flow == out->flow; at++) {
    const ppi_whatif_range *range =
        ppi_whatif_range_at(graph->log, graph->served[at].range);
    out->end_ns = PPI_MAX(out->end_ns, range->end_ns);
  }
  out->num = at - first;
  return at;
}

static bool list_requests(ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  graph->requests =
      ppi_alloc((graph->num_served + 1) * sizeof *graph->requests);
  if (!graph->requests) return false;
  for (size_t at = 0; at < graph->num_served;) {
    ppi_whatif_request request;
    at = end_of_request(graph, at, &request);
    if (!log->num_cut || !bsearch(&request.flow, log->cut, log->num_cut,
                                  sizeof *log->cut, by_number))
      graph->requests[graph->num_requests++] = request;
  }
  if (graph->num_requests > 1)
    qsort(graph->requests, graph->num_requests, sizeof *graph->requests,
          by_start);
  return true;
}

bool ppi_whatif_served_of(const ppi_whatif_graph *graph, uint64_t flow,
                          size_t *out_first, size_t *out_num) {
  size_t low = 0, high = graph->num_served;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (graph->served[middle].flow < flow)
      low = middle + 1;
    else
      high = middle;
  }
  for (high = low; high < graph->num_served && high - low < MOST_LOOKED_AT &&
                   graph->served[high].flow == flow;)
    high++;
  *out_first = low;
  *out_num = high - low;
  return high > low;
}

bool ppi_whatif_requests_find(ppi_whatif_graph *graph) {
  return list_served(graph) && list_requests(graph);
}

// ---- steps ----

// The latest begin or end on a row by `time_ns`; 0: none.
static uint64_t latest(const ppi_whatif_log *log, const uint32_t *ids,
                       size_t num, uint64_t time_ns) {
  size_t low = 0;
  while (low < num) {
    size_t middle = low + (num - low) / 2;
    if (ppi_whatif_range_at(log, ids[middle])->start_ns <= time_ns)
      low = middle + 1;
    else
      num = middle;
  }
  if (!low) return 0;
  const ppi_whatif_range *range = ppi_whatif_range_at(log, ids[low - 1]);
  if (range->end_ns > time_ns) return range->start_ns;
  while (range->parent &&
         ppi_whatif_range_at(log, range->parent)->end_ns <= time_ns)
    range = ppi_whatif_range_at(log, range->parent);
  return range->end_ns;
}

// Steps say no thread: the one counts whose ranges begin or end closest before
// them.
static uint32_t row_of_steps(const ppi_whatif_graph *graph) {
  const ppi_whatif_log *log = graph->log;
  const uint32_t *ids = graph->sorted;
  uint32_t best = UINT32_MAX;
  double least_ns = 0;
  for (uint32_t row = 0; row < log->num_rows; row++) {
    size_t num = log->rows[row].num_ranges;
    double sum_ns = 0;
    for (size_t i = 0; i < log->num_steps && num; i++)
      sum_ns +=
          (double)(log->steps_ns[i] - latest(log, ids, num, log->steps_ns[i]));
    ids += num;
    if (log->rows[row].is_stream || !num) continue;
    if (best == UINT32_MAX || sum_ns < least_ns) best = row, least_ns = sum_ns;
  }
  return best;
}

bool ppi_whatif_steps_place(ppi_whatif_graph *graph) {
  ppi_whatif_log *log = graph->log;
  uint32_t row = row_of_steps(graph);
  graph->step_points =
      ppi_alloc((log->num_steps + 1) * sizeof *graph->step_points);
  if (!graph->step_points) return false;
  if (row == UINT32_MAX) log->num_steps = 0;
  for (size_t i = 0; i < log->num_steps; i++)
    if (!(graph->step_points[i] =
              ppi_whatif_log_point(log, row, log->steps_ns[i])))
      return false;
  return true;
}
