// SPDX-License-Identifier: Apache-2.0
//
// Reads runs of a log as bytes. A section's bytes depend only on the run, not
// on the file around it, so that logs can be merged in any order.
#include "log/read/log_section.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "log/format/log_payload.h"
#include "log/write/rotate.h"

// ---- listing ----

static uint64_t number_of(const char *text) {
  char *end;
  errno = 0;
  uint64_t number = text ? strtoull(text, &end, 10) : 0;
  return text && !errno && end != text && !*end ? number : 0;
}

static pprof_status note_info(ppi_log_payload *payload,
                              const ppi_log_block *block,
                              ppi_log_section *out) {
  bool whole;
  pprof_status status = ppi_log_payload_open(payload, block);
  PPI_THEN(status, ppi_log_payload_piece(payload, block, &whole));
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  pprof_run_info info = {payload->info.items, payload->info.num, NULL};
  out->base_ns = number_of(pprof_run_info_text(&info, "time_base_realtime_ns"));
  out->segment = ppi_segment_of(&info);
  const char *compressor = pprof_run_info_text(&info, PPI_COMPRESSOR_KEY);
  snprintf(out->compressor, sizeof out->compressor, "%s",
           compressor ? compressor : "");
  const char *name = pprof_run_info_text(&info, "name_taken");
  snprintf(out->name_taken, sizeof out->name_taken, "%s", name ? name : "");
  const char *uuid = pprof_run_info_text(&info, "uuid");
  if (uuid && !out->uuid[0])
    memcpy(out->uuid, uuid, strnlen(uuid, PPI_LOG_UUID_LEN));
  return PPROF_STATUS_OK;
}

static void store_header(const ppi_log_file *file,
                         const ppi_log_section *section, uint8_t *out) {
  const uint8_t *header = ppi_log_file_header(file);
  if (header)
    memcpy(out, header, PPI_LOG_FILE_HEADER_SIZE);
  else
    ppi_log_file_header_store(out, section->uuid);
}

// `*out` has the walk's knowledge of the run; this adds the rest.
static pprof_status list_run(ppi_log_file *file, ppi_log_payload *payload,
                             ppi_log_section *out) {
  uint32_t crc = 0;
  uint64_t len = 0;
  ppi_log_block block;
  pprof_status status = PPROF_STATUS_OK;
  ppi_log_payload_reset(payload);
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block)) {
    const ppi_log_header *header = &block.header;
    out->complete = block.ok && header->type == PPI_LOG_TOTALS &&
                    !(header->flags & PPI_LOG_MORE);
    if (!block.ok) continue;
    crc = (uint32_t)crc32(crc, block.bytes, (uInt)block.size);
    len += block.size;
    if (header->type == PPI_LOG_INFO) status = note_info(payload, &block, out);
  }
  out->damage = *ppi_log_file_damage(file);
  if (len == 0 && !ppi_log_file_header(file)) return status;
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  store_header(file, out, header);
  uLong start = crc32(0, header, sizeof header);
  out->crc = (uint32_t)crc32_combine(start, crc, (z_off_t)len);
  out->len = len + sizeof header;
  return status;
}

typedef struct section_list {
  ppi_log_section *items;
  size_t num, capacity;
} section_list;

static pprof_status list_runs(ppi_log_file *file, const char *path,
                              section_list *list, pprof_error *error) {
  ppi_log_payload payload;
  pprof_status status = ppi_log_payload_init(&payload);
  for (bool more = true; more && status == PPROF_STATUS_OK;) {
    const size_t at = list->num;
    status = PPROF_STATUS_NO_MEMORY;
    if (!PPI_REACH(list->items, list->num, list->capacity, (size_t)at + 1))
      break;
    ppi_log_section *section = &list->items[at];
    section->offset = ppi_log_file_run_offset(file);
    memcpy(section->uuid, ppi_log_file_uuid(file), sizeof section->uuid);
    status = list_run(file, &payload, section);
    if (status != PPROF_STATUS_OK) break;
    status = ppi_log_file_next_run(file, path, &more, error);
  }
  ppi_log_payload_clear(&payload);
  if (status == PPROF_STATUS_NO_MEMORY)
    return ppi_fail(error, status, "out of memory");
  return status;
}

pprof_status ppi_log_sections(const char *path, ppi_log_section **out,
                              size_t *out_num, pprof_error *error) {
  ppi_log_file *file;
  section_list list = {NULL, 0, 0};
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  status = list_runs(file, path, &list, error);
  ppi_log_file_close(file);
  if (status != PPROF_STATUS_OK) {
    ppi_free(list.items);
    return status;
  }
  *out = list.items;
  *out_num = list.num;
  return PPROF_STATUS_OK;
}

pprof_status ppi_log_peek(const char *path, uint64_t offset,
                          ppi_log_section *out) {
  memset(out, 0, sizeof *out);
  ppi_log_file *file;
  ppi_log_payload payload;
  pprof_status status = ppi_log_file_open(path, &file, NULL);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_log_payload_init(&payload);
  PPI_THEN(status, ppi_log_file_seek_run(file, offset, path, NULL));
  if (status == PPROF_STATUS_OK) {
    ppi_log_block block;
    memcpy(out->uuid, ppi_log_file_uuid(file), sizeof out->uuid);
    while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block) &&
           block.header.type == PPI_LOG_INFO)
      if (block.ok) status = note_info(&payload, &block, out);
  }
  ppi_log_payload_clear(&payload);
  ppi_log_file_close(file);
  return status;
}

bool ppi_log_section_goes_on(const ppi_log_section *section,
                             const ppi_log_section *next) {
  return section->segment > 0 && next->segment > section->segment &&
         section->uuid[0] && strcmp(section->uuid, next->uuid) == 0;
}

// ---- reading ----

pprof_status ppi_log_pieces_open(ppi_log_pieces *pieces, const char *path,
                                 const ppi_log_section *section,
                                 pprof_error *error) {
  memset(pieces, 0, sizeof *pieces);
  pieces->section = section;
  pprof_status status = ppi_log_file_open(path, &pieces->file, error);
  PPI_THEN(status,
           ppi_log_file_seek_run(pieces->file, section->offset, path, error));
  if (status != PPROF_STATUS_OK)
    ppi_log_pieces_close(pieces);
  else
    store_header(pieces->file, section, pieces->header);
  return status;
}

// A log that is being written may have grown since it was listed.
bool ppi_log_pieces_next(ppi_log_pieces *pieces, const uint8_t **out,
                         size_t *out_len) {
  uint64_t left = pieces->section->len - pieces->done;
  if (left == 0) return false;
  if (pieces->done == 0) {
    *out = pieces->header;
    *out_len = sizeof pieces->header;
    pieces->done += *out_len;
    return true;
  }
  ppi_log_block block;
  while (ppi_log_file_next(pieces->file, &block)) {
    if (!block.ok) continue;
    if (block.size > left) return false;
    *out = block.bytes;
    *out_len = (size_t)block.size;
    pieces->done += *out_len;
    return true;
  }
  return false;
}

void ppi_log_pieces_close(ppi_log_pieces *pieces) {
  ppi_log_file_close(pieces->file);
  pieces->file = NULL;
}
