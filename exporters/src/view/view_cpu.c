// SPDX-License-Identifier: Apache-2.0
//
// Builds the CPU view: where the time of measured stages went, as in time(1),
// and why they did not run.
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/rows.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(CATEGORY, "category", NULL) \
  each(CALLS, "calls", NULL) \
  each(MEASURED, "measured", NULL) \
  each(REAL, "real", "ns") \
  each(USER, "user", "ns") \
  each(SYS, "sys", "ns") \
  each(CPU_RATIO, "cpu_ratio", "%") \
  each(SELF, "cpu_self", "ns") \
  each(BLOCKED, "blocked", "ns") \
  each(RUN_QUEUE, "run_queue", "ns") \
  each(VOLUNTARY, "voluntary_switches", NULL) \
  each(INVOLUNTARY, "involuntary_switches", NULL) \
  each(MINOR_FAULTS, "minor_faults", NULL) \
  each(MAJOR_FAULTS, "major_faults", NULL) \
  each(WAITS, "waits", "ns") \
  each(UNRECORDED, "blocked_unrecorded", "ns") \
  each(ON_PROCESSOR, "waits_on_processor", "ns")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME, CALLS,     REAL,    USER,
                               SYS,  CPU_RATIO, BLOCKED, RUN_QUEUE};
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},
    {"Calls / Measured", 16, CALLS, 2},
    {"Real / User / Sys / CPU(%)", 34, REAL, 4},
    {"CPU Self", 10, SELF, 1},
    {"Blocked / Run Queue", 21, BLOCKED, 2},
    {"Switches Vol / Invol", 20, VOLUNTARY, 2},
    {"Faults Minor / Major", 20, MINOR_FAULTS, 2},
};

static uint64_t cpu_of(const ppi_cpu_sums *sums) {
  return sums->user_ns + sums->sys_ns;
}

// The kernel is read slightly outside of the range, so its value may exceed the
// range's.
static uint64_t rest(uint64_t whole, uint64_t part) {
  return whole > part ? whole - part : 0;
}

static bool add_row(ppi_view *view, const ppi_report_name *name,
                    bool has_waits) {
  const ppi_cpu_sums *sums = &name->cpu;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  uint64_t cpu_ns = cpu_of(sums);
  cells[NAME] = ppi_cell_text(name->name);
  cells[CATEGORY] = ppi_cell_text(name->category_name);
  cells[CALLS] = ppi_cell_count(sums->num_asked);
  cells[MEASURED] = ppi_cell_count(sums->num_known);
  if (!sums->num_known) return true;
  cells[REAL] = ppi_cell_time(sums->real_ns);
  cells[USER] = ppi_cell_time(sums->user_ns);
  cells[SYS] = ppi_cell_time(sums->sys_ns);
  cells[CPU_RATIO] = ppi_cell_ratio((int64_t)cpu_ns, sums->real_ns);
  cells[SELF] = ppi_cell_time(rest(cpu_ns, sums->inner_ns));
  cells[VOLUNTARY] = ppi_cell_count(sums->voluntary);
  cells[INVOLUNTARY] = ppi_cell_count(sums->involuntary);
  cells[MINOR_FAULTS] = ppi_cell_count(sums->minor_faults);
  cells[MAJOR_FAULTS] = ppi_cell_count(sums->major_faults);
  if (sums->num_queued != sums->num_known) return true;
  cells[BLOCKED] =
      ppi_cell_time(rest(sums->real_ns, cpu_ns + sums->run_queue_ns));
  cells[RUN_QUEUE] = ppi_cell_time(sums->run_queue_ns);
  if (!has_waits) return true;
  cells[WAITS] = ppi_cell_time(sums->waits_ns);
  cells[UNRECORDED] = ppi_cell_time(sums->unrecorded_ns);
  cells[ON_PROCESSOR] = ppi_cell_time(sums->on_processor_ns);
  return true;
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

static int compare_names(const void *left, const void *right) {
  const ppi_report_name *a = *(const ppi_report_name *const *)left;
  const ppi_report_name *b = *(const ppi_report_name *const *)right;
  uint64_t cpu_a = cpu_of(&a->cpu), cpu_b = cpu_of(&b->cpu);
  if (cpu_a != cpu_b) return cpu_a > cpu_b ? -1 : 1;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->category_name, b->category_name);
}

static pprof_status build_cpu(const ppi_figures *figures,
                              const ppi_report_options *options,
                              ppi_view *out) {
  const ppi_report_name **names =
      ppi_alloc((figures->num_names + 1) * sizeof *names);
  if (!names) return PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  bool has_waits = ppi_figures_have_waits(figures);
  bool any_unknown = false, any_unqueued = false, added = true;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_cpu_sums *sums = &figures->names[i].cpu;
    if (!sums->num_asked) continue;
    names[num++] = &figures->names[i];
    any_unknown |= sums->num_known != sums->num_asked;
    any_unqueued |= sums->num_queued != sums->num_known;
  }
  if (num > 1) qsort(names, num, sizeof *names, compare_names);
  for (size_t i = 0; i < num && added; i++)
    added = add_row(out, names[i], has_waits);
  ppi_free(names);
  put_note(out, any_unknown, any_unqueued);
  if (has_waits)
    ppi_page_text(&out->note,
                  "Waits are recorded: --wide shows them, what is blocked "
                  "without one, and what of them was on a processor.\n");
  out->only_when_named = num == 0;
  if (num == 0 && options->views)
    out->reason =
        "no range's CPU use was measured; the configuration lists "
        "their names under 'cpu'";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_cpu = {
    .name = "cpu",
    .title = "CPU Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_cpu,
};
