// SPDX-License-Identifier: Apache-2.0
//
// Runs `fleet`: answers a query over the runs of many ranks, from a folder that
// `export parquet` filled.
#include <stdlib.h>

#include "cli/output.h"
#include "duckdb/duckdb.h"
#include "fleet/fleet.h"
#include "verb/answer.h"
#include "verb/verbs.h"

int ppi_tool_fleet_operands(struct ppi_tool_options *options) {
  bool has_view = options->fleet.view != NULL;
  if (options->num_inputs != (has_view ? 1 : 2))
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'fleet' needs a folder, and a query or --view; see docs/sql.md");
  options->to.query = has_view ? ppi_fleet_query_of(options->fleet.view)
                               : options->inputs[--options->num_inputs];
  return PPI_EXIT_DONE;
}

typedef struct rows {
  ppi_query_answer base;
  ppi_duck *duck;
  ppi_duck_result result;
  uint64_t row;  // from 1
  char *text;    // the cell
} rows;

static const char *column_name(ppi_query_answer *answer, int at) {
  rows *from = (rows *)answer;
  return from->duck->api->column_name(&from->result, (uint64_t)at);
}

static bool next_row(ppi_query_answer *answer) {
  rows *from = (rows *)answer;
  return ++from->row <= from->duck->api->row_count(&from->result);
}

static const char *cell(ppi_query_answer *answer, int at, bool *is_number) {
  rows *from = (rows *)answer;
  const ppi_duck_api *duck = from->duck->api;
  *is_number = ppi_duck_is_number(from->duck, &from->result, (uint64_t)at);
  if (from->text) duck->free(from->text);
  from->text = duck->value_varchar(&from->result, (uint64_t)at, from->row - 1);
  return from->text;
}

// Whether all columns of the answer can be printed; if not, names one that
// cannot.
static bool has_texts(rows *from) {
  for (int at = 0; at < from->base.num_columns; at++) {
    if (ppi_duck_has_text(from->duck, &from->result, (uint64_t)at)) continue;
    ppi_tool_say(
        "column '%s' has a type that cannot be printed; "
        "CAST(... AS VARCHAR) makes a text of it",
        column_name(&from->base, at));
    return false;
  }
  return true;
}

// Answers the exit code; `page` has the output.
static int ask(const struct ppi_tool_options *options, ppi_duck *duck,
               ppi_page *page) {
  rows answer = {{.column_name = column_name, .next = next_row, .cell = cell},
                 .duck = duck};
  if (!ppi_duck_select(duck, options->to.query, &answer.result))
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", duck->failure);
  answer.base.num_columns = (int)duck->api->column_count(&answer.result);
  bool is_whole = has_texts(&answer);
  if (is_whole) ppi_answer_put(page, &answer.base, options);
  if (answer.text) duck->api->free(answer.text);
  duck->api->destroy_result(&answer.result);
  return is_whole ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

// A query reads nothing but the fleet's folder.
static int ask_duckdb(const struct ppi_tool_options *options, ppi_page *views,
                      ppi_page *page) {
  ppi_duck duck;
  pprof_error error = {""};
  int code = PPI_EXIT_USAGE;
  if (ppi_duck_open(&duck, &error) != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
  } else {
    ppi_duck_exec(&duck, views->bytes);
    if (ppi_duck_failed(&duck)) {
      ppi_tool_say("%s", duck.failure);
      code = PPI_EXIT_INPUT;
    } else {
      code = ask(options, &duck, page);
    }
  }
  ppi_duck_close(&duck);
  return code;
}

static int answer(const struct ppi_tool_options *options,
                  const ppi_fleet *fleet) {
  const char *engine = options->fleet.print_sql;
  bool is_spark = engine && strcmp(engine, "spark") == 0;
  ppi_page views = {0}, page = {.is_raw = options->raw};
  int code = PPI_EXIT_DONE;
  ppi_fleet_put_views(&views, fleet, is_spark ? PPI_ON_SPARK : PPI_ON_DUCKDB,
                      options->to.query);
  if (views.failed) ppi_tool_must(NULL);
  if (engine) {
    ppi_page_bytes(&page, views.bytes, views.len);
    ppi_page_text(&page, options->to.query);
  } else {
    code = ask_duckdb(options, &views, &page);
  }
  ppi_page_clear(&views);
  if (code == PPI_EXIT_DONE) return ppi_tool_output_page(options, &page, code);
  ppi_page_clear(&page);
  return code;
}

int ppi_tool_fleet(const struct ppi_tool_options *options) {
  ppi_fleet fleet;
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  code = ppi_fleet_open(&fleet, options->inputs[0]);
  if (code != PPI_EXIT_INPUT) {
    int answered = answer(options, &fleet);
    if (answered > code || (answered && code == PPI_EXIT_DAMAGED))
      code = answered;
  }
  ppi_fleet_clear(&fleet);
  return code;
}
