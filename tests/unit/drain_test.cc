// SPDX-License-Identifier: Apache-2.0
//
// What the collector keeps of windows does not grow with their number, a lane
// is defined before its records come, and one has 1024 chunks that are not
// read.
#include "deliver/drain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/mem.h"
#include "session/state/session_impl.h"
#include "spool/lane.h"

namespace {

TEST(DrainTest, MemoryDoesNotGrowWithTheNumberOfWindows) {
  ppi_spool spool;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool, 2u << 20, "memory"));
  pprof_sink sink = {};
  sink.size = sizeof sink;
  spool.header->ticks_per_second = 1000000000;
  ppi_drain drain;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_drain_init(&drain, &spool, &sink));
  ppi_spool_header *header = spool.header;
  const uint32_t num = 300000;
  for (uint32_t i = 0; i < num; i++) {
    // From 10 i + 1 to 10 i + 6.
    ppi_edge opens = {}, closes = {};
    opens.ticks = 10ull * i + 1;
    closes.ticks = 10ull * i + 6;
    opens.window = closes.window = i;
    opens.flags = PPI_EDGE_OPENS;
    closes.flags = PPI_EDGE_CLOSES;
    header->edges[header->num_edges++ % PPI_MAX_EDGES] = opens;
    header->edges[header->num_edges++ % PPI_MAX_EDGES] = closes;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_drain_edges(&drain));
  }
  EXPECT_LE(drain.windows_capacity, 65536u);
  // The latest 32 768 at least are known; of what was forgotten nothing is.
  for (uint32_t i = num - 32768; i < num; i++) {
    const ppi_window *window = ppi_drain_window_at(&drain, 10ull * i + 5);
    ASSERT_NE(nullptr, window) << i;
    ASSERT_EQ(i, window->index);
    ASSERT_EQ(nullptr, ppi_drain_window_at(&drain, 10ull * i + 6));
  }
  EXPECT_EQ(nullptr, ppi_drain_window_at(&drain, 5));
  ppi_drain_clear(&drain);
  ppi_spool_destroy(&spool, false);
}

TEST(LaneTest, HasAsManyChunksAsItsDirectory) {
  ppi_spool spool;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool, 80u << 20, "memory"));
  ppi_lane *lane = ppi_lane_create(&spool, 1, 4711);
  ASSERT_NE(nullptr, lane);
  for (int i = 1; i < 1024; i++) ASSERT_TRUE(ppi_lane_extend(&spool, lane));
  EXPECT_FALSE(ppi_lane_extend(&spool, lane)) << "its first chunk is not read";
  lane->freed_chunks = 1;
  EXPECT_TRUE(ppi_lane_extend(&spool, lane));
  EXPECT_FALSE(ppi_lane_extend(&spool, lane));
  ppi_spool_destroy(&spool, false);
}

// Of lanes, as "tid name".
struct Definitions {
  pprof_sink base;
  std::vector<std::string> lanes;
};

pprof_status Define(pprof_sink *sink, const pprof_definition *definition) {
  reinterpret_cast<Definitions *>(sink)->lanes.push_back(
      std::to_string(pprof_definition_number(definition)) + " " +
      pprof_definition_name(definition));
  return PPROF_STATUS_OK;
}

class LaneNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool_, 2u << 20, "memory"));
    spool_.header->ticks_per_second = 1000000000;
    sink_.base.size = sizeof sink_.base;
    sink_.base.define = Define;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_drain_init(&drain_, &spool_, &sink_.base));
    lane_ = ppi_lane_create(&spool_, 1, 4711);
    ASSERT_NE(nullptr, lane_);
  }

  void TearDown() override {
    ppi_drain_clear(&drain_);
    ppi_spool_destroy(&spool_, false);
  }

  std::vector<std::string> Defined() {
    sink_.lanes.clear();
    EXPECT_EQ(PPROF_STATUS_OK, ppi_drain_definitions(&drain_, 0));
    return sink_.lanes;
  }

  // As the collector finds it where the thread is interrupted while it writes
  // its next name.
  void BeginNaming() {
    lane_->naming |= 1;
  }

  ppi_spool spool_;
  Definitions sink_ = {};
  ppi_drain drain_;
  ppi_lane *lane_ = nullptr;
};

using Lanes = std::vector<std::string>;

TEST_F(LaneNamesTest, ARenameHidesNoNewThread) {
  ppi_lane_set_name(&spool_, lane_, "first");
  // Records may be there from here on, and they are delivered next.
  BeginNaming();
  EXPECT_EQ(Lanes{"4711 "}, Defined());
  ppi_lane_set_name(&spool_, lane_, "second");
  EXPECT_EQ(Lanes{"4711 second"}, Defined());
  EXPECT_EQ(Lanes{}, Defined());
}

TEST_F(LaneNamesTest, ARenameOfAKnownThreadWaits) {
  ppi_lane_set_name(&spool_, lane_, "first");
  EXPECT_EQ(Lanes{"4711 first"}, Defined());
  BeginNaming();
  spool_.header->num_namings++;  // another lane's
  EXPECT_EQ(Lanes{}, Defined());
  ppi_lane_set_name(&spool_, lane_, "second");
  EXPECT_EQ(Lanes{"4711 second"}, Defined());
}

TEST_F(LaneNamesTest, AFirstNameWaits) {
  BeginNaming();  // nothing is recorded before it is there
  spool_.header->num_namings++;
  EXPECT_EQ(Lanes{}, Defined());
  ppi_lane_set_name(&spool_, lane_, "first");
  EXPECT_EQ(Lanes{"4711 first"}, Defined());
}

// The collector stands still while a thread goes by: the next one's rename.
TEST_F(LaneNamesTest, ARenameHidesNoThreadThatFollowsAnother) {
  ppi_lane_set_name(&spool_, lane_, "first");
  EXPECT_EQ(Lanes{"4711 first"}, Defined());
  lane_->tid = 4712;
  ppi_lane_set_name(&spool_, lane_, "next");
  BeginNaming();
  EXPECT_EQ(Lanes{"4712 "}, Defined());
  ppi_lane_set_name(&spool_, lane_, "later");
  EXPECT_EQ(Lanes{"4712 later"}, Defined());
}

}  // namespace
