// SPDX-License-Identifier: Apache-2.0
//
// Cuts the endings that known programs append to names.
#include "names/tails.h"

#include <string.h>

// PyTorch's emit_nvtx: "NAME, seq = 12, op_id = 3, sizes = [[2, 3]],
// input_op_ids = [(1,0)]"; in the backward pass "NAME, stashed seq=12".
size_t ppi_name_end(const char *name) {
  static const char *const tails[] = {"seq = ", "op_id = ", "sizes = [",
                                      "input_op_ids = [", "stashed seq="};
  for (const char *at = name; (at = strstr(at, ", ")); at += 2)
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
      if (strncmp(at + 2, tails[i], strlen(tails[i])) == 0)
        return (size_t)(at - name);
  return 0;
}
