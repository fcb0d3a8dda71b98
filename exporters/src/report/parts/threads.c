// SPDX-License-Identifier: Apache-2.0
//
// Manages threads that come and go. A lane may move to another thread. Threads
// that have left are summed up, so memory does not grow with their number.
#include "report/parts/threads.h"

#include "base/base.h"
#include "base/mem.h"

static ppi_run_thread *add_thread(ppi_run_ids *ids, uint64_t number,
                                  size_t at) {
  if (at != ids->num_threads) return NULL;
  ppi_run_thread *thread = ppi_alloc(sizeof *thread);
  if (!thread) return NULL;
  thread->number = number;
  thread->index = ids->num_indexes++;
  if (PPI_PUSH(ids->threads, ids->num_threads, ids->threads_capacity, thread))
    return thread;
  ppi_free(thread);
  return NULL;
}

static size_t place_of(ppi_run_ids *ids, uint64_t number) {
  return ppi_map_number(&ids->thread_numbers, (ppi_map_key){number, 0});
}

// Forgets the numbers of threads that have left: another thread may reuse a
// number.
static bool sum_up(ppi_run_ids *ids) {
  size_t num = ids->num_threads;
  bool done = true;
  ppi_map_clear(&ids->thread_numbers);
  ids->num_threads = 0;
  for (size_t i = 0; i < num; i++) {
    ppi_run_thread *thread = ids->threads[i];
    if (!thread->num_lanes && thread->number &&
        PPI_PUSH(ids->summed, ids->num_summed, ids->summed_capacity, thread)) {
      thread->is_summed = true;
      ids->num_summed_threads++;
      continue;
    }
    done &= place_of(ids, thread->number) == ids->num_threads;
    ids->threads[ids->num_threads++] = thread;
  }
  ids->sum_up_at = 2 * PPI_MAX(ids->num_threads, PPI_RUN_MAX_THREADS);
  return done;
}

// Adds the thread that sums up those that have left; it never leaves.
static bool add_left(ppi_run_ids *ids) {
  if (ids->num_summed_threads == 0 || ids->left_threads) return true;
  ids->left_threads = add_thread(ids, PPI_REPORT_LEFT_THREADS,
                                 place_of(ids, PPI_REPORT_LEFT_THREADS));
  if (ids->left_threads) ids->left_threads->num_lanes = 1;
  return ids->left_threads;
}

ppi_run_thread *ppi_run_thread_at(ppi_run_ids *ids, uint64_t number) {
  size_t at = place_of(ids, number);
  if (at == SIZE_MAX) return NULL;
  if (at < ids->num_threads) return ids->threads[at];
  if (at >= PPI_MAX(ids->sum_up_at, 2 * PPI_RUN_MAX_THREADS)) {
    if (!sum_up(ids) || !add_left(ids)) return NULL;
    at = place_of(ids, number);
  }
  return add_thread(ids, number, at);
}

ppi_run_thread *ppi_run_process(ppi_run_ids *ids) {
  return ppi_run_thread_at(ids, 0);
}

static ppi_run_lane *lane_slot(ppi_run_ids *ids, uint32_t id) {
  return ppi_run_item_at(&ids->lanes, id, sizeof(ppi_run_lane));
}

static void name_thread(ppi_run_lane *lane) {
  ppi_run_thread *thread = lane->thread;
  bool has_name = lane->name && *lane->name;
  if (!has_name || (thread->name && thread->named_by != lane->id)) return;
  ppi_free(thread->name);
  thread->name = lane->name;
  thread->named_by = lane->id;
  lane->name = NULL;
}

// A lane without a definition counts as a thread of its own.
ppi_run_lane *ppi_run_lane_at(ppi_run_ids *ids, uint32_t id) {
  ppi_run_lane *lane = lane_slot(ids, id);
  if (!lane || lane->thread) return lane;
  lane->id = id;
  if (!lane->is_defined) lane->number = id ? (uint64_t)1 << 63 | id : 0;
  lane->thread = ppi_run_thread_at(ids, lane->number);
  if (!lane->thread) return NULL;
  lane->thread->num_lanes++;
  name_thread(lane);
  return lane;
}

static void free_lane(ppi_run_ids *ids, ppi_run_lane *lane) {
  ppi_hold_clear(&lane->nested, &ids->pool);
  ppi_hold_clear(&lane->loose, &ids->pool);
  ppi_nest_clear(&lane->nest);
  PPI_FREE_ALL(lane->frames, lane->waits.items, lane->name);
}

static bool is_swept(const ppi_run_lane *lane) {
  return !lane->nested.num_pages && !lane->loose.num_pages;
}

bool ppi_run_lane_defined(ppi_run_ids *ids, uint32_t id, uint64_t number,
                          const char *name) {
  ppi_run_lane *lane = id < ids->lanes.num ? ids->lanes.items[id] : NULL;
  bool has_moved = lane && lane->thread && lane->number != number;
  if (has_moved) lane->thread->num_lanes--;
  // Ranges before a lane's first definition belong to the thread that it names.
  if (has_moved && lane->is_defined) {
    if (!PPI_PUSH(ids->left, ids->num_left, ids->left_capacity, lane))
      return false;
    lane->thread->num_left++;
    ids->lanes.items[id] = NULL;
  } else if (has_moved) {
    lane->thread = NULL;
  }
  lane = lane_slot(ids, id);
  if (!lane) return false;
  ppi_free(lane->name);
  lane->name = ppi_strdup(name ? name : "");
  if (!lane->name) return false;
  lane->number = number;
  lane->is_defined = true;
  if (lane->thread) name_thread(lane);
  if (!has_moved) return true;
  return ppi_run_lane_at(ids, id);
}

static void forget_lanes(ppi_run_ids *ids) {
  size_t kept = 0;
  for (size_t i = 0; i < ids->num_left; i++) {
    ppi_run_lane *lane = ids->left[i];
    if (!is_swept(lane)) {
      ids->left[kept++] = lane;
      continue;
    }
    lane->thread->num_left--;
    free_lane(ids, lane);
    ppi_free(lane);
  }
  ids->num_left = kept;
}

static bool has_more(const ppi_run_thread *thread) {
  const ppi_scopes *scopes = &thread->scopes;
  return thread->num_lanes || thread->num_left || scopes->num_points ||
         scopes->num_carried;
}

static void free_thread(ppi_run_thread *thread) {
  ppi_scopes_clear(&thread->scopes);
  PPI_FREE_ALL(thread->around, thread->name, thread);
}

bool ppi_run_find_swept(ppi_run_ids *ids) {
  forget_lanes(ids);
  bool any = false;
  for (size_t i = 0; i < ids->num_summed; i++) {
    ids->summed[i]->is_swept = !has_more(ids->summed[i]);
    any |= ids->summed[i]->is_swept;
  }
  return any;
}

void ppi_run_forget_swept(ppi_run_ids *ids) {
  size_t kept = 0;
  for (size_t i = 0; i < ids->num_summed; i++) {
    if (ids->summed[i]->is_swept)
      free_thread(ids->summed[i]);
    else
      ids->summed[kept++] = ids->summed[i];
  }
  ids->num_summed = kept;
}

void ppi_run_clear_threads(ppi_run_ids *ids) {
  for (size_t i = 0; i < ids->lanes.num; i++)
    if (ids->lanes.items[i]) free_lane(ids, ids->lanes.items[i]);
  for (size_t i = 0; i < ids->num_left; i++) {
    free_lane(ids, ids->left[i]);
    ppi_free(ids->left[i]);
  }
  for (size_t i = 0; i < ppi_run_num_threads(ids); i++)
    free_thread(ppi_run_any_thread(ids, i));
  ppi_map_clear(&ids->thread_numbers);
  PPI_FREE_ALL(ids->threads, ids->summed, ids->left);
  ppi_hold_pool_clear(&ids->pool);
}
