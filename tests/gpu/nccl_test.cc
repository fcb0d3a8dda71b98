// SPDX-License-Identifier: Apache-2.0
//
// Two devices that reduce over NCCL while kernels are traced: sums stay what
// they are, and each device's kernels are where they were launched. NCCL is
// found at run time: PPROF_NCCL_PATH, or libnccl.so.2.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "child.h"
#include "gpu_session.h"
#include "kernels_log.h"
#include "pprof/log.h"

namespace pprof_gpu {
namespace {

constexpr int kDevices = 2, kSteps = 20, kFloat = 7, kSum = 0;
constexpr size_t kValues = 1 << 20;
constexpr int kNoLibrary = 77;

PPROF_SITE(step_site, "step", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(compute_site, "compute", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(reduce_site, "reduce", PPROF_CATEGORY_USER_DEFINED);

// Of its interface what is needed, as its manual has it.
struct Nccl {
  void *library = nullptr;
  int (*init_all)(void **comms, int num, const int *devices) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void *from, void *to, size_t num, int type, int how,
                    void *comm, cudaStream_t stream) = nullptr;
  int (*destroy)(void *comm) = nullptr;

  bool Load() {
    const char *path = getenv("PPROF_NCCL_PATH");
    library = dlopen(path && *path ? path : "libnccl.so.2", RTLD_NOW);
    if (!library) return false;
    return Find("ncclCommInitAll", &init_all) &&
           Find("ncclGroupStart", &group_start) &&
           Find("ncclGroupEnd", &group_end) &&
           Find("ncclAllReduce", &all_reduce) &&
           Find("ncclCommDestroy", &destroy);
  }

  template <typename Function>
  bool Find(const char *name, Function *out) {
    *out = reinterpret_cast<Function>(dlsym(library, name));
    return *out != nullptr;
  }
};

struct Device {
  cudaStream_t stream = nullptr;
  float *from = nullptr, *to = nullptr;
  void *comm = nullptr;

  void Fill(int number) {
    std::vector<float> values(kValues, static_cast<float>(number + 1));
    cudaSetDevice(number);
    cudaStreamCreate(&stream);
    cudaMalloc(reinterpret_cast<void **>(&from), kValues * sizeof *from);
    cudaMalloc(reinterpret_cast<void **>(&to), kValues * sizeof *to);
    cudaMemcpy(from, values.data(), kValues * sizeof *from,
               cudaMemcpyHostToDevice);
  }
  // Of 1 and 2.
  bool HasSums(int number) const {
    std::vector<float> values(kValues);
    cudaSetDevice(number);
    cudaMemcpy(values.data(), to, kValues * sizeof *to, cudaMemcpyDeviceToHost);
    for (float value : values)
      if (value != 3) return false;
    return true;
  }
};

bool Step(const Nccl &nccl, Device *devices) {
  int result = 0;
  pprof_push(&step_site);
  pprof_push(&compute_site);
  for (int i = 0; i < kDevices; i++) {
    cudaSetDevice(i);
    Spin(devices[i].stream, 50 * kUs);
  }
  pprof_pop();
  pprof_push(&reduce_site);
  result |= nccl.group_start();
  for (int i = 0; i < kDevices; i++)
    result |= nccl.all_reduce(devices[i].from, devices[i].to, kValues, kFloat,
                              kSum, devices[i].comm, devices[i].stream);
  result |= nccl.group_end();
  pprof_pop();
  for (int i = 0; i < kDevices; i++) {
    cudaSetDevice(i);
    if (cudaStreamSynchronize(devices[i].stream) != cudaSuccess) result = -1;
  }
  pprof_pop();
  return result == 0;
}

// LOG
int Reduce(const std::vector<std::string> &arguments) {
  Nccl nccl;
  Device devices[kDevices];
  const int numbers[kDevices] = {0, 1};
  void *comms[kDevices];
  if (!nccl.Load()) {
    printf("%s\n", dlerror());
    return kNoLibrary;
  }
  for (int i = 0; i < kDevices; i++) devices[i].Fill(i);
  if (nccl.init_all(comms, kDevices, numbers) != 0) return 3;
  for (int i = 0; i < kDevices; i++) devices[i].comm = comms[i];
  if (!Step(nccl, devices)) return 4;  // what the first call sets up
  if (!StartWithKernels(arguments[0])) return 1;
  for (int i = 0; i < kSteps; i++)
    if (!Step(nccl, devices)) return 5;
  if (pprof_stop(nullptr) != PPROF_STATUS_OK) return 2;
  if (!Step(nccl, devices)) return 6;  // once CUPTI has left
  for (int i = 0; i < kDevices; i++) {
    if (!devices[i].HasSums(i)) return 7;
    if (nccl.destroy(comms[i]) != 0) return 8;
  }
  return 0;
}
const Child reduce_child("kernels-nccl", Reduce);

class NcclTest : public testing::Test {
 protected:
  NcclTest() {
    const char *folder = getenv("TEST_TMPDIR");
    log = std::string(folder ? folder : "/tmp") + "/nccl." +
          std::to_string(getpid()) + ".pplog";
    unlink(log.c_str());
  }
  ~NcclTest() override {
    unlink(log.c_str());
    unlink((log + ".yaml").c_str());
  }
  std::string log;
};

// One kernel of each device for each of the two, in each step.
TEST_F(NcclTest, ReductionsOfTwoDevicesAreUnharmedAndAttributed) {
  ChildResult child = RunChild("kernels-nccl", {log});
  ASSERT_NE(child.exit_code, kNoLibrary)
      << child.output << "set PPROF_NCCL_PATH";
  ASSERT_EQ(child.exit_code, 0) << child.output;
  std::map<std::string, Stage> stages = Stages(log);
  EXPECT_EQ(stages["compute"].kernels, kDevices * kSteps);
  EXPECT_EQ(stages["reduce"].kernels, kDevices * kSteps);
  EXPECT_EQ(stages["step"].kernels, 2 * kDevices * kSteps);
  EXPECT_EQ(stages.count("outside"), 0u);
  Recording recording;
  ASSERT_EQ(pprof_log_read(log.c_str(), recording.sink(), nullptr),
            PPROF_STATUS_OK);
  std::map<uint64_t, int> all, communication;
  for (const Range &range : recording.Ranges()) {
    EXPECT_TRUE(range.IsTimed()) << range.name;
    all[range.device]++;
    if (range.event.flags & PPROF_FLAG_COMMUNICATION)
      communication[range.device]++;
  }
  for (uint64_t i = 0; i < kDevices; i++) {
    EXPECT_EQ(all[i], 2 * kSteps) << i;
    EXPECT_EQ(communication[i], kSteps) << i;
  }
}

// The sums that the report checks, for each of the two.
TEST_F(NcclTest, InsideAndOutsideAreAllOfEachDevice) {
  ChildResult child = RunChild("kernels-nccl", {log});
  ASSERT_EQ(child.exit_code, 0) << child.output;
  ChildResult report =
      RunProgram({OwnFolder() + "/pprof-report", "--kernel-tree", "--verbose",
                  "--wide", log});
  EXPECT_EQ(report.exit_code, 0) << report.output;
  const std::string sum = "kernels and copies " + std::to_string(2 * kSteps) +
                          " = in ranges " + std::to_string(2 * kSteps) +
                          " + in none 0";
  size_t at = 0;
  for (const char *device : {"Identity: cuda:0:", "Identity: cuda:1:"}) {
    at = report.output.find(device, at);
    ASSERT_NE(at, std::string::npos) << report.output;
    size_t end = report.output.find('\n', at);
    const std::string line = report.output.substr(at, end - at);
    EXPECT_NE(line.find(sum), std::string::npos) << line;
    EXPECT_NE(line.find(": ok"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace pprof_gpu
