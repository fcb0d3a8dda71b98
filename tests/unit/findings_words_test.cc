// SPDX-License-Identifier: Apache-2.0
//
// Figures and names as words of a sentence.
#include "report/findings/words.h"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(FindingsWordsTest, TimesHaveThreeDigits) {
  EXPECT_STREQ("0 ns", ppi_words_time(0).text);
  EXPECT_STREQ("1.00 ns", ppi_words_time(1).text);
  EXPECT_STREQ("999 us", ppi_words_time(999400).text);
  EXPECT_STREQ("1.00 ms", ppi_words_time(999600).text);
  EXPECT_STREQ("10.0 ms", ppi_words_time(9996000).text);
  EXPECT_STREQ("124 ms", ppi_words_time(123.6e6).text);
  EXPECT_STREQ("1.52 s", ppi_words_time(1.52e9).text);
  EXPECT_STREQ("86400 s", ppi_words_time(86400e9).text);
}

TEST(FindingsWordsTest, BytesHaveThreeDigits) {
  EXPECT_STREQ("0 B", ppi_words_bytes(0).text);
  EXPECT_STREQ("999 B", ppi_words_bytes(999).text);
  EXPECT_STREQ("1.00 kB", ppi_words_bytes(999.6).text);
  EXPECT_STREQ("65.5 kB", ppi_words_bytes(65536).text);
  EXPECT_STREQ("1.52 GB", ppi_words_bytes(1.52e9).text);
  EXPECT_STREQ("2000 GB", ppi_words_bytes(2e12).text);
}

TEST(FindingsWordsTest, PercentagesHaveTwo) {
  EXPECT_STREQ("33 %", ppi_words_percent(1, 3).text);
  EXPECT_STREQ("5.0 %", ppi_words_percent(1, 20).text);
  EXPECT_STREQ("0.50 %", ppi_words_percent(1, 200).text);
  EXPECT_STREQ("0 %", ppi_words_percent(0, 3).text);
  EXPECT_STREQ("0 %", ppi_words_percent(1, 0).text);
}

TEST(FindingsWordsTest, LongNamesAreCutInTheMiddle) {
  std::string exact(40, 'a'), longer = std::string(30, 'a') + "0123456789b";
  EXPECT_EQ(exact, ppi_words_name(exact.c_str()).text);
  EXPECT_EQ(std::string(18, 'a') + "..." + std::string(8, 'a') + "0123456789b",
            ppi_words_name(longer.c_str()).text);
  // Two bytes each: no half of one is left.
  std::string letters;
  for (int i = 0; i < 25; i++) letters += "\u00e4";
  EXPECT_EQ(letters.substr(0, 18) + "..." + letters.substr(0, 18),
            ppi_words_name(letters.c_str()).text);
}

TEST(FindingsWordsTest, WhatDoesNotFitEndsWithAWholeLetter) {
  char text[5];
  PPI_SAY(text, "%s", "abcd");
  EXPECT_STREQ("abcd", text);
  PPI_SAY(text, "%s", "abcde");
  EXPECT_STREQ("abcd", text);
  PPI_SAY(text, "%s", "abc\u00e4");
  EXPECT_STREQ("abc", text);
  PPI_SAY(text, "%s", "ab\u00e4e");
  EXPECT_STREQ("ab\u00e4", text);
}

}  // namespace
