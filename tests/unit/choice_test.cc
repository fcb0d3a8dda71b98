// SPDX-License-Identifier: Apache-2.0
//
// Globs, hashes of names and which requests are kept.
#include "names/choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "names/glob.h"

namespace {

TEST(GlobTest, WholeNames) {
  EXPECT_TRUE(ppi_glob_match("decode", "decode"));
  EXPECT_FALSE(ppi_glob_match("decode", "decoder"));
  EXPECT_FALSE(ppi_glob_match("decode", "Decode"));
  EXPECT_FALSE(ppi_glob_match("decode", ""));
  EXPECT_FALSE(ppi_glob_match("", "decode"));
  EXPECT_TRUE(ppi_glob_match("", ""));
}

TEST(GlobTest, Stars) {
  EXPECT_TRUE(ppi_glob_match("*", ""));
  EXPECT_TRUE(ppi_glob_match("*", "anything at all"));
  EXPECT_TRUE(ppi_glob_match("op_*", "op_"));
  EXPECT_TRUE(ppi_glob_match("op_*", "op_conv"));
  EXPECT_FALSE(ppi_glob_match("op_*", "an op_"));
  EXPECT_TRUE(ppi_glob_match("*conv*", "a conv here"));
  EXPECT_TRUE(ppi_glob_match("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(ppi_glob_match("a*b*c", "aXcXb"));
  EXPECT_TRUE(ppi_glob_match("**a**", "ba"));
  // The first place where the rest seems to fit is not the one.
  EXPECT_TRUE(ppi_glob_match("*ab", "aab"));
  EXPECT_TRUE(ppi_glob_match("*abac", "ababac"));
}

TEST(GlobTest, QuestionMarkIsOneCharacter) {
  EXPECT_TRUE(ppi_glob_match("layer?", "layer7"));
  EXPECT_FALSE(ppi_glob_match("layer?", "layer"));
  EXPECT_FALSE(ppi_glob_match("layer?", "layer17"));
  EXPECT_TRUE(ppi_glob_match("caf?", "caf\xc3\xa9"));
  EXPECT_TRUE(ppi_glob_match("?x", "\xe6\xad\xa5x"));
  EXPECT_FALSE(ppi_glob_match("??", "\xc3\xa9"));
}

TEST(GlobTest, ManyStarsTakeNoLongTime) {
  const std::string text(4096, 'a');
  std::string glob;
  for (int i = 0; i < 100; i++) glob += "*a";
  EXPECT_FALSE(ppi_glob_match((glob + "b").c_str(), text.c_str()));
  EXPECT_TRUE(ppi_glob_match(glob.c_str(), text.c_str()));
}

std::string Hash(const std::string &name) {
  char out[PPI_NAME_HASH];
  ppi_name_hash(name.c_str(), out);
  return out;
}

// The examples of FIPS 180-4, and one whose length fills a block.
TEST(NameHashTest, FirstTwelveDigitsOfSha256) {
  EXPECT_EQ("#e3b0c44298fc", Hash(""));
  EXPECT_EQ("#ba7816bf8f01", Hash("abc"));
  EXPECT_EQ("#248d6a61d206",
            Hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));
  EXPECT_EQ("#ffe054fe7ae0", Hash(std::string(64, 'a')));
}

TEST(RequestTest, AllOfThem) {
  for (uint64_t every : {0u, 1u})
    for (uint64_t flow = 1; flow < 100; flow++)
      EXPECT_TRUE(ppi_request_is_kept(flow, every));
}

// Of 1 to 16 as splitmix64's finalizer has them, worked out apart from it.
TEST(RequestTest, TheSameOnesEverywhere) {
  std::vector<uint64_t> kept;
  for (uint64_t flow = 1; flow <= 16; flow++)
    if (ppi_request_is_kept(flow, 4)) kept.push_back(flow);
  EXPECT_EQ((std::vector<uint64_t>{3, 4, 5, 6, 7, 8, 12}), kept);
}

// Addresses are multiples of something; one in ten is kept all the same.
TEST(RequestTest, MultiplesSpread) {
  int num = 0;
  for (uint64_t i = 1; i <= 10000; i++) num += ppi_request_is_kept(i * 64, 10);
  EXPECT_EQ(981, num);
}

TEST(ChoiceTest, ExcludeWins) {
  const char *include[] = {"op*", "decode"};
  const char *exclude[] = {"op_slow"};
  ppi_choice choice = {};
  choice.include = include;
  choice.num_include = 2;
  choice.exclude = exclude;
  choice.num_exclude = 1;
  EXPECT_TRUE(ppi_choice_wants(&choice, "op_fast", 0));
  EXPECT_TRUE(ppi_choice_wants(&choice, "decode", 0));
  EXPECT_FALSE(ppi_choice_wants(&choice, "op_slow", 0));
  EXPECT_FALSE(ppi_choice_wants(&choice, "encode", 0));
  EXPECT_TRUE(
      ppi_choice_wants(&choice, "op_slow", PPROF_CATEGORY_PROFILE_STEP));
}

TEST(ChoiceTest, CopyIsWhole) {
  const char *include[] = {"a", "bc"};
  const char *allow[] = {"", "def"};
  ppi_choice choice = {};
  choice.include = include;
  choice.num_include = 2;
  choice.allow = allow;
  choice.num_allow = 2;
  choice.requests_every = 7;
  ppi_choice *copy = ppi_choice_copy(&choice);
  ASSERT_NE(nullptr, copy);
  include[0] = allow[1] = "gone";
  EXPECT_STREQ("a", copy->include[0]);
  EXPECT_STREQ("bc", copy->include[1]);
  EXPECT_EQ(0u, copy->num_exclude);
  EXPECT_STREQ("", copy->allow[0]);
  EXPECT_STREQ("def", copy->allow[1]);
  EXPECT_EQ(7u, copy->requests_every);
  free(copy);
}

TEST(ChoiceTest, CategoriesByNameAreOfTheFirstGlobThatFits) {
  std::string first = "step 7", second = "step *";
  const char *globs[] = {first.c_str(), second.c_str()};
  uint32_t categories[] = {PPROF_CATEGORY_FORWARD, PPROF_CATEGORY_INFERENCE};
  ppi_choice choice = {};
  EXPECT_FALSE(ppi_choice_asks(&choice));
  choice.categorised = globs;
  choice.categories = categories;
  choice.num_categorised = 2;
  EXPECT_TRUE(ppi_choice_asks(&choice));
  ppi_choice *copy = ppi_choice_copy(&choice);
  ASSERT_NE(nullptr, copy);
  first = second = "gone";
  categories[0] = categories[1] = PPROF_CATEGORY_MEMORY;
  EXPECT_EQ(PPROF_CATEGORY_FORWARD, ppi_choice_category(copy, "step 7", 0));
  EXPECT_EQ(PPROF_CATEGORY_INFERENCE, ppi_choice_category(copy, "step 77", 0));
  EXPECT_EQ(PPROF_CATEGORY_MEMCPY,
            ppi_choice_category(copy, "a step", PPROF_CATEGORY_MEMCPY));
  free(copy);
}

}  // namespace
