// SPDX-License-Identifier: Apache-2.0
//
// Runs `top`: prints repeatedly what running processes do, on a terminal or as
// lines of JSON.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "live/top_print.h"
#include "log/write/log_io.h"
#include "schema/schema.h"
#include "spool/spool_folders.h"
#include "verb/stuck_waits.h"
#include "verb/verbs.h"

enum { LONGEST_FILTER = 60, MOST_WINDOW_S = 60 };

struct top {
  const struct ppi_tool_options *options;
  struct ppi_live_processes all;
  struct ppi_top_choice choice;
  uint64_t every_ns;
  bool is_paused, is_typing, is_done;
  char filter[LONGEST_FILTER + 1], typed[LONGEST_FILTER + 1];
};

static volatile sig_atomic_t ended;

static void note_end(int number) {
  ended = number;
}

static void put_out(const char *bytes, size_t len) {
  if (ppi_write_all(STDOUT_FILENO, bytes, len)) ended = SIGPIPE;
}

// ---- waits between threads ----

struct waits {
  const struct top *top;
  ppi_page *page;
};

static void list_waits_of(const char *path, void *user) {
  const uint64_t least_ns = 1000000;  // a shorter wait is over when it is read
  struct waits *to = user;
  const uint32_t pid = ppi_forensics_owner(path);
  bool is_wanted = false;
  ppi_forensics found;
  pprof_error error;
  for (size_t i = 0; i < to->top->all.num; i++)
    is_wanted |= (uint32_t)to->top->all.items[i]->pid == pid;
  if (!pid || !is_wanted) return;
  if (ppi_forensics_read(path, &found, &error) == PPROF_STATUS_OK) {
    ppi_stuck_deadlocks(&found, to->page);
    ppi_stuck_put_waits(&found, least_ns, to->page);
  }
  ppi_forensics_clear(&found);
}

static void list_waits(const struct top *top, ppi_page *page) {
  ppi_spool_visit(geteuid(), list_waits_of, &(struct waits){top, page});
}

// ---- the terminal ----

static struct termios before;

// Uses the alternate screen, to keep the text on the terminal.
static bool take_terminal(void) {
  static const char enter[] = "\033[?1049h\033[?25l";
  struct termios raw;
  if (tcgetattr(STDIN_FILENO, &before) != 0) return false;
  raw = before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
  put_out(enter, sizeof enter - 1);
  return true;
}

static void give_terminal(void) {
  static const char leave[] = "\033[?25h\033[?1049l";
  put_out(leave, sizeof leave - 1);
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

// Overwrites the screen line by line, with its current size: it may be resized.
static void draw(const struct top *top) {
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  ppi_page page = {0}, screen = {0}, waits = {0};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  list_waits(top, &waits);
  const struct ppi_top_screen how = {
      .waits = &waits,
      .width = size.ws_col ? size.ws_col : 80,
      .height = size.ws_row ? size.ws_row : 24,
      .has_colour = !getenv("NO_COLOR"),
      .is_paused = top->is_paused,
      .prompt = top->is_typing ? top->typed : NULL};
  ppi_top_print(&top->all, &top->choice, &how, &page);
  ppi_page_text(&screen, "\033[H");
  for (size_t i = 0; i < page.len; i++) {
    if (page.bytes[i] == '\n')
      ppi_page_text(&screen, "\033[K\r\n");
    else
      ppi_page_bytes(&screen, &page.bytes[i], 1);
  }
  ppi_page_text(&screen, "\033[J");
  if (!page.failed && !screen.failed) put_out(screen.bytes, screen.len);
  ppi_page_clear(&page);
  ppi_page_clear(&screen);
  ppi_page_clear(&waits);
}

// ---- keys ----

static void take_typed(struct top *top, char key) {
  const size_t len = strlen(top->typed);
  if (key == '\n' || key == '\r') {
    strcpy(top->filter, top->typed);
    top->is_typing = false;
  } else if (key == 27) {
    top->is_typing = false;
  } else if (key == 127 || key == 8) {
    if (len > 0) top->typed[len - 1] = 0;
  } else if (len < LONGEST_FILTER && (unsigned char)key >= ' ') {
    top->typed[len] = key;
    top->typed[len + 1] = 0;
  }
}

static void take_key(struct top *top, char key) {
  const uint64_t second = 1000000000u;
  if (top->is_typing) {
    take_typed(top, key);
    return;
  }
  if (key == 'q') top->is_done = true;
  if (key == 'p' || key == ' ') top->is_paused = !top->is_paused;
  if (key == 's') top->choice.sort = (top->choice.sort + 1) % PPI_TOP_NUM_SORTS;
  if (key == '+' && top->choice.window_ns < MOST_WINDOW_S * second)
    top->choice.window_ns += second;
  if (key == '-' && top->choice.window_ns > second)
    top->choice.window_ns -= second;
  if (key != '/') return;
  top->is_typing = true;
  top->typed[0] = 0;
}

// Waits for a key until `until_ns`; true: there was one. The terminal may be
// closed.
static bool wait_for_key(struct top *top, uint64_t until_ns) {
  const uint64_t now = ppi_clock_monotonic_ns();
  struct pollfd keys = {STDIN_FILENO, POLLIN, 0};
  char bytes[64];
  const int ms = now < until_ns ? (int)((until_ns - now) / 1000000 + 1) : 0;
  if (poll(&keys, 1, ms) <= 0) return false;
  ssize_t len = read(STDIN_FILENO, bytes, sizeof bytes);
  if (len <= 0) top->is_done = true;
  for (ssize_t i = 0; i < len; i++) take_key(top, bytes[i]);
  return true;
}

// ---- rounds ----

// Copies the tables and answers whether any process still runs.
static bool look(struct top *top) {
  if (top->options->num_inputs == 0) ppi_live_find_more(&top->all);
  top->choice.realtime_ns = ppi_clock_realtime_ns();
  return ppi_live_look_at_all(&top->all) > 0;
}

static void run_screen(struct top *top) {
  bool some = look(top);
  while (some && !top->is_done && !ended) {
    const uint64_t next = ppi_clock_monotonic_ns() + top->every_ns;
    draw(top);
    while (wait_for_key(top, next) && !top->is_done && !ended) draw(top);
    if (!top->is_paused) some = look(top);
  }
  draw(top);
}

static void pause_until(uint64_t until_ns) {
  while (!ended && ppi_clock_monotonic_ns() < until_ns) {
    const uint64_t left = until_ns - ppi_clock_monotonic_ns();
    poll(NULL, 0, left < 1000000000u ? (int)(left / 1000000) + 1 : 1000);
  }
}

static void print(const struct top *top) {
  ppi_page page = {0}, waits = {0};
  const struct ppi_top_screen how = {.waits = &waits};
  if (!top->options->top.json) list_waits(top, &waits);
  if (top->options->top.json)
    ppi_top_print_json(&top->all, &top->choice, &page);
  else
    ppi_top_print(&top->all, &top->choice, &how, &page);
  if (!page.failed && page.len) put_out(page.bytes, page.len);
  ppi_page_clear(&page);
  ppi_page_clear(&waits);
}

// Figures need two copies: the first copy alone has only open ranges.
static void run_lines(struct top *top) {
  bool some = look(top);
  do {
    pause_until(ppi_clock_monotonic_ns() + top->every_ns);
    if (ended) return;
    some = look(top);
    print(top);
  } while (some && !top->options->top.once && !ended);
}

static bool read_time(const char *name, const char *text, uint64_t *out_ns) {
  uint64_t us = 0;
  if (ppi_parse_duration(text, &us) && us >= 100000 && us <= 60000000) {
    *out_ns = us * 1000;
    return true;
  }
  ppi_tool_say("'--%s %s' is no time from 100ms to 1min", name, text);
  return false;
}

static int run(struct top *top) {
  struct sigaction end = {.sa_handler = note_end};
  sigemptyset(&end.sa_mask);
  for (int number = SIGHUP; number <= SIGTERM; number++)
    if (number == SIGHUP || number == SIGINT || number == SIGTERM)
      sigaction(number, &end, NULL);
  const bool lines = top->options->top.json || top->options->top.once;
  if (lines || !isatty(STDOUT_FILENO) || !take_terminal()) {
    run_lines(top);
    return ended && ended != SIGPIPE ? 128 + ended : PPI_EXIT_DONE;
  }
  run_screen(top);
  give_terminal();
  return ended ? 128 + ended : PPI_EXIT_DONE;
}

int ppi_tool_top(const struct ppi_tool_options *options) {
  static struct top all;  // until the process ends
  struct top *top = &all;
  top->options = options;
  top->choice = (struct ppi_top_choice){.filter = top->filter};
  int code =
      read_time("every", options->top.every, &top->every_ns) &&
              read_time("last", options->top.last, &top->choice.window_ns)
          ? PPI_EXIT_DONE
          : PPI_EXIT_USAGE;
  if (code == PPI_EXIT_DONE)
    code = ppi_live_find(options->inputs, options->num_inputs, &top->all);
  if (code == PPI_EXIT_DONE) {
    top->all.keep_ns = MOST_WINDOW_S * 1000000000ull;
    code = run(top);
    ppi_live_close(&top->all);
  }
  return code;
}
