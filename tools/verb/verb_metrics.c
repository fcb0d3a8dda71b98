// SPDX-License-Identifier: Apache-2.0
//
// Runs `metrics`: serves figures of running processes to Prometheus by HTTP.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compare/compare_wanted.h"
#include "live/live_metrics.h"
#include "live/live_process.h"
#include "verb/verbs.h"

// ---- the page by HTTP ----

enum {
  USE_INTERNAL_THREAD = 8,
  OPTION_END = 0,
  OPTION_CONNECTION_LIMIT = 2,
  OPTION_CONNECTION_TIMEOUT = 3,
  OPTION_LISTEN_SOCKET = 12,
  HEADER_KIND = 1,
  MEMORY_IS_COPIED = 2,
  MEMORY_IS_TAKEN = 1,
  STATUS_OK = 200,
  STATUS_NOT_FOUND = 404,
  STATUS_NOT_ALLOWED = 405,
  STATUS_NO_MEMORY = 503
};

typedef struct MHD_Connection connection;
typedef struct MHD_Response response;
typedef int handler(void *user, connection *from, const char *url,
                    const char *method, const char *version, const char *body,
                    size_t *body_len, void **state);

// The functions in use, without MHD_.
#define CALLS(X)                                                        \
  X(void *, start_daemon,                                               \
    (unsigned flags, uint16_t port, void *accepts, void *accepts_user,  \
     handler *handle, void *user, ...))                                 \
  X(void, stop_daemon, (void *daemon))                                  \
  X(response *, create_response_from_buffer,                            \
    (size_t len, void *bytes, int memory))                              \
  X(int, add_response_header, (response *, const char *, const char *)) \
  X(int, queue_response, (connection *, unsigned status, response *))   \
  X(void, destroy_response, (response *))                               \
  X(const char *, lookup_connection_value, (connection *, int, const char *))

static struct {
  void *library;
#define POINTER_(result, name, arguments) result(*name) arguments;
  CALLS(POINTER_)
#undef POINTER_
} mhd;

struct metrics {
  const struct ppi_tool_options *options;
  struct ppi_live_processes all;
  size_t max_stages;
  char address[INET6_ADDRSTRLEN + 16];  // in use, such as "127.0.0.1:9464"
};

static bool load(void) {
  mhd.library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!mhd.library) {
    ppi_tool_say(
        "no libmicrohttpd.so.12 is found here, which answers HTTP (Debian: "
        "libmicrohttpd12); without it `metrics: {file: x.prom}` writes a file");
    return false;
  }
#define FIND_(result, name, arguments)                            \
  *(void **)(void *)&mhd.name = dlsym(mhd.library, "MHD_" #name); \
  if (!mhd.name) {                                                \
    ppi_tool_say("libmicrohttpd.so.12 has no MHD_" #name);        \
    return false;                                                 \
  }
  CALLS(FIND_)
#undef FIND_
  return true;
}

// ---- the socket ----

// Splits "HOST:PORT"; an IPv6 address has brackets.
static bool split(const char *address, char host[256], char port[16]) {
  const char *colon = strrchr(address, ':');
  size_t len = colon ? (size_t)(colon - address) : 0;
  if (!colon || len == 0 || len >= 256 || strlen(colon + 1) >= 16 ||
      !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
    return false;
  const bool brackets = address[0] == '[' && address[len - 1] == ']';
  memcpy(host, address + brackets, len - 2u * brackets);
  host[len - 2u * brackets] = 0;
  strcpy(port, colon + 1);
  return true;
}

static int listen_at(const struct addrinfo *where) {
  const int on = 1;
  int fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, where->ai_addr, where->ai_addrlen) == 0 && listen(fd, 16) == 0)
    return fd;
  const int failed = errno;
  close(fd);
  errno = failed;
  return -1;
}

static void take_address(struct metrics *self, int fd) {
  struct sockaddr_storage own;
  socklen_t size = sizeof own;
  char host[INET6_ADDRSTRLEN] = "", port[8] = "";
  if (getsockname(fd, (struct sockaddr *)&own, &size) != 0 ||
      getnameinfo((struct sockaddr *)&own, size, host, sizeof host, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  snprintf(self->address, sizeof self->address,
           own.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static int open_socket(const char *address) {
  const struct addrinfo how = {.ai_socktype = SOCK_STREAM,
                               .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  char host[256], port[16];
  if (!split(address, host, port) ||
      getaddrinfo(host, port, &how, &found) != 0) {
    ppi_tool_say("'--listen %s' is no address such as 127.0.0.1:9464", address);
    return -1;
  }
  int fd = listen_at(found);
  if (fd < 0) ppi_tool_say("cannot listen at %s: %s", address, strerror(errno));
  freeaddrinfo(found);
  return fd;
}

// ---- requests ----

// Makes the page for `accept`, a header or NULL, on the server's thread, one at
// a time. The server frees it; NULL: no memory.
static char *make(struct metrics *self, const char *accept, size_t *out_len,
                  const char **out_type) {
  ppi_metrics_process processes[PPI_LIVE_MAX_PROCESSES];
  size_t num = 0;
  ppi_page page = {0};
  const ppi_metrics_options how = {
      .is_openmetrics =
          accept && strstr(accept, "application/openmetrics-text"),
      .max_stages = self->max_stages};
  if (self->options->num_inputs == 0) ppi_live_find_more(&self->all);
  ppi_live_look_at_all(&self->all);
  for (size_t i = 0; i < self->all.num; i++) {
    const struct ppi_live_process *process = self->all.items[i];
    const ppi_live_view *view = ppi_live_last(process);
    if (process->socket < 0 || !view) continue;
    processes[num++] = (ppi_metrics_process){process->pid, process->name, view};
  }
  ppi_live_metrics(processes, num, &how, &page);
  char *text = page.failed ? NULL : malloc(page.len + 1);
  if (text) memcpy(text, page.bytes, page.len);
  *out_len = page.len;
  *out_type =
      how.is_openmetrics ? PPI_METRICS_OPEN_TYPE : PPI_METRICS_TEXT_TYPE;
  ppi_page_clear(&page);
  return text;
}

static int answer(connection *to, unsigned status, response *what,
                  const char *type) {
  if (!what) return 0;
  mhd.add_response_header(what, "Content-Type", type);
  int done = mhd.queue_response(to, status, what);
  mhd.destroy_response(what);
  return done;
}

static int answer_text(connection *to, unsigned status, const char *text) {
  response *what = mhd.create_response_from_buffer(
      strlen(text), (void *)(uintptr_t)text, MEMORY_IS_COPIED);
  return answer(to, status, what, "text/plain; charset=utf-8");
}

static int handle(void *user, connection *from, const char *url,
                  const char *method, const char *version, const char *body,
                  size_t *body_len, void **state) {
  (void)version;
  (void)body;
  (void)body_len;
  (void)state;
  if (strcmp(method, "GET") != 0)
    return answer_text(from, STATUS_NOT_ALLOWED, "only GET is answered\n");
  if (strcmp(url, "/metrics") != 0)
    return answer_text(from, STATUS_NOT_FOUND, "see /metrics\n");
  size_t len = 0;
  const char *type = NULL;
  char *page =
      make(user, mhd.lookup_connection_value(from, HEADER_KIND, "Accept"), &len,
           &type);
  if (!page) return answer_text(from, STATUS_NO_MEMORY, "out of memory\n");
  response *what = mhd.create_response_from_buffer(len, page, MEMORY_IS_TAKEN);
  if (!what) free(page);
  return answer(from, STATUS_OK, what, type);
}

// Listens at `address` ("127.0.0.1:9464", "[::1]:0"; port 0: any) and answers
// GET of /metrics. NULL after a message.
static void *http_start(const char *address, struct metrics *self) {
  int fd = load() ? open_socket(address) : -1;
  if (fd < 0) return NULL;
  take_address(self, fd);
  void *daemon =
      mhd.start_daemon(USE_INTERNAL_THREAD, 0, NULL, NULL, handle, self,
                       OPTION_LISTEN_SOCKET, fd, OPTION_CONNECTION_LIMIT, 32u,
                       OPTION_CONNECTION_TIMEOUT, 10u, OPTION_END);
  if (daemon) return daemon;
  ppi_tool_say("libmicrohttpd cannot serve at %s", address);
  close(fd);
  return NULL;
}

// Serves until a signal. The signal is blocked before the server's thread
// starts, so this thread gets it.
static int serve(struct metrics *self) {
  sigset_t endings, before;
  int number = 0;
  sigemptyset(&endings);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &endings, &before);
  void *daemon = http_start(self->options->metrics.listen, self);
  if (daemon) {
    ppi_tool_say("http://%s/metrics", self->address);
    sigwait(&endings, &number);
    mhd.stop_daemon(daemon);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return daemon ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

int ppi_tool_metrics(const struct ppi_tool_options *options) {
  static struct metrics served;  // until the process ends
  struct metrics *self = &served;
  int code = PPI_EXIT_USAGE;
  self->options = options;
  if (ppi_wanted_number("stages", options->metrics.stages, 1,
                        &self->max_stages)) {
    // Without names, processes may also come later.
    code = options->num_inputs
               ? ppi_live_find(options->inputs, options->num_inputs, &self->all)
               : PPI_EXIT_DONE;
    if (code == PPI_EXIT_DONE) code = serve(self);
    ppi_live_close(&self->all);
  }
  return code;
}
