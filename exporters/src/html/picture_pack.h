// SPDX-License-Identifier: Apache-2.0
//
// A picture as parts of the page: its JSON, its events, bins and series.
#ifndef PPI_PICTURE_PACK_H_
#define PPI_PICTURE_PACK_H_

#include <stdio.h>

#include "html/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_picture_pack: NO_MEMORY, IO.
pprof_status ppi_picture_pack(const ppi_picture *picture,
                              const ppi_figures *figures, FILE *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PICTURE_PACK_H_
