// SPDX-License-Identifier: Apache-2.0
//
// Converts events other than ranges of a thread: device work, memory, names.
#include <stdio.h>

#include "base/base.h"
#include "cli/say.h"
#include "import/convert.h"
#include "import/join.h"
#include "import/own_take.h"
#include "import/sites.h"

// ---- nodes of ONNX Runtime ----

static void set_node(ppi_importer *importer, const char *name) {
  size_t num = importer->operators.num;
  ppi_map_key key = ppi_map_key_of(name, "");
  bool is_full = num >= PPI_IMPORT_MAX_SITES;
  if (is_full && ppi_map_find(&importer->operators, key) == SIZE_MAX) return;
  PPI_MUST_ROOM(importer->nodes, importer->nodes_capacity, num + 1);
  importer->nodes[ppi_tool_number(&importer->operators, key)] =
      importer->num_nodes;
}

uint64_t ppi_convert_node(ppi_importer *importer, const char *op_name,
                          const char *name) {
  importer->num_nodes++;
  set_node(importer, op_name);
  set_node(importer, name);
  return importer->num_nodes;
}

// Kernels follow their node and have its operator's name, but no correlation
// id.
static uint64_t node_of_kernel(const ppi_importer *importer) {
  const ppi_scalar *op = ppi_fields_arg(&importer->fields, PPI_ARG_OP_NAME);
  if (!op || op->kind != PPI_SCALAR_TEXT) return 0;
  size_t at = ppi_map_find(&importer->operators, ppi_map_key_of(op->text, ""));
  return at == SIZE_MAX ? 0 : importer->nodes[at];
}

// ---- device work ----

static uint64_t device_number(const ppi_importer *importer,
                              const ppi_process *process) {
  double number;
  if (ppi_import_number(importer, PPI_ARG_DEVICE, &number) && number >= 0 &&
      number < 1e9)
    return (uint64_t)number;
  if (importer->is_array || process->is_text ||
      !ppi_dialect_of(importer->header.dialects)->has_device_rows ||
      process->number < 0)
    return 0;
  return (uint64_t)process->number;
}

// As a number or as text.
static bool stream_number(const ppi_importer *importer, double *out) {
  const ppi_scalar *stream = ppi_fields_arg(&importer->fields, PPI_ARG_STREAM);
  int64_t number;
  if (!stream || stream->kind != PPI_SCALAR_TEXT)
    return ppi_import_number(importer, PPI_ARG_STREAM, out);
  if (!ppi_integer(stream->text, stream->len, &number)) return false;
  *out = (double)number;
  return true;
}

uint32_t ppi_convert_stream(ppi_importer *importer, uint32_t row_id) {
  ppi_places *places = &importer->places;
  const ppi_row *row = &places->rows[row_id];
  const ppi_process *process = &places->processes[row->process];
  uint32_t device =
      ppi_place_device(places, "", device_number(importer, process));
  double number;
  if (!stream_number(importer, &number) || number < 0 || number > 1e15)
    number = (double)(row->is_text ? 0 : (int64_t)row->key);
  if (number < 0) number = 0;
  return ppi_place_stream(places, device, (uint64_t)number, row_id);
}

void ppi_convert_device(ppi_importer *importer, uint32_t row, uint32_t site,
                        uint64_t start, uint64_t end) {
  const ppi_class *class = &importer->classes[site];
  ppi_device_record record = {
      .start = start,
      .end = end,
      .submit = start,
      .correlation = ppi_import_id_arg(importer, PPI_ARG_CORRELATION,
                                       PPI_ARG_CORRELATION_ID),
      .external =
          ppi_import_id_arg(importer, PPI_ARG_EXTERNAL, PPI_ARG_EXTERNAL_LOWER),
      .stream = ppi_convert_stream(importer, row),
      .site = site,
      .attributes = ppi_import_attributes(importer),
      .row = row,
      .process = PPI_NO_PLACE};
  if (!record.correlation && !record.external)
    record.external = node_of_kernel(importer);
  // Some traces name the owner process of device work, even without a launch.
  const ppi_scalar *owner = ppi_fields_arg(&importer->fields, PPI_ARG_OWNER);
  if (owner) {
    record.process = ppi_place_process(&importer->places, owner);
    importer->places.processes[record.process].owns_work = true;
  }
  if (ppi_import_number(importer, PPI_ARG_BYTES, &record.amount))
    record.flags |= PPI_RECORD_HAS_AMOUNT;
  if (ppi_import_flops(importer, &record.flops))
    record.flags |= PPI_RECORD_HAS_FLOPS;
  if (class->is & PPI_IS_COMMUNICATION)
    record.flags |= PPI_RECORD_COMMUNICATION;
  importer->num_events++;
  ppi_import_span(importer, start, end, PPI_TIMED_DEVICE);
  ppi_import_device(importer, &record);
}

// ---- memory ----

typedef struct memory_sample {
  char place[PPI_MAX_SCALAR + 1];
  double change, allocated, reserved;
  bool has_allocated, has_reserved;
  bool is_of_reserved;  // `change` counts reserved bytes
} memory_sample;

static bool read_kineto(const ppi_importer *importer, memory_sample *out) {
  double type, device;
  if (!ppi_import_number(importer, PPI_ARG_CHANGE, &out->change)) return false;
  if (!ppi_import_number(importer, PPI_ARG_DEVICE_TYPE, &type)) type = 0;
  if (!ppi_import_number(importer, PPI_ARG_DEVICE_ID, &device)) device = 0;
  // Numbers of c10::DeviceType: CPU, CUDA, HIP, XPU.
  int kind = type >= 0 && type < 1000 ? (int)type : 999;
  int number = device >= 0 && device < 1e6 ? (int)device : 0;
  if (kind == 0)
    strcpy(out->place, "cpu");
  else if (kind == 1 || kind == 6)
    snprintf(out->place, sizeof out->place, "gpu:%d", number);
  else if (kind == 12)
    snprintf(out->place, sizeof out->place, "xpu:%d", number);
  else
    snprintf(out->place, sizeof out->place, "device%d:%d", kind, number);
  out->has_allocated =
      ppi_import_number(importer, PPI_ARG_TOTAL_ALLOCATED, &out->allocated);
  out->has_reserved =
      ppi_import_number(importer, PPI_ARG_TOTAL_RESERVED, &out->reserved);
  return true;
}

// "Place(gpu:0)" and "gpu:0" are the same place.
static void copy_place(const ppi_scalar *from, char *to) {
  static const char prefix[] = "Place(";
  size_t len = from->len, at = 0, prefix_len = sizeof prefix - 1;
  if (len > prefix_len + 1 && memcmp(from->text, prefix, prefix_len) == 0 &&
      from->text[len - 1] == ')') {
    at = prefix_len;
    len--;
  }
  memcpy(to, from->text + at, len - at);
  to[len - at] = '\0';
}

static bool read_paddle(const ppi_importer *importer, memory_sample *out) {
  const ppi_fields *fields = &importer->fields;
  const ppi_scalar *place = ppi_fields_arg(fields, PPI_ARG_PLACE);
  const char *cat = fields->fields[PPI_FIELD_CAT].text;
  if (!place || place->kind != PPI_SCALAR_TEXT || place->len == 0 ||
      !ppi_import_number(importer, PPI_ARG_INCREASE_BYTES, &out->change))
    return false;
  copy_place(place, out->place);
  out->is_of_reserved = strncmp(cat, "Reserved", 8) == 0;
  bool is_free = strcmp(cat, "Free") == 0 || strcmp(cat, "ReservedFree") == 0;
  // Some versions give the size, others the change.
  if (is_free ? out->change > 0 : out->change < 0) out->change = -out->change;
  out->has_allocated =
      ppi_import_number(importer, PPI_ARG_CURRENT_ALLOCATED, &out->allocated);
  out->has_reserved =
      ppi_import_number(importer, PPI_ARG_CURRENT_RESERVED, &out->reserved);
  return true;
}

static void add_level(ppi_importer *importer, const ppi_record *from,
                      double level, bool is_reserved, bool is_change) {
  ppi_record record = *from;
  record.value = level;
  record.flags = (uint8_t)((is_reserved ? PPI_RECORD_RESERVED : 0) |
                           (is_change ? PPI_RECORD_HAS_AMOUNT : 0));
  if (!is_change) record.amount = 0;
  ppi_import_add(importer, &record);
}

void ppi_convert_memory(ppi_importer *importer, uint64_t time, uint32_t row) {
  memory_sample memory = {.change = 0};
  if (!read_kineto(importer, &memory) && !read_paddle(importer, &memory)) {
    importer->skips[PPI_SKIP_MALFORMED]++;
    return;
  }
  ppi_label label = {"Memory", memory.place, 6, strlen(memory.place)};
  ppi_record record = {.time = time,
                       .amount = memory.change,
                       .row = row,
                       .site = ppi_import_site(importer, &label),
                       .process = (uint16_t)importer->places.rows[row].process,
                       .kind = PPI_RECORD_COUNTER};
  if (memory.has_allocated || !memory.is_of_reserved)
    add_level(importer, &record, memory.allocated, false,
              !memory.is_of_reserved);
  if (memory.has_reserved || memory.is_of_reserved)
    add_level(importer, &record, memory.reserved, true, memory.is_of_reserved);
}

// ---- names of places ----

// Paddle: "thread 12:name(Python)".
static ppi_scalar clean_thread_name(const ppi_scalar *from) {
  ppi_scalar name = *from;
  static const char *const endings[] = {"(Python)", "(C++)"};
  for (size_t i = 0; i < 2; i++) {
    size_t len = strlen(endings[i]);
    if (name.len > len && strcmp(name.text + name.len - len, endings[i]) == 0)
      name.len = (uint16_t)(name.len - len);
  }
  const char *colon = memchr(name.text, ':', name.len);
  if (name.len < from->len && colon && strncmp(name.text, "thread ", 7) == 0) {
    size_t skipped = (size_t)(colon + 1 - name.text);
    name.len = (uint16_t)(name.len - skipped);
    memmove(name.text, colon + 1, name.len);
  }
  name.text[name.len] = '\0';
  return name;
}

// Our own traces of several runs have one event with the facts of each run.
static void end_run(ppi_importer *importer) {
  ppi_places *places = &importer->places;
  ppi_process *process = &places->processes[ppi_place_process(
      places, &importer->fields.fields[PPI_FIELD_PID])];
  if (process->facts) return;
  process->facts = importer->facts;
  process->num_host++;
  importer->facts = NULL;
}

// Our own traces state which names fold into which.
static void take_fold(ppi_importer *importer, const ppi_scalar *name,
                      const ppi_scalar *into) {
  const ppi_scalar *cat = &importer->fields.fields[PPI_FIELD_CAT];
  if (!name || !into || cat->kind != PPI_SCALAR_TEXT) return;
  const ppi_label from = {cat->text, name->text, cat->len, name->len};
  const ppi_label to = {cat->text, into->text, cat->len, into->len};
  ppi_import_set_fold(importer, &from, &to);
}

static void take_own(ppi_importer *importer) {
  const ppi_fields *fields = &importer->fields;
  if (strcmp(fields->name, "pprof_fold") == 0)
    take_fold(importer, ppi_fields_arg(fields, PPI_ARG_NAME),
              ppi_fields_arg(fields, PPI_ARG_LABELS));
  else if (strcmp(fields->name, "checkpoint") == 0)
    ppi_own_checkpoint(importer);
  else if (importer->facts && ppi_own_is_run(fields))
    end_run(importer);
}

void ppi_convert_metadata(ppi_importer *importer) {
  const ppi_fields *fields = &importer->fields;
  ppi_places *places = &importer->places;
  if (importer->header.is_own) take_own(importer);
  bool is_labels = strcmp(fields->name, "process_labels") == 0;
  bool is_process = strcmp(fields->name, "process_name") == 0;
  bool is_thread = strcmp(fields->name, "thread_name") == 0;
  const ppi_scalar *text =
      ppi_fields_arg(fields, is_labels ? PPI_ARG_LABELS : PPI_ARG_NAME);
  if (!text || (!is_labels && !is_process && !is_thread)) return;
  uint32_t at = ppi_place_process(places, &fields->fields[PPI_FIELD_PID]);
  ppi_process *process = &places->processes[at];
  if (!is_thread) {
    ppi_place_name(is_labels ? &process->labels : &process->name, text);
    return;
  }
  uint32_t row =
      ppi_place_row(places, at, &fields->fields[PPI_FIELD_TID], false);
  if (places->rows[row].is_other) return;
  if (importer->header.is_own) ppi_own_name_row(importer, row);
  ppi_scalar name = clean_thread_name(text);
  ppi_place_name(&places->rows[row].name, &name);
}
