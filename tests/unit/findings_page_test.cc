// SPDX-License-Identifier: Apache-2.0
//
// docs/findings.md has a row for each rule, with its threshold and reason.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "report/findings/findings.h"

namespace {

// The rules' table: cells of each row by its id.
std::map<std::string, std::vector<std::string>> Rows() {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream file("docs/findings.md");
  std::string line;
  while (std::getline(file, line) && line != "### The rules") {
  }
  while (std::getline(file, line) && line.compare(0, 3, "###") != 0) {
    std::vector<std::string> cells;
    for (size_t at = 2, end; line.compare(0, 2, "| ") == 0 &&
                             (end = line.find(" |", at)) != std::string::npos;
         at = end + 3)
      cells.push_back(line.substr(at, end - at));
    if (!cells.empty() && cells[0] != "id") rows[cells[0]] = cells;
  }
  return rows;
}

std::string ThresholdOf(const ppi_finding_rule &rule) {
  char number[32];
  snprintf(number, sizeof number, "%g", rule.threshold);
  std::string unit = *rule.unit ? std::string(" ") + rule.unit : "";
  return number + unit + ": " + rule.reason;
}

TEST(FindingsPageTest, HasEachRuleWithItsThreshold) {
  auto rows = Rows();
  EXPECT_EQ(ppi_finding_num_rules(), rows.size());
  for (size_t i = 0; i < ppi_finding_num_rules(); i++) {
    const ppi_finding_rule &rule = *ppi_finding_rule_at(i);
    const std::vector<std::string> &cells = rows[rule.id];
    ASSERT_EQ(6u, cells.size()) << rule.id;
    EXPECT_EQ(ThresholdOf(rule), cells[3]) << rule.id;
    for (const std::string &cell : cells) EXPECT_NE("", cell) << rule.id;
  }
}

}  // namespace
