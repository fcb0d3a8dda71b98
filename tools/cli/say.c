// SPDX-License-Identifier: Apache-2.0
//
// Lines on the terminal, with nothing in them that it would obey.
#include "cli/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "file/text.h"

void ppi_tool_show(FILE *out, const char *path) {
  ppi_page line = {0};
  ppi_page_visible(&line, path);
  ppi_page_text(&line, "\n");
  ppi_page_write(&line, out);
}

// Names and texts in messages come from files, and may be made to be seen on a
// terminal.
void ppi_tool_say(const char *format, ...) {
  char *text = NULL;
  ppi_page line = {0};
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) >= 0) {
    ppi_page_text(&line, "pprof-report: ");
    ppi_page_visible(&line, text);
    ppi_page_text(&line, "\n");
    free(text);
  } else {
    line.failed = true;
  }
  va_end(arguments);
  if (ppi_page_write(&line, stderr) == PPROF_STATUS_NO_MEMORY)
    fputs("pprof-report: out of memory\n", stderr);
}
