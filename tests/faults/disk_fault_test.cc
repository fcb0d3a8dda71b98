// SPDX-License-Identifier: Apache-2.0
//
// A log whose disk is full, out of quota, broken, blocked or gone: the
// application goes on, other sinks miss nothing, what is in the file can be
// read, and what is not is counted, in the error and in the file.
#include "tests/faults/disk_shim.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <string>
#include <thread>

#include "log/write/log_writer.h"
#include "pprof/pprof.h"
#include "tests/support/log_fixture.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(value_site, "value", PPROF_CATEGORY_USER_DEFINED);

// Of the `i`th record: no two are the same, and they do not compress.
double ValueOf(uint64_t i) {
  uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>((bits ^ bits >> 27) >> 12);
}

class DiskFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    live_.options.memory_limit_bytes = 4u << 20;
    live_.options.spool_dir = "memory";
  }
  void TearDown() override {
    TheDisk()->Reset();
    live_.Destroy();
  }

  void Start(const ppi_log_rotation *rotation = nullptr) {
    ASSERT_NE(nullptr, live_.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_log_writer_create(path_.c_str(), rotation, &log_, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), log_));
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }

  void Mark(size_t num) {
    for (size_t i = 0; i < num; i++)
      pprof_count(&value_site, ValueOf(num_made_++));
  }

  // Until what was made is in the file; a flush waits for the spool only.
  void AwaitFile() {
    ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
    size_t num = 0;
    while (num < num_made_) {
      Recording read;
      pprof_sink *sink = RecordingSink::Make(&read);
      (void)!pprof_log_read((path_ + ".part").c_str(), sink, nullptr);
      sink->destroy(sink);
      num = NumCounters(read);
    }
  }

  // Until the log has failed.
  void MarkUntilFailure() {
    for (int i = 0; i < 400; i++) {
      Mark(500);
      if (live_.Flush() == PPROF_STATUS_IO) return;
    }
    FAIL() << "the disk took all";
  }

  Recording Read(const std::string &path,
                 pprof_status expected = PPROF_STATUS_OK) {
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    pprof_error error = {{0}};
    EXPECT_EQ(expected, pprof_log_read(path.c_str(), sink, &error))
        << error.text;
    sink->destroy(sink);
    return read;
  }

  static size_t NumCounters(const Recording &read) {
    size_t num = 0;
    for (const auto &event : read.events)
      num += event.event.kind == PPROF_KIND_COUNTER;
    return num;
  }

  // The first of what was made, without a gap.
  static void ExpectFirstOnes(const Recording &read) {
    size_t num = 0;
    for (const auto &event : read.events) {
      if (event.event.kind != PPROF_KIND_COUNTER) continue;
      ASSERT_EQ(ValueOf(num++), event.event.value);
    }
  }

  std::string Loss(size_t in_file) const {
    return "; " + std::to_string(num_made_ - in_file) +
           " records are not in it";
  }

  // What holds after every failure in the middle.
  void ExpectToldLoss(const std::string &why, bool has_room) {
    EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
    const Recording read = Read(path_ + ".part");
    const size_t num = NumCounters(read);
    EXPECT_LT(num, num_made_);
    ExpectFirstOnes(read);
    EXPECT_EQ(num_made_, NumCounters(live_.recording)) << "the other sink";
    EXPECT_EQ(0u, live_.Stats().lost);
    EXPECT_EQ(path_ + ".part: " + why + Loss(num), ppi_log_writer_error(log_));
    EXPECT_FALSE(pplog::Exists(path_));
    EXPECT_EQ(num, read.Total(PPI_TOTAL_RECORDED));
    const auto note = read.notes.find("disk");
    const bool in_file_too = note != read.notes.end();
    EXPECT_TRUE(in_file_too || !has_room);
    EXPECT_EQ(in_file_too ? num_made_ - num : 0, read.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(in_file_too ? 0u : 1u, read.Total(PPI_TOTAL_INCOMPLETE));
    if (in_file_too) {
      EXPECT_EQ(why + ": " + std::to_string(num_made_ - num) +
                    " records are not in the log",
                note->second);
    }
    // Room that was put by is given back.
    struct stat stat;
    ASSERT_EQ(0, ::stat((path_ + ".part").c_str(), &stat));
    EXPECT_LE(stat.st_blocks * 512, stat.st_size + 8192);
  }

  pplog::Folder folder_;
  std::string path_ = folder_ / "x.pplog";
  pprof_sink *log_ = nullptr;
  LiveSession live_;
  size_t num_made_ = 0;
};

TEST_F(DiskFaultTest, FailureAnywhereIsCountedAndTheRestStays) {
  for (int error : {ENOSPC, EDQUOT, EIO, EROFS}) {
    for (long limit : {90000l, 131072l, 200001l}) {
      SCOPED_TRACE(std::to_string(error) + " at " + std::to_string(limit));
      live_.~LiveSession();
      new (&live_) LiveSession;
      SetUp();
      num_made_ = 0;
      // Without room put by, the file can say it where the block that failed
      // leaves enough.
      const bool reserves = error != EIO && error != EROFS;
      TheDisk()->FailBeyond(limit, error, reserves);
      Start();
      MarkUntilFailure();
      Mark(700);  // what comes after it
      ExpectToldLoss(strerror(error), reserves);
      unlink((path_ + ".part").c_str());
    }
  }
}

// A sandbox, or a signal at every moment, may answer so.
TEST_F(DiskFaultTest, InterruptedForEverIsAFailure) {
  TheDisk()->FailBeyond(90000, EINTR, true);
  Start();
  MarkUntilFailure();
  Mark(700);
  ExpectToldLoss(strerror(EINTR), false);
}

TEST_F(DiskFaultTest, InterruptedForEverASpoolIsInMemory) {
  const std::string spools = folder_ / "spools";
  ASSERT_EQ(0, mkdir(spools.c_str(), 0700));
  live_.options.spool_dir = spools.c_str();
  TheDisk()->Fail("/spools/");
  TheDisk()->FailBeyond(0, EINTR, true);
  Start();
  Mark(700);
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(700u, NumCounters(Read(path_)));
  EXPECT_NE(std::string::npos,
            live_.recording.notes["not_crash_safe"].find(strerror(EINTR)))
      << live_.recording.notes["not_crash_safe"];
}

// What was written of the block gives way to what the file says of it.
TEST_F(DiskFaultTest, BlockThatFailedInPartLeavesItsRoom) {
  Start();
  Mark(2000);
  AwaitFile();
  struct stat stat;
  ASSERT_EQ(0, ::stat((path_ + ".part").c_str(), &stat));
  TheDisk()->FailBeyond(stat.st_size + 20000, EIO, false);
  Mark(4000);
  live_.Flush();
  MarkUntilFailure();
  ExpectToldLoss(strerror(EIO), true);
}

// The last blocks are written by the stop.
TEST_F(DiskFaultTest, FailureAtTheStop) {
  Start();
  Mark(2000);
  AwaitFile();
  struct stat stat;
  ASSERT_EQ(0, ::stat((path_ + ".part").c_str(), &stat));
  Mark(3000);
  TheDisk()->FailBeyond(stat.st_size + 5, ENOSPC, true);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  const Recording read = Read(path_ + ".part");
  EXPECT_EQ(2000u, NumCounters(read));
  EXPECT_EQ(path_ + ".part: No space left on device" + Loss(2000),
            ppi_log_writer_error(log_));
}

TEST_F(DiskFaultTest, NotEvenTheFirstBlock) {
  TheDisk()->FailBeyond(10, ENOSPC, true);
  Start();
  Mark(500);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(path_ + ".part: No space left on device" + Loss(0),
            ppi_log_writer_error(log_));
  EXPECT_EQ(500u, NumCounters(live_.recording));
}

TEST_F(DiskFaultTest, RotatedLogKeepsWhatItHas) {
  ppi_log_rotation rotation = {48 * 1024, 0, nullptr};
  Start(&rotation);
  Mark(30000);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  TheDisk()->FailBeyond(0, EDQUOT, true);
  MarkUntilFailure();
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  size_t num = 0;
  for (unsigned i = 1; i < 100; i++) {
    char name[32];
    snprintf(name, sizeof name, "x.%04u.pplog", i);
    if (pplog::Exists(folder_ / name)) num += NumCounters(Read(folder_ / name));
  }
  num += NumCounters(Read(path_ + ".part"));
  EXPECT_GT(num, 0u);
  EXPECT_EQ(path_ + ".part: Disk quota exceeded" + Loss(num),
            ppi_log_writer_error(log_));
}

TEST_F(DiskFaultTest, InterruptedAndPartialWritesLoseNothing) {
  TheDisk()->Interrupt(true);
  Start();
  for (int i = 0; i < 20; i++) {
    Mark(500);
    ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  }
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  const Recording read = Read(path_);
  EXPECT_EQ(10000u, NumCounters(read));
  ExpectFirstOnes(read);
}

// All of this happens while the one writer is inside its write: were there
// anything that waits for it, the test would not end.
TEST_F(DiskFaultTest, BlockedDiskHoldsUpNobodyAndLosesNothingThatFits) {
  TheDisk()->Block();
  Start();
  TheDisk()->AwaitWriter();
  std::thread other([] {
    for (int i = 0; i < 100000; i++) pprof_mark(&value_site);
  });
  Mark(100000);
  other.join();
  TheDisk()->Open();
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  const Recording read = Read(path_);
  const pprof_stats stats = live_.Stats();
  EXPECT_GT(stats.lost, 0u);
  EXPECT_EQ(200000u, stats.recorded + stats.lost);
  EXPECT_EQ(stats.recorded, read.events.size());
  EXPECT_EQ(stats.lost, read.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(live_.recording.events.size(), read.events.size());
}

TEST_F(DiskFaultTest, DiskThatNeverComesBackIsGivenUp) {
  Start();
  Mark(1000);
  AwaitFile();
  ppi_log_writer_set_limit_ms(log_, 30);
  TheDisk()->Block();
  Mark(1000);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(path_ + ".part: timed out, the disk does not answer" + Loss(1000),
            ppi_log_writer_error(log_));
  EXPECT_EQ(2000u, NumCounters(live_.recording));
  TheDisk()->AwaitWriter();
  EXPECT_EQ(1000u, NumCounters(Read(path_ + ".part")));
  EXPECT_FALSE(pplog::Exists(path_));
}

TEST_F(DiskFaultTest, RemovedWhileItIsWritten) {
  Start();
  Mark(1000);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  ASSERT_EQ(0, unlink((path_ + ".part").c_str()));
  MarkUntilFailure();
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(path_ + ".part: removed while it was written" + Loss(0),
            ppi_log_writer_error(log_));
  EXPECT_EQ(num_made_, NumCounters(live_.recording));
}

TEST_F(DiskFaultTest, RemovedBehindTheLastBlock) {
  Start();
  Mark(1000);
  TheDisk()->FailRename(ENOENT);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(path_ + ".part: removed while it was written" + Loss(0),
            ppi_log_writer_error(log_));
}

// The file system says no to the name: all is in the .part, and is whole.
TEST_F(DiskFaultTest, ReadOnlyAtTheEnd) {
  Start();
  Mark(1000);
  TheDisk()->FailRename(EROFS);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(path_ + ".part: Read-only file system",
            std::string(ppi_log_writer_error(log_)));
  const Recording read = Read(path_ + ".part");
  EXPECT_EQ(1000u, NumCounters(read));
  EXPECT_EQ(0u, read.Total(PPI_TOTAL_INCOMPLETE));
}

// A file system of its own that is full: what the shim imitates.
TEST_F(DiskFaultTest, FileSystemThatIsFull) {
  const std::string disk = folder_ / "disk";
  ASSERT_EQ(0, mkdir(disk.c_str(), 0700));
  pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      _exit(77);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("full", disk.c_str(), "tmpfs", 0, "size=512k") != 0) _exit(78);
    path_ = disk + "/x.pplog";
    Start();
    MarkUntilFailure();
    ExpectToldLoss("No space left on device", true);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status) << "77, 78 in the high byte: no tmpfs can be mounted";
}

// The trace of the whole run grows faster than the log, which is what counts.
TEST_F(DiskFaultTest, TraceGoesBeforeTheLogLosesAnything) {
  const std::string config = folder_ / "pprof.yaml", trace = folder_ / "t.json";
  pplog::Spill(config, "version: 1\noutput: " + path_ +
                           "\nspool: memory\ndisk_limit: 1MiB\nexports:\n"
                           "  - {format: chrome, path: " +
                           trace + "}\n");
  pprof_error error = {{0}};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(config.c_str(), &error)) << error.text;
  for (int i = 0; i < 60; i++) {
    Mark(1000);
    pprof_session_flush(pprof_session_current());
  }
  EXPECT_EQ(PPROF_STATUS_IO, pprof_stop(&error));
  EXPECT_EQ("cannot write " + trace + ": no room within 'disk_limit'",
            std::string(error.text));
  EXPECT_FALSE(pplog::Exists(trace));
  EXPECT_FALSE(pplog::Exists(trace + ".part"));
  const Recording read = Read(path_);
  EXPECT_EQ(60000u, NumCounters(read));
  EXPECT_EQ(0u, read.Total(PPI_TOTAL_LOST));
  struct stat stat;
  ASSERT_EQ(0, ::stat(path_.c_str(), &stat));
  // It had the room that the trace had taken.
  EXPECT_GT(stat.st_size, 400000);
}

// The signal would end the program, whoever writes.
TEST_F(DiskFaultTest, LimitOfFileSizesEndsOutputsAndNotTheProgram) {
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_DFL);
    const std::string config = folder_ / "pprof.yaml";
    pplog::Spill(config, "version: 1\noutput: " + path_ +
                             "\nspool: memory\nexports:\n"
                             "  - {format: chrome, path: " +
                             folder_ / "t.json" +
                             "}\n  - {format: json, path: " +
                             folder_ / "t.table" + "}\n");
    const struct rlimit most = {2000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &most);
    pprof_error error = {{0}};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_start(config.c_str(), &error))
        << error.text;
    Mark(20000);
    EXPECT_EQ(PPROF_STATUS_IO, pprof_stop(&error));
    EXPECT_NE(nullptr, strstr(error.text, "File too large")) << error.text;
    for (const char *left :
         {"t.json", "t.json.part", "t.table", "t.table.part"})
      EXPECT_FALSE(pplog::Exists(folder_ / left)) << left;
    sigset_t pending;
    sigpending(&pending);
    EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace pprof_test
