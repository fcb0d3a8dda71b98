// SPDX-License-Identifier: Apache-2.0
//
// Collects the members of one event from the parser's tokens.
#pragma once

#include <math.h>
#include <string.h>

#include "json/json.h"
#include "pprof/event.h"

// Times beyond +-2^62 ns (146 years) are invalid.
#define PPI_IMPORT_MAX_NS (INT64_C(1) << 62)

// ppi_decimal_ns turns a decimal number of units of 10^`exponent` ns (3:
// microseconds) into ns, halves up, away from zero. False: no number, or beyond
// PPI_IMPORT_MAX_NS. *out_rest is the place behind the number, such as that of
// " us"; NULL: no text may follow.
bool ppi_decimal_ns(const char *text, size_t len, int exponent, int64_t *out,
                    size_t *out_rest);
// ppi_duration_ns reads a number and its unit: "12.3 us" (also ns, ms, s;
// without one microseconds).
bool ppi_duration_ns(const char *text, size_t len, int64_t *out);
// ppi_integer reads a whole decimal integer and nothing else.
bool ppi_integer(const char *text, size_t len, int64_t *out);

#define PPI_IMPORT_MAX_NAME 4096
#define PPI_MAX_ATTRIBUTES 16384
#define PPI_MAX_SCALAR 255
#define PPI_MAX_NUMBERS 64
#define PPI_MAX_EVENT_FLOWS 64

typedef enum ppi_scalar_kind {
  PPI_SCALAR_NONE,
  PPI_SCALAR_NUMBER,
  PPI_SCALAR_TEXT,
  PPI_SCALAR_OTHER  // true, false, null, an object, an array
} ppi_scalar_kind;

typedef struct ppi_scalar {
  ppi_scalar_kind kind;
  uint16_t len;
  double number;  // NaN: as the text says
  char text[PPI_MAX_SCALAR + 1];
} ppi_scalar;

// Short fields of an event. NAME and ARGS have members of their own.
#define PPI_FIELD_LIST(X) \
  X(PH, "ph")             \
  X(CAT, "cat")           \
  X(TS, "ts")             \
  X(DUR, "dur")           \
  X(PID, "pid")           \
  X(TID, "tid")           \
  X(ID, "id")             \
  X(SCOPE, "scope")       \
  X(BP, "bp")             \
  X(CHANGE, "change")     \
  X(RESERVED, "reserved") \
  X(ID2_LOCAL, "local")   \
  X(ID2_GLOBAL, "global")
typedef enum ppi_field {
#define PPI_FIELD_ENUM_(name, key) PPI_FIELD_##name,
  PPI_FIELD_LIST(PPI_FIELD_ENUM_)
#undef PPI_FIELD_ENUM_
      PPI_NUM_FIELDS,
  // Keys of an event that are no field.
  PPI_FIELD_NAME = PPI_NUM_FIELDS,
  PPI_FIELD_ARGS,
  PPI_FIELD_ID2,
  PPI_NUM_KEYS
} ppi_field;

// Members of args with a meaning here. Those with a 1 also stay in the
// attributes; the others differ at each event.
#define PPI_ARG_LIST(X)                         \
  X(CORRELATION, "correlation", 0)              \
  X(CORRELATION_ID, "correlation id", 0)        \
  X(EXTERNAL, "External id", 0)                 \
  X(EXTERNAL_LOWER, "external id", 0)           \
  X(BYTES, "bytes", 0)                          \
  X(FLOPS, "flops", 0)                          \
  X(FLOPS_UPPER, "Flops", 0)                    \
  X(ITEMS, "items", 0)                          \
  X(DEVICE, "device", 0)                        \
  X(STREAM, "stream", 0)                        \
  X(START_TIME, "start_time", 0)                \
  X(END_TIME, "end_time", 0)                    \
  X(CHANGE, "Bytes", 0)                         \
  X(TOTAL_ALLOCATED, "Total Allocated", 0)      \
  X(TOTAL_RESERVED, "Total Reserved", 0)        \
  X(DEVICE_TYPE, "Device Type", 0)              \
  X(DEVICE_ID, "Device Id", 0)                  \
  X(PLACE, "place", 0)                          \
  X(INCREASE_BYTES, "increase_bytes", 0)        \
  X(CURRENT_ALLOCATED, "current_allocated", 0)  \
  X(CURRENT_RESERVED, "current_reserved", 0)    \
  X(OP_NAME, "op_name", 0)                      \
  X(OWNER, "owner process", 0)                  \
  X(STEP, "step", 0)                            \
  X(NAME, "name", 1)                            \
  X(LABELS, "labels", 1)                        \
  X(NUMBERS, "numbers", 1)                      \
  /* of no use, and different at each event */  \
  X(EV_IDX, "Ev Idx", 0)                        \
  X(RECORD_ID, "Record function id", 0)         \
  X(SEQUENCE, "Sequence number", 0)             \
  X(PYTHON_ID, "Python id", 0)                  \
  X(PYTHON_PARENT, "Python parent id", 0)       \
  X(PYTHON_MODULE, "Python module id", 0)       \
  X(BANDWIDTH, "memory bandwidth (GB/s)", 0)    \
  X(QUEUED, "queued", 0)                        \
  X(CONTEXT, "context", 0)                      \
  X(CBID, "cbid", 0)                            \
  X(ADDR, "Addr", 0)                            \
  X(ADDR_LOWER, "addr", 0)                      \
  X(FINISHED, "finished", 0)                    \
  X(PEAK_ALLOCATED, "peak_allocated", 0)        \
  X(PEAK_RESERVED, "peak_reserved", 0)          \
  X(FLOWS, "flows", 0)                          \
  X(PARAMS, "params", 0)                        \
  X(THREADS, "thread_scheduling_stats", 0)      \
  X(ARENA, "mem_arena_held", 0)                 \
  X(ARENA_DELTA, "mem_arena_held_delta", 0)     \
  X(IN_USE, "mem_bytes_in_use", 0)              \
  X(IN_USE_DELTA, "mem_in_use_delta", 0)        \
  X(IN_USE_PEAK, "mem_in_use_peak", 0)          \
  X(REQUESTED, "mem_bytes_requested_in_use", 0) \
  X(REQUESTED_DELTA, "mem_requested_in_use_delta", 0)
typedef enum ppi_arg {
#define PPI_ARG_ENUM_(name, key, is_kept) PPI_ARG_##name,
  PPI_ARG_LIST(PPI_ARG_ENUM_)
#undef PPI_ARG_ENUM_
      PPI_NUM_ARGS
} ppi_arg;

typedef struct ppi_number {
  const char *key;  // cut at 63 bytes
  uint8_t own;      // ppi_own_key; 0: not looked for
  uint8_t len;
  double value;      // NaN: as the text says
  const char *text;  // `len` bytes
} ppi_number;

#define PPI_ARG_BUCKETS 256

typedef struct ppi_fields {
  // By a hash of the key, + 1: members of an event, and of its args.
  uint8_t key_buckets[PPI_ARG_BUCKETS], arg_buckets[PPI_ARG_BUCKETS];
  // Of our own traces: `true` is the number 1, and there are no attributes.
  bool is_own;
  char name[PPI_IMPORT_MAX_NAME + 1];
  size_t name_len;
  bool has_name, name_cut, is_empty;
  ppi_scalar fields[PPI_NUM_FIELDS];
  ppi_scalar args[PPI_NUM_ARGS];
  uint64_t args_set;  // bits of `args`
  // All numbers in args, for counters.
  ppi_number numbers[PPI_MAX_NUMBERS];
  char number_keys[PPI_MAX_NUMBERS][64];
  size_t num_numbers, num_numbers_cut;
  size_t num_nulls;  // in their places
  size_t num_other;  // members of args that are neither
  uint64_t flows[PPI_MAX_EVENT_FLOWS];
  size_t num_flows;
  pprof_numbers numbers_of_name;  // of our own traces
  // A JSON object's inside, without the braces.
  char attributes[PPI_MAX_ATTRIBUTES + 8];
  size_t attributes_len;
  bool attributes_cut;
  // Of the parser: where in the event it is.
  int depth;       // open containers, the event's own included
  int field, arg;  // what the next value is; -1: nothing known
  bool is_in_args, is_in_id2, keeps_arg, is_open_text;
  size_t member_at;  // where this member of args began in `attributes`
} ppi_fields;

// ppi_fields_init comes once, before the first event.
void ppi_fields_init(ppi_fields *fields);
void ppi_fields_begin(ppi_fields *fields);
// ppi_fields_take takes the tokens after the event's opening brace; false: that
// was its closing one.
bool ppi_fields_take(ppi_fields *fields, const ppi_json_token *token);

// ppi_fields_put gives a member its value, a text or a number, without the
// parser. `key` is a ppi_field, or PPI_NUM_KEYS + a ppi_arg.
void ppi_fields_put(ppi_fields *fields, int key, const ppi_json_token *value);

static inline const ppi_scalar *ppi_fields_arg(const ppi_fields *fields,
                                               ppi_arg arg) {
  return fields->args_set >> arg & 1 ? &fields->args[arg] : NULL;
}
static inline double ppi_scalar_number(const ppi_scalar *scalar) {
  return isnan(scalar->number) ? ppi_json_number(scalar->text, scalar->len)
                               : scalar->number;
}
static inline double ppi_number_value(const ppi_number *number) {
  return isnan(number->value) ? ppi_json_number(number->text, number->len)
                              : number->value;
}
// ppi_fields_find finds a key: a ppi_field, or in args a ppi_arg; -1: neither.
int ppi_fields_find(const ppi_fields *fields, bool in_args, const char *key,
                    size_t len);
// ppi_fields_keeps: the argument stays in the attributes; -1: an unknown one.
bool ppi_fields_keeps(const ppi_fields *fields, int arg);
// ppi_fields_element takes a number of the list in `arg`.
void ppi_fields_element(ppi_fields *fields, const ppi_json_token *token);
// ppi_attributes_put adds to the member that begins at `member_at`. A member
// that does not fit is left out whole, so the rest stays JSON.
static inline void ppi_attributes_put(ppi_fields *fields, const char *bytes,
                                      size_t len) {
  if (len > PPI_MAX_ATTRIBUTES - fields->attributes_len) {
    fields->attributes_len = fields->member_at;
    fields->attributes_cut = true;
    fields->keeps_arg = false;
    return;
  }
  memcpy(fields->attributes + fields->attributes_len, bytes, len);
  fields->attributes_len += len;
}
// ppi_utf8_cut is the length of `text`, cut to at most `len` bytes and whole
// characters.
size_t ppi_utf8_cut(const char *text, size_t len);

// ppi_attributes_add adds a member with a text.
void ppi_attributes_add(ppi_fields *fields, const char *key, const char *text,
                        size_t len);
