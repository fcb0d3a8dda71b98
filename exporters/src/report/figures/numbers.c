// SPDX-License-Identifier: Apache-2.0
//
// Adds up the numbers in names and the values of counters.
#include "report/figures/numbers.h"

#include <string.h>

#include "base/base.h"
#include "event/fold.h"

static void merge(ppi_number_sums *into, const ppi_number_sums *from) {
  if (from->n == 0) return;
  into->min = into->n ? PPI_MIN(into->min, from->min) : from->min;
  into->max = PPI_MAX(into->max, from->max);
  into->n += from->n;
  into->sum = ppi_bytes_sum(into->sum, from->sum);
}

void ppi_numbers_add(ppi_numbers *numbers, const pprof_numbers *name,
                     uint64_t times) {
  uint32_t num = PPI_MIN(name->num, PPROF_MOST_NUMBERS);
  numbers->num_too_much += name->full_name == PPROF_NAME_TOO_MUCH;
  for (uint32_t i = 0; i < num; i++) {
    uint64_t value = name->values[i];
    if (value == UINT64_MAX || times == 0) continue;
    ppi_number_sums sums = {times, value, value, 0};
    if (__builtin_mul_overflow(value, times, &sums.sum)) sums.sum = UINT64_MAX;
    merge(&numbers->at[i], &sums);
  }
}

void ppi_numbers_merge(ppi_numbers *into, const ppi_numbers *from) {
  into->num_too_much += from->num_too_much;
  for (size_t i = 0; i < PPROF_MOST_NUMBERS; i++)
    merge(&into->at[i], &from->at[i]);
}

static bool fold_into(const char *name, const char *shape, ppi_fold *out) {
  for (int width = 0; width < PPI_NUM_WIDTHS; width++)
    if (ppi_fold_name(name, strlen(name), (ppi_fold_width)width, out) &&
        strcmp(out->text, shape) == 0)
      return true;
  return false;
}

// Moves recorded numbers to their places in the wider shape: the places without
// digits in the name, in order. With a list among the numbers the places are
// unknown, so that none moves.
static void move_reported(ppi_numbers *numbers, const pprof_numbers *holes) {
  ppi_numbers reported = *numbers;
  size_t num = 0, next = 0;
  memset(numbers->at, 0, sizeof numbers->at);
  for (uint32_t i = 0; i < holes->num; i++)
    num += holes->values[i] == UINT64_MAX;
  bool has_more = num < PPROF_MOST_NUMBERS && reported.at[num].n &&
                  holes->num < PPROF_MOST_NUMBERS;
  for (uint32_t i = 0; i < holes->num && !has_more; i++)
    if (holes->values[i] == UINT64_MAX) numbers->at[i] = reported.at[next++];
}

void ppi_numbers_of_fold(ppi_numbers *numbers, const char *name,
                         const char *shape, uint64_t times) {
  ppi_fold fold;
  if (!fold_into(name, shape, &fold)) {
    memset(numbers->at, 0, sizeof numbers->at);
    return;
  }
  fold.numbers.full_name = PPROF_NAME_FOLDED;
  move_reported(numbers, &fold.numbers);
  ppi_numbers_add(numbers, &fold.numbers, times);
}

static void hold(ppi_gauge *gauge, uint64_t time_ns) {
  uint64_t buffered_ns = time_ns - gauge->last_ns;
  gauge->area += gauge->last * (double)buffered_ns;
  gauge->span_ns += buffered_ns;
  if (gauge->last < gauge->max) return;
  gauge->max_ns += buffered_ns;
  if (time_ns - gauge->since_ns <= gauge->longest_ns) return;
  gauge->longest_ns = time_ns - gauge->since_ns;
  gauge->longest_from = gauge->since_ns;
}

void ppi_gauge_add(ppi_gauge *gauge, double value, uint64_t time_ns,
                   uint32_t window) {
  bool goes_on = gauge->n && gauge->window == window;
  if (!(value - value == 0)) return;  // NaN or infinite
  if (goes_on && time_ns > gauge->last_ns) hold(gauge, time_ns);
  if (gauge->n == 0 || value > gauge->max) {
    gauge->max = value;
    gauge->max_ns = gauge->longest_ns = gauge->longest_from = 0;
    goes_on = false;
  }
  gauge->min = gauge->n ? PPI_MIN(gauge->min, value) : value;
  if (!goes_on || gauge->last != value) gauge->since_ns = time_ns;
  gauge->n++;
  gauge->sum += value;
  gauge->last = value;
  gauge->last_ns = time_ns;
  gauge->window = window;
}

void ppi_gauge_merge(ppi_gauge *into, const ppi_gauge *from) {
  if (from->n == 0) return;
  if (into->n == 0 || from->max > into->max) {
    into->max = from->max;
    into->max_ns = into->longest_ns = 0;
  }
  if (from->max == into->max) {
    into->max_ns += from->max_ns;
    if (from->longest_ns > into->longest_ns) {
      into->longest_ns = from->longest_ns;
      into->longest_from = from->longest_from;
    }
  }
  into->min = into->n ? PPI_MIN(into->min, from->min) : from->min;
  into->n += from->n;
  into->sum += from->sum;
  into->area += from->area;
  into->span_ns += from->span_ns;
}
