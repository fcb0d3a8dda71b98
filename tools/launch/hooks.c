// SPDX-License-Identifier: Apache-2.0
//
// Sets the hooks that a command installs, and reports which were used.
#include "launch/hooks.h"

#include <errno.h>
#include <stdlib.h>

#include "launch/injection.h"
#include "launch/python.h"

#define NAMES "PPROF_HOOKS"
#define NOTES "PPROF_HOOKS_NOTES"

// ---- installation ----

static bool is_path(const char *name) {
  return strchr(name, '/') || ppi_ends_with(name, ".hooks");
}

// Appends a path, or the name of a file that the tool brings.
static bool add_name(const char *name) {
  char path[PATH_MAX];
  if (is_path(name) && !realpath(name, path)) {
    ppi_tool_say("%s: %s", name, strerror(errno));
    return false;
  }
  if (!is_path(name) &&
      !ppi_tool_carried_find(ppi_hook_files, "hooks file", name))
    return false;
  return ppi_tool_variable_add(NAMES, ":", is_path(name) ? path : name, false);
}

static bool add_names(const struct ppi_run_options *options,
                      const ppi_config_run *run) {
  for (int i = 0; i < options->hooks.num; i++)
    if (!add_name(options->hooks.items[i])) return false;
  for (uint64_t i = 0; i < run->hooks.num; i++)
    if (!add_name(run->hooks.items[i])) return false;
  // The program of a preset marks by itself.
  bool is_auto = !options->hooks.num && !run->given && !secure_getenv(NAMES);
  return !is_auto || setenv(NAMES, "auto", 1) == 0;
}

static bool bring(const ppi_carried *files, const char *within,
                  const char *ending, const char *folder) {
  for (const ppi_carried *file = files; file->name; file++) {
    bool is_site = strcmp(file->name, "sitecustomize") == 0;
    char name[128];
    snprintf(name, sizeof name, "hooks/%s%s%s", is_site ? "site/" : within,
             file->name, ending);
    if (!ppi_tool_python_write(folder, name, file->text)) return false;
  }
  return true;
}

bool ppi_tool_hooks_set(const struct ppi_run_options *options,
                        const ppi_config_run *run, const char *folder) {
  char site[PATH_MAX], notes[PATH_MAX];
  if (options->no_hooks) return unsetenv(NAMES) == 0;
  if (!add_names(options, run)) return false;
  bool done = secure_getenv(NAMES) == NULL ||
              (ppi_tool_python_join(site, folder, "hooks/site") &&
               ppi_tool_python_join(notes, folder, "notes") &&
               bring(ppi_hook_modules, "", ".py", folder) &&
               bring(ppi_hook_files, "hook_files/", ".hooks", folder) &&
               setenv(NOTES, notes, 1) == 0 && ppi_tool_python_add(site, true));
  if (!done)
    ppi_tool_say(
        "%s: the hooks cannot be put there: %s; leave them out with --no-hooks",
        folder, strerror(errno));
  return done;
}

void ppi_tool_hooks_list(char *out, size_t size) {
  *out = 0;
  for (const ppi_carried *file = ppi_hook_files; file->name; file++)
    ppi_tool_list(out, size, file->name);
}

// ---- results ----

enum { MOST_SHOWN = 6, MOST_FILES = 32 };

typedef struct of_file {
  char name[64];
  bool is_used, is_auto, is_left;
  char failed[256], missing[1024];  // the first reason; names of functions
  size_t num_missing;
} of_file;

typedef struct summary {
  of_file files[MOST_FILES];
  size_t num;
  char python[16];  // the version, if loops have no stages; "": they have
} summary;

static of_file *file_of(summary *all, const char *name) {
  for (size_t i = 0; i < all->num; i++)
    if (strcmp(all->files[i].name, name) == 0) return &all->files[i];
  if (all->num == MOST_FILES) return &all->files[0];
  of_file *file = &all->files[all->num++];
  snprintf(file->name, sizeof file->name, "%s", name);
  return file;
}

// Adds a function once, since several processes may lack it.
static void add_missing(of_file *file, const char *function) {
  char *at = strstr(file->missing, function);
  if (at && (at[strlen(function)] == ',' || !at[strlen(function)])) return;
  if (++file->num_missing <= MOST_SHOWN)
    ppi_tool_list(file->missing, sizeof file->missing, function);
}

// Reads the note "KIND FILE WORDS" of a process.
static void read_note(summary *all, char *line) {
  char *file_at = strchr(line, ' ');
  char *words = file_at ? strchr(file_at + 1, ' ') : NULL;
  if (!words) return;
  *file_at++ = 0;
  *words++ = 0;
  words[strcspn(words, "\n")] = 0;
  of_file *file = file_of(all, file_at);
  if (strcmp(line, "used") == 0) file->is_used = true;
  if (strcmp(line, "auto") == 0) file->is_auto = true;
  if (strcmp(line, "left") == 0) file->is_left = true;
  if (strcmp(line, "loops") == 0)
    snprintf(all->python, sizeof all->python, "%s", words);
  if (strcmp(line, "missing") == 0) add_missing(file, words);
  if (strcmp(line, "failed") == 0 && !file->failed[0])
    snprintf(file->failed, sizeof file->failed, "%s", words);
}

static void say_of_file(const of_file *file) {
  if (file->failed[0])
    ppi_tool_say("hooks %s are left out: %s", file->name, file->failed);
  if (!file->is_used || !file->num_missing) return;
  char more[48] = "";
  if (file->num_missing > MOST_SHOWN)
    snprintf(more, sizeof more, " and %zu more",
             file->num_missing - MOST_SHOWN);
  ppi_tool_say("hooks %s: not found in this version: %s%s", file->name,
               file->missing, more);
}

// With torch a compiler may trace the program's functions, so nothing marks
// them unasked.
static void say_auto(const summary *all) {
  char names[256] = "";
  bool has_torch = false;
  for (size_t i = 0; i < all->num; i++) {
    const of_file *file = &all->files[i];
    if (!file->is_auto || file->is_left || file->failed[0]) continue;
    ppi_tool_list(names, sizeof names, file->name);
    has_torch |= strcmp(file->name, "torch") == 0;
  }
  if (*names)
    ppi_tool_say(
        "the program marks nothing: stages come from the hooks %s;"
        " leave them out with --no-hooks%s",
        names,
        has_torch ? ", add the program's own functions with --hooks torch"
                    " --hooks functions"
                  : "");
}

// Names wanted hooks that no loaded module used.
static void say_unused(const summary *all) {
  const char *at = secure_getenv(NAMES);
  for (; at && *at; at += strspn(at, ":")) {
    char path[PATH_MAX];
    size_t len = strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s", (int)len, at);
    at += len;
    char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (dot && dot > slash) *dot = 0;
    const char *name = slash ? slash + 1 : path;
    bool is_met = strcmp(name, "auto") == 0;
    for (size_t i = 0; i < all->num; i++)
      is_met |= strcmp(all->files[i].name, name) == 0;
    if (!is_met)
      ppi_tool_say(
          "hooks %s: no Python process of this run has loaded their"
          " modules; python -I and -E leave hooks out",
          name);
  }
}

void ppi_tool_hooks_say(const char *folder, bool any) {
  char path[PATH_MAX], line[1024];
  static summary known;  // until the process ends
  summary *all = &known;
  FILE *notes =
      ppi_tool_python_join(path, folder, "notes") ? fopen(path, "re") : NULL;
  while (notes && fgets(line, sizeof line, notes)) read_note(all, line);
  if (notes) fclose(notes);
  for (size_t i = 0; i < all->num; i++) say_of_file(&all->files[i]);
  say_unused(all);
  if (*all->python)
    ppi_tool_say(
        "loops outside of functions have stages from Python 3.12 on; this is"
        " Python %s",
        all->python);
  if (any) say_auto(all);
}
