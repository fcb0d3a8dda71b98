// SPDX-License-Identifier: Apache-2.0
//
// Requests with tokens that several processes serve, as the Serving view says.
#include <memory>

#include "serving_fixture.h"

namespace pprof_test {
namespace {

// A server has the request from 1000 to 5000, its tokens at 3100 and 4100. An
// engine began 10 ns later; it serves it and makes the tokens.
class JoinedServingTest : public ServingTest {
 protected:
  struct Process {
    const char *name;  // of its request; nullptr: marks alone
    uint64_t arrival_ns, end_ns, served_ns;
    std::vector<uint64_t> tokens_ns;
    const char *beside = nullptr;  // the class of another request
  };
  using Joined = std::shared_ptr<pprof_report>;
  static Joined Sum(const std::vector<Process> &processes, uint64_t flow) {
    pprof_report *all = nullptr;
    ppi_report_details details = {};
    details.joins = true;
    for (size_t i = 0; i < processes.size(); i++) {
      pprof_report *one = nullptr;
      if (pprof_report_create(&one) != PPROF_STATUS_OK) abort();
      ppi_report_set_details(one, &details);
      Deliver(processes[i], i, flow, one);
      if (i && ppi_report_add(all, one) != PPROF_STATUS_OK) abort();
      i ? pprof_report_destroy(one) : (void)(all = one);
    }
    EXPECT_EQ(PPROF_STATUS_OK, ppi_report_join(all));
    return Joined(all, pprof_report_destroy);
  }
  static void Deliver(const Process &of, size_t number, uint64_t flow,
                      pprof_report *to) {
    JoinedServingTest own;
    own.feed_.Run(std::string(31, '0') + std::to_string(number),
                  std::to_string(number));
    own.feed_.SetBegan(5000 + 10 * number);
    own.feed_.Lane(1, 11, "main");
    own.feed_.AddWindow(0, 20000);
    if (of.served_ns) own.Served(flow, of.served_ns);
    for (uint64_t time_ns : of.tokens_ns) own.Token(flow, time_ns);
    if (of.name) own.class_ = of.name;
    if (of.end_ns) own.Request(flow, of.arrival_ns, of.end_ns, 100);
    if (of.name && !of.end_ns) own.Request(flow ^ 1, 100, 200);
    if (of.beside) {
      own.class_ = of.beside;
      own.Request(flow ^ 1, 100, 200);
    }
    EXPECT_EQ(PPROF_STATUS_OK, own.feed_.Deliver(pprof_report_sink(to)));
  }
  void TestBody() override {}
};

TEST_F(JoinedServingTest, AnEnginesQueueAndTokensAreOfTheServersRequest) {
  const Joined report = Sum({{"server", 1000, 5000, 0, {3100, 4100}},
                             {"engine", 1190, 4190, 1490, {2990, 3990}}},
                            7);
  const ppi_serving &sums = Find(report.get(), "server");
  EXPECT_EQ(1u, sums.num_whole);
  EXPECT_EQ(0u, sums.num_undivided);
  EXPECT_EQ(2u, sums.tokens_out) << "each once";
  EXPECT_EQ((Numbers{1, 4000, 4000, 4000}), Of(sums, PPI_SERVING_E2E));
  // By the server's clock 1000, 1200, 1500, 3000 and 4000.
  EXPECT_EQ((Numbers{1, 200, 200, 200}), Of(sums, PPI_SERVING_BEFORE_QUEUE));
  EXPECT_EQ((Numbers{1, 300, 300, 300}), Of(sums, PPI_SERVING_QUEUE));
  EXPECT_EQ((Numbers{1, 1500, 1500, 1500}), Of(sums, PPI_SERVING_PREFILL));
  EXPECT_EQ((Numbers{1, 1000, 1000, 1000}), Of(sums, PPI_SERVING_ITL));
  // The first token is there at 3100; then one in 1900.
  EXPECT_EQ((Numbers{1, 2100, 2100, 2100}), Of(sums, PPI_SERVING_TTFT));
  EXPECT_EQ((Numbers{1, 1900, 1900, 1900}), Of(sums, PPI_SERVING_TPOT));
  EXPECT_FALSE(ppi_serving_is_class(&Find(report.get(), "engine")));
}

TEST_F(JoinedServingTest, MarksByNumberAreOfAnotherProcessRequest) {
  const Joined report = Sum(
      {{"server", 1000, 5000, 0, {}}, {nullptr, 0, 0, 1490, {2990, 3990}}}, 7);
  const ppi_serving &sums = Find(report.get(), "server");
  EXPECT_EQ((Numbers{1, 500, 500, 500}), Of(sums, PPI_SERVING_QUEUE));
  EXPECT_EQ((Numbers{1, 2000, 2000, 2000}), Of(sums, PPI_SERVING_TTFT));
  EXPECT_EQ(0u, ppi_report_figures(report.get())->num_notes);
  const Joined lone = Sum({{nullptr, 0, 0, 1490, {2990}}}, 7);
  EXPECT_EQ(1u, ppi_report_figures(lone.get())->num_notes);
}

TEST_F(JoinedServingTest, WhatAKilledEngineServedIsCut) {
  const Joined report = Sum(
      {{"server", 1000, 5000, 0, {3100}}, {"engine", 0, 0, 1490, {2990}}}, 7);
  EXPECT_EQ(1u, Find(report.get(), "server").num_cut);
}

// Two servers of one kind number their requests alike; contexts do not.
TEST_F(JoinedServingTest, ProcessesOfOneClassHaveNumbersOfTheirOwn) {
  for (uint64_t flow : {UINT64_C(7), UINT64_C(1) << 63 | 7}) {
    const Joined report = Sum({{"chat", 1000, 5000, 1400, {3100}},
                               {"chat", 1190, 4190, 1490, {2990}}},
                              flow);
    EXPECT_EQ(flow >> 63 ? 1u : 2u, Find(report.get(), "chat").num_whole);
  }
}

// Two servers of one kind serve "health", so 7 is another request in each.
TEST_F(JoinedServingTest, ServicesWithAnyClassInCommonStayApart) {
  for (const std::string beside : {"health", "metrics"}) {
    const Joined report =
        Sum({{"embed", 1000, 5000, 0, {3100}, "health"},
             {"rank", 1190, 4190, 1490, {2990}, beside.c_str()}},
            7);
    const ppi_serving &sums = Find(report.get(), "embed");
    EXPECT_EQ(1u, sums.num_whole);
    // What is joined has its queue from the other process.
    EXPECT_EQ(beside == "health", sums.num_undivided == 1) << beside;
    EXPECT_EQ(beside == "health",
              ppi_serving_is_class(&Find(report.get(), "rank")));
  }
}

}  // namespace
}  // namespace pprof_test
