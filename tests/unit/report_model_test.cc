// SPDX-License-Identifier: Apache-2.0
//
// Model, where report_property_test.cc and tests/oracle do not look.
#include <gtest/gtest.h>

#include <string>

#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::kMs;
using pprof_test::Report;

bool Contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return true;
  ADD_FAILURE() << "no '" << part << "' in\n" << text;
  return false;
}

TEST(ReportModelTest, OthersMayBeNegative) {
  EventFeed feed;
  feed.AddWindow(0, 100 * kMs);
  for (uint32_t lane : {1, 2}) {
    feed.Lane(lane, lane * 100, "t");
    feed.Range(lane, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  }
  Report report(feed);
  EXPECT_TRUE(report.HasLine(
      "model", "Others - -60.00 / - / - / - / -60.00 0.00 / - / - / - / 0.00"));
  EXPECT_TRUE(Contains(report.Table("model"), "Others is below zero: phases"));
  EventFeed single;
  single.AddWindow(0, 100 * kMs);
  single.Lane(1, 100, "t");
  single.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  EXPECT_EQ(Report(single).Table("model").find("below zero"),
            std::string::npos);
}

// Headings are Paddle's; where they say more than is so, a note says less.
TEST(ReportModelTest, NotesSayWhatHeadingsDoNot) {
  EventFeed feed;
  feed.AddWindow(0, 100 * kMs);
  feed.Lane(1, 100, "t");
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 80 * kMs);
  Report report(feed);
  EXPECT_TRUE(Contains(report.Table("overview"), "CPU Time is wall time"));
  EXPECT_TRUE(Contains(report.Table("model"), "It is wall time"));
}

}  // namespace
