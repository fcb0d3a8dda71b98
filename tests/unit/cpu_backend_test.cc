// SPDX-License-Identifier: Apache-2.0
//
// The cpu backend and its streams: order, times, re-use, threads, fork.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend_util.h"
#include "base/mem.h"
#include "pprof/device.h"

namespace {

// Work that waits until the test lets it go.
class Gate {
 public:
  static void Run(void *gate) {
    static_cast<Gate *>(gate)->Wait();
  }

  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

struct Stamped {
  uint64_t begin_ns, end_ns;

  static void Run(void *argument) {
    auto *self = static_cast<Stamped *>(argument);
    self->begin_ns = ppi_backend_now_ns();
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 2000; i++) sum = sum + i;
    self->end_ns = ppi_backend_now_ns();
  }
};

class CpuStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pprof_cpu_stream_create(&stream_), PPROF_STATUS_OK);
  }

  void TearDown() override {
    pprof_cpu_stream_destroy(stream_);
  }

  pprof_cpu_stream *stream_ = nullptr;
};

class CpuBackendTest : public CpuStreamTest {
 protected:
  void SetUp() override {
    CpuStreamTest::SetUp();
    ASSERT_EQ(backend_->open(0, &context_, nullptr), PPROF_STATUS_OK);
    ASSERT_EQ(backend_->collector_enter(context_), PPROF_STATUS_OK);
    pprof_stream_info info = {};
    info.size = sizeof info;
    ASSERT_EQ(backend_->stream_info(context_, stream_, &info), PPROF_STATUS_OK);
    pool_ = info.pool;
  }

  void TearDown() override {
    CpuStreamTest::TearDown();
    backend_->close(context_);
  }

  std::vector<void *> Create(size_t num) {
    std::vector<void *> events(num);
    EXPECT_EQ(backend_->event_create(context_, pool_, num, events.data()),
              PPROF_STATUS_OK);
    return events;
  }

  void Destroy(std::vector<void *> *events) {
    backend_->event_destroy(context_, pool_, events->size(), events->data());
  }

  pprof_status Record(void *event) {
    return backend_->event_record(context_, event, stream_);
  }

  int64_t Time(void *event) {
    int64_t ns = -1;
    EXPECT_EQ(backend_->event_elapsed(context_, nullptr, event, &ns),
              PPROF_STATUS_OK);
    return ns;
  }

  void AwaitReady(void *event) {
    pprof_status status;
    while ((status = backend_->event_query(context_, event)) ==
           PPROF_STATUS_BUSY)
      sched_yield();
    EXPECT_EQ(status, PPROF_STATUS_OK);
  }

  const pprof_backend *backend_ = pprof_backend_cpu();
  void *context_ = nullptr;
  uint64_t pool_ = 0;
};

struct Step {
  std::vector<int> *order;
  int number;
  static void Run(void *argument) {
    auto *self = static_cast<Step *>(argument);
    self->order->push_back(self->number);
  }
};

TEST_F(CpuStreamTest, RunsInOrder) {
  std::vector<int> order;
  std::vector<Step> steps;
  for (int i = 0; i < 1000; i++) steps.push_back({&order, i});
  for (Step &step : steps)
    ASSERT_EQ(pprof_cpu_stream_submit(stream_, Step::Run, &step),
              PPROF_STATUS_OK);
  pprof_cpu_stream_synchronize(stream_);
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; i++) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(CpuStreamTest, RefusesNothingToDo) {
  EXPECT_EQ(pprof_cpu_stream_submit(stream_, nullptr, nullptr),
            PPROF_STATUS_INVALID);
  EXPECT_EQ(pprof_cpu_stream_submit(nullptr, Gate::Run, nullptr),
            PPROF_STATUS_INVALID);
  pprof_cpu_stream_synchronize(nullptr);
  pprof_cpu_stream_destroy(nullptr);
}

TEST(CpuStreamLifeTest, DestroyRunsWhatWasSubmitted) {
  pprof_cpu_stream *stream;
  ASSERT_EQ(pprof_cpu_stream_create(&stream), PPROF_STATUS_OK);
  Gate gate;
  std::vector<int> order;
  Step first = {&order, 1}, second = {&order, 2};
  EXPECT_EQ(pprof_cpu_stream_submit(stream, Gate::Run, &gate), PPROF_STATUS_OK);
  EXPECT_EQ(pprof_cpu_stream_submit(stream, Step::Run, &first),
            PPROF_STATUS_OK);
  EXPECT_EQ(pprof_cpu_stream_submit(stream, Step::Run, &second),
            PPROF_STATUS_OK);
  gate.Open();
  pprof_cpu_stream_destroy(stream);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(CpuStreamLifeTest, OutOfMemoryIsAnswered) {
  pprof_cpu_stream *stream = nullptr;
  ppi_mem_fail_at(1);
  EXPECT_EQ(pprof_cpu_stream_create(&stream), PPROF_STATUS_NO_MEMORY);
  ppi_mem_fail_at(0);
  EXPECT_EQ(stream, nullptr);
  ASSERT_EQ(pprof_cpu_stream_create(&stream), PPROF_STATUS_OK);
  ppi_mem_fail_at(1);
  Gate gate;
  EXPECT_EQ(pprof_cpu_stream_submit(stream, Gate::Run, &gate),
            PPROF_STATUS_NO_MEMORY);
  ppi_mem_fail_at(0);
  pprof_cpu_stream_destroy(stream);
}

void ReadSignalMask(void *argument) {
  pthread_sigmask(SIG_BLOCK, nullptr, static_cast<sigset_t *>(argument));
}

TEST_F(CpuStreamTest, WorkerBlocksSignals) {
  sigset_t mask;
  sigemptyset(&mask);
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, ReadSignalMask, &mask),
            PPROF_STATUS_OK);
  pprof_cpu_stream_synchronize(stream_);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPROF, SIGCHLD, SIGALRM})
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  sigset_t mine;
  pthread_sigmask(SIG_BLOCK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGUSR1), 0);
}

TEST_F(CpuBackendTest, SaysWhatItIs) {
  EXPECT_STREQ(backend_->name, "cpu");
  EXPECT_EQ(backend_->size, sizeof(pprof_backend));
  EXPECT_EQ(backend_->caps, PPROF_BACKEND_ABSOLUTE_TIME);
}

TEST_F(CpuBackendTest, OtherIndexIsRefused) {
  pprof_error error;
  void *context = nullptr;
  EXPECT_EQ(backend_->open(3, &context, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_STREQ(error.text, "cpu: there is no device 3; there is one, 0");
  EXPECT_EQ(backend_->open(-1, &context, nullptr), PPROF_STATUS_UNAVAILABLE);
  EXPECT_EQ(context, nullptr);
}

TEST_F(CpuBackendTest, StreamsHaveIdsOfTheirOwn) {
  pprof_cpu_stream *other;
  ASSERT_EQ(pprof_cpu_stream_create(&other), PPROF_STATUS_OK);
  pprof_stream_info a = {}, b = {};
  a.size = b.size = sizeof a;
  a.capturing = true;
  EXPECT_EQ(backend_->stream_info(context_, stream_, &a), PPROF_STATUS_OK);
  EXPECT_EQ(backend_->stream_info(context_, other, &b), PPROF_STATUS_OK);
  EXPECT_NE(a.stable_id, b.stable_id);
  EXPECT_EQ(a.pool, b.pool);
  EXPECT_FALSE(a.capturing);
  EXPECT_EQ(backend_->stream_info(context_, nullptr, &a), PPROF_STATUS_INVALID);
  pprof_cpu_stream_destroy(other);
}

TEST_F(CpuBackendTest, EventsEncloseTheWorkBetweenThem) {
  auto events = Create(2);
  Gate gate;
  Stamped work;
  uint64_t before_ns = ppi_backend_now_ns();
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Gate::Run, &gate),
            PPROF_STATUS_OK);
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Stamped::Run, &work),
            PPROF_STATUS_OK);
  ASSERT_EQ(Record(events[1]), PPROF_STATUS_OK);
  int64_t ns = 77;
  EXPECT_EQ(backend_->event_query(context_, events[1]), PPROF_STATUS_BUSY);
  EXPECT_EQ(backend_->event_elapsed(context_, events[0], events[1], &ns),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(ns, 77);
  gate.Open();
  AwaitReady(events[1]);
  auto after_ns = static_cast<int64_t>(ppi_backend_now_ns());
  EXPECT_LE(static_cast<int64_t>(before_ns), Time(events[0]));
  EXPECT_LE(Time(events[0]), static_cast<int64_t>(work.begin_ns));
  EXPECT_LE(static_cast<int64_t>(work.end_ns), Time(events[1]));
  EXPECT_LE(Time(events[1]), after_ns);
  ASSERT_EQ(backend_->event_elapsed(context_, events[0], events[1], &ns),
            PPROF_STATUS_OK);
  EXPECT_EQ(ns, Time(events[1]) - Time(events[0]));
  Destroy(&events);
}

TEST_F(CpuBackendTest, IdleStreamReachesAnEventAtOnce) {
  auto events = Create(1);
  pprof_cpu_stream_synchronize(stream_);
  auto before_ns = static_cast<int64_t>(ppi_backend_now_ns());
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_OK);
  EXPECT_LE(before_ns, Time(events[0]));
  EXPECT_LE(Time(events[0]), static_cast<int64_t>(ppi_backend_now_ns()));
  Destroy(&events);
}

TEST_F(CpuBackendTest, PendingEventIsNotTakenAgain) {
  auto events = Create(2);
  pprof_cpu_stream *other;
  ASSERT_EQ(pprof_cpu_stream_create(&other), PPROF_STATUS_OK);
  Gate gate;
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Gate::Run, &gate),
            PPROF_STATUS_OK);
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_BUSY);
  EXPECT_EQ(backend_->event_record(context_, events[0], other),
            PPROF_STATUS_BUSY);
  pprof_anchor anchor = {};
  anchor.size = sizeof anchor;
  anchor.event = events[0];
  EXPECT_EQ(backend_->anchor(context_, pool_, &anchor), PPROF_STATUS_BUSY);
  ASSERT_EQ(Record(events[1]), PPROF_STATUS_OK);
  gate.Open();
  pprof_cpu_stream_synchronize(stream_);
  EXPECT_LE(Time(events[0]), Time(events[1]));
  int64_t first_ns = Time(events[0]);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_OK);
  EXPECT_LE(first_ns, Time(events[0]));
  pprof_cpu_stream_destroy(other);
  Destroy(&events);
}

TEST_F(CpuBackendTest, PendingEventMayBeDestroyed) {
  auto events = Create(3);
  Gate gate;
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Gate::Run, &gate),
            PPROF_STATUS_OK);
  for (void *event : events) ASSERT_EQ(Record(event), PPROF_STATUS_OK);
  Destroy(&events);
  gate.Open();
  std::vector<int> order;
  Step step = {&order, 5};
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Step::Run, &step),
            PPROF_STATUS_OK);
  pprof_cpu_stream_synchronize(stream_);
  EXPECT_EQ(order, std::vector<int>{5});
}

TEST_F(CpuBackendTest, TenThousandRecordsOnSixtyFourEvents) {
  auto events = Create(64);
  Stamped work[64];
  int64_t last_ns = 0;
  for (size_t i = 0; i < 10000; i++) {
    void *event = events[i % 64];
    if (i >= 64) {
      AwaitReady(event);
      ASSERT_LE(last_ns, Time(event)) << i;
      last_ns = Time(event);
    }
    ASSERT_EQ(Record(event), PPROF_STATUS_OK);
    ASSERT_EQ(pprof_cpu_stream_submit(stream_, Stamped::Run, &work[i % 64]),
              PPROF_STATUS_OK);
  }
  pprof_cpu_stream_synchronize(stream_);
  Destroy(&events);
}

TEST_F(CpuBackendTest, ManyThreadsRecordOnOneStream) {
  constexpr size_t kThreads = 4, kEvents = 500;
  auto events = Create(kThreads * kEvents);
  std::vector<Stamped> work(kThreads * kEvents);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++)
    threads.emplace_back([&, t] {
      for (size_t i = t * kEvents; i < (t + 1) * kEvents; i++) {
        failed += Record(events[i]) != PPROF_STATUS_OK;
        failed += pprof_cpu_stream_submit(stream_, Stamped::Run, &work[i]) !=
                  PPROF_STATUS_OK;
      }
    });
  for (std::thread &thread : threads) thread.join();
  pprof_cpu_stream_synchronize(stream_);
  EXPECT_EQ(failed, 0);
  for (size_t i = 0; i < events.size(); i++) {
    ASSERT_EQ(backend_->event_query(context_, events[i]), PPROF_STATUS_OK);
    ASSERT_LE(Time(events[i]), static_cast<int64_t>(work[i].begin_ns));
    if (i % kEvents == 0) continue;
    ASSERT_LE(static_cast<int64_t>(work[i - 1].end_ns), Time(events[i]));
  }
  Destroy(&events);
}

TEST_F(CpuBackendTest, AnchorIsTheHostClock) {
  auto events = Create(1);
  pprof_anchor anchor = {};
  anchor.size = sizeof anchor;
  EXPECT_EQ(backend_->anchor(context_, pool_, &anchor), PPROF_STATUS_INVALID);
  anchor.event = events[0];
  uint64_t before_ns = ppi_backend_now_ns();
  ASSERT_EQ(backend_->anchor(context_, pool_, &anchor), PPROF_STATUS_OK);
  EXPECT_LE(before_ns, anchor.host_before_ns);
  EXPECT_LE(static_cast<int64_t>(anchor.host_before_ns), anchor.device_ns);
  EXPECT_LE(anchor.device_ns, static_cast<int64_t>(anchor.host_after_ns));
  EXPECT_LE(anchor.host_after_ns, ppi_backend_now_ns());
  EXPECT_EQ(Time(events[0]), anchor.device_ns);
  Destroy(&events);
}

TEST_F(CpuBackendTest, BadUseOfEventsIsRefused) {
  auto events = Create(1);
  int64_t ns = 0;
  void *more[8];
  EXPECT_EQ(backend_->event_record(context_, events[0], nullptr),
            PPROF_STATUS_INVALID);
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[0], &ns),
            PPROF_STATUS_INVALID);
  EXPECT_EQ(backend_->event_create(context_, pool_ + 1, 1, more),
            PPROF_STATUS_INVALID);
  ppi_mem_fail_at(5);
  EXPECT_EQ(backend_->event_create(context_, pool_, 8, more),
            PPROF_STATUS_NO_MEMORY);
  ppi_mem_fail_at(0);
  Destroy(&events);
}

// The child owns no worker: everything answers at once, nothing hangs.
int TryInChild(const pprof_backend *backend, void *context,
               pprof_cpu_stream *stream, void *pending, void *idle) {
  int64_t ns;
  pprof_stream_info info = {};
  info.size = sizeof info;
  Gate gate;
  if (pprof_cpu_stream_submit(stream, Gate::Run, &gate) !=
      PPROF_STATUS_UNAVAILABLE)
    return 1;
  if (backend->event_record(context, idle, stream) != PPROF_STATUS_UNAVAILABLE)
    return 2;
  if (backend->stream_info(context, stream, &info) != PPROF_STATUS_UNAVAILABLE)
    return 3;
  if (backend->event_query(context, pending) != PPROF_STATUS_DEVICE) return 4;
  if (backend->event_elapsed(context, nullptr, pending, &ns) !=
      PPROF_STATUS_BUSY)
    return 5;
  pprof_cpu_stream_synchronize(stream);
  backend->event_destroy(context, info.pool, 1, &pending);
  pprof_cpu_stream_destroy(stream);
  return 0;
}

TEST_F(CpuBackendTest, ForkedChildIsToldThatThereIsNoWorker) {
  auto events = Create(2);
  Gate gate;
  ASSERT_EQ(pprof_cpu_stream_submit(stream_, Gate::Run, &gate),
            PPROF_STATUS_OK);
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    _exit(TryInChild(backend_, context_, stream_, events[0], events[1]));
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_TRUE(WIFEXITED(result));
  EXPECT_EQ(WEXITSTATUS(result), 0);
  // The parent's stream is as it was.
  gate.Open();
  AwaitReady(events[0]);
  Destroy(&events);
}

}  // namespace
