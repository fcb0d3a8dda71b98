// SPDX-License-Identifier: Apache-2.0
//
// The collector runs one instruction at a time while it hands records to a sink
// and frees them. Whenever it has changed what recover goes by, the child's
// spool is recovered as if it had been killed there: what the sink has, what is
// found and what is counted must be what was recorded.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mark/thread.h"
#include "recover/salvage.h"
#include "session/choice_session.h"
#include "session/state/session_impl.h"

namespace {

constexpr int kRounds = 3, kEach = 40;
constexpr uint64_t kEvery = 4;  // of requests, one in so many is kept

// The sink's store, which outlives the child: records by lane.
struct Shared {
  char spool[512];
  int phase;  // 1: recorded and waiting, 2: may go on, 3: all delivered
  bool in_sink;
  uint64_t delivered, ends[64];
};

Shared *shared;

pprof_status OnEvents(pprof_sink *, const pprof_batch *batch) {
  shared->in_sink = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  shared->delivered += batch->num_events;
  shared->ends[batch->lane % 64] = batch->end_seq;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  shared->in_sink = false;
  return PPROF_STATUS_OK;
}

bool OnKept(pprof_sink *, uint32_t lane, uint64_t *out_seq) {
  *out_seq = shared->ends[lane % 64];
  return true;
}

PPROF_SITE(wanted, "wanted", PPROF_CATEGORY_DATALOADER);
PPROF_SITE(point, "point", PPROF_CATEGORY_DATALOADER);

// Three records that are delivered or excluded: marks are, by the choice, and
// so are requests that are not kept.
constexpr uint64_t kNumRecorded = 3 * kEach * kRounds;

void Record() {
  for (uint64_t i = 1; i <= kEach; i++) {
    pprof_push(&wanted);
    pprof_flow(i);
    pprof_mark(&point);
    pprof_range range = pprof_range_begin(&wanted);
    pprof_pop();
    pprof_range_end(range);
  }
}

void AwaitPhase(int phase) {
  while (__atomic_load_n(&shared->phase, __ATOMIC_ACQUIRE) < phase)
    sched_yield();
}

[[noreturn]] void Child(const char *folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static pprof_sink sink;
  sink.size = sizeof sink;
  sink.events = OnEvents;
  sink.kept = OnKept;
  pprof_options options = {};
  options.size = sizeof options;
  options.spool_dir = folder;
  options.memory_limit_bytes = 2u << 20;
  options.drain_interval_us = 3600u * 1000000u;
  options.stop_wait_ms = 3600u * 1000u;  // a flush waits as long
  ppi_choice choice = {};
  choice.timer_only = true;
  choice.requests_every = kEvery;
  pprof_session *session = nullptr;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK ||
      ppi_session_set_choice(session, &choice) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK)
    _exit(3);
  strcpy(shared->spool, ppi_recorder_in_force.spool.path);
  Record();
  shared->phase = 1;
  AwaitPhase(2);
  for (int round = 1; round < kRounds; round++) {
    pprof_session_flush(session);
    Record();
  }
  pprof_session_flush(session);
  pprof_session_flush(session);  // frees what the last one delivered
  shared->phase = 3;
  pprof_session_flush(session);  // ends a step into the collector's wait
  for (;;) pause();
}

uint64_t Kept(void *, uint32_t lane) {
  return shared->ends[lane % 64];
}

struct Counting {
  pprof_sink base;
  uint64_t num;
};

pprof_status Count(pprof_sink *sink, const pprof_batch *batch) {
  reinterpret_cast<Counting *>(sink)->num += batch->num_events;
  return PPROF_STATUS_OK;
}

// Counts the records that recover would find now and those of the sink.
uint64_t Accounted() {
  Counting counting = {};
  counting.base.size = sizeof counting.base;
  counting.base.events = Count;
  ppi_salvage *salvage = nullptr;
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_open_live(shared->spool, &salvage, &error))
      << error.text;
  if (!salvage) return 0;
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, Kept, nullptr, false, &counting.base));
  const uint64_t excluded = pprof_totals_value(ppi_salvage_totals(salvage),
                                               PPROF_ALL_LANES, "excluded");
  ppi_salvage_close(salvage);
  return shared->delivered + counting.num + excluded;
}

// The parts of lanes and tables that the collector writes and recover reads.
class Watched {
 public:
  explicit Watched(const uint8_t *base) : base_(base) {}

  bool HasChanged() {
    now_.clear();
    const auto *header = reinterpret_cast<const ppi_spool_header *>(base_);
    now_.push_back(header->retired_word);
    now_.push_back(shared->delivered);
    for (uint32_t i = 0; i < header->num_lane_slots; i++) {
      const auto *lane = At<ppi_lane>(header->lanes[i]);
      now_.push_back(lane->kept);
      now_.push_back(lane->state);
      for (const auto &gone : lane->gone) {
        now_.push_back(gone.kept);
        now_.push_back(gone.excluded);
      }
    }
    for (uint32_t i = 0; i < header->num_tables; i++) {
      const auto *table = At<ppi_table>(header->tables[i]);
      now_.push_back(table->kept);
      now_.push_back(table->next_seq);
      now_.push_back(table->excluded);
      now_.insert(now_.end(), table->states, table->states + kEach + 1);
    }
    const bool changed = now_ != before_;
    std::swap(now_, before_);
    return changed;
  }

 private:
  template <class T>
  const T *At(uint32_t chunk) const {
    return reinterpret_cast<const T *>(base_ + size_t{chunk} * PPI_CHUNK_SIZE);
  }

  const uint8_t *base_;
  std::vector<uint64_t> now_, before_;
};

pid_t Collector(pid_t process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto &task : std::filesystem::directory_iterator(tasks)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "pprof-collector") return std::stoi(task.path().filename());
  }
  return 0;
}

const uint8_t *MapSpool() {
  FILE *file = fopen(shared->spool, "rb");
  void *base = mmap(nullptr, 2u << 20, PROT_READ, MAP_SHARED, fileno(file), 0);
  fclose(file);
  return static_cast<const uint8_t *>(base);
}

TEST(CollectorStepTest, KillAtEveryInstructionCountsEveryRecordOnce) {
  shared = static_cast<Shared *>(mmap(nullptr, sizeof(Shared),
                                      PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::string folder = "/dev/shm/pprof-stepXXXXXX";
  ASSERT_NE(nullptr, mkdtemp(&folder[0]));
  const pid_t child = fork();
  if (child == 0) Child(folder.c_str());
  AwaitPhase(1);
  const pid_t collector = Collector(child);
  ASSERT_NE(0, collector);
  int status = 0;
  ASSERT_EQ(0, ptrace(PTRACE_SEIZE, collector, nullptr, nullptr));
  ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, collector, nullptr, nullptr));
  ASSERT_EQ(collector, waitpid(collector, &status, __WALL));
  Watched watched(MapSpool());
  uint64_t steps = 0, points = 0, failures = 0;
  shared->phase = 2;
  while (shared->phase < 3 && failures < 3) {
    ptrace(PTRACE_SINGLESTEP, collector, nullptr, nullptr);
    ASSERT_EQ(collector, waitpid(collector, &status, __WALL));
    ASSERT_TRUE(WIFSTOPPED(status));
    steps++;
    // The child's own thread may be recording; then the sum is not known yet.
    if (shared->in_sink || !watched.HasChanged()) continue;
    const uint64_t accounted = Accounted();
    points++;
    if (accounted % (3 * kEach) == 0) continue;
    failures++;
    ADD_FAILURE() << "step " << steps << ": " << accounted;
  }
  EXPECT_EQ(kNumRecorded, Accounted());
  EXPECT_GT(points, 100u);
  EXPECT_LT(shared->delivered, kNumRecorded);
  RecordProperty("steps", static_cast<int>(steps));
  RecordProperty("points", static_cast<int>(points));
  printf("%llu instructions, %llu recoveries\n",
         static_cast<unsigned long long>(steps),
         static_cast<unsigned long long>(points));
  kill(child, SIGKILL);
  waitpid(collector, &status, __WALL);
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
