// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON block by block; one callback gets the tokens. A C interface.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_JSON_MAX_DEPTH 256
// Keys and numbers are cut here; strings come in parts of any length.
#define PPI_JSON_MAX_KEY 256

typedef enum ppi_json_kind {
  PPI_JSON_OBJECT,
  PPI_JSON_OBJECT_END,
  PPI_JSON_ARRAY,
  PPI_JSON_ARRAY_END,
  PPI_JSON_KEY,
  PPI_JSON_STRING_PART,  // more of this string follows
  PPI_JSON_STRING,       // the last part
  PPI_JSON_NUMBER,
  PPI_JSON_TRUE,
  PPI_JSON_FALSE,
  PPI_JSON_NULL
} ppi_json_kind;

typedef struct ppi_json_token {
  ppi_json_kind kind;
  const char *text;  // of keys, strings and numbers; no zero ends it
  size_t len;
  double number;  // of numbers; the text is exact
} ppi_json_token;

// The callback answers false to stop.
typedef bool (*ppi_json_take)(void *context, const ppi_json_token *token);

// Takes whole values of a list from the text, with the commas between them. The
// answer is the number of bytes taken, 0 for none. PPI_JSON_SLACK zeroes follow
// the text.
typedef size_t (*ppi_json_take_whole)(void *context, const char *bytes);
#define PPI_JSON_SLACK 128

typedef struct ppi_json ppi_json;
ppi_json *ppi_json_create(ppi_json_take take, void *context);
void ppi_json_destroy(ppi_json *json);
// ppi_json_set_whole: the parser calls `whole` wherever an element of a list
// begins.
void ppi_json_set_whole(ppi_json *json, ppi_json_take_whole whole);

typedef enum ppi_json_state {
  PPI_JSON_MORE,     // all bytes taken, the value continues
  PPI_JSON_DONE,     // the value is complete; bytes may be left
  PPI_JSON_STOPPED,  // by the callback
  PPI_JSON_BAD
} ppi_json_state;

// ppi_json_write parses `len` bytes; a `len` of 0 ends the input. *out_used
// counts the bytes taken, up to an error.
ppi_json_state ppi_json_write(ppi_json *json, const char *bytes, size_t len,
                              size_t *out_used);
// Counts NaN, Infinity and -Infinity, which JSON lacks; each becomes null.
uint64_t ppi_json_num_not_finite(const ppi_json *json);
// Counts unescaped control characters in strings, which JSON forbids; they stay
// as they are.
uint64_t ppi_json_num_raw_controls(const ppi_json *json);
// ppi_json_number reads a number as the parser does.
double ppi_json_number(const char *text, size_t len);
// ppi_json_error describes the error after PPI_JSON_BAD.
const char *ppi_json_error(const ppi_json *json);

PPROF_END_C_
