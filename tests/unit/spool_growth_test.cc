// SPDX-License-Identifier: Apache-2.0
//
// A large spool gets its memory in parts: what has none is not handed out, and
// where there is no more, the spool stays as it is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "spool.h"

namespace {

constexpr uint64_t kMiB = 1u << 20;

class SpoolGrowthTest : public testing::Test {
 protected:
  void Create(uint64_t bytes, const char *dir) {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool_, bytes, dir));
    is_file_ = spool_.fd >= 0;
  }
  void TearDown() override {
    ppi_spool_destroy(&spool_, false);
  }

  // Chunks that can be had now, each written to.
  uint32_t TakeAll() {
    uint32_t num = 0;
    for (uint32_t chunk; (chunk = ppi_chunk_take(&spool_)) != 0; num++)
      *static_cast<uint64_t *>(ppi_spool_chunk(&spool_, chunk)) = chunk;
    return num;
  }

  ppi_spool spool_ = {};
  bool is_file_ = false;
};

// 64 MiB are 1 024 chunks: one for the header, 128 for staging.
TEST_F(SpoolGrowthTest, LargeSpoolGrowsInParts) {
  Create(64 * kMiB, testing::TempDir().c_str());
  ASSERT_TRUE(is_file_) << spool_.not_crash_safe;
  EXPECT_EQ(1024u - 129u, ppi_spool_chunks_free(&spool_));
  EXPECT_EQ(320u - 129u, TakeAll());
  EXPECT_TRUE(ppi_spool_allocate_more(&spool_));
  EXPECT_EQ(64u, TakeAll());
  while (ppi_spool_allocate_more(&spool_)) {
  }
  EXPECT_EQ(1024u - 384u, TakeAll());
  EXPECT_EQ(0u, ppi_spool_chunks_free(&spool_));
  EXPECT_FALSE(ppi_spool_allocate_more(&spool_));
  EXPECT_EQ(nullptr, ppi_spool_want());
}

TEST_F(SpoolGrowthTest, NoMoreMemoryIsSaid) {
  Create(64 * kMiB, testing::TempDir().c_str());
  ASSERT_TRUE(is_file_) << spool_.not_crash_safe;
  EXPECT_TRUE(ppi_spool_allocate_more(&spool_));
  const int file = spool_.fd;
  spool_.fd = open("/dev/null", O_RDWR);
  EXPECT_FALSE(ppi_spool_allocate_more(&spool_));
  close(spool_.fd);
  spool_.fd = file;
  ASSERT_NE(nullptr, ppi_spool_want());
  EXPECT_EQ(
      0u,
      std::string(ppi_spool_want()).find("24 of 64 MiB, no room for more: "));
  // What does not come is not free either.
  EXPECT_EQ(384u - 129u, ppi_spool_chunks_free(&spool_));
  EXPECT_FALSE(ppi_spool_allocate_more(&spool_));
  EXPECT_EQ(384u - 129u, TakeAll());
}

TEST_F(SpoolGrowthTest, SmallSpoolIsWholeAtOnce) {
  Create(16 * kMiB, testing::TempDir().c_str());
  ASSERT_TRUE(is_file_) << spool_.not_crash_safe;
  EXPECT_FALSE(ppi_spool_allocate_more(&spool_));
  // 256 chunks: the header, 32 for staging.
  EXPECT_EQ(256u - 33u, TakeAll());
}

TEST_F(SpoolGrowthTest, AnonymousMemoryNeedsNoParts) {
  Create(64 * kMiB, "memory");
  EXPECT_FALSE(is_file_);
  EXPECT_FALSE(ppi_spool_allocate_more(&spool_));
  EXPECT_EQ(1024u - 129u, TakeAll());
}

TEST_F(SpoolGrowthTest, RingHasItsMemoryBeforeItIsUsed) {
  Create(64 * kMiB, testing::TempDir().c_str());
  ASSERT_TRUE(is_file_) << spool_.not_crash_safe;
  ASSERT_TRUE(ppi_spool_add_ring(&spool_, 32 * kMiB));
  // The ring takes 512 chunks, and a few of the pool come with it.
  EXPECT_EQ(16u, TakeAll());
  EXPECT_TRUE(ppi_spool_allocate_more(&spool_));
  EXPECT_EQ(64u, TakeAll());
}

}  // namespace
