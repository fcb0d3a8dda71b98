// SPDX-License-Identifier: Apache-2.0
//
// The corpora of configurations and rules: what is good is taken and reads back
// as it is written, what is bad is refused in the words beside it
// (`NAME.error`; a '*' instead of the place), and whatever is made of either by
// breaking it is taken or refused with a reason.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "schema_fixture.h"

namespace {

const char good_folder[] = "tests/data/yaml/good";
const char bad_folder[] = "tests/data/yaml/bad";

std::vector<std::string> FilesIn(const std::string &folder) {
  std::vector<std::string> names;
  DIR *open = opendir(folder.c_str());
  if (!open) return names;
  while (struct dirent *entry = readdir(open)) {
    std::string name = entry->d_name;
    size_t dot = name.rfind(".yaml");
    if (dot != std::string::npos && dot + 5 == name.size())
      names.push_back(folder + "/" + name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

// As pprof_start would, but for the environment.
pprof_status Load(const std::string &path, ppi_config *config,
                  pprof_error *error) {
  *error = {""};
  pprof_status status = ppi_config_defaults(config);
  if (status == PPROF_STATUS_OK)
    status = ppi_config_read(config, path.c_str(), error);
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, error);
  return status;
}

class CorpusTest : public testing::Test {
 protected:
  CorpusTest() {
    char folder[] = "/tmp/pprof_corpus.XXXXXX";
    folder_ = mkdtemp(folder);
    path_ = folder_ + "/p.yaml";
  }
  ~CorpusTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  void Write(const std::string &text) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  pprof_status Apply(const std::string &text) {
    ppi_config *config = config_.get();
    ppi_yaml yaml;
    ppi_yaml_init(&yaml, "p.yaml");
    EXPECT_EQ(PPROF_STATUS_OK, ppi_config_defaults(config));
    error_ = {""};
    pprof_status status = ppi_yaml_parse(&yaml, text.data(), text.size(),
                                         {1, 1}, &yaml.root, &error_);
    if (status == PPROF_STATUS_OK)
      status = ppi_config_apply(config, &yaml, &error_);
    ppi_yaml_clear(&yaml);
    return status;
  }
  std::string folder_, path_;
  std::unique_ptr<ppi_config> config_ = std::make_unique<ppi_config>();
  pprof_error error_ = {""};
};

TEST_F(CorpusTest, GoodOnesAreTakenAndReadBack) {
  std::vector<std::string> files = FilesIn(good_folder);
  ASSERT_LE(10u, files.size());
  for (const std::string &file : files) {
    ASSERT_EQ(PPROF_STATUS_OK, Load(file, config_.get(), &error_))
        << file << " " << error_.text;
    ppi_capture capture;
    ppi_config_capture(config_.get(), &capture);
    EXPECT_EQ(PPROF_STATUS_OK, ppi_capture_check(&capture, &error_))
        << file << " " << error_.text;
    std::string written =
        Printed([&](FILE *out) { ppi_config_write(config_.get(), out); });
    Write(written);
    ASSERT_EQ(PPROF_STATUS_OK, Load(path_, config_.get(), &error_))
        << file << " " << error_.text;
    EXPECT_EQ(written,
              Printed([&](FILE *out) { ppi_config_write(config_.get(), out); }))
        << file;
  }
}

TEST_F(CorpusTest, BadOnesAreRefusedInTheseWords) {
  std::vector<std::string> files = FilesIn(bad_folder);
  ASSERT_LE(50u, files.size());
  for (const std::string &file : files) {
    std::string expected = Read(file.substr(0, file.size() - 5) + ".error");
    ASSERT_NE("", expected) << file;
    expected.pop_back();
    EXPECT_EQ(PPROF_STATUS_CONFIG, Load(file, config_.get(), &error_)) << file;
    std::string text = error_.text;
    if (expected[0] == '*')
      EXPECT_NE(std::string::npos, text.find(expected.substr(1))) << text;
    else
      EXPECT_EQ(file + ":" + expected, text);
  }
}

// \n, \t, \\ and \xNN stand for bytes.
std::string Unescaped(const std::string &text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    const char letter = text[++i];
    if (letter == 'x') {
      bytes += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      bytes += letter == 'n' ? '\n' : letter == 't' ? '\t' : letter;
    }
  }
  return bytes;
}

// Each line: the message, behind the file's name; a tabulator; the text.
TEST_F(CorpusTest, RefusedTextsAreRefusedInTheseWords) {
  std::ifstream lines("tests/data/yaml/refused.txt");
  std::string line;
  unsigned num = 0;
  for (; std::getline(lines, line); num++) {
    size_t tab = line.find('\t');
    ASSERT_NE(std::string::npos, tab) << line;
    EXPECT_EQ(PPROF_STATUS_CONFIG, Apply(Unescaped(line.substr(tab + 1))));
    EXPECT_EQ("p.yaml:" + line.substr(0, tab), error_.text) << line;
  }
  EXPECT_LE(100u, num);
}

TEST_F(CorpusTest, FilesThatAreNoFilesAreRefused) {
  EXPECT_EQ(PPROF_STATUS_IO, Load(folder_, config_.get(), &error_));
  EXPECT_EQ(folder_ + ": Is a directory", error_.text);
  EXPECT_EQ(PPROF_STATUS_IO, Load("/nowhere/p", config_.get(), &error_));
  EXPECT_STREQ("/nowhere/p: No such file or directory", error_.text);
  EXPECT_EQ(PPROF_STATUS_CONFIG, Load("/dev/zero", config_.get(), &error_));
  EXPECT_STREQ("/dev/zero:1:1: larger than 1 MiB", error_.text);
  Write(std::string(2u << 20, '#'));
  EXPECT_EQ(PPROF_STATUS_CONFIG, Load(path_, config_.get(), &error_));
  EXPECT_EQ(path_ + ":1:1: larger than 1 MiB", error_.text);
  ASSERT_EQ(0, chmod(path_.c_str(), 0));
  if (geteuid() != 0) {
    EXPECT_EQ(PPROF_STATUS_IO, Load(path_, config_.get(), &error_));
    EXPECT_EQ(path_ + ": Permission denied", error_.text);
  }
}

// A pipe that nobody writes to would be waited for.
TEST_F(CorpusTest, APipeIsNoConfiguration) {
  ASSERT_EQ(0, mkfifo(path_.c_str(), 0600));
  EXPECT_EQ(PPROF_STATUS_IO, Load(path_, config_.get(), &error_));
  EXPECT_EQ(path_ + ": is a pipe, not a file", error_.text);
}

// Cuts, changes, doubles and swaps pieces of `text`.
std::string Broken(std::string text, std::mt19937 *random) {
  static const char *const pieces[] = {"\n",      ":",
                                       " ",       "-",
                                       "[",       "]",
                                       "{",       "}",
                                       "\"",      "'",
                                       "#",       ",",
                                       "\t",      "&a",
                                       "*a",      "!",
                                       "%",       "0",
                                       "-1",      "99999999999999999999",
                                       "\xff",    "~",
                                       "none",    "true",
                                       "capture", "flight_recorder",
                                       "rules",   "every"};
  for (unsigned i = (*random)() % 4; i < 4; i++) {
    size_t at = text.empty() ? 0 : (*random)() % text.size();
    switch ((*random)() % 4) {
      case 0:
        text.insert(at, pieces[(*random)() % (sizeof pieces / sizeof *pieces)]);
        break;
      case 1:
        text.erase(at, 1 + (*random)() % 8);
        break;
      case 2:
        text.insert(at, text.substr((*random)() % (text.size() + 1), 40));
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>((*random)());
    }
  }
  return text;
}

TEST_F(CorpusTest, BrokenOnesAreTakenOrRefusedWithAReason) {
  std::mt19937 random(7);
  std::vector<std::string> files = FilesIn(good_folder);
  for (const std::string &file : FilesIn(bad_folder)) files.push_back(file);
  for (const std::string &file : files) {
    std::string text = Read(file);
    if (text.size() > 8192) continue;
    for (int i = 0; i < 60; i++) {
      std::string broken = Broken(text, &random);
      pprof_status status = Apply(broken);
      if (status == PPROF_STATUS_OK) {
        // What is taken, the session takes.
        ppi_capture capture;
        ppi_config_capture(config_.get(), &capture);
        ASSERT_EQ(PPROF_STATUS_OK, ppi_capture_check(&capture, &error_))
            << error_.text << broken;
        continue;
      }
      ASSERT_EQ(PPROF_STATUS_CONFIG, status) << broken;
      ASSERT_EQ(0u, std::string(error_.text).find("p.yaml:"))
          << error_.text << "\n"
          << broken;
    }
  }
}

TEST_F(CorpusTest, GoodRulesAreTaken) {
  std::ifstream lines("tests/data/rules/good.txt");
  std::string line;
  unsigned num = 0;
  for (; std::getline(lines, line); num++) {
    ppi_rule rule;
    size_t column = 0;
    char why[160] = "";
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_rule_parse(line.c_str(), &rule, &column, why, sizeof why))
        << line << ": " << why;
    EXPECT_EQ(line, rule.text);
  }
  EXPECT_LE(10u, num);
}

// Each line: the column where it goes wrong and why, a tabulator, the rule.
TEST_F(CorpusTest, BadRulesAreRefusedWhereTheyGoWrong) {
  std::ifstream lines("tests/data/rules/bad.txt");
  std::string line;
  unsigned num = 0;
  for (; std::getline(lines, line); num++) {
    size_t tab = line.find('\t');
    ASSERT_NE(std::string::npos, tab) << line;
    std::string text = line.substr(tab + 1);
    ppi_rule rule;
    size_t column = 0;
    char why[160] = "";
    EXPECT_EQ(PPROF_STATUS_INVALID,
              ppi_rule_parse(text.c_str(), &rule, &column, why, sizeof why))
        << text;
    EXPECT_EQ(line.substr(0, tab), std::to_string(column) + ": " + why) << text;
  }
  EXPECT_LE(20u, num);
}

}  // namespace
