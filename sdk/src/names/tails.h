// SPDX-License-Identifier: Apache-2.0
//
// What known programs append to names, which would make every call a name of
// its own: cut where names are recorded and where they are imported.
#ifndef PPI_TAILS_H_
#define PPI_TAILS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_name_end answers how much of a name is kept; 0: all of it.
size_t ppi_name_end(const char *name);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TAILS_H_
