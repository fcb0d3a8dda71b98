// SPDX-License-Identifier: Apache-2.0
//
// The checksums are those of the formats, whichever library makes them, and
// igzip inflates as zlib does.
#include "file/codec_fast.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string>

namespace {

// The check value of every catalogue of CRCs; Adler's of the same by hand: the
// bytes add up to 477, and 1 more is 0x1de; the running sums to 2334 = 0x91e.
const char kDigits[] = "123456789";

TEST(CodecFastTest, ChecksumsOfKnownBytes) {
  EXPECT_EQ(ppi_fast_crc32(0, kDigits, 9), 0xcbf43926u);
  EXPECT_EQ(ppi_fast_adler32(1, kDigits, 9), 0x091e01deu);
}

TEST(CodecFastTest, OfNothingTheyStayWhatTheyWere) {
  EXPECT_EQ(ppi_fast_crc32(0, "", 0), 0u);
  EXPECT_EQ(ppi_fast_adler32(1, "", 0), 1u);
  EXPECT_EQ(ppi_fast_crc32(0x12345678, "", 0), 0x12345678u);
  EXPECT_EQ(ppi_fast_adler32(0x12345678, "", 0), 0x12345678u);
}

// Wherever it is cut, and however it lies in memory.
TEST(CodecFastTest, TheyGoOn) {
  std::string bytes;
  for (int i = 0; i < 5000; i++) bytes += static_cast<char>(i * 7 + i / 256);
  uint32_t crc = ppi_fast_crc32(0, bytes.data(), bytes.size());
  uint32_t adler = ppi_fast_adler32(1, bytes.data(), bytes.size());
  for (size_t cut = 0; cut < bytes.size(); cut += 33) {
    const char *rest = bytes.data() + cut;
    size_t left = bytes.size() - cut;
    EXPECT_EQ(ppi_fast_crc32(ppi_fast_crc32(0, bytes.data(), cut), rest, left),
              crc);
    EXPECT_EQ(
        ppi_fast_adler32(ppi_fast_adler32(1, bytes.data(), cut), rest, left),
        adler);
  }
}

// Text that repeats and bytes that do not, in pieces of both.
std::string SomeBytes(size_t len) {
  std::mt19937 random(7);
  std::string out;
  while (out.size() < len)
    if (random() % 4)
      out += "{\"ph\":\"X\",\"ts\":" + std::to_string(random() % 10000) + "},";
    else
      for (int i = 0; i < 40; i++) out += static_cast<char>(random());
  return out;
}

// As zlib wants them.
Bytef *Bytes(const std::string &bytes) {
  return reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
}

std::string Member(const std::string &bytes, int level) {
  std::string out(bytes.size() + 1000, '\0');
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = Bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = Bytes(out);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// However its input and output are cut; it leaves what stands behind a member.
TEST(CodecFastTest, GunzipsInPieces) {
  void *gunzip = ppi_fast_gunzip_create();
  if (!gunzip) GTEST_SKIP() << "libisal.so.2 is missing";
  const std::string first = SomeBytes(700000), second = SomeBytes(90000);
  for (size_t piece : {1u, 7u, 4096u, 65536u, 1000000u}) {
    const std::string packed = Member(first, 6) + Member(second, 0);
    std::string got;
    size_t at = 0;
    z_stream stream = {};
    for (const std::string *expected : {&first, &second}) {
      int answer = Z_OK;
      got.clear();
      while (answer == Z_OK) {
        char out[5000];
        stream.next_in = Bytes(packed) + at;
        stream.avail_in =
            static_cast<uInt>(std::min(piece, packed.size() - at));
        stream.next_out = reinterpret_cast<Bytef *>(out);
        stream.avail_out = sizeof out;
        answer = ppi_fast_gunzip(gunzip, &stream);
        at = static_cast<size_t>(stream.next_in - Bytes(packed));
        got.append(out, sizeof out - stream.avail_out);
      }
      EXPECT_EQ(answer, Z_STREAM_END) << piece;
      EXPECT_TRUE(got == *expected) << piece;
      ppi_fast_gunzip_reset(gunzip);
    }
    EXPECT_EQ(at, packed.size());
  }
  ppi_fast_gunzip_destroy(gunzip);
}

TEST(CodecFastTest, GunzipNeedsAllBytes) {
  void *gunzip = ppi_fast_gunzip_create();
  if (!gunzip) GTEST_SKIP() << "libisal.so.2 is missing";
  const std::string packed = Member(SomeBytes(3000), 6);
  std::string out(4000, '\0');
  z_stream stream = {};
  stream.next_in = Bytes(packed);
  stream.avail_in = static_cast<uInt>(packed.size() - 1);
  stream.next_out = Bytes(out);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(ppi_fast_gunzip(gunzip, &stream), Z_OK);
  EXPECT_EQ(ppi_fast_gunzip(gunzip, &stream), Z_BUF_ERROR);
  ppi_fast_gunzip_destroy(gunzip);
}

}  // namespace
