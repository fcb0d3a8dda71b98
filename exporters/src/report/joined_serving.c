// SPDX-License-Identifier: Apache-2.0
//
// Joins requests with tokens that several processes serve. The process that a
// request reached first has its arrival and its end. The processes that
// scheduled it have its queue, its prefill and its tokens.
#include "report/joined.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/rows.h"
#include "report/figures/sum.h"
#include "report/parts/serving.h"

// A request of one run; all times are on the axis of the first run.
typedef struct part {
  uint64_t flow, arrival_ns, end_ns;
  uint64_t shift_ns;
  const ppi_kept_run *run;
  const ppi_kept_request *from;
  bool is_cut;
  size_t owner;  // + 1: the part of another run that it belongs to; 0: none
} part;

typedef struct joining {
  ppi_figures *figures;
  part *parts;
  size_t num;
  ppi_served_tokens *tokens;  // of one request
  size_t tokens_capacity;
} joining;

static bool has_range(const part *of) {
  return of->from->of_class != UINT32_MAX;
}

// Orders by number; of one number, ranges come first, by begin.
static int compare_parts(const void *left, const void *right) {
  const part *a = left, *b = right;
  if (a->flow != b->flow) return a->flow < b->flow ? -1 : 1;
  if (has_range(a) != has_range(b)) return has_range(a) ? -1 : 1;
  if (a->arrival_ns != b->arrival_ns)
    return a->arrival_ns < b->arrival_ns ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
  return (a->run > b->run) - (a->run < b->run);
}

static const ppi_report_input *input_of(const ppi_figures *figures,
                                        const ppi_kept_run *run) {
  return ppi_input_of(figures, run->uuid, run->host, run->pid);
}

static bool list_parts(joining *to) {
  const ppi_figures *figures = to->figures;
  uint64_t first_ns = UINT64_MAX;
  size_t num = 0;
  for (size_t i = 0; i < figures->num_kept_runs; i++) {
    num += figures->kept_runs[i]->num;
    first_ns =
        PPI_MIN(first_ns, input_of(figures, figures->kept_runs[i])->began_ns);
  }
  to->parts = ppi_alloc((num + 1) * sizeof *to->parts);
  for (size_t i = 0; to->parts && i < figures->num_kept_runs; i++) {
    const ppi_kept_run *run = figures->kept_runs[i];
    uint64_t shift_ns = input_of(figures, run)->began_ns - first_ns;
    bool has_own = false;
    for (size_t k = 0; k < run->num; k++)
      has_own |= run->requests[k].of_class != UINT32_MAX;
    // Where a run has requests of its own, marks alone are of one that is open.
    for (size_t k = 0; k < run->num; k++) {
      const ppi_kept_request *from = &run->requests[k];
      to->parts[to->num++] =
          (part){.flow = from->flow,
                 .arrival_ns = shift_ns + from->served.arrival_ns,
                 .end_ns = shift_ns + from->served.end_ns,
                 .shift_ns = shift_ns,
                 .run = run,
                 .from = from,
                 .is_cut = from->of_class == UINT32_MAX ? has_own
                                                        : from->served.is_cut};
    }
  }
  if (to->num > 1) qsort(to->parts, to->num, sizeof *to->parts, compare_parts);
  return to->parts != NULL;
}

// ---- parts of one request ----

static const ppi_kept_class *class_of(const part *of) {
  const ppi_kept_class *classes = of->run->classes;
  for (size_t i = 0; has_range(of) && i < of->run->num_classes; i++)
    if (classes[i].site == of->from->of_class) return &classes[i];
  return NULL;
}

static bool share_class(const ppi_kept_run *a, const ppi_kept_run *b) {
  for (size_t i = 0; i < a->num_classes; i++)
    for (size_t k = 0; k < b->num_classes; k++)
      if (strcmp(a->classes[i].name, b->classes[k].name) == 0) return true;
  return false;
}

// Processes with a class in common number their requests independently. Beyond
// a host only the numbers of contexts (pprof_flow_context) say something.
static bool is_of_one(const part *a, const part *b) {
  if (a->flow != b->flow || a->run == b->run) return false;
  if (a->flow >> 63) return true;
  return strcmp(a->run->host, b->run->host) == 0 &&
         !share_class(a->run, b->run);
}

// A process's marks of a number lie in its request, or the number is another's.
// If the number comes again, the marks may be of any of its requests.
static bool lies_in(const joining *of, const part *inner, size_t outer,
                    size_t end) {
  const part *around = &of->parts[outer];
  if (!is_of_one(around, inner)) return false;
  if (inner->arrival_ns < around->arrival_ns ||
      inner->arrival_ns > around->end_ns)
    return false;
  if (has_range(inner)) return true;
  for (size_t i = outer + 1; i < end; i++)
    if (of->parts[i].run == around->run && has_range(&of->parts[i]))
      return false;
  return outer == 0 || of->parts[outer - 1].flow != around->flow ||
         of->parts[outer - 1].run != around->run;
}

// Parts of one number, up to a bound: a number may come again very often.
static size_t end_of_number(const joining *of, size_t at) {
  enum { MOST_PARTS = 64 };
  size_t end = at;
  while (end < of->num && end < at + MOST_PARTS &&
         of->parts[end].flow == of->parts[at].flow)
    end++;
  return end;
}

// Each range owns the later ones of other runs that lie in it, and marks.
static bool find_owners(joining *of) {
  bool any = false;
  for (size_t at = 0; at < of->num; at++) {
    if (of->parts[at].owner || !has_range(&of->parts[at])) continue;
    size_t end = end_of_number(of, at);
    for (size_t i = at + 1; i < end; i++) {
      if (of->parts[i].owner || !lies_in(of, &of->parts[i], at, end)) continue;
      of->parts[i].owner = at + 1;
      any = true;
    }
  }
  return any;
}

// ---- a joined request ----

PPI_ORDER(compare_tokens, ppi_served_tokens, PPI_UP(time_ns))

static bool add_tokens(joining *of, const part *from, ppi_served_request *to) {
  size_t num = from->from->served.num_tokens;
  if (!PPI_ROOM(of->tokens, of->tokens_capacity, to->num_tokens + num + 1))
    return false;
  for (size_t i = 0; i < num; i++) {
    ppi_served_tokens tokens = from->run->tokens[from->from->first + i];
    tokens.time_ns += from->shift_ns;
    of->tokens[to->num_tokens++] = tokens;
  }
  return true;
}

static uint64_t shifted(const part *of, uint64_t ns) {
  return ns == UINT64_MAX ? ns : ns + of->shift_ns;
}

// Whether this part or, where none was scheduled, the first one with tokens has
// the tokens.
static bool makes_tokens(const part *of, bool is_scheduled,
                         const ppi_served_request *so_far) {
  const ppi_served_request *served = &of->from->served;
  return is_scheduled ? served->scheduled_ns != UINT64_MAX
                      : !so_far->num_tokens && served->num_tokens;
}

static bool belongs_to(const joining *of, size_t i, size_t at) {
  return i == at || of->parts[i].owner == at + 1;
}

// Joins the part `at` with the parts before `end` that it owns.
static bool join_parts(joining *of, size_t at, size_t end,
                       ppi_served_request *to) {
  const part *outer = &of->parts[at];
  bool is_scheduled = false, added = true;
  to->arrival_ns = outer->arrival_ns;
  to->end_ns = outer->end_ns;
  to->queued_ns = shifted(outer, to->queued_ns);
  to->scheduled_ns = UINT64_MAX;
  if (to->num_tokens) to->received_ns = shifted(outer, to->tokens[0].time_ns);
  to->num_tokens = 0;
  for (size_t i = at; i < end; i++)
    is_scheduled |= belongs_to(of, i, at) &&
                    of->parts[i].from->served.scheduled_ns != UINT64_MAX;
  for (size_t i = at; i < end && added; i++) {
    const part *one = &of->parts[i];
    if (!belongs_to(of, i, at)) continue;
    to->is_cut |= one->is_cut;
    to->tokens_in = PPI_MAX(to->tokens_in, one->from->served.tokens_in);
    if (!makes_tokens(one, is_scheduled, to)) continue;
    added = add_tokens(of, one, to);
    to->scheduled_ns =
        PPI_MIN(to->scheduled_ns, shifted(one, one->from->served.scheduled_ns));
    if (i > at && has_range(one))
      to->queued_ns = PPI_MIN(to->queued_ns, one->arrival_ns);
  }
  if (added && to->num_tokens > 1)
    qsort(of->tokens, to->num_tokens, sizeof *of->tokens, compare_tokens);
  to->tokens = of->tokens;
  to->is_undivided = to->num_tokens && to->scheduled_ns == UINT64_MAX;
  return added;
}

// ---- classes ----

static ppi_report_serving *row_of(ppi_figures *figures, const part *of) {
  const ppi_kept_class *class = class_of(of);
  const ppi_report_serving key = {.name = class->name,
                                  .category_name = class->category_name};
  return ppi_figures_serving(figures, &key);
}

// Leaves what no request has: iterations, and the time of the runs.
static void forget_requests(ppi_serving *sums) {
  ppi_serving left = {.span_ns = sums->span_ns,
                      .num_unequal = sums->num_unequal,
                      .iterations = sums->iterations};
  for (int i = PPI_SERVING_ITERATION; i <= PPI_SERVING_ITERATION_MIXED; i++) {
    left.spreads[i] = sums->spreads[i];
    left.times[i] = sums->times[i];
    sums->times[i] = (ppi_histogram){0};
  }
  ppi_serving_clear(sums);
  *sums = left;
}

static bool add_request(joining *of, size_t at) {
  const part *outer = &of->parts[at];
  size_t end = end_of_number(of, at);
  ppi_served_request served = outer->from->served;
  bool is_joined = false;
  for (size_t i = at + 1; i < end; i++) is_joined |= belongs_to(of, i, at);
  served.tokens = outer->run->tokens + outer->from->first;
  if (is_joined && !join_parts(of, at, end, &served)) return false;
  ppi_report_serving *row = row_of(of->figures, outer);
  return row && ppi_serving_add(&row->sums, &served, &of->figures->details.slo);
}

static bool add_requests(joining *of) {
  for (size_t i = 0; i < of->num; i++) {
    ppi_report_serving *row = NULL;
    if (has_range(&of->parts[i])) row = row_of(of->figures, &of->parts[i]);
    if (row) forget_requests(&row->sums);
  }
  for (size_t i = 0; i < of->num; i++)
    if (has_range(&of->parts[i]) && !of->parts[i].owner && !add_request(of, i))
      return false;
  return true;
}

static bool are_complete(const ppi_figures *figures) {
  bool are = true;
  for (size_t i = 0; i < figures->num_kept_runs && are; i++) {
    const ppi_kept_run *run = figures->kept_runs[i];
    const ppi_report_input *input = input_of(figures, run);
    are = input && input->began_ns && !run->is_full;
  }
  return are;
}

// Marks that no run has a request for.
static uint64_t num_unmatched(const joining *of) {
  uint64_t num = 0;
  for (size_t i = 0; i < of->figures->num_kept_runs; i++)
    num += of->figures->kept_runs[i]->num_unmatched;
  for (size_t i = 0; i < of->num; i++)
    if (!has_range(&of->parts[i]) && of->parts[i].owner)
      num -= of->parts[i].from->num_marks;
  return num;
}

bool ppi_join_serving(ppi_figures *figures) {
  joining of = {.figures = figures};
  bool done = true;
  if (are_complete(figures)) {
    bool is_listed = list_parts(&of);
    if (!is_listed) done = false;
    if (is_listed && find_owners(&of)) done = add_requests(&of);
  }
  done = done && ppi_serving_note_dropped(num_unmatched(&of), figures);
  ppi_free(of.parts);
  ppi_free(of.tokens);
  return done;
}
