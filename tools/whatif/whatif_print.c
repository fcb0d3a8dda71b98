// SPDX-License-Identifier: Apache-2.0
#include "whatif/whatif_print.h"

#include <inttypes.h>
#include <math.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "print/report_print.h"

#define COLUMNS(each)                                                          \
  each(CELL_NAME, "name", NULL) each(CELL_TIMED, "timed", NULL) each(          \
      CELL_FACTOR, "factor", NULL) each(CELL_LENGTH, "length", "ns")           \
      each(CELL_RATE, "rate", "/s") each(CELL_RATE_LOW, "rate_low", "/s")      \
          each(CELL_RATE_HIGH, "rate_high", "/s") each(CELL_GAIN, "gain", "%") \
              each(CELL_P50, "p50", "ns") each(CELL_P50_LOW, "p50_low", "ns")  \
                  each(CELL_P50_HIGH, "p50_high", "ns")                        \
                      each(CELL_P99, "p99", "ns") each(CELL_P99_LOW,           \
                                                       "p99_low", "ns")        \
                          each(CELL_P99_HIGH, "p99_high", "ns") each(          \
                              CELL_P99_CHANGE, "p99_change", "%")              \
                              each(CELL_LIMIT, "limits", NULL) each(           \
                                  CELL_LIMIT_TIMED, "limits_timed", NULL)      \
                                  each(CELL_LIMIT_SHARE, "limits_share", "%")
PPI_VIEW_COLUMNS(COLUMNS);

static const ppi_table_column table_columns[] = {
    {"Name", 10, CELL_NAME, 1},
    {"Timed", 5, CELL_TIMED, 1},
    {"Factor", 6, CELL_FACTOR, 1},
    {"Length", 6, CELL_LENGTH, 1},
    {"Per s / Low / High", 18, CELL_RATE, 3},
    {"Gain(%)", 7, CELL_GAIN, 1},
    {"P50", 5, CELL_P50, 1},
    {"P99 / Low / High", 16, CELL_P99, 3},
    {"P99 +(%)", 8, CELL_P99_CHANGE, 1},
    {"Limits / Timed / Of path(%)", 20, CELL_LIMIT, 3},
};
static const size_t brief[] = {CELL_NAME,  CELL_TIMED,      CELL_RATE,
                               CELL_GAIN,  CELL_P99,        CELL_P99_CHANGE,
                               CELL_LIMIT, CELL_LIMIT_SHARE};
static const ppi_view_kind kind = {.name = "whatif",
                                   .title = "What If",
                                   PPI_VIEW_LAYOUT(columns, table_columns),
                                   PPI_VIEW_BRIEF(brief),
                                   .has_time_unit = true,
                                   .end = PPI_TABLE_END_NOTE};

static const char *unit_name(const ppi_whatif_answers *answers) {
  static const char *const names[] = {"requests", "steps", "runs"};
  return names[answers->unit];
}

// In percent, to the hundredth that tables show: no -0.00.
static double change(double before, double after) {
  if (!(before > 0)) return 0;
  double percent = 100 * (after / before - 1);
  return fabs(percent) < 0.005 ? 0 : percent;
}

double ppi_whatif_gain(const ppi_whatif_answers *answers,
                       const ppi_whatif_result *result) {
  if (answers->unit == PPI_WHATIF_RUN || !(answers->recorded.rate.value > 0))
    return change(result->path_ns, answers->recorded.path_ns);
  return change(answers->recorded.rate.value, result->rate.value);
}

// ---- rows ----

static const char *side_of(const ppi_whatif_stage *stage) {
  return stage->on_device ? "device" : "host";
}

static const ppi_whatif_stage *stage_at(const ppi_whatif_answers *answers,
                                        uint32_t id) {
  return id ? &answers->graph->log->stages[id - 1] : NULL;
}

static ppi_cell time_of(double ns) {
  return ppi_cell_time((uint64_t)(ns + 0.5));
}

static void put_figures(const ppi_whatif_answers *answers,
                        const ppi_whatif_result *result, ppi_cell *cells) {
  const ppi_whatif_stage *limit = stage_at(answers, result->limit);
  cells[CELL_LENGTH] = time_of(result->path_ns);
  if (result->rate.value > 0)
    cells[CELL_RATE] = ppi_cell_decimal(result->rate.value);
  if (result->rate.high > 0) {
    cells[CELL_RATE_LOW] = ppi_cell_decimal(result->rate.low);
    cells[CELL_RATE_HIGH] = ppi_cell_decimal(result->rate.high);
  }
  if (answers->unit != PPI_WHATIF_RUN) {
    const ppi_whatif_figure *const figures[] = {&result->p50, &result->p99};
    for (size_t i = 0; i < 2; i++) {
      ppi_cell *at = &cells[i ? CELL_P99 : CELL_P50];
      at[0] = time_of(figures[i]->value);
      if (!(figures[i]->high > 0)) continue;
      at[1] = time_of(figures[i]->low);
      at[2] = time_of(figures[i]->high);
    }
  }
  cells[CELL_LIMIT] = ppi_cell_text(limit ? limit->name : "(between stages)");
  if (limit) cells[CELL_LIMIT_TIMED] = ppi_cell_text(side_of(limit));
  if (result->path_ns > 0)
    cells[CELL_LIMIT_SHARE] =
        ppi_cell_decimal(100 * result->limit_ns / result->path_ns);
}

static bool put_answer(const ppi_whatif_answers *answers,
                       const ppi_whatif_answer *answer, ppi_view *view) {
  const ppi_whatif_stage *stage = stage_at(answers, answer->stage);
  const ppi_whatif_result *result = &answer->result;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[CELL_NAME] = ppi_cell_text(stage ? stage->name : "(predicted)");
  if (stage) {
    cells[CELL_TIMED] = ppi_cell_text(side_of(stage));
    cells[CELL_FACTOR] = ppi_cell_decimal(answer->factor);
  }
  put_figures(answers, result, cells);
  cells[CELL_GAIN] = ppi_cell_decimal(ppi_whatif_gain(answers, result));
  if (answers->unit != PPI_WHATIF_RUN)
    cells[CELL_P99_CHANGE] = ppi_cell_decimal(
        change(answers->recorded.p99.value, result->p99.value));
  return true;
}

static bool fill_rows(const ppi_whatif_answers *answers, ppi_view *view) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  bool filled = cells != NULL;
  if (filled) {
    cells[CELL_NAME] = ppi_cell_text("(recorded)");
    put_figures(answers, &answers->recorded, cells);
  }
  for (size_t i = 0; i < answers->num && filled; i++)
    filled = put_answer(answers, &answers->items[i], view);
  return filled;
}

// ---- what it rests on, and what it cannot know ----

static void put_basis(const ppi_whatif_answers *answers, ppi_page *notes) {
  if (answers->unit == PPI_WHATIF_RUN) {
    ppi_page_text(notes,
                  "No requests (pprof_flow) and no steps (pprof_step), or too "
                  "few: gain is of the whole run's length; of throughput and "
                  "p99 nothing is known\n");
    return;
  }
  ppi_page_format(notes, "Of %zu %s", answers->recorded.num,
                  unit_name(answers));
  if (answers->num_warm)
    ppi_page_format(notes, "; the first %zu had no part (--warmup)",
                    answers->num_warm);
  if (!(answers->recorded.p99.high > 0))
    ppi_page_text(notes,
                  "; too few for an interval of p99, which takes 100 and more");
  ppi_page_text(notes, "\n");
}

static size_t num_threads(const ppi_whatif_log *log) {
  size_t num = 0;
  for (size_t i = 0; i < log->num_rows; i++)
    num += !log->rows[i].is_stream && log->rows[i].num_ranges;
  return num;
}

static void put_links(const ppi_whatif_answers *answers, ppi_page *notes) {
  const ppi_whatif_graph *graph = answers->graph;
  size_t num = num_threads(graph->log);
  if (graph->in_flight)
    ppi_page_format(notes,
                    "At most %" PRIu32
                    " requests are under way: each further one waits until one "
                    "has ended\n",
                    graph->in_flight);
  if (num < 2) return;
  if (!graph->num_requests)
    ppi_page_format(
        notes,
        "No range names a request (pprof_flow): what the %zu threads "
        "hand to each other is not known, each is replayed by "
        "itself\n",
        num);
  else if (!graph->in_flight)
    ppi_page_text(notes,
                  "Nothing shows a limit of requests under way: queues are "
                  "taken to have room, and arrivals to come as they came\n");
}

static void put_waits(const ppi_whatif_answers *answers, ppi_page *notes) {
  const ppi_whatif_log *log = answers->graph->log;
  const char *before = "Taken as waits, as they end when something else has: ";
  for (size_t i = 0; i < log->num_stages; i++) {
    if (!answers->graph->is_wait[i + 1]) continue;
    ppi_page_text(notes, before);
    ppi_page_visible(notes, log->stages[i].name);
    before = ", ";
  }
  if (*before == ',') ppi_page_text(notes, "\n");
}

static void put_unknown(const ppi_whatif_answers *answers, ppi_page *notes) {
  const ppi_whatif_graph *graph = answers->graph;
  const ppi_whatif_result *recorded = &answers->recorded;
  double between = recorded->path_ns > 0
                       ? 100 * recorded->between_ns / recorded->path_ns
                       : 0;
  if (between >= 1) {
    ppi_page_fixed(notes, between, 0);
    ppi_page_text(
        notes,
        " % of the longest path lie in no stage, and nothing that was "
        "recorded explains them: they stay as they are\n");
  }
  if (graph->log->num_untimed)
    ppi_page_format(notes,
                    "%" PRIu64
                    " device ranges have no time: what waits for them is not "
                    "known\n",
                    graph->log->num_untimed);
  if (graph->log->num_lost)
    ppi_page_format(notes,
                    "%" PRIu64
                    " records were lost: what they would have linked is not\n",
                    graph->log->num_lost);
  if (graph->num_large)
    ppi_page_format(notes,
                    "%zu requests have more than %d ranges: what these waited "
                    "for is not known\n",
                    graph->num_large, PPI_WHATIF_MOST_SERVED);
  if (answers->num_unranked)
    ppi_page_format(notes, "%zu further stages have less time than these\n",
                    answers->num_unranked);
}

static void put_head(const ppi_whatif_answers *answers, ppi_page *page) {
  ppi_page_format(page, "{\"schema\":\"pprof.whatif/1\",\n\"unit\":\"%s\",",
                  unit_name(answers));
  ppi_page_format(page, "\"count\":%zu,\"cold\":%zu,\"in_flight\":",
                  answers->recorded.num, answers->num_warm);
  if (answers->graph->in_flight)
    ppi_page_format(page, "%" PRIu32 ",\n", answers->graph->in_flight);
  else
    ppi_page_text(page, "null,\n");
}

int ppi_whatif_print(const struct ppi_tool_options *options,
                     const ppi_whatif_answers *answers) {
  ppi_report_format format = ppi_report_format_of(options->format);
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = options->raw};
  put_basis(answers, &view.note);
  put_links(answers, &view.note);
  put_waits(answers, &view.note);
  put_unknown(answers, &view.note);
  bool filled = fill_rows(answers, &view) && !view.note.failed;
  if (format == PPI_FORMAT_JSON) put_head(answers, &page);
  ppi_print_view(&page, &view, format, PPI_TIME_MS);
  if (format == PPI_FORMAT_JSON) {
    ppi_tool_rows_lines(&page, "notes", &view.note);
    ppi_page_text(&page, "}\n");
  }
  page.failed |= !filled;
  ppi_view_clear(&view);
  return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
}
