// SPDX-License-Identifier: Apache-2.0
//
// docs/log-format.md has the fields that the code stores and reads: a field
// that is in one of them only fails here.
#include <gtest/gtest.h>
#include <stdio.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "log/format/log_model.h"

namespace {

struct Field {
  size_t offset, size;
  bool operator==(const Field &other) const {
    return offset == other.offset && size == other.size;
  }
};

void PrintTo(const Field &field, std::ostream *out) {
  *out << field.offset << "+" << field.size;
}

std::string Docs() {
  std::ifstream file("docs/log-format.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines of the first table behind `from`, without its two head lines.
std::vector<std::string> TableBehind(const std::string &from) {
  std::stringstream lines(Docs().substr(Docs().find(from)));
  std::vector<std::string> table;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("|", 0) == 0)
      table.push_back(line);
    else if (!table.empty())
      break;
  }
  if (table.size() > 2) table.erase(table.begin(), table.begin() + 2);
  return table;
}

std::vector<Field> FieldsBehind(const std::string &from) {
  std::vector<Field> fields;
  for (const std::string &line : TableBehind(from)) {
    Field field;
    char end;
    if (sscanf(line.c_str(), "| %zu | %zu %c", &field.offset, &field.size,
               &end) == 3 &&
        end == '|')
      fields.push_back(field);
  }
  return fields;
}

// Behind `before`, words with commas between them up to `end`.
std::string WordsBehind(const std::string &before, const char *end) {
  const std::string docs = Docs();
  const size_t found = docs.find(before);
  if (found == std::string::npos) return before + " is not there";
  const size_t at = found + before.size();
  std::string words = docs.substr(at, docs.find(end, at) - at);
  for (char &letter : words)
    if (letter == '\n') letter = ' ';
  return words;
}

#define FIELD(type, name, offset) {offset, sizeof(type)},
#define NAME(name) ", " #name

TEST(LogFieldsTest, BlockHeader) {
  // Magic and checksum are what the others are found by.
  const std::vector<Field> fields = {
      {0, 4}, {4, 4}, PPI_LOG_HEADER_FIELDS(FIELD)};
  EXPECT_EQ(FieldsBehind("## Block header"), fields);
  EXPECT_EQ(fields.back().offset + fields.back().size,
            size_t{PPI_LOG_HEADER_SIZE});
}

TEST(LogFieldsTest, LaneRun) {
  const std::vector<Field> fields = {PPI_LOG_RUN_FIELDS(FIELD)};
  EXPECT_EQ(FieldsBehind("A lane run is"), fields);
  EXPECT_EQ(fields.back().offset + fields.back().size,
            size_t{PPI_LOG_RUN_SIZE});
}

TEST(LogFieldsTest, FieldsFollowOneAnother) {
  size_t next = 8;
#define FOLLOWS(type, name, offset) \
  EXPECT_EQ(next, size_t{offset});  \
  next = (offset) + sizeof(type);
  PPI_LOG_HEADER_FIELDS(FOLLOWS)
  next = 0;
  PPI_LOG_RUN_FIELDS(FOLLOWS)
}

TEST(LogFieldsTest, Columns) {
  for (int i = 0; i <= PPI_NUM_COLUMNS; i++) {
    bool is_there = false;
    for (const std::string &line : TableBehind("| column | holds |"))
      is_there |= line.find(" " + std::to_string(i) + " ") < line.find(" |", 2);
    EXPECT_EQ(is_there, i < PPI_NUM_COLUMNS) << i;
  }
}

TEST(LogFieldsTest, Forms) {
  unsigned all = 0;
  for (const std::string &line : TableBehind("Bits of *form*"))
    all |= static_cast<unsigned>(std::stoul(line.substr(2)));
  EXPECT_EQ(all, unsigned{PPI_FORM_ALL});
}

TEST(LogFieldsTest, Shapes) {
  EXPECT_EQ(WordsBehind("eight varints *", "*"),
            std::string("form") + PPI_SHAPE_FIELDS(NAME));
}

TEST(LogFieldsTest, Work) {
  EXPECT_EQ(", " + WordsBehind("four amounts *", "*"),
            std::string(PPI_LOG_WORK_FIELDS(NAME)));
}

// In words there, in the same order.
TEST(LogFieldsTest, CpuUse) {
  EXPECT_EQ(WordsBehind("it is 0, ", ", and with 3"),
            "user time, system time and the part of both in measured ranges "
            "inside follow. Then voluntary and involuntary switches, minor and "
            "major faults");
  EXPECT_EQ(std::string(PPI_LOG_CPU_FIELDS(NAME)),
            ", user_ns, sys_ns, inner_ns, voluntary_switches, "
            "involuntary_switches, minor_faults, major_faults");
}

}  // namespace
