// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's stack of a range: the Python functions of its thread that are open
// at its start, the innermost first. What autograd runs has the stack of the
// first operator with its sequence number instead (torch/autograd's
// profiler_util.py, _set_backward_stacktraces).
#include "import/callers.h"

#include <string.h>

#include "base/mem.h"
#include "import/sites.h"

enum { MAX_CALLERS = 65536, NO_STACK = 0 };

static const char evaluate[] = "autograd::engine::evaluate_function: ";

// Entries that torch leaves out: a file and a function in it.
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

static void fail(ppi_sweeper *sweeper) {
  sweeper->emit.status = PPROF_STATUS_NO_MEMORY;
}

// The stack of what the innermost caller calls: so many entries with ';'
// between them. Those that a name has no room for are left out.
static uint32_t stack_of(ppi_sweeper *sweeper, const ppi_open_row *row) {
  const ppi_importer *importer = sweeper->importer;
  char text[PPI_MAX_NAME];
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
  uint32_t stack = ppi_intern_id(&sweeper->stacks, text, len, &is_new);
  if (!stack && sweeper->stacks.failed) fail(sweeper);
  return stack;
}

// Functions nest; one that ends where a range starts is still around it.
static void drop_ended(ppi_open_row *row, uint64_t time) {
  while (row->num_callers > 0 && row->callers[row->num_callers - 1].end < time)
    row->num_callers--;
}

static void add_caller(ppi_sweeper *sweeper, ppi_open_row *row,
                       const ppi_record *record) {
  if (record->kind == PPI_RECORD_RANGE && record->end <= record->time) return;
  if (row->num_callers == MAX_CALLERS) return;
  ppi_caller *callers = ppi_grow(row->callers, &row->callers_capacity,
                                 row->num_callers + 1, sizeof *callers);
  if (!callers) {
    fail(sweeper);
    return;
  }
  row->callers = callers;
  ppi_caller *caller = &callers[row->num_callers++];
  bool has_end = record->kind == PPI_RECORD_RANGE;
  *caller = (ppi_caller){.end = has_end ? record->end : PPI_SWEEP_NEVER,
                         .site = record->site};
  caller->stack = stack_of(sweeper, row);
}

// ---- what autograd runs ----

// Directly inside of its evaluation, and called so; shapes may stand behind.
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
    sweeper->forwards =
        ppi_alloc(PPI_SWEEP_FORWARDS * sizeof *sweeper->forwards);
  if (!sweeper->forwards) {
    fail(sweeper);
    return NULL;
  }
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
  if (!item) return site;
  uint32_t named =
      ppi_import_site_behind(sweeper->importer, site, item->text, item->len);
  if (!named) fail(sweeper);
  return named;
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
  for (size_t i = 0; sweeper->rows && i < sweeper->importer->places.num_rows;
       i++)
    ppi_free(sweeper->rows[i].callers);
  ppi_free(sweeper->forwards);
  ppi_intern_clear(&sweeper->stacks);
}
