// SPDX-License-Identifier: Apache-2.0
//
// Finds Python packages that a preset needs.
#include "launch/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/say.h"
#include "launch/python.h"

enum { MAX_WORDS = 64 };

typedef struct interpreter {
  // `env` with its variables, the interpreter, its options; ends with NULL.
  const char *words[MAX_WORDS + 4];
  size_t num;
  const char *program;      // the interpreter among these words
  char text[2 * PATH_MAX];  // of a script's first lines
  char options[64];         // the relevant ones of several in one word
} interpreter;

typedef enum import_result {
  IMPORT_WORKS,
  IMPORT_FAILS,
  IMPORT_UNKNOWN  // the interpreter does not run
} import_result;

// ---- interpreters ----

extern char **environ;

static bool add_word(interpreter *to, const char *word) {
  if (to->num == MAX_WORDS) return false;
  to->words[to->num++] = word;
  return true;
}

static bool is_python(const char *word) {
  const char *name = ppi_base_name(word);
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
static bool find_program(const interpreter *known, const char *name,
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
static bool take_first_line(interpreter *out, char *line) {
  bool behind_env = false, found = false;
  char *next = NULL;
  for (char *word = strtok_r(line, " \t", &next); word;
       word = strtok_r(NULL, " \t", &next)) {
    if (!found && strcmp(ppi_base_name(word), "env") == 0) {
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

static bool take_script(interpreter *out, const char *name) {
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
static bool take_options(interpreter *out, char *const *words) {
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

// Looks at the command's words: an interpreter, `env` before one, or a script
// that names one in its first line, as pip's console scripts do. False: the
// command is none of these.
static bool find_interpreter(char *const *command, interpreter *out) {
  memset(out, 0, sizeof *out);
  while (*command && strcmp(ppi_base_name(*command), "env") == 0) {
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

// Runs the interpreter to import `package`, in this process's environment.
static import_result import_module(interpreter *python, const char *package) {
  // Removes the current folder from sys.path: it is our caller's, not the
  // command's.
  static const char text[] =
      "import sys\n"
      "if sys.path[:1] == ['']: del sys.path[0]\n"
      "try: __import__(sys.argv[1])\n"
      "except BaseException: sys.exit(3)\n";
  const char **end = python->words + python->num;
  end[0] = "-c";
  end[1] = text;
  end[2] = package;
  end[3] = NULL;
  pid_t pid;
  int status = spawn_silent(&pid, python->words) ? wait_for(pid) : -1;
  return status == 0   ? IMPORT_WORKS
         : status == 3 ? IMPORT_FAILS
                       : IMPORT_UNKNOWN;
}

static const ppi_carried *stand_in_of(const char *package) {
  const ppi_carried *file = ppi_stand_ins;
  while (file->name && strcmp(file->name, package) != 0) file++;
  return file->name ? file : NULL;
}

static bool bring(const ppi_carried *file, const char *folder) {
  char python[PATH_MAX], name[64];
  snprintf(name, sizeof name, "%s.py", file->name);
  bool done = ppi_tool_python_write(folder, name, file->text) &&
              ppi_tool_python_join(python, folder, "") &&
              ppi_tool_python_add(python, false);
  if (!done)
    ppi_tool_say(
        "%s: a stand-in for the Python package %s cannot be put there: %s",
        folder, file->name, strerror(errno));
  return done;
}

static bool refuse(const ppi_config_run *run, const interpreter *python,
                   const char *package) {
  ppi_tool_say(
      "%s makes the command need the Python package %s, which %s does not"
      " find; install it: `%s -m pip install %s`",
      run->environment.items[0], package, python->program, python->program,
      package);
  return false;
}

static void remove_package(ppi_config_run *run, uint64_t at) {
  ppi_config_globs *packages = &run->packages;
  packages->num--;
  memmove(packages->items[at], packages->items[at + 1],
          (packages->num - at) * sizeof packages->items[0]);
}

// Brings a package. `*out_stands_in`: the command's Python lacks it and uses a
// stand-in.
static bool meet(const ppi_config_run *run, interpreter *python,
                 const char *package, const char *folder, bool *out_stands_in) {
  const ppi_carried *file = stand_in_of(package);
  import_result found =
      python ? import_module(python, package) : IMPORT_UNKNOWN;
  *out_stands_in = false;
  if (found == IMPORT_WORKS || (found == IMPORT_UNKNOWN && !file)) return true;
  if (file && !bring(file, folder)) return false;
  if (found == IMPORT_UNKNOWN) return true;
  if (!file || import_module(python, package) != IMPORT_WORKS)
    return refuse(run, python, package);
  ppi_tool_say("%s has no Python package %s: a stand-in for it marks",
               python->program, package);
  *out_stands_in = true;
  return true;
}

bool ppi_tool_needs_meet(ppi_config_run *run, char *const *command,
                         const char *folder) {
  interpreter python;
  bool is_known = find_interpreter(command, &python);
  bool stands_in;
  // Without switches, packages are the program's own concern.
  if (run->environment.num == 0) return true;
  for (uint64_t i = 0; i < run->packages.num; i += !stands_in) {
    if (!meet(run, is_known ? &python : NULL, run->packages.items[i], folder,
              &stands_in))
      return false;
    if (stands_in) remove_package(run, i);
  }
  return true;
}
