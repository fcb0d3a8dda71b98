// SPDX-License-Identifier: Apache-2.0
//
// Real devices through whole sessions: functions on CPU threads, and OpenCL on
// an implementation that must be there (package pocl-opencl-icd).
#include <gtest/gtest.h>

#include <vector>

#include "backend_util.h"
#include "device_session.h"
#include "opencl.h"
#include "pprof/device.h"

namespace {

using pprof_test::DeviceSession;

PPROF_SITE(around, "around", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(work, "work", PPROF_CATEGORY_INFERENCE);

struct Stamped {
  uint64_t begin_ns, end_ns;

  static void Run(void *argument) {
    auto *self = static_cast<Stamped *>(argument);
    self->begin_ns = ppi_backend_now_ns();
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 300000; i++) sum = sum + i;
    self->end_ns = ppi_backend_now_ns();
  }
};

// What a range around submits and the wait for them says about each of them:
// it began after its submit and was over before the wait was.
void ExpectInside(const DeviceSession &session, uint64_t work_ns) {
  const pprof_event *host = nullptr;
  for (const pprof_event &event : session.events)
    if (event.kind == PPROF_KIND_RANGE) host = &event;
  ASSERT_NE(host, nullptr);
  uint64_t sum_ns = 0;
  for (const pprof_event &event : session.DeviceRanges()) {
    ASSERT_EQ(event.flags, 0u);
    EXPECT_GE(event.device_start_ns, event.start_ns);
    EXPECT_LE(event.device_end_ns, host->end_ns + event.device_error_ns);
    sum_ns += event.device_end_ns - event.device_start_ns;
  }
  // Markers stand around the work; both clocks may differ by 200 ppm.
  EXPECT_GE(sum_ns + sum_ns / 5000 + 2000, work_ns);
  EXPECT_LE(sum_ns, (host->end_ns - host->start_ns) * 1.0002 + 2000);
  EXPECT_EQ(session.stats.lost, 0u);
  EXPECT_EQ(session.stats.late, 0u);
}

TEST(CpuSessionTest, TimesAreThoseOfTheWork) {
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *stream = nullptr;
  ASSERT_EQ(pprof_cpu_stream_create(&stream), PPROF_STATUS_OK);
  DeviceSession session(false);
  session.Start();
  std::vector<Stamped> stamps(20);
  pprof_push(&around);
  for (Stamped &stamp : stamps) {
    pprof_device_push(device, stream, &work);
    ASSERT_EQ(pprof_cpu_stream_submit(stream, Stamped::Run, &stamp),
              PPROF_STATUS_OK);
    pprof_device_pop(device, stream);
  }
  pprof_cpu_stream_synchronize(stream);
  pprof_pop();
  session.Stop();
  pprof_cpu_stream_destroy(stream);
  uint64_t work_ns = 0;
  for (const Stamped &stamp : stamps) work_ns += stamp.end_ns - stamp.begin_ns;
  ASSERT_EQ(session.DeviceRanges().size(), 20u);
  ExpectInside(session, work_ns);
  EXPECT_TRUE(session.notes.empty()) << session.notes[0];
}

constexpr char kSource[] =
    "kernel void churn(global float *data, int rounds) {"
    "  size_t i = get_global_id(0);"
    "  float x = data[i];"
    "  for (int j = 0; j < rounds; j++) x = x * 1.0001f + 0.5f;"
    "  data[i] = x;"
    "}";

class OpenclSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = pprof_device_get(pprof_backend_opencl(), 0);
    pprof_error why = {};
    ASSERT_TRUE(pprof_device_available(device_, &why))
        << why.text << "\nthis test needs the package pocl-opencl-icd";
    cl_platform_id platform;
    ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
    ASSERT_EQ(
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl_device_, nullptr),
        CL_SUCCESS);
    cl_int code;
    cl_ = clCreateContext(nullptr, 1, &cl_device_, nullptr, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue_ = Queue(CL_QUEUE_PROFILING_ENABLE);
    const char *source = kSource;
    program_ = clCreateProgramWithSource(cl_, 1, &source, nullptr, &code);
    ASSERT_EQ(clBuildProgram(program_, 1, &cl_device_, "", nullptr, nullptr),
              CL_SUCCESS);
    kernel_ = clCreateKernel(program_, "churn", &code);
    data_ = clCreateBuffer(cl_, CL_MEM_READ_WRITE, kItems * sizeof(float),
                           nullptr, &code);
    ASSERT_EQ(clSetKernelArg(kernel_, 0, sizeof data_, &data_), CL_SUCCESS);
    Launch(queue_, nullptr);
    ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  }

  void TearDown() override {
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseMemObject(data_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(cl_);
  }

  cl_command_queue Queue(cl_command_queue_properties properties) {
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueue(cl_, cl_device_, properties, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return queue;
  }

  void Launch(cl_command_queue queue, cl_event *event) {
    size_t items = kItems;
    int rounds = 20000;
    EXPECT_EQ(clSetKernelArg(kernel_, 1, sizeof rounds, &rounds), CL_SUCCESS);
    EXPECT_EQ(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &items,
                                     nullptr, 0, nullptr, event),
              CL_SUCCESS);
  }

  static uint64_t DurationNs(cl_event event) {
    cl_ulong start = 0, end = 0;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                            &start, nullptr);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                            nullptr);
    clReleaseEvent(event);
    return end - start;
  }

  static constexpr size_t kItems = 64;
  pprof_device *device_;
  cl_device_id cl_device_;
  cl_context cl_;
  cl_command_queue queue_;
  cl_program program_;
  cl_kernel kernel_;
  cl_mem data_;
};

TEST_F(OpenclSessionTest, TimesAreThoseOfTheKernels) {
  pprof_stream_name(device_, queue_, "kernels");
  DeviceSession session(false);
  session.Start();
  std::vector<cl_event> events(10);
  pprof_push(&around);
  for (cl_event &event : events) {
    pprof_device_push(device_, queue_, &work);
    Launch(queue_, &event);
    pprof_device_pop(device_, queue_);
  }
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  pprof_pop();
  session.Stop();
  uint64_t work_ns = 0;
  for (cl_event event : events) work_ns += DurationNs(event);
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 10u);
  EXPECT_EQ(session.stream_names[ranges[0].stream], "kernels");
  ExpectInside(session, work_ns);
  EXPECT_TRUE(session.notes.empty()) << session.notes[0];
}

TEST_F(OpenclSessionTest, ChainIsAsLongAsItsParts) {
  pprof_stream_name(device_, queue_, "chain");
  DeviceSession session(false);
  session.Start();
  pprof_push(&around);
  pprof_device_push(device_, queue_, &work);
  for (int i = 0; i < 5; i++) {
    Launch(queue_, nullptr);
    pprof_device_next(device_, queue_, &work);
  }
  pprof_device_pop(device_, queue_);
  ASSERT_EQ(clFinish(queue_), CL_SUCCESS);
  pprof_pop();
  session.Stop();
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 6u);
  ExpectInside(session, 0);
  for (size_t i = 1; i < ranges.size(); i++)
    EXPECT_GE(ranges[i].device_start_ns, ranges[i - 1].device_end_ns);
}

TEST_F(OpenclSessionTest, QueueWithoutProfilingIsExplained) {
  cl_command_queue plain = Queue(0);
  DeviceSession session(false);
  session.Start();
  pprof_device_push(device_, plain, &work);
  Launch(plain, nullptr);
  pprof_device_pop(device_, plain);
  clFinish(plain);
  session.Stop();
  clReleaseCommandQueue(plain);
  auto ranges = session.DeviceRanges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].flags, (uint32_t)PPROF_FLAG_NO_DEVICE_TIME);
  EXPECT_TRUE(session.HasNote("CL_QUEUE_PROFILING_ENABLE"));
}

}  // namespace
