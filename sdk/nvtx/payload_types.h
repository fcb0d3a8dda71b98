// SPDX-License-Identifier: Apache-2.0
//
// What payload_schema.c keeps of a registration, for payload.c to decode by.
// Written once, before it is published; never changed or freed.
#ifndef PPI_PAYLOAD_TYPES_H_
#define PPI_PAYLOAD_TYPES_H_

#include "payload.h"

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

// Size and alignment of a predefined type; 0 when it has none. Of texts those
// of a character.
uint64_t ppi_payload_predefined_size(uint64_t type);
uint64_t ppi_payload_predefined_align(uint64_t type);
bool ppi_payload_is_text(uint64_t type);
ppi_payload_value_kind ppi_payload_kind_of(uint64_t type);
const ppi_payload_type *ppi_payload_find_type(
    const ppi_payload_schemas *schemas, uint32_t domain, uint64_t id);

#endif  // PPI_PAYLOAD_TYPES_H_
