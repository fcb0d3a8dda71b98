// SPDX-License-Identifier: Apache-2.0
//
// Reads thresholds of findings from one option.
#include "verb/thresholds.h"

#include <stdlib.h>

#include "cli/say.h"
#include "cli/suggest.h"

static int refuse_id(const char *id, size_t len) {
  struct ppi_tool_candidate candidate = {.wrong = id, .wrong_len = len};
  for (size_t i = 0; i < ppi_finding_num_rules(); i++) {
    const char *known = ppi_finding_rule_at(i)->id;
    ppi_tool_candidate_offer(&candidate, known, strlen(known));
  }
  return ppi_tool_refuse(&candidate, "", "; see docs/findings.md",
                         "--threshold: there is no finding '%.*s'", (int)len,
                         id);
}

static const ppi_finding_rule *rule_of(const char *id, size_t len) {
  for (size_t i = 0; i < ppi_finding_num_rules(); i++) {
    const ppi_finding_rule *rule = ppi_finding_rule_at(i);
    if (strlen(rule->id) == len && memcmp(rule->id, id, len) == 0) return rule;
  }
  return NULL;
}

// The unit is optional: "30" and "30%" are the same.
static bool read_number(const char *text, size_t len,
                        const ppi_finding_rule *rule, double *out) {
  char number[32];
  if (len == 0 || len >= sizeof number) return false;
  memcpy(number, text, len);
  number[len] = '\0';
  char *end;
  *out = strtod(number, &end);
  return end != number && (!*end || strcmp(end, rule->unit) == 0);
}

// ID=NUMBER
static int read_one(const char *text, size_t len, ppi_findings_options *out) {
  const char *equals = memchr(text, '=', len);
  size_t id_len = equals ? (size_t)(equals - text) : len;
  const ppi_finding_rule *rule = rule_of(text, id_len);
  if (!rule) return refuse_id(text, id_len);
  double value;
  if (equals && read_number(equals + 1, len - id_len - 1, rule, &value) &&
      ppi_findings_set(out, rule->id, value) == PPROF_STATUS_OK)
    return PPI_EXIT_DONE;
  return ppi_tool_fail(
      PPI_EXIT_USAGE, "--threshold: '%.*s' is not %s=NUMBER, such as %s=%g%s",
      (int)len, text, rule->id, rule->id, rule->threshold, rule->unit);
}

int ppi_tool_thresholds_read(const char *text, ppi_findings_options *out) {
  *out = (ppi_findings_options){0};
  int code = PPI_EXIT_DONE;
  while (text && code == PPI_EXIT_DONE) {
    size_t len = strcspn(text, ",");
    code = read_one(text, len, out);
    text = text[len] ? text + len + 1 : NULL;
  }
  return code;
}

int ppi_tool_peaks_read(const char *text, ppi_peaks *out) {
  ppi_peaks peaks = {.num = 0};
  pprof_error error;
  if (text && ppi_peaks_parse(text, &peaks, &error) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_USAGE, "--peak: %s", error.text);
  if (out) *out = peaks;
  return PPI_EXIT_DONE;
}
