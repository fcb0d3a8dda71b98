// SPDX-License-Identifier: Apache-2.0
//
// Finds a range's Python stack as PyTorch does: the functions open on its
// thread at its start, the innermost first. A range that autograd runs has the
// stack of the first operator with its sequence number instead
// (torch/autograd's profiler_util.py, _set_backward_stacktraces).
#include <stdlib.h>

#include "base/base.h"
#include "cli/say.h"
#include "import/sites.h"
#include "import/sweeper.h"

enum { MAX_CALLERS = 65536, NO_STACK = 0 };

static const char evaluate[] = "autograd::engine::evaluate_function: ";

// Torch leaves these entries out: a file and a function in it.
static bool is_shown(const char *entry) {
  static const char *const hidden[][2] = {
      {"autograd/__init__", "_make_grads"},
      {"autograd/__init__", "backward"},
      {"torch/tensor", "backward"},
      {"_internal/common_utils", "prof_callable"},
      {"_internal/common_utils", "prof_func_call"},
      {"_internal/common_utils", "prof_meth_call"}};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (strstr(entry, hidden[i][0]) && strstr(entry, hidden[i][1]))
      return false;
  return true;
}

// The stack under the innermost caller: `num_callers` entries with ';' between
// them, fewer where a name has no room.
static uint32_t stack_of(ppi_sweeper *sweeper, const ppi_open_row *row) {
  const ppi_importer *importer = sweeper->importer;
  char text[PPI_IMPORT_MAX_NAME];
  size_t len = 0;
  uint32_t left = importer->options->num_callers;
  bool is_new;
  for (size_t at = row->num_callers; at > 0 && left > 0; at--) {
    const char *entry =
        ppi_import_site_name(importer, row->callers[at - 1].site);
    size_t more = strlen(entry);
    if (!is_shown(entry)) continue;
    if (len + 1 + more > sizeof text) break;
    if (len > 0) text[len++] = ';';
    memcpy(text + len, entry, more);
    len += more;
    left--;
  }
  if (len == 0) return NO_STACK;
  return ppi_intern_id(&sweeper->stacks, text, len, &is_new);
}

// A function that ends where a range starts is still around that range.
static void drop_ended(ppi_open_row *row, uint64_t time) {
  while (row->num_callers > 0 && row->callers[row->num_callers - 1].end < time)
    row->num_callers--;
}

static void add_caller(ppi_sweeper *sweeper, ppi_open_row *row,
                       const ppi_record *record) {
  if (record->kind == PPI_RECORD_RANGE && record->end <= record->time) return;
  if (row->num_callers == MAX_CALLERS) return;
  PPI_MUST_ROOM(row->callers, row->callers_capacity, row->num_callers + 1);
  ppi_caller *caller = &row->callers[row->num_callers++];
  bool has_end = record->kind == PPI_RECORD_RANGE;
  *caller = (ppi_caller){.end = has_end ? record->end : PPI_SWEEP_NEVER,
                         .site = record->site};
  caller->stack = stack_of(sweeper, row);
}

// ---- what autograd runs ----

// The range lies directly in autograd's evaluation of a node and has the node's
// name. Shapes may follow the name.
static bool is_backward(const ppi_importer *importer, const ppi_open *around,
                        uint32_t site) {
  if (!around) return false;
  const char *node = ppi_import_site_name(importer, around->base_site);
  const char *name = ppi_import_site_name(importer, site);
  size_t stem = sizeof evaluate - 1;
  if (strncmp(node, evaluate, stem) != 0) return false;
  size_t len = strlen(node += stem);
  return strncmp(name, node, len) == 0 &&
         (name[len] == '\0' || name[len] == ' ');
}

static ppi_forward *forward_at(ppi_sweeper *sweeper, const ppi_record *record) {
  if (!(record->flags & PPI_RECORD_HAS_SEQUENCE)) return NULL;
  if (!sweeper->forwards)
    sweeper->forwards = ppi_tool_must(
        ppi_alloc(PPI_SWEEP_FORWARDS * sizeof *sweeper->forwards));
  return &sweeper
              ->forwards[(uint64_t)record->amount & (PPI_SWEEP_FORWARDS - 1)];
}

static uint32_t stack_of_forward(ppi_sweeper *sweeper,
                                 const ppi_record *record) {
  const ppi_forward *forward = forward_at(sweeper, record);
  return forward && forward->sequence == record->amount + 1 ? forward->stack
                                                            : NO_STACK;
}

static void keep_forward(ppi_sweeper *sweeper, const ppi_record *record,
                         uint32_t stack) {
  ppi_forward *forward = forward_at(sweeper, record);
  if (forward && forward->sequence != record->amount + 1)
    *forward = (ppi_forward){record->amount + 1, stack};
}

// ---- names ----

static uint32_t name_with(ppi_sweeper *sweeper, uint32_t site, uint32_t stack) {
  const ppi_intern_item *item = ppi_intern_item_of(&sweeper->stacks, stack);
  return item ? ppi_import_site_behind(sweeper->importer, site, item->text,
                                       item->len)
              : site;
}

uint32_t ppi_callers_name(ppi_sweeper *sweeper, ppi_record *record,
                          bool is_async) {
  const ppi_importer *importer = sweeper->importer;
  ppi_open_row *row = &sweeper->rows[record->row];
  const ppi_open *around =
      is_async || row->num == 0 ? NULL : &row->items[row->num - 1];
  uint32_t site = record->site, inner = around ? around->stack : 0;
  drop_ended(row, record->time);
  uint32_t stack =
      row->num_callers > 0 ? row->callers[row->num_callers - 1].stack : 0;
  if (!inner && is_backward(importer, around, site))
    inner = stack_of_forward(sweeper, record) + 1;
  if (!inner) keep_forward(sweeper, record, stack);
  if (importer->classes[site].is & PPI_IS_CALLER)
    add_caller(sweeper, row, record);
  record->site = name_with(sweeper, site, inner ? inner - 1 : stack);
  return inner;
}

void ppi_callers_clear(ppi_sweeper *sweeper) {
  for (size_t i = 0; i < sweeper->importer->places.num_rows; i++)
    ppi_free(sweeper->rows[i].callers);
  ppi_free(sweeper->forwards);
  ppi_intern_clear(&sweeper->stacks);
}

// ---- launchers ----

typedef struct launching {
  uint64_t num;
  uint32_t row;
} launching;

PPI_ORDER(compare, launching, PPI_DOWN(num) PPI_UP(row))

static uint64_t end_of(const ppi_sweeper *sweeper, uint32_t row) {
  const ppi_open_row *open = &sweeper->rows[row];
  return open->num > 0 ? open->items[open->num - 1].record.end : 0;
}

static size_t list(const ppi_places *places, launching *out) {
  size_t num = 0;
  for (uint32_t i = 0; i < places->num_rows; i++) {
    const ppi_row *row = &places->rows[i];
    if (!row->is_python && row->num_launches > 0)
      out[num++] = (launching){row->num_launches, i};
  }
  qsort(out, num, sizeof *out, compare);
  return num;
}

static void fill(ppi_sweeper *sweeper, const launching *rows) {
  ppi_launchers *tree = &sweeper->launchers;
  for (size_t i = 0; i < tree->num; i++) {
    tree->rows[i] = rows[i].row;
    tree->leaf[rows[i].row] = (uint32_t)i + 1;
    tree->ends[tree->num_leaves + i] = end_of(sweeper, rows[i].row);
  }
  for (size_t i = tree->num_leaves; i-- > 1;)
    tree->ends[i] = PPI_MAX(tree->ends[2 * i], tree->ends[2 * i + 1]);
}

static void make(ppi_sweeper *sweeper) {
  ppi_launchers *tree = &sweeper->launchers;
  const ppi_places *places = &sweeper->importer->places;
  launching *rows =
      ppi_tool_must(ppi_alloc((places->num_rows + 1) * sizeof *rows));
  tree->num = list(places, rows);
  tree->num_leaves = 1;
  while (tree->num_leaves < tree->num) tree->num_leaves *= 2;
  tree->rows = ppi_tool_must(ppi_alloc((tree->num + 1) * sizeof *tree->rows));
  tree->leaf =
      ppi_tool_must(ppi_alloc((places->num_rows + 1) * sizeof *tree->leaf));
  tree->ends =
      ppi_tool_must(ppi_alloc(2 * tree->num_leaves * sizeof *tree->ends));
  fill(sweeper, rows);
  ppi_free(rows);
}

uint32_t ppi_launchers_find(ppi_sweeper *sweeper, uint64_t end) {
  ppi_launchers *tree = &sweeper->launchers;
  if (!tree->ends) make(sweeper);
  if (tree->ends[1] == 0 || tree->ends[1] < end) return PPI_NO_PLACE;
  size_t at = 1;
  while (at < tree->num_leaves)
    at = 2 * at + (tree->ends[2 * at] == 0 || tree->ends[2 * at] < end);
  return tree->rows[at - tree->num_leaves];
}

void ppi_launchers_update(ppi_sweeper *sweeper, uint32_t row) {
  ppi_launchers *tree = &sweeper->launchers;
  if (!tree->ends || tree->leaf[row] == 0) return;
  size_t at = tree->num_leaves + tree->leaf[row] - 1;
  tree->ends[at] = end_of(sweeper, row);
  while ((at /= 2) > 0)
    tree->ends[at] = PPI_MAX(tree->ends[2 * at], tree->ends[2 * at + 1]);
}

void ppi_launchers_clear(ppi_launchers *launchers) {
  PPI_FREE_ALL(launchers->rows, launchers->leaf, launchers->ends);
  memset(launchers, 0, sizeof *launchers);
}
