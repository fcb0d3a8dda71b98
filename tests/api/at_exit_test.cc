// SPDX-License-Identifier: Apache-2.0
//
// Programs that end by `exit`, in all the ways there are, without a stop: each
// is a child of its own.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_backend.h"

namespace {

using pplog::Exists;
using pplog::Pick;
using pplog::Read;
using pplog::Spill;

void Mark(const char *name) {
  pprof_push_name(name, PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
}

class AtExitTest : public testing::Test {
 public:
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  void Start(const std::string &more = "") {
    Spill(At("p.yaml"),
          "output: " + At("run.pplog") + "\ncontrol: {socket: false}\n" + more);
    if (pprof_start(At("p.yaml").c_str(), nullptr) != PPROF_STATUS_OK)
      _exit(99);
  }
  // The exit status of a child that does this; -signal.
  template <typename Body>
  static int Run(Body body) {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(PPROF_PATIENCE_SECONDS);  // a hang is an end by SIGALRM
      body();
      _exit(98);  // the body leaves itself
    }
    int status = 0;
    EXPECT_EQ(pid, waitpid(pid, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  size_t NumEvents() const {
    return Pick(Read(At("run.pplog")), "event").size();
  }
  void ExpectWhole(size_t num_events) const {
    EXPECT_FALSE(Exists(At("run.pplog.part")));
    ASSERT_TRUE(Exists(At("run.pplog")));
    EXPECT_EQ(num_events, NumEvents());
  }

  pplog::Folder folder_;
};

TEST_F(AtExitTest, FinishesTheLogAndTheExports) {
  const int code = Run([this] {
    Start("exports: [{format: json, path: " + At("run.json") + "}]\n");
    Mark("one");
    pprof_push_name("open", PPROF_CATEGORY_USER_DEFINED);
    exit(3);
  });
  EXPECT_EQ(3, code);
  ExpectWhole(2);
  EXPECT_TRUE(Exists(At("run.json")));
}

TEST_F(AtExitTest, PrintsTheReport) {
  testing::internal::CaptureStderr();
  const int code = Run([this] {
    Start("report: stderr\n");
    for (int i = 0; i < 3; i++) {
      pprof_push_name("one", PPROF_CATEGORY_USER_DEFINED);
      pprof_pop();
      pprof_step(1);
    }
    exit(0);
  });
  EXPECT_EQ(0, code);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(std::string::npos, text.find("\nWhere a step's ")) << text;
  EXPECT_NE(std::string::npos, text.find("\none ")) << text;
}

// Handlers that were registered before the start and behind it; one that stops.
TEST_F(AtExitTest, HandlersOfTheProgramStillMark) {
  const int code = Run([this] {
    atexit([] { Mark("registered before"); });
    Start();
    atexit([] { Mark("registered behind"); });
    exit(0);
  });
  EXPECT_EQ(0, code);
  ExpectWhole(2);
}

TEST_F(AtExitTest, HandlerOfTheProgramMayStop) {
  const int code = Run([this] {
    atexit([] { Mark("not recorded any more"); });
    atexit([] {
      if (pprof_stop(nullptr) != PPROF_STATUS_OK) _exit(97);
    });
    Start();
    Mark("one");
    exit(0);
  });
  EXPECT_EQ(0, code);
  ExpectWhole(1);
}

TEST_F(AtExitTest, HandlerOfTheProgramMayStart) {
  static AtExitTest *self;
  self = this;
  const int code = Run([] {
    atexit([] {
      self->Start();
      Mark("one");
    });
    exit(0);
  });
  EXPECT_EQ(0, code);
  ExpectWhole(1);
}

// With the handlers of fork, and without.
TEST_F(AtExitTest, ChildrenLeaveTheParentsSessionAlone) {
  const int code = Run([this] {
    Start();
    Mark("parent");
    for (int raw = 0; raw < 2; raw++) {
      const pid_t pid =
          raw ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
              : fork();
      if (pid == 0) exit(5);
      int status = 0;
      if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
        _exit(97);
      if (Exists(At("run.pplog"))) _exit(96);
      Mark("parent");
    }
    exit(0);
  });
  EXPECT_EQ(0, code);
  ExpectWhole(3);
}

TEST_F(AtExitTest, ThreadsGoOnMarking) {
  const int code = Run([this] {
    Start();
    for (int i = 0; i < 3; i++)
      std::thread([] {
        for (;;) Mark("never ends");
      }).detach();
    std::thread([] {
      for (int i = 0; i < 1000; i++) Mark("leaves");
      exit(0);
    }).join();
  });
  EXPECT_EQ(0, code);
  EXPECT_FALSE(Exists(At("run.pplog.part")));
  EXPECT_GE(NumEvents(), 1000u);
}

// In a handler of a signal that interrupts a marker: the name cannot be read.
TEST_F(AtExitTest, InsideAMarker) {
  const int code = Run([this] {
    Start("stop_wait: 20ms\n");
    Mark("one");
    signal(SIGSEGV, [](int) { exit(0); });
    void *page =
        mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Mark(static_cast<const char *>(page));
  });
  EXPECT_EQ(0, code);
  EXPECT_FALSE(Exists(At("run.pplog.part")));
  EXPECT_GE(NumEvents(), 1u);
}

std::atomic<bool> leaves;

// A backend's code that leaves, on the collector's thread.
TEST_F(AtExitTest, InsideAThreadOfTheLibrarys) {
  const int code = Run([this] {
    Start("exit_wait: 20ms\n");
    scripted_script script = {};
    script.now = []() -> uint64_t {
      if (leaves && gettid() != getpid()) exit(0);
      return 1;
    };
    scripted_device *fake = scripted_device_create(&script);
    pprof_device *device = pprof_device_get(scripted_device_backend(fake),
                                            scripted_device_index(fake));
    static pprof_site site = {"device", 0, 0, 0, {0, 0}};
    leaves = true;
    for (;;) {
      pprof_device_push(device, scripted_stream_create(fake, 1), &site);
      pprof_device_pop(device, scripted_stream_create(fake, 1));
      pprof_session_flush(pprof_session_current());
    }
  });
  EXPECT_EQ(0, code);
  ppi_recover_result result;
  EXPECT_EQ(PPROF_STATUS_OK, ppi_recover(At("run.pplog.part").c_str(), nullptr,
                                         &result, nullptr));
}

// An output that never answers: a pipe that nobody reads.
TEST_F(AtExitTest, DoesNotWaitForEver) {
  ASSERT_EQ(0, mkfifo(At("run.json").c_str(), 0600));
  const int code = Run([this] {
    Start("exit_wait: 20ms\nexports: [{format: json, path: " + At("run.json") +
          "}]\n");
    Mark("one");
    exit(0);
  });
  EXPECT_EQ(0, code);
}

TEST_F(AtExitTest, CanBeSwitchedOff) {
  const int code = Run([this] {
    Start("exit_wait: 0us\n");
    Mark("one");
    exit(0);
  });
  EXPECT_EQ(0, code);
  EXPECT_FALSE(Exists(At("run.pplog")));
  ppi_recover_result result;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_recover(At("run.pplog.part").c_str(), nullptr,
                                         &result, nullptr));
  ExpectWhole(1);
}

TEST_F(AtExitTest, UnderscoreExitLeavesItForRecover) {
  const int code = Run([this] {
    Start();
    Mark("one");
    _exit(0);
  });
  EXPECT_EQ(0, code);
  EXPECT_FALSE(Exists(At("run.pplog")));
  ppi_recover_result result;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_recover(At("run.pplog.part").c_str(), nullptr,
                                         &result, nullptr));
  ExpectWhole(1);
}

// Its sinks are the program's, and may be gone by then.
TEST_F(AtExitTest, SessionOfTheProgramsOwnIsLeftToIt) {
  const int code = Run([this] {
    static pprof_sink sink;
    sink.size = sizeof sink;
    sink.finish = [](pprof_sink *, const pprof_totals *) -> pprof_status {
      _exit(97);
    };
    pprof_session *session = nullptr;
    if (pprof_session_create(nullptr, &session, nullptr) != PPROF_STATUS_OK ||
        pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK ||
        pprof_session_add_sink(session, pplog::Create(At("run.pplog"))) !=
            PPROF_STATUS_OK ||
        pprof_session_start(session) != PPROF_STATUS_OK)
      _exit(99);
    Mark("one");
    exit(0);
  });
  EXPECT_EQ(0, code);
  ppi_recover_result result;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_recover(At("run.pplog.part").c_str(), nullptr,
                                         &result, nullptr));
  ExpectWhole(1);
}

}  // namespace
