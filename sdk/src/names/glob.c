// SPDX-License-Identifier: Apache-2.0
//
// Matches globs, and hashes names and requests.
#include "names/glob.h"

#include <stdio.h>
#include <string.h>

#include "base/mix.h"
#include "base/sha256.h"

// After a `*` that fails, the text is tried again one character later. Only the
// last `*` needs that.
bool ppi_glob_match(const char *glob, const char *text) {
  const char *star = NULL, *resume = NULL;
  while (*text) {
    if (*glob == '*') {
      star = ++glob;
      resume = text;
    } else if (*glob == '?' || (*glob && *glob == *text)) {
      glob++;
      text++;
      // One character, not one byte.
      while (glob[-1] == '?' && ((unsigned char)*text & 0xc0u) == 0x80u) text++;
    } else if (star) {
      glob = star;
      text = ++resume;
    } else {
      return false;
    }
  }
  while (*glob == '*') glob++;
  return *glob == 0;
}

void ppi_name_hash(const char *name, char out[PPI_NAME_HASH]) {
  uint8_t digest[32];
  ppi_sha256(name, strlen(name), digest);
  out[0] = '#';
  for (size_t i = 0; i < 6; i++)
    snprintf(out + 1 + 2 * i, 3, "%02x", digest[i]);
}

bool ppi_request_is_kept(uint64_t flow, uint64_t every) {
  if (every <= 1) return true;
  // The hash spreads numbers that are addresses, too.
  return ppi_mix(flow) % every == 0;
}
