// SPDX-License-Identifier: Apache-2.0
//
// A spool begins small and grows up to limits that change: what has no memory
// is not handed out, and where there is no more, it stays as it is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "spool/chunks.h"
#include "spool/spool.h"
#include "spool/spool_limit.h"

namespace {

constexpr uint64_t kMiB = 1u << 20;
constexpr uint64_t kFar = uint64_t{1} << 50;

// What the machine says. `shared`: room that all spools have together.
uint64_t own_limit, shared_limit;

class SpoolGrowthTest : public testing::Test {
 protected:
  void SetUp() override {
    own_limit = shared_limit = kFar;
  }
  void Create(uint64_t bytes, const char *dir) {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool_, bytes, dir));
  }
  void CreateFile(uint64_t bytes) {
    Create(bytes, testing::TempDir().c_str());
    ASSERT_GE(spool_.fd, 0) << spool_.not_crash_safe;
  }
  void TearDown() override {
    ppi_spool_destroy(&spool_, false);
  }

  // What the file has, by the kernel.
  uint64_t FileBytes() const {
    struct stat stat;
    EXPECT_EQ(0, fstat(spool_.fd, &stat));
    return static_cast<uint64_t>(stat.st_blocks) * 512;
  }
  uint32_t Pool() const {
    return spool_.header->num_chunks - spool_.header->pool_first;
  }

  // Chunks that can be had now, each written to.
  uint32_t TakeAll() {
    uint32_t num = 0;
    for (uint32_t chunk; (chunk = ppi_chunk_take(&spool_)) != 0; num++)
      memset(ppi_spool_chunk(&spool_, chunk), 1, 64);
    return num;
  }

  ppi_spool spool_ = {};
};

TEST_F(SpoolGrowthTest, BeginsSmallAndIsWholeInTheEnd) {
  CreateFile(64 * kMiB);
  EXPECT_LE(ppi_spool_bytes(&spool_), 2 * kMiB);
  EXPECT_LE(FileBytes(), ppi_spool_bytes(&spool_) + kMiB / 8);
  EXPECT_GE(FileBytes(), ppi_spool_bytes(&spool_));
  EXPECT_EQ(Pool(), ppi_spool_chunks_free(&spool_));
  EXPECT_EQ(Pool(), ppi_spool_chunks_all(&spool_));
  // Without a collector.
  EXPECT_EQ(Pool(), TakeAll());
  EXPECT_EQ(0u, ppi_spool_chunks_free(&spool_));
  EXPECT_GE(FileBytes(), ppi_spool_bytes(&spool_));
  EXPECT_EQ(nullptr, ppi_spool_want());
}

// An idle program keeps what it has; of what is used as much again is ready.
TEST_F(SpoolGrowthTest, GrowsAheadOfNeed) {
  CreateFile(64 * kMiB);
  ppi_spool_grow(&spool_);
  const uint64_t idle = ppi_spool_bytes(&spool_);
  ppi_spool_grow(&spool_);
  EXPECT_EQ(idle, ppi_spool_bytes(&spool_));
  for (int i = 0; i < 40; i++) ASSERT_NE(0u, ppi_chunk_take(&spool_));
  ppi_spool_grow(&spool_);
  EXPECT_GE(ppi_spool_bytes(&spool_), idle + 60 * PPI_CHUNK_SIZE);
  EXPECT_GE(FileBytes(), ppi_spool_bytes(&spool_));
}

TEST_F(SpoolGrowthTest, WhereOthersNeedTheRoomOnlyTheCollectorTakesIt) {
  shared_limit = 16 * kMiB;
  CreateFile(64 * kMiB);
  const uint64_t before = ppi_spool_bytes(&spool_);
  const uint32_t first = TakeAll();
  EXPECT_GT(first, 0u);
  EXPECT_EQ(before, ppi_spool_bytes(&spool_));
  ppi_spool_grow(&spool_);
  EXPECT_GT(TakeAll(), first);
  for (int i = 0; i < 1000; i++) {
    ppi_spool_grow(&spool_);
    TakeAll();
  }
  EXPECT_LE(ppi_spool_bytes(&spool_), shared_limit);
  EXPECT_GE(ppi_spool_bytes(&spool_), shared_limit * 15 / 16 - kMiB / 4);
  EXPECT_NE(nullptr, ppi_spool_want());
}

TEST_F(SpoolGrowthTest, NoMoreMemoryIsSaid) {
  CreateFile(64 * kMiB);
  ppi_spool_grow(&spool_);
  const uint64_t before = ppi_spool_bytes(&spool_);
  const int file = spool_.fd;
  spool_.fd = open("/dev/null", O_RDWR);
  TakeAll();
  ppi_spool_grow(&spool_);
  close(spool_.fd);
  spool_.fd = file;
  EXPECT_EQ(before, ppi_spool_bytes(&spool_));
  ASSERT_NE(nullptr, ppi_spool_want());
  EXPECT_NE(nullptr, strstr(ppi_spool_want(), " of 64.0 MiB, no room for more"))
      << ppi_spool_want();
  // What does not come is not free either, until it is asked for again.
  EXPECT_EQ(0u, ppi_spool_chunks_free(&spool_));
  ppi_spool_grow(&spool_);
  EXPECT_EQ(0u, TakeAll());
  ppi_spool_look_again(&spool_);
  EXPECT_GT(TakeAll(), 0u);
}

TEST_F(SpoolGrowthTest, AnonymousMemoryHasLimitsToo) {
  own_limit = 4 * kMiB;
  Create(64 * kMiB, "memory");
  EXPECT_LT(spool_.fd, 0);
  while (TakeAll() != 0) ppi_spool_look_again(&spool_);
  EXPECT_EQ(own_limit, ppi_spool_bytes(&spool_));
}

TEST_F(SpoolGrowthTest, NoFileWhereNotEvenTheFirstChunksHaveRoom) {
  for (uint64_t *limit : {&own_limit, &shared_limit}) {
    SetUp();
    *limit = kMiB / 8;
    Create(64 * kMiB, testing::TempDir().c_str());
    EXPECT_LT(spool_.fd, 0);
    EXPECT_NE(nullptr, strstr(spool_.not_crash_safe, "may have 128 KiB"))
        << spool_.not_crash_safe;
    EXPECT_GT(TakeAll(), 0u);
    ppi_spool_destroy(&spool_, false);
  }
}

TEST_F(SpoolGrowthTest, RingHasItsMemoryBeforeItIsUsed) {
  CreateFile(64 * kMiB);
  ASSERT_TRUE(ppi_spool_add_ring(&spool_, 32 * kMiB));
  EXPECT_EQ(32 * kMiB, spool_.header->ring_size);
  EXPECT_GE(FileBytes(), 32 * kMiB);
  EXPECT_EQ(Pool(), TakeAll());
}

TEST_F(SpoolGrowthTest, RingTakesHalfOfTheLimitAtMost) {
  own_limit = 4 * kMiB;
  CreateFile(64 * kMiB);
  ASSERT_TRUE(ppi_spool_add_ring(&spool_, 32 * kMiB));
  EXPECT_EQ(2 * kMiB, spool_.header->ring_size);
  TakeAll();
  EXPECT_LE(ppi_spool_bytes(&spool_), own_limit);
}

// The log writer's ring gets memory once it was full, and its blocks stay.
TEST_F(SpoolGrowthTest, StagingRingGrowsWithItsBlocks) {
  CreateFile(8 * kMiB);
  ppi_staging *staging = ppi_spool_staging(&spool_);
  const uint64_t first = staging->size;
  std::mt19937 random(5);
  uint64_t put = 0, got = 0;
  for (int round = 0; round < 6000; round++) {
    const std::string bytes(random() % 5000, static_cast<char>(put));
    const ppi_staging_block block = {bytes.data(),
                                     static_cast<uint32_t>(bytes.size()), put};
    put += ppi_staging_put(staging, &block, 1);
    ppi_spool_grow(&spool_);
    ASSERT_LE(sizeof *staging + staging->size,
              uint64_t{spool_.staging_chunks} * PPI_CHUNK_SIZE);
    const void *found;
    uint32_t len;
    uint64_t number, cursor = 0, next = got;
    if (round % 500 == 0) {
      while (ppi_staging_walk(staging, &cursor, &found, &len, &number)) {
        ASSERT_EQ(next++, number);
        for (uint32_t i = 0; i < len; i++)
          ASSERT_EQ(static_cast<char>(number),
                    static_cast<const char *>(found)[i]);
      }
      ASSERT_EQ(put, next);
    }
    // A consumer that is slower at first, then faster.
    if (round % 3 == 0 || (round > 2000 && random() % 2))
      if (ppi_staging_peek(staging, &found, &len, &number)) {
        ASSERT_EQ(got++, number);
        ppi_staging_release(staging);
      }
  }
  EXPECT_GE(staging->size, 4 * first);
  EXPECT_LE(staging->size + sizeof *staging, spool_.header->staging_size);
}

// Limits come and go, chunks too, on several threads: nothing is refused that
// could be had, no spool has more than was its limit when it took it.
TEST_F(SpoolGrowthTest, AnyLimitsInAnyOrder) {
  std::mt19937 random(3);
  for (int run = 0; run < 20; run++) {
    SetUp();
    CreateFile(16 * kMiB);
    std::vector<uint32_t> held;
    uint64_t most = own_limit;
    for (int i = 0; i < 200; i++) {
      own_limit = random() % 3 ? kFar : random() % (20 * kMiB);
      shared_limit = random() % 3 ? kFar : random() % (20 * kMiB);
      const uint64_t before = ppi_spool_bytes(&spool_);
      ppi_spool_look_again(&spool_);
      ppi_spool_grow(&spool_);
      std::vector<uint32_t> taken[2];
      std::thread others([&] {
        for (int k = 0; k < 8; k++)
          if (uint32_t chunk = ppi_chunk_take(&spool_))
            taken[0].push_back(chunk);
      });
      for (int k = 0; k < 8; k++)
        if (uint32_t chunk = ppi_chunk_take(&spool_)) taken[1].push_back(chunk);
      others.join();
      for (const auto &chunks : taken)
        for (uint32_t chunk : chunks) {
          memset(ppi_spool_chunk(&spool_, chunk), 7, 64);
          held.push_back(chunk);
        }
      const uint64_t bytes = ppi_spool_bytes(&spool_);
      most = std::min(own_limit, shared_limit);
      ASSERT_LE(bytes, std::max(before, most));
      ASSERT_LE(bytes, spool_.size);
      ASSERT_GE(FileBytes(), bytes);
      // All that the limits give, where no other process is near them.
      if (most == kFar && taken[0].size() + taken[1].size() < 16) {
        EXPECT_EQ(0u, ppi_spool_chunks_free(&spool_));
      }
      std::shuffle(held.begin(), held.end(), random);
      for (uint32_t n = random() % 20; n && !held.empty(); n--) {
        ppi_chunk_give(&spool_, held.back());
        held.pop_back();
      }
    }
    ppi_spool_destroy(&spool_, false);
  }
}

}  // namespace

extern "C" {
ppi_spool_limit __wrap_ppi_spool_limit_now(const char *, const ppi_fd_id *,
                                           uint64_t taken, uint64_t most) {
  const uint64_t shared = shared_limit > taken ? shared_limit - taken : 0;
  const uint64_t own = std::min(most, own_limit);
  return {std::min(own, std::max(taken, shared_limit)), "made up", own, shared};
}
ppi_spool_limit __wrap_ppi_spool_limit_in(const char *, uint64_t most) {
  return {std::min({most, own_limit, shared_limit}), "made up",
          std::min(most, own_limit), shared_limit};
}
}
