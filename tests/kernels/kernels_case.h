// SPDX-License-Identifier: Apache-2.0
//
// A session with kernels over a stand-in for libcupti. In the test's clock a
// tick is a ns.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "cupti.h"
#include "device_session.h"
#include "fake_cupti.h"
#include "pprof/mark.h"

namespace pprof_test {

static fake_cupti *cupti_;  // the one of the test

inline fake_cupti *Load() {
  void *library = dlopen(getenv("PPROF_CUPTI_PATH"), RTLD_NOW);
  if (!library) return nullptr;
  return reinterpret_cast<fake_cupti_get_type *>(
      dlsym(library, "fake_cupti_get"))();
}

// The times of the checkpoints, from 0 on, and what the run cost in the end.
struct Checkpoints {
  pprof_sink base = {};
  uint64_t own_cost_ns = 0;
  std::atomic<uint64_t> time_ns{0};

  Checkpoints() {
    base.size = sizeof base;
    base.checkpoint = [](pprof_sink *sink, const pprof_checkpoint *at) {
      reinterpret_cast<Checkpoints *>(sink)->time_ns =
          pprof_checkpoint_time_ns(at);
      return PPROF_STATUS_OK;
    };
    base.finish = [](pprof_sink *sink, const pprof_totals *totals) {
      reinterpret_cast<Checkpoints *>(sink)->own_cost_ns =
          ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_OWN_COST_TOTAL_NS);
      return PPROF_STATUS_OK;
    };
  }
};

class KernelsTest : public ::testing::Test {
 public:
  // Rounds of the collector until it has looked for records.
  void Look() {
    Advance(100000000);
    session_->Flush();
  }

 protected:
  static void SetUpTestSuite() {
    cupti_ = Load();
    ASSERT_NE(cupti_, nullptr);
  }

  void SetUp() override {
    LeaveCupti();
    cupti_->dropped = 0;
    for (auto &result : cupti_->results) result = {nullptr, 0, 0};
    cupti_->records_a_buffer = 1000;
    session_.reset(new DeviceSession);
    ASSERT_EQ(
        ppi_session_set_kernels(session_->get(), ppi_cupti_source(), true),
        PPROF_STATUS_OK);
  }

  void TearDown() override {
    session_.reset();
    LeaveCupti();
  }

  // The end of a call is where a source that has stopped goes.
  static void LeaveCupti() {
    cupti_->call("cuStreamSynchronize", 0, nullptr, nullptr);
    cupti_->call("cuLaunchKernel", 0, nullptr, nullptr);
  }

  static uint32_t Launch(const char *function = "cuLaunchKernel") {
    return cupti_->call(function, 0, nullptr, nullptr);
  }

  static void Tell(uint32_t correlation, uint64_t start, uint64_t end,
                   const char *name = "_Z6kernelPf", uint32_t stream = 7,
                   uint32_t context = 1) {
    ppi_cupti_kernel record = {};
    record.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL;
    record.start = start;
    record.end = end;
    record.context = context;
    record.stream = stream;
    record.correlation = correlation;
    record.name = name;
    cupti_->deliver(&record, sizeof record);
  }

  static void TellCopy(uint32_t correlation, uint64_t start, uint64_t end,
                       uint64_t bytes) {
    ppi_cupti_memcpy record = {};
    record.kind = PPI_CUPTI_KIND_MEMCPY;
    record.copy_kind = 1;
    record.bytes = bytes;
    record.start = start;
    record.end = end;
    record.context = 1;
    record.stream = 7;
    record.correlation = correlation;
    cupti_->deliver(&record, sizeof record);
  }

  std::string NameOf(const pprof_event &event) {
    return session_->site_names[event.site];
  }

  void StartWithCheckpoints() {
    ASSERT_EQ(pprof_session_add_sink(session_->get(), &checkpoints_.base),
              PPROF_STATUS_OK);
    session_->Start();
  }

  Checkpoints checkpoints_;
  std::unique_ptr<DeviceSession> session_;
};

}  // namespace pprof_test
