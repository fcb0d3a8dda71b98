// SPDX-License-Identifier: Apache-2.0
//
// Reads rules of a configuration: names that the program gives, each with a
// category.
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "schema/schema.h"

#define SHOWN(string) (ppi_quote_of(string).text)

// Categories are compared by letters and digits only.
static const char *const known[] = {"userdefined",
                                    "dataloader",
                                    "forward",
                                    "backward",
                                    "optimization",
                                    "communication",
                                    "operator",
                                    "operatorinner",
                                    "runtime",
                                    "pythonop",
                                    "pythonuserdefined",
                                    "preprocess",
                                    "inference",
                                    "postprocess",
                                    "cputask",
                                    "memory",
                                    "kernel",
                                    "memcpy",
                                    "memset"};
enum { NUM_KNOWN = sizeof known / sizeof *known };

static void put_letters(const char *text, char out[PPI_NVTX_MAX_NAME]) {
  size_t len = 0;
  for (; *text && len + 1 < PPI_NVTX_MAX_NAME; text++)
    if (isalnum((unsigned char)*text))
      out[len++] = (char)tolower((unsigned char)*text);
  out[len] = 0;
}

// A word that nearly equals one of our categories is a mistake; any other word
// is a category of the user's own.
static pprof_status check_category(const ppi_yaml_node *node,
                                   const char *source, pprof_error *error) {
  ppi_yaml_mark mark = {node->line, node->column};
  char letters[PPI_NVTX_MAX_NAME];
  put_letters(node->text, letters);
  if (!letters[0])
    return ppi_yaml_fail(source, mark, error, "a category needs a name");
  if (strcmp(letters, "profilestep") == 0)
    return ppi_yaml_fail(source, mark, error,
                         "steps are made by pprof_step alone");
  for (size_t i = 0; i < NUM_KNOWN; i++)
    if (strcmp(letters, known[i]) == 0) return PPROF_STATUS_OK;
  const char *near = ppi_nearest(letters, known, NUM_KNOWN);
  if (!near) return PPROF_STATUS_OK;
  return ppi_yaml_fail(source, mark, error,
                       "unknown category '%s' (did you mean '%s'?)",
                       SHOWN(node->text), near);
}

static pprof_status check_word(const ppi_yaml_node *node, const char *source,
                               const char *const *words, pprof_error *error) {
  char list[64] = "";
  for (size_t i = 0, len = 0; words[i] && len < sizeof list; i++) {
    if (strcmp(node->text, words[i]) == 0) return PPROF_STATUS_OK;
    len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                            i ? ", " : "", words[i]);
  }
  return ppi_yaml_fail(source, (ppi_yaml_mark){node->line, node->column}, error,
                       "'%s' is not one of %s", SHOWN(node->text), list);
}

static pprof_status read_rule(const ppi_yaml_node *node, const char *source,
                              const char *const *words, ppi_nvtx_rule *out,
                              pprof_error *error) {
  ppi_yaml_mark key = {node->key_line, node->key_column};
  ppi_yaml_mark value = {node->line, node->column};
  if (!node->key[0] || strlen(node->key) >= sizeof out->from)
    return ppi_yaml_fail(source, key, error, "a name must have 1 to %zu bytes",
                         sizeof out->from - 1);
  if (node->kind != PPI_YAML_SCALAR)
    return ppi_yaml_fail(source, value, error, "'%s' needs a %s, such as %s",
                         SHOWN(node->key), words ? "word" : "category",
                         words ? words[0] : "communication");
  if (strlen(node->text) >= sizeof out->category)
    return ppi_yaml_fail(source, value, error,
                         "a category is longer than %zu bytes",
                         sizeof out->category - 1);
  PPI_TRY(words ? check_word(node, source, words, error)
                : check_category(node, source, error));
  strcpy(out->from, node->key);
  strcpy(out->category, node->text);
  return PPROF_STATUS_OK;
}

pprof_status ppi_config_read_rules(const ppi_yaml_node *node,
                                   const char *source,
                                   const ppi_config_rules *rules,
                                   pprof_error *error) {
  if (node->num_children > PPI_NVTX_MAX_RULES)
    return ppi_yaml_fail(source, (ppi_yaml_mark){node->line, node->column},
                         error, "'%s' has more than %u names", node->key,
                         PPI_NVTX_MAX_RULES);
  *rules->num = 0;
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    PPI_TRY(read_rule(item, source, rules->words, &rules->items[*rules->num],
                      error));
    ++*rules->num;
  }
  return PPROF_STATUS_OK;
}

ppi_config_rules ppi_config_rules_of(ppi_config *config, const ppi_key *key) {
  ppi_nvtx_options *nvtx = &config->nvtx;
  if (key->offset == offsetof(ppi_config, categorised))
    return (ppi_config_rules){&config->num_categorised, config->categorised,
                              key->choices};
  if (key->offset == offsetof(ppi_config, nvtx.domains))
    return (ppi_config_rules){&nvtx->num_domains, nvtx->domains, key->choices};
  if (key->offset == offsetof(ppi_config, nvtx.streams))
    return (ppi_config_rules){&nvtx->num_streams, nvtx->streams, key->choices};
  return (ppi_config_rules){&nvtx->num_categories, nvtx->categories,
                            key->choices};
}
