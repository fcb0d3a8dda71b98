// SPDX-License-Identifier: Apache-2.0
//
// The table of keys, and the walk that applies a tree to a configuration.
#include "schema.h"

#include <stddef.h>
#include <string.h>

#include "base_impl.h"

#define MIB (1ull << 20)
#define TIB (1ull << 40)
#define MOST_STEPS 1000000000ull  // sums of them stay far from overflow

static const char *const device_modes[] = {"events", "off", NULL};
static const char *const backends[] = {"cpu", "opencl", "cuda", "hip", NULL};
static const char *const graph_nodes[] = {"skip", "external", NULL};
static const char *const payloads[] = {"counter", "flow",   "bytes",
                                       "items",   "ignore", NULL};
static const char *const nvtx_devices[] = {"off", "default", NULL};
static const char *const forks[] = {"follow", "off", NULL};
static const char *const formats[] = {"chrome", "table", "json", "csv", NULL};
static const char *const views[] = {
    "device", "overview", "model", "userdefined", "queue", "messages", NULL};

#define AT(field) offsetof(ppi_config, field)
#define IN_WINDOW(field) offsetof(ppi_config_window, field)
#define IN_EXPORT(field) offsetof(ppi_config_export, field)

// clang-format off
const ppi_key ppi_keys[] = {
    {"version", PPI_KEY_COUNT, "1", 1, 1, NULL, AT(version),
     "Version of this format."},
    {"output", PPI_KEY_PATH, "pprof.%h.%p.pplog", 0, 0, NULL, AT(output),
     "The log. While the program runs its name ends in .part."},
    {"log", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(log),
     "false: write no log, only what `exports` lists."},
    {"memory_limit", PPI_KEY_SIZE, "64MiB", MIB, TIB, NULL,
     AT(memory_limit_bytes),
     "The most memory that records may wait in. What does not fit is counted"
     " as lost."},
    {"spool", PPI_KEY_TEXT, "memory", 0, 0, NULL, AT(spool),
     "Folder where records survive a crash; `memory` takes one that lies in"
     " memory. On a disk markers can stall."},
    {"drain_interval", PPI_KEY_DURATION, "5ms", 100, 1000000, NULL,
     AT(drain_interval_us), "How often records are collected."},
    {"stop_wait", PPI_KEY_DURATION, "1s", 1000, 60000000, NULL,
     AT(stop_wait_us),
     "How long stopping waits for markers under way and for devices."},
    {"capture", PPI_KEY_WINDOWS, "everything", 0, 0, NULL, 0,
     "Which steps are recorded: one window, or a list of at most 16."},
    {"capture[].skip_first", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(skip_first), "Steps before the first cycle."},
    {"capture[].wait", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(wait), "Steps of a cycle in which nothing is recorded."},
    {"capture[].warmup", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(warmup), "Steps of a cycle recorded and thrown away."},
    {"capture[].active", PPI_KEY_COUNT, NULL, 1, MOST_STEPS, NULL,
     IN_WINDOW(active), "Steps of a cycle that are kept."},
    {"capture[].repeat", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(repeat), "How many cycles; 0 goes on for ever."},
    {"capture[].steps", PPI_KEY_STEPS, NULL, 0, MOST_STEPS, NULL,
     IN_WINDOW(steps),
     "[a, b] keeps the steps a to b - 1, with one step of warm-up before"
     " them. Stands alone."},
    {"devices", PPI_KEY_MAP, NULL, 0, 0, NULL, 0, "Timing of device work."},
    {"devices.mode", PPI_KEY_CHOICE, "events", 0, 0, device_modes,
     AT(device_mode),
     "events: time device ranges. off: record their host side only."},
    {"devices.backends", PPI_KEY_CHOICES, "none", 0, 0, backends, AT(backends),
     "Backends whose first device is opened at start, so that one that is"
     " missing is reported. Others open when the program uses them."},
    {"devices.graphs", PPI_KEY_CHOICE, "skip", 0, 0, graph_nodes,
     AT(graph_nodes),
     "Ranges submitted into a graph capture. skip: they are listed, not timed,"
     " and the graph is what it would be. external: event nodes time them at"
     " each launch; they change the graph's topology."},
    {"nvtx", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "What NVTX calls become where injection records them."},
    {"nvtx.device", PPI_KEY_CHOICE, "off", 0, 0, nvtx_devices,
     AT(nvtx.device),
     "default: pushed ranges are also timed on the default stream of the"
     " thread's CUDA context and on streams that the program named. off: host"
     " times only."},
    {"nvtx.domains", PPI_KEY_RULES, "none", 0, 0, NULL, AT(nvtx.domains),
     "Categories by the domain's name: `{NCCL: communication}`. At most 64."},
    {"nvtx.categories", PPI_KEY_RULES, "none", 0, 0, NULL,
     AT(nvtx.categories),
     "Categories by the NVTX category's name; they go before `domains`. At"
     " most 64."},
    {"nvtx.payload", PPI_KEY_CHOICE, "counter", 0, 0, payloads,
     AT(nvtx.payload),
     "What the number that an event carries is: a counter"
     " `EVENT.payload`, the request that a range serves, bytes or items of its"
     " work, or nothing."},
    {"nvtx.fields", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(nvtx.fields),
     "Whether fields of payload schemas are recorded: sizes in bytes as work"
     " of the range, other numbers as counters `EVENT.field`."},
    {"nvtx.cut_names", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(nvtx.cut_names),
     "Whether names lose what makes each call's its own, such as PyTorch's"
     " `, seq = 12`."},
    {"nvtx.fork", PPI_KEY_CHOICE, "follow", 0, 0, forks, AT(nvtx.fork),
     "follow: a forked child records into a log of its own from its first"
     " range on. off: it records nothing."},
    {"exports", PPI_KEY_EXPORTS, "none", 0, 0, NULL, 0,
     "Further files, at most 16."},
    {"exports[].format", PPI_KEY_CHOICE, NULL, 0, 0, formats,
     IN_EXPORT(format),
     "chrome is written while the program runs, the others when it stops."},
    {"exports[].path", PPI_KEY_PATH, NULL, 0, 0, NULL, IN_EXPORT(path),
     "The file. A Chrome trace is compressed when its name ends in .gz."},
    {"exports[].views", PPI_KEY_VIEWS, "all", 0, 0, views, IN_EXPORT(views),
     "Which tables: a list. Not for chrome."},
};
// clang-format on
const size_t ppi_num_keys = sizeof ppi_keys / sizeof *ppi_keys;

#define MAX_PATH 64
#define SHOWN(string) (ppi_quote_of(string).text)

typedef struct walk {
  ppi_config *config;
  const char *source;
  pprof_error *error;
} walk;

static ppi_yaml_mark mark_of(const ppi_yaml_node *node) {
  return (ppi_yaml_mark){node->line, node->column};
}

#define REFUSE(walk, node, ...) \
  ppi_yaml_fail((walk)->source, mark_of(node), (walk)->error, __VA_ARGS__)

static const ppi_key *find_key(const char *prefix, const char *name) {
  size_t len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (strncmp(ppi_keys[i].path, prefix, len) == 0 &&
        strcmp(ppi_keys[i].path + len, name) == 0 && !strpbrk(name, ".[]"))
      return &ppi_keys[i];
  return NULL;
}

static pprof_status fail_choice(const walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name) {
  size_t num = 0;
  char list[120] = "";
  for (; key->choices[num]; num++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", num > 0 ? ", " : "",
             key->choices[num]);
  }
  const char *near = ppi_nearest(SHOWN(node->text), key->choices, num);
  return REFUSE(at, node, "'%s' must be one of %s, not '%s'%s%s%s", name, list,
                SHOWN(node->text), near ? " (did you mean '" : "",
                near ? near : "", near ? "'?)" : "");
}

static pprof_status fail_unknown(const walk *at, const ppi_yaml_node *node,
                                 const char *prefix) {
  const char *names[32];
  size_t num = 0, len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys && num < 32; i++) {
    const char *rest = ppi_keys[i].path + len;
    if (strncmp(ppi_keys[i].path, prefix, len) == 0 && !strpbrk(rest, ".["))
      names[num++] = rest;
  }
  const char *near = ppi_nearest(node->key, names, num);
  ppi_yaml_mark mark = {node->key_line, node->key_column};
  return ppi_yaml_fail(at->source, mark, at->error, "unknown key '%s'%s%s%s",
                       SHOWN(node->key), near ? " (did you mean '" : "",
                       near ? near : "", near ? "'?)" : "");
}

static bool is_null(const ppi_yaml_node *node) {
  static const char *const words[] = {"", "~", "null", "Null", "NULL"};
  if (node->kind != PPI_YAML_SCALAR || node->quoted) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(node->text, words[i]) == 0) return true;
  return false;
}

static bool is_plain(const ppi_yaml_node *node) {
  return node->kind == PPI_YAML_SCALAR && !node->quoted;
}

static const char *kind_words(const ppi_yaml_node *node) {
  if (node->kind == PPI_YAML_MAP) return "a mapping";
  if (node->kind == PPI_YAML_LIST) return "a list";
  return SHOWN(node->text)[0] ? "text in quotes" : "empty text";
}

// "'active' must be <what>, not <what it is>"
static pprof_status fail_type(const walk *at, const ppi_yaml_node *node,
                              const char *name, const char *what) {
  if (is_plain(node))
    return REFUSE(at, node, "'%s' must be %s, not '%s'", name, what,
                  SHOWN(node->text));
  return REFUSE(at, node, "'%s' must be %s, not %s", name, what,
                kind_words(node));
}

// Both ends of the range as they would be written.
static pprof_status fail_range(const walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name) {
  char text[64] = "";
  FILE *out = fmemopen(text, sizeof text, "w");
  if (!out) return REFUSE(at, node, "'%s' is out of range", name);
  for (int i = 0; i < 2; i++) {
    uint64_t value = i == 0 ? key->minimum : key->maximum;
    if (key->type == PPI_KEY_SIZE)
      ppi_write_size(value, out);
    else if (key->type == PPI_KEY_DURATION)
      ppi_write_duration(value, out);
    else
      fprintf(out, "%llu", (unsigned long long)value);
    if (i == 0) fputs(" to ", out);
  }
  fclose(out);
  return REFUSE(at, node, "'%s' must be %s, not %s", name, text,
                SHOWN(node->text));
}

static pprof_status read_number(const walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name,
                                uint64_t *out) {
  uint64_t value = 0;
  bool good = false;
  const char *what = "a whole number";
  if (key->type == PPI_KEY_SIZE) {
    what = "a size such as 64MiB";
    good = is_plain(node) && ppi_parse_size(node->text, &value);
  } else if (key->type == PPI_KEY_DURATION) {
    what = "a duration such as 500ms";
    good = is_plain(node) && ppi_parse_duration(node->text, &value);
  } else {
    good = is_plain(node) && ppi_parse_count(node->text, &value);
  }
  if (!good) return fail_type(at, node, name, what);
  if (value < key->minimum || value > key->maximum)
    return fail_range(at, node, key, name);
  *out = value;
  return PPROF_STATUS_OK;
}

static pprof_status read_bool(const walk *at, const ppi_yaml_node *node,
                              const char *name, uint64_t *out) {
  if (is_plain(node) && strcmp(node->text, "true") == 0)
    *out = 1;
  else if (is_plain(node) && strcmp(node->text, "false") == 0)
    *out = 0;
  else
    return fail_type(at, node, name, "true or false");
  return PPROF_STATUS_OK;
}

static bool find_choice(const ppi_key *key, const ppi_yaml_node *node,
                        uint64_t *out) {
  for (size_t i = 0; key->choices[i]; i++) {
    if (strcmp(node->text, key->choices[i]) != 0) continue;
    *out = i;
    return true;
  }
  return false;
}

static pprof_status read_choice(const walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name,
                                uint64_t *out) {
  if (node->kind != PPI_YAML_SCALAR) return fail_type(at, node, name, "a word");
  if (!find_choice(key, node, out)) return fail_choice(at, node, key, name);
  return PPROF_STATUS_OK;
}

// A list of choices as bits.
static pprof_status read_choices(const walk *at, const ppi_yaml_node *node,
                                 const ppi_key *key, const char *name,
                                 uint64_t *out) {
  uint64_t bits = 0, choice = 0;
  if (node->kind != PPI_YAML_LIST) return fail_type(at, node, name, "a list");
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    pprof_status status = read_choice(at, item, key, name, &choice);
    if (status != PPROF_STATUS_OK) return status;
    if (bits >> choice & 1)
      return REFUSE(at, item, "'%s' names %s twice", name, item->text);
    bits |= 1ull << choice;
  }
  *out = bits;
  return PPROF_STATUS_OK;
}

static void remember_where(const walk *at, const ppi_yaml_node *node,
                           ppi_config_text *out) {
  pprof_error place;
  ppi_yaml_fail(at->source, mark_of(node), &place, "%s", "");
  size_t len = strlen(place.text);
  snprintf(out->where, sizeof out->where, "%.*s", (int)(len > 2 ? len - 2 : 0),
           place.text);
}

static bool looks_like_number_or_bool(const ppi_yaml_node *node) {
  if (node->quoted) return false;
  const char *digits = node->text + strspn(node->text, "+-");
  return !*(digits + strspn(digits, "0123456789.")) ||
         strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0;
}

static pprof_status read_text(const walk *at, const ppi_yaml_node *node,
                              const ppi_key *key, const char *name,
                              ppi_config_text *out) {
  if (node->kind != PPI_YAML_SCALAR || looks_like_number_or_bool(node))
    return fail_type(at, node, name, "text");
  if (strlen(node->text) >= sizeof out->text)
    return REFUSE(at, node, "'%s' is longer than %zu bytes", name,
                  sizeof out->text - 1);
  if (node->text[0] == 0) return REFUSE(at, node, "'%s' is empty", name);
  const char *wrong =
      key->type == PPI_KEY_PATH ? ppi_check_template(node->text) : NULL;
  if (wrong) return REFUSE(at, node, "'%s': %s", name, wrong);
  strcpy(out->text, node->text);
  remember_where(at, node, out);
  return PPROF_STATUS_OK;
}

// A list of views becomes the comma-separated text that reports take.
static pprof_status read_views(const walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name,
                               ppi_config_text *out) {
  uint64_t bits = 0;
  pprof_status status = read_choices(at, node, key, name, &bits);
  if (status != PPROF_STATUS_OK) return status;
  if (bits == 0) return REFUSE(at, node, "'%s' is empty", name);
  out->text[0] = 0;
  for (size_t i = 0; key->choices[i]; i++) {
    if (!(bits >> i & 1)) continue;
    if (out->text[0]) strcat(out->text, ",");
    strcat(out->text, key->choices[i]);
  }
  remember_where(at, node, out);
  return PPROF_STATUS_OK;
}

static pprof_status read_steps(const walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name,
                               uint64_t *out) {
  if (node->kind != PPI_YAML_LIST || node->num_children != 2)
    return fail_type(at, node, name, "two step numbers such as [10, 20]");
  const ppi_yaml_node *item = node->children;
  for (size_t i = 0; i < 2; i++, item = item->next) {
    pprof_status status = read_number(at, item, key, name, &out[i]);
    if (status != PPROF_STATUS_OK) return status;
  }
  if (out[1] <= out[0])
    return REFUSE(at, node, "'%s' must end after it begins", name);
  out[2] = 1;
  return PPROF_STATUS_OK;
}

static pprof_status read_map(const walk *at, const ppi_yaml_node *node,
                             const char *prefix, void *base);

static pprof_status set_fallbacks(const char *prefix, void *base);

static pprof_status check_window(const walk *at, const ppi_yaml_node *node,
                                 const ppi_config_window *window) {
  if (window->has_steps && node->num_children > 1)
    return REFUSE(at, node, "'steps' stands alone in its window");
  if (!window->has_steps && window->active == 0)
    return REFUSE(at, node, "a window needs 'active' or 'steps'");
  return PPROF_STATUS_OK;
}

static pprof_status read_window(const walk *at, const ppi_yaml_node *node) {
  ppi_config *config = at->config;
  if (node->kind != PPI_YAML_MAP)
    return fail_type(at, node, "capture", "a mapping or a list of mappings");
  if (config->num_windows == PPI_SCHEDULE_MAX_RULES)
    return REFUSE(at, node, "more than %d windows", PPI_SCHEDULE_MAX_RULES);
  ppi_config_window *window = &config->windows[config->num_windows];
  memset(window, 0, sizeof *window);
  pprof_status status = set_fallbacks("capture[].", window);
  if (status == PPROF_STATUS_OK)
    status = read_map(at, node, "capture[].", window);
  if (status == PPROF_STATUS_OK) status = check_window(at, node, window);
  if (status == PPROF_STATUS_OK) config->num_windows++;
  return status;
}

static pprof_status read_windows(const walk *at, const ppi_yaml_node *node) {
  at->config->num_windows = 0;
  if (node->kind != PPI_YAML_LIST) return read_window(at, node);
  if (node->num_children == 0)
    return REFUSE(at, node, "'capture' needs at least one window");
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    pprof_status status = read_window(at, item);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

static pprof_status read_export(const walk *at, const ppi_yaml_node *node) {
  ppi_config *config = at->config;
  if (node->kind != PPI_YAML_MAP)
    return fail_type(at, node, "exports", "a list of mappings");
  if (config->num_exports == PPI_CONFIG_MAX_EXPORTS)
    return REFUSE(at, node, "more than %d exports", PPI_CONFIG_MAX_EXPORTS);
  ppi_config_export *item = &config->exports[config->num_exports];
  memset(item, 0, sizeof *item);
  pprof_status status = read_map(at, node, "exports[].", item);
  if (status != PPROF_STATUS_OK) return status;
  if (!ppi_yaml_find(node, "format"))
    return REFUSE(at, node, "an export needs 'format'");
  if (!ppi_yaml_find(node, "path"))
    return REFUSE(at, node, "an export needs 'path'");
  const ppi_yaml_node *shown = ppi_yaml_find(node, "views");
  if (shown && item->format == PPI_EXPORT_CHROME)
    return REFUSE(at, shown, "a Chrome trace has no 'views'");
  config->num_exports++;
  return PPROF_STATUS_OK;
}

static pprof_status read_exports(const walk *at, const ppi_yaml_node *node) {
  at->config->num_exports = 0;
  if (node->kind != PPI_YAML_LIST)
    return fail_type(at, node, "exports", "a list of mappings");
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    pprof_status status = read_export(at, item);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

ppi_config_rules ppi_config_rules_of(ppi_config *config, const ppi_key *key) {
  ppi_nvtx_options *nvtx = &config->nvtx;
  if (key->offset == AT(nvtx.domains))
    return (ppi_config_rules){&nvtx->num_domains, nvtx->domains};
  return (ppi_config_rules){&nvtx->num_categories, nvtx->categories};
}

static pprof_status read_rules(const walk *at, const ppi_yaml_node *node,
                               const ppi_key *key) {
  ppi_config_rules rules = ppi_config_rules_of(at->config, key);
  if (node->kind != PPI_YAML_MAP)
    return fail_type(at, node, node->key, "a mapping of names to categories");
  return ppi_config_read_rules(node, at->source, &rules, at->error);
}

static pprof_status read_nested(const walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, void *base) {
  if (node->kind != PPI_YAML_MAP)
    return fail_type(at, node, key->path, "a mapping");
  char prefix[MAX_PATH];
  snprintf(prefix, sizeof prefix, "%s.", key->path);
  return read_map(at, node, prefix, base);
}

static pprof_status read_value(const walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, void *base) {
  const char *name = node->key;
  void *out = (char *)base + key->offset;
  if (is_null(node)) return REFUSE(at, node, "'%s' needs a value", name);
  switch (key->type) {
    case PPI_KEY_COUNT:
    case PPI_KEY_SIZE:
    case PPI_KEY_DURATION:
      return read_number(at, node, key, name, out);
    case PPI_KEY_BOOL:
      return read_bool(at, node, name, out);
    case PPI_KEY_CHOICE:
      return read_choice(at, node, key, name, out);
    case PPI_KEY_CHOICES:
      return read_choices(at, node, key, name, out);
    case PPI_KEY_TEXT:
    case PPI_KEY_PATH:
      return read_text(at, node, key, name, out);
    case PPI_KEY_VIEWS:
      return read_views(at, node, key, name, out);
    case PPI_KEY_STEPS:
      return read_steps(at, node, key, name, out);
    case PPI_KEY_MAP:
      return read_nested(at, node, key, base);
    case PPI_KEY_WINDOWS:
      return read_windows(at, node);
    case PPI_KEY_EXPORTS:
      return read_exports(at, node);
    case PPI_KEY_RULES:
      return read_rules(at, node, key);
  }
  return PPROF_STATUS_INVALID;
}

static pprof_status read_map(const walk *at, const ppi_yaml_node *node,
                             const char *prefix, void *base) {
  for (const ppi_yaml_node *child = node->children; child;
       child = child->next) {
    const ppi_key *key = find_key(prefix, child->key);
    if (!key) return fail_unknown(at, child, prefix);
    pprof_status status = read_value(at, child, key, base);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

// Defaults are read by the code that reads files, so the table cannot hold one
// that would be refused there.
static pprof_status set_fallbacks(const char *prefix, void *base) {
  size_t len = strlen(prefix);
  walk at = {base, "default", NULL};
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (strncmp(key->path, prefix, len) != 0 || !key->fallback ||
        key->type >= PPI_KEY_VIEWS || key->type == PPI_KEY_CHOICES ||
        (!*prefix && strchr(key->path, '[')))
      continue;
    ppi_yaml_node node = {.kind = PPI_YAML_SCALAR,
                          .key = (char *)key->path,
                          .text = (char *)key->fallback};
    pprof_status status = read_value(&at, &node, key, base);
    if (status != PPROF_STATUS_OK) return status;
    if (key->type == PPI_KEY_TEXT || key->type == PPI_KEY_PATH)
      ((ppi_config_text *)(void *)((char *)base + key->offset))->where[0] = 0;
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_config_defaults(ppi_config *config) {
  memset(config, 0, sizeof *config);
  return set_fallbacks("", config);
}

pprof_status ppi_config_apply(ppi_config *config, const ppi_yaml *yaml,
                              pprof_error *error) {
  if (!yaml->root || is_null(yaml->root)) return PPROF_STATUS_OK;
  walk at = {config, yaml->source, error};
  if (yaml->root->kind != PPI_YAML_MAP)
    return REFUSE(&at, yaml->root, "a configuration is a mapping of keys");
  return read_map(&at, yaml->root, "", config);
}

pprof_status ppi_config_check(const ppi_config *config, pprof_error *error) {
  if (!config->log && config->num_exports == 0)
    return ppi_fail(error, PPROF_STATUS_CONFIG,
                    "nothing to write: 'log' is false and there are no"
                    " 'exports'");
  return PPROF_STATUS_OK;
}

// A span [a, b) has one step of warm-up before it, as Paddle's tuple has.
static ppi_schedule_rule rule_of(const ppi_config_window *window) {
  if (!window->has_steps)
    return (ppi_schedule_rule){window->skip_first, window->wait, window->warmup,
                               window->active, window->repeat};
  uint64_t from = window->steps[0], warmup = from > 0;
  return (ppi_schedule_rule){from - warmup, 0, warmup, window->steps[1] - from,
                             1};
}

void ppi_config_schedule(const ppi_config *config, ppi_schedule *out) {
  memset(out, 0, sizeof *out);
  out->num_rules = config->num_windows;
  for (size_t i = 0; i < out->num_rules; i++)
    out->rules[i] = rule_of(&config->windows[i]);
}
