// SPDX-License-Identifier: Apache-2.0
#include "print/report_print.h"

#include <gtest/gtest.h>

#include <clocale>
#include <sstream>
#include <string>

#include "report_text.h"
#include "scenario_s.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

std::string Take(ppi_page *page) {
  std::string text(page->bytes ? page->bytes : "", page->len);
  EXPECT_FALSE(page->failed);
  ppi_page_clear(page);
  return text;
}

std::string Fixed(double value, int decimals) {
  ppi_page page = {};
  ppi_page_fixed(&page, value, decimals);
  return Take(&page);
}

std::string Short(double value) {
  ppi_page page = {};
  ppi_page_short(&page, value);
  return Take(&page);
}

std::string Escaped(void (*put)(ppi_page *, const char *), const char *name) {
  ppi_page page = {};
  put(&page, name);
  return Take(&page);
}

TEST(PageTest, NumbersAreLocaleFree) {
  EXPECT_EQ(Fixed(2.675, 2), "2.67");  // the double lies below
  EXPECT_EQ(Fixed(-0.5, 2), "-0.50");
  EXPECT_EQ(Fixed(2, 0), "2");
  EXPECT_EQ(Short(100), "100.0");
  EXPECT_EQ(Short(37.5), "37.5");
  EXPECT_EQ(Short(0.1234567), "0.123457");
  EXPECT_EQ(Short(0), "0.0");
  const char *names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  for (const char *name : names) {
    if (!setlocale(LC_NUMERIC, name)) continue;
    EXPECT_EQ(Fixed(1.25, 2), "1.25");
  }
  setlocale(LC_NUMERIC, "C");
}

TEST(PageTest, NamesInTablesCannotMoveTheCursor) {
  EXPECT_EQ(Escaped(ppi_page_visible, "a\x1b[31mb\n\t\x7f"),
            "a\\x1B[31mb\\x0A\\x09\\x7F");
  EXPECT_EQ(Escaped(ppi_page_visible, "\u202egnp\u2066\u200b"),
            "\\u{202E}gnp\\u{2066}\\u{200B}");
  EXPECT_EQ(Escaped(ppi_page_visible,
                    "\xc2\x9b"
                    "31m"),
            "\\u{9B}31m");
  EXPECT_EQ(Escaped(ppi_page_visible, "caf\u00e9 \u6a21\u578b"),
            "caf\u00e9 \u6a21\u578b");
  EXPECT_EQ(Escaped(ppi_page_visible, "\xff\xc3"), "\\xFF\\xC3");
}

TEST(PageTest, JsonStringsAreValidForAnyBytes) {
  EXPECT_EQ(Escaped(ppi_page_json, "a\"b\\c\n\x01"),
            "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(Escaped(ppi_page_json, "\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82"),
            "\"\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"");
  EXPECT_EQ(Escaped(ppi_page_json, "\u6a21\U0001f600"), "\"\u6a21\U0001f600\"");
  EXPECT_EQ(Escaped(ppi_page_json, "</script>\u202e\U000e0041"),
            "\"\\u003c/script>\\u202e\\udb40\\udc41\"");
}

TEST(PageTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(Escaped(ppi_page_csv, "plain"), "plain");
  EXPECT_EQ(Escaped(ppi_page_csv, "a,b"), "\"a,b\"");
  EXPECT_EQ(Escaped(ppi_page_csv, "say \"x\"\n"), "\"say \"\"x\"\"\\x0A\"");
  EXPECT_EQ(Escaped(ppi_page_csv, "a\x1b[0m,\u202e"),
            "\"a\\x1B[0m,\\u{202E}\"");
  EXPECT_EQ(Escaped(ppi_page_csv, " x"), "\" x\"");
}

TEST(PageTest, MarkdownEscapesMarkup) {
  EXPECT_EQ(Escaped(ppi_page_markdown, "a|b*c`"), "a\\|b\\*c\\`");
}

TEST(PageTest, MeansAreRoundedToTheNearest) {
  auto integer = [](int64_t value, uint64_t divisor) {
    ppi_page page = {};
    ppi_cell cell = {};
    cell.kind = PPI_CELL_TIME;
    cell.value = value;
    cell.divisor = divisor;
    ppi_page_integer(&page, &cell);
    return Take(&page);
  };
  EXPECT_EQ(integer(10, 3), "3");
  EXPECT_EQ(integer(11, 3), "4");
  EXPECT_EQ(integer(-11, 3), "-4");
  EXPECT_EQ(integer(5, 2), "3");
  EXPECT_EQ(integer(INT64_MAX, 1), "9223372036854775807");
}

TEST(TableTest, ColumnsGrowWithTheirTexts) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 10);
  feed.Range(1, "\u6a21\u578b-\x1b", PPROF_CATEGORY_USER_DEFINED, 0,
             uint64_t{1} << 62);
  std::string table = Report(feed).Table("userdefined", PPI_TIME_NS);
  EXPECT_NE(table.find("\n---------  ------  ----"), std::string::npos)
      << table;
  EXPECT_NE(table.find("\n\u6a21\u578b-\\x1B  1       46116860184273879"),
            std::string::npos)
      << table;
}

TEST(TableTest, WithoutDevicesThereIsNoDevicePart) {
  EventFeed feed;
  feed.Range(0, "x", PPROF_CATEGORY_OPERATOR, 0, 1);
  std::string table = Report(feed).Table("overview");
  EXPECT_EQ(table.find("GPU Time\n"), std::string::npos);
}

TEST(TableTest, ModelNeedsTwoPhasesUnlessNamed) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Range(1, "f", PPROF_CATEGORY_FORWARD, 0, 1);
  Report report(feed);
  EXPECT_NE(report.Table(nullptr).find(
                "\nModel Summary: fewer than two kinds of phase (ProfileStep, "
                "Forward, ...)\n"),
            std::string::npos)
      << report.Table(nullptr);
  EXPECT_NE(report.Table("model").find("-Model Summary-"), std::string::npos);
  EXPECT_NE(report.Json("model").find("[\"Forward\",1,1,"), std::string::npos);
  EXPECT_EQ(report.Json("model").find("reason"), std::string::npos);
}

// One line each, in the order of the views; nothing of Queue and Messages.
TEST(TableTest, SaysWhyViewsAreEmpty) {
  EventFeed feed;
  std::string table = Report(feed).Table(nullptr);
  const char *reasons =
      "Overview Summary: no ranges\n"
      "Model Summary: fewer than two kinds of phase (ProfileStep, Forward, "
      "...)\n"
      "Distribution Summary: no communication: no ranges of category "
      "Communication or marked so\n"
      "Operator Summary: no ranges of category Operator\n"
      "Kernel Summary: no kernel records: nothing was recorded on a device\n"
      "Memory Manipulation Summary: no range named memcpy, memorycopy or "
      "memset, and no records of copies\n"
      "UserDefined Summary: no ranges of category UserDefined or "
      "PythonUserDefined\n"
      "Memory Summary: no memory events: no counters of category Memory\n"
      "Perf Summary: no whole steps: the program marked none\n"
      "\nTrust: ";
  EXPECT_NE(table.find(reasons), std::string::npos) << table;
  EXPECT_EQ(
      Report(feed)
          .Table("kernel,memory")
          .find("Kernel Summary: no kernel records: nothing was recorded on a "
                "device\nMemory Summary: "),
      0u);
}

TEST(JsonTest, WhoNamesAnEmptyViewReadsWhy) {
  EventFeed feed;
  for (auto kind = ppi_view_kinds(); *kind; kind++) {
    const std::string json = Report(feed).Json((*kind)->name);
    EXPECT_EQ(json.find("\"rows\":[]") != std::string::npos,
              json.find("\"reason\":\"") != std::string::npos)
        << (*kind)->name << json;
  }
}

TEST(JsonTest, SaysWhyViewsAreEmpty) {
  EventFeed feed;
  EXPECT_NE(Report(feed)
                .Json("operator")
                .find("\"at_max\"}],\"rows\":[],\"reason\":\"no ranges of "
                      "category Operator\"}}"),
            std::string::npos)
      << Report(feed).Json("operator");
  feed.Range(0, "x", PPROF_CATEGORY_OPERATOR, 0, 1);
  EXPECT_EQ(Report(feed).Json("operator").find("reason"), std::string::npos);
}

TEST(MarkdownTest, SaysWhyViewsAreEmpty) {
  EventFeed feed;
  EXPECT_EQ(Report(feed)
                .Write(PPI_FORMAT_MARKDOWN, "operator,kernel")
                .find("## Operator Summary\n\nno ranges of category "
                      "Operator\n\n## Kernel Summary\n\nno kernel records"),
            0u);
}

TEST(ViewTest, AreInPaddlesOrder) {
  std::string names;
  for (auto kind = ppi_view_kinds(); *kind; kind++)
    names += std::string((*kind)->name) + " ";
  EXPECT_EQ(0u, names.find("device overview model distributed operator kernel "
                           "memory_manipulation userdefined memory perf "))
      << names;
}

// Nested brackets and quotes close, and every row has a cell for each column.
void CheckJson(const std::string &json) {
  std::string open;
  size_t columns = 0, cells = 0;
  bool is_text = false, is_row = false;
  for (size_t i = 0; i < json.size(); i++) {
    char c = json[i];
    if (is_text) {
      if (c == '\\') i++;
      if (c == '"') is_text = false;
      continue;
    }
    if (c == '"') is_text = true;
    if (json.compare(i, 11, "\"columns\":[") == 0) columns = 0;
    if (json.compare(i, 8, "\"name\":\"") == 0) columns++;
    if (c == '{' || c == '[') open += c == '{' ? '}' : ']';
    if (c == '[' && json[i - 1] == '\n') {
      is_row = true;
      cells = 1;
    }
    if (c == ',' && is_row) cells++;
    if (c == '}' || c == ']') {
      ASSERT_FALSE(open.empty()) << json.substr(0, i);
      ASSERT_EQ(open.back(), c) << json.substr(0, i);
      open.pop_back();
    }
    if (c == ']' && is_row) {
      is_row = false;
      ASSERT_EQ(cells, columns) << json.substr(0, i);
    }
  }
  EXPECT_TRUE(open.empty() && !is_text) << json;
}

// Markdown escapes, CSV quotes.
size_t CountFields(const std::string &line, char separator) {
  size_t fields = 1;
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); i++) {
    if (separator == '|' && line[i] == '\\')
      i++;
    else if (separator == ',' && line[i] == '"')
      is_quoted = !is_quoted;
    else if (line[i] == separator && !is_quoted)
      fields++;
  }
  return fields;
}

// Every line of a block has as many fields as the first.
void CheckLines(const std::string &text, char separator) {
  std::istringstream lines(text);
  size_t fields = 0;
  for (std::string line; std::getline(lines, line);) {
    bool counts = !line.empty() && line[0] != '#';
    if (separator == '|') counts = !line.empty() && line[0] == '|';
    if (!counts)
      fields = 0;
    else if (fields == 0)
      fields = CountFields(line, separator);
    else
      ASSERT_EQ(CountFields(line, separator), fields) << line;
  }
}

TEST(ViewTest, IsWellFormedInEveryFormat) {
  EventFeed feed;
  pprof_test::FillScenarioS(&feed);
  const char *wild = "a,\"b\" | {c}]\t\\";
  for (uint32_t category : {PPROF_CATEGORY_OPERATOR, PPROF_CATEGORY_KERNEL,
                            PPROF_CATEGORY_USER_DEFINED})
    feed.Range(1, wild, category, 48000000, 48500000);
  feed.OnDevice(1, 7, wild, PPROF_CATEGORY_KERNEL, 48000000, 48000000,
                48100000);
  Report report(feed);
  for (auto style : {PPI_STYLE_PADDLE, PPI_STYLE_TORCH, PPI_STYLE_NSYS}) {
    ppi_report_options options = {};
    options.style = style;
    std::string json = report.Write(PPI_FORMAT_JSON, options);
    ASSERT_EQ(json.find("{\"schema\":\"pprof.report/1\""), 0u) << json;
    CheckJson(json);
    CheckLines(report.Write(PPI_FORMAT_CSV, options), ',');
    std::string markdown = report.Write(PPI_FORMAT_MARKDOWN, options);
    CheckLines(markdown, '|');
    if (style == PPI_STYLE_PADDLE) continue;
    EXPECT_EQ(markdown.find("## "), 0u) << markdown;
  }
}

// A page that people read has no room for more.
TEST(MarkdownTest, HasAtMostEightColumns) {
  EventFeed feed;
  pprof_test::FillScenarioS(&feed);
  Report report;
  ppi_report_details details = {};
  details.requests = details.answer = details.paths = true;
  details.kernels = true;
  details.warmup = -1;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  std::string all;
  for (auto kind = ppi_view_kinds(); *kind; kind++)
    all += report.Write(PPI_FORMAT_MARKDOWN, (*kind)->name);
  for (auto style : {PPI_STYLE_ANSWER, PPI_STYLE_TREE, PPI_STYLE_TORCH,
                     PPI_STYLE_NSYS, PPI_STYLE_PADDLE}) {
    ppi_report_options options = {};
    options.style = style;
    all += report.Write(PPI_FORMAT_MARKDOWN, options);
  }
  std::istringstream lines(all);
  size_t num_rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') continue;
    ASSERT_LE(CountFields(line, '|'), 10u) << line;
    num_rows++;
  }
  EXPECT_GT(num_rows, 50u) << all;
}

TEST(ViewTest, UnknownViewsAreInvalid) {
  EventFeed feed;
  Report report(feed);
  const char *wrong[] = {"nonsense",      "",         "overview,",
                         "overview,xyz",  "over",     "overviews",
                         "model, device", ",overview"};
  for (const char *views : wrong) {
    EXPECT_EQ(pprof_report_write_table(report.get(), views, stderr),
              PPROF_STATUS_INVALID)
        << views;
    EXPECT_EQ(pprof_report_write_json(report.get(), views, stderr),
              PPROF_STATUS_INVALID);
    EXPECT_EQ(pprof_report_write_csv(report.get(), views, stderr),
              PPROF_STATUS_INVALID);
  }
}

TEST(ViewTest, FullDeviceIsAnIoError) {
  EventFeed feed;
  Report report(feed);
  FILE *full = fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(pprof_report_write_table(report.get(), nullptr, full),
            PPROF_STATUS_IO);
  fclose(full);
}

// Delays and clock errors in ns; all values here are typed by hand.
void FillQueues(EventFeed *feed) {
  feed->Lane(1, 100, "main");
  feed->Device(1, "gpu:0");
  feed->Device(2, "gpu:1");
  feed->Stream(1, 1);
  feed->Stream(2, 2);
  feed->AddWindow(0, 20000);
  auto range = [&](uint32_t stream, const char *name, uint64_t submit_ns,
                   uint64_t from_ns, uint64_t to_ns, uint64_t error_ns) {
    feed->OnDevice(1, stream, name, PPROF_CATEGORY_INFERENCE, submit_ns,
                   from_ns, to_ns)
        .device_error_ns = error_ns;
  };
  range(1, "detect", 100, 1100, 3100, 50);
  range(1, "detect", 5000, 5030, 6030, 50);  // not resolved
  range(1, "detect", 7000, 9000, 9500, 50);
  range(1, "embed", 10000, 10005, 10015, 20);  // not resolved
  range(1, "embed", 10020, 10027, 10037, 20);  // not resolved
  range(1, "embed", 10040, 10140, 10150, 20);
  range(2, "embed", 100, 110, 310, 100);     // not resolved
  range(2, "embed", 1000, 1040, 1340, 100);  // not resolved
  auto untimed = [&](const char *name, uint32_t flags) {
    feed->OnDevice(1, 1, name, PPROF_CATEGORY_INFERENCE, 11000, 0, 0).flags =
        flags | PPROF_FLAG_NO_DEVICE_TIME;
  };
  untimed("detect", PPROF_FLAG_LATE);
  untimed("graph", PPROF_FLAG_IN_GRAPH);
  // A kernel record is no range of the program's.
  feed->OnDevice(1, 1, "gemm", PPROF_CATEGORY_KERNEL, 100, 1200, 1300);
}

TEST(QueueTest, TellsDelaysThatTheClockResolves) {
  EventFeed feed;
  FillQueues(&feed);
  Report report(feed);
  auto has = [&](const char *line) {
    return report.HasLine("queue", line, PPI_TIME_NS);
  };
  EXPECT_TRUE(
      has("detect gpu:0 4 / 2 3500.00 "
          "1010.00 / 1000.00 / 2000.00*/ 2000.00 50.00"));
  EXPECT_TRUE(has("embed gpu:1 2 / 0 500.00 n/r / n/r / n/r / n/r 100.00"));
  EXPECT_TRUE(
      has("embed gpu:0 3 / 1 30.00 37.33 / n/r / 100.00*/ 100.00 20.00"));
  EXPECT_TRUE(has("graph gpu:0 1 / 0 - - / - / - / - -"));
  EXPECT_EQ(report.Table("queue").find("gemm"), std::string::npos);
}

TEST(QueueTest, HasNoValueWhereItIsNotResolved) {
  EventFeed feed;
  FillQueues(&feed);
  Report report(feed);
  EXPECT_EQ(report.Write(PPI_FORMAT_CSV, "queue"),
            "name,category,device,calls,resolved,device_total_ns,delay_avg_ns,"
            "delay_p50_ns,delay_p99_ns,delay_max_ns,clock_error_avg_ns,at_max\n"
            "detect,Inference,gpu:0,4,2,3500,1010,1000,2000,2000,50,"
            "delay_p99\n"
            "embed,Inference,gpu:1,2,0,500,,,,,100,\n"
            "embed,Inference,gpu:0,3,1,30,37,,100,100,20,delay_p99\n"
            "graph,Inference,gpu:0,1,0,,,,,,,\n");
  std::string json = report.Json("queue");
  EXPECT_NE(json.find("[\"embed\",\"Inference\",\"gpu:0\",3,1,30,37,null,"
                      "100,100,20,\"delay_p99\"]"),
            std::string::npos)
      << json;
  std::string markdown = report.Write(PPI_FORMAT_MARKDOWN, "queue");
  EXPECT_NE(markdown.find("| n/r |"), std::string::npos) << markdown;
}

// 101 calls, one of them not resolved: the median is known, and so is all
// above it; with 51 unresolved ones it is not.
TEST(QueueTest, AQuantileStandsBeyondTheUnresolvedCalls) {
  for (uint64_t unresolved : {50, 51}) {
    EventFeed feed;
    feed.Lane(1, 100, "main");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, 200000);
    for (uint64_t i = 0; i < 101; i++) {
      uint64_t submit = i * 1000, delay = i < unresolved ? i : 200 + i;
      feed.OnDevice(1, 1, "m", PPROF_CATEGORY_INFERENCE, submit, submit + delay,
                    submit + 900)
          .device_error_ns = 60;
    }
    std::string p50 = unresolved == 50 ? "250.00" : "n/r";
    std::string total = unresolved == 50 ? "75650.00" : "75850.00";
    std::string mean = unresolved == 50 ? "150.99" : "149.01";
    EXPECT_TRUE(Report(feed).HasLine(
        "queue",
        "m gpu:0 101 / " + std::to_string(101 - unresolved) + " " + total +
            " " + mean + " / " + p50 + " / 299.00 / 300.00 60.00",
        PPI_TIME_NS))
        << Report(feed).Table("queue", PPI_TIME_NS);
  }
}

TEST(QueueTest, IsShownUnaskedOnlyWithDeviceTimes) {
  EventFeed feed, with;
  feed.Step(0, 1000);
  FillQueues(&with);
  EXPECT_EQ(Report(feed).Table(nullptr).find("Queue Summary"),
            std::string::npos);
  EXPECT_NE(Report(with).Table(nullptr).find("Queue Summary"),
            std::string::npos);
  EXPECT_NE(Report(feed).Json().find("\"queue\":{"), std::string::npos);
}

}  // namespace
