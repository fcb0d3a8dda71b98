// SPDX-License-Identifier: Apache-2.0
#include "whatif/whatif_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"
#include "whatif/whatif_bootstrap.h"

// ---- pieces ----

// What of a piece is work, of the time behind what it waited for; the rest of
// it was waiting.
static double work_from(const ppi_whatif_graph *graph,
                        const ppi_whatif_piece *piece) {
  uint64_t from_ns = piece->start_ns;
  for (uint32_t i = piece->causes; i; i = graph->causes[i - 1].next) {
    const ppi_whatif_cause *cause = &graph->causes[i - 1];
    uint64_t end_ns = ppi_whatif_piece_at(graph, cause->piece)->end_ns;
    if (cause->waits) from_ns = PPI_MAX(from_ns, end_ns);
  }
  return (double)(piece->end_ns - PPI_MIN(from_ns, piece->end_ns));
}

static double end_of_cause(const ppi_whatif_replay *replay,
                           const ppi_whatif_cause *cause) {
  return replay->ends[cause->piece] - (double)cause->early_ns;
}

static void replay_piece(ppi_whatif_replay *replay, uint32_t id) {
  const ppi_whatif_graph *graph = replay->graph;
  const ppi_whatif_piece *piece = ppi_whatif_piece_at(graph, id);
  double factor = piece->owner ? replay->factors[piece->owner] : 1;
  double start_ns = piece->prev ? replay->ends[piece->prev] : 0;
  uint32_t binding = piece->prev;
  for (uint32_t i = piece->causes; i; i = graph->causes[i - 1].next) {
    const ppi_whatif_cause *cause = &graph->causes[i - 1];
    if (!cause->waits || end_of_cause(replay, cause) <= start_ns) continue;
    start_ns = end_of_cause(replay, cause);
    binding = cause->piece;
  }
  double end_ns = start_ns + factor * work_from(graph, piece);
  for (uint32_t i = piece->causes; i; i = graph->causes[i - 1].next) {
    const ppi_whatif_cause *cause = &graph->causes[i - 1];
    const ppi_whatif_piece *of = ppi_whatif_piece_at(graph, cause->piece);
    if (cause->waits) continue;
    uint64_t from_ns =
        PPI_MIN(PPI_MAX(of->end_ns, piece->start_ns), piece->end_ns);
    double behind_ns = factor * (double)(piece->end_ns - from_ns);
    if (end_of_cause(replay, cause) + behind_ns <= end_ns) continue;
    end_ns = end_of_cause(replay, cause) + behind_ns;
    binding = cause->piece;
  }
  replay->ends[id] = end_ns;
  replay->binding[id] = binding;
}

// A range without a factor has that of what is around it, and a wait none: what
// it waits for has.
static void set_factors(ppi_whatif_replay *replay, const double *scales) {
  const ppi_whatif_graph *graph = replay->graph;
  const ppi_whatif_log *log = graph->log;
  for (size_t i = 0; i < log->num_ranges; i++) {
    uint32_t id = graph->sorted[i];
    const ppi_whatif_range *range = ppi_whatif_range_at(log, id);
    double own = range->stage ? scales[range->stage] : -1;
    replay->factors[id] =
        own >= 0 ? own : (range->parent ? replay->factors[range->parent] : 1);
  }
}

// ---- requests, steps ----

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double end_of(const ppi_whatif_replay *replay,
                     const ppi_whatif_request *request, uint32_t *out_piece) {
  const ppi_whatif_graph *graph = replay->graph;
  double end_ns = -1;
  for (size_t i = 0; i < request->num; i++) {
    uint32_t range = graph->served[request->first + i].range;
    uint32_t piece = ppi_whatif_range_at(graph->log, range)->stage
                         ? graph->last[range]
                         : graph->before[range];
    if (replay->ends[piece] <= end_ns) continue;
    end_ns = replay->ends[piece];
    *out_piece = piece;
  }
  return end_ns;
}

// `series`: when each has ended, in the order of that; `spans`: how long each
// took. Answers how many; `*out_first` is when the first one began.
static size_t fill_requests(ppi_whatif_replay *replay, double *out_first,
                            uint32_t *out_last) {
  const ppi_whatif_graph *graph = replay->graph;
  size_t num = 0;
  double last_ns = -1;
  for (size_t i = replay->num_warm; i < graph->num_requests; i++) {
    const ppi_whatif_request *request = &graph->requests[i];
    uint32_t range = graph->served[request->first].range, piece = 0;
    double start_ns = replay->ends[graph->before[range]];
    double end_ns = end_of(replay, request, &piece);
    if (num == 0 || start_ns < *out_first) *out_first = start_ns;
    if (end_ns > last_ns) last_ns = end_ns, *out_last = piece;
    replay->spans[num] = end_ns - start_ns;
    replay->series[num++] = end_ns;
  }
  return num;
}

// A step begins where the one before it ended.
static size_t fill_steps(ppi_whatif_replay *replay, double *out_first,
                         uint32_t *out_last) {
  const ppi_whatif_graph *graph = replay->graph;
  size_t num = 0, warm = PPI_MAX(replay->num_warm, 1);
  for (size_t i = warm; i < graph->log->num_steps; i++) {
    uint32_t piece = graph->before[graph->step_points[i]];
    double before_ns = replay->ends[graph->before[graph->step_points[i - 1]]];
    if (num == 0) *out_first = before_ns;
    *out_last = piece;
    replay->spans[num] = replay->ends[piece] - before_ns;
    replay->series[num++] = replay->ends[piece];
  }
  return num;
}

static size_t fill_run(ppi_whatif_replay *replay, double *out_first,
                       uint32_t *out_last) {
  const ppi_whatif_graph *graph = replay->graph;
  double last_ns = -1, first_ns = INFINITY;
  for (uint32_t id = 1; id <= graph->log->num_ranges; id++) {
    if (!ppi_whatif_range_at(graph->log, id)->stage) continue;
    first_ns = fmin(first_ns, replay->ends[graph->before[id]]);
    if (replay->ends[graph->last[id]] <= last_ns) continue;
    last_ns = replay->ends[graph->last[id]];
    *out_last = graph->last[id];
  }
  *out_first = first_ns;
  replay->spans[0] = last_ns - first_ns;
  return last_ns >= 0;
}

static double quantile(const double *sorted, size_t num, uint32_t percent) {
  return sorted[ppi_rank_of(num, percent * PPI_RANK_PERCENT) - 1];
}

// Of requests the time from one end to the next; a rate is over all of these,
// as before the first end the pipeline fills.
static void fill_rate(ppi_whatif_replay *replay, size_t num, bool intervals,
                      ppi_whatif_result *out) {
  double *ends = replay->series;
  size_t num_gaps = num - 1;
  qsort(ends, num, sizeof *ends, by_value);
  double span_ns = ends[num - 1] - ends[0];
  if (!(span_ns > 0)) return;
  out->rate.value = (double)num_gaps * 1e9 / span_ns;
  for (size_t i = 0; i < num_gaps; i++) ends[i] = ends[i + 1] - ends[i];
  double low, high;
  if (!intervals || !ppi_whatif_bootstrap_mean(ends, num_gaps, &low, &high))
    return;
  out->rate.low = 1e9 / high;
  out->rate.high = 1e9 / low;
}

static void fill_times(ppi_whatif_replay *replay, size_t num, bool intervals,
                       ppi_whatif_result *out) {
  memcpy(replay->sorted, replay->spans, num * sizeof *replay->sorted);
  qsort(replay->sorted, num, sizeof *replay->sorted, by_value);
  out->p50.value = quantile(replay->sorted, num, 50);
  out->p99.value = quantile(replay->sorted, num, 99);
  if (!intervals) return;
  ppi_whatif_bootstrap_rank(replay->spans, num, 50, replay->sorted,
                            replay->picks, &out->p50.low, &out->p50.high);
  ppi_whatif_bootstrap_rank(replay->spans, num, 99, replay->sorted,
                            replay->picks, &out->p99.low, &out->p99.high);
}

// ---- the longest path ----

// From the end of all backwards, each time to what was waited for last. What a
// piece adds is the time from there on.
static void follow_path(ppi_whatif_replay *replay, uint32_t piece,
                        double first_ns, ppi_whatif_result *out) {
  const ppi_whatif_graph *graph = replay->graph;
  size_t num_stages = graph->log->num_stages;
  memset(replay->path_ns, 0, (num_stages + 1) * sizeof *replay->path_ns);
  while (piece && replay->ends[piece] > first_ns) {
    uint32_t before = replay->binding[piece];
    uint32_t owner = ppi_whatif_piece_at(graph, piece)->owner;
    double from_ns = before ? fmax(replay->ends[before], first_ns) : first_ns;
    double part_ns = replay->ends[piece] - from_ns;
    uint32_t stage = owner ? ppi_whatif_range_at(graph->log, owner)->stage : 0;
    replay->path_ns[stage] += part_ns;
    out->path_ns += part_ns;
    piece = before;
  }
  for (uint32_t stage = 0; stage <= num_stages; stage++)
    if (replay->path_ns[stage] > out->limit_ns) {
      out->limit = stage;
      out->limit_ns = replay->path_ns[stage];
    }
  out->between_ns = replay->path_ns[0];
}

void ppi_whatif_replay_run(ppi_whatif_replay *replay, const double *scales,
                           bool intervals, ppi_whatif_result *out) {
  const ppi_whatif_graph *graph = replay->graph;
  double first_ns = 0;
  uint32_t last = 0;
  *out = (ppi_whatif_result){.num = 0};
  set_factors(replay, scales);
  for (size_t i = 0; i < graph->num_pieces; i++)
    replay_piece(replay, graph->order[i]);
  if (replay->unit == PPI_WHATIF_REQUESTS)
    out->num = fill_requests(replay, &first_ns, &last);
  else if (replay->unit == PPI_WHATIF_STEPS)
    out->num = fill_steps(replay, &first_ns, &last);
  else
    out->num = fill_run(replay, &first_ns, &last);
  if (!out->num) return;
  bool is_run = replay->unit == PPI_WHATIF_RUN;
  fill_times(replay, out->num, intervals && !is_run, out);
  if (!is_run) fill_rate(replay, out->num, intervals, out);
  follow_path(replay, last, first_ns, out);
}

// ---- memory ----

bool ppi_whatif_replay_open(ppi_whatif_replay *replay,
                            const ppi_whatif_graph *graph, ppi_whatif_unit unit,
                            size_t num_warm) {
  size_t num = PPI_MAX(graph->num_requests, graph->log->num_steps) + 2;
  *replay = (ppi_whatif_replay){
      .graph = graph,
      .unit = unit,
      .num_warm = num_warm,
      .ends = ppi_alloc((graph->num_pieces + 1) * sizeof *replay->ends),
      .binding = ppi_alloc((graph->num_pieces + 1) * sizeof *replay->binding),
      .factors =
          ppi_alloc((graph->log->num_ranges + 1) * sizeof *replay->factors),
      .series = ppi_alloc(num * sizeof *replay->series),
      .spans = ppi_alloc(num * sizeof *replay->spans),
      .sorted = ppi_alloc(num * sizeof *replay->sorted),
      .picks = ppi_alloc(2 * num * sizeof *replay->picks),
      .path_ns =
          ppi_alloc((graph->log->num_stages + 1) * sizeof *replay->path_ns)};
  return replay->ends && replay->binding && replay->factors && replay->series &&
         replay->spans && replay->sorted && replay->picks && replay->path_ns;
}

void ppi_whatif_replay_close(ppi_whatif_replay *replay) {
  ppi_free(replay->ends);
  ppi_free(replay->binding);
  ppi_free(replay->factors);
  ppi_free(replay->series);
  ppi_free(replay->spans);
  ppi_free(replay->sorted);
  ppi_free(replay->picks);
  ppi_free(replay->path_ns);
}
