// SPDX-License-Identifier: Apache-2.0
//
// Rules at work: the event that makes one true, and all those that do not.
#include "flight/rule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "names/glob.h"

namespace {

const uint64_t kMs = 1000000, kSecond = 1000000000;

class RuleEngineTest : public testing::Test {
 protected:
  void TearDown() override {
    ppi_rule_engine_destroy(engine_);
  }
  void Rules(const std::vector<std::string> &texts) {
    std::vector<ppi_rule> rules(texts.size());
    for (size_t i = 0; i < texts.size(); i++) {
      size_t column;
      char why[100];
      ASSERT_EQ(PPROF_STATUS_OK, ppi_rule_parse(texts[i].c_str(), &rules[i],
                                                &column, why, sizeof why))
          << why;
    }
    engine_ = ppi_rule_engine_create(rules.data(), rules.size());
    ASSERT_NE(nullptr, engine_);
    ASSERT_TRUE(ppi_rule_engine_define(engine_, 1, "decode"));
    ASSERT_TRUE(ppi_rule_engine_define(engine_, 2, "prefill"));
  }
  static pprof_event Range(uint32_t site, uint64_t start_ns,
                           uint64_t duration_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = site;
    event.start_ns = start_ns;
    event.end_ns = start_ns + duration_ns;
    return event;
  }
  uint32_t Feed(const pprof_event &event) {
    return ppi_rule_engine_event(engine_, &event);
  }
  uint32_t Feed(uint32_t site, uint64_t start_ns, uint64_t duration_ns) {
    return Feed(Range(site, start_ns, duration_ns));
  }
  uint32_t FeedFlow(uint64_t flow, uint64_t start_ns, uint64_t end_ns) {
    pprof_event event = Range(2, start_ns, end_ns - start_ns);
    event.flows = &flow;
    event.num_flows = 1;
    return Feed(event);
  }
  ppi_rule_engine *engine_ = nullptr;
};

TEST_F(RuleEngineTest, AStageIsOverItsLimitNotAtIt) {
  Rules({"stage \"decode\" > 40ms", "stage \"decode\" >= 40ms"});
  EXPECT_EQ(0u, Feed(1, 0, 40 * kMs - 1));
  EXPECT_EQ(2u, Feed(1, 0, 40 * kMs));
  EXPECT_EQ(3u, Feed(1, 0, 40 * kMs + 1));
  EXPECT_EQ(0u, Feed(2, 0, 90 * kMs)) << "another stage";
  EXPECT_EQ(0u, Feed(7, 0, 90 * kMs)) << "a site nobody defined";
}

TEST_F(RuleEngineTest, ADeviceRangeCountsAsLongAsTheDeviceTook) {
  Rules({"stage \"decode\" > 40ms"});
  pprof_event event = Range(1, 0, 90 * kMs);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.device_start_ns = 5 * kMs;
  event.device_end_ns = 45 * kMs;
  EXPECT_EQ(0u, Feed(event));
  event.device_end_ns++;
  EXPECT_EQ(1u, Feed(event));
}

TEST_F(RuleEngineTest, MarksAndCountersHaveNoDuration) {
  Rules({"stage \"decode\" >= 1ns"});
  pprof_event event = Range(1, 0, 5);
  event.kind = PPROF_KIND_COUNTER;
  EXPECT_EQ(0u, Feed(event));
  event.kind = PPROF_KIND_MARK;
  EXPECT_EQ(0u, Feed(event));
}

TEST_F(RuleEngineTest, ARequestIsAllThatServesItAndIsToldOnce) {
  Rules({"request > 120ms"});
  EXPECT_EQ(0u, FeedFlow(7, 10 * kMs, 60 * kMs));
  EXPECT_EQ(0u, FeedFlow(8, 100 * kMs, 150 * kMs));
  EXPECT_EQ(0u, FeedFlow(7, 120 * kMs, 130 * kMs)) << "exactly 120 ms";
  EXPECT_EQ(1u, FeedFlow(7, 130 * kMs, 131 * kMs));
  EXPECT_EQ(0u, FeedFlow(7, 130 * kMs, 500 * kMs)) << "told already";
  // An end that comes before its begin is known makes it longer, too.
  EXPECT_EQ(1u, FeedFlow(8, 20 * kMs, 30 * kMs));
}

TEST_F(RuleEngineTest, RequestsAreForgottenNotGathered) {
  Rules({"request > 120ms"});
  EXPECT_EQ(0u, FeedFlow(1, 0, 1 * kMs));
  for (uint64_t flow = 2; flow < 200000; flow++)
    ASSERT_EQ(0u, FeedFlow(flow, flow * kMs, flow * kMs + 1));
  EXPECT_EQ(0u, FeedFlow(1, 200000 * kMs, 200001 * kMs));
}

// 100 values a second.
TEST_F(RuleEngineTest, AQuantileHoldsOnceMoreThanItsShareIsAbove) {
  Rules({"p99(\"decode\", 10s) > 30ms"});
  uint64_t now = 0;
  uint32_t held = 0;
  for (int i = 0; i < 2000; i++, now += 10 * kMs)
    held |= Feed(1, now, i % 200 == 0 ? 31 * kMs : 1 * kMs);
  EXPECT_EQ(0u, held) << "the slowest half a percent";
  for (int i = 0; i < 2000; i++, now += 10 * kMs)
    held |= Feed(1, now, i % 50 == 0 ? 31 * kMs : 1 * kMs);
  EXPECT_EQ(1u, held);
}

TEST_F(RuleEngineTest, AQuantileWaitsUntilItsTimeHasPassed) {
  Rules({"p50(\"decode\", 10s) > 30ms"});
  EXPECT_EQ(0u, Feed(1, 0, 31 * kMs));
  EXPECT_EQ(0u, Feed(1, 9 * kSecond, 31 * kMs));
  EXPECT_EQ(1u, Feed(1, 10 * kSecond, 31 * kMs));
}

TEST_F(RuleEngineTest, AQuantileForgetsWhatIsOlderThanItsTime) {
  Rules({"p50(\"decode\", 10s) > 30ms"});
  for (uint64_t i = 0; i < 100; i++) Feed(1, i * kMs, 31 * kMs);
  for (uint64_t i = 0; i < 50; i++)
    EXPECT_EQ(0u, Feed(1, 30 * kSecond + i * kMs, 1 * kMs));
  EXPECT_EQ(0u, Feed(1, 31 * kSecond, 31 * kMs)) << "one of 51";
}

TEST_F(RuleEngineTest, ANameMayBeHashedAndSaysSo) {
  Rules({"stage \"secret\" > 1ms"});
  char hash[PPI_NAME_HASH];
  ppi_name_hash("secret", hash);
  EXPECT_FALSE(ppi_rule_engine_is_hashed(engine_, 0));
  ASSERT_TRUE(ppi_rule_engine_define(engine_, 3, hash));
  EXPECT_TRUE(ppi_rule_engine_is_hashed(engine_, 0));
  EXPECT_EQ(1u, Feed(3, 0, 2 * kMs));
}

TEST_F(RuleEngineTest, TheLastOfAsManyRulesAsThereMayBe) {
  std::vector<std::string> texts(31, "stage \"prefill\" > 1ms");
  texts.push_back("stage \"decode\" > 1ms");
  Rules(texts);
  EXPECT_EQ(0x80000000u, Feed(1, 0, 2 * kMs));
}

TEST_F(RuleEngineTest, ASiteThatIsRenamedIsAnotherStage) {
  Rules({"stage \"decode\" > 1ms"});
  ASSERT_TRUE(ppi_rule_engine_define(engine_, 1, "other"));
  EXPECT_EQ(0u, Feed(1, 0, 2 * kMs));
}

}  // namespace
