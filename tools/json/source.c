// SPDX-License-Identifier: Apache-2.0
//
// Reads a file block by block, and inflates it if it is gzip: by igzip, and
// where that finds damage once more by zlib, which answers every byte in front
// of it.
#include "json/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "file/codec_fast.h"
#include "json/hash.h"
#include "json/json.h"

static size_t read_block(ppi_source *source, void *into) {
  size_t len = 0;
  while (len < PPI_SOURCE_BLOCK) {
    ssize_t got = read(source->fd, (char *)into + len, PPI_SOURCE_BLOCK - len);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) source->error_number = errno;
    if (got <= 0) break;
    len += (size_t)got;
  }
  source->num_read += len;
  return len;
}

pprof_status ppi_source_open(ppi_source *source, const char *path,
                             pprof_error *error) {
  memset(source, 0, sizeof *source);
  source->fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat stat;
  if (source->fd < 0 || fstat(source->fd, &stat) != 0)
    return ppi_fail(error, PPROF_STATUS_IO, "cannot read %s: %s", path,
                    strerror(errno));
  if (S_ISDIR(stat.st_mode))
    return ppi_fail(error, PPROF_STATUS_IO, "cannot read %s: it is a folder",
                    path);
  source->size = stat.st_size > 0 ? (uint64_t)stat.st_size : 0;
  source->in = ppi_alloc(PPI_SOURCE_BLOCK);
  source->out = ppi_alloc(PPI_SOURCE_BLOCK + PPI_JSON_SLACK);
  if (!source->in || !source->out)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  return PPROF_STATUS_OK;
}

// The first block decides whether the file is gzip.
static void begin(ppi_source *source) {
  source->begun = true;
  source->stream.next_in = source->in;
  source->stream.avail_in = (uInt)read_block(source, source->in);
  source->is_gzip = source->stream.avail_in >= 2 && source->in[0] == 0x1f &&
                    source->in[1] == 0x8b;
  if (!source->is_gzip) return;
  source->gunzip = ppi_fast_gunzip_create();
  if (!source->gunzip && inflateInit2(&source->stream, 15 + 16) != Z_OK)
    source->damaged = source->at_end = true;
}

// Skips the zeroes that pad a member, and checks for the head of the next one.
static void next_member(ppi_source *source) {
  z_stream *stream = &source->stream;
  for (;;) {
    while (stream->avail_in > 0 && *stream->next_in == 0) {
      stream->next_in++;
      stream->avail_in--;
    }
    if (stream->avail_in > 0) break;
    stream->next_in = source->in;
    stream->avail_in = (uInt)read_block(source, source->in);
    if (stream->avail_in == 0) {
      source->at_end = true;
      return;
    }
  }
  if (source->gunzip)
    ppi_fast_gunzip_reset(source->gunzip);
  else
    inflateReset(stream);
}

static size_t inflate_block(ppi_source *source) {
  z_stream *stream = &source->stream;
  stream->next_out = source->out;
  stream->avail_out = PPI_SOURCE_BLOCK;
  while (stream->avail_out > 0 && !source->at_end) {
    if (stream->avail_in == 0) {
      stream->next_in = source->in;
      stream->avail_in = (uInt)read_block(source, source->in);
    }
    int answer = source->gunzip ? ppi_fast_gunzip(source->gunzip, stream)
                                : inflate(stream, Z_NO_FLUSH);
    if (answer == Z_STREAM_END)
      next_member(source);
    else if (answer != Z_OK)
      source->damaged = source->at_end = true;
  }
  return PPI_SOURCE_BLOCK - stream->avail_out;
}

size_t ppi_source_next(ppi_source *source, const char **out) {
  size_t len = 0;
  if (!source->begun) begin(source);
  if (source->is_gzip) {
    len = source->at_end ? 0 : inflate_block(source);
  } else if (source->stream.avail_in > 0) {
    len = source->stream.avail_in;
    source->stream.avail_in = 0;
    memcpy(source->out, source->in, len);
  } else {
    len = read_block(source, source->out);
  }
  memset(source->out + len, 0, PPI_JSON_SLACK);
  *out = (const char *)source->out;
  source->num_out += len;
  ppi_hash_more(source->hash, source->out, len);
  return len;
}

void ppi_source_close(ppi_source *source) {
  if (source->is_gzip && !source->gunzip) inflateEnd(&source->stream);
  ppi_fast_gunzip_destroy(source->gunzip);
  if (source->fd >= 0) close(source->fd);
  ppi_free(source->in);
  ppi_free(source->out);
  memset(source, 0, sizeof *source);
  source->fd = -1;
}
