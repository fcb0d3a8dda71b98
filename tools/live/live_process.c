// SPDX-License-Identifier: Apache-2.0
//
// Connects to running processes by their control socket and copies their
// tables. A process counts as running as long as the connection lives.
#include "live/live_process.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/wait.h"
#include "cli/say.h"
#include "control/control.h"
#include "control/control_socket.h"

enum { ANSWER_MS = 10000 };

// ---- names of processes ----

// Reads the command line, with a zero after each word; "" if unreadable.
static size_t read_command(pid_t pid, char *out, size_t size) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
  FILE *file = fopen(path, "re");
  size_t len = file ? fread(out, 1, size - 1, file) : 0;
  if (file) fclose(file);
  while (len > 0 && !out[len - 1]) len--;
  out[len] = 0;
  return len;
}

// Whether `name` names the process: "service" fits /usr/bin/service and python3
// /srv/service.py.
static bool is_called(pid_t pid, const char *name) {
  char command[1024];
  size_t len = read_command(pid, command, sizeof command), name_len;
  name_len = strlen(name);
  for (size_t at = 0, word = 0; at < len && word < 3;
       at += strlen(command + at) + 1, word++) {
    const char *base = ppi_base_name(command + at);
    if (strncmp(base, name, name_len) == 0 &&
        (!base[name_len] || strcmp(base + name_len, ".py") == 0))
      return true;
  }
  return false;
}

// Sets the name: "service" for /usr/bin/service, "train.py" for python3
// /srv/train.py.
static void describe(struct ppi_live_process *process) {
  char command[4096];
  size_t len = read_command(process->pid, command, sizeof command);
  const char *base = ppi_base_name(command), *name = base;
  const size_t first = strlen(command) + 1;
  if (strncmp(base, "python", 6) == 0 && first < len && command[first] != '-')
    name = ppi_base_name(command + first);
  snprintf(process->name, sizeof process->name, "%.*s",
           (int)sizeof process->name - 1, name);
  for (size_t i = 0; i < len; i++)
    if (!command[i]) command[i] = ' ';
  command[len] = 0;
  snprintf(process->command, sizeof process->command, "%.*s",
           (int)sizeof process->command - 1, base);
}

// ---- the connection ----

static int receive_table(int socket) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } beside;
  char line[256];
  struct iovec text = {line, sizeof line};
  struct msghdr message = {.msg_iov = &text,
                           .msg_iovlen = 1,
                           .msg_control = beside.room,
                           .msg_controllen = sizeof beside.room};
  struct pollfd ready = {socket, POLLIN, 0};
  int fd = -1;
  if (poll(&ready, 1, ANSWER_MS) <= 0 ||
      recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
    return -1;
  struct cmsghdr *item = CMSG_FIRSTHDR(&message);
  if (item && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
      item->cmsg_len == CMSG_LEN(sizeof fd))
    memcpy(&fd, CMSG_DATA(item), sizeof fd);
  return fd;
}

// False with `error` set.
static bool connect_to(struct ppi_live_process *process, pprof_error *error) {
  static const char request[] = "watch\n";
  process->socket = ppi_control_connect(process->pid, error);
  if (process->socket < 0) return false;
  if (send(process->socket, request, sizeof request - 1, MSG_NOSIGNAL) ==
      (ssize_t)sizeof request - 1)
    process->table = receive_table(process->socket);
  if (process->table >= 0) return true;
  snprintf(error->text, sizeof error->text,
           "process %ld cannot be looked at: it is of an older version, has no "
           "memory, or stops just now",
           (long)process->pid);
  close(process->socket);
  return false;
}

static bool has_ended(const struct ppi_live_process *process) {
  struct pollfd ready = {process->socket, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

static void disconnect(struct ppi_live_process *process) {
  if (process->socket < 0) return;
  close(process->socket);
  close(process->table);
  process->socket = process->table = -1;
}

// ---- finding ----

static bool is_known(const struct ppi_live_processes *all, pid_t pid) {
  for (size_t i = 0; i < all->num; i++)
    if (all->items[i]->pid == pid && all->items[i]->socket >= 0) return true;
  return false;
}

static bool add_process(struct ppi_live_processes *all, pid_t pid,
                        pprof_error *error) {
  if (all->num == PPI_LIVE_MAX_PROCESSES || is_known(all, pid)) return true;
  struct ppi_live_process *process = ppi_tool_must(ppi_alloc(sizeof *process));
  *process = (struct ppi_live_process){.pid = pid, .socket = -1, .table = -1};
  if (!connect_to(process, error)) {
    ppi_free(process);
    return false;
  }
  describe(process);
  all->items[all->num++] = process;
  return true;
}

static void add_called(struct ppi_live_processes *all, const char *name) {
  pid_t pids[PPI_LIVE_MAX_PROCESSES];
  pprof_error error = {""};
  size_t num = ppi_control_list(pids, PPI_LIVE_MAX_PROCESSES);
  for (size_t i = 0; i < num; i++)
    if (!name || is_called(pids[i], name)) add_process(all, pids[i], &error);
}

static void destroy(struct ppi_live_process *process) {
  disconnect(process);
  for (size_t j = 0; j < PPI_LIVE_MAX_LOOKS; j++)
    ppi_live_view_clear(&process->looks[j].view);
  ppi_free(process);
}

void ppi_live_find_more(struct ppi_live_processes *all) {
  size_t kept = 0;
  for (size_t i = 0; i < all->num; i++) {
    if (all->items[i]->socket >= 0)
      all->items[kept++] = all->items[i];
    else
      destroy(all->items[i]);
  }
  all->num = kept;
  add_called(all, NULL);
}

static int find_one(const char *operand, struct ppi_live_processes *all) {
  pprof_error error = {""};
  const size_t before = all->num;
  char *end;
  errno = 0;
  const long pid = strtol(operand, &end, 10);
  const bool is_number = end != operand && !*end && !errno;
  if (is_number && pid > 0 && pid <= INT_MAX) {
    if (add_process(all, (pid_t)pid, &error)) return PPI_EXIT_DONE;
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", error.text);
  }
  add_called(all, operand);
  if (all->num > before) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "no process called '%s' can be looked at", operand);
}

int ppi_live_find(const char *const *operands, int num,
                  struct ppi_live_processes *out) {
  *out = (struct ppi_live_processes){.num = 0};
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < num && code == PPI_EXIT_DONE; i++)
    code = find_one(operands[i], out);
  if (num == 0) ppi_live_find_more(out);
  if (num == 0 && out->num == 0) {
    ppi_tool_say("no process of this user records with pprof and can be asked");
    code = PPI_EXIT_USAGE;
  }
  if (code != PPI_EXIT_DONE) ppi_live_close(out);
  return code;
}

void ppi_live_close(struct ppi_live_processes *all) {
  for (size_t i = 0; i < all->num; i++) destroy(all->items[i]);
  all->num = 0;
}

// ---- looking ----

// NULL: there are not so many.
static const struct ppi_live_look *look_at(
    const struct ppi_live_process *process, size_t ago) {
  size_t at = process->next + PPI_LIVE_MAX_LOOKS - 1 - ago;
  return ago < process->num_looks ? &process->looks[at % PPI_LIVE_MAX_LOOKS]
                                  : NULL;
}

static void drop_old(struct ppi_live_process *process, uint64_t keep_ns) {
  while (process->num_looks > 2) {
    struct ppi_live_look *oldest =
        (struct ppi_live_look *)look_at(process, process->num_looks - 1);
    if (look_at(process, 0)->time_ns - oldest->time_ns <= keep_ns) return;
    ppi_live_view_clear(&oldest->view);
    process->num_looks--;
  }
}

static void look(struct ppi_live_process *process, uint64_t keep_ns) {
  struct ppi_live_look *into = &process->looks[process->next];
  ppi_live_view view;
  if (!ppi_live_read(process->table, &view)) {
    ppi_live_view_clear(&view);
    disconnect(process);
    return;
  }
  ppi_live_view_clear(&into->view);
  *into = (struct ppi_live_look){ppi_monotonic_ns(), view};
  process->next = (process->next + 1) % PPI_LIVE_MAX_LOOKS;
  if (process->num_looks < PPI_LIVE_MAX_LOOKS) process->num_looks++;
  drop_old(process, keep_ns);
}

size_t ppi_live_look_at_all(struct ppi_live_processes *all) {
  size_t num = 0;
  for (size_t i = 0; i < all->num; i++) {
    struct ppi_live_process *process = all->items[i];
    if (process->socket < 0) continue;
    const bool ended = has_ended(process);
    look(process, all->keep_ns);
    if (ended) disconnect(process);
    num += process->socket >= 0;
  }
  return num;
}

const ppi_live_view *ppi_live_last(const struct ppi_live_process *process) {
  const struct ppi_live_look *last = look_at(process, 0);
  return last ? &last->view : NULL;
}

const ppi_live_view *ppi_live_before(const struct ppi_live_process *process,
                                     uint64_t window_ns, double *out_seconds) {
  const struct ppi_live_look *last = look_at(process, 0), *found = NULL;
  *out_seconds = 0;
  for (size_t ago = 1; ago < process->num_looks; ago++) {
    const struct ppi_live_look *one = look_at(process, ago);
    if (found && last->time_ns - one->time_ns > window_ns) break;
    found = one;
  }
  if (!found) return NULL;
  *out_seconds = (double)(last->time_ns - found->time_ns) / 1e9;
  return &found->view;
}
