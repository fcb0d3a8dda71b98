// SPDX-License-Identifier: Apache-2.0
//
// The stream over the wire format. A length is written in five bytes, whatever
// it is, because it is known only once what it is of has been cut down.
#include "cost/onnx/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"

// Each level of an ONNX subgraph is four messages deep.
enum { DEPTH = 130, PIECE = 65536, LENGTH_BYTES = 5 };
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

// One message that is being read.
typedef struct frame {
  const ProtobufCMessageDescriptor *type;
  uint64_t end;
  uint64_t payload_bytes;  // kept so far
  uint64_t seen;           // its fields that may come once, by place
  const char *field;       // the one that is being read
  uint64_t num;            // how many of it came before
} frame;

typedef struct slimming {
  int fd;
  const ppi_wire_form *form;
  ppi_buffer *out;
  pprof_error *error;
  pprof_status status;
  uint64_t at, num_bytes;          // in the file
  uint64_t piece_at, piece_bytes;  // what `piece` holds of it
  frame frames[DEPTH];
  size_t depth;
  uint8_t piece[PIECE];
} slimming;

// "graph.node[12].attribute[0]" of where the reading is.
static void put_path(const slimming *slim, char *out, size_t room) {
  size_t len = 0;
  for (size_t i = 0; i < slim->depth && len + 1 < room; i++) {
    const frame *in = &slim->frames[i];
    if (!in->field) break;
    int n = snprintf(out + len, room - len, "%s%s[%" PRIu64 "]", i ? "." : "",
                     in->field, in->num);
    len += n > 0 ? (size_t)n : 0;
  }
  if (!len) snprintf(out, room, "the model");
}

static bool fail(slimming *slim, pprof_status status, const char *what) {
  char path[160];
  if (slim->status) return false;
  slim->status = status;
  put_path(slim, path, sizeof path);
  ppi_fail(slim->error, status, "byte %" PRIu64 ", in %s: %s", slim->at, path,
           what);
  return false;
}

static bool corrupt(slimming *slim, const char *what) {
  return fail(slim, PPROF_STATUS_CORRUPT, what);
}

// Has `piece` begin at `at`; false at the end, or where reading fails.
static bool read_piece(slimming *slim) {
  ssize_t n;
  do n = pread(slim->fd, slim->piece, PIECE, (off_t)slim->at);
  while (n < 0 && errno == EINTR);
  slim->piece_at = slim->at;
  slim->piece_bytes = n > 0 ? (uint64_t)n : 0;
  if (n < 0) return fail(slim, PPROF_STATUS_IO, strerror(errno));
  return n > 0 || corrupt(slim, "the file ends there");
}

static bool read_byte(slimming *slim, uint8_t *out) {
  if (slim->at - slim->piece_at >= slim->piece_bytes && !read_piece(slim))
    return false;
  *out = slim->piece[slim->at - slim->piece_at];
  slim->at++;
  return true;
}

static bool read_varint(slimming *slim, uint64_t *out) {
  uint64_t value = 0, end = slim->frames[slim->depth - 1].end;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    uint8_t byte;
    if (slim->at >= end) return corrupt(slim, "it is cut");
    if (!read_byte(slim, &byte)) return false;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = value;
      return true;
    }
  }
  return corrupt(slim, "a number of more than ten bytes");
}

static bool has_room(slimming *slim, uint64_t more) {
  if (slim->out->len + more > slim->form->limits.all_bytes)
    return corrupt(slim, "too much, even without weights");
  if (!ppi_buffer_room(slim->out, more))
    return fail(slim, PPROF_STATUS_NO_MEMORY, "out of memory");
  return true;
}

static bool copy(slimming *slim, uint64_t len) {
  if (!has_room(slim, len)) return false;
  while (len > 0) {
    if (slim->at - slim->piece_at >= slim->piece_bytes && !read_piece(slim))
      return false;
    uint64_t have = slim->piece_bytes - (slim->at - slim->piece_at);
    uint64_t n = PPI_MIN(have, len);
    ppi_buffer_bytes(slim->out, slim->piece + (slim->at - slim->piece_at), n);
    slim->at += n;
    len -= n;
  }
  return true;
}

static bool put_varint(slimming *slim, uint64_t value) {
  return has_room(slim, PPI_VARINT_MAX) &&
         (ppi_buffer_varint(slim->out, value) ||
          fail(slim, PPROF_STATUS_NO_MEMORY, "out of memory"));
}

// Lists of numbers, and bytes, of what `payload` describes.
static bool is_payload(const slimming *slim, const frame *in,
                       const ProtobufCFieldDescriptor *field) {
  if (in->type != slim->form->payload) return false;
  return field->type == PROTOBUF_C_TYPE_BYTES ||
         (field->label == PROTOBUF_C_LABEL_REPEATED &&
          field->type != PROTOBUF_C_TYPE_MESSAGE &&
          field != &in->type->fields[0]);
}

static bool is_kept(slimming *slim, frame *in,
                    const ProtobufCFieldDescriptor *field, uint64_t bytes) {
  const ppi_wire_limits *limits = &slim->form->limits;
  if (in->type == slim->form->pair && field == &in->type->fields[1])
    return bytes <= limits->value_bytes;
  if (!is_payload(slim, in, field)) return true;
  // What is left out once is left out whole: half of a list is no list.
  if (bytes > limits->payload_bytes ||
      in->payload_bytes + bytes > limits->payload_bytes)
    return false;
  in->payload_bytes += bytes;
  return true;
}

// A field of a fixed size, or a varint. `tag` has been read.
static bool take_number(slimming *slim, frame *in,
                        const ProtobufCFieldDescriptor *field, uint64_t tag) {
  unsigned wire = tag & 7;
  if (wire == WIRE_VARINT) {
    uint64_t value;
    if (!read_varint(slim, &value)) return false;
    if (!field || !is_kept(slim, in, field, 8)) return true;
    return put_varint(slim, tag) && put_varint(slim, value);
  }
  uint64_t len = wire == WIRE_64 ? 8 : 4;
  if (wire != WIRE_64 && wire != WIRE_32)
    return corrupt(slim, "no ONNX model: a field of an unknown kind");
  if (len > in->end - slim->at) return corrupt(slim, "it is cut");
  if (field && is_kept(slim, in, field, len))
    return put_varint(slim, tag) && copy(slim, len);
  slim->at += len;
  return true;
}

// The second of a message that may come once would be merged with the first,
// all of it copied anew.
static bool comes_once(slimming *slim, frame *in,
                       const ProtobufCFieldDescriptor *field) {
  uint64_t bit = UINT64_C(1) << ((field - in->type->fields) & 63);
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return true;
  if (in->seen & bit) return corrupt(slim, "it is there twice");
  in->seen |= bit;
  return true;
}

// Begins a message in the one that is being read; `len` bytes of it follow.
static bool begin(slimming *slim, frame *in,
                  const ProtobufCFieldDescriptor *field, uint64_t tag,
                  uint64_t len) {
  if (!comes_once(slim, in, field)) return false;
  if (slim->depth == DEPTH) return corrupt(slim, "too deep");
  if (!put_varint(slim, tag) || !has_room(slim, LENGTH_BYTES)) return false;
  static const uint8_t later[LENGTH_BYTES] = {0};
  ppi_buffer_bytes(slim->out, later, LENGTH_BYTES);
  slim->frames[slim->depth++] = (frame){
      .type = field->descriptor, .end = slim->at + len, .payload_bytes = 0};
  return true;
}

static bool take_bytes(slimming *slim, frame *in,
                       const ProtobufCFieldDescriptor *field, uint64_t tag,
                       uint64_t len) {
  if (!field || !is_kept(slim, in, field, len)) {
    slim->at += len;
    return true;
  }
  if (len > slim->form->limits.text_bytes)
    return corrupt(slim, "a text or a list that is too long");
  return put_varint(slim, tag) && put_varint(slim, len) && copy(slim, len);
}

static void count_field(frame *in, const ProtobufCFieldDescriptor *field) {
  if (!field) return;
  in->num = in->field == field->name ? in->num + 1 : 0;
  in->field = field->name;
}

// `out_inner`: a message has begun.
static bool take_field(slimming *slim, frame *in, bool *out_inner) {
  uint64_t tag, len;
  *out_inner = false;
  if (!read_varint(slim, &tag)) return false;
  if (tag >> 3 == 0 || tag >> 32)
    return corrupt(slim, "no ONNX model: a field without a number");
  const ProtobufCFieldDescriptor *field =
      protobuf_c_message_descriptor_get_field(in->type, (unsigned)(tag >> 3));
  count_field(in, field);
  bool is_message = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
  if ((tag & 7) != WIRE_BYTES) {
    if (is_message) return corrupt(slim, "a number in the place of a message");
    return take_number(slim, in, field, tag);
  }
  if (!read_varint(slim, &len)) return false;
  if (len > in->end - slim->at) return corrupt(slim, "it is cut");
  if (!is_message) return take_bytes(slim, in, field, tag, len);
  *out_inner = true;
  return begin(slim, in, field, tag, len);
}

// Puts the length that a message has come to where it was left open.
static void end_message(slimming *slim, size_t start) {
  uint8_t *at = slim->out->data + start - LENGTH_BYTES;
  uint64_t len = slim->out->len - start;
  for (size_t i = 0; i < LENGTH_BYTES; i++, len >>= 7)
    at[i] = (uint8_t)((len & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

static void walk(slimming *slim) {
  size_t starts[DEPTH] = {slim->out->len};
  while (slim->depth > 0) {
    frame *in = &slim->frames[slim->depth - 1];
    if (slim->at == in->end) {
      slim->depth--;
      if (slim->depth) end_message(slim, starts[slim->depth]);
      continue;
    }
    bool inner;
    if (!take_field(slim, in, &inner)) return;
    if (inner) starts[slim->depth - 1] = slim->out->len;
  }
}

pprof_status ppi_wire_slim(int fd, uint64_t num_bytes,
                           const ppi_wire_form *form, ppi_buffer *out,
                           pprof_error *error) {
  slimming *slim = ppi_alloc(sizeof *slim);
  if (!slim) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  slim->fd = fd;
  slim->form = form;
  slim->out = out;
  slim->error = error;
  slim->num_bytes = num_bytes;
  slim->frames[slim->depth++] = (frame){.type = form->whole, .end = num_bytes};
  walk(slim);
  pprof_status status = slim->status;
  ppi_free(slim);
  return status;
}
