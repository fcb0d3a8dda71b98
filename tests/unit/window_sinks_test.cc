// SPDX-License-Identifier: Apache-2.0
//
// Window sinks told by hand: which window gets what, when it is complete, and
// who waits for whom.
#include "window/window_sinks.h"
#include "window/window_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/mem.h"
#include "tests/unit/window_maker.h"

namespace pprof_test {
namespace {

class WindowSinksTest : public ::testing::Test {
 protected:
  ~WindowSinksTest() override {
    if (sink_) sink_->destroy(sink_);
  }

  void Create(const ppi_window_source *source = nullptr) {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_create(source, &windows_));
    sink_ = ppi_window_sinks_sink(windows_);
    Add(&maker_);
  }
  void Add(Maker *maker) {
    ppi_window_maker get = maker->Get();
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_add(windows_, &get));
  }
  void Begin() {
    ppi_text texts[] = {{"host", "here"}, {"pid", "7"}};
    pprof_run_info info = {texts, 2, nullptr};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->begin(sink_, &info));
    Define(PPROF_DEFINITION_SITE, 1, "work");
    Define(PPROF_DEFINITION_LANE, 3, "thread");
  }
  void Define(pprof_definition_kind kind, uint32_t id, const char *name) {
    pprof_definition definition = {kind, id, 0, 0, 0, name};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->define(sink_, &definition));
  }
  void Open(uint32_t window, uint64_t time_ns) {
    ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, window, true, time_ns));
  }
  void Close(uint32_t window, uint64_t time_ns) {
    ASSERT_EQ(PPROF_STATUS_OK, sink_->window(sink_, window, false, time_ns));
  }
  static pprof_event Event(uint32_t window, uint64_t start_ns,
                           uint64_t end_ns) {
    pprof_event event = {};
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    event.site = 1;
    event.lane = 3;
    event.kind = PPROF_KIND_RANGE;
    event.window = window;
    return event;
  }
  pprof_status Events(std::vector<pprof_event> events, uint32_t lane = 3) {
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof(pprof_event);
    batch.events = events.data();
    batch.num_events = events.size();
    batch.first_seq = next_[lane];
    batch.end_seq = next_[lane] += events.size();
    batch.lane = lane;
    return sink_->events(sink_, &batch);
  }
  void Checkpoint(uint64_t time_ns, std::vector<pprof_event> open = {}) {
    pprof_checkpoint checkpoint = {time_ns, open.data(), open.size()};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->checkpoint(sink_, &checkpoint));
  }
  pprof_status Finish() {
    ppi_text note = {"clock", "late"};
    pprof_totals totals = {nullptr, 0, &note, 1};
    return sink_->finish(sink_, &totals);
  }
  // The start times of what the window's sink was given.
  std::vector<uint64_t> Starts(uint32_t window) {
    std::vector<uint64_t> starts;
    for (const RecordedEvent &event : maker_.windows[window].events)
      starts.push_back(event.event.start_ns);
    return starts;
  }
  std::vector<uint32_t> Completed(const Maker &maker) {
    std::vector<uint32_t> indexes;
    for (const Completion &completion : maker.completions)
      indexes.push_back(completion.window);
    return indexes;
  }

  Maker maker_, other_maker_;
  ppi_window_sinks *windows_ = nullptr;
  pprof_sink *sink_ = nullptr;

 private:
  std::map<uint32_t, uint64_t> next_;
};

using Starts_ = std::vector<uint64_t>;
using Indexes = std::vector<uint32_t>;

TEST_F(WindowSinksTest, EachWindowGetsItsOwnEventsEdgesAndEnd) {
  Create();
  Begin();
  Open(0, 100);
  Events({Event(0, 110, 120), Event(0, 130, 140)});
  Close(0, 200);
  Open(1, 200);
  Events({Event(1, 210, 220)});
  Checkpoint(250);
  maker_.WaitFor(1);
  Events({Event(1, 260, 270)});
  Close(1, 300);
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  EXPECT_EQ((Indexes{0, 1}), Completed(maker_));
  EXPECT_EQ((Starts_{110, 130}), Starts(0));
  EXPECT_EQ((Starts_{210, 260}), Starts(1));
  const Recording &second = maker_.windows[1];
  ASSERT_EQ(2u, second.windows.size());
  EXPECT_EQ(1u, second.windows[0].index);
  EXPECT_EQ(200u, second.windows[0].time_ns);
  EXPECT_FALSE(second.windows[1].opens);
  EXPECT_EQ(300u, second.windows[1].time_ns);
  EXPECT_EQ(1u, second.num_begun);
  EXPECT_EQ(1u, second.num_finished);
  EXPECT_EQ(1u, second.num_destroyed);
  EXPECT_EQ("here", second.info.at("host"));
  EXPECT_EQ(2u, second.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(2u, second.Total(PPI_TOTAL_RECORDED, 3));
  EXPECT_EQ("late", second.notes.at("clock"));
}

TEST_F(WindowSinksTest, LateComersLearnWhatWasDefinedBefore) {
  Create();
  Begin();
  Define(PPROF_DEFINITION_LANE, 3, "renamed");
  Open(0, 100);
  Define(PPROF_DEFINITION_SITE, 2, "more");
  Close(0, 200);
  Open(1, 300);
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  for (uint32_t window : {0u, 1u}) {
    const Recording &told = maker_.windows[window];
    EXPECT_EQ("renamed", told.lanes.at(3)) << window;
    EXPECT_EQ("work", told.sites.at(1)) << window;
    EXPECT_EQ("more", told.sites.at(2)) << window;
  }
}

// Two windows that touch; the device's lane mixes them, and a range of the
// first comes long after the second has begun.
TEST_F(WindowSinksTest, WindowsInterleaveWhileDeviceRangesAreLate) {
  Create();
  Begin();
  Open(0, 100);
  pprof_event late = Event(0, 190, 195);
  late.kind = PPROF_KIND_DEVICE_RANGE;
  late.device_error_ns = 40;
  Close(0, 200);
  Open(1, 200);
  Events({Event(0, 150, 200), Event(1, 205, 210)}, 3);
  Checkpoint(220, {late, Event(1, 215, 220)});
  EXPECT_EQ(1u, maker_.windows[0].num_open.back());
  EXPECT_EQ(1u, maker_.windows[1].num_open.back());
  Close(1, 300);
  Events({Event(1, 215, 300), late, Event(1, 230, 235)}, 4);
  // All of the second is there, but the first is told first.
  Checkpoint(310, {late});
  EXPECT_EQ(0u, maker_.NumCompleted());
  Checkpoint(320);
  maker_.WaitFor(2);
  EXPECT_EQ((Indexes{0, 1}), Completed(maker_));
  EXPECT_EQ((Starts_{150, 190}), Starts(0));
  EXPECT_EQ((Starts_{205, 215, 230}), Starts(1));
  EXPECT_EQ(40u, maker_.windows[0].Total(PPI_TOTAL_CLOCK_ERROR_NS));
  EXPECT_EQ(0u, maker_.windows[1].Total(PPI_TOTAL_CLOCK_ERROR_NS));
  EXPECT_FALSE(maker_.windows[1].gap);
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
}

TEST_F(WindowSinksTest, OnlyACheckpointBehindTheEdgeCompletes) {
  Create();
  Begin();
  Open(0, 100);
  Checkpoint(190);
  Close(0, 200);
  Checkpoint(190);  // told again
  Checkpoint(199);
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(0, 199, 200)}));
  Checkpoint(210, {Event(0, 198, 200)});
  Checkpoint(210);  // told again: it may be incomplete
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(0, 198, 200)}));
  Checkpoint(220);
  maker_.WaitFor(1);
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(0, 150, 160)}));  // none comes now
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  EXPECT_EQ((Indexes{0}), Completed(maker_));
  EXPECT_EQ((Starts_{199, 198}), Starts(0));
}

TEST_F(WindowSinksTest, AClosedWindowAwaitsACheckpointForAWhile) {
  Create();
  Begin();
  Open(0, 100);
  EXPECT_FALSE(ppi_window_sinks_awaits(windows_));
  Close(0, 200);
  EXPECT_TRUE(ppi_window_sinks_awaits(windows_));
  Checkpoint(210, {Event(0, 150, 200)});
  EXPECT_TRUE(ppi_window_sinks_awaits(windows_));
  for (uint64_t i = 0; i < 7; i++) Checkpoint(220 + i, {Event(0, 150, 200)});
  EXPECT_FALSE(ppi_window_sinks_awaits(windows_));
  Open(1, 300);
  Close(1, 310);
  EXPECT_TRUE(ppi_window_sinks_awaits(windows_));
  Checkpoint(320);
  EXPECT_FALSE(ppi_window_sinks_awaits(windows_));
  // Those that were not whole count less.
  Open(2, 400);
  Close(2, 410);
  for (int i = 0; i < 199; i++) Checkpoint(320);
  EXPECT_TRUE(ppi_window_sinks_awaits(windows_));
  Checkpoint(320);
  EXPECT_FALSE(ppi_window_sinks_awaits(windows_));
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
}

TEST_F(WindowSinksTest, ASlowMakerDelaysOnlyItsSuccessors) {
  Create();
  std::promise<void> entered, go_on;
  maker_.on_complete = [&](uint32_t window) {
    EXPECT_TRUE(ppi_window_completing());
    if (window != 0) return;
    entered.set_value();
    go_on.get_future().wait();
  };
  Begin();
  Open(0, 100);
  Close(0, 200);
  Checkpoint(210);
  entered.get_future().wait();
  // This thread, the collector's, goes on.
  for (uint32_t window = 1; window < 4; window++) {
    Open(window, 300 * window);
    Events({Event(window, 300 * window + 1, 300 * window + 2)});
    Close(window, 300 * window + 10);
    Checkpoint(300 * window + 20);
  }
  EXPECT_EQ((Starts_{901}), Starts(3));
  EXPECT_EQ(0u, maker_.NumCompleted());
  EXPECT_FALSE(ppi_window_completing());
  go_on.set_value();
  maker_.WaitFor(4);
  EXPECT_EQ((Indexes{0, 1, 2, 3}), Completed(maker_));
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
}

TEST_F(WindowSinksTest, FinishWaitsForAllMakers) {
  Create();
  std::promise<void> entered, go_on;
  maker_.on_complete = [&](uint32_t window) {
    if (window != 0) return;
    entered.set_value();
    go_on.get_future().wait();
  };
  Begin();
  for (uint32_t window = 0; window < 3; window++) {
    Open(window, 100 * window);
    Close(window, 100 * window + 50);
  }
  Checkpoint(1000);
  std::future<pprof_status> finished =
      std::async(std::launch::async, [&] { return Finish(); });
  entered.get_future().wait();
  EXPECT_EQ(0u, maker_.NumCompleted());
  go_on.set_value();
  EXPECT_EQ(PPROF_STATUS_OK, finished.get());
  EXPECT_EQ((Indexes{0, 1, 2}), Completed(maker_));
}

TEST_F(WindowSinksTest, MakersThatGiveNoSinkAreToldAllTheSame) {
  Create();
  Maker other;
  Add(&other);
  maker_.refuses[1] = true;
  Begin();
  for (uint32_t window = 0; window < 2; window++) {
    Open(window, 100 * window);
    Events({Event(window, 100 * window + 1, 100 * window + 2)});
    Close(window, 100 * window + 50);
  }
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  ASSERT_EQ(2u, maker_.completions.size());
  EXPECT_TRUE(maker_.completions[0].has_sink);
  EXPECT_FALSE(maker_.completions[1].has_sink);
  EXPECT_EQ(2u, other.completions.size());
  EXPECT_EQ(1u, other.windows[1].events.size());
  sink_->destroy(sink_);
  sink_ = nullptr;
  EXPECT_TRUE(maker_.is_destroyed);
  EXPECT_TRUE(other.is_destroyed);
}

TEST_F(WindowSinksTest, ASinkThatFailsIsLeftAloneAndFinishTells) {
  Create();
  Maker &other = other_maker_;
  Add(&other);
  maker_.windows[0].fail_at_batch = 1;
  Begin();
  Open(0, 0);
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(0, 1, 2)}));
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(0, 3, 4)}));
  Close(0, 10);
  Open(1, 10);
  EXPECT_EQ(PPROF_STATUS_OK, Events({Event(1, 13, 14)}));
  Close(1, 20);
  EXPECT_EQ(PPROF_STATUS_IO, Finish());
  EXPECT_EQ(1u, maker_.windows[0].num_batches);
  EXPECT_EQ(PPROF_STATUS_IO, maker_.completions[0].status);
  EXPECT_EQ(PPROF_STATUS_OK, maker_.completions[1].status);
  EXPECT_EQ(PPROF_STATUS_OK, other.completions[0].status);
  EXPECT_EQ(2u, other.windows[0].events.size());
}

// ---- totals ----

struct Counted {
  uint64_t lost = 0, unmatched = 0, cpu = 0, clamped = 0;
};

pprof_status CountAll(void *user, ppi_counts *out) {
  const Counted *counted = static_cast<const Counted *>(user);
  out->run[PPI_TOTAL_CPU_PROCESS_NS] = counted->cpu;
  out->run[PPI_TOTAL_CLAMPED] = counted->clamped;
  out->run[PPI_TOTAL_OWN_COST] = 5000;
  out->run[PPI_TOTAL_CRASH_SAFE] = 1;
  ppi_tally_add(&out->lanes, 3, PPI_TOTAL_LOST, counted->lost);
  return ppi_tally_add(&out->lanes, 4, PPI_TOTAL_UNMATCHED, counted->unmatched);
}

bool NoteOne(void *, ppi_texts *out) {
  return ppi_texts_add(out, "device", "is warm");
}

TEST_F(WindowSinksTest, AWindowHasWhatWasCountedWhileItWasOpen) {
  Counted counted;
  ppi_window_source source = {CountAll, NoteOne, nullptr, &counted};
  Create(&source);
  Begin();
  counted = {2, 0, 100, 0};
  Open(0, 100);
  Events({Event(0, 110, 120)});
  counted = {5, 1, 130, 1};
  Close(0, 200);
  // Counted on after the edge was seen: the next window's, which touches.
  counted = {6, 1, 131, 1};
  Open(1, 200);
  counted = {7, 4, 150, 3};
  Checkpoint(210);
  maker_.WaitFor(1);
  Close(1, 300);
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  const Recording &first = maker_.windows[0], &second = maker_.windows[1];
  EXPECT_EQ(3u, first.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(3u, first.Total(PPI_TOTAL_LOST, 3));
  EXPECT_EQ(1u, first.Total(PPI_TOTAL_UNMATCHED, 4));
  EXPECT_EQ(30u, first.Total(PPI_TOTAL_CPU_PROCESS_NS));
  EXPECT_EQ(3u, first.Total(PPI_TOTAL_CLAMPED));  // until it was complete
  EXPECT_EQ(1u, first.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(10u, first.Total(PPI_TOTAL_OWN_COST_TOTAL_NS));
  EXPECT_EQ(1u, first.Total(PPI_TOTAL_CRASH_SAFE));
  EXPECT_EQ("is warm", first.notes.at("device"));
  EXPECT_EQ(2u, second.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(3u, second.Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(20u, second.Total(PPI_TOTAL_CPU_PROCESS_NS));
  EXPECT_EQ("late", second.notes.at("clock"));
}

TEST_F(WindowSinksTest, TooManyWaitingWindowsGetNoSinks) {
  size_t num_skipped = 0;
  ppi_window_source source = {
      nullptr, nullptr, [](void *user) { ++*static_cast<size_t *>(user); },
      &num_skipped};
  Create(&source);
  std::promise<void> entered, go_on;
  maker_.on_complete = [&](uint32_t window) {
    if (window != 0) return;
    entered.set_value();
    go_on.get_future().wait();
  };
  Begin();
  const uint32_t num = PPI_MAX_WINDOWS_WAITING + 3;
  for (uint32_t window = 0; window < num; window++) {
    Open(window, 10 * window);
    EXPECT_EQ(PPROF_STATUS_OK,
              Events({Event(window, 10 * window + 1, 10 * window + 2)}));
    Close(window, 10 * window + 5);
    Checkpoint(10 * window + 6);
  }
  entered.get_future().wait();
  go_on.set_value();
  maker_.WaitFor(PPI_MAX_WINDOWS_WAITING);
  EXPECT_EQ(1u, num_skipped);
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
  EXPECT_EQ(PPI_MAX_WINDOWS_WAITING, maker_.completions.size());
  // The first one was with its maker all the time.
  EXPECT_EQ((std::vector<uint32_t>{256, 257, 258}), maker_.skipped);
}

// ---- keeping ----

uint64_t Kept(pprof_sink *sink, uint32_t lane) {
  uint64_t seq = 0;
  EXPECT_TRUE(sink->kept(sink, lane, &seq));
  return seq;
}

TEST_F(WindowSinksTest, OnlyWhatAWindowWasGivenIsHeldForIt) {
  Create();
  uint64_t safe = 0;
  maker_.prepare = [&](uint32_t window) {
    maker_.windows[window].kept = [&](uint32_t, uint64_t *out_seq) {
      *out_seq = safe;
      return safe != 0;
    };
  };
  Begin();
  EXPECT_EQ(UINT64_MAX, Kept(sink_, 3));
  Open(0, 0);
  Events({Event(0, 1, 2), Event(0, 3, 4)});
  Close(0, 10);
  EXPECT_EQ(0u, Kept(sink_, 3));
  EXPECT_EQ(UINT64_MAX, Kept(sink_, 4));
  safe = 1;
  EXPECT_EQ(1u, Kept(sink_, 3));
  safe = 2;
  EXPECT_EQ(UINT64_MAX, Kept(sink_, 3));
  safe = 1;
  Checkpoint(20);
  // It is the completion thread's now.
  EXPECT_EQ(UINT64_MAX, Kept(sink_, 3));
  EXPECT_EQ(PPROF_STATUS_OK, Finish());
}

// One window's sinks that have no room hold up no other's.
TEST_F(WindowSinksTest, HoldsBatchesForTheWindowWithoutRoom) {
  Create();
  bool has_room = true;
  maker_.prepare = [&](uint32_t window) {
    if (window == 0) maker_.windows[window].ready = [&] { return has_room; };
  };
  Begin();
  Open(0, 0);
  Open(1, 0);
  EXPECT_TRUE(sink_->ready(sink_));
  EXPECT_TRUE(ppi_window_sinks_have_room(windows_));
  has_room = false;
  EXPECT_TRUE(sink_->ready(sink_));
  EXPECT_FALSE(ppi_window_sinks_have_room(windows_));
  Events({Event(0, 5, 5), Event(1, 6, 6)});
  EXPECT_EQ(0u, maker_.windows[0].events.size());
  EXPECT_EQ(1u, maker_.windows[1].events.size());
  has_room = true;
  EXPECT_TRUE(sink_->ready(sink_));
  EXPECT_TRUE(ppi_window_sinks_have_room(windows_));
  EXPECT_EQ(1u, maker_.windows[0].events.size());
  has_room = false;  // and has none when the window is over
  EXPECT_TRUE(sink_->ready(sink_));
  Events({Event(0, 7, 7), Event(0, 8, 8), Event(1, 9, 9)});
  Close(0, 10);
  Close(1, 10);
  EXPECT_EQ(PPROF_STATUS_IO, Finish());
  EXPECT_EQ(2u, ppi_window_sinks_num_missed(windows_));
  EXPECT_EQ(1u, maker_.windows[0].events.size());
  EXPECT_EQ(1u, maker_.windows[0].Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(2u, maker_.windows[0].Total(PPI_TOTAL_LOST));
  EXPECT_EQ("sink 1: had no room for 2 records",
            maker_.windows[0].notes["missed"]);
  EXPECT_EQ(2u, maker_.windows[1].events.size());
  EXPECT_EQ(0u, maker_.windows[1].Total(PPI_TOTAL_LOST));
}

// ---- what goes wrong ----

TEST_F(WindowSinksTest, MakersHaveABound) {
  Create();
  std::deque<Maker> more(PPI_MAX_WINDOW_MAKERS);
  for (size_t i = 0; i + 1 < PPI_MAX_WINDOW_MAKERS; i++) Add(&more[i]);
  ppi_window_maker last = more.back().Get();
  EXPECT_EQ(PPROF_STATUS_BUSY, ppi_window_sinks_add(windows_, &last));
  sink_->destroy(sink_);  // before the makers
  sink_ = nullptr;
}

// Whatever allocation fails: no call is lost without a status, and nothing is
// used that is not there.
TEST_F(WindowSinksTest, MemoryThatRunsOutIsTold) {
  for (uint64_t n = 1; n < 40; n++) {
    Maker maker;
    ppi_window_sinks *windows = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_create(nullptr, &windows));
    pprof_sink *sink = ppi_window_sinks_sink(windows);
    ppi_window_maker get = maker.Get();
    ASSERT_EQ(PPROF_STATUS_OK, ppi_window_sinks_add(windows, &get));
    std::swap(sink, sink_);
    Begin();
    ppi_mem_fail_at(n);
    pprof_status status = sink_->window(sink_, 0, true, 0);
    if (status == PPROF_STATUS_OK)
      status = Events({Event(0, 1, 2), Event(1, 11, 12)});
    pprof_checkpoint checkpoint = {5, nullptr, 0};
    if (status == PPROF_STATUS_OK)
      status = sink_->checkpoint(sink_, &checkpoint);
    if (status == PPROF_STATUS_OK) status = sink_->window(sink_, 0, false, 10);
    pprof_status finished = Finish();
    ppi_mem_fail_at(0);
    bool is_told = status != PPROF_STATUS_OK || finished != PPROF_STATUS_OK;
    if (!is_told) {
      ASSERT_EQ(1u, maker.windows[0].events.size()) << n;
      EXPECT_EQ(1u, maker.windows[0].Total(PPI_TOTAL_RECORDED)) << n;
    }
    if (n == 1) {
      EXPECT_TRUE(is_told);
    }
    if (n == 39) {
      EXPECT_FALSE(is_told);
    }
    EXPECT_EQ(maker.windows.size(), maker.completions.size()) << n;
    std::swap(sink, sink_);
    sink->destroy(sink);
  }
}

}  // namespace
}  // namespace pprof_test
