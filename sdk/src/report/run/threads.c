// SPDX-License-Identifier: Apache-2.0
//
// Threads of a run that come and go: a lane that another one gets, and those
// that left, so that what is known of them does not grow with how many came.
#include "base/base_impl.h"
#include "base/mem.h"
#include "report/run/run.h"

static bool append(void ***items, size_t *num, size_t *capacity, void *item) {
  void **grown = ppi_grow(*items, capacity, *num + 1, sizeof *grown);
  if (!grown) return false;
  *items = grown;
  grown[(*num)++] = item;
  return true;
}

static bool add_summed(ppi_run *run, ppi_run_thread *thread) {
  return append((void ***)(void *)&run->summed, &run->num_summed,
                &run->summed_capacity, thread);
}

static ppi_run_thread *add_thread(ppi_run *run, uint64_t number, size_t at) {
  if (at != run->num_threads) return NULL;
  ppi_run_thread *thread = ppi_alloc(sizeof *thread);
  if (!thread) return NULL;
  thread->number = number;
  thread->index = run->num_indexes++;
  if (append((void ***)(void *)&run->threads, &run->num_threads,
             &run->threads_capacity, thread))
    return thread;
  ppi_free(thread);
  return NULL;
}

static size_t place_of(ppi_run *run, uint64_t number) {
  return ppi_map_number(&run->thread_numbers, (ppi_map_key){number, 0});
}

// Those that have left are found by their numbers no more: the next thread of
// such a number is another one.
static bool sum_up(ppi_run *run) {
  size_t num = run->num_threads;
  bool done = true;
  ppi_map_clear(&run->thread_numbers);
  run->num_threads = 0;
  for (size_t i = 0; i < num; i++) {
    ppi_run_thread *thread = run->threads[i];
    if (!thread->num_lanes && thread->number && add_summed(run, thread)) {
      thread->is_summed = true;
      run->num_summed_threads++;
      continue;
    }
    done &= place_of(run, thread->number) == run->num_threads;
    run->threads[run->num_threads++] = thread;
  }
  run->sum_up_at = 2 * PPI_MAX(run->num_threads, PPI_RUN_MAX_THREADS);
  return done;
}

// The one that they are together; it never leaves.
static bool add_left(ppi_run *run) {
  if (run->num_summed_threads == 0 || run->left_threads) return true;
  run->left_threads = add_thread(run, PPI_REPORT_LEFT_THREADS,
                                 place_of(run, PPI_REPORT_LEFT_THREADS));
  if (run->left_threads) run->left_threads->num_lanes = 1;
  return run->left_threads;
}

ppi_run_thread *ppi_run_thread_at(ppi_run *run, uint64_t number) {
  size_t at = place_of(run, number);
  if (at == SIZE_MAX) return NULL;
  if (at < run->num_threads) return run->threads[at];
  if (at >= PPI_MAX(run->sum_up_at, 2 * PPI_RUN_MAX_THREADS)) {
    if (!sum_up(run) || !add_left(run)) return NULL;
    at = place_of(run, number);
  }
  return add_thread(run, number, at);
}

static void free_lane(ppi_run *run, ppi_run_lane *lane) {
  ppi_hold_clear(&lane->nested, &run->pool);
  ppi_hold_clear(&lane->loose, &run->pool);
  ppi_nest_clear(&lane->nest);
  ppi_free(lane->frames);
}

static bool is_swept(const ppi_run_lane *lane) {
  return !lane->nested.num_pages && !lane->loose.num_pages;
}

pprof_status ppi_run_lane_defined(ppi_run *run, uint32_t id, uint64_t number) {
  ppi_run_lane *lane = id < run->lanes.num ? run->lanes.items[id] : NULL;
  bool has_moved = lane && lane->thread && lane->number != number;
  if (has_moved) lane->thread->num_lanes--;
  // What came before the first definition is the thread's that it names.
  if (has_moved && lane->is_defined) {
    if (!append((void ***)(void *)&run->left, &run->num_left,
                &run->left_capacity, lane))
      return PPROF_STATUS_NO_MEMORY;
    lane->thread->num_left++;
    run->lanes.items[id] = NULL;
  } else if (has_moved) {
    lane->thread = NULL;
  }
  lane = ppi_run_lane_slot(run, id);
  if (!lane) return PPROF_STATUS_NO_MEMORY;
  lane->number = number;
  lane->is_defined = true;
  if (!has_moved) return PPROF_STATUS_OK;
  return ppi_run_lane_at(run, id) ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

static void forget_lanes(ppi_run *run) {
  size_t kept = 0;
  for (size_t i = 0; i < run->num_left; i++) {
    ppi_run_lane *lane = run->left[i];
    if (!is_swept(lane)) {
      run->left[kept++] = lane;
      continue;
    }
    lane->thread->num_left--;
    free_lane(run, lane);
    ppi_free(lane);
  }
  run->num_left = kept;
}

static bool has_more(const ppi_run_thread *thread) {
  const ppi_scopes *scopes = &thread->scopes;
  return thread->num_lanes || thread->num_left || scopes->num_points ||
         scopes->num_carried;
}

static void free_thread(ppi_run_thread *thread) {
  ppi_scopes_clear(&thread->scopes);
  ppi_free(thread->around);
  ppi_free(thread);
}

pprof_status ppi_run_forget_swept(ppi_run *run) {
  forget_lanes(run);
  bool any = false;
  for (size_t i = 0; i < run->num_summed; i++) {
    run->summed[i]->is_swept = !has_more(run->summed[i]);
    any |= run->summed[i]->is_swept;
  }
  if (!any) return PPROF_STATUS_OK;
  pprof_status status = ppi_run_sum_details(run);
  if (status != PPROF_STATUS_OK) return status;
  size_t kept = 0;
  for (size_t i = 0; i < run->num_summed; i++) {
    if (run->summed[i]->is_swept)
      free_thread(run->summed[i]);
    else
      run->summed[kept++] = run->summed[i];
  }
  run->num_summed = kept;
  return PPROF_STATUS_OK;
}

void ppi_run_clear_threads(ppi_run *run) {
  for (size_t i = 0; i < run->lanes.num; i++)
    if (run->lanes.items[i]) free_lane(run, run->lanes.items[i]);
  for (size_t i = 0; i < run->num_left; i++) {
    free_lane(run, run->left[i]);
    ppi_free(run->left[i]);
  }
  for (size_t i = 0; i < ppi_run_num_threads(run); i++)
    free_thread(ppi_run_any_thread(run, i));
  ppi_map_clear(&run->thread_numbers);
  ppi_free(run->threads);
  ppi_free(run->summed);
  ppi_free(run->left);
  ppi_hold_pool_clear(&run->pool);
}
