// SPDX-License-Identifier: Apache-2.0
//
// The layouts of payloads, as registered by programs: lock-free, on any thread
// at any time. Data from programs counts as hostile. The layouts are those of
// NVTX 3 on 64-bit Linux.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// A semantic extension begins with this; they form a list.
typedef struct ppi_payload_semantics {
  uint32_t struct_size;
  uint16_t id, version;
  const struct ppi_payload_semantics *next;
} ppi_payload_semantics;

#define PPI_PAYLOAD_SEMANTICS_COUNTER 5
typedef struct ppi_payload_counter_semantics {
  ppi_payload_semantics header;
  uint64_t flags;
  const char *unit;
  uint64_t scale_numerator, scale_denominator;
  int64_t limit_type;
  uint64_t minimum, maximum;  // each an integer or a double
} ppi_payload_counter_semantics;

typedef struct ppi_payload_schema_entry {
  uint64_t flags;
  uint64_t type;  // predefined, or the id of a schema or an enumeration
  const char *name, *description;
  uint64_t detail;  // an array's length, or the entry that holds a length or
                    // selects a member
  uint64_t offset;  // 0 in all but the first: after the one before
  const ppi_payload_semantics *semantics;
  const void *reserved;
} ppi_payload_schema_entry;

typedef struct ppi_payload_schema_attributes {
  uint64_t fields;  // which of the following are set
  const char *name;
  uint64_t type, flags;
  const ppi_payload_schema_entry *entries;
  uint64_t num_entries;
  uint64_t static_size, pack_align;
  uint64_t id;
  void *extension;
} ppi_payload_schema_attributes;

typedef struct ppi_payload_enumerator {
  const char *name;
  uint64_t value;
  int8_t is_flag;
} ppi_payload_enumerator;

typedef struct ppi_payload_enum_attributes {
  uint64_t fields;
  const char *name;
  const ppi_payload_enumerator *entries;
  uint64_t num_entries;
  uint64_t size;
  uint64_t id;
  void *extension;
} ppi_payload_enum_attributes;

enum {
  PPI_PAYLOAD_SCHEMA_FIELD_NAME = 1 << 1,
  PPI_PAYLOAD_SCHEMA_FIELD_TYPE = 1 << 2,
  PPI_PAYLOAD_SCHEMA_FIELD_FLAGS = 1 << 3,
  PPI_PAYLOAD_SCHEMA_FIELD_ENTRIES = 1 << 4,
  PPI_PAYLOAD_SCHEMA_FIELD_NUM_ENTRIES = 1 << 5,
  PPI_PAYLOAD_SCHEMA_FIELD_STATIC_SIZE = 1 << 6,
  PPI_PAYLOAD_SCHEMA_FIELD_PACK_ALIGN = 1 << 7,
  PPI_PAYLOAD_SCHEMA_FIELD_ID = 1 << 8
};

enum {
  PPI_PAYLOAD_ENUM_FIELD_NAME = 1 << 1,
  PPI_PAYLOAD_ENUM_FIELD_ENTRIES = 1 << 2,
  PPI_PAYLOAD_ENUM_FIELD_NUM_ENTRIES = 1 << 3,
  PPI_PAYLOAD_ENUM_FIELD_SIZE = 1 << 4,
  PPI_PAYLOAD_ENUM_FIELD_ID = 1 << 5
};

enum {
  PPI_PAYLOAD_SCHEMA_STATIC = 1,
  PPI_PAYLOAD_SCHEMA_DYNAMIC = 2,
  PPI_PAYLOAD_SCHEMA_UNION = 3,  // another entry selects the member
  PPI_PAYLOAD_SCHEMA_UNION_SELF = 4
};

enum {
  PPI_PAYLOAD_ENTRY_POINTER = 1 << 1,
  PPI_PAYLOAD_ENTRY_OFFSET_FROM_BASE = 1 << 2,
  PPI_PAYLOAD_ENTRY_OFFSET_FROM_HERE = 1 << 3,
  PPI_PAYLOAD_ENTRY_ARRAY_FIXED = 1 << 4,
  PPI_PAYLOAD_ENTRY_ARRAY_ZERO_TERMINATED = 2 << 4,
  PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_INDEX = 3 << 4,
  PPI_PAYLOAD_ENTRY_ARRAY_LENGTH_PAYLOAD = 4 << 4,
  PPI_PAYLOAD_ENTRY_ARRAY_MASK = 7 << 4,
  PPI_PAYLOAD_ENTRY_DEEP_COPY = 1 << 8,
  PPI_PAYLOAD_ENTRY_HIDDEN = 1 << 9,
  PPI_PAYLOAD_ENTRY_MESSAGE = 1 << 10
};

// The predefined types: number, size, and what a value is. Each is as aligned
// as it is long.
// clang-format off
#define PPI_PAYLOAD_TYPES(each) \
  each(CHAR, 1, 1, SIGNED) \
  each(UCHAR, 2, 1, UNSIGNED) \
  each(SHORT, 3, 2, SIGNED) \
  each(USHORT, 4, 2, UNSIGNED) \
  each(INT, 5, 4, SIGNED) \
  each(UINT, 6, 4, UNSIGNED) \
  each(LONG, 7, 8, SIGNED) \
  each(ULONG, 8, 8, UNSIGNED) \
  each(LONGLONG, 9, 8, SIGNED) \
  each(ULONGLONG, 10, 8, UNSIGNED) \
  each(INT8, 11, 1, SIGNED) \
  each(UINT8, 12, 1, UNSIGNED) \
  each(INT16, 13, 2, SIGNED) \
  each(UINT16, 14, 2, UNSIGNED) \
  each(INT32, 15, 4, SIGNED) \
  each(UINT32, 16, 4, UNSIGNED) \
  each(INT64, 17, 8, SIGNED) \
  each(UINT64, 18, 8, UNSIGNED) \
  each(FLOAT, 19, 4, REAL) \
  each(DOUBLE, 20, 8, REAL) \
  each(LONGDOUBLE, 21, 16, REAL) \
  each(SIZE, 22, 8, UNSIGNED) \
  each(ADDRESS, 23, 8, UNSIGNED) \
  each(WCHAR, 24, 4, SIGNED) \
  each(CHAR8, 25, 1, UNSIGNED) \
  each(CHAR16, 26, 2, UNSIGNED) \
  each(CHAR32, 27, 4, UNSIGNED) \
  each(BYTE, 32, 1, UNSIGNED) \
  each(INT128, 33, 16, OPAQUE) \
  each(UINT128, 34, 16, OPAQUE) \
  each(FLOAT16, 42, 2, OPAQUE) \
  each(FLOAT32, 43, 4, REAL) \
  each(FLOAT64, 44, 8, REAL) \
  each(FLOAT128, 45, 16, OPAQUE) \
  each(BF16, 50, 2, REAL) \
  each(TF32, 52, 4, REAL) \
  each(CATEGORY, 68, 4, UNSIGNED) \
  each(COLOR, 69, 4, UNSIGNED) \
  each(SCOPE, 70, 8, UNSIGNED) \
  each(PID32, 71, 4, UNSIGNED) \
  each(PID64, 72, 8, UNSIGNED) \
  each(TID32, 73, 4, UNSIGNED) \
  each(TID64, 74, 8, UNSIGNED) \
  each(CSTRING, 75, 1, UNSIGNED) \
  each(UTF8, 76, 1, UNSIGNED) \
  each(UTF16, 77, 2, UNSIGNED) \
  each(UTF32, 78, 4, UNSIGNED) \
  each(REGISTERED, 80, 8, HANDLE)
// clang-format on
enum {
#define PPI_PAYLOAD_TYPE_(name, number, size, kind) \
  PPI_PAYLOAD_TYPE_##name = (number),
  PPI_PAYLOAD_TYPES(PPI_PAYLOAD_TYPE_)
#undef PPI_PAYLOAD_TYPE_
      PPI_PAYLOAD_TYPE_SELECTOR = 100,
  PPI_PAYLOAD_TYPE_REFERENCED = 1022,
  PPI_PAYLOAD_TYPE_RAW = 1023
};
#define PPI_PAYLOAD_STATIC_ID_FIRST (UINT64_C(1) << 24)
#define PPI_PAYLOAD_DYNAMIC_ID_FIRST (UINT64_C(1) << 32)

// The registered schemas of a program. All zero is empty. It takes no other
// memory and is never cleared, so a reader needs no lock.
enum { PPI_PAYLOAD_NUM_SCHEMAS = 2048, PPI_PAYLOAD_SCHEMA_BYTES = 1 << 20 };
typedef struct ppi_payload_schemas {
  uint64_t used_bytes, num_dynamic;
  uint64_t num_refused;  // registrations that were wrong or found no room
  const struct ppi_payload_type *slots[PPI_PAYLOAD_NUM_SCHEMAS];
  unsigned char memory[PPI_PAYLOAD_SCHEMA_BYTES] __attribute__((aligned(16)));
} ppi_payload_schemas;

// ppi_payload_schema_register and _enum_register answer the id that payloads
// name: the program's own, which holds in `domain`, or a new one. Registering
// an id again replaces it. 0: refused, and counted.
uint64_t ppi_payload_schema_register(
    ppi_payload_schemas *schemas, uint32_t domain,
    const ppi_payload_schema_attributes *attributes);
uint64_t ppi_payload_enum_register(
    ppi_payload_schemas *schemas, uint32_t domain,
    const ppi_payload_enum_attributes *attributes);

typedef enum ppi_payload_value_kind {
  PPI_PAYLOAD_VALUE_SIGNED = 0,
  PPI_PAYLOAD_VALUE_UNSIGNED,
  PPI_PAYLOAD_VALUE_REAL,
  PPI_PAYLOAD_VALUE_TEXT,
  PPI_PAYLOAD_VALUE_HANDLE,  // a registered string, as `number.u64`
  PPI_PAYLOAD_VALUE_OPAQUE   // a type without a C equivalent
} ppi_payload_value_kind;

// ---- the stored form of a registration, from which payload.c decodes ----

// Written once, before it is published; never changed or freed.
typedef enum ppi_payload_type_kind {
  PPI_PAYLOAD_KIND_STRUCT = 0,
  PPI_PAYLOAD_KIND_ENUM
} ppi_payload_type_kind;

typedef struct ppi_payload_field {
  uint64_t flags, type, detail, offset;
  const char *name;  // never NULL
  const char *unit;  // NULL: not stated
  double scale;
  bool is_bytes;
} ppi_payload_field;

typedef struct ppi_payload_label {
  const char *name;
  uint64_t value;
} ppi_payload_label;

typedef struct ppi_payload_type {
  uint32_t domain;  // 0 for dynamic ids, which are the process's
  uint64_t id;
  ppi_payload_type_kind kind;
  uint64_t layout;       // PPI_PAYLOAD_SCHEMA_STATIC, ...
  uint64_t static_size;  // bytes; 0: depends on the data
  uint64_t pack_align;   // 0: natural alignment
  uint64_t align;
  // The first amount of data, where a compiler would put it and nothing can
  // stand before it. bytes_type 0: found by decoding only.
  uint64_t bytes_at, bytes_type;
  double bytes_scale;
  uint32_t num_items;
  union {
    const ppi_payload_field *fields;
    const ppi_payload_label *labels;
  } items;
} ppi_payload_type;

// A field's position is kept for each while a structure is decoded, on the
// stack.
enum { PPI_PAYLOAD_MAX_FIELDS = 128, PPI_PAYLOAD_MAX_LABELS = 1024 };

// The size of a predefined type, or of a text's character, which is its
// alignment, too; 0: it has none.
uint64_t ppi_payload_predefined_size(uint64_t type);
static inline uint64_t ppi_payload_round_up(uint64_t value, uint64_t align) {
  return align > 1 ? (value + align - 1) / align * align : value;
}
bool ppi_payload_is_text(uint64_t type);
ppi_payload_value_kind ppi_payload_kind_of(uint64_t type);
const ppi_payload_type *ppi_payload_find_type(
    const ppi_payload_schemas *schemas, uint32_t domain, uint64_t id);

PPROF_END_C_
