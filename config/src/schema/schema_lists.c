// SPDX-License-Identifier: Apache-2.0
//
// Lists of a configuration other than windows: exports, globs, and the flight
// recorder's rules.
#include "schema/schema_lists.h"

#include <string.h>

#include "schema/schema.h"

// Which %-expansions its path may have depends on `per`.
static pprof_status check_window_path(const ppi_walk *at,
                                      const ppi_yaml_node *path,
                                      const ppi_config_export *item) {
  bool has_number = ppi_check_template(item->path.text, false) != NULL;
  if (has_number && !item->per_window)
    return PPI_REFUSE(at, path, "'path': %%w needs 'per: window'");
  if (!has_number && item->per_window)
    return PPI_REFUSE(at, path, "'path' needs a %%w, the number of the window");
  return PPROF_STATUS_OK;
}

static pprof_status read_export(const ppi_walk *at, const ppi_yaml_node *node) {
  ppi_config *config = at->config;
  if (node->kind != PPI_YAML_MAP)
    return ppi_walk_fail_type(at, node, "exports", "a list of mappings");
  if (config->num_exports == PPI_CONFIG_MAX_EXPORTS)
    return PPI_REFUSE(at, node, "more than %d exports", PPI_CONFIG_MAX_EXPORTS);
  ppi_config_export *item = &config->exports[config->num_exports];
  memset(item, 0, sizeof *item);
  pprof_status status = ppi_walk_map(at, node, "exports[].", item);
  if (status != PPROF_STATUS_OK) return status;
  if (!ppi_yaml_find(node, "format"))
    return PPI_REFUSE(at, node, "an export needs 'format'");
  const ppi_yaml_node *path = ppi_yaml_find(node, "path");
  if (!path) return PPI_REFUSE(at, node, "an export needs 'path'");
  const ppi_yaml_node *shown = ppi_yaml_find(node, "views");
  static const char *const without_views[] = {
      [PPI_EXPORT_CHROME] = "Chrome trace",
      [PPI_EXPORT_LOG] = "log",
      [PPI_EXPORT_HTML] = "page"};
  if (shown && item->format < PPI_EXPORT_REPORT)
    return PPI_REFUSE(at, shown, "a %s has no 'views'",
                      without_views[item->format]);
  if (item->format == PPI_EXPORT_HTML && item->per_window)
    return PPI_REFUSE(at, path, "a page is of the run: no 'per: window'");
  if (item->format == PPI_EXPORT_LOG && !item->per_window)
    return PPI_REFUSE(at, path,
                      "a log as an export needs 'per: window'; that of the run"
                      " is 'output'");
  status = check_window_path(at, path, item);
  if (status == PPROF_STATUS_OK) config->num_exports++;
  return status;
}

pprof_status ppi_walk_exports(const ppi_walk *at, const ppi_yaml_node *node) {
  at->config->num_exports = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, "exports", "a list of mappings");
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *item = node->children; item; item = item->next)
    if (!ppi_walk_goes_on(at, read_export(at, item), &first)) break;
  return first;
}

pprof_status ppi_walk_globs(const ppi_walk *at, const ppi_yaml_node *node,
                            ppi_config_globs *out) {
  out->num = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, node->key,
                              "a list of names such as [decode, \"load *\"]");
  if (node->num_children > PPI_CONFIG_MAX_GLOBS)
    return PPI_REFUSE(at, node, "'%s' has more than %d names", node->key,
                      PPI_CONFIG_MAX_GLOBS);
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    if (item->kind != PPI_YAML_SCALAR || !item->text[0])
      return PPI_REFUSE(at, item, "'%s' must have names, not %s", node->key,
                        item->kind == PPI_YAML_SCALAR ? "empty text" : "lists");
    if (strlen(item->text) >= PPI_CONFIG_MAX_GLOB)
      return PPI_REFUSE(at, item, "a name is longer than %d bytes",
                        PPI_CONFIG_MAX_GLOB - 1);
    strcpy(out->items[out->num++], item->text);
  }
  return PPROF_STATUS_OK;
}

// A rule's column counts from the text's first character, which stands behind
// its quote.
static pprof_status read_condition(const ppi_walk *at,
                                   const ppi_yaml_node *node) {
  ppi_config_flight *flight = &at->config->flight;
  if (node->kind != PPI_YAML_SCALAR)
    return ppi_walk_fail_type(at, node, "rules", "a list of texts");
  if (flight->num_conditions == PPI_CONFIG_MAX_CONDITIONS)
    return PPI_REFUSE(at, node, "more than %d rules",
                      PPI_CONFIG_MAX_CONDITIONS);
  ppi_config_text *out = &flight->conditions[flight->num_conditions];
  if (strlen(node->text) >= sizeof out->text)
    return PPI_REFUSE(at, node, "a rule is longer than %zu bytes",
                      sizeof out->text - 1);
  ppi_rule rule;
  size_t column = 1;
  char why[160] = "";
  if (ppi_rule_parse(node->text, &rule, &column, why, sizeof why) !=
      PPROF_STATUS_OK) {
    ppi_yaml_mark mark = ppi_walk_mark(node);
    mark.column += (uint32_t)column - 1 + node->quoted;
    return ppi_yaml_fail(at->source, mark, at->error, "%s", why);
  }
  strcpy(out->text, node->text);
  ppi_walk_where(at, node, out->where);
  flight->num_conditions++;
  return PPROF_STATUS_OK;
}

pprof_status ppi_walk_conditions(const ppi_walk *at,
                                 const ppi_yaml_node *node) {
  at->config->flight.num_conditions = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, "rules", "a list of texts");
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *item = node->children; item; item = item->next)
    if (!ppi_walk_goes_on(at, read_condition(at, item), &first)) break;
  return first;
}
