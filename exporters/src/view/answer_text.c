// SPDX-License-Identifier: Apache-2.0
//
// Writes the answer and the findings for people, and the findings as JSON.
#include "view/answer_text.h"

#include "file/json_put.h"
#include "view/answer_line.h"
#include "view/fit.h"
#include "view/grid.h"

PPI_VIEW_CELLS(PPI_ANSWER_COLUMNS);

enum { MOST_COLUMNS = 8 };

enum { ENOUGH_FOR_UNITS = 96 };

typedef struct answer_text {
  ppi_page *page;
  const ppi_view *view;
  const ppi_report_options *options;
  ppi_time_unit unit;
  size_t from, total;  // rows of one answer
  ppi_grid_column columns[MOST_COLUMNS];
  size_t cells[MOST_COLUMNS];
  ppi_page calls;  // heading of the calls
  ppi_grid grid;
} answer_text;

static bool are_of_one(const ppi_view *view, size_t a, size_t b) {
  const ppi_cell *left = &ppi_view_cells(view, a)[CELL_of],
                 *right = &ppi_view_cells(view, b)[CELL_of];
  return left->kind == PPI_CELL_NONE || left->text == right->text;
}

size_t ppi_answer_total(const ppi_view *view, size_t from) {
  size_t total = from;
  while (total + 1 < view->num_rows && are_of_one(view, from, total + 1))
    total++;
  return total;
}

static const ppi_cell *total_of(const answer_text *text) {
  return ppi_view_cells(text->view, text->total);
}

static bool has_ranks(const answer_text *text) {
  return total_of(text)[CELL_longest_rank].kind != PPI_CELL_NONE;
}

// ---- cells ----

// Text on the left gets an extra blank after a column of numbers.
static void put_calls(ppi_page *page, const ppi_cell *cell) {
  double calls = cell->number;
  bool is_whole = calls == (double)(uint64_t)calls;
  ppi_page_text(page, " ");
  if (is_whole)
    ppi_page_fixed(page, calls, 0);
  else
    ppi_page_three(page, calls);
}

static void put_share(ppi_page *page, const ppi_cell *cell) {
  double percent = 0;
  ppi_cell_is_ratio(cell, &percent);
  ppi_page_fixed(page, percent, 0);
  ppi_page_text(page, " %");
}

static void put_cell(const answer_text *text, ppi_page *page, size_t row,
                     size_t cell) {
  const ppi_cell *cells = ppi_view_cells(text->view, row), *at = &cells[cell];
  bool is_equal = cells[CELL_rank_max].value <= cells[CELL_rank_min].value;
  if (cell == CELL_name && text->view->rows[row].indent)
    ppi_page_text(page, "\u2514\u2500 ");
  if (at->kind == PPI_CELL_TEXT && !(cell == CELL_longest_rank && is_equal))
    ppi_page_visible(page, at->text);
  else if (at->kind == PPI_CELL_TIME)
    ppi_page_three_time(page, (double)at->value / (double)at->divisor,
                        text->unit);
  else if (at->kind == PPI_CELL_RATIO)
    put_share(page, at);
  else if (at->kind == PPI_CELL_DECIMAL)
    put_calls(page, at);
}

// ---- columns ----

static void take(answer_text *to, size_t cell, ppi_grid_column column) {
  const char *asked = to->options->columns;
  bool is_name = cell == CELL_name || cell == CELL_where;
  column.is_out = asked && !is_name &&
                  !ppi_names_have(asked, to->view->kind->columns[cell].name);
  if (column.is_out) column.rank = 0;
  to->cells[to->grid.num_columns] = cell;
  to->columns[to->grid.num_columns++] = column;
}

// One run has no percentiles.
static void choose(answer_text *to) {
  const ppi_cell *total = total_of(to);
  const char *unit = to->view->unit;
  bool is_run = total[CELL_p50].kind == PPI_CELL_NONE;
  bool has_p99 = total[CELL_p99].kind != PPI_CELL_NONE;
  // On a narrower page the title needs the width of names.
  bool has_room = ppi_page_columns(to->page) >= 80;
  to->grid = (ppi_grid){.columns = to->columns};
  take(to, CELL_name,
       (ppi_grid_column){"", .least = 26, .floor = 12, .is_left = true,
                         .is_loose = has_room});
  take(to, CELL_where,
       (ppi_grid_column){"", .least = 18, .floor = 8, .is_left = true,
                         .is_loose = true});
  take(to, CELL_time_avg,
       (ppi_grid_column){ppi_time_unit_name(to->unit), .least = 7});
  take(to, CELL_share, (ppi_grid_column){"share", .least = 6, .rank = 1});
  if (has_ranks(to)) {
    take(to, CELL_rank_min, (ppi_grid_column){"min", .least = 7, .rank = 4});
    take(to, CELL_rank_median,
         (ppi_grid_column){"median", .least = 7, .rank = 5});
    take(to, CELL_rank_max, (ppi_grid_column){"max", .least = 7, .rank = 2});
    take(to, CELL_longest_rank,
         (ppi_grid_column){"longest", .rank = 3, .floor = 8, .is_left = true});
    return;
  }
  if (!is_run) {
    take(to, CELL_p50, (ppi_grid_column){"p50", .least = 7, .rank = 3});
    take(to, has_p99 ? CELL_p99 : CELL_max,
         (ppi_grid_column){has_p99 ? "p99" : "max", .least = 7, .rank = 2});
  }
  // The title names the unit, too; names need the room more.
  bool is_short = is_run || (!to->options->is_wide &&
                             ppi_page_columns(to->page) < ENOUGH_FOR_UNITS);
  ppi_page_format(&to->calls, is_short ? " calls" : " calls a%s %s",
                  *unit == 'i' ? "n" : "", unit);
  take(to, CELL_calls_avg,
       (ppi_grid_column){to->calls.failed ? "" : to->calls.bytes,
                         .name = "calls", .rank = 6, .is_left = true});
}

// ---- the title ----

// "Where a request's 124 ms go"; short: "A request's 124 ms".
static void put_title(const answer_text *text, ppi_page *title, bool is_short) {
  const ppi_cell *total = total_of(text);
  const char *unit = text->view->unit;
  bool has_name = total[CELL_of].kind != PPI_CELL_NONE;
  bool is_one = total[CELL_p50].kind == PPI_CELL_NONE && has_name;
  bool is_the = is_one || strcmp(unit, "run") == 0;
  const char *article = is_the ? "the" : *unit == 'i' ? "an" : "a";
  if (has_name) {
    ppi_page_visible(title, total[CELL_of].text);
    ppi_page_text(title, is_short ? ": " : ": where ");
  } else if (is_short) {
    article = is_the ? "The" : *unit == 'i' ? "An" : "A";
  } else {
    ppi_page_text(title, "Where ");
  }
  ppi_page_format(title, "%s %s's ", article, unit);
  ppi_page_fitting_time(title, (double)total[CELL_time_avg].value /
                                   (double)total[CELL_time_avg].divisor);
  ppi_page_text(title, is_short ? "" : " go");
}

// The title stands above the names, in place of their headings.
static void put_heading(const answer_text *text) {
  ppi_page title = {0}, line = {0}, headings = {0};
  size_t room = text->columns[0].width + 2 + text->columns[1].width;
  put_title(text, &title, false);
  if (!title.failed && ppi_page_width(title.bytes, title.len) > room) {
    title.len = 0;
    put_title(text, &title, true);
  }
  ppi_grid_put_headings(&headings, &text->grid);
  if (!title.failed && !headings.failed) {
    ppi_page_fit(&line, title.bytes, room);
    ppi_page_bytes(&line, headings.bytes + room, headings.len - room - 1);
  }
  if (!line.failed && line.len) ppi_page_strong(text->page, line.bytes);
  ppi_page_text(text->page, "\n");
  text->page->failed |= title.failed || line.failed || headings.failed;
  ppi_page_clear(&title);
  ppi_page_clear(&line);
  ppi_page_clear(&headings);
}

// The rows from `text->from` on, up to their total.
static void put_table(answer_text *text, const ppi_report_options *options) {
  const ppi_cell *total = total_of(text);
  ppi_grid *grid = &text->grid;
  text->unit = options->has_time_unit
                   ? options->time_unit
                   : ppi_time_unit_of((double)total[CELL_time_avg].value /
                                      (double)total[CELL_time_avg].divisor);
  choose(text);
  for (size_t row = text->from; row <= text->total; row++)
    for (size_t i = 0; i < grid->num_columns; i++) {
      put_cell(text, &grid->text, row, text->cells[i]);
      ppi_grid_end_cell(grid);
    }
  ppi_grid_fit(grid,
               options->is_wide ? SIZE_MAX : ppi_page_columns(text->page));
  ppi_page_text(text->page, "\n");
  ppi_grid_put_prefix(text->page, grid);
  put_heading(text);
  for (size_t row = 0; row <= text->total - text->from; row++)
    ppi_grid_put_row(text->page, grid, row);
  ppi_grid_put_left_out(text->page, grid);
  if (has_ranks(text))
    ppi_page_wrapped(text->page,
                     "min, median and max are over the averages of ranks; for "
                     "each rank: --by rank",
                     0);
  ppi_page_clear(&text->calls);
  ppi_grid_clear(grid);
}

void ppi_answer_put_text(ppi_page *page, const ppi_view *view,
                         const ppi_report_options *options) {
  answer_text text = {.page = page, .view = view, .options = options};
  ppi_page_bytes(page, view->note.bytes, view->note.len);
  for (size_t at = 0; at < view->num_rows; at = text.total + 1) {
    text.from = at;
    text.total = ppi_answer_total(view, at);
    put_table(&text, options);
  }
}

// ---- the key of a finding ----

enum { MOST_NAMES = 4 };

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// Whether `text` has `name` at `at` as words of its own.
static bool stands_at(const char *text, size_t at, const char *name,
                      size_t len) {
  if (!len || strncmp(text + at, name, len) != 0) return false;
  bool begins = at == 0 || !is_word(text[at - 1]) || !is_word(name[0]);
  return begins && (!is_word(text[at + len]) || !is_word(name[len - 1]));
}

static void take_longer(const char *text, size_t at, const char *name,
                        const char **best, size_t *best_len) {
  size_t len = strlen(name);
  if (len <= *best_len || !stands_at(text, at, name, len)) return;
  *best = name;
  *best_len = len;
}

// The longest name of a stage or device at this place; NULL: none.
static const char *name_at(const ppi_figures *figures, const char *text,
                           size_t at, size_t *out_len) {
  const char *best = NULL;
  *out_len = 0;
  for (size_t i = 0; i < figures->num_names; i++)
    take_longer(text, at, figures->names[i].name, &best, out_len);
  for (size_t i = 0; i < figures->num_devices; i++)
    take_longer(text, at, figures->devices[i].name, &best, out_len);
  return best;
}

static bool is_among(const char *const *names, size_t num, const char *name) {
  for (size_t i = 0; i < num; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

// "interference/head/classify": the rule, and each name of the finding's
// sentence once, in order, without figures.
static void put_finding_key(ppi_page *page, const ppi_figures *figures,
                            const ppi_finding *finding) {
  const char *found[MOST_NAMES];
  size_t num = 0, len;
  ppi_page_text(page, finding->id);
  for (size_t at = 0; finding->text[at] && num < MOST_NAMES;) {
    const char *name = name_at(figures, finding->text, at, &len);
    at += name ? len : 1;
    if (!name || is_among(found, num, name)) continue;
    found[num++] = name;
    ppi_page_text(page, "/");
    ppi_page_text(page, name);
  }
}

// ---- findings ----

#define MOST 5

static void put_finding(ppi_page *page, const ppi_finding *finding,
                        size_t number, size_t width) {
  size_t indent = 3 + width + 2;
  ppi_page sentence = {0};
  size_t len = strlen(finding->text);
  bool has_stop = len && finding->text[len - 1] == '.';
  ppi_page_bytes(&sentence, finding->text, len - has_stop);
  if (*finding->sure) ppi_page_format(&sentence, " (%s)", finding->sure);
  ppi_page_text(&sentence, has_stop ? "." : "");
  page->failed |= sentence.failed;
  ppi_page_format(page, "%-3llu", (unsigned long long)number);
  ppi_page_strong(page, finding->id);
  ppi_page_repeat(page, ' ', width - strlen(finding->id) + 2);
  if (!sentence.failed) ppi_page_wrapped(page, sentence.bytes, indent);
  ppi_page_clear(&sentence);
  if (!*finding->next) return;
  ppi_page_repeat(page, ' ', indent);
  ppi_page_text(page, "Next: ");
  ppi_page_wrapped(page, finding->next, indent + strlen("Next: "));
}

// The answer's finding may have the next step.
static const char *next_of(const ppi_findings *findings) {
  const ppi_finding *said = findings->items;
  const ppi_finding *end = findings->items + findings->num;
  if (!*findings->answer || *findings->answer_next)
    return findings->answer_next;
  while (said < end && !said->in_answer) said++;
  return said < end ? said->next : "";
}

static void put_answer(ppi_page *page, const ppi_findings *findings) {
  static const char head[] = "Answer", next[] = "Next: ";
  const size_t indent = strlen(head) + 3;
  const char *todo = next_of(findings);
  if (!*findings->answer) return;
  ppi_page_strong(page, head);
  ppi_page_text(page, "   ");
  ppi_page_wrapped(page, findings->answer, indent);
  if (*todo) {
    ppi_page_repeat(page, ' ', indent);
    ppi_page_text(page, next);
    ppi_page_wrapped(page, todo, indent + strlen(next));
  }
  ppi_page_text(page, "\n");
}

static void put_others(ppi_page *page, const ppi_findings *findings) {
  const ppi_finding *shown[MOST];
  size_t num = 0, width = 0, num_said = 0;
  for (size_t i = 0; i < findings->num; i++) {
    const ppi_finding *finding = &findings->items[i];
    num_said += finding->in_answer;
    if (finding->in_answer || num == MOST) continue;
    shown[num++] = finding;
    if (strlen(finding->id) > width) width = strlen(finding->id);
  }
  if (!findings->num && *findings->nothing) {
    ppi_page_text(page, "\n");
    ppi_page_wrapped(page, findings->nothing, 0);
  }
  if (num) ppi_page_text(page, "\n");
  for (size_t i = 0; i < num; i++) put_finding(page, shown[i], i + 1, width);
  if (findings->num > num + num_said)
    ppi_page_format(page, "%llu more in -f json.\n",
                    (unsigned long long)(findings->num - num - num_said));
}

pprof_status ppi_answer_put_note(ppi_page *page, const ppi_figures *figures,
                                 ppi_base_kind base,
                                 const ppi_report_options *options) {
  ppi_findings findings = {0};
  pprof_status status = ppi_findings_of(figures, options->findings, &findings);
  if (status == PPROF_STATUS_OK) {
    put_answer(page, &findings);
    ppi_answer_put_line(page, figures, base, &options->now_ns);
    put_others(page, &findings);
  }
  ppi_findings_clear(&findings);
  return status;
}

static void put_finding_json(ppi_page *page, const ppi_figures *figures,
                             const ppi_finding *finding, size_t number) {
  ppi_page key = {0};
  put_finding_key(&key, figures, finding);
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "number", number);
  ppi_put_text(page, "id", finding->id);
  ppi_put_text(page, "key", key.bytes ? key.bytes : "");
  page->failed |= key.failed;
  ppi_page_clear(&key);
  ppi_put_text(page, "kind",
               finding->is_limit     ? "limit"
               : finding->is_problem ? "problem"
                                     : "fact");
  ppi_put_u64(page, "explains_ns", finding->ns);
  ppi_put_text(page, "text", finding->text);
  ppi_put_text(page, "evidence", finding->sure);
  ppi_put_text(page, "next", finding->next);
  ppi_put_array(page, "values");
  for (size_t i = 0; i < finding->num_values; i++) {
    const ppi_finding_value *value = &finding->values[i];
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", value->name);
    ppi_put_real(page, "value", value->number);
    ppi_put_text(page, "unit", value->unit);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}

// Begins a row of a list.
static void put_kind(ppi_page *page, const char *kind, const char *name) {
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "kind", kind);
  ppi_put_text(page, "name", name);
}

static void put_stages(ppi_page *page, const ppi_limit *limit, size_t server) {
  ppi_put_array(page, "stages");
  for (size_t i = 0; i < limit->num_demands; i++) {
    const ppi_limit_demand *demand = &limit->demands[i];
    if (demand->server != server) continue;
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", demand->name);
    ppi_put_real(page, "utilization", demand->utilization);
    ppi_put_real(page, "demand", demand->demand_ns);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}

static void put_servers(ppi_page *page, const ppi_limit *limit) {
  ppi_put_array(page, "servers");
  for (size_t i = 0; i < limit->num_servers; i++) {
    const ppi_limit_server *server = &limit->servers[i];
    put_kind(page, ppi_server_kind_name(server->kind), server->name);
    ppi_put_u64(page, "num", server->num);
    ppi_put_real(page, "utilization", server->utilization);
    ppi_put_real(page, "occupied", server->occupied);
    ppi_put_real(page, "demand", server->demand_ns);
    ppi_put_real(page, "in_line", server->line_ns);
    put_stages(page, limit, i);
  }
  ppi_page_text(page, "]");
}

static void put_blame(ppi_page *page, const ppi_limit *limit) {
  ppi_put_array(page, "blame");
  for (size_t i = 0; i < limit->num_blames; i++) {
    const ppi_limit_blame *blame = &limit->blames[i];
    put_kind(page, ppi_blame_kind_name(blame->kind), blame->name);
    ppi_put_real(page, "time", blame->ns);
    ppi_put_real(page, "usual", blame->usual_ns);
    ppi_put_real(page, "slow", blame->slow_ns);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  ppi_put_real(page, "hand_overs", (double)limit->num_edges);
  ppi_put_real(page, "hand_overs_differ", (double)limit->num_differ);
}

static void put_gaps(ppi_page *page, const ppi_limit *limit) {
  ppi_put_text(page, "idle_device", limit->idle_device);
  ppi_put_real(page, "stops", limit->stops);
  ppi_put_array(page, "gaps");
  for (size_t i = 0; i < limit->num_gaps; i++) {
    const ppi_limit_gap *gap = &limit->gaps[i];
    put_kind(page, ppi_gap_kind_name(gap->kind), gap->name);
    ppi_put_real(page, "time", gap->ns);
    ppi_put_real(page, "part", gap->part);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_limit(ppi_page *page, const ppi_limit *limit,
                      const char *process) {
  ppi_put_line(page);
  ppi_put_object(page, "limit");
  ppi_put_text(page, "claim", ppi_limit_claim_name(limit->claim));
  ppi_put_text(page, "verdict", limit->verdict ? limit->verdict : "");
  ppi_put_text(page, "process", process);
  ppi_put_array(page, "names");
  for (size_t i = 0; i < limit->num_names; i++)
    ppi_put_text(page, NULL, limit->names[i]);
  ppi_page_text(page, "]");
  ppi_put_real(page, "utilization", limit->utilization);
  ppi_put_real(page, "demand", limit->demand_ns);
  ppi_put_real(page, "bound", limit->bound);
  ppi_put_text(page, "next_limit", limit->next_limit);
  ppi_put_text(page, "sentence", limit->sentence);
  ppi_put_text(page, "next", limit->next);
  put_servers(page, limit);
  put_blame(page, limit);
  put_gaps(page, limit);
  ppi_page_text(page, "}");
}

void ppi_findings_put_members(ppi_page *page, const ppi_figures *figures,
                              const ppi_findings *findings, size_t most) {
  size_t number = 0;
  ppi_put_line(page);
  ppi_put_text(page, "answer", findings->answer);
  ppi_put_text(page, "next", next_of(findings));
  put_limit(page, &figures->limit, findings->process);
  ppi_put_line(page);
  ppi_put_array(page, "findings");
  for (size_t i = 0; i < findings->num && i < most; i++) {
    const ppi_finding *finding = &findings->items[i];
    ppi_put_line(page);
    number += !finding->in_answer;
    put_finding_json(page, figures, finding, finding->in_answer ? 0 : number);
  }
  ppi_page_text(page, "]");
}

pprof_status ppi_findings_put_json(ppi_page *page, const ppi_figures *figures,
                                   const ppi_findings_options *options) {
  ppi_findings findings = {0};
  pprof_status status = ppi_findings_of(figures, options, &findings);
  if (status == PPROF_STATUS_OK)
    ppi_findings_put_members(page, figures, &findings, SIZE_MAX);
  ppi_findings_clear(&findings);
  return status;
}
