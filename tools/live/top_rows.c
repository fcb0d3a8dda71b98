// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of `top`: figures of the window from two copies of a table,
// open ranges from the last copy.
#include "live/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/say.h"

const char *const ppi_top_sort_names[PPI_TOP_NUM_SORTS] = {
    "time", "rate", "p50", "p99", "name"};

static enum ppi_top_sort sorted_by;

static int compare_numbers(double a, double b) {
  return a > b ? -1 : a < b;
}

static int compare(const void *a, const void *b) {
  const struct ppi_top_row *x = a, *y = b;
  int order = 0;
  if (x->is_stuck != y->is_stuck) return x->is_stuck ? -1 : 1;
  if (x->is_stuck && x->open_ns != y->open_ns)
    return x->open_ns > y->open_ns ? -1 : 1;
  if (sorted_by == PPI_TOP_BY_TIME) order = compare_numbers(x->busy, y->busy);
  if (sorted_by == PPI_TOP_BY_RATE) order = compare_numbers(x->rate, y->rate);
  if (sorted_by == PPI_TOP_BY_P50)
    order = compare_numbers((double)x->change.p50_ns, (double)y->change.p50_ns);
  if (sorted_by == PPI_TOP_BY_P99)
    order = compare_numbers((double)x->change.p99_ns, (double)y->change.p99_ns);
  if (!order) order = strcmp(x->row->name, y->row->name);
  if (!order) order = (int)x->row->is_device - (int)y->row->is_device;
  return order ? order
               : (x->process->pid > y->process->pid) -
                     (x->process->pid < y->process->pid);
}

static void take_open(const ppi_live_view *view, size_t place,
                      uint64_t realtime_ns, struct ppi_top_row *out) {
  const ppi_live_header *header = &view->header;
  const uint64_t now_ns = realtime_ns > header->start_realtime_ns
                              ? realtime_ns - header->start_realtime_ns
                              : 0;
  for (uint32_t i = 0; i < header->num_open; i++) {
    const ppi_live_open *one = &header->open[i];
    if (!one->is_used || one->row != place + 1) continue;
    if (!out->oldest) out->oldest = one;
    out->num_open++;
  }
  if (!out->oldest) return;
  if (now_ns > out->oldest->start_ns)
    out->open_ns = now_ns - out->oldest->start_ns;
  const uint64_t longest = out->row->max_ns;
  out->is_stuck =
      longest && out->open_ns > 1000000000u && out->open_ns / 10 > longest;
}

static bool is_wanted(const struct ppi_top_row *row, const char *filter) {
  return (row->change.num || row->num_open) &&
         (!filter[0] || strstr(row->row->name, filter));
}

struct ppi_top_row *ppi_top_rows(const struct ppi_live_processes *all,
                                 const struct ppi_top_choice *choice,
                                 size_t *out_num) {
  struct ppi_top_row *rows = NULL;
  size_t capacity = 0;
  *out_num = 0;
  for (size_t i = 0; i < all->num; i++) {
    double seconds;
    const ppi_live_view *now = ppi_live_last(all->items[i]);
    const ppi_live_view *before =
        ppi_live_before(all->items[i], choice->window_ns, &seconds);
    for (size_t place = 0; now && place < now->num_rows; place++) {
      struct ppi_top_row row = {.process = all->items[i],
                                .row = &now->rows[place]};
      ppi_live_changed(before ? before : now, now, place, &row.change);
      if (seconds > 0) {
        row.rate = (double)row.change.num / seconds;
        row.busy = (double)row.change.sum_ns / 1e9 / seconds;
      }
      take_open(now, place, choice->realtime_ns, &row);
      if (!is_wanted(&row, choice->filter)) continue;
      PPI_MUST_ROOM(rows, capacity, *out_num + 1);
      rows[(*out_num)++] = row;
    }
  }
  sorted_by = choice->sort;
  if (*out_num) qsort(rows, *out_num, sizeof *rows, compare);
  return rows;
}
