// SPDX-License-Identifier: Apache-2.0
//
// Hashes bytes, for tables and for the identity of a file. An attacker can make
// collisions; tables therefore compare the keys, too.
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint64_t ppi_hash_mix(uint64_t hash, uint64_t word) {
  unsigned __int128 product =
      (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint64_t)product ^ (uint64_t)(product >> 64) ^ word;
}

static inline uint64_t ppi_hash_bytes(uint64_t hash, const void *bytes,
                                      size_t len) {
  const unsigned char *at = (const unsigned char *)bytes;
  uint64_t word;
  hash = ppi_hash_mix(hash, len + UINT64_C(0x51ed270b));
  for (; len >= sizeof word; at += sizeof word, len -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = ppi_hash_mix(hash, word);
  }
  word = 0;
  memcpy(&word, at, len);
  return ppi_hash_mix(hash, word);
}

// ppi_hash_more adds a block to two independent hashes. Their multiplications
// overlap, so two hashes take hardly longer than one.
static inline void ppi_hash_more(uint64_t hash[2], const void *bytes,
                                 size_t len) {
  const unsigned char *at = (const unsigned char *)bytes;
  uint64_t words[2], a = ppi_hash_mix(hash[0], len), b = ~hash[1];
  for (; len >= sizeof words; at += sizeof words, len -= sizeof words) {
    memcpy(words, at, sizeof words);
    a = ppi_hash_mix(a, words[0]);
    b = ppi_hash_mix(b, words[1]);
  }
  hash[0] = ppi_hash_bytes(a ^ (b << 32 | b >> 32), at, len);
  hash[1] = ppi_hash_bytes(b ^ ~a, at, len);
}
