// SPDX-License-Identifier: Apache-2.0
//
// The longest path through a request that the page tells whole, by what told
// the report of it.
#ifndef PPI_LONGEST_PATH_H_
#define PPI_LONGEST_PATH_H_

#include "file/text.h"
#include "html/picture_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_longest_path_put writes the member "path": [stage, on a device, from, to,
// row] for each stretch of it, or for one in 2^`level`. After the second
// reading. NO_MEMORY.
pprof_status ppi_longest_path_put(ppi_page *page, const ppi_picture *picture,
                                  size_t request, unsigned level);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LONGEST_PATH_H_
