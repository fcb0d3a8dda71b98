// SPDX-License-Identifier: Apache-2.0
//
// docs/findings.md has a section for each rule, with its threshold and reason.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "report/findings/findings.h"

namespace {

// Each section by its id, in one line.
std::map<std::string, std::string> Sections() {
  std::map<std::string, std::string> sections;
  std::ifstream file("docs/findings.md");
  std::string id, line;
  while (std::getline(file, line))
    if (line.compare(0, 3, "## ") == 0)
      sections[id = line.substr(3)] = "";
    else
      sections[id] += line + " ";
  sections.erase("");
  return sections;
}

std::string ThresholdOf(const ppi_finding_rule &rule) {
  char number[32];
  snprintf(number, sizeof number, "%g", rule.threshold);
  std::string unit = *rule.unit ? std::string(" ") + rule.unit : "";
  return std::string("**Threshold**: ") + number + unit + ": " + rule.reason +
         ". ";
}

TEST(FindingsPageTest, HasEachRuleWithItsThreshold) {
  auto sections = Sections();
  std::set<std::string> known;
  for (size_t i = 0; i < ppi_finding_num_rules(); i++) {
    const ppi_finding_rule &rule = *ppi_finding_rule_at(i);
    EXPECT_TRUE(known.insert(rule.id).second) << rule.id << " twice";
    ASSERT_TRUE(sections.count(rule.id)) << rule.id;
    const std::string &text = sections[rule.id];
    EXPECT_NE(std::string::npos, text.find(ThresholdOf(rule)))
        << rule.id << ": " << ThresholdOf(rule);
    for (const char *part :
         {"**Says**: ", "**Formula**: ", "**False friends**: ", "**Next**: "})
      EXPECT_NE(std::string::npos, text.find(part)) << rule.id << part;
  }
  for (const auto &section : sections)
    EXPECT_TRUE(known.count(section.first)) << section.first << " is no rule";
}

}  // namespace
