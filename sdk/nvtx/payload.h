// SPDX-License-Identifier: Apache-2.0
//
// NVTX payloads: binary data whose layout the program registers as a schema.
// Registering is lock-free, decoding reads only; both may happen on any thread
// at any time. What a program passes is taken for hostile: nothing is read
// beyond the size it states. The layouts are those of NVTX 3 on 64-bit Linux.
#ifndef PPI_PAYLOAD_H_
#define PPI_PAYLOAD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One blob of an event; an event brings an array of them.
typedef struct ppi_payload_blob {
  uint64_t schema_id;  // a schema's id, or a predefined type
  uint64_t size;       // UINT64_MAX: the schema says
  const void *bytes;
} ppi_payload_blob;

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

// The predefined types that decoding tells apart; the rest by their size.
enum {
  PPI_PAYLOAD_TYPE_CHAR = 1,
  PPI_PAYLOAD_TYPE_UCHAR,
  PPI_PAYLOAD_TYPE_SHORT,
  PPI_PAYLOAD_TYPE_USHORT,
  PPI_PAYLOAD_TYPE_INT,
  PPI_PAYLOAD_TYPE_UINT,
  PPI_PAYLOAD_TYPE_LONG,
  PPI_PAYLOAD_TYPE_ULONG,
  PPI_PAYLOAD_TYPE_LONGLONG,
  PPI_PAYLOAD_TYPE_ULONGLONG,
  PPI_PAYLOAD_TYPE_INT8,
  PPI_PAYLOAD_TYPE_UINT8,
  PPI_PAYLOAD_TYPE_INT16,
  PPI_PAYLOAD_TYPE_UINT16,
  PPI_PAYLOAD_TYPE_INT32,
  PPI_PAYLOAD_TYPE_UINT32,
  PPI_PAYLOAD_TYPE_INT64,
  PPI_PAYLOAD_TYPE_UINT64,
  PPI_PAYLOAD_TYPE_FLOAT,
  PPI_PAYLOAD_TYPE_DOUBLE,
  PPI_PAYLOAD_TYPE_LONGDOUBLE,
  PPI_PAYLOAD_TYPE_SIZE,
  PPI_PAYLOAD_TYPE_ADDRESS,
  PPI_PAYLOAD_TYPE_WCHAR,
  PPI_PAYLOAD_TYPE_CHAR8,
  PPI_PAYLOAD_TYPE_CHAR16,
  PPI_PAYLOAD_TYPE_CHAR32,
  PPI_PAYLOAD_TYPE_BYTE = 32,
  PPI_PAYLOAD_TYPE_INT128,
  PPI_PAYLOAD_TYPE_UINT128,
  PPI_PAYLOAD_TYPE_FLOAT16 = 42,
  PPI_PAYLOAD_TYPE_FLOAT32,
  PPI_PAYLOAD_TYPE_FLOAT64,
  PPI_PAYLOAD_TYPE_FLOAT128,
  PPI_PAYLOAD_TYPE_BF16 = 50,
  PPI_PAYLOAD_TYPE_TF32 = 52,
  PPI_PAYLOAD_TYPE_CATEGORY = 68,
  PPI_PAYLOAD_TYPE_COLOR,
  PPI_PAYLOAD_TYPE_SCOPE,
  PPI_PAYLOAD_TYPE_PID32,
  PPI_PAYLOAD_TYPE_PID64,
  PPI_PAYLOAD_TYPE_TID32,
  PPI_PAYLOAD_TYPE_TID64,
  PPI_PAYLOAD_TYPE_CSTRING,
  PPI_PAYLOAD_TYPE_UTF8,
  PPI_PAYLOAD_TYPE_UTF16,
  PPI_PAYLOAD_TYPE_UTF32,
  PPI_PAYLOAD_TYPE_REGISTERED = 80,
  PPI_PAYLOAD_TYPE_SELECTOR = 100,
  PPI_PAYLOAD_TYPE_REFERENCED = 1022,
  PPI_PAYLOAD_TYPE_RAW = 1023
};
#define PPI_PAYLOAD_STATIC_ID_FIRST (UINT64_C(1) << 24)
#define PPI_PAYLOAD_DYNAMIC_ID_FIRST (UINT64_C(1) << 32)

// What a program registered. All zero is an empty one; it takes no other
// memory and is never cleared, so that a reader needs no lock.
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

typedef struct ppi_payload_value {
  ppi_payload_value_kind kind;
  uint64_t type;   // predefined; of an enumeration the unsigned one of its size
  uint64_t flags;  // PPI_PAYLOAD_ENTRY_...
  bool is_bytes;   // it is an amount of data, see ppi_payload_bytes
  uint32_t index;  // in an array, else 0
  const char *name;   // of the entry; "" when it has none
  const char *label;  // of the enumerator; NULL: none
  const char *unit;   // as the program states it; NULL: it does not
  double scale;       // of the unit; 1 when not stated
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
  } number;
  // TEXT: `len` characters of `char_bytes` each, not zero-terminated, and not
  // aligned.
  const void *text;
  size_t len, char_bytes;
  const struct ppi_payload_place *place;  // for ppi_payload_value_path
} ppi_payload_value;

// Answers false to end decoding. All it is given is borrowed for the call.
typedef bool (*ppi_payload_visit)(void *user, const ppi_payload_value *value);

typedef enum ppi_payload_decoded {
  PPI_PAYLOAD_DECODED = 0,
  PPI_PAYLOAD_PARTIAL,  // something was cut, too much, or not supported
  PPI_PAYLOAD_UNKNOWN   // a schema that nobody registered
} ppi_payload_decoded;

// An event with more blobs is none of a program's making.
#define PPI_PAYLOAD_MAX_BLOBS 1024u
typedef struct ppi_payload_event {
  const ppi_payload_schemas *schemas;
  uint32_t domain;
  const ppi_payload_blob *payloads;
  size_t num_payloads;
} ppi_payload_event;

// ppi_payload_decode visits every value of an event's payloads, in their
// order. A pointer is followed into the event's own payloads, and where the
// schema asks for a deep copy of a text.
//
// Result: the worst that was met.
// Cost: allocates nothing, takes no lock; at most 4 096 entries.
ppi_payload_decoded ppi_payload_decode(const ppi_payload_event *event,
                                       ppi_payload_visit visit, void *user);

// ppi_payload_bytes answers the first amount of data among the values: an
// integer, not hidden, whose unit is bytes (B, byte, bytes), or, with no unit
// stated, whose name holds `byte`, is `size`, or holds one of message, msg,
// data, buffer, payload, copy, transfer before `size`. False: there is none.
bool ppi_payload_bytes(const ppi_payload_event *event, double *out_bytes);

// ppi_payload_value_path writes "outer.inner[2].name" and answers `out`.
// Entries without a name are left out.
const char *ppi_payload_value_path(const ppi_payload_value *value, char *out,
                                   size_t size);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PAYLOAD_H_
