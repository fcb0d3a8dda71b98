// SPDX-License-Identifier: Apache-2.0
//
// What markers take ends the collector's long pause, before it is all taken.
#include "spool/nap.h"

#include <gtest/gtest.h>

#include "mark/recorder.h"
#include "pprof/mark.h"
#include "spool/chunks.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

int num_ends;
bool can_end;

bool End() {
  num_ends++;
  return can_end;
}

class NapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    num_ends = 0;
    can_end = true;
  }
  ppi_spool spool_ = {};
};

TEST_F(NapTest, TheLastPartEndsItOnce) {
  ppi_nap_begin(&spool_, End);
  ppi_nap_use(&spool_, PPI_NAP_PARTS - 1);
  EXPECT_EQ(num_ends, 0);
  ppi_nap_use(&spool_, 1);
  EXPECT_EQ(num_ends, 1);
  ppi_nap_use(&spool_, PPI_NAP_PARTS);
  EXPECT_EQ(num_ends, 1);
}

TEST_F(NapTest, NothingIsCountedWhileTheCollectorIsAwake) {
  ppi_nap_use(&spool_, PPI_NAP_PARTS);
  ppi_nap_begin(&spool_, End);
  ppi_nap_end(&spool_);
  ppi_nap_use(&spool_, PPI_NAP_PARTS);
  EXPECT_EQ(num_ends, 0);
}

TEST_F(NapTest, TheNextOneTriesWhereOneCouldNot) {
  can_end = false;
  ppi_nap_begin(&spool_, End);
  ppi_nap_use(&spool_, PPI_NAP_PARTS);
  can_end = true;
  ppi_nap_use(&spool_, 1);
  ppi_nap_use(&spool_, 1);
  EXPECT_EQ(num_ends, 2);
}

// An eighth of the slots, whatever their number.
TEST_F(NapTest, PartsOfSlots) {
  EXPECT_EQ(ppi_nap_of_slots(16, 16384), PPI_NAP_PARTS / 128);
  EXPECT_EQ(ppi_nap_of_slots(16, 128), PPI_NAP_PARTS);
  EXPECT_EQ(ppi_nap_of_slots(16, 32), PPI_NAP_PARTS);
  EXPECT_EQ(ppi_nap_of_slots(1, 0), PPI_NAP_PARTS);
}

TEST_F(NapTest, SixteenChunksOfASession) {
  LiveSession live;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(live.Start(), PPROF_STATUS_OK);
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  ppi_nap_begin(spool, End);
  for (int i = 0; i < 15; i++) ASSERT_NE(ppi_chunk_take(spool), 0u);
  EXPECT_EQ(num_ends, 0);
  ASSERT_NE(ppi_chunk_take(spool), 0u);
  EXPECT_EQ(num_ends, 1);
  EXPECT_EQ(live.Stop(), PPROF_STATUS_OK);
}

}  // namespace
}  // namespace pprof_test
