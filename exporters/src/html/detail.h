// SPDX-License-Identifier: Apache-2.0
//
// The second reading of a log for its pictures: events, bins, sums over time.
#ifndef PPI_DETAIL_H_
#define PPI_DETAIL_H_

#include "html/picture_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_detail_init(ppi_picture *picture);

#ifdef __cplusplus
}
#endif

#endif  // PPI_DETAIL_H_
