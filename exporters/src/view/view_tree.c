// SPDX-License-Identifier: Apache-2.0
//
// The tree of what lies in what: a stage that is called from two places stands
// under both. Flat, the same columns by name.
#include "view/view_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "names/glob.h"
#include "view/fit.h"
#include "view/view_sort.h"
#include "view/view_stages.h"
#include "view/wrapped.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(CALLS, "calls", NULL) \
  each(TOTAL, "total", "ns") \
  each(WALL, "wall_share", "%") \
  each(SELF, "self", "ns") \
  each(AVG, "avg", "ns") \
  each(P50, "p50", "ns") \
  each(P99, "p99", "ns") \
  each(STD, "std", "ns") \
  each(MOST, "max", "ns") \
  each(DEVICE, "device", "ns") \
  each(RATE, "rate_own", "1/s") \
  each(USER, "user", "ns") \
  each(SYS, "sys", "ns") \
  each(QUEUE, "run_queue", "ns") \
  each(WALL_NS, "wall", "ns") \
  each(LEVEL, "level", NULL) \
  each(WHERE, "where", NULL) \
  each(CATEGORY, "category", NULL) \
  each(PATH, "path", NULL)
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const ppi_table_column table_columns[] = {{"Name", 15, NAME, 1}};

// Below so many calls the greatest one stands for P99.
#define FEW 100

// ---- the rows ----

typedef struct tree_node {
  const ppi_report_path *path;
  const struct tree_node *up;  // NULL: at the root
  size_t level;
  ppi_cell key;
  bool has_match;   // itself, or in it
  bool is_matched;  // itself, or around it
} tree_node;

typedef struct tree_rows {
  const ppi_figures *figures;
  const ppi_report_options *options;
  tree_node *nodes;  // in the order of keys: what lies in one is behind it
  tree_node **order;
  uint32_t *num_paths[2];  // of each name; [1]: on the device
  size_t num;
} tree_rows;

static const ppi_report_name *name_of(const ppi_figures *figures,
                                      const ppi_report_path *path) {
  size_t low = 0, high = figures->num_names;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const ppi_report_name *name = &figures->names[middle];
    int order = strcmp(name->category_name, path->category_name);
    if (order == 0) order = strcmp(name->name, path->name);
    if (order == 0) return name;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static bool lies_in(const ppi_report_path *path, const ppi_report_path *up) {
  size_t len = strlen(up->key);
  return strncmp(path->key, up->key, len) == 0 &&
         path->key[len] == *PPI_PATH_STEP;
}

static ppi_cell key_of(const ppi_report_path *path, ppi_sort_key key) {
  switch (key) {
    case PPI_SORT_WALL:
      return ppi_cell_time(path->wall_ns);
    case PPI_SORT_SELF:
      return ppi_cell_time(path->self_ns);
    case PPI_SORT_HOST_MEAN:
      return ppi_cell_average(&path->spread);
    case PPI_SORT_STD:
      return ppi_cell_deviation(&path->spread);
    case PPI_SORT_P50:
      return ppi_cell_quantile(&path->times, 50);
    case PPI_SORT_P99:
      return ppi_cell_quantile(&path->times, 99);
    case PPI_SORT_HOST_MAX:
      return ppi_cell_most(&path->spread);
    case PPI_SORT_DEVICE_TOTAL:
      return ppi_cell_time(path->device_ns);
    case PPI_SORT_CALLS:
      return ppi_cell_count(ppi_spread_calls(&path->spread));
    default:
      return ppi_cell_time(path->spread.sum);
  }
}

// Those directly in one are sorted; a path comes before all that lies in it.
static int compare_nodes(const void *left, const void *right) {
  const tree_node *a = *(tree_node *const *)left;
  const tree_node *b = *(tree_node *const *)right;
  size_t a_level = a->level, b_level = b->level;
  while (a->level > b_level) a = a->up;
  while (b->level > a_level) b = b->up;
  if (a == b) return (a_level > b_level) - (a_level < b_level);
  while (a->up != b->up) {
    a = a->up;
    b = b->up;
  }
  int order = ppi_sort_compare(PPI_SORT_NONE, &a->key, &b->key);
  return order ? order : strcmp(a->path->key, b->path->key);
}

static void make_nodes(tree_rows *tree) {
  const char *filter = tree->options->filter;
  ppi_sort_key key = ppi_sort_key_of(tree->options);
  const tree_node *last = NULL;
  for (size_t i = 0; i < tree->num; i++) {
    const ppi_report_path *path = &tree->figures->paths[i];
    while (last && !lies_in(path, last->path)) last = last->up;
    tree_node *node = tree->order[i] = &tree->nodes[i];
    bool matches = !filter || ppi_glob_match(filter, path->name);
    *node = (tree_node){.path = path,
                        .up = last,
                        .level = last ? last->level + 1 : 1,
                        .key = key_of(path, key),
                        .has_match = matches,
                        .is_matched = matches || (last && last->is_matched)};
    const ppi_report_name *name = name_of(tree->figures, path);
    if (name) tree->num_paths[path->on_device][name - tree->figures->names]++;
    last = node;
  }
  for (size_t i = tree->num; i-- > 0;)
    if (tree->nodes[i].has_match && tree->nodes[i].up)
      ((tree_node *)tree->nodes[i].up)->has_match = true;
}

// What is known by name is shown where the name has one place.
static void put_of_name(const tree_rows *tree, const ppi_report_path *path,
                        ppi_cell *cells) {
  const ppi_report_name *name = name_of(tree->figures, path);
  if (!name) return;
  size_t at = (size_t)(name - tree->figures->names);
  if (tree->num_paths[path->on_device][at] != 1) return;
  bool is_timed_here = path->on_device == (name->device.n > 0);
  if (is_timed_here && tree->figures->details.stages)
    cells[RATE] = ppi_stage_rate(tree->figures, name);
  const ppi_cpu_sums *cpu = &name->cpu;
  if (path->on_device || !cpu->num_known) return;
  cells[USER] = ppi_cell_time(cpu->user_ns);
  cells[SYS] = ppi_cell_time(cpu->sys_ns);
  if (cpu->num_queued == cpu->num_known)
    cells[QUEUE] = ppi_cell_time(cpu->run_queue_ns);
}

// "a / b / c"
static const char *path_text(ppi_view *view, const char *key) {
  ppi_page page = {0};
  for (const char *at = key; *at;) {
    size_t len = strcspn(at, PPI_PATH_CATEGORY);
    ppi_page_bytes(&page, at, len);
    at += strcspn(at, PPI_PATH_STEP);
    if (*at) at++;
    if (*at) ppi_page_text(&page, " / ");
  }
  const char *text = page.failed ? NULL
                                 : ppi_view_text(view, "%.*s", (int)page.len,
                                                 page.len ? page.bytes : "");
  ppi_page_clear(&page);
  return text;
}

static bool add_row(ppi_view *view, const tree_rows *tree,
                    const tree_node *node) {
  const ppi_report_path *path = node->path;
  const char *text = path_text(view, path->key);
  ppi_cell *cells = ppi_view_add_row(view, 0, node->level - 1);
  if (!cells || !text) return false;
  cells[NAME] = ppi_cell_text(path->name);
  cells[PATH] = ppi_cell_text(text);
  cells[LEVEL] = ppi_cell_count(node->level);
  cells[WHERE] = ppi_cell_text(path->on_device ? "device" : "host");
  cells[CATEGORY] = ppi_cell_text(path->category_name);
  cells[CALLS] = ppi_cell_count(ppi_spread_calls(&path->spread));
  cells[TOTAL] = ppi_cell_time(path->spread.sum);
  cells[WALL] = ppi_cell_ratio((int64_t)path->wall_ns, tree->figures->wall_ns);
  cells[WALL_NS] = ppi_cell_time(path->wall_ns);
  cells[SELF] = ppi_cell_time(path->self_ns);
  if (path->device_ns) cells[DEVICE] = ppi_cell_time(path->device_ns);
  put_of_name(tree, path, cells);
  if (!path->times.n) return true;
  cells[AVG] = ppi_cell_average(&path->spread);
  cells[STD] = ppi_cell_deviation(&path->spread);
  cells[P50] = ppi_cell_quantile(&path->times, 50);
  cells[MOST] = ppi_cell_most(&path->spread);
  if (path->times.n >= FEW) cells[P99] = ppi_cell_quantile(&path->times, 99);
  return true;
}

static pprof_status add_rows(tree_rows *tree, ppi_view *view) {
  const ppi_report_options *options = tree->options;
  size_t most = options->top > 0 ? (size_t)options->top : SIZE_MAX;
  if (tree->num > 1)
    qsort(tree->order, tree->num, sizeof *tree->order, compare_nodes);
  for (size_t i = 0; i < tree->num && view->num_rows < most; i++) {
    const tree_node *node = tree->order[i];
    if (!node->has_match && !node->is_matched) continue;
    if (options->depth > 0 && node->level > (size_t)options->depth) continue;
    if (!add_row(view, tree, node)) return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static pprof_status build(const ppi_figures *figures,
                          const ppi_report_options *options, ppi_view *out) {
  size_t num = figures->num_paths, num_names = figures->num_names;
  tree_rows tree = {.figures = figures, .options = options, .num = num};
  tree.nodes = ppi_alloc((num + 1) * sizeof *tree.nodes);
  tree.order = ppi_alloc((num + 1) * sizeof *tree.order);
  tree.num_paths[0] = ppi_alloc((num_names + 1) * sizeof **tree.num_paths);
  tree.num_paths[1] = ppi_alloc((num_names + 1) * sizeof **tree.num_paths);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  if (tree.nodes && tree.order && tree.num_paths[0] && tree.num_paths[1]) {
    make_nodes(&tree);
    status = add_rows(&tree, out);
  }
  ppi_free(tree.nodes);
  ppi_free(tree.order);
  ppi_free(tree.num_paths[0]);
  ppi_free(tree.num_paths[1]);
  if (!out->num_rows)
    out->reason =
        options->filter && num ? "no name fits --filter" : "no ranges";
  ppi_page_text(&out->note, "wall: share of the ");
  ppi_page_fitting_time(&out->note, (double)figures->wall_ns);
  ppi_page_text(&out->note,
                " recorded, moments of several threads counted once; total, "
                "self, device: sums over calls; self: without what is directly "
                "inside; device: submitted inside.");
  return status;
}

// ---- as a text ----

// The columns in the order in which they are shown; of those that the width has
// no room for the last in `rank` go first.
typedef struct shown_column {
  const char *name;  // also that of --columns
  size_t cell;
  size_t rank, width;
  void (*put)(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit);
} shown_column;

static void put_time(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  (void)unit;
  ppi_page_fitting_time(page, (double)cell->value / (double)cell->divisor);
}

static void put_time_in(ppi_page *page, const ppi_cell *cell,
                        ppi_time_unit unit) {
  ppi_page_three_time(page, (double)cell->value / (double)cell->divisor, unit);
}

static void put_count(ppi_page *page, const ppi_cell *cell,
                      ppi_time_unit unit) {
  ppi_page_table_cell(page, cell, ppi_page_visible, unit);
}

static void put_share(ppi_page *page, const ppi_cell *cell,
                      ppi_time_unit unit) {
  double percent = 0;
  (void)unit;
  if (!ppi_cell_is_ratio(cell, &percent)) return;
  ppi_page_fixed(page, percent, percent < 9.95 && percent > 0 ? 1 : 0);
  ppi_page_text(page, " %");
}

static void put_rate(ppi_page *page, const ppi_cell *cell, ppi_time_unit unit) {
  (void)unit;
  ppi_page_three(page, cell->number);
}

static const shown_column shown[] = {
    {"calls", CALLS, 0, 8, put_count},      {"total", TOTAL, 1, 9, put_time},
    {"wall", WALL, 2, 7, put_share},        {"self", SELF, 3, 9, put_time},
    {"avg", AVG, 4, 9, put_time},           {"std", STD, 8, 9, put_time},
    {"p50", P50, 5, 9, put_time},           {"p99", P99, 6, 9, put_time},
    {"device", DEVICE, 7, 9, put_time},     {"items/s", RATE, 9, 9, put_rate},
    {"user", USER, 10, 9, put_time},        {"sys", SYS, 11, 9, put_time},
    {"run-queue", QUEUE, 12, 11, put_time}, {"max", MOST, 13, 9, put_time},
};
enum {
  NUM_SHOWN = sizeof shown / sizeof *shown,
  LEAST_NAME = 12,
  USUAL_NAME = 28
};

static size_t find_column(const char *name, size_t len) {
  size_t i = 0;
  while (i < NUM_SHOWN && (strlen(shown[i].name) != len ||
                           memcmp(shown[i].name, name, len) != 0))
    i++;
  return i;
}

bool ppi_tree_knows(const char *names) {
  for (const char *at = names;; at++) {
    size_t len = strcspn(at, ",");
    if (find_column(at, len) == NUM_SHOWN) return false;
    at += len;
    if (!*at) return true;
  }
}

const char *ppi_tree_columns(void) {
  return "calls|total|wall|self|avg|std|p50|p99|device|items/s|user|sys|"
         "run-queue|max";
}

typedef struct tree_text {
  ppi_page *page;
  const ppi_view *view;
  const ppi_report_options *options;
  size_t columns[NUM_SHOWN], num, name_width;
  bool all_few;  // the column p99 is the greatest of all rows
} tree_text;

static const ppi_cell *cells_of(const tree_text *text, size_t row) {
  return text->view->cells + row * NUM_COLUMNS;
}

static bool has_any(const tree_text *text, size_t column) {
  if (shown[column].cell == MOST && text->all_few) return false;
  for (size_t row = 0; row < text->view->num_rows; row++)
    if (cells_of(text, row)[shown[column].cell].kind != PPI_CELL_NONE)
      return true;
  return shown[column].cell == P99;
}

static void put_branch(ppi_page *page, const ppi_view *view, size_t row) {
  size_t indent = view->rows[row].indent;
  if (!indent) return;
  ppi_page_repeat(page, ' ', 2 * (indent - 1));
  ppi_page_text(page, "\u2514\u2500 ");
}

static void put_name(ppi_page *page, const tree_text *text, size_t row) {
  const ppi_cell *cells = cells_of(text, row);
  put_branch(page, text->view, row);
  ppi_page_visible(page, cells[NAME].text);
  if (*cells[WHERE].text == 'd') ppi_page_text(page, " (device)");
}

static size_t widest_name(const tree_text *text) {
  size_t widest = LEAST_NAME;
  ppi_page scratch = {0};
  for (size_t row = 0; row < text->view->num_rows; row++) {
    scratch.len = 0;
    put_name(&scratch, text, row);
    size_t width =
        scratch.failed ? 0 : ppi_page_width(scratch.bytes, scratch.len);
    if (width > widest) widest = width;
  }
  ppi_page_clear(&scratch);
  return widest;
}

static void take_named(tree_text *text) {
  for (const char *at = text->options->columns;; at++) {
    size_t len = strcspn(at, ",");
    size_t column = find_column(at, len);
    if (column < NUM_SHOWN && text->num < NUM_SHOWN)
      text->columns[text->num++] = column;
    at += len;
    if (!*at) return;
  }
}

static size_t of_rank(size_t rank) {
  size_t column = 0;
  while (shown[column].rank != rank) column++;
  return column;
}

static void take_fitting(tree_text *text, size_t room) {
  bool fits[NUM_SHOWN] = {false};
  for (size_t rank = 0; rank < NUM_SHOWN; rank++) {
    size_t column = of_rank(rank);
    if (!has_any(text, column)) continue;
    if (room < shown[column].width) break;
    room -= shown[column].width;
    fits[column] = true;
  }
  for (size_t i = 0; i < NUM_SHOWN; i++)
    if (fits[i]) text->columns[text->num++] = i;
}

static void choose(tree_text *text) {
  size_t widest = widest_name(text), taken = 0;
  size_t width =
      text->options->is_wide ? SIZE_MAX : ppi_page_columns(text->page);
  size_t least = widest < USUAL_NAME ? widest : USUAL_NAME;
  text->all_few = true;
  for (size_t row = 0; row < text->view->num_rows; row++)
    text->all_few &= cells_of(text, row)[P99].kind == PPI_CELL_NONE;
  if (text->options->columns)
    take_named(text);
  else
    take_fitting(text, width > least ? width - least : 0);
  for (size_t i = 0; i < text->num; i++) taken += shown[text->columns[i]].width;
  text->name_width = width > taken + LEAST_NAME ? width - taken : LEAST_NAME;
  if (widest < text->name_width) text->name_width = widest;
}

static void put_cell(const tree_text *text, size_t row, size_t column) {
  const ppi_cell *cells = cells_of(text, row);
  const ppi_cell *cell = &cells[shown[column].cell];
  bool is_most = shown[column].cell == P99 && cell->kind == PPI_CELL_NONE;
  if (is_most) cell = &cells[MOST];
  ppi_page scratch = {0};
  bool in_unit = text->options->has_time_unit && shown[column].put == put_time;
  if (cell->kind == PPI_CELL_NONE)
    ppi_page_text(&scratch, "-");
  else
    (in_unit ? put_time_in : shown[column].put)(&scratch, cell,
                                                text->options->time_unit);
  if (is_most && !text->all_few) ppi_page_text(&scratch, "*");
  ppi_page_right(text->page, &scratch, shown[column].width);
  ppi_page_clear(&scratch);
}

static void put_headings(const tree_text *text) {
  ppi_page line = {0};
  ppi_page_fit(&line, text->options->is_flat ? "name" : "path",
               text->name_width);
  for (size_t i = 0; i < text->num; i++) {
    const shown_column *column = &shown[text->columns[i]];
    bool is_most = column->cell == P99 && text->all_few;
    ppi_page scratch = {0};
    ppi_page_text(&scratch, is_most ? "max" : column->name);
    ppi_page_right(&line, &scratch, column->width);
    ppi_page_clear(&scratch);
  }
  if (!line.failed) ppi_page_strong(text->page, line.bytes);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
  ppi_page_text(text->page, "\n");
}

static bool is_taken(const tree_text *text, size_t cell) {
  for (size_t i = 0; i < text->num; i++)
    if (shown[text->columns[i]].cell == cell) return true;
  return cell == MOST && text->all_few;
}

static void put_left_out(const tree_text *text) {
  ppi_page line = {0};
  for (size_t i = 0; i < NUM_SHOWN && !text->options->columns; i++) {
    if (is_taken(text, shown[i].cell) || !has_any(text, i)) continue;
    ppi_page_text(&line, line.len ? ", " : "No room for ");
    ppi_page_text(&line, shown[i].name);
  }
  if (line.len) {
    ppi_page_text(&line, ": --wide, or --columns A,B,...");
    if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 0);
  }
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
}

static void put_note(const tree_text *text) {
  ppi_page line = {0};
  ppi_page_bytes(&line, text->view->note.bytes, text->view->note.len);
  if (is_taken(text, RATE))
    ppi_page_text(&line,
                  " items/s: or calls where no items are stated, by own time "
                  "after warm-up.");
  if (is_taken(text, USER) || is_taken(text, RATE))
    ppi_page_text(&line, text->options->is_flat
                             ? ""
                             : " A rate and CPU times are known by name: one "
                               "that stands in several places has them in "
                               "--flat.");
  if (!line.failed) ppi_page_wrapped(text->page, line.bytes, 0);
  text->page->failed |= line.failed;
  ppi_page_clear(&line);
  if (!text->all_few && is_taken(text, P99))
    ppi_page_text(text->page,
                  "*: the greatest: fewer than 100 calls have no p99.\n");
}

static void put_text(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options) {
  tree_text text = {.page = page, .view = view, .options = options};
  choose(&text);
  put_headings(&text);
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_page name = {0};
    put_name(&name, &text, row);
    if (!name.failed) ppi_page_fit(page, name.bytes, text.name_width);
    page->failed |= name.failed;
    ppi_page_clear(&name);
    for (size_t i = 0; i < text.num; i++) put_cell(&text, row, text.columns[i]);
    ppi_page_text(page, "\n");
  }
  ppi_page_text(page, "\n");
  put_note(&text);
  put_left_out(&text);
}

const ppi_view_kind ppi_view_tree = {
    .name = "tree",
    .title = "Tree",
    PPI_VIEW_LAYOUT(columns, table_columns),
    .has_time_unit = true,
    .build = build,
    .put_text = put_text,
};
