// SPDX-License-Identifier: Apache-2.0
//
// Threads that come and go for as long as a service runs, more than a session
// ever has rows for: none is dark, each record is found under the name of the
// thread that made it, and nothing that is held grows with their number.
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "flight/flight.h"
#include "log/recover/log_recover.h"
#include "mark/thread.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "pprof/session.h"
#include "session/state/session_impl.h"
#include "tests/long/months_case.h"
#include "tests/support/long_run.h"

namespace pprof_test {
namespace {

PPROF_SITE(number_site, "number", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(brief_site, "brief", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(handed_site, "handed over", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(long_site, "long", PPROF_CATEGORY_USER_DEFINED);

// A month of 50 threads a second is 130 million; what a run of the tests has
// time for is above all that was ever a bound.
constexpr uint64_t kBrief = 110000, kFull = 3000000;
constexpr int kSpawners = 4;

std::string NameOf(uint64_t number) {
  return "t-" + std::to_string(number);
}

// What a thread records tells its number: a counter, a range, and one that it
// leaves to somebody else to end.
pprof_range LiveBriefly(uint64_t number) {
  pprof_thread_name(NameOf(number).c_str());
  pprof_count(&number_site, static_cast<double>(number));
  pprof_push(&brief_site);
  pprof_flow(number + 1);
  const pprof_range handed = pprof_range_begin(&handed_site);
  pprof_pop();
  return handed;
}

// Counts what it is told, and that each record is the thread's whose name its
// row has. Its own memory stays flat.
struct Judge {
  pprof_sink base = {};
  std::map<uint32_t, std::string> rows, sites;
  uint64_t num_numbers = 0, num_brief = 0, num_handed = 0, num_wrong = 0;
  uint64_t num_definitions = 0, num_lost = 0, num_unknown = 0;
  std::string wrong;
  bool keeps_numbers = false, was_killed = false;
  std::map<uint64_t, uint64_t> numbers;

  Judge() {
    base.size = sizeof base;
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      Of(sink)->Define(definition);
      return PPROF_STATUS_OK;
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      for (size_t i = 0; i < batch->num_events; i++)
        Of(sink)->Look(*pprof_batch_at(batch, i));
      return PPROF_STATUS_OK;
    };
    base.finish = [](pprof_sink *sink, const pprof_totals *totals) {
      Of(sink)->num_lost += pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
      return PPROF_STATUS_OK;
    };
  }
  static Judge *Of(pprof_sink *sink) {
    return reinterpret_cast<Judge *>(sink);
  }
  void Define(const pprof_definition *definition) {
    const uint32_t id = pprof_definition_id(definition);
    const std::string name = pprof_definition_name(definition);
    if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE)
      sites[id] = name;
    if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_LANE) return;
    rows[id] = name;
    num_definitions++;
  }
  void Look(const pprof_event &event) {
    const std::string &site = sites[event.site];
    uint64_t number = 0;
    if (site == "number") {
      num_numbers++;
      number = static_cast<uint64_t>(event.value);
      if (keeps_numbers) numbers[number]++;
    } else if (site == "brief" || site == "handed over") {
      (site == "brief" ? num_brief : num_handed)++;
      number = event.num_flows ? event.flows[0] - 1 : UINT64_MAX;
    } else {
      return;
    }
    const std::string &row = rows[event.lane];
    num_unknown += row == "left thread";
    // Killed before it had said for which number it is: open, and of whichever.
    const uint32_t open = PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED;
    if (was_killed && !event.num_flows && (event.flags & open) &&
        row.compare(0, 2, "t-") == 0)
      return;
    if (row == NameOf(number) || row == "left thread") return;
    if (num_wrong++ == 0) wrong = site + " of " + NameOf(number) + " on " + row;
  }
  void ExpectAll(uint64_t num) const {
    EXPECT_EQ(num, num_numbers);
    EXPECT_EQ(num, num_brief);
    EXPECT_EQ(num, num_handed);
    EXPECT_EQ(0u, num_wrong) << wrong;
    EXPECT_EQ(0u, num_unknown);
    EXPECT_EQ(0u, num_lost);
  }
};

// One thread after the other in each of several; what they hand over is ended
// when several more have come.
void Spawn(uint64_t first, uint64_t num) {
  std::vector<std::thread> spawners;
  for (int s = 0; s < kSpawners; s++)
    spawners.emplace_back([=] {
      std::vector<pprof_range> handed;
      for (uint64_t i = first + s; i < first + num; i += kSpawners) {
        pprof_range range = {};
        std::thread([&] { range = LiveBriefly(i); }).join();
        handed.push_back(range);
        if (handed.size() < 8) continue;
        for (pprof_range each : handed) pprof_range_end(each);
        handed.clear();
        // On a busy machine more may come than the collector can look at.
        if (i / kSpawners % 256 < 8)
          pprof_session_flush(pprof_session_current());
      }
      for (pprof_range each : handed) pprof_range_end(each);
    });
  for (std::thread &spawner : spawners) spawner.join();
}

// What grows, if anything does.
struct Held {
  uint64_t heap, chunks, lanes, blocks;
};

Held Look() {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  Held held = {};
  held.heap = mallinfo2().uordblks;
  held.chunks = spool->header->untouched;
  held.lanes = ppi_spool_num_lanes(spool);
  for (ppi_thread *block = ppi_thread_list(); block; block = block->next)
    held.blocks++;
  return held;
}

class MonthsTest : public LongSessionTest {
 protected:
  void SetUp() override {
    LongSessionTest::SetUp();
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(nullptr, &session_, &error_));
  }
};

TEST_F(MonthsTest, EachRecordIsItsThreadsAndNothingGrows) {
  const uint64_t num = Rounds(kBrief, kFull) / 2 * 2;
  Judge live, read;
  Add(&live.base);
  AddLog();
  Start();
  pprof_push(&long_site);
  Spawn(0, num / 2);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  const Held warm = Look();
  Spawn(num / 2, num / 2);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  const Held after = Look();
  pprof_pop();
  Stop();
  live.ExpectAll(num);
  // The process, this thread, and those that made the others.
  EXPECT_EQ(num + 2 + 2 * kSpawners, live.num_definitions);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), &read.base, &error_))
      << error_.text;
  read.ExpectAll(num);
  // As many again came: what more there is, is not theirs.
  EXPECT_GT(PPI_MAX_LANES, after.lanes);
  EXPECT_GE(warm.blocks + 1, after.blocks);
  // Of a chunk a row takes an eighth; how many lie ready is the machine's load.
  EXPECT_GE(warm.chunks + num / 2 / 64, after.chunks);
  // No structure of a thread's takes as little as this.
  if (!kIsSanitized) {
    EXPECT_GE(warm.heap + num / 2 * 16, after.heap);
  }
}

// Where a row's range is open still, the row is not another thread's.
TEST_F(MonthsTest, ARowWaitsForTheRangesThatBeganOnIt) {
  Judge live;
  Add(&live.base);
  Start();
  pprof_range first = {};
  std::thread([&] { first = LiveBriefly(0); }).join();
  Spawn(1, 40);
  for (int i = 0; i < 20; i++) {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
    Spawn(41 + i * 4, 4);
  }
  pprof_range_end(first);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  Stop();
  live.ExpectAll(121);
}

// Rows whose threads have left and that no other may have yet.
int NumLeftRows() {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  int num = 0;
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    num += lane &&
           __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE) == PPI_LANE_LEFT;
  }
  return num;
}

// A sink that has no room gets what is held for it with the names of then.
TEST_F(MonthsTest, HeldRecordsKeepTheirThreads) {
  static std::atomic<bool> has_room;
  has_room = true;
  Judge live;
  live.base.ready = [](pprof_sink *) { return has_room.load(); };
  Add(&live.base);
  Start();
  has_room = false;
  for (uint64_t i = 0; i < 200; i++) {
    pprof_range range = {};
    std::thread([&] { range = LiveBriefly(i); }).join();
    pprof_range_end(range);
  }
  // Which thread's row went last, says nothing: they go in the rows' order.
  while (NumLeftRows() > 10) std::this_thread::yield();
  has_room = true;
  Stop();
  live.ExpectAll(200);
}

// Shared with a child that is killed.
struct Told {
  char spool[512];
  uint64_t first_done[4], num_threads;
};

// A recorder whose ring holds the latest few threads alone.
pprof_status AddFlight(pprof_session *session, const std::string &path,
                       pprof_sink **out) {
  ppi_flight_options options = {};
  options.before_ns = 3600ull * 1000000000;
  options.path = path.c_str();
  ppi_session_set_ring(session, 256 << 10);
  const pprof_status status = ppi_flight_create(&options, out, nullptr);
  return status ? status : pprof_session_add_sink(session, *out);
}

enum class Keeps { kLog, kRing };

pprof_status AddKeeper(pprof_session *session, const std::string &log,
                       Keeps keeps) {
  pprof_sink *sink = nullptr;
  if (keeps == Keeps::kRing) return AddFlight(session, log, &sink);
  const pprof_status status =
      pprof_log_writer_create(log.c_str(), &sink, nullptr);
  return status ? status : pprof_session_add_sink(session, sink);
}

[[noreturn]] void RunUntilKilled(const std::string &log, Told *told,
                                 Keeps keeps) {
  pprof_session *session = nullptr;
  pprof_options options = {};
  options.size = sizeof options;
  options.drain_interval_us = 200;
  // Where no other process looks for what a killed one left.
  const std::string folder = log.substr(0, log.rfind('/'));
  options.spool_dir = folder.c_str();
  if (pprof_session_create(&options, &session, nullptr) ||
      AddKeeper(session, log, keeps) || pprof_session_start(session))
    _exit(2);
  memcpy(told->spool, ppi_recorder_in_force.spool.path, sizeof told->spool);
  std::vector<std::thread> spawners;
  for (uint64_t s = 0; s < 4; s++)
    spawners.emplace_back([=] {
      for (uint64_t i = s;; i += 4) {
        std::thread([=] { pprof_range_end(LiveBriefly(i)); }).join();
        __atomic_store_n(&told->first_done[s], i + 4, __ATOMIC_RELEASE);
        __atomic_fetch_add(&told->num_threads, 1, __ATOMIC_RELEASE);
        if (i % 512 == s) pprof_session_flush(session);
      }
    });
  for (;;) pause();
}

class MonthsKillTest : public MonthsTest {
 protected:
  void SetUp() override {
    MonthsTest::SetUp();
    told_ =
        static_cast<Told *>(mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override {
    munmap(told_, sizeof *told_);
    MonthsTest::TearDown();
  }
  // A child that dies when so many threads have come; what it left is read.
  void KillAfter(uint64_t enough, Keeps keeps, Judge *out) {
    *told_ = {};
    out->was_killed = true;
    const pid_t child = fork();
    if (child == 0) RunUntilKilled(log_, told_, keeps);
    int status = 0;
    while (__atomic_load_n(&told_->num_threads, __ATOMIC_ACQUIRE) < enough &&
           waitpid(child, &status, WNOHANG) == 0)
      std::this_thread::yield();
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    ppi_recover_result result = {};
    const std::string folder = folder_ + "/";
    const ppi_recover_options options = {nullptr, false, false, false,
                                         folder.c_str()};
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_recover(told_->spool, &options, &result, &error_))
        << error_.text;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(result.path, &out->base, &error_))
        << error_.text;
    unlink(result.path);
    EXPECT_EQ(0u, out->num_wrong) << out->wrong;
  }

  Told *told_ = nullptr;
  std::mt19937 random_{17};
};

TEST_F(MonthsKillTest, WhatAKillLeavesHasItsThreads) {
  const uint64_t num = Rounds(40, 2000);
  for (uint64_t i = 0; i < num; i++) {
    Judge read;
    read.keeps_numbers = true;
    // Some die while rows are new, most when all were others' before.
    KillAfter(random_() % 4 ? 100 + random_() % 900 : 1 + random_() % 20,
              Keeps::kLog, &read);
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    EXPECT_EQ(0u, read.num_unknown);
    for (uint64_t s = 0; s < 4; s++)
      for (uint64_t n = s; n < told_->first_done[s]; n += 4)
        ASSERT_EQ(1u, read.numbers[n])
            << n << ", kill " << i << ", lost " << read.num_lost;
  }
}

TEST_F(MonthsKillTest, WhatARingHoldsAtAKillHasItsThreads) {
  const uint64_t num = Rounds(10, 200);
  uint64_t num_known = 0;
  for (uint64_t i = 0; i < num; i++) {
    Judge read;
    KillAfter(1000 + random_() % 4000, Keeps::kRing, &read);
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    num_known += read.num_numbers - read.num_unknown / 3;
  }
  EXPECT_LE(num, num_known);
}

TEST_F(MonthsTest, ADumpKeepsItsThreads) {
  pprof_sink *flight = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, AddFlight(session_, log_, &flight));
  Start();
  for (int i = 0; i < 4; i++) {
    Spawn(i * 4000, 4000);
    char path[4096];
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_flight_trigger(flight, nullptr, path, sizeof path));
    pprof_status status;
    while (!ppi_flight_dumped(flight, path, &status))
      ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
    ASSERT_EQ(PPROF_STATUS_OK, status);
    Judge read;
    ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(path, &read.base, &error_))
        << error_.text;
    EXPECT_EQ(0u, read.num_wrong) << read.wrong << " of dump " << i;
    EXPECT_EQ(0u, read.num_unknown);
    EXPECT_LT(100u, read.num_numbers);
    unlink(path);
  }
  Stop();
}

}  // namespace
}  // namespace pprof_test
