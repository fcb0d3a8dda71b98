// SPDX-License-Identifier: Apache-2.0
//
// The strict subset of YAML: trees and bounds. tests/data/yaml/refused.txt has
// what is refused, where, and in which words.
#include "yaml/yaml_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/mem.h"

namespace {

class YamlTest : public testing::Test {
 protected:
  void SetUp() override {
    ppi_yaml_init(&yaml_, "p.yaml");
  }
  void TearDown() override {
    ppi_yaml_clear(&yaml_);
  }

  pprof_status Parse(const std::string &text) {
    return ppi_yaml_parse(&yaml_, text.data(), text.size(), {1, 1}, &yaml_.root,
                          &error_);
  }
  // The message of a text that must be refused.
  std::string Refusal(const std::string &text) {
    EXPECT_EQ(PPROF_STATUS_CONFIG, Parse(text)) << text;
    return error_.text;
  }

  ppi_yaml yaml_;
  pprof_error error_ = {""};
};

TEST_F(YamlTest, TreeKnowsWhereThingsStood) {
  ASSERT_EQ(PPROF_STATUS_OK, Parse("# comment\n"
                                   "a: 1\n"
                                   "b:\n"
                                   "  - x\n"
                                   "  - {c: 'y', d: \"z\"}\n"));
  const ppi_yaml_node *root = yaml_.root;
  ASSERT_EQ(PPI_YAML_MAP, root->kind);
  EXPECT_EQ(2u, root->num_children);
  const ppi_yaml_node *a = ppi_yaml_find(root, "a");
  EXPECT_STREQ("1", a->text);
  EXPECT_FALSE(a->quoted);
  EXPECT_EQ(2u, a->line);
  EXPECT_EQ(4u, a->column);
  EXPECT_EQ(1u, a->key_column);
  const ppi_yaml_node *list = ppi_yaml_find(root, "b");
  ASSERT_EQ(PPI_YAML_LIST, list->kind);
  ASSERT_EQ(2u, list->num_children);
  const ppi_yaml_node *map = list->children->next;
  const ppi_yaml_node *d = ppi_yaml_find(map, "d");
  EXPECT_TRUE(d->quoted);
  EXPECT_EQ(5u, d->line);
  EXPECT_EQ(17u, d->column);
  EXPECT_EQ(14u, d->key_column);
}

TEST_F(YamlTest, EmptyTextsHaveNoRoot) {
  for (const char *text :
       {"", "\n\n", "# nothing\n", "---\n", "\xef\xbb\xbf"}) {
    ppi_yaml_clear(&yaml_);
    ASSERT_EQ(PPROF_STATUS_OK, Parse(text)) << error_.text;
    EXPECT_STREQ("", yaml_.root ? yaml_.root->text : "");
  }
}

TEST_F(YamlTest, ByteOrderMarkIsSkipped) {
  ASSERT_EQ(PPROF_STATUS_OK, Parse("\xef\xbb\xbf"
                                   "a: 1\n"))
      << error_.text;
  EXPECT_NE(nullptr, ppi_yaml_find(yaml_.root, "a"));
}

TEST_F(YamlTest, DepthIsBounded) {
  std::string deep = "a: " + std::string(15, '[') + std::string(15, ']');
  EXPECT_EQ(PPROF_STATUS_OK, Parse(deep)) << error_.text;
  deep = "a: " + std::string(16, '[') + std::string(16, ']');
  EXPECT_EQ("p.yaml:1:19: nested deeper than 16 levels", Refusal(deep));
  EXPECT_EQ("p.yaml:1:17: nested deeper than 16 levels",
            Refusal(std::string(100000, '[')));
}

TEST_F(YamlTest, NumberOfValuesIsBounded) {
  std::string text = "[";
  for (int i = 0; i < 5000; i++) text += "1,";
  EXPECT_EQ("p.yaml:1:8192: more than 4096 values", Refusal(text + "]"));
}

TEST_F(YamlTest, SizeIsBounded) {
  std::string text(PPI_YAML_MAX_BYTES, '#');
  EXPECT_EQ(PPROF_STATUS_OK, Parse(text));
  EXPECT_EQ("p.yaml:1:1: larger than 1 MiB", Refusal(text + "#"));
}

TEST_F(YamlTest, LongSourceIsShownByItsEnd) {
  std::string source = std::string(300, 'x') + "/p.yaml";
  ppi_yaml_init(&yaml_, source.c_str());
  EXPECT_EQ("..." + source.substr(source.size() - 120) +
                ":1:4: aliases are not accepted",
            Refusal("a: *x\n"));
}

TEST_F(YamlTest, FirstLineMayStandElsewhere) {
  ASSERT_EQ(PPROF_STATUS_CONFIG,
            ppi_yaml_parse(&yaml_, "[*x]", 4, {1, 20}, &yaml_.root, &error_));
  EXPECT_STREQ("p.yaml:1:21: aliases are not accepted", error_.text);
}

TEST_F(YamlTest, ReadsFiles) {
  ppi_yaml_init(&yaml_, "/nowhere/p.yaml");
  EXPECT_EQ(PPROF_STATUS_IO, ppi_yaml_read(&yaml_, &error_));
  EXPECT_STREQ("/nowhere/p.yaml: No such file or directory", error_.text);
  ppi_yaml_init(&yaml_, "/");
  EXPECT_EQ(PPROF_STATUS_IO, ppi_yaml_read(&yaml_, &error_));
  EXPECT_STREQ("/: Is a directory", error_.text);
  ppi_yaml_init(&yaml_, "/dev/zero");
  EXPECT_EQ(PPROF_STATUS_CONFIG, ppi_yaml_read(&yaml_, &error_));
  EXPECT_STREQ("/dev/zero:1:1: larger than 1 MiB", error_.text);
}

TEST_F(YamlTest, RunsOutOfMemoryCleanly) {
  const std::string text = "a: {b: [1, 2], 'c': x}\nd: 1\n";
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status == PPROF_STATUS_NO_MEMORY && n < 100; n++) {
    ppi_mem_fail_at(n);
    status = Parse(text);
    ppi_mem_fail_at(0);
    EXPECT_STREQ(status == PPROF_STATUS_OK ? "" : "out of memory", error_.text);
    error_.text[0] = 0;
    ppi_yaml_clear(&yaml_);
  }
  EXPECT_EQ(PPROF_STATUS_OK, status);
}

TEST(QuoteTest, CutsAndCleans) {
  EXPECT_STREQ("plain", ppi_quote_of("plain").text);
  EXPECT_STREQ("a?b?c", ppi_quote_of("a\nb\xff"
                                     "c")
                            .text);
  std::string text(50, 'x');
  EXPECT_EQ(std::string(40, 'x') + "...", ppi_quote_of(text.c_str()).text);
  text = std::string(39, 'x') + "\xf0\x9f\x98\x80y";
  EXPECT_EQ(std::string(39, 'x') + "\xf0\x9f\x98\x80...",
            ppi_quote_of(text.c_str()).text);
}

}  // namespace
