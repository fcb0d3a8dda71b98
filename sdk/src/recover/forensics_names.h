// SPDX-License-Identifier: Apache-2.0
//
// What is called how, in the copy of the names that a look has made.
#ifndef PPI_FORENSICS_NAMES_H_
#define PPI_FORENSICS_NAMES_H_

#include "names/names.h"
#include "recover/forensics.h"

#ifdef __cplusplus
extern "C" {
#endif

// The latest definition of this id; NULL: there is none, or the id went to
// another name since the look began.
const ppi_definition_record *ppi_forensics_find(const ppi_forensics *forensics,
                                                uint32_t kind, uint32_t id);
// What the run says of itself, such as "command"; NULL: nothing.
const char *ppi_forensics_text(const ppi_forensics *forensics, const char *key);

#ifdef __cplusplus
}
#endif

#endif  // PPI_FORENSICS_NAMES_H_
