// SPDX-License-Identifier: Apache-2.0
//
// Compresses bytes, counts them, and writes them to the file.
#include "file/file_pack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"

// The size of a packed piece; bytes that do not compress take more.
enum {
  PACKED_BYTES = PPI_FILE_PIECE + 4096,
  STORED_HEADER = 5,
  GZIP_LEVEL = 3
};

static void *zlib_alloc(voidpf opaque, uInt items, uInt size) {
  (void)opaque;
  return ppi_alloc((size_t)items * size);
}

static void zlib_free(voidpf opaque, voidpf memory) {
  (void)opaque;
  ppi_free(memory);
}

bool ppi_file_pack_open(ppi_file_pack *pack, bool gzip,
                        ppi_codec_library limit) {
  pack->gzip = gzip;
  if (!gzip) return true;
  pack->packed = ppi_alloc(PACKED_BYTES);
  if (ppi_fast_has_parts(limit)) {
    pack->igzip = ppi_fast_deflater_create(PPI_CODEC_IGZIP, 1);
    return pack->packed && pack->igzip;
  }
  pack->stream.zalloc = zlib_alloc;
  pack->stream.zfree = zlib_free;
  pack->has_stream =
      pack->packed && deflateInit2(&pack->stream, GZIP_LEVEL, Z_DEFLATED,
                                   -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  return pack->has_stream;
}

void ppi_file_pack_clear(ppi_file_pack *pack) {
  if (pack->has_stream) deflateEnd(&pack->stream);
  if (pack->igzip) ppi_fast_deflater_destroy(PPI_CODEC_IGZIP, pack->igzip);
  ppi_free(pack->packed);
  pack->packed = NULL;
  pack->igzip = NULL;
  pack->has_stream = false;
}

// Frees the bytes at once, as the file stays open for a while. A file without
// links has lost its name, perhaps to another file.
static int give_up_room(const ppi_part *part) {
  struct stat now;
  if (ftruncate(part->fd, 0) == 0 && fstat(part->fd, &now) == 0 && now.st_nlink)
    unlink(part->part_path);
  return PPI_FILE_OVER_LIMIT;
}

static int write_all(ppi_file_pack *pack, const void *bytes, size_t len) {
  const char *at = bytes;
  ppi_part *part = pack->part;
  int error = pack->own_table || len == 0 ? 0 : ppi_part_hold(part);
  if (error) return error;
  if (part->part_path && !ppi_disk_grow(pack->disk, part->part_path, len))
    return give_up_room(part);
  int times = 0;
  while (len > 0) {
    ssize_t written = write(part->fd, at, len);
    if (written < 0 && ppi_fd_interrupted(&times)) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += written;
    len -= (size_t)written;
  }
  return 0;
}

// Stores bytes unpacked, as one block of the format. Answers the length.
static size_t store(const unsigned char *bytes, size_t len,
                    unsigned char *out) {
  out[0] = 0;
  for (int i = 0; i < 2; i++) {
    out[1 + i] = (unsigned char)(len >> 8 * i);
    out[3 + i] = (unsigned char)~out[1 + i];
  }
  memcpy(out + STORED_HEADER, bytes, len);
  return len + STORED_HEADER;
}

// Deflates blocks without references to bytes before them, up to a whole byte.
static size_t deflate_part(ppi_file_pack *pack, const unsigned char *bytes,
                           size_t len) {
  if (pack->igzip) {
    size_t packed = ppi_fast_deflate_part(pack->igzip, bytes, len, pack->packed,
                                          PACKED_BYTES);
    return packed ? packed : store(bytes, len, pack->packed);
  }
  deflateReset(&pack->stream);
  pack->stream.next_in = (Bytef *)(uintptr_t)bytes;
  pack->stream.avail_in = (uInt)len;
  pack->stream.next_out = pack->packed;
  pack->stream.avail_out = PACKED_BYTES;
  deflate(&pack->stream, Z_SYNC_FLUSH);
  return PACKED_BYTES - pack->stream.avail_out;
}

static int write_part(ppi_file_pack *pack, const unsigned char *bytes,
                      size_t len) {
  pack->crc = ppi_fast_crc32(pack->crc, bytes, len);
  pack->raw_len += (uint32_t)len;
  return write_all(pack, pack->packed, deflate_part(pack, bytes, len));
}

// Writes an empty last block and the trailer of gzip.
static int write_end(ppi_file_pack *pack) {
  unsigned char end[10] = {3, 0};
  for (int i = 0; i < 4; i++) {
    end[2 + i] = (unsigned char)(pack->crc >> 8 * i);
    end[6 + i] = (unsigned char)(pack->raw_len >> 8 * i);
  }
  return write_all(pack, end, sizeof end);
}

int ppi_file_pack_write(ppi_file_pack *pack, const void *bytes, size_t len,
                        bool last) {
  static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  const unsigned char *at = bytes;
  if (!pack->gzip) return write_all(pack, bytes, len);
  int error = pack->begun ? 0 : write_all(pack, header, sizeof header);
  pack->begun = true;
  for (size_t part; len > 0 && !error; at += part, len -= part) {
    part = PPI_MIN(len, (size_t)PPI_FILE_PIECE);
    error = write_part(pack, at, part);
  }
  return last && !error ? write_end(pack) : error;
}
