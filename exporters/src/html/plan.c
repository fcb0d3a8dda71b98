// SPDX-License-Identifier: Apache-2.0
//
// Selects the events that the page lists and the requests that it shows in
// full. A row with few events lists them all. A row with many lists its share:
// the longest ones; shorter ones go into bins.
#include "html/plan.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"
#include "html/survey.h"
#include "report/figures/request_rows.h"
#include "report/figures/sum.h"

// Runs share one axis if all have a start time and the axis is at most
// FAR_APART times their sum. On a longer axis, short runs would vanish.
// Otherwise each run counts from its own start.
enum { FAR_APART = 4 };

static bool share_axis(const ppi_picture *picture, uint64_t first_ns) {
  double sum_ns = 0, start_ns = INFINITY, end_ns = 0;
  for (size_t i = 0; i < picture->num_runs; i++) {
    const ppi_picture_run *run = &picture->runs[i];
    double apart_ns = (double)(run->base_ns - first_ns);
    if (!run->base_ns) return false;
    if (run->first_ns > run->last_ns) continue;
    sum_ns += (double)(run->last_ns - run->first_ns);
    start_ns = PPI_MIN(start_ns, apart_ns + (double)run->first_ns);
    end_ns = PPI_MAX(end_ns, apart_ns + (double)run->last_ns);
  }
  return end_ns - start_ns <= FAR_APART * sum_ns;
}

static void place_runs(ppi_picture *picture) {
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < picture->num_runs; i++)
    first_ns = PPI_MIN(first_ns, picture->runs[i].base_ns);
  bool are_near = share_axis(picture, first_ns);
  picture->start_ns = UINT64_MAX;
  for (size_t i = 0; i < picture->num_runs; i++) {
    ppi_picture_run *run = &picture->runs[i];
    uint64_t apart_ns = run->base_ns - first_ns;
    run->shift_ns = are_near && apart_ns < PPI_PICTURE_LAST_NS ? apart_ns : 0;
    if (run->first_ns > run->last_ns) continue;
    picture->start_ns =
        PPI_MIN(picture->start_ns, run->first_ns + run->shift_ns);
    picture->end_ns = PPI_MAX(picture->end_ns, run->last_ns + run->shift_ns);
  }
  if (picture->start_ns > picture->end_ns) picture->start_ns = 0;
}

// The shortest length that at most `most` ranges of the row reach.
static uint64_t exact_from(const ppi_picture_row *row, uint64_t most) {
  uint64_t num = 0;
  size_t i = PPI_PICTURE_LENGTHS;
  while (i > 0 && num + row->counts[i - 1] <= most) num += row->counts[--i];
  return i < PPI_PICTURE_LENGTHS ? ppi_picture_class_ns(i) : UINT64_MAX;
}

// Rows with few events leave part of their share to the other rows.
static void choose_lengths(ppi_picture *picture) {
  uint64_t left = PPI_PICTURE_EVENTS;
  size_t num_open = picture->num_rows;
  bool took = true;
  for (size_t i = 0; i < picture->num_rows; i++)
    picture->rows[i].exact_ns = UINT64_MAX;
  while (took && num_open) {
    uint64_t share = left / num_open;
    took = false;
    for (size_t i = 0; i < picture->num_rows; i++) {
      ppi_picture_row *row = &picture->rows[i];
      if (row->exact_ns != UINT64_MAX || row->num > share) continue;
      row->exact_ns = 0;
      left -= row->num;
      num_open--;
      took = true;
    }
  }
  for (size_t i = 0; i < picture->num_rows; i++)
    if (picture->rows[i].exact_ns)
      picture->rows[i].exact_ns =
          exact_from(&picture->rows[i], left / PPI_MAX(num_open, 1u));
}

static bool make_tracks(ppi_picture *picture) {
  uint64_t long_ns = picture->end_ns - picture->start_ns;
  size_t num = 0;
  for (size_t i = 0; i < picture->num_rows; i++) {
    ppi_picture_row *row = &picture->rows[i];
    if (!row->exact_ns) continue;
    row->first_track = num;
    num += row->depth;
  }
  picture->num_tracks = num;
  picture->moment_ns = long_ns / PPI_PICTURE_MOMENTS + 1;
  picture->bins_a_track = 1 << 14;
  while (num * picture->bins_a_track > PPI_PICTURE_BINS)
    picture->bins_a_track /= 2;
  picture->bin_ns = long_ns / picture->bins_a_track + 1;
  picture->bins =
      ppi_alloc((num * picture->bins_a_track + 1) * sizeof *picture->bins);
  return picture->bins != NULL;
}

// ---- requests ----

static void choose(ppi_picture *picture, const char *what,
                   const ppi_steady_request *from) {
  for (size_t i = 0; i < picture->num_requests; i++)
    if (picture->requests[i].row == from->row) return;
  for (uint32_t run = 0; run < picture->num_runs; run++)
    if (strcmp(picture->runs[run].uuid, from->run->uuid) == 0) {
      picture->requests[picture->num_requests++] =
          (ppi_picture_request){what, run, from->run, from->row, 0};
      return;
    }
}

// With few requests the p99 is the slowest. A report of steps or of the run has
// no requests to show.
static pprof_status choose_requests(ppi_picture *picture,
                                    const ppi_figures *figures) {
  if (ppi_figures_base(figures) != PPI_BASE_REQUEST) return PPROF_STATUS_OK;
  ppi_steady_request *list;
  size_t num, num_cold;
  pprof_status status = ppi_steady_requests(figures, &list, &num, &num_cold);
  if (status != PPROF_STATUS_OK || num == 0) {
    ppi_free(list);
    return status;
  }
  size_t usual = (size_t)ppi_rank_of(num, 50 * PPI_RANK_PERCENT) - 1;
  size_t slow = (size_t)ppi_rank_of(num, 99 * PPI_RANK_PERCENT) - 1;
  choose(picture, "p50", &list[usual]);
  if (slow + 1 < num) choose(picture, "p99", &list[slow]);
  choose(picture, "max", &list[num - 1]);
  ppi_free(list);
  return PPROF_STATUS_OK;
}

pprof_status ppi_plan_make(ppi_picture *picture, const ppi_figures *figures) {
  place_runs(picture);
  choose_lengths(picture);
  picture->at_run = 0;
  if (!make_tracks(picture)) return PPROF_STATUS_NO_MEMORY;
  return choose_requests(picture, figures);
}
