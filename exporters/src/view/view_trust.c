// SPDX-License-Identifier: Apache-2.0
//
// Writes the lines under every report: accounting identities of devices,
// losses, the cost of recording, the error of clocks.
#include "view/view_trust.h"

#include <string.h>

#include "file/json_put.h"

static const char *const idle_names[PPI_NUM_IDLE] = {
    "not submitted", "queued", "no more work", "unresolved"};
static const char *const idle_keys[PPI_NUM_IDLE] = {
    "not_submitted_ns", "queued_ns", "no_more_work_ns", "unresolved_ns"};

// Known only if the report collected where work was launched.
static void put_work(ppi_page *page, const ppi_report_device *device) {
  if (!device->work) return;
  ppi_page_format(
      page, "; kernels and copies %llu = in ranges %llu + in none %llu",
      (unsigned long long)device->work, (unsigned long long)device->num_inside,
      (unsigned long long)device->num_outside);
}

void ppi_identity_put(ppi_page *page, const ppi_figures *figures,
                      ppi_time_unit unit) {
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device *device = &figures->devices[i];
    ppi_page_text(page, "Identity: ");
    ppi_page_visible(page, device->name);
    ppi_page_text(page, ": wall ");
    ppi_page_time(page, (double)device->wall_ns, unit);
    ppi_page_text(page, " = busy ");
    ppi_page_time(page, (double)device->busy_ns, unit);
    for (int k = 0; k < PPI_NUM_IDLE; k++) {
      ppi_page_format(page, " + %s ", idle_names[k]);
      ppi_page_time(page, (double)device->idle_ns[k], unit);
    }
    ppi_page_format(page, " %s", ppi_time_unit_name(unit));
    put_work(page, device);
    ppi_page_format(page, "; %llu steps checked, %llu failed: %s%s\n",
                    (unsigned long long)device->steps_checked,
                    (unsigned long long)device->steps_failed,
                    device->failed ? "FAILED" : "ok",
                    device->incomplete ? ", incomplete" : "");
  }
}

static void put_device_json(ppi_page *page, const ppi_report_device *device) {
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "device", device->name);
  ppi_put_u64(page, "wall_ns", device->wall_ns);
  ppi_put_u64(page, "busy_ns", device->busy_ns);
  for (int k = 0; k < PPI_NUM_IDLE; k++)
    ppi_put_u64(page, idle_keys[k], device->idle_ns[k]);
  if (device->work) {
    ppi_put_u64(page, "work", device->work);
    ppi_put_u64(page, "work_in_ranges", device->num_inside);
    ppi_put_u64(page, "work_in_none", device->num_outside);
  }
  ppi_put_u64(page, "steps_checked", device->steps_checked);
  ppi_put_u64(page, "steps_failed", device->steps_failed);
  ppi_put_bool(page, "ok", !device->failed);
  ppi_put_bool(page, "incomplete", device->incomplete);
  ppi_page_text(page, "}");
}

void ppi_identity_put_json(ppi_page *page, const ppi_figures *figures) {
  bool ok = true, incomplete = false;
  ppi_put_line(page);
  ppi_put_object(page, "identity");
  ppi_put_array(page, "devices");
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device *device = &figures->devices[i];
    put_device_json(page, device);
    ok &= !device->failed;
    incomplete |= device->incomplete;
  }
  ppi_page_text(page, "]");
  ppi_put_bool(page, "ok", ok);
  ppi_put_bool(page, "incomplete", incomplete);
  ppi_page_text(page, "}");
}

static void put_counts(ppi_page *page, const ppi_figures *figures) {
  static const ppi_total_key counts[] = {
      PPI_TOTAL_RECORDED,         PPI_TOTAL_LOST,
      PPI_TOTAL_EXCLUDED,         PPI_TOTAL_UNMATCHED,
      PPI_TOTAL_ABANDONED,        PPI_TOTAL_LATE,
      PPI_TOTAL_INVALID,          PPI_TOTAL_CLIPPED,
      PPI_TOTAL_BEGUN_BEFORE,     PPI_TOTAL_DEVICE_LOST,
      PPI_TOTAL_FLOWS_LOST,       PPI_TOTAL_NO_DEVICE_TIME,
      PPI_TOTAL_NAMES_OVERFLOWED, PPI_TOTAL_CLAMPED};
  static const char *const words[] = {
      "recorded",         "lost",
      "excluded",         "unmatched",
      "abandoned",        "late",
      "invalid",          "clipped",
      "begun before",     "lost on devices",
      "flows lost",       "without device time",
      "names overflowed", "device times clamped"};
  enum { ALWAYS = 7 };  // the others are named when they are not zero
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    uint64_t value = figures->totals[counts[i]];
    if (i >= ALWAYS && value == 0) continue;
    ppi_page_format(page, "%s%s %llu", i ? ", " : "", words[i],
                    (unsigned long long)value);
  }
  if (figures->num_disbelieved)
    ppi_page_format(page, ", disbelieved %llu",
                    (unsigned long long)figures->num_disbelieved);
}

static void put_crash_safe(ppi_page *page, const ppi_figures *figures) {
  const char *before = ": ";
  if (figures->totals[PPI_TOTAL_CRASH_SAFE]) {
    ppi_page_text(page, "crash-safe");
  } else {
    ppi_page_text(page, "not crash-safe");
    for (size_t i = 0; i < figures->num_notes; i++) {
      if (strcmp(figures->notes[i].key, "not_crash_safe") != 0) continue;
      ppi_page_text(page, before);
      ppi_page_visible(page, figures->notes[i].text);
      before = "; ";
    }
  }
  if (figures->totals[PPI_TOTAL_INCOMPLETE])
    ppi_page_text(page, "; the run ended without a stop");
}

// An imported trace lacks the cost of its recording.
static void put_own_cost(ppi_page *page, const ppi_figures *figures,
                         ppi_time_unit unit) {
  uint64_t marker_cost = figures->totals[PPI_TOTAL_OWN_COST];
  uint64_t cost_ns = figures->totals[PPI_TOTAL_OWN_COST_TOTAL_NS];
  double percent =
      figures->wall_ns ? (double)cost_ns / (double)figures->wall_ns * 100 : 0;
  if (marker_cost == 0 && cost_ns == 0) {
    ppi_page_text(page, "own cost unknown");
    return;
  }
  ppi_page_text(page, "own cost ");
  ppi_page_fixed(page, (double)marker_cost / 1000, 1);
  ppi_page_text(page, " ns per marker, ");
  ppi_page_time(page, (double)cost_ns, unit);
  ppi_page_format(page, " %s in total (", ppi_time_unit_name(unit));
  ppi_page_fixed(page, percent, 2);
  ppi_page_text(page, " %)");
}

// The short form leaves out missing sources of the machine: most machines lack
// some.
static void put_notes(ppi_page *page, const ppi_figures *figures,
                      const char *head, bool is_short) {
  for (size_t i = 0; i < figures->num_notes; i++) {
    const char *key = figures->notes[i].key;
    if (strcmp(key, "not_crash_safe") == 0 ||
        (is_short && strcmp(key, "machine absent") == 0))
      continue;
    ppi_page_text(page, head);
    ppi_page_visible(page, key);
    ppi_page_text(page, ": ");
    ppi_page_visible(page, figures->notes[i].text);
    ppi_page_text(page, "\n");
  }
}

void ppi_trust_put(ppi_page *page, const ppi_figures *figures,
                   ppi_time_unit unit) {
  const uint64_t *totals = figures->totals;
  ppi_page_text(page, "Trust: ");
  put_counts(page, figures);
  ppi_page_format(page, "; clock error ±%llu ns; ",
                  (unsigned long long)totals[PPI_TOTAL_CLOCK_ERROR_NS]);
  put_own_cost(page, figures, unit);
  ppi_page_text(page, "; ");
  put_crash_safe(page, figures);
  ppi_page_text(page, "\n");
  put_notes(page, figures, "Trust: ", false);
}

typedef struct flaw {
  ppi_total_key key;
  const char *words;
} flaw;

// Reasons why figures are incomplete, written after a count.
static const flaw flaws[] = {
    {PPI_TOTAL_LOST, "lost"},
    {PPI_TOTAL_DEVICE_LOST, "lost on devices"},
    {PPI_TOTAL_LATE, "came too late"},
    {PPI_TOTAL_INVALID, "made no sense"},
    {PPI_TOTAL_FLOWS_LOST, "requests' numbers lost"},
    {PPI_TOTAL_NAMES_OVERFLOWED, "under <other>: too many names"},
    {PPI_TOTAL_NO_DEVICE_TIME, "without a device time"},
    {PPI_TOTAL_UNMATCHED, "ends without a begin"},
};

static void put_flaws(ppi_page *page, const ppi_figures *figures) {
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++)
    if (figures->totals[flaws[i].key])
      ppi_page_format(page, ", %llu %s",
                      (unsigned long long)figures->totals[flaws[i].key],
                      flaws[i].words);
  if (figures->num_disbelieved)
    ppi_page_format(page, ", %llu not believed",
                    (unsigned long long)figures->num_disbelieved);
}

static bool is_complete(const ppi_figures *figures) {
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++)
    if (figures->totals[flaws[i].key]) return false;
  return !figures->totals[PPI_TOTAL_INCOMPLETE] && !figures->num_disbelieved;
}

static void put_overhead(ppi_page *page, const ppi_figures *figures) {
  uint64_t cost_ns = figures->totals[PPI_TOTAL_OWN_COST_TOTAL_NS];
  if (!cost_ns || !figures->wall_ns) return;
  double percent = (double)cost_ns / (double)figures->wall_ns * 100;
  ppi_page_text(page, " \u00b7 profiler overhead ");
  ppi_page_fixed(page, percent, 2);
  ppi_page_text(page, " %");
}

static void put_failed_identities(ppi_page *page, const ppi_figures *figures,
                                  ppi_time_unit unit) {
  bool failed = false;
  for (size_t i = 0; i < figures->num_devices; i++)
    failed |= figures->devices[i].failed;
  if (failed) ppi_identity_put(page, figures, unit);
}

void ppi_trust_put_line(ppi_page *page, const ppi_figures *figures,
                        ppi_time_unit unit) {
  const uint64_t *totals = figures->totals;
  ppi_page_format(page, "%s: %llu records%s",
                  is_complete(figures) ? "Complete" : "Incomplete",
                  (unsigned long long)totals[PPI_TOTAL_RECORDED],
                  totals[PPI_TOTAL_LOST] ? "" : ", none lost");
  put_flaws(page, figures);
  if (totals[PPI_TOTAL_EXCLUDED])
    ppi_page_format(page, ", %llu excluded",
                    (unsigned long long)totals[PPI_TOTAL_EXCLUDED]);
  if (totals[PPI_TOTAL_INCOMPLETE])
    ppi_page_text(page, "; the run ended without a stop");
  if (totals[PPI_TOTAL_CLOCK_ERROR_NS]) {
    ppi_page_text(page, " \u00b7 clock error up to ");
    ppi_page_fitting_time(page, (double)totals[PPI_TOTAL_CLOCK_ERROR_NS]);
  }
  put_overhead(page, figures);
  ppi_page_text(page, is_complete(figures) ? "\n" : " \u00b7 docs/tables.md\n");
  put_failed_identities(page, figures, unit);
  put_notes(page, figures, "Note: ", true);
}

void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures) {
  const char *reason = NULL;
  ppi_put_line(page);
  ppi_put_object(page, "trust");
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    const char *name = ppi_total_name((ppi_total_key)key);
    if (key == PPI_TOTAL_CRASH_SAFE || key == PPI_TOTAL_INCOMPLETE)
      ppi_put_bool(page, name, figures->totals[key] != 0);
    else
      ppi_put_u64(page, name, figures->totals[key]);
  }
  for (size_t i = 0; i < figures->num_notes && !reason; i++)
    if (strcmp(figures->notes[i].key, "not_crash_safe") == 0)
      reason = figures->notes[i].text;
  ppi_put_u64(page, "disbelieved", figures->num_disbelieved);
  ppi_put_text(page, "not_crash_safe", reason);
  ppi_put_array(page, "notes");
  for (size_t i = 0; i < figures->num_notes; i++) {
    ppi_put_object(page, NULL);
    ppi_put_text(page, "key", figures->notes[i].key);
    ppi_put_text(page, "text", figures->notes[i].text);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}
