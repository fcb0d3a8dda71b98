// SPDX-License-Identifier: Apache-2.0
//
// Stream capture and graphs: a session that polls harms no capture, and what
// is captured is never timed wrongly.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "gpu_session.h"

namespace pprof_gpu {
namespace {

PPROF_SITE(in_graph_site, "in graph", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(launch_site, "launch", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(held_site, "held", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(fresh_site, "fresh", PPROF_CATEGORY_INFERENCE);

class Graph {
 public:
  ~Graph() {
    if (exec_) cudaGraphExecDestroy(exec_);
    if (graph_) cudaGraphDestroy(graph_);
  }
  void End(cudaStream_t stream) {
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph_));
    ASSERT_NE(nullptr, graph_);
  }
  void Instantiate() {
    ASSERT_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
  }
  size_t num_nodes() const {
    size_t num = 0;
    EXPECT_CUDA(cudaGraphGetNodes(graph_, nullptr, &num));
    return num;
  }
  cudaGraph_t graph() const {
    return graph_;
  }
  cudaGraphExec_t exec() const {
    return exec_;
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

// One kernel between two markers.
void CaptureOne(cudaStream_t stream, cudaStreamCaptureMode mode,
                uint64_t spin_ns, Graph *out) {
  ASSERT_CUDA(cudaStreamBeginCapture(stream, mode));
  pprof_cuda_push(stream, &in_graph_site);
  ASSERT_CUDA(Spin(stream, spin_ns));
  pprof_cuda_pop(stream);
  out->End(stream);
}

class CaptureTest : public GpuTest,
                    public testing::WithParamInterface<cudaStreamCaptureMode> {
};

TEST_P(CaptureTest, IsUnharmedWhileTheCollectorPolls) {
  Stream stream, held, fresh;
  Session session;
  session.Start();
  // Pending until the end, so that every round of the collector asks for it.
  Gate gate;
  gate.Close(held);
  pprof_cuda_push(held, &held_site);
  pprof_cuda_pop(held);
  session.Flush();
  Graph graph;
  ASSERT_CUDA(cudaStreamBeginCapture(stream, GetParam()));
  session.Flush();
  pprof_cuda_push(stream, &in_graph_site);
  ASSERT_CUDA(Spin(stream, 50 * kUs));
  session.Flush();
  pprof_cuda_next(stream, &in_graph_site);
  ASSERT_CUDA(Spin(stream, 50 * kUs));
  pprof_cuda_pop(stream);
  // Another thread's ranges meanwhile, more than there are events ready: the
  // collector makes new ones during the capture.
  std::thread other([&] {
    // Makes the device's context current here; the capture permits that.
    ASSERT_CUDA(cudaSetDevice(0));
    for (int i = 0; i < 100; i++) {
      pprof_cuda_push(fresh, &fresh_site);
      pprof_cuda_pop(fresh);
      if (i % 10 == 9) session.Flush();
    }
  });
  other.join();
  session.Flush();
  graph.End(stream);
  EXPECT_EQ(2u, graph.num_nodes());
  graph.Instantiate();
  pprof_cuda_push(stream, &launch_site);
  ASSERT_CUDA(cudaGraphLaunch(graph.exec(), stream));
  pprof_cuda_pop(stream);
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  gate.Open();
  session.Stop();
  auto captured = session.Ranges("in graph");
  ASSERT_EQ(2u, captured.size());
  for (const Range &range : captured) {
    EXPECT_TRUE(range.event.flags & PPROF_FLAG_IN_GRAPH);
    EXPECT_FALSE(range.IsTimed());
  }
  auto launches = session.Ranges("launch");
  ASSERT_EQ(1u, launches.size());
  ASSERT_TRUE(launches[0].IsTimed());
  EXPECT_GE(launches[0].DeviceNs(), 100 * kUs);
  EXPECT_LT(launches[0].DeviceNs(), 300 * kUs);
  for (const Range &range : session.Ranges("held"))
    EXPECT_TRUE(range.IsTimed());
  EXPECT_EQ(100u, session.Ranges("fresh").size());
  for (const Range &range : session.Ranges("fresh"))
    EXPECT_TRUE(range.IsTimed());
}

// The legacy stream waits for blocking streams: any word to it while one of
// them captures would end that capture.
TEST_P(CaptureTest, LegacyStreamDuringABlockingOnesCapture) {
  Stream blocking(cudaStreamDefault);
  Session session;
  session.Start();
  Graph graph;
  ASSERT_CUDA(cudaStreamBeginCapture(blocking, GetParam()));
  ASSERT_CUDA(Spin(blocking, 50 * kUs));
  pprof_cuda_push(nullptr, &in_graph_site);
  pprof_cuda_pop(nullptr);
  session.Flush();
  graph.End(blocking);
  EXPECT_EQ(1u, graph.num_nodes());
  pprof_cuda_push(nullptr, &launch_site);
  ASSERT_CUDA(Spin(nullptr, 50 * kUs));
  pprof_cuda_pop(nullptr);
  ASSERT_CUDA(cudaDeviceSynchronize());
  session.Stop();
  ASSERT_EQ(1u, session.Ranges("in graph").size());
  EXPECT_FALSE(session.Ranges("in graph")[0].IsTimed());
  ASSERT_EQ(1u, session.Ranges("launch").size());
  EXPECT_TRUE(session.Ranges("launch")[0].IsTimed());
}

// Begun before the capture, ended inside it: not timed, and not harmful.
TEST_P(CaptureTest, RangesAcrossTheCapturesEdges) {
  Stream stream;
  Session session;
  session.Start();
  Graph graph;
  pprof_cuda_push(stream, &in_graph_site);
  ASSERT_CUDA(cudaStreamBeginCapture(stream, GetParam()));
  pprof_cuda_pop(stream);
  ASSERT_CUDA(Spin(stream, 50 * kUs));
  pprof_cuda_push(stream, &in_graph_site);
  graph.End(stream);
  pprof_cuda_pop(stream);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(1u, graph.num_nodes());
  session.Stop();
  ASSERT_EQ(2u, session.Ranges().size());
  for (const Range &range : session.Ranges()) EXPECT_FALSE(range.IsTimed());
}

std::string NameOfMode(
    const testing::TestParamInfo<cudaStreamCaptureMode> &mode) {
  static const char *const names[] = {"Global", "ThreadLocal", "Relaxed"};
  return names[mode.param];
}

INSTANTIATE_TEST_SUITE_P(Modes, CaptureTest,
                         testing::Values(cudaStreamCaptureModeGlobal,
                                         cudaStreamCaptureModeThreadLocal,
                                         cudaStreamCaptureModeRelaxed),
                         NameOfMode);

// A session as the configuration makes it; its log is read back.
class ConfiguredTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    std::string stem =
        testing::TempDir() + "pprof_gpu_" + std::to_string(getpid()) + "_" +
        testing::UnitTest::GetInstance()->current_test_info()->name();
    config_ = stem + ".yaml";
    log_ = stem + ".pplog";
  }
  void TearDown() override {
    unlink(config_.c_str());
    unlink(log_.c_str());
    GpuTest::TearDown();
  }
  void Start(const std::string &text) {
    FILE *file = fopen(config_.c_str(), "w");
    ASSERT_NE(nullptr, file);
    fprintf(file, "output: %s\ndrain_interval: 200us\n%s", log_.c_str(),
            text.c_str());
    fclose(file);
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(config_.c_str(), &error))
        << error.text;
    Flush();
  }
  void Flush() {
    for (int i = 0; i < 2; i++)
      ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(pprof_session_current()));
  }
  void Stop() {
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), log.sink(), &error))
        << error.text;
  }

  Recording log;

 private:
  std::string config_, log_;
};

TEST_F(ConfiguredTest, CapturedAgainAndUpdatedAcrossAWindowsEdges) {
  Stream stream;
  Start("capture: {steps: [1, 2]}\n");
  Graph first;
  CaptureOne(stream, cudaStreamCaptureModeGlobal, 50 * kUs, &first);
  first.Instantiate();
  // Steps 0 to 3: the window opens before step 1 and closes after it.
  for (int step = 0; step < 4; step++) {
    Graph again;
    CaptureOne(stream, cudaStreamCaptureModeGlobal,
               static_cast<uint64_t>(step + 1) * 100 * kUs, &again);
    cudaGraphExecUpdateResultInfo info = {};
    ASSERT_CUDA(cudaGraphExecUpdate(first.exec(), again.graph(), &info))
        << step << " " << info.result;
    pprof_cuda_push(stream, &launch_site);
    ASSERT_CUDA(cudaGraphLaunch(first.exec(), stream));
    pprof_cuda_pop(stream);
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    Flush();
    pprof_step(1);
  }
  Stop();
  auto launches = log.Ranges("launch");
  ASSERT_EQ(1u, launches.size());
  ASSERT_TRUE(launches[0].IsTimed());
  EXPECT_GE(launches[0].DeviceNs(), 200 * kUs);
  EXPECT_LT(launches[0].DeviceNs(), 300 * kUs);
  ASSERT_EQ(1u, log.Ranges("in graph").size());
  EXPECT_TRUE(log.Ranges("in graph")[0].event.flags & PPROF_FLAG_IN_GRAPH);
}

TEST_F(ConfiguredTest, ExternalNodesOverAThousandReplays) {
  constexpr int kReplays = 1000;
  Stream stream;
  Start("devices: {graphs: external}\n");
  Graph graph;
  CaptureOne(stream, cudaStreamCaptureModeGlobal, 50 * kUs, &graph);
  // The kernel and an event node before and after it.
  EXPECT_EQ(3u, graph.num_nodes());
  graph.Instantiate();
  for (int i = 0; i < kReplays; i++) {
    ASSERT_CUDA(cudaGraphLaunch(graph.exec(), stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    // A replay is seen if the collector looks before the next one.
    if (i % 10 == 0) Flush();
  }
  Stop();
  size_t num_timed = 0;
  uint64_t last_end = 0;
  for (const Range &range : log.Ranges("in graph")) {
    if (!range.IsTimed()) continue;
    num_timed++;
    // Never that of two different replays, nor one twice.
    EXPECT_GE(range.DeviceNs(), 50 * kUs);
    EXPECT_LT(range.DeviceNs(), 100 * kUs);
    EXPECT_GE(range.event.device_start_ns, last_end);
    last_end = range.event.device_end_ns;
  }
  EXPECT_GE(num_timed, static_cast<size_t>(kReplays / 10));
  EXPECT_LE(num_timed, static_cast<size_t>(kReplays));
}

// The nodes' events outlive the session that made them: the graph still
// records them.
TEST_F(ConfiguredTest, ExternalNodesReplayedAfterTheSession) {
  Stream stream;
  Start("devices: {graphs: external}\n");
  Graph graph;
  CaptureOne(stream, cudaStreamCaptureModeRelaxed, 50 * kUs, &graph);
  graph.Instantiate();
  ASSERT_CUDA(cudaGraphLaunch(graph.exec(), stream));
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  Stop();
  for (int i = 0; i < 10; i++)
    ASSERT_CUDA(cudaGraphLaunch(graph.exec(), stream));
  ASSERT_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace
}  // namespace pprof_gpu
