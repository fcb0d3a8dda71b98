// SPDX-License-Identifier: Apache-2.0
//
// Builds the Memory view: memory allocated and freed under each name, and the
// most in use, for each place.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

static const char *const type_names[] = {"Allocated", "Reserved"};

// Sizes wrap as unsigned, so that no garbage overflows.
static int64_t increased(const ppi_report_memory *memory) {
  return (int64_t)(memory->allocated_bytes - memory->freed_bytes);
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 50, 1, if (name, ppi_cell_text(name))) \
  each(place, NULL, NULL, 0, 2, text(from->place)) \
  each(type, NULL, "Type", 12, 3, text(type_names[from->is_reserved])) \
  each(allocation_count, NULL, "Allocation Count", 15, 4, \
       count(from->allocations)) \
  each(free_count, NULL, "Free Count", 15, 0, count(from->frees)) \
  each(allocation_size, "B", "Allocation Size", 15, 5, \
       count(from->allocated_bytes)) \
  each(free_size, "B", "Free Size", 15, 6, count(from->freed_bytes)) \
  each(increased_size, "B", "Increased Size", 15, 7, signed(increased(from))) \
  each(peak, "B", NULL, 0, 8, if (peak, ppi_cell_count(*peak)))
// clang-format on
PPI_VIEW_TABLE(memory, COLUMNS);

// Only totals have a peak.
static bool add_row(ppi_view *view, const ppi_report_memory *from,
                    const char *name, const uint64_t *peak) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (cells) PPI_VIEW_PUT(COLUMNS, cells);
  return cells != NULL;
}

static int compare_memory(const void *left, const void *right) {
  const ppi_report_memory *a = *(const ppi_report_memory *const *)left;
  const ppi_report_memory *b = *(const ppi_report_memory *const *)right;
  int64_t a_bytes = increased(a), b_bytes = increased(b);
  if (a_bytes != b_bytes) return a_bytes > b_bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

// The totals of a place, which its table has above the headings.
static bool add_totals(ppi_view *view, const ppi_report_place *place,
                       const ppi_report_memory *totals) {
  const uint64_t *peak = &place->peak_bytes[totals->is_reserved];
  if (!add_row(view, totals, NULL, peak)) return false;
  const char *line =
      ppi_view_text(view, "Peak %s Memory: %llu",
                    type_names[totals->is_reserved], (unsigned long long)*peak);
  ppi_view_last_row(view)->line = line;
  return line != NULL;
}

// The data that all places share; `rows` has room for all memory.
typedef struct memory_build {
  ppi_view *view;
  const ppi_figures *figures;
  long top;
  const ppi_report_memory **rows;
} memory_build;

static bool add_type(const memory_build *build_memory,
                     const ppi_report_place *place, bool is_reserved) {
  const ppi_figures *figures = build_memory->figures;
  const ppi_report_memory **rows = build_memory->rows;
  ppi_report_memory totals = {.place = place->name, .is_reserved = is_reserved};
  size_t num = 0;
  for (size_t i = 0; i < figures->num_memory; i++) {
    const ppi_report_memory *from = &figures->memory[i];
    if (from->is_reserved != is_reserved ||
        strcmp(from->place, place->name) != 0)
      continue;
    rows[num++] = from;
    totals.allocations += from->allocations;
    totals.frees += from->frees;
    totals.allocated_bytes += from->allocated_bytes;
    totals.freed_bytes += from->freed_bytes;
  }
  if (num == 0 && !place->is_known[is_reserved]) return true;
  if (num > 1) qsort(rows, num, sizeof *rows, compare_memory);
  if (build_memory->top > 0 && (size_t)build_memory->top < num)
    num = (size_t)build_memory->top;
  bool added = add_totals(build_memory->view, place, &totals);
  for (size_t i = 0; i < num && added; i++)
    added = add_row(build_memory->view, rows[i],
                    rows[i]->name[0] ? rows[i]->name : "<none>", NULL);
  return added;
}

static bool add_place(const memory_build *build_memory,
                      const ppi_report_place *place) {
  ppi_view *view = build_memory->view;
  size_t first = view->num_rows;
  const char *title =
      ppi_view_text(view, "Memory Summary - Place(%s)", place->name);
  bool added = title && add_type(build_memory, place, false) &&
               add_type(build_memory, place, true);
  if (added && view->num_rows > first) view->rows[first].title = title;
  return added;
}

static pprof_status build_memory(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  const ppi_report_memory **rows =
      ppi_alloc((figures->num_memory + 1) * sizeof *rows);
  if (!rows) return PPROF_STATUS_NO_MEMORY;
  const memory_build all = {out, figures, options->top, rows};
  bool added = true;
  for (size_t i = 0; i < figures->num_places && added; i++)
    added = add_place(&all, &figures->places[i]);
  ppi_free(rows);
  if (!out->num_rows)
    out->reason = "no memory events: no counters of category Memory";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

PPI_VIEW(memory, "Memory Summary", .end = PPI_TABLE_END_NONE,
         .build = build_memory);
