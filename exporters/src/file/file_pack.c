// SPDX-License-Identifier: Apache-2.0
#include "file/file_pack.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { PACKED_BYTES = 65536, GZIP_LEVEL = 3, GZIP_WINDOW = 15 + 16 };

static void *zlib_alloc(voidpf opaque, uInt items, uInt size) {
  (void)opaque;
  return ppi_alloc((size_t)items * size);
}

static void zlib_free(voidpf opaque, voidpf memory) {
  (void)opaque;
  ppi_free(memory);
}

bool ppi_file_pack_open(ppi_file_pack *pack, bool gzip) {
  if (!gzip) return true;
  pack->packed = ppi_alloc(PACKED_BYTES);
  pack->stream.zalloc = zlib_alloc;
  pack->stream.zfree = zlib_free;
  pack->gzip =
      pack->packed && deflateInit2(&pack->stream, GZIP_LEVEL, Z_DEFLATED,
                                   GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  return pack->gzip;
}

void ppi_file_pack_clear(ppi_file_pack *pack) {
  if (pack->gzip) deflateEnd(&pack->stream);
  ppi_free(pack->packed);
  pack->packed = NULL;
  pack->gzip = false;
}

// Room for others at once: the file is open for a while. Its name may be
// another's, once it has lost it.
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
  while (len > 0) {
    ssize_t written = write(part->fd, at, len);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += written;
    len -= (size_t)written;
  }
  return 0;
}

int ppi_file_pack_write(ppi_file_pack *pack, const void *bytes, size_t len,
                        bool last) {
  if (!pack->gzip) return write_all(pack, bytes, len);
  int error = 0;
  pack->stream.next_in = (Bytef *)(uintptr_t)bytes;
  pack->stream.avail_in = (uInt)len;
  do {
    pack->stream.next_out = pack->packed;
    pack->stream.avail_out = PACKED_BYTES;
    deflate(&pack->stream, last ? Z_FINISH : Z_NO_FLUSH);
    error = write_all(pack, pack->packed,
                      (size_t)PACKED_BYTES - pack->stream.avail_out);
  } while (!error && pack->stream.avail_out == 0);
  return error;
}
