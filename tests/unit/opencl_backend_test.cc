// SPDX-License-Identifier: Apache-2.0
//
// The opencl backend with real work on a real implementation. It needs one
// (package pocl-opencl-icd) and fails where there is none.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "backend_util.h"
#include "base/mem.h"
#include "opencl.h"
#include "pprof/device.h"

namespace {

bool StartsWith(const char *text, const std::string &beginning) {
  return std::string(text).compare(0, beginning.size(), beginning) == 0;
}

constexpr char kSource[] =
    "kernel void churn(global float *data, int rounds) {"
    "  size_t i = get_global_id(0);"
    "  float x = data[i];"
    "  for (int j = 0; j < rounds; j++) x = x * 1.0001f + 0.5f;"
    "  data[i] = x;"
    "}";
constexpr size_t kItems = 64;
constexpr int kFewRounds = 1000;        // microseconds
constexpr int kManyRounds = 1000000;    // some tens of milliseconds
constexpr double kDriftBound = 200e-6;  // until two anchors say better

struct Anchor {
  int64_t offset_ns;  // device minus host
  int64_t error_ns;   // half the bracket
  uint64_t host_ns;
};

class OpenclBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    pprof_error error = {};
    ASSERT_EQ(backend_->open(0, &context_, &error), PPROF_STATUS_OK)
        << error.text << "\nthis test needs the package pocl-opencl-icd";
    ASSERT_EQ(backend_->collector_enter(context_), PPROF_STATUS_OK);
    cl_platform_id platform;
    ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
    ASSERT_EQ(
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr),
        CL_SUCCESS);
    cl_int code;
    cl_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue_ = Queue(CL_QUEUE_PROFILING_ENABLE);
    BuildKernel();
  }

  void TearDown() override {
    if (kernel_) clReleaseKernel(kernel_);
    if (program_) clReleaseProgram(program_);
    if (data_) clReleaseMemObject(data_);
    if (queue_) clReleaseCommandQueue(queue_);
    if (cl_) clReleaseContext(cl_);
    if (context_) backend_->close(context_);
  }

  void BuildKernel() {
    const char *source = kSource;
    cl_int code;
    program_ = clCreateProgramWithSource(cl_, 1, &source, nullptr, &code);
    ASSERT_EQ(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr),
              CL_SUCCESS);
    kernel_ = clCreateKernel(program_, "churn", &code);
    ASSERT_EQ(code, CL_SUCCESS);
    data_ = clCreateBuffer(cl_, CL_MEM_READ_WRITE, kItems * sizeof(float),
                           nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(kernel_, 0, sizeof data_, &data_), CL_SUCCESS);
    Launch(queue_, kFewRounds, nullptr);  // compiles for this device
    ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  }

  cl_command_queue Queue(cl_command_queue_properties properties) {
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueue(cl_, device_, properties, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return queue;
  }

  void Launch(cl_command_queue queue, int rounds, cl_event *event) {
    size_t items = kItems;
    EXPECT_EQ(clSetKernelArg(kernel_, 1, sizeof rounds, &rounds), CL_SUCCESS);
    EXPECT_EQ(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &items,
                                     nullptr, 0, nullptr, event),
              CL_SUCCESS);
  }

  pprof_status StreamInfo(cl_command_queue queue, pprof_stream_info *out) {
    *out = {};
    out->size = sizeof *out;
    return backend_->stream_info(context_, queue, out);
  }

  std::vector<void *> Create(size_t num) {
    std::vector<void *> events(num);
    pprof_stream_info info;
    EXPECT_EQ(StreamInfo(queue_, &info), PPROF_STATUS_OK);
    pool_ = info.pool;
    EXPECT_EQ(backend_->event_create(context_, pool_, num, events.data()),
              PPROF_STATUS_OK);
    return events;
  }

  void Destroy(std::vector<void *> *events) {
    backend_->event_destroy(context_, pool_, events->size(), events->data());
  }

  pprof_status Record(void *event, cl_command_queue queue) {
    return backend_->event_record(context_, event, queue);
  }

  uint64_t AwaitReady(void *event) {
    pprof_status status;
    while ((status = backend_->event_query(context_, event)) ==
           PPROF_STATUS_BUSY)
      sched_yield();
    EXPECT_EQ(status, PPROF_STATUS_OK);
    return ppi_backend_now_ns();
  }

  int64_t Time(void *event) {
    int64_t ns = -1;
    EXPECT_EQ(backend_->event_elapsed(context_, nullptr, event, &ns),
              PPROF_STATUS_OK);
    return ns;
  }

  static int64_t KernelTime(cl_event event, cl_profiling_info which) {
    cl_ulong ns = 0;
    EXPECT_EQ(clGetEventProfilingInfo(event, which, sizeof ns, &ns, nullptr),
              CL_SUCCESS);
    return static_cast<int64_t>(ns);
  }

  static cl_uint References(cl_command_queue queue) {
    cl_uint count = 0;
    EXPECT_EQ(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT,
                                    sizeof count, &count, nullptr),
              CL_SUCCESS);
    return count;
  }

  // PoCL lets go of finished commands on a thread of its own, so this waits; it
  // waits for ever when the backend keeps something.
  static void AwaitReferences(cl_command_queue queue, cl_uint count) {
    while (References(queue) != count) sched_yield();
  }

  // The device may be busy with other queues, so a try may end BUSY.
  Anchor TakeAnchor() {
    for (;;) {
      auto events = Create(1);
      pprof_anchor anchor = {};
      anchor.size = sizeof anchor;
      anchor.event = events[0];
      pprof_status status = backend_->anchor(context_, pool_, &anchor);
      Destroy(&events);
      if (status == PPROF_STATUS_BUSY) continue;
      EXPECT_EQ(status, PPROF_STATUS_OK);
      EXPECT_LE(anchor.host_before_ns, anchor.host_after_ns);
      uint64_t half_ns = (anchor.host_after_ns - anchor.host_before_ns) / 2;
      uint64_t middle_ns = anchor.host_before_ns + half_ns;
      return {anchor.device_ns - static_cast<int64_t>(middle_ns),
              static_cast<int64_t>(half_ns) + 1, middle_ns};
    }
  }

  const pprof_backend *backend_ = pprof_backend_opencl();
  void *context_ = nullptr;
  uint64_t pool_ = 0;
  cl_device_id device_ = nullptr;
  cl_context cl_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem data_ = nullptr;
};

TEST_F(OpenclBackendTest, SaysWhatItIs) {
  EXPECT_STREQ(backend_->name, "opencl");
  EXPECT_EQ(backend_->size, sizeof(pprof_backend));
  EXPECT_EQ(backend_->caps, PPROF_BACKEND_ABSOLUTE_TIME);
}

TEST_F(OpenclBackendTest, IndexBeyondTheDevicesIsNamed) {
  pprof_error error = {};
  void *context = nullptr;
  EXPECT_EQ(backend_->open(1000, &context, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_TRUE(StartsWith(error.text, "opencl: there is no device 1000; found "))
      << error.text;
  EXPECT_EQ(backend_->open(-1, &context, &error), PPROF_STATUS_UNAVAILABLE);
  EXPECT_EQ(context, nullptr);
}

TEST_F(OpenclBackendTest, QueueWithoutProfilingIsUnsupported) {
  cl_command_queue untimed = Queue(0);
  pprof_stream_info info;
  EXPECT_EQ(StreamInfo(untimed, &info), PPROF_STATUS_UNSUPPORTED);
  EXPECT_STREQ(backend_->untimed_hint,
               "the command queue was made without CL_QUEUE_PROFILING_ENABLE");
  EXPECT_EQ(StreamInfo(queue_, &info), PPROF_STATUS_OK);
  EXPECT_FALSE(info.capturing);
  EXPECT_EQ(info.pool, 0u);
  EXPECT_EQ(StreamInfo(nullptr, &info), PPROF_STATUS_INVALID);
  clReleaseCommandQueue(untimed);
}

TEST_F(OpenclBackendTest, MarkerOfAQueueWithoutProfilingHasNoTime) {
  cl_command_queue untimed = Queue(0);
  auto events = Create(1);
  ASSERT_EQ(Record(events[0], untimed), PPROF_STATUS_OK);
  AwaitReady(events[0]);
  int64_t ns = 77;
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[0], &ns),
            PPROF_STATUS_UNSUPPORTED);
  EXPECT_EQ(ns, 77);
  Destroy(&events);
  clReleaseCommandQueue(untimed);
}

TEST_F(OpenclBackendTest, QueueOfASubDeviceBelongsToItsParent) {
  const cl_device_partition_property one_each[] = {CL_DEVICE_PARTITION_EQUALLY,
                                                   1, 0};
  cl_device_id parts[64];
  cl_uint num = 0;
  ASSERT_EQ(clCreateSubDevices(device_, one_each, 64, parts, &num), CL_SUCCESS);
  cl_int code;
  cl_context context =
      clCreateContext(nullptr, 1, parts, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_command_queue queue =
      clCreateCommandQueue(context, parts[0], CL_QUEUE_PROFILING_ENABLE, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  pprof_stream_info info;
  EXPECT_EQ(StreamInfo(queue, &info), PPROF_STATUS_OK);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  for (cl_uint i = 0; i < num; i++) clReleaseDevice(parts[i]);
}

// One device clock: the order is exact, no tolerance.
TEST_F(OpenclBackendTest, MarkersEncloseTheKernelBetweenThem) {
  auto events = Create(2);
  cl_event kernel;
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  Launch(queue_, kManyRounds, &kernel);
  ASSERT_EQ(Record(events[1], queue_), PPROF_STATUS_OK);
  AwaitReady(events[1]);
  AwaitReady(events[0]);
  EXPECT_LE(Time(events[0]), KernelTime(kernel, CL_PROFILING_COMMAND_START));
  EXPECT_LE(KernelTime(kernel, CL_PROFILING_COMMAND_END), Time(events[1]));
  int64_t ns = 0;
  EXPECT_EQ(backend_->event_elapsed(context_, events[0], events[1], &ns),
            PPROF_STATUS_OK);
  EXPECT_EQ(ns, Time(events[1]) - Time(events[0]));
  clReleaseEvent(kernel);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, PendingMarkerIsBusy) {
  auto events = Create(1);
  cl_int code;
  cl_event gate = clCreateUserEvent(cl_, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  ASSERT_EQ(clEnqueueMarkerWithWaitList(queue_, 1, &gate, nullptr), CL_SUCCESS);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  int64_t ns = 77;
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_BUSY);
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[0], &ns),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(ns, 77);
  ASSERT_EQ(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  AwaitReady(events[0]);
  clReleaseEvent(gate);
  Destroy(&events);
}

// PoCL's own clock is hundreds of ms away from CLOCK_MONOTONIC, so that a
// missing map would not pass.
TEST_F(OpenclBackendTest, AnchorsMapTimesToTheHost) {
  auto events = Create(64);
  Anchor anchor = TakeAnchor();
  for (int round = 0; round < 20; round++) {
    std::vector<uint64_t> recorded_ns;
    for (void *event : events) {
      recorded_ns.push_back(ppi_backend_now_ns());
      ASSERT_EQ(Record(event, queue_), PPROF_STATUS_OK);
      Launch(queue_, kFewRounds, nullptr);
    }
    for (size_t i = 0; i < events.size(); i++) {
      uint64_t seen_ns = AwaitReady(events[i]);
      int64_t mapped_ns = Time(events[i]) - anchor.offset_ns;
      auto age_ns = static_cast<double>(seen_ns - anchor.host_ns);
      int64_t error_ns =
          anchor.error_ns + static_cast<int64_t>(age_ns * kDriftBound);
      ASSERT_LE(static_cast<int64_t>(recorded_ns[i]), mapped_ns + error_ns);
      ASSERT_LE(mapped_ns - error_ns, static_cast<int64_t>(seen_ns));
    }
  }
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, AnchorNeedsAnEventAndItsPool) {
  auto events = Create(1);
  pprof_anchor anchor = {};
  anchor.size = sizeof anchor;
  EXPECT_EQ(backend_->anchor(context_, pool_, &anchor), PPROF_STATUS_INVALID);
  anchor.event = events[0];
  EXPECT_EQ(backend_->anchor(context_, pool_ + 1, &anchor),
            PPROF_STATUS_INVALID);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, TenThousandRecordsOnSixtyFourEvents) {
  auto events = Create(64);
  cl_uint references = References(queue_);
  int64_t last_ns = 0;
  for (size_t i = 0; i < 10000; i++) {
    void *event = events[i % 64];
    if (i >= 64) {
      AwaitReady(event);
      ASSERT_LE(last_ns, Time(event)) << i;
      last_ns = Time(event);
    }
    ASSERT_EQ(Record(event, queue_), PPROF_STATUS_OK);
    if (i % 100 == 0) Launch(queue_, kFewRounds, nullptr);
  }
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  for (void *event : events) AwaitReady(event);
  // Idle events hold nothing of the application's.
  AwaitReferences(queue_, references);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, EventRecordedAgainUnreadHasItsLastTime) {
  auto events = Create(2);
  cl_uint references = References(queue_);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  Launch(queue_, kManyRounds, nullptr);
  ASSERT_EQ(Record(events[1], queue_), PPROF_STATUS_OK);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  AwaitReady(events[0]);
  AwaitReady(events[1]);
  EXPECT_LE(Time(events[1]), Time(events[0]));
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  AwaitReferences(queue_, references);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, PendingEventMayBeDestroyed) {
  auto events = Create(4);
  cl_uint references = References(queue_);
  Launch(queue_, kManyRounds, nullptr);
  for (void *event : events) ASSERT_EQ(Record(event, queue_), PPROF_STATUS_OK);
  Destroy(&events);
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  AwaitReferences(queue_, references);
}

TEST_F(OpenclBackendTest, ManyThreadsRecordOnTheirQueues) {
  constexpr size_t kThreads = 4, kEvents = 200;
  auto events = Create(kThreads * kEvents);
  std::vector<cl_command_queue> queues;
  for (size_t t = 0; t < kThreads; t++)
    queues.push_back(Queue(CL_QUEUE_PROFILING_ENABLE));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++)
    threads.emplace_back([&, t] {
      pprof_stream_info info;
      for (size_t i = t * kEvents; i < (t + 1) * kEvents; i++) {
        failed += StreamInfo(queues[t], &info) != PPROF_STATUS_OK;
        failed += Record(events[i], queues[t]) != PPROF_STATUS_OK;
        clFlush(queues[t]);
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  for (size_t i = 0; i < events.size(); i++) {
    AwaitReady(events[i]);
    if (i % kEvents == 0) continue;
    ASSERT_LE(Time(events[i - 1]), Time(events[i]));
  }
  for (cl_command_queue queue : queues) {
    clFinish(queue);
    clReleaseCommandQueue(queue);
  }
  Destroy(&events);
}

TEST_F(OpenclBackendTest, MarkerWaitsForAQueueOutOfOrder) {
  cl_command_queue_properties properties =
      CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  cl_command_queue queue = Queue(properties);
  auto events = Create(1);
  cl_event kernel;
  Launch(queue, kManyRounds, &kernel);
  ASSERT_EQ(Record(events[0], queue), PPROF_STATUS_OK);
  AwaitReady(events[0]);
  EXPECT_LE(KernelTime(kernel, CL_PROFILING_COMMAND_END), Time(events[0]));
  clReleaseEvent(kernel);
  clReleaseCommandQueue(queue);
  Destroy(&events);
}

TEST_F(OpenclBackendTest, BadUseOfEventsIsRefused) {
  auto events = Create(1);
  void *more[8];
  int64_t ns = 0;
  EXPECT_EQ(Record(events[0], nullptr), PPROF_STATUS_INVALID);
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

TEST_F(OpenclBackendTest, ForkedChildIsRefused) {
  auto events = Create(1);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pprof_stream_info info;
    bool refused =
        StreamInfo(queue_, &info) == PPROF_STATUS_UNAVAILABLE &&
        Record(events[0], queue_) == PPROF_STATUS_UNAVAILABLE &&
        backend_->event_query(context_, events[0]) == PPROF_STATUS_DEVICE;
    Destroy(&events);
    _exit(refused ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_TRUE(WIFEXITED(result));
  EXPECT_EQ(WEXITSTATUS(result), 0);
  Destroy(&events);
}

// Between the backend and the real library: commands that stay queued until
// somebody flushes (PoCL starts work at once), markers that fail.
struct Between {
  ppi_opencl_api real;
  std::vector<cl_command_queue> flushed;
  bool lazy = false;
  cl_int execution = CL_COMPLETE;  // otherwise: what a marker's status is
  cl_int enqueue_code = CL_SUCCESS;
};
Between *between;

cl_int CL_API_CALL FlushBetween(cl_command_queue queue) {
  between->flushed.push_back(queue);
  return between->real.clFlush(queue);
}

cl_int CL_API_CALL EventInfoBetween(cl_event event, cl_event_info name,
                                    size_t size, void *value,
                                    size_t *out_size) {
  cl_int code =
      between->real.clGetEventInfo(event, name, size, value, out_size);
  bool waits = between->lazy && between->flushed.empty();
  if (waits) *static_cast<cl_int *>(value) = CL_QUEUED;
  if (between->execution != CL_COMPLETE)
    *static_cast<cl_int *>(value) = between->execution;
  return code;
}

cl_int CL_API_CALL EnqueueBetween(cl_command_queue queue, cl_uint num,
                                  const cl_event *waits, cl_event *out) {
  if (between->enqueue_code) return between->enqueue_code;
  return between->real.clEnqueueMarkerWithWaitList(queue, num, waits, out);
}

class OpenclMarkerTest : public OpenclBackendTest {
 protected:
  void SetUp() override {
    const char *const sonames[] = {"libOpenCL.so.1", nullptr};
    pprof_error error = {};
    ASSERT_EQ(ppi_opencl_load(sonames, &between_.real, &error), PPROF_STATUS_OK)
        << error.text;
    between = &between_;
    ppi_opencl_api api = between_.real;
    api.clFlush = FlushBetween;
    api.clGetEventInfo = EventInfoBetween;
    api.clEnqueueMarkerWithWaitList = EnqueueBetween;
    ppi_opencl_use(&api);
    OpenclBackendTest::SetUp();
  }

  void TearDown() override {
    OpenclBackendTest::TearDown();
    ppi_opencl_use(&between_.real);
  }

  Between between_;
};

TEST_F(OpenclMarkerTest, OneThatNobodyFlushesIsFlushedByTheCollector) {
  auto events = Create(1);
  between_.lazy = true;
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_BUSY);
  EXPECT_TRUE(between_.flushed.empty());  // not yet, and not while recording
  AwaitReady(events[0]);
  EXPECT_EQ(between_.flushed, std::vector<cl_command_queue>{queue_});
  Destroy(&events);
}

TEST_F(OpenclMarkerTest, OneThatFailsIsADeviceError) {
  auto events = Create(1);
  cl_uint references = References(queue_);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  between_.execution = CL_OUT_OF_RESOURCES;
  int64_t ns = 77;
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_DEVICE);
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_DEVICE);
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[0], &ns),
            PPROF_STATUS_DEVICE);
  EXPECT_EQ(ns, 77);
  AwaitReferences(queue_, references);
  between_.execution = CL_COMPLETE;
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  AwaitReady(events[0]);
  EXPECT_GT(Time(events[0]), 0);
  Destroy(&events);
}

TEST_F(OpenclMarkerTest, OneBehindAFailedCommandHasNoTime) {
  auto events = Create(1);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  between_.execution = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  int64_t ns = 77;
  EXPECT_EQ(backend_->event_query(context_, events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[0], &ns),
            PPROF_STATUS_UNSUPPORTED);
  EXPECT_EQ(ns, 77);
  Destroy(&events);
}

TEST_F(OpenclMarkerTest, OneThatIsRefusedLeavesTheEventAsItWas) {
  auto events = Create(1);
  ASSERT_EQ(Record(events[0], queue_), PPROF_STATUS_OK);
  AwaitReady(events[0]);
  int64_t before_ns = Time(events[0]);
  const struct {
    cl_int code;
    pprof_status status;
  } cases[] = {{CL_OUT_OF_RESOURCES, PPROF_STATUS_NO_MEMORY},
               {CL_OUT_OF_HOST_MEMORY, PPROF_STATUS_NO_MEMORY},
               {CL_INVALID_COMMAND_QUEUE, PPROF_STATUS_INVALID},
               {CL_INVALID_CONTEXT, PPROF_STATUS_INVALID},
               {-9999, PPROF_STATUS_DEVICE}};
  for (const auto &one : cases) {
    between_.enqueue_code = one.code;
    EXPECT_EQ(Record(events[0], queue_), one.status) << one.code;
  }
  EXPECT_EQ(Time(events[0]), before_ns);
  Destroy(&events);
}

}  // namespace
