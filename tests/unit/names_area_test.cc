// SPDX-License-Identifier: Apache-2.0
//
// The area where definitions lie, once its end is reached: places that were
// given back.
#include "names/names_area.h"

#include <gtest/gtest.h>

#include <vector>

#include "spool/chunks.h"

namespace pprof_test {
namespace {

constexpr uint64_t kSize = PPI_CHUNK_SIZE / 16;

class NamesAreaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool_, 4u << 20, "memory"));
    uint64_t place;
    while (Take(kSize, &place)) places_.push_back(place);
    ASSERT_GT(places_.size(), 32u);
    ASSERT_EQ(0u, ppi_names_area_left(&area_, &spool_));
  }
  void TearDown() override {
    ppi_spool_destroy(&spool_, false);
  }
  bool Take(uint64_t size, uint64_t *place) {
    ppi_definition_record *record =
        ppi_names_area_take(&area_, &spool_, size, true, place);
    if (record)
      ppi_names_area_publish(&spool_, record, *place, PPROF_DEFINITION_SITE);
    return record != nullptr;
  }
  void Give(size_t which) {
    ppi_names_area_give(&area_, &spool_, places_[which]);
  }

  ppi_spool spool_ = {};
  ppi_names_area area_ = {};
  std::vector<uint64_t> places_;
};

TEST_F(NamesAreaTest, APlaceThatWasGivenBackServesAgain) {
  uint64_t place;
  Give(7);
  EXPECT_EQ(kSize, ppi_names_area_left(&area_, &spool_));
  ASSERT_TRUE(Take(kSize, &place));
  EXPECT_EQ(places_[7], place);
  EXPECT_FALSE(Take(kSize, &place));
}

// In the order in which names lie, so that each one's neighbour is still taken
// when it is given back.
TEST_F(NamesAreaTest, NeighboursAreUnitedWhereThereIsNoOtherRoom) {
  uint64_t place;
  Give(4);
  Give(5);
  Give(9);
  ASSERT_TRUE(Take(2 * kSize, &place));
  EXPECT_EQ(places_[4], place);
  EXPECT_FALSE(Take(2 * kSize, &place));
  ASSERT_TRUE(Take(kSize / 2, &place));
  EXPECT_EQ(places_[9], place);
  EXPECT_EQ(kSize / 2, ppi_names_area_left(&area_, &spool_));
}

}  // namespace
}  // namespace pprof_test
