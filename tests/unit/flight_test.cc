// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder, fed by hand: what a dump holds and what it leaves out,
// what makes one, and how often. Times are the feed's own, in milliseconds.
#include "flight/flight.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <vector>

#include "base/mem.h"
#include "file/disk.h"
#include "names/glob.h"
#include "recording_sink.h"
#include "tests/support/log_fixture.h"

namespace {

using pplog::Folder;
using pprof_test::RecordedEvent;
using pprof_test::Recording;
using pprof_test::RecordingSink;

const uint64_t kMs = 1000000, kSecond = 1000000000;

class FlightTest : public testing::Test {
 protected:
  FlightTest() : path_(folder_ / "x.flight.pplog") {
    options_.before_ns = 100 * kMs;
    options_.after_ns = 50 * kMs;
    options_.path = path_.c_str();
    options_.memory_bytes = 256 * 1024;
  }
  ~FlightTest() override {
    if (sink_) sink_->destroy(sink_);
  }

  static ppi_rule Rule(const std::string &text) {
    ppi_rule rule = {};
    size_t column;
    char why[200];
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_rule_parse(text.c_str(), &rule, &column, why, sizeof why))
        << why;
    return rule;
  }
  void Start(const std::vector<std::string> &rules) {
    for (const std::string &text : rules) rules_.push_back(Rule(text));
    options_.rules = rules_.data();
    options_.num_rules = rules_.size();
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_flight_create(&options_, &sink_, &error))
        << error.text;
    ASSERT_EQ(PPROF_STATUS_OK, sink_->begin(sink_, info_.get()));
    Define(PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, "Inference");
    Define(PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_PROFILE_STEP, 0,
           "ProfileStep");
    Define(PPROF_DEFINITION_LANE, 1, 0, "main");
    Define(PPROF_DEFINITION_SITE, kDecode, PPROF_CATEGORY_INFERENCE, "decode");
    Define(PPROF_DEFINITION_SITE, kIdle, PPROF_CATEGORY_INFERENCE, "idle");
    Define(PPROF_DEFINITION_SITE, kStep, PPROF_CATEGORY_PROFILE_STEP,
           "ProfileStep");
    ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, 0, true, 0));
  }
  void Define(pprof_definition_kind kind, uint32_t id, uint32_t parent,
              const char *name) {
    pprof_definition definition = {kind, id, parent, 0, 0, name};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->define(sink_, &definition));
  }
  void Feed(const pprof_event &event, uint32_t lane = 1) {
    std::vector<pprof_event> events = {event};
    pprof_batch batch =
        pplog::Batch(lane, seqs_[lane], seqs_[lane] + 1, events);
    seqs_[lane]++;
    ASSERT_EQ(PPROF_STATUS_OK, sink_->events(sink_, &batch));
  }
  void Range(uint32_t site, uint64_t start_ms, uint64_t end_ms) {
    Feed(pplog::Range(1, site, 0, start_ms * kMs, end_ms * kMs));
  }
  void Checkpoint(uint64_t ms, std::vector<pprof_event> open = {}) {
    pprof_checkpoint checkpoint = {ms * kMs, open.data(), open.size()};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->checkpoint(sink_, &checkpoint));
  }
  // Ranges of 1 ms, each in a block of its own: [from, from + 1) ...
  void Blocks(uint64_t from_ms, uint64_t to_ms) {
    for (uint64_t ms = from_ms; ms < to_ms; ms++) {
      Range(kIdle, ms, ms + 1);
      Checkpoint(ms + 1);
    }
  }
  void Finish() {
    ASSERT_EQ(PPROF_STATUS_OK, sink_->finish(sink_, &pplog::kNoTotals));
  }
  Recording Dump(const std::string &path) {
    Recording recording;
    pprof_sink *reader = RecordingSink::Make(&recording);
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), reader, &error))
        << error.text;
    reader->destroy(reader);
    EXPECT_FALSE(recording.undefined_site);
    EXPECT_FALSE(recording.gap);
    EXPECT_EQ(recording.events.size(), recording.Total(PPI_TOTAL_RECORDED));
    EXPECT_EQ(1u, recording.num_finished);
    return recording;
  }
  std::string Sibling(int n) {
    return folder_ / ("x.flight." + std::to_string(n) + ".pplog");
  }
  ppi_flight_state State() {
    return ppi_flight_look(sink_);
  }

  enum { kDecode = 1, kIdle = 2, kStep = 3 };
  Folder folder_;
  std::string path_;
  pplog::Info info_;
  ppi_flight_options options_ = {};
  std::vector<ppi_rule> rules_;
  pprof_sink *sink_ = nullptr;
  std::map<uint32_t, uint64_t> seqs_;
};

TEST_F(FlightTest, ADumpSpansBeforeAndAfterToTheBlock) {
  Start({"stage \"decode\" > 5ms"});
  Blocks(0, 494);
  Range(kDecode, 494, 500);
  Checkpoint(500);
  Blocks(500, 700);
  Finish();
  Recording dump = Dump(path_);
  // [400, 550]: the block that ends at 400 and the one that begins at 550 touch
  // it.
  ASSERT_FALSE(dump.events.empty());
  EXPECT_EQ(399 * kMs, dump.events.front().event.start_ns);
  EXPECT_EQ(550 * kMs, dump.events.back().event.end_ns);
  EXPECT_EQ(95u + 1 + 50, dump.events.size());
  EXPECT_EQ(1u, dump.Named("decode").size());
  EXPECT_EQ(0u, dump.Total(PPI_TOTAL_CLIPPED));
  ASSERT_EQ(2u, dump.windows.size());
  EXPECT_EQ(399 * kMs, dump.windows[0].time_ns);
  EXPECT_EQ(550 * kMs, dump.windows[1].time_ns);
  EXPECT_EQ(pplog::kUuid, dump.info["uuid"]);
  EXPECT_EQ("box", dump.info["host"]);
  EXPECT_EQ(
      "a part of the run, around 0.500000 s: rule 1, stage \"decode\" > 5ms",
      dump.info["flight"]);
  EXPECT_EQ(dump.info["flight"], dump.notes["flight recorder"]);
  EXPECT_EQ(1u, State().num_dumps);
  EXPECT_EQ(1u, State().num_fired);
}

TEST_F(FlightTest, WhatIsNotInADumpIsCountedExcluded) {
  Start({"stage \"decode\" > 5ms"});
  Blocks(0, 494);
  Range(kDecode, 494, 500);
  Checkpoint(500);
  Blocks(500, 700);
  Finish();
  // 494 + 1 + 50 ranges before the end of the span, 146 of them in the dump.
  EXPECT_EQ(399u, Dump(path_).Total(PPI_TOTAL_EXCLUDED));
}

TEST_F(FlightTest, TheOldestBlocksGoAndAreCounted) {
  Start({"stage \"decode\" > 5ms"});
  options_.before_ns = 0;
  for (uint64_t block = 0; block < 400; block++) {
    for (uint64_t i = 0; i < 300; i++) {
      uint64_t start = block * 300 * 7000 + i * 7000 + i * i % 977;
      Feed(pplog::Range(1, kIdle, 0, start, start + 1000 + i * 31 % 500));
    }
    Checkpoint(block * 300 * 7000 / kMs + 2);
  }
  uint64_t gone = State().num_overwritten;
  EXPECT_GT(gone, 30000u);
  EXPECT_LT(gone, 120000u);
  EXPECT_EQ(0u, gone % 300);
  uint64_t kept = 0;
  ASSERT_TRUE(sink_->kept(sink_, 1, &kept));
  EXPECT_EQ(120000u, kept);
  Range(kDecode, 900, 1000);
  Checkpoint(1000);
  Checkpoint(1060);
  Finish();
  Recording dump = Dump(path_);
  EXPECT_EQ(120001u, dump.events.size() + dump.Total(PPI_TOTAL_EXCLUDED));
}

TEST_F(FlightTest, WhatIsOpenAtItsEndIsClippedAndWhatIsOpenAtItsBeginToo) {
  Start({"stage \"decode\" > 5ms"});
  pprof_event serve = pplog::Range(1, kIdle, 0, 10 * kMs, 0);
  pprof_event late = pplog::Range(1, kIdle, 1, 560 * kMs, 0);
  for (uint64_t ms = 100; ms < 400; ms += 100) {
    Range(kIdle, ms, ms + 1);
    Checkpoint(ms + 1, {serve});
  }
  Range(kDecode, 450, 500);
  Checkpoint(500, {serve});
  serve.end_ns = late.end_ns = 570 * kMs;
  Checkpoint(570, {serve, late});
  Finish();
  Recording dump = Dump(path_);
  ASSERT_EQ(2u, dump.events.size());
  EXPECT_EQ("decode", dump.events[0].name);
  EXPECT_EQ(400 * kMs, dump.events[1].event.start_ns);
  EXPECT_EQ(570 * kMs, dump.events[1].event.end_ns);
  EXPECT_EQ(unsigned{PPROF_FLAG_CLIPPED}, dump.events[1].event.flags);
  EXPECT_EQ(1u, dump.Total(PPI_TOTAL_CLIPPED));
  ASSERT_EQ(2u, dump.windows.size());
  EXPECT_EQ(400 * kMs, dump.windows[0].time_ns);
  EXPECT_EQ(570 * kMs, dump.windows[1].time_ns);
}

TEST_F(FlightTest, TheOpenStepHasTheNextNumber) {
  Start({"stage \"decode\" > 5ms"});
  pprof_event step = pplog::Range(0, kStep, 0, 400 * kMs, 440 * kMs);
  step.flags = PPROF_FLAG_ASYNC;
  step.value = 41;
  Feed(step, 0);
  Range(kDecode, 450, 500);
  pprof_event open = pplog::Range(0, kStep, 0, 440 * kMs, 560 * kMs);
  open.flags = PPROF_FLAG_ASYNC;
  Checkpoint(560, {open});
  Finish();
  std::vector<RecordedEvent> steps = Dump(path_).Named("ProfileStep");
  ASSERT_EQ(2u, steps.size());
  EXPECT_EQ(42, steps[1].event.value);
  EXPECT_EQ(440 * kMs, steps[1].event.start_ns);
}

TEST_F(FlightTest, DefinitionsAndWindowsOverwrittenLongAgoAreThere) {
  Start({"stage \"decode\" > 5ms"});
  ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, 0, false, 5 * kMs));
  ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, 1, true, 6 * kMs));
  Define(PPROF_DEFINITION_LANE, 1, 0, "renamed");
  Blocks(6, 3000);
  EXPECT_GT(State().num_overwritten, 0u);
  Range(kDecode, 3000, 3010);
  Checkpoint(3010);
  ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, 1, false, 3020 * kMs));
  ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, 2, true, 3030 * kMs));
  Blocks(3030, 3100);
  Finish();
  Recording dump = Dump(path_);
  EXPECT_EQ("renamed", dump.lanes[1]);
  EXPECT_EQ("Inference", dump.categories[PPROF_CATEGORY_INFERENCE]);
  ASSERT_EQ(4u, dump.windows.size());
  EXPECT_EQ(1u, dump.windows[0].index);
  EXPECT_EQ(2909 * kMs, dump.windows[0].time_ns);
  EXPECT_EQ(3020 * kMs, dump.windows[1].time_ns);
  EXPECT_EQ(2u, dump.windows[2].index);
  EXPECT_FALSE(dump.windows[3].opens);
}

TEST_F(FlightTest, RulesAreRateLimitedAndCounted) {
  options_.every_ns = kSecond;
  options_.limit = 2;
  Start({"stage \"decode\" > 5ms"});
  for (uint64_t ms : {100, 200, 1099, 1100, 1500, 2200, 9000}) {
    Range(kDecode, ms - 10, ms);
    Checkpoint(ms);
    Checkpoint(ms + 50);
    // The thread has it before the next one.
    while (State().num_dumps < (ms < 1100 ? 1u : 2u)) sched_yield();
  }
  Finish();
  EXPECT_EQ(7u, State().num_fired);
  EXPECT_EQ(5u, State().num_suppressed);
  EXPECT_EQ(2u, State().num_dumps);
  EXPECT_EQ("decode", Dump(path_).events.back().name);
  EXPECT_EQ(1100 * kMs, Dump(Sibling(1)).events.back().event.end_ns);
  EXPECT_FALSE(pplog::Exists(Sibling(2)));
}

TEST_F(FlightTest, AskingAlwaysWorksAndSaysWhereTo) {
  options_.limit = 1;
  Start({});
  pplog::Spill(path_, "somebody's");
  Checkpoint(500);
  Range(kDecode, 490, 500);
  char where[4096];
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, nullptr, where, sizeof where));
  EXPECT_EQ(Sibling(1), where);
  EXPECT_TRUE(State().triggered);
  pprof_status status = PPROF_STATUS_OK;
  EXPECT_FALSE(ppi_flight_dumped(sink_, where, &status));
  char other[4096];
  EXPECT_EQ(PPROF_STATUS_BUSY,
            ppi_flight_trigger(sink_, nullptr, other, sizeof other));
  EXPECT_FALSE(pplog::Exists(where));
  Checkpoint(100000);
  while (!ppi_flight_dumped(sink_, where, &status)) sched_yield();
  EXPECT_EQ(PPROF_STATUS_OK, status);
  EXPECT_EQ(1u, Dump(where).events.size());
  std::string own = folder_ / "own.pplog";
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, own.c_str(), where, sizeof where));
  EXPECT_EQ(own, where);
  Finish();
  EXPECT_TRUE(ppi_flight_dumped(sink_, where, &status));
  EXPECT_EQ(PPROF_STATUS_OK, status);
  EXPECT_EQ("somebody's", pplog::Slurp(path_));
  EXPECT_EQ(PPROF_STATUS_BUSY,
            ppi_flight_trigger(sink_, own.c_str(), where, sizeof where));
}

TEST_F(FlightTest, AskingForAFileThatCannotBeSaysSoAndLeavesNothing) {
  Start({});
  char where[4096], small[8];
  std::string nowhere = folder_ / "no/such/x.pplog";
  EXPECT_EQ(PPROF_STATUS_IO,
            ppi_flight_trigger(sink_, nowhere.c_str(), where, sizeof where));
  EXPECT_EQ("cannot write " + nowhere + ".part: No such file or directory",
            where);
  EXPECT_EQ(PPROF_STATUS_INVALID,
            ppi_flight_trigger(sink_, nullptr, small, sizeof small));
  EXPECT_FALSE(State().triggered);
  EXPECT_FALSE(pplog::Exists(path_ + ".part"));
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, nullptr, where, sizeof where));
  Finish();
}

TEST_F(FlightTest, ADumpThatFailsIsCountedAndTheRunGoesOn) {
  std::string nowhere = folder_ / "no/such/x.pplog";
  options_.path = nowhere.c_str();
  Start({"stage \"decode\" > 5ms"});
  Range(kDecode, 490, 500);
  Checkpoint(600);
  Finish();
  EXPECT_EQ(1u, State().num_failed);
  EXPECT_EQ(0u, State().num_dumps);
  EXPECT_EQ(0u, std::string(State().error).find("cannot write " + nowhere));
}

TEST_F(FlightTest, RulesMayChangeOnTheWay) {
  Start({"stage \"decode\" > 5ms"});
  std::vector<ppi_rule> rules = {Rule("stage \"idle\" > 5ms")};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_set_rules(sink_, rules.data(), 1, 0, 0));
  Range(kDecode, 100, 200);
  EXPECT_EQ(0u, State().num_fired);
  Range(kIdle, 200, 300);
  EXPECT_EQ(1u, State().num_fired);
  ASSERT_EQ(PPROF_STATUS_OK, ppi_flight_set_rules(sink_, nullptr, 0, 0, 0));
  Range(kIdle, 300, 400);
  EXPECT_EQ(1u, State().num_fired);
  Finish();
  EXPECT_EQ(1u, State().num_dumps);
}

TEST_F(FlightTest, AHashedNameIsNotToldByItsRule) {
  Start({"stage \"secret\" > 5ms"});
  char hash[PPI_NAME_HASH];
  ppi_name_hash("secret", hash);
  Define(PPROF_DEFINITION_SITE, 9, PPROF_CATEGORY_INFERENCE, hash);
  Range(9, 100, 200);
  Finish();
  EXPECT_EQ("a part of the run, around 0.200000 s: rule 1",
            Dump(path_).info["flight"]);
  EXPECT_EQ(std::string::npos, pplog::Slurp(path_).find("secret"));
}

TEST_F(FlightTest, ThereIsRoomAsLongAsNoDumpNeedsIt) {
  Start({});
  for (int i = 0; i < 50; i++) {
    Blocks(i * 100, i * 100 + 100);
    ASSERT_TRUE(sink_->ready(sink_));
  }
  Finish();
}

// With the n-th allocation and all later ones failing, whatever thread makes
// them, a run ends with an error at most.
TEST_F(FlightTest, MissingMemoryIsAnErrorNotACrash) {
  rules_ = {Rule("stage \"decode\" > 5ms"), Rule("request > 1ms"),
            Rule("p50(\"idle\", 1ms) > 1us")};
  options_.rules = rules_.data();
  options_.num_rules = rules_.size();
  for (uint64_t n = 1; n < 120; n++) {
    pprof_sink *sink = nullptr;
    ppi_mem_fail_at(n);
    pprof_status status = ppi_flight_create(&options_, &sink, nullptr);
    if (status == PPROF_STATUS_OK) {
      status = sink->begin(sink, info_.get());
      for (uint32_t id = 1; id < 4; id++) {
        pprof_definition site = {PPROF_DEFINITION_SITE, id, 1, 0, 0, "decode"};
        sink->define(sink, &site);
      }
      sink->window(sink, 0, true, 0);
      for (uint64_t i = 0; i < 20; i++) {
        uint64_t flow = i;
        pprof_event event = pplog::Range(1, 1, 0, i * kMs, (i + 6) * kMs);
        event.flows = &flow;
        event.num_flows = 1;
        pprof_batch batch = pplog::Batch(1, i, i + 1, {});
        batch.events = &event;
        batch.num_events = 1;
        sink->events(sink, &batch);
        pprof_checkpoint checkpoint = {(i + 6) * kMs, &event, 1};
        sink->checkpoint(sink, &checkpoint);
      }
      char where[4096];
      ppi_flight_trigger(sink, nullptr, where, sizeof where);
      sink->finish(sink, &pplog::kNoTotals);
      sink->destroy(sink);
    }
    ppi_mem_fail_at(0);
    EXPECT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_NO_MEMORY);
  }
}

TEST_F(FlightTest, ADumpBeyondTheDiskLimitIsCountedAndRemoved) {
  options_.disk = ppi_disk_create(500);
  Start({"stage \"decode\" > 5ms"});
  Blocks(0, 490);
  Range(kDecode, 490, 500);
  Checkpoint(600);
  Finish();
  EXPECT_EQ(1u, State().num_failed);
  EXPECT_EQ(path_ + ": the disk limit leaves no room", State().error);
  EXPECT_FALSE(pplog::Exists(path_));
  EXPECT_FALSE(pplog::Exists(path_ + ".part"));
  EXPECT_EQ(0u, ppi_disk_used(options_.disk));
  ppi_disk_destroy(options_.disk);
}

// One dump after the other out of a ring that is always full: blocks that a
// dump needs stay, there is room again, and each dump is whole.
TEST_F(FlightTest, DumpsOutOfAFullRingAreWhole) {
  options_.before_ns = UINT64_MAX;
  options_.after_ns = 0;
  Start({});
  uint64_t random = 1, now = 0;
  std::vector<std::string> dumps;
  for (uint64_t round = 0; round < 400; round++) {
    while (!sink_->ready(sink_)) sched_yield();
    std::vector<pprof_event> events;
    for (int i = 0; i < 500; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      pprof_event event = pplog::Range(1, kIdle, 0, now, now + 10);
      event.kind = PPROF_KIND_COUNTER;
      event.value = static_cast<double>(random);
      event.end_ns = event.start_ns;
      now += 1000;
      events.push_back(event);
    }
    pprof_batch batch = pplog::Batch(1, round * 500, (round + 1) * 500, events);
    ASSERT_EQ(PPROF_STATUS_OK, sink_->events(sink_, &batch));
    pprof_checkpoint checkpoint = {now, nullptr, 0};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->checkpoint(sink_, &checkpoint));
    char where[4096];
    if (round % 7 == 0 && ppi_flight_trigger(sink_, nullptr, where,
                                             sizeof where) == PPROF_STATUS_OK)
      dumps.push_back(where);
  }
  Finish();
  EXPECT_GT(State().num_overwritten, 50000u);
  EXPECT_EQ(dumps.size(), State().num_dumps);
  ASSERT_GE(dumps.size(), 2u);
  for (const std::string &path : dumps) {
    Recording dump = Dump(path);
    for (size_t i = 1; i < dump.events.size(); i++)
      ASSERT_EQ(dump.events[i - 1].event.start_ns + 1000,
                dump.events[i].event.start_ns);
  }
}

TEST_F(FlightTest, ARunWithoutAnythingEnds) {
  Start({});
  char where[4096];
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_flight_trigger(sink_, nullptr, where, sizeof where));
  Finish();
  Recording dump = Dump(where);
  EXPECT_TRUE(dump.events.empty());
  EXPECT_EQ(2u, dump.windows.size());
}

TEST(FlightCreateTest, RefusesWhatMakesNoSense) {
  ppi_flight_options options = {};
  pprof_sink *sink = nullptr;
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_flight_create(&options, &sink, &error));
  EXPECT_STREQ("a dump needs a path", error.text);
  options.path = "x";
  options.num_rules = PPI_MAX_RULES + 1;
  EXPECT_EQ(PPROF_STATUS_INVALID, ppi_flight_create(&options, &sink, &error));
}

}  // namespace
