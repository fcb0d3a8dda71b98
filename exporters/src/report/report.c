// SPDX-License-Identifier: Apache-2.0
//
// Implements pprof_report: it collects a run as a sink, and adds up the figures
// of finished runs. Owner's thread; as a sink, the delivering thread.
#include "report/report.h"

#include <stdio.h>

#include "base/mem.h"
#include "event/columns.h"
#include "report/answer/account.h"
#include "report/figures/ranks.h"
#include "report/figures/rows.h"
#include "report/figures/sum.h"
#include "report/joined.h"
#include "report/limit/limit.h"
#include "report/machine/machine.h"
#include "report/run/handover.h"
#include "report/run/passes.h"

// ---- iterations that were found, not marked: names ----

// Numbers begin at 1: 0 is none.
static const char *name_text(const void *ids, uint32_t name) {
  const ppi_table_ids *of = ids;
  return name - 1 < of->num_names ? of->names[name - 1].text : NULL;
}

static const char *device_text(const void *ids, uint32_t device) {
  return ppi_table_ids_device_name(ids, device - 1);
}

static bool is_launch(const void *ids, uint32_t name) {
  const ppi_table_ids *of = ids;
  return name - 1 < of->num_names &&
         of->names[name - 1].category == PPROF_CATEGORY_RUNTIME;
}

// ---- calls as items ----

static uint32_t depth_of(const ppi_limit_loop *loop, const ppi_limit_call *at) {
  uint32_t depth = 0;
  for (; at->parent != PPI_NO_CALL; at = &loop->calls[at->parent]) depth++;
  return depth;
}

static ppi_item item_of(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                        const ppi_limit_call *call) {
  uint32_t category = ids->names[call->name].category;
  ppi_item item = {.start_ns = call->start_ns,
                   .end_ns = call->end_ns,
                   .site = call->name + 1,
                   .lane = call->row,
                   .depth = depth_of(loop, call)};
  if (call->flags & PPI_CALL_LOOSE) item.flags |= PPI_ITEM_LOOSE;
  // A turn belongs to its thread: other threads get only the time that it
  // leaves.
  if (category == PPROF_CATEGORY_COMMUNICATION ||
      category == PPROF_CATEGORY_IDLE)
    item.flags |= PPI_ITEM_WAITS;
  if (call->row != loop->thread && !loop->is_device)
    item.flags |= PPI_ITEM_BESIDE;
  if (!(call->flags & PPI_CALL_DEVICE)) return item;
  item.device = ppi_table_ids_device(ids, call->row) + 1;
  item.device_start_ns = call->start_ns;
  item.device_end_ns = call->end_ns;
  item.start_ns = item.end_ns = call->submit_ns;
  item.lane = call->host;
  item.flags = PPI_ITEM_NO_HOST;
  if (!(call->flags & PPI_CALL_NAMED)) item.flags |= PPI_ITEM_BORROWS;
  return item;
}

static ppi_item *list_items(const ppi_limit_loop *loop,
                            const ppi_table_ids *ids, size_t *out_num) {
  ppi_item *items = ppi_alloc((loop->num_calls + 1) * sizeof *items);
  *out_num = 0;
  for (size_t i = 0; items && i < loop->num_calls; i++)
    if (!(loop->calls[i].flags & (PPI_CALL_STEP | PPI_CALL_REQUEST)))
      items[(*out_num)++] = item_of(loop, ids, &loop->calls[i]);
  if (items) ppi_items_sort(items, *out_num);
  return items;
}

// ---- the walk ----

static bool take_moment(void *context, const ppi_moment *moment) {
  ppi_account *accounts = context;
  return ppi_account_add(&accounts[moment->unit], moment);
}

static ppi_account_names names_of(const ppi_table_ids *ids) {
  return (ppi_account_names){ids, name_text, device_text, is_launch};
}

static bool walk(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                 ppi_account *accounts) {
  const ppi_account_names names = names_of(ids);
  size_t num;
  ppi_moment_room room = {0};
  ppi_item *items = list_items(loop, ids, &num);
  ppi_moment_unit *units = ppi_alloc(loop->num_turns * sizeof *units);
  bool done = false;
  for (size_t i = 0; units && i < loop->num_turns; i++)
    units[i] = (ppi_moment_unit){.start_ns = loop->turns[i].start_ns,
                                 .end_ns = loop->turns[i].end_ns,
                                 .is_frame = true};
  ppi_moments moments = {.items = items,
                         .num_items = num,
                         .units = units,
                         .num_units = loop->num_turns,
                         .from_ns = 0,
                         .to_ns = UINT64_MAX,
                         .names = &names,
                         .on_moment = take_moment,
                         .context = accounts};
  if (items && units) done = ppi_moments_walk(&moments, &room);
  ppi_moment_room_clear(&room);
  ppi_free(items);
  ppi_free(units);
  return done;
}

// ---- the answer ----

// "2.10 s imports": the name with the most time before the first turn.
static void put_start(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                      ppi_figures_loop *out) {
  uint64_t first_ns = loop->turns[0].start_ns, most_ns = 0;
  uint64_t *times = ppi_alloc((ids->num_names + 1) * sizeof *times);
  for (size_t i = 0; times && i < loop->num_calls; i++) {
    const ppi_limit_call *call = &loop->calls[i];
    bool is_loose = call->flags & PPI_CALL_LOOSE;
    if ((is_loose ? call->num : call->row != loop->thread) ||
        call->parent != PPI_NO_CALL ||
        call->flags & (PPI_CALL_DEVICE | PPI_CALL_STEP) ||
        call->end_ns > first_ns)
      continue;
    times[call->name] += call->end_ns - call->start_ns;
    if (times[call->name] <= most_ns) continue;
    most_ns = times[call->name];
    snprintf(out->start_stage, sizeof out->start_stage, "%s",
             ids->names[call->name].text);
  }
  ppi_free(times);
  out->start_stage_ns = most_ns;
}

static bool fold(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                 ppi_account *accounts, long warmup, ppi_answer *out) {
  const ppi_account_names names = names_of(ids);
  size_t cold = ppi_units_num_cold(loop->turns, loop->num_turns,
                                   sizeof *loop->turns, warmup);
  bool done = true;
  for (size_t i = 0; i < loop->num_turns && done; i++) {
    uint64_t length_ns = loop->turns[i].end_ns - loop->turns[i].start_ns;
    if (i < cold) {
      out->num_cold++;
      out->cold_ns += length_ns;
    } else {
      done = ppi_account_fold(&accounts[i], length_ns, &names, out);
    }
  }
  out->num_runs = 1;
  out->num_all = out->num_units * PPI_MAX(loop->stride, 1);
  if (cold < loop->num_turns)
    out->span_ns =
        PPI_MAX(loop->stride, 1) *
        (loop->turns[loop->num_turns - 1].end_ns - loop->turns[cold].start_ns);
  out->before_ns = loop->turns[0].start_ns;
  ppi_answer_sort(out);
  return done;
}

static bool add_loop_answer(const ppi_limit_loop *loop,
                            const ppi_table_ids *ids, ppi_figures *out) {
  ppi_answer *answer = &out->answers[PPI_BASE_ITERATION];
  if (!loop->num_turns) return true;
  ppi_account *accounts = ppi_alloc(loop->num_turns * sizeof *accounts);
  if (!accounts) return false;
  bool done = walk(loop, ids, accounts) &&
              fold(loop, ids, accounts, out->details.warmup, answer);
  for (size_t i = 0; i < loop->num_turns; i++) ppi_account_clear(&accounts[i]);
  ppi_free(accounts);
  snprintf(out->loop.stages, sizeof out->loop.stages, "%s", loop->stages);
  snprintf(out->loop.thread, sizeof out->loop.thread, "%s", loop->thread_name);
  put_start(loop, ids, &out->loop);
  if (done && out->num_inputs)
    done =
        ppi_answer_merge(&out->inputs[0].answers[PPI_BASE_ITERATION], answer);
  return done;
}

// ---- a run ----

// The categories of counters that findings use.
enum { MACHINE, LOOPS, NUM_COUNTERS };

struct pprof_report {
  pprof_sink sink;
  ppi_report_details details;
  ppi_run *run;           // from begin to finish
  ppi_limit_calls calls;  // as `run`, with details.answer
  ppi_machine_run counters[NUM_COUNTERS];
  char iteration[256];  // named by the configuration; "": none
  ppi_figures figures;  // of the runs that have finished
  bool finished;        // any run
  bool has_dropped;     // see ppi_report_depends_on_jobs
};

// Adds the figures of counters beside the run's ranges: machine, energy, loops.
static bool find_beside(const pprof_report *report, ppi_figures *out) {
  const ppi_limit_calls *calls = &report->calls;
  const ppi_machine_run *machine = &report->counters[MACHINE];
  bool done = ppi_machine_find_troubles(machine, calls, &out->machine);
  if (done && report->details.answer)
    done = ppi_machine_split_energy(machine, calls, out);
  return done && ppi_interpreter_find(&report->counters[LOOPS], calls,
                                      &out->interpreter);
}

static bool note_hidden(ppi_figures *out) {
  bool done = true;
  for (int i = 0; i < PPI_MACHINE_DEVICES && done; i++) {
    if (out->machine.devices[i].hides_processes)
      done = ppi_figures_say(
          out, "machine unknown",
          "gpu:%d does not say whether other processes use it", i);
  }
  return done;
}

// ---- the calls of the limit, beside the run ----

// A callback's part for the calls. It shares nothing with the run's part, so
// both may run at a time.
typedef struct beside {
  ppi_job job;
  pprof_report *report;
  pprof_status (*act)(struct beside *self);
  const void *of;  // a batch or a checkpoint; NULL: the end
  bool is_job;
  pprof_status status;
  // At the end of a run.
  ppi_figures *figures;
  ppi_limit_loop loop;
  ppi_limit_found *found;
} beside;

static void do_job(ppi_job *job, unsigned worker) {
  beside *self = (beside *)job;
  (void)worker;
  self->status = self->act(self);
}

static void begin_beside(beside *self, bool is_much) {
  ppi_jobs *jobs = self->report->details.jobs;
  self->is_job = jobs && is_much && self->report->details.answer;
  self->job.run = do_job;
  if (self->is_job)
    ppi_jobs_put(jobs, &self->job, true);
  else if (self->of)
    do_job(&self->job, 0);
}

// `status` is of the run's part, which is done. The search takes the run's
// figures; tables give their room back before the run needs more.
static pprof_status end_beside(beside *self, pprof_status status) {
  if (self->is_job)
    ppi_jobs_wait(self->report->details.jobs, &self->job);
  else if (!self->of && status == PPROF_STATUS_OK)
    do_job(&self->job, 0);
  return status == PPROF_STATUS_OK ? self->status : status;
}

static pprof_status fill_events(beside *self) {
  if (!self->report->details.answer) return PPROF_STATUS_OK;
  return ppi_table_fill_events(&self->report->calls.fill, self->of);
}

static pprof_status fill_checkpoint(beside *self) {
  if (!self->report->details.answer) return PPROF_STATUS_OK;
  return ppi_table_fill_checkpoint(&self->report->calls.fill, self->of);
}

static bool has_units(const ppi_figures *figures) {
  return figures->answers[PPI_BASE_STEP].num_units ||
         figures->answers[PPI_BASE_REQUEST].num_units;
}

static pprof_status find_limit(beside *self) {
  pprof_report *report = self->report;
  ppi_limit_calls *calls = &report->calls;
  const char *named = report->details.iteration;
  if (!named && *report->iteration) named = report->iteration;
  // Beside the run, its units are not known yet.
  self->loop =
      (ppi_limit_loop){.begins = named,
                       .is_off = report->details.no_iterations,
                       .is_wanted = self->is_job || !has_units(self->figures)};
  if ((self->is_job && !ppi_table_fill_finish(&calls->fill)) ||
      !find_beside(report, self->figures))
    return PPROF_STATUS_NO_MEMORY;
  return ppi_limit_find(calls, &self->figures->limit, &self->loop,
                        &self->found);
}

static void clear_run(ppi_run *run) {
  ppi_handover_end(run);
  ppi_run_clear(run);
}

static void drop_run(pprof_report *report) {
  if (!report->run) return;
  clear_run(report->run);
  ppi_limit_calls_clear(&report->calls);
  for (int i = 0; i < NUM_COUNTERS; i++)
    ppi_machine_run_clear(&report->counters[i]);
  ppi_free(report->run);
  report->run = NULL;
}

// "steps: {begin: NAME}" of a configuration as it stands in the log.
static void find_iteration(pprof_report *report, const pprof_run_info *info) {
  static const char key[] = "\nsteps:\n  begin: \"";
  const char *config = pprof_run_info_text(info, "config");
  const char *at = config ? strstr(config, key) : NULL;
  size_t len = 0;
  if (at) at += sizeof key - 1;
  for (; at && *at && *at != '"' && len + 1 < sizeof report->iteration; at++) {
    if (*at == '\\' && at[1]) at++;
    report->iteration[len++] = *at;
  }
  report->iteration[len] = 0;
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (report->run) return PPROF_STATUS_BUSY;
  report->run = ppi_alloc(sizeof *report->run);
  if (!report->run) return PPROF_STATUS_NO_MEMORY;
  report->run->details = report->details;
  report->run->interference.most_first_calls =
      ppi_first_calls_most(report->details.warmup);
  report->run->accounts.warmup = report->details.warmup;
  report->run->accounts.one_way = report->details.one_way;
  report->run->serving.keeps = report->details.joins;
  report->run->accounts.line.jobs = report->details.jobs;
  ppi_limit_calls_begin(&report->calls);
  report->counters[MACHINE].wanted = PPI_CATEGORY_MACHINE;
  report->counters[LOOPS].wanted = PPI_CATEGORY_LOOP;
  find_iteration(report, info);
  const char *flows = pprof_run_info_text(info, "flows");
  report->calls.are_links = flows && strcmp(flows, "links") == 0;
  pprof_status status = ppi_or_no_memory(ppi_run_begin(report->run, info));
  // A session calls finish after a failed begin, too.
  if (status != PPROF_STATUS_OK) drop_run(report);
  return status;
}

// Drops the run after a failed callback, because a session still calls finish.
static pprof_status settle(pprof_sink *sink, pprof_status status) {
  if (status != PPROF_STATUS_OK) drop_run((pprof_report *)(void *)sink);
  return status;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (!report->run) return PPROF_STATUS_BUSY;
  pprof_status status = ppi_run_define(report->run, definition);
  if (status == PPROF_STATUS_OK && report->details.answer)
    status = ppi_table_ids_define(&report->calls.fill.ids, definition);
  for (int i = 0; i < NUM_COUNTERS && status == PPROF_STATUS_OK; i++)
    status = ppi_machine_run_define(&report->counters[i], definition);
  return settle(sink, status);
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (!report->run) return PPROF_STATUS_BUSY;
  enum { MUCH = 1024 };  // fewer take less time than a job
  beside other = {.report = report, .act = fill_events, .of = batch};
  begin_beside(&other, batch->num_events >= MUCH);
  pprof_status status = end_beside(&other, ppi_run_events(report->run, batch));
  for (int i = 0; i < NUM_COUNTERS && status == PPROF_STATUS_OK; i++)
    status = ppi_machine_run_events(&report->counters[i], batch);
  return settle(sink, status);
}

static pprof_status take_checkpoint(pprof_sink *sink,
                                    const pprof_checkpoint *checkpoint) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (!report->run) return PPROF_STATUS_BUSY;
  beside other = {.report = report, .act = fill_checkpoint, .of = checkpoint};
  begin_beside(&other, true);
  pprof_status status =
      end_beside(&other, ppi_run_checkpoint(report->run, checkpoint));
  return settle(sink, status);
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  ppi_run *run = ((pprof_report *)(void *)sink)->run;
  if (!run) return PPROF_STATUS_BUSY;
  return settle(sink,
                ppi_or_no_memory(ppi_run_window(run, index, opens, time_ns)));
}

// Takes the contents of `run`. A failure drops all figures.
static pprof_status add_run(pprof_report *report, ppi_figures *run) {
  bool done = true;
  if (report->finished) {
    done = ppi_figures_add(&report->figures, run);
    ppi_figures_clear(run);
  } else {
    report->figures = *run;
  }
  report->finished = done;
  if (!done) ppi_figures_clear(&report->figures);
  return ppi_or_no_memory(done);
}

static pprof_status add_limit(beside *other) {
  ppi_figures *figures = other->figures;
  ppi_answer *answers = figures->answers;
  pprof_status status =
      ppi_limit_divide(other->found, &answers[PPI_BASE_REQUEST]);
  if (status != PPROF_STATUS_OK || has_units(figures)) return status;
  return ppi_or_no_memory(
      add_loop_answer(&other->loop, &other->report->calls.fill.ids, figures));
}

// The search takes memory while the run's end still has its own.
static bool is_small(const pprof_totals *totals) {
  const uint64_t most = 1 << 20;
  return ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_RECORDED) <= most;
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  pprof_report *report = (pprof_report *)(void *)sink;
  if (!report->run) return PPROF_STATUS_BUSY;
  ppi_figures figures = {.details = report->details};
  beside other = {.report = report, .act = find_limit, .figures = &figures};
  begin_beside(&other, is_small(totals));
  bool done = (other.is_job || ppi_table_fill_finish(&report->calls.fill)) &&
              ppi_run_finish(report->run, totals, &figures);
  report->has_dropped |= report->run->handover.has_dropped;
  // The calls need the memory now.
  if (!other.is_job) clear_run(report->run);
  pprof_status status = end_beside(&other, ppi_or_no_memory(done));
  PPI_THEN(status, ppi_or_no_memory(note_hidden(&figures)));
  if (status != PPROF_STATUS_OK)
    ppi_limit_divide(other.found, NULL);
  else
    status = add_limit(&other);
  ppi_limit_loop_clear(&other.loop);
  if (figures.num_inputs)
    snprintf(figures.limit.uuid, sizeof figures.limit.uuid, "%s",
             figures.inputs[0].uuid);
  if (figures.num_request_runs) figures.request_runs[0]->limit = figures.limit;
  drop_run(report);
  if (status == PPROF_STATUS_OK) return add_run(report, &figures);
  ppi_figures_clear(&figures);
  return status;
}

// The report's owner destroys it, not the sink's user.
static void keep(pprof_sink *sink) {
  (void)sink;
}

pprof_status pprof_report_create(pprof_report **out) {
  pprof_report *report = ppi_alloc(sizeof *report);
  if (!report) return PPROF_STATUS_NO_MEMORY;
  report->sink = (pprof_sink){.size = sizeof report->sink | PPI_IN_COLUMNS,
                              .begin = begin,
                              .define = define,
                              .events = events,
                              .checkpoint = take_checkpoint,
                              .window = window,
                              .finish = finish,
                              .destroy = keep};
  report->details.warmup = -1;
  *out = report;
  return PPROF_STATUS_OK;
}

pprof_sink *pprof_report_sink(pprof_report *report) {
  return report ? &report->sink : NULL;
}

static bool is_ready(const pprof_report *report) {
  return report->finished && !report->run;
}

bool ppi_report_depends_on_jobs(const pprof_report *report) {
  return report->has_dropped;
}

static bool are_alike(const ppi_report_details *a,
                      const ppi_report_details *b) {
  return memcmp(a, b, offsetof(ppi_report_details, no_iterations)) == 0 &&
         memcmp(&a->slo, &b->slo, sizeof a->slo) == 0 && a->warmup == b->warmup;
}

static pprof_status can_merge(const pprof_report *into,
                              const pprof_report *from) {
  if (!into || !from || into == from) return PPROF_STATUS_INVALID;
  if (!is_ready(into) || !is_ready(from)) return PPROF_STATUS_BUSY;
  return are_alike(&into->details, &from->details) ? PPROF_STATUS_OK
                                                   : PPROF_STATUS_INVALID;
}

pprof_status ppi_report_add(pprof_report *into, const pprof_report *from) {
  PPI_TRY(can_merge(into, from));
  return ppi_or_no_memory(ppi_figures_add(&into->figures, &from->figures));
}

pprof_status ppi_report_join(pprof_report *report) {
  if (!is_ready(report)) return PPROF_STATUS_BUSY;
  return ppi_or_no_memory(ppi_join_requests(&report->figures) &&
                          ppi_join_serving(&report->figures) &&
                          ppi_ranks_part(&report->figures));
}

// Builds a separate sum, so that a failure leaves `into` unchanged.
pprof_status pprof_report_merge(pprof_report *into, const pprof_report *from) {
  PPI_TRY(can_merge(into, from));
  ppi_figures sum = {.details = into->details};
  bool done = ppi_figures_add(&sum, &into->figures) &&
              ppi_figures_add(&sum, &from->figures);
  ppi_figures_clear(done ? &into->figures : &sum);
  if (done) into->figures = sum;
  return ppi_or_no_memory(done);
}

void pprof_report_destroy(pprof_report *report) {
  if (!report) return;
  drop_run(report);
  ppi_figures_clear(&report->figures);
  ppi_free(report);
}

const ppi_figures *ppi_report_figures(const pprof_report *report) {
  return is_ready(report) ? &report->figures : NULL;
}

void ppi_report_set_details(pprof_report *report,
                            const ppi_report_details *details) {
  report->details = *details;
}

void ppi_report_carry(ppi_carry *carry, pprof_report *report) {
  if (carry->reads) report->figures.details = report->details;
  ppi_figures_carry(carry, &report->figures);
  if (carry->reads) report->finished = !carry->failed;
}

bool ppi_report_identity_ok(const pprof_report *report) {
  for (size_t i = 0; i < report->figures.num_devices; i++)
    if (report->figures.devices[i].failed) return false;
  return true;
}

uint64_t ppi_report_total(const pprof_report *report, ppi_total_key key) {
  return report->figures.totals[key];
}
