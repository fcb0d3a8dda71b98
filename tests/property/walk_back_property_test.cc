// SPDX-License-Identifier: Apache-2.0
//
// The walk back over lanes tells what the walk over all borders tells, of
// random ranges in one another, on few nanoseconds, so that many meet; and it
// says so where ranges are not in one another.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

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
  std::vector<ppi_item> items, open;
  std::vector<ppi_moment_unit> units;
  uint64_t from, to;
};

// What lies in [start, end), inner ones first.
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
    item.site = static_cast<uint32_t>(1 + Pick(random, 6));
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

void AddOpen(Scene *to, Random *random, uint32_t lane) {
  uint64_t last = 0;
  for (const auto &item : to->items)
    if (item.lane == lane) last = std::max(last, item.end_ns);
  for (uint32_t depth = 0; depth < Pick(random, 3); depth++) {
    ppi_item item = {};
    item.start_ns = last += Pick(random, 5);
    item.end_ns = UINT64_MAX;
    item.lane = lane;
    item.depth = depth;
    item.site = static_cast<uint32_t>(1 + Pick(random, 6));
    if (item.site == 6) item.flags = PPI_ITEM_WAITS;
    to->open.push_back(item);
  }
}

Scene Make(Random *random) {
  Scene to = {};
  const auto num_lanes = static_cast<uint32_t>(1 + Pick(random, 5));
  for (uint32_t lane = 1; lane <= num_lanes; lane++) {
    ppi_item all = {};
    all.end_ns = 40 + Pick(random, 200);
    all.lane = lane;
    AddInside(&to, random, all, 1 + static_cast<uint32_t>(Pick(random, 4)));
    if (Pick(random, 3) == 0) AddOpen(&to, random, lane);
  }
  if (Pick(random, 5) == 0) AddOverlap(&to, random);
  for (uint64_t at = Pick(random, 30), n = Pick(random, 6); n; n--) {
    uint64_t end = at + Pick(random, 60);
    to.units.push_back({at, Pick(random, 9) ? end : UINT64_MAX, true});
    at = end + Pick(random, 8) - std::min<uint64_t>(end, Pick(random, 4));
  }
  to.units.push_back({Pick(random, 40), 20 + Pick(random, 300), false});
  to.from = Pick(random, 2) ? Pick(random, 60) : 0;
  to.to = to.open.empty() && Pick(random, 2) ? UINT64_MAX
                                             : to.from + 1 + Pick(random, 200);
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

pprof_status Tell(void *context, const ppi_moment *moment) {
  auto *accounts = static_cast<Accounts *>(context);
  return ppi_account_add(&accounts->items.at(moment->unit), moment);
}

void WalkAll(const Scene &run, Accounts *out) {
  std::vector<ppi_item> items = run.items;
  items.insert(items.end(), run.open.begin(), run.open.end());
  std::sort(items.begin(), items.end(),
            [](const ppi_item &a, const ppi_item &b) {
              return ppi_item_compare(&a, &b) < 0;
            });
  ppi_moment_room room = {};
  ppi_moments walk = {};
  walk.items = items.data();
  walk.num_items = items.size();
  walk.units = run.units.data();
  walk.num_units = run.units.size();
  walk.from_ns = run.from;
  walk.to_ns = run.to;
  walk.on_moment = Tell;
  walk.context = out;
  EXPECT_EQ(PPROF_STATUS_OK, ppi_moments_walk(&walk, &room));
  ppi_moment_room_clear(&room);
}

bool WalkBack(const Scene &run, Accounts *out) {
  ppi_answer_lanes lanes = {};
  for (const auto &item : run.items)
    EXPECT_EQ(PPROF_STATUS_OK, ppi_answer_lanes_add(&lanes, &item));
  for (const auto &item : run.open)
    EXPECT_NE(nullptr, ppi_answer_lanes_at(&lanes, item.lane));
  EXPECT_EQ(PPROF_STATUS_OK, ppi_answer_lanes_sort(&lanes));
  EXPECT_EQ(run.items.size(), ppi_answer_lanes_count(&lanes));
  const ppi_walk_back walk = {
      &lanes,           run.open.data(), run.open.size(), run.units.data(),
      run.units.size(), run.from,        run.to,          out->items.data()};
  bool is_whole = false;
  EXPECT_EQ(PPROF_STATUS_OK, ppi_walk_back_run(&walk, &is_whole));
  ppi_answer_lanes_clear(&lanes);
  return is_whole;
}

TEST(WalkBackPropertyTest, ItTellsWhatTheWalkOverAllBordersTells) {
  size_t num_whole = 0;
  const size_t num = 20000;
  for (uint64_t seed = 0; seed < num; seed++) {
    Random random(seed);
    const Scene run = Make(&random);
    Accounts all(run.units.size()), back(run.units.size());
    WalkAll(run, &all);
    if (!WalkBack(run, &back)) continue;
    num_whole++;
    for (size_t i = 0; i < run.units.size(); i++)
      ASSERT_EQ(all.Of(i), back.Of(i)) << "seed " << seed << ", unit " << i;
  }
  EXPECT_GT(num_whole, num / 3);
  EXPECT_LT(num_whole, num);
}

}  // namespace
}  // namespace pprof_test
