// SPDX-License-Identifier: Apache-2.0
//
// Assigns slices to the rows of a Chrome trace, and buffers slices until all
// that end before them are known.
#include "chrome/chrome_track.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

// The first root that ends after `at`. The search goes back from the last root,
// where a range finds its inner ones, in steps that double.
static size_t root_after(const ppi_chrome_track *track, uint64_t at) {
  size_t low = track->num_roots, high = low;
  for (size_t step = 1; low > 0 && track->roots[low - 1].end_ns > at;
       step *= 2) {
    high = low - 1;
    low = low > step ? low - step : 0;
  }
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (track->roots[middle].end_ns > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Merges roots of one depth with nothing between them. They are runs of one
// scope: its next range begins after them, their parent before them.
static void thin_out(ppi_chrome_track *track) {
  size_t kept = 1;
  for (size_t i = 1; i < track->num_roots; i++) {
    ppi_chrome_root *last = &track->roots[kept - 1];
    if (last->depth == track->roots[i].depth)
      last->end_ns = track->roots[i].end_ns;
    else
      track->roots[kept++] = track->roots[i];
  }
  track->num_roots = kept;
  if (kept <= PPI_CHROME_MAX_ROOTS / 2) return;
  size_t gone = kept / 2;
  track->floor_ns = track->roots[gone - 1].end_ns;
  track->num_roots -= gone;
  memmove(track->roots, track->roots + gone,
          track->num_roots * sizeof *track->roots);
}

// Roots [first, last) lie inside the new one and give way to it.
static bool replace(ppi_chrome_track *track, size_t first, size_t last,
                    const ppi_chrome_root *root) {
  if (first == last &&
      !PPI_ROOM(track->roots, track->capacity, track->num_roots + 1))
    return false;
  if (last < track->num_roots)
    memmove(track->roots + first + 1, track->roots + last,
            (track->num_roots - last) * sizeof *track->roots);
  track->num_roots = track->num_roots - (last - first) + 1;
  track->roots[first] = *root;
  return true;
}

typedef enum fit { FITS, FITS_NOT, NO_ROOM } fit;

static fit take(ppi_chrome_track *track, const ppi_chrome_root *root) {
  if (root->start_ns < track->floor_ns) return FITS_NOT;
  if (track->num_roots >= PPI_CHROME_MAX_ROOTS) {
    thin_out(track);
    if (root->start_ns < track->floor_ns) return FITS_NOT;
  }
  bool is_last = track->num_roots == 0 ||
                 track->roots[track->num_roots - 1].end_ns <= root->start_ns;
  size_t first = is_last ? track->num_roots : root_after(track, root->start_ns);
  size_t last = first;
  while (last < track->num_roots && track->roots[last].start_ns < root->end_ns)
    last++;
  if (first < last && (track->roots[first].start_ns < root->start_ns ||
                       track->roots[last - 1].end_ns > root->end_ns))
    return FITS_NOT;
  return replace(track, first, last, root) ? FITS : NO_ROOM;
}

static ppi_chrome_track *add_row(ppi_chrome_group *group) {
  if (!PPI_ROOM(group->tracks, group->tracks_capacity, group->num_tracks + 1))
    return NULL;
  ppi_chrome_track *track = &group->tracks[group->num_tracks++];
  memset(track, 0, sizeof *track);
  return track;
}

ppi_chrome_track *ppi_chrome_group_row(ppi_chrome_group *group) {
  return group->num_tracks > 0 ? &group->tracks[0] : add_row(group);
}

ppi_chrome_track *ppi_chrome_group_place(ppi_chrome_group *group,
                                         const ppi_chrome_slice *slice) {
  ppi_chrome_root root = {slice->start_ns, slice->end_ns, slice->depth};
  for (size_t i = 0; i < group->num_tracks && i < PPI_CHROME_ROWS_TRIED; i++) {
    fit result = take(&group->tracks[i], &root);
    if (result == FITS) return &group->tracks[i];
    if (result == NO_ROOM) return NULL;
  }
  ppi_chrome_track *track = add_row(group);
  return track && take(track, &root) == FITS ? track : NULL;
}

static bool copy(const void *from, size_t size, void **out) {
  *out = NULL;
  if (size == 0) return true;
  *out = ppi_alloc(size);
  if (*out) memcpy(*out, from, size);
  return *out != NULL;
}

// An edge cuts the host side of a paired device range, but not of ranges inside
// it, which came before.
static uint64_t whole_end(const ppi_chrome_group *group,
                          const ppi_chrome_slice *slice) {
  uint64_t end_ns = slice->end_ns;
  if (!slice->is_submission || !(slice->flags & PPROF_FLAG_PAIRED) ||
      !(slice->flags & PPROF_FLAG_CLIPPED))
    return end_ns;
  for (size_t i = 0; i < group->num_buffered; i++) {
    const ppi_chrome_buffered *inner = &group->buffered[i];
    if (inner->slice.stream == slice->stream &&
        inner->slice.start_ns >= slice->start_ns && inner->end_ns > end_ns)
      end_ns = inner->end_ns;
  }
  return end_ns;
}

pprof_status ppi_chrome_group_hold(ppi_chrome_group *group,
                                   const ppi_chrome_slice *slice,
                                   uint64_t order) {
  if (!PPI_ROOM(group->buffered, group->buffered_capacity,
                group->num_buffered + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_chrome_buffered *buffered = group->buffered;
  void *flows, *cpu, *numbers;
  bool copied =
      copy(slice->flows, slice->num_flows * sizeof *slice->flows, &flows);
  copied &= copy(slice->cpu, slice->cpu ? sizeof *slice->cpu : 0, &cpu);
  copied &= copy(slice->numbers, slice->numbers ? sizeof *slice->numbers : 0,
                 &numbers);
  if (!copied) {
    ppi_free(flows);
    ppi_free(cpu);
    ppi_free(numbers);
    return PPROF_STATUS_NO_MEMORY;
  }
  uint64_t end_ns = whole_end(group, slice);
  buffered += group->num_buffered++;
  buffered->slice = *slice;
  buffered->end_ns = end_ns;
  buffered->slice.flows = flows;
  buffered->slice.cpu = cpu;
  buffered->slice.numbers = numbers;
  buffered->order = order;
  return PPROF_STATUS_OK;
}

// By end, the inner one first; the site decides between equals, not the order
// in which lanes were delivered.
static int by_end(const void *left, const void *right) {
  const ppi_chrome_buffered *a = left, *b = right;
  const ppi_chrome_slice *x = &a->slice, *y = &b->slice;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  if (x->start_ns != y->start_ns) return x->start_ns > y->start_ns ? -1 : 1;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  if (x->site != y->site) return x->site < y->site ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

bool ppi_chrome_group_holds(const ppi_chrome_group *group, uint32_t site) {
  for (size_t i = 0; i < group->num_buffered; i++)
    if (group->buffered[i].slice.site == site) return true;
  return false;
}

size_t ppi_chrome_group_sort(ppi_chrome_group *group) {
  size_t ready = 0;
  for (size_t i = 0; i < group->num_buffered; i++) {
    if (group->buffered[i].end_ns > group->horizon_ns) continue;
    ppi_chrome_buffered moved = group->buffered[i];
    group->buffered[i] = group->buffered[ready];
    group->buffered[ready++] = moved;
  }
  if (ready > 1) qsort(group->buffered, ready, sizeof *group->buffered, by_end);
  return ready;
}

void ppi_chrome_group_drop(ppi_chrome_group *group, size_t num) {
  if (num == 0) return;
  for (size_t i = 0; i < num; i++) {
    ppi_free((void *)group->buffered[i].slice.flows);
    ppi_free((void *)group->buffered[i].slice.cpu);
    ppi_free((void *)group->buffered[i].slice.numbers);
  }
  group->num_buffered -= num;
  memmove(group->buffered, group->buffered + num,
          group->num_buffered * sizeof *group->buffered);
}

void ppi_chrome_group_clear(ppi_chrome_group *group) {
  ppi_chrome_group_drop(group, group->num_buffered);
  for (size_t i = 0; i < group->num_tracks; i++)
    ppi_free(group->tracks[i].roots);
  ppi_free(group->tracks);
  ppi_free(group->buffered);
  memset(group, 0, sizeof *group);
}
