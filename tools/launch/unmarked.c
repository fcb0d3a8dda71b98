// SPDX-License-Identifier: Apache-2.0
//
// Finds in /proc why a run marks nothing. A process belongs to the run if it
// descends from the command or has the run's variables. Processes that a
// launcher left without a parent have them.
#include "launch/unmarked.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

enum { MOST_BYTES = 1 << 22, MOST_PARENTS = 64, MOST_PORTS = 512 };

typedef struct facts {
  const ppi_config_run *run;
  pid_t child;
  const char *output;  // PPROF_OUTPUT=VALUE of this run
  uint64_t num_processes;
  // A process that descends from the command but lacks its variables.
  pid_t lost;
  char lost_name[32];
  unsigned long ports[MOST_PORTS];  // that listen: inodes of their sockets
  size_t num_ports;
  bool serves;
  bool has_hint[PPI_CONFIG_MAX_GLOBS], has_package[PPI_CONFIG_MAX_GLOBS];
} facts;

// ---- /proc ----

// Reads up to MOST_BYTES, with a zero after them; the caller frees it.
static char *read_file(long pid, const char *name, size_t *out_len) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
  FILE *file = fopen(path, "re");
  char *text = NULL;
  size_t room = 0, len = 0, got = 1;
  while (file && got && len < MOST_BYTES) {
    if (len + 4096 > room) {
      char *grown = realloc(text, (room = 2 * room + 8192) + 1);
      if (!grown) break;
      text = grown;
    }
    got = fread(text + len, 1, room - len, file);
    len += got;
  }
  if (file) fclose(file);
  if (text) text[len] = 0;
  *out_len = text ? len : 0;
  return text;
}

static long parent_of(long pid) {
  size_t len;
  long parent = 0;
  char *status = read_file(pid, "status", &len);
  const char *at = status ? strstr(status, "\nPPid:") : NULL;
  if (at) parent = strtol(at + 6, NULL, 10);
  free(status);
  return parent;
}

static bool descends(long pid, pid_t from) {
  for (int i = 0; pid > 1 && i < MOST_PARENTS; i++, pid = parent_of(pid))
    if (pid == from) return true;
  return false;
}

// Whether "NAME=value" is among the variables.
static bool has_variable(const char *environment, size_t len, const char *text,
                         size_t text_len) {
  for (const char *at = environment; at < environment + len;
       at += strlen(at) + 1)
    if (strncmp(at, text, text_len) == 0 && at[text_len] == 0) return true;
  return false;
}

// ---- hints ----

// The length of NAME=value in "NAME=value: text"; 0: the hint always applies.
static size_t condition_of(const char *hint) {
  const char *colon = strstr(hint, ": ");
  size_t len = colon ? (size_t)(colon - hint) : 0;
  return len && memchr(hint, '=', len) && !memchr(hint, ' ', len) ? len : 0;
}

static const char *text_of(const char *hint) {
  size_t len = condition_of(hint);
  return len ? hint + len + 2 : hint;
}

// ---- facts ----

static void note_environment(facts *into, const char *environment, size_t len) {
  const ppi_config_globs *hints = &into->run->hints;
  for (uint64_t i = 0; i < hints->num; i++) {
    size_t condition = condition_of(hints->items[i]);
    if (condition && has_variable(environment, len, hints->items[i], condition))
      into->has_hint[i] = true;
  }
}

// A Python package is loaded if a file of its folder in site-packages or
// dist-packages is mapped.
static void note_packages(facts *into, const char *maps) {
  char folder[PPI_CONFIG_MAX_GLOB + 16];
  for (uint64_t i = 0; i < into->run->packages.num; i++) {
    snprintf(folder, sizeof folder, "-packages/%s/",
             into->run->packages.items[i]);
    if (strstr(maps, folder)) into->has_package[i] = true;
  }
}

static void note_lost(facts *into, long pid) {
  size_t len;
  char *name = read_file(pid, "comm", &len);
  into->lost = (pid_t)pid;
  snprintf(into->lost_name, sizeof into->lost_name, "%.*s",
           name ? (int)strcspn(name, "\n") : 0, name ? name : "");
  free(name);
}

// Collects listening TCP sockets of the command's network.
static void note_ports(facts *into) {
  static const char *const names[] = {"net/tcp", "net/tcp6"};
  enum { LISTENS = 10 };
  for (size_t i = 0; i < 2; i++) {
    size_t len;
    char *text = read_file(into->child, names[i], &len), *next = NULL;
    for (char *line = text ? strtok_r(text, "\n", &next) : NULL; line;
         line = strtok_r(NULL, "\n", &next)) {
      unsigned state = 0;
      unsigned long inode = 0;
      if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", &state,
                 &inode) == 2 &&
          state == LISTENS && into->num_ports < MOST_PORTS)
        into->ports[into->num_ports++] = inode;
    }
    free(text);
  }
}

static void note_sockets(facts *into, long pid) {
  char path[64], target[64];
  unsigned long inode;
  snprintf(path, sizeof path, "/proc/%ld/fd", pid);
  DIR *open_files = into->num_ports ? opendir(path) : NULL;
  for (struct dirent *one; open_files && (one = readdir(open_files));) {
    ssize_t len =
        readlinkat(dirfd(open_files), one->d_name, target, sizeof target - 1);
    target[len > 0 ? len : 0] = 0;
    if (sscanf(target, "socket:[%lu]", &inode) != 1) continue;
    for (size_t i = 0; i < into->num_ports; i++)
      into->serves |= into->ports[i] == inode;
  }
  if (open_files) closedir(open_files);
}

// An ended process and one of another user show no maps, and are left out.
static void note_ours(facts *into, long pid, const char *environment,
                      size_t len, bool has_variables) {
  size_t maps_len;
  char *maps = read_file(pid, "maps", &maps_len);
  if (maps_len) {
    into->num_processes++;
    note_environment(into, environment, len);
    note_packages(into, maps);
    note_sockets(into, pid);
    if (!has_variables) note_lost(into, pid);
  }
  free(maps);
}

static void note_process(facts *into, long pid) {
  size_t len;
  char *environment = read_file(pid, "environ", &len);
  bool has_variables =
      has_variable(environment, len, into->output, strlen(into->output));
  if (environment && (has_variables || descends(pid, into->child)))
    note_ours(into, pid, environment, len, has_variables);
  free(environment);
}

static void note_processes(facts *into) {
  DIR *processes = opendir("/proc");
  for (struct dirent *one; processes && (one = readdir(processes));) {
    char *end;
    long pid = strtol(one->d_name, &end, 10);
    if (pid > 0 && !*end && pid != (long)getpid()) note_process(into, pid);
  }
  if (processes) closedir(processes);
}

// ---- reasons ----

// A switch that already had another value.
static const char *switched_off(const ppi_config_run *run, char *out,
                                size_t size) {
  for (uint64_t i = 0; i < run->environment.num; i++) {
    const char *wanted = run->environment.items[i];
    const char *value = strchr(wanted, '=') + 1;
    char name[PPI_CONFIG_MAX_GLOB];
    snprintf(name, sizeof name, "%.*s", (int)(value - 1 - wanted), wanted);
    const char *is = secure_getenv(name);
    if (!is || strcmp(is, value) == 0) continue;
    snprintf(out, size, "%s was set to '%.60s' already, and stays so", name,
             is);
    return out;
  }
  return NULL;
}

static const char *hint_of(const facts *known, bool conditional) {
  const ppi_config_globs *hints = &known->run->hints;
  for (uint64_t i = 0; i < hints->num; i++)
    if (conditional ? known->has_hint[i] : !condition_of(hints->items[i]))
      return text_of(hints->items[i]);
  return NULL;
}

static const char *missing_package(const facts *known, char *out, size_t size) {
  for (uint64_t i = 0; i < known->run->packages.num; i++) {
    if (known->has_package[i]) continue;
    snprintf(out, size,
             "none of its %llu processes has loaded the Python package %s: "
             "install it, or wait until it loads",
             (unsigned long long)known->num_processes,
             known->run->packages.items[i]);
    return out;
  }
  return NULL;
}

static const char *reason_of(const facts *known, char *out, size_t size) {
  const char *reason = switched_off(known->run, out, size);
  if (!reason) reason = hint_of(known, true);
  if (reason) return reason;
  if (known->lost) {
    snprintf(out, size,
             "process %ld (%s) runs without the variables of this run, it was"
             " started with an environment of its own",
             (long)known->lost, known->lost_name);
    return out;
  }
  return NULL;
}

bool ppi_tool_unmarked_say(const ppi_config_run *run, pid_t child, bool others,
                           bool must) {
  char text[512], output[PPI_CONFIG_MAX_TEXT];
  const char *value = secure_getenv("PPROF_OUTPUT");
  facts known = {.run = run, .child = child, .output = output};
  snprintf(output, sizeof output, "PPROF_OUTPUT=%s", value ? value : "");
  note_ports(&known);
  note_processes(&known);
  if (!known.serves && !must) return false;
  const char *reason = reason_of(&known, text, sizeof text);
  const char *hint = reason ? NULL : hint_of(&known, false);
  if (!reason) reason = missing_package(&known, text, sizeof text);
  ppi_tool_say("%s so far: %s%s%s",
               others ? "something is marked, but none of the names that the"
                        " configuration has categories for"
                      : "nothing is marked",
               reason   ? reason
               : others ? "who is to mark them has not yet, or its version"
                          " calls them otherwise"
                        : "no process has called NVTX yet",
               hint ? "; " : "", hint ? hint : "");
  return true;
}
