// SPDX-License-Identifier: Apache-2.0
//
// Writes and finds the contents of a log.
#include "log/format/log_contents.h"

#include <sys/stat.h>

#include "log/format/log_payload.h"

// A reader looks for contents and totals in this many bytes at a log's end.
enum { END_BYTES = 1024 * 1024 };

// ---- writing ----

static ppi_log_sums *sums_of(ppi_log_contents *contents, uint8_t type) {
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++)
    if (ppi_log_contents_type(i) == type) return &contents->sums[i];
  return NULL;
}

static void note_block(ppi_log_contents *contents, const ppi_log_header *header,
                       size_t size) {
  ppi_log_sums *sums = sums_of(contents, header->type);
  if (sums) {
    sums->num_blocks++;
    sums->num_events += header->num_events;
    sums->raw_bytes += header->raw_len;
    sums->stored_bytes += size;
  } else if (contents->num_offsets <= PPI_LOG_CONTENTS_MAX_OFFSETS) {
    size_t at = contents->num_offsets++;
    if (at < PPI_LOG_CONTENTS_MAX_OFFSETS)
      contents->offsets[at] = PPI_LOG_FILE_HEADER_SIZE + contents->num_bytes;
  }
  contents->codecs |= header->codec < 32 ? 1u << header->codec : 0;
  contents->max_end_ns = PPI_MAX(contents->max_end_ns, header->max_end_ns);
  contents->num_bytes += size;
  contents->num_blocks++;
}

void ppi_log_contents_note(ppi_log_contents *contents, const uint8_t *blocks,
                           size_t len) {
  ppi_log_header header;
  while (len > 0 && ppi_log_header_load(blocks, &header)) {
    size_t size = ppi_log_block_size(&header);
    note_block(contents, &header, size);
    blocks += size;
    len -= size;
  }
}

static void put_contents(const ppi_log_contents *contents, ppi_buffer *out) {
  ppi_buffer_varint(out, contents->num_blocks);
  ppi_buffer_varint(out, contents->num_bytes);
  ppi_buffer_varint(out, contents->max_end_ns);
  ppi_buffer_varint(out, contents->codecs);
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++) {
    const ppi_log_sums *sums = &contents->sums[i];
    ppi_buffer_varint(out, sums->num_blocks);
    ppi_buffer_varint(out, sums->num_events);
    ppi_buffer_varint(out, sums->raw_bytes);
    ppi_buffer_varint(out, sums->stored_bytes);
  }
  uint64_t before = 0;
  for (size_t i = 0; i < contents->num_offsets; i++) {
    ppi_buffer_varint(out, contents->offsets[i] - before);
    before = contents->offsets[i];
  }
}

pprof_status ppi_log_contents_put(const ppi_log_contents *contents,
                                  ppi_log_assembler *assembler) {
  pprof_status status = ppi_log_assembler_flush(assembler);
  if (status != PPROF_STATUS_OK ||
      contents->num_blocks < PPI_LOG_CONTENTS_MIN_BLOCKS ||
      contents->num_offsets > PPI_LOG_CONTENTS_MAX_OFFSETS)
    return status;
  ppi_buffer payload = {0};
  put_contents(contents, &payload);
  // A small ring has small blocks.
  if (payload.failed || payload.len <= assembler->raw_limit)
    status = ppi_log_assembler_contents(assembler, &payload);
  ppi_buffer_clear(&payload);
  return status;
}

// ---- reading ----

static bool read_offsets(ppi_cursor *cursor, ppi_log_contents *out) {
  uint64_t end = PPI_LOG_FILE_HEADER_SIZE + out->num_bytes, at = 0;
  out->num_offsets = 0;
  while (ppi_cursor_left(cursor) > 0) {
    uint64_t further = ppi_cursor_varint(cursor);
    if (out->num_offsets == PPI_LOG_CONTENTS_MAX_OFFSETS || further == 0 ||
        further >= end - at)
      return false;
    at += further;
    out->offsets[out->num_offsets++] = at;
  }
  return !cursor->failed;
}

static bool read_contents(const ppi_log_payload *payload,
                          const ppi_log_block *block, ppi_log_contents *out) {
  ppi_cursor cursor = ppi_cursor_of(payload->raw, block->header.raw_len);
  out->num_blocks = ppi_cursor_varint(&cursor);
  out->num_bytes = ppi_cursor_varint(&cursor);
  out->max_end_ns = ppi_cursor_varint(&cursor);
  out->codecs = ppi_cursor_u32(&cursor);
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++) {
    ppi_log_sums *sums = &out->sums[i];
    sums->num_blocks = ppi_cursor_varint(&cursor);
    sums->num_events = ppi_cursor_varint(&cursor);
    sums->raw_bytes = ppi_cursor_varint(&cursor);
    sums->stored_bytes = ppi_cursor_varint(&cursor);
  }
  // The position shows whether all blocks are present, with no run before them.
  return !cursor.failed && block->offset >= PPI_LOG_FILE_HEADER_SIZE &&
         out->num_bytes == block->offset - PPI_LOG_FILE_HEADER_SIZE &&
         read_offsets(&cursor, out);
}

static bool find_at_end(ppi_log_file *file, ppi_log_contents *out) {
  ppi_log_payload payload;
  ppi_log_block block;
  bool found = false;
  if (ppi_log_payload_init(&payload) == PPROF_STATUS_OK)
    while (!found && ppi_log_file_next(file, &block))
      found = block.header.type == PPI_LOG_CONTENTS && block.ok &&
              ppi_log_payload_open(&payload, &block) == PPROF_STATUS_OK &&
              read_contents(&payload, &block, out);
  ppi_log_payload_clear(&payload);
  return found;
}

// Whether that many blocks and bytes can hold the claimed events, and fill the
// log's `len` bytes together with the other blocks.
static bool adds_up(const ppi_log_contents *contents, uint64_t len) {
  uint64_t num = contents->num_offsets;
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++) {
    const ppi_log_sums *sums = &contents->sums[i];
    // An event has two times of one byte at least.
    if (sums->stored_bytes > contents->num_bytes ||
        sums->num_blocks > sums->stored_bytes / PPI_LOG_HEADER_SIZE ||
        sums->raw_bytes / PPI_LOG_MAX_RAW > sums->num_blocks ||
        sums->num_events > sums->raw_bytes / 2)
      return false;
    num += sums->num_blocks;
    len += sums->stored_bytes;
  }
  return num == contents->num_blocks && len == contents->num_bytes;
}

// Only a walk over all blocks finds what is missing.
static bool all_there(ppi_log_file *file, const ppi_log_contents *contents) {
  ppi_log_block block;
  uint64_t len = 0;
  for (size_t i = 0; i < contents->num_offsets; i++) {
    if (!ppi_log_file_look(file, contents->offsets[i], &block) || !block.ok)
      return false;
    len += block.size;
  }
  return adds_up(contents, len);
}

bool ppi_log_contents_find(const char *path, ppi_log_contents *out) {
  struct stat stat_;
  ppi_log_file *file;
  if (stat(path, &stat_) != 0 || stat_.st_size < 0 ||
      ppi_log_file_open(path, &file, NULL) != PPROF_STATUS_OK)
    return false;
  uint64_t size = (uint64_t)stat_.st_size;
  ppi_log_file_skim(file);
  // The walk would not pass the file header.
  bool found =
      ppi_log_file_header(file) &&
      ppi_log_file_seek_run(file, size > END_BYTES ? size - END_BYTES : 0, path,
                            NULL) == PPROF_STATUS_OK &&
      find_at_end(file, out) && all_there(file, out);
  ppi_log_file_close(file);
  return found;
}

bool ppi_log_contents_skim(const char *path, ppi_log_file *file,
                           ppi_log_contents *out) {
  ppi_log_file_skim(file);
  if (!ppi_log_contents_find(path, out)) return false;
  ppi_log_file_jump(file, out->offsets, out->num_offsets,
                    PPI_LOG_FILE_HEADER_SIZE + out->num_bytes);
  return true;
}
