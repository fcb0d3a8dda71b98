// SPDX-License-Identifier: Apache-2.0
//
// Builds the Stages view: the throughput and the time of each stage, and its
// share of the device's peak. Cold calls are separate from steady ones.
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "view/view_stages.h"

typedef struct stage {
  const ppi_report_name *name;
  const ppi_phases *phases;
  bool on_device;
  uint64_t calls, own_ns;
  ppi_amounts all, cold;       // stated by all calls, and by cold ones
  const ppi_stage_cost *cost;  // a model's cost instead; NULL: none
} stage;

// Device work, runtime calls and inner operators are parts of stages.
static bool is_stage(const ppi_report_name *name) {
  switch (name->category) {
    case PPROF_CATEGORY_KERNEL:
    case PPROF_CATEGORY_MEMCPY:
    case PPROF_CATEGORY_MEMSET:
    case PPROF_CATEGORY_RUNTIME:
    case PPROF_CATEGORY_OPERATOR_INNER:
      return false;
    default:
      return name->host.n || name->device.n || name->submit.n;
  }
}

// The device side, if there is one: it has the time of the work.
static stage stage_of(const ppi_report_name *name) {
  bool on_device = name->device.n > 0;
  const ppi_spread *spread = on_device ? &name->device : &name->host;
  return (stage){
      .name = name,
      .on_device = on_device,
      .phases = on_device ? &name->device_phases : &name->host_phases,
      .calls =
          PPI_MAX(ppi_spread_calls(spread), ppi_spread_calls(&name->submit)),
      .own_ns = spread->sum};
}

static int compare_keys(const ppi_report_work *work,
                        const ppi_report_name *name) {
  int order = strcmp(work->category_name, name->category_name);
  return order ? order : strcmp(work->name, name->name);
}

// Both tables are in the order of category and name.
static void add_work(const ppi_figures *figures, size_t *at, stage *to) {
  while (*at < figures->num_work &&
         compare_keys(&figures->work[*at], to->name) < 0)
    ++*at;
  for (; *at < figures->num_work; ++*at) {
    const ppi_report_work *work = &figures->work[*at];
    const ppi_amounts amounts = {work->items, work->bytes, work->flops,
                                 work->params};
    if (compare_keys(work, to->name) != 0) return;
    ppi_amounts_add(&to->all, &amounts);
    ppi_amounts_add(&to->cold, &work->cold);
  }
}

// The greatest own time comes first; names decide between equals.
PPI_ORDER(compare_stages, stage,
          PPI_DOWN(own_ns) PPI_BY_TEXT(name->name)
              PPI_BY_TEXT(name->category_name))

static ppi_cell per_second(double amount, uint64_t ns, double unit) {
  double rate = amount / ((double)ns / 1e9) / unit;
  bool known = ns > 0 && amount > 0 && isfinite(rate);
  return known ? ppi_cell_decimal(rate) : (ppi_cell){0};
}

// The work of steady calls, and their time.
typedef struct steady_work {
  double amount, flops, bytes;  // amount: items, or else calls
  uint64_t wall_ns, own_ns;
} steady_work;

static steady_work steady_of(const ppi_figures *figures, const stage *from) {
  const ppi_spread *cold = &from->phases->cold;
  if (from->calls == cold->n) return (steady_work){.amount = 0};
  return (steady_work){.amount = from->all.items > 0
                                     ? from->all.items - from->cold.items
                                     : (double)(from->calls - cold->n),
                       .flops = from->all.flops - from->cold.flops,
                       .bytes = from->all.bytes - from->cold.bytes,
                       .wall_ns = figures->wall_ns - from->phases->cold_wall_ns,
                       .own_ns = from->own_ns - cold->sum};
}

ppi_cell ppi_stage_rate(const ppi_figures *figures,
                        const ppi_report_name *name) {
  size_t at = 0;
  stage its = stage_of(name);
  add_work(figures, &at, &its);
  const steady_work work = steady_of(figures, &its);
  return per_second(work.amount, work.own_ns, 1);
}

static ppi_cell stated(double amount) {
  return amount > 0 && isfinite(amount) ? ppi_cell_decimal(amount)
                                        : (ppi_cell){0};
}

// Where a program states no work, a model's cost of each call stands for it.
static void take_cost(const ppi_stage_costs *costs, stage *to) {
  const ppi_stage_cost *cost = ppi_stage_cost_find(costs, to->name->name);
  double calls = (double)to->calls, cold = (double)to->phases->cold.n;
  if (!cost || to->all.flops > 0) return;
  to->cost = cost;
  to->all.flops = cost->flops * calls;
  to->cold.flops = cost->flops * cold;
  if (to->all.bytes == 0) {
    to->all.bytes = cost->bytes * calls;
    to->cold.bytes = cost->bytes * cold;
  }
  if (to->all.params == 0) to->all.params = cost->params * calls;
}

// The peaks are those of --peak, or else the published ones of the only device.
static ppi_roofline roofline_of(const ppi_figures *figures,
                                const ppi_report_options *options,
                                const stage *from) {
  const char *name = from->name->name;
  const ppi_stage_cost *cost = from->cost;
  const ppi_spread *cold = &from->phases->cold;
  const ppi_peak *flops =
      ppi_peaks_find(options->peaks, name, cost ? cost->type : NULL);
  const ppi_peak *bytes = ppi_peaks_memory(options->peaks, name);
  ppi_roof roof = {0, 0};
  if (cost && from->on_device && figures->num_devices == 1)
    roof = ppi_roof_of(figures->devices[0].name, cost->type);
  return (ppi_roofline){
      .stage = name,
      .model = cost ? cost->model : NULL,
      .type = flops  ? flops->type
              : cost ? cost->type
                     : "",
      .at_least = cost && cost->at_least,
      .on_device = from->on_device,
      .calls = (double)(from->calls - cold->n),
      .flops = from->all.flops - from->cold.flops,
      .bytes = from->all.bytes - from->cold.bytes,
      .own_s = (double)(from->own_ns - cold->sum) / 1e9,
      .wall_s = (double)(figures->wall_ns - from->phases->cold_wall_ns) / 1e9,
      .peak_flops = flops ? flops->flops : roof.flops,
      .peak_bytes = bytes ? bytes->flops : roof.bytes};
}

// Device ranges without any device time have no host time either: on the host
// they were only submitted.
static bool has_time(const stage *from) {
  return from->on_device || from->name->host.n > 0;
}

// Flags impossible amounts, and work without a measured time.
static const char *flag_of(const stage *from) {
  const double amounts[] = {from->all.items, from->all.bytes, from->all.flops,
                            from->all.params};
  bool any = false;
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    if (!isfinite(amounts[i]) || amounts[i] < 0) return "absurd work";
    any |= amounts[i] > 0;
  }
  if (!has_time(from)) return "no device time";
  return any && from->own_ns == 0 ? "work in no time" : NULL;
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(from->name->name)) \
  each(category, NULL, NULL, 0, 0, text(from->name->category_name)) \
  each(timed, NULL, "Timed", 6, 2, \
       if (has_time(from), \
           ppi_cell_text(from->on_device ? "device" : "host"))) \
  each(calls, NULL, "Calls", 5, 3, count(from->calls)) \
  each(items, NULL, "Items", 8, 0, as(stated(from->all.items))) \
  each(rate_wall, "1/s", "Per s Wall / Own Time", 24, 4, \
       as(per_second(work.amount, work.wall_ns, 1))) \
  each(rate_own, "1/s", "", 0, 0, as(per_second(work.amount, work.own_ns, 1))) \
  each(first, "ns", "First / Cold Calls / Avg", 26, 0, \
       mean(phases->first.sum, phases->first.n)) \
  each(cold_calls, NULL, "", 0, 0, count(phases->cold.n)) \
  each(cold_avg, "ns", "", 0, 0, mean(phases->cold.sum, phases->cold.n)) \
  each(steady_calls, NULL, "Steady", 6, 0, count(steady->n)) \
  each(avg, "ns", "Avg / Std / CV(%)", 26, 5, mean(steady->sum, steady->n)) \
  each(std, "ns", "", 0, 0, as(deviation)) \
  each(cv, "%", "", 0, 0, \
       if (deviation.kind != PPI_CELL_NONE && steady->sum, \
           ppi_cell_decimal(100.0 * (double)deviation.value / \
                            ((double)steady->sum / (double)steady->n)))) \
  each(p50, "ns", "P50 / P90 / P99 / Max", 30, 6, \
       quantile(&phases->steady_times, 50)) \
  each(p90, "ns", "", 0, 0, quantile(&phases->steady_times, 90)) \
  each(p99, "ns", "", 0, 7, quantile(&phases->steady_times, 99)) \
  each(max, "ns", "", 0, 10, if (steady->n, ppi_cell_time(steady->max))) \
  each(flop_rate, "GFLOP/s", "GFLOP/s / GMAC/s / GB/s", 24, 0, as(flop_rate)) \
  each(mac_rate, "GMAC/s", "", 0, 0, \
       as(per_second(work.flops / 2, work.own_ns, 1e9))) \
  each(byte_rate, "GB/s", "", 0, 0, \
       as(per_second(work.bytes, work.own_ns, 1e9))) \
  each(params, "MB", "Params (MB)", 11, 0, \
       if (from->all.params > 0 && from->calls, \
           stated(from->all.params / (double)from->calls * \
                  ppi_peak_bytes(roofline.type) / 1e6))) \
  each(peak, "GFLOP/s", "Peak / Type / MFU(%)", 20, 0, \
       if (peak > 0, ppi_cell_decimal(peak / 1e9))) \
  each(peak_type, NULL, "", 0, 0, if (peak > 0, ppi_cell_text(roofline.type))) \
  each(mfu, "%", "", 0, 9, if (has_mfu, ppi_cell_decimal(mfu))) \
  each(flag, NULL, "Flag", 4, 8, if (flag, ppi_cell_text(flag)))
// clang-format on
PPI_VIEW_TABLE(stages, COLUMNS);

static void add_stage(ppi_view *view, const ppi_figures *figures,
                      const ppi_report_options *options, const stage *from) {
  const ppi_phases *phases = from->phases;
  const ppi_spread *steady = &phases->steady;
  const steady_work work = steady_of(figures, from);
  const ppi_roofline roofline = roofline_of(figures, options, from);
  const ppi_cell deviation = ppi_cell_deviation(steady);
  const ppi_cell flop_rate = per_second(work.flops, work.own_ns, 1e9);
  double peak = from->all.flops <= 0 ? 0 : roofline.peak_flops;
  bool has_mfu = peak > 0 && flop_rate.kind == PPI_CELL_DECIMAL;
  double mfu = has_mfu ? 100 * flop_rate.number * 1e9 / peak : 0;
  const char *flag = flag_of(from);
  if (!flag && mfu > 100) flag = "over peak";
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  ppi_page_text(&view->note,
                "Timed: the stage's own time is its device ranges', or, "
                "without any, its host ranges'. Per s: items, else\n"
                "calls, by the windows' time from the first steady call on, "
                "and by its own time.\n");
  if (figures->details.warmup >= 0)
    ppi_page_format(&view->note,
                    "Cold: the first %ld calls of each run, as asked. ",
                    figures->details.warmup);
  else
    ppi_page_text(&view->note,
                  "Cold: the calls of each run before the first two usual "
                  "ones. Usual: within three robust standard\n"
                  "deviations of the median, or a tenth of it. ");
  ppi_page_text(&view->note,
                "All rates, and Avg to Max, are of the others; Std has n - 1.\n"
                "MAC: two FLOP. Params: of one call. MFU: stated FLOP / (own "
                "time x peak).\n");
}

// The stages with most own time, `top` at most.
static size_t collect(const ppi_figures *figures,
                      const ppi_report_options *options, stage *stages) {
  size_t num = 0, at = 0;
  for (size_t i = 0; i < figures->num_names; i++) {
    if (!is_stage(&figures->names[i])) continue;
    stages[num] = stage_of(&figures->names[i]);
    add_work(figures, &at, &stages[num]);
    take_cost(options->costs, &stages[num++]);
  }
  if (num > 1) qsort(stages, num, sizeof *stages, compare_stages);
  return options->top > 0 ? PPI_MIN(num, (size_t)options->top) : num;
}

static void put_stages(ppi_view *view, const ppi_figures *figures,
                       const ppi_report_options *options, stage *stages) {
  size_t num = collect(figures, options, stages);
  for (size_t i = 0; i < num; i++)
    add_stage(view, figures, options, &stages[i]);
  for (size_t i = 0; i < num; i++) {
    if (!stages[i].cost) continue;
    const ppi_roofline roofline = roofline_of(figures, options, &stages[i]);
    ppi_roofline_put(&view->note, stages[i].cost, &roofline);
  }
}

pprof_status ppi_stage_rooflines(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_rooflines *out) {
  const ppi_report_options all = {.costs = options->costs};
  *out = (ppi_rooflines){.num = 0};
  stage *stages = ppi_alloc((figures->num_names + 1) * sizeof *stages);
  if (!stages) return PPROF_STATUS_NO_MEMORY;
  size_t num = collect(figures, &all, stages);
  for (size_t i = 0; i < num; i++) {
    const ppi_stage_cost *cost = stages[i].cost;
    if (cost) out->is_used[cost - options->costs->items] = true;
    if (!(stages[i].all.flops > 0) || flag_of(&stages[i])) continue;
    const ppi_roofline its = roofline_of(figures, options, &stages[i]);
    // Stated work is of use here only with a known cost or peak.
    if ((cost || its.peak_flops > 0) && out->num < PPI_MAX_ROOFLINES)
      out->items[out->num++] = its;
  }
  ppi_free(stages);
  return PPROF_STATUS_OK;
}

static void build_stages(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  stage *stages = ppi_alloc((figures->num_names + 1) * sizeof *stages);
  out->note.failed |= !stages;
  if (stages) put_stages(out, figures, options, stages);
  ppi_free(stages);
  put_note(out, figures);
  if (!out->num_rows) out->reason = "no ranges";
}

PPI_VIEW(stages, "Stages Summary", .has_quantiles = true, .named_only = true,
         .build = build_stages);
