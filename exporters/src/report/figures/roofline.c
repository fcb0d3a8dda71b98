// SPDX-License-Identifier: Apache-2.0
//
// Computes a stage's place under its device's roofline.
#include "report/figures/roofline.h"

static double quotient(double part, double of) {
  return part > 0 && of > 0 ? part / of : 0;
}

ppi_roofline_reported ppi_roofline_tell(const ppi_roofline *roofline) {
  const ppi_roofline *from = roofline;
  ppi_roofline_reported reported = {.rate = quotient(from->flops, from->own_s)};
  reported.mfu = 100 * quotient(reported.rate, from->peak_flops);
  reported.wall_mfu =
      100 * quotient(quotient(from->flops, from->wall_s), from->peak_flops);
  reported.intensity = quotient(from->flops, from->bytes);
  reported.ridge = quotient(from->peak_flops, from->peak_bytes);
  double by_memory = reported.intensity * from->peak_bytes;
  if (reported.ridge > 0 && reported.intensity > 0)
    reported.reach =
        100 * quotient(reported.rate, reported.intensity < reported.ridge
                                          ? by_memory
                                          : from->peak_flops);
  return reported;
}
