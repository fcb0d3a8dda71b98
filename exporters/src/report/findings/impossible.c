// SPDX-License-Identifier: Apache-2.0
//
// Finds figures that cannot be true.
#include "report/findings/impossible.h"

#include <stdio.h>

static bool find_long_run(const ppi_figures *figures, char *text, size_t size) {
  const double year_ns = 365.2425 * 86400e9;
  for (size_t i = 0; i < figures->num_inputs; i++) {
    double years = (double)figures->inputs[i].wall_ns / year_ns;
    if (years < 10) continue;
    snprintf(text, size,
             "This run would last %.1f years: its times are not of one clock, "
             "and no figure of it holds.",
             years);
    return true;
  }
  return false;
}

static bool find_busy_device(const ppi_figures *figures, char *text,
                             size_t size) {
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device *device = &figures->devices[i];
    if (device->used_ns <= device->base_ns) continue;
    snprintf(text, size,
             "%.64s would be busy %.0f %% of its time: the times of its work "
             "are wrong.",
             device->name,
             100 * (double)device->used_ns / (double)device->base_ns);
    return true;
  }
  return false;
}

static bool find_overlaps(const ppi_figures *figures, char *text, size_t size) {
  for (size_t i = 0; i < figures->num_notes; i++) {
    if (strcmp(figures->notes[i].key, PPI_NOTE_OVERLAPS) != 0) continue;
    snprintf(text, size, "Times of device work are wrong: %.240s.",
             figures->notes[i].text);
    return true;
  }
  return false;
}

static bool find_unusable(const ppi_figures *figures, char *text, size_t size) {
  const uint64_t *totals = figures->totals;
  uint64_t unusable = totals[PPI_TOTAL_LOST] + totals[PPI_TOTAL_INVALID];
  uint64_t all = totals[PPI_TOTAL_LOST] + totals[PPI_TOTAL_RECORDED];
  if (2 * unusable <= all) return false;
  snprintf(text, size,
           "%llu of %llu events had nothing usable; the notes say why.",
           (unsigned long long)unusable, (unsigned long long)all);
  return true;
}

ppi_impossible ppi_impossible_of(const ppi_figures *figures) {
  ppi_impossible found = {0};
  found.hides_findings =
      find_long_run(figures, found.text, sizeof found.text) ||
      find_busy_device(figures, found.text, sizeof found.text) ||
      find_overlaps(figures, found.text, sizeof found.text);
  found.is_any = found.hides_findings ||
                 find_unusable(figures, found.text, sizeof found.text);
  return found;
}
