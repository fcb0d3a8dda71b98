// SPDX-License-Identifier: Apache-2.0
//
// Defines tracks and names of a Perfetto trace when first used.
#include "export/perfetto_tracks.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "cli/say.h"
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
  if (!ppi_buffer_room(into, len + 1 + PPI_VARINT_MAX)) ppi_tool_must(NULL);
  into->data[into->len++] = PACKET_TAG;
  ppi_buffer_varint(into, len);
  into->len += ppi_perfetto__packet__pack(packet, into->data + into->len);
}

void ppi_perfetto_flush(ppi_perfetto_out *out) {
  ppi_buffer bytes = {0};
  uLongf len = compressBound(out->raw.len);
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  out->packed.len = 0;
  if (out->raw.failed || !ppi_buffer_room(&out->packed, len))
    ppi_tool_must(NULL);
  if (!out->raw.len) return;
  if (compress2(out->packed.data, &len, out->raw.data, out->raw.len,
                Z_DEFAULT_COMPRESSION) != Z_OK)
    ppi_tool_must(NULL);
  packet.has_compressed_packets = true;
  packet.compressed_packets.data = out->packed.data;
  packet.compressed_packets.len = len;
  ppi_perfetto_encode(&bytes, &packet);
  fwrite(bytes.data, 1, bytes.len, out->file);
  ppi_buffer_clear(&bytes);
  out->raw.len = 0;
}

static void put(ppi_perfetto_out *out, const PpiPerfetto__Packet *packet) {
  ppi_perfetto_encode(&out->raw, packet);
  if (out->raw.len >= GATHERED) ppi_perfetto_flush(out);
}

void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from) {
  if (from->len) ppi_buffer_bytes(&out->raw, from->data, from->len);
  from->len = 0;
  if (out->raw.len >= GATHERED) ppi_perfetto_flush(out);
}

static void put_sequenced(ppi_perfetto_tracks *tracks,
                          PpiPerfetto__Packet *packet, uint32_t flags) {
  packet->has_trusted_packet_sequence_id = true;
  packet->trusted_packet_sequence_id = PPI_PERFETTO_SEQUENCE;
  packet->has_sequence_flags = flags != 0;
  packet->sequence_flags = flags;
  put(tracks->out, packet);
}

static void put_track(ppi_perfetto_tracks *tracks, PpiPerfetto__Track *track) {
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  packet.track_descriptor = track;
  put(tracks->out, &packet);
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
static void choose_pid(ppi_perfetto_tracks *tracks, const char *text) {
  size_t run = tracks->names->num_runs - 1;
  unsigned long own = strtoul(text, NULL, 10);
  ppi_map_key key = {0, own && own < FIRST_OWN_PID ? own : 0};
  if (!key.low || ppi_map_find(&tracks->pids, key) != SIZE_MAX)
    key.low = FIRST_OWN_PID + (run & 0xffffff);
  ppi_tool_number(&tracks->pids, key);
  tracks->pid = (int32_t)key.low;
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

void ppi_perfetto_run(ppi_perfetto_tracks *tracks) {
  size_t num = tracks->names->num_runs;
  const ppi_export_run *run = &tracks->names->runs[num - 1];
  choose_pid(tracks, run->pid);
  if (num == 1) put_words(tracks);
  if (num == 1 && run->base_ns) put_clocks(tracks, run->base_ns);
  put_process(tracks, run->command);
}

// ---- tracks ----

ppi_perfetto_group *ppi_perfetto_group_of(ppi_perfetto_tracks *tracks,
                                          ppi_perfetto_kind kind,
                                          uint32_t row) {
  size_t at = ppi_tool_number(&tracks->numbers, (ppi_map_key){kind, row});
  if (at == tracks->num_groups)
    PPI_MUST_PUSH(tracks->groups, tracks->num_groups, tracks->capacity,
                  (ppi_perfetto_group){.num_uuids = 0});
  return &tracks->groups[at];
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
  size_t at = ppi_tool_number(
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
  if (name.failed) ppi_tool_must(NULL);
  ppi_page_clear(&name);
}

static uint64_t parent_of(ppi_perfetto_tracks *tracks, ppi_perfetto_kind kind,
                          uint32_t row) {
  const ppi_export_name *from = named(tracks, kind, row);
  return kind == PPI_PERFETTO_STREAM && from->has_parent
             ? ppi_perfetto_track(tracks, PPI_PERFETTO_DEVICE, from->parent, 0)
             : tracks->process;
}

uint64_t ppi_perfetto_track(ppi_perfetto_tracks *tracks, ppi_perfetto_kind kind,
                            uint32_t row, size_t lane) {
  ppi_perfetto_group *group = ppi_perfetto_group_of(tracks, kind, row);
  if (lane < group->num_uuids) return group->uuids[lane];
  uint64_t parent = parent_of(tracks, kind, row);
  group = ppi_perfetto_group_of(tracks, kind, row);
  PPI_MUST_ROOM(group->uuids, group->capacity, lane + 1);
  while (group->num_uuids <= lane) {
    group->uuids[group->num_uuids++] = ++tracks->num_uuids;
    put_row(tracks, kind, row, parent, tracks->num_uuids);
  }
  return group->uuids[lane];
}

// ---- names ----

static void put_name(ppi_perfetto_tracks *tracks, pprof_definition_kind kind,
                     uint32_t row) {
  PpiPerfetto__Name name = PPI_PERFETTO__NAME__INIT;
  PpiPerfetto__Name *place = &name;
  PpiPerfetto__Interned interned = PPI_PERFETTO__INTERNED__INIT;
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  size_t num = tracks->told.num;
  if (ppi_tool_number(&tracks->told, (ppi_map_key){kind, row}) != num) return;
  name.has_iid = true;
  name.iid = (uint64_t)row + 1;
  name.name = ppi_export_names_at(tracks->names, kind, row)->text;
  if (kind == PPROF_DEFINITION_CATEGORY) {
    interned.n_event_categories = 1;
    interned.event_categories = &place;
  } else {
    interned.n_event_names = 1;
    interned.event_names = &place;
  }
  packet.interned_data = &interned;
  put_sequenced(tracks, &packet, NEEDS_STATE);
}

uint32_t ppi_perfetto_tell(ppi_perfetto_tracks *tracks, uint32_t site) {
  const ppi_export_name *from =
      ppi_export_names_at(tracks->names, PPROF_DEFINITION_SITE, site);
  put_name(tracks, PPROF_DEFINITION_SITE, site);
  if (!from->has_parent) return UINT32_MAX;
  put_name(tracks, PPROF_DEFINITION_CATEGORY, from->parent);
  return from->parent;
}

void ppi_perfetto_tracks_clear(ppi_perfetto_tracks *tracks) {
  for (size_t i = 0; i < tracks->num_groups; i++) {
    ppi_perfetto_group *group = &tracks->groups[i];
    for (size_t j = 0; j < group->num_depths; j++)
      ppi_buffer_clear(&group->depths[j].packets);
    ppi_export_lanes_clear(&group->lanes);
    ppi_free(group->depths);
    ppi_free(group->uuids);
  }
  ppi_free(tracks->groups);
  ppi_map_clear(&tracks->numbers);
  ppi_map_clear(&tracks->threads);
  ppi_map_clear(&tracks->pids);
  ppi_map_clear(&tracks->told);
}
