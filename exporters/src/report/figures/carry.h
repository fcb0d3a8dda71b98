// SPDX-License-Identifier: Apache-2.0
//
// Carries values into bytes and back. One walk over figures does both, so that
// the two cannot differ. The bytes are of this build of this program alone.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// All zero is an empty one that writes; ppi_free its bytes. With `reads`,
// values come from `bytes`, up to `len`. A write of more than `most` bytes
// fails; 0: there is no such limit. After a failure, no value has a meaning.
typedef struct ppi_carry {
  uint8_t *bytes;
  size_t len, capacity;
  size_t at;  // of the next byte to read
  size_t most;
  bool reads, failed;
} ppi_carry;

// ppi_carry_words carries `size` bytes without pointers, in eights.
void ppi_carry_words(ppi_carry *carry, void *values, size_t size);
// All fields from `first` to `last`, which have no pointers.
#define PPI_CARRY_FROM(carry, of, first, last) \
  ppi_carry_words(carry, &(of)->first,         \
                  (size_t)((char *)(&(of)->last + 1) - (char *)&(of)->first))
// ppi_carry_text carries a text of the heap, or NULL.
void ppi_carry_text(ppi_carry *carry, char **text);
// ppi_carry_room carries the number of the items at `items`, the address of an
// array. A read makes the array, all zero.
void ppi_carry_room(ppi_carry *carry, void *items, size_t *num, size_t size);
// ppi_carry_items does so with the items, which have no pointers.
void ppi_carry_items(ppi_carry *carry, void *items, size_t *num, size_t size);
// ppi_carry_maybe carries an array of `size` bytes without pointers, or NULL.
void ppi_carry_maybe(ppi_carry *carry, void *array, size_t size);

PPROF_END_C_
