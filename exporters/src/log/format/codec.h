// SPDX-License-Identifier: Apache-2.0
//
// Compression of block payloads. A codec number in the log names the format,
// not the library: any library that writes the zlib format may stand behind
// ZLIB.
#pragma once

#include "file/codec_fast.h"

PPROF_BEGIN_C_

typedef enum ppi_codec_id {
  PPI_CODEC_RAW = 0,
  PPI_CODEC_ZLIB = 1
} ppi_codec_id;

typedef struct ppi_codec ppi_codec;  // one thread at a time

// `level` as zlib's 0..9; igzip has its own, near 1.
pprof_status ppi_codec_create(int level, ppi_codec **out);
void ppi_codec_destroy(ppi_codec *codec);
// The library with which new codecs write: the fastest one present.
const char *ppi_codec_writer(void);
// For tests and benchmarks: new codecs use nothing faster.
void ppi_codec_limit(ppi_codec_library limit);

// Compresses into `out`, which has room for `len` bytes. If compression saves
// nothing, it answers RAW, with the bytes copied and *out_len = len.
ppi_codec_id ppi_codec_deflate(ppi_codec *codec, const void *bytes, size_t len,
                               void *out, size_t *out_len);
// The same for parts of `lens` bytes each that hardly repeat and differ from
// each other: faster with any library.
ppi_codec_id ppi_codec_deflate_parts(ppi_codec *codec, const void *bytes,
                                     const size_t *lens, size_t num_parts,
                                     void *out, size_t *out_len);
// Inflates to exactly raw_len bytes. CORRUPT: fewer or more; UNSUPPORTED: an
// unknown codec.
pprof_status ppi_codec_inflate(ppi_codec *codec, unsigned id, const void *bytes,
                               size_t len, void *out, size_t raw_len);

PPROF_END_C_
