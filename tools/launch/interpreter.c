// SPDX-License-Identifier: Apache-2.0
//
// Finds the Python of a command line, read as the kernel, env(1) and Python do.
#include "launch/interpreter.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static bool add_word(ppi_tool_interpreter *to, const char *word) {
  if (to->num == PPI_INTERPRETER_WORDS) return false;
  to->words[to->num++] = word;
  return true;
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_python(const char *word) {
  const char *name = base_of(word);
  bool is_cpython = strncmp(name, "python", 6) == 0;
  if (!is_cpython && strncmp(name, "pypy", 4) != 0) return false;
  name += is_cpython ? 6 : 4;
  return !name[strspn(name, "0123456789.td")];  // python3.13t, python3.11d
}

// ---- env ----

// The number of env's own words: its options and variables. SIZE_MAX: an
// unknown option, or one that drops all variables.
static size_t skip_env(char *const *words) {
  static const char *const with_value[] = {"-u", "--unset", "-C", "--chdir"};
  size_t i = 1;
  for (; words[i] && words[i][0] == '-'; i++) {
    bool takes_next = false;
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
      takes_next = takes_next || strcmp(words[i], with_value[k]) == 0;
    if (!words[i][1] || strcmp(words[i], "-i") == 0 ||
        strcmp(words[i], "--ignore-environment") == 0 ||
        strncmp(words[i], "-S", 2) == 0 || strncmp(words[i], "--split", 7) == 0)
      return SIZE_MAX;
    if (takes_next && words[i + 1]) i++;
  }
  while (words[i] && strchr(words[i], '=')) i++;
  return i;
}

// ---- a script ----

// Finds the program `name` by PATH, or by the PATH that env sets.
static bool find_program(const ppi_tool_interpreter *known, const char *name,
                         char out[PATH_MAX]) {
  if (strchr(name, '/')) return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
  const char *path = secure_getenv("PATH");
  for (size_t i = 0; i < known->num; i++)
    if (strncmp(known->words[i], "PATH=", 5) == 0) path = known->words[i] + 5;
  for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
    int len = (int)strcspn(at, ":");
    snprintf(out, PATH_MAX, "%.*s/%s", len, len ? at : ".", name);
    if (access(out, X_OK) == 0) return true;
    at += len + (at[len] == ':');
  }
  return false;
}

// Reads the first two lines.
static bool read_lines(const char *path, char *first, char *second, int size) {
  FILE *file = fopen(path, "re");
  bool has_first = file && fgets(first, size, file);
  bool has_second = has_first && fgets(second, size, file);
  if (!has_second) second[0] = 0;
  if (file) fclose(file);
  if (!has_first || strncmp(first, "#!", 2) != 0) return false;
  first[strcspn(first, "\n")] = 0;
  return true;
}

// pip writes this second line if the path is too long, or has blanks: '''exec'
// "/a path/python" "$0" "$@"
static char *exec_line(char *line) {
  static const char start[] = "'''exec' ";
  if (strncmp(line, start, sizeof start - 1) != 0) return NULL;
  char *at = line + sizeof start - 1;
  char quote = *at == '"' || *at == '\'' ? *at++ : ' ';
  char *end = strchr(at, quote);
  if (end) *end = 0;
  return end && is_python(at) ? at : NULL;
}

// Takes the words after "#!": an interpreter with options, or `env`.
static bool take_first_line(ppi_tool_interpreter *out, char *line) {
  bool behind_env = false, found = false;
  char *next = NULL;
  for (char *word = strtok_r(line, " \t", &next); word;
       word = strtok_r(NULL, " \t", &next)) {
    if (!found && strcmp(base_of(word), "env") == 0) {
      behind_env = true;
      continue;
    }
    if (behind_env && !found && strcmp(word, "-S") == 0) continue;
    bool is_interpreter = !found && is_python(word);
    if (!found && !is_interpreter) return false;
    if (is_interpreter) out->program = word;
    found = true;
    if (!add_word(out, word)) return false;
  }
  return found;
}

static bool take_script(ppi_tool_interpreter *out, const char *name) {
  char path[PATH_MAX];
  char *second = out->text + PATH_MAX;
  if (!find_program(out, name, path) ||
      !read_lines(path, out->text, second, PATH_MAX))
    return false;
  char *exec = exec_line(second);
  if (exec) return add_word(out, out->program = exec);
  return take_first_line(out, out->text + 2);
}

// ---- options of Python ----

// Takes options before the script, module or text: -I -X dev -Wignore, -Im.
static bool take_options(ppi_tool_interpreter *out, char *const *words) {
  for (; *words && (*words)[0] == '-' && (*words)[1]; words++) {
    const char *word = *words;
    if (word[1] == '-') {
      bool takes_next = strcmp(word, "--check-hash-based-pycs") == 0;
      if (!add_word(out, word)) return false;
      if (takes_next && words[1] && !add_word(out, *++words)) return false;
      continue;
    }
    size_t len = strcspn(word + 1, "cmWX") + 1;
    if (word[len] == 'c' || word[len] == 'm') {
      if (len == 1) return true;
      snprintf(out->options, sizeof out->options, "%.*s", (int)len, word);
      return add_word(out, out->options);
    }
    if (!add_word(out, word)) return false;
    if (word[len] && !word[len + 1] && words[1] && !add_word(out, *++words))
      return false;
  }
  return true;
}

bool ppi_tool_interpreter_find(char *const *command,
                               ppi_tool_interpreter *out) {
  memset(out, 0, sizeof *out);
  while (*command && strcmp(base_of(*command), "env") == 0) {
    size_t num = skip_env(command);
    if (num == SIZE_MAX) return false;
    for (size_t i = 0; i < num; i++)
      if (!add_word(out, command[i])) return false;
    command += num;
  }
  if (!*command) return false;
  if (!is_python(*command)) return take_script(out, *command);
  return add_word(out, out->program = *command) &&
         take_options(out, command + 1);
}

// ---- asking it ----

static bool spawn_silent(pid_t *out, const char *const *words) {
  posix_spawn_file_actions_t silent;
  if (posix_spawn_file_actions_init(&silent) != 0) return false;
  for (int fd = 0; fd < 3; fd++)
    posix_spawn_file_actions_addopen(&silent, fd, "/dev/null", O_RDWR, 0);
  int error = posix_spawnp(out, words[0], &silent, NULL,
                           (char *const *)(uintptr_t)words, environ);
  posix_spawn_file_actions_destroy(&silent);
  return error == 0;
}

// Its exit status; -1: a signal ended it, or it did not end.
static int wait_for(pid_t pid) {
  const struct timespec pause = {0, 5000000};
  int status = 0;
  for (int i = 0; i < 12000; i++) {
    if (waitpid(pid, &status, WNOHANG) == pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    nanosleep(&pause, NULL);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return -1;
}

ppi_tool_import ppi_tool_interpreter_import(ppi_tool_interpreter *interpreter,
                                            const char *package) {
  // Removes the current folder from sys.path: it is our caller's, not the
  // command's.
  static const char text[] =
      "import sys\n"
      "if sys.path[:1] == ['']: del sys.path[0]\n"
      "try: __import__(sys.argv[1])\n"
      "except BaseException: sys.exit(3)\n";
  const char **end = interpreter->words + interpreter->num;
  end[0] = "-c";
  end[1] = text;
  end[2] = package;
  end[3] = NULL;
  pid_t pid;
  int status = spawn_silent(&pid, interpreter->words) ? wait_for(pid) : -1;
  return status == 0   ? PPI_IMPORT_WORKS
         : status == 3 ? PPI_IMPORT_FAILS
                       : PPI_IMPORT_UNKNOWN;
}
