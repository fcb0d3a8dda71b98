// SPDX-License-Identifier: Apache-2.0
//
// What is packed is one gzip member, whichever library packs it.
#include "file/file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <random>
#include <string>
#include <vector>

namespace {

class FilePackTest : public ::testing::TestWithParam<ppi_codec_library> {
 protected:
  void SetUp() override {
    part_.fd = open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR, 0600);
    ASSERT_GE(part_.fd, 0);
    pack_.part = &part_;
    pack_.own_table = true;
  }
  void TearDown() override {
    ppi_file_pack_clear(&pack_);
    close(part_.fd);
  }
  void Write(const std::vector<std::string> &pieces, bool gzip = true) {
    ASSERT_TRUE(ppi_file_pack_open(&pack_, gzip, GetParam()));
    for (const std::string &piece : pieces)
      ASSERT_EQ(ppi_file_pack_write(&pack_, piece.data(), piece.size(), false),
                0);
    ASSERT_EQ(ppi_file_pack_write(&pack_, "", 0, true), 0);
  }
  std::string File() {
    std::string bytes(static_cast<size_t>(lseek(part_.fd, 0, SEEK_END)), 0);
    EXPECT_EQ(pread(part_.fd, &bytes[0], bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  // Of the first member; *left: the bytes behind it.
  static std::string Unpacked(const std::string &file, size_t *left) {
    z_stream stream = {};
    std::string out, piece(1 << 20, 0);
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(file.data()));
    stream.avail_in = static_cast<uInt>(file.size());
    int result = Z_OK;
    while (result == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef *>(&piece[0]);
      stream.avail_out = static_cast<uInt>(piece.size());
      result = inflate(&stream, Z_NO_FLUSH);
      out.append(piece, 0, piece.size() - stream.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    *left = stream.avail_in;
    inflateEnd(&stream);
    return out;
  }
  void ExpectPacked(const std::vector<std::string> &pieces) {
    std::string want;
    size_t left = 1;
    Write(pieces);
    for (const std::string &piece : pieces) want += piece;
    // EXPECT_EQ would print megabytes.
    EXPECT_TRUE(Unpacked(File(), &left) == want);
    EXPECT_EQ(left, 0u);
  }

  ppi_part part_ = {};
  ppi_file_pack pack_ = {};
};

std::string Noise(size_t len) {
  std::mt19937 random(1);
  std::string bytes(len, 0);
  for (char &byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_P(FilePackTest, Nothing) {
  ExpectPacked({});
}

TEST_P(FilePackTest, Few) {
  ExpectPacked({"a", "", "bc"});
}

TEST_P(FilePackTest, WhatRepeatsBecomesSmall) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 20; i++)
    pieces.push_back(std::string(PPI_FILE_PIECE, static_cast<char>('a' + i)));
  ExpectPacked(pieces);
  EXPECT_LT(File().size(), pieces.size() * PPI_FILE_PIECE / 50);
}

// Longer than a piece, and it takes hardly more than it has.
TEST_P(FilePackTest, WhatCannotBePacked) {
  std::string noise = Noise(3 * PPI_FILE_PIECE + 7);
  ExpectPacked({noise, noise});
  EXPECT_LT(File().size(), 2 * noise.size() + 1000);
}

TEST_P(FilePackTest, AsItIsWithoutGzip) {
  Write({"a", "bc"}, false);
  EXPECT_EQ(File(), "abc");
}

INSTANTIATE_TEST_SUITE_P(Libraries, FilePackTest,
                         ::testing::Values(PPI_CODEC_ZLIB_ONLY,
                                           PPI_CODEC_IGZIP));

}  // namespace
