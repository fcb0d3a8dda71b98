// SPDX-License-Identifier: Apache-2.0
//
// Reads a spool's bytes into the reader's own memory. Its file is never mapped
// only to read it: a process that may write to it could cut it under the
// mapping, or change checked bytes before their use.
#pragma once

#include "spool/spool.h"

// ppi_read_at fills `out`; false: the file ends before, or cannot be read.
bool ppi_read_at(int fd, void *out, uint64_t size, uint64_t offset);
// The same into zeroed memory, which stays untouched where the file has holes,
// as unused parts of a spool are.
bool ppi_read_sparse(int fd, void *out, uint64_t size, uint64_t offset);

// ppi_spool_fill does so with a part of spool->base, from spool->fd. Fill each
// part once, before anything in it is read.
bool ppi_spool_fill(const ppi_spool *spool, uint64_t offset, uint64_t size);
