// SPDX-License-Identifier: Apache-2.0
//
// Faster makers and readers of what zlib writes and reads: ISA-L's igzip and
// libdeflate. They are looked for where the program runs, once, so that nothing
// has to be there to build the SDK or to use it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// What writes and reads the zlib format, the slowest first.
typedef enum ppi_codec_library {
  PPI_CODEC_ZLIB_ONLY,
  PPI_CODEC_LIBDEFLATE,
  PPI_CODEC_IGZIP  // of ISA-L; writes only
} ppi_codec_library;

// The fastest of what this machine has and `limit` allows, for either way.
ppi_codec_library ppi_fast_deflating(ppi_codec_library limit);
ppi_codec_library ppi_fast_inflating(ppi_codec_library limit);

// State of the library, which must not be zlib; NULL: no memory.
void *ppi_fast_deflater_create(ppi_codec_library library, int level);
void ppi_fast_deflater_destroy(ppi_codec_library library, void *deflater);
// Answers the length, or 0 when it is more than `room`.
size_t ppi_fast_deflate(ppi_codec_library library, void *deflater,
                        const void *bytes, size_t len, void *out, size_t room);

// Whether igzip is there and may be used for parts of a raw stream.
bool ppi_fast_has_parts(ppi_codec_library limit);
// Deflated, with the state of an igzip: blocks up to a whole byte, none of
// which is the stream's last. Answers the length, or 0 when it is more than
// `room`.
size_t ppi_fast_deflate_part(void *deflater, const void *bytes, size_t len,
                             void *out, size_t room);

// zlib's checksums, by whatever is fastest here. They go on from that of what
// came before; where nothing did, that is 0 and 1.
uint32_t ppi_fast_crc32(uint32_t before, const void *bytes, size_t len);
uint32_t ppi_fast_adler32(uint32_t before, const void *bytes, size_t len);

// Those of libdeflate.
void *ppi_fast_inflater_create(void);
void ppi_fast_inflater_destroy(void *inflater);
// True when the `len` bytes are one whole stream of exactly `raw_len`.
bool ppi_fast_inflate(void *inflater, const void *bytes, size_t len, void *out,
                      size_t raw_len);

PPROF_END_C_
