// SPDX-License-Identifier: Apache-2.0
//
// The longest path through a request that the page shows in full.
#pragma once

#include "file/text.h"
#include "html/picture_state.h"

PPROF_BEGIN_C_

// ppi_longest_path_put writes the member "path": [stage, on a device, from, to,
// row] for each stretch, or for one in 2^`level`. Call it after the second
// reading. NO_MEMORY.
pprof_status ppi_longest_path_put(ppi_page *page, const ppi_picture *picture,
                                  size_t request, unsigned level);

PPROF_END_C_
