// SPDX-License-Identifier: Apache-2.0
//
// Kernels of ROCm, through the real source, over a stand-in for
// rocprofiler-sdk: which one it is like is known from its headers alone. One
// process, which is configured once, as by the real one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "device_session.h"
#include "fake_rocprofiler.h"
#include "pprof/mark.h"
#include "rocm_injected.h"

namespace {

using pprof_test::Advance;
using pprof_test::DeviceSession;
using pprof_test::test_clock_ns;

PPROF_SITE(request, "request", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(detect, "detect", PPROF_CATEGORY_INFERENCE);

fake_rocprofiler *rocm_;

class RocmKernelsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    void *library = dlopen(getenv("PPROF_ROCPROFILER_PATH"), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    rocm_ = reinterpret_cast<fake_rocprofiler_get_type *>(
        dlsym(library, "fake_rocprofiler_get"))();
  }

  void SetUp() override {
    rocm_->failing = nullptr;
    session_.reset(new DeviceSession);
    ASSERT_EQ(ppi_session_set_kernels(session_->get(), ppi_rocm_source(), true),
              PPROF_STATUS_OK);
  }

  // The program loads ROCm, whose profiler asks its tools.
  static ppi_rocm_tool *Configure(uint32_t version = 10100) {
    ppi_rocm_client client = {sizeof client, nullptr, 7};
    return static_cast<ppi_rocm_tool *>(
        pprof_inject_rocm_(version, &client, nullptr));
  }
  // Once a process: what was laid down stays.
  static void Initialize() {
    static bool is_done;
    if (is_done) return;
    is_done = true;
    const ppi_rocm_tool *tool = Configure();
    ASSERT_NE(tool, nullptr);
    ASSERT_EQ(tool->initialize(nullptr, tool->data), 0);
  }

  void Begin() {
    rocm_->now_ns = 500;
    session_->Start();
    Initialize();
    Look();
  }
  void Look() {
    Advance(100000000);
    rocm_->now_ns += 100000000;
    session_->Flush();
  }

  // From the device's time on.
  static ppi_rocm_kernel Kernel(uint64_t correlation, uint64_t start,
                                uint64_t length) {
    ppi_rocm_kernel record = {};
    record.size = sizeof record;
    record.kind = PPI_ROCM_BUFFER_KERNEL;
    record.correlation = correlation;
    record.start = start;
    record.end = start + length;
    record.agent = 300;
    record.queue = 5;
    record.kernel = 12;
    record.group_bytes = 2048;
    const uint32_t block[3] = {64, 4, 1}, all[3] = {1000, 8, 1};
    for (int i = 0; i < 3; i++) {
      record.block[i] = block[i];
      record.all[i] = all[i];
    }
    return record;
  }
  static void Tell(const ppi_rocm_kernel &record) {
    rocm_->deliver(PPI_ROCM_BUFFER_KERNEL, &record, sizeof record);
  }

  std::unique_ptr<DeviceSession> session_;
};

// Asked by one of another version, or where nobody wants kernels.
TEST_F(RocmKernelsTest, AnotherVersionIsLeftAlone) {
  EXPECT_EQ(Configure(10100), nullptr);  // no session yet
  session_->Start();
  EXPECT_EQ(Configure(600), nullptr);
  EXPECT_EQ(Configure(20000), nullptr);
  Look();
  session_->Stop();
  EXPECT_TRUE(
      session_->HasNote("kernels: not traced: the program has not used "
                        "ROCm"))
      << ::testing::PrintToString(session_->notes);
}

// What fails while it is asked for has the library forget us.
TEST_F(RocmKernelsTest, ErrorsOfTheConfigurationEndIt) {
  session_->Start();
  ppi_rocm_tool *tool = Configure();
  ASSERT_NE(tool, nullptr);
  for (const char *function :
       {"rocprofiler_create_context", "rocprofiler_create_buffer",
        "rocprofiler_configure_buffer_tracing_service",
        "rocprofiler_configure_callback_tracing_service",
        "rocprofiler_query_callback_tracing_kind_operation_name"}) {
    rocm_->failing = function;
    EXPECT_NE(tool->initialize(nullptr, tool->data), 0) << function;
  }
  rocm_->failing = nullptr;
  session_->Stop();
}

TEST_F(RocmKernelsTest, BelongToTheRangesAroundTheirLaunch) {
  Begin();
  ppi_rocm_symbol symbol = {};
  symbol.size = sizeof symbol;
  symbol.kernel = 12;
  symbol.name = "_Z4gemmPf.kd";
  symbol.vector_registers = 48;
  rocm_->load(&symbol);
  pprof_push(&request);
  pprof_push(&detect);
  uint64_t correlation = rocm_->call("hipLaunchKernel");
  pprof_pop();
  pprof_pop();
  Tell(Kernel(correlation, rocm_->now_ns + 1000, 2500));
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  const pprof_event &kernel = kernels[0];
  EXPECT_EQ(session_->site_names[kernel.site], "gemm(float*)");
  EXPECT_EQ(kernel.depth, 2u);
  EXPECT_EQ(kernel.device_end_ns - kernel.device_start_ns, 2500u);
  EXPECT_GE(kernel.device_start_ns, kernel.start_ns);
  EXPECT_EQ(session_->device_names[session_->stream_devices[kernel.stream]],
            "hip:1");
  ASSERT_EQ(session_->attributes[kernel.attributes].size(), 1u);
  EXPECT_EQ(session_->attributes[kernel.attributes][0],
            "{\"grid\":[16,2,1],\"block\":[64,4,1],"
            "\"registers per thread\":48,\"shared memory\":2048}");
}

// Its clock is far from the host's: a kernel is where its launch was, to what
// the brackets of eight looks say.
TEST_F(RocmKernelsTest, LieInTheHostsTime) {
  Begin();
  uint64_t host = test_clock_ns, device = rocm_->now_ns;
  uint64_t correlation = rocm_->call("hipLaunchKernel");
  Tell(Kernel(correlation, device + 50000, 1000));
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NEAR(static_cast<double>(kernels[0].device_start_ns),
              static_cast<double>(host + 50000 - session_->base_ns), 1000);
  EXPECT_LE(kernels[0].device_error_ns, 1000u);
}

TEST_F(RocmKernelsTest, CopiesSayTheirBytesAndTheirDevice) {
  Begin();
  uint64_t correlation = rocm_->call("hipMemcpyAsync");
  ppi_rocm_copy record = {};
  record.kind = PPI_ROCM_BUFFER_COPY;
  record.operation = 3;  // to the host
  record.correlation = correlation;
  record.start = rocm_->now_ns + 100;
  record.end = record.start + 50;
  record.to_agent = 100;  // the host's
  record.from_agent = 200;
  record.bytes = 4096;
  rocm_->deliver(PPI_ROCM_BUFFER_COPY, &record, sizeof record);
  Look();
  session_->Stop();
  auto copies = session_->DeviceRanges();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(session_->site_names[copies[0].site], "MEMCPY_DtoH");
  EXPECT_EQ(session_->device_names[session_->stream_devices[copies[0].stream]],
            "hip:0");
  EXPECT_NE(copies[0].lane, 0u);
}

TEST_F(RocmKernelsTest, OfAGraphSaySo) {
  Begin();
  uint64_t correlation = rocm_->call("hipGraphLaunch");
  for (uint64_t i = 0; i < 3; i++)
    Tell(Kernel(correlation, rocm_->now_ns + 1000 + 100 * i, 50));
  Look();
  Advance(1100000000);  // nobody says how many there are
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 3u);
  for (const auto &kernel : kernels)
    EXPECT_EQ(kernel.flags, (uint32_t)PPROF_FLAG_IN_GRAPH);
}

TEST_F(RocmKernelsTest, WithoutASymbolHaveTheirNumber) {
  Begin();
  ppi_rocm_kernel record =
      Kernel(rocm_->call("hipLaunchKernel"), rocm_->now_ns + 1000, 10);
  record.kernel = 99;
  Tell(record);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(session_->site_names[kernels[0].site], "kernel 99");
}

TEST_F(RocmKernelsTest, WhatTheLibraryHasLostIsTold) {
  Begin();
  rocm_->dropped = 17;
  Look();
  session_->Stop();
  EXPECT_TRUE(session_->HasNote("kernels: 17 kernels and copies were lost"));
  EXPECT_EQ(session_->stats.device_lost, 17u);
}

// What is launched while no session is there is nobody's.
TEST_F(RocmKernelsTest, NothingIsRecordedAfterAStop) {
  Begin();
  session_->Stop();
  uint64_t correlation = rocm_->call("hipLaunchKernel");
  Tell(Kernel(correlation, rocm_->now_ns, 10));
  session_.reset(new DeviceSession);
  ppi_session_set_kernels(session_->get(), ppi_rocm_source(), true);
  Begin();
  session_->Stop();
  EXPECT_TRUE(session_->DeviceRanges().empty());
}

// In CUDA's place, which is not there.
TEST_F(RocmKernelsTest, TheFirstSourceThatIsThereIsTaken) {
  ppi_kernel_source none = *ppi_rocm_source();
  none.start = [](pprof_error *error) {
    return ppi_fail(error, PPROF_STATUS_UNAVAILABLE, "none: not here");
  };
  none.next = ppi_rocm_source();
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), &none, true),
            PPROF_STATUS_OK);
  Begin();
  Tell(Kernel(rocm_->call("hipLaunchKernel"), rocm_->now_ns + 1000, 10));
  Look();
  session_->Stop();
  EXPECT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_FALSE(session_->HasNote("none: not here"));
}

}  // namespace
