// SPDX-License-Identifier: Apache-2.0
//
// Which cache lines a marker writes, and that no two threads write the same
// one. All memory that markers could write is read-only while one runs: each
// store faults, is noted, and is let through alone.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mark/pending.h"
#include "mark/thread.h"
#include "tests/support/patient_flush.h"

#if defined(__x86_64__)
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// The linker's: the first and the last byte of this program's data.
extern char __data_start[];
extern char _end[];

namespace {

constexpr uint64_t kTrapFlag = 1u << 8;
constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kLine = 64;
constexpr size_t kMostWritten = 65536;

struct Region {
  uintptr_t from, to;
};

// What is watched now, and what was written. Used by the signal handlers of the
// one thread that runs a marker meanwhile.
std::vector<Region> regions;
uintptr_t written[kMostWritten];
size_t num_written;

bool IsWatched(uintptr_t address) {
  for (const Region &region : regions)
    if (address >= region.from && address < region.to) return true;
  return false;
}

void Protect(int protection) {
  for (const Region &region : regions)
    mprotect(reinterpret_cast<void *>(region.from), region.to - region.from,
             protection);
}

// The one instruction goes on with everything writable, then traps. What is
// written here may itself be watched.
void OnFault(int, siginfo_t *info, void *context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (!IsWatched(address)) _exit(9);
  Protect(PROT_READ | PROT_WRITE);
  if (num_written == kMostWritten) _exit(10);
  written[num_written++] = address / kLine;
  static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void OnTrap(int, siginfo_t *, void *context) {
  static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] &=
      ~static_cast<greg_t>(kTrapFlag);
  Protect(PROT_READ);
}

void Watch(const void *memory, size_t size) {
  const auto from = reinterpret_cast<uintptr_t>(memory) / kPage * kPage;
  const auto to =
      (reinterpret_cast<uintptr_t>(memory) + size + kPage - 1) / kPage * kPage;
  regions.push_back({from, to});
}

class RecordLinesTest : public testing::Test {
 protected:
  void SetUp() override {
    pprof_options options = {};
    options.size = sizeof options;
    // The collector stays away, but for a flush, and has nothing to allocate
    // behind the session: it must not write while its memory is read-only.
    options.drain_interval_us = 3600u * 1000000u;
    options.memory_limit_bytes = 8u << 20;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session_, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session_));
    // A start waits for its first cycle for a second only.
    pprof_test::FlushPatiently(session_);
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = OnFault;
    sigaction(SIGSEGV, &action, &old_fault_);
    action.sa_sigaction = OnTrap;
    sigaction(SIGTRAP, &action, &old_trap_);
  }

  void TearDown() override {
    sigaction(SIGSEGV, &old_fault_, nullptr);
    sigaction(SIGTRAP, &old_trap_, nullptr);
    pprof_session_stop(session_, nullptr);
    pprof_session_destroy(session_);
  }

  // The lines that `marker` writes on the calling thread.
  static std::set<uintptr_t> LinesOf(const std::function<void()> &marker) {
    regions.clear();
    regions.reserve(256);
    const ppi_recorder &recorder = ppi_recorder_in_force;
    Watch(recorder.spool.base, recorder.spool.size);
    for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
      Watch(thread, sizeof *thread);
    Watch(ppi_epoch_page, kPage);
    Watch(__data_start, static_cast<size_t>(_end - __data_start));
    num_written = 0;
    Protect(PROT_READ);
    marker();
    Protect(PROT_READ | PROT_WRITE);
    return {written, written + num_written};
  }

  // A thread that does what it is told, one thing after the other.
  class Worker {
   public:
    Worker() : thread_([this] { Run(); }) {}
    ~Worker() {
      Do(nullptr);
      thread_.join();
    }
    void Do(const std::function<void()> &job) {
      std::unique_lock<std::mutex> lock(mutex_);
      job_ = &job;
      has_job_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !has_job_; });
    }

   private:
    void Run() {
      std::unique_lock<std::mutex> lock(mutex_);
      for (bool goes_on = true; goes_on;) {
        changed_.wait(lock, [this] { return has_job_; });
        goes_on = *job_ != nullptr;
        if (goes_on) (*job_)();
        has_job_ = false;
        changed_.notify_all();
      }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()> *job_ = nullptr;
    bool has_job_ = false;
    std::thread thread_;
  };

  // Both threads mark in turns, twice, with the collector at work in between,
  // before what they write is looked at.
  void ExpectLinesApart(const std::function<void()> &marker) {
    Worker a, b;
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 100; k++) {
        a.Do(marker);
        b.Do(marker);
      }
      ASSERT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session_));
    }
    const auto several = [&marker] {
      for (int k = 0; k < 50; k++) marker();
    };
    std::set<uintptr_t> of_a, of_b;
    a.Do([&] { of_a = LinesOf(several); });
    b.Do([&] { of_b = LinesOf(several); });
    // At least the thread's block, its lane and a record.
    EXPECT_GT(of_a.size(), 2u);
    EXPECT_GT(of_b.size(), 2u);
    for (uintptr_t line : of_a)
      EXPECT_EQ(0u, of_b.count(line)) << Describe(line * kLine);
  }

  static std::string Describe(uintptr_t address) {
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    const auto base = reinterpret_cast<uintptr_t>(spool.base);
    if (address < base || address >= base + spool.size)
      return "outside of the spool";
    return "chunk " + std::to_string((address - base) / PPI_CHUNK_SIZE) +
           " + " + std::to_string((address - base) % PPI_CHUNK_SIZE);
  }

  pprof_session *session_ = nullptr;
  struct sigaction old_fault_, old_trap_;
};

PPROF_SITE(line_site, "site", PPROF_CATEGORY_USER_DEFINED);

TEST_F(RecordLinesTest, WatchingSeesWhatIsWritten) {
  pprof_push(&line_site);
  pprof_pop();
  const std::set<uintptr_t> lines = LinesOf([] {
    pprof_push(&line_site);
    pprof_pop();
  });
  const ppi_lane *lane = ppi_thread_self->stacks[0].lane;
  const auto line_of = [](const void *at) {
    return reinterpret_cast<uintptr_t>(at) / kLine;
  };
  // The busy flag, the commit word, the frame, the second record.
  const std::set<uintptr_t> expected = {
      line_of(ppi_thread_self), line_of(&lane->commit),
      line_of(&lane->own_frames[0]),
      line_of(ppi_lane_slot(ppi_recorder_in_force.spool.base, lane,
                            PPI_FIRST_SLOT + 1))};
  EXPECT_EQ(expected, lines);
}

TEST_F(RecordLinesTest, StackRangesOfTwoThreads) {
  ExpectLinesApart([] {
    pprof_push(&line_site);
    pprof_flow(7);
    pprof_push_name("a name", PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
    pprof_work(nullptr);
    pprof_pop();
  });
}

TEST_F(RecordLinesTest, MarksAndCountersOfTwoThreads) {
  ExpectLinesApart([] {
    pprof_mark(&line_site);
    pprof_count(&line_site, 2);
  });
}

TEST_F(RecordLinesTest, RangesThatEndAnywhereOfTwoThreads) {
  ExpectLinesApart([] {
    const pprof_range range = pprof_range_begin(&line_site);
    pprof_range_flow(range, 7);
    pprof_range_end(range);
  });
}

TEST_F(RecordLinesTest, DeviceRangesWithoutDeviceOfTwoThreads) {
  ExpectLinesApart([] {
    pprof_device_push(nullptr, nullptr, &line_site);
    pprof_device_pop(nullptr, nullptr);
  });
}

}  // namespace
#endif
