// SPDX-License-Identifier: Apache-2.0
//
// The walk back over lanes answers the same as the walk over all borders, or
// reports that it cannot answer. Ranges are random and nested and have device
// work. They span few nanoseconds, so that many borders coincide.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/mem.h"
#include "path_oracle.h"
#include "report/answer/step_path.h"
#include "report/answer/walk_back.h"

namespace pprof_test {
namespace {

using Random = std::mt19937_64;
using Cells =
    std::map<std::pair<uint64_t, uint64_t>, std::pair<uint64_t, uint64_t>>;

uint64_t Pick(Random *random, uint64_t n) {
  return n ? (*random)() % n : 0;
}

struct Scene {
  std::vector<ppi_item> items, open, devices;
  std::vector<ppi_moment_unit> units;
  std::vector<ppi_lane_stretch> path;  // covers a unit or nothing of it
  uint64_t from, to;
  uint64_t num_sites;  // of those that have ended; the sixth waits
};

bool IsOfOneLane(const Scene &run) {
  auto is_first = [](const ppi_item &item) { return item.lane == 1; };
  return run.num_sites < 6 && run.devices.empty() && !run.items.empty() &&
         std::all_of(run.items.begin(), run.items.end(), is_first) &&
         std::all_of(run.open.begin(), run.open.end(), is_first);
}

bool IsBefore(const ppi_item &a, const ppi_item &b) {
  return ppi_item_compare(&a, &b) < 0;
}

// Adds ranges inside [start, end), inner ones first.
void AddInside(Scene *to, Random *random, ppi_item outer, uint32_t most) {
  uint64_t at = outer.start_ns;
  for (uint64_t n = Pick(random, 5); n && outer.depth < most; n--) {
    ppi_item item = {};
    item.start_ns = at + Pick(random, 4);
    item.end_ns = item.start_ns + Pick(random, 30) * Pick(random, 3);
    item.end_ns = std::min(item.end_ns, outer.end_ns);
    if (item.start_ns > item.end_ns) return;
    at = item.end_ns;
    item.lane = outer.lane;
    item.depth = outer.depth + 1;
    item.site = static_cast<uint32_t>(1 + Pick(random, to->num_sites));
    if (item.site == 6) item.flags = PPI_ITEM_WAITS;
    AddInside(to, random, item, most);
    to->items.push_back(item);
  }
}

void AddOverlap(Scene *to, Random *random) {
  ppi_item item = {};
  item.start_ns = Pick(random, 200);
  item.end_ns = item.start_ns + Pick(random, 60);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 3));
  item.site = 1;
  to->items.push_back(item);
}

// Adds open nested ranges after all others of the lane, and ended ranges in the
// innermost.
void AddOpen(Scene *to, Random *random, uint32_t lane) {
  ppi_item item = {};
  for (const auto &other : to->items)
    if (other.lane == lane)
      item.start_ns = std::max(item.start_ns, other.end_ns);
  const auto num = static_cast<uint32_t>(Pick(random, 4));
  for (uint32_t depth = 0; depth < num; depth++) {
    item.start_ns += Pick(random, 5);
    item.end_ns = UINT64_MAX;
    item.lane = lane;
    item.depth = depth;
    item.site = static_cast<uint32_t>(4 + Pick(random, 3));
    item.flags = item.site == 6 ? PPI_ITEM_WAITS : 0;
    to->open.push_back(item);
  }
  item.end_ns = item.start_ns + Pick(random, 60);
  if (num && Pick(random, 2)) AddInside(to, random, item, num + 2);
}

// Some were submitted before the walk, in what only that one saw.
void AddDevice(Scene *to, Random *random) {
  ppi_item item = {};
  item.start_ns = item.end_ns = Pick(random, 200);
  item.device_start_ns = item.start_ns + Pick(random, 30);
  if (Pick(random, 200) == 0) item.device_start_ns = item.start_ns / 2;
  item.device_end_ns = item.device_start_ns + Pick(random, 25);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 6));
  item.device = static_cast<uint32_t>(1 + Pick(random, 2));
  item.site = static_cast<uint32_t>(11 + Pick(random, 3));
  item.flags = PPI_ITEM_NO_HOST;
  if (Pick(random, 4)) item.flags |= PPI_ITEM_BORROWS;
  if (Pick(random, 8) == 0) item.device_start_ns = item.device_end_ns = 0;
  if (Pick(random, 3) == 0) item.stage = 4;
  to->devices.push_back(item);
}

// Units that overlap have no path. Its stretches go from border to border.
void AddPath(Scene *to, Random *random) {
  std::set<uint64_t> borders;
  for (const auto &item : to->items)
    borders.insert({item.start_ns, item.end_ns});
  for (size_t i = 0; i + 1 < to->units.size(); i++) {
    const ppi_moment_unit &unit = to->units[i];
    uint64_t at = unit.start_ns;
    if (at < to->from || unit.end_ns > to->to || unit.end_ns == UINT64_MAX ||
        Pick(random, 2))
      continue;
    if (!to->path.empty() && to->path.back().end_ns > at) continue;
    for (uint64_t end; at < unit.end_ns; at = end) {
      auto border = borders.upper_bound(at + Pick(random, 20));
      end = border == borders.end() ? unit.end_ns
                                    : std::min(unit.end_ns, *border);
      to->path.push_back({at, end, static_cast<uint32_t>(1 + Pick(random, 5))});
    }
  }
}

Scene Make(Random *random) {
  Scene to = {};
  const bool is_plain = Pick(random, 4) == 0;
  const auto num_lanes =
      static_cast<uint32_t>(is_plain ? 1 : 1 + Pick(random, 5));
  to.num_sites = is_plain ? 5 : 5 + Pick(random, 2);
  for (uint32_t lane = 1; lane <= num_lanes; lane++) {
    ppi_item all = {};
    all.end_ns = 40 + Pick(random, 200);
    all.lane = lane;
    AddInside(&to, random, all, 1 + static_cast<uint32_t>(Pick(random, 4)));
    if (Pick(random, 3) == 0) AddOpen(&to, random, lane);
  }
  if (!is_plain && Pick(random, 5) == 0) AddOverlap(&to, random);
  for (uint64_t n = Pick(random, 2) * Pick(random, 12); !is_plain && n; n--)
    AddDevice(&to, random);
  std::sort(to.devices.begin(), to.devices.end(), IsBefore);
  for (uint64_t at = Pick(random, 30), n = Pick(random, 6); n; n--) {
    uint64_t end = at + Pick(random, 60);
    to.units.push_back(
        {at, Pick(random, 9) ? end : UINT64_MAX, true, false, 0});
    at = end + Pick(random, 8) - std::min<uint64_t>(end, Pick(random, 4));
  }
  to.units.push_back(
      {Pick(random, 40), 20 + Pick(random, 300), false, false, 0});
  to.from = Pick(random, 2) ? Pick(random, 60) : 0;
  to.to = Pick(random, 2) ? UINT64_MAX : to.from + 1 + Pick(random, 200);
  // The walk never asks for a unit without an end at the end.
  for (auto &unit : to.units)
    if (!to.open.empty() && to.to == UINT64_MAX)
      unit.end_ns = std::min<uint64_t>(unit.end_ns, 500);
  if (!is_plain) AddPath(&to, random);
  return to;
}

struct Accounts {
  explicit Accounts(size_t num) : items(num) {}
  ~Accounts() {
    for (auto &item : items) ppi_account_clear(&item);
  }
  Accounts(const Accounts &) = delete;
  Accounts &operator=(const Accounts &) = delete;
  Cells Of(size_t unit) const {
    Cells cells;
    const ppi_account &account = items[unit];
    for (size_t i = 0; i < account.places.num; i++)
      cells[{account.places.keys[i].high, account.places.keys[i].low}] = {
          account.cells[i].ns, account.cells[i].calls};
    return cells;
  }
  std::vector<ppi_account> items;
};

bool Tell(void *context, const ppi_moment *moment) {
  auto *accounts = static_cast<Accounts *>(context);
  return ppi_account_add(&accounts->items.at(moment->unit), moment);
}

using Stages = std::vector<std::pair<uint32_t, uint32_t>>;

Stages StagesOf(const std::vector<ppi_item> &items) {
  Stages stages;
  for (const auto &item : items)
    if (item.flags & PPI_ITEM_NO_HOST)
      stages.push_back({item.stage, item.child});
  return stages;
}

Stages WalkAll(const Scene &run, Accounts *out) {
  std::vector<ppi_item> items = run.items;
  items.insert(items.end(), run.open.begin(), run.open.end());
  items.insert(items.end(), run.devices.begin(), run.devices.end());
  std::sort(items.begin(), items.end(), IsBefore);
  ppi_moment_room room = {};
  ppi_moments walk = {};
  walk.items = items.data();
  walk.num_items = items.size();
  walk.units = run.units.data();
  walk.num_units = run.units.size();
  walk.from_ns = run.from;
  walk.to_ns = run.to;
  walk.lanes = run.path.data();
  walk.num_lanes = run.path.size();
  walk.on_moment = Tell;
  walk.context = out;
  EXPECT_TRUE(ppi_moments_walk(&walk, &room));
  ppi_moment_room_clear(&room);
  return StagesOf(items);
}

// Hands some ranges over to the lane; the later ones stay in `rest`.
void ShowLane(ppi_answer_lanes *lanes, uint32_t id,
              std::vector<ppi_buffered> all, ppi_hold *rest) {
  std::sort(all.begin(), all.end(),
            [](const ppi_buffered &a, const ppi_buffered &b) {
              return ppi_buffered_order(&a, &b) < 0;
            });
  ppi_answer_lane *lane = ppi_answer_lanes_at(lanes, id);
  ASSERT_NE(nullptr, lane);
  size_t num_passed = all[0].start_ns % (all.size() + 1);
  for (size_t i = 0; i < all.size(); i++)
    EXPECT_TRUE(ppi_hold_add_slow(i < num_passed ? &lane->passed : rest,
                                  lanes->pool, &all[i]));
}

void ShowLanes(ppi_answer_lanes *lanes, const Scene &run,
               std::map<uint32_t, ppi_hold> *rest) {
  std::map<uint32_t, std::vector<ppi_buffered>> ranges;
  for (const auto &item : run.items)
    ranges[item.lane].push_back(
        {item.start_ns, item.end_ns, item.site,
         static_cast<uint16_t>(item.depth),
         static_cast<uint16_t>(item.flags & PPI_ITEM_WAITS ? PPI_BUFFERED_WAITS
                                                           : 0)});
  for (const auto &lane : ranges)
    ShowLane(lanes, lane.first, lane.second, &(*rest)[lane.first]);
  EXPECT_TRUE(ppi_answer_lanes_begin(lanes));
  for (const auto &lane : *rest)
    EXPECT_TRUE(ppi_answer_lanes_show(lanes, lane.first, &lane.second));
  EXPECT_EQ(run.items.size(), ppi_answer_lanes_count(lanes));
}

bool WalkBack(const Scene &run, Accounts *out, Stages *stages) {
  ppi_hold_pool pool = {};
  ppi_answer_lanes lanes = {};
  lanes.pool = &pool;
  std::map<uint32_t, ppi_hold> rest;
  std::vector<ppi_item> devices = run.devices;
  ShowLanes(&lanes, run, &rest);
  for (const auto &item : run.open)
    EXPECT_NE(nullptr, ppi_answer_lanes_at(&lanes, item.lane));
  for (const auto &item : devices)
    EXPECT_NE(nullptr, ppi_answer_lanes_at(&lanes, item.lane));
  ppi_walk_back walk = {};
  walk.lanes = &lanes;
  walk.items = devices.data();
  walk.num_items = devices.size();
  walk.open = run.open.data();
  walk.num_open = run.open.size();
  walk.units = run.units.data();
  walk.num_units = run.units.size();
  walk.path = run.path.data();
  walk.num_path = run.path.size();
  walk.from_ns = run.from;
  walk.to_ns = run.to;
  walk.accounts = out->items.data();
  bool is_whole = false;
  bool is_mixed = lanes.is_mixed;
  if (!is_mixed) {
    EXPECT_TRUE(ppi_walk_back_run(&walk, &is_whole));
  }
  for (auto &lane : rest) ppi_hold_clear(&lane.second, &pool);
  ppi_answer_lanes_clear(&lanes);
  ppi_hold_pool_clear(&pool);
  *stages = StagesOf(devices);
  return is_whole;
}

TEST(WalkBackPropertyTest, ItTellsWhatTheWalkOverAllBordersTells) {
  size_t num_whole = 0, num_of_one_lane = 0, num_with_path = 0;
  const size_t num = 20000;
  for (uint64_t seed = 0; seed < num; seed++) {
    Random random(seed);
    const Scene run = Make(&random);
    Accounts all(run.units.size()), back(run.units.size());
    Stages stages;
    const Stages want = WalkAll(run, &all);
    if (!WalkBack(run, &back, &stages)) continue;
    num_whole++;
    num_of_one_lane += IsOfOneLane(run);
    num_with_path += !run.path.empty();
    ASSERT_EQ(want, stages) << "seed " << seed;
    for (size_t i = 0; i < run.units.size(); i++)
      ASSERT_EQ(all.Of(i), back.Of(i)) << "seed " << seed << ", unit " << i;
  }
  EXPECT_GT(num_whole, num / 3);
  EXPECT_GT(num_of_one_lane, num / 40);
  EXPECT_GT(num_with_path, num / 10);
  EXPECT_LT(num_whole, num);
}

// ---- the longest path through steps ----

// Lengths of a few nanoseconds and of milliseconds; a third is on one lane.
ppi_item RandomPathItem(Random *random, uint64_t end) {
  const uint64_t lengths[] = {3, 200, 5000, 90000, 400000, 3000000};
  ppi_item item = {};
  uint64_t tick = lengths[Pick(random, 6)];
  item.start_ns = Pick(random, 2) ? Pick(random, end / tick) * tick
                                  : Pick(random, 200) * (end / 200);
  item.end_ns = item.start_ns + (1 + Pick(random, 6)) * tick;
  if (Pick(random, 3) == 0) item.end_ns += 1 + Pick(random, 100000);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 2) * Pick(random, 3));
  item.site = 1;
  if (Pick(random, 8) == 0) item.flags = PPI_ITEM_WAITS;
  return item;
}

TEST(StepPathTest, ItIsWhatTheDefinitionSays) {
  size_t num_of_others = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    Random random(seed);
    const uint64_t end = 20000000;
    std::vector<ppi_item> items;
    std::vector<ppi_moment_unit> units;
    for (size_t i = Pick(&random, 60); i; i--)
      items.push_back(RandomPathItem(&random, end));
    std::sort(items.begin(), items.end(), IsBefore);
    for (uint64_t now = 0; now < end; now += 200000) {
      uint64_t length = 200000 * (1 + Pick(&random, 40));
      units.push_back({now, now + length, true, Pick(&random, 9) == 0,
                       static_cast<uint32_t>(Pick(&random, 20))});
      now += length - (Pick(&random, 9) ? 200000 : 400000);
    }
    ppi_walk_back walk = {};
    walk.items = items.data();
    walk.num_items = items.size();
    walk.units = units.data();
    walk.num_units = units.size();
    walk.to_ns = UINT64_MAX;
    ppi_step_path path = {};
    ASSERT_TRUE(ppi_step_path_find(&walk, &path));
    const auto wanted = PathOf(items, units);
    std::set<uint64_t> borders;
    for (const auto &at : wanted) borders.insert({at.start_ns, at.end_ns});
    for (size_t i = 0; i < path.num; i++)
      borders.insert({path.items[i].start_ns, path.items[i].end_ns});
    for (uint64_t now : borders) {
      auto at = [&](const ppi_lane_stretch &of) {
        return of.start_ns <= now && now < of.end_ns;
      };
      auto want = std::find_if(wanted.begin(), wanted.end(), at);
      auto is = std::find_if(path.items, path.items + path.num, at);
      ASSERT_EQ(want == wanted.end() ? 0 : want->lane,
                is == path.items + path.num ? 0 : is->lane)
          << "seed " << seed << " at " << now;
    }
    num_of_others += path.num > 1;
    ppi_free(path.items);
  }
  EXPECT_GT(num_of_others, 1000u);
}

}  // namespace
}  // namespace pprof_test
