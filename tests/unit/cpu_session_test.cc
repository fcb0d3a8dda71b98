// SPDX-License-Identifier: Apache-2.0
//
// CPU use of real ranges: what the kernel told the test just around a range is
// the most that the range can have used, what the range is known to have done
// the least. Which ranges are measured, and what is not known.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "cpu_fixture.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"

namespace pprof_test {
namespace {

struct Used {
  uint64_t cpu_ns, voluntary, involuntary, minor_faults, major_faults;
};

Used UsedSoFar() {
  rusage usage = {};
  const uint64_t cpu_ns = CpuNs();
  getrusage(RUSAGE_THREAD, &usage);
  return {cpu_ns, static_cast<uint64_t>(usage.ru_nvcsw),
          static_cast<uint64_t>(usage.ru_nivcsw),
          static_cast<uint64_t>(usage.ru_minflt),
          static_cast<uint64_t>(usage.ru_majflt)};
}

// What the calling thread uses in a call.
Used UsedBy(const std::function<void()> &call) {
  const Used before = UsedSoFar();
  call();
  const Used after = UsedSoFar();
  return {after.cpu_ns - before.cpu_ns, after.voluntary - before.voluntary,
          after.involuntary - before.involuntary,
          after.minor_faults - before.minor_faults,
          after.major_faults - before.major_faults};
}

void ExpectAtMost(const Used &most, const pprof_cpu_use &use) {
  EXPECT_LE(use.user_ns + use.sys_ns, most.cpu_ns);
  EXPECT_LE(use.voluntary_switches, most.voluntary);
  EXPECT_LE(use.involuntary_switches, most.involuntary);
  EXPECT_LE(use.minor_faults, most.minor_faults);
  EXPECT_LE(use.major_faults, most.major_faults);
}

char StateOf(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return end == std::string::npos ? '?' : line[end + 2];
}

TEST_F(CpuSessionTest, ALoopUsesTheCpu) {
  Start();
  const uint64_t least_ns = 30000000;
  const Used most = UsedBy([] {
    pprof_push(&work_site);
    Spin(least_ns);
    pprof_pop();
  });
  Stop();
  const RecordedEvent work = The("work");
  ASSERT_TRUE(work.has_cpu);
  EXPECT_EQ(sizeof(pprof_cpu_use), work.cpu.size);
  ASSERT_TRUE(work.cpu.known & PPROF_CPU_TIMES);
  EXPECT_GE(work.cpu.user_ns + work.cpu.sys_ns, least_ns);
  EXPECT_EQ(0u, work.cpu.inner_ns);
  ExpectAtMost(most, work.cpu);
}

TEST_F(CpuSessionTest, PagesThatAreTouchedAreFaults) {
  Start();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), num = 300;
  void *memory = mmap(nullptr, num * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  madvise(memory, num * page, MADV_NOHUGEPAGE);
  const Used most = UsedBy([=] {
    pprof_push(&work_site);
    for (size_t i = 0; i < num; i++)
      static_cast<volatile char *>(memory)[i * page] = 1;
    pprof_pop();
  });
  munmap(memory, num * page);
  Stop();
  const RecordedEvent work = The("work");
  EXPECT_GE(work.cpu.minor_faults + work.cpu.major_faults, num);
  ExpectAtMost(most, work.cpu);
}

// The writer looks until the reader sleeps.
TEST_F(CpuSessionTest, ABlockedReadIsASwitch) {
  Start();
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const pid_t reader = gettid();
  std::atomic<bool> reads{false};
  std::thread writer([&] {
    while (!reads || StateOf(reader) != 'S') std::this_thread::yield();
    EXPECT_EQ(1, write(ends[1], "x", 1));
  });
  const Used most = UsedBy([&] {
    char byte;
    pprof_push(&work_site);
    reads = true;
    EXPECT_EQ(1, read(ends[0], &byte, 1));
    pprof_pop();
  });
  writer.join();
  close(ends[0]);
  close(ends[1]);
  Stop();
  const RecordedEvent work = The("work");
  EXPECT_GE(work.cpu.voluntary_switches, 1u);
  ExpectAtMost(most, work.cpu);
}

// Two loops on one CPU: sooner or later one is put aside for the other, and
// waits.
TEST_F(CpuSessionTest, WhoSharesACpuWaitsForIt) {
  char why[256];
  const bool is_told = !ppi_cpu_file_check(why, sizeof why);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  Start();
  std::atomic<bool> done{false};
  std::thread beside([&] {
    EXPECT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    while (!done) continue;
  });
  std::thread measured([&] {
    EXPECT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    pprof_push(&work_site);
    const uint64_t before = UsedSoFar().involuntary;
    while (UsedSoFar().involuntary == before) continue;
    pprof_pop();
    done = true;
  });
  measured.join();
  beside.join();
  Stop();
  const RecordedEvent work = The("work");
  EXPECT_GE(work.cpu.involuntary_switches, 1u);
  ASSERT_EQ(is_told, (work.cpu.known & PPROF_CPU_RUN_QUEUE) != 0);
  EXPECT_EQ(is_told, work.cpu.run_queue_ns > 0);
}

TEST_F(CpuSessionTest, InnerRangesAreInTheirOuterOnes) {
  Start();
  pprof_push(&work_site);
  pprof_push(&other_site);
  pprof_push(&work_inside_site);
  Spin(1000000);
  pprof_pop();
  pprof_push(&work_inside_site);
  Spin(1000000);
  pprof_pop();
  pprof_pop();
  pprof_pop();
  Stop();
  const auto inside = live_.recording.Named("work inside");
  ASSERT_EQ(2u, inside.size());
  uint64_t sum_ns = 0;
  for (const auto &event : inside)
    sum_ns += event.cpu.user_ns + event.cpu.sys_ns;
  const RecordedEvent work = The("work");
  EXPECT_GE(sum_ns, 2000000u);
  EXPECT_EQ(sum_ns, work.cpu.inner_ns);
  EXPECT_GE(work.cpu.user_ns + work.cpu.sys_ns, sum_ns);
  EXPECT_FALSE(The("other").has_cpu);
}

TEST_F(CpuSessionTest, OnlyHostRangesOfTheNamesAreMeasured) {
  Start();
  { PPROF_SCOPE("work scope"); }
  pprof_push_name("work name", PPROF_CATEGORY_FORWARD);
  pprof_pop();
  pprof_mark(&work_site);
  pprof_count(&work_site, 1);
  pprof_push(&other_site);
  pprof_pop();
  pprof_device_push(nullptr, nullptr, &work_inside_site);
  pprof_device_pop(nullptr, nullptr);
  Stop();
  EXPECT_TRUE(The("work scope").cpu.known & PPROF_CPU_TIMES);
  EXPECT_TRUE(The("work name").cpu.known & PPROF_CPU_TIMES);
  for (const auto &event : live_.recording.Named("work"))
    EXPECT_FALSE(event.has_cpu);
  EXPECT_FALSE(The("other").has_cpu);
  EXPECT_FALSE(The("work inside").has_cpu);
}

TEST_F(CpuSessionTest, ExtensionsKeepTheirOrder) {
  Start();
  pprof_work_amount amount = {};
  amount.size = sizeof amount;
  amount.items = 3;
  amount.params = 7;
  for (int i = 0; i < 2; i++) {
    pprof_push(&work_site);
    for (uint64_t flow = 1; flow <= 5; flow++) pprof_flow(flow);
    pprof_work(&amount);
    pprof_pop();
  }
  pprof_push(&other_site);
  pprof_pop();
  Stop();
  for (const auto &event : live_.recording.Named("work")) {
    EXPECT_EQ((std::vector<uint64_t>{1, 2, 3, 4, 5}), event.flows);
    ASSERT_TRUE(event.has_work && event.has_cpu);
    EXPECT_EQ(3, event.work.items);
    EXPECT_EQ(7, event.work.params);
    EXPECT_TRUE(event.cpu.known & PPROF_CPU_TIMES);
  }
  EXPECT_FALSE(The("other").has_work || The("other").has_cpu);
}

TEST_F(CpuSessionTest, AWanderingRangeOfOneThread) {
  Start();
  const Used most = UsedBy([] {
    const pprof_range range = pprof_range_begin(&work_site);
    Spin(2000000);
    pprof_range_end(range);
  });
  Stop();
  const RecordedEvent work = The("work");
  ASSERT_TRUE(work.cpu.known & PPROF_CPU_TIMES);
  EXPECT_GE(work.cpu.user_ns + work.cpu.sys_ns, 2000000u);
  ExpectAtMost(most, work.cpu);
}

TEST_F(CpuSessionTest, AnotherThreadsEndKnowsNothing) {
  Start();
  const pprof_range range = pprof_range_begin(&work_site);
  std::thread([=] { pprof_range_end(range); }).join();
  Stop();
  const RecordedEvent work = The("work");
  EXPECT_TRUE(work.has_cpu);
  EXPECT_EQ(0u, work.cpu.known);
  EXPECT_EQ(0u, work.cpu.user_ns + work.cpu.sys_ns + work.cpu.minor_faults);
}

TEST_F(CpuSessionTest, WhatAnEdgeEndsKnowsNothing) {
  Start();
  const pprof_range range = pprof_range_begin(&work_inside_site);
  pprof_push(&work_site);
  Stop();
  pprof_pop();
  pprof_range_end(range);
  for (const char *name : {"work", "work inside"}) {
    const RecordedEvent cut = The(name);
    EXPECT_TRUE(cut.event.flags & PPROF_FLAG_CLIPPED);
    EXPECT_TRUE(cut.has_cpu);
    EXPECT_EQ(0u, cut.cpu.known);
  }
}

TEST_F(CpuSessionTest, WhatIsAbandonedIsMeasured) {
  Start();
  {
    PPROF_SCOPE("work outer");
    pprof_push(&work_site);
    Spin(100000);
  }
  std::thread([] {
    pprof_push(&work_inside_site);
    Spin(100000);
  }).join();
  Stop();
  const RecordedEvent outer = The("work outer");
  for (const char *name : {"work", "work inside"}) {
    const RecordedEvent left = The(name);
    EXPECT_TRUE(left.event.flags & PPROF_FLAG_ABANDONED);
    EXPECT_GE(left.cpu.user_ns + left.cpu.sys_ns, 100000u) << name;
  }
  EXPECT_EQ(The("work").cpu.user_ns + The("work").cpu.sys_ns,
            outer.cpu.inner_ns);
}

TEST_F(CpuSessionTest, SixtyFourAreMeasuredAtOnce) {
  Start();
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 66; i++) pprof_push(&work_site);
    for (int i = 0; i < 66; i++) pprof_pop();
  }
  Stop();
  const auto work = live_.recording.Named("work");
  ASSERT_EQ(132u, work.size());
  for (const auto &event : work) {
    ASSERT_TRUE(event.has_cpu);
    EXPECT_EQ(event.event.depth < 64, (event.cpu.known & PPROF_CPU_TIMES) != 0)
        << event.event.depth;
  }
}

// The marker that opens the window is measured from its begin on.
TEST_F(CpuSessionTest, AWatchedRangeIsMeasured) {
  Choose({"work"});
  const ppi_capture capture = Capture(MarkerRule("work", 2, 2));
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_session_set_capture(live_.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  for (int i = 0; i < 3; i++) {
    pprof_push(&work_site);
    Spin(100000);
    pprof_pop();
  }
  Stop();
  EXPECT_GE(The("work").cpu.user_ns + The("work").cpu.sys_ns, 100000u);
}

TEST_F(CpuSessionTest, NamesChangeWhileItRuns) {
  Start();
  pprof_push(&other_site);
  pprof_pop();
  Choose({"other"});
  pprof_push(&other_site);
  pprof_pop();
  pprof_push(&work_site);
  pprof_pop();
  Stop();
  const auto other = live_.recording.Named("other");
  ASSERT_EQ(2u, other.size());
  EXPECT_FALSE(other[0].has_cpu);
  EXPECT_TRUE(other[1].has_cpu);
  EXPECT_FALSE(The("work").has_cpu);
}

// ---- the file that tells of run queues ----

// Asking the kernel is no point where a thread may be cancelled: a scope's
// destructor would throw.
TEST_F(CpuSessionTest, AScopeEndsAlsoUnderACancelThatIsDue) {
  Start();
  bool reached = false;
  std::thread thread([&] {
    pprof_scope_token scope = pprof_scope_push_(&work_site);
    pthread_cancel(pthread_self());
    pprof_scope_pop_(&scope);
    reached = true;
  });
  thread.join();
  Stop();
  EXPECT_TRUE(reached);
  EXPECT_TRUE(The("work").has_cpu);
}

TEST_F(CpuSessionTest, WithoutRunQueueTheRestIsKnown) {
  ppi_cpu_file_inject("/nowhere/schedstat");
  Start();
  errno = 77;
  pprof_push(&work_site);
  pprof_pop();
  EXPECT_EQ(77, errno);
  Stop();
  EXPECT_EQ(static_cast<uint32_t>(PPROF_CPU_TIMES), The("work").cpu.known);
  EXPECT_EQ(0u, The("work").cpu.run_queue_ns);
  EXPECT_EQ("cannot open /nowhere/schedstat: No such file or directory",
            live_.recording.notes["cpu_run_queue"]);
}

// A kernel without the accounting, and a file that is something else.
TEST_F(CpuSessionTest, ZeroesAreNotAnAnswer) {
  const std::string path =
      ::testing::TempDir() + "pprof_schedstat_" + std::to_string(getpid());
  for (const char *text : {"0 0 0\n", "", "12 34\n", "1 2 3", "x 2 3\n"}) {
    std::ofstream(path) << text;
    ppi_cpu_file_inject(path.c_str());
    char why[256];
    const char *said = ppi_cpu_file_check(why, sizeof why);
    ASSERT_NE(nullptr, said) << text;
    EXPECT_EQ("the kernel does not account it in " + path, said);
  }
  Start();
  pprof_push(&work_site);
  pprof_pop();
  Stop();
  EXPECT_EQ(static_cast<uint32_t>(PPROF_CPU_TIMES), The("work").cpu.known);
  std::ofstream(path) << "100 20 3\n";
  char why[256];
  EXPECT_EQ(nullptr, ppi_cpu_file_check(why, sizeof why));
  unlink(path.c_str());
}

TEST_F(CpuSessionTest, FilesAreClosed) {
  char why[256];
  const size_t num = ppi_cpu_file_check(why, sizeof why) ? 0 : 1;
  ASSERT_EQ(0u, Files().size());
  Start();
  std::thread([] {
    pprof_push(&work_site);
    pprof_pop();
  }).join();
  EXPECT_EQ(0u, Files().size());
  pprof_push(&work_site);
  pprof_pop();
  EXPECT_EQ(num, Files().size());
  Stop();
  EXPECT_EQ(0u, Files().size());
}

// A program that closes all files has others under their numbers.
TEST_F(CpuSessionTest, OthersFilesAreLeftAlone) {
  Start();
  pprof_push(&work_site);
  pprof_pop();
  const std::vector<int> files = Files();
  int mine = open("/dev/zero", O_RDONLY);
  ASSERT_GE(mine, 0);
  for (int fd : files) ASSERT_EQ(fd, dup2(mine, fd));
  pprof_push(&work_site);
  pprof_pop();
  Stop();
  for (int fd : files) EXPECT_EQ(0, close(fd));
  close(mine);
  ASSERT_EQ(2u, live_.recording.Named("work").size());
  EXPECT_EQ(static_cast<uint32_t>(PPROF_CPU_TIMES),
            live_.recording.Named("work")[1].cpu.known);
}

}  // namespace
}  // namespace pprof_test
