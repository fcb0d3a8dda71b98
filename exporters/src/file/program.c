// SPDX-License-Identifier: Apache-2.0
//
// Shortens a command line to the name of its program.
#include "file/program.h"

void ppi_page_program(ppi_page *page, const char *command) {
  const char *name = command, *end;
  for (end = name; *end && *end != ' '; end++)
    if (*end == '/') name = end + 1;
  if (strncmp(name, "python", 6) == 0) {
    const char *next = end;
    while (*next == ' ' && next[1] == '-') {
      const char *option = next + 1;
      next = option + strcspn(option, " ");
      // After -c comes the program text, not a name.
      if (next[-1] != 'c' || option[1] == '-') continue;
      ppi_page_bytes(page, name, (size_t)(end - name));
      ppi_page_text(page, " -c");
      return;
    }
    if (*next == ' ') {
      ppi_page_program(page, next + 1);
      return;
    }
  }
  ppi_page_bytes(page, name, (size_t)(end - name));
}
