// SPDX-License-Identifier: Apache-2.0
//
// What people call a program, by its command.
#include "file/program.h"

#include <gtest/gtest.h>

#include <string>

namespace pprof_test {
namespace {

std::string NameOf(const char *command) {
  ppi_page page = {};
  ppi_page_program(&page, command);
  std::string name(page.bytes ? page.bytes : "", page.len);
  ppi_page_clear(&page);
  return name;
}

TEST(ProgramTest, IsTheFileOfACommand) {
  EXPECT_EQ(NameOf("/usr/bin/serve --port 80"), "serve");
  EXPECT_EQ(NameOf("serve"), "serve");
  EXPECT_EQ(NameOf(""), "");
}

TEST(ProgramTest, IsTheScriptOfPython) {
  EXPECT_EQ(NameOf("/usr/bin/python3 -u runs/train.py --epochs 3"), "train.py");
  EXPECT_EQ(NameOf("python3 -m torch.distributed.run x.py"),
            "torch.distributed.run");
  EXPECT_EQ(NameOf("python3"), "python3");
}

// What follows is no name but a program.
TEST(ProgramTest, IsPythonItselfWhereTheCodeIsInTheCommand) {
  EXPECT_EQ(NameOf("/usr/bin/python3 -c \nimport time\ntime.sleep(1)\n"),
            "python3 -c");
  EXPECT_EQ(NameOf("python3 -c import time"), "python3 -c");
  EXPECT_EQ(NameOf("python3 -u -c import\ttime"), "python3 -c");
  EXPECT_EQ(NameOf("python3 -Ic import time"), "python3 -c");
}

}  // namespace
}  // namespace pprof_test
