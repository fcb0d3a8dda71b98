// SPDX-License-Identifier: Apache-2.0
//
// Defines tracks and names of a Perfetto trace when first used.
#include "export/perfetto_tracks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "file/program.h"

enum {
  STATE_CLEARED = 1,
  NEEDS_STATE = 2,
  BOOTTIME = 6,
  REALTIME = 1,
  UNIT_BYTES = 3,
  // For runs with the process number of an earlier run.
  FIRST_OWN_PID = 1 << 24,
  // For threads with a number that no operating system uses.
  FIRST_OWN_TID = 1 << 30
};

// ---- packets ----

// The bytes compressed at once; Perfetto requires less than 512 KiB.
enum { GATHERED = 128 << 10, PACKET_TAG = 1 << 3 | 2 };

void ppi_perfetto_encode(ppi_buffer *into, const PpiPerfetto__Packet *packet) {
  size_t len = ppi_perfetto__packet__get_packed_size(packet);
  if (!ppi_buffer_room(into, len + 1 + PPI_VARINT_MAX)) return;
  into->data[into->len++] = PACKET_TAG;
  ppi_buffer_varint(into, len);
  into->len += ppi_perfetto__packet__pack(packet, into->data + into->len);
}

static void write_packed(ppi_perfetto_out *out, size_t len) {
  ppi_buffer bytes = {0};
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  packet.has_compressed_packets = true;
  packet.compressed_packets.data = out->packed.data;
  packet.compressed_packets.len = len;
  ppi_perfetto_encode(&bytes, &packet);
  fwrite(bytes.data, 1, bytes.len, out->file);
  out->raw.failed |= bytes.failed;
  ppi_buffer_clear(&bytes);
}

pprof_status ppi_perfetto_flush(ppi_perfetto_out *out) {
  uLong bound = compressBound(out->raw.len);
  out->packed.len = 0;
  if (out->raw.failed || !ppi_buffer_room(&out->packed, bound))
    return PPROF_STATUS_NO_MEMORY;
  if (!out->raw.len) return PPROF_STATUS_OK;
  uLongf len = bound;
  if (compress2(out->packed.data, &len, out->raw.data, out->raw.len,
                Z_DEFAULT_COMPRESSION) != Z_OK)
    return PPROF_STATUS_NO_MEMORY;
  write_packed(out, len);
  out->raw.len = 0;
  return out->raw.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

static void flush_if_full(ppi_perfetto_out *out) {
  if (out->raw.len >= GATHERED && ppi_perfetto_flush(out) != PPROF_STATUS_OK)
    out->raw.failed = true;
}

void ppi_perfetto_put(ppi_perfetto_out *out,
                      const PpiPerfetto__Packet *packet) {
  ppi_perfetto_encode(&out->raw, packet);
  flush_if_full(out);
}

void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from) {
  if (from->len) ppi_buffer_bytes(&out->raw, from->data, from->len);
  out->raw.failed |= from->failed;
  from->len = 0;
  flush_if_full(out);
}

void ppi_perfetto_clear(ppi_perfetto_out *out) {
  ppi_buffer_clear(&out->raw);
  ppi_buffer_clear(&out->packed);
}

static void put_sequenced(ppi_perfetto_tracks *tracks,
                          PpiPerfetto__Packet *packet, uint32_t flags) {
  packet->has_trusted_packet_sequence_id = true;
  packet->trusted_packet_sequence_id = PPI_PERFETTO_SEQUENCE;
  packet->has_sequence_flags = flags != 0;
  packet->sequence_flags = flags;
  ppi_perfetto_put(tracks->out, packet);
}

static void put_track(ppi_perfetto_tracks *tracks, PpiPerfetto__Track *track) {
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  packet.track_descriptor = track;
  ppi_perfetto_put(tracks->out, &packet);
}

// ---- runs ----

static void put_words(ppi_perfetto_tracks *tracks) {
  static const char *const words[] = {
#define WORD(name, text) text,
      PPI_PERFETTO_WORDS(WORD)};
  PpiPerfetto__Name names[PPI_PERFETTO_NUM_WORDS];
  PpiPerfetto__Name *places[PPI_PERFETTO_NUM_WORDS];
  PpiPerfetto__Interned interned = PPI_PERFETTO__INTERNED__INIT;
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  for (size_t i = 0; i < PPI_PERFETTO_NUM_WORDS; i++) {
    ppi_perfetto__name__init(&names[i]);
    names[i].has_iid = true;
    names[i].iid = i + 1;
    names[i].name = (char *)words[i];
    places[i] = &names[i];
  }
  interned.n_debug_annotation_names = PPI_PERFETTO_NUM_WORDS;
  interned.debug_annotation_names = places;
  packet.interned_data = &interned;
  put_sequenced(tracks, &packet, STATE_CLEARED);
}

// Sets both clocks to the time of day at the base.
static void put_clocks(ppi_perfetto_tracks *tracks, uint64_t base_ns) {
  PpiPerfetto__Clock clocks[2];
  PpiPerfetto__Clock *places[2] = {&clocks[0], &clocks[1]};
  PpiPerfetto__Clocks snapshot = PPI_PERFETTO__CLOCKS__INIT;
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  for (size_t i = 0; i < 2; i++) {
    ppi_perfetto__clock__init(&clocks[i]);
    clocks[i].has_clock_id = clocks[i].has_timestamp = true;
    clocks[i].clock_id = i ? REALTIME : BOOTTIME;
    clocks[i].timestamp = base_ns;
  }
  snapshot.n_clocks = 2;
  snapshot.clocks = places;
  packet.clock_snapshot = &snapshot;
  put_sequenced(tracks, &packet, 0);
}

// The process's own number, unless an earlier run has it.
static pprof_status choose_pid(ppi_perfetto_tracks *tracks, const char *text) {
  size_t run = tracks->names->num_runs - 1;
  if (!PPI_ROOM(tracks->pids, tracks->pids_capacity, run + 1))
    return PPROF_STATUS_NO_MEMORY;
  unsigned long own = strtoul(text, NULL, 10);
  tracks->pid = own && own < FIRST_OWN_PID ? (int32_t)own : 0;
  for (size_t i = 0; i < run; i++)
    if (tracks->pids[i] == tracks->pid) tracks->pid = 0;
  if (!tracks->pid) tracks->pid = FIRST_OWN_PID + (int32_t)(run & 0xffffff);
  tracks->pids[run] = tracks->pid;
  return PPROF_STATUS_OK;
}

static void put_process(ppi_perfetto_tracks *tracks, const char *command) {
  ppi_page name = {0};
  PpiPerfetto__Process process = PPI_PERFETTO__PROCESS__INIT;
  PpiPerfetto__Track track = PPI_PERFETTO__TRACK__INIT;
  char *line = (char *)command;
  ppi_page_program(&name, command);
  process.has_pid = true;
  process.pid = tracks->pid;
  process.n_cmdline = *command != 0;
  process.cmdline = &line;
  if (name.len) process.process_name = name.bytes;
  track.has_uuid = true;
  track.uuid = tracks->process = ++tracks->num_uuids;
  track.process = &process;
  put_track(tracks, &track);
  ppi_page_clear(&name);
}

pprof_status ppi_perfetto_run(ppi_perfetto_tracks *tracks) {
  size_t num = tracks->names->num_runs;
  const ppi_export_run *run = &tracks->names->runs[num - 1];
  pprof_status status = choose_pid(tracks, run->pid);
  if (status != PPROF_STATUS_OK) return status;
  if (num == 1) put_words(tracks);
  if (num == 1 && run->base_ns) put_clocks(tracks, run->base_ns);
  put_process(tracks, run->command);
  return PPROF_STATUS_OK;
}

// ---- tracks ----

pprof_status ppi_perfetto_group_of(ppi_perfetto_tracks *tracks,
                                   ppi_perfetto_kind kind, uint32_t row,
                                   ppi_perfetto_group **out) {
  size_t at = ppi_map_number(&tracks->numbers, (ppi_map_key){kind, row});
  if (at == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  if (at == tracks->num_groups) {
    if (!PPI_ROOM(tracks->groups, tracks->capacity, at + 1))
      return PPROF_STATUS_NO_MEMORY;
    tracks->groups[tracks->num_groups++] = (ppi_perfetto_group){.num_uuids = 0};
  }
  *out = &tracks->groups[at];
  return PPROF_STATUS_OK;
}

static const ppi_export_name *named(const ppi_perfetto_tracks *tracks,
                                    ppi_perfetto_kind kind, uint32_t row) {
  static const pprof_definition_kind kinds[PPI_PERFETTO_NUM_KINDS] = {
      [PPI_PERFETTO_THREAD] = PPROF_DEFINITION_LANE,
      [PPI_PERFETTO_LOOSE] = PPROF_DEFINITION_LANE,
      [PPI_PERFETTO_SUBMIT] = PPROF_DEFINITION_LANE,
      [PPI_PERFETTO_DEVICE] = PPROF_DEFINITION_DEVICE,
      [PPI_PERFETTO_STREAM] = PPROF_DEFINITION_STREAM,
      [PPI_PERFETTO_COUNTER] = PPROF_DEFINITION_SITE};
  return ppi_export_names_at(tracks->names, kinds[kind], row);
}

// The OS number for a track of `lane`. The first lane of a thread is the
// thread's own track; its other lanes get 0. A number that does not fit is
// replaced by a unique one.
static int32_t thread_of(ppi_perfetto_tracks *tracks, ppi_perfetto_kind kind,
                         const ppi_export_name *lane) {
  if (kind != PPI_PERFETTO_THREAD || !lane->number) return 0;
  size_t num = tracks->threads.num;
  size_t at = ppi_map_number(
      &tracks->threads, (ppi_map_key){(uint64_t)tracks->pid, lane->number});
  if (at != num) return 0;
  return lane->number < FIRST_OWN_TID
             ? (int32_t)lane->number
             : FIRST_OWN_TID + (int32_t)(at & (FIRST_OWN_TID - 1));
}

// Rows of a group share a name and a parent, so a viewer shows them together.
static void put_row(ppi_perfetto_tracks *tracks, ppi_perfetto_kind kind,
                    uint32_t row, uint64_t parent, uint64_t uuid) {
  const ppi_export_name *from = named(tracks, kind, row);
  ppi_page name = {0};
  PpiPerfetto__Track track = PPI_PERFETTO__TRACK__INIT;
  PpiPerfetto__Thread thread = PPI_PERFETTO__THREAD__INIT;
  PpiPerfetto__Counter counter = PPI_PERFETTO__COUNTER__INIT;
  ppi_page_text(&name, from->text);
  if (kind == PPI_PERFETTO_LOOSE) ppi_page_text(&name, ", ends anywhere");
  if (kind == PPI_PERFETTO_SUBMIT) ppi_page_text(&name, " submits");
  track.has_uuid = track.has_parent_uuid = true;
  track.uuid = uuid;
  track.parent_uuid = parent;
  track.name = name.bytes;
  if (kind == PPI_PERFETTO_COUNTER) {
    const char *category = ppi_export_category(tracks->names, row);
    counter.has_unit = strcmp(category, "Memory") == 0;
    counter.unit = UNIT_BYTES;
    track.counter = &counter;
  }
  thread.tid = thread_of(tracks, kind, from);
  if (thread.tid) {
    thread.has_pid = thread.has_tid = true;
    thread.pid = tracks->pid;
    thread.thread_name = name.bytes;
    track.thread = &thread;
    track.has_parent_uuid = false;
    track.name = NULL;
  }
  put_track(tracks, &track);
  tracks->out->raw.failed |= name.failed;
  ppi_page_clear(&name);
}

static pprof_status parent_of(ppi_perfetto_tracks *tracks,
                              ppi_perfetto_kind kind, uint32_t row,
                              uint64_t *out) {
  const ppi_export_name *from = named(tracks, kind, row);
  *out = tracks->process;
  if (kind != PPI_PERFETTO_STREAM || !from->has_parent) return PPROF_STATUS_OK;
  ppi_perfetto_group *group;
  pprof_status status =
      ppi_perfetto_group_of(tracks, PPI_PERFETTO_DEVICE, from->parent, &group);
  if (status != PPROF_STATUS_OK) return status;
  if (!group->num_uuids) {
    group->uuids = ppi_grow(NULL, &group->capacity, 1, sizeof *group->uuids);
    if (!group->uuids) return PPROF_STATUS_NO_MEMORY;
    group->uuids[group->num_uuids++] = ++tracks->num_uuids;
    put_row(tracks, PPI_PERFETTO_DEVICE, from->parent, tracks->process,
            group->uuids[0]);
  }
  *out = group->uuids[0];
  return PPROF_STATUS_OK;
}

pprof_status ppi_perfetto_track(ppi_perfetto_tracks *tracks,
                                ppi_perfetto_kind kind, uint32_t row,
                                size_t lane, uint64_t *out_uuid) {
  ppi_perfetto_group *group;
  pprof_status status = ppi_perfetto_group_of(tracks, kind, row, &group);
  if (status != PPROF_STATUS_OK) return status;
  if (lane < group->num_uuids) {
    *out_uuid = group->uuids[lane];
    return PPROF_STATUS_OK;
  }
  uint64_t parent;
  status = parent_of(tracks, kind, row, &parent);
  if (status == PPROF_STATUS_OK)
    status = ppi_perfetto_group_of(tracks, kind, row, &group);
  if (status != PPROF_STATUS_OK) return status;
  if (!PPI_ROOM(group->uuids, group->capacity, lane + 1))
    return PPROF_STATUS_NO_MEMORY;
  while (group->num_uuids <= lane) {
    group->uuids[group->num_uuids++] = ++tracks->num_uuids;
    put_row(tracks, kind, row, parent, tracks->num_uuids);
  }
  *out_uuid = group->uuids[lane];
  return PPROF_STATUS_OK;
}

// ---- names ----

static pprof_status is_new(ppi_perfetto_tracks *tracks, bool is_category,
                           uint32_t row, bool *out) {
  unsigned char *reported =
      ppi_grow(tracks->reported[is_category],
               &tracks->reported_capacity[is_category], (size_t)row + 1, 1);
  if (!reported) return PPROF_STATUS_NO_MEMORY;
  tracks->reported[is_category] = reported;
  size_t *num = &tracks->num_reported[is_category];
  while (*num <= row) reported[(*num)++] = 0;
  *out = !reported[row];
  reported[row] = 1;
  return PPROF_STATUS_OK;
}

static void put_name(ppi_perfetto_tracks *tracks, bool is_category,
                     uint32_t row) {
  const ppi_export_name *from = ppi_export_names_at(
      tracks->names,
      is_category ? PPROF_DEFINITION_CATEGORY : PPROF_DEFINITION_SITE, row);
  PpiPerfetto__Name name = PPI_PERFETTO__NAME__INIT;
  PpiPerfetto__Name *place = &name;
  PpiPerfetto__Interned interned = PPI_PERFETTO__INTERNED__INIT;
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  name.has_iid = true;
  name.iid = (uint64_t)row + 1;
  name.name = from->text;
  if (is_category) {
    interned.n_event_categories = 1;
    interned.event_categories = &place;
  } else {
    interned.n_event_names = 1;
    interned.event_names = &place;
  }
  packet.interned_data = &interned;
  put_sequenced(tracks, &packet, NEEDS_STATE);
}

pprof_status ppi_perfetto_tell(ppi_perfetto_tracks *tracks, uint32_t site,
                               uint32_t *out_category) {
  const ppi_export_name *from =
      ppi_export_names_at(tracks->names, PPROF_DEFINITION_SITE, site);
  bool is_first;
  *out_category = UINT32_MAX;
  pprof_status status = is_new(tracks, false, site, &is_first);
  if (status == PPROF_STATUS_OK && is_first) put_name(tracks, false, site);
  if (status != PPROF_STATUS_OK || !from->has_parent) return status;
  *out_category = from->parent;
  status = is_new(tracks, true, from->parent, &is_first);
  if (status == PPROF_STATUS_OK && is_first)
    put_name(tracks, true, from->parent);
  return status;
}

void ppi_perfetto_tracks_clear(ppi_perfetto_tracks *tracks) {
  for (size_t i = 0; i < tracks->num_groups; i++) {
    ppi_export_lanes_clear(&tracks->groups[i].lanes);
    ppi_free(tracks->groups[i].uuids);
  }
  ppi_free(tracks->groups);
  ppi_free(tracks->pids);
  ppi_free(tracks->reported[0]);
  ppi_free(tracks->reported[1]);
  ppi_map_clear(&tracks->numbers);
  ppi_map_clear(&tracks->threads);
}
