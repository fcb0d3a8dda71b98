// SPDX-License-Identifier: Apache-2.0
//
// The device benchmark's statistics and its JSON; no device is needed.
#include "bench/device_report.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace {

class Values {
 public:
  explicit Values(std::initializer_list<double> values) {
    for (double value : values) bench_values_add(&values_, value);
  }
  Values(size_t num, double step) {
    for (size_t i = 0; i < num; i++)
      bench_values_add(&values_, step * static_cast<double>(i));
  }
  ~Values() {
    bench_values_clear(&values_);
  }
  const bench_values *get() const {
    return &values_;
  }

 private:
  bench_values values_ = {nullptr, 0, 0};
};

double QuantileOf(const Values &values, double q) {
  return bench_quantile(values.get()->at, values.get()->num, q);
}

TEST(StatsTest, MedianIsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_DOUBLE_EQ(QuantileOf(Values({3, 1, 2}), 0.5), 2);
  EXPECT_DOUBLE_EQ(QuantileOf(Values({4, 1, 3, 2}), 0.5), 2.5);
  EXPECT_DOUBLE_EQ(QuantileOf(Values({7}), 0.5), 7);
  EXPECT_TRUE(std::isnan(QuantileOf(Values({}), 0.5)));
}

TEST(StatsTest, QuantilesLieBetweenTheNearestRanks) {
  Values values({50, 10, 40, 20, 30});
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0), 10);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.1), 14);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 1), 50);
}

TEST(StatsTest, QuantileLeavesTheOrderAlone) {
  Values values({3, 1, 2});
  QuantileOf(values, 0.5);
  EXPECT_EQ(values.get()->at[0], 3);
  EXPECT_EQ(values.get()->at[1], 1);
}

TEST(StatsTest, ShareWithinCountsTheLimitItself) {
  Values values({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(bench_share_within(values.get()->at, 4, 3), 0.75);
  EXPECT_TRUE(std::isnan(bench_share_within(nullptr, 0, 3)));
}

TEST(SeriesTest, ShortOneKeepsItsSamplesInOrder) {
  Values values({3, 1, 2});
  bench_series series;
  bench_series_make(&series, "s", "us", values.get()->at, 3);
  ASSERT_NE(series.samples, nullptr);
  EXPECT_EQ(series.samples[0], 3);
  EXPECT_EQ(series.samples[2], 2);
  bench_series_clear(&series);
}

// 0, 1, ... 1000: the outer 0.1 % on each side is one value.
TEST(SeriesTest, LongOneBecomesQuantilesAndBins) {
  Values values(1001, 1);
  bench_series series;
  bench_series_make(&series, "s", "us", values.get()->at, 1001);
  EXPECT_EQ(series.samples, nullptr);
  EXPECT_DOUBLE_EQ(series.quantiles[5], 500);
  EXPECT_DOUBLE_EQ(series.quantiles[9], 990);
  EXPECT_EQ(series.below, 1u);
  EXPECT_EQ(series.above, 1u);
  uint64_t binned = 0;
  for (uint64_t bin : series.bins) binned += bin;
  EXPECT_EQ(binned, 999u);
  // 998 wide in 40 bins: 24.95 each.
  EXPECT_EQ(series.bins[0], 25u);
  bench_series_clear(&series);
}

TEST(SeriesTest, EqualValuesShareOneBin) {
  Values values(BENCH_MAX_SAMPLES + 1, 0);
  bench_series series;
  bench_series_make(&series, "s", "us", values.get()->at,
                    BENCH_MAX_SAMPLES + 1);
  EXPECT_EQ(series.bins[0], static_cast<uint64_t>(BENCH_MAX_SAMPLES + 1));
  bench_series_clear(&series);
}

std::string Json(const bench_report &report) {
  char *text = nullptr;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  EXPECT_TRUE(bench_report_write_json(&report, out));
  fclose(out);
  std::string json(text, len);
  free(text);
  return json;
}

TEST(ReportTest, JsonHoldsRowsFiguresAndSeries) {
  bench_report *report =
      static_cast<bench_report *>(calloc(1, sizeof(bench_report)));
  ASSERT_NE(report, nullptr);
  bench_fact_add(report, "gpu", "a \"b\"\\\n");
  bench_row *row = bench_row_add(report, "host", "host_1", "cost");
  row->figure = 1.25;
  bench_row_figure(row, "n", 3);
  Values values({1, 2});
  bench_row_series(row, "s", "us", values.get());
  bench_row_judge(row, "<= 1", false);
  EXPECT_EQ(Json(*report),
            "{\"schema\": \"pprof.bench.device/1\",\n"
            "\"gpu\": \"a \\\"b\\\"\\\\\\u000a\",\n"
            "\"rows\": [\n"
            "{\"part\": \"host\", \"id\": \"host_1\", \"what\": \"cost\", "
            "\"bound\": \"<= 1\", \"verdict\": \"not met\", \"unit\": \"\", "
            "\"figure_unit\": \"\", \"control\": null, \"value\": null, "
            "\"figure\": 1.25, \"spread\": null,\n"
            "  \"figures\": {\"n\": 3},\n"
            "  \"series\": [{\"name\": \"s\", \"unit\": \"us\", \"num\": 2, "
            "\"samples\": [1,2]}]}]}\n");
  bench_report_clear(report);
  free(report);
}

TEST(ReportTest, JsonOfALongSeriesIsBounded) {
  bench_report *report =
      static_cast<bench_report *>(calloc(1, sizeof(bench_report)));
  ASSERT_NE(report, nullptr);
  bench_row *row = bench_row_add(report, "p", "i", "w");
  Values values(100000, 1.0 / 3);
  bench_row_series(row, "s", "us", values.get());
  std::string json = Json(*report);
  EXPECT_LT(json.size(), 1500u);
  EXPECT_NE(json.find("\"num\": 100000"), std::string::npos);
  EXPECT_NE(json.find("\"0.5\": 16666.5"), std::string::npos);
  bench_report_clear(report);
  free(report);
}

TEST(ReportTest, FullDiskIsAnError) {
  bench_report *report =
      static_cast<bench_report *>(calloc(1, sizeof(bench_report)));
  ASSERT_NE(report, nullptr);
  FILE *full = fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  EXPECT_FALSE(bench_report_write_json(report, full));
  fclose(full);
  free(report);
}

}  // namespace
