// SPDX-License-Identifier: Apache-2.0
//
// Which batches `search-batch` tries.
#include "batch/batch_print.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

// What is tried with a command that survives up to `limit`.
std::vector<size_t> Try(ppi_batch_search *search, size_t limit) {
  std::vector<size_t> tried;
  for (size_t batch; (batch = ppi_batch_next(search)) != 0;) {
    tried.push_back(batch);
    ppi_batch_tell(search, batch, batch <= limit);
    if (tried.size() > 200) break;
  }
  return tried;
}

TEST(BatchSearchTest, DoublesThenBisects) {
  ppi_batch_search search = {};
  search.from = 1;
  search.to = 1024;
  EXPECT_EQ(Try(&search, 21),
            (std::vector<size_t>{1, 2, 4, 8, 16, 32, 24, 20, 22, 21}));
  EXPECT_EQ(search.survived, 21u);
  EXPECT_EQ(search.failed, 22u);
}

TEST(BatchSearchTest, EndsAtTheLimit) {
  ppi_batch_search search = {};
  search.from = 3;
  search.to = 20;
  EXPECT_EQ(Try(&search, 1000), (std::vector<size_t>{3, 6, 12, 20}));
  EXPECT_EQ(search.survived, 20u);
  EXPECT_EQ(search.failed, 0u);
}

TEST(BatchSearchTest, FailsAtOnce) {
  ppi_batch_search search = {};
  search.from = 4;
  search.to = 20;
  EXPECT_EQ(Try(&search, 3), (std::vector<size_t>{4}));
  EXPECT_EQ(search.survived, 0u);
}

TEST(BatchSearchTest, OneByOne) {
  ppi_batch_search search = {};
  search.from = 2;
  search.to = 6;
  search.sequential = true;
  EXPECT_EQ(Try(&search, 4), (std::vector<size_t>{2, 3, 4, 5}));
  EXPECT_EQ(search.survived, 4u);
  search = {};
  search.from = 2;
  search.to = 4;
  search.sequential = true;
  EXPECT_EQ(Try(&search, 9), (std::vector<size_t>{2, 3, 4}));
}

TEST(BatchSearchTest, FindsEveryLimit) {
  for (size_t from = 1; from < 8; from++)
    for (size_t to = from; to < 70; to++)
      for (size_t limit = from; limit < 75; limit++) {
        ppi_batch_search search = {};
        search.from = from;
        search.to = to;
        EXPECT_LE(Try(&search, limit).size(), 15u);
        EXPECT_EQ(search.survived, limit < to ? limit : to)
            << from << " " << to << " " << limit;
      }
}

}  // namespace
