// SPDX-License-Identifier: Apache-2.0
//
// Runs the control thread: one poll over the socket, its clients, the signal
// and, now and then, the watched files. Other threads wait for it only in
// `hush` and `stop`.
#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "base/start_thread.h"
#include "control/control_socket.h"

enum {
  MAX_CLIENTS = 8,
  LOOK_MS = 500,
  REQUEST_MS = 2000,  // for a client to send its request
  TICKET_MS = 20,     // period of asking about tickets
  DEAF_MS = 500,
  LOST_MS = 20,     // period of the poll if nothing can wake it
  FIRST_CLIENT = 3  // in the poll set: wake, signal, socket
};
#define MS 1000000ull

typedef struct client {
  int fd;  // -1: free
  ppi_fd_id id;
  size_t len;
  uint64_t deadline_ns;  // of the request
  uint64_t ticket;       // 0: the request has not come yet
  bool watches;          // it looks until it goes
  char line[PPI_CONTROL_LINE_MAX];
} client;

// The properties that distinguish two versions of a file.
typedef struct version {
  bool exists;
  ino_t inode;
  off_t size;
  struct timespec changed;
} version;

struct ppi_control {
  ppi_control_options options;
  ppi_control_actions actions;
  pthread_t thread;
  pthread_mutex_t acting;  // locked around trigger and reload
  bool hushed;             // guarded by `acting`
  bool stopping;           // atomic
  int wake, waker;         // a pipe's ends
  int signal, socket;
  ppi_fd_id wake_id, signal_id, socket_id;
  char socket_path[PPI_CONTROL_PATH_MAX];
  version touched, loaded, seen;
  uint64_t next_look_ns, next_tick_ns;
  uint64_t deaf_until_ns;  // the process has no descriptors left
  client clients[MAX_CLIENTS];
  ppi_control_reply reply;
};

static void warn(ppi_control *control, const char *text) {
  if (control->actions.warn) control->actions.warn(control->actions.user, text);
}

// ---- clients ----

// A fork between these two steps must not find another file's number.
static void close_fd(int *fd, const ppi_fd_id *id) {
  int old = *fd;
  __atomic_store_n(fd, -1, __ATOMIC_RELEASE);
  ppi_fd_close(old, id);
}

// A client that does not read its replies loses them.
static void say(const client *to, const char *text) {
  char line[PPI_CONTROL_LINE_MAX + 1];
  int len = snprintf(line, sizeof line, "%s\n", text);
  if (!ppi_fd_is(to->fd, &to->id)) return;
  if (send(to->fd, line, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) != len)
    shutdown(to->fd, SHUT_RDWR);
}

static void end_client(client *one) {
  close_fd(&one->fd, &one->id);
}

static void ask(ppi_control *control, const ppi_trigger *trigger) {
  control->reply = (ppi_control_reply){0};
  pthread_mutex_lock(&control->acting);
  if (control->hushed)
    strcpy(control->reply.text, "failed busy recording is being stopped");
  else
    control->actions.trigger(control->actions.user, trigger, &control->reply);
  pthread_mutex_unlock(&control->acting);
}

// Sends the line with a descriptor beside it; false: it could not be sent.
static bool say_with(const client *to, const char *line, int fd) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } beside = {.room = {0}};
  struct iovec text = {(void *)(uintptr_t)line, strlen(line)};
  struct msghdr message = {.msg_iov = &text,
                           .msg_iovlen = 1,
                           .msg_control = beside.room,
                           .msg_controllen = sizeof beside.room};
  struct cmsghdr *item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(item), &fd, sizeof fd);
  return ppi_fd_is(to->fd, &to->id) &&
         sendmsg(to->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
             (ssize_t)strlen(line);
}

// The client gets no more messages until it goes.
static void begin_watch(ppi_control *control, client *from) {
  const ppi_control_actions *actions = &control->actions;
  int fd = -1;
  pthread_mutex_lock(&control->acting);
  if (!control->hushed && actions->watch) fd = actions->watch(actions->user);
  pthread_mutex_unlock(&control->acting);
  if (fd >= 0 && say_with(from, "begun watch\n", fd)) {
    from->watches = true;
  } else {
    if (fd >= 0) actions->unwatch(actions->user);
    say(from, "failed unavailable there is nothing to be looked at");
    end_client(from);
  }
  if (fd >= 0) close(fd);
}

static void answer(ppi_control *control, client *from) {
  ppi_trigger trigger;
  pprof_error error = {""};
  if (strcmp(from->line, "watch") == 0) {
    begin_watch(control, from);
    return;
  }
  control->reply = (ppi_control_reply){0};
  if (ppi_trigger_parse(from->line, &trigger, &error))
    ask(control, &trigger);
  else
    snprintf(control->reply.text, sizeof control->reply.text,
             "failed invalid %s", error.text);
  from->ticket = control->reply.ticket;
  say(from, control->reply.text);
  if (control->reply.ticket == 0) end_client(from);
}

static void read_request(ppi_control *control, client *from) {
  ssize_t got = recv(from->fd, from->line + from->len,
                     sizeof from->line - 1 - from->len, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    end_client(from);
    return;
  }
  from->len += (size_t)got;
  char *end = memchr(from->line, '\n', from->len);
  if (end) {
    *end = 0;
    answer(control, from);
  } else if (from->len == sizeof from->line - 1) {
    say(from, "failed invalid the request is too long");
    end_client(from);
  }
}

static bool waits(const client *one) {
  return one->ticket || one->watches;
}

static void forsake(ppi_control *control, client *one) {
  if (one->watches)
    control->actions.unwatch(control->actions.user);
  else
    control->actions.gone(control->actions.user, one->ticket);
  end_client(one);
}

static void accept_client(ppi_control *control) {
  int fd = ppi_fd_accept(control->socket);
  client *free_one = NULL;
  for (int i = 0; i < MAX_CLIENTS; i++)
    if (control->clients[i].fd < 0) free_one = &control->clients[i];
  if (fd < 0) {
    // The client stays in the queue; a poll that reports it at once again would
    // spin.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
      control->deaf_until_ns = ppi_clock_monotonic_ns() + DEAF_MS * MS;
    return;
  }
  if (!free_one || !ppi_control_peer_may(fd)) {
    close(fd);
    return;
  }
  *free_one =
      (client){.fd = fd,
               .id = ppi_fd_id_of(fd),
               .deadline_ns = ppi_clock_monotonic_ns() + REQUEST_MS * MS};
}

static void settle(ppi_control *control, client *one) {
  control->reply = (ppi_control_reply){0};
  if (!control->actions.settled(control->actions.user, one->ticket,
                                &control->reply))
    return;
  say(one, control->reply.text);
  end_client(one);
}

static void tend_clients(ppi_control *control) {
  uint64_t now = ppi_clock_monotonic_ns();
  for (int i = 0; i < MAX_CLIENTS; i++) {
    client *one = &control->clients[i];
    if (one->fd < 0 || one->watches) continue;
    if (one->ticket)
      settle(control, one);
    else if (now >= one->deadline_ns)
      end_client(one);
  }
}

// ---- files ----

static version look_at(const char *path) {
  struct stat found;
  version is = {0};
  if (stat(path, &found) != 0) return is;
  is = (version){true, found.st_ino, found.st_size, found.st_mtim};
  return is;
}

static bool is_same(const version *a, const version *b) {
  return a->exists == b->exists && a->inode == b->inode && a->size == b->size &&
         a->changed.tv_sec == b->changed.tv_sec &&
         a->changed.tv_nsec == b->changed.tv_nsec;
}

// Reads a changed file once two looks find it the same. A missing file is not
// there yet.
static void look_for_reload(ppi_control *control) {
  version now = look_at(control->options.reload_path);
  bool settled = now.exists && is_same(&now, &control->seen) &&
                 !is_same(&now, &control->loaded);
  control->seen = now;
  if (!settled) return;
  pthread_mutex_lock(&control->acting);
  if (!control->hushed) control->actions.reload(control->actions.user);
  pthread_mutex_unlock(&control->acting);
  control->loaded = now;  // a child forked before this reads it itself
}

static void look_for_touch(ppi_control *control) {
  version now = look_at(control->options.touch_path);
  bool touched = now.exists && !is_same(&now, &control->touched);
  control->touched = now;
  if (touched) ask(control, &(ppi_trigger){0});
}

static bool looks(const ppi_control *control) {
  return control->options.touch_path || control->options.reload_path;
}

static void look(ppi_control *control) {
  uint64_t now = ppi_clock_monotonic_ns();
  if (!looks(control) || now < control->next_look_ns) return;
  control->next_look_ns = now + control->options.look_ms * MS;
  if (control->options.touch_path) look_for_touch(control);
  if (control->options.reload_path) look_for_reload(control);
}

static void tick(ppi_control *control) {
  uint64_t now = ppi_clock_monotonic_ns();
  if (!control->options.tick_ms || now < control->next_tick_ns) return;
  control->next_tick_ns = now + control->options.tick_ms * MS;
  pthread_mutex_lock(&control->acting);
  if (!control->hushed) control->actions.tick(control->actions.user);
  pthread_mutex_unlock(&control->acting);
}

// ---- the thread ----

static uint64_t earlier(uint64_t a, uint64_t b) {
  return PPI_MIN(a, b);
}

static int timeout_ms(const ppi_control *control) {
  uint64_t now = ppi_clock_monotonic_ns(), next = UINT64_MAX;
  if (looks(control)) next = control->next_look_ns;
  if (control->options.tick_ms) next = earlier(next, control->next_tick_ns);
  if (control->deaf_until_ns > now)
    next = earlier(next, control->deaf_until_ns);
  for (int i = 0; i < MAX_CLIENTS; i++) {
    const client *one = &control->clients[i];
    if (one->fd < 0 || one->watches) continue;
    next = earlier(next, one->ticket ? now + TICKET_MS * MS : one->deadline_ns);
  }
  if (control->wake < 0) next = earlier(next, now + LOST_MS * MS);
  if (next == UINT64_MAX) return -1;
  return next <= now ? 0 : (int)((next - now + MS - 1) / MS);
}

static void empty(int fd) {
  char bytes[64];
  while (read(fd, bytes, sizeof bytes) > 0) {
  }
}

static void open_listener(ppi_control *control) {
  pprof_error error = {""};
  if (!control->options.socket) return;
  control->socket = ppi_control_listen(control->socket_path, &error);
  control->socket_id = ppi_fd_id_of(control->socket);
  if (!error.text[0]) return;
  char text[sizeof error.text + sizeof control->socket_path + 32];
  if (control->socket < 0) {
    snprintf(text, sizeof text, "no control socket: %s", error.text);
    warn(control, text);
    return;
  }
  snprintf(text, sizeof text, "the control socket is %s: %s",
           control->socket_path, error.text);
  if (control->actions.moved)
    control->actions.moved(control->actions.user, text);
}

// ---- descriptors that the program has closed ----

// Whether `*fd` was ours and another file has it now; it becomes -1 then.
static bool is_lost(int *fd, const ppi_fd_id *id) {
  if (*fd < 0 || ppi_fd_is(*fd, id)) return false;
  __atomic_store_n(fd, -1, __ATOMIC_RELEASE);
  return true;
}

static void take_signal_again(ppi_control *control) {
  pprof_error error = {""};
  if (ppi_control_take_signal(control->options.signal, &control->signal,
                              &error) != PPROF_STATUS_OK)
    warn(control, error.text);
  control->signal_id = ppi_fd_id_of(control->signal);
}

// Before each use. A pipe that is closed at its other end ends a poll, so a
// lost one is found at once.
static void forget_lost(ppi_control *control) {
  is_lost(&control->wake, &control->wake_id);
  if (is_lost(&control->signal, &control->signal_id))
    take_signal_again(control);
  if (is_lost(&control->socket, &control->socket_id)) open_listener(control);
  for (int i = 0; i < MAX_CLIENTS; i++) {
    client *one = &control->clients[i];
    if (is_lost(&one->fd, &one->id) && waits(one)) forsake(control, one);
  }
}

// One round. A descriptor of -1 is passed over by poll.
static void take_turn(ppi_control *control) {
  forget_lost(control);
  struct pollfd fds[FIRST_CLIENT + MAX_CLIENTS];
  fds[0] = (struct pollfd){control->wake, POLLIN, 0};
  fds[1] = (struct pollfd){control->signal, POLLIN, 0};
  bool deaf = control->deaf_until_ns > ppi_clock_monotonic_ns();
  fds[2] = (struct pollfd){deaf ? -1 : control->socket, POLLIN, 0};
  // A waiting client has nothing more to send, and may have closed that side.
  // Only a full close matters, which poll always reports.
  for (int i = 0; i < MAX_CLIENTS; i++) {
    const client *one = &control->clients[i];
    short events = one->fd >= 0 && waits(one) ? 0 : POLLIN;
    fds[FIRST_CLIENT + i] = (struct pollfd){one->fd, events, 0};
  }
  if (poll(fds, FIRST_CLIENT + MAX_CLIENTS, timeout_ms(control)) < 0) return;
  // A pipe with only its other end closed sends nothing more.
  if (fds[0].revents & POLLHUP) close_fd(&control->wake, &control->wake_id);
  if (fds[1].revents & POLLHUP) take_signal_again(control);
  forget_lost(control);
  if (fds[0].revents) empty(control->wake);
  if (fds[1].revents) {
    empty(control->signal);
    ask(control, &(ppi_trigger){0});
  }
  for (int i = 0; i < MAX_CLIENTS; i++) {
    client *one = &control->clients[i];
    if (!fds[FIRST_CLIENT + i].revents || one->fd < 0) continue;
    if (waits(one))
      forsake(control, one);
    else
      read_request(control, one);
  }
  // Last: new clients take places with old descriptors, which were polled.
  if (fds[2].revents && control->socket >= 0) accept_client(control);
  tend_clients(control);
  look(control);
  tick(control);
}

static void *run(void *argument) {
  ppi_control *control = argument;
  if (control->actions.started) control->actions.started(control->actions.user);
  while (!__atomic_load_n(&control->stopping, __ATOMIC_ACQUIRE))
    take_turn(control);
  tend_clients(control);
  for (int i = 0; i < MAX_CLIENTS; i++) {
    client *one = &control->clients[i];
    if (one->fd >= 0 && one->watches)
      forsake(control, one);
    else if (one->fd >= 0 && one->ticket)
      say(one, "failed busy recording ended before it was done");
  }
  return NULL;
}

static void wake_up(const ppi_control *control) {
  if (!ppi_fd_is(control->waker, &control->wake_id))
    return;                                      // the thread polls by itself
  if (write(control->waker, "", 1) < 0) return;  // the thread is awake
}

// ---- start and stop ----

static void destroy(ppi_control *control) {
  if (control->options.signal) ppi_control_give_signal(control->options.signal);
  for (int i = 0; i < MAX_CLIENTS; i++) end_client(&control->clients[i]);
  if (control->socket >= 0) unlink(control->socket_path);
  close_fd(&control->socket, &control->socket_id);
  close_fd(&control->wake, &control->wake_id);
  close_fd(&control->waker, &control->wake_id);
  pthread_mutex_destroy(&control->acting);
  ppi_free(control);
}

static pprof_status open_all(ppi_control *control, pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  int ends[2];
  if (ppi_fd_pipe(ends) == 0) {
    control->wake = ends[0];
    control->waker = ends[1];
    control->wake_id = ppi_fd_id_of(ends[0]);
  } else {
    status =
        ppi_fail(error, PPROF_STATUS_NO_MEMORY, "control: %s", strerror(errno));
  }
  int number = control->options.signal;
  control->options.signal = 0;
  if (status == PPROF_STATUS_OK && number)
    status = ppi_control_take_signal(number, &control->signal, error);
  if (status == PPROF_STATUS_OK) control->options.signal = number;
  control->signal_id = ppi_fd_id_of(control->signal);
  if (status == PPROF_STATUS_OK) open_listener(control);
  return status;
}

static void remember_files(ppi_control *control) {
  const ppi_control_options *options = &control->options;
  const ppi_control *former = options->former;
  if (options->touch_path) control->touched = look_at(options->touch_path);
  if (options->reload_path)
    control->loaded = control->seen =
        former ? former->loaded : look_at(options->reload_path);
}

static ppi_control *create(const ppi_control_options *options,
                           const ppi_control_actions *actions) {
  ppi_control *control = ppi_alloc(sizeof *control);
  if (!control) return NULL;
  control->options = *options;
  control->actions = *actions;
  if (options->look_ms == 0) control->options.look_ms = LOOK_MS;
  control->wake = control->waker = control->signal = control->socket = -1;
  for (int i = 0; i < MAX_CLIENTS; i++) control->clients[i].fd = -1;
  pthread_mutex_init(&control->acting, NULL);
  remember_files(control);
  return control;
}

pprof_status ppi_control_start(const ppi_control_options *options,
                               const ppi_control_actions *actions,
                               ppi_control **out, pprof_error *error) {
  *out = NULL;
  if (!options->socket && !options->signal && !options->touch_path &&
      !options->reload_path && !options->tick_ms)
    return PPROF_STATUS_OK;
  char why[160];
  ppi_control *control = create(options, actions);
  if (!control) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = open_all(control, error);
  bool useless = status == PPROF_STATUS_OK && control->socket < 0 &&
                 control->signal < 0 && !looks(control) &&
                 !control->options.tick_ms;
  if (status == PPROF_STATUS_OK && !useless &&
      ppi_start_thread(&control->thread, "pprof-control", run, control) != 0)
    status = ppi_fail(error, PPROF_STATUS_NO_MEMORY, "control: %s",
                      ppi_describe_no_memory(why, sizeof why));
  if (status != PPROF_STATUS_OK || useless) {
    destroy(control);
    return status;
  }
  *out = control;
  return PPROF_STATUS_OK;
}

void ppi_control_hush(ppi_control *control) {
  if (!control) return;
  pthread_mutex_lock(&control->acting);
  control->hushed = true;
  pthread_mutex_unlock(&control->acting);
}

void ppi_control_stop(ppi_control *control) {
  if (!control) return;
  __atomic_store_n(&control->stopping, true, __ATOMIC_RELEASE);
  wake_up(control);
  pthread_join(control->thread, NULL);
  destroy(control);
}

void ppi_control_in_forked_child(ppi_control *control) {
  if (!control) return;
  if (control->options.signal) ppi_control_give_signal(control->options.signal);
  for (int i = 0; i < MAX_CLIENTS; i++) end_client(&control->clients[i]);
  close_fd(&control->socket, &control->socket_id);
  close_fd(&control->wake, &control->wake_id);
  close_fd(&control->waker, &control->wake_id);
}
