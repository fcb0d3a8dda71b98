// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the request's line, "trigger steps=3 output=/path", for both
// ends.
#include "control/control_text.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "yaml/yaml_tree.h"

#define MAX_STEPS 1000000000000ull
#define MAX_SECONDS 10000000ull
#define SECOND_NS 1000000000ull

static const char one_of_them[] =
    "one of 'steps', 'seconds' and 'kernels' can be given";

static bool digits(const char **at, uint64_t limit, uint64_t *out) {
  const char *first = *at;
  *out = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++) {
    *out = *out * 10 + (uint64_t)(**at - '0');
    if (*out > limit) return false;
  }
  return *at > first;
}

// To the nanosecond, without rounding: finer numbers are refused.
bool ppi_trigger_seconds(const char *text, uint64_t *out_ns) {
  uint64_t whole, ns = 0;
  if (!digits(&text, MAX_SECONDS, &whole)) return false;
  if (*text == '.') {
    uint64_t unit = SECOND_NS;
    for (text++; *text >= '0' && *text <= '9' && unit > 1; text++) {
      unit /= 10;
      ns += unit * (uint64_t)(*text - '0');
    }
    if (unit == SECOND_NS) return false;
  }
  *out_ns = whole * SECOND_NS + ns;
  return *text == 0 && *out_ns > 0 && *out_ns <= MAX_SECONDS * SECOND_NS;
}

static pprof_status set_amount(const char *key, const char *value,
                               ppi_trigger *out, pprof_error *error) {
  const char *at = value;
  uint64_t number;
  if (strcmp(key, "steps") == 0 && digits(&at, MAX_STEPS, &number) && !*at &&
      number > 0) {
    out->steps = number;
    return PPROF_STATUS_OK;
  }
  bool kernels = strcmp(key, "kernels") == 0;
  if ((kernels || strcmp(key, "seconds") == 0) &&
      ppi_trigger_seconds(value, &number)) {
    if (out->ns) return ppi_fail(error, PPROF_STATUS_INVALID, one_of_them);
    out->ns = number;
    out->kernels = kernels;
    return PPROF_STATUS_OK;
  }
  return ppi_fail(error, PPROF_STATUS_INVALID, "'%s=%s' is not understood", key,
                  ppi_quote_of(value).text);
}

static pprof_status set_output(const char *value, ppi_trigger *out,
                               pprof_error *error) {
  if (value[0] != '/')
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "'output' must be an absolute path");
  if (strlen(value) >= sizeof out->output)
    return ppi_fail(error, PPROF_STATUS_INVALID, "the path is too long");
  strcpy(out->output, value);
  return PPROF_STATUS_OK;
}

// One "key=value"; *at moves past it. An output is the rest of the line: a path
// may contain blanks.
static pprof_status take_word(const char **at, ppi_trigger *out,
                              pprof_error *error) {
  static const char last[] = "output=";
  char word[64];
  size_t len = strcspn(*at, " ");
  if (strncmp(*at, last, sizeof last - 1) == 0) {
    const char *path = *at + sizeof last - 1;
    *at += strlen(*at);
    return set_output(path, out, error);
  }
  if (len >= sizeof word)
    return ppi_fail(error, PPROF_STATUS_INVALID, "'%s' is not understood",
                    ppi_quote_of(*at).text);
  memcpy(word, *at, len);
  word[len] = 0;
  *at += len;
  char *equals = strchr(word, '=');
  if (!equals)
    return ppi_fail(error, PPROF_STATUS_INVALID, "'%s' is not understood",
                    ppi_quote_of(word).text);
  *equals = 0;
  return set_amount(ppi_quote_of(word).text, equals + 1, out, error);
}

bool ppi_trigger_parse(const char *line, ppi_trigger *out, pprof_error *error) {
  static const char verb[] = "trigger";
  const char *at = line + strcspn(line, " ");
  *out = (ppi_trigger){0};
  if ((size_t)(at - line) != sizeof verb - 1 ||
      memcmp(line, verb, sizeof verb - 1) != 0) {
    ppi_fail(error, PPROF_STATUS_INVALID, "'%s' is no request",
             ppi_quote_of(line).text);
    return false;
  }
  for (at += strspn(at, " "); *at; at += strspn(at, " "))
    if (take_word(&at, out, error) != PPROF_STATUS_OK) return false;
  if (out->steps == 0 || out->ns == 0) return true;
  ppi_fail(error, PPROF_STATUS_INVALID, one_of_them);
  return false;
}

void ppi_trigger_print(const ppi_trigger *trigger,
                       char out[PPI_CONTROL_LINE_MAX]) {
  char amount[64] = "";
  if (trigger->steps)
    snprintf(amount, sizeof amount, " steps=%llu",
             (unsigned long long)trigger->steps);
  else if (trigger->ns)
    snprintf(amount, sizeof amount, " %s=%llu.%09llu",
             trigger->kernels ? "kernels" : "seconds",
             (unsigned long long)(trigger->ns / SECOND_NS),
             (unsigned long long)(trigger->ns % SECOND_NS));
  snprintf(out, PPI_CONTROL_LINE_MAX, "trigger%s%s%s\n", amount,
           trigger->output[0] ? " output=" : "", trigger->output);
}
