// SPDX-License-Identifier: Apache-2.0
//
// Recognizes who wrote a Chrome trace.
#include "import/dialects.h"

const ppi_dialect *ppi_dialect_of(uint32_t bits) {
  static const ppi_dialect dialects[] = {
      {PPI_IS_PADDLE, "a Paddle trace", .has_day_times = true,
       .has_device_rows = true},
      {PPI_IS_PYTORCH, "a PyTorch trace", .has_device_rows = true},
      {PPI_IS_ORT, "an ONNX Runtime trace", .has_coarse_times = true},
      {UINT32_MAX, "a Chrome trace", .has_device_rows = true},
  };
  unsigned i = 0;
  while (!(dialects[i].is & (bits | 1u << 31))) i++;
  return &dialects[i];
}
