// SPDX-License-Identifier: Apache-2.0
//
// Parses --threshold, --fail-on and the like.
#include "compare/compare_wanted.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/suggest.h"

bool ppi_wanted_number(const char *option, const char *text, size_t least,
                       size_t *out) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (isdigit((unsigned char)text[0]) && !*end && !errno && number >= least &&
      number <= 1000000000) {
    *out = (size_t)number;
    return true;
  }
  ppi_tool_say("'--%s %s' is no whole number from %zu to 1000000000", option,
               text, least);
  return false;
}

bool ppi_wanted_percent(const char *text, size_t len, double *out) {
  char copy[32], *end;
  if (len < 2 || len >= sizeof copy || text[len - 1] != '%' ||
      !isdigit((unsigned char)text[0]))
    return false;
  memcpy(copy, text, len - 1);
  copy[len - 1] = '\0';
  if (strspn(copy, "0123456789.") != len - 1) return false;
  double percent = strtod(copy, &end);
  if (*end || percent < 0 || percent > 1000) return false;
  *out = percent / 100;
  return true;
}

static int refuse_threshold(const char *item, size_t len, const char *why) {
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "--threshold '%.*s': %s; write P%%, METRIC=P%% or "
                       "STAGE.METRIC=P%%, such as decode.p99=5%%",
                       (int)len, item, why);
}

// A name may contain dots and equals signs, so both are looked for from behind.
static int parse_threshold(const char *item, size_t len, ppi_wanted *out) {
  const char *equals = memrchr(item, '=', len);
  if (!equals)
    return ppi_wanted_percent(item, len, &out->margin)
               ? PPI_EXIT_DONE
               : refuse_threshold(item, len, "is no percentage up to 1000 %");
  if (out->num_thresholds == PPI_MAX_THRESHOLDS)
    return refuse_threshold(item, len, "is one too many");
  ppi_threshold *threshold = &out->thresholds[out->num_thresholds];
  size_t figure_len = (size_t)(equals - item);
  const char *dot = memrchr(item, '.', figure_len);
  const char *metric = dot ? dot + 1 : item;
  size_t name_len = dot ? (size_t)(dot - item) : 1;
  if (name_len >= sizeof threshold->pattern)
    return refuse_threshold(item, len, "has too long a name");
  memcpy(threshold->pattern, dot ? item : "*", name_len);
  threshold->pattern[name_len] = '\0';
  if (!ppi_metric_find(metric, (size_t)(equals - metric), &threshold->metric))
    return refuse_threshold(item, len,
                            "the metric is none of mean, p50, p90,"
                            " p99, energy, energy_per_item");
  if (!ppi_wanted_percent(equals + 1, len - figure_len - 1, &threshold->margin))
    return refuse_threshold(item, len, "ends in no percentage up to 1000 %");
  out->num_thresholds++;
  return PPI_EXIT_DONE;
}

static int parse_verdict(const char *item, size_t len, ppi_wanted *out) {
  struct ppi_tool_candidate candidate = {.wrong = item, .wrong_len = len};
  if (len == 4 && memcmp(item, "none", 4) == 0) return PPI_EXIT_DONE;
  for (unsigned i = 0; i < PPI_NUM_VERDICTS; i++) {
    const char *name = ppi_verdict_name((ppi_verdict)i);
    ppi_tool_candidate_offer(&candidate, name, strlen(name));
    if (strlen(name) != len || memcmp(name, item, len) != 0) continue;
    out->fails[i] = true;
    return PPI_EXIT_DONE;
  }
  return ppi_tool_refuse(
      &candidate, "", "",
      "--fail-on '%.*s' is none of faster, slower, same, ambiguous, none",
      (int)len, item);
}

static int parse_list(const char *text, ppi_wanted *out,
                      int (*parse)(const char *, size_t, ppi_wanted *)) {
  int code = PPI_EXIT_DONE;
  for (const char *at = text; at && code == PPI_EXIT_DONE;) {
    size_t len = strcspn(at, ",");
    code = parse(at, len, out);
    at = at[len] ? at + len + 1 : NULL;
  }
  return code;
}

int ppi_wanted_parse(const struct ppi_tool_options *options, ppi_wanted *out) {
  *out = (ppi_wanted){.stages = options->stage, .margin = 0.01};
  ppi_metric_find(options->compare.metric, strlen(options->compare.metric),
                  &out->metric);
  out->num_warm = options->warmup == LONG_MIN ? 1 : (size_t)options->warmup;
  int code =
      parse_list(options->compare.fail_on ? options->compare.fail_on : "slower",
                 out, parse_verdict);
  if (code == PPI_EXIT_DONE && options->threshold)
    code = parse_list(options->threshold, out, parse_threshold);
  return code;
}

static bool matches(const char *pattern, const char *name) {
  return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

bool ppi_wanted_matches(const char *patterns, const char *name) {
  for (const char *at = patterns; at;) {
    char pattern[256];
    size_t len = strcspn(at, ",");
    if (len < sizeof pattern) {
      memcpy(pattern, at, len);
      pattern[len] = '\0';
      if (matches(pattern, name)) return true;
    }
    at = at[len] ? at + len + 1 : NULL;
  }
  return false;
}

bool ppi_wanted_energy(const ppi_wanted *wanted) {
  bool has = ppi_metric_is_energy(wanted->metric);
  for (size_t i = 0; i < wanted->num_thresholds; i++)
    has |= ppi_metric_is_energy(wanted->thresholds[i].metric);
  return has;
}

bool ppi_wanted_has(const ppi_wanted *wanted, const ppi_compare_stage *stage) {
  return !wanted->stages || ppi_wanted_matches(wanted->stages, stage->name);
}

double ppi_wanted_margin(ppi_wanted *wanted, const ppi_compare_stage *stage,
                         ppi_metric metric) {
  // `--metric energy` stands for a call's energy and an item's.
  bool is_wanted =
      metric == wanted->metric || (wanted->metric == PPI_METRIC_ENERGY &&
                                   metric == PPI_METRIC_ENERGY_PER_ITEM);
  double margin = is_wanted ? wanted->margin : -1;
  if (ppi_metric_is_energy(metric) || stage->energy)
    if (metric != stage->energy) return -1;
  for (size_t i = 0; i < wanted->num_thresholds; i++) {
    ppi_threshold *threshold = &wanted->thresholds[i];
    if (threshold->metric != metric ||
        !matches(threshold->pattern, stage->name))
      continue;
    threshold->is_used = true;
    margin = threshold->margin;
  }
  return margin;
}
