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

const char *ppi_gap_kind_name(ppi_gap_kind kind) {
  static const char *const names[PPI_NUM_GAP_KINDS] = {
      [PPI_GAP_LAUNCHING] = "launching",
      [PPI_GAP_AFTER_WAIT] = "after wait",
      [PPI_GAP_STAGE] = "stage",
      [PPI_GAP_WAITING] = "waiting",
      [PPI_GAP_STARTING] = "starting",
      [PPI_GAP_NO_REQUEST] = "no request",
      [PPI_GAP_NOTHING] = "nothing recorded",
      [PPI_GAP_OTHERS] = "others"};
  return names[kind];
}
