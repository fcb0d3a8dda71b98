// SPDX-License-Identifier: Apache-2.0
//
// Writes what ran, in one line, and the lines under every report: identities of
// devices, losses, the cost of recording, the error of clocks.
#include "view/answer_line.h"

#include <time.h>

#include "base/descriptor.h"
#include "file/json_put.h"
#include "file/program.h"
#include "view/fit.h"
#include "view/view.h"

const char *ppi_answer_unit(ppi_base_kind base) {
  static const char *const names[PPI_NUM_BASES] = {
      [PPI_BASE_WALL] = "run",
      [PPI_BASE_ITERATION] = "iteration",
      [PPI_BASE_STEP] = "step",
      [PPI_BASE_REQUEST] = "request"};
  return names[base];
}

static double mean_of(const ppi_answer *answer) {
  return answer->num_units
             ? (double)answer->total_ns / (double)answer->num_units
             : 0;
}

// Writes a time in the unit of the times around it. If only its own unit gives
// three digits, it has that unit, with the unit's name.
static void put_beside(ppi_page *page, double ns, ppi_time_unit unit) {
  ppi_time_unit own = ppi_time_unit_of(ns);
  double most_ns = 1000 * ppi_time_unit_ns(unit);
  bool is_far = ns >= most_ns || (ns > 0 && ns < most_ns / 200000);
  if (own != unit && is_far)
    ppi_page_fitting_time(page, ns);
  else
    ppi_page_three_time(page, ns, unit);
}

// A percentile that equals the maximum, for want of units, adds nothing.
static void put_quantile(ppi_page *page, const ppi_answer *answer,
                         unsigned percent, ppi_time_unit unit) {
  ppi_cell cell = ppi_cell_quantile(&answer->times, percent);
  if (cell.at_max) return;
  ppi_page_format(page, "p%u ", percent);
  put_beside(page, (double)cell.value, unit);
  ppi_page_text(page, ", ");
}

static void put_outside(ppi_page *page, const ppi_answer *answer, uint64_t ns,
                        const char *where, const char *unit) {
  if (ns <= answer->span_ns / 100) return;
  ppi_page_text(page, " \u00b7 ");
  ppi_page_fitting_time(page, (double)ns);
  ppi_page_text(page, where);
  ppi_page_text(page, unit);
}

// "start-up 5.40 s, not counted: 2.10 s imports".
static void put_start(ppi_page *page, const ppi_figures *figures) {
  const ppi_answer *answer = &figures->answers[PPI_BASE_ITERATION];
  const ppi_figures_loop *loop = &figures->loop;
  if (answer->before_ns <= answer->span_ns / 100) return;
  ppi_page_text(page, " \u00b7 start-up ");
  ppi_page_fitting_time(page, (double)answer->before_ns);
  ppi_page_text(page, ", not counted");
  if (10 * loop->start_stage_ns < answer->before_ns || !loop->start_stage_ns)
    return;
  ppi_page_text(page, ": ");
  ppi_page_fitting_time(page, (double)loop->start_stage_ns);
  ppi_page_text(page, " ");
  ppi_page_visible(page, loop->start_stage);
}

// " of data, forward, backward found on thread main".
static void put_loop(ppi_page *page, const ppi_figures_loop *loop) {
  if (*loop->stages) {
    ppi_page_text(page, " of ");
    ppi_page_visible(page, loop->stages);
  }
  if (*loop->thread) {
    ppi_page_text(page, " found on ");
    ppi_page_visible(page, loop->thread);
  }
}

static void put_left_out(ppi_page *page, const ppi_figures *figures,
                         ppi_base_kind base, const char *unit) {
  const ppi_answer *answer = &figures->answers[base];
  if (answer->num_cold) {
    ppi_page_text(page, " \u00b7 first ");
    if (answer->num_cold > 1)
      ppi_page_format(page, "%llu %ss ", (unsigned long long)answer->num_cold,
                      unit);
    else
      ppi_page_format(page, "%s ", unit);
    ppi_page_fitting_time(page,
                          (double)answer->cold_ns / (double)answer->num_cold);
    ppi_page_text(
        page, answer->num_cold > 1 ? " each, not counted" : ", not counted");
  }
  if (base == PPI_BASE_ITERATION)
    put_start(page, figures);
  else
    put_outside(page, answer, answer->before_ns, " before the first ", unit);
  put_outside(page, answer, answer->after_ns, " after the last ", unit);
  if (answer->num_cut)
    ppi_page_format(page, " \u00b7 %llu %s%s cut off",
                    (unsigned long long)answer->num_cut, unit,
                    answer->num_cut > 1 ? "s" : "");
}

// "2 ranks · begun within 1.10 s · ".
static void put_ranks(ppi_page *page, const ppi_ranks *ranks) {
  uint64_t first_ns = UINT64_MAX, last_ns = 0, span_ns = 0;
  if (ranks->num < 2) return;
  for (size_t i = 0; i < ranks->num; i++) {
    uint64_t began_ns = ranks->items[i].input->began_ns;
    span_ns = PPI_MAX(span_ns, ranks->items[i].answer->span_ns);
    first_ns = PPI_MIN(first_ns, began_ns);
    last_ns = PPI_MAX(last_ns, began_ns);
  }
  ppi_page_format(page, "%llu %s \u00b7 ", (unsigned long long)ranks->num,
                  ranks->are_reported ? "ranks"
                  : ranks->are_apart  ? "unrelated runs"
                                      : "logs");
  // Unknown if one has no start time.
  if (!first_ns || last_ns - first_ns <= span_ns / 100) return;
  ppi_page_text(page, "begun within ");
  ppi_page_fitting_time(page, (double)(last_ns - first_ns));
  ppi_page_text(
      page, ranks->of_hosts ? " by their hosts' clocks \u00b7 " : " \u00b7 ");
}

// "2026-11-22 10:00 · ", in the reader's time zone: the start of the first of
// the runs that the line describes. Then the time since the end of the last.
// Without ranks, as for joined requests, it describes all runs.
static void put_date(ppi_page *page, const ppi_figures *figures,
                     const ppi_ranks *ranks, uint64_t now_ns) {
  const uint64_t second = 1000000000, hour = 3600 * second, day = 24 * hour;
  uint64_t began_ns = UINT64_MAX, ended_ns = 0;
  char text[32];
  struct tm parts;
  size_t num = ranks->num ? ranks->num : figures->num_inputs;
  for (size_t i = 0; i < num; i++) {
    const ppi_report_input *input =
        ranks->num ? ranks->items[i].input : &figures->inputs[i];
    if (!input->began_ns) continue;
    began_ns = PPI_MIN(began_ns, input->began_ns);
    ended_ns = PPI_MAX(ended_ns, input->began_ns + input->wall_ns);
  }
  const time_t began_s = (time_t)(began_ns / second);
  unsigned standing = ppi_fd_stand_in();  // it may read the zone's file
  const struct tm *is_known = localtime_r(&began_s, &parts);
  ppi_fd_stand_down(standing);
  if (!ended_ns || !is_known ||
      !strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts))
    return;
  ppi_page_text(page, text);
  uint64_t age_ns = now_ns > ended_ns ? now_ns - ended_ns : 0;
  if (age_ns >= 2 * day)
    ppi_page_format(page, " (%llu days ago)",
                    (unsigned long long)(age_ns / day));
  else if (age_ns >= hour)
    ppi_page_format(page, " (%llu h ago)", (unsigned long long)(age_ns / hour));
  ppi_page_text(page, " \u00b7 ");
}

// "48", or "46 to 50" where ranks differ.
static void put_num(ppi_page *page, const ppi_answer *answer,
                    const ppi_ranks *ranks) {
  uint64_t least = answer->num_all, most = ranks->num ? 0 : least;
  for (size_t i = 0; i < ranks->num; i++) {
    least = PPI_MIN(least, ranks->items[i].answer->num_all);
    most = PPI_MAX(most, ranks->items[i].answer->num_all);
  }
  if (least != most)
    ppi_page_format(page, "%llu to ", (unsigned long long)least);
  ppi_page_format(page, "%llu", (unsigned long long)most);
}

// Joined requests of several hosts lie on one axis by each host's own clock.
static void put_hosts(ppi_page *page, const ppi_figures *figures) {
  if (figures->host_clocks == PPI_CLOCKS_ONE) return;
  ppi_page_text(page, " \u00b7 over hosts, ");
  if (figures->host_clocks == PPI_CLOCKS_BOUND) {
    ppi_page_text(page, "each way \u00b1");
    ppi_page_fitting_time(page, (double)figures->clock_bound_ns);
    ppi_page_text(page, " by their clocks");
  } else {
    ppi_page_text(page,
                  figures->host_clocks == PPI_CLOCKS_CONTRADICT
                      ? "but no difference of their clocks fits all requests"
                      : "as far as their clocks agree");
  }
}

// "48 requests in 1.52 s = 31.6/s, 124 ms each (p50 125, max 184), 3.9 in
// flight". For ranks, the figures of an average one.
static void put_units(ppi_page *page, const ppi_figures *figures,
                      ppi_base_kind base, const ppi_ranks *ranks) {
  const ppi_answer *answer = &figures->answers[base];
  double mean_ns = mean_of(answer), span_ns = (double)answer->span_ns;
  ppi_time_unit unit = ppi_time_unit_of(mean_ns);
  bool are_several = ranks->num > 1;
  put_num(page, answer, ranks);
  ppi_page_format(page, " %s%s%s", ppi_answer_unit(base),
                  answer->num_all == 1 ? "" : "s",
                  are_several ? " of each" : "");
  if (base == PPI_BASE_ITERATION) put_loop(page, &figures->loop);
  ppi_page_text(page, " in ");
  ppi_page_fitting_time(page,
                        are_several ? span_ns / (double)ranks->num : span_ns);
  if (answer->span_ns) {
    ppi_page_text(page, " = ");
    ppi_page_rate(page, 1e9 * (double)answer->num_all / span_ns);
    ppi_page_text(page, "/s");
  }
  ppi_page_text(page, " \u00b7 ");
  ppi_page_fitting_time(page, mean_ns);
  ppi_page_text(page, " each (");
  put_quantile(page, answer, 50, unit);
  put_quantile(page, answer, 90, unit);
  put_quantile(page, answer, 99, unit);
  ppi_page_text(page, "max ");
  put_beside(page, (double)answer->max_ns, unit);
  ppi_page_text(page, ")");
  // Little's law: the number under way at a time.
  if (base == PPI_BASE_REQUEST && answer->span_ns) {
    double scale = (double)answer->num_all / (double)answer->num_units;
    ppi_page_text(page, " \u00b7 ");
    ppi_page_rate(page, scale * (double)answer->total_ns / span_ns);
    ppi_page_text(page, are_several ? " in flight in each" : " in flight");
  }
}

static void put_program(ppi_page *page, const char *command) {
  ppi_page text = {0};
  ppi_page_program(&text, command);
  if (!text.failed && text.len) {
    ppi_page_visible(page, text.bytes);
    ppi_page_text(page, "   ");
  }
  ppi_page_clear(&text);
}

// Only if all runs have the same program.
static void put_programs(ppi_page *page, const ppi_figures *figures) {
  for (size_t i = 1; i < figures->num_inputs; i++)
    if (strcmp(figures->inputs[i].command, figures->inputs[0].command) != 0)
      return;
  if (figures->num_inputs) put_program(page, figures->inputs[0].command);
}

// "2 kinds of processes · engine pid 7: "; the line is of the busiest kind.
static void put_kind(ppi_page *page, const ppi_figures *figures,
                     const ppi_ranks *ranks) {
  if (!figures->num_kinds) return;
  ppi_page_format(page, "%u kinds of processes \u00b7 ", figures->num_kinds);
  ppi_page_visible(page, ppi_ranks_title(ranks).text);
  ppi_page_text(page, ": ");
}

void ppi_answer_put_line(ppi_page *page, const ppi_figures *figures,
                         ppi_base_kind base, const uint64_t *now_ns) {
  const ppi_answer *answer = &figures->answers[base];
  ppi_page program = {0}, line = {0};
  ppi_ranks ranks;
  line.failed = ppi_ranks_of(figures, base, &ranks) != PPROF_STATUS_OK;
  if (line.failed) ranks = (ppi_ranks){.items = NULL};
  ppi_ranks_keep(&ranks, 0);
  put_programs(&program, figures);
  if (now_ns) put_date(&line, figures, &ranks, *now_ns);
  put_kind(&line, figures, &ranks);
  put_ranks(&line, &ranks);
  if (base == PPI_BASE_WALL) {
    ppi_page_text(&line, answer->num_runs == 1 ? "1 run of " : "runs of ");
    ppi_page_fitting_time(&line, mean_of(answer));
  } else {
    put_units(&line, figures, base, &ranks);
    put_hosts(&line, figures);
  }
  put_left_out(&line, figures, base,
               base == PPI_BASE_WALL ? "stage" : ppi_answer_unit(base));
  page->failed |= program.failed || line.failed;
  ppi_page_bytes(page, program.bytes, program.len);
  if (!page->failed)
    ppi_page_wrapped(page, line.bytes,
                     ppi_page_width(program.bytes, program.len));
  ppi_page_clear(&program);
  ppi_page_clear(&line);
  ppi_ranks_clear(&ranks);
}

// ---- identities and trust ----

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

static void put_host_clocks(ppi_page *page, const ppi_figures *figures) {
  static const char *const words[] = {[PPI_CLOCKS_UNKNOWN] = "unknown",
                                      [PPI_CLOCKS_BOUND] = "bound",
                                      [PPI_CLOCKS_CONTRADICT] = "contradict"};
  if (figures->host_clocks == PPI_CLOCKS_ONE) return;
  ppi_put_text(page, "host_clocks", words[figures->host_clocks]);
  if (figures->host_clocks == PPI_CLOCKS_BOUND)
    ppi_put_u64(page, "clock_bound_ns", figures->clock_bound_ns);
}

void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures,
                        size_t most_notes,
                        void (*put)(ppi_page *page, const char *text)) {
  bool is_whole = most_notes == SIZE_MAX;
  const char *reason = NULL;
  ppi_put_line(page);
  ppi_put_object(page, "trust");
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    const char *name = ppi_total_name((ppi_total_key)key);
    uint64_t value = figures->totals[key];
    bool is_needed = key == PPI_TOTAL_RECORDED || key == PPI_TOTAL_LOST;
    if (!value && !is_needed && !is_whole) continue;
    if (key == PPI_TOTAL_CRASH_SAFE || key == PPI_TOTAL_INCOMPLETE)
      ppi_put_bool(page, name, value != 0);
    else
      ppi_put_u64(page, name, value);
  }
  for (size_t i = 0; i < figures->num_notes && !reason; i++)
    if (strcmp(figures->notes[i].key, "not_crash_safe") == 0)
      reason = figures->notes[i].text;
  put_host_clocks(page, figures);
  if (is_whole) {
    ppi_put_u64(page, "disbelieved", figures->num_disbelieved);
    ppi_put_text(page, "not_crash_safe", reason);
  }
  ppi_put_array(page, "notes");
  for (size_t i = 0; i < figures->num_notes && i < most_notes; i++) {
    ppi_put_object(page, NULL);
    ppi_put_key(page, "key");
    put(page, figures->notes[i].key);
    ppi_put_key(page, "text");
    put(page, figures->notes[i].text);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}
