// SPDX-License-Identifier: Apache-2.0
//
// Writes a part of the page with less detail until it fits its bound.
#include "html/part.h"

// At this level almost no detail is left.
enum { LAST_LEVEL = 16 };

static bool is_short(const ppi_part *part, const ppi_pack *pack) {
  return PPI_PACK_TEXT_LEN(pack->len) <= part->most_bytes;
}

pprof_status ppi_part_put(const ppi_part *part, const void *of, FILE *out) {
  ppi_pack pack = {0};
  pprof_status status = PPROF_STATUS_OK;
  for (unsigned level = 0; level <= LAST_LEVEL && status == PPROF_STATUS_OK;
       level++) {
    ppi_pack_clear(&pack);
    status = part->make(&pack, of, level);
    if (status == PPROF_STATUS_OK) status = ppi_pack_shrink(&pack);
    if (status == PPROF_STATUS_OK && is_short(part, &pack)) break;
  }
  fprintf(out, "<script type=\"text/plain\" id=\"%s\">", part->id);
  if (status == PPROF_STATUS_OK) ppi_pack_put(&pack, out);
  fputs("</script>\n", out);
  ppi_pack_clear(&pack);
  return status;
}
