// SPDX-License-Identifier: Apache-2.0
//
// Shapes of names, and which of them fold.
#include "event/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "names/shapes.h"

namespace pprof_test {
namespace {

std::string Shape(const std::string &name,
                  ppi_fold_width width = PPI_FOLD_FREE) {
  ppi_fold fold;
  return ppi_fold_name(name.data(), name.size(), width, &fold) ? fold.text : "";
}

std::vector<uint64_t> Values(const std::string &name,
                             ppi_fold_width width = PPI_FOLD_FREE) {
  ppi_fold fold;
  if (!ppi_fold_name(name.data(), name.size(), width, &fold)) return {};
  return {fold.numbers.values, fold.numbers.values + fold.numbers.num};
}

TEST(FoldTest, FreeNumbersFold) {
  EXPECT_EQ("decode step {}", Shape("decode step 481"));
  EXPECT_EQ("execute_context_{}({})_generation_{}({})",
            Shape("execute_context_2(4874)_generation_32(32)"));
  EXPECT_EQ("Linear in={} out={}",
            Shape("Linear in=[[32,4096]] out=[[32,11008]]"));
  EXPECT_EQ("{}", Shape("7"));
  EXPECT_EQ("a-{}.{}", Shape("a-3.14"));
}

TEST(FoldTest, UuidsAndHexadecimalNumbersFold) {
  EXPECT_EQ("req {} x", Shape("req 123e4567-e89b-12d3-a456-426614174000 x"));
  EXPECT_EQ("req {}", Shape("req 12345678-0000-12d3-a456-426614174000"));
  EXPECT_EQ("at {}", Shape("at 0x7f00"));
  EXPECT_EQ("id {}", Shape("id 9f8e7d6c"));
  EXPECT_EQ("", Shape("id deadbeef")) << "a word";
  EXPECT_EQ("", Shape("id 9f8e7d")) << "too short";
}

TEST(FoldTest, DigitsOfWordsStayInTheNarrowShape) {
  for (const char *name : {"layer3", "conv2d", "ResNet50", "fp16", "x", ""})
    EXPECT_EQ("", Shape(name)) << name;
  EXPECT_EQ("ResNet50 step {}", Shape("ResNet50 step 12"));
  EXPECT_EQ("layer{}", Shape("layer3", PPI_FOLD_ALL));
  EXPECT_EQ("conv{}d step {}", Shape("conv2d step 9", PPI_FOLD_ALL));
  EXPECT_EQ("", Shape("forward", PPI_FOLD_ALL));
}

bool Fits(const std::string &shape, const std::string &name,
          pprof_numbers *out) {
  ppi_fold_pieces pieces;
  return ppi_fold_split(shape.c_str(), &pieces) &&
         ppi_fold_fits(shape.c_str(), &pieces, name.data(), name.size(), out);
}

bool Fits(const std::string &shape, const std::string &name) {
  pprof_numbers numbers;
  return Fits(shape, name, &numbers);
}

TEST(FoldTest, AQuickLookFindsWhatServersSay) {
  EXPECT_TRUE(Fits("decode step {}", "decode step 481"));
  EXPECT_TRUE(Fits("execute_context_{}({})_generation_{}({})",
                   "execute_context_2(4874)_generation_32(32)"));
  EXPECT_TRUE(
      Fits("Linear in={} out={}", "Linear in=[[32,4096]] out=[[32,11008]]"));
  EXPECT_TRUE(Fits("conv2d {}", "conv2d 7"));
  EXPECT_TRUE(Fits("aten::mm{}", "aten::mm[[8, 8]]"));
  EXPECT_FALSE(Fits("decode step {}", "decode step "));
  EXPECT_FALSE(Fits("decode step {}", "decode step 4 "));
  EXPECT_FALSE(Fits("decode step {}", "decode stop 4"));
  EXPECT_FALSE(Fits("decode step {}", "decode"));
  EXPECT_FALSE(Fits("aten::mm{}", "aten::mm8")) << "of a word";
  EXPECT_FALSE(Fits("layer{}", "layer3")) << "the longer way";
  EXPECT_FALSE(Fits("id {}", "id 9f8e7d6c")) << "the longer way";
  for (const char *shape :
       {"{}-{}-{}-{}-{}", "deadbeef-{}-abcd-abcd-abcdefabcdef"})
    for (const char *name : {"12345678-1234-1234-1234-123456789012",
                             "deadbeef-1234-abcd-abcd-abcdefabcdef"})
      EXPECT_FALSE(Fits(shape, name)) << "a UUID";
  EXPECT_EQ(ppi_fold_head("Linear in=[[32]]"), 10u);
  EXPECT_EQ(ppi_fold_head("conv2d"), 4u);
  EXPECT_EQ(ppi_fold_head("forward"), 7u);
}

bool AreEqual(const pprof_numbers &a, const pprof_numbers &b) {
  return a.num == b.num && a.full_name == b.full_name &&
         std::equal(a.values, a.values + a.num, b.values);
}

// What fits has that shape and those numbers, whatever stands beside what.
TEST(FoldTest, AQuickLookIsNeverAnotherShape) {
  static const char *const kParts[] = {
      "1",    "23",       "12345678", "1234",     "123456789012",
      "0x7f", "9f8e7d6c", "a",        "deadbeef", "abcd",
      "x2",   "[1]",      "[[1,2]]",  "[a 1]",    "[",
      "]",    "-",        " ",        "_",        ",",
      "(",    ")",        ".",        "{}",       "{",
      "}",    "\xc3\xa9", ":"};
  constexpr size_t kNum = sizeof kParts / sizeof *kParts;
  std::mt19937 random(3);
  size_t num_fits = 0;
  for (int i = 0; i < 400000; i++) {
    // Of as many parts, some of which are others.
    std::string first, second;
    for (size_t k = 1 + random() % 6; k > 0; k--) {
      const char *part = kParts[random() % kNum];
      first += part;
      second += random() % 3 ? part : kParts[random() % kNum];
    }
    for (ppi_fold_width width : {PPI_FOLD_FREE, PPI_FOLD_ALL}) {
      const std::string shape = Shape(first, width);
      pprof_numbers numbers;
      if (shape.empty() || !Fits(shape, second, &numbers)) continue;
      num_fits += first != second;
      ppi_fold fold;
      ASSERT_TRUE(ppi_fold_name(second.data(), second.size(), width, &fold));
      ASSERT_EQ(shape, fold.text) << first << "  " << second;
      ASSERT_TRUE(AreEqual(fold.numbers, numbers)) << first << "  " << second;
    }
  }
  EXPECT_GT(num_fits, 1000u);
}

TEST(FoldTest, ListsOfWordsAreNone) {
  EXPECT_EQ("a[{}, b]", Shape("a[1, b]"));
  EXPECT_EQ("", Shape("a[]"));
  EXPECT_EQ("a[{}", Shape("a[1")) << "never closed";
  EXPECT_EQ("{}", Shape("[[1, (2, 3)], []]"));
}

TEST(FoldTest, KeepsTheFirstFourValues) {
  EXPECT_EQ((std::vector<uint64_t>{2, 4874, 32, 7}),
            Values("c_2(4874)_g_32(7)_9"));
  EXPECT_EQ((std::vector<uint64_t>{32, 4096, 5}), Values("in=[[32,4096]] 5"));
  EXPECT_EQ((std::vector<uint64_t>{UINT64_MAX}),
            Values("n 18446744073709551616"));
  EXPECT_EQ((std::vector<uint64_t>{UINT64_MAX}),
            Values("n 18446744073709551615"));
  EXPECT_EQ((std::vector<uint64_t>{3, 8}), Values("layer3 8", PPI_FOLD_ALL));
  EXPECT_EQ((std::vector<uint64_t>{8}), Values("layer3 8"));
}

TEST(FoldTest, HexadecimalNumbersAreNumbersAndUuidsTakeAPlace) {
  constexpr uint64_t kNone = UINT64_MAX;
  EXPECT_EQ((std::vector<uint64_t>{0x7f00, 2}), Values("at 0x7f00 2"));
  EXPECT_EQ((std::vector<uint64_t>{0x9f8e7d6cABCDu}),
            Values("id 9f8e7d6cABCD"));
  EXPECT_EQ((std::vector<uint64_t>{0xfffffffffffffffe}),
            Values("0xfffffffffffffffe"));
  EXPECT_EQ((std::vector<uint64_t>{kNone, 2}), Values("0x10000000000000000 2"));
  EXPECT_EQ((std::vector<uint64_t>{kNone, 2}),
            Values("req 123e4567-e89b-12d3-a456-426614174000 2"));
  EXPECT_EQ((std::vector<uint64_t>{kNone, 2}), Values("req {} 2"));
}

uint32_t FullName(const std::string &name) {
  ppi_fold fold;
  EXPECT_TRUE(ppi_fold_name(name.data(), name.size(), PPI_FOLD_FREE, &fold));
  return fold.numbers.full_name;
}

TEST(FoldTest, NumbersMakeUpTheNameOrNot) {
  for (const char *name : {"decode step 481", "c_2(4874)_g_32(0)", "7"})
    EXPECT_EQ(uint32_t{PPROF_NAME_IN_FULL}, FullName(name)) << name;
  for (const char *name : {"a 1 2 3 4 5", "step 007", "in=[32]", "at 0x7f",
                           "n 18446744073709551615", "{} 1",
                           "123e4567-e89b-12d3-a456-426614174000"})
    EXPECT_EQ(uint32_t{PPROF_NAME_TOO_MUCH}, FullName(name)) << name;
}

TEST(FoldTest, TooLongAShapeIsNone) {
  std::string words(PPI_FOLD_TEXT - 3, 'x');
  EXPECT_EQ(words + "-{}", Shape(words + "-1").empty() ? words + "-{}" : "");
  EXPECT_EQ("{}", Shape(std::string(5000, '7')));
}

// Names as a session numbers them.
class ShapesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    shapes_ = ppi_shapes_create(1000);
    ASSERT_NE(nullptr, shapes_);
  }
  void TearDown() override {
    ppi_shapes_destroy(shapes_);
  }
  static void Member(void *user, uint32_t member, uint32_t site) {
    static_cast<ShapesTest *>(user)->folds_[member] = site;
  }
  static bool Forced(const void *user, const char *text) {
    return *static_cast<const std::string *>(user) == text;
  }
  // The name's number; that of its fold once it folds.
  uint32_t Add(const std::string &name, uint32_t category = 0) {
    ppi_fold fold;
    uint32_t site =
        ppi_shapes_folded(shapes_, name.data(), name.size(), category, &fold);
    if (site) return site;
    site = ++last_;
    names_[site] = name;
    uint32_t shape =
        ppi_shapes_learn(shapes_, site, name.data(), name.size(), category,
                         forced_.empty() ? nullptr : Forced, &forced_, &fold);
    if (!shape) return site;
    uint32_t into = ++last_;
    names_[into] = fold.text;
    ppi_shapes_fold(shapes_, shape, into, names_[into].c_str(), Member, this);
    return into;
  }
  void Leave(uint32_t site) {
    const std::string &name = names_[site];
    ppi_shapes_leave(shapes_, site, name.data(), name.size(), 0);
  }
  // What a row of the report is called.
  std::string Row(uint32_t site) {
    while (folds_.count(site)) site = folds_[site];
    return names_[site];
  }

  ppi_shapes *shapes_ = nullptr;
  uint32_t last_ = 0;
  std::string forced_;
  std::map<uint32_t, std::string> names_;
  std::map<uint32_t, uint32_t> folds_;
};

TEST_F(ShapesTest, ThirtyTwoStayApartAndTheNextFoldsAll) {
  std::vector<uint32_t> sites;
  for (int i = 0; i < 32; i++)
    sites.push_back(Add("decode step " + std::to_string(i)));
  EXPECT_TRUE(folds_.empty());
  EXPECT_EQ("decode step {}", names_[Add("decode step 32")]);
  EXPECT_EQ(33u, folds_.size());
  for (uint32_t site : sites) EXPECT_EQ("decode step {}", Row(site));
  uint32_t num = last_;
  EXPECT_EQ("decode step {}", names_[Add("decode step 1000000")]);
  EXPECT_EQ(num, last_) << "nothing new";
}

TEST_F(ShapesTest, WordsStayApartWhileTheirShapesAreFew) {
  uint32_t resnet = 0, other = 0;
  for (int i = 0; i < 40; i++) {
    resnet = Add("ResNet50 step " + std::to_string(i));
    other = Add("ResNet18 step " + std::to_string(i));
  }
  EXPECT_EQ("ResNet50 step {}", Row(resnet));
  EXPECT_EQ("ResNet18 step {}", Row(other));
}

TEST_F(ShapesTest, WordsFoldOnceTheirShapesAreMany) {
  uint32_t fold = 0;
  for (int i = 0; i < 40; i++) fold = Add("layer0 step " + std::to_string(i));
  EXPECT_EQ("layer0 step {}", Row(fold));
  uint32_t plain = Add("layer1 step 5");
  for (int i = 2; i < 33; i++) Add("layer" + std::to_string(i) + " step 1");
  EXPECT_EQ("layer{} step {}", Row(fold)) << "a shape that folds into a wider";
  EXPECT_EQ("layer{} step {}", Row(plain));
}

TEST_F(ShapesTest, ModulesOfXlaFoldOnceTheyAreMany) {
  uint32_t few = 0, many = 0;
  for (int i = 0; i < 84; i++) {
    const std::string id = ",program_id=" + std::to_string(1900 + i) + "#";
    const std::string module =
        std::string(1 + i % 9, 'a') + std::string(1 + i / 9, 'b');
    if (i < 32) few = Add("XlaModule:#hlo_module=jit_" + module + id);
    many = Add("XlaCompile:#module=jit_" + module + id);
  }
  EXPECT_EQ("XlaCompile:#module={},program_id={}#", Row(many));
  EXPECT_EQ("XlaModule:#hlo_module=jit_aaaaabbbb,program_id=1931#", Row(few));
}

TEST_F(ShapesTest, CategoriesAreApart) {
  for (int i = 0; i < 33; i++) Add("step " + std::to_string(i), 0);
  uint32_t site = Add("step 1", 1);
  EXPECT_EQ("step 1", Row(site));
}

TEST_F(ShapesTest, NamesThatComeAndGoAreFew) {
  for (int round = 0; round < 100; round++) {
    std::vector<uint32_t> sites;
    for (int i = 0; i < 20; i++)
      sites.push_back(Add("layer" + std::to_string(i)));
    for (uint32_t site : sites) Leave(site);
    last_ = 0;
  }
  EXPECT_TRUE(folds_.empty());
}

TEST_F(ShapesTest, AForcedShapeFoldsFromItsFirstNameOn) {
  forced_ = "batch{} step {}";
  EXPECT_EQ("batch{} step {}", names_[Add("batch7 step 9")]);
  EXPECT_EQ("batch{} step {}", Row(1));
}

}  // namespace
}  // namespace pprof_test
