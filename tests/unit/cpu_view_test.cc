// SPDX-License-Identifier: Apache-2.0
//
// The CPU view, worked out by hand, in every format; sums over runs, what is
// not known, and why there is nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/report_text.h"

namespace pprof_test {
namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint32_t kAll = PPROF_CPU_TIMES | PPROF_CPU_RUN_QUEUE;

class CpuViewTest : public ::testing::Test {
 protected:
  CpuViewTest() {
    feed_.Lane(1, 101, "main");
    feed_.AddWindow(0, 100 * kMs);
  }
  // Times in ms.
  pprof_cpu_use &Add(const std::string &name, uint64_t start, uint64_t end,
                     uint32_t known, uint64_t user, uint64_t sys) {
    pprof_event &event =
        feed_.Range(1, name, PPROF_CATEGORY_PREPROCESS, start * kMs, end * kMs);
    uses_.push_back({});
    pprof_cpu_use &use = uses_.back();
    use.size = sizeof use;
    use.known = known;
    use.user_ns = user * kMs;
    use.sys_ns = sys * kMs;
    event.cpu = &use;
    return use;
  }
  void AddWorkedExample() {
    Add("copy", 2, 5, kAll, 3, 0);
    pprof_cpu_use *use = &Add("decode", 0, 10, kAll, 6, 2);
    use->inner_ns = 3 * kMs;
    use->run_queue_ns = 1 * kMs;
    use->voluntary_switches = 2;
    use->involuntary_switches = 1;
    use->minor_faults = 5;
    use = &Add("decode", 10, 30, kAll, 4, 1);
    use->run_queue_ns = 2 * kMs;
    use->voluntary_switches = 3;
    use->minor_faults = 1;
    use->major_faults = 1;
    Add("copy", 40, 45, 0, 0, 0);
    feed_.Range(1, "unlisted", PPROF_CATEGORY_PREPROCESS, 45 * kMs, 50 * kMs);
    use = &Add("send", 50, 60, PPROF_CPU_TIMES, 1, 1);
    use->voluntary_switches = 4;
    Add("wait", 60, 70, 0, 0, 0);
    // The kernel was asked a little outside.
    Add("spin", 70, 71, kAll, 0, 1).run_queue_ns = 1;
  }

  EventFeed feed_;
  std::deque<pprof_cpu_use> uses_;
};

TEST_F(CpuViewTest, Table) {
  AddWorkedExample();
  std::ifstream golden("tests/golden/report_cpu_view.txt");
  std::ostringstream expected;
  expected << golden.rdbuf();
  EXPECT_EQ(expected.str(), Report(feed_).Table("cpu"));
}

TEST_F(CpuViewTest, Csv) {
  AddWorkedExample();
  EXPECT_EQ(
      "name,category,calls,measured,real_ns,user_ns,sys_ns,cpu_ratio_%,"
      "cpu_self_ns,blocked_ns,run_queue_ns,voluntary_switches,"
      "involuntary_switches,minor_faults,major_faults,waits_ns,"
      "blocked_unrecorded_ns,waits_on_processor_ns\n"
      "decode,Preprocess,2,2,30000000,10000000,3000000,43.333333,10000000,"
      "14000000,3000000,5,1,6,1,,,\n"
      "copy,Preprocess,2,1,3000000,3000000,0,100.0,3000000,0,0,0,0,0,0,,,\n"
      "send,Preprocess,1,1,10000000,1000000,1000000,20.0,2000000,,,4,0,0,0,,,\n"
      "spin,Preprocess,1,1,1000000,0,1000000,100.0,1000000,0,0,0,0,0,0,,,\n"
      "wait,Preprocess,1,0,,,,,,,,,,,,,,\n",
      Report(feed_).Write(PPI_FORMAT_CSV, "cpu"));
}

TEST_F(CpuViewTest, Json) {
  Add("copy", 40, 45, 0, 0, 0);
  Add("copy", 50, 54, kAll, 1, 2).major_faults = 7;
  const std::string json = Report(feed_).Json("cpu");
  EXPECT_NE(std::string::npos,
            json.find("[\"copy\",\"Preprocess\",2,1,4000000,1000000,2000000,"
                      "75.0,3000000,1000000,0,0,0,0,7,null,null,"
                      "null]"))
      << json;
}

TEST_F(CpuViewTest, Markdown) {
  Add("copy", 50, 54, PPROF_CPU_TIMES, 1, 2).minor_faults = 7;
  const std::string text = Report(feed_).Write(PPI_FORMAT_MARKDOWN, "cpu");
  EXPECT_NE(std::string::npos,
            text.find("| copy | 1 | 4.00 | 1.00 | 2.00 | 75.00 |\n"))
      << text;
}

// 50 of 100 ms in waits, 10 on a processor and 20 in line for one leave 20; of
// a wait of 30 ms that takes a processor 10 ms, these are no wait.
TEST_F(CpuViewTest, WaitsAndProcessorsAgreeOrShowTheDifference) {
  pprof_numbers wait = {};
  wait.size = sizeof wait;
  wait.num = 4;
  const uint64_t values[] = {8, 101, feed_.Site("refill", 1), 1};
  memcpy(wait.values, values, sizeof values);
  for (uint64_t start : {10, 40})
    feed_
        .Range(1, "wait for cache", PPROF_CATEGORY_WAIT, start * kMs,
               (start + 25) * kMs)
        .numbers = &wait;
  Add("serve", 0, 100, kAll, 10, 0).run_queue_ns = 20 * kMs;
  feed_.Range(1, "wait for cache", PPROF_CATEGORY_WAIT, 110 * kMs, 140 * kMs)
      .numbers = &wait;
  Add("spin", 110, 140, kAll, 10, 0);
  Report report(feed_);
  const std::string csv = report.Write(PPI_FORMAT_CSV, "cpu");
  EXPECT_NE(std::string::npos, csv.find("0,0,0,0,50000000,20000000,0\n"));
  EXPECT_NE(std::string::npos, csv.find("0,0,0,0,30000000,0,10000000\n"));
  const std::string json = report.Json("cpu");
  for (const char *text :
       {"serve is blocked 20.0 ms of 100.0 ms without a recorded wait",
        "spin computes for 10.0 ms of 30.0 ms of recorded waits"})
    EXPECT_NE(std::string::npos, json.find(text)) << json;
}

TEST_F(CpuViewTest, RunsAddUp) {
  AddWorkedExample();
  EventFeed other;
  other.Run("ffeeddccbbaa99887766554433221100", "7");
  other.Lane(1, 101, "main");
  other.AddWindow(0, 100 * kMs);
  pprof_cpu_use use = {};
  use.size = sizeof use;
  use.known = PPROF_CPU_TIMES;
  use.user_ns = 5 * kMs;
  use.involuntary_switches = 8;
  use.inner_ns = 1 * kMs;
  other.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, 10 * kMs).cpu = &use;
  Report both(feed_), second(other);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_merge(both.get(), second.get()));
  // One of three calls does not tell how long it waited for a CPU.
  EXPECT_NE(std::string::npos,
            both.Write(PPI_FORMAT_CSV, "cpu")
                .find("\ndecode,Preprocess,3,3,40000000,15000000,3000000,45.0,"
                      "14000000,,,5,9,6,1,,,\n"));
}

TEST_F(CpuViewTest, ShownWhereItIsMeasured) {
  feed_.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, 10 * kMs);
  EXPECT_EQ(std::string::npos,
            Report(feed_).Table(nullptr).find("CPU Summary"));
  Add("copy", 50, 54, kAll, 1, 2);
  EXPECT_NE(std::string::npos,
            Report(feed_).Table(nullptr).find("CPU Summary"));
}

TEST_F(CpuViewTest, WhyThereIsNothing) {
  feed_.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, 10 * kMs);
  const std::string line =
      "CPU Summary: no range's CPU use was measured; the configuration lists "
      "their names under 'cpu'\n";
  EXPECT_EQ(0u, Report(feed_).Table("cpu").find(line));
}

}  // namespace
}  // namespace pprof_test
