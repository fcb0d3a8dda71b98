// SPDX-License-Identifier: Apache-2.0
//
// Servers as rows.
#ifndef PPI_LIMIT_SERVERS_H_
#define PPI_LIMIT_SERVERS_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_limit_list_servers fills the servers of the verdict, the busiest ones.
void ppi_limit_list_servers(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_SERVERS_H_
