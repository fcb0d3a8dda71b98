// SPDX-License-Identifier: Apache-2.0
//
// Finds names in the copy that a look has made.
#pragma once

#include "recover/forensics.h"

PPROF_BEGIN_C_

// The latest definition of this id; NULL: none, or the id went to another name
// since the copy began.
const ppi_definition_record *ppi_forensics_find(const ppi_forensics *forensics,
                                                uint32_t kind, uint32_t id);
// The run's own info, such as "command"; NULL: none.
const char *ppi_forensics_text(const ppi_forensics *forensics, const char *key);

PPROF_END_C_
