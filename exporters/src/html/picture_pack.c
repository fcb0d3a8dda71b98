// SPDX-License-Identifier: Apache-2.0
//
// Packs the picture's parts; exporters/html/picture.js reads them.
#include "html/picture_pack.h"

#include "base/base.h"
#include "html/page_data.h"
#include "html/part.h"
#include "html/picture_state.h"
#include "html/picture_text.h"
#include "html/series.h"
#include "html/survey.h"

typedef struct packed {
  const ppi_picture *picture;
  const ppi_figures *figures;
} packed;

static uint64_t or_none(uint32_t number) {
  return number == PPI_SEEN_NONE ? 0 : (uint64_t)number + 1;
}

static pprof_status make_text(ppi_pack *pack, const void *of, unsigned level) {
  const packed *all = of;
  ppi_page page = {0};
  pprof_status status =
      ppi_picture_put(&page, all->picture, all->figures, level);
  if (status == PPROF_STATUS_OK && page.failed) status = PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK) ppi_pack_bytes(pack, page.bytes, page.len);
  ppi_page_clear(&page);
  return status;
}

// ---- events ----

static bool is_whole(double value) {
  return value > 0 && value < 9e15 && value == (double)(uint64_t)value;
}

enum {
  HAS_STREAM = 4,
  HAS_FLOW = 8,
  HAS_VALUE = 16,
  HAS_WAKER = 32,
  FIRST_REQUEST = 6
};

static void pack_event(ppi_pack *pack, const ppi_picture_event *event,
                       uint64_t before_ns) {
  uint64_t kind = (event->kind - 1) & 3;
  uint64_t device_ns = event->device_end_ns - event->device_start_ns;
  if (event->stream_row) kind |= HAS_STREAM;
  if (event->flow) kind |= HAS_FLOW;
  if (is_whole(event->value)) kind |= HAS_VALUE;
  if (event->by) kind |= HAS_WAKER;
  ppi_pack_number(pack, kind | (uint64_t)event->requests << FIRST_REQUEST);
  ppi_pack_number(pack, event->flags);
  ppi_pack_number(pack, event->row);
  ppi_pack_number(pack, or_none(event->stage));
  ppi_pack_number(pack, event->depth);
  ppi_pack_signed(pack, (int64_t)(event->start_ns - before_ns));
  ppi_pack_number(pack, event->end_ns - event->start_ns);
  if (event->stream_row) {
    ppi_pack_number(pack, event->stream_row - 1);
    ppi_pack_signed(pack, (int64_t)(event->device_start_ns - event->start_ns));
    ppi_pack_number(pack, device_ns);
    ppi_pack_number(pack, event->error_ns);
  }
  if (event->flow) {
    ppi_pack_number(pack, event->flow >> 32);
    ppi_pack_number(pack, event->flow & UINT32_MAX);
  }
  if (is_whole(event->value)) ppi_pack_number(pack, (uint64_t)event->value);
  if (!event->by) return;
  ppi_pack_number(pack, event->by);
  ppi_pack_number(pack, event->in);
}

static uint64_t length_of(const ppi_picture_event *event) {
  return PPI_MAX(event->end_ns - event->start_ns,
                 event->device_end_ns - event->device_start_ns);
}

// The shortest length that at most `most` events reach.
static uint64_t least_of(const ppi_picture *picture, size_t most) {
  uint64_t counts[PPI_PICTURE_LENGTHS] = {0}, num = 0;
  for (size_t i = 0; i < picture->num_kept; i++)
    counts[ppi_picture_class(length_of(&picture->events[i]))]++;
  size_t at = PPI_PICTURE_LENGTHS;
  while (at > 0 && num + counts[at - 1] <= most) num += counts[--at];
  return at < PPI_PICTURE_LENGTHS ? ppi_picture_class_ns(at) : UINT64_MAX;
}

static pprof_status make_events(ppi_pack *pack, const void *of,
                                unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  uint64_t before_ns = 0;
  uint64_t least_ns = least_of(picture, picture->num_kept >> level);
  for (size_t i = 0; i < picture->num_kept; i++) {
    const ppi_picture_event *event = &picture->events[i];
    if (!event->requests && length_of(event) < least_ns) continue;
    ppi_pack_number(pack, 1);
    pack_event(pack, event, before_ns);
    before_ns = event->start_ns;
  }
  ppi_pack_number(pack, 0);
  return PPROF_STATUS_OK;
}

// ---- bins ----

// Merges 2^`level` bins from *at on and moves *at behind them. `open` counts
// the long ranges that span the next bins.
static ppi_picture_bin next_bin(const ppi_picture *picture, size_t *at,
                                unsigned level, int64_t *open) {
  ppi_picture_bin sum = {.stage = PPI_SEEN_NONE};
  for (size_t last = *at + ((size_t)1 << level); *at < last; ++*at) {
    const ppi_picture_bin *bin = &picture->bins[*at];
    *open += bin->change;
    uint64_t ns = bin->covered_ns + (uint64_t)*open * picture->bin_ns;
    if (ns > sum.vote_ns || sum.stage == PPI_SEEN_NONE) sum.stage = bin->stage;
    sum.vote_ns = PPI_MAX(sum.vote_ns, ns);
    sum.covered_ns += ns;
    sum.num += bin->num;
  }
  return sum;
}

static void pack_bin(ppi_pack *pack, const ppi_picture_bin *bin,
                     uint64_t bin_ns) {
  ppi_pack_number(pack, bin->num);
  ppi_pack_number(pack, or_none(bin->stage));
  ppi_pack_number(pack, 255 * bin->covered_ns / bin_ns);
}

// A number precedes each bin that is not empty: the count of empty bins before
// it, plus 1. 0 ends a track.
static void pack_track(ppi_pack *pack, const ppi_picture *picture, size_t track,
                       unsigned level) {
  size_t at = track * picture->bins_a_track;
  size_t end = at + picture->bins_a_track, gap = 0;
  int64_t open = 0;
  while (at < end) {
    const ppi_picture_bin bin = next_bin(picture, &at, level, &open);
    if (!bin.covered_ns && !bin.num) {
      gap++;
      continue;
    }
    ppi_pack_number(pack, gap + 1);
    pack_bin(pack, &bin, picture->bin_ns << level);
    gap = 0;
  }
  ppi_pack_number(pack, 0);
}

static pprof_status make_bins(ppi_pack *pack, const void *of, unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  while (picture->bins_a_track >> level == 0) level--;
  ppi_pack_number(pack, level);
  ppi_pack_number(pack, picture->bins_a_track >> level);
  for (size_t i = 0; i < picture->num_tracks; i++)
    pack_track(pack, picture, i, level);
  return PPROF_STATUS_OK;
}

// ---- series ----

static void pack_series(ppi_pack *pack, const ppi_picture *picture,
                        const ppi_picture_series *series) {
  int64_t level = 0;
  ppi_pack_number(pack, series->kind);
  ppi_pack_number(pack, or_none(series->device));
  ppi_pack_number(pack, or_none(series->stage));
  for (size_t at = 0; at < PPI_PICTURE_MOMENTS; at++)
    ppi_pack_number(pack, ppi_series_at(picture, series, at, &level));
}

static pprof_status make_series(ppi_pack *pack, const void *of,
                                unsigned level) {
  const ppi_picture *picture = ((const packed *)of)->picture;
  size_t num = picture->num_series >> level;
  ppi_pack_number(pack, num);
  for (size_t i = 0; i < num; i++)
    pack_series(pack, picture, &picture->series[i]);
  return PPROF_STATUS_OK;
}

pprof_status ppi_picture_pack(const ppi_picture *picture,
                              const ppi_figures *figures, FILE *out) {
  static const ppi_part parts[] = {{"picture", 400000, make_text},
                                   {"series", 250000, make_series},
                                   {"events", 700000, make_events},
                                   {"bins", 350000, make_bins}};
  const packed all = {picture, figures};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (status == PPROF_STATUS_OK) status = ppi_part_put(&parts[i], &all, out);
  return status == PPROF_STATUS_OK && ferror(out) ? PPROF_STATUS_IO : status;
}
