// SPDX-License-Identifier: Apache-2.0
//
// Names the claims of a verdict.
#include "report/figures/limit.h"

const char *ppi_limit_claim_name(ppi_limit_claim claim) {
  static const char *const names[PPI_NUM_CLAIMS] = {
      [PPI_CLAIM_NONE] = "none",
      [PPI_CLAIM_LIMIT] = "limit",
      [PPI_CLAIM_BALANCED] = "balanced",
      [PPI_CLAIM_KEEPS_UP] = "keeps_up",
      [PPI_CLAIM_UNRECORDED] = "unrecorded",
      [PPI_CLAIM_PART] = "part"};
  return names[claim];
}
