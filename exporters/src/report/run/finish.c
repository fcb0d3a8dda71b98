// SPDX-License-Identifier: Apache-2.0
//
// Ends a run: settles buffered ranges, and writes figures by name.
#include "report/run/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/tally.h"
#include "report/figures/rows.h"
#include "report/run/answers.h"
#include "report/run/handover.h"

// Events without a window were all in one window; without events, no window
// opened.
static bool close_windows(ppi_run *run) {
  if (run->windows.num == 0 && run->has_events) {
    if (!ppi_run_window(run, 0, true, 0)) return false;
  }
  for (size_t i = 0; i < run->windows.num; i++) {
    ppi_span *window = &run->windows.items[i];
    if (window->end_ns == UINT64_MAX)
      window->end_ns = PPI_MAX(window->start_ns, run->last_ns);
  }
  return true;
}

static bool settle_all(ppi_run *run) {
  bool done = close_windows(run);
  // With requests, ppi_run_answer_fill decides whether the answer is of those.
  bool answers = run->details.answer &&
                 (run->details.answer_of_steps || !run->requests.num);
  done = done && ppi_run_doubt_left(&run->listed, &run->ids);
  ppi_run_open *open = NULL;
  done = done &&
         ppi_run_list_open(&run->listed, &run->ids, run->last_ns, &open) &&
         ppi_run_settle_ranges(run, UINT64_MAX, open, run->listed.num, answers);
  ppi_free(open);
  if (!done || !ppi_interference_settle(&run->interference, UINT64_MAX))
    return false;
  return ppi_run_settle_devices(run, UINT64_MAX);
}

static const ppi_spread *for_model(const ppi_run *run,
                                   const ppi_device_spreads *spreads) {
  return run->ids.has_kernels ? &spreads->kernels : &spreads->all;
}

static void fill_bases(ppi_run *run, ppi_figures *out) {
  out->runs_unopened = run->windows.num == 0;
  for (size_t i = 0; i < run->windows.num; i++)
    out->wall_ns +=
        run->windows.items[i].end_ns - run->windows.items[i].start_ns;
  ppi_device_spreads sums = {0};
  if (run->steps.num) {
    ppi_run_category *steps =
        ppi_run_category_at(&run->ids, PPROF_CATEGORY_PROFILE_STEP);
    out->base_ns = ppi_union_measure(&steps->host);
    out->runs_with_steps = 1;
    sums = run->steps.devices[PPI_PHASE_PROFILE_STEP];
  } else {
    out->base_ns = out->wall_ns;
    out->runs_without_steps = 1;
    ppi_device_spreads_add(&sums, &run->device_sums, false);
  }
  out->runs_with_kernels = run->ids.has_kernels;
  out->model_device_ns = for_model(run, &sums)->sum;
  out->general_device_ns =
      run->ids.has_kernels ? sums.general.sum : sums.all.sum;
  for (int i = 0; i < PPI_NUM_PHASES; i++) {
    ppi_device_spreads *devices = &run->steps.devices[i];
    ppi_device_spreads_complete(devices, &run->steps.times[i]);
    out->phases[i].host = run->steps.times[i];
    out->phases[i].device = *for_model(run, devices);
  }
}

// The first calls and their rest have all calls that were not cut.
static bool sum_rows(ppi_run *run) {
  bool done = true;
  for (size_t i = 0; i < run->ids.sites.num && done; i++) {
    ppi_run_site *site = run->ids.sites.items[i];
    if (site)
      done = ppi_first_calls_sum(&site->host_first_calls, &site->row.host,
                                 &site->row.host_times);
  }
  return done;
}

// Counts calls by the categories that sites have now.
static bool count_calls(ppi_run *run) {
  for (uint32_t id = 0; id < run->ids.sites.num; id++) {
    ppi_run_site *site = run->ids.sites.items[id];
    if (!site || !site->row.host.n) continue;
    if (!ppi_run_site_at(&run->ids, id)) return false;
    site->place->host_calls += site->row.host.n;
    site->place->host_cut += site->row.host.num_cut;
  }
  return true;
}

static bool fill_categories(ppi_run *run, ppi_figures *out) {
  bool done = count_calls(run);
  for (uint32_t id = 0; id < run->ids.categories.num && done; id++) {
    ppi_run_category *from = run->ids.categories.items[id];
    if (!from || (!from->host_calls && !from->device_calls)) continue;
    const ppi_report_category row = {
        .name = from->name,
        .category = ppi_portable_category(id),
        .host_calls = from->host_calls,
        .host_ns = id == PPROF_CATEGORY_PROFILE_STEP
                       ? ppi_union_measure(&from->host)
                       : from->host_ns,
        .host_cut = from->host_cut,
        .device_calls = from->device_calls,
        .device_ns = ppi_union_measure(&from->device)};
    done = ppi_figures_add_row(out, PPI_FIGURES_categories, &row);
  }
  return done;
}

typedef struct named_site {
  char *category_name;
  ppi_run_site *site;
} named_site;

PPI_ORDER(compare_sites, named_site,
          PPI_BY_TEXT(category_name) PPI_BY_TEXT(site->name))

// The time of a paired range counts for its own host range; see
// ppi_device_spreads_add.
static uint64_t innermost_time(const ppi_run *run, const ppi_run_site *site) {
  const uint64_t *ns = site->innermost.ns;
  uint64_t sum_ns = ns[PPI_DEVICE_KERNEL] + ns[PPI_DEVICE_COPY];
  if (run->ids.has_kernels) return sum_ns;
  sum_ns += ns[PPI_DEVICE_OTHER];
  bool counts = site->row.has_pairs && ns[PPI_DEVICE_PAIRED] <= INT64_MAX;
  return counts ? sum_ns + ns[PPI_DEVICE_PAIRED] : sum_ns;
}

// Adds the work of cold calls. For calls on a device, the host side may state
// it.
static bool fill_cold_work(const ppi_run *run, ppi_figures *out,
                           const named_site *of) {
  const ppi_first_calls *host = &of->site->host_first_calls;
  const ppi_first_calls *device = &of->site->device_first_calls;
  ppi_amounts sum = {0};
  size_t num = device->num ? device->num_cold : host->num_cold;
  for (size_t i = 0; i < PPI_MIN(num, host->num); i++)
    ppi_amounts_add(&sum, &host->calls[i].work);
  for (size_t i = 0; i < PPI_MIN(num, device->num); i++)
    ppi_amounts_add(&sum, &device->calls[i].work);
  if (sum.items == 0 && sum.bytes == 0 && sum.flops == 0 && sum.params == 0)
    return true;
  const ppi_report_work row = {.run = run->ids.input.uuid,
                               .name = of->site->name,
                               .category_name = of->category_name,
                               .cold = sum};
  return ppi_figures_add_row(out, PPI_FIGURES_work, &row);
}

static bool split_calls(const ppi_run *run, ppi_first_calls *first_calls,
                        ppi_phases *into) {
  bool done = ppi_first_calls_split(first_calls, run->details.warmup, into);
  into->cold_wall_ns += ppi_windows_overlap(
      &run->windows, 0, ppi_first_calls_steady_ns(first_calls));
  return done;
}

// Sites of one name are one stage: its cold calls are found once.
static bool fill_phases(ppi_run *run, ppi_figures *out, const named_site *sites,
                        size_t num) {
  ppi_run_site *all = sites[0].site;
  size_t most = ppi_first_calls_most(run->details.warmup);
  bool done = true;
  all->cold = &all->device_first_calls;
  for (size_t i = 1; i < num && done; i++) {
    ppi_run_site *site = sites[i].site;
    site->cold = all->cold;
    done = ppi_first_calls_join(&all->host_first_calls, &site->host_first_calls,
                                most) &&
           ppi_first_calls_join(&all->device_first_calls,
                                &site->device_first_calls, most);
  }
  if (!done) return false;
  ppi_report_name *name =
      ppi_figures_name(out, ppi_portable_category(all->category),
                       sites[0].category_name, all->name);
  if (!name) return false;
  if (!split_calls(run, &all->host_first_calls, &name->host_phases) ||
      !split_calls(run, &all->device_first_calls, &name->device_phases))
    return false;
  return fill_cold_work(run, out, &sites[0]);
}

static bool fill_name(ppi_run *run, ppi_figures *out, const named_site *from) {
  ppi_run_site *site = from->site;
  ppi_run_row *row = &site->row;
  const ppi_report_name sums = {
      .name = site->name,
      .category_name = from->category_name,
      .category = ppi_portable_category(site->category),
      .host = row->host,
      .submit = row->submit,
      .device = site->device,
      .inside = ppi_run_inside(&run->ids, row),
      .bytes = site->bytes,
      .host_times = row->host_times,
      .device_times = site->device_times,
      .sizes = site->sizes,
      .messages = site->messages,
      .numbers = site->numbers,
      .self_ns = row->self_ns,
      .own_device_ns = innermost_time(run, site),
      .num_async = site->num_async,
      .cpu = site->cpu,
      .memory = site->memory,
      .own_memory = site->own_memory};
  return ppi_figures_add_row(out, PPI_FIGURES_names, &sums);
}

// Sorted first, so that each name is appended to the sorted table.
static bool fill_names(ppi_run *run, ppi_figures *out) {
  named_site *sites = ppi_alloc((run->ids.sites.num + 1) * sizeof *sites);
  if (!sites) return false;
  bool done = true;
  size_t num = 0;
  for (size_t i = 0; i < run->ids.sites.num; i++) {
    ppi_run_site *site = run->ids.sites.items[i];
    if (!site || (!site->row.host.n && !site->row.submit.n && !site->device.n))
      continue;
    sites[num++] = (named_site){site->place->name, site};
  }
  if (num > 1) qsort(sites, num, sizeof *sites, compare_sites);
  for (size_t i = 0, from = 0; i < num && done; i++) {
    done = fill_name(run, out, &sites[i]);
    bool is_last = i + 1 == num || compare_sites(&sites[i], &sites[i + 1]) != 0;
    if (!is_last || !done) continue;
    done = fill_phases(run, out, &sites[from], i + 1 - from);
    from = i + 1;
  }
  ppi_free(sites);
  return done;
}

static bool note_too_much(const ppi_run *run, ppi_figures *out) {
  uint64_t num = 0;
  for (size_t i = 0; i < run->ids.sites.num; i++) {
    const ppi_run_site *site = run->ids.sites.items[i];
    if (site) num += site->numbers.num_too_much;
  }
  return num == 0 ||
         ppi_figures_say(out, "names",
                         "%llu ranges lack their full names (`names.full`): "
                         "these have more "
                         "than a shape and %u whole numbers",
                         (unsigned long long)num, PPROF_MOST_NUMBERS);
}

// Less than 10 us a call is noise: CPU use is read outside of the range.
// Shorter waits are not recorded.
static bool is_more(const ppi_cpu_sums *sums, uint64_t ns) {
  const uint64_t moment_ns = 10000;
  return ns > moment_ns * sums->num_queued && 20 * ns > sums->real_ns;
}

// Notes the ranges in which recorded waits and CPU use disagree most.
static bool note_waits(ppi_figures *out) {
  const ppi_report_name *blocked = NULL, *spins = NULL;
  for (size_t i = 0; i < out->num_names; i++) {
    const ppi_report_name *name = &out->names[i];
    const ppi_cpu_sums *sums = &name->cpu;
    if (is_more(sums, sums->unrecorded_ns) &&
        (!blocked || sums->unrecorded_ns > blocked->cpu.unrecorded_ns))
      blocked = name;
    if (is_more(sums, sums->on_processor_ns) &&
        (!spins || sums->on_processor_ns > spins->cpu.on_processor_ns))
      spins = name;
  }
  bool done = true;
  if (!ppi_figures_have_waits(out)) return true;
  if (blocked)
    done = ppi_figures_say(
        out, "waits",
        "%.80s is blocked %.1f ms of %.1f ms without a recorded wait: by "
        "sleep, a file, a device or memory",
        blocked->name, (double)blocked->cpu.unrecorded_ns / 1e6,
        (double)blocked->cpu.real_ns / 1e6);
  if (spins && done)
    done = ppi_figures_say(
        out, "waits",
        "%.80s computes for %.1f ms of %.1f ms of recorded waits: they "
        "spin, or end and begin again",
        spins->name, (double)spins->cpu.on_processor_ns / 1e6,
        (double)spins->cpu.waits_ns / 1e6);
  return done;
}

static void fill_identity(ppi_run *run, ppi_report_device *device,
                          ppi_identity *identity) {
  uint64_t wall_ns = ppi_windows_overlap(&run->windows, 0, UINT64_MAX);
  uint64_t busy_ns = identity->busy[0].ns;
  uint64_t sum_ns = busy_ns;
  for (int i = 0; i < PPI_NUM_IDLE; i++) {
    device->idle_ns[i] += identity->idle_ns[i];
    sum_ns += identity->idle_ns[i];
  }
  device->wall_ns += wall_ns;
  device->busy_ns += busy_ns;
  device->first_calls_ns += identity->first_calls_ns;
  device->steps_checked += run->steps.num - identity->steps_unchecked;
  device->steps_failed += identity->steps_failed;
  device->failed |= sum_ns != wall_ns || identity->steps_failed;
}

static uint64_t pieces_of(const ppi_run_path *path) {
  return path->use ? path->use->sums.kernels + path->use->sums.copies : 0;
}

// The work of the outermost ranges with any; a runtime call has none. Work
// inside several stacks of its thread counts for each stack.
static uint64_t shown_work(const ppi_run *run) {
  uint64_t num = 0;
  for (size_t i = 0; i < run->paths.num; i++) {
    const ppi_run_path *path = &run->paths.items[i];
    bool is_in_another =
        path->around && pieces_of(&run->paths.items[path->around - 1]);
    if (!path->on_device && !is_in_another) num += pieces_of(path);
  }
  return num;
}

// Checks that work inside ranges and work outside add up to all work.
static bool fill_work_identity(const ppi_run *run, ppi_figures *out) {
  uint64_t num_inside = 0;
  bool done = true;
  if (!run->details.kernels || !run->details.paths) return done;
  for (size_t i = 0; i < run->ids.devices.num; i++) {
    const ppi_run_device *from = run->ids.devices.items[i];
    if (from) num_inside += from->num_inside;
  }
  bool is_shown = shown_work(run) >= num_inside;
  for (size_t i = 0; i < run->ids.devices.num && done; i++) {
    const ppi_run_device *from = run->ids.devices.items[i];
    if (!from || !from->num_work) continue;
    const ppi_report_device row = {
        .name = from->name,
        .work = from->num_work,
        .num_inside = from->num_inside,
        .num_outside = from->num_outside,
        .failed = !is_shown ||
                  from->num_inside + from->num_outside != from->num_work};
    done = ppi_figures_add_row(out, PPI_FIGURES_devices, &row);
  }
  return done;
}

static bool fill_devices(ppi_run *run, ppi_figures *out) {
  for (size_t i = 0; i < run->ids.devices.num; i++) {
    ppi_run_device *from = run->ids.devices.items[i];
    // Device 0 stands for ranges on no device at all: there is nothing to
    // check.
    if (!from || (i == 0 && from->ranges == 0)) continue;
    ppi_identity *identity = &from->identity;
    // Within the ratio base that fill_bases chooses.
    const ppi_covered *busy =
        run->steps.num ? identity->busy_in_steps : identity->busy;
    ppi_report_device row = {
        .name = from->name,
        .ranges = from->ranges,
        .untimed = from->untimed,
        .used_ns = busy[from->has_kernels].ns,
        .active_ns = busy[0].ns,
        .not_submitted_ns = run->steps.num
                                ? identity->not_submitted_in_steps_ns
                                : identity->idle_ns[PPI_IDLE_NOT_SUBMITTED],
        .base_ns = from->ranges || from->untimed ? out->base_ns : 0,
        .runs_with_kernels = from->has_kernels,
        .incomplete = from->incomplete || run->lost_device};
    fill_identity(run, &row, identity);
    const ppi_report_course course = {run->ids.input.uuid, from->name,
                                      identity->course};
    if (!ppi_figures_add_row(out, PPI_FIGURES_devices, &row) ||
        !ppi_courses_add(&out->courses, &course))
      return false;
  }
  return true;
}

static bool fill_work(ppi_run *run, ppi_figures *out) {
  for (size_t i = 0; i < run->work.num; i++) {
    ppi_report_work row = run->work.items[i].sums;
    ppi_run_site *site = ppi_run_site_at(&run->ids, run->work.items[i].site);
    if (!site) return false;
    row.run = run->ids.input.uuid;
    row.name = site->name;
    row.category_name = site->place->name;
    if (!ppi_figures_add_row(out, PPI_FIGURES_work, &row)) return false;
  }
  return true;
}

static bool fill_totals(ppi_run *run, const pprof_totals *totals,
                        ppi_figures *out) {
  for (int key = 0; key < PPI_NUM_TOTALS; key++)
    out->totals[key] =
        ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key);
  // Logs of windows and dumps, and logs recovered by older versions, have only
  // the cost of one marker.
  if (!out->totals[PPI_TOTAL_OWN_COST_TOTAL_NS])
    out->totals[PPI_TOTAL_OWN_COST_TOTAL_NS] = ppi_tally_own_cost_ns(
        out->totals[PPI_TOTAL_RECORDED], out->totals[PPI_TOTAL_OWN_COST]);
  run->lost_device = out->totals[PPI_TOTAL_DEVICE_LOST] > 0;
  for (size_t i = 0; i < totals->num_notes; i++)
    if (!ppi_figures_note(out, totals->notes[i].key, totals->notes[i].value))
      return false;
  return ppi_run_note_others(&run->labels, out);
}

// The figures are of this run alone.
static bool fill_input(const ppi_run *run, ppi_figures *out) {
  ppi_report_input input = run->ids.input;
  input.wall_ns = out->wall_ns;
  memcpy(input.answers, out->answers, sizeof input.answers);
  return ppi_figures_add_row(out, PPI_FIGURES_inputs, &input);
}

// Frees memory before the paths take their own.
static void forget_answered(ppi_run *run) {
  ppi_requests_clear(&run->requests);
  ppi_accounts_clear(&run->accounts);
  ppi_hold_pool_clear(&run->ids.pool);
}

bool ppi_run_finish(ppi_run *run, const pprof_totals *totals,
                    ppi_figures *out) {
  bool done = settle_all(run) && ppi_handover_end(run) &&
              ppi_paths_tell(&run->paths, &run->ids) && sum_rows(run) &&
              ppi_run_fold_sites(&run->ids) && fill_totals(run, totals, out);
  if (!done) return false;
  out->num_disbelieved = run->listed.num_disbelieved;
  fill_bases(run, out);
  done = fill_categories(run, out) && fill_names(run, out) &&
         note_too_much(run, out) && note_waits(out) && fill_devices(run, out) &&
         ppi_queues_fill(&run->queues, &run->ids, out) &&
         ppi_serving_fill(&run->serving, &run->details.slo, &run->windows,
                          &run->ids, out) &&
         ppi_interference_fill(&run->interference, &run->ids, out) &&
         ppi_run_answer_fill(run, out);
  forget_answered(run);
  done = done && fill_work(run, out) &&
         ppi_run_fill_details(&run->rows, &run->ids, out) &&
         ppi_paths_fill(&run->paths, &run->ids, out) &&
         fill_work_identity(run, out) &&
         ppi_shapes_fill(&run->shapes, &run->ids, out);
  out->kernels = run->kernels;
  out->outside = run->allocations.outside;
  done = done && ppi_memory_fill(&run->memory, &run->ids, out) &&
         ppi_perf_fill(&run->perf, &out->perf);
  ppi_distribution_fill(&run->distribution, &out->distribution);
  return done && fill_input(run, out);
}
