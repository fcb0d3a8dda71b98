// SPDX-License-Identifier: Apache-2.0
//
// The worked examples E1 to E8, E14, E15 and E19 of the reference, as far as
// they concern the Device, Overview, Model and UserDefined tables. One step of
// 100 ms unless said; values are typed from the reference. Ranges that the
// reference gives as operators are shown by the UserDefined table where it
// lists them by name.
#include <gtest/gtest.h>

#include <string>

#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

constexpr uint64_t kMs = 1000000;

class WorkedExamplesTest : public testing::Test {
 protected:
  WorkedExamplesTest() {
    feed_.Lane(1, 100, "T1");
    feed_.Lane(2, 200, "T2");
    feed_.Device(1, "GPU0");
    feed_.Device(2, "GPU1");
    feed_.Stream(7, 1);
    feed_.Stream(8, 1);
    feed_.Stream(9, 2);
    feed_.AddWindow(0, 100 * kMs);
  }
  void Step() {
    feed_.Step(0, 100 * kMs);
  }
  void Host(uint32_t lane, uint32_t category, uint64_t from, uint64_t to,
            const char *name = "a") {
    feed_.Range(lane, name, category, from * kMs, to * kMs);
  }
  void Kernel(uint32_t stream, uint64_t from, uint64_t to,
              uint64_t submit = 0) {
    feed_.OnDevice(1, stream, "k", PPROF_CATEGORY_KERNEL, submit * kMs,
                   from * kMs, to * kMs);
  }
  bool Has(const char *view, const std::string &line,
           ppi_time_unit unit = PPI_TIME_MS) {
    Report report(feed_);
    bool has = report.HasLine(view, line, unit);
    if (!has) ADD_FAILURE() << report.Table(view, unit);
    return has;
  }

  EventFeed feed_;
};

TEST_F(WorkedExamplesTest, E1TouchingRangesOnOneThread) {
  Step();
  Host(1, PPROF_CATEGORY_OPERATOR, 10, 20);
  Host(1, PPROF_CATEGORY_OPERATOR, 20, 30);
  Host(1, PPROF_CATEGORY_USER_DEFINED, 10, 20);
  Host(1, PPROF_CATEGORY_USER_DEFINED, 20, 30);
  EXPECT_TRUE(Has("overview", "Operator 2 20.00 20.00"));
  EXPECT_TRUE(Has("userdefined",
                  "a 2 20.00 / 10.00 / 10.00 / 10.00 / 20.00 "
                  "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
}

TEST_F(WorkedExamplesTest, E2NestedRangesOfOneType) {
  Step();
  Host(1, PPROF_CATEGORY_OPERATOR, 20, 30, "B");
  Host(1, PPROF_CATEGORY_OPERATOR, 10, 50, "A");
  EXPECT_TRUE(Has("overview", "Operator 2 40.00 40.00"));
}

TEST_F(WorkedExamplesTest, E3EqualRangesOnTwoThreads) {
  Step();
  for (uint32_t lane : {1, 2}) {
    Host(lane, PPROF_CATEGORY_OPERATOR, 10, 30);
    Host(lane, PPROF_CATEGORY_FORWARD, 10, 30);
  }
  EXPECT_TRUE(Has("overview", "Operator 2 20.00 20.00"));
  // Paddle prints the sum, 40.00, in its Overview too; here that is the
  // Model table's.
  EXPECT_TRUE(Has("overview", "Forward 2 20.00 20.00"));
  EXPECT_TRUE(Has("model",
                  "Forward 2 40.00 / 20.00 / 20.00 / 20.00 / 40.00 "
                  "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
}

TEST_F(WorkedExamplesTest, E4ZeroLength) {
  Step();
  for (uint32_t category :
       {PPROF_CATEGORY_OPERATOR, PPROF_CATEGORY_USER_DEFINED}) {
    Host(1, category, 10, 10);
    Host(1, category, 10, 20);
    Host(1, category, 30, 30);
  }
  EXPECT_TRUE(Has("overview", "Operator 3 10.00 10.00"));
  EXPECT_TRUE(Has("userdefined",
                  "a 3 10.00 / 3.33 / 10.00 / 0.00 / 10.00 "
                  "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
}

TEST_F(WorkedExamplesTest, E5UnsortedOverThreads) {
  Step();
  Host(1, PPROF_CATEGORY_OPERATOR, 40, 60);
  Host(1, PPROF_CATEGORY_OPERATOR, 10, 20);
  Host(2, PPROF_CATEGORY_OPERATOR, 15, 45);
  Host(2, PPROF_CATEGORY_OPERATOR, 60, 70);
  EXPECT_TRUE(Has("overview", "Operator 4 60.00 60.00"));
}

TEST_F(WorkedExamplesTest, E6StreamsOfOneDevice) {
  Step();
  Host(1, PPROF_CATEGORY_FORWARD, 0, 5);
  Kernel(7, 10, 30, 1);
  Kernel(7, 50, 60, 2);
  Kernel(8, 20, 40, 3);
  EXPECT_TRUE(Has("overview", "Kernel 3 40.00 40.00"));
  EXPECT_TRUE(Has("device", "GPU0 40.00"));
  EXPECT_TRUE(Has("model",
                  "Forward 1 5.00 / 5.00 / 5.00 / 5.00 / 5.00 "
                  "50.00 / 50.00 / 50.00 / 50.00 / 100.00"));
}

TEST_F(WorkedExamplesTest, E7TwoDevices) {
  Step();
  Kernel(7, 10, 30);
  Kernel(9, 20, 50);
  EXPECT_TRUE(Has("device", "GPU0 20.00"));
  EXPECT_TRUE(Has("device", "GPU1 30.00"));
  EXPECT_TRUE(Has("overview", "Kernel 2 40.00 40.00"));
}

TEST_F(WorkedExamplesTest, E8ManyTinyRanges) {
  Step();
  for (uint64_t i = 0; i < 10000; i++)
    feed_.Range(1, "tiny", PPROF_CATEGORY_USER_DEFINED, i * 1000,
                i * 1000 + 100);
  EXPECT_TRUE(Has("overview", "UserDefined 10000 1.00 1.00"));
  EXPECT_TRUE(Has("overview", "UserDefined 10000 1000.00 1.00", PPI_TIME_US));
  EXPECT_TRUE(Has("userdefined",
                  "tiny 10000 1.00 / 0.00 / 0.00 / 0.00 / 1.00 "
                  "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_TRUE(Has("userdefined",
                  "tiny 10000 1000.00 / 0.10 / 0.10 / 0.10 / 1.00 "
                  "0.00 / 0.00 / 0.00 / 0.00 / 0.00",
                  PPI_TIME_US));
}

TEST_F(WorkedExamplesTest, E8TouchingTinyRanges) {
  Step();
  for (uint64_t i = 0; i < 10000; i++)
    feed_.Range(1, "tiny", PPROF_CATEGORY_OPERATOR, i * 1000, i * 1000 + 1000);
  EXPECT_TRUE(Has("overview", "Operator 10000 10.00 10.00"));
}

// 150 + 50 ticks of 10 ms of CPU time in 100 ticks; user 400, system 100,
// softirq 50 and steal 50 are busy, idle 300 and iowait 100 are not.
TEST_F(WorkedExamplesTest, E14Utilisation) {
  Step();
  feed_.Total(PPI_TOTAL_CPU_PROCESS_NS, 200 * 10 * kMs);
  feed_.Total(PPI_TOTAL_CPU_ELAPSED_NS, 100 * 10 * kMs);
  feed_.Total(PPI_TOTAL_CPU_SYSTEM_BUSY_TICKS, 600);
  feed_.Total(PPI_TOTAL_CPU_SYSTEM_IDLE_TICKS, 400);
  EXPECT_TRUE(Has("device", "CPU(Process) 200.00"));
  EXPECT_TRUE(Has("device", "CPU(System) 60.00"));
}

TEST_F(WorkedExamplesTest, E15UnionsInNanoseconds) {
  feed_.Step(0, 200);
  auto host = [&](uint32_t category, uint64_t from, uint64_t to) {
    feed_.Range(1, "x", category, from, to);
  };
  host(PPROF_CATEGORY_USER_DEFINED, 100, 110);
  host(PPROF_CATEGORY_USER_DEFINED, 35, 40);
  host(PPROF_CATEGORY_USER_DEFINED, 90, 100);
  host(PPROF_CATEGORY_OPERATOR, 25, 40);
  host(PPROF_CATEGORY_OPERATOR, 60, 100);
  host(PPROF_CATEGORY_FORWARD, 20, 50);
  host(PPROF_CATEGORY_FORWARD, 50, 110);
  feed_.OnDevice(1, 7, "k", PPROF_CATEGORY_KERNEL, 30, 35, 50);
  feed_.OnDevice(1, 7, "k", PPROF_CATEGORY_KERNEL, 60, 95, 155);
  EXPECT_TRUE(Has("overview", "UserDefined 3 25.00 12.50", PPI_TIME_NS));
  EXPECT_TRUE(Has("overview", "Operator 2 55.00 27.50", PPI_TIME_NS));
  EXPECT_TRUE(Has("overview", "Forward 2 90.00 45.00", PPI_TIME_NS));
  EXPECT_TRUE(Has("overview", "Kernel 2 75.00 37.50", PPI_TIME_NS));
}

TEST_F(WorkedExamplesTest, E19EndBeforeStartCountsAsInvalid) {
  Step();
  Host(1, PPROF_CATEGORY_OPERATOR, 10, 5);
  Host(1, PPROF_CATEGORY_USER_DEFINED, 0, 10);
  Host(1, PPROF_CATEGORY_USER_DEFINED, 5, 15);
  EXPECT_TRUE(Has("overview", "Operator 1 0.00 0.00"));
  EXPECT_TRUE(Has("overview", "UserDefined 2 15.00 15.00"));
  EXPECT_NE(Report(feed_).Table(nullptr).find("invalid 1"), std::string::npos);
}

}  // namespace
