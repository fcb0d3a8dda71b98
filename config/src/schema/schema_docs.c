// SPDX-License-Identifier: Apache-2.0
//
// Prints the table of keys as help.
#include <string.h>

#include "schema/schema.h"

static const char *type_words(const ppi_key *key) {
  static const char *const words[] = {[PPI_KEY_COUNT] = "number",
                                      [PPI_KEY_BOOL] = "true or false",
                                      [PPI_KEY_SIZE] = "size",
                                      [PPI_KEY_DURATION] = "duration",
                                      [PPI_KEY_TIME] = "time",
                                      [PPI_KEY_CHOICE] = "one of",
                                      [PPI_KEY_CHOICES] = "list of",
                                      [PPI_KEY_TEXT] = "text",
                                      [PPI_KEY_PATH] = "path",
                                      [PPI_KEY_VIEWS] = "list of views",
                                      [PPI_KEY_STEPS] = "[a, b]",
                                      [PPI_KEY_GLOBS] = "list of names",
                                      [PPI_KEY_MAP] = "mapping",
                                      [PPI_KEY_WINDOWS] = "mapping or list",
                                      [PPI_KEY_EXPORTS] = "list",
                                      [PPI_KEY_RULES] = "mapping",
                                      [PPI_KEY_CONDITIONS] = "list of rules"};
  if (key->type == PPI_KEY_MAP && key->minimum) return "on, off or mapping";
  if (key->type == PPI_KEY_RULES && key->choices) return "mapping to";
  return words[key->type];
}

static void put_type(const ppi_key *key, FILE *out) {
  fputs(type_words(key), out);
  // Names of views are in docs/tables.md.
  bool lists = key->choices && key->type != PPI_KEY_VIEWS;
  for (size_t i = 0; lists && key->choices[i]; i++)
    fprintf(out, "%s%s", i > 0 ? ", " : " ", key->choices[i]);
  bool ranged = key->type == PPI_KEY_COUNT || key->type == PPI_KEY_SIZE ||
                key->type == PPI_KEY_DURATION;
  if (!ranged) return;
  fputs(", ", out);
  ppi_write_number(key->type, key->minimum, out);
  if (key->minimum != key->maximum) {
    fputs(" to ", out);
    ppi_write_number(key->type, key->maximum, out);
  }
  bool may_be_none = key->fallback && strcmp(key->fallback, "none") == 0;
  if (may_be_none) fputs(", or none", out);
}

#define HELP_INDENT 6
#define HELP_WIDTH 78

// Words of `text`, broken before column HELP_WIDTH.
static void put_wrapped(const char *text, FILE *out) {
  size_t column = HELP_INDENT;
  fprintf(out, "%*s", HELP_INDENT - 1, "");
  while (*text) {
    size_t len = strcspn(text, " ");
    if (column + len + 1 > HELP_WIDTH) {
      fprintf(out, "\n%*s", HELP_INDENT - 1, "");
      column = HELP_INDENT;
    }
    fprintf(out, " %.*s", (int)len, text);
    column += len + 1;
    text += len + (text[len] == ' ');
  }
  fputc('\n', out);
}

void ppi_config_help(FILE *out) {
  fputs(
      "Keys of a configuration file, with their type and [default].\n"
      "Paths may hold %h (host), %p (process id), %r (rank), %t (start time),\n"
      "%q{NAME} (an environment variable) and %%.\n\n",
      out);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    fprintf(out, "  %s: ", key->path);
    put_type(key, out);
    if (key->fallback && *key->fallback) fprintf(out, " [%s]", key->fallback);
    fputc('\n', out);
    put_wrapped(key->help, out);
  }
}
