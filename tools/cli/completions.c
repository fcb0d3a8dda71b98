// SPDX-License-Identifier: Apache-2.0
//
// Writes completions for bash, zsh and fish. Each finds the verb among the
// words before the cursor and offers its options and their values, or else
// files.

#include "cli/option_table.h"
#include "cli/pages.h"
#include "print/report_print.h"

// Writes one option; called for every option of `verb`.
typedef void put_option(const struct ppi_tool_verb *verb,
                        const struct ppi_tool_option *option, FILE *out);

static void each_option(const struct ppi_tool_verb *verb, put_option *put,
                        FILE *out) {
  for (size_t i = 0; i < ppi_num_option_rows; i++)
    if (ppi_option_rows[i].group & verb->takes)
      put(verb, &ppi_option_rows[i], out);
}

static void put_verbs(const struct ppi_tool_verb *verbs, const char *between,
                      FILE *out) {
  for (const struct ppi_tool_verb *verb = verbs; verb->name; verb++)
    fprintf(out, "%s%s", verb == verbs ? "" : between, verb->name);
}

static bool has_values(const struct ppi_tool_option *option) {
  return option->type == PPI_OPTION_CHOICE || option->type == PPI_OPTION_VIEWS;
}

// Puts the option's values, with blanks between them.
static void put_values(const struct ppi_tool_option *option, FILE *out) {
  const ppi_view_kind *const *view = ppi_view_kinds();
  for (; option->type == PPI_OPTION_VIEWS && *view; view++)
    fprintf(out, "%s%s", view == ppi_view_kinds() ? "" : " ", (*view)->name);
  const char *at = option->argument;
  for (; option->type == PPI_OPTION_CHOICE && *at; at++)
    fputc(*at == '|' ? ' ' : *at, out);
}

// Puts `text` in single quotes. Characters of `special` get a backslash.
static void put_quoted(const char *text, const char *special, FILE *out) {
  for (; *text; text++) {
    if (strchr(special, *text)) fputc('\\', out);
    fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
  }
}

static void put_bash_name(const struct ppi_tool_verb *verb,
                          const struct ppi_tool_option *option, FILE *out) {
  (void)verb;
  fprintf(out, " --%s", option->name);
}

static void put_bash_values(const struct ppi_tool_verb *verb,
                            const struct ppi_tool_option *option, FILE *out) {
  if (!option->argument) return;
  fprintf(out, "    %s:--%s", verb->name, option->name);
  if (option->letter) fprintf(out, " | %s:-%c", verb->name, option->letter);
  fputs(") words=\"", out);
  put_values(option, out);
  fputs("\" ;;\n", out);
}

static void complete_bash(const struct ppi_tool_verb *verbs, FILE *out) {
  const struct ppi_tool_verb *verb;
  fputs(
      "# bash completion of pprof-report\n"
      "_pprof_report() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local verb= word words=\n"
      "  if [[ $cur == = ]]; then cur=; fi\n"
      "  if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case $word in ",
      out);
  put_verbs(verbs, "|", out);
  fprintf(out,
          ") verb=$word; break ;; esac\n"
          "  done\n"
          "  COMPREPLY=()\n"
          "  case ${verb:-%s}:$prev in\n",
          verbs->name);
  for (verb = verbs; verb->name; verb++)
    each_option(verb, put_bash_values, out);
  fputs("    *) case $cur:${verb:-none} in\n", out);
  for (verb = verbs; verb->name; verb++) {
    fprintf(out, "      -*:%s%s) words=\"", verb->name,
            verb == verbs ? "|-*:none" : "");
    each_option(verb, put_bash_name, out);
    fputs("\" ;;\n", out);
  }
  fputs("      *:none | *:help) words=\"", out);
  put_verbs(verbs, " ", out);
  fputs(
      "\" ;;\n"
      "    esac ;;\n"
      "  esac\n"
      "  local IFS=$' \\t\\n'\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}\n"
      "complete -o default -F _pprof_report pprof-report\n",
      out);
}

static void put_zsh_option(const struct ppi_tool_verb *verb,
                           const struct ppi_tool_option *option, FILE *out) {
  (void)verb;
  const char *sign = option->argument ? "=" : "";
  fputs("      ", out);
  if (option->letter)
    fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
            option->letter, option->argument ? "+" : "", option->name, sign);
  else
    fprintf(out, "'--%s%s", option->name, sign);
  fputc('[', out);
  put_quoted(option->help, "[]:\\", out);
  fputc(']', out);
  if (has_values(option)) {
    fprintf(out, ":%s:%s", option->name,
            option->type == PPI_OPTION_VIEWS ? "_sequence compadd - " : "(");
    put_values(option, out);
    if (option->type == PPI_OPTION_CHOICE) fputc(')', out);
  } else if (option->argument) {
    fprintf(out, ":%s:_files", option->name);
  }
  fputs("'\n", out);
}

static void complete_zsh(const struct ppi_tool_verb *verbs, FILE *out) {
  const struct ppi_tool_verb *verb;
  fprintf(out,
          "#compdef pprof-report\n"
          "_pprof_report() {\n"
          "  local context state state_descr line verb=%s word rest='*::"
          "log:_files'\n"
          "  local -a verbs options\n"
          "  typeset -A opt_args\n"
          "  for word in ${words[2,CURRENT-1]}; do\n"
          "    case $word in (",
          verbs->name);
  put_verbs(verbs, "|", out);
  fputs(") verb=$word; break ;; esac\n  done\n  verbs=(\n", out);
  for (verb = verbs; verb->name; verb++) {
    fprintf(out, "    '%s:", verb->name);
    put_quoted(verb->summary, "\\", out);
    fputs("'\n", out);
  }
  fputs("  )\n  case $verb in\n", out);
  for (verb = verbs; verb->name; verb++) {
    fprintf(out, "    %s) options=(\n", verb->name);
    each_option(verb, put_zsh_option, out);
    fprintf(out, "      )%s ;;\n",
            verb->takes_command ? "; rest='*::command:_normal'" : "");
  }
  fputs(
      "  esac\n"
      "  _arguments -s -S $options '1: :->first' \"$rest\" && return\n"
      "  [[ $state == first ]] && { _describe verb verbs; _files }\n"
      "}\n"
      "_pprof_report \"$@\"\n",
      out);
}

static void put_fish_option(const struct ppi_tool_verb *verb,
                            const struct ppi_tool_option *option, FILE *out) {
  fprintf(out, "complete -c pprof-report -n '__pprof_report_verb %s' -l %s",
          verb->name, option->name);
  if (option->letter) fprintf(out, " -s %c", option->letter);
  if (has_values(option)) {
    fputs(" -x -a '", out);
    put_values(option, out);
    fputc('\'', out);
  } else if (option->argument) {
    fputs(" -r", out);
  }
  fputs(" -d '", out);
  put_quoted(option->help, "\\", out);
  fputs("'\n", out);
}

static void complete_fish(const struct ppi_tool_verb *verbs, FILE *out) {
  const struct ppi_tool_verb *verb;
  fputs(
      "# fish completion of pprof-report\n"
      "function __pprof_report_verb\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        if contains -- $word ",
      out);
  put_verbs(verbs, " ", out);
  fprintf(out,
          "\n"
          "            test $word = $argv[1]\n"
          "            return\n"
          "        end\n"
          "    end\n"
          "    contains -- $argv[1] none %s\n"
          "end\n",
          verbs->name);
  for (verb = verbs; verb->name; verb++) {
    fprintf(out,
            "complete -c pprof-report -n '__pprof_report_verb none; or "
            "__pprof_report_verb help' -a %s -d '",
            verb->name);
    put_quoted(verb->summary, "\\", out);
    fputs("'\n", out);
  }
  for (verb = verbs; verb->name; verb++)
    each_option(verb, put_fish_option, out);
}

void ppi_tool_complete(const struct ppi_tool_verb *verbs, const char *shell,
                       FILE *out) {
  if (strcmp(shell, "bash") == 0) complete_bash(verbs, out);
  if (strcmp(shell, "zsh") == 0) complete_zsh(verbs, out);
  if (strcmp(shell, "fish") == 0) complete_fish(verbs, out);
}
