// SPDX-License-Identifier: Apache-2.0
//
// Reads the key `capture`: windows of five kinds, each recognized by its keys.
#include "schema/schema_capture.h"

#include <string.h>

#include "base/base.h"
#include "schema/schema.h"

#define BIT(kind) (1u << PPI_WINDOW_##kind)

// The kinds of window that have a key. A window has keys of one kind only, with
// the key that defines it.
static const struct window_key {
  const char *name;
  unsigned kinds;
} window_keys[] = {
    {"skip_first", BIT(CYCLE)}, {"skip_first_wait", BIT(CYCLE)},
    {"wait", BIT(CYCLE)},       {"warmup", BIT(CYCLE)},
    {"active", BIT(CYCLE)},     {"repeat", BIT(CYCLE) | BIT(TIME)},
    {"steps", BIT(SPAN)},       {"delay", BIT(TIME)},
    {"duration", BIT(TIME)},    {"every", BIT(TIME)},
    {"at", BIT(TIME)},          {"marker", BIT(MARKER)},
    {"from", BIT(MARKER)},      {"to", BIT(MARKER)},
    {"then", BIT(MARKER)},      {"on_demand", BIT(DEMAND)},
};
#define NUM_WINDOW_KEYS (sizeof window_keys / sizeof *window_keys)

static const char *const needed[PPI_NUM_WINDOW_KINDS] = {
    "active", "steps", "duration", "marker", "on_demand"};

static unsigned kinds_of(const char *name) {
  for (size_t i = 0; i < NUM_WINDOW_KEYS; i++)
    if (strcmp(window_keys[i].name, name) == 0) return window_keys[i].kinds;
  return 0;
}

bool ppi_window_has_key(ppi_window_kind kind, const char *name) {
  return kinds_of(name) >> kind & 1;
}

const char *ppi_window_needs(ppi_window_kind kind) {
  return needed[kind];
}

// The kind that all keys of the window share. Unknown keys were refused before.
static pprof_status find_kind(const ppi_walk *at, const ppi_yaml_node *node,
                              uint64_t *out) {
  unsigned kinds = (1u << PPI_NUM_WINDOW_KINDS) - 1;
  const ppi_yaml_node *first = node->children;
  for (const ppi_yaml_node *key = first; key; key = key->next) {
    unsigned of_key = kinds_of(key->key);
    if (!(kinds & of_key)) {
      ppi_yaml_mark mark = {key->key_line, key->key_column};
      return ppi_yaml_fail(at->source, mark, at->error,
                           "'%s' and '%s' do not go together in one window",
                           first->key, key->key);
    }
    // The message names the key that fits fewer kinds.
    if ((kinds & of_key) != kinds) first = key;
    kinds &= of_key;
  }
  for (uint64_t kind = 0; kind < PPI_NUM_WINDOW_KINDS; kind++) {
    if (!(kinds >> kind & 1) || !ppi_yaml_find(node, needed[kind])) continue;
    *out = kind;
    return PPROF_STATUS_OK;
  }
  return PPI_REFUSE(at, node,
                    "a window needs 'active', 'steps', 'duration', 'marker'"
                    " or 'on_demand'");
}

static pprof_status check_time(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_config_window *window) {
  const ppi_yaml_node *every = ppi_yaml_find(node, "every");
  const ppi_yaml_node *repeat = ppi_yaml_find(node, "repeat");
  if (every && window->every_us < window->duration_us)
    return PPI_REFUSE(at, every, "'every' must not be less than 'duration'");
  if (repeat && !every) return PPI_REFUSE(at, repeat, "'repeat' needs 'every'");
  return PPROF_STATUS_OK;
}

static pprof_status check_marker(const ppi_walk *at, const ppi_yaml_node *node,
                                 ppi_config_window *window) {
  const ppi_yaml_node *name = ppi_yaml_find(node, "marker");
  const size_t room = sizeof((ppi_capture_marker *)0)->name;
  if (strlen(window->marker.text) >= room)
    return PPI_REFUSE(at, name, "'marker' is longer than %zu bytes", room - 1);
  if (!ppi_yaml_find(node, "to")) window->to = window->from;
  if (window->to < window->from)
    return PPI_REFUSE(at, ppi_yaml_find(node, "to"),
                      "'to' must not be less than 'from'");
  return PPROF_STATUS_OK;
}

static pprof_status check_window(const ppi_walk *at, const ppi_yaml_node *node,
                                 ppi_config_window *window) {
  PPI_TRY(find_kind(at, node, &window->kind));
  if (window->kind == PPI_WINDOW_TIME) return check_time(at, node, window);
  if (window->kind == PPI_WINDOW_MARKER) return check_marker(at, node, window);
  if (window->kind == PPI_WINDOW_DEMAND && !window->on_demand)
    return PPI_REFUSE(at, ppi_yaml_find(node, "on_demand"),
                      "'on_demand' must be true");
  return PPROF_STATUS_OK;
}

// The extent of a window that opens once, in steps or in microseconds from its
// origin.
typedef struct extent {
  uint64_t base, from, until;
  bool known;
} extent;

static extent extent_of(const ppi_config_window *window) {
  if (window->kind == PPI_WINDOW_SPAN)
    return (extent){UINT64_MAX, window->steps[0], window->steps[1], true};
  uint64_t from = window->delay_us;
  return (extent){window->at_realtime_ns, from, from + window->duration_us,
                  window->kind == PPI_WINDOW_TIME && window->every_us == 0};
}

// Two windows that certainly overlap are a mistake: one would be cut. Where
// repeating windows overlap, recording wins.
static pprof_status check_overlap(const ppi_walk *at,
                                  const ppi_yaml_node *node) {
  const ppi_config *config = at->config;
  extent mine = extent_of(&config->windows[config->num_windows]);
  for (uint64_t i = 0; i < config->num_windows && mine.known; i++) {
    extent other = extent_of(&config->windows[i]);
    if (other.known && other.base == mine.base && other.from < mine.until &&
        mine.from < other.until)
      return PPI_REFUSE(at, node, "window %llu overlaps window %llu",
                        (unsigned long long)config->num_windows + 1,
                        (unsigned long long)i + 1);
  }
  return PPROF_STATUS_OK;
}

static pprof_status read_window(const ppi_walk *at, const ppi_yaml_node *node) {
  ppi_config *config = at->config;
  if (node->kind != PPI_YAML_MAP)
    return ppi_walk_fail_type(
        at, node, "capture",
        "a mapping such as {steps: [10, 20]}, or a list of them");
  if (config->num_windows == PPI_SCHEDULE_MAX_RULES)
    return PPI_REFUSE(at, node, "more than %d windows", PPI_SCHEDULE_MAX_RULES);
  ppi_config_window *window = &config->windows[config->num_windows];
  memset(window, 0, sizeof *window);
  pprof_status status = ppi_walk_fallbacks(at, "capture[].", window);
  PPI_THEN(status, ppi_walk_map(at, node, "capture[].", window));
  if (status == PPROF_STATUS_OK) status = check_window(at, node, window);
  if (status == PPROF_STATUS_OK) status = check_overlap(at, node);
  if (status == PPROF_STATUS_OK) config->num_windows++;
  return status;
}

pprof_status ppi_walk_windows(const ppi_walk *at, const ppi_yaml_node *node) {
  at->config->num_windows = 0;
  if (node->kind != PPI_YAML_LIST) return read_window(at, node);
  if (node->num_children == 0)
    return PPI_REFUSE(at, node, "'capture' needs at least one window");
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *item = node->children; item; item = item->next)
    if (!ppi_walk_goes_on(at, read_window(at, item), &first)) break;
  return first;
}

// A span [a, b) has one step of warm-up before it, like Paddle's tuple.
static ppi_schedule_rule steps_of(const ppi_config_window *window) {
  if (window->kind == PPI_WINDOW_CYCLE)
    return (ppi_schedule_rule){.skip_first = window->skip_first,
                               .wait = window->wait,
                               .warmup = window->warmup,
                               .active = window->active,
                               .repeat = window->repeat,
                               .skip_first_wait = window->skip_first_wait};
  uint64_t from = window->steps[0], warmup = from > 0;
  return (ppi_schedule_rule){.skip_first = from - warmup,
                             .warmup = warmup,
                             .active = window->steps[1] - from,
                             .repeat = 1};
}

static ppi_capture_rule rule_of(const ppi_config_window *window) {
  ppi_capture_rule rule = {.kind = PPI_CAPTURE_STEPS};
  switch ((ppi_window_kind)window->kind) {
    case PPI_WINDOW_CYCLE:
    case PPI_WINDOW_SPAN:
      rule.steps = steps_of(window);
      break;
    case PPI_WINDOW_TIME:
      rule.kind = PPI_CAPTURE_TIME;
      rule.time = (ppi_capture_time){.delay_ns = window->delay_us * 1000,
                                     .duration_ns = window->duration_us * 1000,
                                     .every_ns = window->every_us * 1000,
                                     .repeat = window->repeat,
                                     .at_realtime_ns = window->at_realtime_ns};
      break;
    case PPI_WINDOW_MARKER:
      rule.kind = PPI_CAPTURE_MARKER;
      strcpy(rule.marker.name, window->marker.text);
      rule.marker.from = window->from;
      rule.marker.to = window->to;
      rule.marker.again = window->then_repeats != 0;
      break;
    case PPI_WINDOW_DEMAND:
      rule.kind = PPI_CAPTURE_DEMAND;
      break;
  }
  return rule;
}

void ppi_config_capture(const ppi_config *config, ppi_capture *out) {
  memset(out, 0, sizeof *out);
  out->num_rules = config->num_windows;
  for (size_t i = 0; i < out->num_rules; i++)
    out->rules[i] = rule_of(&config->windows[i]);
}
