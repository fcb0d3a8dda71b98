// SPDX-License-Identifier: Apache-2.0
#include "spool/staging.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

// `bytes` of ring.
class Ring {
 public:
  explicit Ring(size_t bytes) : memory_((sizeof(ppi_staging) + bytes) / 8) {
    staging_ = ppi_staging_init(memory_.data(), sizeof(ppi_staging) + bytes);
  }
  ppi_staging *get() {
    return staging_;
  }
  bool Put(const std::string &text, uint64_t number) {
    ppi_staging_block block = {text.data(), (uint32_t)text.size(), number};
    return ppi_staging_put(staging_, &block, 1);
  }
  std::string Take(uint64_t *number) {
    const void *bytes;
    uint32_t len;
    if (!ppi_staging_peek(staging_, &bytes, &len, number)) return "(empty)";
    std::string text(static_cast<const char *>(bytes), len);
    ppi_staging_release(staging_);
    return text;
  }
  std::vector<std::string> Walk() {
    std::vector<std::string> found;
    uint64_t cursor = 0, number;
    const void *bytes;
    uint32_t len;
    while (ppi_staging_walk(staging_, &cursor, &bytes, &len, &number))
      found.emplace_back(static_cast<const char *>(bytes), len);
    return found;
  }

 private:
  std::vector<uint64_t> memory_;
  ppi_staging *staging_;
};

TEST(StagingTest, TooSmallIsRefused) {
  std::vector<uint64_t> memory(sizeof(ppi_staging) / 8);
  EXPECT_EQ(ppi_staging_init(memory.data(), sizeof(ppi_staging)), nullptr);
}

TEST(StagingTest, OneWriterClaims) {
  Ring ring(256);
  EXPECT_TRUE(ppi_staging_claim(ring.get(), "/logs/a.pplog.part"));
  EXPECT_FALSE(ppi_staging_claim(ring.get(), "/logs/b.pplog.part"));
  EXPECT_STREQ(ring.get()->log_path, "/logs/a.pplog.part");
}

TEST(StagingTest, PathBeyondTheHeaderDoesNotClaim) {
  Ring ring(256);
  EXPECT_FALSE(ppi_staging_claim(ring.get(), std::string(5000, 'x').c_str()));
  EXPECT_EQ(ring.get()->claimed, 0u);
}

TEST(StagingTest, FirstInFirstOut) {
  Ring ring(256);
  uint64_t number;
  EXPECT_EQ(ring.Take(&number), "(empty)");
  EXPECT_TRUE(ring.Put("one", 7));
  EXPECT_TRUE(ring.Put("two", 8));
  EXPECT_EQ(ring.Take(&number), "one");
  EXPECT_EQ(number, 7u);
  EXPECT_EQ(ring.Take(&number), "two");
  EXPECT_EQ(number, 8u);
}

TEST(StagingTest, FullRefusesAndKeepsWhatIsThere) {
  Ring ring(64);
  EXPECT_TRUE(ring.Put("12345678", 0));   // 24 bytes
  EXPECT_TRUE(ring.Put("abcdefgh", 1));   // 48
  EXPECT_FALSE(ring.Put("ABCDEFGH", 2));  // 72
  EXPECT_EQ(ring.Walk(), (std::vector<std::string>{"12345678", "abcdefgh"}));
}

// A kill between the two stores of a flight recorder that makes room.
TEST(StagingTest, WhatWasOverwrittenIsCountedForTheTailThatHolds) {
  std::vector<uint64_t> memory(4096 / 8 + 1024);
  auto *ring = reinterpret_cast<ppi_ring *>(memory.data());
  ppi_staging *blocks =
      ppi_staging_init(ring + 1, memory.size() * 8 - sizeof *ring);
  EXPECT_EQ(ppi_ring_overwritten(ring), 0u);
  ring->counted[0] = {64, 7};
  EXPECT_EQ(ppi_ring_overwritten(ring), 0u);
  blocks->tail = 64;
  EXPECT_EQ(ppi_ring_overwritten(ring), 7u);
  ring->counted[1] = {128, 9};
  EXPECT_EQ(ppi_ring_overwritten(ring), 7u);
  blocks->tail = 128;
  EXPECT_EQ(ppi_ring_overwritten(ring), 9u);
}

TEST(StagingTest, EntriesNeverWrap) {
  // All lengths and starts: what comes out is what went in.
  for (uint32_t step = 1; step < 40; step++) {
    Ring ring(200);
    std::deque<std::string> held;
    uint64_t in = 0, out = 0, number;
    for (uint32_t i = 0; i < 300; i++) {
      std::string text((i * step) % 61, static_cast<char>('a' + i % 26));
      while (!ring.Put(text, in)) {
        ASSERT_FALSE(held.empty());
        ASSERT_EQ(ring.Take(&number), held.front());
        ASSERT_EQ(number, out++);
        held.pop_front();
      }
      in++;
      held.push_back(text);
      ASSERT_EQ(ring.Walk(),
                std::vector<std::string>(held.begin(), held.end()));
    }
  }
}

TEST(StagingTest, GroupIsAllOrNothing) {
  Ring ring(128);
  std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  ppi_staging_block blocks[] = {
      {a.data(), 40, 0}, {b.data(), 40, 1}, {c.data(), 40, 2}};
  EXPECT_FALSE(ppi_staging_put(ring.get(), blocks, 3));
  EXPECT_TRUE(ring.Walk().empty());
  EXPECT_TRUE(ppi_staging_put(ring.get(), blocks, 2));
  EXPECT_EQ(ring.Walk(), (std::vector<std::string>{a, b}));
}

TEST(StagingTest, DamagedLengthEndsTheWalk) {
  Ring ring(256);
  ring.Put("one", 0);
  ring.Put("two", 1);
  uint32_t huge = 100000;
  memcpy(ring.get()->ring + 24, &huge, sizeof huge);
  EXPECT_EQ(ring.Walk(), std::vector<std::string>{"one"});
  ring.get()->head = ring.get()->tail + 100000;
  EXPECT_TRUE(ring.Walk().empty());
}

}  // namespace
