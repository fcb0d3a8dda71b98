// SPDX-License-Identifier: Apache-2.0
//
// What the Serving view says of requests. All times are typed by hand; each
// figure is worked out beside it from the definitions of docs/serving.md.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "event_feed.h"
#include "report/report.h"
#include "report_text.h"

namespace pprof_test {
namespace {

constexpr uint32_t kChat = PPROF_CATEGORY_INFERENCE;

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    feed_.Lane(1, 11, "engine");
    feed_.AddWindow(0, 20000);
  }
  void Request(uint64_t id, uint64_t arrival_ns, uint64_t end_ns,
               double tokens_in = 0, uint32_t flags = 0) {
    pprof_event &event = feed_.Range(1, class_, kChat, arrival_ns, end_ns);
    event.flags = PPROF_FLAG_ASYNC | PPROF_FLAG_REQUEST | flags;
    Say(&event, id, tokens_in);
  }
  void Served(uint64_t id, uint64_t time_ns) {
    Mark("served", id, time_ns, 0);
  }
  void Token(uint64_t id, uint64_t time_ns, double num = 1) {
    Mark("token", id, time_ns, num);
  }
  void Mark(const std::string &name, uint64_t id, uint64_t time_ns,
            double num) {
    pprof_event &event = feed_.Range(1, name, 0, time_ns, time_ns);
    event.kind = PPROF_KIND_MARK;
    event.flags = PPROF_FLAG_REQUEST;
    Say(&event, id, num);
  }
  void Say(pprof_event *event, uint64_t id, double items) {
    flows_.push_back(id);
    event->flows = &flows_.back();
    event->num_flows = 1;
    if (items == 0) return;
    works_.push_back({sizeof(pprof_work_amount), items, 0, 0, 0});
    event->work = &works_.back();
  }
  // The worked example of docs/serving.md.
  void Example() {
    Served(7, 3000);
    Token(7, 5000);
    Token(7, 6000);
    Token(7, 8000);
    Token(7, 10000, 2);
    Request(7, 1000, 11000, 100);
    Token(8, 3000);
    Request(8, 2000, 4000, 20);
    Served(9, 10000);
    Request(9, 9000, 12000, 5, PPROF_FLAG_CLIPPED);
    Request(10, 100, 200);
  }
  const ppi_serving &Sums(Report *report) {
    if (feed_.Deliver(report->sink()) != PPROF_STATUS_OK) abort();
    const ppi_figures *figures = ppi_report_figures(report->get());
    if (figures->num_serving != 1) abort();
    EXPECT_EQ(class_, figures->serving[0].name);
    return figures->serving[0].sums;
  }
  // n, sum, least, most.
  static std::vector<uint64_t> Of(const ppi_serving &sums,
                                  ppi_serving_time time) {
    const ppi_spread &spread = sums.spreads[time];
    return {spread.n, spread.sum, spread.min, spread.max};
  }

  std::string class_ = "chat";
  EventFeed feed_;
  std::deque<uint64_t> flows_;
  std::deque<pprof_work_amount> works_;
};

using Numbers = std::vector<uint64_t>;

TEST_F(ServingTest, WorkedExample) {
  Example();
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ(3u, sums.num_whole);
  EXPECT_EQ(1u, sums.num_cut);
  EXPECT_EQ(1u, sums.num_silent);
  EXPECT_EQ(120u, sums.tokens_in) << "of the whole ones";
  EXPECT_EQ(6u, sums.tokens_out) << "1 + 1 + 1 + 2, and 1";
  // 7: 11000 - 1000; 8: 4000 - 2000; 10: 200 - 100.
  EXPECT_EQ((Numbers{3, 12100, 100, 10000}), Of(sums, PPI_SERVING_E2E));
  // 7: 3000 - 1000; 8: its first token, 3000 - 2000; 10 was never served.
  EXPECT_EQ((Numbers{3, 3100, 100, 2000}), Of(sums, PPI_SERVING_QUEUE));
  // 7: 5000 - 1000; 8: 3000 - 2000.
  EXPECT_EQ((Numbers{2, 5000, 1000, 4000}), Of(sums, PPI_SERVING_TTFT));
  // 7: 5000 - 3000; 8: scheduled with its token.
  EXPECT_EQ((Numbers{2, 2000, 0, 2000}), Of(sums, PPI_SERVING_PREFILL));
  // 7: 10000 - 5000; 8: one token.
  EXPECT_EQ((Numbers{2, 5000, 0, 5000}), Of(sums, PPI_SERVING_DECODE));
  // 7: 1000, 2000, 2000.
  EXPECT_EQ((Numbers{3, 5000, 1000, 2000}), Of(sums, PPI_SERVING_ITL));
  // 7: (10000 - 4000) / (5 - 1).
  EXPECT_EQ((Numbers{1, 1500, 1500, 1500}), Of(sums, PPI_SERVING_TPOT));
  EXPECT_EQ(0u, sums.num_unequal);
  // Waiting: 2000 + 1000 + 100 + 1000 of the cut one. Running: 8000 + 1000 + 0
  // + 2000.
  EXPECT_EQ(4100u, sums.waiting_ns);
  EXPECT_EQ(11000u, sums.running_ns);
}

TEST_F(ServingTest, GoodIsWhatKeepsAllThatIsAsked) {
  const struct {
    ppi_slo slo;
    uint64_t good;
  } cases[] = {
      {{0, 0, 0, 0}, 2},                           // who has a token at all
      {{4000, 0, 0, 0}, 2},                        // TTFT of 4000 and 1000
      {{3999, 0, 0, 0}, 1}, {{0, 2000, 0, 0}, 2},  // gaps of up to 2000
      {{0, 1999, 0, 0}, 1}, {{0, 0, 1499, 0}, 1},  // a TPOT of 1500
      {{0, 0, 0, 9999}, 1},                        // 10000 from end to end
      {{999, 0, 0, 0}, 0}};
  Example();
  for (const auto &at : cases) {
    Report report;
    ppi_report_details details = {};
    details.warmup = -1;
    details.slo = at.slo;
    ppi_report_set_details(report.get(), &details);
    EXPECT_EQ(at.good, Sums(&report).num_good) << at.slo.ttft_ns;
  }
}

// Who runs waits for the prefill of who is scheduled in between.
TEST_F(ServingTest, GapsWithAPrefillAreTold) {
  Served(7, 100);
  Token(7, 200);
  Token(7, 300);
  Served(8, 310);
  Token(7, 900);
  Token(8, 910);
  Served(7, 950);
  Served(8, 950);
  Token(7, 1000);
  Token(8, 1010);
  Request(7, 0, 1100);
  Request(8, 50, 1200);
  Report report;
  const ppi_serving &sums = Sums(&report);
  // 7: 100, 600, 100; 8: 100. The one of 600 has 310 in it.
  EXPECT_EQ((Numbers{4, 900, 100, 600}), Of(sums, PPI_SERVING_ITL));
  EXPECT_EQ((Numbers{1, 600, 600, 600}), Of(sums, PPI_SERVING_ITL_MIXED));
}

TEST_F(ServingTest, ANumberMayComeAgain) {
  Token(7, 200);
  Request(7, 100, 300);
  Token(7, 1500);
  Token(7, 1600);
  Request(7, 1000, 2000);
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ(2u, sums.num_whole);
  EXPECT_EQ(3u, sums.tokens_out);
  EXPECT_EQ((Numbers{2, 600, 100, 500}), Of(sums, PPI_SERVING_TTFT));
  EXPECT_EQ((Numbers{1, 100, 100, 100}), Of(sums, PPI_SERVING_ITL));
}

// Whatever is delivered first.
TEST_F(ServingTest, TokensMayComeAfterTheirRequest) {
  Request(7, 1000, 11000);
  Token(7, 6000);
  Token(7, 5000);
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ((Numbers{1, 4000, 4000, 4000}), Of(sums, PPI_SERVING_TTFT));
  EXPECT_EQ((Numbers{1, 1000, 1000, 1000}), Of(sums, PPI_SERVING_ITL));
}

TEST_F(ServingTest, SumsOfRunsAddUp) {
  Example();
  Report one, other;
  const ppi_serving &sums = Sums(&one);
  Sums(&other);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_merge(one.get(), other.get()));
  EXPECT_EQ(6u, ppi_report_figures(one.get())->serving[0].sums.num_whole);
  EXPECT_EQ(6u, ppi_report_figures(one.get())
                    ->serving[0]
                    .sums.spreads[PPI_SERVING_ITL]
                    .n);
  (void)sums;
}

TEST_F(ServingTest, TheViewHasARowForEachTime) {
  Example();
  Report report;
  Sums(&report);
  EXPECT_TRUE(report.HasLine(
      "serving", "chat TTFT 2 2500.00 / 1000.00 / 4000.00*/ 4000.00*/ 4000.00",
      PPI_TIME_NS))
      << report.Table("serving", PPI_TIME_NS);
  const std::string text = report.Table("serving", PPI_TIME_NS);
  EXPECT_NE(std::string::npos,
            text.find("End to end = TTFT + (n - 1) x TPOT in 1 of 1 requests."))
      << text;
}

TEST_F(ServingTest, WithoutRequestsThereIsNoView) {
  feed_.Range(1, "decode", kChat, 0, 10);
  Report report(feed_);
  EXPECT_EQ(std::string::npos, report.Table(nullptr).find("Serving"));
  EXPECT_NE(std::string::npos, report.Table("serving").find("no request"));
}

}  // namespace
}  // namespace pprof_test
