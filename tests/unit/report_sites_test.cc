// SPDX-License-Identifier: Apache-2.0
//
// A site's id that is given to another name: what came before stays the name's
// whose it was, also where it waits, and the figures are those of a run that
// never gave an id twice. Of more names than a report has room for, the others
// are one, and are counted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "pprof/log.h"
#include "report/figures/sum.h"
#include "report/run/passes.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::Rounds;

constexpr uint32_t kDevice = 1, kStream = 1;

// What a run is told, by names; ids come where it is told.
struct Told {
  enum Kind { kEvent, kCheckpoint } kind;
  std::vector<std::pair<std::string, pprof_event>> events;  // or open ranges
  uint64_t time_ns;
};

const uint32_t kCategories[] = {
    PPROF_CATEGORY_USER_DEFINED, PPROF_CATEGORY_FORWARD,
    PPROF_CATEGORY_COMMUNICATION, PPROF_CATEGORY_OPERATOR};

uint32_t CategoryOf(const std::string &name) {
  return kCategories[static_cast<size_t>(name.back()) % 4];
}

// Gives ids to names: one each, or the least recently used of a few.
struct Ids {
  explicit Ids(size_t most_ids) : most(most_ids) {}
  size_t most;
  std::map<std::string, uint32_t> known;
  std::vector<std::string> names{""};  // by id
  std::vector<uint64_t> used{0};
  uint64_t now = 0;

  // `is_new`: the id is to be defined.
  uint32_t Of(const std::string &name, bool *is_new) {
    const auto found = known.find(name);
    uint32_t id = found == known.end() ? 0 : found->second;
    *is_new = id == 0;
    if (id == 0 && names.size() <= most) {
      id = static_cast<uint32_t>(names.size());
      names.push_back("");
      used.push_back(0);
    }
    if (id == 0) {
      id = 1;
      for (uint32_t i = 2; i < used.size(); i++)
        if (used[i] < used[id]) id = i;
      known.erase(names[id]);
    }
    names[id] = name;
    known[name] = id;
    used[id] = ++now;
    return id;
  }
};

// The run of a report, as a sink.
struct ToldRun {
  pprof_sink base = {};
  ppi_run run = {};
  ppi_figures figures = {};

  ToldRun() {
    base.size = sizeof base;
    base.begin = [](pprof_sink *sink, const pprof_run_info *info) {
      return ppi_or_no_memory(ppi_run_begin(Of(sink), info));
    };
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      return ppi_run_define(Of(sink), definition);
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      return ppi_run_events(Of(sink), batch);
    };
    base.checkpoint = [](pprof_sink *sink, const pprof_checkpoint *checkpoint) {
      return ppi_run_checkpoint(Of(sink), checkpoint);
    };
    base.finish = [](pprof_sink *sink, const pprof_totals *totals) {
      auto *into = &reinterpret_cast<ToldRun *>(sink)->figures;
      return ppi_or_no_memory(ppi_run_finish(Of(sink), totals, into));
    };
    run.details.by_thread = true;
    run.details.operator_parts = true;
    run.details.requests = true;
    run.details.warmup = 1;
  }
  ~ToldRun() {
    ppi_figures_clear(&figures);
    ppi_run_clear(&run);
  }
  ToldRun(const ToldRun &) = delete;
  ToldRun &operator=(const ToldRun &) = delete;
  static ppi_run *Of(pprof_sink *sink) {
    return &reinterpret_cast<ToldRun *>(sink)->run;
  }
};

// Tells a sink of a program, as a collector does.
class Teller {
 public:
  Teller(size_t most_ids, pprof_sink *to) : ids_(most_ids), to_(to) {
    const pprof_run_info info = {};
    EXPECT_EQ(PPROF_STATUS_OK, to->begin(to, &info));
    for (uint32_t category : kCategories)
      Define(PPROF_DEFINITION_CATEGORY, category, 0,
             ("category " + std::to_string(category)).c_str());
    Define(PPROF_DEFINITION_DEVICE, kDevice, 0, "gpu");
    Define(PPROF_DEFINITION_STREAM, kStream, kDevice, "");
  }

  void Tell(const Told &told) {
    std::vector<pprof_event> events;
    for (const auto &each : told.events) {
      // Each on its own: the next name may have the id.
      events.push_back(each.second);
      events.back().site = SiteOf(each.first);
      if (told.kind == Told::kEvent) Give(events.back());
    }
    if (told.kind == Told::kEvent) return;
    const pprof_checkpoint checkpoint = {told.time_ns, events.data(),
                                         events.size()};
    ASSERT_EQ(PPROF_STATUS_OK, to_->checkpoint(to_, &checkpoint));
  }
  void Finish() {
    const pprof_totals totals = {};
    ASSERT_EQ(PPROF_STATUS_OK, to_->finish(to_, &totals));
  }

 private:
  void Give(const pprof_event &event) {
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof event;
    batch.events = &event;
    batch.num_events = 1;
    batch.lane = event.lane;
    batch.first_seq = next_seq_[batch.lane];
    batch.end_seq = ++next_seq_[batch.lane];
    ASSERT_EQ(PPROF_STATUS_OK, to_->events(to_, &batch));
  }
  void Define(pprof_definition_kind kind, uint32_t id, uint32_t parent,
              const char *name) {
    const pprof_definition definition = {kind, id, parent, 0, 0, name};
    ASSERT_EQ(PPROF_STATUS_OK, to_->define(to_, &definition));
  }
  uint32_t SiteOf(const std::string &name) {
    bool is_new;
    const uint32_t id = ids_.Of(name, &is_new);
    if (is_new)
      Define(PPROF_DEFINITION_SITE, id, CategoryOf(name), name.c_str());
    return id;
  }

  Ids ids_;
  pprof_sink *to_;
  std::map<uint32_t, uint64_t> next_seq_;
};

std::string Spread(const ppi_spread &spread) {
  return std::to_string(spread.n) + " " + std::to_string(spread.sum) + " " +
         std::to_string(spread.min) + " " + std::to_string(spread.max) + ";";
}

// One text for all that figures say by name.
std::string Show(const ppi_figures &figures) {
  std::string out;
  for (size_t i = 0; i < figures.num_names; i++) {
    const ppi_report_name &name = figures.names[i];
    out += std::string(name.name) + ": " + Spread(name.host) +
           Spread(name.device) + Spread(name.inside) +
           std::to_string(name.self_ns) + " " +
           std::to_string(name.own_device_ns) + "\n";
  }
  for (size_t i = 0; i < figures.num_categories; i++) {
    const ppi_report_category &category = figures.categories[i];
    out += std::string(category.name) + ": " +
           std::to_string(category.host_calls) + " " +
           std::to_string(category.host_ns) + " " +
           std::to_string(category.device_calls) + " " +
           std::to_string(category.device_ns) + "\n";
  }
  for (size_t i = 0; i < figures.num_threads; i++)
    out += std::string(figures.threads[i].name) + " of " +
           std::to_string(figures.threads[i].thread) + ": " +
           Spread(figures.threads[i].host) + Spread(figures.threads[i].inside) +
           "\n";
  for (size_t i = 0; i < figures.num_work; i++)
    out += std::string(figures.work[i].name) + ": " +
           std::to_string(figures.work[i].items) + "\n";
  for (size_t i = 0; i < figures.num_notes; i++)
    out += std::string(figures.notes[i].text) + "\n";
  return out;
}

// Ranges in ranges on two lanes, device ranges, amounts, checkpoints; names
// come, stay a while and are gone.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}
  std::vector<Told> Tell(size_t num) {
    std::vector<Told> out;
    for (size_t i = 0; i < num; i++) {
      const uint32_t lane = 1 + Pick(2);
      out.push_back(Pick(12) ? Outer(lane) : Checkpoint());
    }
    return out;
  }

 private:
  uint32_t Pick(uint32_t num) {
    return static_cast<uint32_t>(random_() % num);
  }
  std::string Name() {
    next_ += Pick(3) == 0;
    return "n" + std::to_string(Pick(4) ? next_ + Pick(6) : Pick(4));
  }
  std::pair<std::string, pprof_event> Range(uint32_t lane, uint64_t start_ns,
                                            uint64_t end_ns, uint32_t depth) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.lane = lane;
    event.depth = depth;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    if (Pick(4) == 0) event.flags = PPROF_FLAG_ASYNC;
    if (Pick(5) == 0) {
      work_.size = sizeof work_;
      work_.items = 3;
      event.work = &work_;
    }
    return {Name(), event};
  }
  // The inner one first, as they end; a device range submitted in both.
  Told Outer(uint32_t lane) {
    Told told = {Told::kEvent, {}, 0};
    const uint64_t length = 10 + Pick(1000);
    if (Pick(3) == 0) {
      auto device = Range(lane, now_ + 3, now_ + 4, 2);
      device.second.kind = PPROF_KIND_DEVICE_RANGE;
      device.second.flags = 0;
      device.second.stream = kStream;
      device.second.device_start_ns = now_ + 5;
      device.second.device_end_ns = now_ + 5 + Pick(500);
      told.events.push_back(device);
    }
    told.events.push_back(Range(lane, now_ + 2, now_ + length / 2 + 2, 1));
    told.events.push_back(Range(lane, now_ + 1, now_ + length, 0));
    now_ += length + 1;
    return told;
  }
  Told Checkpoint() {
    return {Told::kCheckpoint, {}, now_};
  }

  std::mt19937_64 random_;
  uint64_t now_ = 1, next_ = 4;
  pprof_work_amount work_ = {};
};

TEST(ReportSitesTest, IdsThatAreGivenAgainChangeNoFigure) {
  const uint64_t num = Rounds(200, 5000);
  for (uint64_t seed = 0; seed < num; seed++) {
    Program program(seed);
    ToldRun apart, again;
    Teller to_apart(100000, &apart.base), to_again(1 + seed % 20, &again.base);
    for (const Told &told : program.Tell(20 + seed % 200)) {
      to_apart.Tell(told);
      to_again.Tell(told);
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
    }
    to_apart.Finish();
    to_again.Finish();
    ASSERT_EQ(Show(apart.figures), Show(again.figures)) << "seed " << seed;
  }
}

TEST(ReportSitesTest, ALogHasEachEventUnderItsName) {
  const std::string path = ::testing::TempDir() + "/report_sites.pplog";
  const uint64_t num = Rounds(50, 1000);
  for (uint64_t seed = 0; seed < num; seed++) {
    Program program(seed);
    ToldRun apart, read;
    pprof_sink *log = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_writer_create(path.c_str(), &log, nullptr));
    {
      Teller to_apart(100000, &apart.base), to_log(1 + seed % 20, log);
      for (const Told &told : program.Tell(20 + seed % 200)) {
        to_apart.Tell(told);
        to_log.Tell(told);
      }
      to_apart.Finish();
      to_log.Finish();
    }
    log->destroy(log);
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_read(path.c_str(), &read.base, nullptr));
    unlink(path.c_str());
    ASSERT_EQ(Show(apart.figures), Show(read.figures)) << "seed " << seed;
  }
}

pprof_event RangeAt(uint64_t start_ns, uint64_t end_ns) {
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.lane = 1;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  return event;
}

TEST(ReportSitesTest, WhatIsOpenAtACheckpointGoesByItsNumber) {
  for (size_t ids : {2, 100}) {
    ToldRun run;
    Teller teller(ids, &run.base);
    teller.Tell({Told::kEvent, {{"a1", RangeAt(1, 2)}}, 0});
    teller.Tell({Told::kEvent, {{"b1", RangeAt(3, 4)}}, 0});
    teller.Tell({Told::kEvent, {{"c1", RangeAt(5, 6)}}, 0});
    teller.Tell({Told::kCheckpoint, {{"d1", RangeAt(7, 8)}}, 8});
    teller.Tell({Told::kEvent, {{"d1", RangeAt(7, 20)}}, 0});
    teller.Finish();
    const ppi_figures &figures = run.figures;
    ASSERT_EQ(4u, figures.num_names) << Show(figures);
    for (size_t i = 0; i < 4; i++)
      EXPECT_EQ(i == 3 ? 13u : 1u, figures.names[i].host.sum);
    ASSERT_EQ(1u, figures.num_categories);
    EXPECT_EQ(16u, figures.categories[0].host_ns);
  }
}

TEST(ReportSitesTest, NamesWithoutEndAreOthersAndNothingGrows) {
  const uint64_t num = PPI_RUN_MAX_NAMES + 40000;
  ToldRun run;
  Teller teller(500, &run.base);
  for (uint64_t i = 0; i < num; i++) {
    teller.Tell({Told::kEvent,
                 {{"n" + std::to_string(i) + "x", RangeAt(2 * i, 2 * i + 1)}},
                 0});
    if (i % 1000 == 999) teller.Tell({Told::kCheckpoint, {}, 2 * i + 1});
  }
  EXPECT_GE(PPI_RUN_MAX_NAMES + 2, run.run.ids.sites.num);
  EXPECT_GE(PPI_RUN_MAX_NAMES + 1, run.run.labels.ids.num_names);
  EXPECT_GE(501u, run.run.labels.ids.sites.num);
  teller.Finish();
  const ppi_figures &figures = run.figures;
  uint64_t calls = 0, of_others = 0;
  for (size_t i = 0; i < figures.num_names; i++) {
    calls += figures.names[i].host.n;
    if (std::string(figures.names[i].name) == "<other>")
      of_others += figures.names[i].host.n;
  }
  EXPECT_EQ(num, calls);
  EXPECT_EQ(40000u, of_others);
  ASSERT_EQ(1u, figures.num_notes);
  EXPECT_EQ(0u, std::string(figures.notes[0].text).find("40000 times a name "))
      << figures.notes[0].text;
}

}  // namespace
