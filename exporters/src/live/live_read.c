// SPDX-License-Identifier: Apache-2.0
//
// Reads the table. Numbers of a row may differ by one event, so related numbers
// are computed from one of them.
#include "live/live_read.h"

#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"

static bool read_whole(int fd, void *out, size_t size, off_t at) {
  char *to = out;
  while (size > 0) {
    ssize_t got = pread(fd, to, size, at);
    if (got <= 0) return false;
    to += got;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

#define END_TEXT(text) (text)[sizeof(text) - 1] = 0

static bool check_header(ppi_live_header *header) {
  if (header->magic != PPI_LIVE_MAGIC ||
      header->header_size != sizeof *header ||
      header->row_size != sizeof(ppi_live_row) ||
      header->num_rows > PPI_LIVE_MAX_ROWS ||
      header->num_bounds > PPI_LIVE_MAX_BOUNDS ||
      header->num_devices > PPI_LIVE_MAX_DEVICES ||
      header->num_counters > PPI_LIVE_MAX_COUNTERS ||
      header->num_open > PPI_LIVE_MAX_OPEN)
    return false;
  END_TEXT(header->host);
  END_TEXT(header->version);
  END_TEXT(header->uuid);
  for (size_t i = 0; i < PPI_LIVE_MAX_DEVICES; i++)
    END_TEXT(header->devices[i].name);
  for (size_t i = 0; i < PPI_LIVE_MAX_COUNTERS; i++)
    END_TEXT(header->counters[i].name);
  for (size_t i = 0; i < PPI_LIVE_MAX_OPEN; i++) {
    END_TEXT(header->open[i].thread);
    if (header->open[i].row > header->num_rows) header->open[i].row = 0;
  }
  return true;
}

bool ppi_live_read(int fd, ppi_live_view *out) {
  *out = (ppi_live_view){.num_rows = 0};
  ppi_live_header *header = &out->header;
  if (!read_whole(fd, header, sizeof *header, 0) || !check_header(header))
    return false;
  size_t size = header->num_rows * sizeof *out->rows;
  if (size == 0) return true;
  out->rows = ppi_alloc(size);
  if (!out->rows ||
      !read_whole(fd, out->rows, size, (off_t)offsetof(ppi_live_table, rows)))
    return false;
  out->num_rows = header->num_rows;
  for (size_t i = 0; i < out->num_rows; i++) {
    END_TEXT(out->rows[i].name);
    END_TEXT(out->rows[i].category);
  }
  return true;
}

void ppi_live_view_clear(ppi_live_view *view) {
  ppi_free(view->rows);
  *view = (ppi_live_view){.num_rows = 0};
}

// The middle of the bucket at `rank`, or the maximum if that is less.
static uint64_t at_rank(const ppi_live_row *before, const ppi_live_row *now,
                        uint64_t rank) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < PPI_LIVE_NUM_FINE; i++) {
    seen += (uint32_t)(now->fine[i] - (before ? before->fine[i] : 0));
    if (seen >= rank) return PPI_MIN(ppi_live_middle_of(i), now->max_ns);
  }
  return 0;
}

void ppi_live_changed(const ppi_live_view *before, const ppi_live_view *now,
                      size_t row, ppi_live_change *out) {
  const ppi_live_row *is = &now->rows[row];
  const ppi_live_row *was =
      before && row < before->num_rows ? &before->rows[row] : NULL;
  *out = (ppi_live_change){.sum_ns = is->sum_ns - (was ? was->sum_ns : 0)};
  for (uint32_t i = 0; i < PPI_LIVE_NUM_FINE; i++)
    out->num += (uint32_t)(is->fine[i] - (was ? was->fine[i] : 0));
  if (!out->num) return;
  out->p50_ns = at_rank(was, is, ppi_rank_of(out->num, 50 * PPI_RANK_PERCENT));
  out->p99_ns = at_rank(was, is, ppi_rank_of(out->num, 99 * PPI_RANK_PERCENT));
}
