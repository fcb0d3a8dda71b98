// SPDX-License-Identifier: Apache-2.0
//
// Device times against bare events of the same program, and that no marker
// waits for the device.
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "gpu_session.h"

namespace pprof_gpu {
namespace {

PPROF_SITE(spin_site, "spin", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(first_site, "first", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(second_site, "second", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(third_site, "third", PPROF_CATEGORY_INFERENCE);

// The stated bound: 1 % or 2 us.
uint64_t Tolerance(uint64_t ns) {
  return std::max<uint64_t>(ns / 100, 2 * kUs);
}

struct TimingCase {
  int num_threads, num_streams;  // streams of all threads together
  uint64_t spin_ns;
};

class TimingTest : public GpuTest,
                   public testing::WithParamInterface<TimingCase> {
 protected:
  // Behind a kernel that keeps the stream busy, so that neither measurement
  // sees the gaps of submitting. One round in flight: the pool never empties.
  void Round(cudaStream_t stream, uint64_t spin_ns,
             std::vector<uint64_t> *bare) {
    Event begin, end;
    ASSERT_CUDA(Spin(stream, 200 * kUs));
    ASSERT_CUDA(cudaEventRecord(begin, stream));
    ASSERT_CUDA(Spin(stream, spin_ns));
    ASSERT_CUDA(cudaEventRecord(end, stream));
    pprof_cuda_push(stream, &spin_site);
    ASSERT_CUDA(Spin(stream, spin_ns));
    pprof_cuda_pop(stream);
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    bare->push_back(ElapsedNs(begin, end));
  }
};

TEST_P(TimingTest, AgreesWithBareEvents) {
  constexpr int kRounds = 30;
  const TimingCase &with = GetParam();
  const int per_thread = with.num_streams / with.num_threads;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < with.num_streams; i++) {
    streams.emplace_back(new Stream);
    ASSERT_CUDA(Spin(*streams.back(), kUs));
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
  Session session;
  session.Start();
  std::vector<uint64_t> bare;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < with.num_threads; t++)
    threads.emplace_back([&, t] {
      std::vector<uint64_t> own;
      for (int round = 0; round < kRounds; round++)
        for (int i = 0; i < per_thread; i++)
          Round(*streams[static_cast<size_t>(t * per_thread + i)], with.spin_ns,
                &own);
      std::lock_guard<std::mutex> lock(mutex);
      bare.insert(bare.end(), own.begin(), own.end());
    });
  for (std::thread &thread : threads) thread.join();
  session.Stop();
  std::map<uint64_t, std::vector<uint64_t>> by_stream;
  for (const Range &range : session.Ranges("spin")) {
    ASSERT_TRUE(range.IsTimed()) << range.event.flags;
    by_stream[range.stream].push_back(range.DeviceNs());
  }
  EXPECT_EQ(static_cast<size_t>(with.num_streams), by_stream.size());
  uint64_t expected = Median(bare);
  for (const auto &stream : by_stream) {
    EXPECT_EQ(static_cast<size_t>(kRounds), stream.second.size());
    EXPECT_NEAR(expected, Median(stream.second), Tolerance(expected));
  }
  EXPECT_EQ(0u, session.stats.lost);
  EXPECT_EQ(0u, session.stats.late);
}

std::string NameOfCase(const testing::TestParamInfo<TimingCase> &with) {
  return std::to_string(with.param.num_threads) + "Threads" +
         std::to_string(with.param.num_streams) + "Streams" +
         std::to_string(with.param.spin_ns / kUs) + "Us";
}

INSTANTIATE_TEST_SUITE_P(
    Spins, TimingTest,
    testing::Values(TimingCase{1, 1, 20 * kUs}, TimingCase{1, 1, 5 * kMs},
                    TimingCase{1, 4, 100 * kUs}, TimingCase{1, 8, 100 * kUs},
                    TimingCase{4, 4, 100 * kUs}, TimingCase{4, 8, 1 * kMs}),
    NameOfCase);

class RangeTest : public GpuTest {};

TEST_F(RangeTest, LiesBetweenSubmitAndSeenReady) {
  Stream stream;
  Session session;
  session.Start();
  for (int i = 0; i < 20; i++) {
    ASSERT_CUDA(Spin(stream, 300 * kUs));
    pprof_cuda_push(stream, &spin_site);
    ASSERT_CUDA(Spin(stream, 100 * kUs));
    pprof_cuda_pop(stream);
    {
      // Its end is after the device has passed the range.
      PPROF_SCOPE("wait");
      ASSERT_CUDA(cudaStreamSynchronize(stream));
      session.Flush();
    }
  }
  session.Stop();
  auto ranges = session.Ranges("spin");
  ASSERT_EQ(20u, ranges.size());
  uint64_t last_end = 0;
  for (const Range &range : ranges) {
    const pprof_event &event = range.event;
    ASSERT_TRUE(range.IsTimed());
    EXPECT_GE(event.device_start_ns + event.device_error_ns, event.start_ns);
    // The queue delay: the stream had 300 us of work before it.
    EXPECT_GT(event.device_start_ns - event.start_ns, 200 * kUs);
    EXPECT_GE(event.device_start_ns, last_end);
    last_end = event.device_end_ns;
  }
  EXPECT_EQ(20u, session.num_host_ranges());
}

TEST_F(RangeTest, NextSharesOneEvent) {
  Stream stream;
  Session session;
  session.Start();
  Event begin, end;
  ASSERT_CUDA(Spin(stream, 200 * kUs));
  ASSERT_CUDA(cudaEventRecord(begin, stream));
  pprof_cuda_push(stream, &first_site);
  ASSERT_CUDA(Spin(stream, 100 * kUs));
  pprof_cuda_next(stream, &second_site);
  ASSERT_CUDA(Spin(stream, 400 * kUs));
  pprof_cuda_next(stream, &third_site);
  ASSERT_CUDA(Spin(stream, 50 * kUs));
  pprof_cuda_pop(stream);
  ASSERT_CUDA(cudaEventRecord(end, stream));
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  session.Stop();
  auto ranges = session.Ranges();
  ASSERT_EQ(3u, ranges.size());
  const uint64_t spins[] = {100 * kUs, 400 * kUs, 50 * kUs};
  uint64_t sum = 0;
  for (size_t i = 0; i < 3; i++) {
    ASSERT_TRUE(ranges[i].IsTimed());
    EXPECT_GE(ranges[i].DeviceNs(), spins[i]);
    EXPECT_LT(ranges[i].DeviceNs(), spins[i] + 20 * kUs);
    if (i > 0) {
      EXPECT_EQ(ranges[i - 1].event.device_end_ns,
                ranges[i].event.device_start_ns);
    }
    sum += ranges[i].DeviceNs();
  }
  EXPECT_EQ("first", ranges[0].name);
  EXPECT_EQ("second", ranges[1].name);
  EXPECT_EQ("third", ranges[2].name);
  // Between the bare events lie the chain and two more events.
  EXPECT_LE(sum, ElapsedNs(begin, end));
}

TEST_F(RangeTest, WandersBetweenThreadsAndStreams) {
  Stream from, to;
  Event done;
  Session session;
  session.Start();
  const auto begun = std::chrono::steady_clock::now();
  pprof_range range = pprof_cuda_range_begin(from, &spin_site);
  ASSERT_NE(0u, range.id);
  ASSERT_CUDA(Spin(from, 300 * kUs));
  ASSERT_CUDA(cudaEventRecord(done, from));
  std::thread other([&] {
    ASSERT_CUDA(cudaStreamWaitEvent(to, done, 0));
    ASSERT_CUDA(Spin(to, 200 * kUs));
    pprof_cuda_range_end(range, to);
  });
  other.join();
  ASSERT_CUDA(cudaStreamSynchronize(to));
  const std::chrono::nanoseconds host =
      std::chrono::steady_clock::now() - begun;
  session.Stop();
  auto ranges = session.Ranges();
  ASSERT_EQ(1u, ranges.size());
  EXPECT_EQ(static_cast<uint32_t>(PPROF_FLAG_ASYNC), ranges[0].event.flags);
  EXPECT_GE(ranges[0].DeviceNs(), 500 * kUs);
  // When the other thread comes is the machine's load.
  EXPECT_LT(ranges[0].DeviceNs(), static_cast<uint64_t>(host.count()));
}

TEST_F(RangeTest, ScopesOnTwoStreamsOverlap) {
  Stream one, two;
  Session session;
  session.Start();
  pprof_cuda_push(one, &first_site);
  pprof_cuda_push(two, &second_site);
  ASSERT_CUDA(Spin(one, 300 * kUs));
  ASSERT_CUDA(Spin(two, 300 * kUs));
  pprof_cuda_pop(one);
  pprof_cuda_pop(two);
  {
    PPROF_CUDA_SCOPE(one, "scope");
    ASSERT_CUDA(Spin(one, 100 * kUs));
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
  session.Stop();
  ASSERT_EQ(3u, session.Ranges().size());
  for (const Range &range : session.Ranges()) {
    ASSERT_TRUE(range.IsTimed());
    EXPECT_GE(range.DeviceNs(), 100 * kUs);
  }
  EXPECT_EQ(1u, session.Ranges("scope").size());
  EXPECT_EQ(0u, session.stats.unmatched);
}

// Were any call to wait for the device it would not return: the kernel ends
// only when the last lines say so.
TEST_F(RangeTest, NothingWaitsForTheDevice) {
  Stream stream, other;
  Session session;
  session.Start();
  Gate gate;
  gate.Close(stream);
  pprof_cuda_push(stream, &first_site);
  pprof_cuda_next(stream, &second_site);
  pprof_cuda_pop(stream);
  pprof_range range = pprof_cuda_range_begin(stream, &spin_site);
  pprof_cuda_range_end(range, stream);
  pprof_cuda_stream_name(stream, "held");
  session.Flush();
  // Anchors and events of others go on beside it.
  pprof_cuda_push(other, &third_site);
  ASSERT_CUDA(Spin(other, 100 * kUs));
  pprof_cuda_pop(other);
  ASSERT_CUDA(cudaStreamSynchronize(other));
  session.Flush();
  EXPECT_TRUE(IsBusy(stream));
  gate.Open();
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  session.Stop();
  ASSERT_EQ(4u, session.Ranges().size());
  for (const Range &held : session.Ranges()) EXPECT_TRUE(held.IsTimed());
}

// Nor does the stop, beyond its limit: what hangs is late.
TEST_F(RangeTest, HangingStreamIsLateAtStop) {
  Stream stream;
  Gate gate;
  pprof_options options = {};
  options.size = sizeof options;
  options.stop_wait_ms = 1;
  pprof_session *session = nullptr;
  Recording recording;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(&options, &session, nullptr));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, recording.sink()));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  gate.Close(stream);
  pprof_cuda_push(stream, &first_site);
  pprof_cuda_pop(stream);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  EXPECT_TRUE(IsBusy(stream));
  pprof_session_destroy(session);
  EXPECT_EQ(1u, recording.late);
  ASSERT_EQ(1u, recording.Ranges().size());
  EXPECT_TRUE(recording.Ranges()[0].event.flags & PPROF_FLAG_LATE);
  gate.Open();
}

TEST_F(RangeTest, ExhaustedPoolIsACountedLoss) {
  constexpr uint64_t kPushes = 20000;
  Stream stream;
  Session session(4u << 20);
  session.Start();
  Gate gate;
  gate.Close(stream);
  // More than any pool holds. A stream takes only so many commands before a
  // launch waits by itself, so most of these must be refused, not recorded.
  for (uint64_t i = 0; i < kPushes && IsBusy(stream); i++) {
    pprof_cuda_push(stream, &spin_site);
    pprof_cuda_pop(stream);
  }
  EXPECT_TRUE(IsBusy(stream));
  gate.Open();
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  session.Stop();
  auto ranges = session.Ranges("spin");
  EXPECT_GT(session.stats.device_lost, 0u);
  EXPECT_EQ(session.stats.device_lost, session.stats.lost);
  EXPECT_EQ(kPushes, ranges.size() + session.stats.lost);
  EXPECT_GT(ranges.size(), 0u);
  for (const Range &range : ranges) EXPECT_TRUE(range.IsTimed());
}

}  // namespace
}  // namespace pprof_gpu
