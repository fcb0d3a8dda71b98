// SPDX-License-Identifier: Apache-2.0
//
// Builds the tree of ranges: a stage that is called from two places stands
// under both. Flat, it has the same columns by name.

#include <stdlib.h>

#include "base/mem.h"
#include "names/names.h"
#include "report/figures/path_rows.h"
#include "view/tree_rows.h"
#include "view/view_stages.h"

PPI_VIEW_TABLE(tree, PPI_TREE_COLUMNS);

// With fewer calls, the maximum replaces P99.
#define FEW 100
// Bytes of a path's text, most and least, and of all paths. A path may be cut:
// the ranges around it are rows, too.
enum { MOST_PATH = 4096, LEAST_PATH = 1024, MOST_PATHS = 16 << 20 };

// ---- the rows ----

typedef struct tree_node {
  const ppi_report_path *path;
  const struct tree_node *up;  // NULL: at the root
  size_t level;
  ppi_cell key;
  bool has_match;   // the row or one inside it
  bool is_matched;  // the row or one around it
} tree_node;

typedef struct tree_rows {
  const ppi_figures *figures;
  const ppi_report_options *options;
  tree_node *nodes;  // in the order of paths: inner ones follow
  tree_node **order;
  uint32_t *num_paths[2];  // of each name; [1]: on the device
  size_t num;
} tree_rows;

static int compare_path(const void *key, const void *item) {
  const ppi_report_path *path = key;
  const ppi_report_name *name = item;
  int order = strcmp(path->category_name, name->category_name);
  return order ? order : strcmp(path->name, name->name);
}

static const ppi_report_name *name_of(const ppi_figures *figures,
                                      const ppi_report_path *path) {
  return figures->num_names ? bsearch(path, figures->names, figures->num_names,
                                      sizeof *figures->names, compare_path)
                            : NULL;
}

static ppi_cell key_of(const ppi_report_path *path, ppi_sort_key key) {
  if (key == PPI_SORT_WALL) return ppi_cell_time(path->wall_ns);
  if (key == PPI_SORT_SELF) return ppi_cell_time(path->self_ns);
  if (key == PPI_SORT_DEVICE_TOTAL) return ppi_cell_time(path->device_ns);
  return ppi_cell_key(key, &path->spread, &path->times);
}

// Siblings are sorted; a path comes before all paths inside it.
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
  int order = ppi_cell_compare(PPI_SORT_NONE, &a->key, &b->key);
  return order ? order : (a->path > b->path) - (a->path < b->path);
}

// Makes all rows but launches, which are added below their stages.
static void make_nodes(tree_rows *tree) {
  const char *filter = tree->options->filter;
  ppi_sort_key key = ppi_sort_key_of(tree->options);
  if (tree->options->has_kernels && !tree->options->sort)
    key = PPI_SORT_DEVICE_TOTAL;
  const tree_node *last = NULL;
  for (size_t i = 0; i < tree->figures->num_paths; i++) {
    const ppi_report_path *path = &tree->figures->paths[i];
    if (ppi_tree_is_work(path)) continue;
    while (last && !ppi_path_row_is_in(path, last->path)) last = last->up;
    tree_node *node = tree->order[tree->num] = &tree->nodes[tree->num];
    tree->num++;
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

// Figures by name are shown if the name has only one place.
static void put_of_name(const tree_rows *tree, const ppi_report_path *path,
                        ppi_cell *cells) {
  const ppi_report_name *name = name_of(tree->figures, path);
  if (!name) return;
  size_t at = (size_t)(name - tree->figures->names);
  if (tree->num_paths[path->on_device][at] != 1) return;
  bool is_timed_here = path->on_device == (name->device.n > 0);
  if (is_timed_here)
    cells[PPI_TREE_rate_own] = ppi_stage_rate(tree->figures, name);
  const ppi_cpu_sums *cpu = &name->cpu;
  if (path->on_device || !cpu->num_known) return;
  cells[PPI_TREE_user] = ppi_cell_time(cpu->user_ns);
  cells[PPI_TREE_sys] = ppi_cell_time(cpu->sys_ns);
  if (cpu->num_queued == cpu->num_known)
    cells[PPI_TREE_run_queue] = ppi_cell_time(cpu->run_queue_ns);
}

// "a / b / c"; of a long path the end, after an ellipsis.
static const char *path_text(ppi_view *view, const ppi_figures *figures,
                             const ppi_report_path *path) {
  char text[MOST_PATH + 8];
  char *at = text + sizeof text;
  size_t most = PPI_MAX(MOST_PATHS / (figures->num_paths + 1), LEAST_PATH);
  most = PPI_MIN(most, MOST_PATH);
  for (*--at = '\0'; path; path = ppi_path_row_up(figures, path)) {
    bool is_last = !*at;
    size_t len = strlen(path->name), more = is_last ? len : len + 3;
    if (strlen(at) + more > most) break;
    at -= more;
    memcpy(at, path->name, len);
    if (!is_last) memcpy(at + len, " / ", 3);
  }
  if (path) at = memcpy(at - 6, "\u2026 / ", 6);
  return ppi_view_text(view, "%s", at);
}

static void add_row(ppi_view *view, const tree_rows *tree,
                    const tree_node *node) {
  const ppi_report_path *path = node->path;
  const char *text = path_text(view, tree->figures, path);
  ppi_cell *cells = ppi_view_add_row(view, 0, node->level - 1);
  cells[PPI_TREE_name] = ppi_cell_text(path->name);
  cells[PPI_TREE_path] = ppi_cell_text(text);
  cells[PPI_TREE_level] = ppi_cell_count(node->level);
  cells[PPI_TREE_where] = ppi_cell_text(path->on_device ? "device" : "host");
  cells[PPI_TREE_category] = ppi_cell_text(path->category_name);
  if (path->num_untimed)
    cells[PPI_TREE_untimed] = ppi_cell_count(path->num_untimed);
  cells[PPI_TREE_calls] =
      ppi_cell_count(ppi_spread_calls(&path->spread) + path->num_untimed);
  // Their times are unknown.
  if (path->num_untimed && !path->spread.n) return;
  cells[PPI_TREE_total] = ppi_cell_time(path->spread.sum);
  cells[PPI_TREE_wall_share] =
      ppi_cell_ratio((int64_t)path->wall_ns, tree->figures->wall_ns);
  cells[PPI_TREE_wall] = ppi_cell_time(path->wall_ns);
  cells[PPI_TREE_self] = ppi_cell_time(path->self_ns);
  if (path->device_ns) cells[PPI_TREE_device] = ppi_cell_time(path->device_ns);
  put_of_name(tree, path, cells);
  ppi_tree_put_use(cells, tree->figures, path);
  if (!path->times.n) return;
  cells[PPI_TREE_avg] = ppi_cell_average(&path->spread);
  cells[PPI_TREE_std] = ppi_cell_deviation(&path->spread);
  cells[PPI_TREE_p50] = ppi_cell_quantile(&path->times, 50);
  cells[PPI_TREE_max] = ppi_cell_most(&path->spread);
  if (path->times.n >= FEW)
    cells[PPI_TREE_p99] = ppi_cell_quantile(&path->times, 99);
}

// A path without launches that is no stage: a step that never ended, a call of
// CUDA.
static bool is_unused(const ppi_report_path *path) {
  bool is_call = strcmp(path->category_name,
                        ppi_category_name(PPROF_CATEGORY_RUNTIME)) == 0;
  return !path->use.launches && !path->on_device &&
         (is_call || !ppi_spread_calls(&path->spread));
}

static void add_rows(tree_rows *tree, ppi_view *view) {
  const ppi_report_options *options = tree->options;
  bool has_top = options->top > 0 && !options->has_kernels;
  size_t most = has_top ? (size_t)options->top : SIZE_MAX;
  if (tree->num > 1)
    qsort(tree->order, tree->num, sizeof *tree->order, compare_nodes);
  for (size_t i = 0; i < tree->num && view->num_rows < most; i++) {
    const tree_node *node = tree->order[i];
    if (!node->has_match && !node->is_matched) continue;
    if (options->has_kernels && is_unused(node->path)) continue;
    if (options->depth > 0 && node->level > (size_t)options->depth) continue;
    add_row(view, tree, node);
    if (options->has_kernels && !node->path->on_device)
      ppi_tree_add_work(view, tree->figures, options, node->path,
                        node->level + 1);
  }
  if (options->has_kernels && !options->filter)
    ppi_tree_add_work(view, tree->figures, options, NULL, 1);
}

// "no name fits --filter decod; recorded: decode, embed, ...".
static const char *why_none(ppi_view *view, const ppi_figures *figures,
                            const char *filter) {
  enum { MOST = 8 };
  ppi_page page = {0};
  size_t num = 0;
  ppi_page_text(&page, "no name fits --filter ");
  ppi_page_visible(&page, filter);
  ppi_page_text(&page, "; recorded: ");
  for (size_t i = 0; i < figures->num_names && num <= MOST; i++) {
    const char *name = figures->names[i].name;
    size_t before = 0;
    while (strcmp(figures->names[before].name, name) != 0) before++;
    if (before < i) continue;
    ppi_page_text(&page, num ? ", " : "");
    ppi_page_visible(&page, num < MOST ? name : "...");
    num++;
  }
  view->note.failed |= page.failed;
  const char *text = page.failed ? "" : ppi_view_text(view, "%s", page.bytes);
  ppi_page_clear(&page);
  return text;
}

static void build_tree(const ppi_figures *figures,
                       const ppi_report_options *options, ppi_view *out) {
  size_t num = figures->num_paths, num_names = figures->num_names;
  tree_rows tree = {.figures = figures, .options = options};
  tree.nodes = ppi_alloc((num + 1) * sizeof *tree.nodes);
  tree.order = ppi_alloc((num + 1) * sizeof *tree.order);
  tree.num_paths[0] = ppi_alloc((num_names + 1) * sizeof **tree.num_paths);
  tree.num_paths[1] = ppi_alloc((num_names + 1) * sizeof **tree.num_paths);
  bool done =
      tree.nodes && tree.order && tree.num_paths[0] && tree.num_paths[1];
  out->note.failed |= !done;
  if (done) {
    make_nodes(&tree);
    add_rows(&tree, out);
  }
  PPI_FREE_ALL(tree.nodes, tree.order, tree.num_paths[0], tree.num_paths[1]);
  if (!out->num_rows)
    out->reason = options->filter && num
                      ? why_none(out, figures, options->filter)
                      : "no ranges";
  if (options->has_kernels) {
    ppi_page_text(
        &out->note,
        "kernels: launched in it, with all that lies in it. busy: while any of "
        "its work ran. busy%: of all the time in which devices worked. avg: of "
        "a call, or of a kernel. idle: of the time from the first to the last "
        "work of each call. because: what most of that waited for. delay: from "
        "a launch to its start, the median.");
    return;
  }
  ppi_page_text(&out->note, "wall: share of the ");
  ppi_page_fitting_time(&out->note, (double)figures->wall_ns);
  ppi_page_text(&out->note,
                " recorded, moments of several threads counted once. total, "
                "self, device: sums over calls. self: without what is directly "
                "inside. device: submitted inside.");
}

PPI_VIEW(tree, "Tree", .build = build_tree, .put_text = ppi_tree_put_text);
