// SPDX-License-Identifier: Apache-2.0
//
// Finds what holds up the requests in front of a station, over time.
#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/limit/walk.h"

enum { MOST_HOPS = 8 };

bool ppi_changes_list(const ppi_limit_model *model, ppi_times *out) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_stations; i++)
    num += model->stations[i].num_borders;
  out->items = ppi_alloc((num + 1) * sizeof *out->items);
  if (!out->items) return false;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    for (size_t k = 0; k < station->num_borders; k++)
      out->items[out->num++] = station->borders_ns[k];
  }
  ppi_sort_numbers(out->items, out->num);
  return true;
}

// Whether everything stands still, or works, until `*until_ns` at least.
static bool is_pause(const ppi_limit_model *model, uint64_t time_ns,
                     uint64_t *until_ns) {
  const ppi_intervals *all = &model->pauses;
  size_t at = all->num ? ppi_count_up_to(&all->items->to_ns, all->num,
                                         sizeof *all->items, time_ns)
                       : 0;
  if (at == all->num) return false;
  const ppi_interval *next = &all->items[at];
  bool is_in = next->from_ns <= time_ns;
  *until_ns = PPI_MIN(*until_ns, is_in ? next->to_ns : next->from_ns);
  return is_in;
}

// The station that a request in front of station `at` waits for, until
// `*until_ns` at least; PPI_NONE: none. It is `at` if all its rows are taken.
// Else it is the station that has not yet taken a free row's last output.
static uint32_t who_holds(const ppi_limit_model *model, const ppi_times *all,
                          uint32_t at, uint64_t time_ns, uint64_t *until_ns) {
  const uint64_t to_ns = *until_ns;
  for (int hops = 0; hops < MOST_HOPS; hops++) {
    const ppi_station *station = &model->stations[at];
    uint64_t change_ns;
    uint32_t next = PPI_NONE;
    bool is_free = false;
    bool is_full =
        ppi_station_taken(station, time_ns, &change_ns) >= station->servers;
    if (!hops) *until_ns = PPI_MIN(to_ns, PPI_MAX(change_ns, time_ns + 1));
    if (is_full) return at;
    for (size_t i = 0; i < station->num_rows && !is_free; i++) {
      uint32_t last;
      const ppi_limit_row *row = &model->rows[station->rows[i]];
      if (ppi_row_is_taken(model, row, time_ns, &last)) continue;
      uint32_t behind = last == PPI_NO_CALL || !model->next_call
                            ? PPI_NO_CALL
                            : model->next_call[last];
      bool is_blocked = behind != PPI_NO_CALL &&
                        model->calls[behind].start_ns > time_ns &&
                        !(model->calls[behind].flags & PPI_CALL_LOOSE);
      if (is_blocked)
        next = model->rows[model->calls[behind].row].station;
      else
        is_free = true;
    }
    if (is_free || next == PPI_NONE || next == at) return PPI_NONE;
    // Other stations' changes count from here on.
    size_t change =
        ppi_count_below(all->items, all->num, sizeof *all->items, time_ns + 1);
    if (change < all->num) *until_ns = PPI_MIN(to_ns, all->items[change]);
    at = next;
  }
  return PPI_NONE;
}

static bool add_holders(const ppi_limit_model *model, const ppi_times *all,
                        uint32_t at, const ppi_interval *in,
                        ppi_intervals *holders) {
  bool is_done = true;
  for (uint64_t time_ns = in->from_ns, until_ns; time_ns < in->to_ns && is_done;
       time_ns = until_ns) {
    until_ns = in->to_ns;
    uint32_t by = is_pause(model, time_ns, &until_ns)
                      ? (uint32_t)model->num_stations
                      : who_holds(model, all, at, time_ns, &until_ns);
    if (by != PPI_NONE)
      is_done = ppi_intervals_add(&holders[by], time_ns, until_ns);
  }
  return is_done;
}

bool ppi_find_holders(const ppi_limit_model *model, const ppi_times *all,
                      uint32_t station, const ppi_intervals *spans,
                      ppi_intervals *holders) {
  bool is_done = true;
  for (size_t i = 0; i < spans->num && is_done; i++)
    is_done = add_holders(model, all, station, &spans->items[i], holders);
  for (size_t i = 0; i <= model->num_stations && is_done; i++)
    is_done = !holders[i].num || ppi_intervals_unite(&holders[i]);
  return is_done;
}
