// SPDX-License-Identifier: Apache-2.0
//
// Prints messages without codes that a terminal would obey.
#include "cli/say.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/lines.h"
#include "cli/look.h"

void ppi_tool_show(FILE *out, const char *path) {
  ppi_page line = {0};
  ppi_page_visible(&line, path);
  ppi_page_text(&line, "\n");
  ppi_page_write(&line, out);
}

static struct { const char *path, *name; } * named;
static size_t num_named;

void ppi_tool_name(const char *path, const char *name) {
  void *grown = realloc(named, (num_named + 1) * sizeof *named);
  if (!grown) return;
  named = grown;
  named[num_named].path = path;
  named[num_named++].name = name;
}

const char *ppi_tool_name_of(const char *path) {
  for (size_t i = 0; i < num_named; i++)
    if (strcmp(named[i].path, path) == 0) return named[i].name;
  return path;
}

// Puts `text` with each known path replaced by its name.
static void put_named(ppi_page *line, const char *text) {
  for (size_t i = 0; i < num_named; i++) {
    size_t len = strlen(named[i].path);
    const char *at = strstr(text, named[i].path);
    if (!at || (at[len] >= '0' && at[len] <= '9')) continue;
    char *before = strndup(text, (size_t)(at - text));
    ppi_page_visible(line, before ? before : "");
    free(before);
    ppi_page_visible(line, named[i].name);
    text = at + len;
  }
  ppi_page_visible(line, text);
}

// Names and texts in messages come from files, and may hold codes for a
// terminal. Outside of terminals a message is one line.
static void say(const char *format, va_list arguments) {
  char *text = NULL;
  size_t columns = ppi_tool_terminal(STDERR_FILENO);
  ppi_page shown = {0}, line = {.width = columns ? columns : SIZE_MAX};
  line.failed = vasprintf(&text, format, arguments) < 0;
  if (!line.failed) {
    ppi_page_text(&shown, "pprof-report: ");
    put_named(&shown, text);
    free(text);
  }
  line.failed |= shown.failed;
  if (!line.failed) ppi_tool_put_line(&line, shown.bytes, shown.len, 0);
  ppi_page_clear(&shown);
  if (ppi_page_write(&line, stderr) == PPROF_STATUS_NO_MEMORY)
    fputs("pprof-report: out of memory\n", stderr);
}

void ppi_tool_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

void ppi_tool_list(char *list, size_t size, const char *name) {
  size_t len = strlen(list);
  int added = snprintf(list + len, size - len, "%s%s", len ? ", " : "", name);
  if (added < 0 || (size_t)added >= size - len) list[len] = 0;
}

int ppi_tool_fail(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return code;
}

int ppi_tool_failed(int code, pprof_status status, const pprof_error *error) {
  return ppi_tool_fail(
      code, "%s", error->text[0] ? error->text : pprof_status_string(status));
}

void ppi_tool_put(ppi_page *page, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int len = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (len < 0) ppi_tool_must(NULL);
  bool ends = format[strlen(format) - 1] == '\n';
  text[len - ends] = '\0';
  ppi_page_visible(page, text);
  if (ends) ppi_page_text(page, "\n");
  free(text);
}

void ppi_tool_time(uint64_t ns, int digits, char out[40]) {
  char fraction[16];
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm parts;
  out[0] = '\0';
  if (!gmtime_r(&seconds, &parts)) return;
  size_t len = strftime(out, 28, "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(fraction, sizeof fraction, ".%09u", (unsigned)(ns % 1000000000));
  if (len)
    snprintf(out + len, 40 - len, "%.*sZ", digits ? digits + 1 : 0, fraction);
}

size_t ppi_tool_number(ppi_map *map, ppi_map_key key) {
  size_t number = ppi_map_number(map, key);
  if (number == SIZE_MAX) ppi_tool_must(NULL);
  return number;
}

void *ppi_tool_must(void *memory) {
  if (memory) return memory;
  ppi_tool_say("out of memory");
  exit(PPI_EXIT_INPUT);
}
