// SPDX-License-Identifier: Apache-2.0
//
// Evaluates rules for each event: a stage by its site, a request by its flow, a
// quantile by two counts. By nearest rank, a quantile is above a limit when
// fewer values than its rank are not above it.
#include "flight/rule_engine.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"
#include "event/event.h"
#include "names/glob.h"

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
  ppi_free(engine->by_site);
  ppi_free(engine->requests);
  ppi_free(engine);
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
