// SPDX-License-Identifier: Apache-2.0
//
// Walks once over a log's blocks.
#include "log/read/log_glance.h"

#include <string.h>

#include "log/write/rotate.h"

// Damage is no error, but missing memory is: without the spool's name, its
// records would be left out.
pprof_status ppi_log_glance_info(ppi_log_payload *payload,
                                 const ppi_log_block *block,
                                 ppi_log_glance *out) {
  bool whole;
  pprof_status status = ppi_log_payload_open(payload, block);
  PPI_THEN(status, ppi_log_payload_piece(payload, block, &whole));
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  if (status != PPROF_STATUS_OK || !whole) return PPROF_STATUS_OK;
  pprof_run_info info = {.texts = payload->info.items,
                         .num_texts = payload->info.num};
  out->segment = ppi_segment_of(&info);
  for (size_t i = 0; i < payload->info.num; i++) {
    const ppi_text *text = &payload->info.items[i];
    if (strcmp(text->key, "spool") == 0 && !out->spool_path.text[0])
      out->spool_path = ppi_path_make("%s", text->value);
    if (strcmp(text->key, "flight") == 0)
      snprintf(out->flight, sizeof out->flight, "%s", text->value);
    if (strcmp(text->key, "uuid") == 0 && !out->uuid[0])
      snprintf(out->uuid, sizeof out->uuid, "%s", text->value);
  }
  return status;
}

static pprof_status glance_run(ppi_log_file *file, ppi_log_payload *payload,
                               ppi_log_glance *out) {
  bool complete = false;
  pprof_status status = PPROF_STATUS_OK;
  ppi_log_block block;
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block)) {
    out->readable = out->readable || block.ok;
    complete = block.ok && block.header.type == PPI_LOG_TOTALS &&
               !(block.header.flags & PPI_LOG_MORE);
    if (block.ok && block.header.type == PPI_LOG_INFO)
      status = ppi_log_glance_info(payload, &block, out);
  }
  out->complete = out->complete && complete;
  return status;
}

pprof_status ppi_log_glance_at(const char *path, ppi_log_glance *out,
                               pprof_error *error) {
  memset(out, 0, sizeof *out);
  ppi_log_file *file;
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_payload payload;
  status = ppi_log_payload_init(&payload);
  snprintf(out->uuid, sizeof out->uuid, "%s", ppi_log_file_uuid(file));
  out->complete = true;
  for (bool more = true; more && status == PPROF_STATUS_OK;) {
    status = glance_run(file, &payload, out);
    PPI_THEN(status, ppi_log_file_next_run(file, path, &more, error));
    out->several = out->several || more;
  }
  ppi_log_payload_clear(&payload);
  ppi_log_file_close(file);
  return status;
}
