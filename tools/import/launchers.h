// SPDX-License-Identifier: Apache-2.0
//
// Which row launched what no row is known for.
#pragma once

#include "import/sweeper.h"

// ppi_launchers_find finds the row that launches most of those whose innermost
// open range lasts until `end`; PPI_NO_PLACE: none, or out of memory (false).
bool ppi_launchers_find(ppi_sweeper *sweeper, uint64_t end, uint32_t *out);
// ppi_launchers_update follows a change of what is open on a row.
void ppi_launchers_update(ppi_sweeper *sweeper, uint32_t row);
void ppi_launchers_clear(ppi_launchers *launchers);
