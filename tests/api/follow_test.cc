// SPDX-License-Identifier: Apache-2.0
//
// Processes that go on as another one: children by fork, daemons, programs that
// exec. Each is a real process; what all of them have marked is in some log,
// and whoever has recorded nothing is told.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "log/recover/log_recover.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patience.h"
#include "tests/support/recording_sink.h"

namespace {

using pplog::Spill;

void Mark(const char *name) {
  pprof_push_name(name, PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
}

// A wrong answer is a status of its own.
void Check(bool good, int code) {
  if (!good) _exit(code);
}

int StatusOf(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class FollowTest : public testing::Test {
 public:
  FollowTest() {
    // What a daemon leaves behind comes to this process.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  // In the folder, with a path that is relative to it.
  void Start(const std::string &more = "",
             const std::string &output = "run.pplog") const {
    Check(chdir(At("").c_str()) == 0, 91);
    Spill(At("p.yaml"), "output: " + output + "\nspool: " + At("") +
                            "\nmemory_limit: 2MiB\n"
                            "control: {socket: false}\n" +
                            more);
    Check(pprof_start(At("p.yaml").c_str(), nullptr) == PPROF_STATUS_OK, 90);
  }
  template <typename Body>
  static pid_t Fork(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(PPROF_PATIENCE_SECONDS);  // a hang is an end by SIGALRM
      body();
      _exit(98);  // the body leaves itself
    }
    return pid;
  }
  // The exit status of a program, once all that came of it has ended.
  template <typename Body>
  static int Run(Body body) {
    fflush(nullptr);
    const int code = StatusOf(Fork(body));
    int status = 0;
    while (waitpid(-1, &status, 0) > 0)
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return code;
  }

  // How often each name is in the logs, whatever they are called; unfinished
  // ones are made whole first.
  std::map<std::string, int> Marks() const {
    std::map<std::string, int> marks;
    for (const std::string &part : Named(".pplog.part")) {
      ppi_recover_result result;
      pprof_error error = {};
      EXPECT_EQ(PPROF_STATUS_OK,
                ppi_recover(At(part).c_str(), nullptr, &result, &error))
          << part << ": " << error.text;
    }
    EXPECT_EQ(std::vector<std::string>(), Named(".pplog.part"));
    EXPECT_EQ(std::vector<std::string>(), Named(".spool"));
    for (const std::string &log : Named(".pplog"))
      for (const auto &[name, num] : MarksIn(log)) marks[name] += num;
    return marks;
  }
  pprof_test::Recording Read(const std::string &log) const {
    pprof_test::Recording read;
    pprof_sink *sink = pprof_test::RecordingSink::Make(&read);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(At(log).c_str(), sink, nullptr))
        << log;
    sink->destroy(sink);
    return read;
  }
  std::map<std::string, int> MarksIn(const std::string &log) const {
    const pprof_test::Recording read = Read(log);
    std::map<std::string, int> marks;
    for (const auto &event : read.events) marks[event.name]++;
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_UNMATCHED));
    return marks;
  }
  std::vector<std::string> Named(const std::string &ending) const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(At(""))) {
      const std::string name = entry.path().filename();
      if (name.size() > ending.size() &&
          name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        names.push_back(name);
    }
    return names;
  }

  // The test itself; its path may be relative.
  static std::string Self() {
    return std::filesystem::read_symlink("/proc/self/exe");
  }
  static void ExecAlone(const char *test) {
    for (const char *name :
         {"XML_OUTPUT_FILE", "TEST_TOTAL_SHARDS", "TEST_PREMATURE_EXIT_FILE",
          "TESTBRIDGE_TEST_ONLY"})
      unsetenv(name);
    execl(Self().c_str(), "test",
          (std::string("--gtest_filter=") + test).c_str(), nullptr);
  }
  // The one log that is neither the parent's nor a numbered one of it.
  std::string ChildsLog() const {
    std::string found;
    for (const std::string &log : Named(".pplog"))
      if (log != "run.pplog") {
        EXPECT_EQ("", found) << log;
        found = log;
      }
    return found;
  }

 private:
  pplog::Folder folder_;
};

using Counts = std::map<std::string, int>;

TEST_F(FollowTest, ChildGoesOnInALogOfItsOwn) {
  pid_t child = 0;
  int fds[2];
  ASSERT_EQ(0, pipe(fds));
  EXPECT_EQ(0, Run([&] {
              Start();
              Mark("parent");
              child = Fork([] {
                for (int i = 0; i < 3; i++) Mark("child");
                Check(pprof_stop(nullptr) == PPROF_STATUS_OK, 2);
                Mark("after its stop");
                _exit(pprof_stop(nullptr));
              });
              Check(write(fds[1], &child, sizeof child) == sizeof child, 5);
              Check(StatusOf(child) == 0, 3);
              Mark("parent");
              _exit(pprof_stop(nullptr));
            }));
  ASSERT_EQ(static_cast<ssize_t>(sizeof child),
            read(fds[0], &child, sizeof child));
  EXPECT_EQ((Counts{{"parent", 2}, {"child", 3}}), Marks());
  EXPECT_EQ((Counts{{"parent", 2}}), MarksIn("run.pplog"));
  EXPECT_EQ("run." + std::to_string(child) + ".pplog", ChildsLog());
}

// In all ways in which a marker begins something.
TEST_F(FollowTest, EveryMarkerMayBeTheFirst) {
  static pprof_site site = {"site", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
  void (*const ways[])() = {
      [] { pprof_push(&site), pprof_pop(); },
      [] { Mark("site"); },
      [] { PPROF_SCOPE("site"); },
      [] { pprof_mark(&site); },
      [] { pprof_count(&site, 1); },
      [] { pprof_range_end(pprof_range_begin(&site)); },
      [] { pprof_step(1), Mark("site"); },
  };
  EXPECT_EQ(0, Run([&] {
              Start("", "run.%p.pplog");
              for (auto way : ways) {
                const int code = StatusOf(Fork([&] {
                  way();
                  exit(0);  // without a stop
                }));
                Check(code == 0, code);
              }
              _exit(pprof_stop(nullptr));
            }));
  const size_t num = sizeof ways / sizeof *ways;
  EXPECT_EQ(static_cast<int>(num), Marks()["site"]);
  EXPECT_EQ(num + 1, Named(".pplog").size());
}

// Nor does what ends, or adds to, what the parent has begun.
TEST_F(FollowTest, ChildThatBeginsNothingLeavesNothing) {
  EXPECT_EQ(
      0, Run([this] {
        Start();
        pprof_push_name("parent", PPROF_CATEGORY_USER_DEFINED);
        const int code = StatusOf(Fork([] {
          pprof_flow(1);
          pprof_thread_name("child");
          pprof_pop();
          Check(!pprof_session_current(), 2);
          Check(pprof_stop(nullptr) == PPROF_STATUS_OK, 3);
          Mark("after the stop");
          Check(!pprof_session_current(), 4);
          exit(0);
        }));
        Check(code == 0, code);
        Check(StatusOf(Fork([] { execl("/bin/true", "true", nullptr); })) == 0,
              5);
        pprof_pop();
        _exit(pprof_stop(nullptr));
      }));
  EXPECT_EQ((Counts{{"parent", 1}}), Marks());
  EXPECT_EQ(1u, Named(".pplog").size());
}

// daemon(3): the parent leaves by _exit, the folder changes, standard
// descriptors lead to /dev/null.
TEST_F(FollowTest, Daemon) {
  EXPECT_EQ(0, Run([this] {
              Start("exports: [{format: csv, path: run.csv}]\n");
              for (int i = 0; i < 5; i++) Mark("before");
              Check(daemon(0, 0) == 0, 2);
              for (int i = 0; i < 1000; i++) Mark("daemon");
              _exit(pprof_stop(nullptr));
            }));
  const std::string daemons = ChildsLog();
  EXPECT_EQ((Counts{{"daemon", 1000}}), MarksIn(daemons));
  // Its pid is in the names of both.
  const std::string infix =
      daemons.substr(3, daemons.size() - strlen("run.pplog"));
  EXPECT_TRUE(pplog::Exists(At("run.csv" + infix))) << At("run.csv" + infix);
  // The parent's records are where it has left them.
  EXPECT_EQ(std::vector<std::string>{"run.pplog.part"}, Named(".pplog.part"));
  EXPECT_EQ((Counts{{"before", 5}, {"daemon", 1000}}), Marks());
  EXPECT_EQ((Counts{{"before", 5}}), MarksIn("run.pplog"));
}

// With a session of its own, twice, as init scripts ask for; the descriptors
// are closed. By `exit` the parent finishes its log itself.
TEST_F(FollowTest, DoubleForkWithSetsid) {
  EXPECT_EQ(0, Run([this] {
              Start();
              Mark("before");
              if (fork() != 0) exit(0);
              setsid();
              if (fork() != 0) exit(0);
              for (int fd = 0; fd < 100; fd++) close(fd);
              Check(chdir("/") == 0, 2);
              for (int i = 0; i < 1000; i++) Mark("daemon");
              exit(0);
            }));
  EXPECT_EQ((Counts{{"before", 1}}), MarksIn("run.pplog"));
  EXPECT_EQ((Counts{{"daemon", 1000}}), MarksIn(ChildsLog()));
  EXPECT_EQ((Counts{{"before", 1}, {"daemon", 1000}}), Marks());
}

// Children of children, whether these have marked or not.
TEST_F(FollowTest, Generations) {
  EXPECT_EQ(0, Run([this] {
              Start();
              for (bool marks : {false, true}) {
                const int code = StatusOf(Fork([marks] {
                  if (marks) Mark("child");
                  const int inner = StatusOf(Fork([] {
                    Mark("grandchild");
                    exit(0);
                  }));
                  Check(inner == 0, inner);
                  exit(0);
                }));
                Check(code == 0, code);
              }
              exit(0);
            }));
  EXPECT_EQ((Counts{{"child", 1}, {"grandchild", 2}}), Marks());
  EXPECT_EQ(4u, Named(".pplog").size());
}

TEST_F(FollowTest, ThreadsOfAChildMarkAtOnce) {
  EXPECT_EQ(0, Run([this] {
              Start();
              const int code = StatusOf(Fork([] {
                Mark("first");
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; i++)
                  threads.emplace_back([] {
                    for (int n = 0; n < 1000; n++) Mark("thread");
                  });
                for (std::thread &thread : threads) thread.join();
                exit(0);
              }));
              Check(code == 0, code);
              exit(0);
            }));
  EXPECT_EQ((Counts{{"first", 1}, {"thread", 4000}}), Marks());
}

// One of them starts the session. The others lose what they mark until then.
TEST_F(FollowTest, ThreadsOfAChildBeginAtOnce) {
  EXPECT_EQ(0, Run([this] {
              Start("", "run.%p.pplog");
              const int code = StatusOf(Fork([] {
                std::atomic<int> ready{0};
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; i++)
                  threads.emplace_back([&ready] {
                    for (ready++; ready < 4;) sched_yield();
                    for (int n = 0; n < 1000; n++) Mark("thread");
                  });
                for (std::thread &thread : threads) thread.join();
                exit(0);
              }));
              Check(code == 0, code);
              exit(0);
            }));
  uint64_t recorded = 0, lost = 0;
  for (const std::string &log : Named(".pplog")) {
    const pprof_test::Recording read = Read(log);
    recorded += read.Named("thread").size();
    lost += read.Total(PPI_TOTAL_LOST);
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_UNMATCHED));
    EXPECT_EQ(read.Total(PPI_TOTAL_LOST) != 0, read.notes.count("start") != 0);
  }
  EXPECT_EQ(4000u, recorded + lost);
}

// The parent's threads go on marking meanwhile.
TEST_F(FollowTest, ForksOfAProgramWithThreads) {
  EXPECT_EQ(0, Run([this] {
              Start("", "run.%p.pplog");
              // So much that it marks while a child is made, and no more.
              std::atomic<int> left{0};
              std::thread other([&] {
                while (left >= 0)
                  if (left > 0) left--, Mark("other");
              });
              for (int i = 0; i < 20; i++) {
                left = 1000;
                const int code = StatusOf(Fork([] {
                  Mark("child");
                  _exit(pprof_stop(nullptr));
                }));
                Check(code == 0, code);
              }
              while (left > 0) sched_yield();
              left = -1;
              other.join();
              exit(0);
            }));
  EXPECT_EQ(20, Marks()["child"]);
  EXPECT_EQ(21u, Named(".pplog").size());
}

// Under PPROF_ENABLE=1, in the middle of its first marker, which starts the
// session. The children mark behind it.
void ForkWhileAThreadBegins(int num) {
  std::atomic<bool> begins{false};
  std::thread first([&] {
    begins = true;
    for (int i = 0; i < 100; i++) Mark("work");
  });
  int all_there[2];
  std::vector<pid_t> children;
  Check(pipe(all_there) == 0, 80);
  while (!begins) sched_yield();
  for (int i = 0; i < num; i++)
    children.push_back(FollowTest::Fork([&] {
      char byte;
      close(all_there[1]);
      Check(read(all_there[0], &byte, 1) == 0, 81);
      Mark("child");
      exit(0);
    }));
  first.join();
  close(all_there[1]);
  for (pid_t child : children) Check(StatusOf(child) == 0, 82);
  exit(0);
}

TEST_F(FollowTest, ForksWhileAThreadBeginsTheFirstSession) {
  constexpr int kPrograms = 8, kChildren = 40;
  if (getenv("PPROF_TEST_SECOND")) ForkWhileAThreadBegins(kChildren);
  setenv("PPROF_TEST_SECOND", "1", 1);
  for (int i = 0; i < kPrograms; i++) {
    const std::string output = At(std::to_string(i) + ".pplog");
    EXPECT_EQ(0, Run([&] {
                setenv("PPROF_ENABLE", "1", 1);
                setenv("PPROF_OUTPUT", output.c_str(), 1);
                setenv("PPROF_SET", "memory_limit=1MiB", 1);
                ExecAlone("FollowTest.ForksWhileAThreadBeginsTheFirstSession");
              }));
  }
  unsetenv("PPROF_TEST_SECOND");
  EXPECT_EQ(
      (Counts{{"work", kPrograms * 100}, {"child", kPrograms * kChildren}}),
      Marks());
}

// Of a child that has not marked yet: these have its memory, or a copy of it,
// and neither its handlers nor its number.
TEST_F(FollowTest, RawChildrenOfOneThatSleepsDoNotWakeIt) {
  EXPECT_EQ(0, Run([this] {
              Start();
              const int code = StatusOf(Fork([] {
                pid_t pid = static_cast<pid_t>(
                    syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
                if (pid == 0) {
                  Mark("raw");
                  syscall(SYS_exit_group, 0);
                }
                Check(StatusOf(pid) == 0, 2);
                pid = vfork();
                if (pid == 0) {
                  Mark("vfork");
                  _exit(0);
                }
                Check(StatusOf(pid) == 0, 3);
                Mark("child");
                exit(0);
              }));
              Check(code == 0, code);
              exit(0);
            }));
  EXPECT_EQ((Counts{{"child", 1}}), Marks());
}

TEST_F(FollowTest, ChildMayStartASessionItself) {
  EXPECT_EQ(
      0, Run([this] {
        Start();
        const int code = StatusOf(Fork([this] {
          Spill(At("own.yaml"), "output: own.pplog\nspool: " + At("") +
                                    "\ncontrol: {socket: false}\n");
          Check(pprof_start(At("own.yaml").c_str(), nullptr) == PPROF_STATUS_OK,
                2);
          Mark("child");
          _exit(pprof_stop(nullptr));
        }));
        Check(code == 0, code);
        exit(0);
      }));
  EXPECT_EQ((Counts{{"child", 1}}), MarksIn("own.pplog"));
  EXPECT_EQ(2u, Named(".pplog").size());
}

// Also behind its first marker: that run ends with files of its own, or, where
// the same is asked for, goes on.
TEST_F(FollowTest, ChildMayStartASessionBehindItsFirstMarker) {
  for (const char *output : {"run.pplog", "run.%p.pplog"}) {
    EXPECT_EQ(
        0, Run([this, output] {
          Start("", output);
          const int code = StatusOf(Fork([this] {
            Mark("followed");
            Check(pprof_start(At("p.yaml").c_str(), nullptr) == PPROF_STATUS_OK,
                  2);
            Mark("started");
            Check(
                pprof_start(At("p.yaml").c_str(), nullptr) == PPROF_STATUS_BUSY,
                3);
            _exit(pprof_stop(nullptr));
          }));
          Check(code == 0, code);
          const int other = StatusOf(Fork([] {
            Mark("followed");
            pprof_session *own = nullptr;
            Check(pprof_session_create(nullptr, &own, nullptr) ==
                          PPROF_STATUS_OK &&
                      pprof_session_start(own) == PPROF_STATUS_OK,
                  4);
            Mark("in a session without sinks");
            pprof_session_destroy(own);
            exit(0);
          }));
          Check(other == 0, other);
          exit(0);
        }));
  }
  EXPECT_EQ((Counts{{"followed", 4}, {"started", 2}}), Marks());
}

// Switched off, the child's stop says once that nothing is there.
TEST_F(FollowTest, OffIsTold) {
  EXPECT_EQ(
      0, Run([this] {
        Start("fork: off\n");
        Mark("parent");
        const int code = StatusOf(Fork([this] {
          pprof_error error = {};
          Mark("child");
          Check(!pprof_session_current(), 2);
          Check(pprof_stop(&error) == PPROF_STATUS_UNAVAILABLE, 3);
          Check(strstr(error.text, "was forked") != nullptr, 4);
          Check(strstr(error.text, "'fork' is off") != nullptr, 5);
          Check(pprof_stop(&error) == PPROF_STATUS_OK, 6);
          const std::string set = "output=" + At("own.pplog");
          setenv("PPROF_SET", set.c_str(), 1);
          Check(pprof_start(At("p.yaml").c_str(), nullptr) == PPROF_STATUS_OK,
                7);
          Mark("child");
          _exit(pprof_stop(nullptr));
        }));
        Check(code == 0, code);
        exit(0);
      }));
  EXPECT_EQ((Counts{{"parent", 1}, {"child", 1}}), Marks());
  EXPECT_EQ(2u, Named(".pplog").size());
}

// What becomes of a child's own start in it is told by the stop.
TEST_F(FollowTest, FailureIsTold) {
  EXPECT_EQ(0, Run([this] {
              Check(mkdir(At("gone").c_str(), 0700) == 0, 89);
              Start("", "gone/run.pplog");
              const int code = StatusOf(Fork([this] {
                std::filesystem::rename(At("gone"), At("away"));
                pprof_error error = {};
                errno = 7;
                Mark("child");
                Check(errno == 7, 2);
                Mark("child");
                Check(pprof_stop(&error) == PPROF_STATUS_IO, 3);
                Check(strstr(error.text, "gone/run.") != nullptr, 4);
                std::filesystem::rename(At("away"), At("gone"));
                _exit(pprof_stop(&error));
              }));
              Check(code == 0, code);
              _exit(pprof_stop(nullptr));
            }));
}

// Nothing runs at an exec: what the first program has marked is where a death
// would leave it, and the second one, under the same settings, takes another
// name.
TEST_F(FollowTest, ExecLeavesAllToRecover) {
  EXPECT_EQ(0, Run([this] {
              Start();
              for (int i = 0; i < 1000; i++) Mark("before");
              execl("/bin/true", "true", nullptr);
            }));
  EXPECT_EQ((Counts{{"before", 1000}}), Marks());
}

TEST_F(FollowTest, ExecOfAProgramThatRecordsToo) {
  if (getenv("PPROF_TEST_SECOND")) {
    if (pprof_start(nullptr, nullptr) != PPROF_STATUS_OK) _exit(89);
    for (int i = 0; i < 500; i++) Mark("after");
    _exit(pprof_stop(nullptr));
  }
  EXPECT_EQ(0, Run([this] {
              Start();
              setenv("PPROF_CONFIG", At("p.yaml").c_str(), 1);
              setenv("PPROF_TEST_SECOND", "1", 1);
              for (int i = 0; i < 1000; i++) Mark("before");
              ExecAlone("FollowTest.ExecOfAProgramThatRecordsToo");
            }));
  EXPECT_EQ((Counts{{"before", 1000}, {"after", 500}}), Marks());
  EXPECT_EQ((Counts{{"before", 1000}}), MarksIn("run.pplog"));
  EXPECT_EQ(2u, Named(".pplog").size());
}

}  // namespace
