// SPDX-License-Identifier: Apache-2.0
//
// Adds up the serving of one class of requests.
#include "report/figures/serving.h"

#include <string.h>

#include "base/mem.h"

// ---- requests of a class ----

static const char *const names[] = {
#define NAME(value, name) name,
    PPI_SERVING_TIMES(NAME)
#undef NAME
};

const char *ppi_serving_time_name(ppi_serving_time time) {
  return names[time];
}

static bool add_time(ppi_serving *serving, ppi_serving_time which,
                     uint64_t time_ns) {
  ppi_spread_add(&serving->spreads[which], time_ns);
  return ppi_histogram_add(&serving->times[which], time_ns);
}

static uint64_t from_to(uint64_t from_ns, uint64_t to_ns) {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

// The time from arrival to schedule.
typedef struct serving_start {
  uint64_t before_ns, queue_ns;
  bool has_before;
} serving_start;

static bool keeps(uint64_t most_ns, uint64_t time_ns) {
  return most_ns == 0 || time_ns <= most_ns;
}

static bool add_gaps(ppi_serving *serving, const ppi_served_request *request,
                     const ppi_slo *slo, bool *is_good) {
  bool done = true;
  for (size_t i = 1; i < request->num_tokens && done; i++) {
    const ppi_served_tokens *tokens = &request->tokens[i];
    uint64_t gap_ns = tokens->time_ns - request->tokens[i - 1].time_ns;
    // Spread tokens have no times of their own, only a mean gap.
    if (tokens->is_spread) gap_ns /= tokens->num;
    *is_good = *is_good && keeps(slo->itl_ns, gap_ns);
    if (tokens->is_spread) continue;
    done = add_time(serving, PPI_SERVING_ITL, gap_ns);
    if (tokens->is_mixed && done)
      done = add_time(serving, PPI_SERVING_ITL_MIXED, gap_ns);
  }
  return done;
}

static ppi_serving_part part_of(const ppi_served_request *request, size_t i) {
  const ppi_served_tokens *tokens = &request->tokens[i];
  if (i == 0)
    return request->is_undivided ? PPI_SERVING_TO_FIRST : PPI_SERVING_PREFILLED;
  if (request->is_undivided || tokens->is_spread) return PPI_SERVING_TO_LAST;
  return tokens->is_mixed ? PPI_SERVING_MIXED : PPI_SERVING_DECODED;
}

// Adds the parts of a request's time, with the rest. Gaps belong to decode.
static bool add_parts(ppi_serving *serving, const ppi_served_request *request,
                      const serving_start *start, uint64_t e2e_ns) {
  ppi_serving_slow parts = {.n = 1};
  uint64_t sum_ns = start->before_ns + start->queue_ns;
  parts.parts_ns[PPI_SERVING_BEFORE] = start->before_ns;
  parts.parts_ns[PPI_SERVING_QUEUED] = start->queue_ns;
  for (size_t i = 0; i < request->num_tokens; i++) {
    const ppi_served_tokens *tokens = &request->tokens[i];
    uint64_t from_ns = i ? tokens[-1].time_ns : request->arrival_ns + sum_ns;
    uint64_t part_ns = from_to(from_ns, tokens->time_ns);
    parts.parts_ns[part_of(request, i)] += part_ns;
    sum_ns += part_ns;
  }
  parts.parts_ns[PPI_SERVING_REST] = from_to(sum_ns, e2e_ns);
  return ppi_serving_slow_add(&serving->slow, e2e_ns, &parts);
}

static bool add_tokens(ppi_serving *serving, const ppi_served_request *request,
                       const ppi_slo *slo, bool *is_good) {
  const ppi_served_tokens *tokens = request->tokens;
  uint64_t first_ns = tokens[0].time_ns, num = 0;
  uint64_t last_ns = tokens[request->num_tokens - 1].time_ns;
  for (size_t i = 0; i < request->num_tokens; i++) num += tokens[i].num;
  uint64_t scheduled_ns = PPI_MIN(request->scheduled_ns, first_ns);
  uint64_t received_ns = PPI_MAX(first_ns, request->received_ns);
  uint64_t ttft_ns = from_to(request->arrival_ns, received_ns);
  uint64_t e2e_ns = from_to(request->arrival_ns, request->end_ns);
  uint64_t prefill_ns = from_to(scheduled_ns, first_ns);
  serving->tokens_out += num;
  bool done = add_time(serving, PPI_SERVING_TTFT, ttft_ns);
  if (done && !request->is_undivided)
    done = add_time(serving, PPI_SERVING_PREFILL, prefill_ns);
  done = done && add_time(serving, PPI_SERVING_DECODE, last_ns - first_ns);
  uint64_t tpot_ns = num > 1 ? from_to(ttft_ns, e2e_ns) / (num - 1) : 0;
  if (done && num > 1) done = add_time(serving, PPI_SERVING_TPOT, tpot_ns);
  *is_good =
      *is_good && keeps(slo->ttft_ns, ttft_ns) && keeps(slo->tpot_ns, tpot_ns);
  return done;
}

// An undivided request has 0 for both.
static serving_start start_of(const ppi_served_request *request) {
  if (request->is_undivided) return (serving_start){0, 0, false};
  uint64_t first_ns =
      request->num_tokens ? request->tokens[0].time_ns : UINT64_MAX;
  uint64_t scheduled_ns = PPI_MIN(request->scheduled_ns, first_ns);
  scheduled_ns = PPI_MIN(scheduled_ns, request->end_ns);
  uint64_t queued_ns = request->queued_ns == UINT64_MAX
                           ? request->arrival_ns
                           : PPI_MIN(request->queued_ns, scheduled_ns);
  return (serving_start){from_to(request->arrival_ns, queued_ns),
                         from_to(queued_ns, scheduled_ns),
                         request->queued_ns != UINT64_MAX};
}

static bool add_start(ppi_serving *serving, const serving_start *start,
                      bool is_undivided) {
  bool done = true;
  if (is_undivided) return true;
  if (start->has_before)
    done = add_time(serving, PPI_SERVING_BEFORE_QUEUE, start->before_ns);
  // A queue that begins at its end is not a known queue.
  if (done && (!start->has_before || start->queue_ns))
    done = add_time(serving, PPI_SERVING_QUEUE, start->queue_ns);
  return done;
}

bool ppi_serving_add(ppi_serving *serving, const ppi_served_request *request,
                     const ppi_slo *slo) {
  const serving_start start = start_of(request);
  uint64_t waiting_ns = start.before_ns + start.queue_ns;
  uint64_t e2e_ns = from_to(request->arrival_ns, request->end_ns);
  serving->num_undivided += request->is_undivided;
  serving->waiting_ns += waiting_ns;
  serving->running_ns += e2e_ns - waiting_ns;
  if (request->is_cut) {
    serving->num_cut++;
    return true;
  }
  serving->num_whole++;
  serving->tokens_in += request->tokens_in;
  bool is_good = request->num_tokens && keeps(slo->e2e_ns, e2e_ns);
  bool done = add_time(serving, PPI_SERVING_E2E, e2e_ns) &&
              add_start(serving, &start, request->is_undivided) &&
              add_gaps(serving, request, slo, &is_good);
  if (done && request->num_tokens)
    done = add_tokens(serving, request, slo, &is_good);
  done = done && add_parts(serving, request, &start, e2e_ns);
  serving->num_silent += !request->num_tokens;
  serving->num_good += is_good;
  return done;
}

bool ppi_serving_iterate(ppi_serving *serving, uint64_t time_ns, uint64_t batch,
                         uint64_t prefills) {
  ppi_iterations_add(&serving->iterations, time_ns, batch, prefills);
  return add_time(
      serving, prefills ? PPI_SERVING_ITERATION_MIXED : PPI_SERVING_ITERATION,
      time_ns);
}

uint64_t ppi_serving_slowest(const ppi_serving *serving,
                             ppi_serving_slow *out) {
  uint64_t num = serving->num_whole;
  return ppi_serving_slow_sum(serving->slow, num / 100 + (num % 100 > 0), out);
}

// ---- requests for a join ----

bool ppi_kept_run_take(ppi_kept_run *run, uint64_t flow, uint32_t of_class,
                       const ppi_served_request *served) {
  enum { MOST_REQUESTS = 1 << 17, MOST_TOKENS = 1 << 21 };
  size_t num = served->num_tokens;
  run->is_full |=
      run->num >= MOST_REQUESTS || run->num_tokens + num > MOST_TOKENS;
  if (run->is_full) return true;
  if (!PPI_ROOM(run->requests, run->capacity, run->num + 1) ||
      !PPI_ROOM(run->tokens, run->tokens_capacity, run->num_tokens + num + 1))
    return false;
  run->requests[run->num++] =
      (ppi_kept_request){flow, *served, run->num_tokens, of_class, 0};
  if (num)
    memcpy(run->tokens + run->num_tokens, served->tokens,
           num * sizeof *run->tokens);
  run->num_tokens += num;
  return true;
}

void ppi_kept_run_release(ppi_kept_run *run) {
  if (!run || __atomic_fetch_sub(&run->num_owners, 1, __ATOMIC_ACQ_REL) > 1)
    return;
  for (size_t i = 0; i < run->num_classes; i++) {
    ppi_free(run->classes[i].name);
    ppi_free(run->classes[i].category_name);
  }
  PPI_FREE_ALL(run->classes, run->requests, run->tokens, run->uuid, run->host,
               run->pid, run);
}

void ppi_kept_run_carry(ppi_carry *carry, ppi_kept_run **of) {
  if (carry->reads) *of = ppi_alloc(sizeof **of);
  carry->failed |= !*of;
  if (!*of) return;
  ppi_kept_run *run = *of;
  if (carry->reads) run->num_owners = 1;
  ppi_carry_text(carry, &run->uuid);
  ppi_carry_text(carry, &run->host);
  ppi_carry_text(carry, &run->pid);
  ppi_carry_room(carry, &run->requests, &run->num, sizeof *run->requests);
  for (size_t i = 0; i < run->num; i++) {
    ppi_kept_request *request = &run->requests[i];
    PPI_CARRY_FROM(carry, request, flow, flow);
    PPI_CARRY_FROM(carry, &request->served, arrival_ns, is_cut);
    PPI_CARRY_FROM(carry, request, served.num_tokens, num_marks);
  }
  ppi_carry_items(carry, &run->tokens, &run->num_tokens, sizeof *run->tokens);
  ppi_carry_room(carry, &run->classes, &run->num_classes, sizeof *run->classes);
  for (size_t i = 0; i < run->num_classes; i++) {
    ppi_carry_text(carry, &run->classes[i].name);
    ppi_carry_text(carry, &run->classes[i].category_name);
    PPI_CARRY_FROM(carry, &run->classes[i], site, site);
  }
  PPI_CARRY_FROM(carry, run, num_unmatched, is_full);
}

void ppi_serving_clear(ppi_serving *serving) {
  for (int i = 0; i < PPI_NUM_SERVING_TIMES; i++)
    ppi_histogram_clear(&serving->times[i]);
  ppi_free(serving->slow);
  *serving = (ppi_serving){0};
}

// ---- iterations and slow requests ----

#define LENGTHS 256

static const char *const part_names[] = {
#define NAME(value, name) name,
    PPI_SERVING_PARTS(NAME)
#undef NAME
};

const char *ppi_serving_part_name(ppi_serving_part part) {
  return part_names[part];
}

bool ppi_serving_part_is_known(const ppi_serving_slow *slow,
                               ppi_serving_part part) {
  if (slow->parts_ns[part]) return true;
  switch (part) {
    case PPI_SERVING_QUEUED:
    case PPI_SERVING_PREFILLED:
      return !slow->parts_ns[PPI_SERVING_TO_FIRST];
    case PPI_SERVING_DECODED:
    case PPI_SERVING_MIXED:
      return !slow->parts_ns[PPI_SERVING_TO_LAST];
    default:
      return part == PPI_SERVING_REST;
  }
}

// ---- ranges that serve ----

void ppi_iterations_add(ppi_iterations *sums, uint64_t time_ns, uint64_t batch,
                        uint64_t prefills) {
  unsigned __int128 time = time_ns;
  sums->n++;
  sums->most = PPI_MAX(sums->most, batch);
  sums->batch += batch;
  sums->prefills += prefills;
  sums->time_ns += time;
  if (prefills) return;
  sums->alone++;
  sums->alone_batch += batch;
  sums->alone_ns += time;
  sums->alone_batch_2 += (unsigned __int128)batch * batch;
  sums->alone_batch_ns += time * batch;
}

bool ppi_iterations_fit(const ppi_iterations *sums, ppi_iteration_fit *out) {
  const unsigned __int128 n = sums->alone, b = sums->alone_batch;
  // Exact values of n squared times the variance and the covariance.
  double bb = (double)(__int128)(n * sums->alone_batch_2 - b * b);
  double bt = (double)(__int128)(n * sums->alone_batch_ns - b * sums->alone_ns);
  if (sums->alone < 3 || bb <= 0) return false;
  // A negative slope is chance: more requests never take less time.
  *out = (ppi_iteration_fit){.request_ns = bt > 0 ? bt / bb : 0};
  out->base_ns =
      ((double)sums->alone_ns - out->request_ns * (double)b) / (double)n;
  if (!sums->prefills) return true;
  double num = (double)(sums->n - sums->alone);
  double usual_ns = out->base_ns * num +
                    out->request_ns * (double)(sums->batch - sums->alone_batch);
  out->prefill_ns = ((double)(sums->time_ns - sums->alone_ns) - usual_ns) /
                    (double)sums->prefills;
  return true;
}

// ---- slow requests ----

// The index of a length: each power of two has four.
static size_t length_of(uint64_t time_ns) {
  if (time_ns < 4) return (size_t)time_ns;
  unsigned top = 63u - (unsigned)__builtin_clzll(time_ns);
  return top * 4u + (size_t)(time_ns >> (top - 2) & 3u);
}

static uint64_t least_of(size_t length) {
  return length < 4 ? length : (4 + (uint64_t)(length & 3)) << (length / 4 - 2);
}

static void add_slow_parts(ppi_serving_slow *into,
                           const ppi_serving_slow *from) {
  into->n += from->n;
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++)
    into->parts_ns[i] += from->parts_ns[i];
}

static ppi_serving_slow *table_of(ppi_serving_slow **slow) {
  if (!*slow) *slow = ppi_alloc(LENGTHS * sizeof **slow);
  return *slow;
}

bool ppi_serving_slow_add(ppi_serving_slow **slow, uint64_t e2e_ns,
                          const ppi_serving_slow *parts) {
  ppi_serving_slow *table = table_of(slow);
  if (table) add_slow_parts(&table[length_of(e2e_ns)], parts);
  return table;
}

bool ppi_serving_slow_merge(ppi_serving_slow **into,
                            const ppi_serving_slow *from) {
  ppi_serving_slow *table = from ? table_of(into) : NULL;
  for (size_t i = 0; table && i < LENGTHS; i++)
    add_slow_parts(&table[i], &from[i]);
  return table || !from;
}

void ppi_serving_slow_carry(ppi_carry *carry, ppi_serving_slow **slow) {
  ppi_carry_maybe(carry, slow, LENGTHS * sizeof **slow);
}

uint64_t ppi_serving_slow_sum(const ppi_serving_slow *slow, uint64_t num,
                              ppi_serving_slow *out) {
  *out = (ppi_serving_slow){0};
  for (size_t i = LENGTHS; slow && i-- > 0;) {
    add_slow_parts(out, &slow[i]);
    if (out->n && out->n >= num) return least_of(i);
  }
  return 0;
}
