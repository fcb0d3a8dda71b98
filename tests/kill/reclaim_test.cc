// SPDX-License-Identifier: Apache-2.0
//
// A process starts beside leftovers of dead processes. Each real process has a
// log of its own in the test's folder. Every record is found once, or reported
// as given up.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/mem.h"
#include "log/recover/log_recover.h"
#include "log/recover/reclaim.h"
#include "reclaim_case.h"
#include "recover/salvage.h"
#include "spool/spool.h"
#include "traced_child.h"

namespace {

using namespace reclaim_case;

// A pod in a crash loop: each process reclaims the spool of the one before.
TEST_F(ReclaimTest, CrashLoopLeavesOneAndLosesNothing) {
  constexpr int kLives = 30;
  for (int i = 0; i < kLives; i++) {
    Die(Log(i), 10 + i, [this] { WaitUntilAlone(); });
    ASSERT_LE(Spools().size(), 1u) << "life " << i;
  }
  EXPECT_EQ("spools of dead processes: 1 recovered, 0 removed, 0 left",
            Reclaim());
  EXPECT_EQ(0u, Spools().size());
  for (int i = 0; i < kLives; i++) {
    ASSERT_TRUE(Exists(Log(i))) << i;
    EXPECT_EQ(10u + i, NumEvents(Log(i)));
    EXPECT_FALSE(Exists(Log(i) + ".part"));
  }
}

// Processes that die as soon as they have begun: a start waits where more is
// there than may stay, so that these, too, are taken away.
TEST_F(ReclaimTest, ThoseThatDieAtOnceAreTakenAway) {
  constexpr int kLives = 30;
  for (int i = 0; i < kLives; i++) Die(Log(i), 10 + i);
  EXPECT_LT(Spools().size(), kLives / 2u);
  Reclaim();
  EXPECT_EQ(0u, Spools().size());
  for (int i = 0; i < kLives; i++) EXPECT_EQ(10u + i, NumEvents(Log(i)));
}

// A fresh container has the folder of the spools, and not that of the logs.
TEST_F(ReclaimTest, WhatCannotBeRecoveredStaysBelowTheBound) {
  const std::string out = folder_ / "out", gone = folder_ / "gone";
  ASSERT_EQ(0, mkdir(gone.c_str(), 0700));
  uint64_t made = 0, most = 0;
  int num_lives = 0;
  while (Bytes() <= 3 * Bound()) {
    const int i = num_lives++;
    ASSERT_EQ(0, mkdir(out.c_str(), 0700));
    DieAlone(out + "/run.pplog", 100 + i);
    made += 100 + i;
    ASSERT_EQ(0, rename(out.c_str(), (gone + "/" + std::to_string(i)).c_str()));
  }
  struct stat one;
  ASSERT_EQ(0, stat(Spools()[0].c_str(), &one));
  // The run that gives up spools notes how many.
  ASSERT_EQ(0, Run([this] {
              Start(Log(0));
              WaitFor([] { return !IsAtIt(); });
              if (pprof_stop(nullptr) != PPROF_STATUS_OK) _exit(1);
            }));
  EXPECT_LE(Bytes(), Bound());
  most = Spools().size();
  EXPECT_GT(most, 0u);
  const std::string note = Note(Log(0));
  unsigned given_up = 0, kib = 0, left = 0;
  unsigned long long records = 0;
  ASSERT_EQ(4, sscanf(note.c_str(),
                      "note reclaim=spools of dead processes: 0 recovered, 0 "
                      "removed, %u given up (%u KiB, %llu records), %u left",
                      &given_up, &kib, &records, &left))
      << note;
  EXPECT_EQ(static_cast<unsigned>(num_lives), given_up + most);
  EXPECT_EQ(most, left);
  EXPECT_GE(kib, given_up * static_cast<unsigned>(one.st_blocks / 4));
  // Records in logs out of reach and in spools that stay, and those given up,
  // add up to all records made.
  for (int i = 0; i < num_lives; i++) {
    const std::string back = gone + "/" + std::to_string(i);
    ASSERT_EQ(0, rename(back.c_str(), out.c_str()));
    ppi_recover_result result;
    pprof_error error = {};
    const bool stays = i >= static_cast<int>(given_up);
    ASSERT_EQ(PPROF_STATUS_OK, ppi_recover((out + "/run.pplog.part").c_str(),
                                           nullptr, &result, &error))
        << error.text;
    const size_t found = NumEvents(out + "/run.pplog");
    // The oldest are those that went.
    if (stays) {
      EXPECT_EQ(100u + i, found);
    }
    made -= found;
    ASSERT_EQ(0, rename(out.c_str(), back.c_str()));
  }
  EXPECT_EQ(made, records);
}

// Below the bound nothing is lost of what cannot be recovered yet.
TEST_F(ReclaimTest, WhatIsNotReachableYetIsRecoveredLater) {
  const std::string out = folder_ / "out", gone = folder_ / "gone";
  ASSERT_EQ(0, mkdir(out.c_str(), 0700));
  DieAlone(out + "/run.pplog", 20);
  ASSERT_EQ(0, rename(out.c_str(), gone.c_str()));
  EXPECT_EQ("", Reclaim());
  // Another container's run has left a log of that name.
  ASSERT_EQ(0, mkdir(out.c_str(), 0700));
  Spill(out + "/run.pplog.part", "");
  EXPECT_EQ("", Reclaim());
  ASSERT_EQ(0, unlink((out + "/run.pplog.part").c_str()));
  ASSERT_EQ(0, rmdir(out.c_str()));
  EXPECT_EQ(1u, Spools().size());
  ASSERT_EQ(0, rename(gone.c_str(), out.c_str()));
  EXPECT_EQ("spools of dead processes: 1 recovered, 0 removed, 0 left",
            Reclaim());
  EXPECT_EQ(20u, NumEvents(out + "/run.pplog"));
}

TEST_F(ReclaimTest, SegmentsAndTheFlightRecordersDumpAreWritten) {
  DieAlone(Log(0), 20, "rotate: {size: 64KiB}\n");
  DieAlone(Log(1), 30,
           "flight_recorder: {memory: 1MiB, output: " +
               folder_ / "x.flight.pplog" + "}\n");
  EXPECT_EQ("spools of dead processes: 2 recovered, 0 removed, 0 left",
            Reclaim());
  EXPECT_EQ(20u, NumEvents(folder_ / "run0.0001.pplog"));
  EXPECT_EQ(30u, NumEvents(Log(1)));
  EXPECT_EQ(30u, NumEvents(folder_ / "x.flight.pplog"));
}

// Only the spool names the output of these runs.
TEST_F(ReclaimTest, RunsWithoutALogStayForRecover) {
  const std::string out = folder_ / "out", trace = folder_ / "x.json";
  ASSERT_EQ(0, mkdir(out.c_str(), 0700));
  const std::string flight =
      "flight_recorder: {memory: 1MiB, output: " + out + "/x.flight.pplog}\n";
  const std::string configs[] = {
      "log: false\nexports: [{format: chrome, path: " + trace + "}]\n",
      "log: false\n" + flight,
      // The log is there, and nothing where the dump goes.
      flight};
  for (const std::string &config : configs) {
    DieAlone(Log(0), 20, config);
    EXPECT_EQ("", Reclaim()) << config;
    ASSERT_EQ(1u, Spools().size()) << config;
    unlink(Spools()[0].c_str());
  }
}

// Each request for memory refused, with all that come after it.
TEST_F(ReclaimTest, RefusedMemoryLosesNothing) {
  const std::string part = Log(0) + ".part";
  DieAlone(Log(0), 30);
  const std::string spool = Spools().at(0), in_spool = pplog::Slurp(spool),
                    in_part = pplog::Slurp(part);
  bool recovered = false;
  for (uint64_t n = 1; !recovered; n++) {
    Spill(spool, in_spool);
    Spill(part, in_part);
    ppi_mem_fail_at(n);
    Reclaim();
    ppi_mem_fail_at(0);
    recovered = Spools().empty();
    if (!recovered) Reclaim();
    ASSERT_EQ(0u, Spools().size()) << n;
    ASSERT_EQ(30u, NumEvents(Log(0))) << n;
    ASSERT_EQ(0, unlink(Log(0).c_str()));
    EXPECT_FALSE(Exists(part)) << n;
  }
}

// Containers of one machine have one folder for spools, and other numbers for
// each other's processes.
TEST_F(ReclaimTest, ProcessOfAnotherNamespaceOfProcessesLives) {
  const int code = Run([this] {
    setenv("PPROF_RECLAIM", "0", 1);
    Start(Log(0));
    Mark(5);
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t pid = fork();
    if (pid == 0) _exit(getpid() == 1 && Reclaim().empty() ? 0 : 1);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) _exit(1);
    if (pprof_stop(nullptr) != PPROF_STATUS_OK) _exit(2);
  });
  if (code == 77) GTEST_SKIP() << "no namespace of processes may be made here";
  EXPECT_EQ(0, code);
  EXPECT_EQ(5u, NumEvents(Log(0)));
}

// As old kernels and some sandboxes do; with that a thread has no table of
// descriptors of its own.
void RefuseCloseRange() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {4, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(96);
}

// Two copies of the library may be in one process: the other's spool is not in
// use for us, and its lock is the process's own.
TEST_F(ReclaimTest, SpoolOfAnotherCopyInThisProcessKeepsItsLock) {
  DieAlone(Log(0), 5);
  const std::string spool = Spools().at(0);
  for (const bool refuses : {false, true}) {
    const int code = Run([&] {
      const int fd = open(spool.c_str(), O_RDWR);
      struct flock lock = {};
      lock.l_type = F_WRLCK;
      if (fcntl(fd, F_SETLK, &lock) != 0) _exit(1);
      if (refuses) RefuseCloseRange();
      if (!Reclaim().empty()) _exit(2);
      const pid_t other = fork();
      if (other == 0)
        _exit(fcntl(open(spool.c_str(), O_RDWR), F_SETLK, &lock) == 0);
      int status = 0;
      if (waitpid(other, &status, 0) != other || status != 0) _exit(3);
    });
    EXPECT_EQ(0, code) << refuses;
    EXPECT_TRUE(Exists(spool));
  }
  // Without a lock on it the spool is taken there, too.
  EXPECT_EQ(0, Run([this] {
              RefuseCloseRange();
              _exit(Reclaim().empty());
            }));
  EXPECT_FALSE(Exists(spool));
}

TEST_F(ReclaimTest, SpoolWhoseLogIsWholeGoes) {
  DieAlone(Log(0), 20);
  const std::string spool = Spools()[0], bytes = pplog::Slurp(spool);
  EXPECT_EQ("spools of dead processes: 1 recovered, 0 removed, 0 left",
            Reclaim());
  const std::string log = pplog::Slurp(Log(0));
  Spill(spool, bytes);
  EXPECT_EQ("spools of dead processes: 0 recovered, 1 removed, 0 left",
            Reclaim());
  EXPECT_EQ(0u, Spools().size());
  EXPECT_EQ(log, pplog::Slurp(Log(0)));
}

TEST_F(ReclaimTest, WhatIsNotALeftoverIsLeftAlone) {
  // No leftovers: the spool of a living process, one that another start has
  // claimed, one with a log still being written, one being made.
  int go[2], ready[2];
  ASSERT_EQ(0, pipe(go) + pipe(ready));
  const pid_t alive = fork();
  if (alive == 0) {
    setenv("PPROF_RECLAIM", "0", 1);
    Start(Log(0));
    Mark(7);
    if (write(ready[1], "", 1) != 1) _exit(98);
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 0) _exit(97);
    _exit(pprof_stop(nullptr));
  }
  char byte;
  ASSERT_EQ(1, read(ready[0], &byte, 1));
  const std::string living = Spools().at(0);
  DieAlone(Log(1), 5);
  std::string claimed = Spools()[0] == living ? Spools()[1] : Spools()[0];
  ppi_salvage *salvage = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_salvage_open(claimed.c_str(), &salvage, nullptr));
  ASSERT_TRUE(ppi_salvage_claim(salvage));
  const std::string made = spools_ + "/pprof-0123456789abcdef.spool";
  Spill(made, std::string(PPI_CHUNK_SIZE, '\0'));
  EXPECT_EQ("", Reclaim());
  EXPECT_EQ(3u, Spools().size());
  ppi_salvage_close(salvage);
  // A program that closes all descriptors loses the spool's lock, the sign of
  // life, until the session notices. It cannot close the log's lock.
  const int log = open((Log(1) + ".part").c_str(), O_RDWR);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(0, fcntl(log, F_OFD_SETLK, &lock));
  EXPECT_EQ("", Reclaim());
  EXPECT_EQ(3u, Spools().size());
  close(log);
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(0, utimensat(AT_FDCWD, made.c_str(), long_ago, 0));
  EXPECT_EQ("spools of dead processes: 1 recovered, 1 removed, 0 left",
            Reclaim());
  EXPECT_EQ(std::vector<std::string>{living}, Spools());
  close(go[1]);
  int status = 0;
  ASSERT_EQ(alive, waitpid(alive, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(7u, NumEvents(Log(0)));
  EXPECT_EQ(5u, NumEvents(Log(1)));
  close(go[0]);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(ReclaimTest, OtherVersionsAreNotReadAndCountForTheBound) {
  DieAlone(Log(0), 5);
  std::string bytes = pplog::Slurp(Spools()[0]);
  ASSERT_EQ(0, unlink(Spools()[0].c_str()));
  bytes[8]++;  // its version
  bytes.resize(Bound() / 2 + PPI_CHUNK_SIZE);
  const std::string old = spools_ + "/pprof-0123456789abcde0.spool";
  Spill(old, bytes);
  EXPECT_EQ("", Reclaim());
  Spill(spools_ + "/pprof-0123456789abcde1.spool", bytes);
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(0, utimensat(AT_FDCWD, old.c_str(), long_ago, 0));
  EXPECT_EQ(Reclaim(),
            "spools of dead processes: 0 recovered, 0 removed, 1 given up (" +
                std::to_string(bytes.size() / 1024) +
                " KiB, 0 records, those of 1 unknown), 1 left");
  EXPECT_FALSE(Exists(old));
  // A larger one than a run like this can leave is another configuration's.
  unlink(Spools()[0].c_str());
  bytes.resize(kLimit + PPI_CHUNK_SIZE);
  Spill(old, bytes);
  EXPECT_EQ("", Reclaim());
  EXPECT_TRUE(Exists(old));
}

TEST_F(ReclaimTest, CanBeSwitchedOff) {
  const auto run = [this](const std::string &more) {
    return Run([&] {
      Start(Log(1), more);
      WaitFor([] { return !IsAtIt(); });
      _exit(pprof_stop(nullptr));
    });
  };
  DieAlone(Log(0), 5);
  setenv("PPROF_RECLAIM", "0", 1);
  EXPECT_EQ(0, run(""));
  setenv("PPROF_RECLAIM", "1", 1);
  EXPECT_EQ(0, run("reclaim: false\n"));
  EXPECT_EQ(1u, Spools().size());
  setenv("PPROF_RECLAIM", "perhaps", 1);
  EXPECT_EQ(99, run(""));
  unsetenv("PPROF_RECLAIM");
  EXPECT_EQ(0, run(""));
  EXPECT_EQ(0u, Spools().size());
  EXPECT_EQ(5u, NumEvents(Log(0)));
}

// Many ranks that start at once after a crash.
TEST_F(ReclaimTest, SeveralAtOnceDoEachOnce) {
  constexpr int kDead = 5, kStarts = 4, kRounds = 5;
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kDead; i++) DieAlone(Log(i), 10 + i);
    std::vector<pid_t> starts;
    for (int i = 0; i < kStarts; i++) {
      starts.push_back(fork());
      if (starts.back() != 0) continue;
      const std::string text = Reclaim();
      unsigned recovered = 0, removed = 0;
      sscanf(text.c_str(), "spools of dead processes: %u recovered, %u removed",
             &recovered, &removed);
      _exit(static_cast<int>(recovered + 10 * removed));
    }
    int sum = 0, status = 0;
    for (const pid_t start : starts) {
      ASSERT_EQ(start, waitpid(start, &status, 0));
      ASSERT_TRUE(WIFEXITED(status));
      sum += WEXITSTATUS(status);
    }
    EXPECT_EQ(kDead, sum);
    EXPECT_EQ(0u, Spools().size());
    for (int i = 0; i < kDead; i++) {
      EXPECT_EQ(10u + i, NumEvents(Log(i)));
      ASSERT_EQ(0, unlink(Log(i).c_str()));
    }
  }
}

// Killed at each of its system calls: the next one finds all.
TEST_F(ReclaimTest, KilledInItsMidstLeavesAllToTheNext) {
  int num_killed = 0, num_left = 0;
  const std::string part = Log(0) + ".part";
  DieAlone(Log(0), 30);
  const std::string spool = Spools().at(0), in_spool = pplog::Slurp(spool),
                    in_part = pplog::Slurp(part);
  for (uint64_t kill_at = 1;; kill_at++) {
    Spill(spool, in_spool);
    Spill(part, in_part);
    kill_test::TracedChild child([this] { Reclaim(); },
                                 [](bool is_main) { return !is_main; });
    ASSERT_TRUE(child.Run(kill_at));
    if (!child.killed()) break;
    num_killed++;
    num_left += !Spools().empty();
    Reclaim();
    ASSERT_EQ(0u, Spools().size()) << kill_at;
    ASSERT_EQ(30u, NumEvents(Log(0))) << kill_at;
    for (const char *end : {"", ".part", ".recovering"}) {
      const std::string path = Log(0) + end;
      EXPECT_EQ(*end == 0, unlink(path.c_str()) == 0) << path << kill_at;
    }
  }
  EXPECT_GT(num_killed, num_left);
  EXPECT_GT(num_left, num_killed / 2);
  RecordProperty("calls", num_killed);
}

// The thread that starts looks at a few, however many there are.
TEST_F(ReclaimTest, StartAsksTheSystemTheSameBesideThousands) {
  const auto num_calls = [this] {
    *phase_ = 0;
    kill_test::TracedChild child(
        [this] {
          *phase_ = 1;
          raise(SIGURG);  // ignored; lets the tracer see it
          Start(Log(1));
          *phase_ = 2;
          _exit(0);
        },
        [this](bool is_main) { return is_main && *phase_ == 1; });
    EXPECT_TRUE(child.Run(0));
    return child.num_calls();
  };
  setenv("PPROF_RECLAIM", "0", 1);
  const uint64_t without = num_calls();
  setenv("PPROF_RECLAIM", "1", 1);
  constexpr int kSpools = 2000;
  std::string bytes(4096, '\0');
  memcpy(&bytes[0], PPI_SPOOL_MAGIC, 8);
  for (int i = 0; i < kSpools; i++)
    Spill(spools_ + "/pprof-0123456789ab" + std::to_string(1000 + i) + ".spool",
          bytes);
  const uint64_t beside = num_calls();
  EXPECT_LT(beside - without, kSpools / 20u);
  RecordProperty("more_calls", static_cast<int>(beside - without));
}

}  // namespace
