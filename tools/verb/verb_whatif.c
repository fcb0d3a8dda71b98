// SPDX-License-Identifier: Apache-2.0
//
// `whatif`: a run once more with stages that take longer or shorter; without
// --scale each stage in turn with a tenth less.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/suggest.h"
#include "names/glob.h"
#include "verb/read_runs.h"
#include "verb/verbs.h"
#include "whatif/whatif_causes.h"
#include "whatif/whatif_print.h"

enum { MOST_RANKED = 64, MOST_NAME = 256 };
static const double ranked_factor = 0.9;

struct whatif {
  const struct ppi_tool_options *options;
  ppi_whatif_log log;
  ppi_whatif_graph graph;
  ppi_whatif_replay replay;
  double *scales;  // by id of a stage; below 0: not asked for
};

// ---- --scale ----

// "host:NAME", "device:NAME" or "NAME": that is the device's side of a name
// that has one.
static bool fits(const ppi_whatif_log *log, const ppi_whatif_stage *stage,
                 const char *name) {
  static const char host[] = "host:", device[] = "device:";
  if (strncmp(name, host, sizeof host - 1) == 0)
    return !stage->on_device &&
           ppi_glob_match(name + sizeof host - 1, stage->name);
  if (strncmp(name, device, sizeof device - 1) == 0)
    return stage->on_device &&
           ppi_glob_match(name + sizeof device - 1, stage->name);
  if (!ppi_glob_match(name, stage->name)) return false;
  for (size_t i = 0; i < log->num_stages && !stage->on_device; i++)
    if (log->stages[i].on_device &&
        strcmp(log->stages[i].name, stage->name) == 0)
      return false;
  return true;
}

static int refuse_stage(const ppi_whatif_log *log, const char *name) {
  struct ppi_tool_guess guess = {.wrong = name, .wrong_len = strlen(name)};
  for (size_t i = 0; i < log->num_stages; i++)
    ppi_tool_guess_offer(&guess, log->stages[i].name,
                         strlen(log->stages[i].name));
  if (guess.best)
    ppi_tool_say("'--scale': no stage is called '%s' (did you mean '%.*s'?)",
                 name, (int)guess.best_len, guess.best);
  else
    ppi_tool_say("'--scale': no stage is called '%s'", name);
  return PPI_EXIT_USAGE;
}

// `text` is "STAGE=FACTOR", `len` long.
static int take_scale(struct whatif *all, const char *text, size_t len) {
  char name[MOST_NAME], *end = NULL;
  size_t at = len, found = 0;
  while (at && text[at - 1] != '=') at--;
  double factor = at ? strtod(text + at, &end) : -1;
  if (at < 2 || at > sizeof name || end != text + len || text + at == end ||
      !isfinite(factor) || factor < 0) {
    ppi_tool_say("'--scale %.*s' is no STAGE=FACTOR such as detect=0.5",
                 (int)len, text);
    return PPI_EXIT_USAGE;
  }
  memcpy(name, text, at - 1);
  name[at - 1] = '\0';
  for (size_t i = 0; i < all->log.num_stages; i++)
    if (fits(&all->log, &all->log.stages[i], name)) {
      all->scales[i + 1] = factor;
      found++;
    }
  return found ? PPI_EXIT_DONE : refuse_stage(&all->log, name);
}

static int take_scales(struct whatif *all) {
  const struct ppi_tool_list *list = &all->options->whatif.scales;
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < list->num && code == PPI_EXIT_DONE; i++)
    for (const char *at = list->items[i]; code == PPI_EXIT_DONE;) {
      size_t len = strcspn(at, ",");
      code = take_scale(all, at, len);
      if (!at[len]) break;
      at += len + 1;
    }
  return code;
}

// ---- replays ----

static void reset_scales(struct whatif *all) {
  for (size_t i = 0; i <= all->log.num_stages; i++) all->scales[i] = -1;
}

static int by_time(const void *left, const void *right) {
  const ppi_whatif_stage *a = *(const ppi_whatif_stage *const *)left;
  const ppi_whatif_stage *b = *(const ppi_whatif_stage *const *)right;
  if (a->total_ns != b->total_ns) return a->total_ns > b->total_ns ? -1 : 1;
  return (a > b) - (a < b);
}

static size_t list_stages(const struct whatif *all,
                          const ppi_whatif_stage **out) {
  size_t num = 0;
  for (size_t i = 0; i < all->log.num_stages; i++)
    if (all->log.stages[i].total_ns && !all->graph.is_wait[i + 1])
      out[num++] = &all->log.stages[i];
  qsort(out, num, sizeof(const ppi_whatif_stage *), by_time);
  return num;
}

static const ppi_whatif_answers *sorted_by;
static int by_gain(const void *left, const void *right) {
  const ppi_whatif_answer *a = left, *b = right;
  double of_a = ppi_whatif_gain(sorted_by, &a->result);
  double of_b = ppi_whatif_gain(sorted_by, &b->result);
  if (of_a > of_b || of_a < of_b) return of_a > of_b ? -1 : 1;
  of_a = a->result.p99.value;
  of_b = b->result.p99.value;
  if (of_a > of_b || of_a < of_b) return of_a < of_b ? -1 : 1;
  return (a->stage > b->stage) - (a->stage < b->stage);
}

static int rank(struct whatif *all, ppi_whatif_answers *answers) {
  ppi_whatif_answer items[MOST_RANKED];
  const ppi_whatif_stage **stages =
      ppi_alloc((all->log.num_stages + 1) * sizeof *stages);
  if (!stages) return PPI_EXIT_INPUT;
  size_t num = list_stages(all, stages);
  long top = all->options->tables.top;
  answers->items = items;
  answers->is_ranking = true;
  for (size_t i = 0; i < num && i < MOST_RANKED; i++) {
    uint32_t id = (uint32_t)(stages[i] - all->log.stages) + 1;
    ppi_whatif_answer *item = &items[answers->num++];
    *item = (ppi_whatif_answer){.stage = id, .factor = ranked_factor};
    all->scales[id] = ranked_factor;
    ppi_whatif_replay_run(&all->replay, all->scales, false, &item->result);
    all->scales[id] = -1;
  }
  ppi_free(stages);
  answers->num_unranked = num - answers->num;
  sorted_by = answers;
  qsort(items, answers->num, sizeof *items, by_gain);
  if (top > 0 && (size_t)top < answers->num) answers->num = (size_t)top;
  return ppi_whatif_print(all->options, answers);
}

static int predict(struct whatif *all, ppi_whatif_answers *answers) {
  ppi_whatif_answer item = {.stage = 0};
  int code = take_scales(all);
  if (code != PPI_EXIT_DONE) return code;
  ppi_whatif_replay_run(&all->replay, all->scales, true, &item.result);
  answers->items = &item;
  answers->num = 1;
  return ppi_whatif_print(all->options, answers);
}

static bool unit_of(const struct whatif *all, size_t num_warm,
                    ppi_whatif_unit *out) {
  const char *by = all->options->tables.by;
  bool has_requests = all->graph.num_requests > num_warm + 1;
  bool has_steps = all->log.num_steps > num_warm + 1;
  *out = PPI_WHATIF_RUN;
  if (by && strcmp(by, "step") == 0) has_requests = false;
  if (by && strcmp(by, "request") == 0) has_steps = false;
  if (has_steps) *out = PPI_WHATIF_STEPS;
  if (has_requests) *out = PPI_WHATIF_REQUESTS;
  if (!by || *out != PPI_WHATIF_RUN) return true;
  ppi_tool_say("'--by %s': there are no %ss, or none but the first %zu", by, by,
               num_warm + 1);
  return false;
}

static int replay(struct whatif *all) {
  size_t num_warm = all->options->warmup > 0 ? (size_t)all->options->warmup : 0;
  if (all->options->warmup == LONG_MIN) num_warm = 1;
  ppi_whatif_answers answers = {.graph = &all->graph, .num_warm = num_warm};
  if (!unit_of(all, num_warm, &answers.unit)) return PPI_EXIT_INPUT;
  if (!ppi_whatif_replay_open(&all->replay, &all->graph, answers.unit,
                              num_warm)) {
    ppi_tool_say("%s", pprof_status_string(PPROF_STATUS_NO_MEMORY));
    return PPI_EXIT_INPUT;
  }
  reset_scales(all);
  ppi_whatif_replay_run(&all->replay, all->scales, true, &answers.recorded);
  return all->options->whatif.scales.num ? predict(all, &answers)
                                         : rank(all, &answers);
}

// ---- the log ----

static int refuse_log(const struct whatif *all) {
  const char *path = all->options->inputs[0];
  if (all->log.num_runs > 1)
    ppi_tool_say(
        "whatif takes one run, and there are %zu: what processes wait "
        "for of each other is in no log",
        all->log.num_runs);
  else if (all->log.too_many)
    ppi_tool_say(
        "%s has more than %d ranges: record a window, see "
        "docs/capture.md",
        path, PPI_WHATIF_MOST_RANGES);
  else if (!all->log.num_stages)
    ppi_tool_say("%s has no ranges: there is nothing to replay", path);
  else
    return PPI_EXIT_DONE;
  return PPI_EXIT_INPUT;
}

static int answer(struct whatif *all) {
  int code = refuse_log(all);
  if (code != PPI_EXIT_DONE) return code;
  ppi_whatif_log_settle(&all->log);
  all->scales = ppi_alloc((all->log.num_stages + 1) * sizeof *all->scales);
  bool made = ppi_whatif_graph_make(&all->graph, &all->log) && all->scales;
  if (made)
    code = replay(all);
  else
    ppi_tool_say("%s", pprof_status_string(PPROF_STATUS_NO_MEMORY));
  ppi_whatif_replay_close(&all->replay);
  ppi_whatif_graph_clear(&all->graph);
  ppi_free(all->scales);
  return made ? code : PPI_EXIT_INPUT;
}

int ppi_tool_whatif(const struct ppi_tool_options *options) {
  struct whatif all = {.options = options};
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  ppi_whatif_log_init(&all.log);
  code = ppi_tool_read_runs(options, &all.log.base, "replayed");
  // A damaged log is replayed as far as it goes.
  if (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED) {
    int answered = answer(&all);
    if (answered > code) code = answered;
  }
  ppi_whatif_log_clear(&all.log);
  return code;
}
