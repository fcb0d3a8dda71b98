// SPDX-License-Identifier: Apache-2.0
//
// Prepares the folder, variables and signals of commands that run repeatedly.
#include "verb/trial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/child.h"
#include "launch/injection.h"
#include "start/environment.h"

// A signal between two commands. While a command runs, child.c takes signals.
static volatile sig_atomic_t asked;
static const int endings[PPI_TRIAL_ENDINGS] = {SIGINT, SIGTERM, SIGHUP};

static void note_ending(int number) {
  asked = number;
}

static void take_endings(struct sigaction before[PPI_TRIAL_ENDINGS]) {
  struct sigaction ours = {.sa_handler = note_ending, .sa_flags = SA_RESTART};
  sigemptyset(&ours.sa_mask);
  for (size_t i = 0; i < PPI_TRIAL_ENDINGS; i++) {
    sigaction(endings[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(endings[i], &ours, NULL);
  }
}

static void give_endings(const struct sigaction before[PPI_TRIAL_ENDINGS]) {
  for (size_t i = 0; i < PPI_TRIAL_ENDINGS; i++)
    sigaction(endings[i], &before[i], NULL);
}

int ppi_trial_asked(void) {
  return asked;
}

// Escapes characters of the folder's name that PPROF_OUTPUT would expand.
void ppi_trial_set_output(const char *folder, const char *prefix) {
  ppi_page path = {0};
  for (const char *at = folder; *at; at++)
    ppi_page_bytes(&path, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
  ppi_page_format(&path, "/%s%%h.%%p.%%t.pplog", prefix);
  if (path.failed || setenv("PPROF_OUTPUT", path.bytes, 1) != 0)
    ppi_tool_must(NULL);
  ppi_page_clear(&path);
}

// Records commands that mark with NVTX alone, too, if the library is found.
// False after a message.
static bool inject(const struct ppi_tool_options *options) {
  const char *set = secure_getenv(PPI_INJECTION);
  char library[PATH_MAX];
  bool enabled = true;
  bool is_wanted =
      ppi_environment_enabled(&enabled, NULL) == PPROF_STATUS_OK && enabled;
  if (set && set[0] && options->run.library) {
    ppi_tool_say(PPI_INJECTION " is set already, to %s; unset it", set);
    return false;
  }
  if ((set && set[0]) || !is_wanted) return true;
  if (!ppi_tool_find_injection(options->run.library, true, library))
    return !options->run.library;
  if (!ppi_tool_set_injection(library)) ppi_tool_must(NULL);
  return true;
}

int ppi_trial_run(char *const *argv, int to, bool keeps_sigpipe,
                  bool *out_started) {
  int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  fflush(stdout);
  dup2(to, STDOUT_FILENO);
  int code = ppi_tool_child_run(argv, keeps_sigpipe, NULL, out_started);
  ppi_tool_child_release_signals();
  dup2(own, STDOUT_FILENO);
  close(own);
  return code;
}

bool ppi_trial_is_empty(const char *folder) {
  DIR *entries = opendir(folder);
  int num = 0;
  while (entries && readdir(entries)) num++;
  if (entries) closedir(entries);
  if (num > 2) errno = ENOTEMPTY;
  return num == 2;  // . and ..
}

// The path is absolute, since the command may change its folder.
static int make_folder(ppi_trial *trial) {
  const char *given = trial->options->run.logs,
             *parent = secure_getenv("TMPDIR");
  char path[PATH_MAX];
  bool made;
  if (given) {
    snprintf(path, sizeof path, "%s", given);
    made =
        mkdir(path, 0700) == 0 || (errno == EEXIST && ppi_trial_is_empty(path));
  } else {
    snprintf(path, sizeof path, "%s/pprof-runs.XXXXXX",
             parent && parent[0] ? parent : "/tmp");
    made = mkdtemp(path) != NULL;
  }
  if (made && realpath(path, trial->folder)) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: is no folder to write logs to: %s",
                       path, strerror(errno));
}

int ppi_trial_begin(ppi_trial *trial, const struct ppi_tool_options *options) {
  const char *output = secure_getenv("PPROF_OUTPUT");
  trial->options = options;
  if (output && output[0])
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "PPROF_OUTPUT is set already, to %s; unset it; --logs names"
        " the folder of the logs",
        output);
  if (!inject(options)) return PPI_EXIT_USAGE;
  int code = make_folder(trial);
  if (code == PPI_EXIT_DONE) take_endings(trial->before);
  return code;
}

void ppi_trial_end(const ppi_trial *trial) {
  give_endings(trial->before);
  unsetenv("PPROF_OUTPUT");
  if (!trial->options->run.logs) rmdir(trial->folder);
}
