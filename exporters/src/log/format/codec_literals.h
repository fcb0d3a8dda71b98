// SPDX-License-Identifier: Apache-2.0
//
// The zlib format for bytes that hardly repeat: literals only, with separate
// codes for each part. Without a search for matches it takes a fraction of any
// library's time. zlib's Z_HUFFMAN_ONLY with a Z_BLOCK after each part takes
// four times as long and is 0.4 % smaller (docs/performance.md).
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// Compresses the `num_parts` parts of `bytes`, which follow each other with the
// lengths `lens`. Answers the length, or 0 if that and eight more bytes exceed
// `room`.
size_t ppi_literals_deflate(const void *bytes, const size_t *lens,
                            size_t num_parts, void *out, size_t room);

PPROF_END_C_
