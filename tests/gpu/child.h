// SPDX-License-Identifier: Apache-2.0
//
// Programs in a process of their own, for what would harm the tests' process:
// a test runs this very binary again with the name of one.
#pragma once

#include <string>
#include <vector>

namespace pprof_gpu {

// The registered program of that name; its result is the exit code.
using ChildMain = int (*)(const std::vector<std::string> &arguments);
struct Child {
  Child(const char *name, ChildMain run);
};

struct ChildResult {
  int exit_code;  // 128 + number of the signal that ended it
  std::string output;
};
ChildResult RunChild(const std::string &name,
                     const std::vector<std::string> &arguments);
// Any program, its output and messages together.
ChildResult RunProgram(const std::vector<std::string> &command);

// The folder of this binary.
std::string OwnFolder();

}  // namespace pprof_gpu
