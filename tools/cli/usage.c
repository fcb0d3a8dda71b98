// SPDX-License-Identifier: Apache-2.0
//
// The options as the tool prints them, on one screen or with what each does.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/usage.h"
#include "print/report_print.h"

// Prints `text` from column 26 on, broken at blanks.
static void print_wrapped(const char *text, int column, FILE *out) {
  while (*text) {
    size_t len = strlen(text), room = 78 - 26;
    if (len > room) {
      len = room;
      while (len > 0 && text[len] != ' ') len--;
      if (len == 0) len = room;
    }
    fprintf(out, "%*s%.*s\n", 26 - column, "", (int)len, text);
    text += len;
    while (*text == ' ') text++;
    column = 0;
  }
}

// The parts of a text that does not outgrow its place.
__attribute__((format(printf, 2, 3))) static void add(
    struct ppi_option_text *text, const char *format, ...) {
  size_t room = sizeof(text->text) - text->len;
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(text->text + text->len, room, format, arguments);
  va_end(arguments);
  if (len > 0) text->len += (size_t)len < room ? (size_t)len : room - 1;
}

void ppi_tool_option_text(const struct ppi_tool_option *option,
                          const struct ppi_tool_verb *verbs,
                          struct ppi_option_text *out) {
  *out = (struct ppi_option_text){.len = 0};
  for (const struct ppi_tool_verb *verb = verbs;
       verb && option->group != PPI_TAKES(ALL) && verb->name; verb++)
    if (verb->takes & option->group)
      add(out, "%s%s", out->len ? ", " : "", verb->name);
  if (out->len) add(out, ": ");
  add(out, "%s", option->help);
  if (option->type == PPI_OPTION_CHOICE) add(out, ": %s", option->argument);
  const ppi_view_kind *const *view = ppi_view_kinds();
  for (; option->type == PPI_OPTION_VIEWS && *view; view++)
    add(out, "%s%s", view == ppi_view_kinds() ? ": " : ", ", (*view)->name);
  if (option->type == PPI_OPTION_VIEWS) add(out, " [all]");
  if (option->fallback) add(out, " [%s]", option->fallback);
}

// `verbs`: those to name, where not all have it; NULL: none.
static void print_option(const struct ppi_tool_option *option,
                         const struct ppi_tool_verb *verbs, FILE *out) {
  struct ppi_option_text text;
  int column = fprintf(out, "  ");
  if (option->letter) column += fprintf(out, "-%c, ", option->letter);
  column += fprintf(out, "--%s", option->name);
  if (option->argument && option->type != PPI_OPTION_CHOICE)
    column += fprintf(out, " %s", option->argument);
  if (column > 24) {
    fputc('\n', out);
    column = 0;
  }
  ppi_tool_option_text(option, verbs, &text);
  print_wrapped(text.text, column, out);
}

static void print_exit_codes(FILE *out) {
  fputs("\nExit status, the highest that applies:\n", out);
#define PRINT_(name, value, text) fprintf(out, "  %d  %s\n", value, text);
  PPI_EXIT_LIST(PRINT_)
#undef PRINT_
}

static void print_head(const struct ppi_tool_verb *verbs,
                       const struct ppi_tool_verb *verb, FILE *out) {
  if (verb) {
    fprintf(out, "usage: pprof-report %s [OPTIONS] %s\n\n%s\n%s", verb->name,
            verb->operands, verb->summary, verb->details);
    return;
  }
  fputs(
      "usage: pprof-report [VERB] [OPTIONS] LOG...\n\n"
      "Turns logs of pprof, the pipeline profiler, into tables and traces."
      "\n\nVerbs (none means summary):\n",
      out);
  for (verb = verbs; verb->name; verb++)
    fprintf(out, "  %-12s %s\n", verb->name, verb->summary);
}

void ppi_tool_usage(const struct ppi_tool_verb *verbs,
                    const struct ppi_tool_verb *verb, FILE *out) {
  const struct ppi_tool_verb *shown = verb ? verb : verbs;
  int column = 0;
  print_head(verbs, verb, out);
  fprintf(out, "\nOptions of %s:\n", shown->name);
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    const struct ppi_tool_option *option = &ppi_option_rows[i];
    char text[96];
    if (!(option->group & shown->takes)) continue;
    const char letter[] = {'-', option->letter, '|', 0};
    int len = snprintf(text, sizeof(text), " %s--%s%s%s",
                       option->letter ? letter : "", option->name,
                       option->argument ? " " : "",
                       option->argument ? option->argument : "");
    if (column > 0 && column + len > 78) {
      fputc('\n', out);
      column = 0;
    }
    if (column == 0) column = fprintf(out, " ");
    column += fprintf(out, "%s", text);
  }
  fprintf(out, "\n\n'pprof-report %s%s--help' says what each does.\n",
          verb ? verb->name : "", verb ? " " : "");
}

void ppi_tool_help(const struct ppi_tool_verb *verbs,
                   const struct ppi_tool_verb *verb, FILE *out) {
  print_head(verbs, verb, out);
  fputs("\nOptions:\n", out);
  for (size_t i = 0; i < ppi_num_option_rows; i++)
    if (!verb || (ppi_option_rows[i].group & verb->takes))
      print_option(&ppi_option_rows[i], verb ? NULL : verbs, out);
  print_exit_codes(out);
}
