// SPDX-License-Identifier: Apache-2.0
//
// The longest path through steps as docs/tables.md defines it, the slow way.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "report/answer/moments.h"

namespace pprof_test {

struct PathRange {
  uint64_t end_ns, start_ns;
  uint32_t lane;
  bool waits, is_cut, is_early;  // it goes on, or began before
};
using PathRanges = std::vector<PathRange>;

// Of one lane by end, outer ones last.
inline std::map<uint32_t, PathRanges> PathLanes(std::vector<ppi_item> items) {
  std::map<uint32_t, PathRanges> lanes;
  std::sort(items.begin(), items.end(), [](const auto &a, const auto &b) {
    return a.end_ns != b.end_ns ? a.end_ns < b.end_ns
                                : ppi_item_compare(&a, &b) > 0;
  });
  for (const auto &item : items)
    if (!(item.flags & (PPI_ITEM_LOOSE | PPI_ITEM_NO_HOST)) &&
        item.end_ns > item.start_ns)
      lanes[item.lane].push_back({item.end_ns, item.start_ns, item.lane,
                                  (item.flags & PPI_ITEM_WAITS) != 0, false,
                                  false});
  return lanes;
}

// The outermost ranges in the step; one around the step is none.
inline PathRanges TopsOf(const PathRanges &lane, const ppi_moment_unit &step) {
  PathRanges tops;
  uint64_t since = UINT64_MAX;
  for (size_t i = lane.size(); i-- > 0;) {
    const PathRange &at = lane[i];
    bool is_around = at.start_ns < step.start_ns && at.end_ns > step.end_ns;
    if (at.end_ns <= step.start_ns || at.start_ns >= step.end_ns || is_around ||
        at.start_ns >= since)
      continue;
    since = at.start_ns;
    tops.push_back({std::min(at.end_ns, step.end_ns),
                    std::max(at.start_ns, step.start_ns), at.lane, false,
                    at.end_ns > step.end_ns, at.start_ns < step.start_ns});
  }
  return tops;
}

inline uint64_t LengthOf(const PathRange &at) {
  return at.end_ns - at.start_ns;
}

inline uint64_t LeastOf(const ppi_moment_unit &step) {
  return (step.end_ns - step.start_ns) / 128;
}

// Short ones are one with the one shortly after them.
inline PathRanges JoinedOf(const PathRanges &lane,
                           const ppi_moment_unit &step) {
  PathRanges joined;
  for (const auto &top : TopsOf(lane, step)) {
    PathRange *after = joined.empty() ? nullptr : &joined.back();
    if (after && top.end_ns + LeastOf(step) > after->start_ns &&
        std::min(LengthOf(top), LengthOf(*after)) < LeastOf(step))
      after->start_ns = top.start_ns;
    else
      joined.push_back(top);
  }
  return joined;
}

// Those without another one in them, of a 128th of the step or more.
inline PathRanges LeavesOf(const PathRanges &lane,
                           const ppi_moment_unit &step) {
  PathRanges leaves;
  for (size_t i = lane.size(); i-- > 0;)
    if ((i == 0 || lane[i - 1].start_ns < lane[i].start_ns) &&
        lane[i].start_ns >= step.start_ns && lane[i].end_ns <= step.end_ns &&
        LengthOf(lane[i]) >= LeastOf(step))
      leaves.push_back(lane[i]);
  return leaves;
}

struct PathShare {
  uint64_t taken, free;
  uint32_t lane;
  bool is_marker, is_cut;
};

inline bool IsBetter(const PathShare &a, const PathShare &b) {
  if (a.is_marker != b.is_marker) return a.is_marker;
  if (a.is_cut != b.is_cut) return b.is_cut;
  if (a.taken / 2 > b.taken || b.taken / 2 > a.taken) return a.taken > b.taken;
  return a.free != b.free ? a.free < b.free : a.taken > b.taken;
}

inline PathShare ShareOf(const PathRanges &lane, const ppi_moment_unit &step) {
  PathShare share = {};
  uint64_t first = UINT64_MAX, last = 0;
  for (const auto &top : TopsOf(lane, step)) {
    share.taken += top.end_ns - top.start_ns;
    share.is_cut |= top.is_cut || top.is_early;
    if (last == 0) last = top.end_ns;
    first = top.start_ns;
  }
  share.lane = lane[0].lane;
  share.is_marker = share.lane == step.lane;
  share.free = first - step.start_ns + step.end_ns - last;
  return share;
}

inline uint64_t Close(const PathRange &at) {
  return std::min<uint64_t>(150000, (at.end_ns - at.start_ns) / 16);
}

inline auto PathOrder(const PathRange &at) {
  return std::make_tuple(at.end_ns, at.start_ns, at.lane);
}

// The last of `tops` that ends by `time`, or hardly later.
inline const PathRange *LastBy(const PathRanges &tops, uint64_t time) {
  const PathRange *found = nullptr;
  for (const auto &top : tops)
    if (!top.is_cut && top.end_ns <= time + Close(top) / 4 &&
        (!found || PathOrder(*found) <= PathOrder(top)))
      found = &top;
  return found;
}

// What the carrier waits for in [wait.start_ns, now).
inline void FillWait(const PathRanges &others, const PathRange &wait,
                     bool is_idle, uint64_t now,
                     std::vector<ppi_lane_stretch> *path) {
  const PathRange *other = LastBy(others, wait.end_ns);
  if (!other) return;
  uint64_t before =
      is_idle ? std::max<uint64_t>(150000, (wait.end_ns - wait.start_ns) / 4)
              : std::min(Close(wait), Close(*other));
  if (other->end_ns + before < wait.end_ns ||
      (!is_idle && other->end_ns > wait.end_ns + before / 4))
    return;
  for (uint64_t time = std::min(now, wait.end_ns); time > wait.start_ns;) {
    other = LastBy(others, time);
    if (!other || other->end_ns <= wait.start_ns) return;
    uint64_t from = std::max(other->start_ns, wait.start_ns);
    path->push_back({from, std::min(other->end_ns, time), other->lane});
    time = from;
  }
}

// The stretches of other lanes, then the carrier's whole step.
inline void AddPath(const std::map<uint32_t, PathRanges> &lanes,
                    const ppi_moment_unit &step,
                    std::vector<ppi_lane_stretch> *path) {
  PathShare carrier = {};
  size_t num = 0;
  for (const auto &lane : lanes) {
    const PathShare share = ShareOf(lane.second, step);
    if (!share.taken) continue;
    if (num++ == 0 || IsBetter(share, carrier)) carrier = share;
  }
  if (num < 2) return;
  PathRanges others;
  for (const auto &lane : lanes)
    if (lane.first != carrier.lane)
      for (const auto &top : JoinedOf(lane.second, step)) others.push_back(top);
  std::vector<ppi_lane_stretch> found;
  const PathRanges &own = lanes.at(carrier.lane);
  PathRanges leaves = LeavesOf(own, step);
  uint64_t next = step.end_ns;
  auto now = [&] {
    return found.empty() ? step.end_ns : found.back().start_ns;
  };
  auto fill_gap = [&](uint64_t from, uint64_t to) {
    if (from < to && to - from >= LeastOf(step))
      FillWait(others, {to, from, 0, false, false, false}, true, now(), &found);
  };
  for (const auto &top : JoinedOf(own, step)) {
    fill_gap(top.end_ns, next);
    for (; !leaves.empty() && leaves[0].end_ns > top.start_ns;
         leaves.erase(leaves.begin()))
      FillWait(others, leaves[0], leaves[0].waits, now(), &found);
    next = std::min(next, top.start_ns);
  }
  fill_gap(step.start_ns, next);
  path->insert(path->end(), found.begin(), found.end());
  path->push_back({step.start_ns, step.end_ns, carrier.lane});
}

// The first stretch that has a moment counts.
inline std::vector<ppi_lane_stretch> PathOf(
    const std::vector<ppi_item> &items,
    const std::vector<ppi_moment_unit> &units) {
  std::vector<ppi_lane_stretch> path;
  const auto lanes = PathLanes(items);
  for (const auto &step : units) {
    bool is_alone = true;
    for (const auto &other : units)
      is_alone &= &other == &step || !other.is_frame ||
                  other.end_ns <= other.start_ns ||
                  other.start_ns >= step.end_ns ||
                  other.end_ns <= step.start_ns;
    if (step.is_frame && !step.is_cut && is_alone &&
        step.start_ns < step.end_ns)
      AddPath(lanes, step, &path);
  }
  return path;
}

}  // namespace pprof_test
