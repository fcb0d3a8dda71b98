// SPDX-License-Identifier: Apache-2.0
//
// NVTX payloads: binary data with a layout that the program registers as a
// schema. Decoding only reads, on any thread at any time. Data from programs
// counts as hostile: nothing is read beyond its stated size.
#pragma once

#include "payload_schema.h"

PPROF_BEGIN_C_

// One blob of an event; an event brings an array of them.
typedef struct ppi_payload_blob {
  uint64_t schema_id;  // a schema's id, or a predefined type
  uint64_t size;       // UINT64_MAX: the schema says
  const void *bytes;
} ppi_payload_blob;

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

// A program never makes an event with more blobs.
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
// integer, not hidden, with bytes as its unit (B, byte, bytes), or, with no
// unit, with a name that holds `byte`, is `size`, or holds one of message, msg,
// data, buffer, payload, copy, transfer before `size`. False: there is none.
bool ppi_payload_bytes(const ppi_payload_event *event, double *out_bytes);

// ppi_payload_value_path writes "outer.inner[2].name" and answers `out`.
// Entries without a name are left out.
const char *ppi_payload_value_path(const ppi_payload_value *value, char *out,
                                   size_t size);

PPROF_END_C_
