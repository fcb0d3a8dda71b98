// SPDX-License-Identifier: Apache-2.0
//
// The fields of a row of figures. A field's kind decides how the row is found,
// added up and freed. A new figure is a field of its row and a line in its
// list.
#pragma once

#include "report/figures/carry.h"

// The kind of a field. A NULL function does nothing.
typedef struct ppi_reducer {
  size_t size;  // of one value; a field may be an array
  int (*compare)(const void *left, const void *right);
  bool (*own)(void *field);  // replaces a borrowed value by a copy, or NULL
  bool (*merge)(void *into, const void *from);
  void (*clear)(void *field);
  void (*carry)(ppi_carry *carry, void *field);  // NULL: as words
} ppi_reducer;

extern const ppi_reducer ppi_reduce_text, ppi_reduce_chars, ppi_reduce_number,
    ppi_reduce_lane, ppi_reduce_flag, ppi_reduce_shape, ppi_reduce_category,
    ppi_reduce_most, ppi_reduce_sum, ppi_reduce_bytes, ppi_reduce_amount,
    ppi_reduce_squares, ppi_reduce_spread, ppi_reduce_histogram,
    ppi_reduce_phases, ppi_reduce_messages, ppi_reduce_numbers,
    ppi_reduce_gauge, ppi_reduce_net, ppi_reduce_slow, ppi_reduce_growth,
    ppi_reduce_answer;

typedef enum ppi_field_use {
  PPI_FIELD_KEY,    // rows are ordered by it
  PPI_FIELD_KEPT,   // a new row copies it
  PPI_FIELD_FIGURE  // empty in a new row
} ppi_field_use;

typedef struct ppi_field {
  const ppi_reducer *reducer;
  ppi_field_use use;
  size_t offset, size;
} ppi_field;

#define PPI_FIELD(use, row, reducer, field)           \
  {                                                   \
    &ppi_reduce_##reducer, use, offsetof(row, field), \
        sizeof(((row *)NULL)->field)                  \
  }
#define PPI_KEY(...) PPI_FIELD(PPI_FIELD_KEY, __VA_ARGS__)
#define PPI_KEPT(...) PPI_FIELD(PPI_FIELD_KEPT, __VA_ARGS__)
#define PPI_FIGURE(...) PPI_FIELD(PPI_FIELD_FIGURE, __VA_ARGS__)
// All fields of the row from `first` to `last`, which have one kind.
#define PPI_FIGURES(row, reducer, first, last)                     \
  {                                                                \
    &ppi_reduce_##reducer, PPI_FIELD_FIGURE, offsetof(row, first), \
        offsetof(row, last) + sizeof(((row *)NULL)->last) -        \
            offsetof(row, first)                                   \
  }

typedef struct ppi_fields {
  size_t size;             // of a row
  const ppi_field *items;  // keys first, the first key before the second
  size_t num;
} ppi_fields;

#define PPI_FIELDS(row, list) \
  { sizeof(row), (list), sizeof(list) / sizeof *(list) }

int ppi_fields_compare(const ppi_fields *fields, const void *left,
                       const void *right);
// ppi_fields_start sets `row` to that key with empty figures; false: no memory,
// and nothing to clear.
bool ppi_fields_start(const ppi_fields *fields, void *row, const void *key);
bool ppi_fields_merge(const ppi_fields *fields, void *into, const void *from);
void ppi_fields_clear(const ppi_fields *fields, void *row);
void ppi_fields_carry(const ppi_fields *fields, ppi_carry *carry, void *row);
