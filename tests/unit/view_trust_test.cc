// SPDX-License-Identifier: Apache-2.0
//
// What stands under a report: what was lost, left out and not known.
#include "print/report_print.h"

#include <gtest/gtest.h>

#include <string>

#include "report_text.h"

namespace pprof_test {
namespace {

std::string Answer(EventFeed *feed) {
  ppi_report_options options = {};
  options.style = PPI_STYLE_ANSWER;
  return Report(*feed).Write(PPI_FORMAT_TABLE, options);
}

TEST(TrustTest, SaysWhenTheOwnCostIsUnknown) {
  EventFeed feed;
  EXPECT_NE(Report(feed).Table("device").find(
                "; clock error ±0 ns; own cost unknown; not crash-safe\n"),
            std::string::npos)
      << Report(feed).Table("device");
  feed.Total(PPI_TOTAL_OWN_COST, 40100);
  EXPECT_NE(Report(feed).Table("device").find(
                "; own cost 40.1 ns per marker, 0.00 ms in total (0.00 %); "),
            std::string::npos);
}

TEST(TrustTest, SaysWhatTheConfigurationLeavesOut) {
  EventFeed feed;
  feed.Total(PPI_TOTAL_RECORDED, 21);
  EXPECT_NE(Answer(&feed).find("\nComplete: 21 records, none lost\n"),
            std::string::npos)
      << Answer(&feed);
  feed.Total(PPI_TOTAL_EXCLUDED, 60);
  EXPECT_NE(
      Answer(&feed).find("\nComplete: 21 records, none lost, 60 excluded\n"),
      std::string::npos)
      << Answer(&feed);
}

}  // namespace
}  // namespace pprof_test
