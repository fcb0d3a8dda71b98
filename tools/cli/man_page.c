// SPDX-License-Identifier: Apache-2.0
//
// Writes the man pages of verbs, options and configuration keys, in the macros
// of man(7).
#include <stdlib.h>

#include "cli/pages.h"
#include "cli/usage.h"
#include "schema/schema.h"

// Escapes a text: no line becomes a request, and no hyphen a dash that cannot
// be copied.
static void put_bytes(const char *text, size_t len, FILE *out) {
  if (len > 0 && (text[0] == '.' || text[0] == '\'')) fputs("\\&", out);
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\\')
      fputs("\\e", out);
    else if (text[i] == '-')
      fputs("\\-", out);
    else
      fputc(text[i], out);
  }
}

static void put_text(const char *text, FILE *out) {
  put_bytes(text, strlen(text), out);
}

static void put_lines(const char *text, FILE *out) {
  while (*text) {
    size_t len = strcspn(text, "\n");
    put_bytes(text, len, out);
    fputc('\n', out);
    text += len + (text[len] == '\n');
  }
}

static void put_title(const char *title, const char *verb, FILE *out) {
  put_text(title, out);
  if (verb) fputs("\\-", out);
  if (verb) put_text(verb, out);
}

// Puts the head of a page up to its synopsis, without a date: the same sources
// make the same page.
static void put_head(const char *title, const char *verb, const char *section,
                     const char *summary, FILE *out) {
  fputs(".TH ", out);
  put_title(title, verb, out);
  fprintf(out, " %s \"\" \"pprof %s\" pprof\n.SH NAME\n", section,
          pprof_version());
  put_title(title, verb, out);
  fputs(" \\- ", out);
  put_text(summary, out);
  fputs("\n.SH SYNOPSIS\n", out);
}

static void put_option(const struct ppi_tool_option *option,
                       const struct ppi_tool_verb *verbs, FILE *out) {
  struct ppi_option_text text;
  fputs(".TP\n", out);
  if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
  fputs("\\fB\\-\\-", out);
  put_text(option->name, out);
  fputs("\\fR", out);
  if (option->argument && option->type != PPI_OPTION_CHOICE) {
    fputs(" \\fI", out);
    put_text(option->argument, out);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  ppi_tool_option_text(option, verbs, &text);
  put_text(text.text, out);
  fputc('\n', out);
}

static void put_options(const struct ppi_tool_verb *verbs,
                        const struct ppi_tool_verb *verb, FILE *out) {
  fputs(".SH OPTIONS\n", out);
  for (size_t i = 0; i < ppi_num_option_rows; i++)
    if (!verb || (ppi_option_rows[i].group & verb->takes))
      put_option(&ppi_option_rows[i], verb ? NULL : verbs, out);
  fputs(".SH EXIT STATUS\nThe highest that applies:\n", out);
#define PUT_(name, value, text)             \
  fprintf(out, ".TP\n\\fB%d\\fR\n", value); \
  put_text(text, out);                      \
  fputc('\n', out);
  PPI_EXIT_LIST(PUT_)
#undef PUT_
}

static void man_of_verb(const struct ppi_tool_verb *verb, FILE *out) {
  put_head("pprof-report", verb->name, "1", verb->summary, out);
  fputs("\\fBpprof\\-report ", out);
  put_text(verb->name, out);
  fputs("\\fR [\\fIOPTIONS\\fR] ", out);
  put_text(verb->operands, out);
  fputc('\n', out);
  if (*verb->details) fputs(".SH DESCRIPTION\n", out);
  put_lines(verb->details, out);
  put_options(NULL, verb, out);
  fputs(".SH SEE ALSO\n.BR pprof\\-report (1),\n.BR pprof.yaml (5)\n", out);
}

static void man_of_tool(const struct ppi_tool_verb *verbs, FILE *out) {
  put_head("pprof-report", NULL, "1",
           "turn logs of pprof, the pipeline profiler, into tables and traces",
           out);
  fputs(
      "\\fBpprof\\-report\\fR [\\fIVERB\\fR] [\\fIOPTIONS\\fR] LOG...\n"
      ".SH VERBS\nNone means \\fBsummary\\fR.\n",
      out);
  for (const struct ppi_tool_verb *verb = verbs; verb->name; verb++) {
    fputs(".TP\n\\fBpprof\\-report\\-", out);
    put_text(verb->name, out);
    fputs("\\fR(1)\n", out);
    put_text(verb->summary, out);
    fputc('\n', out);
  }
  put_options(verbs, NULL, out);
  fputs(".SH SEE ALSO\n.BR pprof.yaml (5)\n", out);
}

void ppi_tool_man(const struct ppi_tool_verb *verbs,
                  const struct ppi_tool_verb *verb, FILE *out) {
  if (verb)
    man_of_verb(verb, out);
  else
    man_of_tool(verbs, out);
}

// A line of the keys' help: `  key: type [default]`, or a further line of its
// meaning.
static void put_key_line(const char *line, size_t len, FILE *out) {
  size_t blanks = strspn(line, " ");
  if (blanks > len) blanks = len;
  size_t name = blanks == 2 ? strcspn(line + 2, ":") : 0;
  if (name) {
    fputs(".TP\n\\fB", out);
    put_bytes(line + 2, name, out);
    fputs("\\fR", out);
  }
  put_bytes(line + blanks + name, len - blanks - name, out);
  fputc('\n', out);
}

void ppi_tool_man_yaml(FILE *out) {
  char *text = NULL;
  size_t len;
  FILE *keys = open_memstream(&text, &len);
  if (!keys) return;
  ppi_config_help(keys);
  if (fclose(keys) != 0) return;
  put_head("pprof.yaml", NULL, "5", "what pprof records, and where to", out);
  fputs(
      "\\fBPPROF_CONFIG=\\fIpprof.yaml\\fR \\fIprogram\\fR\n"
      ".SH KEYS\n",
      out);
  for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
    if (*at != '\n') put_key_line(at, strcspn(at, "\n"), out);
  fputs(
      ".SH SEE ALSO\n"
      ".BR pprof\\-report\\-config (1),\n.BR pprof\\-report\\-run (1)\n",
      out);
  free(text);
}
