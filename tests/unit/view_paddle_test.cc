// SPDX-License-Identifier: Apache-2.0
//
// The views that Paddle has too: its layout to the character, and each cell.
#include <fstream>

#include "view_figures.h"

namespace {

using pprof_test::Figures;
using pprof_test::Times;

constexpr uint64_t kMs = 1000000;
constexpr uint32_t kOperator = PPROF_CATEGORY_OPERATOR;
constexpr uint32_t kUser = PPROF_CATEGORY_USER_DEFINED;

void FillOperator(Figures *figures, const char *name, uint64_t host_ms,
                  const char *kernel, uint64_t device_ms, bool has_child) {
  uint64_t host = host_ms * kMs, device = device_ms * kMs;
  figures->Host(kOperator, name, {host, host}, {device, device});
  figures->Device(PPROF_CATEGORY_KERNEL, kernel, {device, device});
  const char *child = has_child ? "matmul compute" : "";
  if (has_child) {
    ppi_report_part *part = figures->Part(name, child, "");
    Figures::Fill(&part->host, {4 * kMs, 4 * kMs});
    Figures::Fill(&part->device, {device, device});
  }
  Figures::Fill(&figures->Part(name, child, kernel)->device, {device, device});
}

// Scenario S and example E13 of the reference, as figures.
void FillReference(Figures *figures) {
  ppi_figures &all = **figures;
  all.base_ns = all.wall_ns = 100 * kMs;
  all.model_device_ns = 86 * kMs;
  all.general_device_ns = 90 * kMs;
  all.details.operator_parts = all.details.paddle_distribution = true;
  all.distribution.host_calls = all.distribution.device_calls = 2;
  all.distribution.computation_calls = 8;
  all.distribution.communication_ns = 26 * kMs;
  all.distribution.computation_ns = 66 * kMs;
  all.distribution.overlap_ns = 18 * kMs;
  FillOperator(figures, "matmul", 6, "gemm_k", 12, true);
  FillOperator(figures, "relu", 4, "relu_k", 4, false);
  FillOperator(figures, "matmul_grad", 10, "gemm_bw", 14, false);
  FillOperator(figures, "c_allreduce_sum", 3, "ncclAllReduce", 10, false);
  FillOperator(figures, "adam", 5, "adam_k", 3, false);
  figures->Host(kUser, "GpuMemcpyAsync:CPU->GPU", {kMs, kMs},
                {2 * kMs, 2 * kMs});
  figures->Host(PPROF_CATEGORY_PYTHON_USER_DEFINED, "postproc",
                {4 * kMs, 4 * kMs}, {0, 0});
  figures->Memory("gpu:0", "matmul", false, {2, 1, 150, 30});
  figures->Memory("gpu:0", "ProfileStep#0", true, {1, 0, 1024, 0});
  figures->Peak("gpu:0", false, 800);
  figures->Peak("gpu:0", true, 1024);
  all.perf.num_steps = 12;
  Figures::Fill(&all.perf.batch, {100 * kMs, 300 * kMs});
  Figures::Fill(&all.perf.reader, {20 * kMs, 40 * kMs});
}

TEST(PaddleViewTest, ReadsAsTheReference) {
  Figures figures;
  FillReference(&figures);
  std::ifstream file("tests/golden/report_paddle_views.txt");
  ASSERT_TRUE(file) << "run from the root of the tree";
  std::stringstream expected;
  expected << file.rdbuf();
  std::string all;
  const char *views[] = {
      "distributed", "operator", "kernel", "memory_manipulation",
      "userdefined", "memory",   "perf"};
  for (const char *view : views)
    all += std::string(all.empty() ? "" : "\n") + figures.View(view);
  EXPECT_EQ(all, expected.str());
}

TEST(OperatorTest, HasEachCell) {
  Figures figures;
  figures.Host(kOperator, "conv", {100, 300, 500}, {0, 100, 200})->self_ns =
      700;
  figures.Host(kOperator, "relu", {100}, {100});
  figures.Flops(kOperator, "conv", 2e20);
  EXPECT_EQ(figures.Csv("operator"),
            "name,parent,thread,calls,cpu_total_ns,cpu_avg_ns,cpu_max_ns,"
            "cpu_min_ns,cpu_ratio_%,device_total_ns,device_avg_ns,"
            "device_max_ns,device_min_ns,device_ratio_%,flops,cpu_self_ns,"
            "cpu_p50_ns,cpu_p90_ns,cpu_p99_ns,cpu_std_ns,at_max\n"
            "conv,,,3,900,300,500,100,90.0,300,100,200,0,75.0,"
            "200000000000000000000,700,300,500,500,200,cpu_p90 cpu_p99\n"
            "relu,,,1,100,100,100,100,10.0,100,100,100,100,25.0,,0,100,100,"
            "100,,cpu_p50 cpu_p90 cpu_p99\n");
}

// Of n calls the rank of a percentile q is the least integer not below q * n;
// where that is n, the percentile is the greatest value and no more.
TEST(PercentileTest, OfTooFewCallsIsMarkedInEveryFormat) {
  struct {
    uint64_t calls;
    const char *at_max;  // "": none
  } cases[] = {{1, "cpu_p50 cpu_p90 cpu_p99"},
               {2, "cpu_p90 cpu_p99"},
               {9, "cpu_p90 cpu_p99"},
               {10, "cpu_p99"},
               {50, "cpu_p99"},
               {99, "cpu_p99"},
               {100, ""},
               {1000, ""}};
  for (const auto &at : cases) {
    Figures figures;
    ppi_report_name *name = figures.Name(kOperator, "op");
    for (uint64_t i = 1; i <= at.calls; i++)
      Figures::Fill(&name->host, &name->host_times, {i});
    std::string none = at.at_max;
    std::string csv = figures.Csv("operator");
    EXPECT_EQ(csv.substr(csv.rfind(',')), "," + none + "\n") << at.calls;
    std::string json =
        figures.Write(PPI_FORMAT_JSON, Figures::Options("operator"));
    EXPECT_NE(json.find(none.empty() ? ",null]]" : ",\"" + none + "\"]]"),
              std::string::npos)
        << json;
    bool is_marked = at.calls < 100;
    std::string table = figures.Table("operator", "p99");
    EXPECT_EQ(table.find("*\n") != std::string::npos, is_marked) << table;
    EXPECT_EQ(table.find("*: the greatest of all") != std::string::npos,
              is_marked);
    ppi_report_options options = Figures::Options("operator");
    options.sort = "p99";
    std::string markdown = figures.Write(PPI_FORMAT_MARKDOWN, options);
    EXPECT_EQ(markdown.find("* |") != std::string::npos, is_marked);
    EXPECT_EQ(markdown.find("*: the greatest of all") != std::string::npos,
              is_marked);
    // A table that shows no percentile needs no footnote.
    options.sort = nullptr;
    EXPECT_EQ(figures.Write(PPI_FORMAT_MARKDOWN, options).find("*:"),
              std::string::npos);
    EXPECT_EQ(figures.Table("operator").find("*:"), std::string::npos);
  }
}

TEST(OperatorTest, ShowsWhatItConsistsOf) {
  Figures figures;
  figures->details.operator_parts = true;
  figures.Host(kOperator, "conv", {400, 400}, {100, 100});
  figures.Host(kOperator, "conv2", {100}, {0});
  struct {
    const char *child, *launch;
    Times host, device;
  } parts[] = {
      {"infer", "", {10}, {0}},    {"compute", "", {100, 100}, {40, 60}},
      {"compute", "k1", {}, {40}}, {"compute", "k2", {}, {60}},
      {"", "fill", {}, {20}},      {"", "copy", {}, {80}}};
  for (auto &part : parts) {
    ppi_report_part *row = figures.Part("conv", part.child, part.launch);
    Figures::Fill(&row->host, part.host);
    Figures::Fill(&row->device, part.device);
  }
  EXPECT_EQ(Figures::Rows(figures.Csv("operator"), {0, 1, 3, 4, 8, 9, 13}),
            "conv,,2,800,88.888889,200,100.0\n"
            "compute,conv,2,200,25.0,100,50.0\n"
            "k2,conv / compute,1,,,60,60.0\n"
            "k1,conv / compute,1,,,40,40.0\n"
            "infer,conv,1,10,1.25,0,0.0\n"
            "copy,conv,1,,,80,40.0\n"
            "fill,conv,1,,,20,10.0\n"
            "conv2,,1,100,11.111111,0,0.0\n");
  // The parts go with their operator.
  EXPECT_EQ(Figures::Rows(figures.Csv("operator", "calls", 1), {0}),
            "conv\ncompute\nk2\nk1\ninfer\ncopy\nfill\n");
  EXPECT_EQ(Figures::Rows(figures.Csv("operator", "cpu-min", 1), {0}),
            "conv2\n");
}

TEST(OperatorTest, CutsTheNamesOfPartsInTables) {
  Figures figures;
  figures->details.operator_parts = true;
  std::string op(60, 'o'), child50(50, 'c'), child51(51, 'd');
  std::string launch48(48, 'k'), launch49(49, 'l'), wide;
  for (int i = 0; i < 51; i++) wide += "\u6a21";
  figures.Host(kOperator, op, {100});
  for (auto &child : {child50, child51, wide})
    Figures::Fill(&figures.Part(op, child, "")->host, {10});
  for (auto &launch : {launch48, launch49})
    Figures::Fill(&figures.Part(op, child50, launch)->device, {10});
  std::string table = figures.Table("operator");
  EXPECT_NE(table.find("\n" + op + "  1 "), std::string::npos) << table;
  EXPECT_NE(table.find("\n  " + child50 + " "), std::string::npos);
  EXPECT_NE(table.find("\n  " + std::string(47, 'd') + "... "),
            std::string::npos);
  EXPECT_NE(table.find("\n  " + wide.substr(0, 23 * 3) + "..."),
            std::string::npos);
  EXPECT_NE(table.find("\n    " + launch48 + " "), std::string::npos);
  EXPECT_NE(table.find("\n    " + std::string(45, 'l') + "... "),
            std::string::npos);
  EXPECT_NE(figures.Csv("operator").find("\n" + child51 + ","),
            std::string::npos);
}

TEST(OperatorTest, HasABlockForEachThread) {
  Figures figures;
  figures->details.by_thread = figures->details.operator_parts = true;
  auto add = [&](const char *process, uint64_t thread, const char *name,
                 Times host) {
    auto *row = figures.OnThread(process, thread, kOperator, name);
    Figures::Fill(&row->host, &row->host_times, host);
    Figures::Fill(&row->inside, {host.size()});
  };
  add("h 1", 8, "a", {100});
  add("h 1", 8, "b", {300});
  add("h 1", 20, "a", {500});
  figures.OnThread("h 1", 20, kUser, "u");
  figures.OnThread("h 1", 30, kUser, "u");
  Figures::Fill(&figures.Part("a", "", "k", "h 1", 20)->device, {1});
  EXPECT_EQ(Figures::Rows(figures.Csv("operator"), {0, 1, 2, 3, 4, 8, 13}),
            "b,,h 1: 8,1,300,75.0,50.0\n"
            "a,,h 1: 8,1,100,25.0,50.0\n"
            "a,,h 1: 20,1,500,100.0,100.0\n"
            "k,a,h 1: 20,1,,,100.0\n");
  EXPECT_EQ(Figures::Rows(figures.Csv("operator", nullptr, 1), {0, 2}),
            "b,h 1: 8\na,h 1: 20\nk,h 1: 20\n");
  std::string table = figures.Table("operator");
  EXPECT_NE(table.find("-Thread: 8-"), std::string::npos) << table;
  EXPECT_NE(table.find("-Thread: 20-"), std::string::npos);
  EXPECT_EQ(table.find("-Thread: 30-"), std::string::npos);
  EXPECT_EQ(table.find("All threads merged"), std::string::npos);
  add("h 2", 8, "a", {100});
  add(" 3", 8, "a", {100});  // imported
  table = figures.Table("operator");
  EXPECT_NE(table.find("-Thread: h 1: 8-"), std::string::npos) << table;
  EXPECT_NE(table.find("-Thread: h 2: 8-"), std::string::npos);
  EXPECT_NE(table.find("-Thread: 3: 8-"), std::string::npos);
}

TEST(KernelTest, HasEachCell) {
  Figures figures;
  figures.Device(PPROF_CATEGORY_KERNEL, "gemm", {10, 20, 30, 40});
  figures.Device(PPROF_CATEGORY_KERNEL, "relu", {25});
  figures.Device(PPROF_CATEGORY_MEMCPY, "HtoD", {1000});
  figures.Host(PPROF_CATEGORY_KERNEL, "host", {1000});
  EXPECT_EQ(figures.Csv("kernel"),
            "name,calls,device_total_ns,device_avg_ns,device_max_ns,"
            "device_min_ns,device_ratio_%,device_p50_ns,device_p90_ns,"
            "device_p99_ns,device_std_ns,at_max\n"
            "gemm,4,100,25,40,10,80.0,20,40,40,13,device_p90 device_p99\n"
            "relu,1,25,25,25,25,20.0,25,25,25,,device_p50 device_p90 "
            "device_p99\n");
}

TEST(KernelTest, CutsNamesInTables) {
  Figures figures;
  std::string arguments = "void k<float, (int)3>(float*, X<int>(*)(int))";
  std::string plain = "f(int)", of90 = std::string(90, 'a');
  std::string of91 = std::string(91, 'b');
  std::string lone = "<unnamed>(int)";
  uint64_t time = 9;
  for (auto &name : {arguments, plain, of90, of91, lone})
    figures.Device(PPROF_CATEGORY_KERNEL, name, {time--});
  std::string table = figures.Table("kernel");
  EXPECT_NE(table.find("\nvoid k<float, (int)3>(float*, X<int>  "),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\nf(int)  "), std::string::npos);
  EXPECT_NE(table.find("\n" + of90 + "  1 "), std::string::npos);
  EXPECT_NE(table.find("\n" + std::string(87, 'b') + "...  1 "),
            std::string::npos);
  EXPECT_NE(table.find("\n<unnamed>(int)  "), std::string::npos);
  EXPECT_NE(figures.Csv("kernel").find("\"" + arguments + "\","),
            std::string::npos);
}

TEST(KernelTest, SaysWhyThereIsNone) {
  Figures figures;
  EXPECT_EQ(figures.View("kernel"),
            "Kernel Summary: no kernel records: nothing was recorded on a "
            "device\n");
  ppi_report_device key = {};
  key.name = const_cast<char *>("gpu:0");
  ppi_figures_device(&*figures, &key)->ranges = 1;
  EXPECT_EQ(figures.View("kernel"),
            "Kernel Summary: no kernel records: device ranges are timed by "
            "pairs of events; see UserDefined and\nQueue\n");
}

TEST(MemoryManipulationTest, TellsCopiesFromTheRest) {
  Figures figures;
  figures.Host(kUser, "GpuMemcpyAsync", {10, 30}, {7, 0})->self_ns = 25;
  figures.Host(kUser, "MEMSET x", {20}, {0});
  figures.Host(kUser, "my memory copy", {90}, {0});
  figures.Host(PPROF_CATEGORY_PYTHON_USER_DEFINED, "MemoryCopy", {5}, {0});
  figures.Host(PPROF_CATEGORY_OPERATOR, "memcpy_op", {500}, {0});
  figures.Host(PPROF_CATEGORY_MEMCPY, "copy_", {50}, {0});
  figures.Device(PPROF_CATEGORY_MEMCPY, "copy_", {100, 60});
  figures.Device(PPROF_CATEGORY_MEMSET, "fill", {40});
  EXPECT_EQ(figures.Csv("memory_manipulation"),
            "name,category,calls,cpu_total_ns,cpu_avg_ns,cpu_max_ns,"
            "cpu_min_ns,cpu_ratio_%,device_total_ns,device_avg_ns,"
            "device_max_ns,device_min_ns,device_ratio_%,cpu_self_ns,"
            "cpu_p50_ns,cpu_p90_ns,cpu_p99_ns,cpu_std_ns,at_max\n"
            "copy_,Memcpy,1,50,50,50,50,5.0,0,0,0,0,0.0,0,50,50,50,,"
            "cpu_p50 cpu_p90 cpu_p99\n"
            "GpuMemcpyAsync,UserDefined,2,40,20,30,10,4.0,7,4,7,0,1.75,25,10,"
            "30,30,14,cpu_p90 cpu_p99\n"
            "MEMSET x,UserDefined,1,20,20,20,20,2.0,0,0,0,0,0.0,0,20,20,20,,"
            "cpu_p50 cpu_p90 cpu_p99\n"
            "MemoryCopy,PythonUserDefined,1,5,5,5,5,0.5,0,0,0,0,0.0,0,5,5,5,,"
            "cpu_p50 cpu_p90 cpu_p99\n"
            "copy_,Memcpy,2,,,,,,160,80,100,60,40.0,,,,,,\n"
            "fill,Memset,1,,,,,,40,40,40,40,10.0,,,,,,\n");
  EXPECT_EQ(Figures::Rows(figures.Csv("userdefined"), {0, 1, 2}),
            "my memory copy,UserDefined,1\n");
  std::string table = figures.Table("memory_manipulation");
  EXPECT_NE(table.find("-Device records-"), std::string::npos) << table;
  EXPECT_TRUE(Figures::HasLine(table,
                               "copy_ 2 - / - / - / - / - 160.00 / 80.00 / "
                               "100.00 / 60.00 / 40.00"));
}

TEST(MemoryManipulationTest, AMarkedDeviceRangeIsACall) {
  Figures figures;
  ppi_report_name *row = figures.Name(kUser, "memcpy");
  Figures::Fill(&row->submit, {3, 5});
  Figures::Fill(&row->device, {50, 60});
  Figures::Fill(&row->inside, {50, 60});
  EXPECT_EQ(Figures::Rows(figures.Csv("memory_manipulation"), {0, 2, 3, 8, 14}),
            "memcpy,2,8,110,\n");
}

TEST(UserDefinedTest, HasEachCell) {
  Figures figures;
  figures.Host(kUser, "load", {10, 20, 60}, {40, 0, 0})->self_ns = 80;
  figures.Host(PPROF_CATEGORY_PYTHON_USER_DEFINED, "load", {10}, {0});
  EXPECT_EQ(figures.Csv("userdefined"),
            "name,category,calls,cpu_total_ns,cpu_avg_ns,cpu_max_ns,"
            "cpu_min_ns,cpu_ratio_%,device_total_ns,device_avg_ns,"
            "device_max_ns,device_min_ns,device_ratio_%,thread,cpu_self_ns,"
            "cpu_p50_ns,cpu_p90_ns,cpu_p99_ns,cpu_std_ns,at_max\n"
            "load,UserDefined,3,90,30,60,10,9.0,40,13,40,0,10.0,,80,20,60,60,"
            "26,cpu_p90 cpu_p99\n"
            "load,PythonUserDefined,1,10,10,10,10,1.0,0,0,0,0,0.0,,0,10,10,10,"
            ",cpu_p50 cpu_p90 cpu_p99\n");
}

TEST(UserDefinedTest, HasABlockForEachThread) {
  Figures figures;
  figures->details.by_thread = true;
  for (uint64_t thread : {5, 7}) {
    auto *row = figures.OnThread("h 1", thread, kUser, "u");
    Figures::Fill(&row->host, &row->host_times, {thread * 10, thread * 20});
    row->self_ns = thread;
    figures.OnThread("h 1", thread, kUser, "u memcpy");
  }
  EXPECT_EQ(Figures::Rows(figures.Csv("userdefined"), {0, 2, 3, 7, 13, 14, 15}),
            "u,2,150,15.0,h 1: 5,5,50\n"
            "u,2,210,21.0,h 1: 7,7,70\n");
  EXPECT_NE(figures.Table("userdefined").find("-Thread: 7-"),
            std::string::npos);
}

TEST(DistributedTest, HasEachCell) {
  Figures figures;
  ppi_report_distribution &from = figures->distribution;
  figures.Phase(PPI_PHASE_PROFILE_STEP, {500, 500});
  from.host_calls = 2;
  from.device_calls = 3;
  from.computation_calls = 4;
  from.communication_ns = 500;  // E10, in tens of ns
  from.computation_ns = 550;
  from.overlap_ns = 350;
  from.device_communication_ns = 300;
  from.device_overlap_ns = 150;
  EXPECT_EQ(figures.Csv("distributed"),
            "name,part,calls,time_ns,ratio_%\n"
            "ProfileStep,all,2,1000,100.0\n"
            "Communication,all,5,500,50.0\n"
            "Computation,all,4,550,55.0\n"
            "Overlap,all,,350,35.0\n"
            "Exposed,all,,150,15.0\n"
            "Communication,device,3,300,30.0\n"
            "Overlap,device,,150,15.0\n"
            "Exposed,device,,150,15.0\n");
  std::string table = figures.Table("distributed");
  EXPECT_NE(table.find("\n---------------------------------Device alone"
                       "----------------------------------\n  Communication  "),
            std::string::npos)
      << table;
  figures->details.paddle_distribution = true;
  EXPECT_EQ(Figures::Rows(figures.Csv("distributed"), {1}),
            "all\nall\nall\nall\nall\n");
}

TEST(DistributedTest, WithoutStepsTheWindowIsTheBase) {
  Figures figures;
  figures->runs_with_steps = 0;
  figures->runs_without_steps = 1;
  figures->distribution.host_calls = 1;
  EXPECT_EQ(Figures::Rows(figures.Csv("distributed"), {0, 2, 3}),
            "Window,,1000\nCommunication,1,0\nComputation,0,0\nOverlap,,0\n"
            "Exposed,,0\nCommunication,0,0\nOverlap,,0\nExposed,,0\n");
}

TEST(MemoryTest, HasEachCell) {
  Figures figures;
  figures.Memory("cpu", "", false, {1, 2, 100, 150});
  figures.Memory("gpu:0", "b", false, {2, 1, 150, 30});  // E16
  figures.Memory("gpu:0", "a", false, {1, 0, 110, 0});
  figures.Memory("gpu:0", "a", true, {1, 0, 4096, 0});
  figures.Peak("cpu", false, 300);
  figures.Peak("gpu:0", false, 800);
  figures.Peak("gpu:0", true, 4096);
  figures.Peak("gpu:1", false, 7);
  EXPECT_EQ(figures.Csv("memory"),
            "name,place,type,allocation_count,free_count,allocation_size_B,"
            "free_size_B,increased_size_B,peak_B\n"
            ",cpu,Allocated,1,2,100,150,-50,300\n"
            "<none>,cpu,Allocated,1,2,100,150,-50,\n"
            ",gpu:0,Allocated,3,1,260,30,230,800\n"
            "b,gpu:0,Allocated,2,1,150,30,120,\n"
            "a,gpu:0,Allocated,1,0,110,0,110,\n"
            ",gpu:0,Reserved,1,0,4096,0,4096,4096\n"
            "a,gpu:0,Reserved,1,0,4096,0,4096,\n"
            ",gpu:1,Allocated,0,0,0,0,0,7\n");
  std::string table = figures.Table("memory");
  size_t cpu = table.find("-Memory Summary - Place(cpu)-");
  size_t gpu = table.find("-Memory Summary - Place(gpu:0)-");
  EXPECT_EQ(table.rfind("\n\n---", gpu), table.rfind('\n', gpu) - 1);
  size_t other = table.find("-Memory Summary - Place(gpu:1)-");
  EXPECT_LT(cpu, gpu);
  EXPECT_LT(gpu, other);
  ASSERT_NE(other, std::string::npos) << table;
  EXPECT_NE(table.find("-\nPeak Allocated Memory: 300\n--"), std::string::npos);
  EXPECT_NE(table.find("\nPeak Allocated Memory: 800\nPeak Reserved Memory: "
                       "4096\n-"),
            std::string::npos);
  EXPECT_TRUE(Figures::HasLine(table, "<none> Allocated 1 2 100 150 -50"));
}

TEST(MemoryTest, TotalsAreNoRowsOfTheTable) {
  Figures figures;
  for (const char *name : {"a", "b"})
    figures.Memory("cpu", name, false, {1, 0, 900000000000000, 0});
  std::string table = figures.Table("memory");
  EXPECT_NE(table.find("\nName  "), std::string::npos);
  EXPECT_EQ(table.find("1800000000000000"), std::string::npos) << table;
  EXPECT_NE(
      table.find("  " + std::string(16, '-') + "  " + std::string(15, '-') +
                 "  " + std::string(15, '-') + "  "),
      std::string::npos);
}

TEST(MemoryTest, MarkdownAlignsNamesThoughTotalsHaveNone) {
  Figures figures;
  figures.Memory("cpu", "a", false, {1, 0, 8, 0});
  std::string text =
      figures.Write(PPI_FORMAT_MARKDOWN, Figures::Options("memory"));
  EXPECT_NE(text.find("\n| --- | --- | --- | ---: |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n| - | cpu | Allocated | 1 |"), std::string::npos);
}

TEST(PerfTest, HasEachCell) {
  Figures figures;  // E13, the correct column
  ppi_report_perf &perf = figures->perf;
  perf.num_steps = 12;
  Figures::Fill(&perf.batch, {100 * kMs, 300 * kMs});
  EXPECT_EQ(figures.Csv("perf"),
            "name,unit,calls,avg,max,min\n"
            "reader_cost,ns,0,,,\n"
            "batch_cost,ns,2,200000000,300000000,100000000\n"
            "ips,steps/s,2,5.0,10.0,3.333333\n"
            "reader_ratio,%,0,,,\n");
  Figures::Fill(&perf.reader, {20 * kMs, 40 * kMs});
  perf.num_stated = 2;
  perf.items = static_cast<unsigned __int128>(64) * PPI_PERF_ITEM;
  perf.speed_max = 320;
  perf.speed_min = 32 / 0.3;
  EXPECT_EQ(figures.Csv("perf"),
            "name,unit,calls,avg,max,min\n"
            "reader_cost,ns,2,30000000,40000000,20000000\n"
            "batch_cost,ns,2,200000000,300000000,100000000\n"
            "ips,samples/s,2,160.0,320.0,106.666667\n"
            "reader_ratio,%,2,15.0,,\n");
  perf.num_stated = 1;
  EXPECT_NE(figures.Csv("perf").find("ips,steps/s,2,5.0"), std::string::npos);
}

TEST(PerfTest, LeavesOutWhatItHasNot) {
  Figures figures;
  figures->perf.num_steps = 11;
  Figures::Fill(&figures->perf.batch, {100 * kMs});
  std::string text = figures.View("perf");
  EXPECT_EQ(text.find("Reader Ratio"), std::string::npos) << text;
  EXPECT_EQ(text.find("reader_cost"), std::string::npos);
  EXPECT_NE(text.find("|    batch_cost   |     0.10000     |"),
            std::string::npos);
  Figures::Fill(&figures->perf.reader, {0});
  text = figures.View("perf");
  EXPECT_EQ(text.find("Reader Ratio"), std::string::npos) << text;
  EXPECT_NE(text.find("|   reader_cost   |     0.00000     |"),
            std::string::npos);
}

TEST(PerfTest, SaysWhyThereIsNone) {
  Figures figures;
  EXPECT_EQ(figures.View("perf"),
            "Perf Summary: no whole steps: the program marked none\n");
  figures->perf.num_steps = 10;
  EXPECT_EQ(figures.View("perf"),
            "Perf Summary: 10 whole steps: the first 10 of a run are its "
            "warm-up\n");
}

TEST(PerfTest, IsNotToBeMixedWithOthers) {
  Figures figures;
  figures->perf.num_steps = 14;
  Figures::Fill(&figures->perf.batch, {1, 2, 3, 4});
  const char *note =
      "\nNote: 4 of 14 whole steps from start to stop, without the first 10 of "
      "a run. The other tables\ncover the recorded windows, 1000.00 ns: do not "
      "mix their figures.\n";
  EXPECT_NE(figures.Table(nullptr).find(note), std::string::npos)
      << figures.Table(nullptr);
  EXPECT_NE(figures.Table("perf,model").find(note), std::string::npos);
  EXPECT_EQ(figures.Table("perf").find("Note:"), std::string::npos);
}

}  // namespace
