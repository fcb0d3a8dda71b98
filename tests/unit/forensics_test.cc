// SPDX-License-Identifier: Apache-2.0
//
// What is open, found in a copy of a living session's file: of a run with a
// clock that stands still but for the test, so that every time is known.
#include "recover/forensics.h"
#include "recover/forensics_names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/mem.h"
#include "device_session.h"
#include "recording_sink.h"
#include "scripted_backend.h"

namespace pprof_test {
namespace {

pprof_site outer_site = {"outer", 0, 0, 0, {0, 0}};
pprof_site inner_site = {"inner", 0, 0, 0, {0, 0}};
pprof_site other_site = {"other", 0, 0, 0, {0, 0}};

class ForensicsTest : public ::testing::Test {
 protected:
  // From memory: to open the file here would end the session's lock on it.
  void Copy() {
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    bytes_.assign(reinterpret_cast<const char *>(spool.base), spool.size);
    header_ = reinterpret_cast<ppi_spool_header *>(&bytes_[0]);
    path_ = ::testing::TempDir() + "forensics_test.spool";
  }

  void TearDown() override {
    ppi_forensics_clear(&found_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  pprof_status Read() {
    std::ofstream(path_, std::ios::binary) << bytes_;
    ppi_forensics_clear(&found_);
    error_.text[0] = 0;
    return ppi_forensics_read(path_.c_str(), &found_, &error_);
  }

  std::vector<ppi_open_item> Of(ppi_open_kind kind) const {
    std::vector<ppi_open_item> items;
    for (size_t i = 0; i < found_.num_items; i++)
      if (found_.items[i].kind == kind) items.push_back(found_.items[i]);
    return items;
  }

  std::string Name(uint32_t kind, uint32_t id) const {
    const ppi_definition_record *record = ppi_forensics_find(&found_, kind, id);
    return record ? record->name : "?";
  }
  std::string Site(const ppi_open_item &item) const {
    return Name(PPROF_DEFINITION_SITE, item.site);
  }

  ppi_lane *FirstLane() {
    return reinterpret_cast<ppi_lane *>(
        &bytes_[static_cast<size_t>(header_->lanes[0]) * PPI_LANE_SIZE]);
  }

  std::string bytes_, path_;
  ppi_spool_header *header_ = nullptr;
  ppi_forensics found_ = {};
  pprof_error error_ = {};
};

class StackTest : public ForensicsTest {
 protected:
  void SetUp() override {
    live_.options.memory_limit_bytes = 2u << 20;
    live_.options.drain_interval_us = kKeptAwayUs;
    ppi_clock_inject(Now, 1000000000);
    now_ns_ = 5000000000;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
    start_ns_ = ppi_recorder_in_force.spool.header->start_ticks;
    now_ns_ = start_ns_ + 1000;
    pprof_push(&outer_site);
    now_ns_ = start_ns_ + 3000;
    pprof_push(&inner_site);
    pprof_flow(77);
    now_ns_ = start_ns_ + 4000;
    pprof_mark(&other_site);
    Copy();
  }
  void TearDown() override {
    live_.Destroy();
    ppi_clock_inject(nullptr, 0);
    ForensicsTest::TearDown();
  }

  static uint64_t Now() {
    return now_ns_;
  }
  static uint64_t now_ns_;
  uint64_t start_ns_ = 0;
  LiveSession live_;
};
uint64_t StackTest::now_ns_ = 0;

TEST_F(StackTest, OpenRangesFromTheOutsideIn) {
  ASSERT_EQ(PPROF_STATUS_OK, Read()) << error_.text;
  EXPECT_FALSE(found_.alive);
  EXPECT_EQ(static_cast<uint32_t>(getpid()), found_.pid);
  auto open = Of(PPI_OPEN_RANGE);
  ASSERT_EQ(2u, open.size());
  EXPECT_EQ("outer", Site(open[0]));
  EXPECT_EQ(1000u, open[0].start_ns);
  EXPECT_EQ(0u, open[0].depth);
  EXPECT_EQ(0u, open[0].flow);
  EXPECT_EQ("inner", Site(open[1]));
  EXPECT_EQ(3000u, open[1].start_ns);
  EXPECT_EQ(1u, open[1].depth);
  EXPECT_EQ(77u, open[1].flow);
  EXPECT_EQ(static_cast<uint32_t>(gettid()), open[1].tid);
  EXPECT_EQ(4000u, found_.until_ns);  // of the mark
  EXPECT_EQ(0u, found_.num_torn);
  EXPECT_EQ(0u, found_.num_damaged);
  EXPECT_NE(nullptr, ppi_forensics_text(&found_, "command"));
  EXPECT_EQ(nullptr, ppi_forensics_text(&found_, "no such key"));
}

TEST_F(StackTest, NothingOpenIsSaid) {
  pprof_pop();
  pprof_pop();
  Copy();
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(0u, Of(PPI_OPEN_RANGE).size());
  ASSERT_EQ(1u, Of(PPI_OPEN_NOTHING).size());
  EXPECT_EQ(static_cast<uint32_t>(gettid()), Of(PPI_OPEN_NOTHING)[0].tid);
}

TEST_F(StackTest, WanderingRangeUntilItEnds) {
  now_ns_ = start_ns_ + 9000;
  pprof_range range = pprof_range_begin(&other_site);
  Copy();
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  auto cross_thread = Of(PPI_OPEN_CROSS_THREAD);
  ASSERT_EQ(1u, cross_thread.size());
  EXPECT_EQ("other", Site(cross_thread[0]));
  EXPECT_EQ(9000u, cross_thread[0].start_ns);
  EXPECT_EQ(9000u, found_.until_ns);
  pprof_range_end(range);
  Copy();
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(0u, Of(PPI_OPEN_CROSS_THREAD).size());
}

TEST_F(StackTest, LaneThatServesTwiceIsTold) {
  header_->lanes[1] = header_->lanes[0];
  header_->num_lane_slots = 2;
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(2u, Of(PPI_OPEN_RANGE).size());
  EXPECT_EQ(1u, found_.num_damaged);
}

TEST_F(StackTest, IndicesOutsideTheFileAreTold) {
  header_->lanes[0] = 0xfffffff0u;
  header_->tables[0] = header_->num_chunks;
  header_->num_lane_slots = 0xffffffffu;
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(0u, found_.num_items);
  EXPECT_EQ(2u, found_.num_damaged);
}

TEST_F(StackTest, DeeperThanItsFramesIsNotReadBeyondThem) {
  FirstLane()->commit |= 0xffff;
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(PPI_LANE_FRAMES, Of(PPI_OPEN_RANGE).size());
  FirstLane()->num_frames = UINT32_MAX;
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(PPI_MAX_FRAMES, Of(PPI_OPEN_RANGE).size());
}

TEST_F(StackTest, FramesOutsideTheFileAreNotRead) {
  for (int64_t at : {INT64_MIN, INT64_MAX, int64_t{-PPI_LANE_SIZE} * 100}) {
    FirstLane()->frames_at = at;
    ASSERT_EQ(PPROF_STATUS_OK, Read());
  }
}

TEST_F(StackTest, RefusesWhatIsNoSpool) {
  bytes_.resize(bytes_.size() / 2);
  EXPECT_EQ(PPROF_STATUS_CORRUPT, Read());
  bytes_[0] = 'x';
  EXPECT_EQ(PPROF_STATUS_INVALID, Read());
  bytes_.resize(10);
  EXPECT_EQ(PPROF_STATUS_INVALID, Read());
  unlink(path_.c_str());
  EXPECT_EQ(PPROF_STATUS_IO,
            ppi_forensics_read(path_.c_str(), &found_, &error_));
  EXPECT_EQ(0u, ppi_forensics_owner(path_.c_str()));
}

// Any bytes in header, lane, names and table: items or a refusal.
TEST_F(StackTest, AnyBytesAreSurvived) {
  std::mt19937_64 random(11);
  const std::string whole = bytes_;
  const size_t starts[] = {
      0, static_cast<size_t>(header_->lanes[0]) * PPI_LANE_SIZE,
      static_cast<size_t>(header_->names[0]) * PPI_CHUNK_SIZE,
      static_cast<size_t>(header_->tables[0]) * PPI_CHUNK_SIZE};
  for (int run = 0; run < 200; run++) {
    bytes_ = whole;
    for (int i = 0; i < 4; i++) {
      const size_t at = starts[random() % 4] + 8 + random() % 2048;
      const uint64_t word = random() >> (random() % 64);
      memcpy(&bytes_[at], &word, sizeof word);
    }
    if (Read() != PPROF_STATUS_OK) continue;
    for (size_t i = 0; i < found_.num_items; i++) Site(found_.items[i]);
    ppi_forensics_text(&found_, "no such key");
  }
}

TEST_F(StackTest, OutOfMemoryIsAnAnswer) {
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status != PPROF_STATUS_OK; n++) {
    ppi_forensics_clear(&found_);
    ppi_mem_fail_at(n);
    status = ppi_forensics_read(path_.c_str(), &found_, &error_);
    ppi_mem_fail_at(0);
    ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_NO_MEMORY);
    ASSERT_LT(n, 100u);
  }
}

// What stays open is told, however fast the rest goes on.
TEST_F(StackTest, ChangingStackKeepsItsOutside) {
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  const size_t at = static_cast<size_t>(header_->lanes[0]) * PPI_LANE_SIZE;
  const uint64_t head = PPI_HEAD(FirstLane()->commit);
  const int fd = open(path_.c_str(), O_RDWR);
  void *base =
      mmap(nullptr, bytes_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(MAP_FAILED, base);
  ppi_lane *lane =
      reinterpret_cast<ppi_lane *>(static_cast<uint8_t *>(base) + at);
  std::atomic<bool> over{false};
  std::thread writer([&] {
    // Two frames are pushed with the same time, then popped.
    for (uint64_t i = 1; !over; i++) {
      for (uint32_t f = 1; f <= 2; f++)
        __atomic_store_n(&lane->own_frames[f].start, start_ns_ + 5000 + i,
                         __ATOMIC_RELAXED);
      ppi_lane_commit(lane, head + 2 * i, 3);
      ppi_lane_commit(lane, head + 2 * i + 2, 1);
    }
  });
  for (int i = 0; i < 3000; i++) {
    ppi_forensics_clear(&found_);
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_forensics_read(path_.c_str(), &found_, &error_));
    auto frames = Of(PPI_OPEN_RANGE);
    EXPECT_LE(frames.size(), 3u);
    if (frames.size() == 3) {
      EXPECT_EQ(frames[1].start_ns, frames[2].start_ns);
    }
    EXPECT_EQ("outer", frames.empty() ? "" : Site(frames[0]));
    EXPECT_LE(Of(PPI_OPEN_CHANGING).size(), 1u);
    EXPECT_EQ(0u, found_.num_damaged);
  }
  over = true;
  writer.join();
  munmap(base, bytes_.size());
  close(fd);
}

// Another process sees that we live, and that our own file is not its own; here
// it is refused, for closing it would end the lock.
TEST_F(StackTest, LivingProcessIsSeenFromOutside) {
  const std::string path = ppi_recorder_in_force.spool.path;
  EXPECT_EQ(PPROF_STATUS_BUSY,
            ppi_forensics_read(path.c_str(), &found_, &error_));
  const uint32_t parent = static_cast<uint32_t>(getpid());
  const pid_t child = fork();
  if (child == 0) {
    ppi_forensics found = {};
    bool good =
        ppi_forensics_owner(path.c_str()) == parent &&
        ppi_forensics_read(path.c_str(), &found, nullptr) == PPROF_STATUS_OK &&
        found.alive && found.pid == parent && found.num_items == 2;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

class DeviceForensicsTest : public ForensicsTest {};

TEST_F(DeviceForensicsTest, PendingRangesAndWhatFinishedLast) {
  scripted_script script = {};
  script.now = TestNow;
  script.caps = PPROF_BACKEND_ABSOLUTE_TIME;
  scripted_device *fake = scripted_device_create(&script);
  DeviceSession session;
  pprof_device *device = pprof_device_get(scripted_device_backend(fake),
                                          scripted_device_index(fake));
  void *first = scripted_stream_create(fake, 0);
  void *second = scripted_stream_create(fake, 0);
  session.Start();
  pprof_device_push(device, first, &outer_site);
  scripted_stream_submit(first, 1000000);
  pprof_device_pop(device, first);
  pprof_device_push(device, second, &other_site);
  scripted_stream_submit(second, 1000000);
  pprof_device_pop(device, second);
  Advance(5000000);
  session.Flush();
  scripted_stream_hold(first, true);
  pprof_device_push(device, first, &inner_site);
  scripted_stream_submit(first, 1000000);
  pprof_device_pop(device, first);
  pprof_device_push(device, second, &inner_site);
  Advance(5000000);
  session.Flush();
  Copy();
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  auto pending = Of(PPI_OPEN_DEVICE);
  ASSERT_EQ(2u, pending.size());
  EXPECT_EQ("inner", Site(pending[0]));
  EXPECT_NE(pending[0].submitted, pending[1].submitted);
  EXPECT_NE(pending[0].stream, pending[1].stream);
  EXPECT_NE("?", Name(PPROF_DEFINITION_STREAM, pending[0].stream));
  EXPECT_NE("?", Name(PPROF_DEFINITION_DEVICE, pending[0].device));
  auto finished = Of(PPI_OPEN_FINISHED);
  ASSERT_EQ(2u, finished.size());
  for (const ppi_open_item &item : finished) {
    const bool is_first =
        item.stream == (pending[0].submitted ? pending[0] : pending[1]).stream;
    EXPECT_EQ(is_first ? "outer" : "other", Site(item));
    EXPECT_EQ(pending[0].device, item.device);
    EXPECT_NEAR(item.end_ns - item.start_ns, 1000000, 10000);
    EXPECT_LT(item.end_ns, pending[0].start_ns);
  }
  // One that a kill left half written is told, not shown.
  header_->finished[finished[0].stream % PPI_FINISHED_STREAMS].version |= 1;
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  EXPECT_EQ(1u, Of(PPI_OPEN_FINISHED).size());
  EXPECT_EQ(1u, found_.num_torn);
  scripted_stream_hold(first, false);
  pprof_device_pop(device, second);
}

// Two threads share a stream: it has one last range, each of them its own.
TEST_F(DeviceForensicsTest, LastDeviceRangeOfEachThread) {
  scripted_script script = {};
  script.now = TestNow;
  script.caps = PPROF_BACKEND_ABSOLUTE_TIME;
  scripted_device *fake = scripted_device_create(&script);
  DeviceSession session;
  pprof_device *device = pprof_device_get(scripted_device_backend(fake),
                                          scripted_device_index(fake));
  void *stream = scripted_stream_create(fake, 0);
  session.Start();
  auto submit = [&](pprof_site *site) {
    pprof_device_push(device, stream, site);
    scripted_stream_submit(stream, 1000000);
    pprof_device_pop(device, stream);
  };
  submit(&outer_site);
  std::promise<void> submitted, end;
  std::thread other([&] {
    submit(&other_site);
    submitted.set_value();
    end.get_future().wait();
  });
  submitted.get_future().wait();
  Advance(5000000);
  session.Flush();
  Copy();
  ASSERT_EQ(PPROF_STATUS_OK, Read());
  auto last = Of(PPI_OPEN_LANE_LAST);
  ASSERT_EQ(2u, last.size());
  EXPECT_EQ("outer", Site(last[0]));
  EXPECT_EQ("other", Site(last[1]));
  EXPECT_EQ(static_cast<uint32_t>(gettid()), last[0].tid);
  EXPECT_NE(last[0].tid, last[1].tid);
  EXPECT_EQ(last[0].stream, last[1].stream);
  EXPECT_NEAR(1000000, last[0].end_ns - last[0].start_ns, 10000);
  ASSERT_EQ(1u, Of(PPI_OPEN_FINISHED).size());
  EXPECT_EQ("other", Site(Of(PPI_OPEN_FINISHED)[0]));
  EXPECT_EQ(2u, Of(PPI_OPEN_NOTHING).size());
  end.set_value();
  other.join();
}

}  // namespace
}  // namespace pprof_test
