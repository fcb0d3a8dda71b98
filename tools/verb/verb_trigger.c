// SPDX-License-Identifier: Apache-2.0
//
// Runs `trigger`: asks a running process for a window or a dump of its flight
// recorder, and waits for the file.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/output.h"
#include "control/control.h"
#include "control/control_socket.h"
#include "schema/schema.h"
#include "verb/verbs.h"

// CUPTI may take seconds to begin.
enum { FIRST_LINE_MS = 10000, FIRST_KERNELS_MS = 40000 };
#define MOST_US 10000000000000ull

struct trigger {
  const struct ppi_tool_options *options;
  long pid;
  ppi_trigger asked;
  int fd;
  size_t len;  // of received bytes not read yet
  char text[2 * PPI_CONTROL_LINE_MAX];
};

static int refuse(const char *option, const char *value, const char *expected) {
  return ppi_tool_fail(PPI_EXIT_USAGE, "'--%s %s' is not %s", option, value,
                       expected);
}

static bool read_number(const char *text, long limit, long *out) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  return !errno && end != text && !*end && *out > 0 && *out <= limit;
}

static int read_amounts(struct trigger *self) {
  const struct ppi_tool_options *options = self->options;
  long steps = 0;
  if (options->num_inputs > 0)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "'trigger' takes no '%s'; see pprof-report help trigger",
        options->inputs[0]);
  if (!options->trigger.pid)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'trigger' needs the process to ask: --pid P");
  if (!read_number(options->trigger.pid, INT_MAX, &self->pid))
    return refuse("pid", options->trigger.pid, "the number of a process");
  if (!!options->trigger.steps + !!options->trigger.seconds +
          !!options->trigger.kernels_for >
      1)
    return ppi_tool_fail(
        PPI_EXIT_USAGE, "one of --steps, --seconds and --kernels can be given");
  if (options->trigger.steps &&
      !read_number(options->trigger.steps, 1000000000000, &steps))
    return refuse("steps", options->trigger.steps, "a number of steps");
  self->asked.steps = (uint64_t)steps;
  if (options->trigger.seconds &&
      !ppi_trigger_seconds(options->trigger.seconds, &self->asked.ns))
    return refuse("seconds", options->trigger.seconds,
                  "a number of seconds such as 10 or 0.5");
  uint64_t us;
  const char *time = options->trigger.kernels_for;
  if (!time) return PPI_EXIT_DONE;
  if (!ppi_parse_duration(time, &us) || us == 0 || us > MOST_US)
    return refuse("kernels", time, "a time such as 200ms or 2s");
  self->asked.ns = us * 1000;
  self->asked.kernels = true;
  return PPI_EXIT_DONE;
}

// The process may have another folder, so the path is absolute.
static int read_output(struct trigger *self) {
  const char *path = self->options->output;
  char folder[PATH_MAX];
  if (!path) return PPI_EXIT_DONE;
  if (strcmp(path, "-") == 0 || strchr(path, '\n'))
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'%s': the process writes a log, into a file", path);
  int code = ppi_tool_output_check_log(self->options, path);
  if (code != PPI_EXIT_DONE) return code;
  int len = -1;
  if (path[0] == '/')
    len = snprintf(self->asked.output, PATH_MAX, "%s", path);
  else if (getcwd(folder, sizeof folder))
    len = snprintf(self->asked.output, PATH_MAX, "%s/%s", folder, path);
  if (len > 0 && len < PATH_MAX) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: the path is too long", path);
}

static bool send_request(struct trigger *self) {
  char line[PPI_CONTROL_LINE_MAX];
  ppi_trigger_print(&self->asked, line);
  size_t len = strlen(line);
  return send(self->fd, line, len, MSG_NOSIGNAL) == (ssize_t)len;
}

// Receives the next line, without its end; false: none within the timeout (-1:
// no limit).
static bool receive(struct trigger *self, int timeout_ms,
                    char out[PPI_CONTROL_LINE_MAX]) {
  for (;;) {
    char *end = memchr(self->text, '\n', self->len);
    size_t len = end ? (size_t)(end - self->text) : 0;
    if (end && len < PPI_CONTROL_LINE_MAX) {
      memcpy(out, self->text, len);
      out[len] = 0;
      self->len -= len + 1;
      memmove(self->text, end + 1, self->len);
      return true;
    }
    struct pollfd ready = {self->fd, POLLIN, 0};
    if (self->len == sizeof self->text || poll(&ready, 1, timeout_ms) <= 0)
      return false;
    ssize_t got = recv(self->fd, self->text + self->len,
                       sizeof self->text - self->len, 0);
    if (got <= 0) return false;
    self->len += (size_t)got;
  }
}

// The rest of an answer after "KEY="; "": no such key.
static const char *rest_after(const char *line, const char *key) {
  const char *found = strstr(line, key);
  return found ? found + strlen(key) : "";
}

static void say_begun(const struct trigger *self, const char *line) {
  if (strncmp(line, "begun dump", 10) == 0) return;
  if (strncmp(line, "begun kernels", 13) == 0) {
    ppi_tool_say("kernels are recorded from now on");
    return;
  }
  unsigned long window = strtoul(rest_after(line, "window="), NULL, 10);
  bool by_steps = strncmp(rest_after(line, "opens="), "step", 4) == 0;
  const char *path = rest_after(line, "file=");
  if (self->options->output || !path[0])
    ppi_tool_say("window %lu opens %s", window,
                 by_steps ? "at the next step" : "now");
  else
    ppi_tool_say("window %lu of %s opens %s", window, path,
                 by_steps ? "at the next step" : "now");
}

static int say_failed(const char *line) {
  const char *word = line + strlen("failed ");
  size_t len = strcspn(word, " ");
  const char *why = word[len] ? word + len + 1 : word;
  ppi_tool_say("%s", why);
  return len == strlen("invalid") && strncmp(word, "invalid", len) == 0
             ? PPI_EXIT_USAGE
             : PPI_EXIT_CHECK;
}

static int say_done(const char *line) {
  const char *path = rest_after(line, "file=");
  if (path[0])
    ppi_tool_show(stdout, path);
  else if (strncmp(line, "done kernels", 12) == 0)
    ppi_tool_say(
        "kernels were recorded; 'trigger' has the flight recorder write them");
  else
    ppi_tool_say("the window is complete; its process writes no log");
  return fflush(stdout) == 0 ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

static int converse(struct trigger *self) {
  char line[PPI_CONTROL_LINE_MAX];
  int wait_ms = self->asked.kernels ? FIRST_KERNELS_MS : FIRST_LINE_MS;
  if (!send_request(self) || !receive(self, wait_ms, line))
    return ppi_tool_fail(PPI_EXIT_CHECK, "process %ld does not answer",
                         self->pid);
  if (strncmp(line, "begun ", 6) == 0) {
    say_begun(self, line);
    if (!receive(self, -1, line))
      return ppi_tool_fail(PPI_EXIT_CHECK,
                           "process %ld ended before it was done", self->pid);
  }
  if (strncmp(line, "failed ", 7) == 0) return say_failed(line);
  if (strncmp(line, "done ", 5) == 0) return say_done(line);
  return ppi_tool_fail(
      PPI_EXIT_CHECK,
      "process %ld: an answer that this version does not know: %.100s",
      self->pid, line);
}

int ppi_tool_trigger(const struct ppi_tool_options *options) {
  pprof_error error = {""};
  static struct trigger asking;  // until the process ends
  struct trigger *self = &asking;
  self->options = options;
  int code = read_amounts(self);
  if (code == PPI_EXIT_DONE) code = read_output(self);
  if (code == PPI_EXIT_DONE) {
    self->fd = ppi_control_connect((pid_t)self->pid, &error);
    if (self->fd < 0) {
      ppi_tool_say("%s", error.text);
      code = PPI_EXIT_USAGE;
    } else {
      code = converse(self);
      close(self->fd);
    }
  }
  return code;
}
