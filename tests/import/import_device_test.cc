// SPDX-License-Identifier: Apache-2.0
//
// What of a trace is device work, and what only lies beside it.
extern "C" {
#include "event/launch_shape.h"
}
#include "imported.h"

namespace pprof_test {
namespace {

// On the stream or thread `tid` of process `pid`; `more` begins with a comma.
std::string On(const std::string &ph, const std::string &name, int pid, int tid,
               int ts, const std::string &more = "") {
  return "{\"ph\":\"" + ph + "\",\"name\":\"" + name +
         "\",\"pid\":" + std::to_string(pid) +
         ",\"tid\":" + std::to_string(tid) + ",\"ts\":" + std::to_string(ts) +
         more + "}";
}

std::string Cat(const std::string &cat, const std::string &more = "") {
  return ",\"cat\":\"" + cat + "\"" + more;
}

TEST(ImportDeviceTest, LaunchArrowsOfAllAgesAreNoFlows) {
  const char *const cats[] = {"ac2g", "async_gpu", "async_cpu_to_gpu",
                              "async_npu"};
  for (int i = 0; i < 4; i++) {
    const char *cat = cats[i];
    const std::string id = std::to_string(i);
    Imported trace;
    trace.ReadEvents(
        On("X", "call", 1, 2, 10, Cat("cuda_runtime", ",\"dur\":5")) + "," +
        On("X", "gemm", 0, 7, 20, Cat("kernel", ",\"dur\":5")) + "," +
        On("s", "cudaLaunchKernel", 1, 2, 10, Cat(cat, ",\"id\":" + id)) + "," +
        On("f", "cudaLaunchKernel", 0, 7, 20,
           Cat(cat, ",\"id\":" + id + ",\"bp\":\"e\"")));
    const ImportedRun &run = trace.run();
    EXPECT_TRUE(run.The("call").flows.empty()) << cat;
    EXPECT_EQ(run.The("gemm").event.start_ns, 0u) << cat << ": the launch";
    EXPECT_EQ(run.The("gemm").thread, 2u) << cat;
    EXPECT_FALSE(run.HasNote("arrows")) << cat;
  }
}

TEST(ImportDeviceTest, WaitsShownOnAStreamAreNoWork) {
  Imported trace;
  trace.ReadEvents(
      On("X", "call", 1, 2, 10, Cat("cuda_runtime", ",\"dur\":5")) + "," +
      On("X", "Stream Sync", 0, 7, 20,
         Cat("cuda_sync", ",\"dur\":5,\"args\":{\"stream\":7}")));
  const ImportedEvent &wait = trace.run().The("Stream Sync");
  EXPECT_EQ(wait.category, "CudaSync");
  EXPECT_EQ(wait.event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
  EXPECT_EQ(wait.event.flags, uint32_t{PPROF_FLAG_PROJECTED});
}

// ONNX Runtime's kernels follow their node in the file and say its operator;
// two nodes of one may both have begun before.
TEST(ImportDeviceTest, KernelsOfOnnxRuntimeAreOfTheirNodes) {
  const auto node = [](const char *name, const char *op, int ts) {
    return On("X", std::string(name) + "_kernel_time", 125, 93, ts,
              Cat("Node", ",\"dur\":10,\"args\":{\"op_name\":\"" +
                              std::string(op) + "\"}"));
  };
  const auto kernel = [](const char *name, const char *op, int ts, int dur) {
    return On("X", name, -1, -1, ts,
              Cat("Kernel", ",\"dur\":" + std::to_string(dur) +
                                ",\"args\":{\"op_name\":\"" + op +
                                "\",\"stream\":\"13\",\"grid_x\":\"8\","
                                "\"grid_y\":\"4\",\"grid_z\":\"1\","
                                "\"block_x\":\"256\",\"block_y\":\"1\","
                                "\"block_z\":\"2\"}"));
  };
  Imported trace;
  trace.Read("[" + node("Conv_0", "Conv", 100) + "," +
             kernel("conv", "Conv", 200, 30) + "," +
             node("Conv_1", "Conv", 120) + "," +
             kernel("other", "Conv_1", 230, 20) + "," +
             node("Add_2", "Add", 140) + "," + kernel("late", "Conv", 250, 10) +
             "," + kernel("alone", "Gelu", 260, 10) + "]");
  const ImportedRun &run = trace.run();
  const struct {
    const char *name;
    uint64_t submitted_ns;
  } cases[] = {{"conv", 0}, {"other", 20000}, {"late", 20000}};
  for (const auto &each : cases) {
    const ImportedEvent &work = run.The(each.name);
    EXPECT_EQ(work.event.start_ns, each.submitted_ns) << each.name;
    EXPECT_EQ(work.thread, 93u) << each.name;
    EXPECT_EQ(work.stream, "stream 13") << each.name;
    ppi_launch_shape shape = {};
    EXPECT_TRUE(ppi_launch_shape_read(work.attributes.c_str(), &shape));
    EXPECT_EQ(shape.grid[0] * 100 + shape.grid[1] * 10 + shape.grid[2], 841u);
    EXPECT_EQ(shape.block[0] * 100 + shape.block[1] * 10 + shape.block[2],
              25612u);
  }
  EXPECT_EQ(run.The("alone").event.start_ns, 160000u);
  EXPECT_TRUE(run.HasNote("1 device ranges without their launch in the trace"));
}

// What devices are is of the run: each model once, no mere number.
TEST(ImportDeviceTest, SaysWhatDevicesAre) {
  Imported trace;
  trace.Read(
      "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100\"},"
      "{\"id\":1,\"name\":\"NVIDIA H100\",\"x\":{\"name\":\"no\"}},"
      "{\"name\":\"H100\"},{\"name\":\"cuda:1\"},{\"name\":7}],"
      "\"traceEvents\":[" +
      On("X", "gemm", 0, 7, 20, Cat("kernel", ",\"dur\":5")) + "]}");
  EXPECT_EQ(trace.run().info.at("device_models"), "NVIDIA H100\nH100");
}

TEST(ImportDeviceTest, KeepsFlops) {
  for (const std::string &cat : {std::string(), Cat("kernel")}) {
    Imported trace;
    trace.ReadEvents(On("X", "host", 1, 1, 0, ",\"dur\":300") + "," +
                     On("X", "gemm", 2, 1, 10,
                        cat + ",\"dur\":5,\"args\":{\"flops\":1000000}") +
                     "," +
                     On("M", "process_name", 2, 0, 0,
                        ",\"args\":{\"name\":\"/device:GPU:0\"}"));
    EXPECT_EQ(trace.run().The("gemm").event.kind,
              uint32_t{PPROF_KIND_DEVICE_RANGE});
    EXPECT_EQ(trace.run().The("gemm").work.flops, 1000000);
    EXPECT_EQ(trace.run().The("gemm").work.bytes, 0);
  }
}

TEST(ImportDeviceTest, CountsWhatIsBeyondTheBounds) {
  for (const std::string kind : {"device", "stream"}) {
    const int most = kind == "device" ? 256 : 4096;
    std::string events = On("X", "host", 1, 1, 0, ",\"dur\":9999");
    for (int i = 0; i < most + 2; i++)
      events += "," + On("X", "k", 2, 1, i,
                         Cat("kernel", ",\"dur\":1,\"args\":{\"" + kind +
                                           "\":" + std::to_string(i) + "}"));
    Imported trace;
    trace.ReadEvents(events);
    EXPECT_TRUE(trace.run().HasNote("2 ranges of further devices or streams"));
    EXPECT_EQ(trace.run().Total("lost"), 0u);
  }
}

// In a process that is called like a device, and by category anywhere.
TEST(ImportDeviceTest, PairsBeginsAndEnds) {
  const std::string named =
      ",{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":"
      "\"/device:GPU:0\"}}";
  for (const std::string &cat : {std::string(), Cat("kernel")}) {
    Imported trace;
    trace.ReadEvents(On("X", "host", 1, 1, 0, ",\"dur\":300") + "," +
                     On("B", "outer", 2, 1, 10, cat) + "," +
                     On("B", "inner", 2, 1, 20, cat) + "," +
                     On("E", "inner", 2, 1, 30, cat) + "," +
                     On("B", "other", 2, 3, 25, cat) + "," +
                     On("E", "", 2, 1, 110) + "," + On("E", "", 2, 3, 60) +
                     (cat.empty() ? named : ""));
    const ImportedRun &run = trace.run();
    ASSERT_EQ(run.events.size(), 4u);
    const char *const names[] = {"outer", "inner", "other"};
    const uint64_t times[][2] = {{10, 110}, {20, 30}, {25, 60}};
    for (int i = 0; i < 3; i++) {
      const ImportedEvent &found = run.The(names[i]);
      EXPECT_EQ(found.event.kind, uint32_t{PPROF_KIND_DEVICE_RANGE});
      EXPECT_EQ(found.category, "Kernel");
      EXPECT_EQ(found.event.device_start_ns, times[i][0] * 1000);
      EXPECT_EQ(found.event.device_end_ns, times[i][1] * 1000);
      EXPECT_EQ(found.stream, i == 2 ? "stream 3" : "stream 1");
    }
    EXPECT_EQ(run.Total("lost"), 0u);
    EXPECT_EQ(run.Total("unmatched"), 0u);
  }
}

TEST(ImportDeviceTest, CountsHalvesOfPairs) {
  Imported trace;
  trace.ReadEvents(
      On("X", "host", 1, 1, 0, ",\"dur\":300") + "," + On("E", "", 2, 1, 5) +
      "," + On("B", "whole", 2, 1, 10, Cat("kernel")) + "," +
      On("E", "", 2, 1, 20) + "," + On("B", "open", 2, 1, 30, Cat("kernel")));
  const ImportedRun &run = trace.run();
  ASSERT_EQ(run.events.size(), 2u);
  EXPECT_EQ(run.The("whole").event.device_end_ns, 20000u);
  EXPECT_EQ(run.Total("lost"), 2u);
  EXPECT_TRUE(run.HasNote("2 device ranges without a begin or an end"));
}

// A host's ranges may have any category.
TEST(ImportDeviceTest, RowsWithOtherRangesAreAHosts) {
  Imported trace;
  trace.ReadEvents(On("B", "step", 1, 1, 0) + "," +
                   On("B", "gemm", 1, 1, 10, Cat("kernel")) + "," +
                   On("E", "", 1, 1, 20) + "," + On("E", "", 1, 1, 30));
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("gemm").event.kind, uint32_t{PPROF_KIND_RANGE});
  EXPECT_EQ(run.The("gemm").event.depth, 1u);
  EXPECT_EQ(run.Total("unmatched"), 0u);
}

// `names.categories` of a configuration goes before what names say here.
TEST(ImportDeviceTest, AConfigurationSaysWhatNamesAre) {
  const char *const globs[] = {"my_exchange*", "tokenize *", "*all_gather*"};
  const uint32_t categories[] = {PPROF_CATEGORY_COMMUNICATION,
                                 PPROF_CATEGORY_PREPROCESS,
                                 PPROF_CATEGORY_OPERATOR};
  ppi_choice choice = {};
  choice.categorised = globs;
  choice.categories = categories;
  choice.num_categorised = 3;
  ppi_import_options options = {};
  options.choice = &choice;
  const char *const dur = ",\"dur\":5";
  Imported trace;
  trace.options = &options;
  trace.ReadEvents(On("X", "my_exchange_kernel", 0, 7, 10, Cat("kernel", dur)) +
                   "," +
                   On("X", "all_gather_my_work", 0, 7, 20, Cat("kernel", dur)) +
                   "," + On("X", "my_exchange", 1, 1, 0, Cat("cpu_op", dur)) +
                   "," + On("X", "tokenize 5", 1, 1, 60, Cat("cpu_op", dur)));
  const struct {
    const char *name, *category;
    bool is_communication;
  } cases[] = {{"my_exchange_kernel", "Kernel", true},
               {"all_gather_my_work", "Kernel", false},
               {"my_exchange", "Communication", true},
               {"tokenize 5", "Preprocess", false}};
  for (const auto &each : cases) {
    const ImportedEvent &event = trace.run().The(each.name);
    EXPECT_EQ(event.category, each.category) << each.name;
    EXPECT_EQ((event.event.flags & PPROF_FLAG_COMMUNICATION) != 0,
              each.is_communication)
        << each.name;
  }
}

}  // namespace
}  // namespace pprof_test
