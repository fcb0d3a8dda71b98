// SPDX-License-Identifier: Apache-2.0
//
// Traces as PyTorch, Paddle and ONNX Runtime write them.
#include "imported.h"

namespace pprof_test {
namespace {

std::string Event(const std::string &cat, const std::string &name,
                  const std::string &where, const std::string &args = "") {
  return "{\"ph\":\"X\",\"cat\":\"" + cat + "\",\"name\":\"" + name + "\"," +
         where + ",\"args\":{" + args + "}}";
}

// pid, tid, ts, dur in microseconds.
std::string Where(int pid, int tid, const char *ts, const char *dur) {
  return "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + ts + ",\"dur\":" + dur;
}

std::string CategoryOf(const std::string &cat, const std::string &name,
                       uint32_t *flags = nullptr) {
  Imported trace;
  trace.ReadEvents(Event(cat, name, Where(1, 1, "1", "1"), "\"stream\":7"));
  EXPECT_EQ(trace.run().events.size(), 1u) << cat;
  if (trace.run().events.empty()) return "";
  if (flags) *flags = trace.run().events[0].event.flags;
  return trace.run().events[0].category;
}

TEST(ImportCategoryTest, FollowsTheTable) {
  const char *const cases[][3] = {
      {"cpu_op", "aten::mm", "Operator"},
      {"cpu_op", "autograd::engine::evaluate_function: MmBackward0",
       "Backward"},
      {"cpu_op", "enumerate(DataLoader)#_Iter.__next__", "Dataloader"},
      {"cpu_op", "Optimizer.step#SGD.step", "Optimization"},
      {"user_annotation", "Optimizer.step#SGD.step", "Optimization"},
      {"user_annotation", "enumerate(DataLoader)#_Iter.__next__", "Dataloader"},
      {"user_annotation", "Optimizer.zero_grad#SGD.zero_grad",
       "PythonUserDefined"},
      {"user_annotation", "Forward", "Forward"},
      {"user_annotation", "backward", "Backward"},
      {"user_annotation", "optimizer", "Optimization"},
      {"user_annotation", "forward_2", "PythonUserDefined"},
      {"user_annotation", "nccl:all_reduce", "Communication"},
      {"user_annotation", "gloo:all_reduce", "Communication"},
      {"user_annotation", "ProfilerStep#12", "ProfileStep"},
      {"user_annotation", "ProfilerStep#x", "PythonUserDefined"},
      {"python_function", "f.py(1): f", "PythonOp"},
      {"cuda_runtime", "cudaLaunchKernel", "CudaRuntime"},
      {"cuda_driver", "cuLaunchKernel", "CudaRuntime"},
      {"hip_runtime", "hipLaunchKernel", "CudaRuntime"},
      {"privateuse1_driver", "x", "CudaRuntime"},
      {"kernel", "gemm", "Kernel"},
      {"gpu_memcpy", "Memcpy HtoD", "Memcpy"},
      {"gpu_memset", "Memset", "Memset"},
      {"gpu_user_annotation", "copy", "GpuUserAnnotation"},
      {"overhead", "Activity Buffer Request", "Overhead"},
      {"Operator", "matmul", "Operator"},
      {"OperatorInner", "matmul compute", "OperatorInner"},
      {"operator", "matmul", "Operator"},
      {"DygraphKernelLaunch", "matmul kernel launch", "DygraphKernelLaunch"},
      {"StaticKernelLaunch", "matmul", "StaticKernelLaunch"},
      {"Dataloader", "x", "Dataloader"},
      {"CudaRuntime", "x", "CudaRuntime"},
      {"PythonUserDefined", "x", "PythonUserDefined"},
      {"UserDefined", "forward", "UserDefined"},
      {"Communication", "x", "Communication"},
      {"CpuTask", "x", "CpuTask"},
      {"Session", "model_run", "Inference"},
      {"Session", "session_initialization", "UserDefined"},
      {"Node", "n_kernel_time", "Operator"},
      {"Node", "n_fence_before", "OperatorInner"},
      {"Api", "x", "UserDefined"},
      {"toplevel,ipc", "forward", "UserDefined"},
      {"", "x", "UserDefined"},
  };
  for (const auto &each : cases)
    EXPECT_EQ(CategoryOf(each[0], each[1]), each[2])
        << each[0] << " " << each[1];
}

TEST(ImportCategoryTest, FlagsCommunication) {
  const struct {
    const char *cat, *name;
    bool is_communication;
  } cases[] = {{"cpu_op", "c10d::allreduce_", true},
               {"cpu_op", "record_param_comms", true},
               {"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", true},
               {"kernel", "ncclKernel_Broadcast", true},
               {"kernel", "gemm", false},
               {"Operator", "c_allreduce_sum", true},
               {"Operator", "all_reduce", true},
               {"Operator", "reduce_scatter", true},
               {"Operator", "alltoall", true},
               {"Operator", "c_broadcast", true},
               {"Operator", "broadcast", true},
               {"Operator", "rpc_call", true},
               {"Operator", "my_rpc", true},
               {"Operator", "interpc", false},
               {"Operator", "send_v2", true},
               {"Operator", "broadcast_tensors", false},
               {"Operator", "broadcast_to", false},
               {"Operator", "expand", false},
               {"Operator", "interpconv", false},
               {"cpu_op", "aten::broadcast_tensors", false},
               {"cpu_op", "vllm::all_reduce", true},
               {"cpu_op", "symm_mem::one_shot_all_reduce", true},
               {"kernel", "multimem_all_reduce_kernel<bf16, 16>(bf16*)", true},
               {"kernel", "vllm::cross_device_reduce_1stage<half, 8>()", true},
               {"kernel", "flashinfer::trtllm_allreduce_fusion::f()", true},
               {"kernel", "deep_ep::internode_ll::dispatch<true>()", true},
               {"kernel", "nvshmemi_transfer_rma_kernel(int)", true},
               {"kernel", "two_shot_all_reduce_kernel", true},
               {"kernel", "quickreduce::allreduce_prototype", true},
               {"kernel", "all-reduce.17", true},
               {"kernel", "all-gather-start.2", true},
               {"kernel", "ragged-all-to-all", true},
               {"kernel", "collective-permute-start.1", true},
               {"kernel", "AllReduceKernel", true},
               {"kernel", "hcom_allReduce__1_2", true},
               {"kernel", "hcclBroadcast", true},
               {"kernel", "oneccl_kernel_reduce", true},
               {"kernel", "ucc_tl_cuda_reduce", true},
               {"kernel", "ucp_cuda_success", false},
               {"kernel", "triton_poi_fused_all_gather_into_tensor_0", false},
               {"kernel", "block_reduce_all_kernel", false},
               {"kernel", "convLstm_fwd", false},
               {"kernel", "moe_dispatch", false},
               {"user_annotation", "allreduce", false}};
  for (const auto &each : cases) {
    uint32_t flags = 0;
    CategoryOf(each.cat, each.name, &flags);
    EXPECT_EQ((flags & PPROF_FLAG_COMMUNICATION) != 0, each.is_communication)
        << each.cat << " " << each.name;
  }
}

// ---- PyTorch ----

TEST(ImportTorchTest, AnOperatorStandsForALaunchThatIsNotThere) {
  Imported trace;
  trace.ReadEvents(Event("cpu_op", "a", Where(10, 11, "5", "1")) + "," +
                   Event("cpu_op", "aten::mm", Where(10, 11, "10", "50"),
                         "\"External id\":2") +
                   "," +
                   Event("gpu_memcpy", "copy", Where(0, 7, "60", "1"),
                         "\"External id\":2,\"correlation\":999,"
                         "\"bytes\":4096"));
  const ImportedEvent &copy = trace.run().The("copy");
  EXPECT_EQ(copy.event.start_ns, 5000u);
  EXPECT_EQ(copy.thread, 11u);
  EXPECT_EQ(copy.work.bytes, 4096);
}

TEST(ImportTorchTest, KeepsKernelsWithoutALaunch) {
  Imported trace;
  trace.ReadEvents(
      Event("cpu_op", "a", Where(10, 11, "1", "1")) + "," +
      Event("kernel", "k", Where(0, 7, "5", "2"), "\"correlation\":4"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("k").event.lane, 0u);
  EXPECT_EQ(run.The("k").event.start_ns, 4000u);
  EXPECT_EQ(run.The("k").event.device_start_ns, 4000u);
  EXPECT_TRUE(run.HasNote("1 device ranges without their launch in the trace"));
  EXPECT_EQ(run.Total("lost"), 0u);
}

TEST(ImportTorchTest, TakesTheLastLaunchBeforeOfSeveral) {
  Imported trace;
  std::string launch = "\"correlation\":4";
  trace.ReadEvents(
      Event("cuda_runtime", "l", Where(10, 11, "1", "1"), launch) + "," +
      Event("cuda_runtime", "l", Where(10, 12, "4", "1"), launch) + "," +
      Event("cuda_runtime", "l", Where(10, 13, "9", "1"), launch) + "," +
      Event("kernel", "early", Where(0, 7, "0.5", "1"), launch) + "," +
      Event("kernel", "k", Where(0, 7, "5", "2"), launch));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("k").thread, 12u);
  EXPECT_EQ(run.The("early").thread, 11u);
  EXPECT_EQ(run.The("early").event.start_ns, 500u);
  EXPECT_EQ(run.The("early").event.device_start_ns, 0u);
  EXPECT_TRUE(run.HasNote("2 device ranges with a correlation id of several"));
}

TEST(ImportTorchTest, MarksWhatIsNoWorkOfADevice) {
  Imported trace;
  trace.ReadEvents(Event("user_annotation", "a", Where(1, 2, "1", "5"),
                         "\"External id\":3") +
                   "," +
                   Event("gpu_user_annotation", "a", Where(0, 7, "3", "9"),
                         "\"External id\":3") +
                   "," + Event("kernel", "first", Where(0, 7, "1", "0")));
  std::vector<const ImportedEvent *> found = trace.run().Named("a");
  ASSERT_EQ(found.size(), 2u);
  size_t at = found[0]->event.kind == PPROF_KIND_DEVICE_RANGE ? 0 : 1;
  EXPECT_EQ(found[at]->event.flags, uint32_t{PPROF_FLAG_PROJECTED});
  EXPECT_EQ(found[at]->event.start_ns, 0u);
  EXPECT_EQ(found[at]->event.device_end_ns, 11000u);
  // A device time of 0 to 0 would be none.
  EXPECT_EQ(trace.run().The("first").event.device_end_ns, 1u);
}

TEST(ImportTorchTest, PutsTheProfilersOwnWorkWhereItWas) {
  Imported trace;
  trace.ReadEvents(Event("cpu_op", "aten::copy_", Where(10, 11, "10", "50")) +
                   "," +
                   Event("cuda_runtime", "l", Where(10, 11, "55", "1"),
                         "\"correlation\":4") +
                   "," + Event("cpu_op", "other", Where(10, 12, "5", "90")) +
                   "," + Event("overhead", "Buffer", Where(-1, 0, "20", "30")) +
                   "," + Event("overhead", "Alone", Where(-1, 0, "100", "3")));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("Buffer").thread, 11u);
  EXPECT_EQ(run.The("Buffer").event.depth, 1u);
  EXPECT_EQ(run.The("Alone").event.depth, 0u);
  EXPECT_NE(run.The("Alone").thread, 11u);
}

TEST(ImportTorchTest, LeavesTheFrameOut) {
  Imported trace;
  trace.ReadEvents(
      Event("cpu_op", "a", Where(10, 11, "10", "5")) +
      ",{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":2,\"dur\":20,\"pid\":\"Spans\","
      "\"tid\":\"PyTorch Profiler\",\"name\":\"PyTorch Profiler (0)\"},"
      "{\"name\":\"Iteration Start: PyTorch Profiler\",\"ph\":\"i\",\"s\":"
      "\"g\",\"pid\":\"Traces\",\"tid\":\"T\",\"ts\":2},{\"name\":"
      "\"Record Window End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":"
      "\"\",\"ts\":22}");
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.events.size(), 1u);
  EXPECT_EQ(run.Total("lost"), 0u);
  EXPECT_EQ(run.windows, (std::vector<uint64_t>{0, 20000}));
  EXPECT_EQ(run.The("a").event.start_ns, 8000u);
}

TEST(ImportTorchTest, CountsNcclAnnotationsAsAsynchronous) {
  Imported trace;
  trace.ReadEvents(
      Event("cpu_op", "record_param_comms", Where(10, 11, "10", "50")) + "," +
      Event("user_annotation", "nccl:all_reduce", Where(10, 11, "20", "30")) +
      "," + Event("cpu_op", "in", Where(10, 11, "25", "3")));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("nccl:all_reduce").event.flags, uint32_t{PPROF_FLAG_ASYNC});
  EXPECT_EQ(run.The("in").event.depth, 1u);
}

TEST(ImportChromeTest, TellsDeviceRowsByTheirProcess) {
  Imported trace;
  trace.ReadEvents(
      Event("x", "work", Where(5, 3, "10", "5"), "\"bytes\":8") + "," +
      Event("x", "host", Where(1, 1, "1", "5")) +
      ",{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":5,\"args\":{\"name\":"
      "\"Deivce 5 (GPU)\"}}");
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.info.at("pid"), "1");
  EXPECT_EQ(run.The("work").event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
  EXPECT_EQ(run.The("work").device, "GPU5");
  EXPECT_EQ(run.The("work").event.device_end_ns, 14000u);
}

TEST(ImportChromeTest, FollowsArrowsToDeviceRangesWithoutIds) {
  auto arrow = [](const char *ph, int pid, int tid, int id, const char *ts) {
    return std::string(",{\"ph\":\"") + ph +
           "\",\"name\":\"launch\",\"cat\":\"async\",\"id\":" +
           std::to_string(id) + ",\"pid\":" + std::to_string(pid) +
           ",\"tid\":" + std::to_string(tid) + ",\"ts\":" + ts + "}";
  };
  Imported trace;
  trace.ReadEvents(Event("CudaRuntime", "call", Where(1, 2, "10", "4")) + "," +
                   Event("Kernel", "a", Where(0, 7, "20", "5")) + "," +
                   Event("Kernel", "b", Where(0, 7, "30", "5")) + "," +
                   Event("Kernel", "c", Where(0, 8, "20", "9")) +
                   arrow("s", 1, 2, 4, "12") + arrow("f", 0, 7, 4, "32") +
                   arrow("s", 1, 2, 5, "13") + arrow("f", 0, 8, 5, "20") +
                   arrow("f", 0, 7, 6, "27"));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("b").event.start_ns, 2000u);
  EXPECT_EQ(run.The("b").thread, 2u);
  EXPECT_EQ(run.The("c").event.start_ns, 3000u);
  EXPECT_EQ(run.The("a").event.start_ns, 10000u);
  EXPECT_EQ(run.The("a").event.lane, 0u);
  EXPECT_TRUE(run.HasNote("1 device ranges without their launch"));
}

TEST(ImportChromeTest, LeavesArrowsToRangesThatHaveIds) {
  Imported trace;
  trace.ReadEvents(
      Event("CudaRuntime", "call", Where(1, 2, "10", "4"),
            "\"correlation\":4") +
      "," + Event("Kernel", "a", Where(0, 7, "20", "5"), "\"correlation\":4") +
      "," + Event("Kernel", "stray", Where(0, 7, "21", "5")) +
      ",{\"ph\":\"s\",\"name\":\"ac2g\",\"cat\":\"ac2g\",\"id\":4,\"pid\":1,"
      "\"tid\":2,\"ts\":10},{\"ph\":\"f\",\"name\":\"ac2g\",\"cat\":\"ac2g\","
      "\"id\":4,\"pid\":0,\"tid\":7,\"ts\":22}");
  EXPECT_EQ(trace.run().The("a").thread, 2u);
  EXPECT_EQ(trace.run().The("stray").event.lane, 0u);
}

// ---- Paddle ----

std::string Paddle(const std::string &cat, const std::string &name,
                   const std::string &where, const std::string &args) {
  return Event(cat, name, where, args) + ",";
}

// After 16 s start_time is a float too coarse for its digits.
TEST(ImportPaddleTest, TakesTsWhereStartTimeIsTooCoarse) {
  Imported trace;
  trace.ReadEvents(
      Paddle("Operator", "a[1.000 us]",
             "\"pid\":9,\"tid\":\"1(C++)\",\"ts\":1000,\"dur\":1.000",
             "\"start_time\":\"0.000 us\",\"end_time\":\"1.000 us\"") +
      Paddle("Operator", "b[1.500 us]",
             "\"pid\":9,\"tid\":\"1(C++)\",\"ts\":100001005,\"dur\":1.500",
             "\"start_time\":\"100000008.000 us\","
             "\"end_time\":\"100000008.000 us\"") +
      "{}");
  EXPECT_EQ(trace.run().The("b").event.start_ns, 100000005000u);
  EXPECT_EQ(trace.run().The("b").event.end_ns, 100000006500u);
}

TEST(ImportPaddleTest, SaysWhereAnUnescapedQuoteIs) {
  Imported trace;
  std::string before =
      "{\"traceEvents\":[" + Paddle("Operator", "a", Where(1, 1, "1", "1"), "");
  trace.Read(before + "{\"name\":\"b\"c\"}]}");
  EXPECT_EQ(trace.status, PPROF_STATUS_CORRUPT);
  char offset[32];
  snprintf(offset, sizeof offset, "@0x%zx: ", before.size() + 11);
  EXPECT_NE(trace.message.find(offset), std::string::npos) << trace.message;
  EXPECT_EQ(trace.run().events.size(), 1u);
}

}  // namespace
}  // namespace pprof_test
