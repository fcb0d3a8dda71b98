// SPDX-License-Identifier: Apache-2.0
//
// Writes deflate (RFC 1951) without matches: for each part a block with dynamic
// codes, made from the part's own counts.
#include "log/format/codec_literals.h"

#include <string.h>

#include "file/buffer.h"
#include "file/codec_fast.h"

enum {
  END_OF_BLOCK = 256,
  NUM_LITERALS = 257,
  NUM_DISTANCES = 2,  // unused; two of one bit each make a complete code
  NUM_LENGTHS = NUM_LITERALS + NUM_DISTANCES,
  // A word holds four codes and the rest of a byte.
  MAX_LITERAL_BITS = 14,
  NUM_META = 19,  // symbols for the lengths of codes
  MAX_META_BITS = 7,
  REPEAT_LAST = 16,
  REPEAT_ZERO = 17,
  REPEAT_ZERO_LONG = 18
};

// ---- codes ----

typedef struct code {
  uint16_t bits;  // as they are written, the first one lowest
  uint16_t len;
} code;

// By count, the least first; equal ones by symbol.
static size_t sort_used(const uint32_t *counts, size_t num, uint32_t *sorted) {
  uint32_t by_low[NUM_LITERALS], places[2][256] = {{0}};
  size_t used = 0;
  for (uint32_t i = 0; i < num; i++) {
    if (!counts[i]) continue;
    // A part has at most 64 KiB.
    places[0][counts[i] & 255]++;
    places[1][counts[i] >> 8 & 255]++;
    sorted[used++] = i;
  }
  for (int byte = 0; byte < 2; byte++)
    for (uint32_t i = 0, before = 0; i < 256; i++) {
      uint32_t here = places[byte][i];
      places[byte][i] = before;
      before += here;
    }
  for (size_t i = 0; i < used; i++)
    by_low[places[0][counts[sorted[i]] & 255]++] = sorted[i];
  for (size_t i = 0; i < used; i++)
    sorted[places[1][counts[by_low[i]] >> 8 & 255]++] = by_low[i];
  return used;
}

// The number of codes of each length, for `used` > 1 counts in ascending order:
// joins the two least until one is left.
static void count_lengths(const uint32_t *counts, const uint32_t *sorted,
                          size_t used, unsigned limit, uint32_t *num_of) {
  uint32_t weights[2 * NUM_LITERALS];
  uint16_t parents[2 * NUM_LITERALS], depths[2 * NUM_LITERALS];
  for (size_t i = 0; i < used; i++) weights[i] = counts[sorted[i]];
  size_t leaf = 0, joined = used, root = 2 * used - 2;
  for (size_t next = used; next <= root; next++) {
    weights[next] = 0;
    for (int i = 0; i < 2; i++) {
      bool takes_leaf =
          leaf < used && (joined >= next || weights[leaf] <= weights[joined]);
      size_t least = takes_leaf ? leaf++ : joined++;
      weights[next] += weights[least];
      parents[least] = (uint16_t)next;
    }
  }
  depths[root] = 0;
  for (size_t i = root; i-- > 0;) {
    depths[i] = (uint16_t)(depths[parents[i]] + 1);
    if (i < used) num_of[depths[i] < limit ? depths[i] : limit]++;
  }
}

// Codes cut to the limit need more than the code space. Shorter codes get
// longer, one step at a time, until all fit.
static void fit_lengths(unsigned limit, uint32_t *num_of) {
  uint32_t taken = 0;
  for (unsigned len = 1; len <= limit; len++)
    taken += num_of[len] << (limit - len);
  for (; taken > 1u << limit; taken--) {
    unsigned len = limit - 1;
    while (num_of[len] == 0) len--;
    num_of[len]--;
    num_of[len + 1] += 2;
    num_of[limit]--;
  }
}

static uint16_t reverse(uint32_t bits, unsigned len) {
  bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
  bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
  bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
  bits = (bits & 0x00ff) << 8 | (bits >> 8 & 0x00ff);
  return (uint16_t)(bits >> (16 - len));
}

// The numbers of a length ascend with the symbol, and with the length.
static void number_codes(const uint32_t *num_of, unsigned limit, size_t num,
                         code *codes) {
  uint32_t next[MAX_LITERAL_BITS + 1] = {0};
  for (unsigned len = 2; len <= limit; len++)
    next[len] = (next[len - 1] + num_of[len - 1]) << 1;
  for (size_t i = 0; i < num; i++)
    if (codes[i].len)
      codes[i].bits = reverse(next[codes[i].len]++, codes[i].len);
}

// At least two symbols are used, so that codes are complete: a byte and the end
// of the block. Their code lengths take two values at least: neither 1 nor 257
// codes of one length are complete.
static void make_codes(const uint32_t *counts, size_t num, unsigned limit,
                       code *codes) {
  uint32_t sorted[NUM_LITERALS], num_of[MAX_LITERAL_BITS + 1] = {0};
  memset(codes, 0, num * sizeof *codes);
  size_t used = sort_used(counts, num, sorted);
  count_lengths(counts, sorted, used, limit, num_of);
  fit_lengths(limit, num_of);
  size_t at = 0;
  for (unsigned len = limit; len > 0; len--)
    for (uint32_t i = 0; i < num_of[len]; i++)
      codes[sorted[at++]].len = (uint16_t)len;
  number_codes(num_of, limit, num, codes);
}

static uint64_t bits_of(const uint32_t *counts, const code *codes, size_t num) {
  uint64_t bits = 0;
  for (size_t i = 0; i < num; i++) bits += (uint64_t)counts[i] * codes[i].len;
  return bits;
}

// ---- the lengths of codes, which a block begins with ----

typedef struct meta {
  uint8_t symbol, extra;
} meta;

static const uint8_t extra_bits[NUM_META] = {
    [REPEAT_LAST] = 2, [REPEAT_ZERO] = 3, [REPEAT_ZERO_LONG] = 7};

static size_t add_run(meta *out, uint8_t len, size_t run) {
  size_t num = 0;
  while (len == 0 && run >= 11) {
    size_t times = run < 138 ? run : 138;
    out[num++] = (meta){REPEAT_ZERO_LONG, (uint8_t)(times - 11)};
    run -= times;
  }
  if (len == 0 && run >= 3) {
    out[num++] = (meta){REPEAT_ZERO, (uint8_t)(run - 3)};
    run = 0;
  }
  if (len != 0) {
    out[num++] = (meta){len, 0};
    run--;
  }
  while (len != 0 && run >= 3) {
    size_t times = run < 6 ? run : 6;
    out[num++] = (meta){REPEAT_LAST, (uint8_t)(times - 3)};
    run -= times;
  }
  while (run-- > 0) out[num++] = (meta){len, 0};
  return num;
}

static size_t describe(const code *literals, meta *out) {
  size_t num = 0;
  for (size_t i = 0; i < NUM_LITERALS;) {
    size_t from = i;
    while (i < NUM_LITERALS && literals[i].len == literals[from].len) i++;
    num += add_run(out + num, (uint8_t)literals[from].len, i - from);
  }
  return num + add_run(out + num, 1, NUM_DISTANCES);
}

// ---- writing ----

typedef struct bit_writer {
  uint8_t *at;
  uint64_t bits;
  unsigned num;  // of those bits, below 8 between two calls
} bit_writer;

static void put_bits(bit_writer *writer, uint64_t bits, unsigned num) {
  writer->bits |= bits << writer->num;
  writer->num += num;
  ppi_store64(writer->at, writer->bits);
  writer->at += writer->num >> 3;
  writer->bits >>= writer->num & ~7u;
  writer->num &= 7;
}

static const uint8_t meta_order[NUM_META] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15};

static size_t num_reported(const code *codes) {
  size_t num = NUM_META;
  while (num > 4 && codes[meta_order[num - 1]].len == 0) num--;
  return num;
}

static void put_head(bit_writer *writer, bool last, const code *codes,
                     const meta *metas, size_t num) {
  size_t reported = num_reported(codes);
  put_bits(writer, last, 1);
  put_bits(writer, 2, 2);
  put_bits(writer, NUM_LITERALS - 257, 5);
  put_bits(writer, NUM_DISTANCES - 1, 5);
  put_bits(writer, reported - 4, 4);
  for (size_t i = 0; i < reported; i++)
    put_bits(writer, codes[meta_order[i]].len, 3);
  for (size_t i = 0; i < num; i++) {
    const code *used = &codes[metas[i].symbol];
    put_bits(writer, used->bits, used->len);
    put_bits(writer, metas[i].extra, extra_bits[metas[i].symbol]);
  }
}

// Joins two codes at a time, and stores four: each one waits for the position
// after the previous one.
static void put_literals(bit_writer *writer, const uint8_t *bytes, size_t len,
                         const code *codes) {
  bit_writer to = *writer;
  const uint8_t *end = bytes + len, *fours = bytes + (len & ~(size_t)3);
  for (; bytes < fours; bytes += 4) {
    code a = codes[bytes[0]], b = codes[bytes[1]];
    code c = codes[bytes[2]], d = codes[bytes[3]];
    uint64_t first = a.bits | (uint64_t)b.bits << a.len;
    uint64_t second = c.bits | (uint64_t)d.bits << c.len;
    unsigned first_len = (unsigned)a.len + b.len;
    first |= second << first_len;
    put_bits(&to, first, first_len + c.len + d.len);
  }
  for (; bytes < end; bytes++)
    put_bits(&to, codes[*bytes].bits, codes[*bytes].len);
  put_bits(&to, codes[END_OF_BLOCK].bits, codes[END_OF_BLOCK].len);
  *writer = to;
}

// Four tables, because neighbours are often equal, and one counter would wait
// for its own last value.
static void count_bytes(const uint8_t *bytes, size_t len, uint32_t *counts) {
  uint32_t tables[4][256] = {{0}};
  const uint8_t *end = bytes + len, *fours = bytes + (len & ~(size_t)3);
  for (; bytes < fours; bytes += 4)
    for (int i = 0; i < 4; i++) tables[i][bytes[i]]++;
  for (; bytes < end; bytes++) tables[0][*bytes]++;
  for (int i = 0; i < 256; i++)
    counts[i] = tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
  counts[END_OF_BLOCK] = 1;
}

static bool put_part(bit_writer *writer, const uint8_t *bytes, size_t len,
                     bool last, const uint8_t *end) {
  uint32_t counts[NUM_LITERALS], meta_counts[NUM_META] = {0};
  code literals[NUM_LITERALS], codes[NUM_META];
  meta metas[NUM_LENGTHS];
  count_bytes(bytes, len, counts);
  make_codes(counts, NUM_LITERALS, MAX_LITERAL_BITS, literals);
  size_t num = describe(literals, metas);
  uint64_t bits = 17 + 3 * NUM_META + bits_of(counts, literals, NUM_LITERALS);
  for (size_t i = 0; i < num; i++) {
    meta_counts[metas[i].symbol]++;
    bits += extra_bits[metas[i].symbol];
  }
  make_codes(meta_counts, NUM_META, MAX_META_BITS, codes);
  bits += bits_of(meta_counts, codes, NUM_META);
  // Room for the checksum, a started byte, and the excess bytes of a store.
  if (bits / 8 + 4 + 2 + 8 > (size_t)(end - writer->at)) return false;
  put_head(writer, last, codes, metas, num);
  put_literals(writer, bytes, len, literals);
  return true;
}

size_t ppi_literals_deflate(const void *bytes, const size_t *lens,
                            size_t num_parts, void *out, size_t room) {
  // A window of 32 KiB, the fastest way.
  static const uint8_t head[2] = {0x78, 0x01};
  const uint8_t *at = bytes, *end = (uint8_t *)out + room;
  bit_writer writer = {(uint8_t *)out + sizeof head, 0, 0};
  while (num_parts > 0 && lens[num_parts - 1] == 0) num_parts--;
  if (num_parts == 0 || room < sizeof head) return 0;
  memcpy(out, head, sizeof head);
  for (size_t i = 0; i < num_parts; at += lens[i++])
    if (lens[i] > 0 && !put_part(&writer, at, lens[i], i + 1 == num_parts, end))
      return 0;
  if (writer.num > 0) *writer.at++ = (uint8_t)writer.bits;
  uint32_t sum = ppi_fast_adler32(1, bytes, (size_t)(at - (uint8_t *)bytes));
  for (int i = 3; i >= 0; i--) *writer.at++ = (uint8_t)(sum >> 8 * i);
  return (size_t)(writer.at - (uint8_t *)out);
}
