// SPDX-License-Identifier: Apache-2.0
//
// What the Serving view says of requests. All times are typed by hand; each
// figure is worked out beside it from the definitions of docs/serving.md.
#include "findings_report.h"
#include "report/figures/machine.h"
#include "serving_fixture.h"

namespace pprof_test {
namespace {

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

// 7 and 9 have one each behind their ends, 8 two before another one has its
// number, and one behind that; 10 is cut, 11 has no range.
TEST_F(ServingTest, TokensBehindTheEndAreCounted) {
  Token(7, 200);
  Token(7, 250);
  Request(7, 100, 300);
  Token(7, 400);
  Request(8, 100, 300);
  Token(8, 500, 2);
  Token(8, 600);
  Token(8, 750);
  Request(8, 700, 800);
  Token(8, 900);
  Request(9, 100, 300);
  Served(9, 310);
  Token(9, 350, 5);
  Request(10, 100, 300, 0, PPROF_FLAG_CLIPPED);
  Token(10, 400);
  Token(11, 400);
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ(4u, sums.num_whole);
  EXPECT_EQ(3u, sums.tokens_out) << "two of 7, one of 8";
  EXPECT_EQ(4u, sums.num_unequal) << "7, 8 twice, 9";
  // 1 of 7, 3 of 8, 2 of 9, 1 of 10, 1 of 11.
  EXPECT_NE(std::string::npos,
            report.Table(nullptr).find(
                "8 marks and ranges belong to requests without a range"))
      << report.Table(nullptr);
  EXPECT_NE(std::string::npos,
            report.Table("serving").find(
                "4 of 4 requests got tokens after their end"));
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

// 1000 + 100 a request + 500 for each that is there for the first time.
TEST_F(ServingTest, IterationsTellWhatTheyServe) {
  Iteration(1000, 2600, {1});
  Iteration(3000, 4100, {1});
  Iteration(5000, 6700, {1, 2});
  Iteration(7000, 8200, {1, 2});
  Iteration(9000, 10800, {1, 2, 3});
  Iteration(11000, 12300, {1, 2, 3});
  for (uint64_t id = 1; id <= 3; id++) Request(id, 500, 13000, 50);
  Report report;
  const ppi_serving &step = SumsOf(&report, "step");
  EXPECT_EQ(0u, step.num_whole);
  EXPECT_EQ((Numbers{3, 3600, 1100, 1300}), Of(step, PPI_SERVING_ITERATION));
  EXPECT_EQ((Numbers{3, 5100, 1600, 1800}),
            Of(step, PPI_SERVING_ITERATION_MIXED));
  EXPECT_EQ(6u, step.iterations.n);
  EXPECT_EQ(12u, step.iterations.batch);
  EXPECT_EQ(3u, step.iterations.most);
  EXPECT_EQ(3u, step.iterations.prefills);
  ppi_iteration_fit fit;
  ASSERT_TRUE(ppi_iterations_fit(&step.iterations, &fit));
  EXPECT_NEAR(1000, fit.base_ns, 1e-6);
  EXPECT_NEAR(100, fit.request_ns, 1e-6);
  EXPECT_NEAR(500, fit.prefill_ns, 1e-6);
  EXPECT_TRUE(report.HasLine(
      "serving",
      "step iteration 3 1200.00 / 1200.00 / 1300.00*/ 1300.00*/ 1300.00",
      PPI_TIME_NS))
      << report.Table("serving", PPI_TIME_NS);
  EXPECT_NE(
      std::string::npos,
      report.Table("serving", PPI_TIME_NS).find("ms more, 0.01 us a token\n"))
      << "500 ns by 50 tokens";
}

// Requests 7 (10 000 ns, of which 6000 queue, 1000 prefill, 2000 beside a
// prefill) and 8 (700 ns).
TEST_F(ServingTest, TheAnswerIsWhatTheSlowestWaitFor) {
  Served(7, 7000);
  Token(7, 8000);
  Served(8, 9000);
  Token(8, 9500);
  Token(7, 10000);
  Request(8, 8900, 9600, 20);
  Request(7, 1000, 11000, 20);
  FindingsReport findings(&feed_);
  EXPECT_STREQ(
      "chat: 600 ns to the first token, then one each 3.00 us; of the "
      "slowest: queue 60 %, beside prefills 20 %, prefill 10 %, rest "
      "10 %.",
      findings.all().answer);
  EXPECT_STREQ(
      "serve more requests at a time, make iterations shorter, or add "
      "a server.",
      findings.all().answer_next);
}

// An iteration of one takes 100 ns longer than one of two.
TEST_F(ServingTest, MoreRequestsTakeNoLessTime) {
  Iteration(900, 1000, {1, 2});
  Iteration(1000, 1500, {1});
  Iteration(2000, 2500, {1});
  Iteration(3000, 3400, {1, 2});
  Request(1, 800, 13000);
  Request(2, 800, 13000);
  Report report;
  ppi_iteration_fit fit;
  ASSERT_TRUE(ppi_iterations_fit(&SumsOf(&report, "step").iterations, &fit));
  EXPECT_EQ(0, fit.request_ns);
  EXPECT_NEAR(1400.0 / 3, fit.base_ns, 1e-6);
}

TEST_F(ServingTest, BatchesThatAreAlikeTellNoFit) {
  for (uint64_t at = 1000; at < 9000; at += 1000) Iteration(at, at + 500, {1});
  Request(1, 500, 13000);
  Report report;
  ppi_iteration_fit fit;
  EXPECT_FALSE(ppi_iterations_fit(&SumsOf(&report, "step").iterations, &fit));
}

// The loop around it and what it calls serve nothing.
TEST_F(ServingTest, TheInnermostRangeAroundTheCallServes) {
  Served(1, 1010).depth = 2;
  feed_.Range(1, "forward", kChat, 1020, 1400).depth = 2;
  feed_.Range(1, "step", kChat, 1000, 1500).depth = 1;
  feed_.Range(1, "step", kChat, 1600, 1700).depth = 1;
  feed_.Range(1, "loop", kChat, 900, 1900).depth = 0;
  Request(1, 500, 13000);
  Report report;
  EXPECT_EQ(1u, SumsOf(&report, "step").iterations.n);
  EXPECT_EQ(2u, ppi_report_figures(report.get())->num_serving);
}

// Said outside of all ranges, in one that is lost, and in one that was cut.
TEST_F(ServingTest, WhatNoRangeIsAroundMakesNoIteration) {
  Served(1, 1010);
  Served(1, 1100).depth = 1;
  feed_.Range(1, "step", kChat, 1200, 1500);
  Served(1, 1610).depth = 1;
  feed_.Range(1, "step", kChat, 1600, 1700).flags = PPROF_FLAG_CLIPPED;
  Request(1, 500, 13000);
  Report report;
  EXPECT_EQ(0u, Sums(&report).iterations.n);
}

TEST_F(ServingTest, TheSlowestTellWhereTheirTimeWent) {
  Example();
  Report report;
  ppi_serving_slow slow;
  // 7, of 10000: four lengths from 8192 to 16384.
  EXPECT_EQ(8192u, ppi_serving_slowest(&Sums(&report), &slow));
  EXPECT_EQ(1u, slow.n);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_QUEUED]);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_PREFILLED]);
  EXPECT_EQ(5000u, slow.parts_ns[PPI_SERVING_DECODED]);
  EXPECT_EQ(0u, slow.parts_ns[PPI_SERVING_MIXED]);
  EXPECT_EQ(1000u, slow.parts_ns[PPI_SERVING_REST]);
}

TEST_F(ServingTest, WhatServesMaySaySinceWhen) {
  const double ago_ns[] = {500, 0, -1, NAN};
  for (uint64_t i = 0; i < 4; i++) {
    Served(i + 1, 3500).value = ago_ns[i];
    Token(i + 1, 5000);
    Request(i + 1, 1000, 11000);
  }
  Report report;
  const ppi_serving sums = Sums(&report);
  EXPECT_EQ((Numbers{4, 2000 + 3 * 2500, 2000, 2500}),
            Of(sums, PPI_SERVING_QUEUE));
  EXPECT_EQ((Numbers{4, 2000 + 3 * 1500, 1500, 2000}),
            Of(sums, PPI_SERVING_PREFILL));
}

TEST_F(ServingTest, TheSlowestHundredthIsLookedAt) {
  // 300 of 100 ns that only waited, and four of 10000 to 10003.
  for (uint64_t i = 0; i < 300; i++) Request(i + 1, 1000 + i, 1100 + i);
  for (uint64_t i = 0; i < 4; i++) {
    Served(i + 900, 2000);
    Token(i + 900, 2500);
    Request(i + 900, 1500, 11500 + i);
  }
  Report report;
  ppi_serving_slow slow;
  EXPECT_EQ(8192u, ppi_serving_slowest(&Sums(&report), &slow));
  EXPECT_EQ(4u, slow.n);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_QUEUED]);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_PREFILLED]);
  EXPECT_EQ(36006u, slow.parts_ns[PPI_SERVING_REST]) << "4 x 9000 + 0..3";
}

TEST_F(ServingTest, TokensThatCameOneByOneAreNoGap) {
  Mark("token", 7, 2000, 1);
  Mark("token", 7, 6000, 4).flags |= PPROF_FLAG_PROJECTED;
  Request(7, 1000, 6000);
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ(0u, sums.spreads[PPI_SERVING_ITL].n);
  // (5000 - 1000) / (5 - 1)
  EXPECT_EQ((Numbers{1, 1000, 1000, 1000}), Of(sums, PPI_SERVING_TPOT));
}

// pprof_token without pprof_serve: when they were scheduled nobody says.
TEST_F(ServingTest, WithoutAScheduleNothingIsDivided) {
  Token(7, 3000);
  Token(7, 5000);
  Request(7, 1000, 6000);
  Request(8, 1000, 1500);
  Report report;
  const ppi_serving &sums = Sums(&report);
  EXPECT_EQ(1u, sums.num_undivided);
  EXPECT_EQ((Numbers{1, 2000, 2000, 2000}), Of(sums, PPI_SERVING_TTFT));
  EXPECT_EQ(0u, sums.spreads[PPI_SERVING_PREFILL].n);
  EXPECT_EQ((Numbers{1, 500, 500, 500}), Of(sums, PPI_SERVING_QUEUE))
      << "of 8, which got nothing";
  ppi_serving_slow slow;
  ppi_serving_slowest(&sums, &slow);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_TO_FIRST]);
  EXPECT_EQ(2000u, slow.parts_ns[PPI_SERVING_TO_LAST]);
  EXPECT_EQ(1000u, slow.parts_ns[PPI_SERVING_REST]);
  EXPECT_FALSE(ppi_serving_part_is_known(&slow, PPI_SERVING_QUEUED));
  EXPECT_FALSE(ppi_serving_part_is_known(&slow, PPI_SERVING_MIXED));
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

// Rates and how many at a time are of the log that has the requests, from the
// first arrival to the last end: of 100 to 12000 of 20000, and of no other log.
TEST_F(ServingTest, RatesAreOfTheTimeOfRequests) {
  Example();
  Report one, other;
  EXPECT_EQ(11900u, Sums(&one).span_ns);
  EventFeed idle;
  idle.Run("ffeeddccbbaa99887766554433221100", "7");
  idle.Lane(1, 11, "worker");
  idle.AddWindow(0, 50000);
  ASSERT_EQ(PPROF_STATUS_OK, idle.Deliver(other.sink()));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_merge(one.get(), other.get()));
  const std::string table = one.Table("serving");
  // 3 in 11900 ns, 6 tokens; 4100 and 11000 ns of waiting and running.
  EXPECT_NE(std::string::npos, table.find("chat: 3 requests, 252100.8/s"))
      << table;
  EXPECT_NE(std::string::npos, table.find(", out 6, 504201.7/s")) << table;
  EXPECT_NE(std::string::npos,
            table.find("at a time waiting 0.34, running 0.92"))
      << table;
}

TEST_F(ServingTest, TheViewHasARowForEachTime) {
  Example();
  Report report;
  Sums(&report);
  EXPECT_TRUE(report.HasLine(
      "serving", "chat TTFT 2 2500.00 / 1000.00 / 4000.00*/ 4000.00*/ 4000.00",
      PPI_TIME_NS))
      << report.Table("serving", PPI_TIME_NS);
  EXPECT_EQ(std::string::npos, report.Table("serving").find("after their end"));
}

// 10 for 100 ns, 40 for 200, 20 for 500, 40 for 200: 27 over 1000 ns; then
// another capture window. The machine's come last, without a name before ours.
TEST_F(ServingTest, CountersHaveTheirValuesOverTime) {
  const struct {
    uint64_t time_ns;
    double value;
    uint32_t window;
  } values[] = {{1000, 10, 0}, {1100, 40, 0}, {1300, 20, 0}, {1800, 40, 0},
                {1900, 40, 0}, {2000, 5, 0},  {9000, 7, 1},  {9500, NAN, 1}};
  feed_.Category(90, PPI_CATEGORY_MACHINE);
  feed_.AddWindow(8000, 20000);
  for (const auto &one : values) {
    pprof_event &event = feed_.Range(1, "kv use", PPROF_CATEGORY_USER_DEFINED,
                                     one.time_ns, one.time_ns);
    event.kind = PPROF_KIND_COUNTER;
    event.value = one.value;
    event.window = one.window;
  }
  feed_.Range(1, "a machine's", 90, 1000, 1000).kind = PPROF_KIND_COUNTER;
  Report report(feed_);
  const std::string table = report.Table("counters", PPI_TIME_NS);
  EXPECT_TRUE(report.HasLine(
      "counters", "kv use 7 5.00 / 27.00 / 40.00 40.00 200.00 / 1100.00",
      PPI_TIME_NS))
      << table;
  EXPECT_LT(table.find("kv use"), table.find("a machine's 1 ")) << table;
}

TEST_F(ServingTest, WithoutRequestsThereIsNoView) {
  feed_.Range(1, "decode", kChat, 0, 10);
  Report report(feed_);
  EXPECT_EQ(std::string::npos, report.Table(nullptr).find("Serving"));
  EXPECT_NE(std::string::npos, report.Table("serving").find("no request"));
}

}  // namespace
}  // namespace pprof_test
