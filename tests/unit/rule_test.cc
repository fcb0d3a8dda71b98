// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's rules: what each form means. tests/data/rules/bad.txt
// has the refusals.
#include "flight/rule.h"

#include <gtest/gtest.h>

#include <string>

namespace {

struct Parsed {
  pprof_status status;
  ppi_rule rule;
  size_t column;
  std::string why;
};

Parsed Parse(const std::string &text) {
  Parsed parsed = {PPROF_STATUS_OK, {}, 0, ""};
  char why[256] = "";
  parsed.status = ppi_rule_parse(text.c_str(), &parsed.rule, &parsed.column,
                                 why, sizeof why);
  parsed.why = why;
  return parsed;
}

std::string Refusal(const std::string &text) {
  Parsed parsed = Parse(text);
  EXPECT_EQ(PPROF_STATUS_INVALID, parsed.status) << text;
  return std::to_string(parsed.column) + ": " + parsed.why;
}

TEST(RuleTest, AStageHasANameAndALimit) {
  Parsed parsed = Parse("stage \"decode\" > 40ms");
  ASSERT_EQ(PPROF_STATUS_OK, parsed.status) << parsed.why;
  EXPECT_EQ(PPI_RULE_STAGE, parsed.rule.kind);
  EXPECT_STREQ("decode", parsed.rule.name);
  EXPECT_EQ(40000000u, parsed.rule.limit_ns);
  EXPECT_FALSE(parsed.rule.or_equal);
  EXPECT_STREQ("stage \"decode\" > 40ms", parsed.rule.text);
}

TEST(RuleTest, ARequestHasALimit) {
  Parsed parsed = Parse("request > 120ms");
  ASSERT_EQ(PPROF_STATUS_OK, parsed.status) << parsed.why;
  EXPECT_EQ(PPI_RULE_REQUEST, parsed.rule.kind);
  EXPECT_EQ(120000000u, parsed.rule.limit_ns);
}

TEST(RuleTest, AQuantileHasATimeToLookBack) {
  Parsed parsed = Parse("p99(\"decode\", 10s) > 30ms");
  ASSERT_EQ(PPROF_STATUS_OK, parsed.status) << parsed.why;
  EXPECT_EQ(PPI_RULE_QUANTILE, parsed.rule.kind);
  EXPECT_EQ(990000u, parsed.rule.quantile_ppm);
  EXPECT_EQ(10000000000u, parsed.rule.over_ns);
  EXPECT_EQ(30000000u, parsed.rule.limit_ns);
  EXPECT_EQ(999000u, Parse("p99.9(\"a\", 1s) > 1ms").rule.quantile_ppm);
  EXPECT_EQ(500000u, Parse("p50(\"a\", 1s) > 1ms").rule.quantile_ppm);
}

TEST(RuleTest, SpaceIsFreeAndGreaterOrEqualIsAComparison) {
  Parsed parsed = Parse("  p50 (  \"a\"  ,1min )>=  1.5us  ");
  ASSERT_EQ(PPROF_STATUS_OK, parsed.status) << parsed.why;
  EXPECT_TRUE(parsed.rule.or_equal);
  EXPECT_EQ(1500u, parsed.rule.limit_ns);
  EXPECT_EQ(60000000000u, parsed.rule.over_ns);
}

TEST(RuleTest, EveryUnitIsExact) {
  EXPECT_EQ(7u, Parse("request > 7ns").rule.limit_ns);
  EXPECT_EQ(7000u, Parse("request > 7us").rule.limit_ns);
  EXPECT_EQ(250000u, Parse("request > 0.25ms").rule.limit_ns);
  EXPECT_EQ(7000000000u, Parse("request > 7s").rule.limit_ns);
  EXPECT_EQ(120000000000u, Parse("request > 2min").rule.limit_ns);
  EXPECT_EQ(3600000000000u, Parse("request > 1h").rule.limit_ns);
}

TEST(RuleTest, ANameMayHoldQuotesAndBackslashes) {
  EXPECT_STREQ("a\"b\\c", Parse(R"(stage "a\"b\\c" > 1ms)").rule.name);
  EXPECT_STREQ("a\\n > 1ms", Parse(R"(stage "a\n > 1ms" > 1ms)").rule.name);
  std::string longest(PPI_RULE_NAME_MAX - 1, 'x');
  EXPECT_EQ(longest, Parse("stage \"" + longest + "\" > 1s").rule.name);
}

TEST(RuleTest, RefusalsSayWhereAndWhy) {
  EXPECT_EQ("7: the name has more than 255 bytes",
            Refusal("stage \"" + std::string(256, 'x') + "\" > 1s"));
  EXPECT_EQ("1: the rule has more than 511 bytes",
            Refusal(std::string(512, ' ')));
}

// Any bytes are a rule or a refusal that points into them, and a text of which
// the reader wants one byte less does not write past it.
TEST(RuleTest, AnyBytesAreAnsweredWithAPlaceInThem) {
  static const char *const pieces[] = {
      "stage", "request", "p99", "p", "\"", "a",  "\\",   " ", "(", ")",
      ",",     ">",       "=",   "1", "0",  "ms", "\xff", ".", "-", "10s"};
  uint64_t random = 1;
  for (int round = 0; round < 20000; round++) {
    std::string text;
    for (int i = 0; i < round % 12; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text += pieces[(random >> 33) % (sizeof pieces / sizeof *pieces)];
    }
    ppi_rule rule;
    size_t column = 0;
    char why[24];
    why[23] = '#';
    pprof_status status = ppi_rule_parse(text.c_str(), &rule, &column, why, 23);
    ASSERT_EQ('#', why[23]);
    if (status == PPROF_STATUS_OK) {
      ASSERT_EQ(text, rule.text);
      ASSERT_GT(rule.limit_ns, 0u);
    } else {
      ASSERT_EQ(PPROF_STATUS_INVALID, status);
      ASSERT_GE(column, 1u) << text;
      ASSERT_LE(column, text.size() + 1) << text;
    }
  }
}

}  // namespace
