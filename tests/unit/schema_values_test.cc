// SPDX-License-Identifier: Apache-2.0
//
// Single values of a configuration: sizes, durations, times, nearest names.
#include "schema/schema.h"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(ValueTest, Sizes) {
  const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0B", 0},
              {"1B", 1},
              {"3kB", 3000},
              {"3KiB", 3072},
              {"2MB", 2000000},
              {"64MiB", 67108864},
              {"1GB", 1000000000},
              {"1GiB", 1073741824},
              {"1TB", 1000000000000},
              {"16777215TiB", 18446742974197923840u},
              {"18446744073709551615B", UINT64_MAX}};
  for (const auto &one : good) {
    uint64_t bytes = 7;
    EXPECT_TRUE(ppi_parse_size(one.text, &bytes)) << one.text;
    EXPECT_EQ(one.bytes, bytes) << one.text;
  }
  for (const char *text :
       {"", "MiB", "1", "1 MiB", "1mib", "1.5GiB", "-1B", "+1B", "16777216TiB",
        "18446744073709551616B", "1MiBx", "0x10B", "1K"}) {
    uint64_t bytes = 7;
    EXPECT_FALSE(ppi_parse_size(text, &bytes)) << text;
    EXPECT_EQ(7u, bytes) << text;
  }
}

TEST(ValueTest, Durations) {
  const struct {
    const char *text;
    uint64_t us;
  } good[] = {{"0us", 0},      {"250us", 250},     {"500ms", 500000},
              {"2s", 2000000}, {"1min", 60000000}, {"1h", 3600000000u}};
  for (const auto &one : good) {
    uint64_t us = 7;
    EXPECT_TRUE(ppi_parse_duration(one.text, &us)) << one.text;
    EXPECT_EQ(one.us, us) << one.text;
  }
  for (const char *text : {"", "5", "ms", "5 ms", "5m", "1.5s", "-1s",
                           "18446744073709551615s", "5124095577h"}) {
    uint64_t us = 7;
    EXPECT_FALSE(ppi_parse_duration(text, &us)) << text;
    EXPECT_EQ(7u, us) << text;
  }
}

TEST(ValueTest, Times) {
  const struct {
    const char *text;
    uint64_t ns;
  } good[] = {{"1970-01-01T00:00:01Z", 1000000000u},
              {"2000-02-29T23:59:59Z", 951868799000000000u},
              {"2026-11-22T10:00:00Z", 1795341600000000000u},
              {"1970-01-01T00:00:01.000000001Z", 1000000001u},
              {"1970-01-01T00:00:01.25Z", 1250000000u}};
  for (const auto &one : good) {
    uint64_t ns = 7;
    EXPECT_TRUE(ppi_parse_time(one.text, &ns)) << one.text;
    EXPECT_EQ(one.ns, ns) << one.text;
  }
  for (const char *text :
       {"", "2026-11-22", "2026-11-22T10:00:00", "2026-11-22 10:00:00Z",
        "2026-11-22T10:00:00+01:00", "2026-13-22T10:00:00Z",
        "2026-02-30T10:00:00Z", "2026-11-22T24:00:00Z", "2026-11-22T10:60:00Z",
        "2026-11-22T10:00:60Z", "1969-11-22T10:00:00Z", "2262-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z", "2026-11-22T10:00:00.Z", "2026-1-22T10:00:00Z",
        "2026-11-22T10:00:00.0000000001Z", "2026-11-22T10:00:00ZZ"}) {
    uint64_t ns = 7;
    EXPECT_FALSE(ppi_parse_time(text, &ns)) << text;
    EXPECT_EQ(7u, ns) << text;
  }
}

TEST(ValueTest, Nearest) {
  const char *const words[] = {"output", "memory_limit", "log"};
  EXPECT_STREQ("output", ppi_nearest("otuput", words, 3));
  EXPECT_STREQ("output", ppi_nearest("outptu", words, 3));
  EXPECT_STREQ("memory_limit", ppi_nearest("memory-limit", words, 3));
  EXPECT_STREQ("log", ppi_nearest("logs", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest("xyz", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest("", words, 3));
  EXPECT_EQ(nullptr, ppi_nearest(std::string(4000, 'o').c_str(), words, 3));
}

}  // namespace
