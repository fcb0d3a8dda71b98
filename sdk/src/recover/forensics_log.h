// SPDX-License-Identifier: Apache-2.0
//
// Which log a spool's records go to.
#ifndef PPI_FORENSICS_LOG_H_
#define PPI_FORENSICS_LOG_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ppi_forensics_log finds the unfinished log that is written beside the spool
// at `path`; false: there is none, or it is no spool.
bool ppi_forensics_log(const char *path, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif  // PPI_FORENSICS_LOG_H_
