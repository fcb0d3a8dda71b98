// SPDX-License-Identifier: Apache-2.0
//
// The order of rows, and how many are shown, where tests/oracle, which has
// every key of every view, does not look.
#include "view/view.h"

#include <climits>

#include "view_figures.h"

namespace {

using pprof_test::Figures;
using pprof_test::Times;

const char *const kPaddleKeys[] = {"cpu-total", "cpu-avg", "cpu-max", "cpu-min",
                                   "gpu-total", "gpu-avg", "gpu-max", "gpu-min",
                                   "self",      "p50",     "p90",     "p99",
                                   "std",       "calls"};

// Every key puts the four rows in an order of its own:
//
//      calls  host times            total  avg  max  min  p50  p90  std   self
//   a  2      10 70                 80     40   70   10   10   70   42    5
//   b  1      60                    60     60   60   60   60   60   none  60
//   c  4      1 20 20 20            61     15.2 20   1    20   20   9.5   30
//   d  3      30 30 33              93     31   33   30   30   33   1.7   93
//
//      device times                 total  avg  max  min
//   a  5 5                          10     5    5    5
//   b  9                            9      9    9    9
//   c  1 1 1 25                     28     7    25   1
//   d  2 4 6                        12     4    6    2
void Fill(Figures *figures, uint32_t category, const std::string &prefix) {
  struct {
    const char *name;
    Times host, device;
    uint64_t self_ns;
  } rows[] = {{"a", {10, 70}, {5, 5}, 5},
              {"b", {60}, {9}, 60},
              {"c", {1, 20, 20, 20}, {1, 1, 1, 25}, 30},
              {"d", {30, 30, 33}, {2, 4, 6}, 93}};
  for (auto &row : rows)
    figures->Host(category, row.name + prefix, row.host, row.device)->self_ns =
        row.self_ns;
}

std::string Order(const std::string &csv) {
  std::string order, rows = Figures::Rows(csv, {0});
  for (size_t at = 0; at < rows.size(); at = rows.find('\n', at) + 1)
    order += rows[at];
  return order;
}

TEST(SortTest, TheNamesOfPaddleAreKnown) {
  Figures figures;
  Fill(&figures, PPROF_CATEGORY_OPERATOR, "");
  const char *const names[][2] = {
      {"CPUTotal", "cpu-total"}, {"CPUAvg", "cpu-avg"},
      {"CPUMax", "cpu-max"},     {"CPUMin", "cpu-min"},
      {"GPUTotal", "gpu-total"}, {"GPUAvg", "gpu-avg"},
      {"GPUMax", "gpu-max"},     {"GPUMin", "gpu-min"}};
  for (auto &name : names)
    EXPECT_EQ(figures.Csv("operator", name[0]),
              figures.Csv("operator", name[1]));
}

TEST(SortTest, KeysAreKnownByStyle) {
  std::string all;
  for (const char *key : kPaddleKeys) {
    EXPECT_TRUE(ppi_sort_is_known(PPI_STYLE_PADDLE, key)) << key;
    EXPECT_FALSE(ppi_sort_is_known(PPI_STYLE_TORCH, key)) << key;
    all += (all.empty() ? "" : "|") + std::string(key);
  }
  EXPECT_EQ(ppi_sort_keys(PPI_STYLE_PADDLE), all);
  for (const char *key :
       {"cpu_time", "cuda_time", "device_time", "cpu_time_total",
        "cuda_time_total", "device_time_total", "self_cpu_time_total",
        "self_cuda_time_total", "self_device_time_total", "cpu_memory_usage",
        "self_cpu_memory_usage", "cuda_memory_usage", "device_memory_usage",
        "self_cuda_memory_usage", "self_device_memory_usage", "count"})
    EXPECT_TRUE(ppi_sort_is_known(PPI_STYLE_TORCH, key)) << key;
  EXPECT_STREQ(ppi_sort_keys(PPI_STYLE_TORCH),
               "cpu_time|cuda_time|cpu_time_total|cuda_time_total|"
               "self_cpu_time_total|self_cuda_time_total|cpu_memory_usage|"
               "self_cpu_memory_usage|cuda_memory_usage|"
               "self_cuda_memory_usage|count");
  for (const char *key :
       {"total", "avg", "med", "min", "max", "std", "instances"})
    EXPECT_TRUE(ppi_sort_is_known(PPI_STYLE_NSYS, key)) << key;
  EXPECT_STREQ(ppi_sort_keys(PPI_STYLE_NSYS),
               "total|avg|med|min|max|std|instances");
  EXPECT_FALSE(ppi_sort_is_known(PPI_STYLE_PADDLE, ""));
  EXPECT_EQ(Figures().Csv("operator", "count"),
            pprof_status_string(PPROF_STATUS_INVALID));
}

TEST(SortTest, TiesAreByNameAndCategory) {
  Figures figures;
  for (const char *name : {"b", "c", "a"}) {
    figures.Host(PPROF_CATEGORY_USER_DEFINED, name, {5}, {1});
    figures.Host(PPROF_CATEGORY_PYTHON_USER_DEFINED, name, {5}, {1});
  }
  for (const char *key : kPaddleKeys)
    EXPECT_EQ(Figures::Rows(figures.Csv("userdefined", key), {0, 1}),
              "a,PythonUserDefined\na,UserDefined\nb,PythonUserDefined\n"
              "b,UserDefined\nc,PythonUserDefined\nc,UserDefined\n")
        << key;
}

TEST(SortTest, MeansAreComparedExactly) {
  Figures figures;
  uint64_t huge = uint64_t{1} << 62;
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "a", {huge, huge, huge - 2});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "b", {huge, huge - 1});
  EXPECT_EQ(Order(figures.Csv("userdefined", "cpu-avg")), "ba");
}

TEST(TopTest, CutsTheRowsOfEachBlock) {
  Figures figures;
  Fill(&figures, PPROF_CATEGORY_OPERATOR, "");
  Fill(&figures, PPROF_CATEGORY_USER_DEFINED, "memcpy");
  figures.Device(PPROF_CATEGORY_MEMCPY, "x", {1});
  figures.Device(PPROF_CATEGORY_MEMSET, "y", {2});
  EXPECT_EQ(Order(figures.Csv("operator", nullptr, 2)), "da");
  EXPECT_EQ(Order(figures.Csv("operator", "cpu-min", 3)), "cad");
  EXPECT_EQ(Order(figures.Csv("memory_manipulation", nullptr, 1)), "dy");
  for (const char *name : {"a", "b", "c"})
    for (bool is_reserved : {false, true})
      figures.Memory("cpu", name, is_reserved, {1, 0, 8, 0});
  EXPECT_EQ(Figures::Rows(figures.Csv("memory", nullptr, 2), {0, 2, 5}),
            ",Allocated,24\na,Allocated,8\nb,Allocated,8\n"
            ",Reserved,24\na,Reserved,8\nb,Reserved,8\n");
  for (long all : {0L, -1L, 4L, 5L, LONG_MIN, LONG_MAX})
    EXPECT_EQ(Order(figures.Csv("operator", nullptr, all)), "dacb") << all;
  // Ratios stay those of all rows.
  EXPECT_EQ(Figures::Rows(figures.Csv("operator", nullptr, 1), {0, 8}),
            "d,31.632653\n");
}

TEST(SortTest, AKeyThatTheTableLacksIsAColumn) {
  Figures figures;
  Fill(&figures, PPROF_CATEGORY_OPERATOR, "");
  figures.Device(PPROF_CATEGORY_KERNEL, "k", {1, 2, 7});
  figures.Device(PPROF_CATEGORY_MEMSET, "m", {1});
  figures.Host(PPROF_CATEGORY_USER_DEFINED, "memcpy", {1});
  struct {
    const char *key, *heading, *value;
  } expected[] = {{"self", "CPU Self", "60.00"},
                  {"p50", "CPU P50", "60.00*"},
                  {"p90", "CPU P90", "60.00*"},
                  {"p99", "CPU P99", "60.00*"},
                  {"std", "CPU Std", "-"}};
  for (auto &at : expected) {
    std::string table = figures.Table("operator", at.key);
    EXPECT_TRUE(Figures::HasLine(
        table,
        "Name Calls CPU Total / Avg / Max / Min / Ratio(%) GPU Total / "
        "Avg / Max / Min / Ratio(%) FLOPs " +
            std::string(at.heading)))
        << table;
    EXPECT_TRUE(Figures::HasLine(
        table,
        "b 1 60.00 / 60.00 / 60.00 / 60.00 / 20.41 9.00 / 9.00 / 9.00 / "
        "9.00 / 15.25 - " +
            std::string(at.value)))
        << table;
  }
  std::string table = figures.Table("kernel", "p90");
  EXPECT_TRUE(Figures::HasLine(
      table, "Name Calls GPU Total / Avg / Max / Min / Ratio(%) GPU P90"));
  EXPECT_TRUE(
      Figures::HasLine(table, "k 3 10.00 / 3.33 / 7.00 / 1.00 / 100.00 7.00*"))
      << table;
  table = figures.Table("memory_manipulation", "p90");
  EXPECT_TRUE(Figures::HasLine(table,
                               "m 1 - / - / - / - / - 1.00 / 1.00 / 1.00 / "
                               "1.00 / 0.25 -"))
      << table;
  for (const char *key : {"cpu-total", "gpu-min", "calls"})
    EXPECT_EQ(figures.Table("operator", key).find("FLOPs  "),
              std::string::npos);
  EXPECT_EQ(figures.Table("kernel", "self"), figures.Table("kernel"));
}

TEST(DeviationTest, IsThatOfASampleToTheNearest) {
  auto deviation = [](Times times) {
    ppi_spread spread = {};
    Figures::Fill(&spread, times);
    ppi_cell cell = ppi_cell_deviation(&spread);
    return cell.kind == PPI_CELL_NONE ? int64_t{-1} : cell.value;
  };
  EXPECT_EQ(deviation({}), -1);
  EXPECT_EQ(deviation({5}), -1);
  EXPECT_EQ(deviation({5, 5}), 0);
  EXPECT_EQ(deviation({2, 4, 4, 4, 5, 5, 7, 9}), 2);  // 2.138
  EXPECT_EQ(deviation({0, 2}), 1);                    // 1.414
  EXPECT_EQ(deviation({0, 9, 18}), 9);
  EXPECT_EQ(deviation({0, 5}), 4);                          // 3.536
  EXPECT_EQ(deviation({1000000000000, 1000000000001}), 1);  // 0.707
  // Too long for the product of 128 bits.
  uint64_t huge = uint64_t{1} << 63;
  EXPECT_NEAR(static_cast<double>(deviation({0, huge})), 6.5219e18, 1e15);
}

}  // namespace
