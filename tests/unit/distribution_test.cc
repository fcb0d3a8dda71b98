// SPDX-License-Identifier: Apache-2.0
//
// Communication, computation and their overlap, where figures_property_test.cc
// and tests/oracle do not look.
#include "report/spans/distribution.h"

#include <gtest/gtest.h>

namespace {

class Distribution {
 public:
  Distribution() = default;
  ~Distribution() {
    ppi_distribution_clear(&distribution_);
  }
  Distribution(const Distribution &) = delete;
  Distribution &operator=(const Distribution &) = delete;

  void Host(uint64_t from, uint64_t to,
            uint32_t category = PPROF_CATEGORY_COMMUNICATION,
            uint32_t flags = 0) {
    pprof_event event = HostEvent(from, to);
    event.flags = flags;
    Expect(ppi_distribution_take(&distribution_, &event, category));
  }
  void Open(uint64_t from, uint64_t to,
            uint32_t category = PPROF_CATEGORY_COMMUNICATION) {
    pprof_event event = HostEvent(from, to);
    Expect(ppi_distribution_open(&distribution_, &event, category));
  }
  void Device(uint64_t from, uint64_t to,
              uint32_t category = PPROF_CATEGORY_KERNEL, uint32_t flags = 0) {
    pprof_event event = {};
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.device_start_ns = from;
    event.device_end_ns = to;
    event.flags = flags;
    Expect(ppi_distribution_take(&distribution_, &event, category));
  }
  void Collective(uint64_t from, uint64_t to) {
    Device(from, to, PPROF_CATEGORY_KERNEL, PPROF_FLAG_COMMUNICATION);
  }
  // As in Paddle: a kernel has the name of what is around its launch.
  void PaddleKernel(const char *name, uint64_t from, uint64_t to,
                    bool any_communicates = false,
                    bool innermost_communicates = false) {
    ppi_paddle_kernel kernel = {from, to, ppi_paddle_is_collective(name),
                                any_communicates, innermost_communicates};
    Expect(ppi_paddle_take(&distribution_, &kernel));
  }
  void Settle(uint64_t horizon) {
    ppi_distribution_settle(&distribution_, horizon);
  }
  size_t NumSpans() {
    size_t num = 0;
    for (ppi_union *set :
         {&distribution_.computation, &distribution_.sides[0].own,
          &distribution_.sides[1].own, &distribution_.sides[0].either,
          &distribution_.sides[1].either}) {
      ppi_union_compact(set);
      num += set->num;
    }
    return num;
  }
  ppi_report_distribution Figures() {
    ppi_report_distribution figures = {};
    ppi_distribution_fill(&distribution_, &figures);
    return figures;
  }
  void ExpectTimes(uint64_t communication, uint64_t computation,
                   uint64_t overlap) {
    ppi_report_distribution figures = Figures();
    EXPECT_EQ(figures.communication_ns, communication);
    EXPECT_EQ(figures.computation_ns, computation);
    EXPECT_EQ(figures.overlap_ns, overlap);
  }
  void ExpectDeviceTimes(uint64_t communication, uint64_t overlap) {
    ppi_report_distribution figures = Figures();
    EXPECT_EQ(figures.device_communication_ns, communication);
    EXPECT_EQ(figures.device_overlap_ns, overlap);
  }
  void ExpectCalls(uint64_t host, uint64_t device, uint64_t computation) {
    ppi_report_distribution figures = Figures();
    EXPECT_EQ(figures.host_calls, host);
    EXPECT_EQ(figures.device_calls, device);
    EXPECT_EQ(figures.computation_calls, computation);
  }

 private:
  static pprof_event HostEvent(uint64_t from, uint64_t to) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.start_ns = from;
    event.end_ns = to;
    return event;
  }
  static void Expect(bool done) {
    EXPECT_TRUE(done);
  }

  ppi_distribution distribution_ = {};
};

TEST(DistributionTest, PaddleGoesByNames) {
  EXPECT_TRUE(ppi_paddle_communicates(PPROF_CATEGORY_OPERATOR, "C_AllReduce"));
  EXPECT_TRUE(
      ppi_paddle_communicates(PPROF_CATEGORY_OPERATOR, "broadcast_tensors"));
  EXPECT_TRUE(ppi_paddle_communicates(PPROF_CATEGORY_OPERATOR, "my_rpc_op"));
  EXPECT_FALSE(ppi_paddle_communicates(PPROF_CATEGORY_OPERATOR, "all_reduce"));
  EXPECT_FALSE(
      ppi_paddle_communicates(PPROF_CATEGORY_OPERATOR_INNER, "allreduce"));
  EXPECT_TRUE(ppi_paddle_communicates(PPROF_CATEGORY_COMMUNICATION, "x"));
  EXPECT_TRUE(ppi_paddle_is_collective("ncclDevKernel_AllGather"));
  EXPECT_TRUE(ppi_paddle_is_collective("XCCL_send"));
  EXPECT_FALSE(ppi_paddle_is_collective("allreduce"));
  Distribution run;
  run.PaddleKernel("ncclDevKernel", 0, 10);        // launched by anything
  run.PaddleKernel("ncclDevKernel", 0, 10, true);  // under an allreduce
  run.PaddleKernel("sum", 20, 25, true, true);     // by the allreduce
  run.PaddleKernel("sum", 40, 45);
  run.ExpectTimes(15, 5, 0);
  run.ExpectCalls(0, 3, 1);
}

// Without kernels all device ranges but copies compute; the first kernel, in
// whatever order they come, leaves kernels alone.
TEST(DistributionTest, WithKernelsOnlyTheyCompute) {
  for (int order = 0; order < 2; order++) {
    Distribution run;
    run.Host(0, 10);
    if (order == 1) run.Device(5, 8);
    run.Device(0, 100, PPROF_CATEGORY_INFERENCE);
    run.Device(200, 210, PPROF_CATEGORY_MEMSET);
    run.Device(300, 310, PPROF_CATEGORY_INFERENCE, PPROF_FLAG_COMMUNICATION);
    run.Device(300, 400, PPROF_CATEGORY_USER_DEFINED);
    if (order == 0) {
      run.ExpectTimes(20, 200, 20);
      run.ExpectDeviceTimes(10, 10);
      run.ExpectCalls(1, 1, 2);
      run.Settle(320);
      run.ExpectTimes(20, 200, 20);
      run.Device(320, 330);
      run.ExpectTimes(20, 10, 0);
    } else {
      run.ExpectTimes(20, 3, 3);
    }
    run.ExpectDeviceTimes(10, 0);
    run.ExpectCalls(1, 1, 1);
  }
}

// What comes too late is cut alike in all unions, or their difference would be
// nonsense.
TEST(DistributionTest, AKernelBeforeTheHorizonIsCutThere) {
  Distribution run;
  run.Host(0, 10);
  run.Device(0, 5, PPROF_CATEGORY_INFERENCE);
  run.Settle(20);
  run.Device(15, 30);
  run.ExpectTimes(10, 10, 0);
}

TEST(DistributionTest, FlagsCountWhateverTheCategory) {
  Distribution run;
  run.Host(0, 10, PPROF_CATEGORY_OPERATOR, PPROF_FLAG_COMMUNICATION);
  run.Host(0, 50, PPROF_CATEGORY_OPERATOR);
  run.Device(20, 30, PPROF_CATEGORY_MEMCPY, PPROF_FLAG_COMMUNICATION);
  run.Device(20, 40, PPROF_CATEGORY_COMMUNICATION);
  run.ExpectTimes(30, 0, 0);
  run.ExpectCalls(1, 2, 0);
}

// They span the work of others, idle time between it included.
TEST(DistributionTest, ProjectedRangesAreNoWork) {
  Distribution run;
  run.Device(10, 20, PPROF_CATEGORY_INFERENCE);
  run.Device(0, 90, PPROF_CATEGORY_USER_DEFINED, PPROF_FLAG_PROJECTED);
  run.Device(0, 90, PPROF_CATEGORY_COMMUNICATION, PPROF_FLAG_PROJECTED);
  run.ExpectTimes(0, 10, 0);
  run.ExpectCalls(0, 0, 1);
}

TEST(DistributionTest, AnOpenRangeCoversWhatIsSettled) {
  Distribution run;
  run.Device(0, 40);
  run.Open(10, 30);
  run.Settle(30);
  EXPECT_EQ(run.NumSpans(), 2u);  // (30,40), as computation and as either
  run.Host(10, 50);
  run.ExpectTimes(40, 40, 30);
  run.ExpectCalls(1, 0, 1);
}

TEST(DistributionTest, WhatIsSettledIsNotHeld) {
  Distribution run;
  for (uint64_t i = 0; i < 1000; i++) {
    run.Host(i * 10, i * 10 + 2);
    run.Collective(i * 10 + 3, i * 10 + 5);
    run.Device(i * 10 + 1, i * 10 + 4);
    if (i % 50 != 49) continue;
    run.Settle(i * 10 + 9);
    EXPECT_EQ(run.NumSpans(), 0u);
  }
  run.ExpectTimes(4000, 3000, 2000);
  run.ExpectDeviceTimes(2000, 1000);
}

}  // namespace
