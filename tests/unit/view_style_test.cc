// SPDX-License-Identifier: Apache-2.0
//
// The styles torch and nsys.
#include <climits>

#include "view_figures.h"

namespace {

using pprof_test::Figures;

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1000000;

std::string Write(const Figures &figures, ppi_report_style style,
                  ppi_report_format format, const char *sort = nullptr,
                  long top = LONG_MIN) {
  ppi_report_options options = {};
  options.style = style;
  options.is_wide = true;
  options.sort = sort;
  options.top = top;
  return Figures::WithoutFooter(figures.Write(format, options));
}

std::string TorchCsv(const Figures &figures, const char *sort = nullptr,
                     long top = LONG_MIN) {
  return Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_CSV, sort, top);
}

// One step of an operator that launches a kernel through the runtime, with a
// copy, all in us but for the step.
void FillTorch(Figures *figures) {
  figures->operator*().runs_with_kernels = 1;
  auto *step = figures->Host(PPROF_CATEGORY_PROFILE_STEP, "ProfileStep",
                             {2500 * kMs}, {180 * kUs});
  step->self_ns = 2499 * kMs;
  auto *op = figures->Host(PPROF_CATEGORY_OPERATOR, "aten::mm",
                           {300 * kUs, 100 * kUs}, {50 * kUs, 100 * kUs});
  op->self_ns = 250 * kUs;
  op->own_device_ns = 150 * kUs;
  figures->Flops(PPROF_CATEGORY_OPERATOR, "aten::mm", 268599296);
  auto *call = figures->Host(PPROF_CATEGORY_RUNTIME, "cudaLaunchKernel",
                             {100 * kUs, 50 * kUs}, {0, 0});
  call->self_ns = 150 * kUs;
  figures->Host(PPROF_CATEGORY_PYTHON_OP, "a.py(1): f", {3000 * kMs})->self_ns =
      77;
  figures->Device(PPROF_CATEGORY_KERNEL, "gemm", {50 * kUs, 100 * kUs});
  figures->Device(PPROF_CATEGORY_MEMCPY, "Memcpy HtoD", {30 * kUs});
  figures->Device(PPROF_CATEGORY_USER_DEFINED, "forward", {360 * kUs});
}

// As torch 2.x prints it, but for the blanks at the ends of lines and the
// width of "CUDA time avg".
TEST(TorchTest, ReadsAsTorchs) {
  Figures figures;
  FillTorch(&figures);
  std::string rule;
  for (int width : {20, 12, 12, 12, 12, 12, 12, 12, 12, 13, 12, 12})
    rule += (rule.empty() ? "" : "  ") + std::string(width, '-');
  EXPECT_EQ(
      Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE),
      rule +
          "\n"
          "                Name    Self CPU %      Self CPU   CPU total %     "
          "CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  "
          "CUDA time avg    # of Calls  Total MFLOPs\n" +
          rule +
          "\n"
          "         ProfileStep        99.98%        2.499s       100.02%      "
          " "
          " 2.500s        2.500s       0.000us         0.00%     180.000us     "
          " 180.000us             1            --\n"
          "            aten::mm         0.01%     250.000us         0.02%     "
          "400.000us     200.000us     150.000us        83.33%     150.000us   "
          "    75.000us             2       268.599\n"
          "    cudaLaunchKernel         0.01%     150.000us         0.01%     "
          "150.000us      75.000us       0.000us         0.00%       0.000us   "
          "     0.000us             2            --\n"
          "         Memcpy HtoD         0.00%       0.000us         0.00%      "
          " "
          "0.000us       0.000us      30.000us        16.67%      30.000us     "
          "  30.000us             1            --\n"
          "             forward         0.00%       0.000us         0.00%      "
          " "
          "0.000us       0.000us     360.000us       200.00%     360.000us     "
          " 360.000us             1            --\n"
          "                gemm         0.00%       0.000us         0.00%      "
          " "
          "0.000us       0.000us     150.000us        83.33%     150.000us     "
          "  75.000us             2            --\n" +
          rule +
          "\n"
          "Self CPU time total: 2.499s\n"
          "Self CUDA time total: 180.000us\n");
}

TEST(TorchTest, LeavesOutColumnsOfWhatThereIsNot) {
  Figures figures;
  figures.Host(PPROF_CATEGORY_OPERATOR, "f", {1500000})->self_ns = 1500000;
  EXPECT_EQ(
      Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE),
      "-----  ------------  ------------  ------------  ------------  "
      "------------  ------------\n"
      " Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time "
      "avg    # of Calls\n"
      "-----  ------------  ------------  ------------  ------------  "
      "------------  ------------\n"
      "    f       100.00%       1.500ms       100.00%       1.500ms       "
      "1.500ms             1\n"
      "-----  ------------  ------------  ------------  ------------  "
      "------------  ------------\n"
      "Self CPU time total: 1.500ms\n");
}

// Cells of a table of torch's, to the right in their columns. The last but one
// is as wide as its heading, out of which torch's sticks.
std::string TorchLine(const std::vector<const char *> &cells, char fill = ' ') {
  std::string line;
  for (size_t i = 0; i < cells.size(); i++) {
    size_t width = i == 9 ? 13 : 12, len = strlen(cells[i]);
    line += (i ? "  " : "") + std::string(width - len, fill) + cells[i];
  }
  return line + "\n";
}

// torch's _format_memory: units of 1024 with two decimals, bytes without.
TEST(TorchTest, HasMemoryWhereItWasRecorded) {
  Figures figures;
  auto *name = figures.Host(PPROF_CATEGORY_OPERATOR, "aten::mm", {1000, 1000});
  name->self_ns = 2000;
  name->memory = {{-1536, 1 << 20}};
  name->own_memory = {{1023, 3 << 29}};
  figures->outside = {2, {{-256, 0}}};
  figures.Peak("cpu", false, 4096);
  const std::vector<const char *> rule(11, "");
  EXPECT_EQ(
      Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE),
      TorchLine(rule, '-') +
          TorchLine({"Name", "Self CPU %", "Self CPU", "CPU total %",
                     "CPU total", "CPU time avg", "CPU Mem", "Self CPU Mem",
                     "CUDA Mem", "Self CUDA Mem", "# of Calls"}) +
          TorchLine(rule, '-') +
          TorchLine({"aten::mm", "100.00%", "2.000us", "100.00%", "2.000us",
                     "1.000us", "-1.50 KB", "1023 B", "1.00 MB", "1.50 GB",
                     "2"}) +
          TorchLine({"[memory]", "0.00%", "0.000us", "0.00%", "0.000us",
                     "0.000us", "-256 B", "-256 B", "0 B", "0 B", "2"}) +
          TorchLine(rule, '-') + "Self CPU time total: 2.000us\n");
  EXPECT_EQ(Figures::Rows(TorchCsv(figures), {0, 2, 13, 14, 15, 16}),
            "aten::mm,2,-1536,1023,1048576,1610612736\n"
            "[memory],2,-256,-256,0,0\n");
}

TEST(TorchTest, LeavesOutMemoryOfDevicesThatTookNone) {
  Figures figures;
  auto *name = figures.Host(PPROF_CATEGORY_OPERATOR, "aten::mm", {1000});
  name->own_memory = {{64, -64}};
  figures.Peak("cpu", false, 64);
  std::string table = Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE);
  EXPECT_NE(table.find("Self CPU Mem"), std::string::npos);
  EXPECT_EQ(table.find("CUDA"), std::string::npos) << table;
}

TEST(TorchTest, CutsNamesInTables) {
  Figures figures;
  std::string of51(51, 'a'), of52(52, 'b');
  figures.Host(PPROF_CATEGORY_OPERATOR, of51, {1});
  figures.Host(PPROF_CATEGORY_OPERATOR, of52, {1});
  std::string table = Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE);
  EXPECT_EQ(table.find(std::string(55, '-') + "  ---"), 0u) << table;
  EXPECT_NE(table.find("\n    " + of51 + "  "), std::string::npos);
  EXPECT_NE(table.find("\n" + of52 + "...  "), std::string::npos);
  EXPECT_NE(TorchCsv(figures).find("\n" + of52 + ","), std::string::npos);
}

TEST(TorchTest, TheWidthOfNamesMayBeGiven) {
  Figures figures;
  std::string of60(60, 'a');
  figures.Host(PPROF_CATEGORY_OPERATOR, of60, {1});
  ppi_report_options options = {};
  options.style = PPI_STYLE_TORCH;
  options.is_wide = true;
  options.name_width = 64;
  std::string table = figures.Write(PPI_FORMAT_TABLE, options);
  EXPECT_NE(table.find("\n    " + of60 + "  "), std::string::npos) << table;
  options.name_width = 20;
  table = figures.Write(PPI_FORMAT_TABLE, options);
  EXPECT_NE(table.find("\n" + std::string(17, 'a') + "...  "),
            std::string::npos)
      << table;
}

TEST(TorchTest, AUnitMayBeGiven) {
  Figures figures;
  FillTorch(&figures);
  ppi_report_options options = {};
  options.style = PPI_STYLE_TORCH;
  options.has_time_unit = true;
  const char *expected[] = {"2499.400ms", "2499400000.000ns", "2499400.000us",
                            "2.499s"};
  for (int unit = PPI_TIME_MS; unit <= PPI_TIME_S; unit++) {
    options.time_unit = static_cast<ppi_time_unit>(unit);
    std::string table = figures.Write(PPI_FORMAT_TABLE, options);
    EXPECT_NE(table.find(std::string("Self CPU time total: ") + expected[unit]),
              std::string::npos)
        << table;
  }
}

TEST(TorchTest, HasAHundredRowsUnlessAsked) {
  Figures figures;
  for (int i = 0; i < 150; i++)
    figures.Host(PPROF_CATEGORY_OPERATOR, std::to_string(i), {1})->self_ns = 1;
  auto count = [&](long top) {
    std::string csv = TorchCsv(figures, nullptr, top);
    return std::count(csv.begin(), csv.end(), '\n') - 1;
  };
  EXPECT_EQ(count(LONG_MIN), 100);
  EXPECT_EQ(count(7), 7);
  EXPECT_EQ(count(0), 150);
  EXPECT_EQ(count(-1), 150);
  // The total is of all.
  EXPECT_NE(Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE)
                .find("Self CPU time total: 0.150us"),
            std::string::npos);
}

TEST(NsysTest, ANameIsOneRowWhateverItsCategories) {
  Figures figures;
  figures.Host(PPROF_CATEGORY_OPERATOR, "b", {10, 20});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "a", {1});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "b", {40})->num_async = 1;
  figures.Host(PPROF_CATEGORY_FORWARD, "b", {29});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "c", {0});
  EXPECT_EQ(Figures::Rows(Write(figures, PPI_STYLE_NSYS, PPI_FORMAT_CSV),
                          {0, 1, 2, 4, 5, 6, 7, 8, 9}),
            "99.0,99,4,20,10,40,13,PushPop+StartEnd,b\n"
            "1.0,1,1,1,1,1,,PushPop,a\n"
            "0.0,0,1,0,0,0,,PushPop,c\n");
}

TEST(NsysTest, ReadsAsNsyss) {
  Figures figures;
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "conv", {100, 300, 200});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "fc", {150});
  EXPECT_EQ(Write(figures, PPI_STYLE_NSYS, PPI_FORMAT_TABLE),
            " ** NVTX Range Summary (nvtx_sum):\n"
            "\n"
            " Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min "
            "(ns)  Max (ns)  StdDev (ns)  Style    Range\n"
            " --------  ---------------  ---------  --------  --------  "
            "--------  --------  -----------  -------  -----\n"
            "     80.0              600          3     200.0     200.0       "
            "100       300        100.0  PushPop  conv\n"
            "     20.0              150          1     150.0     150.0       "
            "150       150            -  PushPop  fc\n");
}

TEST(NsysTest, TimesAreInNanoseconds) {
  Figures figures;
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "fc", {150});
  EXPECT_NE(Write(figures, PPI_STYLE_NSYS, PPI_FORMAT_MARKDOWN)
                .find("\n| 100.00 | 150.00 | 1 | 150.00 |"),
            std::string::npos);
}

TEST(StyleTest, IsNoView) {
  Figures figures;
  for (const char *view : {"torch", "nvtx_sum", "nsys"})
    EXPECT_EQ(figures.Csv(view), pprof_status_string(PPROF_STATUS_INVALID));
  for (auto style : {PPI_STYLE_TORCH, PPI_STYLE_NSYS}) {
    ppi_report_options options = Figures::Options("operator");
    options.style = style;
    EXPECT_EQ(figures.Write(PPI_FORMAT_CSV, options),
              pprof_status_string(PPROF_STATUS_INVALID));
  }
}

TEST(StyleTest, SaysWhyThereIsNothing) {
  Figures figures;
  EXPECT_EQ(Write(figures, PPI_STYLE_TORCH, PPI_FORMAT_TABLE),
            "Torch Summary: no ranges\n");
  EXPECT_EQ(Write(figures, PPI_STYLE_NSYS, PPI_FORMAT_TABLE),
            "NVTX Range Summary (nvtx_sum): no host ranges\n");
}

}  // namespace
