// SPDX-License-Identifier: Apache-2.0
//
// Registers payload schemas in a table of published types, with memory that is
// never freed. Any thread; no lock.
#include "payload_schema.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MAX_TEXT = 127, MAX_SEMANTICS = 8 };

static const struct {
  uint8_t size, kind;
} types[PPI_PAYLOAD_TYPE_REGISTERED + 1] = {
#define TYPE(name, number, size, kind) \
  [number] = {size, PPI_PAYLOAD_VALUE_##kind},
    PPI_PAYLOAD_TYPES(TYPE)
#undef TYPE
};

uint64_t ppi_payload_predefined_size(uint64_t type) {
  return type <= PPI_PAYLOAD_TYPE_REGISTERED ? types[type].size : 0;
}

bool ppi_payload_is_text(uint64_t type) {
  return type >= PPI_PAYLOAD_TYPE_CSTRING && type <= PPI_PAYLOAD_TYPE_UTF32;
}

ppi_payload_value_kind ppi_payload_kind_of(uint64_t type) {
  return ppi_payload_predefined_size(type)
             ? (ppi_payload_value_kind)types[type].kind
             : PPI_PAYLOAD_VALUE_UNSIGNED;
}

static bool is_dynamic(uint64_t id) {
  return id >= PPI_PAYLOAD_DYNAMIC_ID_FIRST;
}

static size_t slot_of(uint32_t domain, uint64_t id) {
  uint64_t hash = (id ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9u;
  return (hash ^ hash >> 32) % PPI_PAYLOAD_NUM_SCHEMAS;
}

const ppi_payload_type *ppi_payload_find_type(
    const ppi_payload_schemas *schemas, uint32_t domain, uint64_t id) {
  if (id < PPI_PAYLOAD_STATIC_ID_FIRST) return NULL;
  uint32_t key = is_dynamic(id) ? 0 : domain;
  size_t at = slot_of(key, id);
  for (size_t i = 0; i < PPI_PAYLOAD_NUM_SCHEMAS; i++) {
    // Pairs with the release in publish: all of the type is written.
    const ppi_payload_type *type =
        __atomic_load_n(&schemas->slots[at], __ATOMIC_ACQUIRE);
    if (!type) return NULL;
    if (type->id == id && type->domain == key) return type;
    at = (at + 1) % PPI_PAYLOAD_NUM_SCHEMAS;
  }
  return NULL;
}

// A slot never becomes empty again, and its type only gives way to one with the
// same key: a search never misses what was published before it began.
static bool publish(ppi_payload_schemas *schemas,
                    const ppi_payload_type *type) {
  size_t at = slot_of(type->domain, type->id);
  for (size_t i = 0; i < PPI_PAYLOAD_NUM_SCHEMAS;) {
    const ppi_payload_type *found =
        __atomic_load_n(&schemas->slots[at], __ATOMIC_ACQUIRE);
    bool ours =
        !found || (found->id == type->id && found->domain == type->domain);
    if (!ours) {
      at = (at + 1) % PPI_PAYLOAD_NUM_SCHEMAS;
      i++;
    } else if (__atomic_compare_exchange_n(&schemas->slots[at], &found, type,
                                           false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE)) {
      return true;
    }
  }
  return false;
}

static void *take(ppi_payload_schemas *schemas, size_t size) {
  size = (size + 15) & ~(size_t)15;
  uint64_t used = __atomic_load_n(&schemas->used_bytes, __ATOMIC_RELAXED);
  do {
    if (size > PPI_PAYLOAD_SCHEMA_BYTES - used) return NULL;
  } while (!__atomic_compare_exchange_n(&schemas->used_bytes, &used,
                                        used + size, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return schemas->memory + used;
}

// A short copy of `text`; "" for NULL and where there is no room.
static const char *copy_text(ppi_payload_schemas *schemas, const char *text) {
  size_t len = text ? strnlen(text, MAX_TEXT) : 0;
  char *copy = len ? take(schemas, len + 1) : NULL;
  if (!copy) return "";
  memcpy(copy, text, len);
  copy[len] = 0;
  return copy;
}

static uint64_t refuse(ppi_payload_schemas *schemas) {
  __atomic_fetch_add(&schemas->num_refused, 1, __ATOMIC_RELAXED);
  return 0;
}

// The id to register, and its domain; false: the id is invalid.
static bool choose_id(ppi_payload_schemas *schemas, bool has_id, uint64_t id,
                      ppi_payload_type *out) {
  if (has_id && id) {
    out->id = id;
    return id >= PPI_PAYLOAD_STATIC_ID_FIRST && !is_dynamic(id);
  }
  out->id = PPI_PAYLOAD_DYNAMIC_ID_FIRST +
            __atomic_fetch_add(&schemas->num_dynamic, 1, __ATOMIC_RELAXED);
  out->domain = 0;
  return true;
}

static uint64_t add_schema(ppi_payload_schemas *schemas,
                           const ppi_payload_type *from) {
  ppi_payload_type *type = take(schemas, sizeof *type);
  if (!type) return refuse(schemas);
  *type = *from;
  return publish(schemas, type) ? type->id : refuse(schemas);
}

// Whether `name` names an amount of data; blanks and punctuation are ignored.
static bool names_bytes(const char *name) {
  static const char *const things[] = {"message", "msg",  "data",    "buffer",
                                       "payload", "copy", "transfer"};
  char letters[MAX_TEXT + 1];
  size_t len = 0;
  for (; *name; name++)
    if (isalpha((unsigned char)*name))
      letters[len++] = (char)tolower((unsigned char)*name);
  letters[len] = 0;
  if (strstr(letters, "byte") || strcmp(letters, "size") == 0) return true;
  for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
    const char *found = strstr(letters, things[i]);
    if (found && strncmp(found + strlen(things[i]), "size", 4) == 0)
      return true;
  }
  return false;
}

static bool unit_is_bytes(const char *unit) {
  return strcasecmp(unit, "b") == 0 || strcasecmp(unit, "byte") == 0 ||
         strcasecmp(unit, "bytes") == 0;
}

static void take_semantics(ppi_payload_schemas *schemas,
                           const ppi_payload_semantics *at,
                           ppi_payload_field *out) {
  for (int i = 0; at && i < MAX_SEMANTICS; i++, at = at->next) {
    const ppi_payload_counter_semantics *counter = (const void *)at;
    if (at->id != PPI_PAYLOAD_SEMANTICS_COUNTER ||
        at->struct_size <
            offsetof(ppi_payload_counter_semantics, scale_numerator) ||
        !counter->unit)
      continue;
    out->unit = copy_text(schemas, counter->unit);
    if (at->struct_size < offsetof(ppi_payload_counter_semantics, limit_type) ||
        !counter->scale_numerator || !counter->scale_denominator)
      continue;
    out->scale =
        (double)counter->scale_numerator / (double)counter->scale_denominator;
  }
}

static void fill_field(ppi_payload_schemas *schemas,
                       const ppi_payload_schema_entry *from,
                       ppi_payload_field *out) {
  *out = (ppi_payload_field){.flags = from->flags,
                             .type = from->type,
                             .detail = from->detail,
                             .offset = from->offset,
                             .name = copy_text(schemas, from->name),
                             .scale = 1};
  take_semantics(schemas, from->semantics, out);
  if (!(out->flags & PPI_PAYLOAD_ENTRY_HIDDEN))
    out->is_bytes =
        out->unit ? unit_is_bytes(out->unit) : names_bytes(out->name);
}

// The size and the alignment of a field; false: the data decide.
static bool measure_field(const ppi_payload_field *field,
                          const ppi_payload_type *nested, uint64_t *out_size,
                          uint64_t *out_align) {
  uint64_t size =
      nested ? nested->static_size : ppi_payload_predefined_size(field->type);
  uint64_t arrays = field->flags & PPI_PAYLOAD_ENTRY_ARRAY_MASK, num = 1;
  *out_align =
      nested ? nested->align : ppi_payload_predefined_size(field->type);
  if (field->flags & PPI_PAYLOAD_ENTRY_POINTER) {
    *out_size = *out_align = sizeof(void *);
    return true;
  }
  if (field->flags &
      (PPI_PAYLOAD_ENTRY_OFFSET_FROM_BASE | PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE))
    return false;
  if (arrays == PPI_PAYLOAD_ENTRY_ARRAY_FIXED ||
      (!arrays && ppi_payload_is_text(field->type)))
    num = field->detail;
  else if (arrays)
    return false;
  return size && num && !__builtin_mul_overflow(size, num, out_size) &&
         *out_size < UINT32_MAX;
}

// Notes the first amount of data at `at`. Answers whether a later field may
// still be it: any field but a plain number may contain one.
static bool note_bytes(ppi_payload_type *type, const ppi_payload_field *field,
                       uint64_t at) {
  if (field->flags & (PPI_PAYLOAD_ENTRY_ARRAY_MASK | PPI_PAYLOAD_ENTRY_POINTER |
                      PPI_PAYLOAD_ENTRY_OFFSET_FROM_BASE |
                      PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE) ||
      !ppi_payload_predefined_size(field->type) ||
      ppi_payload_is_text(field->type))
    return false;
  if (!field->is_bytes ||
      ppi_payload_kind_of(field->type) > PPI_PAYLOAD_VALUE_UNSIGNED)
    return true;
  type->bytes_at = at;
  type->bytes_type = field->type;
  type->bytes_scale = field->scale;
  return false;
}

// The size a compiler would give the structure, and its alignment.
static void measure(const ppi_payload_schemas *schemas, uint32_t domain,
                    ppi_payload_type *type) {
  uint64_t end = 0, next = 0;  // of all so far; of the last one
  bool known = true, packed = type->pack_align > 0, plain = true;
  bool is_union = type->layout == PPI_PAYLOAD_SCHEMA_UNION ||
                  type->layout == PPI_PAYLOAD_SCHEMA_UNION_SELF;
  type->align = 1;
  for (uint32_t i = 0; i < type->num_items; i++) {
    const ppi_payload_field *field = &type->items.fields[i];
    uint64_t size = 0, align = 1;
    known &= measure_field(field,
                           ppi_payload_find_type(schemas, domain, field->type),
                           &size, &align);
    if (packed && align > type->pack_align) align = type->pack_align;
    if (align > type->align) type->align = align;
    uint64_t at = ppi_payload_round_up(next, align);
    if (field->offset || i == 0 || is_union) at = field->offset;
    known &= at < UINT32_MAX;
    plain = plain && known && !is_union && note_bytes(type, field, at);
    next = at + size;
    if (known && next > end) end = next;
  }
  if (!type->static_size && known)
    type->static_size = ppi_payload_round_up(end, type->align);
}

static bool same_field(const ppi_payload_field *field,
                       const ppi_payload_schema_entry *entry) {
  const char *name = entry->name ? entry->name : "";
  return field->flags == entry->flags && field->type == entry->type &&
         field->detail == entry->detail && field->offset == entry->offset &&
         strncmp(field->name, name, MAX_TEXT) == 0;
}

// Whether the id already has this meaning: a library that is loaded again
// registers the same, and takes no memory.
static bool is_known(const ppi_payload_schemas *schemas,
                     const ppi_payload_type *type,
                     const ppi_payload_schema_entry *entries) {
  const ppi_payload_type *found =
      ppi_payload_find_type(schemas, type->domain, type->id);
  if (!found || found->kind != PPI_PAYLOAD_KIND_STRUCT ||
      found->layout != type->layout || found->num_items != type->num_items ||
      found->pack_align != type->pack_align ||
      (type->static_size && found->static_size != type->static_size))
    return false;
  for (uint32_t i = 0; i < type->num_items; i++)
    if (!same_field(&found->items.fields[i], &entries[i])) return false;
  return true;
}

static bool is_layout(uint64_t type) {
  return type >= PPI_PAYLOAD_SCHEMA_STATIC &&
         type <= PPI_PAYLOAD_SCHEMA_UNION_SELF;
}

uint64_t ppi_payload_schema_register(
    ppi_payload_schemas *schemas, uint32_t domain,
    const ppi_payload_schema_attributes *attributes) {
  const uint64_t needed = PPI_PAYLOAD_SCHEMA_FIELD_TYPE |
                          PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES |
                          PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES;
  ppi_payload_type type = {.domain = domain, .kind = PPI_PAYLOAD_KIND_STRUCT};
  if (!attributes || (attributes->fields & needed) != needed ||
      !is_layout(attributes->type) || !attributes->entries ||
      !attributes->num_entries ||
      attributes->num_entries > PPI_PAYLOAD_MAX_FIELDS ||
      !choose_id(schemas, attributes->fields & PPI_PAYLOAD_SCHEMA_FIELD_ID,
                 attributes->id, &type))
    return refuse(schemas);
  type.layout = attributes->type;
  type.num_items = (uint32_t)attributes->num_entries;
  if (attributes->fields & PPI_PAYLOAD_SCHEMA_FIELD_PACK_ALIGN)
    type.pack_align = attributes->pack_align;
  if (attributes->fields & PPI_PAYLOAD_SCHEMA_FIELD_STATIC_SIZE &&
      type.layout != PPI_PAYLOAD_SCHEMA_DYNAMIC)
    type.static_size = attributes->static_size;
  if (is_known(schemas, &type, attributes->entries)) return type.id;
  ppi_payload_field *fields = take(schemas, type.num_items * sizeof *fields);
  if (!fields) return refuse(schemas);
  for (uint32_t i = 0; i < type.num_items; i++)
    fill_field(schemas, &attributes->entries[i], &fields[i]);
  type.items.fields = fields;
  measure(schemas, domain, &type);
  return add_schema(schemas, &type);
}

uint64_t ppi_payload_enum_register(
    ppi_payload_schemas *schemas, uint32_t domain,
    const ppi_payload_enum_attributes *attributes) {
  const uint64_t needed =
      PPI_PAYLOAD_ENUM_FIELD_ENTRIES | PPI_PAYLOAD_ENUM_FIELD_NUM_ENTRIES;
  ppi_payload_type type = {.domain = domain, .kind = PPI_PAYLOAD_KIND_ENUM};
  if (!attributes || (attributes->fields & needed) != needed ||
      !attributes->entries || !attributes->num_entries ||
      attributes->num_entries > PPI_PAYLOAD_MAX_LABELS ||
      !choose_id(schemas, attributes->fields & PPI_PAYLOAD_ENUM_FIELD_ID,
                 attributes->id, &type))
    return refuse(schemas);
  type.static_size = attributes->fields & PPI_PAYLOAD_ENUM_FIELD_SIZE
                         ? attributes->size
                         : sizeof(int);
  if (type.static_size != 1 && type.static_size != 2 && type.static_size != 4 &&
      type.static_size != 8)
    return refuse(schemas);
  type.align = type.static_size;
  type.num_items = (uint32_t)attributes->num_entries;
  ppi_payload_label *labels = take(schemas, type.num_items * sizeof *labels);
  if (!labels) return refuse(schemas);
  for (uint32_t i = 0; i < type.num_items; i++)
    labels[i] =
        (ppi_payload_label){copy_text(schemas, attributes->entries[i].name),
                            attributes->entries[i].value};
  type.items.labels = labels;
  return add_schema(schemas, &type);
}
