// SPDX-License-Identifier: Apache-2.0
//
// The hash of names in a session's table and in a thread's cache. Inline: a
// marker with a new text at its address computes it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ppi_hash_load(const char *at, size_t size) {
  uint64_t word = 0;
  memcpy(&word, at, size);
  return word;
}

// Up to eight bytes; no call, whatever their number.
static inline uint64_t ppi_hash_rest(const char *at, size_t left) {
  if (left == 8) return ppi_hash_load(at, 8);
  if (left >= 4)
    return ppi_hash_load(at, 4) << 32 | ppi_hash_load(at + left - 4, 4);
  if (left == 0) return 0;
  return ppi_hash_load(at, 1) << 16 | ppi_hash_load(at + left / 2, 1) << 8 |
         ppi_hash_load(at + left - 1, 1);
}

// Every bit of the factors reaches every bit of the result.
static inline uint64_t ppi_hash_fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Hashes the whole name, sixteen bytes at a time, as in wyhash.
static inline uint64_t ppi_names_hash(const char *name, size_t name_len,
                                      uint32_t category) {
  const uint64_t key = 0x9fb21c651e98df25u;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ category;
  size_t left = name_len;
  for (; left > 16; name += 16, left -= 16)
    hash = ppi_hash_fold(ppi_hash_load(name, 8) ^ key,
                         ppi_hash_load(name + 8, 8) ^ hash);
  if (left > 8)
    hash = ppi_hash_fold(ppi_hash_load(name, 8) ^ key,
                         ppi_hash_load(name + left - 8, 8) ^ hash);
  else
    hash = ppi_hash_fold(ppi_hash_rest(name, left) ^ key, hash);
  return ppi_hash_fold(hash, key ^ name_len);
}
