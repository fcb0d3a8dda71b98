// SPDX-License-Identifier: Apache-2.0
//
// A script of markers, run by a child, and a model of the records to be found
// after any number of markers. The two share nothing but this list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kill_test {

enum class Op {
  kPush,
  kPushName,
  kPop,
  kScopeEnter,
  kScopeExit,
  kFlow,
  kWork,
  kMark,
  kCount,
  kRangeBegin,
  kRangeEnd,
  kRangeFlow,
  kStep,
  kDevicePush,
  kDevicePop,
  kDeviceNext,
  kPushIn,  // on the stack of an NVTX domain
  kPopIn,
};

struct Line {
  Op op;
  int arg;  // which site, flow, range
};

const std::vector<Line> &Script();

// Runs line `i` of the script.
void RunLine(size_t i);

// What a record is known by. `open` ones end as CLIPPED at death.
struct Record {
  std::string name;
  uint32_t kind;
  uint32_t flags;
  uint32_t depth;
  std::vector<uint64_t> flows;
  double items;
  double value;
  bool operator<(const Record &other) const;
  bool operator==(const Record &other) const;
  std::string Text() const;
};
using Records = std::vector<Record>;  // sorted

// All states that the result may be in while line `i` runs: the one before it
// first, the one after it last.
std::vector<Records> StatesAround(size_t i);

}  // namespace kill_test
