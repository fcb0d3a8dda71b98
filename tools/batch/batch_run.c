// SPDX-License-Identifier: Apache-2.0
//
// Runs a command, passes its messages on and watches them for "out of memory".
#include "batch/batch_run.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "launch/child.h"
#include "log/write/log_io.h"

enum { MAX_PHRASE = 32 };

// Words of runtimes that are out of memory, in lower case.
static const char *const phrases[] = {
    "out of memory",      "out_of_memory",          "outofmemory", "bad_alloc",
    "resource_exhausted", "cannot allocate memory", "memoryerror"};

// stdout is for results, so the command's output goes to stderr.
struct capture {
  int own[2];       // our stdout and stderr meanwhile
  int messages[2];  // the command's stderr comes here
  int stop[2];
  bool says_no_memory;
  char tail[MAX_PHRASE];  // end of the text read, for phrases cut in two
  size_t tail_len;
  pthread_t reader;
};

static void look(struct capture *capture, const char *bytes, size_t len) {
  char text[MAX_PHRASE + 4096 + 1];
  memcpy(text, capture->tail, capture->tail_len);
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[i];
    text[capture->tail_len + i] = c ? (char)tolower(c) : ' ';
  }
  len += capture->tail_len;
  text[len] = '\0';
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
    if (strstr(text, phrases[i])) capture->says_no_memory = true;
  capture->tail_len = len < MAX_PHRASE ? len : MAX_PHRASE;
  memcpy(capture->tail, text + len - capture->tail_len, capture->tail_len);
}

// Reads until the pipe is empty and the command has ended. Processes that it
// left may keep the pipe open.
static void *read_messages(void *argument) {
  struct capture *capture = argument;
  char bytes[4096];
  struct pollfd fds[2] = {{capture->messages[0], POLLIN, 0},
                          {capture->stop[0], POLLIN, 0}};
  for (;;) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return NULL;
    if (fds[0].revents) {
      ssize_t len = read(capture->messages[0], bytes, sizeof bytes);
      if (len <= 0) return NULL;
      look(capture, bytes, (size_t)len);
      ppi_write_all(capture->own[1], bytes, (size_t)len);
    } else if (fds[1].revents) {
      return NULL;
    }
  }
}

// The thread blocks all signals: only the main thread passes them to the
// command, once it runs.
static bool start_reader(struct capture *capture) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started =
      pthread_create(&capture->reader, NULL, read_messages, capture) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static bool open_capture(struct capture *capture) {
  *capture = (struct capture){.own = {-1, -1}};
  fflush(stdout);
  fflush(stderr);
  if (pipe2(capture->messages, O_CLOEXEC) != 0) return false;
  if (pipe2(capture->stop, O_CLOEXEC) == 0) {
    capture->own[0] = fcntl(1, F_DUPFD_CLOEXEC, 3);
    capture->own[1] = fcntl(2, F_DUPFD_CLOEXEC, 3);
    if (capture->own[0] >= 0 && capture->own[1] >= 0 && start_reader(capture)) {
      dup2(2, 1);
      dup2(capture->messages[1], 2);
      return true;
    }
    if (capture->own[0] >= 0) close(capture->own[0]);
    if (capture->own[1] >= 0) close(capture->own[1]);
    close(capture->stop[0]);
    close(capture->stop[1]);
  }
  close(capture->messages[0]);
  close(capture->messages[1]);
  return false;
}

static void close_capture(struct capture *capture) {
  fflush(stderr);
  dup2(capture->own[0], 1);
  dup2(capture->own[1], 2);
  close(capture->messages[1]);
  close(capture->stop[1]);
  pthread_join(capture->reader, NULL);
  close(capture->stop[0]);
  close(capture->messages[0]);
  close(capture->own[0]);
  close(capture->own[1]);
}

// The number of kills by the kernel for want of memory in this cgroup.
static uint64_t kernel_kills(void) {
  static const char *const paths[] = {
      "/sys/fs/cgroup/memory.events",
      "/sys/fs/cgroup/memory/memory.oom_control"};
  unsigned long long kills = 0;
  char line[128];
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    FILE *file = fopen(paths[i], "re");
    if (!file) continue;
    while (fgets(line, sizeof line, file))
      if (sscanf(line, "oom_kill %llu", &kills) == 1) break;
    fclose(file);
    return kills;
  }
  return 0;
}

static void describe(int code, bool no_memory, char *out, size_t size) {
  const char *why = no_memory ? ", out of memory" : "";
  if (code == 0)
    snprintf(out, size, "%s", no_memory ? "killed, out of memory" : "ok");
  else if (code > 128 && code <= 128 + 64)
    snprintf(out, size, "signal %d%s", code - 128, why);
  else
    snprintf(out, size, "exit %d%s", code, why);
}

// A time limit or a signal replaces the exit status.
static void describe_end(ppi_batch_try *out, bool timed_out,
                         uint64_t limit_ns) {
  if (timed_out)
    snprintf(out->result, sizeof out->result, "timed out after %.3g s",
             (double)limit_ns / 1e9);
  else if (out->interrupted && out->survived)
    snprintf(out->result, sizeof out->result, "interrupted");
  if (timed_out || out->interrupted) out->survived = false;
}

void ppi_batch_run(char *const *argv, bool keeps_sigpipe, uint64_t limit_ns,
                   ppi_batch_try *out) {
  struct capture capture;
  uint64_t kills = kernel_kills(), start = ppi_monotonic_ns();
  bool captures = open_capture(&capture), timed_out = false;
  int code = ppi_tool_child_run_for(argv, keeps_sigpipe, limit_ns,
                                    &out->started, &timed_out);
  ppi_tool_child_release_signals();
  if (captures) close_capture(&capture);
  bool killed = kernel_kills() > kills;
  out->says_no_memory = captures && capture.says_no_memory;
  bool no_memory = killed || (out->says_no_memory && code != 0);
  out->wall_ns = ppi_monotonic_ns() - start;
  out->survived = out->started && code == 0 && !killed;
  out->interrupted = code == 128 + 2 ? 2 : ppi_tool_child_end_asked();
  describe(code, no_memory, out->result, sizeof out->result);
  describe_end(out, timed_out, limit_ns);
}
