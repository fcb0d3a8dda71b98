// SPDX-License-Identifier: Apache-2.0
//
// Assigns slices to rows, buffers them until all that end before them are
// known, groups rows by lane and by stream, and gives rows their ids.
#include "chrome/chrome_rows.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "chrome/chrome_write.h"

// The first root that ends after `at`. The search goes back from the last root,
// where a range finds its inner ones, in steps that double.
static size_t root_after(const ppi_chrome_track *track, uint64_t at) {
  size_t low = track->num_roots, high = low;
  for (size_t step = 1; low > 0 && track->roots[low - 1].end_ns > at;
       step *= 2) {
    high = low - 1;
    low = low > step ? low - step : 0;
  }
  return low + (low < high
                    ? ppi_count_up_to(&track->roots[low].end_ns, high - low,
                                      sizeof *track->roots, at)
                    : 0);
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

// Makes sure that there is a first row.
static ppi_chrome_track *group_row(ppi_chrome_group *group) {
  return group->num_tracks > 0 ? &group->tracks[0] : add_row(group);
}

// Finds a row for the slice and takes the room there. A new row has tid 0, to
// be filled in by the caller. NULL: out of memory.
static ppi_chrome_track *group_place(ppi_chrome_group *group,
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

// Copies the slice with its flows and CPU use.
static pprof_status group_hold(ppi_chrome_group *group,
                               const ppi_chrome_slice *slice, uint64_t order) {
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
    PPI_FREE_ALL(flows, cpu, numbers);
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
PPI_ORDER(by_end, ppi_chrome_buffered,
          PPI_UP(end_ns) PPI_DOWN(slice.start_ns) PPI_DOWN(slice.depth)
              PPI_UP(slice.site) PPI_UP(order))

static bool group_holds(const ppi_chrome_group *group, uint32_t site) {
  for (size_t i = 0; i < group->num_buffered; i++)
    if (group->buffered[i].slice.site == site) return true;
  return false;
}

// Moves the buffered slices that end by the horizon to the front, in the order
// of their placing, and answers their number.
static size_t group_sort(ppi_chrome_group *group) {
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

static void group_drop(ppi_chrome_group *group, size_t num) {
  if (num == 0) return;
  for (size_t i = 0; i < num; i++) {
    PPI_FREE_ALL((void *)group->buffered[i].slice.flows,
                 (void *)group->buffered[i].slice.cpu,
                 (void *)group->buffered[i].slice.numbers);
  }
  group->num_buffered -= num;
  memmove(group->buffered, group->buffered + num,
          group->num_buffered * sizeof *group->buffered);
}

static void group_clear(ppi_chrome_group *group) {
  group_drop(group, group->num_buffered);
  for (size_t i = 0; i < group->num_tracks; i++)
    ppi_free(group->tracks[i].roots);
  ppi_free(group->tracks);
  ppi_free(group->buffered);
  memset(group, 0, sizeof *group);
}

// ---- groups ----

// About 12 MiB. Beyond that slices are placed before their turn: still never
// overlapping, perhaps on more rows.
#define MAX_HELD 65536
#define MAX_GROUP_ID (1u << 20)

static pprof_status find_group(ppi_chrome_writer *writer, ppi_chrome_kind kind,
                               uint32_t id, ppi_chrome_group **out) {
  ppi_chrome_groups *groups = &writer->groups[kind];
  if (id >= MAX_GROUP_ID) return PPROF_STATUS_CORRUPT;
  if (!PPI_REACH(groups->items, groups->num_items, groups->capacity,
                 (size_t)id + 1))
    return PPROF_STATUS_NO_MEMORY;
  if (!groups->items[id]) {
    ppi_chrome_group *group = ppi_alloc(sizeof *group);
    if (!group) return PPROF_STATUS_NO_MEMORY;
    group->kind = kind;
    group->id = id;
    groups->items[id] = group;
  }
  *out = groups->items[id];
  return PPROF_STATUS_OK;
}

// Takes `tid` for a row. False: another row has it, or no memory to note it.
static bool take_tid(ppi_chrome_writer *writer, uint64_t tid) {
  size_t at = (size_t)(tid / 64);
  if (!PPI_REACH(writer->tids, writer->num_tids, writer->tids_capacity, at + 1))
    return false;
  uint64_t bit = 1ull << tid % 64;
  bool is_taken = writer->tids[at] & bit;
  writer->tids[at] |= bit;
  return !is_taken;
}

// A thread's first row has the thread's own id, unless another lane has it. Two
// lanes may belong to one thread, or to two threads that had one id.
static uint32_t choose_tid(ppi_chrome_writer *writer,
                           const ppi_chrome_group *group) {
  if (group->kind == PPI_CHROME_THREAD && group->num_tracks == 1) {
    const ppi_chrome_name *lane =
        ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_LANE], group->id);
    uint64_t number = lane ? lane->number : 0;
    if (number > 0 && number < PPI_CHROME_FIRST_OWN_TID &&
        take_tid(writer, number))
      return (uint32_t)number;
  }
  return writer->next_tid++;
}

static uint32_t tid_of(ppi_chrome_writer *writer, ppi_chrome_group *group,
                       ppi_chrome_track *track) {
  if (track->tid == 0) track->tid = choose_tid(writer, group);
  return track->tid;
}

static pprof_status place(ppi_chrome_writer *writer, ppi_chrome_group *group,
                          const ppi_chrome_slice *slice) {
  ppi_chrome_track *track = group_place(group, slice);
  if (!track) return PPROF_STATUS_NO_MEMORY;
  uint32_t tid = tid_of(writer, group, track);
  uint32_t pid = ppi_chrome_pid_of(writer, group);
  ppi_chrome_write_slice(writer, slice, pid, track);
  if (slice->has_arrow) {
    uint32_t from;
    PPI_TRY(ppi_chrome_rows_first(writer, slice->lane, &from));
    ppi_chrome_write_launch(writer, slice, from, pid, tid);
  }
  if (slice->woken_by) ppi_chrome_write_wake(writer, slice, pid, tid);
  if (slice->num_flows == 0) return PPROF_STATUS_OK;
  ppi_chrome_stage stage = {slice->start_ns + writer->shift_ns,
                            slice->end_ns + writer->shift_ns, pid, tid};
  for (size_t i = 0; i < slice->num_flows; i++) {
    PPI_TRY(ppi_chrome_flows_add(&writer->flows, &writer->out.page,
                                 slice->flows[i], &stage));
  }
  return PPROF_STATUS_OK;
}

static pprof_status place_buffered(ppi_chrome_writer *writer,
                                   ppi_chrome_group *group) {
  size_t ready = group_sort(group);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < ready && status == PPROF_STATUS_OK; i++)
    status = place(writer, group, &group->buffered[i].slice);
  group_drop(group, ready);
  writer->num_buffered -= ready;
  return status;
}

static pprof_status place_all(ppi_chrome_writer *writer) {
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++) {
    for (size_t i = 0; i < writer->groups[kind].num_items; i++) {
      ppi_chrome_group *group = writer->groups[kind].items[i];
      if (!group || group->num_buffered == 0) continue;
      PPI_TRY(place_buffered(writer, group));
    }
  }
  return PPROF_STATUS_OK;
}

static void set_horizons(ppi_chrome_writer *writer, uint64_t time_ns) {
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++)
    for (size_t i = 0; i < writer->groups[kind].num_items; i++)
      if (writer->groups[kind].items[i])
        writer->groups[kind].items[i]->horizon_ns = time_ns;
}

pprof_status ppi_chrome_rows_nest(ppi_chrome_writer *writer, uint32_t lane,
                                  ppi_chrome_slice *slice) {
  ppi_chrome_group *group = NULL;
  PPI_TRY(find_group(writer, PPI_CHROME_THREAD, lane, &group));
  return place(writer, group, slice);
}

pprof_status ppi_chrome_rows_first(ppi_chrome_writer *writer, uint32_t lane,
                                   uint32_t *out_tid) {
  ppi_chrome_group *group = NULL;
  PPI_TRY(find_group(writer, PPI_CHROME_THREAD, lane, &group));
  ppi_chrome_track *row = group_row(group);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  *out_tid = tid_of(writer, group, row);
  return PPROF_STATUS_OK;
}

pprof_status ppi_chrome_rows_hold(ppi_chrome_writer *writer,
                                  ppi_chrome_kind kind, uint32_t id,
                                  const ppi_chrome_slice *slice) {
  ppi_chrome_group *group = NULL;
  PPI_TRY(find_group(writer, kind, id, &group));
  PPI_TRY(group_hold(group, slice, writer->next_order++));
  if (++writer->num_buffered < MAX_HELD) return PPROF_STATUS_OK;
  set_horizons(writer, UINT64_MAX);
  return place_all(writer);
}

static void lower_horizon(ppi_chrome_writer *writer, ppi_chrome_kind kind,
                          uint32_t id, uint64_t time_ns) {
  ppi_chrome_groups *groups = &writer->groups[kind];
  ppi_chrome_group *group = id < groups->num_items ? groups->items[id] : NULL;
  if (group && time_ns < group->horizon_ns) group->horizon_ns = time_ns;
}

pprof_status ppi_chrome_rows_check(ppi_chrome_writer *writer,
                                   const pprof_checkpoint *checkpoint) {
  set_horizons(writer,
               checkpoint ? pprof_checkpoint_time_ns(checkpoint) : UINT64_MAX);
  size_t num = checkpoint ? pprof_checkpoint_num_open(checkpoint) : 0;
  for (size_t i = 0; i < num; i++) {
    pprof_event open;
    pprof_checkpoint_open(checkpoint, i, &open);
    if (open.kind == PPROF_KIND_DEVICE_RANGE) {
      lower_horizon(writer, PPI_CHROME_SUBMIT, open.lane, open.start_ns);
      lower_horizon(writer, PPI_CHROME_STREAM, open.stream, open.start_ns);
    } else {
      lower_horizon(writer, PPI_CHROME_ASYNC, open.lane, open.end_ns);
    }
  }
  return place_all(writer);
}

pprof_status ppi_chrome_rows_leave(ppi_chrome_writer *writer, uint32_t id) {
  static const ppi_chrome_kind kinds[] = {PPI_CHROME_THREAD, PPI_CHROME_SUBMIT,
                                          PPI_CHROME_ASYNC};
  uint32_t lane = PPI_CHROME_FIRST_LEFT_LANE + writer->num_lanes_left++;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    ppi_chrome_groups *groups = &writer->groups[kinds[i]];
    ppi_chrome_group *group = id < groups->num_items ? groups->items[id] : NULL;
    if (!group) continue;
    group->horizon_ns = UINT64_MAX;
    PPI_TRY(place_buffered(writer, group));
    ppi_chrome_write_left(writer, group, lane);
    group_clear(group);
    ppi_free(group);
    groups->items[id] = NULL;
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_chrome_rows_rename(ppi_chrome_writer *writer, uint32_t site) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++)
    for (size_t i = 0; i < writer->groups[kind].num_items; i++) {
      ppi_chrome_group *group = writer->groups[kind].items[i];
      if (!group || !group_holds(group, site)) continue;
      uint64_t horizon_ns = group->horizon_ns;
      group->horizon_ns = UINT64_MAX;
      if (status == PPROF_STATUS_OK) status = place_buffered(writer, group);
      group->horizon_ns = horizon_ns;
    }
  return status;
}

void ppi_chrome_rows_clear(ppi_chrome_writer *writer) {
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++) {
    for (size_t i = 0; i < writer->groups[kind].num_items; i++) {
      ppi_chrome_group *group = writer->groups[kind].items[i];
      if (group) group_clear(group);
      ppi_free(group);
    }
    ppi_free(writer->groups[kind].items);
    writer->groups[kind] = (ppi_chrome_groups){NULL, 0, 0};
  }
  ppi_free(writer->tids);
  writer->tids = NULL;
  writer->num_tids = writer->tids_capacity = 0;
  writer->num_rows = writer->num_lanes_left = 0;
  writer->num_buffered = 0;
}
