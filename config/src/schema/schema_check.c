// SPDX-License-Identifier: Apache-2.0
//
// Checks a configuration as a whole: values that depend on each other, changes,
// origins, and the session's settings.
#include <string.h>

#include "base/base.h"
#include "live/live_metrics.h"
#include "log/write/log_writer.h"
#include "names/names.h"
#include "schema/schema.h"
#include "view/report_options.h"

static const ppi_key *key_of(const char *path) {
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (strcmp(ppi_keys[i].path, path) == 0) return &ppi_keys[i];
  return NULL;
}

const char *ppi_config_origin(const ppi_config *config, const ppi_key *key) {
  const char *origin = config->origins[key - ppi_keys];
  return *origin ? origin : "default";
}

bool ppi_config_is_given(const ppi_config *config, const char *path) {
  const ppi_key *key = key_of(path);
  return key && strcmp(ppi_config_origin(config, key), "default") != 0;
}

void ppi_config_set_origin(ppi_config *config, const char *path,
                           const char *origin) {
  const ppi_key *key = key_of(path);
  if (!key) return;
  snprintf(config->origins[key - ppi_keys], PPI_CONFIG_MAX_WHERE, "%s", origin);
}

// Refuses the value of the key `path`.
static pprof_status refuse(const ppi_config *config, pprof_error *error,
                           const char *path, const char *what) {
  const char *origin = config->origins[key_of(path) - ppi_keys];
  return ppi_fail(error, PPROF_STATUS_CONFIG, "%s%s%s", origin,
                  *origin ? ": " : "", what);
}

static pprof_status check_timer_only(const ppi_config *config,
                                     pprof_error *error) {
  if (!config->timer_only) return PPROF_STATUS_OK;
  if (config->num_windows > 0)
    return refuse(config, error, "capture",
                  "'mode: timer_only' goes with no 'capture'");
  if (config->include.num > 0)
    return refuse(config, error, "include",
                  "'mode: timer_only' goes with no 'include'");
  if (config->exclude.num > 0)
    return refuse(config, error, "exclude",
                  "'mode: timer_only' goes with no 'exclude'");
  return PPROF_STATUS_OK;
}

pprof_status ppi_config_refuse_taken(const ppi_config_text *from,
                                     const char *path, pprof_error *error) {
  return ppi_fail(
      error, PPROF_STATUS_CONFIG, "%s: two outputs have the path '%s'",
      from->where[0] ? from->where : "output", ppi_quote_of(path).text);
}

// Two outputs at one path would overwrite each other. Names that become equal
// only when they are made are refused then.
static pprof_status check_paths(const ppi_config *config, pprof_error *error) {
  const ppi_config_text *paths[PPI_CONFIG_MAX_EXPORTS + 3];
  size_t num = 0;
  if (config->log) paths[num++] = &config->output;
  if (config->flight.given) paths[num++] = &config->flight.output;
  if (*config->metrics.file.text) paths[num++] = &config->metrics.file;
  for (uint64_t i = 0; i < config->num_exports; i++)
    paths[num++] = &config->exports[i].path;
  for (size_t i = 1; i < num; i++)
    for (size_t j = 0; j < i; j++)
      if (*paths[i]->text && strcmp(paths[i]->text, paths[j]->text) == 0)
        return ppi_config_refuse_taken(paths[i], paths[i]->text, error);
  return PPROF_STATUS_OK;
}

static pprof_status check_segments(const ppi_config *config,
                                   pprof_error *error) {
  char what[128];
  if (config->rotate_keep > 0 && config->rotate_bytes == 0)
    return refuse(config, error, "rotate.keep",
                  "'rotate.keep' needs 'rotate.size'");
  uint64_t least = ppi_log_rotation_least_disk(config->rotate_bytes);
  if (!config->log || !config->rotate_bytes || !config->disk_limit_bytes ||
      config->disk_limit_bytes >= least)
    return PPROF_STATUS_OK;
  snprintf(what, sizeof what,
           "'disk_limit' must be at least %lluKiB, twice 'rotate.size' and"
           " 512KiB",
           (unsigned long long)(least + 1023) / 1024);
  return refuse(config, error, "disk_limit", what);
}

// A page is made from the log, as one file.
static pprof_status check_pages(const ppi_config *config, pprof_error *error) {
  for (uint64_t i = 0; i < config->num_exports; i++) {
    if (config->exports[i].format != PPI_EXPORT_HTML) continue;
    if (!config->log)
      return refuse(config, error, "exports",
                    "an export with 'format: html' needs the log: 'log' is"
                    " false");
    if (config->rotate_bytes)
      return refuse(config, error, "exports",
                    "an export with 'format: html' needs the log in one file,"
                    " without 'rotate.size'");
  }
  return PPROF_STATUS_OK;
}

static pprof_status check_buckets(const ppi_config *config,
                                  pprof_error *error) {
  uint64_t bounds_ns[PPI_LIVE_MAX_BOUNDS];
  const char *text = config->metrics.buckets.text;
  if (ppi_metrics_bounds(text, ppi_parse_duration, bounds_ns))
    return PPROF_STATUS_OK;
  return refuse(config, error, "metrics.buckets",
                "'metrics.buckets' must be usual, genai, or at most 24 rising"
                " times such as \"1ms 10ms 1s\"");
}

static pprof_status check_cost(const ppi_config *config, pprof_error *error) {
  const ppi_config_globs *peaks = &config->cost.peaks;
  ppi_peaks parsed;
  pprof_error why;
  if (config->cost.given && !config->cost.models.num && !peaks->num)
    return refuse(config, error, "cost", "'cost' has no models and no peaks");
  if (config->cost.models.num > PPI_MAX_COSTS)
    return refuse(config, error, "cost.models", "more than 16 models");
  if (peaks->num > PPI_MAX_PEAKS)
    return refuse(config, error, "cost.peaks", "more than 16 peaks");
  for (uint64_t i = 0; i < peaks->num; i++)
    if (ppi_peaks_parse(peaks->items[i], &parsed, &why) != PPROF_STATUS_OK)
      return refuse(config, error, "cost.peaks", why.text);
  return PPROF_STATUS_OK;
}

static pprof_status check_run(const ppi_config *config, pprof_error *error) {
  const ppi_config_globs *variables = &config->run.environment;
  for (uint64_t i = 0; i < variables->num; i++)
    if (strcspn(variables->items[i], "=") == 0 ||
        !strchr(variables->items[i], '='))
      return refuse(config, error, "run.environment",
                    "'run.environment' needs variables as NAME=value");
  return PPROF_STATUS_OK;
}

pprof_status ppi_config_check(const ppi_config *config, pprof_error *error) {
  if (!config->log && config->num_exports == 0 && !config->flight.given &&
      !config->report && !config->is_heard && !*config->metrics.file.text)
    return ppi_fail(error, PPROF_STATUS_CONFIG,
                    "nothing to write: 'log' is false and there are no"
                    " 'exports', no 'flight_recorder' and no 'report'");
  if (config->flight.given &&
      config->flight.memory_bytes > config->memory_limit_bytes / 2)
    return refuse(config, error, "flight_recorder.memory",
                  "'flight_recorder.memory' must be at most half of"
                  " 'memory_limit'");
  pprof_status status = check_buckets(config, error);
  if (status == PPROF_STATUS_OK) status = check_cost(config, error);
  if (status == PPROF_STATUS_OK) status = check_run(config, error);
  if (status == PPROF_STATUS_OK) status = check_segments(config, error);
  if (status == PPROF_STATUS_OK) status = check_pages(config, error);
  if (status == PPROF_STATUS_OK) status = check_paths(config, error);
  return status == PPROF_STATUS_OK ? check_timer_only(config, error) : status;
}

bool ppi_config_same_globs(const ppi_config_globs *a,
                           const ppi_config_globs *b) {
  bool same = a->num == b->num;
  for (uint64_t i = 0; same && i < a->num; i++)
    same = strcmp(a->items[i], b->items[i]) == 0;
  return same;
}

static bool same_rules(const ppi_config *a, const ppi_config *b,
                       const ppi_key *key) {
  ppi_config_rules mine = ppi_config_rules_of((ppi_config *)a, key);
  ppi_config_rules other = ppi_config_rules_of((ppi_config *)b, key);
  bool same = *mine.num == *other.num;
  for (uint64_t i = 0; same && i < *mine.num; i++)
    same = strcmp(mine.items[i].from, other.items[i].from) == 0 &&
           strcmp(mine.items[i].category, other.items[i].category) == 0;
  return same;
}

static bool same_exports(const ppi_config *a, const ppi_config *b) {
  bool same = a->num_exports == b->num_exports;
  for (uint64_t i = 0; same && i < a->num_exports; i++) {
    const ppi_config_export *mine = &a->exports[i], *other = &b->exports[i];
    same = mine->format == other->format &&
           mine->per_window == other->per_window &&
           strcmp(mine->path.text, other->path.text) == 0 &&
           strcmp(mine->views.text, other->views.text) == 0;
  }
  return same;
}

// For keys outside of lists that do not reload.
static bool same_value(const ppi_config *a, const ppi_config *b,
                       const ppi_key *key) {
  const void *mine = (const char *)a + key->offset;
  const void *other = (const char *)b + key->offset;
  switch (key->type) {
    case PPI_KEY_EXPORTS:
      return same_exports(a, b);
    case PPI_KEY_RULES:
      return same_rules(a, b, key);
    case PPI_KEY_GLOBS:
      return ppi_config_same_globs(mine, other);
    case PPI_KEY_TEXT:
    case PPI_KEY_PATH:
    case PPI_KEY_VIEWS:
      return strcmp(((const ppi_config_text *)mine)->text,
                    ((const ppi_config_text *)other)->text) == 0;
    case PPI_KEY_MAP:
      return key->offset == 0 ||
             *(const uint64_t *)mine == *(const uint64_t *)other;
    default:
      return *(const uint64_t *)mine == *(const uint64_t *)other;
  }
}

const char *ppi_config_fixed_change(const ppi_config *old,
                                    const ppi_config *now) {
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (key->reloads || strchr(key->path, '[')) continue;
    if (!same_value(old, now, key)) return key->path;
  }
  return NULL;
}

static size_t borrow(const ppi_config_globs *globs, const char **out) {
  for (uint64_t i = 0; i < globs->num; i++) out[i] = globs->items[i];
  return globs->num;
}

static size_t categorise(const ppi_config *config, ppi_config_chosen *out) {
  size_t num = borrow(&config->idle, out->categorised);
  for (size_t i = 0; i < num; i++) out->categories[i] = PPROF_CATEGORY_IDLE;
  for (uint64_t i = 0; i < config->num_categorised; i++, num++) {
    out->categorised[num] = config->categorised[i].from;
    out->categories[num] = ppi_category_find(config->categorised[i].category);
  }
  return num;
}

void ppi_config_choice(const ppi_config *config, ppi_config_chosen *out) {
  memset(out, 0, sizeof *out);
  out->choice = (ppi_choice){
      .include = out->include,
      .num_include = borrow(&config->include, out->include),
      .exclude = out->exclude,
      .num_exclude = borrow(&config->exclude, out->exclude),
      .allow = out->allow,
      .num_allow = borrow(&config->allow, out->allow),
      .cpu = out->cpu,
      .num_cpu = borrow(&config->cpu, out->cpu),
      .keep = out->keep,
      .num_keep = borrow(&config->keep, out->keep),
      .shapes = out->shapes,
      .num_shapes = borrow(&config->shapes, out->shapes),
      .categorised = out->categorised,
      .categories = out->categories,
      .num_categorised = categorise(config, out),
      .fold = config->fold,
      .full_names = config->full_names != 0,
      .timer_only = config->timer_only != 0,
      .hash_names = config->hash_names != 0,
      .requests_every = config->requests_every,
  };
}

size_t ppi_config_conditions(const ppi_config *config,
                             ppi_rule out[PPI_CONFIG_MAX_CONDITIONS]) {
  size_t num = 0;
  const ppi_config_flight *flight = &config->flight;
  for (uint64_t i = 0; i < flight->num_conditions; i++) {
    size_t column;
    char why[160];
    if (ppi_rule_parse(flight->conditions[i].text, &out[num], &column, why,
                       sizeof why) == PPROF_STATUS_OK)
      num++;
  }
  return num;
}
