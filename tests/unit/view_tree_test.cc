// SPDX-License-Identifier: Apache-2.0
//
// The tree as a text. Values are typed by hand.
#include <gtest/gtest.h>

#include <climits>
#include <random>
#include <regex>
#include <string>

#include "print/report_print.h"
#include "report_text.h"
#include "view/fit.h"
#include "view/tree_rows.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

constexpr uint64_t kUs = 1000;

class TreeTest : public testing::Test {
 protected:
  TreeTest() {
    options.style = PPI_STYLE_TREE;
    options.top = options.depth = LONG_MIN;
    feed.Lane(1, 100, "main");
    feed.Lane(3, 300, "worker");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, 1000 * kUs);
  }
  void Stage(const std::string &name, uint64_t from_us, uint64_t to_us,
             uint32_t lane = 1) {
    feed.Range(lane, name, PPROF_CATEGORY_USER_DEFINED, from_us * kUs,
               to_us * kUs);
  }
  // `shared` is called from `a` and from `b`.
  void FillTwoCallers() {
    Stage("shared", 100, 200);
    Stage("a", 0, 400);
    Stage("shared", 400, 700);
    Stage("b", 400, 900);
  }
  // The rows of the text, without what stands under them, two blanks between
  // columns: their widths are the grid's.
  std::string Rows() {
    std::string text = Written(PPI_FORMAT_TABLE);
    size_t end = text.find("\n\n");
    return Squeezed(end == std::string::npos ? text : text.substr(0, end + 1));
  }
  static std::string Squeezed(const std::string &text) {
    return std::regex_replace(text, std::regex(" {2,}"), "  ");
  }
  std::string Written(ppi_report_format format) {
    Report report;
    ppi_report_details details = {};
    ppi_report_need(&options, format, &details);
    ppi_report_set_details(report.get(), &details);
    EXPECT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    return report.Write(format, options);
  }
  EventFeed feed;
  ppi_report_options options = {};
};

TEST_F(TreeTest, ANameStandsUnderEachThatCallsIt) {
  FillTwoCallers();
  EXPECT_EQ(Rows(),
            "path  calls  total  wall  self  avg  p50  max  items/s\n"
            "b  1  500 us  50 %  200 us  500 us  500 us  500 us  2000\n"
            "└─ shared  1  300 us  30 %  300 us  300 us  300 us  300 us  -\n"
            "a  1  400 us  40 %  300 us  400 us  400 us  400 us  2500\n"
            "└─ shared  1  100 us  10 %  100 us  100 us  100 us  100 us  -\n");
}

TEST_F(TreeTest, FlatHasEachNameOnce) {
  FillTwoCallers();
  options.is_flat = true;
  options.columns = "calls,total,self,items/s";
  EXPECT_EQ(Rows(),
            "name  calls  total  self  items/s\n"
            "b  1  500 us  200 us  2000\n"
            "a  1  400 us  300 us  2500\n"
            "shared  2  400 us  400 us  5000\n");
}

TEST_F(TreeTest, DepthCutsAndSortOrders) {
  FillTwoCallers();
  options.columns = "self";
  options.depth = 1;
  options.sort = "self";
  EXPECT_EQ(Rows(),
            "path  self\n"
            "a  300 us\n"
            "b  200 us\n");
}

TEST_F(TreeTest, FilterKeepsWhatIsAroundAndInside) {
  FillTwoCallers();
  Stage("other", 910, 920);
  options.columns = "calls";
  options.filter = "sha*";
  EXPECT_EQ(Rows(),
            "path  calls\n"
            "b  1\n"
            "└─ shared  1\n"
            "a  1\n"
            "└─ shared  1\n");
  options.filter = "a";
  EXPECT_EQ(Rows(),
            "path  calls\n"
            "a  1\n"
            "└─ shared  1\n");
  options.filter = "none";
  EXPECT_EQ(
      Rows(),
      "Tree: no name fits --filter none; recorded: a, b, other, shared\n");
}

// Two threads at once: 600 of 1000 us, of 700 in all.
TEST_F(TreeTest, WallCountsAMomentOnce) {
  Stage("a", 0, 400, 1);
  Stage("a", 300, 600, 3);
  options.columns = "total,wall";
  EXPECT_EQ(Rows(),
            "path  total  wall\n"
            "a  700 us  60 %\n");
}

TEST_F(TreeTest, ManyCallsHaveAP99AndFewAGreatest) {
  for (uint64_t i = 0; i < 100; i++) Stage("many", i, i + 1);
  Stage("few", 200, 250);
  options.columns = "p99";
  EXPECT_EQ(Rows(),
            "path  p99\n"
            "many  1.00 us\n"
            "few  50.0 us*\n");
}

TEST_F(TreeTest, DeviceRangesAreSaidToBe) {
  Stage("detect", 0, 100);
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_INFERENCE, 50 * kUs, 100 * kUs,
                400 * kUs);
  options.columns = "total,device";
  EXPECT_EQ(Rows(),
            "path  total  device\n"
            "detect  100 us  300 us\n"
            "└─ k (device)  300 us  300 us\n");
}

// Where the device did not answer, its ranges are there, and no zero is.
TEST_F(TreeTest, DeviceRangesWithoutTimesAreSaidToBe) {
  Stage("detect", 0, 100);
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_INFERENCE, 50 * kUs, 0, 0).flags |=
      PPROF_FLAG_NO_DEVICE_TIME;
  options.columns = "calls,total,avg,device";
  EXPECT_EQ(Rows(),
            "path  calls  total  avg  device\n"
            "detect  1  100 us  100 us  -\n"
            "└─ k (device, no times)  1  -  -  -\n");
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_INFERENCE, 60 * kUs, 100 * kUs,
                400 * kUs);
  const std::string rows = Rows();
  EXPECT_NE(rows.find("k (device, 1 without a time)  2  300 us  300 us"),
            std::string::npos)
      << rows;
}

// gpu:0 works for 40 of 60 us; the second kernel is launched 10 us after the
// end of the first one, and starts 10 us later.
TEST_F(TreeTest, StagesOpenIntoTheirKernels) {
  Stage("detect", 0, 100);
  feed.OnDevice(1, 1, "void ns::k<int>(int)", PPROF_CATEGORY_KERNEL, 10 * kUs,
                20 * kUs, 40 * kUs);
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 50 * kUs, 60 * kUs, 80 * kUs);
  feed.OnDevice(3, 1, "alone", PPROF_CATEGORY_KERNEL, 90 * kUs, 200 * kUs,
                240 * kUs);
  options.columns = "calls,total";
  EXPECT_EQ(Rows(),
            "path  calls  total\n"
            "detect  1  100 us\n");
  options.has_kernels = true;
  options.columns = "calls,kernels,busy,busy%,idle,because,delay";
  EXPECT_EQ(Rows(),
            "path  calls  kernels  busy  busy%  idle  because  delay\n"
            "detect  1  2  40.0 us  50 %  33 %  not launched  10.0 us\n"
            "└─ · k  2  -  40.0 us  50 %  -  -  -\n"
            "(launched outside of ranges)  -  1  40.0 us  50 %  -  -  -\n"
            "└─ · alone  1  -  40.0 us  50 %  -  -  -\n");
}

// A device range that is open from 10 to 60 us and lies between events from 20
// to 100 us; its kernels run from 22 to 40 and, launched at 50, from 60 to 90.
void FillBoth(EventFeed *feed) {
  feed->OnDevice(1, 1, "detect", PPROF_CATEGORY_INFERENCE, 10 * kUs, 20 * kUs,
                 100 * kUs)
      .end_ns = 60 * kUs;
  feed->OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 15 * kUs, 22 * kUs,
                 40 * kUs);
  feed->OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 50 * kUs, 60 * kUs,
                 90 * kUs);
  feed->OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 70 * kUs, 110 * kUs,
                 120 * kUs);
}

TEST_F(TreeTest, EventsAndKernelsAnswerEachOther) {
  Stage("request", 0, 200);
  FillBoth(&feed);
  options.has_kernels = true;
  options.columns = "kernels,busy,events,idle,because";
  std::string text = Written(PPI_FORMAT_TABLE);
  // 80 between events: 18 + 30 of kernels, 10 + 10 between them, 2 before and
  // 10 behind.
  EXPECT_EQ(
      text.substr(0, text.find("\n\n") + 1),
      "path                kernels     busy   events   idle       because\n"
      "request                   3  58.0 us        -   41 %        queued\n"
      "└─ · k                    -  58.0 us        -      -             -\n"
      "└─ detect (device)        2  48.0 us  80.0 us   29 %  not launched\n");
  EXPECT_NE(text.find("\ndetect: 80.0 us between events: kernels 48.0 us, not "
                      "launched 10.0 us, launching 10.0 us, before\n  the "
                      "first and behind the last 12.0 us\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("\nrequest:"), std::string::npos) << text;
}

// A paired one's host range is the stage.
TEST_F(TreeTest, EventsOfAPairAreOfItsHostRange) {
  Stage("infer", 0, 100);
  pprof_event &pair = feed.OnDevice(1, 1, "infer", PPROF_CATEGORY_USER_DEFINED,
                                    0, 10 * kUs, 50 * kUs);
  pair.end_ns = 100 * kUs;
  pair.flags = PPROF_FLAG_PAIRED;
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 20 * kUs, 30 * kUs, 75 * kUs);
  options.has_kernels = true;
  std::string text = Written(PPI_FORMAT_TABLE);
  EXPECT_NE(text.find("\ninfer: 40.0 us between events: kernels 45.0 us, of "
                      "that outside of these events 5.00 us\n"),
            std::string::npos)
      << text;
}

// Checkpoints may come anywhere: also where a device range has come, and a
// kernel that was launched in it has not.
TEST_F(TreeTest, EventsFindTheirKernelsBeyondCheckpoints) {
  Stage("request", 0, 200);
  FillBoth(&feed);
  feed.OnDevice(3, 1, "early", PPROF_CATEGORY_INFERENCE, 210 * kUs, 220 * kUs,
                270 * kUs)
      .end_ns = 260 * kUs;
  feed.OnDevice(3, 1, "k", PPROF_CATEGORY_KERNEL, 250 * kUs, 275 * kUs,
                400 * kUs);
  options.has_kernels = true;
  std::string expected = Written(PPI_FORMAT_CSV);
  EXPECT_NE(expected.find(",device,Inference,"), std::string::npos) << expected;
  ppi_report_details details = {};
  ppi_report_need(&options, PPI_FORMAT_CSV, &details);
  for (unsigned seed = 1; seed <= 50; seed++) {
    std::mt19937_64 random(seed);
    Report report;
    ppi_report_set_details(report.get(), &details);
    ASSERT_EQ(feed.DeliverAs(report.sink(), &random, 4), PPROF_STATUS_OK);
    ASSERT_EQ(report.Write(PPI_FORMAT_CSV, options), expected) << seed;
  }
}

// Columns go first, the last ones of all; then names are cut.
TEST_F(TreeTest, FitsTheWidth) {
  Stage("a name that is far too long for a narrow terminal", 0, 100);
  options.width = 60;
  // 36 for the name, which are what 8 for calls, 9 and 7 leave of 60.
  EXPECT_EQ(Rows(),
            "path  calls  total  wall\n"
            "a name that is fa… a narrow terminal  1  100 us  10 %\n");
  options.is_wide = true;
  std::string rows = Rows();
  EXPECT_NE(rows.find("far too long for a narrow"), std::string::npos) << rows;
  EXPECT_NE(rows.find("items/s"), std::string::npos) << rows;
}

TEST_F(TreeTest, OneUnitWhereOneIsAsked) {
  Stage("a", 0, 100);
  options.columns = "total";
  options.has_time_unit = true;
  options.time_unit = PPI_TIME_MS;
  EXPECT_EQ(Rows(),
            "path  total\n"
            "a  0.10\n");
}

TEST_F(TreeTest, CsvHasThePath) {
  FillTwoCallers();
  std::string csv = Written(PPI_FORMAT_CSV);
  EXPECT_NE(csv.find(",UserDefined,b / shared,,\n"), std::string::npos) << csv;
}

std::string Fit(const char *name, size_t width) {
  ppi_page page = {};
  ppi_page_fit(&page, name, width);
  std::string text(page.bytes ? page.bytes : "", page.len);
  ppi_page_clear(&page);
  return text;
}

TEST(FitTest, CutsTheMiddle) {
  EXPECT_EQ(Fit("abc", 5), "abc  ");
  EXPECT_EQ(Fit("abcdefg", 7), "abcdefg");
  EXPECT_EQ(Fit("abcdefgh", 7), "abc…fgh");
  EXPECT_EQ(Fit("abcdefgh", 6), "ab…fgh");
  EXPECT_EQ(Fit("äöüßéèêë", 5), "äö…êë");
  EXPECT_EQ(Fit("", 3), "   ");
}

}  // namespace
