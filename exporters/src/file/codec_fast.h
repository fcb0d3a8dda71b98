// SPDX-License-Identifier: Apache-2.0
//
// Faster libraries for the format of zlib: ISA-L's igzip and libdeflate. They
// are loaded once, at run time. Neither building the SDK nor using it needs
// them.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// Libraries that write and read the zlib format, the slowest first.
typedef enum ppi_codec_library {
  PPI_CODEC_ZLIB_ONLY,
  PPI_CODEC_LIBDEFLATE,
  PPI_CODEC_IGZIP  // of ISA-L; writes zlib's format, reads gzip's
} ppi_codec_library;

// The fastest library that this machine has and `limit` allows.
ppi_codec_library ppi_fast_deflating(ppi_codec_library limit);
ppi_codec_library ppi_fast_inflating(ppi_codec_library limit);

// State of the library, which must not be zlib; NULL: no memory.
void *ppi_fast_deflater_create(ppi_codec_library library, int level);
void ppi_fast_deflater_destroy(ppi_codec_library library, void *deflater);
// Answers the length, or 0 when it is more than `room`.
size_t ppi_fast_deflate(ppi_codec_library library, void *deflater,
                        const void *bytes, size_t len, void *out, size_t room);

// True: igzip is there, and `limit` allows it for parts of a raw stream.
bool ppi_fast_has_parts(ppi_codec_library limit);
// Deflates with the state of an igzip: blocks up to a whole byte, none of them
// the stream's last. Answers the length, or 0 when it is more than `room`.
size_t ppi_fast_deflate_part(void *deflater, const void *bytes, size_t len,
                             void *out, size_t room);

// zlib's checksums, by the fastest library here. `before` is the checksum of
// the bytes in front; at the start 0 for CRC-32, 1 for Adler-32.
uint32_t ppi_fast_crc32(uint32_t before, const void *bytes, size_t len);
uint32_t ppi_fast_adler32(uint32_t before, const void *bytes, size_t len);

// Inflates gzip piece by piece by igzip, as zlib's inflate does, with the same
// answers. NULL: igzip is missing, or there is no memory.
struct z_stream_s;
void *ppi_fast_gunzip_create(void);
void ppi_fast_gunzip_destroy(void *gunzip);
int ppi_fast_gunzip(void *gunzip, struct z_stream_s *stream);
// Begins the next member.
void ppi_fast_gunzip_reset(void *gunzip);

// Inflaters of libdeflate.
void *ppi_fast_inflater_create(void);
void ppi_fast_inflater_destroy(void *inflater);
// True when the `len` bytes are one whole stream of exactly `raw_len`.
bool ppi_fast_inflate(void *inflater, const void *bytes, size_t len, void *out,
                      size_t raw_len);

PPROF_END_C_
