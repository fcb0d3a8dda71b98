// SPDX-License-Identifier: Apache-2.0
//
// What is called how, in the copy of the names that a look has made.
#pragma once

#include "names/names.h"
#include "recover/forensics.h"

PPROF_BEGIN_C_

// The latest definition of this id; NULL: there is none, or the id went to
// another name since the look began.
const ppi_definition_record *ppi_forensics_find(const ppi_forensics *forensics,
                                                uint32_t kind, uint32_t id);
// What the run says of itself, such as "command"; NULL: nothing.
const char *ppi_forensics_text(const ppi_forensics *forensics, const char *key);

PPROF_END_C_
