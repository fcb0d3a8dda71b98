// SPDX-License-Identifier: Apache-2.0
//
// A spool whose maker cuts or changes the file while it is read. Whoever may
// read a file of others is at their mercy where it is mapped, or read twice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "mark/thread.h"
#include "recover/forensics.h"
#include "recover/salvage.h"
#include "spool/lane.h"
#include "tests/support/recording_sink.h"

// What a reader asks of the system is counted, and `at_call` is done before the
// call of that number; see tests/BUILD.
static int num_calls, wanted_call;
static uint64_t bytes_read;
static std::function<void()> at_call;

static void Count() {
  if (++num_calls != wanted_call || !at_call) return;
  const std::function<void()> act = at_call;
  at_call = nullptr;
  act();
}

extern "C" int __real_fcntl(int fd, int command, ...);
extern "C" int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  // Not what is asked of a descriptor's number alone.
  if (command != F_GETFD) Count();
  return __real_fcntl(fd, command, argument);
}

extern "C" ssize_t __real_pread(int fd, void *out, size_t size, off_t offset);
extern "C" ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset) {
  Count();
  const ssize_t got = __real_pread(fd, out, size, offset);
  if (got > 0) bytes_read += static_cast<uint64_t>(got);
  return got;
}

namespace {

using pprof_test::LiveSession;
using pprof_test::Recording;
using pprof_test::RecordingSink;

pprof_site outer_site = {"outer", 0, 0, 0, {0, 0}};
pprof_site inner_site = {"inner", 0, 0, 0, {0, 0}};

class SpoolChangesTest : public testing::Test {
 protected:
  // A lane with records and open ranges, a range that wanders.
  void Record(uint64_t limit_bytes) {
    live_.Destroy();
    // Nothing leaves the spool, however often the collector looks.
    live_.recording.kept = [](uint32_t, uint64_t *seq) {
      *seq = 0;
      return true;
    };
    live_.options.memory_limit_bytes = limit_bytes;
    live_.options.drain_interval_us = pprof_test::kKeptAwayUs;
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
    pprof_range_begin(&outer_site);
    pprof_push(&outer_site);
    pprof_push(&inner_site);
    pprof_pop();
    pprof_mark(&inner_site);
    pprof_push(&inner_site);
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    bytes_.assign(reinterpret_cast<const char *>(spool.base), spool.size);
    header_ = reinterpret_cast<ppi_spool_header *>(&bytes_[0]);
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  }
  void SetUp() override {
    path_ = folder_ / "pprof-x.spool";
    Record(2u << 20);
  }
  void TearDown() override {
    at_call = nullptr;
    wanted_call = 0;
  }

  void Write() {
    pplog::Spill(path_, bytes_);
  }
  template <typename T>
  T *At(uint32_t chunk) {
    return reinterpret_cast<T *>(&bytes_[size_t{chunk} * PPI_CHUNK_SIZE]);
  }
  // As whoever owns the file writes to it.
  void Put(const void *bytes, size_t size, uint64_t offset) {
    const int fd = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(static_cast<ssize_t>(size),
              pwrite(fd, bytes, size, static_cast<off_t>(offset)));
    close(fd);
  }

  // How many events there are.
  size_t Salvage() {
    found_ = Recording();
    ppi_salvage *salvage = nullptr;
    if (ppi_salvage_open(path_.c_str(), &salvage, &error_) == PPROF_STATUS_OK) {
      pprof_sink *sink = RecordingSink::Make(&found_);
      ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink);
      ppi_salvage_close(salvage);
      RecordingSink::Destroy(sink);
    }
    return found_.events.size();
  }
  void Look() {
    ppi_forensics seen;
    ppi_forensics_read(path_.c_str(), &seen, &error_);
    ppi_forensics_clear(&seen);
  }
  void Recover() {
    const std::string output = folder_ / "out.pplog";
    const ppi_recover_options how = {output.c_str(), true, true, false,
                                     nullptr};
    ppi_recover_result result;
    ppi_recover(path_.c_str(), &how, &result, &error_);
  }
  // `act` once at each of the reader's calls, on a whole file each time.
  void AtEachCall(const std::function<void()> &act,
                  const std::function<void()> &read) {
    Write();
    num_calls = wanted_call = 0;
    EXPECT_EQ(5u, Salvage());
    num_calls = 0;
    read();
    const int most = num_calls;
    ASSERT_GT(most, 3);
    for (int call = 1; call <= most; call++) {
      Write();
      num_calls = 0;
      wanted_call = call;
      at_call = act;
      read();
      EXPECT_FALSE(at_call) << call;
    }
  }

  pplog::Folder folder_;
  LiveSession live_;
  Recording found_;
  std::string bytes_, path_;
  ppi_spool_header *header_ = nullptr;
  pprof_error error_ = {};
};

TEST_F(SpoolChangesTest, CutAtEachCall) {
  for (off_t size : {off_t{0}, off_t{4096}, off_t{65536}, off_t{1} << 20})
    AtEachCall([&] { ASSERT_EQ(0, truncate(path_.c_str(), size)); },
               [&] { Salvage(); });
  for (const auto &read :
       std::vector<std::function<void()>>{[&] { Look(); }, [&] { Recover(); }})
    AtEachCall([&] { ASSERT_EQ(0, truncate(path_.c_str(), 65536)); }, read);
}

TEST_F(SpoolChangesTest, WildNumbersAtEachCall) {
  const std::string wild(4096, '\x7f');
  const uint64_t lane = uint64_t{header_->lanes[0]} * PPI_LANE_SIZE;
  const uint64_t table = uint64_t{header_->tables[0]} * PPI_CHUNK_SIZE;
  const uint64_t places[] = {offsetof(ppi_spool_header, num_chunks),
                             offsetof(ppi_spool_header, tables),
                             offsetof(ppi_spool_header, names),
                             uint64_t{header_->names[0]} * PPI_CHUNK_SIZE,
                             header_->staging_offset,
                             lane,
                             lane + offsetof(ppi_lane, directory),
                             lane + offsetof(ppi_lane, own_frames),
                             table,
                             table + offsetof(ppi_table, chunks),
                             table + offsetof(ppi_table, states)};
  for (uint64_t place : places)
    AtEachCall([&] { Put(wild.data(), wild.size(), place); },
               [&] { Salvage(); });
  for (const auto &read :
       std::vector<std::function<void()>>{[&] { Look(); }, [&] { Recover(); }})
    AtEachCall([&] { Put(wild.data(), wild.size(), lane); }, read);
}

// Between the check of a lane and its use: its directory becomes wild. The
// lane's records lie in a chunk at the directory's end.
TEST_F(SpoolChangesTest, WildDirectoryAfterItsCheck) {
  const uint64_t lane_at = uint64_t{header_->lanes[0]} * PPI_LANE_SIZE;
  auto *lane = reinterpret_cast<ppi_lane *>(&bytes_[lane_at]);
  const uint64_t at = PPI_LANE_CHUNKS - 1;
  const uint64_t num = PPI_HEAD(lane->commit) - PPI_FIRST_SLOT;
  const uint32_t chunk = header_->untouched++;
  memcpy(At<ppi_record>(chunk), lane->own_records, num * sizeof(ppi_record));
  lane->kept = at * PPI_SLOTS_PER_CHUNK;
  lane->freed_chunks = at;
  lane->capacity = (at + 1) * PPI_SLOTS_PER_CHUNK;
  lane->commit = (lane->kept + num) << 16;
  lane->directory[at] = chunk * PPI_UNITS_PER_CHUNK;
  Write();
  ppi_salvage *salvage = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_salvage_open(path_.c_str(), &salvage, &error_))
      << error_.text;
  pprof_sink *sink = RecordingSink::Make(&found_);
  const uint32_t wild = 0x7fffffff;
  found_.on_window = [&](bool) {
    Put(&wild, sizeof wild,
        lane_at + offsetof(ppi_lane, directory) + at * sizeof wild);
  };
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink));
  ppi_salvage_close(salvage);
  RecordingSink::Destroy(sink);
  EXPECT_EQ(2u, found_.Named("inner").size());
}

// Another process does all this without looking at what the reader does.
TEST_F(SpoolChangesTest, ByAnotherProcess) {
  Write();
  const pid_t child = fork();
  if (child == 0) {
    std::mt19937_64 random(11);
    const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    const auto whole = static_cast<off_t>(bytes_.size());
    for (;;) {
      const size_t at = random() % (8u * PPI_CHUNK_SIZE);
      const uint64_t word = random() >> (random() % 64);
      const auto offset = static_cast<off_t>(at);
      bool good = pwrite(fd, &word, sizeof word, offset) > 0 &&
                  pwrite(fd, &bytes_[at], sizeof word, offset) > 0;
      if (random() % 64 == 0)
        good = ftruncate(fd, offset) == 0 && ftruncate(fd, whole) == 0 &&
               pwrite(fd, &bytes_[0], 16u * PPI_CHUNK_SIZE, 0) > 0;
      if (!good) _exit(1);
    }
  }
  for (int i = 0; i < 300; i++) {
    Salvage();
    Look();
    Recover();
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

// Of a large spool only what somebody may still want is read.
TEST_F(SpoolChangesTest, LittleIsReadOfALargeSpool) {
  Record(64u << 20);
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(0, ftruncate(fd, static_cast<off_t>(bytes_.size())));
  const std::string blank(4096, '\0');
  for (size_t at = 0; at < bytes_.size(); at += blank.size())
    if (bytes_.compare(at, blank.size(), blank) != 0)
      Put(&bytes_[at], blank.size(), at);
  close(fd);
  bytes_read = 0;
  ppi_salvage *salvage = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_salvage_open(path_.c_str(), &salvage, &error_))
      << error_.text;
  pprof_sink *sink = RecordingSink::Make(&found_);
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink));
  ppi_salvage_close(salvage);
  RecordingSink::Destroy(sink);
  EXPECT_EQ(5u, found_.events.size());
  EXPECT_GT(bytes_read, PPI_CHUNK_SIZE / 2);
  EXPECT_LT(bytes_read, 1u << 20);
}

}  // namespace
