// SPDX-License-Identifier: Apache-2.0
//
// Turns events of our own traces into records, from the args that the Chrome
// writer wrote.
#include "import/own_take.h"

#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "import/sites.h"

// A key that no text equals.
#define LIST NULL, SIZE_MAX
#define KEY(text) text, sizeof text - 1
#define IN(member) offsetof(ppi_own_event, member)
const ppi_own_member ppi_own_members[] = {
    [PPI_OWN_FLOWS] = {LIST, PPI_OWN_FLOW, 0},
    [PPI_OWN_NUMBERS] = {LIST, PPI_OWN_NUMBER, 0},
    {KEY("window"), PPI_OWN_SHORT, IN(event.window)},
    {KEY("depth"), PPI_OWN_DEPTH, 0},
    {KEY("step"), PPI_OWN_REAL, IN(event.value)},
    {KEY("value"), PPI_OWN_REAL, IN(event.value)},
    {KEY("items"), PPI_OWN_REAL, IN(work.items)},
    {KEY("bytes"), PPI_OWN_REAL, IN(work.bytes)},
    {KEY("flops"), PPI_OWN_REAL, IN(work.flops)},
    {KEY("params"), PPI_OWN_REAL, IN(work.params)},
    {KEY("on_stream"), PPI_OWN_SHORT, IN(event.stream)},
    {KEY("device_start_ns"), PPI_OWN_TIME, IN(event.device_start_ns)},
    {KEY("device_end_ns"), PPI_OWN_TIME, IN(event.device_end_ns)},
    {KEY("device_off_ns"), PPI_OWN_WHOLE, IN(event.device_error_ns)},
    {KEY("device_error_ns"), PPI_OWN_SIDE, 0},
    {KEY("cpu_known"), PPI_OWN_SHORT, IN(cpu.known)},
    {KEY("cpu_user_ns"), PPI_OWN_WHOLE, IN(cpu.user_ns)},
    {KEY("cpu_sys_ns"), PPI_OWN_WHOLE, IN(cpu.sys_ns)},
    {KEY("cpu_inner_ns"), PPI_OWN_WHOLE, IN(cpu.inner_ns)},
    {KEY("run_queue_ns"), PPI_OWN_WHOLE, IN(cpu.run_queue_ns)},
    {KEY("voluntary_switches"), PPI_OWN_WHOLE, IN(cpu.voluntary_switches)},
    {KEY("involuntary_switches"), PPI_OWN_WHOLE, IN(cpu.involuntary_switches)},
    {KEY("minor_faults"), PPI_OWN_WHOLE, IN(cpu.minor_faults)},
    {KEY("major_faults"), PPI_OWN_WHOLE, IN(cpu.major_faults)},
    {KEY("clipped"), PPI_OWN_FLAG, PPROF_FLAG_CLIPPED},
    {KEY("abandoned"), PPI_OWN_FLAG, PPROF_FLAG_ABANDONED},
    {KEY("late"), PPI_OWN_FLAG, PPROF_FLAG_LATE},
    {KEY("in_graph"), PPI_OWN_FLAG, PPROF_FLAG_IN_GRAPH},
    {KEY("no_device_time"), PPI_OWN_FLAG, PPROF_FLAG_NO_DEVICE_TIME},
    {KEY("async"), PPI_OWN_FLAG, PPROF_FLAG_ASYNC},
    {KEY("paired"), PPI_OWN_FLAG, PPROF_FLAG_PAIRED},
    {KEY("inner"), PPI_OWN_FLAG, PPROF_FLAG_INNER},
    {KEY("communication"), PPI_OWN_FLAG, PPROF_FLAG_COMMUNICATION},
    {KEY("reserved"), PPI_OWN_FLAG, PPROF_FLAG_RESERVED},
    {KEY("projected"), PPI_OWN_FLAG, PPROF_FLAG_PROJECTED},
    {KEY("by_wait"), PPI_OWN_FLAG, PPROF_FLAG_BY_WAIT},
    {KEY("request"), PPI_OWN_FLAG, PPROF_FLAG_REQUEST}};
enum {
  NUM_MEMBERS = sizeof ppi_own_members / sizeof *ppi_own_members,
  MOST_WORDS = PPI_MAX_NUMBERS + PPROF_MOST_NUMBERS + PPI_MAX_EVENT_FLOWS
};

// An event that is being taken: its record, and its words.
typedef struct taken {
  ppi_record record;
  bool is_side;
  size_t num;
  uint8_t keys[MOST_WORDS];
  uint64_t words[MOST_WORDS];
} taken;

uint8_t ppi_own_key(const char *key, size_t len) {
  size_t at = 0;
  while (at < NUM_MEMBERS && (ppi_own_members[at].len != len ||
                              memcmp(ppi_own_members[at].text, key, len) != 0))
    at++;
  return (uint8_t)(at + 1);
}

static uint64_t whole(double value, uint64_t most) {
  if (!(value >= 0) || value >= 0x1p63) return 0;
  return PPI_MIN((uint64_t)value, most);
}

static void put_word(taken *event, size_t key, uint64_t word) {
  if (event->num == MOST_WORDS) return;
  event->keys[event->num] = (uint8_t)key;
  event->words[event->num++] = word;
}

static void put_real(taken *event, size_t key, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_word(event, key, bits);
}

static void take_number(ppi_importer *importer, taken *event, size_t key,
                        double value) {
  const ppi_own_member *member = &ppi_own_members[key];
  switch (member->type) {
    case PPI_OWN_FLAG:
      event->record.marks |= member->at;
      return;
    case PPI_OWN_DEPTH:
      event->record.name = (uint32_t)whole(value, UINT32_MAX);
      return;
    case PPI_OWN_SIDE:
      event->is_side = true;
      return;
    case PPI_OWN_REAL:
      put_real(event, key, value);
      return;
    case PPI_OWN_SHORT:
      if (member->at == IN(event.stream))
        event->record.flags |= PPI_RECORD_ON_STREAM;
      if (value > 0 || member->at != IN(event.window))
        put_word(event, key, whole(value, UINT32_MAX));
      return;
    case PPI_OWN_TIME:
      ppi_import_span(importer, whole(value, INT64_MAX) + PPI_RECORD_BIAS,
                      whole(value, INT64_MAX) + PPI_RECORD_BIAS,
                      PPI_TIMED_FRAME);
      put_word(event, key, whole(value, INT64_MAX));
      return;
    default:
      put_word(event, key, whole(value, UINT64_MAX));
  }
}

static void take_args(ppi_importer *importer, taken *event) {
  const ppi_fields *fields = &importer->fields;
  const pprof_numbers *numbers = &fields->numbers_of_name;
  importer->skips[PPI_SKIP_NOT_FINITE] += fields->num_nulls;
  for (size_t i = 0; i < fields->num_numbers; i++) {
    const ppi_number *number = &fields->numbers[i];
    size_t at = number->own ? number->own
                            : ppi_own_key(number->key, strlen(number->key));
    if (at <= NUM_MEMBERS)
      take_number(importer, event, at - 1, ppi_number_value(number));
  }
  for (uint32_t i = 0; i < numbers->num; i++)
    put_word(event, PPI_OWN_NUMBERS, numbers->values[i]);
  for (size_t i = 0; i < fields->num_flows; i++)
    put_word(event, PPI_OWN_FLOWS, fields->flows[i]);
}

// Adds the event behind its words, which sort as it does.
static void add(ppi_importer *importer, const taken *event,
                ppi_record_kind kind) {
  ppi_record record = event->record, word = event->record;
  importer->places.processes[record.process].num_host++;
  word.kind =
      kind == PPI_RECORD_ASYNC_BEGIN ? PPI_RECORD_WORD : PPI_RECORD_POINT_WORD;
  for (size_t i = 0; i < event->num; i++) {
    word.attributes = event->keys[i];
    memcpy(&word.value, &event->words[i], sizeof word.value);
    ppi_sorter_add(&importer->records, word.process, &word);
  }
  record.kind = (uint8_t)kind;
  ppi_import_add(importer, &record);
}

// Ranges begin and end by keys of their own, as the trace states how they nest.
// They end in its order: an inner range comes before the one around it, even if
// it ends later. Spans come in any order.
static void add_range(ppi_importer *importer, taken *event) {
  ppi_record *record = &event->record;
  ppi_process *process = &importer->places.processes[record->process];
  uint64_t end = record->end;
  memcpy(&record->amount, &end, sizeof end);
  record->end = importer->num_events << PPI_SWEEP_KEY_BITS;
  add(importer, event, PPI_RECORD_ASYNC_BEGIN);
  process->ended = PPI_MAX(process->ended, end);
  record->time = importer->header.spans ? end : process->ended;
  record->kind = PPI_RECORD_ASYNC_END;
  ppi_import_add(importer, record);
}

// ---- kinds of events ----

static void find_site(ppi_importer *importer, taken *event) {
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
}

static void take_range(ppi_importer *importer, taken *event) {
  int64_t length, start = (int64_t)(event->record.time - PPI_RECORD_BIAS);
  if (event->is_side) return;
  if (!ppi_import_ns(&importer->fields.fields[PPI_FIELD_DUR], &length) ||
      length < 0 || length > PPI_IMPORT_MAX_NS - start) {
    importer->skips[PPI_SKIP_BAD_TIME]++;
    return;
  }
  event->record.end += (uint64_t)length;
  add_range(importer, event);
}

// Takes a mark "window 3 opens".
static void take_window(ppi_importer *importer, taken *event) {
  unsigned index;
  int end = 0;
  if (sscanf(importer->fields.name, "window %u %n", &index, &end) != 1) {
    importer->skips[PPI_SKIP_MALFORMED]++;
    return;
  }
  event->record.attributes = index;
  event->record.name = strcmp(importer->fields.name + end, "opens") == 0;
  add(importer, event, PPI_RECORD_WINDOW);
}

// Viewers would draw a line for each of these numbers in args.
static void take_counter(ppi_importer *importer, taken *event) {
  const ppi_scalar *change = &importer->fields.fields[PPI_FIELD_CHANGE];
  if (change->kind == PPI_SCALAR_NUMBER)
    put_real(event, ppi_own_key("bytes", 5) - 1u, ppi_scalar_number(change));
  if (importer->fields.fields[PPI_FIELD_RESERVED].kind != PPI_SCALAR_NONE)
    event->record.marks |= PPROF_FLAG_RESERVED;
  add(importer, event, PPI_RECORD_COUNTER);
}

static bool is_window(const ppi_scalar *cat) {
  return cat->kind == PPI_SCALAR_TEXT && strcmp(cat->text, "window") == 0;
}

static bool number_of(const ppi_fields *fields, const char *key, double *out) {
  for (size_t i = 0; i < fields->num_numbers; i++) {
    if (strcmp(fields->numbers[i].key, key) != 0) continue;
    *out = ppi_number_value(&fields->numbers[i]);
    return true;
  }
  return false;
}

static void find_row(ppi_importer *importer, ppi_record *record) {
  const ppi_scalar *fields = importer->fields.fields;
  uint32_t process =
      ppi_place_process(&importer->places, &fields[PPI_FIELD_PID]);
  record->process = (uint16_t)process;
  record->row =
      ppi_place_row(&importer->places, process, &fields[PPI_FIELD_TID], false);
}

static void take(ppi_importer *importer, char ph) {
  ppi_fields *fields = &importer->fields;
  taken event;
  int64_t start;
  event.num = event.is_side = 0;
  event.record = (ppi_record){0};
  find_row(importer, &event.record);
  if (!ppi_import_ns(&fields->fields[PPI_FIELD_TS], &start) || start < 0) {
    importer->skips[PPI_SKIP_BAD_TIME]++;
    return;
  }
  event.record.time = event.record.end = (uint64_t)start + PPI_RECORD_BIAS;
  if (ph == 'i' && is_window(&fields->fields[PPI_FIELD_CAT])) {
    take_window(importer, &event);
    return;
  }
  take_args(importer, &event);
  find_site(importer, &event);
  if (ph == 'C')
    take_counter(importer, &event);
  else if (ph == 'X')
    take_range(importer, &event);
  else
    add(importer, &event, PPI_RECORD_MARK);
}

void ppi_own_take(ppi_importer *importer, char ph) {
  if (strchr("XiC", ph))
    take(importer, ph);
  else if (!strchr("stf", ph))  // arrows repeat the flows of the ranges
    importer->skips[PPI_SKIP_UNKNOWN_KIND]++;
}

// It stands behind all ranges that the trace has before it, and all that began
// by its time.
void ppi_own_checkpoint(ppi_importer *importer) {
  ppi_record record = {.kind = PPI_RECORD_CHECKPOINT};
  double time;
  find_row(importer, &record);
  record.time = importer->places.processes[record.process].ended;
  if (!number_of(&importer->fields, "time_ns", &time)) return;
  record.end = whole(time, INT64_MAX) + PPI_RECORD_BIAS;
  record.time = PPI_MAX(record.time, record.end);
  ppi_sorter_add(&importer->records, record.process, &record);
}

// ---- spans ----

static uint32_t row_of_span(ppi_importer *importer,
                            const ppi_span_event *span) {
  static const ppi_scalar pid = {PPI_SCALAR_NUMBER, 1, 1, "1"};
  ppi_scalar scalar = {.kind = PPI_SCALAR_NUMBER};
  uint32_t process = ppi_place_process(&importer->places, &pid);
  scalar.len =
      (uint16_t)snprintf(scalar.text, sizeof scalar.text, "%zu", span->row);
  uint32_t at = ppi_place_row(&importer->places, process, &scalar, false);
  ppi_row *row = &importer->places.rows[at];
  if (row->name) return at;
  scalar.kind = PPI_SCALAR_TEXT;
  scalar.len =
      (uint16_t)snprintf(scalar.text, sizeof scalar.text, "%s", span->service);
  ppi_place_name(&row->name, &scalar);
  return at;
}

void ppi_own_take_span(void *context, const ppi_span_event *span) {
  ppi_importer *importer = context;
  const ppi_label label = {span->category, span->name, strlen(span->category),
                           strlen(span->name)};
  taken event;
  event.num = 0;
  event.record = (ppi_record){.time = span->start_ns + PPI_RECORD_BIAS,
                              .end = span->end_ns + PPI_RECORD_BIAS,
                              .row = row_of_span(importer, span),
                              .site = ppi_import_site(importer, &label),
                              .marks = span->flags};
  put_real(&event, ppi_own_key("value", 5) - 1u, span->value);
  if (span->items > 0)
    put_real(&event, ppi_own_key("items", 5) - 1u, span->items);
  for (size_t i = 0; i < 2; i++)
    if (span->flows[i]) put_word(&event, PPI_OWN_FLOWS, span->flows[i]);
  if (span->kind == PPROF_KIND_RANGE)
    add_range(importer, &event);
  else
    add(importer, &event,
        span->kind == PPROF_KIND_MARK ? PPI_RECORD_MARK : PPI_RECORD_COUNTER);
}

// ---- names and facts ----

void ppi_own_name_row(ppi_importer *importer, uint32_t row) {
  double lane;
  if (!number_of(&importer->fields, "lane", &lane) || !(lane >= 0) ||
      lane >= UINT32_MAX)
    return;
  importer->places.rows[row].lane = (uint32_t)lane;
  importer->places.rows[row].has_lane = true;
}

void ppi_own_take_fact(ppi_importer *importer, const ppi_json_token *token) {
  if (!importer->facts)
    importer->facts = ppi_tool_must(ppi_alloc(sizeof *importer->facts));
  ppi_own_facts_take(importer->facts, token);
}

bool ppi_own_is_run(const ppi_fields *fields) {
  const ppi_scalar *ph = &fields->fields[PPI_FIELD_PH];
  return ph->kind == PPI_SCALAR_TEXT && ph->text[0] == 'M' &&
         fields->name_len == 3 && memcmp(fields->name, "run", 3) == 0;
}
