// SPDX-License-Identifier: Apache-2.0
//
// Places overlapping ranges on rows without overlap.
#include "export/lanes.h"

#include "base/mem.h"
#include "cli/say.h"

size_t ppi_export_lanes_place(ppi_export_lanes *lanes, uint64_t start_ns,
                              uint64_t end_ns, uint64_t *num_cut) {
  size_t at = 0;
  while (at < lanes->num && lanes->ends_ns[at] > start_ns) at++;
  if (at == PPI_EXPORT_MAX_LANES) {
    ++*num_cut;
    return at - 1;
  }
  if (at == lanes->num) {
    PPI_MUST_ROOM(lanes->ends_ns, lanes->capacity, at + 1);
    lanes->num++;
  }
  lanes->ends_ns[at] = end_ns;
  return at;
}

void ppi_export_lanes_clear(ppi_export_lanes *lanes) {
  ppi_free(lanes->ends_ns);
  *lanes = (ppi_export_lanes){0};
}
