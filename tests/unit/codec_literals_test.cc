// SPDX-License-Identifier: Apache-2.0
//
// Literals with codes of their own for each part: whatever reads the zlib
// format reads them, and nothing is written beyond its room.
#include "log/format/codec_literals.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "log/format/codec.h"

namespace {

using Parts = std::vector<std::string>;

std::string Deflate(const Parts &parts, size_t room) {
  std::string bytes, out(room + 8, '#');
  std::vector<size_t> lens;
  for (const std::string &part : parts) {
    bytes += part;
    lens.push_back(part.size());
  }
  size_t len = ppi_literals_deflate(bytes.data(), lens.data(), lens.size(),
                                    &out[0], room);
  EXPECT_LE(len, room);
  EXPECT_EQ(out.substr(room), std::string(8, '#'));
  return out.substr(0, len);
}

// Room for anything: each part's codes are told in less than 200 bytes.
std::string Deflate(const Parts &parts) {
  size_t room = 64;
  for (const std::string &part : parts) room += 2 * part.size() + 200;
  return Deflate(parts, room);
}

void ExpectReadable(const Parts &parts) {
  std::string bytes, stored = Deflate(parts);
  for (const std::string &part : parts) bytes += part;
  ASSERT_FALSE(stored.empty());
  std::string back(bytes.size(), 0);
  uLongf len = back.size();
  ASSERT_EQ(
      uncompress(reinterpret_cast<Bytef *>(&back[0]), &len,
                 reinterpret_cast<const Bytef *>(stored.data()), stored.size()),
      Z_OK);
  EXPECT_EQ(len, bytes.size());
  EXPECT_TRUE(back == bytes);
  for (ppi_codec_library library :
       {PPI_CODEC_ZLIB_ONLY, PPI_CODEC_LIBDEFLATE}) {
    ppi_codec *codec;
    ppi_codec_limit(library);
    ASSERT_EQ(ppi_codec_create(1, &codec), PPROF_STATUS_OK);
    back.assign(bytes.size(), 0);
    EXPECT_EQ(ppi_codec_inflate(codec, PPI_CODEC_ZLIB, stored.data(),
                                stored.size(), &back[0], back.size()),
              PPROF_STATUS_OK);
    EXPECT_TRUE(back == bytes);
    ppi_codec_destroy(codec);
  }
  ppi_codec_limit(PPI_CODEC_IGZIP);
}

// `num` of the values below `most`, the less the rarer the steeper it is.
std::string Draw(std::mt19937 *random, size_t num, unsigned most,
                 double steep) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::string bytes;
  for (size_t i = 0; i < num; i++)
    bytes += static_cast<char>(
        static_cast<unsigned>(std::pow(unit(*random), steep) * most));
  return bytes;
}

TEST(LiteralsTest, AnyBytesComeBack) {
  std::mt19937 random(1);
  for (unsigned most : {1, 2, 3, 17, 128, 256})
    for (double steep : {1.0, 4.0, 30.0})
      for (size_t num : {1, 2, 3, 4, 5, 100, 4097, 65535})
        ExpectReadable({Draw(&random, num, most, steep)});
}

TEST(LiteralsTest, PartsHaveTheirOwnCodes) {
  std::mt19937 random(2);
  std::string low = Draw(&random, 8000, 16, 1);
  std::string high = Draw(&random, 8000, 16, 1);
  for (char &c : high) c = static_cast<char>(c + 100);
  ExpectReadable({low, high, "", "x", low});
  // Four bits each, and not five.
  EXPECT_LT(Deflate({low, high}).size(), 8200u);
  EXPECT_GT(Deflate({low + high}).size(), 9900u);
}

// 16384 of one byte, half as many of the next: one bit, two bits, three ...
TEST(LiteralsTest, TheMostHaveTheFewestBits) {
  std::string bytes;
  size_t bits = 0;
  for (size_t len = 1, count = 16384; count > 0; count /= 2, len++) {
    bytes.insert(len % 2 ? bytes.size() : 0, count,
                 static_cast<char>(40 - len));
    bits += count * len;
  }
  ExpectReadable({bytes});
  EXPECT_LT(Deflate({bytes}).size(), bits / 8 + 60);
}

// Counts of which each is the sum of the two before it make codes as long as
// there are counts: they are cut, in the literals and in what tells of them.
TEST(LiteralsTest, LongCodesAreCut) {
  std::string bytes;
  for (size_t i = 0, count = 1, before = 1; i < 21; i++) {
    bytes.append(count, static_cast<char>(11 * i));
    count += before;
    before = count - before;
  }
  ASSERT_LT(bytes.size(), 65536u);
  ExpectReadable({bytes});
}

TEST(LiteralsTest, EmptyPartsAreNone) {
  EXPECT_EQ(Deflate({}), "");
  EXPECT_EQ(Deflate({"", ""}), "");
  EXPECT_EQ(Deflate({"", "abcabc", "", ""}), Deflate({"abcabc"}));
  ExpectReadable({"", "abcabc", "", "abc", ""});
}

TEST(LiteralsTest, NothingIsWrittenBeyondItsRoom) {
  std::mt19937 random(3);
  Parts parts = {Draw(&random, 300, 40, 2), Draw(&random, 900, 200, 1)};
  size_t len = Deflate(parts).size();
  bool fitted = false;
  for (size_t room = 0; room < len + 40; room++) {
    size_t got = Deflate(parts, room).size();
    EXPECT_TRUE(got == 0 || got == len) << room;
    EXPECT_FALSE(fitted && got == 0) << room;
    fitted = got == len;
  }
  EXPECT_TRUE(fitted);
}

// What has no room that way goes the other.
TEST(LiteralsTest, NoiseStaysRaw) {
  std::mt19937 random(4);
  std::string bytes = Draw(&random, 40000, 256, 1), out(40000, 0);
  size_t lens[2] = {10000, 30000}, len;
  ppi_codec *codec;
  ASSERT_EQ(ppi_codec_create(1, &codec), PPROF_STATUS_OK);
  EXPECT_EQ(
      ppi_codec_deflate_parts(codec, bytes.data(), lens, 2, &out[0], &len),
      PPI_CODEC_RAW);
  EXPECT_EQ(len, bytes.size());
  EXPECT_TRUE(out == bytes);
  ppi_codec_destroy(codec);
}

}  // namespace
