// SPDX-License-Identifier: Apache-2.0
//
// The shape of a name: the name without the values of its numbers. Pure;
// whether names of one shape fold is learned in shapes.h.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

#define PPI_FOLD_TEXT ((size_t)1024)  // longer shapes are none

// In a shape `{}` stands for the part that differs. Free numbers stand alone,
// between anything but letters ("step 481", "context_2(4874)"); a UUID, a
// hexadecimal number ("0x7f", or eight digits and letters a to f or more) and a
// bracketed list of numbers ("[[32, 4096]]") do, too. The digits of "layer3",
// "conv2d" and "ResNet50" belong to their word: only the wider shape has `{}`
// for them. A name's own `{}` is a number that is not known. What XLA appends,
// as "#module=jit_f,program_id=7#", has values: those that are words belong to
// the wider shape, too.
typedef enum ppi_fold_width {
  PPI_FOLD_FREE,  // numbers that stand alone
  PPI_FOLD_ALL,   // all digits
  PPI_NUM_WIDTHS
} ppi_fold_width;

typedef struct ppi_fold {
  bool has_free, has_glued;  // numbers that stand alone; digits in words
  pprof_numbers numbers;     // `full_name`: whether they make up the name
  size_t len;                // of `text`
  char text[PPI_FOLD_TEXT];
} ppi_fold;

// ppi_fold_name answers false where the name's first `len` bytes have no digit
// that this width folds, or its shape is too long.
bool ppi_fold_name(const char *name, size_t len, ppi_fold_width width,
                   ppi_fold *out);

// A shape for the quick comparison: its text between `{}`.
#define PPI_FOLD_PIECES 8u
typedef struct ppi_fold_pieces {
  uint32_t num;    // pieces; there is a `{}` less
  uint32_t lists;  // bits: a `{}` that is a list only, as by itself
  uint16_t len[PPI_FOLD_PIECES];
} ppi_fold_pieces;
// ppi_fold_split answers false for a shape that the quick comparison cannot
// handle.
bool ppi_fold_split(const char *shape, ppi_fold_pieces *out);
// ppi_fold_fits answers true, and the numbers, where ppi_fold_name would surely
// make this shape of the name in the shape's width. False: it may or may not.
bool ppi_fold_fits(const char *shape, const ppi_fold_pieces *pieces,
                   const char *name, size_t len, pprof_numbers *out);
// ppi_fold_head answers how many bytes of a name stand before the first digit
// or bracket: names that fit one shape share them.
size_t ppi_fold_head(const char *name);

PPROF_END_C_
