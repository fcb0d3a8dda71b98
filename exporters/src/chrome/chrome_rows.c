// SPDX-License-Identifier: Apache-2.0
//
// Groups rows by lane and by stream, gives rows their ids, and buffers at most
// MAX_HELD slices.
#include "chrome/chrome_rows.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "chrome/chrome_write.h"

// About 12 MiB. Beyond that slices are placed before their turn: still never
// overlapping, perhaps on more rows.
#define MAX_HELD 65536
#define MAX_GROUP_ID (1u << 20)

static pprof_status find_group(ppi_chrome_writer *writer, ppi_chrome_kind kind,
                               uint32_t id, ppi_chrome_group **out) {
  ppi_chrome_groups *groups = &writer->groups[kind];
  if (id >= MAX_GROUP_ID) return PPROF_STATUS_CORRUPT;
  if (id >= groups->num_items) {
    if (!PPI_ROOM(groups->items, groups->capacity, (size_t)id + 1))
      return PPROF_STATUS_NO_MEMORY;
    ppi_chrome_group **items = groups->items;
    memset(items + groups->num_items, 0,
           (id + 1 - groups->num_items) * sizeof *items);
    groups->num_items = (size_t)id + 1;
  }
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
  size_t at = (size_t)(tid / 64), num = writer->num_tids;
  if (at >= num) {
    if (!PPI_ROOM(writer->tids, writer->tids_capacity, at + 1)) return false;
    memset(writer->tids + num, 0, (at + 1 - num) * sizeof *writer->tids);
    writer->num_tids = at + 1;
  }
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
  ppi_chrome_track *track = ppi_chrome_group_place(group, slice);
  if (!track) return PPROF_STATUS_NO_MEMORY;
  uint32_t tid = tid_of(writer, group, track);
  uint32_t pid = ppi_chrome_pid_of(writer, group);
  ppi_chrome_write_slice(writer, slice, pid, track);
  if (slice->has_arrow) {
    uint32_t from;
    pprof_status status = ppi_chrome_rows_first(writer, slice->lane, &from);
    if (status != PPROF_STATUS_OK) return status;
    ppi_chrome_write_launch(writer, slice, from, pid, tid);
  }
  if (slice->woken_by) ppi_chrome_write_wake(writer, slice, pid, tid);
  if (slice->num_flows == 0) return PPROF_STATUS_OK;
  ppi_chrome_stage stage = {slice->start_ns + writer->shift_ns,
                            slice->end_ns + writer->shift_ns, pid, tid};
  for (size_t i = 0; i < slice->num_flows; i++) {
    pprof_status status = ppi_chrome_flows_add(
        &writer->flows, &writer->out.page, slice->flows[i], &stage);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

static pprof_status place_buffered(ppi_chrome_writer *writer,
                                   ppi_chrome_group *group) {
  size_t ready = ppi_chrome_group_sort(group);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < ready && status == PPROF_STATUS_OK; i++)
    status = place(writer, group, &group->buffered[i].slice);
  ppi_chrome_group_drop(group, ready);
  writer->num_buffered -= ready;
  return status;
}

static pprof_status place_all(ppi_chrome_writer *writer) {
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++) {
    for (size_t i = 0; i < writer->groups[kind].num_items; i++) {
      ppi_chrome_group *group = writer->groups[kind].items[i];
      if (!group || group->num_buffered == 0) continue;
      pprof_status status = place_buffered(writer, group);
      if (status != PPROF_STATUS_OK) return status;
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
  pprof_status status = find_group(writer, PPI_CHROME_THREAD, lane, &group);
  if (status != PPROF_STATUS_OK) return status;
  return place(writer, group, slice);
}

pprof_status ppi_chrome_rows_first(ppi_chrome_writer *writer, uint32_t lane,
                                   uint32_t *out_tid) {
  ppi_chrome_group *group = NULL;
  pprof_status status = find_group(writer, PPI_CHROME_THREAD, lane, &group);
  if (status != PPROF_STATUS_OK) return status;
  ppi_chrome_track *row = ppi_chrome_group_row(group);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  *out_tid = tid_of(writer, group, row);
  return PPROF_STATUS_OK;
}

pprof_status ppi_chrome_rows_hold(ppi_chrome_writer *writer,
                                  ppi_chrome_kind kind, uint32_t id,
                                  const ppi_chrome_slice *slice) {
  ppi_chrome_group *group = NULL;
  pprof_status status = find_group(writer, kind, id, &group);
  if (status == PPROF_STATUS_OK)
    status = ppi_chrome_group_hold(group, slice, writer->next_order++);
  if (status != PPROF_STATUS_OK) return status;
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
    pprof_status status = place_buffered(writer, group);
    if (status != PPROF_STATUS_OK) return status;
    ppi_chrome_write_left(writer, group, lane);
    ppi_chrome_group_clear(group);
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
      if (!group || !ppi_chrome_group_holds(group, site)) continue;
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
      if (group) ppi_chrome_group_clear(group);
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
