// SPDX-License-Identifier: Apache-2.0
//
// Names that come and go for as long as a service runs, more than a session
// ever has ids for: each record has the name that it was made under, none is
// `<other>`, and nothing that is held grows with their number.
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "flight/flight.h"
#include "inject/inject.h"
#include "log/recover/log_recover.h"
#include "mark/recorder.h"
#include "pprof/event.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "pprof/session.h"
#include "session/choice_session.h"
#include "session/state/session_impl.h"
#include "tests/long/months_case.h"
#include "tests/support/long_run.h"

namespace pprof_test {
namespace {

// Here each name is to have an id of its own.
pprof_status NothingFolds(pprof_session *session) {
  ppi_choice choice = {};
  choice.fold = PPI_FOLDS_OFF;
  return ppi_session_set_choice(session, &choice);
}

PPROF_SITE(fixed_site, "fixed", PPROF_CATEGORY_USER_DEFINED);

constexpr uint64_t kNumThreads = 4, kBrief = 400000, kFull = 20000000;
// As many names as this come before the collector has looked.
constexpr uint64_t kAtOnce = 250;

std::string NameOf(const char *kind, uint64_t number) {
  return kind + std::to_string(number);
}

// One name that only this number has, in each way that a name may come, beside
// some that come again and again. The number goes as the request.
void Use(uint64_t number, std::vector<pprof_range> *open) {
  const std::string own = NameOf("r-", number);
  pprof_push_name(own.c_str(), PPROF_CATEGORY_FORWARD);
  pprof_flow(number + 1);
  pprof_push(&fixed_site);
  pprof_pop();
  pprof_push_name(NameOf("often-", number % 50).c_str(), 0);
  pprof_pop();
  pprof_pop();
  if (number % 16 != 0) return;
  const std::string across = NameOf("x-", number);
  const pprof_range range = pprof_inject_begin_(
      0, nullptr, across.c_str(), PPROF_INJECT_STYLE_(0, 0x123456));
  pprof_range_flow(range, number + 1);
  open->push_back(range);
  if (open->size() < 20) return;
  for (pprof_range each : *open) pprof_range_end(each);
  open->clear();
}

// Counts what it is told, and that each record has the name of its number. Its
// own memory stays flat.
struct Judge {
  pprof_sink base = {};
  std::vector<std::string> sites;
  uint64_t num_own = 0, num_across = 0, num_fixed = 0, num_often = 0;
  uint64_t num_wrong = 0, num_other = 0, num_lost = 0, num_defined = 0;
  uint64_t num_held = 0, num_cold = 0, num_others = 0;
  uint64_t sum_ns = 0, most_id = 0;
  std::string wrong;
  bool keeps_numbers = false;
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
      Of(sink)->num_other +=
          pprof_totals_value(totals, PPROF_ALL_LANES, "names_overflowed");
      return PPROF_STATUS_OK;
    };
  }
  static Judge *Of(pprof_sink *sink) {
    return reinterpret_cast<Judge *>(sink);
  }
  void Define(const pprof_definition *definition) {
    if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE) return;
    const uint32_t id = pprof_definition_id(definition);
    if (sites.size() <= id) sites.resize(id + 1);
    sites[id] = pprof_definition_name(definition);
    most_id = std::max<uint64_t>(most_id, id);
    num_defined++;
  }
  void Look(const pprof_event &event) {
    const std::string site =
        event.site < sites.size() ? sites[event.site] : "nothing";
    sum_ns += event.end_ns - event.start_ns;
    const uint64_t number = event.num_flows ? event.flows[0] - 1 : UINT64_MAX;
    // Killed before it could say which one it was.
    const uint32_t cut = PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED;
    if (!event.num_flows && event.flags & cut) return;
    std::string expected;
    if (site[0] == 'r') {
      num_own++;
      expected = NameOf("r-", number);
      if (keeps_numbers) numbers[number]++;
    } else if (site[0] == 'x') {
      num_across++;
      expected = NameOf("x-", number);
    } else if (site[0] == 'o') {
      num_often++;
      expected = NameOf("often-", number % 50);
    } else if (site == "fixed") {
      num_fixed++;
      return;
    } else if (site == "<other>") {
      num_others++;
      return;
    } else if (site == "cold") {
      num_cold++;
      return;
    } else if (site.compare(0, 4, "held") == 0) {
      num_held++;
      return;
    }
    if (site == expected || site == "ProfileStep") return;
    if (num_wrong++ == 0)
      wrong = "'" + site + "' instead of '" + expected + "'";
  }
  void ExpectAll(uint64_t num) const {
    EXPECT_EQ(num, num_own);
    EXPECT_EQ(num, num_fixed);
    EXPECT_EQ(num, num_often);
    EXPECT_EQ((num + 15) / 16, num_across);
    EXPECT_EQ(0u, num_wrong) << wrong;
    EXPECT_EQ(0u, num_other);
    EXPECT_EQ(0u, num_others);
    EXPECT_EQ(0u, num_lost);
    EXPECT_GE(uint64_t{PPI_MAX_SITES}, most_id);
  }
};

void UseMany(uint64_t first, uint64_t num) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kNumThreads; t++)
    threads.emplace_back([=] {
      std::vector<pprof_range> open;
      pprof_push_name(NameOf("held", t).c_str(), 0);
      for (uint64_t i = first + t; i < first + num; i += kNumThreads) {
        Use(i, &open);
        if (i / kNumThreads % kAtOnce == 0)
          pprof_session_flush(pprof_session_current());
      }
      for (pprof_range each : open) pprof_range_end(each);
      pprof_pop();
    });
  for (std::thread &thread : threads) thread.join();
}

class NamesMonthsTest : public LongSessionTest {
 protected:
  void Create(uint64_t memory = 0) {
    pprof_options options = {};
    options.size = sizeof options;
    options.drain_interval_us = 500;
    options.memory_limit_bytes = memory;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session_, &error_));
    ASSERT_EQ(PPROF_STATUS_OK, NothingFolds(session_));
  }
};

TEST_F(NamesMonthsTest, EachRecordHasItsNameAndNothingGrows) {
  // Fewer would not use each id more than once.
  const uint64_t num = std::max(Rounds(kBrief, kFull), kBrief / 2) / 2 * 2;
  Judge live, read;
  Create();
  Add(&live.base);
  AddLog();
  Start();
  UseMany(0, num / 2);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  const uint64_t heap = mallinfo2().uordblks, end = spool->header->names_end;
  UseMany(num / 2, num / 2);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_flush(session_));
  // Names of the first half are some digits shorter.
  EXPECT_GE(end + end / 4 + 2 * PPI_CHUNK_SIZE, spool->header->names_end);
  if (!kIsSanitized) {
    EXPECT_GE(heap + num / 2 * 2, mallinfo2().uordblks);
  }
  Stop();
  live.ExpectAll(num);
  EXPECT_LT(num, live.num_defined);
  EXPECT_EQ(2 * kNumThreads, live.num_held);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), &read.base, &error_))
      << error_.text;
  read.ExpectAll(num);
  EXPECT_EQ(live.sum_ns, read.sum_ns);
}

// A thread that met a name, and then no other, has it in its cache for ever.
TEST_F(NamesMonthsTest, ANameInACacheIsNotAnothers) {
  Judge live;
  Create(2u << 20);
  Add(&live.base);
  Start();
  std::atomic<int> turn{0};
  std::thread cold([&] {
    for (int i = 0; i < 3; i++) {
      while (turn != 2 * i) std::this_thread::yield();
      pprof_push_name("cold", 0);
      pprof_pop();
      turn = 2 * i + 1;
    }
  });
  std::vector<pprof_range> open;
  for (int i = 0; i < 3; i++) {
    while (turn != 2 * i + 1) std::this_thread::yield();
    for (uint64_t k = 0; k < 10000; k++) {
      Use(10000 * i + k, &open);
      if (k % 50 == 0) pprof_session_flush(session_);
    }
    turn = 2 * i + 2;
  }
  cold.join();
  for (pprof_range each : open) pprof_range_end(each);
  Stop();
  live.ExpectAll(30000);
  EXPECT_EQ(3u, live.num_cold);
}

// A small spool has room for two thousand names, not for 65 536.
TEST_F(NamesMonthsTest, RoomForTextsIsUsedAgain) {
  const uint64_t num = Rounds(40000, kFull);
  Judge live;
  Create(2u << 20);
  Add(&live.base);
  Start();
  std::vector<pprof_range> open;
  for (uint64_t i = 0; i < num; i++) {
    Use(i, &open);
    if (i % 50 == 0) pprof_session_flush(session_);
  }
  for (pprof_range each : open) pprof_range_end(each);
  Stop();
  live.ExpectAll(num);
}

// Shared with a child that is killed.
struct Told {
  char spool[512];
  uint64_t first_done[kNumThreads], num;
};

// SELDOM: nobody asks for what is recorded to be kept soon.
enum class Keeps { kLog, kLogSeldom, kRing };

pprof_status AddKeeper(pprof_session *session, const std::string &log,
                       Keeps keeps) {
  pprof_sink *sink = nullptr;
  pprof_status status;
  if (keeps == Keeps::kRing) {
    ppi_flight_options options = {};
    options.before_ns = 3600ull * 1000000000;
    options.path = log.c_str();
    ppi_session_set_ring(session, 256 << 10);
    status = ppi_flight_create(&options, &sink, nullptr);
  } else {
    status = pprof_log_writer_create(log.c_str(), &sink, nullptr);
  }
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
  options.memory_limit_bytes = 4u << 20;
  if (pprof_session_create(&options, &session, nullptr) ||
      NothingFolds(session) || AddKeeper(session, log, keeps) ||
      pprof_session_start(session))
    _exit(2);
  memcpy(told->spool, ppi_recorder_in_force.spool.path, sizeof told->spool);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kNumThreads; t++)
    threads.emplace_back([=] {
      std::vector<pprof_range> open;
      for (uint64_t i = t;; i += kNumThreads) {
        Use(i, &open);
        __atomic_store_n(&told->first_done[t], i + kNumThreads,
                         __ATOMIC_RELEASE);
        __atomic_fetch_add(&told->num, 1, __ATOMIC_RELEASE);
        if (keeps != Keeps::kLogSeldom && i / kNumThreads % 20 == 0)
          pprof_session_flush(session);
      }
    });
  for (;;) pause();
}

class NamesKillTest : public NamesMonthsTest {
 protected:
  void SetUp() override {
    NamesMonthsTest::SetUp();
    told_ =
        static_cast<Told *>(mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override {
    munmap(told_, sizeof *told_);
    NamesMonthsTest::TearDown();
  }
  // A child that dies when so many names have come; what it left is read.
  void KillAfter(uint64_t enough, Keeps keeps, Judge *out) {
    *told_ = {};
    const pid_t child = fork();
    if (child == 0) RunUntilKilled(log_, told_, keeps);
    int status = 0;
    while (__atomic_load_n(&told_->num, __ATOMIC_ACQUIRE) < enough &&
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
  }

  Told *told_ = nullptr;
  std::mt19937 random_{29};
};

TEST_F(NamesKillTest, WhatAKillLeavesHasItsNames) {
  const uint64_t num = Rounds(30, 2000);
  uint64_t num_again = 0;
  for (uint64_t i = 0; i < num; i++) {
    Judge read;
    read.keeps_numbers = true;
    // Some die before any id is used again.
    KillAfter(random_() % 4 ? 5000 + random_() % 20000 : random_() % 500,
              Keeps::kLog, &read);
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    EXPECT_EQ(0u, read.num_wrong) << read.wrong << ", kill " << i;
    num_again += read.num_defined > read.most_id + 500;
    for (uint64_t t = 0; t < kNumThreads && !read.num_other; t++)
      for (uint64_t n = t; n < told_->first_done[t]; n += kNumThreads)
        ASSERT_EQ(1u, read.numbers[n])
            << n << ", kill " << i << ", lost " << read.num_lost;
  }
  EXPECT_LE(num / 4, num_again);
}

// An id waits until its records are kept.
TEST_F(NamesKillTest, WhatNoLogHasYetHasItsNames) {
  const uint64_t num = Rounds(10, 1000);
  for (uint64_t i = 0; i < num; i++) {
    Judge read;
    KillAfter(5000 + random_() % 20000, Keeps::kLogSeldom, &read);
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    EXPECT_EQ(0u, read.num_wrong) << read.wrong << ", kill " << i;
  }
}

// Names that a ring still has events of keep their ids; those for which there
// is none left are told to be others.
TEST_F(NamesKillTest, WhatARingHoldsAtAKillHasItsNames) {
  const uint64_t num = Rounds(10, 200);
  uint64_t num_own = 0;
  for (uint64_t i = 0; i < num; i++) {
    Judge read;
    KillAfter(5000 + random_() % 20000, Keeps::kRing, &read);
    ASSERT_FALSE(HasFailure()) << "kill " << i;
    EXPECT_EQ(0u, read.num_wrong) << read.wrong << ", kill " << i;
    num_own += read.num_own;
  }
  EXPECT_LT(num * 100, num_own);
}

}  // namespace
}  // namespace pprof_test
