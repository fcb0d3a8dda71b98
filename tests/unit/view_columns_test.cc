// SPDX-License-Identifier: Apache-2.0
//
// docs/tables.md lists each view's columns; scripts go by it.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;
using Names = std::vector<std::string>;

std::string Page() {
  std::ifstream file("docs/tables.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Names Matches(const std::string &text, const char *pattern) {
  const std::regex regex(pattern);
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end;
       ++at)
    names.push_back((*at)[1]);
  return names;
}

// From "Columns:" to the end of that sentence, without what is in brackets.
std::string ColumnsText(const std::string &page, const std::string &view) {
  const size_t section = page.find("(`" + view + "`)\n");
  const size_t from = page.find("Columns:", section);
  EXPECT_NE(std::string::npos, section) << view;
  EXPECT_NE(std::string::npos, from) << view;
  std::string text = page.substr(from, page.find(".\n", from) - from);
  return std::regex_replace(text, std::regex("\\([^)]*\\)"), "");
}

Names Documented(const std::string &page, const std::string &view) {
  const std::string text = ColumnsText(page, view);
  const Names own = Matches(text, "`([a-z0-9_]+)`");
  if (text.find("as UserDefined, without") != std::string::npos) {
    Names names = Documented(page, "userdefined");
    for (const std::string &name : own)
      names.erase(std::find(names.begin(), names.end(), name));
    return names;
  }
  const size_t like = text.find("then as in Model");
  if (like == std::string::npos) return own;
  Names names = Matches(text.substr(0, like), "`([a-z0-9_]+)`");
  const Names model = Documented(page, "model");
  names.insert(names.end(), model.begin() + 2, model.end());
  const Names rest = Matches(text.substr(like), "`([a-z0-9_]+)`");
  names.insert(names.end(), rest.begin(), rest.end());
  return names;
}

// Of the view alone: rows have none of these keys.
Names Printed(const std::string &view) {
  EventFeed feed;
  const std::string json = Report(feed).Json(view.c_str());
  const size_t from = json.find("\"columns\":["), to = json.find("\"rows\":");
  EXPECT_NE(std::string::npos, from) << json;
  return Matches(json.substr(from, to - from), "\"name\":\"([^\"]*)\"");
}

TEST(ViewColumnsTest, AreThoseOfTheDocs) {
  const std::string page = Page();
  const Names views = Matches(page, "\n## [A-Za-z ]+ \\(`([a-z_]+)`\\)\n");
  size_t num = 0;
  for (auto kind = ppi_view_kinds(); *kind; kind++) num++;
  EXPECT_EQ(num, views.size());
  for (const std::string &view : views)
    EXPECT_EQ(Documented(page, view), Printed(view)) << view;
}

}  // namespace
