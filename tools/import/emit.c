// SPDX-License-Identifier: Apache-2.0
//
// Delivers a run to the sink: definitions, batches of events, checkpoints,
// totals.
#include "import/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/say.h"
#include "import/sites.h"

void ppi_emitter_init(ppi_emitter *emit, ppi_importer *importer) {
  *emit = (ppi_emitter){.importer = importer, .sink = importer->sink};
  emit->base = (uint64_t)importer->min_ns + PPI_RECORD_BIAS;
  emit->slots = ppi_tool_must(ppi_alloc(PPI_EMIT_SLOTS * sizeof *emit->slots));
  emit->row_lanes = ppi_tool_must(
      ppi_alloc((importer->places.num_rows + 1) * sizeof *emit->row_lanes));
  emit->device_lanes =
      ppi_tool_must(ppi_alloc(PPI_MAX_DEVICES * sizeof *emit->device_lanes));
  emit->defined_attributes =
      ppi_tool_must(ppi_alloc(importer->attributes.num_items / 8 + 1));
}

void ppi_emitter_clear(ppi_emitter *emit) {
  PPI_FREE_ALL(emit->slots, emit->next_seq, emit->row_lanes, emit->device_lanes,
               emit->defined_sites, emit->defined_attributes);
  ppi_tally_clear(&emit->tally);
  *emit = (ppi_emitter){.importer = NULL};
}

void ppi_emitter_count(ppi_emitter *emit, uint32_t lane, ppi_total_key key) {
  if (ppi_tally_add(&emit->tally, lane, key, 1) != PPROF_STATUS_OK)
    ppi_tool_must(NULL);
}

#define TELL(emit, callback, ...)                                         \
  do {                                                                    \
    if ((emit)->status == PPROF_STATUS_OK && (emit)->sink->callback)      \
      (emit)->status = (emit)->sink->callback((emit)->sink, __VA_ARGS__); \
  } while (0)

// ---- definitions ----

static bool is_first(unsigned char *bits, uint32_t id) {
  unsigned char bit = (unsigned char)(1u << (id & 7));
  if (bits[id >> 3] & bit) return false;
  bits[id >> 3] |= bit;
  return true;
}

void ppi_emitter_define(ppi_emitter *emit, const pprof_definition *definition) {
  TELL(emit, define, definition);
}

static const char *category_name(const ppi_emitter *emit, uint32_t category) {
  const ppi_importer *importer = emit->importer;
  if (!importer->header.is_own || category < PPROF_CATEGORY_FIRST_REGISTERED)
    return ppi_import_category_name(category);
  return ppi_intern_item_of(&importer->own_categories,
                            category - PPROF_CATEGORY_FIRST_REGISTERED + 1)
      ->text;
}

static void define_category(ppi_emitter *emit, uint32_t category) {
  if (!is_first(emit->defined_categories, category)) return;
  ppi_emitter_define(
      emit, &(pprof_definition){.kind = PPROF_DEFINITION_CATEGORY,
                                .id = category,
                                .name = category_name(emit, category)});
}

// The sweep may add sites, so the bits grow.
static bool is_first_of_site(ppi_emitter *emit, uint32_t site) {
  size_t before = emit->defined_sites_capacity;
  PPI_MUST_ROOM(emit->defined_sites, emit->defined_sites_capacity,
                (site >> 3) + 1);
  memset(emit->defined_sites + before, 0,
         emit->defined_sites_capacity - before);
  return is_first(emit->defined_sites, site);
}

static void define_one_site(ppi_emitter *emit, uint32_t site) {
  static const char suffix[] = "_kernel_time";
  char cut[PPI_IMPORT_MAX_NAME + 1];
  if (site == 0 || !is_first_of_site(emit, site)) return;
  const ppi_class *class = &emit->importer->classes[site];
  const char *name = ppi_import_site_name(emit->importer, site);
  size_t len = strlen(name);
  if (class->is & PPI_IS_ORT && class->category == PPROF_CATEGORY_OPERATOR &&
      len >= sizeof suffix && len < sizeof cut) {
    memcpy(cut, name, len - (sizeof suffix - 1));
    cut[len - (sizeof suffix - 1)] = '\0';
    name = cut;
  }
  define_category(emit, class->category);
  ppi_emitter_define(
      emit, &(pprof_definition){.kind = PPROF_DEFINITION_SITE,
                                .id = site,
                                .parent = class->category,
                                .number = ppi_import_fold(emit->importer, site),
                                .name = name});
}

// A site comes with the sites that it folds into.
static void define_site(ppi_emitter *emit, uint32_t site) {
  for (; site; site = ppi_import_fold(emit->importer, site))
    define_one_site(emit, site);
}

static void define_attributes(ppi_emitter *emit, uint32_t id) {
  if (id == 0 || !is_first(emit->defined_attributes, id)) return;
  const ppi_intern_item *item =
      ppi_intern_item_of(&emit->importer->attributes, id);
  ppi_emitter_define(emit,
                     &(pprof_definition){.kind = PPROF_DEFINITION_ATTRIBUTES,
                                         .id = id,
                                         .name = item ? item->text : "{}"});
}

static void define_stream(ppi_emitter *emit, uint32_t id) {
  const ppi_places *places = &emit->importer->places;
  const ppi_stream *stream = &places->streams[id];
  const ppi_row *row = &places->rows[stream->row];
  char name[PPI_MAX_PLACE_NAME + 1];
  if (emit->defined_streams[id]) return;
  emit->defined_streams[id] = true;
  snprintf(name, sizeof name, "stream %" PRIu64, stream->number);
  ppi_emitter_define(emit,
                     &(pprof_definition){.kind = PPROF_DEFINITION_STREAM,
                                         .id = id + 1,
                                         .parent = stream->device + 1,
                                         .number = stream->number,
                                         .name = row->name ? row->name : name});
}

// ---- lanes ----

uint32_t ppi_emitter_lane(ppi_emitter *emit, uint64_t number,
                          const char *name) {
  PPI_MUST_ROOM(emit->next_seq, emit->lanes_capacity, emit->num_lanes + 1);
  emit->next_seq[emit->num_lanes] = 0;
  ppi_emitter_define(emit, &(pprof_definition){.kind = PPROF_DEFINITION_LANE,
                                               .id = (uint32_t)emit->num_lanes,
                                               .number = number,
                                               .name = name});
  return (uint32_t)emit->num_lanes++;
}

// A Python lane without a name takes that of the same thread's other lane.
static const char *thread_name(const ppi_places *places, const ppi_row *row) {
  if (row->name || !row->is_python) return row->name;
  for (size_t i = 0; i < places->num_rows; i++) {
    const ppi_row *other = &places->rows[i];
    if (other->number == row->number && other->process == row->process &&
        other->name)
      return other->name;
  }
  return NULL;
}

uint32_t ppi_emitter_row_lane(ppi_emitter *emit, uint32_t row_id) {
  const ppi_places *places = &emit->importer->places;
  char text[PPI_MAX_PLACE_NAME + 16] = "";
  if (row_id == PPI_NO_PLACE) return 0;
  if (emit->row_lanes[row_id]) return emit->row_lanes[row_id] - 1;
  const ppi_row *row = &places->rows[row_id];
  const char *name = thread_name(places, row);
  if (row->is_python)
    snprintf(text, sizeof text, "%s%sPython", name ? name : "",
             name ? " " : "");
  else if (name)
    snprintf(text, sizeof text, "%s", name);
  else if (row->number != row->key)
    snprintf(text, sizeof text, "thread %" PRId64, (int64_t)row->key);
  uint32_t lane = ppi_emitter_lane(emit, row->number, text);
  emit->row_lanes[row_id] = lane + 1;
  return lane;
}

uint32_t ppi_emitter_device_lane(ppi_emitter *emit, uint32_t device_id) {
  char name[PPI_MAX_PLACE_NAME + 1];
  if (emit->device_lanes[device_id]) return emit->device_lanes[device_id];
  const ppi_device *device = &emit->importer->places.devices[device_id];
  ppi_place_device_name(device->kind, device->number, name, sizeof name);
  ppi_emitter_define(emit, &(pprof_definition){.kind = PPROF_DEFINITION_DEVICE,
                                               .id = device_id + 1,
                                               .number = device->number,
                                               .name = name});
  emit->device_lanes[device_id] = ppi_emitter_lane(emit, 0, name);
  return emit->device_lanes[device_id];
}

// ---- events ----

static void flush_slot(ppi_emitter *emit, ppi_emitter_slot *slot) {
  if (slot->num == 0) return;
  uint64_t *next_seq = &emit->next_seq[slot->lane];
  pprof_batch batch = {.size = sizeof batch,
                       .stride = sizeof *slot->events,
                       .events = slot->events,
                       .num_events = slot->num,
                       .first_seq = *next_seq,
                       .end_seq = *next_seq + slot->num,
                       .lane = slot->lane};
  *next_seq += slot->num;
  if (ppi_tally_batch(&emit->tally, &batch) != PPROF_STATUS_OK)
    ppi_tool_must(NULL);
  TELL(emit, events, &batch);
  slot->num = slot->num_flows = 0;
}

void ppi_emitter_flush(ppi_emitter *emit) {
  for (size_t i = 0; i < PPI_EMIT_SLOTS; i++) flush_slot(emit, &emit->slots[i]);
}

void ppi_emitter_event(ppi_emitter *emit, uint32_t lane,
                       const pprof_event *event) {
  ppi_emitter_slot *slot = &emit->slots[lane % PPI_EMIT_SLOTS];
  if (emit->status != PPROF_STATUS_OK) return;
  define_site(emit, event->site);
  define_attributes(emit, event->attributes);
  if (event->stream && !emit->importer->header.is_own)
    define_stream(emit, event->stream - 1);
  if (slot->lane != lane || slot->num == PPI_EMIT_EVENTS ||
      slot->num_flows + event->num_flows > PPI_EMIT_FLOWS)
    flush_slot(emit, slot);
  slot->lane = lane;
  pprof_event *to = &slot->events[slot->num];
  *to = *event;
  if (event->work) {
    slot->work[slot->num] = *event->work;
    to->work = &slot->work[slot->num];
  }
  if (event->num_flows > 0) {
    uint64_t *flows = slot->flows + slot->num_flows;
    memcpy(flows, event->flows, event->num_flows * sizeof *flows);
    to->flows = flows;
    slot->num_flows += event->num_flows;
  }
  if (event->cpu) {
    slot->cpu[slot->num] = *event->cpu;
    to->cpu = &slot->cpu[slot->num];
  }
  if (event->numbers) {
    slot->numbers[slot->num] = *event->numbers;
    to->numbers = &slot->numbers[slot->num];
  }
  slot->num++;
  emit->num_reported++;
}

void ppi_emitter_checkpoint(ppi_emitter *emit, uint64_t time,
                            const pprof_event *open, size_t num_open) {
  for (size_t i = 0; i < num_open; i++) define_site(emit, open[i].site);
  ppi_emitter_flush(emit);
  pprof_checkpoint checkpoint = {ppi_emitter_ns(emit, time), open, num_open};
  TELL(emit, checkpoint, &checkpoint);
  emit->num_reported = 0;
  emit->last_checkpoint = time;
}

// ---- the edges of a run ----

static const char *kind_of_trace(const ppi_trace_header *header) {
  if (header->spans) return header->spans;
  if (header->is_own) return "a trace of pprof";
  if (header->is_older)
    return "a trace of an older pprof, read as any Chrome trace: its device"
           " ranges are taken for host ranges";
  return ppi_dialect_of(header->dialects)->what;
}

static bool base_of_day(const ppi_emitter *emit, char *out, size_t size) {
  const ppi_trace_header *header = &emit->importer->header;
  __int128 base = emit->importer->min_ns;
  if (header->has_base)
    base += header->base_ns;
  else if (!ppi_dialect_of(header->dialects)->has_day_times)
    return false;
  if (base <= 0 || base > INT64_MAX) return false;
  snprintf(out, size, "%" PRIu64, (uint64_t)base);
  return true;
}

void ppi_emitter_window(ppi_emitter *emit, uint32_t index, bool opens,
                        uint64_t time_ns) {
  TELL(emit, window, index, opens, time_ns);
}

// A trace of our own says when windows opened.
static bool has_window(const ppi_importer *importer) {
  return !importer->header.is_own ||
         (importer->header.spans && importer->has_times);
}

static void begin(ppi_emitter *emit, const ppi_text *texts, size_t num) {
  pprof_run_info info = {texts, num, NULL};
  TELL(emit, begin, &info);
  ppi_emitter_lane(emit, 0, "process");
}

void ppi_emitter_begin(ppi_emitter *emit, const ppi_process *process) {
  const ppi_importer *importer = emit->importer;
  emit->process = process;
  // Spans have times of day.
  if (importer->header.is_own && !importer->header.spans)
    emit->base =
        PPI_RECORD_BIAS + (process->facts ? process->facts->shift_ns : 0);
  if (process->facts && process->facts->texts.num > 0) {
    begin(emit, process->facts->texts.items, process->facts->texts.num);
    return;
  }
  char uuid[33], pid[24], base[24];
  snprintf(pid, sizeof pid, "%" PRId64, process->number);
  // The index is used since text ids have made-up numbers.
  uint64_t index = (uint64_t)(process - importer->places.processes) + 1;
  snprintf(uuid, sizeof uuid, "%016" PRIx64 "%016" PRIx64, importer->hash[0],
           importer->hash[1] ^ index * 0x9e3779b9u);
  if (importer->header.is_own && importer->header.uuid[0])
    snprintf(uuid, sizeof uuid, "%s", importer->header.uuid);
  ppi_text texts[10] = {{"uuid", uuid},
                        {"host", ""},
                        {"pid", pid},
                        {"version", pprof_version()},
                        {"clock", "imported"}};
  size_t num = 5;
  if (base_of_day(emit, base, sizeof base))
    texts[num++] = (ppi_text){"time_base_realtime_ns", base};
  if (importer->header.rank[0])
    texts[num++] = (ppi_text){"rank", importer->header.rank};
  if (importer->header.models[0])
    texts[num++] = (ppi_text){"device_models", importer->header.models};
  if (process->name && *process->name)
    texts[num++] = (ppi_text){"command", process->name};
  if (importer->header.has_links && !importer->header.has_requests)
    texts[num++] = (ppi_text){"flows", "links"};
  begin(emit, texts, num);
  if (has_window(importer)) ppi_emitter_window(emit, 0, true, 0);
}

PPI_ORDER(compare_totals, ppi_total, PPI_UP(lane) PPI_UP(key))

static void add_total(ppi_total *items, size_t *num, ppi_total_key key,
                      double value) {
  if (value >= 1)
    items[(*num)++] =
        (ppi_total){PPROF_ALL_LANES, key, (uint64_t)(value + 0.5)};
}

// Turns utilizations into counts again.
static void add_utilization(const ppi_importer *importer, double length_ns,
                            ppi_total *items, size_t *num) {
  const ppi_trace_header *header = &importer->header;
  if (header->process_cpu >= 0 && header->process_cpu < 1e6) {
    add_total(items, num, PPI_TOTAL_CPU_PROCESS_NS,
              header->process_cpu * length_ns);
    add_total(items, num, PPI_TOTAL_CPU_ELAPSED_NS, length_ns);
  }
  if (header->system_cpu >= 0 && header->system_cpu <= 1) {
    add_total(items, num, PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS,
              header->system_cpu * 1e6);
    add_total(items, num, PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS,
              (1 - header->system_cpu) * 1e6);
  }
}

enum { MAX_NOTES = PPI_NUM_SKIPS + 5, NOTE_LEN = 256 };

// Writes the details of a note.
static void put_rest(const ppi_importer *importer, ppi_skip why, char *out,
                     size_t size) {
  *out = '\0';
  if (why == PPI_SKIP_TABLE_ROWS)
    snprintf(out, size, ": %s", importer->header.tables);
  if (why == PPI_SKIP_LACKING_ROWS)
    snprintf(out, size, ": %s", importer->header.lacking);
  if (why == PPI_SKIP_BEFORE_LAUNCH)
    snprintf(out, size, " %g us", (double)importer->clock_error_ns / 1e3);
  if (why == PPI_SKIP_OVER_LATER)
    snprintf(out, size, " one of %.100s over %" PRIu64,
             ppi_import_site_name(importer, importer->site_over),
             importer->most_over);
}

static const char *note_key(ppi_skip why) {
  switch (why) {
    case PPI_SKIP_OTHER_CLOCK:
    case PPI_SKIP_UNTIMED:
      return PPI_NOTE_CLOCKS;
    case PPI_SKIP_OVER_LATER:
      return PPI_NOTE_OVERLAPS;
    default:
      return "import";
  }
}

static size_t make_notes(const ppi_emitter *emit, const uint64_t *skips,
                         char texts[][NOTE_LEN], ppi_text *notes,
                         bool is_main) {
  static const char *const words[] = {
#define TEXT_(name, is_lost, text) text,
      PPI_SKIP_LIST(TEXT_)
#undef TEXT_
  };
  const ppi_trace_header *header = &emit->importer->header;
  size_t num = 0;
  const ppi_own_facts *facts = emit->process->facts;
  snprintf(texts[num], NOTE_LEN, "imported from %s", kind_of_trace(header));
  notes[num] = (ppi_text){facts ? "import" : "not_crash_safe", texts[num]};
  num++;
  if (facts && facts->counters_not_finite) {
    snprintf(texts[num], NOTE_LEN,
             "%" PRIu64
             " values of counters that were not finite are not in the trace",
             facts->counters_not_finite);
    notes[num] = (ppi_text){"import", texts[num]};
    num++;
  }
  for (size_t i = 0; i < PPI_NUM_SKIPS; i++) {
    if (!skips[i]) continue;
    char all[32] = "", rest[NOTE_LEN - 64];
    if (i == PPI_SKIP_BAD_SPANS)
      snprintf(all, sizeof all, "of %" PRIu64 " ", header->num_spans);
    put_rest(emit->importer, (ppi_skip)i, rest, sizeof rest);
    snprintf(texts[num], NOTE_LEN, "%" PRIu64 " %s%s%s", skips[i], all,
             words[i], rest);
    notes[num] = (ppi_text){note_key((ppi_skip)i), texts[num]};
    num++;
  }
  if (header->is_damaged) {
    char at[32] = "";
    if (header->damaged_at)
      snprintf(at, sizeof at, " at byte %" PRIu64, header->damaged_at);
    snprintf(texts[num], NOTE_LEN,
             "the trace is damaged%s: what follows is missing", at);
    notes[num] = (ppi_text){"damaged", texts[num]};
    num++;
  }
  if (is_main && header->is_unclosed)
    notes[num++] = (ppi_text){"import", "the list of events is not closed"};
  return num;
}

static uint64_t lost_of(const uint64_t *skips) {
  static const bool is_lost[] = {
#define LOST_(name, is_lost, text) is_lost,
      PPI_SKIP_LIST(LOST_)
#undef LOST_
  };
  uint64_t lost = 0;
  for (size_t i = 0; i < PPI_NUM_SKIPS; i++) lost += is_lost[i] * skips[i];
  return lost;
}

static uint64_t length_of(const ppi_emitter *emit) {
  const ppi_importer *importer = emit->importer;
  return importer->has_times
             ? (uint64_t)importer->max_ns - (uint64_t)importer->min_ns
             : 0;
}

// The run's own totals minus those that its events give here. The difference is
// lost.
static void take_totals(const ppi_emitter *emit, bool is_main,
                        uint64_t *beside) {
  const ppi_own_facts *facts = emit->process->facts;
  const ppi_tally *tally = &emit->tally;
  memset(beside, 0, PPI_NUM_TOTALS * sizeof *beside);
  for (uint32_t key = 0; facts && key < PPI_NUM_TOTALS; key++) {
    uint64_t counted = 0;
    for (size_t lane = 0; lane < tally->num_lanes; lane++)
      counted += tally->lanes[lane][key];
    if (facts->totals[key] > counted && key != PPI_TOTAL_RECORDED)
      beside[key] = facts->totals[key] - counted;
  }
  if (emit->importer->header.is_damaged) beside[PPI_TOTAL_INCOMPLETE] = 1;
  if (is_main)
    beside[PPI_TOTAL_NAMES_OVERFLOWED] += emit->importer->names_overflowed;
}

static void emit_totals(ppi_emitter *emit, const uint64_t *skips, bool is_main,
                        ppi_total *items, size_t num) {
  static const ppi_texts none;
  const ppi_own_facts *facts = emit->process->facts;
  const ppi_texts *own = facts ? &facts->notes : &none;
  char texts[MAX_NOTES][NOTE_LEN];
  // The run's own notes, then those of the import.
  ppi_text *notes =
      ppi_tool_must(ppi_alloc((own->num + MAX_NOTES) * sizeof *notes));
  for (size_t i = 0; i < own->num; i++) notes[i] = own->items[i];
  size_t num_notes =
      own->num + make_notes(emit, skips, texts, notes + own->num, is_main);
  qsort(items, num, sizeof *items, compare_totals);
  pprof_totals totals = {items, num, notes, num_notes};
  TELL(emit, finish, &totals);
  ppi_free(notes);
}

void ppi_emitter_finish(ppi_emitter *emit, const uint64_t *skips,
                        bool is_main) {
  ppi_importer *importer = emit->importer;
  uint64_t beside[PPI_NUM_TOTALS], length = length_of(emit);
  ppi_emitter_flush(emit);
  if (has_window(importer)) ppi_emitter_window(emit, 0, false, length);
  if (emit->status != PPROF_STATUS_OK) return;
  ppi_total *items = NULL;
  size_t num = 0;
  take_totals(emit, is_main, beside);
  if (ppi_tally_add(&emit->tally, 0, PPI_TOTAL_LOST, lost_of(skips)) !=
          PPROF_STATUS_OK ||
      ppi_tally_items_beside(&emit->tally, beside, &items, &num) !=
          PPROF_STATUS_OK)
    ppi_tool_must(NULL);
  items = ppi_tool_must(ppi_realloc(items, (num + 8) * sizeof *items));
  add_total(items, &num, PPI_TOTAL_CLOCK_ERROR_NS,
            (double)importer->clock_error_ns);
  if (is_main)
    add_utilization(importer, (double)PPI_MAX(length, 1000), items, &num);
  emit_totals(emit, skips, is_main, items, num);
  ppi_free(items);
}
