// SPDX-License-Identifier: Apache-2.0
//
// Settles and forgets the parts of a run that a checkpoint has passed.
#include "report/run/passes.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/run/answers.h"

typedef struct run_horizon {
  uint64_t time_ns;
  uint64_t device_ns;    // all device ranges submitted before have come
  uint64_t sweep_ns;     // all ranges that end before have come
  uint64_t identity_ns;  // all steps before are decided
  ppi_run_open *open;    // of run->listed
} run_horizon;

static bool notify_open(ppi_run *run, const pprof_event *event,
                        const ppi_run_site *site) {
  bool done = true;
  if (site->traits & PPI_TRAIT_STEP) done = ppi_run_open_step(run, event);
  if (done && site->traits & (PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER))
    done = ppi_perf_open(&run->perf, event, site->category);
  if (!done) return false;
  if (!run->details.paddle_distribution)
    return ppi_distribution_open(&run->distribution, event, site->category);
  if (site->traits & PPI_TRAIT_PADDLE_COMMUNICATION)
    return ppi_paddle_host(&run->distribution, event, true);
  return true;
}

// An open range with an end before the checkpoint was cut at that end. Its
// event is still to come, so the sweep stops there.
static bool take_open_range(ppi_run *run, const pprof_event *event,
                            run_horizon *out) {
  const ppi_run_site *site = run->ids.sites.items[event->site];
  uint64_t end_ns = PPI_MAX(event->start_ns, event->end_ns);
  out->sweep_ns = PPI_MIN(out->sweep_ns, end_ns);
  if (site->traits & PPI_TRAIT_STEP)
    out->identity_ns = PPI_MIN(out->identity_ns, event->end_ns);
  return notify_open(run, event, site);
}

// An open device range, even one that has come already, only limits the
// horizon.
static bool take_open(ppi_run *run, const pprof_checkpoint *checkpoint,
                      run_horizon *out) {
  const ppi_listed *listed = &run->listed;
  bool done = ppi_run_list_open(listed, &run->ids, UINT64_MAX, &out->open);
  for (size_t i = 0; i < listed->num && done; i++)
    done = take_open_range(run, &checkpoint->open[listed->items[i].index], out);
  for (size_t i = 0; i < checkpoint->num_open; i++)
    if (checkpoint->open[i].kind == PPROF_KIND_DEVICE_RANGE)
      out->device_ns = PPI_MIN(out->device_ns, checkpoint->open[i].start_ns);
  out->identity_ns = PPI_MIN(out->identity_ns, out->device_ns);
  out->sweep_ns = PPI_MIN(out->sweep_ns, out->device_ns);
  return done;
}

static void forget_steps(ppi_identity *steps, uint64_t horizon_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < steps->num_steps; i++)
    if (steps->steps[i].end_ns > horizon_ns)
      steps->steps[kept++] = steps->steps[i];
  steps->num_steps = kept;
}

bool ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns) {
  ppi_run_category *steps =
      ppi_run_category_at(&run->ids, PPROF_CATEGORY_PROFILE_STEP);
  if (!steps) return false;
  bool done = true;
  ppi_union_compact(&steps->host);
  for (size_t i = 0; i < run->ids.devices.num && done; i++) {
    ppi_run_device *device = run->ids.devices.items[i];
    if (device)
      done = ppi_identity_settle(&device->identity, &run->windows, &steps->host,
                                 horizon_ns);
  }
  ppi_union_settle(&steps->host, horizon_ns);
  forget_steps(&run->ids.steps, horizon_ns);
  return done;
}

// Identities settle one checkpoint behind: a window's edge may come a little
// after the checkpoint that passed it.
static bool settle_behind(ppi_run *run, const run_horizon *horizon) {
  bool done = true;
  if (run->windows.num) done = ppi_run_settle_devices(run, run->identity_ns);
  run->identity_ns = horizon->identity_ns;
  return done;
}

bool ppi_run_settle_ranges(ppi_run *run, uint64_t horizon_ns,
                           ppi_run_open *open, size_t num_open, bool answers) {
  ppi_answer_settling answer;
  answers = answers && !ppi_run_answer_by_request(run);
  if (answers) ppi_run_answer_begin(&answer, run, horizon_ns, open, num_open);
  bool done = ppi_run_sweep(run, horizon_ns, open, num_open);
  bool answered = answers ? ppi_run_answer_end(&answer) : true;
  return done && answered && ppi_run_pass_swept(run);
}

static bool settle(ppi_run *run, const pprof_checkpoint *checkpoint,
                   const run_horizon *at) {
  for (size_t i = 0; i < run->ids.categories.num; i++) {
    ppi_run_category *category = run->ids.categories.items[i];
    if (category) ppi_union_settle(&category->device, at->device_ns);
  }
  bool done = ppi_run_settle_ranges(run, at->sweep_ns, at->open,
                                    run->listed.num, run->details.answer) &&
              ppi_perf_settle(&run->perf, at->time_ns);
  ppi_distribution_settle(&run->distribution, at->sweep_ns);
  return done && ppi_interference_settle(&run->interference, at->device_ns) &&
         ppi_run_settle_pairs(&run->pairs, checkpoint) &&
         settle_behind(run, at);
}

static bool has_good_ids(const pprof_checkpoint *checkpoint) {
  for (size_t i = 0; i < checkpoint->num_open; i++)
    if (checkpoint->open[i].site >= PPI_RUN_MAX_ID ||
        checkpoint->open[i].lane >= PPI_RUN_MAX_ID)
      return false;
  return true;
}

static bool take_checkpoint(ppi_run *run, const pprof_checkpoint *checkpoint) {
  uint64_t time_ns = checkpoint->time_ns;
  run_horizon at = {time_ns, time_ns, time_ns, time_ns, NULL};
  run->last_ns = PPI_MAX(run->last_ns, checkpoint->time_ns);
  bool done =
      ppi_run_doubt_open(&run->listed, &run->ids, checkpoint) &&
      take_open(run, checkpoint, &at) && settle(run, checkpoint, &at) &&
      ppi_serving_settle(&run->serving, checkpoint->time_ns, &run->details.slo);
  ppi_free(at.open);
  return done;
}

pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint) {
  // A checkpoint that does not advance may be incomplete: it promises nothing.
  if (checkpoint->time_ns <= run->listed.checkpoint_ns) return PPROF_STATUS_OK;
  if (!has_good_ids(checkpoint)) return PPROF_STATUS_CORRUPT;
  if (!run->labels.is_used)
    return ppi_or_no_memory(take_checkpoint(run, checkpoint));
  pprof_event *open;
  pprof_checkpoint numbered = *checkpoint;
  pprof_status status =
      ppi_run_number_open(&run->labels, &run->ids, &numbered, &open);
  if (status == PPROF_STATUS_OK)
    status = ppi_or_no_memory(take_checkpoint(run, &numbered));
  ppi_free(open);
  return status;
}
