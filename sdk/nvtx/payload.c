// SPDX-License-Identifier: Apache-2.0
//
// Decodes payloads by the program's registered schemas. Only reads, on the
// thread of the NVTX call.
#include "payload.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 4096, MAX_DEPTH = 8, MAX_FOLLOWED = 1024 };
#define NOWHERE UINT64_MAX
#define NO_INDEX UINT64_MAX

// The position of a value; each structure around it has one on the stack.
struct ppi_payload_place {
  const struct ppi_payload_place *outer;
  const ppi_payload_field *field;  // NULL: a payload of a predefined type
  uint64_t index;                  // in the field's array
};

struct blob {
  const unsigned char *base;
  uint64_t size;
};

struct walk {
  const ppi_payload_event *event;
  ppi_payload_visit visit;
  void *user;
  unsigned steps, depth;
  bool stopped;
  ppi_payload_decoded result;
};

// A structure being decoded. at[i]: the position of field i, or NOWHERE.
struct frame {
  const ppi_payload_type *type;
  const struct ppi_payload_place *outer;
  struct blob in;
  uint64_t start;
  uint64_t at[PPI_PAYLOAD_MAX_FIELDS];
};

static uint64_t worsen(struct walk *walk, ppi_payload_decoded result) {
  if (result > walk->result) walk->result = result;
  return NOWHERE;
}

static bool may_go_on(struct walk *walk) {
  if (walk->stopped) return false;
  if (walk->steps++ < MAX_STEPS) return true;
  walk->stopped = true;
  worsen(walk, PPI_PAYLOAD_PARTIAL);
  return false;
}

static bool fits(const struct blob *in, uint64_t at, uint64_t size) {
  return at <= in->size && size <= in->size - at;
}

static uint64_t read_unsigned(const unsigned char *from, uint64_t size) {
  uint64_t value = 0;  // little-endian, as all that NVTX runs on here
  memcpy(&value, from, size);
  return value;
}

static int64_t read_signed(const unsigned char *from, uint64_t size) {
  uint64_t value = read_unsigned(from, size);
  unsigned unused = 64 - 8 * (unsigned)size;
  return (int64_t)(value << unused) >> unused;
}

static double read_real(const unsigned char *from, uint64_t type) {
  float narrow;
  double wide;
  long double widest;
  uint32_t bits;
  switch (type) {
    case PPI_PAYLOAD_TYPE_DOUBLE:
    case PPI_PAYLOAD_TYPE_FLOAT64:
      memcpy(&wide, from, sizeof wide);
      return wide;
    case PPI_PAYLOAD_TYPE_LONGDOUBLE:
      memcpy(&widest, from, sizeof widest);
      return (double)widest;
    case PPI_PAYLOAD_TYPE_BF16:
      bits = (uint32_t)read_unsigned(from, 2) << 16;
      memcpy(&narrow, &bits, sizeof narrow);
      return narrow;
    default:
      memcpy(&narrow, from, sizeof narrow);
      return narrow;
  }
}

static ppi_payload_value value_at(const struct ppi_payload_place *at,
                                  uint64_t type) {
  const ppi_payload_field *field = at->field;
  return (ppi_payload_value){
      .type = type,
      .flags = field ? field->flags : 0,
      .is_bytes = field && field->is_bytes,
      .index = at->index == NO_INDEX ? 0 : (uint32_t)at->index,
      .name = field ? field->name : "",
      .unit = field ? field->unit : NULL,
      .scale = field ? field->scale : 1,
      .place = at,
  };
}

static void visit_one(struct walk *walk, const ppi_payload_value *value) {
  if (!walk->visit(walk->user, value)) walk->stopped = true;
}

static void write_number(struct walk *walk, const struct ppi_payload_place *at,
                         uint64_t type, const unsigned char *from) {
  ppi_payload_value value = value_at(at, type);
  uint64_t size = ppi_payload_predefined_size(type);
  value.kind = ppi_payload_kind_of(type);
  if (value.kind == PPI_PAYLOAD_VALUE_SIGNED)
    value.number.i64 = read_signed(from, size);
  else if (value.kind == PPI_PAYLOAD_VALUE_REAL)
    value.number.f64 = read_real(from, type);
  else if (value.kind != PPI_PAYLOAD_VALUE_OPAQUE)
    value.number.u64 = read_unsigned(from, size);
  visit_one(walk, &value);
}

static void write_label(struct walk *walk, const struct ppi_payload_place *at,
                        const ppi_payload_type *type,
                        const unsigned char *from) {
  static const uint8_t types[] = {[1] = PPI_PAYLOAD_TYPE_UINT8,
                                  [2] = PPI_PAYLOAD_TYPE_UINT16,
                                  [4] = PPI_PAYLOAD_TYPE_UINT32,
                                  [8] = PPI_PAYLOAD_TYPE_UINT64};
  ppi_payload_value value = value_at(at, types[type->static_size]);
  value.kind = PPI_PAYLOAD_VALUE_UNSIGNED;
  value.number.u64 = read_unsigned(from, type->static_size);
  value.is_bytes = false;
  for (uint32_t i = 0; i < type->num_items && !value.label; i++)
    if (type->items.labels[i].value == value.number.u64)
      value.label = type->items.labels[i].name;
  visit_one(walk, &value);
}

// The number of characters of `char_bytes` before a zero, at most `most`.
static uint64_t text_len(const unsigned char *from, uint64_t most,
                         uint64_t char_bytes) {
  uint64_t len = 0;
  while (len < most && read_unsigned(from + len * char_bytes, char_bytes) != 0)
    len++;
  return len;
}

static void write_text(struct walk *walk, const struct ppi_payload_place *at,
                       uint64_t type, const struct blob *text) {
  ppi_payload_value value = value_at(at, type);
  value.kind = PPI_PAYLOAD_VALUE_TEXT;
  value.char_bytes = ppi_payload_predefined_size(type);
  value.text = text->base;
  value.len =
      text_len(text->base, text->size / value.char_bytes, value.char_bytes);
  value.is_bytes = false;
  visit_one(walk, &value);
}

static uint64_t decode_struct(struct walk *walk, const ppi_payload_type *type,
                              const struct blob *in, uint64_t start,
                              const struct ppi_payload_place *outer);

// One element at `at`. Answers its end.
static uint64_t decode_element(struct walk *walk,
                               const struct ppi_payload_place *place,
                               const ppi_payload_type *nested,
                               const struct blob *in, uint64_t at) {
  uint64_t type = place->field->type;
  if (!may_go_on(walk)) return NOWHERE;
  if (nested && nested->kind == PPI_PAYLOAD_KIND_STRUCT)
    return decode_struct(walk, nested, in, at, place);
  uint64_t size =
      nested ? nested->static_size : ppi_payload_predefined_size(type);
  if (size == 0)
    return worsen(walk, type >= PPI_PAYLOAD_STATIC_ID_FIRST
                            ? PPI_PAYLOAD_UNKNOWN
                            : PPI_PAYLOAD_PARTIAL);
  if (!fits(in, at, size)) return worsen(walk, PPI_PAYLOAD_PARTIAL);
  if (nested)
    write_label(walk, place, nested, in->base + at);
  else
    write_number(walk, place, type, in->base + at);
  return at + size;
}

// The product of the numbers in the earlier field `index`: one length, or the
// lengths of several dimensions.
static bool read_length(const struct frame *frame, uint64_t index,
                        uint64_t *out) {
  if (index >= frame->type->num_items || frame->at[index] == NOWHERE)
    return false;
  const ppi_payload_field *field = &frame->type->items.fields[index];
  uint64_t size = ppi_payload_predefined_size(field->type), num = 1;
  ppi_payload_value_kind kind = ppi_payload_kind_of(field->type);
  uint64_t arrays = field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK;
  if (arrays == PPI_PAYLOAD_ENTRY_ARRAY_FIXED) num = field->detail;
  if ((arrays && arrays != PPI_PAYLOAD_ENTRY_ARRAY_FIXED) || size == 0 ||
      size > 8 || num > MAX_DEPTH || kind > PPI_PAYLOAD_VALUE_UNSIGNED ||
      !fits(&frame->in, frame->at[index], num * size))
    return false;
  *out = 1;
  for (uint64_t i = 0; i < num; i++)
    if (__builtin_mul_overflow(
            *out,
            read_unsigned(frame->in.base + frame->at[index] + i * size, size),
            out))
      return false;
  return true;
}

// The number of elements at `at`; false: unknown. Texts without a length end at
// their zero.
static bool count_elements(const struct frame *frame,
                           const ppi_payload_field *field,
                           const struct blob *in, uint64_t at, uint64_t *out) {
  uint64_t size = ppi_payload_predefined_size(field->type);
  bool text = ppi_payload_is_text(field->type);
  switch (field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK) {
    case 0:
      *out = 1;
      if (!text) return true;
      *out = field->detail;
      if (field->detail) return true;
      break;
    case PPI_PAYLOAD_ENTRY_ARRAY_FIXED:
      *out = field->detail;
      return true;
    case PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED:
      if (text && field->detail) return false;  // an array of texts
      break;
    case PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX:
      return read_length(frame, field->detail, out);
    default:
      return false;
  }
  if (size == 0 || size > 8 || at > in->size) return false;
  uint64_t room = (in->size - at) / size;
  *out = text_len(in->base + at, room, size);
  return *out < room;
}

static bool is_letters(const ppi_payload_field *field) {
  return ppi_payload_is_text(field->type) ||
         ((field->type == PPI_PAYLOAD_TYPE_CHAR ||
           field->type == PPI_PAYLOAD_TYPE_CHAR8) &&
          (field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK));
}

// All elements of a field, embedded at `at` of `in`. Answers their end.
static uint64_t decode_elements(struct walk *walk, const struct frame *frame,
                                uint32_t index, const struct blob *in,
                                uint64_t at) {
  const ppi_payload_field *field = &frame->type->items.fields[index];
  uint64_t arrays = field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK, num = 0;
  struct ppi_payload_place place = {frame->outer, field, NO_INDEX};
  if (!count_elements(frame, field, in, at, &num))
    return worsen(walk, PPI_PAYLOAD_PARTIAL);
  bool to_zero = arrays == PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED ||
                 (!arrays && is_letters(field) && !field->detail);
  uint64_t size = ppi_payload_predefined_size(field->type);
  if (is_letters(field)) {
    uint64_t bytes;
    if (!may_go_on(walk)) return NOWHERE;
    if (__builtin_mul_overflow(num, size, &bytes) || !fits(in, at, bytes))
      return worsen(walk, PPI_PAYLOAD_PARTIAL);
    write_text(walk, &place, field->type, &(struct blob){in->base + at, bytes});
    return at + bytes + (to_zero ? size : 0);
  }
  const ppi_payload_type *nested = ppi_payload_find_type(
      walk->event->schemas, walk->event->domain, field->type);
  for (uint64_t i = 0; i < num && at != NOWHERE; i++) {
    if (arrays) place.index = i;
    at = decode_element(walk, &place, nested, in, at);
  }
  return to_zero && at != NOWHERE ? at + size : at;
}

// The target of an address within the event's payloads; other addresses may not
// be readable.
static bool find_target(const struct walk *walk, uint64_t address,
                        struct blob *out) {
  for (size_t i = 0; i < walk->event->num_payloads; i++) {
    const ppi_payload_blob *payload = &walk->event->payloads[i];
    uint64_t base = (uint64_t)(uintptr_t)payload->bytes;
    if (!base || payload->size == UINT64_MAX || address < base ||
        address - base >= payload->size)
      continue;
    out->base = (const unsigned char *)(uintptr_t)address;
    out->size = payload->size - (address - base);
    return true;
  }
  return false;
}

static uint64_t decode_pointer(struct walk *walk, const struct frame *frame,
                               uint32_t index, uint64_t at) {
  const ppi_payload_field *field = &frame->type->items.fields[index];
  if (!fits(&frame->in, at, sizeof(void *)))
    return worsen(walk, PPI_PAYLOAD_PARTIAL);
  uint64_t address = read_unsigned(frame->in.base + at, sizeof address);
  uint64_t size = ppi_payload_predefined_size(field->type);
  uint64_t arrays = field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK;
  struct ppi_payload_place place = {frame->outer, field, NO_INDEX};
  struct blob target;
  if (address == 0) return at + sizeof address;
  if (find_target(walk, address, &target)) {
    decode_elements(walk, frame, index, &target, 0);
  } else if (field->flags & PPI_PAYLOAD_ENTRY_DEEP_COPY &&
             ppi_payload_is_text(field->type) &&
             (!arrays || arrays == PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED) &&
             may_go_on(walk)) {
    // Promised to be a text that ends with a zero, as a message is.
    uint64_t most = field->detail && field->detail < MAX_FOLLOWED
                        ? field->detail
                        : MAX_FOLLOWED;
    target =
        (struct blob){(const unsigned char *)(uintptr_t)address, most * size};
    write_text(walk, &place, field->type, &target);
  } else {
    worsen(walk, PPI_PAYLOAD_PARTIAL);
  }
  return at + sizeof address;
}

// The begin of field `index`, if the field before it ends at `end`.
static uint64_t field_start(const struct walk *walk, const struct frame *frame,
                            uint32_t index, uint64_t end) {
  const ppi_payload_field *field = &frame->type->items.fields[index];
  uint64_t at;
  if (field->offset || index == 0)
    return __builtin_add_overflow(frame->start, field->offset, &at) ? NOWHERE
                                                                    : at;
  if (end == NOWHERE || end > frame->in.size) return NOWHERE;
  const ppi_payload_type *nested = ppi_payload_find_type(
      walk->event->schemas, walk->event->domain, field->type);
  uint64_t align =
      nested ? nested->align : ppi_payload_predefined_size(field->type);
  if (field->flags & PPI_PAYLOAD_ENTRY_POINTER) align = sizeof(void *);
  if (frame->type->pack_align && frame->type->pack_align < align)
    align = frame->type->pack_align;
  return frame->start + ppi_payload_round_up(end - frame->start, align);
}

// The member that another field selects; a union without a selector is skipped.
static uint64_t decode_union(struct walk *walk, const struct frame *frame,
                             uint32_t index, const ppi_payload_type *type,
                             uint64_t at) {
  const ppi_payload_field *field = &frame->type->items.fields[index];
  uint64_t selected;
  if (walk->depth >= MAX_DEPTH || type->layout != PPI_PAYLOAD_SCHEMA_UNION ||
      !read_length(frame, field->detail, &selected) ||
      selected >= type->num_items || !may_go_on(walk)) {
    worsen(walk, PPI_PAYLOAD_PARTIAL);
  } else {
    struct ppi_payload_place place = {frame->outer, field, NO_INDEX};
    struct frame inside = {.type = type, .outer = &place, .in = frame->in};
    memset(inside.at, 0xff, sizeof inside.at);
    walk->depth++;
    decode_elements(walk, &inside, (uint32_t)selected, &inside.in, at);
    walk->depth--;
  }
  return type->static_size && fits(&frame->in, at, type->static_size)
             ? at + type->static_size
             : NOWHERE;
}

static uint64_t decode_field(struct walk *walk, const struct frame *frame,
                             uint32_t index, uint64_t at) {
  const ppi_payload_field *field = &frame->type->items.fields[index];
  if (field->flags & PPI_PAYLOAD_ENTRY_POINTER)
    return decode_pointer(walk, frame, index, at);
  // Headers do not give the width of an offset.
  if (field->flags &
      (PPI_PAYLOAD_ENTRY_OFFSET_FROM_BASE | PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE))
    return worsen(walk, PPI_PAYLOAD_PARTIAL);
  const ppi_payload_type *nested = ppi_payload_find_type(
      walk->event->schemas, walk->event->domain, field->type);
  if (nested && nested->kind == PPI_PAYLOAD_KIND_STRUCT &&
      nested->layout >= PPI_PAYLOAD_SCHEMA_UNION)
    return decode_union(walk, frame, index, nested, at);
  return decode_elements(walk, frame, index, &frame->in, at);
}

static uint64_t decode_struct(struct walk *walk, const ppi_payload_type *type,
                              const struct blob *in, uint64_t start,
                              const struct ppi_payload_place *outer) {
  if (walk->depth >= MAX_DEPTH || type->layout >= PPI_PAYLOAD_SCHEMA_UNION)
    return worsen(walk, PPI_PAYLOAD_PARTIAL);
  struct frame frame;
  frame.type = type;
  frame.outer = outer;
  frame.in = *in;
  frame.start = start;
  memset(frame.at, 0xff, type->num_items * sizeof *frame.at);
  uint64_t end = start;
  walk->depth++;
  for (uint32_t i = 0; i < type->num_items && !walk->stopped; i++) {
    uint64_t at = field_start(walk, &frame, i, end);
    frame.at[i] = at;
    if (at == NOWHERE)
      worsen(walk, PPI_PAYLOAD_PARTIAL);
    else
      end = decode_field(walk, &frame, i, at);
  }
  walk->depth--;
  if (!type->static_size) return end;
  return fits(in, start, type->static_size) ? start + type->static_size
                                            : NOWHERE;
}

// The bytes of a payload without a size.
static uint64_t size_of(const ppi_payload_blob *payload,
                        const ppi_payload_type *type) {
  if (payload->size != UINT64_MAX) return payload->size;
  if (ppi_payload_is_text(payload->schema_id)) {
    uint64_t size = ppi_payload_predefined_size(payload->schema_id);
    return size * text_len(payload->bytes, MAX_FOLLOWED, size);
  }
  if (type) return type->static_size;
  return ppi_payload_predefined_size(payload->schema_id);
}

static void decode_payload(struct walk *walk, const ppi_payload_blob *payload) {
  const ppi_payload_type *type = ppi_payload_find_type(
      walk->event->schemas, walk->event->domain, payload->schema_id);
  if (payload->schema_id == PPI_PAYLOAD_TYPE_REFERENCED ||
      payload->schema_id == PPI_PAYLOAD_TYPE_RAW || payload->size == 0)
    return;
  uint64_t unit = ppi_payload_predefined_size(payload->schema_id);
  if (!type && (unit == 0 || payload->schema_id >= PPI_PAYLOAD_TYPE_RAW)) {
    worsen(walk, PPI_PAYLOAD_UNKNOWN);
    return;
  }
  struct blob in = {payload->bytes,
                    payload->bytes ? size_of(payload, type) : 0};
  if (in.size == 0 || (!type && in.size < unit)) {
    worsen(walk, PPI_PAYLOAD_PARTIAL);
    return;
  }
  struct ppi_payload_place place = {NULL, NULL, NO_INDEX};
  if (type && type->kind == PPI_PAYLOAD_KIND_STRUCT)
    decode_struct(walk, type, &in, 0, NULL);
  else if (type && fits(&in, 0, type->static_size))
    write_label(walk, &place, type, in.base);
  else if (type)
    worsen(walk, PPI_PAYLOAD_PARTIAL);
  else if (ppi_payload_is_text(payload->schema_id))
    write_text(walk, &place, payload->schema_id, &in);
  else
    write_number(walk, &place, payload->schema_id, in.base);
}

ppi_payload_decoded ppi_payload_decode(const ppi_payload_event *event,
                                       ppi_payload_visit visit, void *user) {
  struct walk walk = {.event = event, .visit = visit, .user = user};
  if (!event->payloads) return PPI_PAYLOAD_DECODED;
  if (event->num_payloads > PPI_PAYLOAD_MAX_BLOBS) return PPI_PAYLOAD_PARTIAL;
  for (size_t i = 0; i < event->num_payloads && may_go_on(&walk); i++)
    decode_payload(&walk, &event->payloads[i]);
  return walk.result;
}

static bool take_bytes(void *user, const ppi_payload_value *value) {
  double *bytes = user;
  if (!value->is_bytes) return true;
  if (value->kind == PPI_PAYLOAD_VALUE_UNSIGNED)
    *bytes = (double)value->number.u64 * value->scale;
  else if (value->kind == PPI_PAYLOAD_VALUE_SIGNED && value->number.i64 >= 0)
    *bytes = (double)value->number.i64 * value->scale;
  return *bytes < 0;
}

// The result of decoding, if its position is known.
static double find_bytes(const ppi_payload_event *event) {
  const ppi_payload_blob *payload = event->payloads;
  if (event->num_payloads != 1 || !payload || !payload->bytes) return -1;
  const ppi_payload_type *type =
      ppi_payload_find_type(event->schemas, event->domain, payload->schema_id);
  if (!type || !type->bytes_type) return -1;
  struct blob in = {payload->bytes, size_of(payload, type)};
  uint64_t size = ppi_payload_predefined_size(type->bytes_type);
  if (!fits(&in, type->bytes_at, size)) return -1;
  const unsigned char *from = in.base + type->bytes_at;
  return ppi_payload_kind_of(type->bytes_type) == PPI_PAYLOAD_VALUE_SIGNED
             ? (double)read_signed(from, size) * type->bytes_scale
             : (double)read_unsigned(from, size) * type->bytes_scale;
}

bool ppi_payload_bytes(const ppi_payload_event *event, double *out_bytes) {
  double bytes = find_bytes(event);
  if (bytes >= 0) {
    *out_bytes = bytes;
    return true;
  }
  bytes = -1;
  ppi_payload_decode(event, take_bytes, &bytes);
  if (bytes < 0) return false;
  *out_bytes = bytes;
  return true;
}

static size_t put_place(const struct ppi_payload_place *at, char *out,
                        size_t size) {
  size_t len = at->outer ? put_place(at->outer, out, size) : 0;
  if (!at->field) return len;
  if (at->field->name[0] && len + 1 < size)
    len += (size_t)snprintf(out + len, size - len, "%s%s", len ? "." : "",
                            at->field->name);
  if (len >= size) return size - 1;
  if (at->index != NO_INDEX && len + 1 < size)
    len += (size_t)snprintf(out + len, size - len, "[%llu]",
                            (unsigned long long)at->index);
  return len < size ? len : size - 1;
}

const char *ppi_payload_value_path(const ppi_payload_value *value, char *out,
                                   size_t size) {
  if (size == 0) return out;
  out[0] = 0;
  put_place(value->place, out, size);
  return out;
}
