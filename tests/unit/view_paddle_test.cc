// SPDX-License-Identifier: Apache-2.0
//
// The views that Paddle has too, where tests/oracle, which has each cell, does
// not look.
#include "view_figures.h"

namespace {

using pprof_test::Figures;
using pprof_test::Times;

constexpr uint64_t kMs = 1000000;
constexpr uint32_t kOperator = PPROF_CATEGORY_OPERATOR;
constexpr uint32_t kUser = PPROF_CATEGORY_USER_DEFINED;

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

TEST(MemoryManipulationTest, AMarkedDeviceRangeIsACall) {
  Figures figures;
  ppi_report_name *row = figures.Name(kUser, "memcpy");
  Figures::Fill(&row->submit, {3, 5});
  Figures::Fill(&row->device, {50, 60});
  Figures::Fill(&row->inside, {50, 60});
  EXPECT_EQ(Figures::Rows(figures.Csv("memory_manipulation"), {0, 2, 3, 8, 14}),
            "memcpy,2,8,110,\n");
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
