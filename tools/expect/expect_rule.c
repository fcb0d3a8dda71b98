// SPDX-License-Identifier: Apache-2.0
//
// Parses rules and files of rules.
#include "expect/expect_rule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/say.h"
#include "yaml/yaml_tree.h"

// Removes the blanks around `text`, in place.
static char *trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t len = strlen(text);
  while (len && isspace((unsigned char)text[len - 1])) text[--len] = '\0';
  return text;
}

// Cuts `text` before `mark` and answers the text after it; NULL: no mark.
static char *cut(char *text, const char *mark) {
  char *at = strstr(text, mark);
  if (!at) return NULL;
  *at = '\0';
  return at + strlen(mark);
}

static bool parse_number(const char *text, const char *const units[],
                         const double factors[], double *out) {
  char *end;
  if (!isdigit((unsigned char)text[0])) return false;
  double value = strtod(text, &end);
  while (isspace((unsigned char)*end)) end++;
  for (size_t i = 0; units[i]; i++) {
    if (strcmp(end, units[i]) != 0) continue;
    *out = value * factors[i];
    return true;
  }
  return false;
}

static bool parse_bound(ppi_expect_rule *rule, const char *text) {
  static const char *const none[] = {"", NULL}, *const percent[] = {"%", NULL},
                           *const times[] = {"ns", "us", "ms", "s", NULL};
  static const double one[] = {1}, ns[] = {1, 1e3, 1e6, 1e9};
  if (rule->kind == PPI_EXPECT_FIGURE)
    return parse_number(text, times, ns, &rule->bound);
  return parse_number(text, rule->kind == PPI_EXPECT_OVERLAP ? percent : none,
                      one, &rule->bound);
}

// "NAME <= N": the operator is the first one behind which only a bound stands.
static char *parse_comparison(ppi_expect_rule *rule, char *text) {
  static const char *const ops[] = {"<=", ">=", "<", ">", "="};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    char *at = strstr(text, ops[i]);
    if (!at || !parse_bound(rule, trim(at + strlen(ops[i])))) continue;
    strcpy(rule->op, ops[i]);
    *at = '\0';
    return trim(text);
  }
  return NULL;
}

static bool add_name(ppi_expect_rule *rule, char *name) {
  name = trim(name);
  if (!*name || rule->num_names == PPI_EXPECT_MOST_NAMES) return false;
  rule->names[rule->num_names++] = name;
  return true;
}

static bool parse_has(ppi_expect_rule *rule, char *unit, char *rest) {
  rule->unit = trim(unit);
  if (!*rule->unit) return false;
  rule->kind = PPI_EXPECT_COUNT;
  if (!strstr(rest, "->")) {
    char *name = parse_comparison(rule, rest);
    if (name) return add_name(rule, name);
  }
  rule->kind = PPI_EXPECT_ORDER;
  while (rest) {
    char *next = cut(rest, "->");
    if (!add_name(rule, rest)) return false;
    rest = next;
  }
  return true;
}

static bool parse_quantile(const char *word, double *out) {
  char *end;
  if (strcmp(word, "mean") == 0) *out = -1;
  if (strcmp(word, "max") == 0) *out = 1;
  if (strcmp(word, "mean") == 0 || strcmp(word, "max") == 0) return true;
  if (word[0] != 'p' || !isdigit((unsigned char)word[1])) return false;
  *out = strtod(word + 1, &end) / 100;
  return !*end && *out > 0 && *out < 1;
}

// "WORD(NAMES) OP BOUND".
static bool parse_call(ppi_expect_rule *rule, char *word, char *names) {
  char *close = strrchr(names, ')');
  if (!close) return false;
  *close = '\0';
  word = trim(word);
  bool is_overlap = strcmp(word, "overlap") == 0;
  rule->kind = is_overlap ? PPI_EXPECT_OVERLAP : PPI_EXPECT_FIGURE;
  if (!is_overlap && !parse_quantile(word, &rule->quantile)) return false;
  char *left = parse_comparison(rule, close + 1);
  if (!left || *left) return false;
  char *second = is_overlap ? cut(names, ",") : NULL;
  return add_name(rule, names) &&
         (is_overlap ? second && add_name(rule, second) : true);
}

bool ppi_expect_rule_parse(const char *text, ppi_expect_rule *out) {
  *out = (ppi_expect_rule){.line = 0};
  if (strlen(text) >= sizeof out->text) return false;
  strcpy(out->text, text);
  strcpy(out->words, text);
  char *words = trim(out->words), *rest;
  if (strncmp(words, "no ", 3) == 0) {
    out->kind = PPI_EXPECT_NONE_IN;
    rest = cut(words, " in ");
    return rest && add_name(out, words + 3) && add_name(out, rest);
  }
  if ((rest = cut(words, " has ")) != NULL) return parse_has(out, words, rest);
  if ((rest = cut(words, "(")) != NULL) return parse_call(out, words, rest);
  out->kind = PPI_EXPECT_LOST;
  char *left = parse_comparison(out, words);
  return left && strcmp(left, "lost") == 0;
}

static pprof_status add_rule(const char *path, const ppi_yaml_node *node,
                             ppi_expect_rules *out, pprof_error *error) {
  const ppi_yaml_mark mark = {node->line, node->column};
  // The array does not grow: a rule's names point into the rule itself.
  ppi_expect_rule *rule = &out->items[out->num];
  if (node->kind != PPI_YAML_SCALAR || !ppi_expect_rule_parse(node->text, rule))
    return ppi_yaml_fail(
        path, mark, error,
        "'%s' is no rule; write one such as 'request has decode -> detect', "
        "'step has launches <= 300' or 'p99(detect) < 8 ms'",
        ppi_quote_of(node->text ? node->text : "").text);
  rule->line = node->line;
  out->num++;
  return PPROF_STATUS_OK;
}

static pprof_status take_rules(const char *path, const ppi_yaml *yaml,
                               ppi_expect_rules *out, pprof_error *error) {
  const ppi_yaml_node *root = yaml->root;
  const ppi_yaml_node *list =
      root && root->kind == PPI_YAML_MAP ? ppi_yaml_find(root, "expect") : NULL;
  pprof_status status = PPROF_STATUS_OK;
  if (!list || list->kind != PPI_YAML_LIST || root->num_children != 1)
    return ppi_yaml_fail(path, (ppi_yaml_mark){1, 1}, error,
                         "a file of rules has the key 'expect' alone, with a "
                         "list of them; see docs/compare.md");
  PPI_MUST_ROOM(out->items, out->capacity, list->num_children + 1);
  for (const ppi_yaml_node *node = list->children;
       node && status == PPROF_STATUS_OK; node = node->next)
    status = add_rule(path, node, out, error);
  return status;
}

pprof_status ppi_expect_rules_read(const char *path, ppi_expect_rules *out,
                                   pprof_error *error) {
  ppi_yaml yaml;
  *out = (ppi_expect_rules){0};
  ppi_yaml_init(&yaml, path);
  pprof_status status = ppi_yaml_read(&yaml, error);
  if (status == PPROF_STATUS_OK) status = take_rules(path, &yaml, out, error);
  ppi_yaml_clear(&yaml);
  return status;
}

void ppi_expect_rules_clear(ppi_expect_rules *rules) {
  ppi_free(rules->items);
  *rules = (ppi_expect_rules){0};
}
