// SPDX-License-Identifier: Apache-2.0
//
// Spools as recover finds them: whole, cut, and made by somebody who means
// harm. What is tested is a copy of a living session's file.
#include "recover/salvage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "mark/thread.h"
#include "recording_sink.h"

namespace pprof_test {
namespace {

pprof_site outer_site = {"outer", 0, 0, 0, {0, 0}};
pprof_site inner_site = {"inner", 0, 0, 0, {0, 0}};

class SalvageTest : public ::testing::Test {
 protected:
  // Two records and two open frames, one of them with flows and work.
  void SetUp() override {
    live_.options.memory_limit_bytes = 2u << 20;
    live_.options.drain_interval_us = kKeptAwayUs;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
    pprof_push(&outer_site);
    pprof_push(&inner_site);
    pprof_pop();
    pprof_mark(&inner_site);
    pprof_push(&inner_site);
    for (uint64_t flow = 1; flow <= 40; flow++) pprof_flow(flow);
    // From memory: to open the file here would end the session's lock on it.
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    bytes_.assign(reinterpret_cast<const char *>(spool.base), spool.size);
    ASSERT_EQ(2u << 20, bytes_.size());
    header_ = reinterpret_cast<ppi_spool_header *>(&bytes_[0]);
    path_ = ::testing::TempDir() + "salvage_test.spool";
  }

  void TearDown() override {
    unlink(path_.c_str());
  }

  ppi_lane *FirstLane() {
    return reinterpret_cast<ppi_lane *>(
        &bytes_[static_cast<size_t>(header_->lanes[0]) * PPI_LANE_SIZE]);
  }

  pprof_status Open(ppi_salvage **out) {
    std::ofstream(path_, std::ios::binary) << bytes_;
    error_.text[0] = 0;
    return ppi_salvage_open(path_.c_str(), out, &error_);
  }

  // How many events come out; the process must live through it.
  size_t Deliver() {
    ppi_salvage *salvage = nullptr;
    if (Open(&salvage) != PPROF_STATUS_OK) return 0;
    pprof_sink *sink = RecordingSink::Make(&found_);
    ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink);
    const pprof_totals *totals = ppi_salvage_totals(salvage);
    lost_ = pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
    ppi_salvage_close(salvage);
    RecordingSink::Destroy(sink);
    return found_.events.size();
  }

  LiveSession live_;
  Recording found_;
  std::string bytes_, path_;
  ppi_spool_header *header_ = nullptr;
  pprof_error error_ = {};
  uint64_t lost_ = 0;
};

TEST_F(SalvageTest, EverythingAcceptedIsFound) {
  EXPECT_EQ(4u, Deliver());
  EXPECT_EQ(40u, found_.Named("inner").back().flows.size());
}

// The chunk of the lanes, by way of a lane's records or frames.
TEST_F(SalvageTest, ChunkThatServesTwiceIsNotBelieved) {
  const std::string whole = bytes_;
  const uint32_t chunk = header_->lanes[0] / PPI_LANES_PER_CHUNK;
  FirstLane()->commit += 2ull * PPI_LANE_RECORDS << 16;
  FirstLane()->capacity += PPI_SLOTS_PER_CHUNK;
  FirstLane()->directory[1] = chunk * PPI_UNITS_PER_CHUNK;
  EXPECT_EQ(0u, Deliver());
  bytes_ = whole;
  FirstLane()->frames_at = 0;
  EXPECT_EQ(0u, Deliver());
}

TEST_F(SalvageTest, FramesOutsideThePoolAreNotBelieved) {
  const int64_t lane = static_cast<int64_t>(header_->lanes[0]) * PPI_LANE_SIZE;
  for (int64_t at : {INT64_MIN, INT64_MAX, -lane, -lane - PPI_CHUNK_SIZE,
                     int64_t{PPI_CHUNK_SIZE} * header_->num_chunks - lane}) {
    FirstLane()->frames_at = at;
    EXPECT_EQ(0u, Deliver()) << at;
  }
}

// What a lane says of itself must fit together.
TEST_F(SalvageTest, LaneThatContradictsItselfIsNotBelieved) {
  const std::string whole = bytes_;
  const std::function<void(ppi_lane *)> changes[] = {
      [](ppi_lane *lane) { lane->kept = PPI_HEAD(lane->commit) + 1; },
      [](ppi_lane *lane) { lane->capacity = PPI_HEAD(lane->commit); },
      [](ppi_lane *lane) { lane->freed_chunks = 1; },
      [](ppi_lane *lane) { lane->kept = PPI_FIRST_SLOT - 1; },
      [](ppi_lane *lane) { lane->state = PPI_LANE_FREE; },
      [](ppi_lane *lane) { lane->directory[0] = 0; },
      [](ppi_lane *lane) {
        lane->capacity = (PPI_LANE_CHUNKS + 1ull) * PPI_SLOTS_PER_CHUNK;
        lane->commit = (lane->capacity - 1) << 16;
      }};
  for (const auto &change : changes) {
    bytes_ = whole;
    found_ = Recording();
    change(FirstLane());
    EXPECT_EQ(0u, Deliver()) << &change - changes;
  }
}

// All of its records are kept: its chunks may be others' by now, its counters
// are still its own.
TEST_F(SalvageTest, LaneWithNothingLeftStillCounts) {
  ppi_lane *lane = FirstLane();
  lane->commit = (PPI_FIRST_SLOT + 2ull) << 16;
  lane->kept = PPI_FIRST_SLOT + 2;
  lane->lost = 7;
  lane->directory[0] = 0;
  EXPECT_EQ(0u, Deliver());
  EXPECT_EQ(7u, lost_);
}

// Frames that only keep the balance end as no record and need no room.
TEST_F(SalvageTest, FramesWithoutARecordNeedNoRoom) {
  ppi_lane *lane = FirstLane();
  lane->own_frames[0].flags |= PPI_FRAME_LOST;
  lane->own_frames[1].flags |= PPI_FRAME_EXCLUDED;
  lane->capacity = PPI_HEAD(lane->commit);
  EXPECT_EQ(2u, Deliver());
}

TEST_F(SalvageTest, FlowsBeyondTheirStackAreNotBelieved) {
  FirstLane()->own_frames[1].num_flows = 60000;
  EXPECT_EQ(4u, Deliver());
  EXPECT_GE(1u, found_.Named("inner").back().flows.size());
}

// What lies in the chunk of the lanes, in none, or outside is no name; what is
// named before it is.
TEST_F(SalvageTest, NamesAreBelievedUpToTheFirstThatMakesNoSense) {
  const uint64_t end = header_->names_end;
  ASSERT_LT(end, PPI_CHUNK_SIZE);
  char *names =
      &bytes_[static_cast<size_t>(header_->names[0]) * PPI_CHUNK_SIZE];
  memset(names + end, 0, PPI_CHUNK_SIZE - end);
  header_->names_end = 2 * PPI_CHUNK_SIZE;
  const uint32_t lanes = header_->lanes[0] / PPI_LANES_PER_CHUNK;
  const uint32_t wrong[] = {0,     header_->pool_first - 1,
                            lanes, header_->num_chunks,
                            ~0u,   header_->names[0]};
  for (uint32_t chunk : wrong) {
    header_->names[1] = chunk;
    found_ = Recording();
    const size_t num = Deliver();
    // A lane that lies in the names' chunk is not believed.
    EXPECT_EQ(chunk == lanes ? 0u : 4u, num) << chunk;
    EXPECT_EQ(1u, found_.sites.count(1)) << chunk;
  }
  header_->names[0] = 0;
  found_ = Recording();
  Deliver();
  EXPECT_TRUE(found_.sites.empty());
}

// Readers refuse a log with such an id in it.
TEST_F(SalvageTest, NameWithAnIdThatNoneHasIsNotBelieved) {
  ASSERT_EQ(4u, Deliver());
  const std::map<uint32_t, std::string> names = found_.sites;
  auto *at = reinterpret_cast<ppi_definition_record *>(
      &bytes_[static_cast<size_t>(header_->names[0]) * PPI_CHUNK_SIZE]);
  while (at->kind != PPROF_DEFINITION_SITE)
    at = reinterpret_cast<ppi_definition_record *>(
        reinterpret_cast<char *>(at) + at->size);
  const uint32_t id = at->id;
  for (uint32_t *field : {&at->id, &at->parent}) {
    const uint32_t before = *field;
    *field = PPI_MAX_SITES + 1;
    found_ = Recording();
    EXPECT_EQ(4u, Deliver());
    EXPECT_EQ(names.size() - 1, found_.sites.size());
    EXPECT_EQ(0u, found_.sites.count(id));
    *field = before;
  }
}

TEST_F(SalvageTest, PoolOfTheFileIsNotUsed) {
  header_->free_list = 0xffffffffu;
  header_->untouched = 0;
  EXPECT_EQ(4u, Deliver());
}

TEST_F(SalvageTest, PoolOverTheHeaderIsRefused) {
  header_->pool_first = 0;
  ppi_salvage *salvage = nullptr;
  EXPECT_EQ(PPROF_STATUS_CORRUPT, Open(&salvage));
}

TEST_F(SalvageTest, NotASpoolAndANewerOne) {
  ppi_salvage *salvage = nullptr;
  header_->version = PPI_SPOOL_VERSION + 1;
  EXPECT_EQ(PPROF_STATUS_VERSION, Open(&salvage));
  header_->magic[0] = 'x';
  EXPECT_EQ(PPROF_STATUS_INVALID, Open(&salvage));
  bytes_.resize(100);
  EXPECT_EQ(PPROF_STATUS_INVALID, Open(&salvage));
  unlink(path_.c_str());
  EXPECT_EQ(PPROF_STATUS_IO,
            ppi_salvage_open(path_.c_str(), &salvage, nullptr));
}

TEST_F(SalvageTest, CutFileIsCorrupt) {
  bytes_.resize(bytes_.size() / 2);
  ppi_salvage *salvage = nullptr;
  EXPECT_EQ(PPROF_STATUS_CORRUPT, Open(&salvage));
}

// Any bytes in header, lane and names: nothing but events or a refusal.
TEST_F(SalvageTest, AnyBytesAreSurvived) {
  std::mt19937_64 random(7);
  const std::string whole = bytes_;
  const size_t lane = static_cast<size_t>(header_->lanes[0]) * PPI_LANE_SIZE;
  const size_t starts[] = {
      0, lane, static_cast<size_t>(header_->names[0]) * PPI_CHUNK_SIZE,
      static_cast<size_t>(header_->tables[0]) * PPI_CHUNK_SIZE};
  for (int run = 0; run < 300; run++) {
    bytes_ = whole;
    for (int i = 0; i < 4; i++) {
      const size_t at = starts[random() % 4] + 8 + random() % 2048;
      const uint64_t word = random() >> (random() % 64);
      memcpy(&bytes_[at], &word, sizeof word);
    }
    found_ = Recording();
    Deliver();
  }
}

TEST_F(SalvageTest, SpoolOfALivingProcessIsBusy) {
  std::ofstream(path_, std::ios::binary) << bytes_;
  int locked[2];
  ASSERT_EQ(0, pipe(locked));
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    if (fcntl(open(path_.c_str(), O_RDWR), F_SETLK, &lock) != 0 ||
        write(locked[1], "", 1) != 1)
      _exit(1);
    for (;;) pause();
  }
  char byte;
  close(locked[1]);
  ASSERT_EQ(1, read(locked[0], &byte, 1));
  close(locked[0]);
  ppi_salvage *salvage = nullptr;
  EXPECT_EQ(PPROF_STATUS_BUSY,
            ppi_salvage_open(path_.c_str(), &salvage, &error_));
  EXPECT_NE(std::string::npos, std::string(error_.text).find("is alive"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(4u, Deliver());
}

// A file lock is the process's: opening and closing one's own spool would tell
// others that the process is dead.
TEST_F(SalvageTest, OwnSpoolIsBusyAndStaysLocked) {
  const std::string path = ppi_recorder_in_force.spool.path;
  const char *own = path.c_str();
  ppi_salvage *salvage = nullptr;
  EXPECT_EQ(PPROF_STATUS_BUSY, ppi_salvage_open(own, &salvage, &error_));
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(own, O_RDWR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    fcntl(fd, F_GETLK, &lock);
    _exit(lock.l_type == F_UNLCK);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace pprof_test
