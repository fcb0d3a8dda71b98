// SPDX-License-Identifier: Apache-2.0
//
// Parses rules in one pass over the text. The first error is reported with its
// place.
#include "flight/rule.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"
#include "event/event.h"
#include "names/glob.h"

// ---- evaluation ----

// A stage by its site, a request by its flow, a quantile by two counts: by
// nearest rank, it is above a limit when fewer values than its rank are not
// above it.

enum {
  // Slices of a quantile's time; the oldest is dropped as a whole.
  NUM_SLICES = 64,
  // Requests remembered at a time: the one idle for longest is dropped first.
  NUM_SETS = 8192,
  WAYS = 8
};

typedef struct slice {
  uint64_t number;  // since the start of the run
  uint64_t num, num_over;
} slice;

typedef struct lookback {
  slice *slices;  // by number modulo NUM_SLICES; NULL: the rule is no quantile
  uint64_t slice_ns, last;
  uint64_t num, num_over;
  uint64_t since_ns;  // the first event of the name
  bool begun;
} lookback;

typedef struct request {
  uint64_t flow, start_ns, end_ns;
  uint32_t reported;  // rules that this request made true
  bool used;
} request;

struct ppi_rule_engine {
  size_t num;
  ppi_rule rules[PPI_MAX_RULES];
  lookback lookbacks[PPI_MAX_RULES];
  uint32_t by_request;  // rules, as bits
  uint32_t hashed;
  uint32_t *by_site;
  size_t num_sites, sites_capacity;
  request *requests;  // NUM_SETS * WAYS, when there is a rule for them
};

void ppi_rule_engine_destroy(ppi_rule_engine *engine) {
  if (!engine) return;
  for (size_t i = 0; i < engine->num; i++)
    ppi_free(engine->lookbacks[i].slices);
  PPI_FREE_ALL(engine->by_site, engine->requests, engine);
}

static bool prepare(ppi_rule_engine *engine, size_t i) {
  const ppi_rule *rule = &engine->rules[i];
  lookback *past = &engine->lookbacks[i];
  if (rule->kind == PPI_RULE_REQUEST) engine->by_request |= 1u << i;
  if (rule->kind != PPI_RULE_QUANTILE) return true;
  past->slice_ns = PPI_MAX(rule->over_ns / NUM_SLICES, 1u);
  past->slices = ppi_alloc(NUM_SLICES * sizeof *past->slices);
  return past->slices != NULL;
}

ppi_rule_engine *ppi_rule_engine_create(const ppi_rule *rules, size_t num) {
  ppi_rule_engine *engine = ppi_alloc(sizeof *engine);
  if (!engine) return NULL;
  bool good = true;
  engine->num = PPI_MIN(num, (size_t)PPI_MAX_RULES);
  for (size_t i = 0; i < engine->num; i++) {
    engine->rules[i] = rules[i];
    good = good && prepare(engine, i);
  }
  if (good && engine->by_request) {
    engine->requests = ppi_alloc(NUM_SETS * WAYS * sizeof *engine->requests);
    good = engine->requests != NULL;
  }
  if (good) return engine;
  ppi_rule_engine_destroy(engine);
  return NULL;
}

const ppi_rule *ppi_rule_engine_rule(const ppi_rule_engine *engine, size_t i) {
  return &engine->rules[i];
}

bool ppi_rule_engine_is_hashed(const ppi_rule_engine *engine, size_t i) {
  return engine->hashed >> i & 1;
}

bool ppi_rule_engine_define(ppi_rule_engine *engine, uint32_t site,
                            const char *name) {
  uint32_t rules = 0;
  for (size_t i = 0; i < engine->num; i++) {
    if (!engine->rules[i].name[0]) continue;
    char hash[PPI_NAME_HASH];
    ppi_name_hash(engine->rules[i].name, hash);
    bool hashed = strcmp(name, hash) == 0;
    if (hashed) engine->hashed |= 1u << i;
    if (hashed || strcmp(name, engine->rules[i].name) == 0) rules |= 1u << i;
  }
  if (rules == 0 && site >= engine->num_sites) return true;
  if (site >= PPI_MAX_ID) return true;
  if (!PPI_REACH(engine->by_site, engine->num_sites, engine->sites_capacity,
                 (size_t)site + 1))
    return false;
  engine->by_site[site] = rules;
  return true;
}

static bool is_over(const ppi_rule *rule, uint64_t ns) {
  return rule->or_equal ? ns >= rule->limit_ns : ns > rule->limit_ns;
}

// The device time where it is known: the host time of a device range is its
// submission only.
static uint64_t duration_of(const pprof_event *event) {
  if (event->device_end_ns > event->device_start_ns)
    return event->device_end_ns - event->device_start_ns;
  return event->end_ns > event->start_ns ? event->end_ns - event->start_ns : 0;
}

static uint64_t end_of(const pprof_event *event) {
  return PPI_MAX(event->end_ns, event->device_end_ns);
}

// ---- quantiles ----

static void forget_until(lookback *past, uint64_t number) {
  uint64_t num = PPI_MIN(number - past->last, (uint64_t)NUM_SLICES);
  for (uint64_t i = 0; i < num; i++) {
    slice *old = &past->slices[(number - i) % NUM_SLICES];
    past->num -= old->num;
    past->num_over -= old->num_over;
    *old = (slice){.number = number - i};
  }
  past->last = number;
}

static bool quantile_holds(const ppi_rule *rule, lookback *past,
                           uint64_t end_ns, uint64_t duration_ns) {
  uint64_t number = end_ns / past->slice_ns;
  if (!past->begun) {
    past->begun = true;
    past->since_ns = end_ns;
    past->last = number;
    for (uint64_t i = 0; i < NUM_SLICES && i <= number; i++)
      past->slices[(number - i) % NUM_SLICES].number = number - i;
  }
  if (number > past->last) forget_until(past, number);
  slice *now = &past->slices[number % NUM_SLICES];
  if (now->number != number) return false;  // it came too late
  bool over = is_over(rule, duration_ns);
  now->num++;
  past->num++;
  now->num_over += over;
  past->num_over += over;
  // Until that time has passed, a few first events would decide.
  if (!over || end_ns < past->since_ns + rule->over_ns) return false;
  return past->num - past->num_over <
         ppi_rank_of(past->num, rule->quantile_ppm);
}

// ---- requests ----

static request *find_request(ppi_rule_engine *engine, uint64_t flow,
                             const pprof_event *event) {
  uint64_t hash = flow * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  request *set = &engine->requests[hash % NUM_SETS * WAYS];
  request *oldest = set;
  for (int i = 0; i < WAYS; i++) {
    if (set[i].used && set[i].flow == flow) return &set[i];
    if (oldest->used && (!set[i].used || set[i].end_ns < oldest->end_ns))
      oldest = &set[i];
  }
  *oldest = (request){flow, event->start_ns, event->start_ns, 0, true};
  return oldest;
}

// Rules for requests that this event makes true for the first time.
static uint32_t look_at_request(ppi_rule_engine *engine, uint64_t flow,
                                const pprof_event *event) {
  request *found = find_request(engine, flow, event);
  found->start_ns = PPI_MIN(found->start_ns, event->start_ns);
  found->end_ns = PPI_MAX(found->end_ns, end_of(event));
  uint32_t news = 0;
  for (size_t i = 0; i < engine->num; i++)
    if (engine->by_request >> i & 1 &&
        is_over(&engine->rules[i], found->end_ns - found->start_ns))
      news |= 1u << i;
  news &= ~found->reported;
  found->reported |= news;
  return news;
}

uint32_t ppi_rule_engine_event(ppi_rule_engine *engine,
                               const pprof_event *event) {
  uint32_t buffered = 0;
  uint32_t rules =
      event->site < engine->num_sites ? engine->by_site[event->site] : 0;
  if (event->kind != PPROF_KIND_RANGE && event->kind != PPROF_KIND_DEVICE_RANGE)
    rules = 0;
  for (size_t i = 0; i < engine->num; i++) {
    if (!(rules >> i & 1)) continue;
    const ppi_rule *rule = &engine->rules[i];
    uint64_t duration_ns = duration_of(event);
    bool holds = rule->kind == PPI_RULE_STAGE
                     ? is_over(rule, duration_ns)
                     : quantile_holds(rule, &engine->lookbacks[i],
                                      end_of(event), duration_ns);
    if (holds) buffered |= 1u << i;
  }
  if (engine->by_request)
    for (size_t i = 0; i < event->num_flows; i++)
      buffered |= look_at_request(engine, event->flows[i], event);
  return buffered;
}

// ---- parsing ----

typedef struct parser {
  const char *text, *at;
  const char *bad;  // the place of the error; NULL: none
  char *why;
  size_t size;
} parser;

static bool fail(parser *rule, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(parser *rule, const char *at, const char *format, ...) {
  if (rule->bad) return false;
  rule->bad = at;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(rule->why, rule->size, format, arguments);
  va_end(arguments);
  return false;
}

static void skip_space(parser *rule) {
  while (*rule->at == ' ' || *rule->at == '\t') rule->at++;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

// The length of the word here, as a message quotes it.
static int word_len(const parser *rule) {
  int len = 0;
  while (is_word(rule->at[len]) && len < 32) len++;
  return len;
}

static bool expect(parser *rule, char c, const char *where) {
  skip_space(rule);
  if (*rule->at != c)
    return fail(rule, rule->at, "'%c' is expected %s", c, where);
  rule->at++;
  return true;
}

static bool parse_name(parser *rule, char out[PPI_RULE_NAME_MAX]) {
  skip_space(rule);
  const char *begin = rule->at;
  if (*rule->at != '"')
    return fail(rule, begin, "a name in double quotes is expected here");
  size_t len = 0;
  for (rule->at++; *rule->at != '"'; rule->at++) {
    if (*rule->at == '\\' && (rule->at[1] == '"' || rule->at[1] == '\\'))
      rule->at++;
    if (!*rule->at) return fail(rule, begin, "the name's '\"' is not closed");
    if (len == PPI_RULE_NAME_MAX - 1)
      return fail(rule, begin, "the name has more than %d bytes",
                  PPI_RULE_NAME_MAX - 1);
    out[len++] = *rule->at;
  }
  rule->at++;
  if (len == 0) return fail(rule, begin, "the name is empty");
  return true;
}

// Reads digits and a fraction as a number in units of 1 / scale: 1.5 with scale
// 1000 is 1500. False when that overflows or a digit would be lost.
static bool parse_decimal(const char **at, uint64_t scale, uint64_t *out) {
  const char *from = *at;
  uint64_t value = 0;
  for (; isdigit((unsigned char)**at); ++*at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
      return false;
  if (*at == from || __builtin_mul_overflow(value, scale, &value)) return false;
  if (**at == '.') {
    from = ++*at;
    for (; isdigit((unsigned char)**at); ++*at) {
      if (scale % 10 != 0 && **at != '0') return false;
      scale /= 10;
      if (__builtin_add_overflow(value, (uint64_t)(**at - '0') * scale, &value))
        return false;
    }
    if (*at == from) return false;
  }
  *out = value;
  return true;
}

static const struct unit {
  const char *name;
  uint64_t ns;
} units[] = {{"ns", 1},         {"us", 1000},         {"ms", 1000000},
             {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};

static bool parse_duration(parser *rule, uint64_t *out) {
  skip_space(rule);
  const char *begin = rule->at, *unit = begin;
  while (isdigit((unsigned char)*unit) || *unit == '.') unit++;
  if (unit == begin || !isdigit((unsigned char)*begin))
    return fail(rule, begin, "a duration such as 40ms is expected here%s",
                *begin == '-' ? ", not a negative number" : "");
  rule->at = unit;
  int len = word_len(rule);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strlen(units[i].name) != (size_t)len ||
        memcmp(units[i].name, unit, (size_t)len) != 0)
      continue;
    rule->at = unit + len;
    const char *at = begin;
    if (!parse_decimal(&at, units[i].ns, out) || at != unit)
      return fail(rule, begin, "the duration is too large or too precise");
    if (*out == 0) return fail(rule, begin, "the duration is 0");
    return true;
  }
  if (len == 0)
    return fail(rule, unit, "a unit is missing: ns, us, ms, s, min or h");
  return fail(rule, unit, "'%.*s' is no unit: ns, us, ms, s, min or h", len,
              unit);
}

// "p99", "p99.9": a percentage.
static bool parse_quantile(parser *rule, int len, uint32_t *out) {
  const char *at = rule->at + 1;
  uint64_t ppm;
  if (!parse_decimal(&at, 10000, &ppm) || at != rule->at + len || ppm == 0 ||
      ppm >= 1000000)
    return fail(rule, rule->at, "'%.*s' is no quantile: p50, p99, p99.9", len,
                rule->at);
  *out = (uint32_t)ppm;
  rule->at += len;
  return true;
}

static bool parse_subject(parser *rule, ppi_rule *out) {
  skip_space(rule);
  int len = word_len(rule);
  if (len == 5 && memcmp(rule->at, "stage", 5) == 0) {
    out->kind = PPI_RULE_STAGE;
    rule->at += len;
    return parse_name(rule, out->name);
  }
  if (len == 7 && memcmp(rule->at, "request", 7) == 0) {
    out->kind = PPI_RULE_REQUEST;
    rule->at += len;
    return true;
  }
  if (len > 1 && *rule->at == 'p' && isdigit((unsigned char)rule->at[1])) {
    out->kind = PPI_RULE_QUANTILE;
    return parse_quantile(rule, len, &out->quantile_ppm) &&
           expect(rule, '(', "after the quantile") &&
           parse_name(rule, out->name) &&
           expect(rule, ',', "between name and duration") &&
           parse_duration(rule, &out->over_ns) &&
           expect(rule, ')', "after the duration");
  }
  if (len == 0)
    return fail(rule, rule->at,
                "stage \"NAME\", request or p99(\"NAME\", 10s) is expected");
  return fail(rule, rule->at,
              "'%.*s' is not known: stage \"NAME\", request or "
              "p99(\"NAME\", 10s)",
              len, rule->at);
}

static bool parse_rule(parser *rule, ppi_rule *out) {
  if (!parse_subject(rule, out) || !expect(rule, '>', "before the limit"))
    return false;
  out->or_equal = *rule->at == '=';
  if (out->or_equal) rule->at++;
  if (!parse_duration(rule, &out->limit_ns)) return false;
  skip_space(rule);
  if (*rule->at) return fail(rule, rule->at, "the rule has ended here");
  return true;
}

pprof_status ppi_rule_parse(const char *text, ppi_rule *out, size_t *out_column,
                            char *why, size_t size) {
  parser rule = {.text = text, .at = text, .why = why, .size = size};
  ppi_rule parsed = {.kind = PPI_RULE_STAGE};
  if (strlen(text) >= PPI_RULE_TEXT_MAX)
    fail(&rule, text, "the rule has more than %d bytes", PPI_RULE_TEXT_MAX - 1);
  else if (parse_rule(&rule, &parsed))
    memcpy(parsed.text, text, strlen(text) + 1);
  if (rule.bad) {
    *out_column = (size_t)(rule.bad - text) + 1;
    return PPROF_STATUS_INVALID;
  }
  *out = parsed;
  return PPROF_STATUS_OK;
}
