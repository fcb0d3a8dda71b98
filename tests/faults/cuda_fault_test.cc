// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a program when its CUDA device does something else than its
// work: calls that fail, contexts and streams that go, a device that hangs, a
// fork, the end of the process. Every test is a process of its own.
#include <fcntl.h>

#include <thread>

#include "cuda_fixture.h"
#include "log/recover/log_recover.h"
#include "pprof/log.h"
#include "pprof/pprof.h"

namespace pprof_test {
namespace {

// Whether an event has happened, and when: the collector's one question.
constexpr char kAsk[] = "cuEventElapsedTime_v2";

TEST_F(CudaFaultTest, NothingIsWrong) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  for (int i = 0; i < 20; i++) Range();
  Stop();
  ExpectHostWhole(0);
  EXPECT_TRUE(Notes().empty()) << table;
  EXPECT_EQ(fake->num_collectors(), 1u);
  EXPECT_EQ(fake->num_live_events(), 0u);
  // The program has done that.
  EXPECT_EQ(fake->num_calls("cuInit"), 0u);
}

// A call that answers an error after which the context is of no use, whichever
// it is: the first such answer is the last word with the driver.
struct Sticky {
  const char *function;
  bool at_start;  // the session meets it before the first range
};

class CudaStickyTest : public CudaFaultTest,
                       public testing::WithParamInterface<Sticky> {};

TEST_P(CudaStickyTest, EndsDeviceTimesOnly) {
  if (RanInside({Driver()})) return;
  const Sticky &sticky = GetParam();
  UseCuda();
  if (sticky.at_start) {
    fake->fail(sticky.function, 700, 1, FAKE_FAULT_STICKY);
    Start();
  } else {
    ASSERT_NO_FATAL_FAILURE(Begin());
    fake->stream_hold(stream, true);
    fake->fail(sticky.function, 700, 1, FAKE_FAULT_STICKY);
  }
  uint64_t before = fake->num_calls(sticky.function);
  for (int i = 0; i < 40; i++) Range();
  // Events are made for a context when it is first seen.
  void *held = stream;
  stream = fake->stream_create(fake->context_create());
  pprof_stream_name(device, stream, "of another context");
  FlushTwice();
  for (int i = 0; i < 10; i++) Range();
  FlushTwice();
  fake->stream_hold(held, false);
  FlushTwice();
  EXPECT_GT(fake->num_calls(sticky.function) + sticky.at_start, before);
  ExpectNoCallsInRanges();
  ExpectHostWhole(num_ranges - (sticky.at_start ? 0 : 1));
  ExpectErrorNote("CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

INSTANTIATE_TEST_SUITE_P(
    , CudaStickyTest,
    testing::Values(
        Sticky{"cuEventRecord", false}, Sticky{"cuStreamIsCapturing", false},
        Sticky{"cuStreamGetCtx", false}, Sticky{"cuEventElapsedTime_v2", false},
        Sticky{"cuEventCreate", false}, Sticky{"cuCtxPushCurrent_v2", false},
        Sticky{"cuThreadExchangeStreamCaptureMode", true},
        Sticky{"cuCtxPushCurrent_v2", true}, Sticky{"cuStreamCreate", true},
        Sticky{"cuEventCreate", true}, Sticky{"cuEventElapsedTime_v2", true}),
    [](const testing::TestParamInfo<Sticky> &it) {
      return std::string(it.param.function) +
             (it.param.at_start ? "AtStart" : "");
    });

TEST_F(CudaFaultTest, ThreadsThatMarkMeetTheFaultTogether) {
  if (RanInside({Driver()})) return;
  constexpr uint64_t kRanges = 2000;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->fail(kAsk, 719, 40, FAKE_FAULT_STICKY);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([&] {
      for (uint64_t k = 0; k < kRanges; k++) {
        pprof_push(&host_site);
        pprof_device_push(device, stream, &device_site);
        pprof_device_pop(device, stream);
        pprof_pop();
      }
    });
  for (std::thread &thread : threads) thread.join();
  FlushTwice();
  uint64_t calls = NumCalls();
  Range();
  Stop();
  EXPECT_EQ(NumCalls(), calls);
  EXPECT_EQ(live.recording.Named("host").size(), 3 * kRanges + num_ranges);
  pprof_stats stats = live.Stats();
  EXPECT_EQ(stats.recorded + stats.lost, 2 * (3 * kRanges + num_ranges));
  EXPECT_EQ(stats.lost, stats.device_lost);
  EXPECT_EQ(stats.unmatched, 0u);
  ExpectErrorNote("CUDA_ERROR_LAUNCH_FAILED (719)");
}

// cudaDeviceReset, and a context that its owner destroys: its streams and
// events go with it, and its address may be the next one's. The collector comes
// only when it is asked, so that it never looks while that happens.
class CudaResetTest : public CudaFaultTest,
                      public testing::WithParamInterface<int> {
 protected:
  // With a range that is pending and one that is open.
  void Reset() {
    live.options.drain_interval_us = kKeptAwayUs;
    ASSERT_NO_FATAL_FAILURE(UseAndBegin());
    fake->stream_hold(stream, true);
    Range();
    pprof_push(&host_site);
    pprof_device_push(device, stream, &device_site);
    num_ranges++;
    fake->context_destroy(context, GetParam());
  }

  void PopAfterwards() {
    pprof_device_pop(device, stream);
    pprof_pop();
  }

  pprof_event LastSubmitted() {
    pprof_event last = {};
    for (const RecordedEvent &range : DeviceRanges())
      if (range.event.start_ns >= last.start_ns) last = range.event;
    return last;
  }

  // A program that goes on has its streams made anew.
  void ExpectANewContextIsTimed() {
    void *before = context;
    context = fake->context_create();
    ASSERT_EQ(context, before) << "the address comes back";
    stream = fake->stream_create(context);
    pprof_stream_name(device, stream, "new");
    FlushTwice();
    Range();
    Stop();
    ExpectHostWhole(2);
    ExpectTrust("late", 0);
    ExpectOneNote("a context was destroyed or reset");
    EXPECT_EQ(LastSubmitted().flags, 0u);
    EXPECT_EQ(fake->num_live_events(), 0u);
  }
};

TEST_P(CudaResetTest, IsMetByTheCollector) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(Reset());
  FlushTwice();
  PopAfterwards();
  ExpectANewContextIsTimed();
}

TEST_P(CudaResetTest, IsMetByAMarker) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(Reset());
  PopAfterwards();
  FlushTwice();
  ExpectANewContextIsTimed();
}

// By nobody: the new context is there when the collector comes to look.
TEST_P(CudaResetTest, IsSeenByTheContextsNumber) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(Reset());
  ExpectANewContextIsTimed();
  PopAfterwards();
}

// The stream's handle is another's by then, in the new context.
TEST_P(CudaResetTest, RangeThatCrossesItIsUntimed) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(Reset());
  void *before = stream;
  context = fake->context_create();
  stream = fake->stream_create(context);
  ASSERT_EQ(stream, before);
  PopAfterwards();
  FlushTwice();
  Stop();
  ExpectHostWhole(2);
  ExpectOneNote("a context was destroyed or reset");
}

TEST_P(CudaResetTest, WithoutAnyMoreCudaHostTimesGoOn) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(Reset());
  FlushTwice();
  PopAfterwards();
  for (int i = 0; i < 3; i++) Range();
  uint64_t asked = fake->num_calls(kAsk);
  uint64_t records = fake->num_calls("cuEventRecord");
  FlushTwice();
  Stop();
  ExpectHostWhole(5);
  ExpectOneNote("a context was destroyed or reset");
  EXPECT_EQ(fake->num_calls(kAsk), asked);
  EXPECT_EQ(fake->num_calls("cuEventRecord"), records);
}

INSTANTIATE_TEST_SUITE_P(, CudaResetTest, testing::Values(201, 709),
                         testing::PrintToStringParamName());

TEST_F(CudaFaultTest, EventsThatRunOutAreACountedLoss) {
  if (RanInside({Driver()})) return;
  constexpr uint64_t kRanges = 5000;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->stream_hold(stream, true);
  fake->fail("cuEventCreate", 2, 1, FAKE_FAULT_ALWAYS);  // OUT_OF_MEMORY
  for (uint64_t i = 0; i < kRanges; i++) Range();
  fake->stream_hold(stream, false);
  Stop();
  pprof_stats stats = live.Stats();
  EXPECT_EQ(live.recording.Named("host").size(), num_ranges);
  EXPECT_EQ(DeviceRanges().size() + stats.device_lost, num_ranges);
  EXPECT_GT(stats.device_lost, kRanges / 2);
  EXPECT_EQ(stats.lost, stats.device_lost);
  ExpectTrust("device_lost", stats.device_lost);
  ExpectTrust("no_device_time", 0);
  EXPECT_TRUE(Notes().empty()) << table;
}

// The collector does not come before the stop: who meets a context makes its
// first events, whatever other threads meet at the same time.
TEST_F(CudaFaultTest, FirstRangesOfAContextHaveTimes) {
  if (RanInside({Driver()})) return;
  constexpr int kThreads = 4, kRanges = 20;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_NO_FATAL_FAILURE(UseCuda());
  stream = nullptr;
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back([this, own = fake->stream_create(
                                    i % 2 ? fake->context_create() : context)] {
      for (int k = 0; k < kRanges; k++) {
        pprof_push(&host_site);
        pprof_device_push(device, own, &device_site);
        pprof_device_pop(device, own);
        pprof_pop();
      }
    });
  for (std::thread &thread : threads) thread.join();
  num_ranges = kThreads * kRanges;
  stream = fake->stream_create(fake->context_create());
  Range();
  Stop();
  ExpectHostWhole(0);
  EXPECT_TRUE(Notes().empty()) << table;
}

// Answers that concern one call: the range goes without a time, and the report
// says why there are such.
TEST_F(CudaFaultTest, EventThatIsRefusedIsExplained) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->fail("cuEventRecord", 2, 1, FAKE_FAULT_ONCE);
  Range();
  Range();
  Stop();
  ExpectHostWhole(1);
  ExpectOneNote("refused");
}

TEST_F(CudaFaultTest, StreamThatGoesCostsItsRangesTheirEnds) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  pprof_push(&host_site);
  pprof_device_push(device, stream, &device_site);
  num_ranges++;
  fake->stream_destroy(stream);
  pprof_device_pop(device, stream);
  pprof_pop();
  void *before = stream;
  stream = fake->stream_create(context);
  ASSERT_EQ(stream, before) << "the handle comes back";
  Range();
  Range();
  Stop();
  ExpectHostWhole(1);
  ExpectOneNote("no stream of it");
  // Two streams that were one after the other, whatever their handle.
  auto ranges = DeviceRanges();
  EXPECT_EQ(ranges[0].event.stream, ranges[1].event.stream);
  EXPECT_NE(ranges[1].event.stream, ranges[2].event.stream);
  EXPECT_EQ(ranges[2].event.stream, ranges[3].event.stream);
}

// A range that begins on a stream and ends on a later one of the same handle.
TEST_F(CudaFaultTest, HandleThatCameBackIsAnotherStream) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  pprof_push(&host_site);
  pprof_device_push(device, stream, &device_site);
  num_ranges++;
  fake->stream_destroy(stream);
  stream = fake->stream_create(context);
  pprof_device_pop(device, stream);
  pprof_pop();
  Stop();
  // In order all the same, so that its time is right.
  ExpectHostWhole(0);
  EXPECT_TRUE(Notes().empty()) << table;
}

TEST_F(CudaFaultTest, HangingStreamIsLateAtTheStop) {
  if (RanInside({Driver()})) return;
  UseCuda();
  live.options.stop_wait_ms = 1;
  ASSERT_NO_FATAL_FAILURE(Begin());
  fake->stream_hold(stream, true);
  for (int i = 0; i < 3; i++) Range();
  FlushTwice();
  Stop();
  ExpectHostWhole(3);
  ExpectTrust("late", 3);
  EXPECT_TRUE(Notes().empty()) << table;
  // What was late is not looked at any more, even when it comes.
  EXPECT_EQ(fake->num_live_events(), 0u);
  uint64_t calls = fake->num_calls(nullptr);
  fake->stream_hold(stream, false);
  pprof_device_pop(device, stream);
  EXPECT_EQ(fake->num_calls(nullptr), calls);
  LiveSession second;
  ASSERT_EQ(second.Start(), PPROF_STATUS_OK);
  num_sessions++;
  Range();
  EXPECT_EQ(second.Stop(), PPROF_STATUS_OK);
  ASSERT_EQ(second.recording.Named("device").size(), 1u);
  EXPECT_EQ(second.recording.Named("device")[0].event.flags, 0u);
}

// A stop in an exit handler that runs after the driver's own.
TEST_F(CudaFaultTest, DriverThatIsGoneAtTheStop) {
  if (RanInside({Driver()})) return;
  std::string late = File("late");
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->stream_hold(stream, true);
  for (int i = 0; i < 3; i++) Range();
  fake->deinitialise(late.c_str());
  Stop();
  ExpectHostWhole(3);
  ExpectErrorNote("the driver has shut down (4)");
  EXPECT_EQ(pplog::Slurp(late).find("Destroy"), std::string::npos);
}

// The process ends without a stop while device ranges are pending and the
// driver has gone.
class CudaEndTest : public CudaFaultTest {
 protected:
  void SetUp() override {
    CudaFaultTest::SetUp();
    log_ = File("x.pplog");
    late_ = File("late");
  }

  // Five ranges, and the log names the spool: recover goes by that.
  void StartAndLeavePending() {
    UseCuda();
    device = pprof_device_get(pprof_backend_cuda(), 0);
    pprof_stream_name(device, stream, "main");
    setenv("PPROF_OUTPUT", log_.c_str(), 1);
    ASSERT_EQ(pprof_start(nullptr, &live.error), PPROF_STATUS_OK);
    fake->stream_hold(stream, true);
    for (int i = 0; i < 5; i++) Range();
    do {
      pprof_session_flush(pprof_session_current());
    } while (pplog::Slurp(log_ + ".part").empty());
    fake->deinitialise(late_.c_str());
  }

  void ExpectRangesInLog() {
    EXPECT_EQ(pplog::Slurp(late_).find("Destroy"), std::string::npos);
    Recording read;
    pprof_error error = {};
    pprof_sink *sink = RecordingSink::Make(&read);
    EXPECT_EQ(pprof_log_read(log_.c_str(), sink, &error), PPROF_STATUS_OK)
        << error.text;
    RecordingSink::Destroy(sink);
    EXPECT_EQ(read.Named("host").size(), 5u);
    ASSERT_EQ(read.Named("device").size(), 5u);
    for (const RecordedEvent &range : read.Named("device")) {
      EXPECT_LT(range.event.start_ns, range.event.end_ns);
      EXPECT_NE(range.event.flags & kUntimed, 0u);
    }
  }

  std::string log_, late_;
};

// exit finishes the log, and the exit code is the program's.
TEST_F(CudaEndTest, ExitFinishesTheLog) {
  if (RanInside({Driver(), 42})) {
    EXPECT_FALSE(pplog::Exists(log_ + ".part"));
    ExpectRangesInLog();
    const pplog::Lines lines = pplog::Read(log_);
    EXPECT_EQ(pplog::Pick(lines, "total lane=-1 recorded=10").size(), 1u);
    EXPECT_EQ(pplog::Pick(lines, "total lane=-1 ended_without_stop").size(),
              0u);
    return;
  }
  StartAndLeavePending();
  exit(HasFailure() ? 1 : 42);
}

// _exit runs no handlers.
TEST_F(CudaEndTest, UnderscoreExitLeavesThemToRecover) {
  if (RanInside({Driver(), 42})) {
    ppi_recover_result result;
    pprof_error error = {};
    ASSERT_EQ(ppi_recover((log_ + ".part").c_str(), nullptr, &result, &error),
              PPROF_STATUS_OK)
        << error.text;
    ExpectRangesInLog();
    return;
  }
  StartAndLeavePending();
  _exit(HasFailure() ? 1 : 42);
}

// The program's exit code is its own, with a broken device and a clean stop.
TEST_F(CudaFaultTest, ExitCodeIsTheProgramsOwn) {
  if (RanInside({Driver(), 42})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->fail(kAsk, 700, 1, FAKE_FAULT_STICKY);
  Range();
  Stop();
  ExpectErrorNote("CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  exit(HasFailure() ? 1 : 42);
}

// The collector asks all the while, and no capture is disturbed.
class CudaCaptureTest : public CudaFaultTest,
                        public testing::WithParamInterface<int> {};

TEST_P(CudaCaptureTest, Survives) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  void *other = fake->stream_create(context);
  pprof_stream_name(device, other, "other");
  fake->capture_begin(stream, GetParam());
  for (int i = 0; i < 3; i++) {
    Range();
    pprof_push(&host_site);
    pprof_device_push(device, other, &device_site);
    pprof_device_pop(device, other);
    pprof_pop();
    num_ranges++;
    FlushTwice();
  }
  EXPECT_EQ(fake->capture_end(stream), 0);
  Range();
  Stop();
  ExpectHostWhole(3);
  EXPECT_TRUE(Notes().empty()) << table;
  uint64_t in_graph = 0;
  for (const RecordedEvent &range : DeviceRanges())
    in_graph += (range.event.flags & PPROF_FLAG_IN_GRAPH) != 0;
  EXPECT_EQ(in_graph, 3u);
}

TEST_P(CudaCaptureTest, SurvivesRangesOnTheLegacyStream) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  fake->capture_begin(stream, GetParam());
  for (int i = 0; i < 3; i++) {
    pprof_device_push(device, nullptr, &device_site);
    pprof_device_pop(device, nullptr);
    FlushTwice();
  }
  EXPECT_EQ(fake->capture_end(stream), 0);
  Stop();
  ExpectTrust("no_device_time", 3);
}

INSTANTIATE_TEST_SUITE_P(, CudaCaptureTest,
                         testing::Values(FAKE_CAPTURE_GLOBAL,
                                         FAKE_CAPTURE_THREAD_LOCAL,
                                         FAKE_CAPTURE_RELAXED),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace pprof_test
