// SPDX-License-Identifier: Apache-2.0
//
// Small containers: a cgroup of 64 MiB, and 64 MiB of /dev/shm that others
// need. The programs are real processes with the default options.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patient_flush.h"

namespace pprof_test {
namespace {

PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

constexpr uint64_t kMiB = 1 << 20;
enum { kNotHere = 77 };

bool Write(const std::string &path, const std::string &text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done = fd >= 0 && write(fd, text.data(), text.size()) ==
                                   static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  return done;
}

// A cgroup of the test's own below the one that it is in.
class Cgroup {
 public:
  explicit Cgroup(uint64_t bytes) {
    const std::string name = "/pprof-test-" + std::to_string(getpid());
    for (const auto &kind : std::vector<std::pair<std::string, std::string>>{
             {"/sys/fs/cgroup/memory" + Own(":memory:"),
              "/memory.limit_in_bytes"},
             {"/sys/fs/cgroup" + Own("0::"), "/memory.max"}}) {
      folder_ = kind.first + name;
      if (mkdir(folder_.c_str(), 0700) != 0) continue;
      if (Write(folder_ + kind.second, std::to_string(bytes))) return;
      rmdir(folder_.c_str());
    }
    folder_.clear();
  }
  ~Cgroup() {
    // A process that has ended may still be about to leave it.
    for (int i = 0; i < 1000 && IsThere() && rmdir(folder_.c_str()); i++)
      sched_yield();
  }
  bool IsThere() const {
    return !folder_.empty();
  }
  bool Enter() const {
    return Write(folder_ + "/cgroup.procs", std::to_string(getpid()));
  }

 private:
  static std::string Own(const std::string &key) {
    const std::string lines = pplog::Slurp("/proc/self/cgroup");
    const size_t at = lines.find(key);
    if (at == std::string::npos) return "/none";
    const size_t from = at + key.size();
    const std::string path = lines.substr(from, lines.find('\n', from) - from);
    return path == "/" ? "" : path;
  }
  std::string folder_;
};

// Its exit code, or minus the signal that ended it.
int RunChild(const std::function<int()> &program) {
  const pid_t pid = fork();
  if (pid == 0) _exit(program());
  int status = 0;
  EXPECT_EQ(pid, waitpid(pid, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool OwnShm(const char *options) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("shm", "/dev/shm", "tmpfs", 0, options) == 0;
}

pprof_session *Begin(pprof_sink *sink) {
  pprof_session *session = nullptr;
  if (pprof_session_create(nullptr, &session, nullptr) ||
      pprof_session_add_sink(session, sink) || pprof_session_start(session))
    _exit(2);
  return session;
}

pprof_stats StatsOf(pprof_session *session) {
  pprof_stats stats = {};
  stats.size = sizeof stats;
  pprof_session_stats(session, &stats);
  return stats;
}

// Marks and stops; 0: all that were made are in the log or counted.
int MarkIntoLog(const std::string &log, uint64_t num, bool may_lose) {
  pprof_sink *sink = pplog::Create(log);
  pprof_session *session = Begin(sink);
  for (uint64_t i = 0; i < num; i++) pprof_mark(&point_site);
  // As long as any growth behind the start takes.
  for (int i = 0; i < 100; i++) FlushPatiently(session);
  if (pprof_session_stop(session, nullptr) != PPROF_STATUS_OK) return 3;
  const pprof_stats stats = StatsOf(session);
  pprof_session_destroy(session);
  if (stats.recorded + stats.lost != num) return 4;
  if (stats.lost && !may_lose) return 5;
  return stats.crash_safe ? 0 : 6;
}

class SmallHostTest : public ::testing::Test {
 protected:
  void MarkInCgroup(uint64_t num, bool may_lose) {
    const Cgroup cgroup(64 * kMiB);
    if (!cgroup.IsThere())
      GTEST_SKIP() << "no cgroup with a limit of memory can be made here";
    const std::string log = folder_ / "run.pplog";
    const int answer = RunChild([&] {
      if (!OwnShm("size=1g") || !cgroup.Enter()) return int{kNotHere};
      // The program's own.
      std::vector<char> memory(32 * kMiB, 1);
      return MarkIntoLog(log, num, may_lose) + (memory[num % 1000] != 1);
    });
    if (answer == kNotHere)
      GTEST_SKIP() << "no namespace with a tmpfs, or no cgroup, for this user";
    ASSERT_EQ(0, answer) << "-9: killed for its memory";
    pprof_error error = {};
    pplog::Collector lines;
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read(log.c_str(), lines.sink(), &error))
        << error.text;
    if (!may_lose) {
      EXPECT_EQ(num, pplog::Pick(lines.lines(), "event").size());
    }
  }

  pplog::Folder folder_;
};

TEST_F(SmallHostTest, FewMarkersInACgroupOf64MiB) {
  MarkInCgroup(2000, false);
}

TEST_F(SmallHostTest, MillionsOfMarkersInACgroupOf64MiB) {
  MarkInCgroup(3000000, true);
}

// Keeps nothing, so that the spool has to hold all.
pprof_sink *Hoarder() {
  static pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.kept = [](pprof_sink *, uint32_t, uint64_t *out) {
    *out = 0;
    return true;
  };
  sink.destroy = [](pprof_sink *) {};
  return &sink;
}

uint64_t SpoolBytes() {
  uint64_t sum = 0;
  DIR *dir = opendir("/dev/shm");
  while (const dirent *entry = readdir(dir)) {
    struct stat file;
    if (strncmp(entry->d_name, "pprof-", 6) == 0 &&
        fstatat(dirfd(dir), entry->d_name, &file, 0) == 0)
      sum += static_cast<uint64_t>(file.st_blocks) * 512;
  }
  closedir(dir);
  return sum;
}

// As a program does that does not ask before it writes: -7 where it is refused.
int UseShm(uint64_t bytes) {
  const int fd = open("/dev/shm/app", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return 7;
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 8;
  memset(memory, 1, bytes);
  return 0;
}

TEST_F(SmallHostTest, ProgramThatNeeds40Of64MiBOfShm) {
  const int answer = RunChild([] {
    if (!OwnShm("size=64m")) return int{kNotHere};
    pprof_session *session = Begin(Hoarder());
    if (!StatsOf(session).crash_safe) return 3;
    for (int i = 0; i < 1000000; i++) pprof_mark(&point_site);
    if (FlushPatiently(session) != PPROF_STATUS_OK) return 4;
    const int used = UseShm(40 * kMiB);
    for (int i = 0; i < 1000000; i++) pprof_mark(&point_site);
    pprof_session_stop(session, nullptr);
    const pprof_stats stats = StatsOf(session);
    return used ? used : stats.recorded + stats.lost != 2000000;
  });
  if (answer == kNotHere)
    GTEST_SKIP() << "no namespace with a tmpfs for this user";
  EXPECT_EQ(0, answer) << "-7: SIGBUS";
}

// What workers share.
struct Shared {
  uint64_t bytes;
  pthread_barrier_t begun;
};

Shared *Share(unsigned workers) {
  Shared *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_barrierattr_t attr;
  pthread_barrierattr_init(&attr);
  pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->begun, &attr, workers);
  pthread_barrierattr_destroy(&attr);
  return shared;
}

// One of several. None fills its spool before all have one: a spool that comes
// late to a full quarter is not crash-safe. It says when it is full, then
// waits.
int Work(Shared *shared, int told, int wait) {
  pprof_session *session = Begin(Hoarder());
  pthread_barrier_wait(&shared->begun);
  uint64_t num = 0;
  for (int round = 0; round < 100; round++) {
    for (int i = 0; i < 10000; i++, num++) pprof_mark(&point_site);
    FlushPatiently(session);
  }
  const bool crash_safe = StatsOf(session).crash_safe;
  char byte;
  if (write(told, "x", 1) != 1 || read(wait, &byte, 1) != 0) return 3;
  pprof_session_stop(session, nullptr);
  const pprof_stats stats = StatsOf(session);
  if (stats.recorded + stats.lost != num) return 4;
  return crash_safe ? 0 : 5;
}

TEST_F(SmallHostTest, EightWorkersTakeAQuarterTogether) {
  Shared *shared = Share(8);
  const int answer = RunChild([shared] {
    int told[2], wait[2];
    if (!OwnShm("size=64m")) return int{kNotHere};
    if (pipe(told) != 0 || pipe(wait) != 0) return 6;
    std::vector<pid_t> workers;
    for (int i = 0; i < 8; i++) {
      workers.push_back(fork());
      if (workers.back() == 0) {
        close(wait[1]);
        _exit(Work(shared, told[1], wait[0]));
      }
    }
    close(wait[0]);
    char byte;
    for (int i = 0; i < 8; i++)
      if (read(told[0], &byte, 1) != 1) return 7;
    shared->bytes = SpoolBytes();
    const int used = UseShm(48 * kMiB - kMiB);
    close(wait[1]);
    int worst = 0, status;
    for (const pid_t worker : workers) {
      waitpid(worker, &status, 0);
      worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    return used ? used : worst;
  });
  if (answer == kNotHere)
    GTEST_SKIP() << "no namespace with a tmpfs for this user";
  EXPECT_EQ(0, answer);
  EXPECT_LE(shared->bytes, 16 * kMiB);
  EXPECT_GE(shared->bytes, 8 * kMiB);
  RecordProperty("bytes", static_cast<int>(shared->bytes));
  munmap(shared, sizeof *shared);
}

}  // namespace
}  // namespace pprof_test
