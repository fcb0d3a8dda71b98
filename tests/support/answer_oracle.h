// SPDX-License-Identifier: Apache-2.0
//
// Makes random runs and finds the owner of each nanosecond, by the definition
// in answer/moments.h.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "report/answer/moments.h"

namespace pprof_test {

using Random = std::mt19937_64;

inline uint64_t Pick(Random *random, uint64_t n) {
  return (*random)() % n;
}

// ---- the oracle ----

using Place = std::tuple<int, uint32_t, uint32_t, uint32_t>;  // see PlaceOf
struct Sum {
  uint64_t ns = 0, calls = 0;
  bool operator==(const Sum &other) const {
    return ns == other.ns && calls == other.calls;
  }
};
using Sums = std::map<Place, Sum>;

inline Place PlaceOf(ppi_where where, uint32_t device, uint32_t stage,
                     uint32_t child) {
  return {static_cast<int>(where), device, stage, child};
}

struct Scene {
  std::vector<ppi_item> items;
  std::vector<ppi_moment_unit> units;
  std::vector<std::vector<ppi_span>> busy;  // by device; none: no queues
  std::vector<ppi_lane_stretch> path;       // see PathOf
};

inline bool IsBefore(const ppi_item &a, const ppi_item &b) {
  return ppi_item_compare(&a, &b) < 0;
}

inline bool IsOnHost(const ppi_item &item, uint64_t now) {
  return !(item.flags & PPI_ITEM_NO_HOST) && item.start_ns <= now &&
         now < item.end_ns;
}

inline uint64_t Since(const Scene &run, uint64_t now) {
  uint64_t since = 0;
  for (const auto &unit : run.units)
    if (unit.is_frame && unit.start_ns <= now && now < unit.end_ns)
      since = std::max(since, unit.start_ns);
  return since;
}

// The ranges of its lane that are open around a range, the innermost first.
inline std::vector<const ppi_item *> Around(const Scene &run,
                                            const ppi_item &inner,
                                            uint64_t now) {
  std::vector<const ppi_item *> around;
  if (inner.flags & PPI_ITEM_LOOSE) return around;
  for (const auto &item : run.items)
    if (&item != &inner && item.lane == inner.lane && IsOnHost(item, now) &&
        !(item.flags & PPI_ITEM_LOOSE) && IsBefore(item, inner))
      around.push_back(&item);
  std::sort(
      around.begin(), around.end(),
      [](const ppi_item *a, const ppi_item *b) { return IsBefore(*b, *a); });
  return around;
}

struct Stage {
  uint32_t stage, child;
  size_t depth;
};

inline Stage StageOf(const Scene &run, const ppi_item &item, uint64_t now) {
  std::vector<uint32_t> sites = {item.site};
  for (const ppi_item *outer : Around(run, item, now)) {
    if (outer->start_ns < Since(run, now)) break;
    sites.push_back(outer->site);
  }
  size_t num = sites.size();
  return {sites[num - 1], num > 1 ? sites[num - 2] : 0, num - 1};
}

// The range open on a lane that none of its other ranges lies in.
inline const ppi_item *InnermostOf(const Scene &run, uint32_t lane,
                                   uint64_t now) {
  const ppi_item *found = nullptr;
  for (const auto &item : run.items)
    if (item.lane == lane && IsOnHost(item, now) &&
        !(item.flags & PPI_ITEM_LOOSE) && (!found || IsBefore(*found, item)))
      found = &item;
  return found;
}

inline Stage DeviceStage(const Scene &run, const ppi_item &item) {
  const ppi_item *around = item.flags & PPI_ITEM_BORROWS
                               ? InnermostOf(run, item.lane, item.start_ns)
                               : nullptr;
  return around ? StageOf(run, *around, item.start_ns) : Stage{item.site, 0, 0};
}

inline const ppi_item *OnDevice(const Scene &run, uint64_t now) {
  const ppi_item *found = nullptr;
  for (const auto &item : run.items) {
    if (item.device_start_ns > now || now >= item.device_end_ns) continue;
    bool is_first = !found || item.device_start_ns < found->device_start_ns ||
                    (item.device_start_ns == found->device_start_ns &&
                     ppi_item_compare(&item, found) < 0);
    if (is_first) found = &item;
  }
  return found;
}

// UINT32_MAX: nothing queues.
uint32_t QueuedFor(const Scene &run, uint64_t now) {
  uint32_t found = UINT32_MAX;
  for (const auto &item : run.items) {
    if (!item.device_end_ns || item.start_ns > now ||
        now >= item.device_start_ns || item.device >= run.busy.size())
      continue;
    for (const auto &busy : run.busy[item.device])
      if (busy.start_ns <= now && now < busy.end_ns)
        found = std::min(found, item.device);
  }
  return found;
}

inline const ppi_item *OnHost(const Scene &run, uint64_t now) {
  const ppi_item *best = nullptr;
  auto only = std::find_if(
      run.path.begin(), run.path.end(),
      [&](const auto &at) { return at.start_ns <= now && now < at.end_ns; });
  for (const auto &item : run.items) {
    if (!IsOnHost(item, now)) continue;
    if (!(item.flags & PPI_ITEM_LOOSE) &&
        (InnermostOf(run, item.lane, now) != &item ||
         (only != run.path.end() && only->lane != item.lane)))
      continue;
    bool waits = item.flags & PPI_ITEM_WAITS;
    bool best_waits = best && best->flags & PPI_ITEM_WAITS;
    if (!best || (best_waits && !waits) ||
        (best_waits == waits && ppi_item_compare(best, &item) < 0))
      best = &item;
  }
  return best;
}

inline void AddTo(Sums *sums, ppi_where where, uint32_t device,
                  const Stage &stage, const Sum &more, bool is_child_call) {
  Sum &all = (*sums)[PlaceOf(where, device, stage.stage, 0)];
  all.ns += more.ns;
  all.calls += is_child_call ? 0 : more.calls;
  if (!stage.child) return;
  Sum &part = (*sums)[PlaceOf(where, device, stage.stage, stage.child)];
  part.ns += more.ns;
  part.calls += more.calls;
}

ppi_where HostPlace(const ppi_item &item) {
  return item.flags & PPI_ITEM_WAITS ? PPI_WHERE_WAITING : PPI_WHERE_HOST;
}

inline void AddMoment(const Scene &run, uint64_t now, Sums *sums) {
  const Sum one = {1, 0};
  if (const ppi_item *item = OnDevice(run, now))
    AddTo(sums, PPI_WHERE_DEVICE, item->device, DeviceStage(run, *item), one,
          false);
  else if (QueuedFor(run, now) != UINT32_MAX)
    AddTo(sums, PPI_WHERE_QUEUE, QueuedFor(run, now), {}, one, false);
  else if (const ppi_item *owner = OnHost(run, now))
    AddTo(sums, HostPlace(*owner), 0, StageOf(run, *owner, now), one, false);
}

inline void AddCalls(const Scene &run, const ppi_moment_unit &unit,
                     Sums *sums) {
  const Sum call = {0, 1};
  auto in_unit = [&](uint64_t time) {
    return unit.start_ns <= time && time < unit.end_ns;
  };
  for (const auto &item : run.items) {
    if (!(item.flags & PPI_ITEM_NO_HOST) && in_unit(item.start_ns)) {
      Stage stage = StageOf(run, item, item.start_ns);
      if (stage.depth < 2)
        AddTo(sums, HostPlace(item), 0, stage, call, stage.depth == 1);
    }
    if (item.device_end_ns && in_unit(item.device_start_ns)) {
      Stage stage = DeviceStage(run, item);
      AddTo(sums, PPI_WHERE_DEVICE, item.device, stage, call, false);
    }
  }
}

// Of one unit. Rows without time and calls do not show.
inline Sums Want(const Scene &run, const ppi_moment_unit &unit) {
  Sums sums;
  for (uint64_t now = unit.start_ns; now < unit.end_ns; now++)
    AddMoment(run, now, &sums);
  AddCalls(run, unit, &sums);
  return sums;
}

// ---- random runs ----

// Most ranges nest, some lie across each other, some are empty, some on no row.
inline ppi_item RandomItem(Random *random, uint64_t end) {
  ppi_item item = {};
  item.start_ns = Pick(random, end);
  item.end_ns = item.start_ns + Pick(random, 4) * Pick(random, 8);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 3));
  item.depth = static_cast<uint32_t>(Pick(random, 3));
  item.site = static_cast<uint32_t>(1 + Pick(random, 6));
  if (Pick(random, 6) == 0) item.flags |= PPI_ITEM_LOOSE;
  if (Pick(random, 5) == 0) item.flags |= PPI_ITEM_WAITS;
  if (Pick(random, 3)) return item;
  item.device = static_cast<uint32_t>(1 + Pick(random, 2));
  item.device_start_ns = 1 + item.start_ns + Pick(random, 12);
  item.device_end_ns = item.device_start_ns + Pick(random, 10);
  if (Pick(random, 2)) item.flags |= PPI_ITEM_NO_HOST;
  if (Pick(random, 2)) item.flags |= PPI_ITEM_BORROWS | PPI_ITEM_NO_HOST;
  return item;
}

inline std::vector<ppi_span> RandomStretches(Random *random, uint64_t end) {
  std::vector<ppi_span> all;
  for (uint64_t now = Pick(random, 10); now < end;) {
    uint64_t to = now + 1 + Pick(random, 12);
    all.push_back({now, to});
    now = to + 1 + Pick(random, 8);
  }
  return all;
}

inline Scene RandomScene(Random *random) {
  Scene run;
  const uint64_t end = 20 + Pick(random, 60);
  for (size_t i = Pick(random, 25); i; i--)
    run.items.push_back(RandomItem(random, end));
  std::sort(run.items.begin(), run.items.end(),
            [](const ppi_item &a, const ppi_item &b) {
              return ppi_item_compare(&a, &b) < 0;
            });
  for (size_t i = 1 + Pick(random, 4); i; i--) {
    uint64_t from = Pick(random, end);
    run.units.push_back(
        {from, from + Pick(random, end), Pick(random, 3) != 0, false, 0});
  }
  std::sort(run.units.begin(), run.units.end(),
            [](const ppi_moment_unit &a, const ppi_moment_unit &b) {
              return a.start_ns < b.start_ns;
            });
  if (Pick(random, 3) == 0) return run;
  for (int i = 0; i < 3; i++) run.busy.push_back(RandomStretches(random, end));
  return run;
}

}  // namespace pprof_test
