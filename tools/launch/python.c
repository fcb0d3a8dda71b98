// SPDX-License-Identifier: Apache-2.0
//
// Runs our Python modules, and writes modules for a command's Python.
#include "launch/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/suggest.h"
#include "file/text.h"
#include "launch/injection.h"

enum { MOST_WORDS = 8 };
#define MOST_BYTES ((size_t)1 << 30)
#define PATH_NAME "PYTHONPATH"

const char *ppi_tool_python(void) {
  const char *named = secure_getenv("PPROF_PYTHON");
  return named && *named ? named : "python3";
}

// Finds the package beside this tool: installed, in a wheel, or in Bazel's
// tree. Elsewhere Python finds it by itself. Other folders are not tried,
// because others may write to them.
static bool find_package(char out[PATH_MAX]) {
  static const struct place {
    bool is_installed;
    const char *probe, *path;
  } places[] = {{true, "../lib/python/pprof/_model", "../lib/python"},
                {true, "../_model", "../.."},
                {false, "../../../../tools/../python/pprof/_model",
                 "../../../../tools/../python"}};
  char own[PATH_MAX], path[PATH_MAX + 64];
  const char *folder = ppi_tool_own_folder(own), *name = strrchr(own, '/');
  bool is_bin = name && strcmp(name, "/bin") == 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (places[i].is_installed ? !is_bin : !strstr(folder, "/bazel-out/"))
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, places[i].probe);
    if (access(path, R_OK) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, places[i].path);
    if (realpath(path, out)) return true;
  }
  return false;
}

// Disables markers, so that no library of ours is needed, and keeps modules of
// the current folder out.
static bool set_environment(void) {
  char folder[PATH_MAX];
  bool done = setenv("PPROF_ENABLE", "0", 1) == 0 &&
              setenv("PYTHONSAFEPATH", "1", 1) == 0;
  if (!done || !find_package(folder)) return done;
  return ppi_tool_python_add(folder, true);
}

static bool spawn(const char *module, const char *const *words, FILE *input,
                  int output, pid_t *out) {
  const char *argv[MOST_WORDS + 4] = {ppi_tool_python(), "-m", module};
  posix_spawn_file_actions_t files;
  for (size_t i = 0; words[i] && i < MOST_WORDS; i++) argv[i + 3] = words[i];
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  if (input) rewind(input);
  if (input) posix_spawn_file_actions_adddup2(&files, fileno(input), 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  int error = posix_spawnp(out, argv[0], &files, NULL,
                           (char *const *)(uintptr_t)argv, environ);
  posix_spawn_file_actions_destroy(&files);
  return error == 0;
}

static void read_all(int fd, ppi_buffer *out) {
  char bytes[65536];
  for (;;) {
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || out->len > MOST_BYTES) return;
    ppi_buffer_bytes(out, bytes, (size_t)n);
  }
}

pprof_status ppi_tool_python_read(const char *module, const char *const *words,
                                  FILE *input, ppi_buffer *out) {
  int ends[2];
  pid_t pid;
  if (!set_environment()) return PPROF_STATUS_NO_MEMORY;
  if (pipe2(ends, O_CLOEXEC) != 0) return PPROF_STATUS_UNAVAILABLE;
  bool started = spawn(module, words, input, ends[1], &pid);
  close(ends[1]);
  if (started) read_all(ends[0], out);
  close(ends[0]);
  while (started && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  if (!started) return PPROF_STATUS_UNAVAILABLE;
  return out->failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

size_t ppi_tool_python_split(char *line, char *out[PPI_PYTHON_WORDS]) {
  size_t num = 0;
  for (char *next = line; next && num < PPI_PYTHON_WORDS; num++) {
    char *to = out[num] = strsep(&next, "\t");
    for (const char *from = to; (*to = *from) != '\0'; from++, to++) {
      if (*from != '\\' || !from[1]) continue;
      from++;
      *to = *from == 't'   ? '\t'
            : *from == 'n' ? '\n'
            : *from == '0' ? ' '
                           : *from;
    }
  }
  return num;
}

// ---- modules for a command ----

const ppi_carried *ppi_tool_carried_find(const ppi_carried *files,
                                         const char *what, const char *name) {
  struct ppi_tool_candidate candidate = {.wrong = name,
                                         .wrong_len = strlen(name)};
  char list[256] = "";
  for (const ppi_carried *at = files; at->name; at++) {
    if (strcmp(at->name, name) == 0) return at;
    ppi_tool_candidate_offer(&candidate, at->name, strlen(at->name));
    ppi_tool_list(list, sizeof list, at->name);
  }
  if (candidate.best)
    ppi_tool_say("there is no %s '%s' (did you mean '%s'?)", what, name,
                 candidate.best);
  else
    ppi_tool_say("there is no %s '%s'; there are %s", what, name, list);
  return NULL;
}

bool ppi_tool_python_join(char out[PATH_MAX], const char *folder,
                          const char *name) {
  int len =
      snprintf(out, PATH_MAX, "%s/.python%s%s", folder, *name ? "/" : "", name);
  if (len > 0 && len < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

static bool make_folders(char *path, size_t from) {
  for (char *at = strchr(path + from + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    bool done = mkdir(path, 0700) == 0 || errno == EEXIST;
    *at = '/';
    if (!done) return false;
  }
  return true;
}

bool ppi_tool_python_write(const char *folder, const char *name,
                           const char *text) {
  char path[PATH_MAX];
  if (!ppi_tool_python_join(path, folder, name) ||
      !make_folders(path, strlen(folder)))
    return false;
  FILE *file = fopen(path, "wxe");
  bool done = file && fputs(text, file) >= 0;
  if (file && fclose(file) != 0) done = false;
  return done || errno == EEXIST;
}

bool ppi_tool_python_add(const char *path, bool is_first) {
  const char *before = secure_getenv(PATH_NAME);
  if (before && strstr(before, path)) return true;
  return ppi_tool_variable_add(PATH_NAME, ":", path, is_first);
}

void ppi_tool_python_drop(const char *folder) {
  char python[PATH_MAX];
  if (ppi_tool_python_join(python, folder, "")) ppi_tool_remove_folder(python);
}
