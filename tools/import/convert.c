// SPDX-License-Identifier: Apache-2.0
//
// Converts one event of a trace to records.
#include "import/convert.h"

#include <stdio.h>

#include "base/base.h"
#include "import/own_take.h"
#include "import/sites.h"
#include "json/hash.h"

typedef struct trace_event {
  const ppi_scalar *fields;
  char ph;
  ppi_label label;
  int64_t step;
  uint32_t site, process, row;
  uint32_t name;  // of begins and ends: a hash; 0: none
  ppi_class class;
  int64_t start, end;
  bool has_end, is_coarse;
  uint64_t node;  // of ONNX Runtime, from 1; 0: none
} trace_event;

static bool skip(ppi_importer *importer, ppi_skip why) {
  importer->skips[why]++;
  return false;
}

// ---- times ----

static int64_t clamp(__int128 ns) {
  if (ns > PPI_IMPORT_MAX_NS) return PPI_IMPORT_MAX_NS;
  return ns < -(__int128)PPI_IMPORT_MAX_NS ? -PPI_IMPORT_MAX_NS : (int64_t)ns;
}

// Paddle's `ts` has whole microseconds since the epoch. Its args have the time
// since the first event, as the text of a float. That time is exact to the
// nanosecond for 16 ms, and worse than `ts` after 16 s, when `ts` counts.
static void read_paddle_start(ppi_importer *importer, trace_event *event) {
  const ppi_scalar *start =
      ppi_fields_arg(&importer->fields, PPI_ARG_START_TIME);
  int64_t start_ns;
  if (!start || event->ph != 'X' ||
      !ppi_duration_ns(start->text, start->len, &start_ns))
    return;
  if (!importer->has_paddle_base) {
    importer->has_paddle_base = true;
    importer->paddle_base_ns = clamp((__int128)event->start - start_ns);
  }
  int64_t exact = clamp((__int128)importer->paddle_base_ns + start_ns);
  __int128 off = (__int128)exact - event->start;
  event->is_coarse = true;
  if (off >= -1000 && off <= 1000) event->start = exact;
}

// Without a duration the length is end_time - start_time.
static bool read_paddle_end(const ppi_importer *importer, int64_t *out) {
  const ppi_scalar *start =
      ppi_fields_arg(&importer->fields, PPI_ARG_START_TIME);
  const ppi_scalar *end = ppi_fields_arg(&importer->fields, PPI_ARG_END_TIME);
  int64_t start_ns, end_ns;
  if (!start || !end || !ppi_duration_ns(start->text, start->len, &start_ns) ||
      !ppi_duration_ns(end->text, end->len, &end_ns))
    return false;
  *out = clamp((__int128)end_ns - start_ns);
  return true;
}

static bool read_times(ppi_importer *importer, trace_event *event) {
  const ppi_scalar *dur = &event->fields[PPI_FIELD_DUR];
  int64_t length;
  if (!ppi_import_ns(&event->fields[PPI_FIELD_TS], &event->start))
    return skip(importer, PPI_SKIP_BAD_TIME);
  read_paddle_start(importer, event);
  event->end = event->start;
  if (event->ph != 'X') return true;
  if (dur->kind == PPI_SCALAR_NONE) {
    if (!read_paddle_end(importer, &length)) return true;
  } else if (!ppi_import_ns(dur, &length)) {
    return skip(importer, PPI_SKIP_BAD_TIME);
  }
  __int128 end = (__int128)event->start + length;
  if (end > PPI_IMPORT_MAX_NS) return skip(importer, PPI_SKIP_BAD_TIME);
  event->end = clamp(end);
  event->has_end = true;
  return true;
}

// ---- ranges ----

static void add_ids(ppi_importer *importer, const trace_event *event) {
  uint64_t time = (uint64_t)event->start + PPI_RECORD_BIAS;
  ppi_launch launch = {.time = time,
                       .end = time,
                       .row = event->row,
                       .process = (uint16_t)event->process};
  if (event->class.is & PPI_IS_LAUNCH) {
    if (event->has_end) launch.end = (uint64_t)event->end + PPI_RECORD_BIAS;
    launch.has_work = event->class.is & PPI_IS_WORK;
    launch.id = ppi_import_id_arg(importer, PPI_ARG_CORRELATION,
                                  PPI_ARG_CORRELATION_ID);
    if (!launch.id) return;
    importer->places.processes[event->process].num_launches++;
    importer->places.rows[event->row].num_launches++;
    ppi_sorter_add(&importer->launches, 0, &launch);
    return;
  }
  launch.id = event->class.is & PPI_IS_OWNER
                  ? ppi_import_id_arg(importer, PPI_ARG_EXTERNAL,
                                      PPI_ARG_EXTERNAL_LOWER)
                  : event->node;
  if (launch.id) ppi_sorter_add(&importer->owners, 0, &launch);
}

static void set_amounts(const ppi_importer *importer, const trace_event *event,
                        ppi_record *record) {
  double flops;
  if (event->step >= 0) {
    record->value = (double)event->step;
    if (ppi_import_number(importer, PPI_ARG_ITEMS, &record->amount))
      record->flags |= PPI_RECORD_HAS_AMOUNT;
    return;
  }
  if (ppi_import_number(importer, PPI_ARG_BYTES, &record->amount))
    record->flags |= PPI_RECORD_HAS_AMOUNT;
  else if (importer->options && importer->options->by_stack &&
           ppi_import_number(importer, PPI_ARG_SEQUENCE, &record->amount) &&
           record->amount >= 0 && record->amount < 0x1p53)
    record->flags |= PPI_RECORD_HAS_SEQUENCE;
  if (ppi_import_flops(importer, &flops)) {
    record->value = flops;
    record->flags |= PPI_RECORD_HAS_FLOPS;
  }
}

static ppi_record record_of(ppi_importer *importer, const trace_event *event,
                            ppi_record_kind kind) {
  ppi_record record = {.time = (uint64_t)event->start + PPI_RECORD_BIAS,
                       .end = (uint64_t)event->end + PPI_RECORD_BIAS,
                       .row = event->row,
                       .site = event->site,
                       .name = event->name,
                       .process = (uint16_t)event->process,
                       .kind = (uint8_t)kind};
  if (event->class.is & PPI_IS_COMMUNICATION)
    record.flags |= PPI_RECORD_COMMUNICATION;
  if (event->is_coarse ||
      ppi_dialect_of(event->class.is & PPI_IS_ANY_DIALECT)->has_coarse_times)
    record.flags |= PPI_RECORD_IS_COARSE;
  record.attributes = ppi_import_attributes(importer);
  if (kind != PPI_RECORD_MARK) set_amounts(importer, event, &record);
  return record;
}

static void add_flow(ppi_importer *importer, const trace_event *event,
                     uint64_t flow) {
  ppi_record record = {.time = (uint64_t)event->start + PPI_RECORD_BIAS,
                       .end = flow,
                       .row = event->row,
                       .process = (uint16_t)event->process,
                       .kind = PPI_RECORD_FLOW};
  ppi_import_add(importer, &record);
}

static bool is_device_class(const ppi_importer *importer,
                            const trace_event *event) {
  uint64_t ids = UINT64_C(1) << PPI_ARG_CORRELATION |
                 UINT64_C(1) << PPI_ARG_CORRELATION_ID |
                 UINT64_C(1) << PPI_ARG_STREAM;
  return event->class.is & PPI_IS_DEVICE ||
         (event->class.is & PPI_IS_DEVICE_WITH_IDS &&
          importer->fields.args_set & ids);
}

static void add_range(ppi_importer *importer, const trace_event *event) {
  ppi_record_kind kind = event->ph == 'B'   ? PPI_RECORD_BEGIN
                         : event->ph == 'E' ? PPI_RECORD_END
                         : event->has_end   ? PPI_RECORD_RANGE
                                            : PPI_RECORD_UNENDED;
  ppi_record record = record_of(importer, event, kind);
  if (event->ph == 'B') {
    bool is_device = is_device_class(importer, event);
    ppi_row *row = &importer->places.rows[event->row];
    row->has_device_pairs |= is_device;
    row->has_host_pairs |= !is_device;
    if (is_device) record.end = ppi_convert_stream(importer, event->row);
  }
  ppi_import_add(importer, &record);
  if (event->ph != 'E') add_ids(importer, event);
}

static const ppi_scalar *id_of(const trace_event *event) {
  const ppi_scalar *id = &event->fields[PPI_FIELD_ID];
  if (id->kind == PPI_SCALAR_NONE) id = &event->fields[PPI_FIELD_ID2_LOCAL];
  if (id->kind == PPI_SCALAR_NONE) id = &event->fields[PPI_FIELD_ID2_GLOBAL];
  return id;
}

// An asynchronous id is unique in its category and scope, in the older form in
// its name, too.
static void add_async(ppi_importer *importer, const trace_event *event) {
  const ppi_scalar *id = id_of(event);
  const ppi_scalar *scope = &event->fields[PPI_FIELD_SCOPE];
  bool is_old = strchr("STFp", event->ph) != NULL;
  uint64_t key = ppi_hash_bytes(13, event->label.cat, event->label.cat_len);
  key = ppi_hash_bytes(key, scope->text, scope->len);
  key = ppi_hash_mix(key, ppi_import_id(id));
  // Ends of the newer form may lack a name.
  if (is_old)
    key = ppi_hash_bytes(key, event->label.name, event->label.name_len);
  ppi_record_kind kind = strchr("bS", event->ph)   ? PPI_RECORD_ASYNC_BEGIN
                         : strchr("eF", event->ph) ? PPI_RECORD_ASYNC_END
                                                   : PPI_RECORD_MARK;
  ppi_record record = record_of(importer, event, kind);
  record.end = key;
  ppi_import_add(importer, &record);
}

static bool is_label(const char *text, size_t len, const char *wanted) {
  return len == strlen(wanted) && memcmp(text, wanted, len) == 0;
}

// Categories of Kineto, old and new, and for Ascend; of PyTorch's first
// profiler ("cpu_to_cuda"); of Paddle.
static bool is_launch_arrow(const ppi_label *label) {
  static const char before[] = "cpu_to_";
  static const char *const cats[] = {"ac2g", "async_gpu", "async_cpu_to_gpu",
                                     "async_npu"};
  for (size_t i = 0; i < sizeof cats / sizeof *cats; i++)
    if (is_label(label->cat, label->cat_len, cats[i])) return true;
  if (label->cat_len >= sizeof before &&
      memcmp(label->cat, before, sizeof before - 1) == 0)
    return true;
  return is_label(label->cat, label->cat_len, "async") &&
         is_label(label->name, label->name_len, "launch");
}

// Arrows are needed only where ranges have no ids in args.
static void add_arrow(ppi_importer *importer, const trace_event *event,
                      uint64_t id) {
  uint64_t time = (uint64_t)event->start + PPI_RECORD_BIAS;
  if (event->ph == 's') {
    ppi_launch tail = {.id = id,
                       .time = time,
                       .end = time,
                       .row = event->row,
                       .process = (uint16_t)event->process};
    ppi_sorter_add(&importer->arrow_tails, 0, &tail);
    return;
  }
  ppi_arrow head = {time, id, event->row, 0};
  ppi_sorter_add(&importer->arrow_heads, 0, &head);
}

static void take_flow(ppi_importer *importer, const trace_event *event) {
  const ppi_label *label = &event->label;
  const ppi_scalar *field = &event->fields[PPI_FIELD_ID];
  uint64_t id = ppi_import_id(field);
  if (field->kind == PPI_SCALAR_NONE || field->kind == PPI_SCALAR_OTHER) {
    skip(importer, PPI_SKIP_MALFORMED);
    return;
  }
  // An id of 0 means none.
  if (is_launch_arrow(label)) {
    add_arrow(importer, event, id ? id : UINT64_MAX);
    return;
  }
  // Each kind of flow has its own numbers; those of the commonest kind stay.
  bool is_link = is_label(label->cat, label->cat_len, "fwdbwd");
  if (!is_link || !id)
    id = ppi_hash_bytes(id, label->cat, label->cat_len) >> 12 | 1;
  importer->header.has_links |= is_link;
  importer->header.has_requests |= !is_link;
  add_flow(importer, event, id);
}

// Appends text to a name if there is room.
static void append(ppi_label *label, char *name, const char *before,
                   const char *text, size_t len, const char *behind) {
  size_t most = PPI_IMPORT_MAX_NAME + 1 - label->name_len;
  if (label->name_len + len + 2 > PPI_IMPORT_MAX_NAME) return;
  if (label->name != name) memcpy(name, label->name, label->name_len);
  label->name = name;
  label->name_len += (size_t)snprintf(name + label->name_len, most, "%s%.*s%s",
                                      before, (int)len, text, behind);
}

// A counter's name has its id: "name[id]", "name[id]/key".
static void add_counter(ppi_importer *importer, const trace_event *event) {
  ppi_fields *fields = &importer->fields;
  const ppi_scalar *id = id_of(event);
  importer->skips[PPI_SKIP_NUMBERS_CUT] += fields->num_numbers_cut;
  importer->skips[PPI_SKIP_NOT_NUMBERS] += fields->num_other;
  if (!fields->num_numbers && !fields->num_other && !fields->num_nulls)
    skip(importer, PPI_SKIP_MALFORMED);
  for (size_t i = 0; i < fields->num_numbers; i++) {
    char name[PPI_IMPORT_MAX_NAME + 1];
    const ppi_number *number = &fields->numbers[i];
    ppi_label label = event->label;
    double value = ppi_number_value(number);
    if (!isfinite(value)) {
      skip(importer, PPI_SKIP_BAD_TIME);
      continue;
    }
    if (id->len) append(&label, name, "[", id->text, id->len, "]");
    if (fields->num_numbers > 1)
      append(&label, name, "/", number->key, strlen(number->key), "");
    ppi_record record = {.time = (uint64_t)event->start + PPI_RECORD_BIAS,
                         .value = value,
                         .row = event->row,
                         .site = ppi_import_site(importer, &label),
                         .process = (uint16_t)event->process,
                         .kind = PPI_RECORD_COUNTER};
    ppi_import_add(importer, &record);
  }
}

// ---- dispatch ----

static bool is_of_profiler(const trace_event *event) {
  const ppi_label *label = &event->label;
  return event->class.is & PPI_IS_FRAME ||
         (label->cat_len == 0 && event->ph == 'i' &&
          ((label->name_len >= 16 &&
            memcmp(label->name, "Iteration Start:", 16) == 0) ||
           is_label(label->name, label->name_len, "Record Window End")));
}

static bool is_device(const ppi_importer *importer, const trace_event *event) {
  return event->ph == 'X' && event->has_end && is_device_class(importer, event);
}

static void find_places(ppi_importer *importer, trace_event *event) {
  event->process =
      ppi_place_process(&importer->places, &event->fields[PPI_FIELD_PID]);
  event->row = ppi_place_row(&importer->places, event->process,
                             &event->fields[PPI_FIELD_TID],
                             event->class.is & PPI_IS_PYTHON_FRAME);
}

// Copies and kernels without ids may be a device's.
static bool is_host_only(uint32_t category) {
  return category != PPROF_CATEGORY_USER_DEFINED &&
         category != PPROF_CATEGORY_KERNEL &&
         category != PPROF_CATEGORY_MEMCPY && category != PPROF_CATEGORY_MEMSET;
}

// PyTorch writes process 0 and thread 0 for a thread that stayed in one Python
// function since the profiler's start.
static bool is_of_nobody(const ppi_process *process, const trace_event *event) {
  return event->class.is & PPI_IS_PYTHON_FUNCTION && !process->is_text &&
         process->number <= 0;
}

static void count(ppi_importer *importer, const trace_event *event) {
  ppi_process *process = &importer->places.processes[event->process];
  ppi_row *row = &importer->places.rows[event->row];
  row->num_ranges += event->ph == 'X' || event->ph == 'B';
  row->num_pairs += event->ph == 'B' || event->ph == 'E';
  if (is_of_nobody(process, event)) return;
  if (event->class.is & PPI_IS_OVERHEAD)
    process->num_overhead++;
  else
    process->num_host++;
  process->is_host |= is_host_only(event->class.category);
}

static void take_timed(ppi_importer *importer, trace_event *event) {
  uint64_t start = (uint64_t)event->start + PPI_RECORD_BIAS;
  uint64_t end = (uint64_t)event->end + PPI_RECORD_BIAS;
  if (is_of_profiler(event)) {
    ppi_import_span(importer, start, end, PPI_TIMED_FRAME);
    return;
  }
  find_places(importer, event);
  if (is_device(importer, event)) {
    ppi_convert_device(importer, event->row, event->site, start, end);
    return;
  }
  if (strchr("stf", event->ph)) {
    take_flow(importer, event);
    return;
  }
  count(importer, event);
  if (is_label(event->label.name, event->label.name_len, "[memory]") &&
      strchr("iI", event->ph)) {
    ppi_convert_memory(importer, start, event->row);
  } else if (strchr("XBE", event->ph)) {
    add_range(importer, event);
  } else if (event->ph == 'C') {
    add_counter(importer, event);
  } else if (strchr("iIR", event->ph)) {
    ppi_record record = record_of(importer, event, PPI_RECORD_MARK);
    ppi_import_add(importer, &record);
  } else {
    add_async(importer, event);
  }
}

// ONNX Runtime: "NODE_kernel_time"; NULL: not one of these.
static const char *suffix_of_node(const ppi_label *label) {
  static const char *const suffixes[] = {"_kernel_time", "_fence_before",
                                         "_fence_after"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t len = strlen(suffixes[i]);
    if (is_label(label->cat, label->cat_len, "Node") &&
        label->name_len >= len &&
        memcmp(label->name + label->name_len - len, suffixes[i], len) == 0)
      return suffixes[i];
  }
  return NULL;
}

// A node takes the name of its operator, args.op_name. Kernels find their node
// by the same name.
static void name_node(ppi_importer *importer, trace_event *event) {
  const ppi_scalar *op = ppi_fields_arg(&importer->fields, PPI_ARG_OP_NAME);
  ppi_label *label = &event->label;
  const char *suffix = suffix_of_node(label);
  if (!op || op->len == 0 || !suffix) return;
  size_t len = strlen(suffix);
  ppi_attributes_add(&importer->fields, "node", label->name,
                     label->name_len - len);
  char *name = importer->fields.name;
  name[label->name_len - len] = '\0';
  if (strcmp(suffix, "_kernel_time") == 0)
    event->node = ppi_convert_node(importer, op->text, name);
  memcpy(name, op->text, op->len);
  memcpy(name + op->len, suffix, len);
  label->name_len = op->len + len;
}

// The shapes of inputs in the attributes: keys of PyTorch, Paddle, ONNX
// Runtime.
static const char *find_shapes(const ppi_fields *fields, size_t *out_len) {
  static const char *const keys[] = {
      "\"Input Dims\":", "\"input_shapes\":", "\"input_type_shape\":"};
  const char *end = fields->attributes + fields->attributes_len;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *at = memmem(fields->attributes, fields->attributes_len, keys[i],
                            strlen(keys[i]));
    if (!at) continue;
    const char *from = at + strlen(keys[i]), *to = from;
    int depth = 0;
    do {
      depth += *to == '[' || *to == '{' ? 1 : *to == ']' || *to == '}' ? -1 : 0;
      to++;
    } while (depth > 0 && to < end);
    *out_len = (size_t)(to - from);
    return *out_len > 2 ? from : NULL;
  }
  return NULL;
}

// Appends shapes with torch's blanks: "aten::mm [[8, 32], [32, 64]]".
static void append_shapes(ppi_fields *fields, ppi_label *label) {
  size_t len;
  const char *from = find_shapes(fields, &len);
  const char *suffix = suffix_of_node(label);
  size_t suffix_len = suffix ? strlen(suffix) : 0;
  if (!from || label->name != fields->name ||
      label->name_len + 1 + 2 * len > PPI_IMPORT_MAX_NAME)
    return;
  size_t at = label->name_len - suffix_len;
  fields->name[at++] = ' ';
  for (size_t i = 0; i < len; i++) {
    fields->name[at++] = from[i];
    if (from[i] == ',') fields->name[at++] = ' ';
  }
  if (suffix) memcpy(fields->name + at, suffix, suffix_len);
  label->name_len = at + suffix_len;
}

// An end with a name ends a begin of that name.
static void name_pair(ppi_importer *importer, trace_event *event) {
  const ppi_label *label = &event->label;
  if (!strchr("BEbe", event->ph) || label->name_len == 0) return;
  event->name = (uint32_t)ppi_hash_bytes(17, label->name, label->name_len) | 1;
  if (strchr("Bb", event->ph)) ppi_import_begins(importer, event->name);
}

static void find_label(ppi_importer *importer, trace_event *event) {
  const ppi_scalar *cat = &event->fields[PPI_FIELD_CAT];
  const ppi_scalar *step = ppi_fields_arg(&importer->fields, PPI_ARG_STEP);
  event->label = (ppi_label){cat->text, importer->fields.name,
                             cat->kind == PPI_SCALAR_TEXT ? cat->len : 0,
                             importer->fields.name_len};
  if (importer->fields.name_cut) skip(importer, PPI_SKIP_NAMES_CUT);
  name_node(importer, event);
  bool is_paddle = importer->header.dialects & PPI_IS_PADDLE ||
                   ppi_fields_arg(&importer->fields, PPI_ARG_START_TIME);
  ppi_label_clean(&event->label, is_paddle, &event->step);
  name_pair(importer, event);
  if (importer->options && importer->options->by_shape)
    append_shapes(&importer->fields, &event->label);
  // Ends and arrows need no site.
  if (strchr("stf", event->ph) ||
      (strchr("Ee", event->ph) && event->label.cat_len == 0))
    return;
  event->site = ppi_import_site(importer, &event->label);
  event->class = importer->classes[event->site];
  if (event->class.category != PPROF_CATEGORY_PROFILE_STEP)
    event->step = -1;
  else if (step && step->kind == PPI_SCALAR_NUMBER)
    ppi_integer(step->text, step->len, &event->step);
  importer->header.dialects |= event->class.is & PPI_IS_ANY_DIALECT;
}

void ppi_convert(ppi_importer *importer) {
  ppi_fields *fields = &importer->fields;
  const ppi_scalar *ph = &fields->fields[PPI_FIELD_PH];
  trace_event event = {.fields = fields->fields, .step = -1};
  // Paddle ends its list with an empty object.
  if (fields->is_empty) return;
  fields->name[fields->name_len] = '\0';
  event.ph = ph->text[0];
  bool is_known = event.ph && strchr("MXBEbneSTpFstfCiIR", event.ph);
  if (ph->kind != PPI_SCALAR_TEXT || ph->len != 1)
    skip(importer, PPI_SKIP_MALFORMED);
  else if (event.ph == 'M')
    ppi_convert_metadata(importer);
  else if (!is_known)
    skip(importer, PPI_SKIP_UNKNOWN_KIND);
  else if (!fields->has_name && !strchr("Eef", event.ph))
    skip(importer, PPI_SKIP_MALFORMED);
  else if (importer->header.is_own)
    ppi_own_take(importer, event.ph);
  else if (read_times(importer, &event)) {
    find_label(importer, &event);
    take_timed(importer, &event);
  }
}
