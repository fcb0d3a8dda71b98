// SPDX-License-Identifier: Apache-2.0
//
// Several runs in one Chrome trace: a process each, on one axis.
#include "tests/unit/chrome_trace.h"

namespace chrome_trace {
namespace {

// A trace that takes runs which began at these times.
void Expect(const Trace &trace, std::vector<uint64_t> shifts_ns,
            uint64_t base_ns) {
  const ppi_chrome_plan plan = {shifts_ns.size(), shifts_ns.data(), base_ns,
                                nullptr};
  ASSERT_EQ(PPROF_STATUS_OK, ppi_chrome_writer_expect(trace.sink(), &plan));
}

// Begin's run has pid 4242, command ./hello.
TEST(ChromeRunsTest, EachIsAProcessOnOneAxis) {
  Trace trace;
  Expect(trace, {0, 5000}, 1763700000123456789);
  for (int run = 0; run < 2; run++) {
    trace.Begin();
    trace.Add(Range(1000, 2000));
    trace.Add(Device(1000, 1100, 3000, 3500));
    trace.Finish();
  }
  EXPECT_EQ("M=22 X=6 rows=6", trace.Check());
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text, "\"baseTimeNanoseconds\":1763700000123456789,\n"));
  EXPECT_EQ(1, Count(text, "\"ts\":1.000,\"dur\":1.000,\"pid\":4242,"));
  // The same pid again, 5 us later.
  EXPECT_EQ(1, Count(text, "\"ts\":6.000,\"dur\":1.000,\"pid\":16777216,"));
  EXPECT_EQ(1, Count(text, "\"ts\":3.000,\"dur\":0.500,\"pid\":1073741825,"));
  EXPECT_EQ(1, Count(text, "\"ts\":8.000,\"dur\":0.500,\"pid\":1073741828,"));
  EXPECT_EQ(2, Count(text, "\"args\":{\"name\":\"hello\"}"));
  EXPECT_EQ(2, Count(text, "\"args\":{\"name\":\"opencl:0\"}"));
  EXPECT_EQ(2, Count(text, "{\"ph\":\"M\",\"name\":\"run\","));
  EXPECT_EQ(2, Count(text, "\"recorded\":12,\n\"lost\":3,\n\"excluded\":0,"));
  EXPECT_EQ(1, Count(text, "\"runs\":2}}"));
}

TEST(ChromeRunsTest, OneNumberTwoRequests) {
  Trace trace;
  Expect(trace, {0, 100}, 0);
  const uint64_t flow = 7;
  for (int run = 0; run < 2; run++) {
    trace.Begin();
    for (uint64_t start : {1000, 3000}) {
      pprof_event event = Range(start, start + 1000);
      event.flows = &flow;
      event.num_flows = 1;
      trace.Add(event);
    }
    trace.Finish();
  }
  // Two flows of two stages, not one of four.
  EXPECT_EQ("M=10 X=4 f=2 s=2 rows=2", trace.Check());
}

// Names, rows and held ranges of one run are none of the next.
TEST(ChromeRunsTest, NothingOfTheRunBeforeIsLeft) {
  Trace trace;
  Expect(trace, {0, 0}, 0);
  trace.Begin();
  trace.Add(Async(1000, 2000));
  trace.Finish();
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(PPROF_STATUS_OK, trace.sink()->begin(trace.sink(), &info));
  trace.Add(Range(1000, 2000));
  trace.Finish();
  EXPECT_EQ("M=10 X=2 rows=2", trace.Check());
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text, "\"name\":\"site 1\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"thread 1\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"process 1\""));
}

TEST(ChromeRunsTest, FileAppearsAfterTheLastOne) {
  Trace trace;
  Expect(trace, {0, 0}, 0);
  trace.Begin();
  trace.Finish();
  EXPECT_FALSE(Exists(trace.path()));
  trace.Begin();
  trace.Finish();
  EXPECT_TRUE(Exists(trace.path()));
  pprof_run_info info = {nullptr, 0, nullptr};
  EXPECT_EQ(PPROF_STATUS_BUSY, trace.sink()->begin(trace.sink(), &info));
}

TEST(ChromeRunsTest, OneRunUnlessMoreAreExpected) {
  Trace trace;
  trace.Begin();
  pprof_run_info info = {nullptr, 0, nullptr};
  EXPECT_EQ(PPROF_STATUS_BUSY, trace.sink()->begin(trace.sink(), &info));
  trace.Finish();
  EXPECT_EQ(PPROF_STATUS_BUSY, trace.sink()->begin(trace.sink(), &info));
}

}  // namespace
}  // namespace chrome_trace
