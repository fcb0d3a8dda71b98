// SPDX-License-Identifier: Apache-2.0
//
// Kernels of graphs and the ranges in which they were captured, through the
// real source, over a stand-in for libcupti.
#include <string>
#include <thread>
#include <vector>

#include "kernels/captured.h"
#include "kernels_case.h"

namespace {

using pprof_test::cupti_;
using pprof_test::KernelsTest;
using pprof_test::test_clock_ns;
using Texts = std::vector<std::string>;

PPROF_SITE(forward, "forward", PPROF_CATEGORY_FORWARD);
PPROF_SITE(attention, "attention \"1\"", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(decode, "decode", PPROF_CATEGORY_INFERENCE);

class CapturedTest : public KernelsTest {
 protected:
  void Start(bool by_capture = true) {
    ASSERT_EQ(ppi_session_set_graph_kernels(session_->get(), by_capture),
              PPROF_STATUS_OK);
    session_->Start();
    EXPECT_EQ(ppi_session_set_graph_kernels(session_->get(), by_capture),
              PPROF_STATUS_BUSY);
  }
  // One by a launch that becomes a node, as a capture has it.
  static void Capture(uintptr_t node) {
    cupti_->call(
        "cuLaunchKernel", 0,
        [](void *argument) {
          cupti_->capture_node(*static_cast<uintptr_t *>(argument));
        },
        &node);
  }
  // Nodes 1 and 2, of which a graph that can be launched has 11 and 12.
  static void CaptureTwo() {
    pprof_push(&forward);
    Capture(1);
    pprof_push(&attention);
    Capture(2);
    pprof_pop();
    pprof_pop();
    cupti_->clone_node(11, 1);
    cupti_->clone_node(12, 2);
  }
  static void Work(uint32_t correlation, uint64_t graph_node, int32_t block) {
    ppi_cupti_kernel record = {};
    record.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL;
    record.grid[0] = record.grid[1] = record.grid[2] = 1;
    record.block[0] = block;
    record.block[1] = record.block[2] = block ? 1 : 0;
    record.correlation = correlation;
    record.start = test_clock_ns;
    record.end = record.start + 10;
    record.name = "gemm";
    record.graph_node = graph_node;
    cupti_->deliver(&record, sizeof record);
  }
  static uint32_t LaunchGraph() {
    pprof_push(&decode);
    uint32_t correlation = Launch("cuGraphLaunch");
    pprof_pop();
    return correlation;
  }
  Texts AttributesOf(const pprof_event &kernel) {
    return kernel.attributes ? session_->attributes[kernel.attributes]
                             : Texts{};
  }
};

TEST_F(CapturedTest, KernelsOfAGraphSayWhereTheyWereCaptured) {
  Start();
  CaptureTwo();
  uint32_t correlation = LaunchGraph();
  for (uint64_t node : {1011, 1012, 1013, 0}) Work(correlation, node, 32);
  Work(correlation, 1012, 0);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 5u);
  const std::string shape = "{\"grid\":[1,1,1],\"block\":[32,1,1]";
  const std::string inner =
      "\"captured in\":[\"forward\",\"attention \\\"1\\\"\"]}";
  EXPECT_EQ(AttributesOf(kernels[0]),
            Texts{shape + ",\"captured in\":[\"forward\"]}"});
  EXPECT_EQ(AttributesOf(kernels[1]), Texts{shape + "," + inner});
  EXPECT_EQ(AttributesOf(kernels[2]), Texts{shape + "}"});  // nobody's copy
  EXPECT_EQ(AttributesOf(kernels[3]), Texts{shape + "}"});
  EXPECT_EQ(AttributesOf(kernels[4]), Texts{"{" + inner});
  // The ranges around the launch own them as ever.
  for (const auto &kernel : kernels) {
    EXPECT_EQ(kernel.depth, 1u);
    EXPECT_EQ(kernel.flags, (uint32_t)PPROF_FLAG_IN_GRAPH);
  }
}

TEST_F(CapturedTest, ButNotUnlessTheyAreAsked) {
  Start(false);
  CaptureTwo();
  Work(LaunchGraph(), 1011, 0);
  Look();
  session_->Stop();
  ASSERT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_TRUE(session_->attributes.empty());
}

// Copies and sets of a graph, too; a copy of a copy is of the same ranges.
TEST_F(CapturedTest, CopiesAndSetsAsWell) {
  Start();
  CaptureTwo();
  cupti_->clone_node(21, 11);
  const uint32_t correlation = LaunchGraph();
  ppi_cupti_memcpy copy = {};
  copy.kind = PPI_CUPTI_KIND_MEMCPY;
  ppi_cupti_memcpy2 between = {};
  between.kind = PPI_CUPTI_KIND_MEMCPY2;
  ppi_cupti_memset set = {};
  set.kind = PPI_CUPTI_KIND_MEMSET;
  copy.correlation = between.correlation = set.correlation = correlation;
  copy.graph_node = between.graph_node = set.graph_node = 1021;
  copy.start = between.start = set.start = test_clock_ns;
  copy.end = between.end = set.end = test_clock_ns + 5;
  cupti_->deliver(&copy, sizeof copy);
  cupti_->deliver(&between, sizeof between);
  cupti_->deliver(&set, sizeof set);
  Look();
  session_->Stop();
  auto kernels = session_->DeviceRanges();
  ASSERT_EQ(kernels.size(), 3u);
  for (const auto &kernel : kernels)
    EXPECT_EQ(AttributesOf(kernel), Texts{"{\"captured in\":[\"forward\"]}"});
}

// The driver may refuse the number of a node; what is known of no range is
// nothing's.
TEST_F(CapturedTest, ANodeWithoutANumberIsOfItsLaunchAlone) {
  cupti_->results[0] = {"cuptiGetGraphNodeId", 1, 0};
  Start();
  CaptureTwo();
  cupti_->results[0] = {nullptr, 0, 0};
  Capture(3);  // no range is open
  cupti_->clone_node(13, 3);
  const uint32_t correlation = LaunchGraph();
  for (uint64_t node : {1011, 1013}) Work(correlation, node, 0);
  Look();
  session_->Stop();
  ASSERT_EQ(session_->DeviceRanges().size(), 2u);
  EXPECT_TRUE(session_->attributes.empty());
}

// What another session knew has other sites.
TEST_F(CapturedTest, ASessionKnowsItsOwnNodes) {
  Start();
  CaptureTwo();
  session_->Stop();
  EXPECT_NE(ppi_captured_path(1011), 0u);
  LeaveCupti();
  session_.reset(new pprof_test::DeviceSession);
  ASSERT_EQ(ppi_session_set_kernels(session_->get(), ppi_cupti_source(), true),
            PPROF_STATUS_OK);
  Start();
  Work(LaunchGraph(), 1011, 0);
  Look();
  session_->Stop();
  ASSERT_EQ(session_->DeviceRanges().size(), 1u);
  EXPECT_TRUE(session_->attributes.empty());
}

TEST_F(CapturedTest, NodesBeyondThoseThatAreKeptAreCounted) {
  Start();
  pprof_push(&forward);
  for (uint64_t i = 1; i <= PPI_MOST_CAPTURED + 2; i++) ppi_captured_node(i);
  pprof_pop();
  EXPECT_NE(ppi_captured_path(PPI_MOST_CAPTURED), 0u);
  EXPECT_EQ(ppi_captured_path(PPI_MOST_CAPTURED + 1), 0u);
  session_->Stop();
  EXPECT_TRUE(session_->HasNote("kernels: 2 nodes of graphs were captured"));
}

}  // namespace
