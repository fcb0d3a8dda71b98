// SPDX-License-Identifier: Apache-2.0
//
// The line of a request to the control thread, and what is wrong with it.
#include "control/control_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

std::string Refused(const std::string &line) {
  ppi_trigger trigger;
  pprof_error error = {""};
  EXPECT_FALSE(ppi_trigger_parse(line.c_str(), &trigger, &error)) << line;
  return error.text;
}

TEST(ControlLine, IsReadAsItIsPrinted) {
  const struct {
    ppi_trigger trigger;
    const char *line;
  } cases[] = {
      {{0, 0, false, ""}, "trigger\n"},
      {{3, 0, false, ""}, "trigger steps=3\n"},
      {{0, 2500000000, false, ""}, "trigger seconds=2.500000000\n"},
      {{0, 200000000, true, ""}, "trigger kernels=0.200000000\n"},
      {{0, 1, false, "/tmp/a b=c"},
       "trigger seconds=0.000000001 output=/tmp/a b=c\n"},
  };
  for (const auto &one : cases) {
    char line[PPI_CONTROL_LINE_MAX];
    ppi_trigger_print(&one.trigger, line);
    EXPECT_STREQ(one.line, line);
    ppi_trigger read;
    line[strlen(line) - 1] = 0;
    ASSERT_TRUE(ppi_trigger_parse(line, &read, nullptr)) << line;
    EXPECT_EQ(one.trigger.steps, read.steps);
    EXPECT_EQ(one.trigger.ns, read.ns);
    EXPECT_EQ(one.trigger.kernels, read.kernels);
    EXPECT_STREQ(one.trigger.output, read.output);
  }
}

TEST(ControlLine, ByHand) {
  ppi_trigger read;
  ASSERT_TRUE(ppi_trigger_parse("trigger  seconds=10  ", &read, nullptr));
  EXPECT_EQ(10000000000u, read.ns);
}

TEST(ControlLine, SaysWhatIsWrong) {
  EXPECT_EQ("'' is no request", Refused(""));
  EXPECT_EQ("'triggers' is no request", Refused("triggers"));
  EXPECT_EQ("'now' is not understood", Refused("trigger now"));
  EXPECT_EQ("'steps=0' is not understood", Refused("trigger steps=0"));
  EXPECT_EQ("'steps=-1' is not understood", Refused("trigger steps=-1"));
  EXPECT_EQ("'steps=1x' is not understood", Refused("trigger steps=1x"));
  EXPECT_EQ("'steps=99999999999999999999' is not understood",
            Refused("trigger steps=99999999999999999999"));
  EXPECT_EQ("'seconds=0' is not understood", Refused("trigger seconds=0"));
  EXPECT_EQ("'seconds=1.' is not understood", Refused("trigger seconds=1."));
  EXPECT_EQ("'seconds=1e3' is not understood", Refused("trigger seconds=1e3"));
  EXPECT_EQ("'seconds=10000001' is not understood",
            Refused("trigger seconds=10000001"));
  EXPECT_EQ("'seconds=nan' is not understood", Refused("trigger seconds=nan"));
  EXPECT_EQ("one of 'steps', 'seconds' and 'kernels' can be given",
            Refused("trigger steps=1 seconds=1"));
  EXPECT_EQ("one of 'steps', 'seconds' and 'kernels' can be given",
            Refused("trigger kernels=1 seconds=1"));
  EXPECT_EQ("'kernels=on' is not understood", Refused("trigger kernels=on"));
  EXPECT_EQ("'output' must be an absolute path", Refused("trigger output=a"));
  EXPECT_EQ("the path is too long",
            Refused("trigger output=/" + std::string(5000, 'x')));
}

}  // namespace
