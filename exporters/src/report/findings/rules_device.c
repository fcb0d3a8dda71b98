// SPDX-License-Identifier: Apache-2.0
//
// Finds devices that are busy, idle, or busy with copies.
#include "report/findings/rules.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/findings/parts.h"

// ---- a device while units are under way ----

// A lower bound, where figures have no times.
typedef struct ppi_active {
  double time_ns;           // in which units were under way
  double busy_ns;           // part of it: the device worked
  double not_submitted_ns;  // part of it: nothing was submitted
} ppi_active;

typedef struct span {
  uint64_t start_ns, end_ns;
} span;

PPI_ORDER(compare_spans, span, PPI_UP(start_ns))

// The union of a run's requests.
static pprof_status add_run(const ppi_request_run *run, double *sum_ns) {
  span *spans = ppi_alloc((run->num_rows + 1) * sizeof *spans);
  uint64_t end_ns = 0;
  if (!spans) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < run->num_rows; i++) {
    const ppi_request_row *row = &run->rows[i];
    spans[i] = (span){row->start_ns, row->start_ns + row->length_ns};
  }
  if (run->num_rows > 1)
    qsort(spans, run->num_rows, sizeof *spans, compare_spans);
  for (size_t i = 0; i < run->num_rows; i++) {
    uint64_t from_ns = PPI_MAX(spans[i].start_ns, end_ns);
    if (spans[i].end_ns <= from_ns) continue;
    *sum_ns += (double)(spans[i].end_ns - from_ns);
    end_ns = spans[i].end_ns;
  }
  ppi_free(spans);
  return PPROF_STATUS_OK;
}

static pprof_status union_of_requests(const ppi_figures *figures,
                                      double *out_ns) {
  pprof_status status = PPROF_STATUS_OK;
  *out_ns = 0;
  for (size_t i = 0; i < figures->num_request_runs && status == PPROF_STATUS_OK;
       i++)
    status = add_run(figures->request_runs[i], out_ns);
  return status;
}

// How much of the device's time without further work comes after the last
// request. 0 where that is unknown: with several runs, or with requests thinned
// out.
static double after_requests(const ppi_search *search,
                             const ppi_report_device *device) {
  const ppi_figures *figures = search->figures;
  if (figures->num_inputs != 1 || figures->num_request_runs != 1) return 0;
  const ppi_request_run *run = figures->request_runs[0];
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  if (run->thinning || !run->num_rows) return 0;
  for (size_t i = 0; i < run->num_rows; i++) {
    const ppi_request_row *row = &run->rows[i];
    first_ns = PPI_MIN(first_ns, row->start_ns);
    last_ns = PPI_MAX(last_ns, row->start_ns + row->length_ns);
  }
  double after_ns = (double)device->wall_ns - (double)(last_ns - first_ns) -
                    (double)search->answer->before_ns;
  double no_more_ns = (double)device->idle_ns[PPI_IDLE_NO_MORE_WORK];
  return PPI_MAX(PPI_MIN(after_ns, no_more_ns), 0);
}

// The device's work for requests. Requests outside the rows count as usual
// ones.
static double busy_for_requests(const ppi_answer *answer,
                                const ppi_report_device *device) {
  const ppi_part part = {.device = device->name,
                         .wheres = 1u << PPI_WHERE_DEVICE};
  double num = (double)(answer->num_all + answer->num_cold);
  double busy_ns = ppi_part_mean(answer, ppi_part_sum(answer, &part)) * num;
  return PPI_MIN(busy_ns, (double)device->busy_ns);
}

static pprof_status ppi_active_of(const ppi_search *search,
                                  const ppi_report_device *device,
                                  ppi_active *out) {
  pprof_status status = PPROF_STATUS_OK;
  double wall_ns = (double)device->wall_ns;
  double idle_ns = (double)device->idle_ns[PPI_IDLE_NOT_SUBMITTED];
  *out = (ppi_active){0};
  if (search->base == PPI_BASE_REQUEST) {
    status = union_of_requests(search->figures, &out->time_ns);
    out->busy_ns = busy_for_requests(search->answer, device);
    idle_ns += after_requests(search, device);
  } else if (search->base == PPI_BASE_STEP) {
    out->time_ns = (double)device->base_ns;
    out->busy_ns = (double)device->active_ns;
    out->not_submitted_ns = (double)device->not_submitted_ns;
  } else {
    // Before the first range, and after the last one of each window.
    wall_ns -= (double)device->idle_ns[PPI_IDLE_NO_MORE_WORK];
    wall_ns -= (double)device->first_calls_ns;
    idle_ns -= (double)device->first_calls_ns;
    out->time_ns = wall_ns;
    out->busy_ns = (double)device->busy_ns;
  }
  out->time_ns = PPI_MIN(out->time_ns, wall_ns);
  out->busy_ns = PPI_MIN(out->busy_ns, out->time_ns);
  // Time outside of requests may all have been idle, while later requests were
  // still to come.
  idle_ns -= wall_ns - out->time_ns;
  if (search->base != PPI_BASE_STEP)
    out->not_submitted_ns = PPI_MAX(idle_ns, 0);
  return status;
}

// The device with most of a unit's time, as far as its times are known.
static const ppi_report_device *busiest(ppi_search *search, ppi_active *out) {
  const ppi_figures *figures = search->figures;
  const ppi_report_device *found = NULL;
  double most = -1;
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device *device = &figures->devices[i];
    ppi_active active;
    // The rule for missing times has the same limit.
    if (!device->ranges || 100 * device->untimed > device->ranges) continue;
    search->failed |= ppi_active_of(search, device, &active) != PPROF_STATUS_OK;
    if (search->failed) return NULL;
    double share = active.time_ns > 0 ? active.busy_ns / active.time_ns : 0;
    if (share <= most) continue;
    most = share;
    found = device;
    *out = active;
  }
  return found;
}

static const char *base_words(const ppi_search *search) {
  static const char *const words[PPI_NUM_BASES] = {
      [PPI_BASE_WALL] = "of the time from its first to its last work",
      [PPI_BASE_ITERATION] = "of the time from its first to its last work",
      [PPI_BASE_STEP] = "of the steps' time",
      [PPI_BASE_REQUEST] = "of the time in which requests are under way"};
  return words[search->base];
}

// The stages with most of the device: ": detect 28.7 ms, classify 24.9 ms".
static void put_stages(const ppi_search *search, const char *device, char *to,
                       size_t size) {
  enum { MOST = 3 };
  const ppi_answer *answer = search->answer;
  const ppi_part part = {.device = device, .wheres = 1u << PPI_WHERE_DEVICE};
  const ppi_answer_row *before = NULL;
  *to = 0;
  for (int k = 0; k < MOST; k++) {
    const ppi_answer_row *next = NULL;
    for (size_t i = 0; i < answer->num_rows; i++) {
      const ppi_answer_row *row = &answer->rows[i];
      bool comes = !before || row->total_ns < before->total_ns ||
                   (row->total_ns == before->total_ns && row > before);
      if (!comes || !row->total_ns || !ppi_part_has(&part, row)) continue;
      if (!next || row->total_ns > next->total_ns) next = row;
    }
    if (!next) return;
    ppi_words_add(to, size, "%s%s %.16s", k ? ", " : ": ",
                  ppi_words_name(next->name).text,
                  ppi_words_time(ppi_part_mean(answer, next->total_ns)).text);
    before = next;
  }
}

static void put_active(const ppi_active *active, double part_ns,
                       const char *name, ppi_finding *finding) {
  ppi_finding_value_add(finding, name, 100 * part_ns / active->time_ns, "%");
  ppi_finding_value_add(finding, "of", active->time_ns, "ns");
}

static void put_answer(ppi_search *search, const char *device, double share) {
  const ppi_part part = {.device = device, .wheres = 1u << PPI_WHERE_DEVICE};
  const ppi_answer_row *row = ppi_part_greatest(search->answer, &part);
  if (!row) return;
  ppi_words time = ppi_part_of_usual(search, row, row->total_ns);
  PPI_SAY(search->out->answer,
          "%s is the limit: busy %s %s. The greatest part is %s: %s.",
          ppi_words_name(device).text, ppi_words_percent(share, 1).text,
          base_words(search), ppi_words_name(row->name).text, time.text);
}

void ppi_rule_device_bound(ppi_search *search) {
  ppi_active active;
  const ppi_report_device *device = busiest(search, &active);
  if (!device || active.time_ns <= 0 ||
      100 * active.busy_ns < search->threshold * active.time_ns)
    return;
  double share = active.busy_ns / active.time_ns;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, share);
  char stages[160];
  put_stages(search, device->name, stages, sizeof stages);
  PPI_SAY(finding->text, "%s is busy %s %s%s%s%s.",
          ppi_words_name(device->name).text, ppi_words_percent(share, 1).text,
          base_words(search),
          *stages && search->base != PPI_BASE_WALL ? "; of an average " : "",
          *stages && search->base != PPI_BASE_WALL ? search->unit : "", stages);
  put_answer(search, device->name, share);
  PPI_SAY(finding->sure, "%llu device ranges with times",
          (unsigned long long)device->ranges);
  PPI_SAY(finding->next,
          "make the greatest of them cheaper on the device; faster host code "
          "will not raise the rate.");
  put_active(&active, active.busy_ns, "busy", finding);
}

// The greatest row of the host while no device works. Rows of requests overlap
// those of other requests, so the row is the work of one request only.
static void put_idle_stage(const ppi_search *search, char *to, size_t size) {
  const ppi_part part = {.wheres = 1u << PPI_WHERE_HOST | PPI_PART_WAITING |
                                   1u << PPI_WHERE_BETWEEN};
  const ppi_answer_row *row = ppi_part_greatest(search->answer, &part);
  *to = 0;
  if (!row) return;
  ppi_words time = ppi_part_of_usual(search, row, row->total_ns);
  const char *has = search->base == PPI_BASE_REQUEST
                        ? "On the host a request is mostly"
                        : "Most of that is";
  if (row->where == PPI_WHERE_BETWEEN)
    ppi_words_put(to, size, " %s in no stage: %s.", has, time.text);
  else
    ppi_words_put(to, size, " %s %s %s: %s.", has,
                  row->where == PPI_WHERE_HOST ? "in" : "waiting in",
                  ppi_words_name(row->name).text, time.text);
}

// The answer's sentence about idle time has the same figure.
static bool is_in_answer(const ppi_limit *limit, double share) {
  double idle = 0;
  for (size_t i = 0; i < limit->num_gaps; i++) idle += limit->gaps[i].part;
  return limit->says_gaps && idle < share + 0.03 && idle > share - 0.03;
}

// The limit is the device, over the rounds of the loop: time before and after
// them does not count.
static bool is_the_limit(const ppi_limit *limit, const char *device) {
  bool is = false;
  for (size_t i = 0; i < limit->num_names; i++)
    is |= strcmp(limit->names[i], device) == 0;
  return is && limit->claim == PPI_CLAIM_LIMIT;
}

void ppi_rule_host_bound(ppi_search *search) {
  ppi_active active;
  const ppi_report_device *device = busiest(search, &active);
  if (!device || active.time_ns <= 0 || active.not_submitted_ns <= 0 ||
      100 * active.not_submitted_ns < search->threshold * active.time_ns)
    return;
  double share = active.not_submitted_ns / active.time_ns;
  const ppi_limit *limit = &search->figures->limit;
  if (is_in_answer(limit, share) || is_the_limit(limit, device->name)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  char stage[192];
  put_idle_stage(search, stage, sizeof stage);
  PPI_SAY(
      finding->text,
      "%s has nothing to do %s%s %s, because nothing was submitted to it.%s",
      ppi_words_name(device->name).text,
      search->base == PPI_BASE_REQUEST ? "at least " : "",
      ppi_words_percent(share, 1).text, base_words(search), stage);
  PPI_SAY(finding->sure, "only gaps longer than the clock error count");
  PPI_SAY(finding->next,
          "submit earlier: do the host's work ahead, in another thread, or in "
          "larger batches.");
  put_active(&active, active.not_submitted_ns, "not_submitted", finding);
}

// ---- copies, and many short ranges ----

static void put_rate(const ppi_figures *figures, const char *category,
                     ppi_finding *finding) {
  double bytes = 0, time_ns = 0;
  for (size_t i = 0; i < figures->num_work; i++)
    if (strcmp(figures->work[i].category_name, category) == 0)
      bytes += figures->work[i].bytes;
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].category == PPROF_CATEGORY_MEMCPY)
      time_ns += (double)figures->names[i].device.sum;
  if (!(bytes > 0) || !(time_ns > 0)) return;
  PPI_ADD(finding->text, " They move %s GB/s.",
          ppi_words_number(bytes / time_ns).text);
  ppi_finding_value_add(finding, "rate", 1e9 * bytes / time_ns, "B/s");
}

void ppi_rule_copies(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  const ppi_report_category *copies = NULL;
  double busy_ns = 0;
  for (size_t i = 0; i < figures->num_categories; i++)
    if (figures->categories[i].category == PPROF_CATEGORY_MEMCPY)
      copies = &figures->categories[i];
  for (size_t i = 0; i < figures->num_devices; i++)
    busy_ns += (double)figures->devices[i].busy_ns;
  if (!copies || !copies->device_ns) return;
  double copy_ns = (double)copies->device_ns;
  if (100 * copy_ns < search->threshold * busy_ns) return;
  ppi_finding *finding =
      ppi_search_add(search, PPI_PROBLEM, ppi_part_of_all(search, copy_ns));
  PPI_SAY(finding->text, "Copies are %s of the devices' busy time: %s.",
          ppi_words_percent(copy_ns, busy_ns).text,
          ppi_words_time(copy_ns).text);
  PPI_SAY(finding->sure, "%llu copies",
          (unsigned long long)copies->device_calls);
  PPI_SAY(finding->next,
          "copy less, keep data on the device, or copy from pinned memory on "
          "a stream of its own.");
  ppi_finding_value_add(finding, "time", copy_ns, "ns");
  ppi_finding_value_add(finding, "share", 100 * copy_ns / busy_ns, "%");
  put_rate(figures, copies->name, finding);
}

// The first units take what the later ones use again.
void ppi_rule_device_memory(ppi_search *search) {
  enum { LEAST_UNITS = 10 };
  const ppi_figures *figures = search->figures;
  uint64_t units = search->answer ? search->answer->num_units : 0, calls = 0;
  double ns = 0;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->category != PPROF_CATEGORY_RUNTIME ||
        !ppi_is_of_device_memory(name->name) || name->host.n < units)
      continue;
    calls += name->host.n;
    ns += (double)name->host.sum;
  }
  double share = units >= LEAST_UNITS ? ppi_part_of_all(search, ns) : 0;
  if (100 * share < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  PPI_SAY(finding->text,
          "Taking memory of devices and giving it back takes %s %s (%s), %s "
          "calls. The device has nothing to do meanwhile.",
          ppi_words_time(ns / (double)units).text, search->a_unit,
          ppi_words_percent(share, 1).text,
          ppi_words_number((double)calls / (double)units).text);
  PPI_SAY(finding->next,
          "keep memory for the next %s: without empty_cache(), or from a pool.",
          search->unit);
  ppi_finding_value_add(finding, "time", ns, "ns");
  ppi_finding_value_add(finding, "calls", (double)calls, "");
}

// A call that submits work; in a trace it stands beside that work.
static bool is_launch(const ppi_report_name *name) {
  return name->category == PPROF_CATEGORY_RUNTIME &&
         (strstr(name->name, "Launch") || strstr(name->name, "Enqueue"));
}

void ppi_rule_launch_bound(ppi_search *search) {
  enum { LEAST = 200 };
  const ppi_figures *figures = search->figures;
  uint64_t num = 0, num_short = 0;
  double host_ns = 0, device_ns = 0;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (is_launch(name)) host_ns += (double)name->host.sum;
    num += name->device.n;
    if (!name->device.n ||
        (double)ppi_histogram_quantile(&name->device_times, 0.5) >=
            1e3 * search->threshold)
      continue;
    num_short += name->device.n;
    host_ns += (double)name->submit.sum;
    device_ns += (double)name->device.sum;
  }
  if (num_short < LEAST || 2 * num_short < num || host_ns < device_ns) return;
  ppi_finding *finding =
      ppi_search_add(search, PPI_PROBLEM, ppi_part_of_all(search, host_ns));
  PPI_SAY(
      finding->text,
      "%llu of %llu device ranges are of kinds that usually take less than %g "
      "us. Submitting them takes the host %s; the device works on them for %s.",
      (unsigned long long)num_short, (unsigned long long)num, search->threshold,
      ppi_words_time(host_ns).text, ppi_words_time(device_ns).text);
  PPI_SAY(finding->next,
          "submit less often: larger batches, fused operators, graphs.");
  ppi_finding_value_add(finding, "short", (double)num_short, "");
  ppi_finding_value_add(finding, "host_time", host_ns, "ns");
  ppi_finding_value_add(finding, "device_time", device_ns, "ns");
}
