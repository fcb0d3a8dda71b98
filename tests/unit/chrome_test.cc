// SPDX-License-Identifier: Apache-2.0
//
// The Chrome writer, fed by hand as the collector would feed it. Expected texts
// are typed; tests/support/check_chrome.py says whether rows are sound.
#include "chrome/chrome.h"

#include <cinttypes>
#include <cmath>
#include <cstring>
#include <random>

#include "base/mem.h"
#include "chrome/chrome_state.h"
#include "tests/unit/chrome_trace.h"

namespace chrome_trace {
namespace {

// tests/golden/chrome/small.json was typed from the format's description.
TEST(ChromeTest, SmallTraceIsAsTyped) {
  Trace trace;
  trace.Begin();
  trace.sink()->window(trace.sink(), 0, true, 0);
  const uint64_t flow = 7;
  pprof_work_amount work = {sizeof work, 4, 0, 2.5e9, 0};
  pprof_event child = Range(1500, 2750, 1, 1);
  child.flags = PPROF_FLAG_CLIPPED;
  trace.Add(child);
  pprof_event parent = Range(1000, 4000);
  parent.flows = &flow;
  parent.num_flows = 1;
  parent.work = &work;
  trace.Add(parent);
  pprof_event mark = Range(4001, 4001);
  mark.kind = PPROF_KIND_MARK;
  trace.Add(mark);
  pprof_event counter = Range(4002, 4002);
  counter.kind = PPROF_KIND_COUNTER;
  counter.value = 0.1;
  trace.Add(counter);
  pprof_event device = Device(5000, 5100, 6000, 1006007);
  device.flows = &flow;
  device.num_flows = 1;
  trace.Add(device);
  pprof_event step = Async(0, 2000000, 0);
  step.site = 3;
  step.value = 5;
  trace.Add(step);
  trace.sink()->window(trace.sink(), 0, false, 2000000);
  trace.Finish();
  EXPECT_EQ(Read("tests/golden/chrome/small.json"), Read(trace.path()));
  EXPECT_EQ("C=1 M=12 X=5 f=1 i=3 s=1 t=1 rows=4", trace.Check());
}

TEST(ChromeTest, EmptyTraceIsValid) {
  Trace trace;
  trace.Begin();
  trace.Finish();
  EXPECT_EQ("M=2 rows=0", trace.Check());
}

TEST(ChromeTest, FileAppearsAtFinishOnly) {
  Trace trace;
  EXPECT_TRUE(Exists(trace.path() + ".part"));
  trace.Begin();
  EXPECT_FALSE(Exists(trace.path()));
  trace.Finish();
  EXPECT_TRUE(Exists(trace.path()));
  EXPECT_FALSE(Exists(trace.path() + ".part"));
}

TEST(ChromeTest, DestroyedUnfinishedLeavesNothing) {
  Trace trace;
  trace.Begin();
  trace.Destroy();
  EXPECT_FALSE(Exists(trace.path()));
  EXPECT_FALSE(Exists(trace.path() + ".part"));
}

TEST(ChromeTest, GzipByName) {
  Trace trace("trace.json.gz");
  trace.Begin();
  for (uint64_t i = 0; i < 3000; i++) trace.Add(Range(i * 10, i * 10 + 5));
  trace.Finish();
  EXPECT_EQ("M=4 X=3000 rows=1", trace.Check());
  EXPECT_EQ(0u, ReadGzip(trace.path()).find("{\"displayTimeUnit\":\"ns\""));
}

TEST(ChromeTest, WritesToADescriptor) {
  FILE *file = tmpfile();
  pprof_sink *sink = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_chrome_writer_create_fd(fileno(file), false, &sink, nullptr));
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(PPROF_STATUS_OK, sink->begin(sink, &info));
  pprof_totals totals = {};
  ASSERT_EQ(PPROF_STATUS_OK, sink->finish(sink, &totals));
  sink->destroy(sink);
  EXPECT_EQ(0, fseek(file, 0, SEEK_END));
  EXPECT_GT(ftell(file), 100);
  fclose(file);
}

TEST(ChromeTest, UnwritableFolderSaysWhich) {
  pprof_sink *sink = nullptr;
  pprof_error error;
  EXPECT_EQ(PPROF_STATUS_IO,
            pprof_chrome_writer_create("/nowhere/a.json", &sink, &error));
  EXPECT_STREQ("cannot write /nowhere/a.json.part: No such file or directory",
               error.text);
  EXPECT_EQ(nullptr, sink);
}

TEST(ChromeTest, FullDiskIsAnError) {
  pprof_sink *sink = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_chrome_writer_create("/dev/full", &sink, nullptr));
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(PPROF_STATUS_OK, sink->begin(sink, &info));
  pprof_totals totals = {};
  EXPECT_EQ(PPROF_STATUS_IO, sink->finish(sink, &totals));
  sink->destroy(sink);
  EXPECT_TRUE(Exists("/dev/full"));
  EXPECT_FALSE(Exists("/dev/full.part"));
}

TEST(ChromeTest, NestedRangesShareARow) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(20, 30, 1, 2));
  trace.Add(Range(30, 40, 1, 2));
  trace.Add(Range(20, 40, 1, 1));
  trace.Add(Range(50, 50, 1, 1));
  trace.Add(Range(10, 60, 1, 0));
  trace.Finish();
  EXPECT_EQ("M=4 X=5 rows=1", trace.Check());
}

TEST(ChromeTest, PartialOverlapGoesToAFurtherRow) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(10, 30));
  trace.Add(Range(20, 40));
  trace.Finish();
  EXPECT_EQ("M=6 X=2 rows=2", trace.Check());
  EXPECT_EQ(1, Count(Read(trace.path()), "\"name\":\"main (2)\""));
}

TEST(ChromeTest, ScopeAroundManyRangesKeepsItsRow) {
  Trace trace;
  trace.Begin();
  uint64_t at = 10;
  for (int i = 0; i < 5000; i++, at += 10) {
    trace.Add(Range(at + 1, at + 3, 1, 2));
    trace.Add(Range(at, at + 9, 1, 1));
  }
  trace.Add(Range(5, at, 1, 0));
  trace.Finish();
  EXPECT_EQ("M=4 X=10001 rows=1", trace.Check());
}

TEST(ChromeTest, WanderingRangesOverlapOnRowsOfTheirOwn) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(0, 100));
  ASSERT_EQ(PPROF_STATUS_OK, trace.Send(Async(10, 50), 2));
  ASSERT_EQ(PPROF_STATUS_OK, trace.Send(Async(40, 90), 1));
  ASSERT_EQ(PPROF_STATUS_OK, trace.Send(Async(50, 60), 2));
  trace.Finish();
  EXPECT_EQ("M=8 X=4 rows=3", trace.Check());
  EXPECT_EQ(1, Count(Read(trace.path()), "\"name\":\"main async\""));
  EXPECT_EQ(1, Count(Read(trace.path()), "\"name\":\"main async (2)\""));
}

// What one lane's batches bring first must not decide where things go.
TEST(ChromeTest, RowsDoNotDependOnDeliveryOrder) {
  std::string texts[2];
  for (int turn = 0; turn < 2; turn++) {
    Trace trace;
    trace.Begin();
    const std::pair<pprof_event, uint32_t> sent[] = {{Async(10, 50), 1},
                                                     {Async(60, 95), 1},
                                                     {Async(40, 90), 2},
                                                     {Async(5, 100), 2}};
    for (int i = 0; i < 4; i++) {
      const auto &one = sent[turn ? 3 - i : i];
      ASSERT_EQ(PPROF_STATUS_OK, trace.Send(one.first, one.second));
    }
    trace.Checkpoint(200);
    trace.Finish();
    trace.Check();
    texts[turn] = Read(trace.path());
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(ChromeTest, CheckpointLetsGoOfWhatIsComplete) {
  Trace trace;
  trace.Begin();
  trace.Add(Async(10, 50));
  trace.Add(Async(60, 300));
  auto *writer = reinterpret_cast<ppi_chrome_writer *>(trace.sink());
  EXPECT_EQ(2u, writer->num_buffered);
  trace.Checkpoint(200);
  EXPECT_EQ(1u, writer->num_buffered);
  trace.Add(Device(210, 220, 230, 240));
  EXPECT_EQ(3u, writer->num_buffered);
  pprof_event pending = Device(205, 205, 0, 0);
  trace.Checkpoint(400, {pending});
  EXPECT_EQ(2u, writer->num_buffered) << "the pending one may end before it";
  trace.Checkpoint(500);
  EXPECT_EQ(0u, writer->num_buffered);
  trace.Finish();
  // Two of the checkpoints have events or a checkpoint behind them.
  EXPECT_EQ("M=12 X=4 rows=3", trace.Check());
}

TEST(ChromeTest, HoldsABoundedNumber) {
  Trace trace;
  trace.Begin();
  auto *writer = reinterpret_cast<ppi_chrome_writer *>(trace.sink());
  size_t most = 0;
  for (uint64_t i = 0; i < 70000; i++) {
    trace.Add(Async(i * 10, i * 10 + 10));
    most = std::max<size_t>(most, writer->num_buffered);
  }
  trace.Finish();
  EXPECT_LE(most, 65536u);
  EXPECT_EQ("M=4 X=70000 rows=1", trace.Check());
}

TEST(ChromeTest, DeviceSideLiesOnItsStream) {
  Trace trace;
  trace.Begin();
  trace.Add(Device(100, 110, 150, 250, 1));
  trace.Add(Device(105, 115, 160, 240, 2));
  trace.Add(Device(112, 118, 200, 300, 1));  // overlaps on its stream
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ("M=14 X=6 rows=5", trace.Check());
  EXPECT_EQ(1, Count(text, "{\"name\":\"copies\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"copies (2)\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"stream 9\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"main submit\""));
  EXPECT_EQ(1, Count(text, "\"name\":\"main submit (2)\""));
  EXPECT_EQ(3, Count(text, "\"device_error_ns\":40"));
  EXPECT_EQ(1, Count(text, "\"queue_ns\":50}"));
}

// It begins in the range that was open on the thread, and ends at the kernel.
TEST(ChromeTest, AnArrowLeadsFromTheLaunchToAKernel) {
  Trace trace;
  trace.Begin();
  trace.Define(PPROF_DEFINITION_SITE, 9, "gemm", PPROF_CATEGORY_KERNEL);
  pprof_event kernel = Device(5000, 5000, 6000, 7000);
  kernel.site = 9;
  trace.Add(kernel);  // no range is open
  kernel.depth = 1;
  kernel.device_start_ns += 2000;
  kernel.device_end_ns += 2000;
  trace.Add(kernel);
  trace.Add(Range(4000, 5500));
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text,
                     "{\"ph\":\"s\",\"name\":\"launch\",\"cat\":\"launch\","
                     "\"id\":4503599627370496,\"ts\":5.000,\"pid\":4242,"
                     "\"tid\":4242}"))
      << text;
  EXPECT_EQ(1, Count(text,
                     "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"launch\","
                     "\"cat\":\"launch\",\"id\":4503599627370496,"
                     "\"ts\":8.000,\"pid\":1073741825,"))
      << text;
  trace.Check();
}

// Written anew: other attributes, which may be anything, are left out.
TEST(ChromeTest, AKernelSaysHowItWasLaunched) {
  Trace trace;
  trace.Begin();
  trace.Define(PPROF_DEFINITION_ATTRIBUTES, 1,
               "{\"grid\": [132, 1, 1], \"block\": [256, 1, 1], "
               "\"registers per thread\": 64, \"theoretical occupancy %\": "
               "50.0, \"occupancy limit\": \"registers\", \"more\": 1}",
               0);
  trace.Define(PPROF_DEFINITION_ATTRIBUTES, 2, "}, {\"no\": \"shape", 0);
  for (uint32_t attributes = 0; attributes < 4; attributes++) {
    pprof_event kernel = Device(5000, 5000, 6000, 7000);
    kernel.attributes = attributes;
    trace.Add(kernel);
  }
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text,
                     "\"queue_ns\":1000,\"grid\":[132,1,1],"
                     "\"block\":[256,1,1],\"registers per thread\":64,"
                     "\"shared memory\":0,\"theoretical occupancy %\":50.00,"
                     "\"occupancy limit\":\"registers\"}"))
      << text;
  EXPECT_EQ(1, Count(text, "\"grid\""));
  EXPECT_EQ(0, Count(text, "shape"));
  trace.Check();
}

TEST(ChromeTest, DeviceRangeWithoutTimesShowsItsHostSide) {
  Trace trace;
  trace.Begin();
  pprof_event event = Device(100, 110, 0, 0);
  event.flags = PPROF_FLAG_NO_DEVICE_TIME | PPROF_FLAG_ABANDONED;
  trace.Add(event);
  event.flags = PPROF_FLAG_IN_GRAPH | PPROF_FLAG_LATE;
  event.start_ns = event.end_ns = 120;
  trace.Add(event);
  event.flags = PPROF_FLAG_PAIRED | PPROF_FLAG_INNER;
  event.start_ns = event.end_ns = 130;
  trace.Add(event);
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text, "\"paired\":true,\"inner\":true,"));
  EXPECT_EQ(1, Count(text, "\"abandoned\":true,\"no_device_time\":true,"));
  EXPECT_EQ(1, Count(text, "\"late\":true,\"in_graph\":true,"));
  EXPECT_EQ("M=4 X=3 rows=1", trace.Check());
}

TEST(ChromeTest, TwoLanesOfOneThreadGetTwoRows) {
  Trace trace;
  trace.Begin();
  trace.Define(PPROF_DEFINITION_LANE, 3, "main/domain", 0, 4242);
  trace.Add(Range(10, 30, 1));
  trace.Add(Range(20, 40, 3));
  trace.Finish();
  EXPECT_EQ("M=6 X=2 rows=2", trace.Check());
}

TEST(ChromeTest, AbsurdIdsAreRefused) {
  Trace trace;
  trace.Begin();
  EXPECT_EQ(PPROF_STATUS_CORRUPT,
            trace.Send(Range(1, 2, 0xfffffff0u), 0xfffffff0u));
  EXPECT_EQ(PPROF_STATUS_CORRUPT, trace.Send(Async(1, 2, 0xfffffff0u), 1));
}

TEST(ChromeTest, RangeThatEndsBeforeItStartsHasNoLength) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(30, 10));
  trace.Finish();
  EXPECT_EQ(1, Count(Read(trace.path()), "\"ts\":0.030,\"dur\":0.000,"));
}

TEST(ChromeTest, LargeTimesKeepTheirNanoseconds) {
  Trace trace;
  trace.Begin();
  trace.Add(Range(9007199254740993ull, 9007199254740994ull));
  trace.Finish();
  EXPECT_EQ(
      1, Count(Read(trace.path()), "\"ts\":9007199254740.993,\"dur\":0.001,"));
}

TEST(ChromeTest, NumbersAreWrittenWithoutNaN) {
  Trace trace;
  trace.Begin();
  pprof_event counter = Range(10, 10);
  counter.kind = PPROF_KIND_COUNTER;
  const double values[] = {-3, 1e300, 1.0 / 3, -0.5, NAN, INFINITY};
  for (double value : values) {
    counter.value = value;
    trace.Add(counter);
  }
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text, "{\"value\":-3}"));
  EXPECT_EQ(1, Count(text, "{\"value\":1e+300}"));
  EXPECT_EQ(1, Count(text, "{\"value\":0.3333333333333333}"));
  EXPECT_EQ(1, Count(text, "{\"value\":-0.5}"));
  EXPECT_EQ(1, Count(text, "\"counters_not_finite\":2"));
  EXPECT_EQ("C=4 M=4 rows=0", trace.Check());
}

TEST(ChromeTest, NumbersAgreeWithPrintf) {
  char text[64];
  uint64_t power = 1;
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; i++) {
    uint64_t value = random() >> random() % 64;
    if (i < 60) {
      value = power - 1 + static_cast<uint64_t>(i % 3);
      if (i % 3 == 2) power *= 10;
    }
    *ppi_digits_u64(text, value) = 0;
    EXPECT_EQ(std::to_string(value), text);
    *ppi_digits_us(text, value) = 0;
    char want[64];
    snprintf(want, sizeof want, "%" PRIu64 ".%03u", value / 1000,
             static_cast<unsigned>(value % 1000));
    EXPECT_STREQ(want, text);
  }
}

TEST(ChromeTest, FlowsOfManyRequests) {
  Trace trace;
  trace.Begin();
  const uint64_t both[] = {1, 0xffffffffffffffffull};
  pprof_event first = Range(100, 110);
  first.flows = both;
  first.num_flows = 2;
  trace.Add(first);
  pprof_event second = Range(50, 60, 2);  // delivered later, earlier in time
  second.flows = both;
  second.num_flows = 1;
  trace.Add(second);
  pprof_event third = Range(200, 210, 2);
  third.flows = both + 1;
  third.num_flows = 1;
  trace.Add(third);
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ("M=6 X=3 f=2 s=2 rows=2", trace.Check());
  EXPECT_EQ(1, Count(text, "\"flows\":[1,\"18446744073709551615\"]"));
  EXPECT_EQ(1, Count(text,
                     "{\"ph\":\"s\",\"name\":\"request\",\"cat\":\"flow\""
                     ",\"id\":1,\"ts\":0.050,\"pid\":4242,\"tid\":4243"));
  EXPECT_EQ(1, Count(text,
                     "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"request\","
                     "\"cat\":\"flow\",\"id\":1,\"ts\":0.100,"));
}

TEST(ChromeTest, FlowOfOneStageHasNoArrow) {
  Trace trace;
  trace.Begin();
  const uint64_t flow = 5;
  pprof_event event = Range(1, 2);
  event.flows = &flow;
  event.num_flows = 1;
  trace.Add(event);
  trace.Finish();
  EXPECT_EQ("M=4 X=1 rows=1", trace.Check());
}

TEST(ChromeTest, RangesInsideAStageAreNoStages) {
  Trace trace;
  trace.Begin();
  const uint64_t flow = 5;
  const pprof_event events[] = {Range(12, 14, 1, 1), Range(15, 18, 1, 1),
                                Range(10, 20, 1, 0), Range(30, 40, 2, 0)};
  for (pprof_event event : events) {
    event.flows = &flow;
    event.num_flows = 1;
    trace.Add(event);
  }
  trace.Finish();
  EXPECT_EQ("M=6 X=4 f=1 s=1 rows=2", trace.Check());
}

// More flows than are kept, and one longer than is kept: ids stay sound.
TEST(ChromeTest, ManyFlowsInBoundedMemory) {
  Trace trace;
  trace.Begin();
  auto *writer = reinterpret_cast<ppi_chrome_writer *>(trace.sink());
  size_t most = 0;
  for (uint64_t i = 0; i < 40000; i++) {
    const uint64_t flows[] = {i % 20000, 1000000};
    pprof_event event = Range(i * 10, i * 10 + 5);
    event.flows = flows;
    event.num_flows = 2;
    trace.Add(event);
    most = std::max(most, writer->flows.num_stages);
  }
  trace.Finish();
  EXPECT_LE(most, static_cast<size_t>(PPI_CHROME_MAX_STAGES));
  trace.Check();
}

TEST(ChromeTest, TotalsStandInOtherData) {
  Trace trace;
  trace.Begin();
  trace.Finish();
  std::string text = Read(trace.path());
  EXPECT_EQ(1, Count(text, "\"recorded\":12,\n\"lost\":3,\n\"excluded\":0,"));
  EXPECT_EQ(1, Count(text, "\"baseTimeNanoseconds\":1763700000123456789,"));
  EXPECT_EQ(1, Count(text, "\"baseTimeNanoseconds\":\"1763700000123456789\""));
}

// Windows say until when a run that was stopped was recorded, if it had any.
TEST(ChromeTest, TheLastCheckpointStandsForWindows) {
  for (bool has_window : {false, true}) {
    Trace trace;
    trace.Begin();
    if (has_window) {
      EXPECT_EQ(PPROF_STATUS_OK,
                trace.sink()->window(trace.sink(), 0, true, 5));
    }
    trace.Checkpoint(200);
    trace.Checkpoint(400);
    trace.Finish();
    const std::string text = Read(trace.path());
    EXPECT_EQ(has_window ? 0 : 1, Count(text, "\"told_until_ns\":400,"));
    EXPECT_EQ(has_window ? 0 : 1, Count(text, "told_until_ns"));
  }
}

// Any ranges at all, in any order: the checker finds no partial overlap.
TEST(ChromeTest, RandomRangesNeverOverlapPartly) {
  for (uint32_t seed = 0; seed < 8; seed++) {
    Trace trace;
    trace.Begin();
    std::mt19937 random(seed);
    uint64_t now = 0, flow = 0;
    for (int i = 0; i < 1500; i++) {
      uint64_t start = now + random() % 200, end = start + random() % 300;
      uint32_t lane = 1 + random() % 2;
      pprof_event event = Range(start, end, lane, random() % 3);
      if (random() % 3 == 0) event.flags = PPROF_FLAG_ASYNC;
      if (random() % 3 == 0) {
        event = Device(start, end, start + random() % 100,
                       start + random() % 400, 1 + random() % 2);
        event.lane = lane;
      }
      flow = random() % 50;
      event.flows = &flow;
      event.num_flows = random() % 2;
      ASSERT_EQ(PPROF_STATUS_OK, trace.Send(event, 1 + random() % 2));
      now += random() % 40;
      if (random() % 50 == 0) trace.Checkpoint(now);
    }
    trace.Finish();
    trace.Check();
  }
}

TEST(ChromeTest, RunsOutOfMemoryCleanly) {
  std::string path = Folder() + "/trace.json.gz";
  bool done = false;
  for (uint64_t n = 1; !done && n < 400; n++) {
    ppi_mem_fail_at(n);
    pprof_sink *sink = nullptr;
    pprof_status status =
        pprof_chrome_writer_create(path.c_str(), &sink, nullptr);
    static const ppi_text text = {"command", "x"};
    pprof_run_info info = {&text, 1, nullptr};
    if (status == PPROF_STATUS_OK) status = sink->begin(sink, &info);
    pprof_definition site = {PPROF_DEFINITION_SITE, 1, 0, 0, 0, "s"};
    if (status == PPROF_STATUS_OK) status = sink->define(sink, &site);
    const uint64_t flow = 3;
    pprof_event events[] = {Range(1, 2), Async(1, 2), Device(1, 2, 3, 4)};
    for (pprof_event &event : events) {
      event.flows = &flow;
      event.num_flows = 1;
    }
    pprof_batch batch = {sizeof batch, sizeof *events, events, 3, 0, 3, 1, 0};
    if (status == PPROF_STATUS_OK) status = sink->events(sink, &batch);
    pprof_totals totals = {};
    if (status == PPROF_STATUS_OK) status = sink->finish(sink, &totals);
    ppi_mem_fail_at(0);
    if (sink) sink->destroy(sink);
    done = status == PPROF_STATUS_OK;
    EXPECT_TRUE(done || status == PPROF_STATUS_NO_MEMORY) << status;
    EXPECT_EQ(done, Exists(path));
    EXPECT_FALSE(Exists(path + ".part"));
  }
  EXPECT_TRUE(done);
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

}  // namespace
}  // namespace chrome_trace
