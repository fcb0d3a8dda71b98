// SPDX-License-Identifier: Apache-2.0
//
// Starts a command and waits for it. A signal from the terminal reaches the
// command as a member of our process group; a signal sent to us alone is passed
// on.
#include "launch/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wait.h"
#include "cli/say.h"

extern char **environ;

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM,
                              SIGHUP, SIGUSR1, SIGUSR2};
enum { NUM_SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[NUM_SIGNALS];
static volatile pid_t child;
static volatile sig_atomic_t signalled;  // the command got a signal
static volatile sig_atomic_t end_asked;  // the signal, while the command ran

// After the end of a signalled command, the first signal only prints a message:
// the remaining work takes a moment.
static void end_late(int number) {
  static const char text[] =
      "pprof-report: the command has ended, its tables follow; once more to "
      "leave without them\n";
  ppi_tool_child_release_signals();
  if (!signalled)
    raise(number);
  else if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    return;
}

// Passes a signal on. The command has one from the terminal already.
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  int error = errno;
  bool is_sent = info->si_code <= 0;
  if (child > 0 && number != SIGUSR1 && number != SIGUSR2) end_asked = number;
  bool has_ended = child <= 0 || (is_sent && kill(child, number) != 0);
  // A signal pending at the end of the wait may be the one that ended the
  // command.
  if (has_ended && (child <= 0 || signalled))
    end_late(number);
  else
    signalled = 1;
  errno = error;
}

// We survive the signals that end the command, to report on it. Signals ignored
// at our start (nohup) stay ignored, for the command, too.
static void take_signals(void) {
  struct sigaction ours = {.sa_sigaction = pass_on,
                           .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&ours.sa_mask);
  for (size_t i = 0; i < NUM_SIGNALS; i++) {
    sigaction(signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &ours, NULL);
  }
}

void ppi_tool_child_release_signals(void) {
  for (size_t i = 0; i < NUM_SIGNALS; i++)
    sigaction(signals[i], &before[i], NULL);
}

// exec resets handlers to defaults, but not SIGPIPE, which we ignore.
static int spawn(char *const *argv, bool keeps_sigpipe, const sigset_t *mask,
                 pid_t *out) {
  posix_spawnattr_t how;
  sigset_t defaults;
  int error = posix_spawnattr_init(&how);
  if (error) return error;
  sigemptyset(&defaults);
  if (!keeps_sigpipe) sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setsigmask(&how, mask);
  error = posix_spawnp(out, argv[0], NULL, &how, argv, environ);
  posix_spawnattr_destroy(&how);
  return error;
}

// ---- looks ----

static volatile sig_atomic_t alarmed;

static void wake(int number) {
  (void)number;
  alarmed = 1;
}

// Takes SIGALRM before the command starts, since the command may send it.
static void take_alarm(void) {
  struct sigaction waking = {.sa_handler = wake};
  sigemptyset(&waking.sa_mask);
  alarmed = 0;
  sigaction(SIGALRM, &waking, NULL);
}

// Wakes the wait at that time and then repeatedly: one wake-up may come before
// the wait begins.
static void set_timer(uint64_t after_ns) {
  struct itimerval when = {.it_interval = {0, 100000}};
  when.it_value.tv_sec = (time_t)(after_ns / 1000000000u);
  when.it_value.tv_usec = (suseconds_t)(after_ns % 1000000000u / 1000) + 1;
  if (when.it_value.tv_usec > 999999) when.it_value.tv_usec = 999999;
  setitimer(ITIMER_REAL, &when, NULL);
}

static void clear_timer(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
}

// Calls `look` and answers the time of the next call; NULL: none.
static const uint64_t *look_now(const ppi_tool_look *look, pid_t pid,
                                uint64_t began, const uint64_t *next) {
  uint64_t passed_ns = ppi_monotonic_ns() - began;
  bool is_last = passed_ns < *next || !next[1];
  if (!look->look(look->user, pid, is_last) || is_last) return NULL;
  set_timer(*++next > passed_ns ? *next - passed_ns : 1000);
  return next;
}

// Waits for all of our children: as process 1 we inherit processes without a
// parent.
static int wait_for(pid_t pid, const ppi_tool_look *look) {
  const uint64_t began = ppi_monotonic_ns();
  const uint64_t *next = look ? look->after_ns : NULL;
  int status;
  if (look) set_timer(*next);
  for (;;) {
    if (next && alarmed) {
      clear_timer();
      alarmed = 0;
      next = look_now(look, pid, began, next);
    }
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) {
      status = 1 << 8;
      break;
    }
  }
  clear_timer();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int ppi_tool_child_end_asked(void) {
  return end_asked;
}

int ppi_tool_child_run(char *const *argv, bool keeps_sigpipe,
                       const ppi_tool_look *look, bool *out_started) {
  sigset_t ours, mask;
  pid_t pid = 0;
  // A signal waits until the command's number is known.
  sigemptyset(&ours);
  for (size_t i = 0; i < NUM_SIGNALS; i++) sigaddset(&ours, signals[i]);
  sigprocmask(SIG_BLOCK, &ours, &mask);
  signalled = end_asked = 0;
  take_signals();
  if (look) take_alarm();
  int error = spawn(argv, keeps_sigpipe, &mask, &pid);
  child = pid;
  sigprocmask(SIG_SETMASK, &mask, NULL);
  *out_started = error == 0;
  int code = error == ENOENT ? 127 : 126;
  if (error)
    ppi_tool_say("%s: cannot be run: %s", argv[0], strerror(error));
  else
    code = wait_for(pid, look);
  child = 0;
  if (look) signal(SIGALRM, SIG_DFL);
  if (error) ppi_tool_child_release_signals();
  return code;
}
