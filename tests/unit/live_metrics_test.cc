// SPDX-License-Identifier: Apache-2.0
//
// Figures of a running process in Prometheus' text format and in OpenMetrics.
#include "live/live_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "live/live.h"
#include "schema/schema.h"
#include "tests/support/event_feed.h"

namespace pprof_test {
namespace {

constexpr uint64_t kMs = 1000000;

class LiveMetricsTest : public ::testing::Test {
 protected:
  // The page of one process after `feed`.
  std::string Page(EventFeed *feed, ppi_metrics_options options) {
    const uint64_t bounds[] = {1 * kMs, 1000 * kMs};
    const ppi_live_options how = {bounds, 2, nullptr, nullptr};
    ppi_live *live = nullptr;
    ppi_live_view view;
    ppi_page page = {};
    EXPECT_EQ(PPROF_STATUS_OK, ppi_live_create(&how, &live));
    const int fd = ppi_live_watch(live);
    EXPECT_EQ(PPROF_STATUS_OK, feed->Deliver(ppi_live_sink(live)));
    EXPECT_TRUE(ppi_live_read(fd, &view));
    const ppi_metrics_process process = {42, "a \"name\"", &view};
    ppi_live_metrics(&process, 1, &options, &page);
    const std::string text(page.bytes, page.len);
    ppi_page_clear(&page);
    ppi_live_view_clear(&view);
    close(fd);
    ppi_live_sink(live)->destroy(ppi_live_sink(live));
    return text;
  }
  // The value of a sample with these labels behind the process's own.
  static std::string Value(const std::string &page, const std::string &name,
                           const std::string &labels) {
    const std::string line =
        "\n" + name + "{pid=\"42\",process=\"a \\\"name\\\"\"" + labels + "} ";
    const size_t at = page.find(line);
    if (at == std::string::npos) return "(none)";
    const size_t from = at + line.size();
    return page.substr(from, page.find('\n', from) - from);
  }
  static const std::string kStage;
};
const std::string LiveMetricsTest::kStage =
    ",stage=\"decode\",category=\"Preprocess\",timed=\"host\"";

TEST_F(LiveMetricsTest, AHistogramAddsUp) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  feed.AddWindow(0, 9000 * kMs);
  for (uint64_t ns : {kMs / 2, kMs, kMs + 1, 2000 * kMs})
    feed.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, ns);
  feed.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, 5).flags =
      PPROF_FLAG_ABANDONED;
  const std::string page = Page(&feed, {false, 200});
  const std::string bucket = "pprof_stage_duration_seconds_bucket";
  EXPECT_EQ("2", Value(page, bucket, kStage + ",le=\"0.001\""));
  EXPECT_EQ("3", Value(page, bucket, kStage + ",le=\"1\""));
  EXPECT_EQ("4", Value(page, bucket, kStage + ",le=\"+Inf\""));
  EXPECT_EQ("4", Value(page, "pprof_stage_duration_seconds_count", kStage));
  // 0.5 + 1 + 1.000001 + 2000 ms.
  EXPECT_EQ("2.002500001",
            Value(page, "pprof_stage_duration_seconds_sum", kStage));
  EXPECT_EQ("1", Value(page, "pprof_stage_cut_total", kStage));
  EXPECT_EQ("0", Value(page, "pprof_stages_in_other", ""));
  EXPECT_EQ(std::string::npos, page.find("# EOF"));
}

TEST_F(LiveMetricsTest, OpenMetricsHasTheSlowestRequest) {
  EventFeed feed;
  const uint64_t flow = 77;
  feed.Lane(1, 100, "worker");
  feed.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 0, 10);
  pprof_event &slow =
      feed.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 100 * kMs, 350 * kMs);
  slow.flows = &flow;
  slow.num_flows = 1;
  const std::string page = Page(&feed, {true, 200});
  const std::string bucket = "pprof_stage_duration_seconds_bucket";
  EXPECT_EQ("1", Value(page, bucket, kStage + ",le=\"0.001\""));
  EXPECT_EQ("2 # {flow=\"77\"} 0.25 0.35",
            Value(page, bucket, kStage + ",le=\"1.0\""));
  EXPECT_EQ("2", Value(page, bucket, kStage + ",le=\"+Inf\""));
  EXPECT_NE(std::string::npos, page.find("\n# TYPE pprof_lost counter\n"));
  EXPECT_EQ("0", Value(page, "pprof_lost_total", ""));
  EXPECT_EQ(page.size() - 6, page.find("# EOF\n"));
}

// As many series as were asked for, whatever names there are; in the order in
// which they came, so that none ever goes down.
TEST_F(LiveMetricsTest, StagesBeyondAreOne) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  for (int i = 0; i < 10; i++)
    for (int j = 0; j <= i; j++)
      feed.Range(1, "s" + std::to_string(i), PPROF_CATEGORY_OPERATOR, 0, kMs);
  const std::string page = Page(&feed, {false, 3});
  const auto count = [&](const std::string &stage,
                         const std::string &category) {
    return Value(page, "pprof_stage_duration_seconds_count",
                 ",stage=\"" + stage + "\",category=\"" + category +
                     "\",timed=\"host\"");
  };
  EXPECT_EQ("1", count("s0", "Operator"));
  EXPECT_EQ("3", count("s2", "Operator"));
  EXPECT_EQ("(none)", count("s3", "Operator"));
  EXPECT_EQ("49", count("<other>", ""));  // 4 + ... + 10
  EXPECT_EQ("7", Value(page, "pprof_stages_in_other", ""));
}

TEST_F(LiveMetricsTest, LabelsCannotBeBrokenOutOf) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  feed.Range(1, "a\"} 1\nb{x=\"\\\xff", PPROF_CATEGORY_OPERATOR, 0, 5);
  const std::string page = Page(&feed, {false, 200});
  EXPECT_NE(std::string::npos,
            page.find("stage=\"a\\\"} 1\\\\x0Ab{x=\\\"\\\\\\\\xFF\"") ==
                    std::string::npos
                ? page.find("stage=\"a\\\"} 1")
                : 0u);
  EXPECT_EQ(std::string::npos, page.find("\nb{"));
}

TEST_F(LiveMetricsTest, Buckets) {
  uint64_t bounds[PPI_LIVE_MAX_BOUNDS];
  const auto read = [&](const char *text) {
    return ppi_metrics_bounds(text, ppi_parse_duration, bounds);
  };
  EXPECT_EQ(16u, read("usual"));
  EXPECT_TRUE(std::is_sorted(bounds, bounds + 16));
  // OpenTelemetry: 0.01, 0.02, ... 81.92 s.
  EXPECT_EQ(14u, read("genai"));
  EXPECT_EQ(10 * kMs, bounds[0]);
  EXPECT_EQ(81920 * kMs, bounds[13]);
  EXPECT_EQ(3u, read(" 1ms 10ms  1s"));
  EXPECT_EQ(1000 * kMs, bounds[2]);
  for (const char *wrong : {"", " ", "1ms 1ms", "2ms 1ms", "1", "0us", "often"})
    EXPECT_EQ(0u, read(wrong)) << wrong;
  std::string many;
  for (int i = 1; i <= 25; i++) many += std::to_string(i) + "ms ";
  EXPECT_EQ(0u, read(many.c_str()));
}

}  // namespace
}  // namespace pprof_test
