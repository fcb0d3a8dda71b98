// SPDX-License-Identifier: Apache-2.0
//
// Where the spool lies, who may read it, and what happens where there is no
// room for it.
#include "spool/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    dir_ = std::string(base ? base : "/tmp") + "/spool_test.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&dir_[0]));
  }
  void TearDown() override {
    live.Destroy();
    std::filesystem::remove_all(dir_);
  }
  size_t NumFiles() {
    auto begin = std::filesystem::directory_iterator(dir_);
    return (size_t)std::distance(begin, std::filesystem::directory_iterator());
  }
  // A session in `dir` that has to make do without a file.
  void ExpectNotCrashSafe(const char *dir, const char *reason) {
    live.options.spool_dir = dir;
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    pprof_mark(&point_site);
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_FALSE(live.Stats().crash_safe);
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_CRASH_SAFE));
    EXPECT_NE(std::string::npos,
              live.recording.notes["not_crash_safe"].find(reason))
        << live.recording.notes["not_crash_safe"];
    EXPECT_EQ(1u, live.recording.events.size());
  }

  LiveSession live;
  std::string dir_;
};

TEST_F(SpoolTest, FileIsPrivateAndRemovedAtStop) {
  live.options.spool_dir = dir_.c_str();
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  std::string path = live.recording.info["spool"];
  EXPECT_EQ(0u, path.find(dir_ + "/pprof-")) << path;
  struct stat stat;
  ASSERT_EQ(0, lstat(path.c_str(), &stat));
  EXPECT_EQ(0600u, stat.st_mode & 07777);
  EXPECT_EQ(8 << 20, stat.st_size);
  // Allocated, not sparse: no write to it can fail.
  EXPECT_GE(static_cast<uint64_t>(stat.st_blocks) * 512,
            live.Stats().spool_bytes);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_TRUE(live.Stats().crash_safe);
  EXPECT_EQ(1u, live.recording.Total(PPI_TOTAL_CRASH_SAFE));
  EXPECT_EQ(0u, NumFiles());
}

TEST_F(SpoolTest, ItsLockTellsThatTheProcessLives) {
  live.options.spool_dir = dir_.c_str();
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  std::string path = live.recording.info["spool"];
  pid_t pid = fork();
  if (pid == 0) {
    int fd = open(path.c_str(), O_RDWR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0) _exit(2);
    _exit(lock.l_type == F_WRLCK && lock.l_pid == getppid() ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
}

TEST_F(SpoolTest, MissingFolder) {
  std::string missing = dir_ + "/missing";
  ExpectNotCrashSafe(missing.c_str(), missing.c_str());
}

TEST_F(SpoolTest, FolderThatIsAFile) {
  ExpectNotCrashSafe("/proc/self/status", "/proc/self/status");
}

TEST_F(SpoolTest, UnwritableFolder) {
  // Not even root may make a file there.
  ExpectNotCrashSafe("/proc/self", "/proc/self");
}

TEST_F(SpoolTest, MemoryByWish) {
  ExpectNotCrashSafe("memory", "memory");
}

TEST_F(SpoolTest, LimitOfFileSizesDoesNotEndTheProgram) {
  struct rlimit before, small;
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
  small = {65536, before.rlim_max};
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
  ExpectNotCrashSafe(dir_.c_str(), "ulimit -f forbids so large a file in");
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
  EXPECT_EQ(0u, NumFiles());
}

TEST_F(SpoolTest, OneMegabyteOfRoom) {
  // A private mount namespace of a child, so that nothing is left behind.
  pid_t pid = fork();
  if (pid == 0) {
    uid_t uid = getuid();
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || uid == 0))
      _exit(77);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("small", dir_.c_str(), "tmpfs", 0, "size=1m") != 0) _exit(78);
    ExpectNotCrashSafe(dir_.c_str(), "a spool may have 256 KiB");
    EXPECT_EQ(0u, NumFiles());
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  ASSERT_EQ(0, WEXITSTATUS(status))
      << "1: see above; 77, 78: no tmpfs can be mounted here, run this test "
         "where a mount namespace is allowed";
}

TEST_F(SpoolTest, QuarterOfTheRoomAtMost) {
  pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      _exit(77);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("small", dir_.c_str(), "tmpfs", 0, "size=6m") != 0) _exit(78);
    live.options.spool_dir = dir_.c_str();
    EXPECT_EQ(PPROF_STATUS_OK, live.Start());
    for (int i = 0; i < 100000; i++) pprof_mark(&point_site);
    EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_TRUE(live.Stats().crash_safe);
    EXPECT_LE(live.Stats().spool_bytes, 6u << 18);
    EXPECT_EQ(100000u, live.Stats().recorded + live.Stats().lost);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status) << "77, 78 in the high byte: no tmpfs can be mounted";
}

TEST_F(SpoolTest, DefaultFolderIsInMemory) {
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  std::string path = live.recording.info["spool"];
  if (live.Stats().crash_safe) {
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
    bool known = path.find("/dev/shm/pprof-") == 0 ||
                 (runtime_dir && path.find(runtime_dir) == 0);
    EXPECT_TRUE(known) << path;
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_NE(0, access(path.c_str(), F_OK));
}

TEST_F(SpoolTest, TinyLimitIsTheSmallestSpool) {
  live.options.memory_limit_bytes = 1;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_mark(&point_site);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_LE(live.Stats().spool_bytes, 2u << 20);
  EXPECT_EQ(1u, live.Stats().recorded);
}

TEST_F(SpoolTest, UnthinkableLimitIsAClearStatus) {
  live.options.memory_limit_bytes = 1ull << 62;
  live.options.spool_dir = "memory";
  EXPECT_EQ(PPROF_STATUS_NO_MEMORY, live.Start());
  EXPECT_EQ(nullptr, pprof_session_current());
  LiveSession next;
  ASSERT_EQ(PPROF_STATUS_OK, next.Start());
  ASSERT_EQ(PPROF_STATUS_OK, next.Stop());
}

}  // namespace
}  // namespace pprof_test
