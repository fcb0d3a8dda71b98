// SPDX-License-Identifier: Apache-2.0
//
// Any text as a rule of the flight recorder.
#include <cstring>
#include <string>

#include "flight/rule.h"
#include "fuzz.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/rule";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  ppi_rule rule;
  size_t column = 0;
  char why[160] = "";
  const size_t len = strlen(text.c_str());
  if (ppi_rule_parse(text.c_str(), &rule, &column, why, sizeof why) ==
      PPROF_STATUS_OK) {
    fuzz::Require(strlen(rule.name) < sizeof rule.name, "a name without end");
    fuzz::Require(strcmp(rule.text, text.c_str()) == 0, "another text");
    fuzz::Require(rule.quantile_ppm < 1000000, "a quantile above all");
  } else {
    fuzz::Require(why[0] != 0, "a refusal without a reason");
    fuzz::Require(column >= 1 && column <= len + 1, "a column that is not");
  }
  return 0;
}
