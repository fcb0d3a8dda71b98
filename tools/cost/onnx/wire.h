// SPDX-License-Identifier: Apache-2.0
//
// A serialised message cut down to what its description knows, read as a
// stream: of what it leaves out not a byte is held.
#ifndef PPI_COST_WIRE_H_
#define PPI_COST_WIRE_H_

#include <protobuf-c/protobuf-c.h>

#include "file/buffer.h"
#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bounds of what is kept.
typedef struct ppi_wire_limits {
  uint64_t payload_bytes;  // of a tensor's values; a longer one is left out
  uint64_t text_bytes;   // of any other text or list; a longer one is an error
  uint64_t value_bytes;  // of the second field of a pair; left out
  uint64_t all_bytes;    // of all that is kept; more is an error
} ppi_wire_limits;

// ppi_wire_slim reads the `num_bytes` from the start of `fd` as a message
// `whole` and appends what is kept. Values of a `payload` message's fields that
// are lists of numbers or bytes are payloads, but for its first field (the
// dimensions); `pair`'s second field is left out where it is long.
//
// Errors: CORRUPT with the byte and the field; IO; NO_MEMORY.
typedef struct ppi_wire_form {
  const ProtobufCMessageDescriptor *whole, *payload, *pair;
  ppi_wire_limits limits;
} ppi_wire_form;
pprof_status ppi_wire_slim(int fd, uint64_t num_bytes,
                           const ppi_wire_form *form, ppi_buffer *out,
                           pprof_error *error);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_WIRE_H_
