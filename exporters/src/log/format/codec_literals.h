// SPDX-License-Identifier: Apache-2.0
//
// The zlib format for bytes that hardly repeat: literals only, with codes of
// their own for each part. Nothing is searched for, so it takes a fraction of
// what any library does: zlib's own Z_HUFFMAN_ONLY with a Z_BLOCK behind each
// part takes four times as long and is 0.4 % smaller (docs/performance.md).
#pragma once

#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Compresses the `num_parts` parts that `bytes` consists of, one behind the
// other, with the lengths `lens`. Answers the length, or 0 when that and eight
// bytes more are not within `room`.
size_t ppi_literals_deflate(const void *bytes, const size_t *lens,
                            size_t num_parts, void *out, size_t room);

PPROF_END_C_
