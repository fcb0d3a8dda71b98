// SPDX-License-Identifier: Apache-2.0
//
// Finds the output's width, colours and characters.
#include "cli/look.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000 };

static const char *variable(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}

// -1: it goes to a file.
static int descriptor_of(const struct ppi_tool_options *options) {
  if (!options->output)
    return options->to_stderr ? STDERR_FILENO : STDOUT_FILENO;
  return strcmp(options->output, "-") == 0 ? STDOUT_FILENO : -1;
}

static size_t width_of(int fd) {
  const char *columns = variable("COLUMNS");
  struct winsize size;
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width <= 0 && fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  if (width <= 0) return PPI_PAGE_WIDTH;
  return (size_t)(width < LEAST_WIDTH  ? LEAST_WIDTH
                  : width > MOST_WIDTH ? MOST_WIDTH
                                       : width);
}

size_t ppi_tool_terminal(int fd) {
  return isatty(fd) ? width_of(fd) : 0;
}

static bool has_colour(const struct ppi_tool_options *options, int fd) {
  const char *term = variable("TERM");
  if (options->color && strcmp(options->color, "auto") != 0)
    return strcmp(options->color, "always") == 0;
  return !variable("NO_COLOR") && term && strcmp(term, "dumb") != 0 &&
         fd >= 0 && isatty(fd);
}

// The first of these that is set names the locale. Without one, plain ASCII is
// safe.
static bool is_ascii(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *locale = variable(names[i]);
    if (locale)
      return !strcasestr(locale, "utf-8") && !strcasestr(locale, "utf8");
  }
  return false;
}

// SOURCE_DATE_EPOCH replaces the clock, so that builds print the same every
// day.
static uint64_t now_ns(void) {
  const char *given = variable("SOURCE_DATE_EPOCH");
  char *end = NULL;
  uint64_t seconds = given ? strtoull(given, &end, 10) : 0;
  if (!given || *end) seconds = (uint64_t)time(NULL);
  return seconds * 1000000000u;
}

// Tables of other profilers keep their bytes in a file.
static bool is_style_in_file(const struct ppi_tool_options *options) {
  const char *style = options->tables.style;
  return style && strcmp(style, "answer") != 0 && descriptor_of(options) < 0;
}

void ppi_tool_look(const struct ppi_tool_options *options,
                   ppi_report_options *out) {
  int fd = descriptor_of(options);
  out->width = width_of(fd);
  out->is_wide = options->wide || is_style_in_file(options);
  out->has_colour = has_colour(options, fd);
  out->is_ascii = is_ascii();
  out->now_ns = now_ns();
}
