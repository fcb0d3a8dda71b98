// SPDX-License-Identifier: Apache-2.0
//
// Makes a view of a model's groups of nodes, with their totals.
#include "cost/table/cost_view.h"

#include <inttypes.h>
#include <string.h>

#include "cost/table/words.h"
#include "file/json_put.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(MODULE, "module", NULL) \
  each(OPERATOR, "operator", NULL) \
  each(LEVEL, "level", NULL) \
  each(NODES, "nodes", NULL) \
  each(TYPE, "type", NULL) \
  each(PARAMS, "parameters", NULL) \
  each(PARAM_BYTES, "parameter_bytes", "B") \
  each(MACS, "macs", NULL) \
  each(FLOPS, "flops", NULL) \
  each(OTHERS, "elementwise_flops", NULL) \
  each(IN, "input_bytes", "B") \
  each(WEIGHTS, "weight_bytes", "B") \
  each(OUT, "output_bytes", "B") \
  each(INTENSITY, "intensity", "FLOP/B") \
  each(SHARE, "share", "%") \
  each(OUTPUT, "output", NULL) \
  each(SHAPE, "shape", NULL) \
  each(TIMES, "times", NULL) \
  each(PART, "at_least", NULL) \
  each(REASON, "reason", NULL) \
  each(TIME, "time", "ns") \
  each(TIME_SHARE, "time_share", "%") \
  each(FLOP_RATE, "flop_rate", "GFLOP/s") \
  each(BYTE_RATE, "byte_rate", "GB/s")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME, PARAMS, MACS,      FLOPS,
                               IN,   OUT,    INTENSITY, SHARE};

static const ppi_table_column table_columns[] = {
    {"Name", 24, NAME, 1},  {"Params", 6, PARAMS, 1},
    {"MACs", 6, MACS, 1},   {"FLOPs", 6, FLOPS, 1},
    {"In", 6, IN, 1},       {"Weights", 7, WEIGHTS, 1},
    {"Out", 6, OUT, 1},     {"FLOP/B", 6, INTENSITY, 1},
    {"Share", 6, SHARE, 1},
};
static const size_t timed_brief[] = {NAME, MACS,       FLOPS,     INTENSITY,
                                     TIME, TIME_SHARE, FLOP_RATE, BYTE_RATE};
static const ppi_table_column timed_columns[] = {
    {"Name", 24, NAME, 1},        {"Params", 6, PARAMS, 1},
    {"MACs", 6, MACS, 1},         {"FLOPs", 6, FLOPS, 1},
    {"FLOP/B", 6, INTENSITY, 1},  {"Share", 6, SHARE, 1},
    {"Time", 8, TIME, 1},         {"Time(%)", 7, TIME_SHARE, 1},
    {"GFLOP/s", 7, FLOP_RATE, 1}, {"GB/s", 7, BYTE_RATE, 1},
};
// Leaves out the last columns if there are no times.
static const ppi_view_kind kind = {
    .name = "cost",
    .title = "Cost",
    .columns = columns,
    .num_columns = TIME,
    .table_columns = table_columns,
    .num_table_columns = sizeof table_columns / sizeof *table_columns,
    PPI_VIEW_BRIEF(brief),
    .end = PPI_TABLE_END_NOTE};
static const ppi_view_kind timed_kind = {
    .name = "cost",
    .title = "Cost",
    PPI_VIEW_LAYOUT(columns, timed_columns),
    PPI_VIEW_BRIEF(timed_brief),
    .has_time_unit = true,
    .end = PPI_TABLE_END_NOTE};

typedef struct filling {
  ppi_view *view;
  const ppi_cost *cost;
  const ppi_cost_groups *groups;
  bool for_people;
} filling;

static double bytes_of(const ppi_cost_figures *figures) {
  return (double)figures->in_bytes.value + (double)figures->weight_bytes.value +
         (double)figures->out_bytes.value;
}

static bool is_unknown(const ppi_cost_sum *sum) {
  return sum->at_least && sum->value == 0;
}

static const char *made_text(ppi_view *view, const ppi_page *page) {
  return page->failed ? NULL
                      : ppi_view_text(view, "%.*s", (int)page->len,
                                      page->len ? page->bytes : "");
}

static ppi_cell sum_cell(const filling *fill, const ppi_cost_sum *sum,
                         const char *unit) {
  if (!fill->for_people)
    return is_unknown(sum) ? (ppi_cell){0} : ppi_cell_signed(sum->value);
  if (is_unknown(sum)) return ppi_cell_text("?");
  ppi_page page = {0};
  ppi_cost_number(&page, (double)sum->value, unit, sum->at_least);
  const char *text = made_text(fill->view, &page);
  ppi_page_clear(&page);
  return text ? ppi_cell_text(text) : (ppi_cell){0};
}

static ppi_cell quotient(const filling *fill, double value, bool is_part) {
  if (!fill->for_people) return ppi_cell_decimal(value);
  ppi_page page = {0};
  ppi_cost_number(&page, value, "", false);
  if (is_part) ppi_page_text(&page, "?");
  const char *text = made_text(fill->view, &page);
  ppi_page_clear(&page);
  return text ? ppi_cell_text(text) : (ppi_cell){0};
}

static void put_figures(const filling *fill, const ppi_cost_figures *figures,
                        ppi_cell *cells) {
  const ppi_cost_sum *all = &fill->groups->all.flops, *own = &figures->flops;
  double bytes = bytes_of(figures);
  cells[NODES] = ppi_cell_count(figures->num_nodes);
  if (figures->type) cells[TYPE] = ppi_cell_text(figures->type);
  cells[PARAMS] = sum_cell(fill, &figures->params, "");
  cells[PARAM_BYTES] = sum_cell(fill, &figures->param_bytes, "B");
  cells[MACS] = sum_cell(fill, &figures->macs, "");
  cells[FLOPS] = sum_cell(fill, own, "");
  cells[OTHERS] = sum_cell(fill, &figures->others, "");
  cells[IN] = sum_cell(fill, &figures->in_bytes, "B");
  cells[WEIGHTS] = sum_cell(fill, &figures->weight_bytes, "B");
  cells[OUT] = sum_cell(fill, &figures->out_bytes, "B");
  bool is_part = own->at_least || figures->in_bytes.at_least ||
                 figures->out_bytes.at_least;
  if (bytes > 0 && !is_part)
    cells[INTENSITY] = quotient(fill, (double)own->value / bytes, false);
  if (all->value > 0)
    cells[SHARE] = ppi_cell_ratio(own->value, (uint64_t)all->value);
  cells[PART] = ppi_cell_count(own->at_least);
}

static void put_times(const filling *fill, const ppi_cost_figures *figures,
                      ppi_cell *cells) {
  const ppi_cost_times *times = &fill->cost->times;
  double all_ns = times->node_ns + times->strange_ns;
  if (!times->is_there || !figures->num_timed) return;
  cells[TIME] = ppi_cell_time((uint64_t)(figures->ns + 0.5));
  if (all_ns > 0)
    cells[TIME_SHARE] = ppi_cell_decimal(100 * figures->ns / all_ns);
  // FLOPs per ns are GFLOP/s; bytes per ns are GB/s.
  if (!(figures->ns > 0)) return;
  if (figures->timed_flops > 0)
    cells[FLOP_RATE] = ppi_cell_decimal(figures->timed_flops / figures->ns);
  if (figures->timed_bytes > 0)
    cells[BYTE_RATE] = ppi_cell_decimal(figures->timed_bytes / figures->ns);
}

static bool put_node(const filling *fill, const ppi_cost_row *row,
                     ppi_cell *cells) {
  ppi_page reason = {0};
  cells[OUTPUT] = ppi_cell_text(row->output);
  cells[SHAPE] = ppi_cell_text(row->shape);
  if (row->times >= 0) cells[TIMES] = ppi_cell_signed(row->times);
  if (!*row->reason) return true;
  ppi_page_visible(&reason, row->reason);
  const char *why = made_text(fill->view, &reason);
  if (why) cells[REASON] = ppi_cell_text(why);
  ppi_page_clear(&reason);
  return why != NULL;
}

static const char *name_of(const filling *fill, const ppi_cost_group *group) {
  if (!*group->name && !group->op_type && !group->row) return "model";
  // A node's kind is clearer than its name.
  if (group->row && fill->for_people)
    return ppi_view_text(fill->view, "%s %s", group->op_type, group->name);
  return group->name;
}

static bool add_group(const filling *fill, const ppi_cost_group *group) {
  const char *name = name_of(fill, group);
  ppi_cell *cells = ppi_view_add_row(fill->view, 0, 2 * group->level);
  if (!cells || !name) return false;
  cells[NAME] = ppi_cell_text(name);
  if (group->module) cells[MODULE] = ppi_cell_text(group->module);
  if (group->op_type) cells[OPERATOR] = ppi_cell_text(group->op_type);
  cells[LEVEL] = ppi_cell_count(group->level);
  put_figures(fill, &group->figures, cells);
  put_times(fill, &group->figures, cells);
  return !group->row || put_node(fill, group->row, cells);
}

static void put_total(ppi_page *note, const ppi_cost_groups *groups) {
  const ppi_cost_figures *all = &groups->all;
  ppi_page_text(note, "Total: ");
  ppi_cost_number(note, (double)all->params.value, "", all->params.at_least);
  ppi_page_text(note, " parameters (");
  ppi_cost_number(note, (double)all->param_bytes.value, "B",
                  all->param_bytes.at_least);
  ppi_page_text(note, "), ");
  if (all->flops.at_least) ppi_page_text(note, "at least ");
  ppi_cost_number(note, (double)all->macs.value, "", false);
  ppi_page_text(note, " MACs and ");
  ppi_cost_number(note, (double)all->others.value, "", false);
  ppi_page_text(note, " other FLOPs: ");
  ppi_cost_number(note, (double)all->flops.value, "FLOP", false);
  ppi_page_text(note, "\n");
}

static void put_timing(ppi_page *note, const ppi_cost *cost) {
  const ppi_cost_times *times = &cost->times;
  size_t num_timed = 0;
  for (size_t i = 0; i < cost->num_rows; i++)
    num_timed += cost->rows[i].is_timed;
  if (!times->num_chosen)
    ppi_page_text(note, "Time: the mean call of each node");
  else if (times->step >= 0)
    ppi_page_format(note, "Time: run %ld of %zu", times->step, times->num_runs);
  else
    ppi_page_format(note, "Time: the mean of %zu run%s%s", times->num_chosen,
                    times->num_chosen == 1 ? "" : "s",
                    times->num_runs > 1 ? ", without the first" : "");
  if (times->run_ns > 0) {
    ppi_page_text(note, ", ");
    ppi_page_three(note, times->run_ns / 1e6);
    ppi_page_text(note, " ms");
  }
  ppi_page_text(note, "; in nodes ");
  ppi_page_three(note, (times->node_ns + times->strange_ns) / 1e6);
  ppi_page_format(note, " ms, %zu of %zu of the model's\n", num_timed,
                  cost->num_rows);
  if (!times->num_strange) return;
  ppi_page_three(
      note, 100 * times->strange_ns / (times->node_ns + times->strange_ns));
  ppi_page_text(note,
                " % of that is of nodes that the model does not have: another "
                "model ran.\n"
                "ONNX Runtime writes the one that it runs to "
                "optimized_model_filepath.\n");
}

static void put_note(const filling *fill) {
  ppi_page *note = &fill->view->note;
  size_t unused = 0, bodies = 0;
  put_total(note, fill->groups);
  for (size_t i = 0; i < fill->cost->num_rows; i++) {
    unused += fill->cost->rows[i].times == 0;
    bodies += fill->cost->rows[i].times < 0;
  }
  if (unused)
    ppi_page_format(note,
                    "Of branches the one that costs more is counted: %zu nodes "
                    "are in others\n",
                    unused);
  if (bodies)
    ppi_page_format(note,
                    "Of loops without a known number of iterations one is "
                    "counted: %zu nodes\n",
                    bodies);
  ppi_cost_reasons(note, fill->cost);
  if (fill->cost->times.is_there) put_timing(note, fill->cost);
  ppi_page_text(note,
                "FLOPs are twice the MACs and all others; Share is of them. "
                "Bytes: each node reads\nand writes its own.\n");
}

bool ppi_cost_view(const ppi_cost *cost, const ppi_cost_groups *groups,
                   ppi_cost_by by, ppi_report_format format, long top,
                   ppi_view *out) {
  *out = (ppi_view){.kind = cost->times.is_there ? &timed_kind : &kind};
  bool for_people = format == PPI_FORMAT_TABLE || format == PPI_FORMAT_MARKDOWN;
  const filling fill = {out, cost, groups, for_people};
  size_t num = top > 0 && (size_t)top < groups->num ? (size_t)top : groups->num;
  (void)by;
  for (size_t i = 0; i < num; i++)
    if (!add_group(&fill, &groups->items[i])) return false;
  put_note(&fill);
  return !out->note.failed;
}

void ppi_cost_totals(ppi_page *page, const ppi_cost_groups *groups) {
  const ppi_cost_figures *all = &groups->all;
  const struct {
    const char *name;
    const ppi_cost_sum *sum;
  } sums[] = {{"parameters", &all->params},
              {"parameter_bytes", &all->param_bytes},
              {"macs", &all->macs},
              {"flops", &all->flops},
              {"elementwise_flops", &all->others},
              {"input_bytes", &all->in_bytes},
              {"weight_bytes", &all->weight_bytes},
              {"output_bytes", &all->out_bytes}};
  enum { NUM = sizeof sums / sizeof *sums };
  ppi_put_line(page);
  ppi_put_object(page, "totals");
  ppi_put_u64(page, "nodes", all->num_nodes);
  for (size_t i = 0; i < NUM; i++) {
    ppi_put_key(page, sums[i].name);
    ppi_page_format(page, "%" PRId64, sums[i].sum->value);
  }
  ppi_put_array(page, "at_least");
  for (size_t i = 0; i < NUM; i++)
    if (sums[i].sum->at_least) ppi_put_text(page, NULL, sums[i].name);
  ppi_page_text(page, "]}");
}
