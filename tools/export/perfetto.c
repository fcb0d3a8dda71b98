// SPDX-License-Identifier: Apache-2.0
//
// Streams events into Perfetto's own format. A slice is two packets, a begin
// and an end. At the same time, ends come before begins, and begins come in the
// order in which they nest. A begin waits if the range around it may begin at
// the same time.

#include "cli/say.h"
#include "export/formats.h"
#include "export/perfetto_tracks.h"

enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4, NEEDS_STATE = 2 };
// Deeper ranges do not wait.
enum { MAX_DEPTH = 1024 };

typedef struct perfetto {
  ppi_export base;
  ppi_perfetto_out out;
  ppi_perfetto_tracks tracks;
  uint64_t base_ns;  // of the run
  uint64_t num_arrows;
} perfetto;

// The fields of a slice. `places` points into it, so it must not move.
typedef struct slice {
  uint64_t start_ns, end_ns, uuid, site_iid, category_iid;
  PpiPerfetto__Annotation annotations[PPI_PERFETTO_NUM_WORDS];
  PpiPerfetto__Annotation *places[PPI_PERFETTO_NUM_WORDS];
  size_t num_annotations;
  const uint64_t *flows;
  size_t num_flows;
} slice;

// ---- packets ----

static void put_event(perfetto *out, ppi_buffer *into, uint64_t at_ns,
                      PpiPerfetto__Event *event) {
  PpiPerfetto__Packet packet = PPI_PERFETTO__PACKET__INIT;
  packet.has_timestamp = packet.has_trusted_packet_sequence_id = true;
  packet.timestamp = out->base_ns + at_ns;
  packet.trusted_packet_sequence_id = PPI_PERFETTO_SEQUENCE;
  packet.has_sequence_flags = true;
  packet.sequence_flags = NEEDS_STATE;
  packet.track_event = event;
  event->has_type = event->has_track_uuid = true;
  ppi_perfetto_encode(into, &packet);
}

static void put_begin(perfetto *out, ppi_buffer *into, slice *from, int type) {
  PpiPerfetto__Event event = PPI_PERFETTO__EVENT__INIT;
  event.type = type;
  event.track_uuid = from->uuid;
  event.has_name_iid = true;
  event.name_iid = from->site_iid;
  event.n_category_iids = from->category_iid != 0;
  event.category_iids = &from->category_iid;
  event.n_debug_annotations = from->num_annotations;
  event.debug_annotations = from->places;
  event.n_flow_ids = from->num_flows;
  event.flow_ids = (uint64_t *)from->flows;
  put_event(out, into, from->start_ns, &event);
}

static void put_end(perfetto *out, ppi_buffer *into, const slice *from) {
  PpiPerfetto__Event event = PPI_PERFETTO__EVENT__INIT;
  event.type = END;
  event.track_uuid = from->uuid;
  put_event(out, into, from->end_ns, &event);
}

static PpiPerfetto__Annotation *annotate(slice *to, ppi_perfetto_word word) {
  PpiPerfetto__Annotation *at = &to->annotations[to->num_annotations];
  ppi_perfetto__annotation__init(at);
  at->has_name_iid = true;
  at->name_iid = (uint64_t)word + 1;
  to->places[to->num_annotations++] = at;
  return at;
}

static void add_number(slice *to, ppi_perfetto_word word, uint64_t value) {
  PpiPerfetto__Annotation *at = annotate(to, word);
  at->has_uint_value = true;
  at->uint_value = value;
}

static void add_amount(slice *to, ppi_perfetto_word word, double value) {
  if (value == 0) return;
  PpiPerfetto__Annotation *at = annotate(to, word);
  at->has_double_value = true;
  at->double_value = value;
}

static void add_cpu(slice *to, const pprof_cpu_use *cpu) {
  if (!cpu || !(cpu->known & PPROF_CPU_TIMES)) return;
  add_number(to, PPI_PERFETTO_USER_WORD, cpu->user_ns);
  add_number(to, PPI_PERFETTO_SYS_WORD, cpu->sys_ns);
  if (cpu->known & PPROF_CPU_RUN_QUEUE)
    add_number(to, PPI_PERFETTO_RUN_QUEUE_WORD, cpu->run_queue_ns);
}

static bool is_step(const ppi_export_names *names, const pprof_event *event,
                    uint32_t site) {
  const ppi_export_name *named =
      ppi_export_names_at(names, PPROF_DEFINITION_SITE, site);
  return event->kind == PPROF_KIND_RANGE && event->value >= 0 &&
         named->has_parent &&
         ppi_export_names_at(names, PPROF_DEFINITION_CATEGORY, named->parent)
                 ->id == PPROF_CATEGORY_PROFILE_STEP;
}

// Fills in the name and data of an event, without track and time.
static void describe(perfetto *out, const pprof_event *event, slice *to) {
  const uint32_t reported = PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED |
                            PPROF_FLAG_LATE | PPROF_FLAG_NO_DEVICE_TIME;
  ppi_export_names *names = &out->base.names;
  uint32_t site =
      ppi_export_names_row(names, PPROF_DEFINITION_SITE, event->site);
  uint32_t category = ppi_perfetto_tell(&out->tracks, site);
  *to = (slice){.flows = event->flows, .num_flows = event->num_flows};
  to->site_iid = (uint64_t)site + 1;
  to->category_iid = category == UINT32_MAX ? 0 : (uint64_t)category + 1;
  if (event->work) {
    add_amount(to, PPI_PERFETTO_ITEMS_WORD, event->work->items);
    add_amount(to, PPI_PERFETTO_BYTES_WORD, event->work->bytes);
    add_amount(to, PPI_PERFETTO_FLOPS_WORD, event->work->flops);
    add_amount(to, PPI_PERFETTO_PARAMS_WORD, event->work->params);
  }
  add_cpu(to, event->cpu);
  if (event->flags & reported)
    add_number(to, PPI_PERFETTO_FLAGS_WORD, event->flags);
  if (is_step(names, event, site))
    add_number(to, PPI_PERFETTO_STEP_WORD, (uint64_t)event->value);
  if (event->attributes)
    annotate(to, PPI_PERFETTO_ATTRIBUTES_WORD)->legacy_json_value =
        ppi_export_names_of(names, PPROF_DEFINITION_ATTRIBUTES,
                            event->attributes)
            ->text;
}

// ---- nested ranges ----

static void flush_from(perfetto *out, ppi_perfetto_group *from, size_t depth) {
  for (size_t i = depth; i < from->num_depths; i++)
    ppi_perfetto_move(&out->out, &from->depths[i].packets);
}

// Children come before the range around them. If a child begins at the same
// time, its begin waits, so that the outer begin can come first. An end does
// not wait, since the next range may begin at that time.
static void add_nested(perfetto *out, const pprof_event *event, uint32_t row,
                       slice *from) {
  size_t depth = event->depth;
  from->uuid = ppi_perfetto_track(&out->tracks, PPI_PERFETTO_THREAD, row, 0);
  if (depth >= MAX_DEPTH) {
    put_begin(out, &out->out.raw, from, BEGIN);
    put_end(out, &out->out.raw, from);
    return;
  }
  ppi_perfetto_group *in =
      ppi_perfetto_group_of(&out->tracks, PPI_PERFETTO_THREAD, row);
  PPI_MUST_REACH(in->depths, in->num_depths, in->depths_capacity, depth + 1);
  ppi_perfetto_waiting *own = &in->depths[depth], *inner = own + 1;
  flush_from(out, in, depth + 2);
  if (inner->start_ns != from->start_ns)
    ppi_perfetto_move(&out->out, &inner->packets);
  bool waits = depth && (!own->packets.len || own->start_ns == from->start_ns);
  ppi_buffer *into = waits ? &own->packets : &out->out.raw;
  own->start_ns = own->packets.len ? own->start_ns : from->start_ns;
  put_begin(out, into, from, BEGIN);
  if (inner->packets.len)
    ppi_buffer_bytes(into, inner->packets.data, inner->packets.len);
  inner->packets.len = 0;
  put_end(out, from->start_ns == from->end_ns ? into : &out->out.raw, from);
  out->out.raw.failed |= into->failed;
}

// ---- overlapping ranges ----

static void add_flat(perfetto *out, ppi_perfetto_kind kind, uint32_t row,
                     slice *from) {
  size_t lane = ppi_export_lanes_place(
      &ppi_perfetto_group_of(&out->tracks, kind, row)->lanes, from->start_ns,
      from->end_ns, &out->base.left[PPI_PART_PLACE_OVERLAPS]);
  from->uuid = ppi_perfetto_track(&out->tracks, kind, row, lane);
  put_begin(out, &out->out.raw, from, BEGIN);
  put_end(out, &out->out.raw, from);
}

// The submission of a stage is its host range, so no slice is drawn for it.
static void add_device(perfetto *out, const pprof_event *event, uint32_t lane) {
  slice reported;
  describe(out, event, &reported);
  bool is_timed = ppi_export_is_timed(event);
  bool has_arrow = is_timed && !(event->flags & PPROF_FLAG_PAIRED);
  uint64_t flow = UINT64_C(1) << 63 | ++out->num_arrows;
  if (!is_timed || has_arrow) {
    slice submitted = {.start_ns = event->start_ns,
                       .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                       .site_iid = reported.site_iid,
                       .category_iid = reported.category_iid,
                       .flows = &flow,
                       .num_flows = has_arrow};
    if (!is_timed)
      add_number(&submitted, PPI_PERFETTO_FLAGS_WORD, event->flags);
    add_flat(out, PPI_PERFETTO_SUBMIT, lane, &submitted);
  }
  if (!is_timed) return;
  reported.start_ns = event->device_start_ns;
  reported.end_ns = PPI_MAX(event->device_start_ns, event->device_end_ns);
  if (event->device_error_ns)
    add_number(&reported, PPI_PERFETTO_ERROR_WORD, event->device_error_ns);
  if (has_arrow && !reported.num_flows) {
    reported.flows = &flow;
    reported.num_flows = 1;
  }
  add_flat(out, PPI_PERFETTO_STREAM,
           ppi_export_names_row(&out->base.names, PPROF_DEFINITION_STREAM,
                                event->stream),
           &reported);
}

static void add_counter(perfetto *out, const pprof_event *event) {
  PpiPerfetto__Event value = PPI_PERFETTO__EVENT__INIT;
  uint32_t site = ppi_export_names_row(&out->base.names, PPROF_DEFINITION_SITE,
                                       event->site);
  value.type = COUNTER;
  value.track_uuid =
      ppi_perfetto_track(&out->tracks, PPI_PERFETTO_COUNTER, site, 0);
  value.has_double_counter_value = true;
  value.double_counter_value = event->value;
  put_event(out, &out->out.raw, event->start_ns, &value);
}

static void add_event(ppi_export *export, const pprof_event *event,
                      const pprof_batch *batch) {
  perfetto *out = (perfetto *)export;
  slice reported;
  if (event->kind == PPROF_KIND_COUNTER) {
    add_counter(out, event);
    return;
  }
  uint32_t lane =
      ppi_export_names_row(&export->names, PPROF_DEFINITION_LANE, event->lane);
  if (event->kind == PPROF_KIND_DEVICE_RANGE) {
    add_device(out, event, lane);
    return;
  }
  describe(out, event, &reported);
  reported.start_ns = event->start_ns;
  reported.end_ns = PPI_MAX(event->start_ns, event->end_ns);
  if (event->kind == PPROF_KIND_MARK) {
    reported.uuid =
        ppi_perfetto_track(&out->tracks, PPI_PERFETTO_THREAD, lane, 0);
    put_begin(out, &out->out.raw, &reported, INSTANT);
  } else if (ppi_export_is_loose(event, batch)) {
    add_flat(out, PPI_PERFETTO_LOOSE, lane, &reported);
  } else {
    add_nested(out, event, lane, &reported);
  }
}

// ---- the sink ----

static void begin(ppi_export *export, const pprof_run_info *info) {
  perfetto *out = (perfetto *)export;
  (void)info;
  out->base_ns = ppi_export_run_of(export)->base_ns;
  ppi_perfetto_run(&out->tracks);
}

// Begins that wait for a range that never came are written without it.
static void finish(ppi_export *export, const pprof_totals *totals) {
  perfetto *out = (perfetto *)export;
  (void)totals;
  for (size_t i = 0; i < out->tracks.num_groups; i++)
    flush_from(out, &out->tracks.groups[i], 0);
}

static pprof_status close_perfetto(ppi_export *export, pprof_error *error) {
  ppi_perfetto_flush(&((perfetto *)export)->out);
  return ppi_export_end(export->file, error);
}

static void clear_perfetto(ppi_export *export) {
  perfetto *out = (perfetto *)export;
  ppi_perfetto_tracks_clear(&out->tracks);
  ppi_buffer_clear(&out->out.raw);
  ppi_buffer_clear(&out->out.packed);
}

static bool open_perfetto(ppi_export *export, const ppi_export_target *target,
                          pprof_error *error) {
  perfetto *made = (perfetto *)export;
  (void)error;
  made->out.file = target->file;
  made->tracks.out = &made->out;
  made->tracks.names = &export->names;
  return true;
}

const ppi_export_format ppi_format_perfetto = {
    .name = "perfetto",
    .ending = ".pftrace",
    .holds = "everything on a time line, compressed",
    .opened_by = "ui.perfetto.dev, trace_processor",
    .parts = PPI_PART_ALL - PPI_PART_NUMBERS,
    .size = sizeof(perfetto),
    .open = open_perfetto,
    .begin = begin,
    .take = add_event,
    .finish = finish,
    .close = close_perfetto,
    .clear = clear_perfetto,
};
