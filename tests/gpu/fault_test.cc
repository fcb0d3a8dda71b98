// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in a program stays the program's: its errors, its exit code,
// its work. Whatever ruins a process runs in one of its own, once with a
// session and once without, and both must say the same.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "child.h"
#include "gpu_session.h"

namespace pprof_gpu {
namespace {

PPROF_SITE(spin_site, "spin", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(bad_site, "bad", PPROF_CATEGORY_INFERENCE);

class FaultTest : public GpuTest {};

TEST_F(FaultTest, LastErrorIsThePrograms) {
  Stream stream;
  Session session;
  session.Start();
  const cudaError_t expected = LaunchTooWide(stream);
  ASSERT_NE(cudaSuccess, expected);
  ASSERT_EQ(expected, cudaPeekAtLastError());
  for (int i = 0; i < 5; i++) {
    pprof_cuda_push(stream, &spin_site);
    pprof_cuda_next(stream, &spin_site);
    pprof_cuda_pop(stream);
    pprof_range range = pprof_cuda_range_begin(stream, &spin_site);
    pprof_cuda_range_end(range, stream);
    pprof_cuda_stream_name(stream, "a");
    pprof_cuda_device();
    session.Flush();
  }
  EXPECT_EQ(expected, cudaPeekAtLastError());
  session.Stop();
  EXPECT_EQ(expected, cudaGetLastError());
  EXPECT_EQ(cudaSuccess, cudaPeekAtLastError());
  EXPECT_EQ(15u, session.Ranges("spin").size());
}

// Begins a session if the child is to have one.
struct ChildSession {
  explicit ChildSession(const std::vector<std::string> &arguments) {
    if (arguments.at(0) == "bare") return;
    session.reset(new Session);
    session->Start();
  }
  void Flush() {
    if (session) session->Flush();
  }
  std::unique_ptr<Session> session;
};

// A program whose kernel fails. Its words go to stdout, what pprof made of it
// to stderr.
int StickyProgram(const std::vector<std::string> &arguments) {
  constexpr int kOwnExitCode = 17;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  pprof_cuda_stream_name(stream, "s");
  ChildSession with(arguments);
  for (int i = 0; i < 6; i++) {
    pprof_push(&bad_site);
    pprof_cuda_push(stream, i < 3 ? &spin_site : &bad_site);
    cudaError_t launched = i == 3 ? Trap(stream) : Spin(stream, 1000);
    pprof_cuda_pop(stream);
    pprof_pop();
    cudaError_t done = cudaStreamSynchronize(stream);
    printf("%d: %s, %s\n", i, cudaGetErrorName(launched),
           cudaGetErrorName(done));
    with.Flush();
  }
  printf("last error: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
  if (with.session) {
    with.session->Stop();
    size_t num_timed = 0;
    for (const Range &range : with.session->Ranges())
      num_timed += range.IsTimed();
    bool says =
        with.session->Report().find("device timing ended") != std::string::npos;
    printf("pprof: %zu ranges, %zu timed, %llu host ranges, %llu lost%s\n",
           with.session->Ranges().size(), num_timed,
           static_cast<unsigned long long>(with.session->num_host_ranges()),
           static_cast<unsigned long long>(with.session->stats.lost),
           says ? ", says so" : "");
  }
  return kOwnExitCode;
}
const Child sticky_child("sticky", StickyProgram);

// Takes the line that begins with `pprof: ` out of a program's output.
std::string TakeOwnLine(std::string *output) {
  size_t at = output->find("pprof: ");
  if (at == std::string::npos) return "";
  size_t end = output->find('\n', at);
  std::string line = output->substr(at, end - at);
  output->erase(at, end - at + 1);
  return line;
}

TEST_F(FaultTest, StickyErrorIsThePrograms) {
  ChildResult bare = RunChild("sticky", {"bare"});
  ChildResult with = RunChild("sticky", {"session"});
  EXPECT_EQ("pprof: 6 ranges, 3 timed, 6 host ranges, 0 lost, says so",
            TakeOwnLine(&with.output));
  EXPECT_EQ(17, bare.exit_code);
  EXPECT_EQ(bare.exit_code, with.exit_code) << with.output;
  EXPECT_EQ(bare.output, with.output);
  EXPECT_NE(std::string::npos, bare.output.find("last error: cudaError"));
}

int ResetProgram(const std::vector<std::string> &arguments) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  pprof_cuda_stream_name(stream, "s");
  ChildSession with(arguments);
  pprof_cuda_push(stream, &spin_site);
  pprof_range range = pprof_cuda_range_begin(stream, &spin_site);
  Spin(stream, 1000000);
  printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
  with.Flush();
  printf("again: %s\n", cudaGetErrorName(cudaFree(nullptr)));
  cudaStream_t next = nullptr;
  cudaStreamCreate(&next);
  pprof_cuda_range_end(range, next);
  for (int i = 0; i < 5; i++) {
    pprof_cuda_push(next, &spin_site);
    cudaError_t launched = Spin(next, 1000);
    pprof_cuda_pop(next);
    cudaError_t done = cudaStreamSynchronize(next);
    printf("%d: %s, %s\n", i, cudaGetErrorName(launched),
           cudaGetErrorName(done));
    with.Flush();
  }
  printf("last error: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
  if (with.session) {
    with.session->Stop();
    std::vector<Range> ranges = with.session->Ranges();
    printf("pprof: %zu ranges, %llu lost, the last one %s\n", ranges.size(),
           static_cast<unsigned long long>(with.session->stats.lost),
           ranges.back().IsTimed() ? "timed" : "not timed");
  }
  return 0;
}
const Child reset_child("reset", ResetProgram);

TEST_F(FaultTest, DeviceResetWithRangesOpen) {
  ChildResult bare = RunChild("reset", {"bare"});
  ChildResult with = RunChild("reset", {"session"});
  // The device's new life has times, too.
  EXPECT_EQ("pprof: 7 ranges, 0 lost, the last one timed",
            TakeOwnLine(&with.output));
  EXPECT_EQ(0, bare.exit_code) << bare.output;
  EXPECT_EQ(bare.exit_code, with.exit_code) << with.output;
  EXPECT_EQ(bare.output, with.output);
}

// A program that has not come to CUDA yet, and perhaps never will.
int IdleProgram(const std::vector<std::string> &arguments) {
  if (arguments.at(0) != "bare") {
    pprof_device_get(pprof_backend_cuda(), 0);
    Session session;
    session.Start();
    pprof_cuda_push(nullptr, &spin_site);
    session.Flush();
    pprof_cuda_pop(nullptr);
    session.Stop();
    printf("pprof: %zu ranges\n", session.Ranges().size());
  }
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found,
                                       7000, cudaEnableDefault,
                                       &result) != cudaSuccess ||
      !found)
    return 1;
  auto state = reinterpret_cast<int (*)(int, unsigned *, int *)>(found);
  unsigned flags = 0;
  int active = -1;
  int code = state(0, &flags, &active);
  printf("answer %d, active %d, last error %s\n", code, active,
         cudaGetErrorName(cudaPeekAtLastError()));
  return 0;
}
const Child idle_child("idle", IdleProgram);

TEST_F(FaultTest, NoContextIsMade) {
  ChildResult bare = RunChild("idle", {"bare"});
  ChildResult with = RunChild("idle", {"session"});
  EXPECT_EQ("pprof: 1 ranges", TakeOwnLine(&with.output));
  EXPECT_EQ("answer 0, active 0, last error cudaSuccess\n", bare.output);
  EXPECT_EQ(bare.output, with.output);
  EXPECT_EQ(0, with.exit_code);
}

TEST_F(FaultTest, ForkedChildMarksAndLeavesTheDeviceAlone) {
  Stream stream;
  Session session;
  session.Start();
  pprof_cuda_push(stream, &spin_site);
  pid_t pid = fork();
  if (pid == 0) {
    pprof_cuda_pop(stream);
    for (int i = 0; i < 3; i++) {
      pprof_cuda_push(stream, &spin_site);
      pprof_cuda_next(stream, &spin_site);
      pprof_cuda_pop(stream);
      PPROF_CUDA_SCOPE(stream, "in a child");
    }
    _exit(42);
  }
  ASSERT_GT(pid, 0);
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(42, WEXITSTATUS(status));
  ASSERT_CUDA(Spin(stream, 100 * kUs));
  pprof_cuda_pop(stream);
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  session.Stop();
  ASSERT_EQ(1u, session.Ranges().size());
  EXPECT_TRUE(session.Ranges()[0].IsTimed());
  EXPECT_EQ(0u, session.stats.unmatched);
}

// Ends in the middle of it all, by `exit` or at once by `_exit`.
int LeavingProgram(const std::vector<std::string> &arguments) {
  if (pprof_start(nullptr, nullptr) != PPROF_STATUS_OK) return 1;
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 2;
  pprof_cuda_stream_name(stream, "s");
  for (int i = 0; i < 3; i++) {
    pprof_cuda_push(stream, &spin_site);
    Spin(stream, 1000);
    pprof_cuda_pop(stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 3;
    for (int k = 0; k < 2; k++)
      if (pprof_session_flush(pprof_session_current())) return 4;
  }
  // Pending when the process ends.
  pprof_cuda_push(stream, &bad_site);
  Spin(stream, 3000000000u);
  pprof_cuda_pop(stream);
  if (arguments.at(0) == "_exit") _exit(5);
  exit(5);
}
const Child leaving_child("leaving", LeavingProgram);

class LeavingTest : public GpuTest,
                    public testing::WithParamInterface<const char *> {};

TEST_P(LeavingTest, WithoutAStopLosesNothing) {
  std::string log = testing::TempDir() + "pprof_gpu_leaving_" +
                    std::to_string(getpid()) + ".pplog";
  setenv("PPROF_OUTPUT", log.c_str(), 1);
  ChildResult left = RunChild("leaving", {GetParam()});
  unsetenv("PPROF_OUTPUT");
  EXPECT_EQ(5, left.exit_code) << left.output;
  EXPECT_EQ("", left.output);
  if (access(log.c_str(), F_OK) != 0) {
    ChildResult recovered =
        RunProgram({OwnFolder() + "/pprof-report", "recover", log + ".part"});
    EXPECT_EQ(0, recovered.exit_code) << recovered.output;
  }
  Recording recording;
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_OK,
            pprof_log_read(log.c_str(), recording.sink(), &error))
      << error.text;
  unlink(log.c_str());
  // The first ones of a new context may have no device time.
  EXPECT_EQ(3u, recording.Ranges("spin").size());
  auto pending = recording.Ranges("bad");
  ASSERT_EQ(1u, pending.size());
  EXPECT_FALSE(pending[0].IsTimed());
  EXPECT_TRUE(pending[0].event.flags & PPROF_FLAG_NO_DEVICE_TIME);
}

std::string NameOfWay(const testing::TestParamInfo<const char *> &way) {
  return way.param[0] == '_' ? "AtOnce" : "ByExit";
}

INSTANTIATE_TEST_SUITE_P(Ways, LeavingTest, testing::Values("exit", "_exit"),
                         NameOfWay);

}  // namespace
}  // namespace pprof_gpu
