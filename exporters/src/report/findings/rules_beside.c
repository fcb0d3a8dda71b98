// SPDX-License-Identifier: Apache-2.0
//
// Finds stages that slow each other down on one device.

#include "report/findings/rules.h"

#include <math.h>

#include "report/findings/parts.h"

// The square of the interval of the mean of `row`'s calls, as a part of the
// mean.
static double variation(const ppi_report_interference *row) {
  double n = (double)row->num_measured;
  double mean = (double)row->measured_ns / n;
  double square = (double)row->measured_squares / n - mean * mean;
  return square > 0 ? square / (n - 1) / (mean * mean) : 0;
}

static void report_pair(ppi_search *search,
                        const ppi_report_interference *alone,
                        const ppi_report_interference *pair) {
  enum { LEAST = 30 };
  const double sigmas = 1.96;  // of 95 % of all
  if (alone->num_measured < LEAST || pair->num_measured < LEAST ||
      !alone->measured_ns || !pair->measured_ns)
    return;
  double alone_ns = (double)alone->measured_ns / (double)alone->num_measured;
  double beside_ns = (double)pair->measured_ns / (double)pair->num_measured;
  double slowdown = beside_ns / alone_ns;
  double factor = exp(sigmas * sqrt(variation(alone) + variation(pair)));
  if (slowdown / factor < search->threshold) return;
  double lost_ns = (double)pair->shared_ns * (1 - 1 / slowdown);
  ppi_finding *finding =
      ppi_search_add(search, PPI_PROBLEM, ppi_part_of_all(search, lost_ns));
  PPI_SAY(finding->text,
          "%s takes %s on %s while %s runs beside it, and %s alone: %s times "
          "as long.",
          ppi_words_name(pair->name).text, ppi_words_time(beside_ns).text,
          ppi_words_name(pair->device).text, ppi_words_name(pair->other).text,
          ppi_words_time(alone_ns).text, ppi_words_number(slowdown).text);
  PPI_SAY(finding->sure,
          "%.8s to %.8s times, from %llu calls beside it and "
          "%llu alone",
          ppi_words_number(slowdown / factor).text,
          ppi_words_number(slowdown * factor).text,
          (unsigned long long)pair->num_measured,
          (unsigned long long)alone->num_measured);
  PPI_SAY(finding->next,
          "run the two one after the other, or on two devices, and compare "
          "the rate.");
  ppi_finding_value_add(finding, "slowdown", slowdown, "");
  ppi_finding_value_add(finding, "beside_avg", beside_ns, "ns");
  ppi_finding_value_add(finding, "alone_avg", alone_ns, "ns");
  ppi_finding_value_add(finding, "shared", (double)pair->shared_ns, "ns");
}

// The row of all calls of a stage comes before its rows beside other stages.
void ppi_rule_interference(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  const ppi_report_interference *alone = NULL;
  for (size_t i = 0; i < figures->num_interference; i++) {
    const ppi_report_interference *row = &figures->interference[i];
    if (!row->other[0])
      alone = row;
    else if (alone)
      report_pair(search, alone, row);
  }
}
