// SPDX-License-Identifier: Apache-2.0
//
// Hands the text of a trace to a file, piece by piece.
#include "chrome/chrome_text.h"

#include <errno.h>

#include "base/mem.h"

static void spill(ppi_page *page) {
  ppi_chrome_out_flush((ppi_chrome_out *)page);
}

pprof_status ppi_chrome_out_open(ppi_chrome_out *out) {
  out->deadline_ns = PPI_FILE_FOR_EVER;
  out->piece = ppi_alloc(sizeof *out->piece);
  if (!out->piece) return PPROF_STATUS_NO_MEMORY;
  out->page = (ppi_page){.bytes = out->piece->bytes,
                         .capacity = sizeof out->piece->bytes,
                         .spill = spill};
  return PPROF_STATUS_OK;
}

void ppi_chrome_out_clear(ppi_chrome_out *out) {
  ppi_file_pack_clear(&out->pack);
  ppi_free(out->piece);
  memset(out, 0, sizeof *out);
}

void ppi_chrome_out_fail(ppi_chrome_out *out, int error) {
  if (!error || out->status != PPROF_STATUS_OK) return;
  out->status = error == ENOMEM ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_IO;
  out->error_number = error;
}

void ppi_chrome_out_flush(ppi_chrome_out *out) {
  out->piece->len = out->page.len;
  out->page.len = 0;
  if (out->status != PPROF_STATUS_OK) return;
  ppi_chrome_out_fail(
      out, out->io ? ppi_file_io_put(out->io, &out->piece, out->deadline_ns)
                   : ppi_file_pack_write(&out->pack, out->piece->bytes,
                                         out->piece->len, false));
  out->page.bytes = out->piece->bytes;
}

void ppi_chrome_put_id(ppi_page *page, const char *key, uint64_t id) {
  const char *quote = id <= 1ull << 53 ? "" : "\"";
  ppi_put_key(page, key);
  ppi_page_text(page, quote);
  ppi_page_u64(page, id);
  ppi_page_text(page, quote);
}
