// SPDX-License-Identifier: Apache-2.0
//
// Reads the command line by the table of options.
#include "cli/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/option_table.h"
#include "cli/suggest.h"
#include "print/report_print.h"
#include "schema/schema.h"

const struct ppi_tool_verb *ppi_tool_find_verb(
    const struct ppi_tool_verb *verbs, const char *name) {
  while (verbs->name && strcmp(verbs->name, name) != 0) verbs++;
  return verbs->name ? verbs : NULL;
}

// One item of the command line: an option with its value, or an operand.
struct item {
  const struct ppi_tool_option *row;  // NULL: an operand
  const char *value;
};
struct cursor {
  const struct ppi_tool_verb *verbs;
  int argc, at;
  char **argv;
  bool only_operands;
  int num_operands;
  const struct ppi_tool_verb *verb;  // so far
  bool before_command;               // the next operand is a command
};

static const struct ppi_tool_option *find_row(const char *name, size_t len,
                                              uint64_t groups) {
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    const struct ppi_tool_option *row = &ppi_option_rows[i];
    bool same = strlen(row->name) == len && memcmp(row->name, name, len) == 0;
    if (same && (row->group & groups)) return row;
  }
  return NULL;
}

static int refuse_option(const char *name, size_t len) {
  struct ppi_tool_candidate candidate = {.wrong = name, .wrong_len = len};
  for (size_t i = 0; i < ppi_num_option_rows; i++)
    ppi_tool_candidate_offer(&candidate, ppi_option_rows[i].name,
                             strlen(ppi_option_rows[i].name));
  return ppi_tool_refuse(&candidate, "--", "; see pprof-report --help",
                         "unknown option '--%.*s'", (int)len, name);
}

// Takes the value of `item->row`: `attached`, or the next argument.
static int take_value(struct cursor *cursor, const char *attached,
                      struct item *item) {
  const struct ppi_tool_option *row = item->row;
  item->value = attached;
  if (row->type == PPI_OPTION_FLAG && attached)
    return ppi_tool_fail(PPI_EXIT_USAGE, "option '--%s' takes no value",
                         row->name);
  if (row->type == PPI_OPTION_FLAG || attached) return PPI_EXIT_DONE;
  if (cursor->at == cursor->argc)
    return ppi_tool_fail(PPI_EXIT_USAGE, "option '--%s' needs a value: %s",
                         row->name, row->argument);
  item->value = cursor->argv[cursor->at++];
  return PPI_EXIT_DONE;
}

static int take_long(struct cursor *cursor, const char *text,
                     struct item *item) {
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) : strlen(text);
  if (cursor->verb) item->row = find_row(text, len, cursor->verb->takes);
  if (!item->row) item->row = find_row(text, len, UINT64_MAX);
  if (!item->row) return refuse_option(text, len);
  return take_value(cursor, equals ? equals + 1 : NULL, item);
}

static int take_short(struct cursor *cursor, const char *text,
                      struct item *item) {
  for (size_t i = 0; i < ppi_num_option_rows && !item->row; i++)
    if (ppi_option_rows[i].letter == text[0]) item->row = &ppi_option_rows[i];
  if (!item->row)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "unknown option '-%c'; see pprof-report --help",
                         text[0]);
  // "-f=json", too: a value that begins with '=' is a word of its own.
  const char *attached = text + 1 + (text[1] == '=');
  return take_value(cursor, text[1] ? attached : NULL, item);
}

// All words after a command belong to the command.
static void take_operand(struct cursor *cursor, const char *text) {
  bool is_first = cursor->num_operands++ == 0;
  if (cursor->before_command) cursor->only_operands = true;
  if (is_first) cursor->verb = ppi_tool_find_verb(cursor->verbs, text);
  cursor->before_command =
      is_first && cursor->verb && cursor->verb->takes_command;
}

static int next_item(struct cursor *cursor, struct item *item) {
  const char *text = cursor->argv[cursor->at++];
  *item = (struct item){NULL, text};
  if (cursor->only_operands || text[0] != '-' || text[1] == '\0') {
    take_operand(cursor, text);
    return PPI_EXIT_DONE;
  }
  if (text[1] == '-' && text[2] == '\0') {
    cursor->only_operands = true;
    item->value = NULL;
    return PPI_EXIT_DONE;
  }
  return text[1] == '-' ? take_long(cursor, text + 2, item)
                        : take_short(cursor, text + 1, item);
}

// A first operand that is no verb is a log, unless it is a plain word and no
// such file exists.
static int find_verb(struct ppi_tool_options *out) {
  out->verb = out->verbs;
  if (out->num_inputs == 0) return PPI_EXIT_DONE;
  const char *first = out->inputs[0];
  const struct ppi_tool_verb *verb = ppi_tool_find_verb(out->verbs, first);
  if (verb) {
    out->verb = verb;
    out->verb_given = true;
    out->num_inputs--;
    memmove(out->inputs, out->inputs + 1,
            sizeof(*out->inputs) * (size_t)(out->num_inputs + 1));
    return PPI_EXIT_DONE;
  }
  if (strcmp(first, "-") == 0 || strpbrk(first, "./") ||
      access(first, F_OK) == 0)
    return PPI_EXIT_DONE;
  struct ppi_tool_candidate candidate = {.wrong = first,
                                         .wrong_len = strlen(first)};
  for (verb = out->verbs; verb->name; verb++)
    ppi_tool_candidate_offer(&candidate, verb->name, strlen(verb->name));
  return ppi_tool_refuse(&candidate, "", "; see pprof-report --help",
                         "'%s' is neither a verb nor a file", first);
}

static int set_choice(const struct ppi_tool_option *row, const char *value,
                      const char **field) {
  struct ppi_tool_candidate candidate = {.wrong = value,
                                         .wrong_len = strlen(value)};
  for (const char *at = row->argument; at;) {
    const char *bar = strchr(at, '|');
    size_t len = bar ? (size_t)(bar - at) : strlen(at);
    if (len == candidate.wrong_len && memcmp(at, value, len) == 0) {
      *field = value;
      return PPI_EXIT_DONE;
    }
    ppi_tool_candidate_offer(&candidate, at, len);
    at = bar ? bar + 1 : NULL;
  }
  return ppi_tool_refuse(&candidate, "", "", "'--%s %s' is not one of %s",
                         row->name, value, row->argument);
}

static int refuse_view(const char *name, size_t len) {
  struct ppi_tool_candidate candidate = {.wrong = name, .wrong_len = len};
  const ppi_view_kind *const *view = ppi_view_kinds();
  for (; *view; view++)
    ppi_tool_candidate_offer(&candidate, (*view)->name, strlen((*view)->name));
  return ppi_tool_refuse(&candidate, "",
                         "; pprof-report help -v summary names them",
                         "there is no view '%.*s'", (int)len, name);
}

static int set_views(const char *value, const char **field) {
  for (const char *at = value;; at++) {
    size_t len = strcspn(at, ",");
    const ppi_view_kind *const *view = ppi_view_kinds();
    while (*view && (strlen((*view)->name) != len ||
                     memcmp((*view)->name, at, len) != 0))
      view++;
    if (!*view) return refuse_view(at, len);
    at += len;
    if (*at == '\0') break;
  }
  *field = value;
  return PPI_EXIT_DONE;
}

static int set_number(const struct ppi_tool_option *row, const char *value,
                      long *field) {
  char *end;
  errno = 0;
  long number = strtol(value, &end, 10);
  bool is_number = !errno && end != value && !*end;
  if (is_number && number >= 0) {
    *field = number;
    return PPI_EXIT_DONE;
  }
  return ppi_tool_fail(PPI_EXIT_USAGE, "'--%s %s' is %s", row->name, value,
                       is_number ? "not 0 or more" : "no whole number");
}

static int add_text(const struct ppi_tool_option *row, const char *value,
                    struct ppi_tool_list *list) {
  const int most = (int)(sizeof list->items / sizeof *list->items);
  if (list->num < most) {
    list->items[list->num++] = value;
    return PPI_EXIT_DONE;
  }
  return ppi_tool_fail(PPI_EXIT_USAGE, "'--%s' comes more than %d times",
                       row->name, most);
}

static int set_option(const struct item *item, struct ppi_tool_options *out) {
  const char *name = item->row->name;
  const struct ppi_tool_option *row =
      find_row(name, strlen(name), out->verb->takes);
  if (!row)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'%s' has no option '--%s'; see pprof-report help %s",
                         out->verb->name, name, out->verb->name);
  void *field = (char *)out + row->offset;
  if (row->type == PPI_OPTION_FLAG) {
    *(bool *)field = true;
  } else if (row->type == PPI_OPTION_TEXT) {
    *(const char **)field = item->value;
  } else if (row->type == PPI_OPTION_TEXTS) {
    return add_text(row, item->value, field);
  } else if (row->type == PPI_OPTION_NUMBER) {
    return set_number(row, item->value, field);
  } else {
    return row->type == PPI_OPTION_VIEWS ? set_views(item->value, field)
                                         : set_choice(row, item->value, field);
  }
  return PPI_EXIT_DONE;
}

static void set_defaults(struct ppi_tool_options *out) {
  for (size_t i = 0; i < ppi_num_option_rows; i++) {
    const struct ppi_tool_option *row = &ppi_option_rows[i];
    if (row->fallback && (row->group & out->verb->takes))
      *(const char **)((char *)out + row->offset) = row->fallback;
  }
}

static int collect_operands(struct cursor cursor,
                            struct ppi_tool_options *out) {
  while (cursor.at < cursor.argc) {
    struct item item;
    int code = next_item(&cursor, &item);
    if (code != PPI_EXIT_DONE) return code;
    if (!item.row && item.value) out->inputs[out->num_inputs++] = item.value;
  }
  return find_verb(out);
}

int ppi_tool_parse(const struct ppi_tool_verb *verbs, int argc, char **argv,
                   struct ppi_tool_options *out) {
  struct cursor cursor = {.verbs = verbs, .argc = argc, .at = 1, .argv = argv};
  *out = (struct ppi_tool_options){
      .verbs = verbs,
      .inputs = ppi_tool_must(calloc((size_t)argc + 1, sizeof(*out->inputs))),
      .tables.top = LONG_MIN,
      .warmup = LONG_MIN,
      .jobs = LONG_MIN,
      .tables.depth = LONG_MIN,
      .cost.step = -1};
  // Which rows apply depends on the verb, which may come after options.
  int code = collect_operands(cursor, out);
  if (code != PPI_EXIT_DONE) return code;
  set_defaults(out);
  while (cursor.at < argc && code == PPI_EXIT_DONE) {
    struct item item;
    code = next_item(&cursor, &item);
    if (code == PPI_EXIT_DONE && item.row) code = set_option(&item, out);
  }
  if (code != PPI_EXIT_DONE || out->help || out->version) return code;
  if (out->verb->needs_input && out->num_inputs == 0)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'%s' needs %s; see pprof-report --help",
                         out->verb->name, out->verb->operands);
  return PPI_EXIT_DONE;
}

bool ppi_tool_parse_time(const char *name, const char *text, uint64_t *out_ns) {
  uint64_t us;
  if (ppi_parse_duration(text, &us) && us <= UINT64_MAX / 1000) {
    *out_ns = us * 1000;
    return true;
  }
  ppi_tool_say("'--%s %s' is no time such as 500ms, 30s, 10min", name, text);
  return false;
}
