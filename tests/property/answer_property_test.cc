// SPDX-License-Identifier: Apache-2.0
//
// Checks where time goes against an oracle. The oracle finds the owner of every
// nanosecond of random runs, by the definition in answer/moments.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "answer_oracle.h"
#include "event_feed.h"
#include "findings_runs.h"
#include "jobs.h"
#include "path_oracle.h"
#include "pprof/report.h"
#include "report/answer/account.h"
#include "report/report.h"
#include "tests/support/long_run.h"

namespace pprof_test {
namespace {

// ---- the walk ----

struct Told {
  std::vector<Sums> units;
};

bool OnMoment(void *context, const ppi_moment *moment) {
  Told *told = static_cast<Told *>(context);
  Sums &sums = told->units.at(moment->unit);
  const Stage stage = {moment->stage, moment->child, 0};
  Sum &all = sums[PlaceOf(moment->where, moment->device, stage.stage, 0)];
  all.ns += moment->ns;
  all.calls += moment->stage_calls;
  if (!stage.child) return true;
  Sum &part =
      sums[PlaceOf(moment->where, moment->device, stage.stage, stage.child)];
  part.ns += moment->ns;
  part.calls += moment->child_calls;
  return true;
}

// In one piece, or cut at the times of `cuts`.
Told Walk(Scene run, const std::vector<uint64_t> &cuts) {
  Told told;
  told.units.resize(run.units.size());
  std::vector<ppi_span_list> busy;
  for (auto &stretches : run.busy)
    busy.push_back({stretches.data(), stretches.size(), stretches.size()});
  ppi_moment_room room = {};
  uint64_t from = 0;
  for (uint64_t to : cuts) {
    ppi_moments walk = {};
    walk.items = run.items.data();
    walk.num_items = run.items.size();
    walk.units = run.units.data();
    walk.num_units = run.units.size();
    walk.from_ns = from;
    walk.to_ns = to;
    walk.busy = busy.empty() ? nullptr : busy.data();
    walk.num_devices = busy.size();
    walk.on_moment = OnMoment;
    walk.context = &told;
    EXPECT_TRUE(ppi_moments_walk(&walk, &room));
    from = to;
  }
  ppi_moment_room_clear(&room);
  return told;
}

std::string Text(const Sums &sums) {
  std::string text;
  for (const auto &sum : sums) {
    int where;
    uint32_t device, stage, child;
    std::tie(where, device, stage, child) = sum.first;
    if (!sum.second.ns && !sum.second.calls) continue;
    text += "where " + std::to_string(where) + " device " +
            std::to_string(device) + " stage " + std::to_string(stage) + "/" +
            std::to_string(child) + ": " + std::to_string(sum.second.ns) +
            " ns, " + std::to_string(sum.second.calls) + " calls\n";
  }
  return text;
}

TEST(AnswerPropertyTest, EveryNanosecondIsWhatTheDefinitionSays) {
  const pprof_test::DaysSeeds seeds(3000, 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    Random random(seed);
    Scene run = RandomScene(&random);
    std::vector<uint64_t> cuts;
    for (size_t i = Pick(&random, 5); i; i--) cuts.push_back(Pick(&random, 80));
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(UINT64_MAX);
    Told whole = Walk(run, {UINT64_MAX}), pieces = Walk(run, cuts);
    for (size_t i = 0; i < run.units.size(); i++) {
      std::string want = Text(Want(run, run.units[i]));
      ASSERT_EQ(want, Text(whole.units[i])) << "seed " << seed << " unit " << i;
      ASSERT_EQ(want, Text(pieces.units[i])) << "seed " << seed << " cut";
    }
  }
}

// ---- reports ----

// A run for a report, and the same as the oracle's scene. Of two names two
// sites each: they are one stage.
struct Reported {
  EventFeed feed;
  Scene scene;  // its frames are the steps, in order
  std::vector<bool> is_cut;
  std::map<uint32_t, std::string> names;
  std::vector<ppi_span> windows;
};

struct SiteKind {
  const char *name;
  uint32_t category;
};
const SiteKind kHostSites[] = {{"load", PPROF_CATEGORY_DATALOADER},
                               {"model", PPROF_CATEGORY_FORWARD},
                               {"reduce", PPROF_CATEGORY_COMMUNICATION},
                               {"model", PPROF_CATEGORY_USER_DEFINED},
                               {"post", PPROF_CATEGORY_POSTPROCESS}};
const SiteKind kDeviceSites[] = {{"gemm", PPROF_CATEGORY_KERNEL},
                                 {"copy", PPROF_CATEGORY_MEMCPY},
                                 {"model", PPROF_CATEGORY_INFERENCE}};

pprof_event EventOf(const ppi_item &item, uint32_t stream) {
  pprof_event event = {};
  event.kind = stream ? PPROF_KIND_DEVICE_RANGE : PPROF_KIND_RANGE;
  event.start_ns = item.start_ns;
  event.end_ns = item.end_ns;
  event.device_start_ns = item.device_start_ns;
  event.device_end_ns = item.device_end_ns;
  event.site = item.site;
  event.lane = item.lane;
  event.depth = item.depth;
  event.stream = stream;
  if (item.flags & PPI_ITEM_LOOSE) event.flags |= PPROF_FLAG_ASYNC;
  return event;
}

void AddHost(Reported *to, Random *random, uint64_t end) {
  const SiteKind &kind = kHostSites[Pick(random, 5)];
  ppi_item item = {};
  item.start_ns = Pick(random, end);
  item.end_ns = item.start_ns + Pick(random, 4) * Pick(random, 12);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 3));
  item.depth = static_cast<uint32_t>(Pick(random, 3));
  item.site = to->feed.Site(kind.name, kind.category);
  to->names[item.site] = kind.name;
  if (Pick(random, 6) == 0) item.flags |= PPI_ITEM_LOOSE;
  bool is_loose = item.flags & PPI_ITEM_LOOSE;
  pprof_event event = EventOf(item, 0);
  if (kind.category == PPROF_CATEGORY_COMMUNICATION)
    item.flags |= PPI_ITEM_WAITS;
  to->feed.Add(is_loose ? 0 : item.lane, event);
  to->scene.items.push_back(item);
}

// Steps begin after it. On its own thread it lies around all later ranges.
ppi_item AddUnended(Reported *to, Random *random, uint64_t end, uint32_t lane) {
  const SiteKind kinds[] = {{"serve", PPROF_CATEGORY_USER_DEFINED},
                            {"listen", PPROF_CATEGORY_COMMUNICATION}};
  const SiteKind &kind = kinds[Pick(random, 2)];
  ppi_item item = {};
  item.start_ns = Pick(random, end);
  item.end_ns = UINT64_MAX;
  item.lane = lane;
  item.site = to->feed.Site(kind.name, kind.category);
  to->names[item.site] = kind.name;
  if (Pick(random, 4) == 0) item.flags |= PPI_ITEM_LOOSE;
  to->feed.NeverEnds(EventOf(item, 0));
  if (kind.category == PPROF_CATEGORY_COMMUNICATION)
    item.flags |= PPI_ITEM_WAITS;
  return item;
}

void AddDevice(Reported *to, Random *random, uint64_t end) {
  const SiteKind &kind = kDeviceSites[Pick(random, 3)];
  uint32_t stream = static_cast<uint32_t>(1 + Pick(random, 3));
  ppi_item item = {};
  item.start_ns = Pick(random, end);
  item.end_ns = item.start_ns + Pick(random, 3);
  item.lane = static_cast<uint32_t>(1 + Pick(random, 3));
  item.site = to->feed.Site(kind.name, kind.category);
  to->names[item.site] = kind.name;
  item.device = stream == 3 ? 2 : 1;
  item.device_start_ns = item.start_ns + 1 + Pick(random, 12);
  item.device_end_ns = item.device_start_ns + Pick(random, 10);
  if (kind.category != PPROF_CATEGORY_INFERENCE)
    item.flags |= PPI_ITEM_BORROWS | PPI_ITEM_NO_HOST;
  pprof_event event = EventOf(item, stream);
  if (Pick(random, 4) == 0) {
    event.flags |= PPROF_FLAG_PAIRED;
    item.flags |= PPI_ITEM_NO_HOST;
  }
  to->feed.Add(1000 + stream, event);
  to->scene.items.push_back(item);
}

void AddSteps(Reported *to, Random *random, uint64_t end) {
  for (uint64_t now = Pick(random, 20); now < end;) {
    uint64_t to_ns = now + 1 + Pick(random, 25);
    pprof_event &step = to->feed.Step(now, to_ns);
    bool is_cut = Pick(random, 6) == 0;
    if (is_cut) step.flags |= PPROF_FLAG_CLIPPED;
    to->scene.units.push_back({now, to_ns, true, is_cut, step.lane});
    to->is_cut.push_back(is_cut);
    now = std::max(now + 1, to_ns + Pick(random, 8) - Pick(random, 6));
  }
}

void Define(Reported *to) {
  for (uint32_t lane = 1; lane <= 3; lane++) {
    to->feed.Lane(lane, 100 + lane, "worker");
    to->feed.Lane(1000 + lane, 0, "stream");
  }
  to->feed.Device(1, "gpu:0");
  to->feed.Device(2, "gpu:1");
  for (uint32_t stream = 1; stream <= 3; stream++)
    to->feed.Stream(stream, stream == 3 ? 2 : 1);
}

// A lane delivers its ranges in the order of their ends.
void SortLanes(EventFeed *feed) {
  for (auto &lane : feed->lanes())
    std::stable_sort(lane.second.begin(), lane.second.end(),
                     [](const pprof_event &a, const pprof_event &b) {
                       return std::max(a.end_ns, a.device_end_ns) <
                              std::max(b.end_ns, b.device_end_ns);
                     });
}

void Make(Reported *to, Random *random) {
  const uint64_t end = 40 + Pick(random, 80);
  Define(to);
  for (size_t i = Pick(random, 25); i; i--) AddHost(to, random, end);
  for (size_t i = Pick(random, 10); i; i--) AddDevice(to, random, end);
  if (Pick(random, 3)) AddSteps(to, random, end);
  SortLanes(&to->feed);
  uint64_t start = Pick(random, end);
  for (size_t i = 1 + Pick(random, 5); i; i--) {
    uint64_t middle = start + 1 + Pick(random, 30);
    to->windows.push_back({start, middle});
    start = middle + Pick(random, 5);
  }
  to->windows.push_back({start, start + end + 40});
  for (const auto &window : to->windows)
    to->feed.AddWindow(window.start_ns, window.end_ns);
}

// ---- the figures, and what they should be ----

struct Row {
  uint64_t ns = 0, calls = 0, num_units = 0, max_ns = 0;
};
using Rows = std::map<std::string, Row>;

const char *NameOf(ppi_where where) {
  const char *const names[] = {"device",  "queue",     "host",  "waiting",
                               "between", "line",      "held",  "batch",
                               "idle",    "hand-over", "paused"};
  return names[where];
}

// Of sites of one name, in one unit.
void AddUnit(const Reported &run, const Sums &sums, uint64_t length,
             Rows *rows) {
  std::map<std::string, Sum> unit;
  uint64_t told = 0;
  for (const auto &sum : sums) {
    int where;
    uint32_t device, stage, child;
    std::tie(where, device, stage, child) = sum.first;
    std::string key = run.names.at(stage) + "/" +
                      (child ? run.names.at(child) : "") + " " +
                      NameOf(static_cast<ppi_where>(where)) + " " +
                      (device ? "gpu:" + std::to_string(device - 1) : "");
    unit[key].ns += sum.second.ns;
    unit[key].calls += sum.second.calls;
    if (!child) told += sum.second.ns;
  }
  unit["/ between "].ns = length - told;
  for (const auto &sum : unit) {
    Row &row = (*rows)[sum.first];
    row.ns += sum.second.ns;
    row.calls += sum.second.calls;
    row.num_units += sum.second.ns > 0;
    row.max_ns = std::max(row.max_ns, sum.second.ns);
  }
}

Sums Joined(Sums into, const Sums &from) {
  for (const auto &sum : from) {
    into[sum.first].ns += sum.second.ns;
    into[sum.first].calls += sum.second.calls;
  }
  return into;
}

// From the first begin to the last end, on the host and on devices; everything
// where there is neither.
ppi_span WholeOf(const Scene &run) {
  ppi_span whole = {UINT64_MAX, 0};
  for (const auto &item : run.items) {
    if (!(item.flags & PPI_ITEM_NO_HOST)) {
      whole.start_ns = std::min(whole.start_ns, item.start_ns);
      whole.end_ns = std::max(whole.end_ns, item.end_ns);
    }
    if (!item.device_end_ns) continue;
    whole.start_ns = std::min(whole.start_ns, item.device_start_ns);
    whole.end_ns = std::max(whole.end_ns, item.device_end_ns);
  }
  return whole.start_ns == UINT64_MAX ? ppi_span{0, UINT64_MAX} : whole;
}

Rows WantedRows(Reported *run, bool by_step) {
  Rows rows;
  Sums all;
  uint64_t wall = 0;
  std::sort(run->scene.items.begin(), run->scene.items.end(),
            [](const ppi_item &a, const ppi_item &b) {
              return ppi_item_compare(&a, &b) < 0;
            });
  run->scene.path = pprof_test::PathOf(run->scene.items, run->scene.units);
  for (size_t i = 0; i < run->is_cut.size() && by_step; i++) {
    const ppi_moment_unit &step = run->scene.units[i];
    if (!run->is_cut[i])
      AddUnit(*run, Want(run->scene, step), step.end_ns - step.start_ns, &rows);
  }
  if (by_step) return rows;
  const ppi_span whole = WholeOf(run->scene);
  for (const auto &window : run->windows) {
    all = Joined(all, Want(run->scene,
                           {window.start_ns, window.end_ns, false, false, 0}));
    uint64_t from = std::max(window.start_ns, whole.start_ns);
    wall += std::max(std::min(window.end_ns, whole.end_ns), from) - from;
  }
  AddUnit(*run, all, wall, &rows);
  return rows;
}

std::string Text(const Rows &rows) {
  std::string text;
  for (const auto &row : rows)
    if (row.second.ns || row.second.calls)
      text += row.first + ": " + std::to_string(row.second.ns) + " ns, " +
              std::to_string(row.second.calls) + " calls, " +
              std::to_string(row.second.num_units) + " units, max " +
              std::to_string(row.second.max_ns) + "\n";
  return text;
}

Rows RowsOf(const ppi_answer &answer) {
  Rows rows;
  uint64_t sum = 0;
  for (size_t i = 0; i < answer.num_rows; i++) {
    const ppi_answer_row &row = answer.rows[i];
    std::string key = std::string(row.name) + "/" + row.child + " " +
                      NameOf(row.where) + " " + row.device;
    rows[key] = {row.total_ns, row.calls, row.num_units, row.max_ns};
    EXPECT_EQ(row.num_units, row.times.n) << key;
    if (!*row.child) sum += row.total_ns;
  }
  EXPECT_EQ(answer.total_ns, sum);
  EXPECT_EQ(answer.num_units, answer.times.n);
  return rows;
}

class Report {
 public:
  Report(EventFeed *feed, Random *random, size_t num_checkpoints,
         bool one_way = false, ppi_jobs *jobs = nullptr) {
    EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report_));
    ppi_report_details details = {};
    details.requests = details.answer = true;
    details.one_way = one_way;
    details.jobs = jobs;
    details.much_pages = 1;
    ppi_report_set_details(report_, &details);
    EXPECT_EQ(PPROF_STATUS_OK, feed->DeliverAs(pprof_report_sink(report_),
                                               random, num_checkpoints));
  }
  ~Report() {
    pprof_report_destroy(report_);
  }
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;
  pprof_report *get() {
    return report_;
  }
  const ppi_answer &Of(ppi_base_kind base) {
    return ppi_report_figures(report_)->answers[base];
  }

 private:
  pprof_report *report_ = nullptr;
};

TEST(AnswerPropertyTest, ReportsSayItWithAnyCheckpoints) {
  size_t num_by_step = 0;
  Jobs jobs(3);
  const pprof_test::DaysSeeds seeds(pprof_test::Seeds(700, 1500), 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    Random random(seed);
    Reported run;
    Make(&run, &random);
    size_t num_whole = static_cast<size_t>(
        std::count(run.is_cut.begin(), run.is_cut.end(), false));
    ppi_base_kind base = num_whole ? PPI_BASE_STEP : PPI_BASE_WALL;
    Random same = random;
    Report plain(&run.feed, nullptr, 0);
    Report checked(&run.feed, &random, 12, false, jobs.get());
    Report one_way(&run.feed, &same, 12, true);
    std::string want = Text(WantedRows(&run, num_whole > 0));
    ASSERT_EQ(want, Text(RowsOf(plain.Of(base)))) << "seed " << seed;
    ASSERT_EQ(want, Text(RowsOf(checked.Of(base)))) << "seed " << seed;
    ASSERT_EQ(want, Text(RowsOf(one_way.Of(base)))) << "seed " << seed;
    if (num_whole) {
      ASSERT_EQ(num_whole, checked.Of(base).num_units);
      ASSERT_EQ(run.is_cut.size() - num_whole, checked.Of(base).num_cut);
    }
    num_by_step += num_whole > 0;
    uint64_t total = plain.Of(base).total_ns;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_report_merge(plain.get(), checked.get()));
    RowsOf(plain.Of(base));
    ASSERT_EQ(2 * total, plain.Of(base).total_ns);
  }
  EXPECT_GT(num_by_step, seeds.num() / 3);
  EXPECT_LT(num_by_step, seeds.num() * 14 / 15);
}

// A range that a checkpoint lists lasts until the window's end.
TEST(AnswerPropertyTest, ReportsSayItOfRangesThatNeverEnd) {
  size_t num_told = 0;
  const pprof_test::DaysSeeds seeds(pprof_test::Seeds(700, 1500), 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    Random random(seed);
    Reported run;
    Make(&run, &random);
    std::vector<ppi_item> unended;
    for (uint32_t lane = 1; lane <= 3; lane++)
      if (Pick(&random, 2))
        unended.push_back(AddUnended(&run, &random, 100, lane));
    Random same = random;
    Report checked(&run.feed, &random, 1 + Pick(&random, 6));
    Report one_way(&run.feed, &same, 1 + Pick(&same, 6), true);
    for (const auto &item : unended) {
      if (item.start_ns >= run.feed.last_checkpoint_ns()) continue;
      run.scene.items.push_back(item);
      num_told++;
    }
    size_t num_whole = static_cast<size_t>(
        std::count(run.is_cut.begin(), run.is_cut.end(), false));
    ppi_base_kind base = num_whole ? PPI_BASE_STEP : PPI_BASE_WALL;
    std::string want = Text(WantedRows(&run, num_whole > 0));
    ASSERT_EQ(want, Text(RowsOf(checked.Of(base)))) << "seed " << seed;
    ASSERT_EQ(want, Text(RowsOf(one_way.Of(base)))) << "seed " << seed;
  }
  EXPECT_GT(num_told, seeds.num() / 3);
}

// A killed run: nothing of it is greater than the whole.
TEST(AnswerPropertyTest, NoPartOfARunThatWasKilledIsGreaterThanIt) {
  const pprof_test::DaysSeeds seeds(1500, 3);
  for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
    Random random(seed);
    Reported run;
    Make(&run, &random);
    run.feed.AddWindow(160, UINT64_MAX);
    for (uint32_t lane = 1; lane <= 3; lane++)
      AddUnended(&run, &random, 200, lane);
    run.feed.Range(1, "load", PPROF_CATEGORY_DATALOADER, 170, 200);
    Report report(&run.feed, &random, 1 + Pick(&random, 6));
    for (ppi_base_kind base : {PPI_BASE_STEP, PPI_BASE_WALL}) {
      const ppi_answer &answer = report.Of(base);
      for (const auto &row : RowsOf(answer))
        ASSERT_LE(row.second.ns, answer.total_ns) << "seed " << seed;
    }
  }
}

// ---- what lies between stages ----

// Requests pass one after the other through stages of one thread each. Each
// queue has `places`; a thread that cannot hand on takes nothing.
void MakeLine(EventFeed *feed, Random *random, size_t num_requests) {
  const size_t num_stages = 2 + Pick(random, 3), places = 1 + Pick(random, 4);
  std::vector<std::vector<uint64_t>> begins(num_stages), ends(num_stages);
  std::vector<uint64_t> usual;
  for (uint32_t k = 0; k < num_stages; k++) {
    feed->Lane(k + 1, 100 + k, "worker");
    usual.push_back(500000 + Pick(random, 4000000));
  }
  uint64_t arrives = 1000, every = 1 + Pick(random, 4000000);
  for (size_t i = 0; i < num_requests; i++) {
    uint64_t ready = arrives;
    for (uint32_t k = 0; k < num_stages; k++) {
      uint64_t begin = i ? std::max(ready, ends[k][i - 1]) : ready;
      if (k + 1 < num_stages && i >= places + 1)
        begin = std::max(begin, begins[k + 1][i - places - 1]);
      begin += 1 + Pick(random, 20000);
      ready = begin + usual[k] / 2 + Pick(random, usual[k]);
      begins[k].push_back(begin);
      ends[k].push_back(ready);
      OfRequest(&feed->Range(k + 1, "stage " + std::to_string(k),
                             PPROF_CATEGORY_USER_DEFINED, begin, ready),
                i + 1);
    }
    OfRequest(&feed->Range(0, "request", PPROF_CATEGORY_USER_DEFINED, arrives,
                           ready + 1000),
              i + 1)
        .flags |= PPROF_FLAG_ASYNC;
    arrives += Pick(random, 2 * every);
  }
  feed->AddWindow(0, ends.back().back() + 1000000);
}

TEST(AnswerPropertyTest, WhatLiesBetweenStagesIsDividedWithoutARest) {
  std::map<std::string, size_t> kinds;
  for (uint64_t seed = 0; seed < 60; seed++) {
    Random random(seed);
    EventFeed feed;
    MakeLine(&feed, &random, 10 + Pick(&random, 90));
    Report plain(&feed, nullptr, 0), checked(&feed, &random, 5);
    Rows rows = RowsOf(plain.Of(PPI_BASE_REQUEST));
    ASSERT_EQ(Text(rows), Text(RowsOf(checked.Of(PPI_BASE_REQUEST))))
        << "seed " << seed;
    for (const auto &row : rows)
      for (const char *kind : {" line ", " held ", " hand-over ", " between "})
        if (row.second.ns && row.first.find(kind) != std::string::npos)
          kinds[kind]++;
  }
  EXPECT_GT(kinds[" line "], 60u);
  EXPECT_GT(kinds[" held "], 20u);
  EXPECT_GT(kinds[" hand-over "], 40u);
  EXPECT_EQ(kinds[" between "], 0u);
}

}  // namespace
}  // namespace pprof_test
