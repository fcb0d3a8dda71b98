// SPDX-License-Identifier: Apache-2.0
//
// Turns events of our own traces into records, from the args that the Chrome
// writer wrote.
#include "import/own_take.h"

#include <string.h>

#include "base/mem.h"
#include "import/importer.h"
#include "import/sites.h"

typedef enum own_number {
  OWN_WINDOW,
  OWN_DEPTH,
  OWN_STEP,
  OWN_VALUE,
  OWN_SEQ,
  OWN_TOLD,
  OWN_ITEMS,
  OWN_BYTES,
  OWN_FLOPS,
  OWN_PARAMS,
  OWN_STREAM,
  OWN_DEVICE_START,
  OWN_DEVICE_END,
  OWN_DEVICE_OFF,
  OWN_DEVICE_ERROR,
  OWN_CPU_KNOWN,
  OWN_CPU_LAST = OWN_CPU_KNOWN + 8,
  OWN_NO_NUMBER  // a flag, no number
} own_number;

#define KEY(text) text, sizeof text - 1
static const struct {
  const char *key;
  size_t len;
  uint32_t number;  // OWN_NO_NUMBER: a flag
  uint32_t flag;
} keys[] = {{KEY("window"), OWN_WINDOW, 0},
            {KEY("depth"), OWN_DEPTH, 0},
            {KEY("step"), OWN_STEP, 0},
            {KEY("value"), OWN_VALUE, 0},
            {KEY("seq"), OWN_SEQ, 0},
            {KEY("told_ns"), OWN_TOLD, 0},
            {KEY("items"), OWN_ITEMS, 0},
            {KEY("bytes"), OWN_BYTES, 0},
            {KEY("flops"), OWN_FLOPS, 0},
            {KEY("params"), OWN_PARAMS, 0},
            {KEY("on_stream"), OWN_STREAM, 0},
            {KEY("device_start_ns"), OWN_DEVICE_START, 0},
            {KEY("device_end_ns"), OWN_DEVICE_END, 0},
            {KEY("device_off_ns"), OWN_DEVICE_OFF, 0},
            {KEY("device_error_ns"), OWN_DEVICE_ERROR, 0},
            {KEY("cpu_known"), OWN_CPU_KNOWN, 0},
            {KEY("cpu_user_ns"), OWN_CPU_KNOWN + 1, 0},
            {KEY("cpu_sys_ns"), OWN_CPU_KNOWN + 2, 0},
            {KEY("cpu_inner_ns"), OWN_CPU_KNOWN + 3, 0},
            {KEY("run_queue_ns"), OWN_CPU_KNOWN + 4, 0},
            {KEY("voluntary_switches"), OWN_CPU_KNOWN + 5, 0},
            {KEY("involuntary_switches"), OWN_CPU_KNOWN + 6, 0},
            {KEY("minor_faults"), OWN_CPU_KNOWN + 7, 0},
            {KEY("major_faults"), OWN_CPU_LAST, 0},
            {KEY("clipped"), OWN_NO_NUMBER, PPROF_FLAG_CLIPPED},
            {KEY("abandoned"), OWN_NO_NUMBER, PPROF_FLAG_ABANDONED},
            {KEY("late"), OWN_NO_NUMBER, PPROF_FLAG_LATE},
            {KEY("in_graph"), OWN_NO_NUMBER, PPROF_FLAG_IN_GRAPH},
            {KEY("no_device_time"), OWN_NO_NUMBER, PPROF_FLAG_NO_DEVICE_TIME},
            {KEY("async"), OWN_NO_NUMBER, PPROF_FLAG_ASYNC},
            {KEY("paired"), OWN_NO_NUMBER, PPROF_FLAG_PAIRED},
            {KEY("inner"), OWN_NO_NUMBER, PPROF_FLAG_INNER},
            {KEY("communication"), OWN_NO_NUMBER, PPROF_FLAG_COMMUNICATION},
            {KEY("reserved"), OWN_NO_NUMBER, PPROF_FLAG_RESERVED},
            {KEY("projected"), OWN_NO_NUMBER, PPROF_FLAG_PROJECTED},
            {KEY("by_wait"), OWN_NO_NUMBER, PPROF_FLAG_BY_WAIT},
            {KEY("request"), OWN_NO_NUMBER, PPROF_FLAG_REQUEST}};

enum { NUM_KEYS = sizeof keys / sizeof *keys };

typedef struct own_event {
  double numbers[OWN_NO_NUMBER + 1];
  bool has[OWN_NO_NUMBER + 1];
  int64_t start, end;
  ppi_own_record record;
} own_event;

uint8_t ppi_own_key(const char *key, size_t len) {
  size_t at = 0;
  while (at < NUM_KEYS &&
         (keys[at].len != len || memcmp(keys[at].key, key, len) != 0))
    at++;
  return (uint8_t)(at + 1);
}

static void read_args(const ppi_fields *fields, own_event *event) {
  for (size_t i = 0; i < fields->num_numbers; i++) {
    const ppi_number *number = &fields->numbers[i];
    size_t at = number->own ? number->own
                            : ppi_own_key(number->key, strlen(number->key));
    if (at > NUM_KEYS) continue;
    event->numbers[keys[at - 1].number] = ppi_number_value(number);
    event->has[keys[at - 1].number] = true;
    event->record.flags |= keys[at - 1].flag;
  }
}

static uint64_t whole(const own_event *event, uint32_t number) {
  double value = event->numbers[number];
  return value >= 0 && value < 0x1p63 ? (uint64_t)value : 0;
}

static uint32_t short_of(const own_event *event, uint32_t number) {
  uint64_t value = whole(event, number);
  return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static ppi_own_word unsigned_word(uint64_t value) {
  return (ppi_own_word){.u = value};
}

static pprof_status add_part(ppi_importer *importer, const own_event *event,
                             ppi_own_part part, const ppi_own_word *words,
                             size_t num) {
  ppi_own_record record = event->record;
  record.part = (uint8_t)part;
  record.num = (uint8_t)num;
  memcpy(record.words, words, num * sizeof *words);
  uint32_t process = importer->places.rows[record.row].process;
  return ppi_sorter_add(&importer->own, process, &record);
}

// ---- what an event has beside its times ----

static pprof_status add_device(ppi_importer *importer, const own_event *event) {
  ppi_own_word words[4] = {unsigned_word(short_of(event, OWN_STREAM))};
  size_t num = 1;
  if (event->has[OWN_DEVICE_START]) {
    words[num++] = unsigned_word(whole(event, OWN_DEVICE_START));
    words[num++] = unsigned_word(whole(event, OWN_DEVICE_END));
    words[num++] = unsigned_word(whole(event, OWN_DEVICE_OFF));
    ppi_import_span(importer, whole(event, OWN_DEVICE_START) + PPI_RECORD_BIAS,
                    whole(event, OWN_DEVICE_END) + PPI_RECORD_BIAS,
                    PPI_TIMED_FRAME);
  }
  return add_part(importer, event, PPI_OWN_DEVICE, words, num);
}

static pprof_status add_work(ppi_importer *importer, const own_event *event) {
  ppi_own_word words[4];
  bool is_stated = false;
  for (uint32_t i = 0; i < 4; i++) {
    words[i].d = event->numbers[OWN_ITEMS + i];
    is_stated |= event->has[OWN_ITEMS + i];
  }
  return is_stated ? add_part(importer, event, PPI_OWN_WORK, words, 4)
                   : PPROF_STATUS_OK;
}

static pprof_status add_cpu(ppi_importer *importer, const own_event *event) {
  pprof_status status = PPROF_STATUS_OK;
  if (!event->has[OWN_CPU_KNOWN]) return status;
  for (uint32_t i = 0; i < 9 && status == PPROF_STATUS_OK; i += 4) {
    ppi_own_word words[4] = {{0}};
    for (uint32_t k = 0; k < 4 && i + k < 9; k++)
      words[k] = unsigned_word(whole(event, OWN_CPU_KNOWN + i + k));
    status = add_part(importer, event, (ppi_own_part)(PPI_OWN_CPU + i / 4),
                      words, 4);
  }
  return status;
}

static pprof_status add_flows(ppi_importer *importer, const own_event *event) {
  const ppi_fields *fields = &importer->fields;
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < fields->num_flows && status == PPROF_STATUS_OK;) {
    ppi_own_word words[4];
    size_t num = 0;
    for (; num < 4 && i < fields->num_flows; i++)
      words[num++] = unsigned_word(fields->flows[i]);
    status = add_part(importer, event, PPI_OWN_FLOWS, words, num);
  }
  return status;
}

static pprof_status add_numbers(ppi_importer *importer,
                                const own_event *event) {
  const pprof_numbers *numbers = &importer->fields.numbers_of_name;
  ppi_own_word words[PPROF_MOST_NUMBERS];
  for (uint32_t i = 0; i < numbers->num; i++)
    words[i] = unsigned_word(numbers->values[i]);
  return numbers->num
             ? add_part(importer, event, PPI_OWN_NUMBERS, words, numbers->num)
             : PPROF_STATUS_OK;
}

static pprof_status add_event(ppi_importer *importer, const own_event *event,
                              double value) {
  const ppi_own_word words[4] = {
      unsigned_word((uint64_t)event->end + PPI_RECORD_BIAS),
      {.d = value},
      unsigned_word(whole(event, OWN_SEQ)),
      unsigned_word(whole(event, OWN_TOLD))};
  importer->num_events++;
  importer->places.processes[importer->places.rows[event->record.row].process]
      .num_host++;
  ppi_import_span(importer, event->record.time,
                  (uint64_t)event->end + PPI_RECORD_BIAS, PPI_TIMED_FRAME);
  pprof_status status = add_part(importer, event, PPI_OWN_MAIN, words, 4);
  if (status == PPROF_STATUS_OK && event->has[OWN_STREAM])
    status = add_device(importer, event);
  if (status == PPROF_STATUS_OK) status = add_work(importer, event);
  if (status == PPROF_STATUS_OK) status = add_cpu(importer, event);
  if (status == PPROF_STATUS_OK) status = add_numbers(importer, event);
  return status == PPROF_STATUS_OK ? add_flows(importer, event) : status;
}

// ---- kinds of events ----

static pprof_status find_site(ppi_importer *importer, own_event *event) {
  const ppi_scalar *cat = &importer->fields.fields[PPI_FIELD_CAT];
  // An event with a full name has its site's name in args.
  const ppi_scalar *site = ppi_fields_arg(&importer->fields, PPI_ARG_LABELS);
  ppi_label label = {cat->text, importer->fields.name,
                     cat->kind == PPI_SCALAR_TEXT ? cat->len : 0,
                     importer->fields.name_len};
  if (site && site->kind == PPI_SCALAR_TEXT && site->len < PPI_MAX_SCALAR) {
    label.name = site->text;
    label.name_len = site->len;
  }
  importer->skips[PPI_SKIP_NAMES_CUT] += importer->fields.name_cut;
  event->record.site = ppi_import_site(importer, &label);
  return event->record.site ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static pprof_status take_range(ppi_importer *importer, own_event *event) {
  int64_t length;
  // The submission's event has the device side, too.
  if (event->has[OWN_DEVICE_ERROR]) return PPROF_STATUS_OK;
  if (!ppi_import_ns(&importer->fields.fields[PPI_FIELD_DUR], &length) ||
      length < 0 || length > PPI_IMPORT_MAX_NS - event->start) {
    importer->skips[PPI_SKIP_BAD_TIME]++;
    return PPROF_STATUS_OK;
  }
  event->end = event->start + length;
  event->record.kind =
      event->has[OWN_STREAM] ? PPROF_KIND_DEVICE_RANGE : PPROF_KIND_RANGE;
  return add_event(importer, event, event->numbers[OWN_STEP]);
}

// Takes a mark "window 3 opens".
static pprof_status take_window(ppi_importer *importer,
                                const own_event *event) {
  const char *name = importer->fields.name;
  const char *number = name + sizeof("window ") - 1;
  size_t len = importer->fields.name_len;
  const char *end = len > 7 ? memchr(number, ' ', len - 7) : NULL;
  int64_t index;
  if (!end || !ppi_integer(number, (size_t)(end - number), &index) ||
      index < 0 || index > UINT32_MAX) {
    importer->skips[PPI_SKIP_MALFORMED]++;
    return PPROF_STATUS_OK;
  }
  const ppi_own_word words[4] = {unsigned_word((uint64_t)index),
                                 unsigned_word(strcmp(end, " opens") == 0)};
  importer->num_events++;
  importer->places.processes[importer->places.rows[event->record.row].process]
      .num_host++;
  ppi_import_span(importer, event->record.time, event->record.time,
                  PPI_TIMED_FRAME);
  return add_part(importer, event, PPI_OWN_WINDOW, words, 2);
}

static pprof_status take_counter(ppi_importer *importer, own_event *event) {
  const ppi_scalar *change = &importer->fields.fields[PPI_FIELD_CHANGE];
  if (change->kind == PPI_SCALAR_NUMBER) {
    event->numbers[OWN_BYTES] = ppi_scalar_number(change);
    event->has[OWN_BYTES] = true;
  }
  if (importer->fields.fields[PPI_FIELD_RESERVED].kind != PPI_SCALAR_NONE)
    event->record.flags |= PPROF_FLAG_RESERVED;
  event->record.kind = PPROF_KIND_COUNTER;
  return add_event(importer, event, event->numbers[OWN_VALUE]);
}

static bool is_window(const ppi_scalar *cat) {
  return cat->kind == PPI_SCALAR_TEXT && strcmp(cat->text, "window") == 0;
}

static pprof_status take(ppi_importer *importer, char ph) {
  ppi_fields *fields = &importer->fields;
  own_event event = {.record = {.order = importer->own.num_added}};
  uint32_t process =
      ppi_place_process(&importer->places, &fields->fields[PPI_FIELD_PID]);
  if (process == PPI_NO_PLACE) return PPROF_STATUS_NO_MEMORY;
  event.record.row = ppi_place_row(&importer->places, process,
                                   &fields->fields[PPI_FIELD_TID], false);
  if (event.record.row == PPI_NO_PLACE) return PPROF_STATUS_NO_MEMORY;
  if (!ppi_import_ns(&fields->fields[PPI_FIELD_TS], &event.start) ||
      event.start < 0) {
    importer->skips[PPI_SKIP_BAD_TIME]++;
    return PPROF_STATUS_OK;
  }
  event.end = event.start;
  event.record.time = (uint64_t)event.start + PPI_RECORD_BIAS;
  if (ph == 'i' && is_window(&fields->fields[PPI_FIELD_CAT]))
    return take_window(importer, &event);
  read_args(fields, &event);
  importer->skips[PPI_SKIP_NOT_FINITE] += fields->num_nulls;
  event.record.window = short_of(&event, OWN_WINDOW);
  event.record.depth = short_of(&event, OWN_DEPTH);
  pprof_status status = find_site(importer, &event);
  if (status != PPROF_STATUS_OK) return status;
  if (ph == 'C') return take_counter(importer, &event);
  event.record.kind = PPROF_KIND_MARK;
  return ph == 'X' ? take_range(importer, &event)
                   : add_event(importer, &event, event.numbers[OWN_VALUE]);
}

pprof_status ppi_own_take(ppi_importer *importer, char ph) {
  // Arrows repeat the flows of the ranges.
  if (strchr("stf", ph)) return PPROF_STATUS_OK;
  if (strchr("XiC", ph)) return take(importer, ph);
  importer->skips[PPI_SKIP_UNKNOWN_KIND]++;
  return PPROF_STATUS_OK;
}

// ---- names and facts ----

void ppi_own_name_row(ppi_importer *importer, uint32_t row) {
  const ppi_fields *fields = &importer->fields;
  for (size_t i = 0; i < fields->num_numbers; i++) {
    const ppi_number *number = &fields->numbers[i];
    double value = ppi_number_value(number);
    if (strcmp(number->key, "lane") != 0 || !(value >= 0) ||
        value >= UINT32_MAX)
      continue;
    importer->places.rows[row].lane = (uint32_t)value;
    importer->places.rows[row].has_lane = true;
  }
}

pprof_status ppi_own_take_fact(ppi_importer *importer,
                               const ppi_json_token *token) {
  if (!importer->facts) importer->facts = ppi_alloc(sizeof *importer->facts);
  return importer->facts && ppi_own_facts_take(importer->facts, token)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

bool ppi_own_is_run(const ppi_fields *fields) {
  const ppi_scalar *ph = &fields->fields[PPI_FIELD_PH];
  return ph->kind == PPI_SCALAR_TEXT && ph->text[0] == 'M' &&
         fields->name_len == 3 && memcmp(fields->name, "run", 3) == 0;
}
