// SPDX-License-Identifier: Apache-2.0
//
// A picture as elements of the page: one of JSON, and bytes for what is much.
#ifndef PPI_PICTURE_TEXT_H_
#define PPI_PICTURE_TEXT_H_

#include "html/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_picture_put: NO_MEMORY, IO.
pprof_status ppi_picture_put(const ppi_picture *picture,
                             const ppi_figures *figures, FILE *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PICTURE_TEXT_H_
