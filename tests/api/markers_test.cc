// SPDX-License-Identifier: Apache-2.0
//
// Markers of the public headers in a process in which no session runs.
#include <gtest/gtest.h>

#include "markers.h"
#include "pprof/session.h"

namespace {

TEST(MarkersTest, WithoutSessionTheyReturnNothing) {
  ASSERT_EQ(pprof_session_current(), nullptr);
  EXPECT_EQ(pprof_epoch_, 0u);
  EXPECT_EQ(pprof_range_begin(&markers_file_site).id, 0u);
  EXPECT_EQ(pprof_device_range_begin(nullptr, nullptr, &markers_file_site).id,
            0u);
  EXPECT_EQ(markers_all(), 0);
  EXPECT_EQ(pprof_session_current(), nullptr);
}

TEST(MarkersTest, CategoryHasOneValue) {
  const uint32_t mine = pprof_category_register("markers_test: mine");
  EXPECT_GE(mine, static_cast<uint32_t>(PPROF_CATEGORY_FIRST_REGISTERED));
  EXPECT_EQ(pprof_category_register("markers_test: mine"), mine);
  EXPECT_NE(pprof_category_register("markers_test: other"), mine);
}

}  // namespace
