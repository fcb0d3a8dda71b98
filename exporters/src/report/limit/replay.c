// SPDX-License-Identifier: Apache-2.0
//
// Replays one station with its recorded arrivals.
#include "report/limit/replay.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"

static bool add_job(ppi_replay *to, const ppi_replay_job *job) {
  ppi_replay_job *grown =
      ppi_grow(to->jobs, &to->capacity, to->num + 1, sizeof *grown);
  if (!grown) return false;
  to->jobs = grown;
  grown[to->num++] = *job;
  return true;
}

// Calls of a request that follow each other on a row of the station are one
// job.
static bool add_unit(const ppi_limit_model *model, const ppi_limit_unit *unit,
                     uint32_t station, ppi_replay *to) {
  uint64_t ready_ns = unit->start_ns, around_ns = unit->start_ns;
  bool goes_on = false;
  for (size_t i = 0; i < unit->num; i++) {
    const ppi_limit_call *call =
        &model->calls[model->unit_calls[unit->first + i]];
    if (call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE)) continue;
    bool is_here = model->rows[call->row].station == station;
    uint64_t length_ns = call->end_ns - call->start_ns;
    ppi_replay_job *last = to->num ? &to->jobs[to->num - 1] : NULL;
    if (is_here && goes_on && last->row == call->row) {
      last->service_ns = call->end_ns - last->start_ns;
    } else if (is_here) {
      // One inside of a call that waits for it comes with that.
      const ppi_replay_job job = {
          ready_ns <= call->start_ns ? ready_ns : around_ns, call->start_ns,
          length_ns, call->name, call->row};
      if (!add_job(to, &job)) return false;
    }
    goes_on = is_here;
    if (call->end_ns > ready_ns) around_ns = call->start_ns;
    ready_ns = PPI_MAX(ready_ns, call->end_ns);
  }
  return true;
}

static int compare_jobs(const void *left, const void *right) {
  const ppi_replay_job *a = left, *b = right;
  if (a->arrival_ns != b->arrival_ns)
    return a->arrival_ns < b->arrival_ns ? -1 : 1;
  return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

bool ppi_replay_prepare(const ppi_limit_model *model, uint32_t station,
                        ppi_replay *out) {
  *out = (ppi_replay){.servers = model->stations[station].servers};
  out->free_ns = ppi_alloc((out->servers + 1) * sizeof *out->free_ns);
  if (!out->free_ns) return false;
  for (size_t i = 0; i < model->num_units; i++)
    if (!add_unit(model, &model->units[i], station, out)) return false;
  if (out->num > 1) qsort(out->jobs, out->num, sizeof *out->jobs, compare_jobs);
  return true;
}

double ppi_replay_run(const ppi_replay *replay,
                      uint64_t (*service)(const void *context, size_t job),
                      const void *context) {
  double waits_ns = 0;
  for (size_t i = 0; i < replay->servers; i++) replay->free_ns[i] = 0;
  for (size_t i = 0; i < replay->num; i++) {
    uint64_t arrival_ns = replay->jobs[i].arrival_ns;
    size_t first = 0;
    for (size_t k = 1; k < replay->servers; k++)
      if (replay->free_ns[k] < replay->free_ns[first]) first = k;
    uint64_t start_ns = PPI_MAX(arrival_ns, replay->free_ns[first]);
    waits_ns += (double)(start_ns - arrival_ns);
    replay->free_ns[first] = start_ns + service(context, i);
  }
  return waits_ns;
}

double ppi_replay_waited(const ppi_replay *replay) {
  double waits_ns = 0;
  for (size_t i = 0; i < replay->num; i++)
    waits_ns += (double)(replay->jobs[i].start_ns - replay->jobs[i].arrival_ns);
  return waits_ns;
}

void ppi_replay_clear(ppi_replay *replay) {
  ppi_free(replay->jobs);
  ppi_free(replay->free_ns);
}
