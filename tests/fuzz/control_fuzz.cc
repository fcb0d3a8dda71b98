// SPDX-License-Identifier: Apache-2.0
//
// Any line as a request to the control socket; what is taken and printed is the
// same request again.
#include <cstring>
#include <string>

#include "control/control.h"
#include "fuzz.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/control";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // As control.c does: a line of bounded length, cut at its end.
  std::string line(reinterpret_cast<const char *>(data), size);
  line = line.substr(0, PPI_CONTROL_LINE_MAX - 1);
  line = line.substr(0, line.find('\n'));
  ppi_trigger asked = {}, again = {};
  pprof_error error = {""};
  if (!ppi_trigger_parse(line.c_str(), &asked, &error)) {
    fuzz::Require(error.text[0] != 0, "a refusal without a reason");
    fuzz::Require(fuzz::IsVisible(error.text), "a reason that acts");
    return 0;
  }
  char printed[PPI_CONTROL_LINE_MAX];
  ppi_trigger_print(&asked, printed);
  char *end = strchr(printed, '\n');
  fuzz::Require(end && !end[1], "no line");
  *end = 0;
  fuzz::Require(ppi_trigger_parse(printed, &again, &error), printed);
  fuzz::Require(asked.steps == again.steps && asked.ns == again.ns &&
                    asked.kernels == again.kernels &&
                    strcmp(asked.output, again.output) == 0,
                "another request");
  return 0;
}
