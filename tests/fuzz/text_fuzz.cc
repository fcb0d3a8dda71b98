// SPDX-License-Identifier: Apache-2.0
//
// Any text as a name, in every format, and as a glob over another: a line end
// stands between the two.
#include <cstdlib>
#include <cstring>
#include <string>

#include "event/launch_shape.h"
#include "file/text.h"
#include "fuzz.h"
#include "names/choice.h"
#include "names/glob.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/text";

namespace {

std::string Put(void (*put)(ppi_page *, const char *), const char *name) {
  ppi_page page = {};
  put(&page, name);
  Require(!page.failed, "no memory");
  std::string text(page.bytes ? page.bytes : "", page.len);
  ppi_page_clear(&page);
  return text;
}

// One JSON string and nothing else.
void CheckJson(const std::string &text) {
  Require(text.find("</") == std::string::npos &&
              text.find("<!") == std::string::npos,
          "it ends a script");
  Require(text.size() >= 2 && text.front() == '"' && text.back() == '"',
          "no string");
  for (size_t i = 1; i + 1 < text.size(); i++) {
    Require(text[i] != '"' && text[i] != '\n', "it ends");
    if (text[i] == '\\') i++;
    Require(i + 1 < text.size(), "it does not end");
  }
}

// One CSV field and nothing else.
void CheckCsv(const std::string &text) {
  const bool quoted = !text.empty() && text[0] == '"';
  Require(quoted || text.find_first_of(",\"") == std::string::npos, "it ends");
  if (!quoted) return;
  Require(text.size() >= 2 && text.back() == '"', "it does not end");
  for (size_t i = 1; i + 1 < text.size(); i++)
    Require(text[i] != '"' || (i + 2 < text.size() && text[++i] == '"'),
            "it ends too early");
}

// What is read of an object is written as it was.
void CheckAttributes(const char *object) {
  ppi_launch_shape shape, again;
  if (!ppi_launch_shape_read(object, &shape)) return;
  char text[PPI_LAUNCH_SHAPE_TEXT];
  if (!shape.limit) shape.permyriad = 0;
  ppi_launch_shape_put(&shape, text);
  Require(ppi_launch_shape_read(text, &again), "it cannot be read again");
  Require(ppi_launch_shape_compare(&shape, &again) == 0, "another shape");
}

void CheckName(const char *name) {
  void (*const all[])(ppi_page *, const char *) = {
      ppi_page_visible, ppi_page_markdown, ppi_page_json, ppi_page_csv};
  for (auto *put : all) {
    const std::string text = Put(put, name);
    Require(IsVisible(text) && text.find('\n') == std::string::npos,
            "a name that acts");
  }
  CheckJson(Put(ppi_page_json, name));
  CheckCsv(Put(ppi_page_csv, name));
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  fuzz::CheckName(text.c_str());
  fuzz::CheckAttributes(text.c_str());
  const size_t end = text.find('\n');
  if (end == std::string::npos) return 0;
  const std::string glob = text.substr(0, end).c_str();
  const std::string name = text.substr(end + 1).c_str();
  const bool matches = ppi_glob_match(glob.c_str(), name.c_str());
  fuzz::Require(ppi_glob_match("*", name.c_str()), "no star");
  fuzz::Require(!matches || ppi_glob_match(("*" + glob).c_str(), name.c_str()),
                "a star that takes away");
  if (glob.find_first_of("*?") == std::string::npos)
    fuzz::Require(matches == (glob == name), "another name");
  return 0;
}
