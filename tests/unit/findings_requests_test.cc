// SPDX-License-Identifier: Apache-2.0
//
// Findings about requests one by one.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// `num` requests, one each 200 ms, of two stages of 10 ms. Of each 80th request
// the first stage takes so long, of the next one the second begins so late.
EventFeed Requests(uint64_t num, uint64_t long_ms, uint64_t late_ms) {
  EventFeed feed = FindingsFeed(false);
  for (uint64_t i = 0; i < num; i++) {
    uint64_t now_ns = 200 * i * kMs;
    uint64_t end_ns = now_ns + (i % 80 == 40 ? long_ms : 10) * kMs;
    uint64_t next_ns = end_ns + (i % 80 == 41 ? late_ms : 0) * kMs;
    OfRequest(&OnHost(&feed, 1, "parse", now_ns, end_ns), i + 1);
    OfRequest(&OnHost(&feed, 2, "store", next_ns, next_ns + 10 * kMs), i + 1);
  }
  feed.AddWindow(0, 200 * num * kMs);
  return feed;
}

TEST(FindingsRequestsTest, AStageThatMakesTheTailIsNamed) {
  EventFeed feed = Requests(1600, 110, 0);
  FindingsReport report(&feed);
  // 16 of the 20 slow ones: 120 ms, others 20.
  EXPECT_EQ(
      "The slowest 1 % of requests take 120 ms or more, a usual one 20.0 ms: "
      "100 % of the difference is more of parse.",
      report.Text("tail"));
  EXPECT_STREQ("16 slow requests of 1600; at least 100 %",
               report.Get("tail").sure);
  EXPECT_EQ("tail", report.Problems());
  EXPECT_EQ(nullptr, report.Of("few-requests"));
}

TEST(FindingsRequestsTest, SoIsWaitingBeforeAStage) {
  EventFeed feed = Requests(1600, 10, 100);
  FindingsReport report(&feed);
  EXPECT_EQ(
      "The slowest 1 % of requests take 120 ms or more, a usual one 20.0 ms: "
      "100 % of the difference passes before store begins, while nothing "
      "recorded works for them.",
      report.Text("tail"));
}

TEST(FindingsRequestsTest, ATailOfTwoCausesIsNotThatOfOne) {
  // The 20 of the second kind are slower, and 16 of them are all there is.
  EventFeed one = Requests(1600, 110, 101);
  EXPECT_NE(nullptr, FindingsReport(&one).Of("tail"));
  // Alike, half of either kind is among the slowest.
  EventFeed both = Requests(1600, 110, 100);
  EXPECT_EQ(nullptr, FindingsReport(&both).Of("tail"));
}

TEST(FindingsRequestsTest, RequestsThatAreHardlySlowerHaveNoTail) {
  EventFeed feed = Requests(1600, 19, 0);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("tail"));
  EXPECT_EQ("", report.Problems());
}

TEST(FindingsRequestsTest, FewRequestsAreSaidToBeFew) {
  EventFeed feed = Requests(160, 110, 0);
  FindingsReport report(&feed);
  EXPECT_EQ(nullptr, report.Of("tail"));
  EXPECT_EQ("160 requests say nothing about the slowest 1 %.",
            report.Text("few-requests"));
  EXPECT_FALSE(report.Get("few-requests").is_problem);
}

}  // namespace
}  // namespace pprof_test
