// SPDX-License-Identifier: Apache-2.0
//
// A picture as parts of the page: its JSON, its events, bins and series.
#pragma once

#include <stdio.h>

#include "html/picture.h"

// ppi_picture_pack: NO_MEMORY, IO.
pprof_status ppi_picture_pack(const ppi_picture *picture,
                              const ppi_figures *figures, FILE *out);
