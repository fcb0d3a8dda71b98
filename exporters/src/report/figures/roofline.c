// SPDX-License-Identifier: Apache-2.0
//
// Places a stage under the roof of its device.
#include "report/figures/roofline.h"

static double quotient(double part, double of) {
  return part > 0 && of > 0 ? part / of : 0;
}

ppi_roofline_told ppi_roofline_tell(const ppi_roofline *roofline) {
  const ppi_roofline *from = roofline;
  ppi_roofline_told told = {.rate = quotient(from->flops, from->own_s)};
  told.mfu = 100 * quotient(told.rate, from->peak_flops);
  told.wall_mfu =
      100 * quotient(quotient(from->flops, from->wall_s), from->peak_flops);
  told.intensity = quotient(from->flops, from->bytes);
  told.ridge = quotient(from->peak_flops, from->peak_bytes);
  double by_memory = told.intensity * from->peak_bytes;
  if (told.ridge > 0 && told.intensity > 0)
    told.reach = 100 * quotient(told.rate, told.intensity < told.ridge
                                               ? by_memory
                                               : from->peak_flops);
  return told;
}
