// SPDX-License-Identifier: Apache-2.0
//
// Prints the help of options: on one screen, or with all details.

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

// Appends to a text; the buffer has room for all of it.
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

static void print_option(const struct ppi_tool_option *option, const char *text,
                         FILE *out) {
  int column = fprintf(out, "  ");
  if (option->letter) column += fprintf(out, "-%c, ", option->letter);
  column += fprintf(out, "--%s", option->name);
  if (option->argument && option->type != PPI_OPTION_CHOICE)
    column += fprintf(out, " %s", option->argument);
  if (column > 24) {
    fputc('\n', out);
    column = 0;
  }
  print_wrapped(text, column, out);
}

// Lists the verbs by task.
static void print_overview(const struct ppi_tool_verb *verbs, FILE *out) {
  static const char *const tasks[] = {
      "Record a program",    "Look at a log", "Ask running processes",
      "Compare and predict", "Convert",       "Check, repair, set up"};
  fputs(
      "usage: pprof-report [VERB] [OPTIONS] LOG...\n\n"
      "Says where the time of a program goes, from what pprof recorded.\n\n"
      "  pprof-report run python serve.py    record it, and print the answer\n"
      "  pprof-report run.pplog              print it again: summary is the "
      "usual verb\n"
      "  pprof-report html --open run.pplog  the same as pictures, in the "
      "browser\n",
      out);
  for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
    fprintf(out, "\n%s:\n", tasks[i]);
    for (const struct ppi_tool_verb *verb = verbs; verb->name; verb++)
      if (strcmp(verb->task, tasks[i]) == 0)
        fprintf(out, "  %-12s %s\n", verb->name, verb->summary);
  }
}

static void print_exit_codes(FILE *out) {
  fputs("\nExit status, the highest that applies:\n", out);
#define PRINT_(name, value, text) fprintf(out, "  %d  %s\n", value, text);
  PPI_EXIT_LIST(PRINT_)
#undef PRINT_
}

// ---- all of it ----

// Prints lines of 78 columns. A line of the text that ends a sentence ends the
// printed line.
static void print_details(const char *text, FILE *out) {
  int column = 0;
  while (*text) {
    int len = (int)strcspn(text, " \n");
    bool fits = column + len < 78;
    if (column) fputc(fits ? ' ' : '\n', out);
    fprintf(out, "%.*s", len, text);
    column = column && fits ? column + 1 + len : len;
    text += len;
    bool ends = *text == '\n' && (text[-1] == '.' || !text[1]);
    if (ends) fputc('\n', out);
    if (ends) column = 0;
    text += *text != '\0';
  }
}

static void print_head(const struct ppi_tool_verb *verb, FILE *out) {
  fprintf(out, "usage: pprof-report %s [OPTIONS]%s%s\n\n%s\n", verb->name,
          *verb->operands ? " " : "", verb->operands, verb->summary);
  print_details(verb->details, out);
}

void ppi_tool_help_all(const struct ppi_tool_verb *verbs,
                       const struct ppi_tool_verb *verb, FILE *out) {
  if (verb)
    print_head(verb, out);
  else
    print_overview(verbs, out);
  fputs("\nOptions:\n", out);
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    struct ppi_option_text text;
    const struct ppi_tool_option *option = &ppi_option_rows[i];
    if (verb && !(option->group & verb->takes)) continue;
    ppi_tool_option_text(option, verb ? NULL : verbs, &text);
    print_option(option, text.text, out);
  }
  print_exit_codes(out);
}

// ---- one screen ----

// The help of a verb with more options explains only these, and those that
// other verbs lack where it has no options of tables.
enum { MANY = 17 };
static const char *const common[] = {
    "format",      "output", "view",   "tree",  "filter",  "columns", "kernels",
    "kernel-tree", "wide",   "sort",   "top",   "verbose", "html",    "config",
    "preset",      "logs",   "strict", "stage", "help"};

static bool is_explained(const struct ppi_tool_verb *verb,
                         const struct ppi_tool_option *option) {
  const uint64_t shared = PPI_TAKES(SUMMARY) - 1;
  if (!(verb->takes & PPI_TAKES(TABLES)) && !(option->group & shared))
    return true;
  for (size_t i = 0; i < sizeof common / sizeof *common; i++)
    if (strcmp(common[i], option->name) == 0) return true;
  return false;
}

// Up to its default or its further text. A part that limits it to one option or
// table ends with a colon, too.
enum { MOST_PREFIX = 20 };

static size_t first_clause(const char *text, bool is_brief) {
  size_t len = strcspn(text, ";[");
  const char *colon = strchr(text + PPI_MIN(strlen(text), MOST_PREFIX), ':');
  if (is_brief && colon) len = PPI_MIN(len, (size_t)(colon - text));
  while (len > 0 && text[len - 1] == ' ') len--;
  return len;
}

static void print_short(const struct ppi_tool_option *option, bool is_brief,
                        FILE *out) {
  char text[sizeof(struct ppi_option_text)];
  snprintf(text, sizeof text, "%.*s", (int)first_clause(option->help, is_brief),
           option->help);
  print_option(option, text, out);
}

static void print_names(const struct ppi_tool_verb *verb, FILE *out) {
  int column = fprintf(out, "  also");
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    const struct ppi_tool_option *option = &ppi_option_rows[i];
    if (!(option->group & verb->takes) || is_explained(verb, option)) continue;
    if (column + (int)strlen(option->name) + 3 > 78) {
      fprintf(out, "\n%6s", "");
      column = 6;
    }
    column += fprintf(out, " --%s", option->name);
  }
  fputc('\n', out);
}

static void help_of_verb(const struct ppi_tool_verb *verb, FILE *out) {
  size_t num = 0;
  for (size_t i = 0; i < ppi_num_option_rows; i++)
    num += (ppi_option_rows[i].group & verb->takes) != 0;
  print_head(verb, out);
  fprintf(out, "\nExample:\n  %s\n\nOptions:\n", verb->example);
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    const struct ppi_tool_option *option = &ppi_option_rows[i];
    if (option->group & verb->takes &&
        (num < MANY || is_explained(verb, option)))
      print_short(option, num >= MANY, out);
  }
  if (num >= MANY) print_names(verb, out);
  fprintf(out,
          "\n`pprof-report help -v %s` says all of each option, and exit "
          "codes.\n",
          verb->name);
}

void ppi_tool_help(const struct ppi_tool_verb *verbs,
                   const struct ppi_tool_verb *verb, FILE *out) {
  if (verb) {
    help_of_verb(verb, out);
    return;
  }
  print_overview(verbs, out);
  fputs(
      "\n`pprof-report help VERB` has an example and the options of one verb, "
      "`help -v`\nall of all, `help pprof.yaml` the keys of a configuration.\n",
      out);
}
