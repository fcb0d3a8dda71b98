// SPDX-License-Identifier: Apache-2.0
//
// On how many processors this process may run.
#ifndef PPI_BASE_PROCESSORS_H_
#define PPI_BASE_PROCESSORS_H_

#ifdef __cplusplus
extern "C" {
#endif

// ppi_num_processors answers 1 where nobody knows.
int ppi_num_processors(void);

#ifdef __cplusplus
}
#endif

#endif  // PPI_BASE_PROCESSORS_H_
