// SPDX-License-Identifier: Apache-2.0
//
// A run with kernels, and the stages that its report then has.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "child.h"
#include "pprof/pprof.h"

namespace pprof_gpu {

inline bool StartWithKernels(const std::string &log,
                             const char *graph_kernels = "launch",
                             const char *calls = "false") {
  pprof_error error = {};
  std::ofstream(log + ".yaml")
      << "output: " << log << "\ndevices: {mode: off, kernels: true,"
      << " graph_kernels: " << graph_kernels << ", calls: " << calls << "}\n";
  if (pprof_start((log + ".yaml").c_str(), &error) == PPROF_STATUS_OK)
    return true;
  printf("%s\n", error.text);
  return false;
}

inline std::vector<std::string> Fields(const std::string &line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, ',');)
    fields.push_back(field);
  return fields;
}

// What a report says of one.
struct Stage {
  long kernels = 0;
  double kernel_ns = 0;  // of the names directly below it
};

// By their names, or by their paths ("step / forward").
inline std::map<std::string, Stage> Stages(const std::string &log,
                                           const char *key = "name") {
  ChildResult report = RunProgram(
      {OwnFolder() + "/pprof-report", "--kernel-tree", "-f", "csv", log});
  EXPECT_EQ(report.exit_code, 0) << report.output;
  std::map<std::string, Stage> stages;
  std::istringstream text(report.output);
  std::string line, stage;
  std::getline(text, line);
  std::map<std::string, size_t> column;
  for (const std::string &name : Fields(line))
    column.emplace(name, column.size());
  while (std::getline(text, line)) {
    std::vector<std::string> fields = Fields(line);
    if (fields.size() <= column["where"]) continue;
    const std::string &where = fields[column["where"]];
    if (where == "kernel") {
      stages[stage].kernel_ns += atof(fields[column["total_ns"]].c_str());
    } else {
      stage = where == "host" ? fields[column[key]] : "outside";
      stages[stage].kernels = atol(fields[column["kernels"]].c_str());
    }
  }
  return stages;
}

}  // namespace pprof_gpu
