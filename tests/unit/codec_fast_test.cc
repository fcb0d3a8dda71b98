// SPDX-License-Identifier: Apache-2.0
//
// The checksums are those of the formats, whichever library makes them.
#include "file/codec_fast.h"

#include <gtest/gtest.h>

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

}  // namespace
