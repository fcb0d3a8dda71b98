// SPDX-License-Identifier: Apache-2.0
//
// Which kernels and operators are communication, by their names: nobody marks
// them so. `names.categories` of a configuration says it of further ones.
#ifndef PPI_COLLECTIVES_H_
#define PPI_COLLECTIVES_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_is_collective answers for one name, which need not end with a zero.
bool ppi_is_collective(const char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COLLECTIVES_H_
