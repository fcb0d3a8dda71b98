// SPDX-License-Identifier: Apache-2.0
//
// Kernels by CUPTI, of programs that know what they launched and how long it
// ran by the device's own timer. Each is a process: CUPTI has one client in
// one.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "gpu_session.h"
#include "kernels_log.h"
#include "tests/support/sleeps.h"

namespace pprof_gpu {
namespace {

constexpr int kKernels = 100;  // of a thread
constexpr int kInGraph = 20, kReplays = 5;

PPROF_SITE(capture_site, "capture", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(again_site, "again", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(clone_site, "clone", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(parent_site, "parent", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(replay_site, "replay", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(waits_site, "waits", PPROF_CATEGORY_USER_DEFINED);

std::string StageName(int number) {
  return "stage" + std::to_string(number);
}

// Launches on all streams in turns; `ns` is device memory: how long each ran.
void LaunchAll(int number, const std::vector<Stream> &streams, uint64_t *ns) {
  pprof_push_name(StageName(number).c_str(), PPROF_CATEGORY_USER_DEFINED);
  for (int i = 0; i < kKernels; i++)
    SpinStamped(streams[static_cast<size_t>(i) % streams.size()],
                static_cast<uint64_t>(1 + i % 50) * kUs, ns + i);
  cudaDeviceSynchronize();
  pprof_pop();
}

void SayTimes(int number, const uint64_t *ns) {
  uint64_t times[kKernels], sum = 0;
  cudaMemcpy(times, ns, sizeof times, cudaMemcpyDeviceToHost);
  for (uint64_t time : times) sum += time;
  printf("%s %d %llu\n", StageName(number).c_str(), kKernels,
         static_cast<unsigned long long>(sum));
}

// LOG THREADS STREAMS
int SpinOnStreams(const std::vector<std::string> &arguments) {
  cudaSetDevice(0);
  int num_threads = atoi(arguments[1].c_str());
  std::vector<Stream> streams(static_cast<size_t>(atoi(arguments[2].c_str())));
  uint64_t *ns = nullptr;
  cudaMalloc(reinterpret_cast<void **>(&ns),
             static_cast<size_t>(num_threads) * kKernels * sizeof *ns);
  if (!StartWithKernels(arguments[0])) return 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; i++)
    threads.emplace_back(
        [&streams, i, ns] { LaunchAll(i, streams, ns + i * kKernels); });
  for (std::thread &thread : threads) thread.join();
  if (pprof_stop(nullptr) != PPROF_STATUS_OK) return 2;
  for (int i = 0; i < num_threads; i++) SayTimes(i, ns + i * kKernels);
  return 0;
}
const Child spin_child("kernels-spin", SpinOnStreams);

cudaGraphExec_t Captured(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  pprof_push(&capture_site);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int i = 0; i < kInGraph; i++) Spin(stream, 10 * kUs);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  pprof_pop();
  return exec;
}

// LOG
int ReplayAndWait(const std::vector<std::string> &arguments) {
  cudaSetDevice(0);
  cudaFree(nullptr);
  Stream stream;
  if (!StartWithKernels(arguments[0])) return 1;
  cudaGraphExec_t exec = Captured(stream);
  pprof_push(&replay_site);
  for (int i = 0; i < kReplays; i++) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  pprof_pop();
  pprof_push(&waits_site);
  std::thread launches([&stream, waiting = gettid()] {
    while (!pprof_test::Sleeps(waiting)) sched_yield();  // in its join
    for (int i = 0; i < 10; i++) Spin(stream, 10 * kUs);
    cudaStreamSynchronize(stream);
  });
  launches.join();
  pprof_pop();
  return pprof_stop(nullptr) == PPROF_STATUS_OK ? 0 : 2;
}
const Child replay_child("kernels-replay", ReplayAndWait);

void SpinIn(const char *range) {
  Stream stream;
  pprof_push_name(range, PPROF_CATEGORY_USER_DEFINED);
  for (int i = 0; i < kInGraph; i++) Spin(stream, 10 * kUs);
  cudaStreamSynchronize(stream);
  pprof_pop();
}

// LOG
int ResetBetween(const std::vector<std::string> &arguments) {
  cudaSetDevice(0);
  cudaFree(nullptr);
  if (!StartWithKernels(arguments[0])) return 1;
  SpinIn("before");
  if (cudaDeviceReset() != cudaSuccess) return 3;
  SpinIn("after");
  if (cudaGetLastError() != cudaSuccess) return 4;
  return pprof_stop(nullptr) == PPROF_STATUS_OK ? 0 : 2;
}
const Child reset_child("kernels-reset", ResetBetween);

// LOG CALLS
int TakeAndWait(const std::vector<std::string> &arguments) {
  cudaSetDevice(0);
  cudaFree(nullptr);
  Stream stream;
  void *memory;
  if (!StartWithKernels(arguments[0], "launch", arguments[1].c_str())) return 1;
  pprof_push_name("takes", PPROF_CATEGORY_USER_DEFINED);
  cudaMalloc(&memory, 64 << 20);
  for (int i = 0; i < kInGraph; i++) Spin(stream, 10 * kUs);
  cudaStreamSynchronize(stream);
  cudaFree(memory);
  pprof_pop();
  return pprof_stop(nullptr) == PPROF_STATUS_OK ? 0 : 2;
}
const Child calls_child("kernels-calls", TakeAndWait);

std::string Report(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), OwnFolder() + "/pprof-report");
  ChildResult report = RunProgram(arguments);
  EXPECT_EQ(report.exit_code, 0) << report.output;
  return report.output;
}

// Five kernels and a set in `capture`, ten kernels in `inner`.
cudaGraph_t CaptureNested(cudaStream_t stream, void *memory) {
  cudaGraph_t graph;
  pprof_push(&capture_site);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int i = 0; i < 5; i++) Spin(stream, 10 * kUs);
  cudaMemsetAsync(memory, 0, 4096, stream);
  pprof_push(&inner_site);
  for (int i = 0; i < 10; i++) Spin(stream, 10 * kUs);
  pprof_pop();
  cudaStreamEndCapture(stream, &graph);
  pprof_pop();
  return graph;
}

void Replay(pprof_site *site, cudaGraphExec_t exec, cudaStream_t stream) {
  pprof_push(site);
  for (int i = 0; i < kReplays; i++) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  pprof_pop();
}

// LOG: a graph, the same instantiated again, its clone, and a graph in which it
// is a child; each is launched kReplays times.
int ReplayCaptured(const std::vector<std::string> &arguments) {
  cudaSetDevice(0);
  void *memory = nullptr;
  cudaMalloc(&memory, 4096);
  Stream stream;
  if (!StartWithKernels(arguments[0], "capture")) return 1;
  cudaGraph_t graphs[3] = {CaptureNested(stream, memory)};
  cudaGraphNode_t child;
  cudaGraphClone(&graphs[1], graphs[0]);
  cudaGraphCreate(&graphs[2], 0);
  cudaGraphAddChildGraphNode(&child, graphs[2], nullptr, 0, graphs[0]);
  pprof_site *const sites[] = {&replay_site, &clone_site, &parent_site,
                               &again_site};
  for (int i = 0; i < 4; i++) {
    cudaGraphExec_t exec;
    if (cudaGraphInstantiate(&exec, graphs[i % 3], 0) != cudaSuccess) return 3;
    Replay(sites[i], exec, stream);
    cudaGraphExecDestroy(exec);
  }
  return pprof_stop(nullptr) == PPROF_STATUS_OK ? 0 : 2;
}
const Child captured_child("kernels-captured", ReplayCaptured);

class KernelsTest : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  KernelsTest() {
    const char *folder = getenv("TEST_TMPDIR");
    log = std::string(folder ? folder : "/tmp") + "/kernels." +
          std::to_string(getpid()) + ".pplog";
    unlink(log.c_str());
  }
  ~KernelsTest() override {
    unlink(log.c_str());
    unlink((log + ".yaml").c_str());
  }
  std::string log;
};

// Each has its own, and all of it; times are the device's to a microsecond.
TEST_P(KernelsTest, BelongToWhatLaunchedThem) {
  auto [threads, streams] = GetParam();
  ChildResult child = RunChild(
      "kernels-spin", {log, std::to_string(threads), std::to_string(streams)});
  ASSERT_EQ(child.exit_code, 0) << child.output;
  std::map<std::string, Stage> stages = Stages(log);
  std::istringstream said(child.output);
  std::string name;
  double own_ns = 0;
  int num = 0;
  for (long kernels; said >> name >> kernels >> own_ns; num++) {
    EXPECT_EQ(stages[name].kernels, kernels) << name;
    EXPECT_NEAR(stages[name].kernel_ns / kKernels, own_ns / kKernels, 1000)
        << name;
  }
  EXPECT_EQ(num, threads);
  EXPECT_EQ(stages.count("outside"), 0u);
}
INSTANTIATE_TEST_SUITE_P(ThreadsAndStreams, KernelsTest,
                         testing::Values(std::pair(1, 1), std::pair(1, 8),
                                         std::pair(2, 4), std::pair(4, 1),
                                         std::pair(4, 8)));

TEST_F(KernelsTest, GraphsBelongToTheirLaunchAndWaitsToWhoWaits) {
  ChildResult child = RunChild("kernels-replay", {log});
  ASSERT_EQ(child.exit_code, 0) << child.output;
  std::map<std::string, Stage> stages = Stages(log);
  EXPECT_EQ(stages["replay"].kernels, kInGraph * kReplays);
  EXPECT_EQ(stages["capture"].kernels, 0);
  EXPECT_EQ(stages["waits"].kernels, 10);
  EXPECT_EQ(stages.count("outside"), 0u);
}

TEST_F(KernelsTest, GoOnBehindAResetOfTheDevice) {
  ChildResult child = RunChild("kernels-reset", {log});
  ASSERT_EQ(child.exit_code, 0) << child.output;
  std::map<std::string, Stage> stages = Stages(log);
  EXPECT_EQ(stages["before"].kernels, kInGraph);
  EXPECT_EQ(stages["after"].kernels, kInGraph);
  EXPECT_EQ(stages.count("outside"), 0u);
}

TEST_F(KernelsTest, WaitsAndMemoryAreToldAndAllCallsWhereTheyAreAsked) {
  for (const char *calls : {"false", "true"}) {
    std::string own = log + "." + calls;
    ChildResult child = RunChild("kernels-calls", {own, calls});
    ASSERT_EQ(child.exit_code, 0) << child.output;
    std::string api = Report({"--style", "nsys", "-f", "csv", own});
    bool all = std::string(calls) == "true";
    EXPECT_NE(api.find("cudaStreamSynchronize"), std::string::npos) << api;
    EXPECT_EQ(api.find("cudaLaunchKernel") != std::string::npos, all) << api;
    EXPECT_NE(api.find("cudaMalloc"), std::string::npos) << api;
    std::string memory = Report({"--view", "memory", "-f", "csv", own});
    EXPECT_NE(memory.find("takes,gpu:0,Reserved,1,1,67108864,67108864"),
              std::string::npos)
        << memory;
    EXPECT_EQ(Stages(own)["takes"].kernels, kInGraph);
  }
}

TEST_F(KernelsTest, GraphsBelongToTheirCaptureWhereThatIsAskedFor) {
  ChildResult child = RunChild("kernels-captured", {log});
  ASSERT_EQ(child.exit_code, 0) << child.output;
  std::map<std::string, Stage> stages = Stages(log, "path");
  for (const std::string replay : {"replay", "again", "clone"}) {
    EXPECT_EQ(stages[replay].kernels, kReplays * 15) << replay;
    EXPECT_EQ(stages[replay + " / capture"].kernels, kReplays * 15) << replay;
    EXPECT_EQ(stages[replay + " / capture / inner"].kernels, kReplays * 10)
        << replay;
  }
  // CUPTI tells nothing of the copies of a child's nodes.
  EXPECT_EQ(stages["parent"].kernels, kReplays * 15);
  EXPECT_EQ(stages["parent / capture"].kernels, 0);
  EXPECT_EQ(stages["capture"].kernels, 0);
  EXPECT_EQ(stages.count("outside"), 0u);
}

}  // namespace
}  // namespace pprof_gpu
