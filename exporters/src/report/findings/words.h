// SPDX-License-Identifier: Apache-2.0
//
// Figures and names as words of a sentence.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// Short texts for use in sentences.
typedef struct ppi_words {
  char text[96];
} ppi_words;
// ppi_words_time has three significant digits: "41 ms", "1.52 s".
ppi_words ppi_words_time(double ns);
// ppi_words_percent is `part` of `whole`: "33 %", "0.41 %".
ppi_words ppi_words_percent(double part, double whole);
// ppi_words_bytes has the same digits, with powers of 1000: "1.52 GB".
ppi_words ppi_words_bytes(double bytes);
// ppi_words_rate has the same digits: "1.52 TFLOP/s".
ppi_words ppi_words_rate(double rate, const char *unit_name);
// ppi_words_name cuts a long name in the middle; a step becomes "the step".
ppi_words ppi_words_name(const char *name);
// ppi_words_number has three significant digits: "3.9", "1 700".
ppi_words ppi_words_number(double number);
__attribute__((format(printf, 3, 4))) void ppi_words_put(char *to, size_t size,
                                                         const char *format,
                                                         ...);
// ppi_words_add appends.
__attribute__((format(printf, 3, 4))) void ppi_words_add(char *to, size_t size,
                                                         const char *format,
                                                         ...);
#define PPI_ADD(array, ...) ppi_words_add((array), sizeof(array), __VA_ARGS__)
#define PPI_SAY(array, ...) ppi_words_put((array), sizeof(array), __VA_ARGS__)

PPROF_END_C_
