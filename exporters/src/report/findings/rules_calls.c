// SPDX-License-Identifier: Apache-2.0
//
// Finds uneven calls, slow first calls, and what blocks a stage.
#include "report/findings/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "report/figures/rows.h"
#include "report/findings/parts.h"

// ---- unsteady ----

// The warm calls of a stage, where cold calls are known.
typedef struct calls {
  const ppi_histogram *times;
  ppi_spread spread;
} calls;

static calls calls_of(const ppi_report_name *name) {
  bool on_device = name->device.n > 0;
  const ppi_phases *phases =
      on_device ? &name->device_phases : &name->host_phases;
  return (calls){&phases->steady_times, phases->steady};
}

static bool is_request(const ppi_figures *figures, const char *name) {
  for (size_t i = 0; i < figures->num_request_runs; i++)
    for (size_t k = 0; k < figures->request_runs[i]->num_stages; k++)
      if (figures->request_runs[i]->stages[k].is_whole &&
          strcmp(figures->request_runs[i]->stages[k].name, name) == 0)
        return true;
  return false;
}

static bool is_around(const ppi_report_name *name) {
  return !name->device.n && 2 * name->self_ns < name->host.sum;
}

// Stages around others are unsteady because the inner ones are. Parts of a
// stage, and units, are no stages.
static bool is_stage(const ppi_figures *figures, const ppi_report_name *name) {
  switch (name->category) {
    case PPROF_CATEGORY_KERNEL:
    case PPROF_CATEGORY_MEMCPY:
    case PPROF_CATEGORY_MEMSET:
    case PPROF_CATEGORY_RUNTIME:
    case PPROF_CATEGORY_OPERATOR_INNER:
    case PPROF_CATEGORY_PROFILE_STEP:
    case PPROF_CATEGORY_IDLE:
      return false;
    default:
      break;
  }
  return !is_around(name) && !ppi_name_is_wait(name) &&
         !is_request(figures, name->name);
}

// The thread with the longest usual call, if it is slow: slower than the usual
// call by half of the threshold.
static const ppi_report_thread_name *slow_thread(const ppi_figures *figures,
                                                 const ppi_report_name *name,
                                                 uint64_t least_ns) {
  enum { LEAST = 20 };
  const ppi_report_thread_name *found = NULL;
  for (size_t i = 0; i < figures->num_threads; i++) {
    const ppi_report_thread_name *thread = &figures->threads[i];
    if (thread->category != name->category || thread->host_times.n < LEAST ||
        strcmp(thread->name, name->name) != 0)
      continue;
    uint64_t usual_ns = ppi_histogram_quantile(&thread->host_times, 0.5);
    if (usual_ns < least_ns) continue;
    least_ns = usual_ns;
    found = thread;
  }
  return found;
}

static void put_thread(const ppi_figures *figures, const ppi_report_name *name,
                       uint64_t least_ns, ppi_finding *finding) {
  const ppi_report_thread_name *thread = slow_thread(figures, name, least_ns);
  if (!thread || name->device.n) return;
  double usual_ns = (double)ppi_histogram_quantile(&thread->host_times, 0.5);
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)thread->thread);
  PPI_ADD(finding->text, " On thread %s it usually takes %s.",
          ppi_words_name(*thread->called ? thread->called : number).text,
          ppi_words_time(usual_ns).text);
}

// The rank of P99 is uncertain, so the rule compares the lower end of its 95 %
// interval.
static void report_uneven(ppi_search *search, const ppi_report_name *name) {
  enum { LEAST = 200 };
  const calls all = calls_of(name);
  if (all.times->n < LEAST) return;
  double n = (double)all.times->n;
  double low = 0.99 - 1.96 * sqrt(0.99 * 0.01 / n);
  double usual_ns = (double)ppi_histogram_quantile(all.times, 0.5);
  double least_ns = (double)ppi_histogram_quantile(all.times, low);
  double slow_ns = (double)ppi_histogram_quantile(all.times, 0.99);
  if (usual_ns <= 0 || least_ns < search->threshold * usual_ns) return;
  double more_ns = (double)all.spread.sum - usual_ns * (double)all.spread.n;
  if (!is_stage(search->figures, name)) return;
  ppi_finding *finding =
      ppi_search_add(search, PPI_PROBLEM, ppi_part_of_all(search, more_ns));
  PPI_SAY(finding->text,
          "%s usually takes %s, but one call in 100 takes %s or more, %s times "
          "as long.",
          ppi_words_name(name->name).text, ppi_words_time(usual_ns).text,
          ppi_words_time(slow_ns).text,
          ppi_words_number(slow_ns / usual_ns).text);
  put_thread(search->figures, name, (uint64_t)((usual_ns + slow_ns) / 2),
             finding);
  PPI_SAY(finding->sure, "%llu calls; P99 is at least %s",
          (unsigned long long)all.times->n, ppi_words_time(least_ns).text);
  PPI_SAY(finding->next,
          "find out what the slow calls share: a thread, an input, a neighbour "
          "on the device.");
  ppi_finding_value_add(finding, "p50", usual_ns, "ns");
  ppi_finding_value_add(finding, "p99", slow_ns, "ns");
  ppi_finding_value_add(finding, "calls", n, "");
}

void ppi_rule_uneven(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  for (size_t i = 0; i < figures->num_names; i++)
    report_uneven(search, &figures->names[i]);
}

// ---- the first calls of the runs ----

// The ratio to a usual call; 0: unknown.
static double first_ratio(const ppi_phases *phases) {
  enum { LEAST = 10 };
  double usual_ns = (double)ppi_histogram_quantile(&phases->steady_times, 0.5);
  if (phases->steady.n < LEAST || !phases->first.n || usual_ns <= 0) return 0;
  return (double)phases->first.sum / (double)phases->first.n / usual_ns;
}

// Names such as "wait for requests" and "idle": no work, however long the first
// call is.
static bool says_it_waits(const char *name) {
  static const char *const words[] = {"wait", "idle"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    for (const char *at = name; *at; at++)
      if (strncasecmp(at, words[i], strlen(words[i])) == 0 &&
          (at == name || !isalpha((unsigned char)at[-1])))
        return true;
  return false;
}

void ppi_rule_first_call(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  const ppi_report_name *found = NULL;
  const ppi_phases *most = NULL;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_report_name *name = &figures->names[i];
    const ppi_phases *phases =
        name->device.n ? &name->device_phases : &name->host_phases;
    if (first_ratio(phases) < search->threshold ||
        name->category == PPROF_CATEGORY_IDLE || says_it_waits(name->name))
      continue;
    if (most && phases->first.sum <= most->first.sum) continue;
    found = name;
    most = phases;
  }
  // A problem has to explain at least this much.
  if (!found || 100 * most->first.sum < figures->wall_ns) return;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, 0);
  double first_ns = (double)most->first.sum / (double)most->first.n;
  double ratio = first_ratio(most);
  bool is_step = found->category == PPROF_CATEGORY_PROFILE_STEP;
  PPI_SAY(finding->text, "The first %s%s took %s, %s times a usual one.",
          is_step ? "step" : "call of ",
          is_step ? "" : ppi_words_name(found->name).text,
          ppi_words_time(first_ns).text, ppi_words_number(ratio).text);
  PPI_SAY(finding->sure, "%llu run%s, %llu usual %ss",
          (unsigned long long)most->first.n, most->first.n == 1 ? "" : "s",
          (unsigned long long)most->steady.n, is_step ? "step" : "call");
  PPI_SAY(finding->next,
          "load, compile and allocate before the first request needs it.");
  ppi_finding_value_add(finding, "first", first_ns, "ns");
  ppi_finding_value_add(finding, "ratio", ratio, "");
}

// ---- threads and processors ----

typedef struct stage {
  const char *name;
  ppi_cpu_sums sums;
  double on_processor;  // of its time
  double share;         // of the units' time
} stage;

// Host stages with at least a tenth of the units' time: the answer does not
// depend on smaller ones. Stages around others compute as the inner ones do.
static bool next_stage(const ppi_search *search, size_t *at, stage *out) {
  const ppi_figures *figures = search->figures;
  while (*at < figures->num_names) {
    const ppi_report_name *name = &figures->names[(*at)++];
    if (!name->cpu.num_known || is_around(name) || ppi_name_is_wait(name))
      continue;
    *out = (stage){.name = name->name, .sums = name->cpu};
    out->on_processor = ppi_processor_share(&out->sums);
    out->share = ppi_part_share(search->answer,
                                ppi_part_on_host(search->answer, name->name));
    if (out->on_processor >= 0 && out->share >= 0.1) return true;
  }
  return false;
}

static bool is_costly(const ppi_search *search, const char *name) {
  const ppi_costly costly = ppi_part_costly(search->answer);
  return costly.row && costly.row->where == PPI_WHERE_HOST &&
         strcmp(costly.name, name) == 0;
}

static void put_processor(const stage *from, ppi_finding *finding) {
  PPI_SAY(finding->sure, "%llu calls with CPU times",
          (unsigned long long)from->sums.num_known);
  ppi_finding_value_add(finding, "on_processor", 100 * from->on_processor, "%");
}

void ppi_rule_computes(ppi_search *search) {
  stage next;
  for (size_t at = 0; next_stage(search, &at, &next);) {
    if (100 * next.on_processor < search->threshold) continue;
    ppi_finding *finding = ppi_search_add(search, PPI_FACT, next.share);
    finding->in_answer = is_costly(search, next.name);
    PPI_SAY(finding->text,
            "%s computes: its thread is on a processor for %s "
            "of its time.",
            ppi_words_name(next.name).text,
            ppi_words_percent(next.on_processor, 1).text);
    PPI_SAY(finding->next, "look at its code: perf, or a profile by lines.");
    put_processor(&next, finding);
  }
}

static void say_waits(const stage *of, ppi_finding *finding) {
  double real_ns = (double)of->sums.real_ns;
  double waits = (double)of->sums.waits_ns / real_ns;
  double unrecorded = (double)of->sums.unrecorded_ns / real_ns;
  ppi_finding_value_add(finding, "waits", 100 * waits, "%");
  ppi_finding_value_add(finding, "blocked_unrecorded", 100 * unrecorded, "%");
  if (waits >= unrecorded)
    PPI_SAY(finding->next,
            "look below it in --tree: recorded waits are %s of its time.",
            ppi_words_percent(waits, 1).text);
  else
    PPI_SAY(finding->next,
            "look for sleep, files and devices in it: %s is blocked without a "
            "recorded wait.",
            ppi_words_percent(unrecorded, 1).text);
}

void ppi_rule_blocks(ppi_search *search) {
  stage next;
  for (size_t at = 0; next_stage(search, &at, &next);) {
    // A thread that is ready to run waits only for a processor.
    if (100 * ppi_processor_ready(&next.sums) > search->threshold) continue;
    ppi_finding *finding = ppi_search_add(search, PPI_FACT, next.share);
    finding->in_answer = is_costly(search, next.name);
    PPI_SAY(finding->text,
            "%s waits: its thread is on a processor for only %s "
            "of its time.",
            ppi_words_name(next.name).text,
            ppi_words_percent(next.on_processor, 1).text);
    if (ppi_figures_have_waits(search->figures))
      say_waits(&next, finding);
    else
      PPI_SAY(
          finding->next,
          "find out for what: a device, a lock, a disk or another process.");
    put_processor(&next, finding);
  }
}

void ppi_rule_processor_wait(ppi_search *search) {
  stage next;
  for (size_t at = 0; next_stage(search, &at, &next);) {
    double queued = ppi_processor_queued(&next.sums);
    if (queued <= 0 || 100 * queued < search->threshold) continue;
    ppi_finding *finding =
        ppi_search_add(search, PPI_PROBLEM, next.share * PPI_MIN(queued, 1));
    PPI_SAY(finding->text,
            "%s could go on, but waits for a processor for %s of its time.",
            ppi_words_name(next.name).text, ppi_words_percent(queued, 1).text);
    PPI_SAY(finding->next, "%s", PPI_NEXT_PROCESSOR);
    put_processor(&next, finding);
    ppi_finding_value_add(finding, "run_queue", 100 * queued, "%");
  }
}
