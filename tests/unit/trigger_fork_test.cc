// SPDX-License-Identifier: Apache-2.0
//
// A program that is asked, and its forked child.
#include "trigger_case.h"

#include <signal.h>
#include <sys/wait.h>

#include "tests/support/patience.h"
#include "tests/support/patient_flush.h"

namespace {

TEST_F(TriggerTest, ChildHasASocketOfItsOwnOnceItStarts) {
  Start("capture: {on_demand: true}\n");
  int fds[2];
  ASSERT_EQ(0, pipe(fds));
  pid_t child = fork();
  if (child == 0) {
    std::string set = "output=" + folder_ + "/child.pplog;spool=" + folder_;
    setenv("PPROF_SET", set.c_str(), 1);
    bool good = pprof_start(Config().c_str(), nullptr) == PPROF_STATUS_OK;
    char c = good ? 'y' : 'n';
    if (write(fds[1], &c, 1) != 1) _exit(1);
    pause();
  }
  close(fds[1]);
  char c = 0;
  ASSERT_EQ(1, read(fds[0], &c, 1));
  ASSERT_EQ('y', c);
  int fd = Connect("trigger seconds=0.01\n", child);
  EXPECT_EQ("begun window=0 opens=now file=" + folder_ + "/child.pplog.part",
            Receive(fd));
  close(fd);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  fd = Connect("trigger seconds=0.01\n");
  EXPECT_EQ("begun window=0 opens=now file=" + folder_ + "/all.pplog.part",
            Receive(fd));
  close(fd);
  close(fds[0]);
}

// It may be a worker that is idle for long: what its parent has read since the
// fork, it reads itself.
TEST_F(TriggerTest, ChildReadsWhatChangedBeforeItsFirstMarker) {
  Start("exclude: [parse]\n");
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(PPROF_PATIENCE_SECONDS);  // a hang is an end by SIGALRM
    PPROF_SITE(parse, "parse", PPROF_CATEGORY_USER_DEFINED);
    pprof_stats stats = {};
    stats.size = sizeof stats;
    Configure("output: " + folder_ + "/all.pplog\n");
    while (stats.recorded == 0) {
      pprof_push(&parse);
      pprof_pop();
      if (pprof_test::FlushPatiently(pprof_session_current()) !=
              PPROF_STATUS_OK ||
          pprof_session_stats(pprof_session_current(), &stats) !=
              PPROF_STATUS_OK)
        _exit(1);
    }
    _exit(stats.excluded > 0 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

}  // namespace
