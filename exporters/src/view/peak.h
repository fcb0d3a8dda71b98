// SPDX-License-Identifier: Apache-2.0
//
// The peaks of a device by data type, as the caller states them; utilisation is
// a share of them.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_MAX_PEAKS 16

typedef struct ppi_peak {
  char type[16];   // "bf16"
  char glob[256];  // of the stages that it is for; "*": all others
  double flops;    // a second
} ppi_peak;

typedef struct ppi_peaks {
  ppi_peak items[PPI_MAX_PEAKS];
  size_t num;
} ppi_peaks;

// ppi_peaks_parse reads "bf16=989T@model*,f32=67T": a data type, its peak in
// FLOP/s and the stages it is for. Suffixes k, M, G, T and P are each a
// thousand times the one before.
//
// Errors: CONFIG; `error` says what is wrong.
pprof_status ppi_peaks_parse(const char *text, ppi_peaks *out,
                             pprof_error *error);
// ppi_peaks_find answers the first peak for a stage of this name: of `type`
// (NULL: unknown), else of any type. NULL: none.
const ppi_peak *ppi_peaks_find(const ppi_peaks *peaks, const char *name,
                               const char *type);
// ppi_peaks_memory answers the peak of type "bytes": of memory, in bytes a
// second, which ppi_peaks_find leaves out. NULL: none.
const ppi_peak *ppi_peaks_memory(const ppi_peaks *peaks, const char *name);
// ppi_peak_bytes is the size of a value of a type, by the number of bits that
// its name ends in. Other names: 4.
double ppi_peak_bytes(const char *type);

PPROF_END_C_
