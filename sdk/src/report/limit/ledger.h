// SPDX-License-Identifier: Apache-2.0
//
// Why a device was idle: each moment belongs to what the thread did that
// launched the device's next work.
#ifndef PPI_LIMIT_LEDGER_H_
#define PPI_LIMIT_LEDGER_H_

#include "report/limit/search.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_limit_find_gaps fills the gaps of the verdict, of the device that is busy
// most; ppi_limit_say_gaps adds a sentence where they are a tenth of the time.
void ppi_limit_find_gaps(ppi_limit_search *search);
void ppi_limit_say_gaps(ppi_limit_search *search);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_LEDGER_H_
