// SPDX-License-Identifier: Apache-2.0
//
// The script, its execution through the public calls, and its model.
#include "script.h"

#include <pprof/device.h>
#include <pprof/event.h>
#include <pprof/mark.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "inject/inject.h"

namespace kill_test {

namespace {

const char *const kNames[] = {"alpha", "beta", "gamma", "delta"};
pprof_site sites[] = {{"alpha", 0, 0, 0, {0, 0}},
                      {"beta", 0, 0, 0, {0, 0}},
                      {"gamma", 0, 0, 0, {0, 0}},
                      {"delta", 0, 0, 0, {0, 0}}};
pprof_range ranges[4];
pprof_scope_token tokens[4];

uint32_t Domain() {
  static const uint32_t domain = pprof_inject_domain_("killed");
  return domain;
}

}  // namespace

const std::vector<Line> &Script() {
  static const std::vector<Line> script = {
      {Op::kPush, 0},       {Op::kPush, 1},       {Op::kPop, 0},
      {Op::kPop, 0},        {Op::kPush, 0},       {Op::kFlow, 11},
      {Op::kPush, 1},       {Op::kFlow, 12},      {Op::kFlow, 13},
      {Op::kFlow, 14},      {Op::kFlow, 15},      {Op::kMark, 2},
      {Op::kWork, 3},       {Op::kPop, 0},        {Op::kCount, 3},
      {Op::kPop, 0},        {Op::kPushName, 2},   {Op::kPop, 0},
      {Op::kPushName, 2},   {Op::kPop, 0},        {Op::kScopeEnter, 0},
      {Op::kPush, 1},       {Op::kPush, 2},       {Op::kScopeExit, 0},
      {Op::kScopeEnter, 1}, {Op::kScopeExit, 1},  {Op::kPush, 3},
      {Op::kFlow, 21},      {Op::kFlow, 22},      {Op::kRangeBegin, 0},
      {Op::kRangeFlow, 0},  {Op::kPop, 0},        {Op::kRangeBegin, 1},
      {Op::kRangeEnd, 0},   {Op::kRangeEnd, 1},   {Op::kRangeBegin, 2},
      {Op::kRangeEnd, 2},   {Op::kStep, 5},       {Op::kStep, 6},
      {Op::kDevicePush, 0}, {Op::kDevicePush, 1}, {Op::kDevicePop, 0},
      {Op::kDeviceNext, 2}, {Op::kDevicePop, 0},  {Op::kPush, 0},
      {Op::kPop, 0},        {Op::kPush, 1},       {Op::kWork, 9},
      {Op::kPop, 0},        {Op::kMark, 1},       {Op::kPushIn, 2},
      {Op::kPush, 0},       {Op::kPushIn, 3},     {Op::kPopIn, 0},
      {Op::kPop, 0},        {Op::kPopIn, 0},      {Op::kPushIn, 1},
      {Op::kPush, 2},       {Op::kPush, 3},
  };
  return script;
}

void RunLine(size_t i) {
  const Line line = Script()[i];
  pprof_site *site = &sites[line.arg % 4];
  switch (line.op) {
    case Op::kPush:
      return pprof_push(site);
    case Op::kPushName:
      return pprof_push_name(kNames[line.arg], 0);
    case Op::kPop:
      return pprof_pop();
    case Op::kScopeEnter:
      tokens[line.arg] = pprof_scope_enter_(site);
      return;
    case Op::kScopeExit:
      return pprof_scope_exit_(&tokens[line.arg]);
    case Op::kFlow:
      return pprof_flow(static_cast<uint64_t>(line.arg));
    case Op::kWork: {
      const pprof_work_amount amount = {sizeof amount,
                                        static_cast<double>(line.arg), 2, 3, 4};
      return pprof_work(&amount);
    }
    case Op::kMark:
      return pprof_mark(site);
    case Op::kCount:
      return pprof_count(site, line.arg + 0.5);
    case Op::kRangeBegin:
      ranges[line.arg] = pprof_range_begin(site);
      return;
    case Op::kRangeEnd:
      return pprof_range_end(ranges[line.arg]);
    case Op::kRangeFlow:
      return pprof_range_flow(ranges[line.arg], 77);
    case Op::kStep:
      return pprof_step(static_cast<uint64_t>(line.arg));
    case Op::kDevicePush:
      return pprof_device_push(nullptr, site, site);
    case Op::kDevicePop:
      return pprof_device_pop(nullptr, &sites[1 - line.arg % 2]);
    case Op::kDeviceNext:
      return pprof_device_next(nullptr, &sites[0], site);
    case Op::kPushIn:
      pprof_inject_push_(Domain(), nullptr, kNames[line.arg], 0);
      return;
    case Op::kPopIn:
      pprof_inject_pop_(Domain());
      return;
  }
}

bool Record::operator<(const Record &other) const {
  return std::tie(name, kind, flags, depth, flows, items, value) <
         std::tie(other.name, other.kind, other.flags, other.depth, other.flows,
                  other.items, other.value);
}

bool Record::operator==(const Record &other) const {
  return !(*this < other) && !(other < *this);
}

std::string Record::Text() const {
  std::ostringstream out;
  out << name << " kind " << kind << " flags " << flags << " depth " << depth
      << " items " << items << " value " << value << " flows";
  for (uint64_t flow : flows) out << " " << flow;
  return out.str();
}

namespace {

// The model: a plain stack and lists, nothing of the SDK's ways.
struct Model {
  Records done;
  std::vector<Record> stack, stack_in;
  std::map<int, Record> open_ranges;
  std::vector<std::pair<int, Record>> device;  // stream, range
  bool stepped = false;
  int step = 0;
  bool step_open = false;

  Record Make(const std::string &name, uint32_t kind, uint32_t flags) const {
    Record record{name, kind, flags, static_cast<uint32_t>(stack.size()),
                  {},   0,    0};
    if (!stack.empty()) record.flows = stack.back().flows;
    return record;
  }

  Record Step() const {
    return Record{
        "ProfileStep", PPROF_KIND_RANGE, PPROF_FLAG_ASYNC, 0, {}, 0, 0};
  }

  Records Snapshot() const {
    Records all = done;
    auto clip = [&all](Record record) {
      record.flags |= PPROF_FLAG_CLIPPED;
      all.push_back(record);
    };
    for (const Record &record : stack) clip(record);
    for (const Record &record : stack_in) clip(record);
    for (const auto &open : open_ranges) clip(open.second);
    for (const auto &open : device) clip(open.second);
    if (step_open) clip(Step());
    std::sort(all.begin(), all.end());
    return all;
  }

  void EndDevice(int stream) {
    for (size_t i = device.size(); i-- > 0;) {
      if (device[i].first != stream) continue;
      done.push_back(device[i].second);
      device.erase(device.begin() + static_cast<long>(i));
      return;
    }
  }

  void Device(const Line &line, std::vector<Records> *states) {
    const uint32_t kind = PPROF_KIND_DEVICE_RANGE;
    const uint32_t flags = PPROF_FLAG_NO_DEVICE_TIME;
    if (line.op == Op::kDevicePush)
      device.emplace_back(line.arg, Make(kNames[line.arg], kind, flags));
    if (line.op == Op::kDevicePop) EndDevice(1 - line.arg % 2);
    if (line.op != Op::kDeviceNext) return;
    // The new one is accepted before the old one ends.
    Model between = *this;
    const Record next = Make(kNames[line.arg], kind, flags);
    between.device.emplace_back(0, next);
    states->push_back(between.Snapshot());
    EndDevice(0);
    device.emplace_back(0, next);
  }

  void NextStep(int items, std::vector<Records> *states) {
    if (!stepped) {
      step_open = true;
      states->push_back(Snapshot());
    }
    stepped = true;
    Record ended = Step();
    ended.value = step++;
    ended.items = items;
    step_open = false;
    done.push_back(ended);
    states->push_back(Snapshot());
    step_open = true;
  }

  void ExitScope(const Line &line) {
    size_t at = stack.size();
    while (at > 0 && stack[at - 1].name != kNames[line.arg]) at--;
    while (stack.size() > at) {
      stack.back().flags |= PPROF_FLAG_ABANDONED;
      done.push_back(stack.back());
      stack.pop_back();
    }
    done.push_back(stack.back());
    stack.pop_back();
  }

  void Apply(const Line &line, std::vector<Records> *states) {
    const uint32_t range = PPROF_KIND_RANGE;
    switch (line.op) {
      case Op::kPush:
      case Op::kPushName:
      case Op::kScopeEnter:
        stack.push_back(Make(kNames[line.arg], range, 0));
        break;
      case Op::kPop:
        done.push_back(stack.back());
        stack.pop_back();
        break;
      case Op::kScopeExit:
        ExitScope(line);
        break;
      case Op::kFlow:
        stack.back().flows.push_back(static_cast<uint64_t>(line.arg));
        break;
      case Op::kWork:
        stack.back().items += line.arg;
        break;
      case Op::kMark:
        done.push_back(Make(kNames[line.arg], PPROF_KIND_MARK, 0));
        break;
      case Op::kCount:
        done.push_back(Make(kNames[line.arg], PPROF_KIND_COUNTER, 0));
        done.back().value = line.arg + 0.5;
        break;
      case Op::kRangeBegin:
        open_ranges[line.arg] = Make(kNames[line.arg], range, PPROF_FLAG_ASYNC);
        break;
      case Op::kRangeEnd:
        done.push_back(open_ranges[line.arg]);
        open_ranges.erase(line.arg);
        break;
      case Op::kRangeFlow:
        open_ranges[line.arg].flows.push_back(77);
        break;
      case Op::kStep:
        NextStep(line.arg, states);
        break;
      case Op::kPushIn:
        stack_in.push_back(Record{kNames[line.arg],
                                  range,
                                  0,
                                  static_cast<uint32_t>(stack_in.size()),
                                  {},
                                  0,
                                  0});
        break;
      case Op::kPopIn:
        done.push_back(stack_in.back());
        stack_in.pop_back();
        break;
      default:
        Device(line, states);
    }
  }
};

}  // namespace

std::vector<Records> StatesAround(size_t i) {
  Model model;
  std::vector<Records> ignored;
  for (size_t line = 0; line < i; line++) model.Apply(Script()[line], &ignored);
  std::vector<Records> states = {model.Snapshot()};
  if (i < Script().size()) {
    model.Apply(Script()[i], &states);
    states.push_back(model.Snapshot());
  }
  return states;
}

}  // namespace kill_test
