// SPDX-License-Identifier: Apache-2.0
//
// A picture as JSON, without its large parts, which are packed
// (picture_pack.h).
#pragma once

#include "file/text.h"
#include "html/picture.h"

PPROF_BEGIN_C_

// Each further level of ppi_picture_put has half the detail: names, stages of a
// request, counters. NO_MEMORY.
pprof_status ppi_picture_put(ppi_page *page, const ppi_picture *picture,
                             const ppi_figures *figures, unsigned level);

PPROF_END_C_
