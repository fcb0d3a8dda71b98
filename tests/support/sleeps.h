// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace pprof_test {

// Whether a thread of this process waits in the kernel. The state stands behind
// its name, which is in parentheses.
inline bool Sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t at = stat.rfind(") ");
  return at != std::string::npos && stat[at + 2] == 'S';
}

}  // namespace pprof_test
