// SPDX-License-Identifier: Apache-2.0
//
// Builds the CPU view: where the time of measured stages went, as in time(1),
// and why they did not run.

#include "report/figures/rows.h"
#include "view/view.h"

static uint64_t cpu_of(const ppi_cpu_sums *sums) {
  return sums->user_ns + sums->sys_ns;
}

// The kernel is read slightly outside of the range, so its value may exceed the
// range's.
static uint64_t rest(uint64_t whole, uint64_t part) {
  return whole > part ? whole - part : 0;
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(name->name)) \
  each(category, NULL, NULL, 0, 0, text(name->category_name)) \
  each(calls, NULL, "Calls / Measured", 16, 2, count(sums->num_asked)) \
  each(measured, NULL, "", 0, 0, count(sums->num_known)) \
  each(real, "ns", "Real / User / Sys / CPU(%)", 34, 3, time(sums->real_ns)) \
  each(user, "ns", "", 0, 4, time(sums->user_ns)) \
  each(sys, "ns", "", 0, 5, time(sums->sys_ns)) \
  each(cpu_ratio, "%", "", 0, 6, ratio((int64_t)cpu_ns, sums->real_ns)) \
  each(cpu_self, "ns", "CPU Self", 10, 0, time(rest(cpu_ns, sums->inner_ns))) \
  each(blocked, "ns", "Blocked / Run Queue", 21, 7, \
       if (is_queued, \
           ppi_cell_time(rest(sums->real_ns, cpu_ns + sums->run_queue_ns)))) \
  each(run_queue, "ns", "", 0, 8, \
       if (is_queued, ppi_cell_time(sums->run_queue_ns))) \
  each(voluntary_switches, NULL, "Switches Vol / Invol", 20, 0, \
       count(sums->voluntary)) \
  each(involuntary_switches, NULL, "", 0, 0, count(sums->involuntary)) \
  each(minor_faults, NULL, "Faults Minor / Major", 20, 0, \
       count(sums->minor_faults)) \
  each(major_faults, NULL, "", 0, 0, count(sums->major_faults)) \
  each(waits, "ns", NULL, 0, 0, if (has_waits, ppi_cell_time(sums->waits_ns))) \
  each(blocked_unrecorded, "ns", NULL, 0, 0, \
       if (has_waits, ppi_cell_time(sums->unrecorded_ns))) \
  each(waits_on_processor, "ns", NULL, 0, 0, \
       if (has_waits, ppi_cell_time(sums->on_processor_ns)))
// clang-format on
PPI_VIEW_TABLE(cpu, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static bool rank(const void *item, ppi_ranked *out) {
  const ppi_report_name *name = item;
  out->key = cpu_of(&name->cpu);
  out->names[0] = name->name;
  out->names[1] = name->category_name;
  return name->cpu.num_asked > 0;
}

static void put(ppi_view *view, const void *item, const void *of) {
  const ppi_report_name *name = item;
  const ppi_cpu_sums *sums = &name->cpu;
  uint64_t cpu_ns = cpu_of(sums);
  bool is_queued = sums->num_queued == sums->num_known;
  bool has_waits = is_queued && *(const bool *)of;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
  if (!sums->num_known)
    memset(cells + CELL_real, 0, (NUM_COLUMNS - CELL_real) * sizeof *cells);
}

static void put_note(ppi_view *view, bool any_unknown, bool any_unqueued) {
  ppi_page_text(
      &view->note,
      "Of the ranges that the configuration lists under `cpu`: sums over the "
      "measured calls, with all that is inside them.\n"
      "CPU(%): user + sys by real. CPU Self: user + sys less that of measured "
      "ranges inside. Run Queue: ready to run,\n"
      "waiting for a CPU. Blocked: waiting for something else, which is real - "
      "user - sys - run queue. Switches:\n"
      "voluntary, to wait; involuntary, for another thread to run. User + sys "
      "is exact; what each of them is, the\n"
      "kernel often counts in ticks.\n");
  if (any_unknown)
    ppi_page_text(&view->note,
                  "Not measured: calls ended by another thread or by a window; "
                  "calls beyond 64 open on a thread.\n");
  if (any_unqueued)
    ppi_page_text(&view->note,
                  "Run Queue and Blocked are unknown on this kernel: see the "
                  "note cpu_run_queue.\n");
}

static void build_cpu(const ppi_figures *figures,
                      const ppi_report_options *options, ppi_view *out) {
  bool has_waits = ppi_figures_have_waits(figures);
  bool any_unknown = false, any_unqueued = false;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_cpu_sums *sums = &figures->names[i].cpu;
    any_unknown |= sums->num_known != sums->num_asked;
    any_unqueued |= sums->num_queued != sums->num_known;
  }
  const ppi_view_source names = {.items = figures->names,
                                 .num = figures->num_names,
                                 .size = sizeof *figures->names,
                                 .rank = rank,
                                 .put = put,
                                 .of = &has_waits};
  ppi_view_put_sorted(out, &names);
  put_note(out, any_unknown, any_unqueued);
  if (has_waits)
    ppi_page_text(&out->note,
                  "Waits are recorded: --wide shows them, what is blocked "
                  "without one, and what of them was on a processor.\n");
  out->only_when_named = !out->num_rows;
  if (!out->num_rows && options->views)
    out->reason =
        "no range's CPU use was measured; the configuration lists "
        "their names under 'cpu'";
}

PPI_VIEW(cpu, "CPU Summary", .build = build_cpu);
