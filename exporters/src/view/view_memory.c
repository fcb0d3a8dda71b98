// SPDX-License-Identifier: Apache-2.0
//
// Builds the Memory view: memory allocated and freed under each name, and the
// most in use, for each place.

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
static void add_row(ppi_view *view, const ppi_report_memory *from,
                    const char *name, const uint64_t *peak) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
}

// The totals of a place, which its table has above the headings.
static void add_totals(ppi_view *view, const ppi_report_place *place,
                       const ppi_report_memory *totals) {
  const uint64_t *peak = &place->peak_bytes[totals->is_reserved];
  add_row(view, totals, NULL, peak);
  ppi_view_last_row(view)->line =
      ppi_view_text(view, "Peak %s Memory: %llu",
                    type_names[totals->is_reserved], (unsigned long long)*peak);
}

// The rows of one type in one place.
typedef struct memory_type {
  const ppi_report_place *place;
  bool is_reserved;
} memory_type;

static bool is_of(const ppi_report_memory *from, const memory_type *type) {
  return from->is_reserved == type->is_reserved &&
         strcmp(from->place, type->place->name) == 0;
}

static bool rank(const void *item, ppi_ranked *out) {
  const ppi_report_memory *from = item;
  out->key = (uint64_t)increased(from) ^ UINT64_C(1) << 63;
  out->names[0] = from->name;
  return is_of(from, out->of);
}

static void put(ppi_view *view, const void *item, const void *of) {
  const ppi_report_memory *from = item;
  (void)of;
  add_row(view, from, from->name[0] ? from->name : "<none>", NULL);
}

static void add_type(ppi_view *view, const ppi_figures *figures, long top,
                     const memory_type *type) {
  ppi_report_memory totals = {.place = type->place->name,
                              .is_reserved = type->is_reserved};
  bool any = type->place->is_known[type->is_reserved];
  for (size_t i = 0; i < figures->num_memory; i++) {
    const ppi_report_memory *from = &figures->memory[i];
    if (!is_of(from, type)) continue;
    any = true;
    totals.allocations += from->allocations;
    totals.frees += from->frees;
    totals.allocated_bytes += from->allocated_bytes;
    totals.freed_bytes += from->freed_bytes;
  }
  const ppi_view_source rows = {.items = figures->memory,
                                .num = figures->num_memory,
                                .size = sizeof *figures->memory,
                                .rank = rank,
                                .put = put,
                                .of = type,
                                .top = top};
  if (!any) return;
  add_totals(view, type->place, &totals);
  ppi_view_put_sorted(view, &rows);
}

static void add_place(ppi_view *view, const ppi_figures *figures, long top,
                      const ppi_report_place *place) {
  size_t first = view->num_rows;
  const char *title =
      ppi_view_text(view, "Memory Summary - Place(%s)", place->name);
  add_type(view, figures, top, &(memory_type){place, false});
  add_type(view, figures, top, &(memory_type){place, true});
  if (view->num_rows > first) view->rows[first].title = title;
}

static void build_memory(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  for (size_t i = 0; i < figures->num_places; i++)
    add_place(out, figures, options->top, &figures->places[i]);
  if (!out->num_rows)
    out->reason = "no memory events: no counters of category Memory";
}

PPI_VIEW(memory, "Memory Summary", .end = PPI_TABLE_END_NONE,
         .build = build_memory);
