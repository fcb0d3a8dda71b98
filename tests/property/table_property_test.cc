// SPDX-License-Identifier: Apache-2.0
//
// Range tables against their definition, typed out as a look at all pairs.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "event_feed.h"
#include "report/table/table_fill.h"

namespace {

using pprof_test::EventFeed;

// The ranges of a run by their names, of which no two are alike.
struct Truth {
  EventFeed feed;
  std::map<std::string, pprof_event> ranges;
};

void Add(Truth *truth, pprof_event event, uint32_t batch_lane) {
  std::string name = "r" + std::to_string(truth->ranges.size());
  event.site = truth->feed.Site(name, PPROF_CATEGORY_USER_DEFINED);
  truth->ranges[name] = truth->feed.Add(batch_lane, event);
}

// Ranges of one depth and those in them, in the order of their ends.
void Nest(Truth *truth, std::mt19937_64 *random, uint32_t lane, uint32_t depth,
          uint64_t from_ns, uint64_t to_ns) {
  for (uint64_t now_ns = from_ns; now_ns < to_ns;) {
    uint64_t start_ns = now_ns + (*random)() % 4;
    uint64_t end_ns = start_ns + (*random)() % 40;
    // The parent of an empty range on a border is undefined.
    if (start_ns == end_ns && start_ns == now_ns) end_ns++;
    if (end_ns > to_ns || start_ns == to_ns) return;
    now_ns = end_ns;
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.lane = lane;
    event.depth = depth;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    switch ((*random)() % 8) {
      case 0:
        event.flags = PPROF_FLAG_ASYNC;
        break;
      case 1:
        event.kind = PPROF_KIND_DEVICE_RANGE;
        event.stream = 1;
        event.start_ns = event.end_ns = now_ns = end_ns + 1;
        if (now_ns >= to_ns) return;
        event.device_start_ns = event.start_ns + (*random)() % 100;
        event.device_end_ns = event.device_start_ns + (*random)() % 30;
        now_ns++;
        break;
      default:
        if (depth < 5) Nest(truth, random, lane, depth + 1, start_ns, end_ns);
    }
    Add(truth, event, event.kind == PPROF_KIND_RANGE ? lane : 1000);
  }
}

void Make(uint64_t seed, Truth *truth, std::mt19937_64 *random) {
  random->seed(seed);
  truth->feed.Device(1, "gpu:0");
  truth->feed.Stream(1, 1);
  for (uint32_t lane = 1; lane <= 1 + seed % 3; lane++) {
    truth->feed.Lane(lane, 100 + lane, "worker");
    Nest(truth, random, lane, 0, 1, 40 + (*random)() % 200);
  }
  auto &device = truth->feed.lanes()[1000];
  std::stable_sort(device.begin(), device.end(), [](auto &a, auto &b) {
    return a.device_end_ns < b.device_end_ns;
  });
}

bool IsAround(const pprof_event &outer, const pprof_event &range) {
  return outer.kind == PPROF_KIND_RANGE && !(outer.flags & PPROF_FLAG_ASYNC) &&
         outer.lane == range.lane && outer.depth < range.depth &&
         outer.start_ns <= range.start_ns && outer.end_ns >= range.end_ns;
}

// The deepest around it; of several that touch, any.
std::vector<std::string> Parents(const Truth &truth, const pprof_event &range) {
  std::vector<std::string> found;
  if (range.flags & PPROF_FLAG_ASYNC) return found;
  uint32_t deepest = 0;
  for (const auto &other : truth.ranges) {
    if (!IsAround(other.second, range)) continue;
    if (other.second.depth > deepest) found.clear();
    deepest = std::max(deepest, other.second.depth);
    if (other.second.depth == deepest) found.push_back(other.first);
  }
  return found;
}

// A sink that checks tables as they come.
struct Checker {
  pprof_sink base;
  ppi_table_fill fill;
  const Truth *truth;
  std::map<std::string, int> num_whole;
  std::set<std::string> again;  // of the table before: what this one has, too
  uint64_t to_ns;
};

Checker *Of(pprof_sink *sink) {
  return reinterpret_cast<Checker *>(sink);
}

std::string Name(const ppi_range_table &table, const ppi_table_ids &ids,
                 uint32_t row) {
  return ids.names[table.rows[row].name].text;
}

void CheckParent(const Checker &checker, const ppi_range_table &table,
                 const ppi_table_ids &ids, uint32_t row) {
  const std::string name = Name(table, ids, row);
  auto parents = Parents(*checker.truth, checker.truth->ranges.at(name));
  uint32_t parent = table.rows[row].parent;
  if (parent == PPI_NO_RANGE) {
    EXPECT_TRUE(parents.empty())
        << name << " lies in " << parents[0] << " in the table from "
        << table.from_ns << " to " << table.to_ns;
    return;
  }
  ASSERT_LT(parent, row);
  EXPECT_NE(std::find(parents.begin(), parents.end(), Name(table, ids, parent)),
            parents.end())
      << name << " is in " << Name(table, ids, parent);
}

void CheckRow(Checker *checker, const ppi_range_table &table,
              const ppi_table_ids &ids, uint32_t row) {
  const std::string name = Name(table, ids, row);
  const pprof_event &range = checker->truth->ranges.at(name);
  EXPECT_EQ(table.rows[row].start_ns, range.start_ns) << name;
  EXPECT_LT(table.rows[row].start_ns, table.to_ns) << name;
  EXPECT_EQ(ids.threads[table.rows[row].thread].number, 100 + range.lane)
      << name;
  EXPECT_EQ(table.rows[row].on_device != PPI_NO_RANGE,
            range.kind == PPROF_KIND_DEVICE_RANGE);
  if (table.rows[row].flags & PPI_RANGE_OPEN) {
    EXPECT_GE(table.rows[row].end_ns, table.to_ns) << name;
    EXPECT_GE(range.end_ns, table.to_ns) << name;
  } else {
    EXPECT_EQ(table.rows[row].end_ns, range.end_ns) << name;
    EXPECT_EQ(checker->num_whole[name]++, 0) << name;
  }
  if (row && table.rows[row].thread == table.rows[row - 1].thread) {
    EXPECT_GE(table.rows[row].start_ns, table.rows[row - 1].start_ns);
  }
  // Before a table that is full, parents may be left out.
  if (!checker->fill.most_rows) CheckParent(*checker, table, ids, row);
}

// A full table, too, has all ranges that begin in it. One that began just as
// the table before ended may be left out with those that do not fit there.
void CheckWhole(const Checker &checker, const ppi_range_table &table,
                const ppi_table_ids &ids) {
  std::set<std::string> found;
  for (uint32_t i = 0; i < table.num; i++) found.insert(Name(table, ids, i));
  for (const auto &range : checker.truth->ranges)
    if (range.second.start_ns > table.from_ns &&
        range.second.start_ns < table.to_ns) {
      EXPECT_TRUE(found.count(range.first)) << range.first;
    }
}

pprof_status Take(void *context, const ppi_range_table *table,
                  const ppi_table_ids *ids) {
  Checker *checker = static_cast<Checker *>(context);
  // After a full table, ranges up to the next table are left out.
  EXPECT_GE(table->from_ns, checker->to_ns);
  if (!checker->fill.most_rows) {
    EXPECT_EQ(table->from_ns, checker->to_ns);
    EXPECT_GT(table->to_ns, table->from_ns);
  }
  EXPECT_GE(table->to_ns, table->from_ns);
  CheckWhole(*checker, *table, *ids);
  checker->to_ns = table->to_ns;
  std::set<std::string> again = std::move(checker->again);
  checker->again.clear();
  for (uint32_t i = 0; i < table->num; i++) {
    again.erase(Name(*table, *ids, i));
    if (table->rows[i].flags & PPI_RANGE_ENDED)
      checker->again.insert(Name(*table, *ids, i));
  }
  EXPECT_TRUE(again.empty()) << *again.begin();
  for (uint32_t i = 0; i < table->num; i++) CheckRow(checker, *table, *ids, i);
  for (uint32_t i = 1; i < table->num; i++)
    EXPECT_GE(table->rows[i].thread, table->rows[i - 1].thread);
  return PPROF_STATUS_OK;
}

Checker MakeChecker() {
  Checker made = {};
  made.base.size = sizeof made.base;
  made.base.begin = [](pprof_sink *, const pprof_run_info *) {
    return PPROF_STATUS_OK;
  };
  made.base.define = [](pprof_sink *sink, const pprof_definition *definition) {
    return ppi_table_ids_define(&Of(sink)->fill.ids, definition);
  };
  made.base.events = [](pprof_sink *sink, const pprof_batch *batch) {
    return ppi_table_fill_events(&Of(sink)->fill, batch);
  };
  made.base.checkpoint = [](pprof_sink *sink, const pprof_checkpoint *at) {
    return ppi_table_fill_checkpoint(&Of(sink)->fill, at);
  };
  made.base.window = [](pprof_sink *, uint32_t, bool, uint64_t) {
    return PPROF_STATUS_OK;
  };
  made.base.finish = [](pprof_sink *sink, const pprof_totals *) {
    return ppi_table_fill_finish(&Of(sink)->fill) ? PPROF_STATUS_OK
                                                  : PPROF_STATUS_NO_MEMORY;
  };
  return made;
}

void Check(uint64_t num_seeds, size_t most_rows) {
  for (uint64_t seed = 1; seed <= num_seeds && !testing::Test::HasFailure();
       seed++) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random;
    Truth truth;
    Make(seed, &truth, &random);
    Checker checker = MakeChecker();
    checker.truth = &truth;
    checker.fill.reader = Take;
    checker.fill.context = &checker;
    checker.fill.most_rows = most_rows;
    ASSERT_EQ(truth.feed.DeliverAs(&checker.base, &random, seed % 6),
              PPROF_STATUS_OK);
    EXPECT_TRUE(checker.again.empty()) << *checker.again.begin();
    if (!most_rows) {
      EXPECT_EQ(checker.num_whole.size(), truth.ranges.size());
    }
    ppi_table_fill_clear(&checker.fill);
  }
}

TEST(TableProperty, NestsAsItsDefinitionSays) {
  Check(3000, 0);
}

TEST(TableProperty, AFullOneHasAllUpToItsEnd) {
  Check(1000, 10);
}

}  // namespace
