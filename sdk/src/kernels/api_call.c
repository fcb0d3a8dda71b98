// SPDX-License-Identifier: Apache-2.0
//
// Records calls of a device's API as ranges of their threads.
#include "kernels/api_call.h"

#include <pthread.h>

#include "base/mem.h"
#include "mark/attach.h"

// ---- launchers ----
static pthread_key_t key;
static bool has_key;

static void make_key(void) {
  has_key = pthread_key_create(&key, ppi_free) == 0;
}

ppi_launcher *ppi_launcher_self(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  if (!has_key) return NULL;
  ppi_launcher *self = pthread_getspecific(key);
  if (self) return self;
  self = ppi_alloc(sizeof *self);
  if (!self) return NULL;
  *self = (ppi_launcher){0};
  if (pthread_setspecific(key, self) == 0) return self;
  ppi_free(self);
  return NULL;
}

static struct {
  bool are_wanted;        // atomic
  uint32_t num_open;      // atomic: with a range
  uint32_t subscription;  // atomic
} calls;

void ppi_calls_want(bool all) {
  __atomic_store_n(&calls.are_wanted, all, __ATOMIC_RELAXED);
}

bool ppi_calls_are_wanted(void) {
  return __atomic_load_n(&calls.are_wanted, __ATOMIC_RELAXED);
}

bool ppi_calls_any_open(void) {
  return __atomic_load_n(&calls.num_open, __ATOMIC_ACQUIRE) != 0;
}

void ppi_calls_forget(void) {
  __atomic_fetch_add(&calls.subscription, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&calls.num_open, 0, __ATOMIC_RELAXED);
}

// Calls by a marker itself are not the program's.
static bool may_tell(bool only_inside) {
  const ppi_thread *thread = ppi_thread_self;
  if (thread && thread->busy) return false;
  if (!only_inside) return true;
  const ppi_lane *lane = thread ? ppi_thread_lane(thread, 0) : NULL;
  return lane && PPI_DEPTH(lane->commit) &&
         ppi_lane_is_of(lane, __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED));
}

void ppi_call_begin(ppi_launcher *self, pprof_site *site, bool only_inside) {
  uint32_t now = __atomic_load_n(&calls.subscription, __ATOMIC_RELAXED);
  if (self->subscription != now) {
    self->subscription = now;
    self->call = NULL;
    self->token.lane = NULL;
  }
  if (self->call) return;
  self->call = site;
  if (!may_tell(only_inside)) return;
  self->token = pprof_scope_enter_(site);
  if (self->token.lane)
    __atomic_fetch_add(&calls.num_open, 1, __ATOMIC_RELAXED);
}

// The range is as much as the call that was the first.
void ppi_call_end(ppi_launcher *self, const pprof_site *site) {
  if (self->call != site) return;
  self->call = NULL;
  if (!self->token.lane) return;
  pprof_scope_exit_(&self->token);
  self->token.lane = NULL;
  __atomic_fetch_sub(&calls.num_open, 1, __ATOMIC_RELEASE);
}

uint32_t ppi_call_depth(const ppi_launcher *self, const ppi_lane *lane) {
  uint32_t depth = PPI_DEPTH(lane->commit);
  bool is_call = self && self->call && self->token.lane == lane;
  return depth && is_call ? depth - 1 : depth;
}

// Changes by that thread meanwhile show in its word.
__attribute__((no_sanitize("thread"))) uint32_t ppi_call_depth_of(
    const ppi_lane *lane, uint64_t word) {
  uint32_t depth = PPI_DEPTH(word);
  if (depth == 0 || depth > lane->num_frames) return depth;
  uint32_t site = ppi_lane_frames(lane)[depth - 1].site;
  const ppi_definition_record *known =
      ppi_names_site_record(ppi_recorder_in_force.names, site);
  return known && known->parent == PPROF_CATEGORY_RUNTIME ? depth - 1 : depth;
}
