// SPDX-License-Identifier: Apache-2.0
//
// Names without end in a few ids: each sink has each event under the name that
// its id had then, in segments, in what a flight recorder remembers, in what
// waits for a sink without room; and nothing that is held grows with how many
// names came.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "chrome/chrome.h"
#include "event/tee.h"
#include "flight/flight.h"
#include "log/write/log_writer.h"
#include "pprof/log.h"
#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"

namespace pprof_test {
namespace {

using pplog::Folder;

constexpr uint32_t kIds = 300;
// More than a session has ids for, many times over.
constexpr uint64_t kBrief = 150000, kFull = 5000000;

std::string NameOf(uint64_t number) {
  return "request " + std::to_string(number);
}

// Looks whether each counter has the name that goes with its value.
struct Judge {
  pprof_sink base = {};
  std::map<uint32_t, std::string> sites;
  uint64_t num = 0, num_wrong = 0, least = UINT64_MAX, most = 0;
  bool has_room = true;
  std::string wrong;

  Judge() {
    base.size = sizeof base;
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE)
        Of(sink)->sites[pprof_definition_id(definition)] =
            pprof_definition_name(definition);
      return PPROF_STATUS_OK;
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      for (size_t i = 0; i < batch->num_events; i++)
        Of(sink)->Look(*pprof_batch_at(batch, i));
      return PPROF_STATUS_OK;
    };
    base.ready = [](pprof_sink *sink) { return Of(sink)->has_room; };
  }
  static Judge *Of(pprof_sink *sink) {
    return reinterpret_cast<Judge *>(sink);
  }
  void Look(const pprof_event &event) {
    if (event.kind != PPROF_KIND_COUNTER) return;
    const uint64_t number = static_cast<uint64_t>(event.value);
    num++;
    least = std::min(least, number);
    most = std::max(most, number);
    if (sites[event.site] == NameOf(number)) return;
    if (num_wrong++ == 0) wrong = NameOf(number) + " as " + sites[event.site];
  }
};

// One name after the other: the id that was not used for longest becomes its,
// it counts once or twice, and submits something now and then.
class Feed {
 public:
  explicit Feed(pprof_sink *to) : to_(to) {}
  void Begin() {
    const pplog::Info info;
    ASSERT_EQ(PPROF_STATUS_OK, to_->begin(to_, info.get()));
    Define({PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, 0, 0,
            "Inference"});
    Define({PPROF_DEFINITION_LANE, 1, 0, 0, 7, "main"});
    Define({PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu"});
    Define({PPROF_DEFINITION_STREAM, 1, 1, 0, 0, ""});
    ASSERT_EQ(PPROF_STATUS_OK, to_->window(to_, 0, true, 0));
  }
  void Define(const pprof_definition &definition) {
    ASSERT_EQ(PPROF_STATUS_OK, to_->define(to_, &definition));
  }
  void Names(uint64_t num) {
    for (uint64_t i = 0; i < num; i++, next_++) {
      const uint32_t id = 1 + static_cast<uint32_t>(next_ % kIds);
      Define(pplog::Site(id, NameOf(next_).c_str()));
      std::vector<pprof_event> events(1 + next_ % 2,
                                      pplog::Range(1, id, 0, now_, now_));
      for (pprof_event &event : events) {
        event.kind = PPROF_KIND_COUNTER;
        event.value = static_cast<double>(next_);
      }
      if (next_ % 5 == 0) events.push_back(Submitted(id));
      const pprof_batch batch =
          pplog::Batch(1, seq_, seq_ + events.size(), events);
      seq_ += events.size();
      num_counters_ += 1 + next_ % 2;
      ASSERT_EQ(PPROF_STATUS_OK, to_->events(to_, &batch));
      now_ += 1000000;
      if (next_ % 100 == 99) Checkpoint();
    }
  }
  void Finish() {
    ASSERT_EQ(PPROF_STATUS_OK, to_->finish(to_, &pplog::kNoTotals));
  }
  uint64_t num_counters() const {
    return num_counters_;
  }

 private:
  pprof_event Submitted(uint32_t id) const {
    pprof_event event = pplog::Range(1, id, 0, now_, now_ + 1);
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.stream = 1;
    event.device_start_ns = now_ + 2;
    event.device_end_ns = now_ + 900000;
    return event;
  }
  void Checkpoint() {
    if (!to_->checkpoint) return;
    const pprof_checkpoint checkpoint = {now_, nullptr, 0};
    ASSERT_EQ(PPROF_STATUS_OK, to_->checkpoint(to_, &checkpoint));
  }

  pprof_sink *to_;
  uint64_t next_ = 0, now_ = 1, seq_ = 0, num_counters_ = 0;
};

class SiteIdsTest : public ::testing::Test {
 protected:
  SiteIdsTest() : path_(folder_ / "run.pplog") {
    // One place for all that is allocated, so that it can be counted.
    mallopt(M_ARENA_MAX, 1);
  }
  // Once nothing waits for a disk any more: it has stayed so for a while.
  static uint64_t SettledHeap() {
    uint64_t heap = mallinfo2().uordblks;
    for (int same = 0; same < 20; same++) {
      usleep(10000);
      const uint64_t now = mallinfo2().uordblks;
      if (now != heap) same = 0;
      heap = now;
    }
    return heap;
  }
  // As many again as came before leave what is held as it is.
  static void FeedTwice(Feed *feed, uint64_t num) {
    feed->Begin();
    feed->Names(num / 2);
    const uint64_t warm = SettledHeap();
    feed->Names(num / 2);
    // No name takes as little as this.
    if (!kIsSanitized) {
      EXPECT_GE(warm + num / 2 * 16, SettledHeap());
    }
  }
  static void ReadInto(const std::string &path, Judge *out) {
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), &out->base, &error))
        << error.text;
    EXPECT_EQ(0u, out->num_wrong) << out->wrong << " in " << path;
  }

  const uint64_t num_ = Rounds(kBrief, kFull);
  Folder folder_;
  const std::string path_;
};

TEST_F(SiteIdsTest, ALogHasThem) {
  pprof_sink *log = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_log_writer_create(path_.c_str(), &log, nullptr));
  Feed feed(log);
  FeedTwice(&feed, num_);
  feed.Finish();
  log->destroy(log);
  Judge read;
  ReadInto(path_, &read);
  EXPECT_EQ(feed.num_counters(), read.num);
  EXPECT_EQ(kIds, read.sites.size());
}

TEST_F(SiteIdsTest, EachSegmentHasThem) {
  ppi_log_rotation rotation = {64 << 10, 0, nullptr};
  pprof_sink *log = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_log_writer_create(path_.c_str(), &rotation, &log, nullptr));
  Feed feed(log);
  FeedTwice(&feed, num_);
  feed.Finish();
  log->destroy(log);
  uint64_t num = 0;
  unsigned segment = 1;
  for (;; segment++) {
    char name[32];
    snprintf(name, sizeof name, "run.%04u.pplog", segment);
    if (!pplog::Exists(folder_ / name)) break;
    Judge read;
    ReadInto(folder_ / name, &read);
    num += read.num;
  }
  EXPECT_EQ(feed.num_counters(), num);
  EXPECT_LT(3u, segment);
}

TEST_F(SiteIdsTest, ATraceHasThem) {
  pprof_sink *trace = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_chrome_writer_create(path_.c_str(), &trace, nullptr));
  Feed feed(trace);
  FeedTwice(&feed, kBrief);
  feed.Finish();
  trace->destroy(trace);
  std::ifstream in(path_);
  uint64_t num = 0, num_wrong = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"ph\":\"C\"") == std::string::npos) continue;
    const size_t at = line.find("request ");
    const size_t value = line.find("\"value\":");
    ASSERT_NE(std::string::npos, at) << line;
    ASSERT_NE(std::string::npos, value) << line;
    num++;
    num_wrong += strtoull(line.c_str() + at + 8, nullptr, 10) !=
                 strtoull(line.c_str() + value + 8, nullptr, 10);
  }
  EXPECT_EQ(feed.num_counters(), num);
  EXPECT_EQ(0u, num_wrong);
}

TEST_F(SiteIdsTest, ADumpHasThem) {
  ppi_flight_options options = {};
  options.before_ns = 3600ull * 1000000000;
  options.path = path_.c_str();
  options.memory_bytes = 256 << 10;
  pprof_sink *flight = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_flight_create(&options, &flight, nullptr));
  Feed feed(flight);
  FeedTwice(&feed, num_);
  for (int i = 0; i < 4; i++) {
    char path[4096];
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_flight_trigger(flight, nullptr, path, sizeof path));
    pprof_status status;
    while (!ppi_flight_dumped(flight, path, &status)) feed.Names(100);
    ASSERT_EQ(PPROF_STATUS_OK, status);
    Judge read;
    ReadInto(path, &read);
    EXPECT_LT(1000u, read.num);
  }
  feed.Finish();
  flight->destroy(flight);
}

TEST_F(SiteIdsTest, WhatWaitsForASinkHasThem) {
  ppi_tee tee;
  Judge judge;
  ppi_tee_init(&tee);
  ASSERT_EQ(PPROF_STATUS_OK, ppi_tee_add(&tee, &judge.base));
  Feed feed(&tee.base);
  feed.Begin();
  for (int i = 0; i < 100; i++) {
    judge.has_room = i % 3 == 0;
    tee.base.ready(&tee.base);
    feed.Names(100 + i);
  }
  judge.has_room = true;
  tee.base.ready(&tee.base);
  EXPECT_EQ(feed.num_counters(), judge.num);
  EXPECT_EQ(0u, judge.num_wrong) << judge.wrong;
  ppi_tee_forget_sinks(&tee);
}

}  // namespace
}  // namespace pprof_test
