// SPDX-License-Identifier: Apache-2.0
//
// Keeps launches in a table by the correlation's lower bits. The thread that
// makes the call writes its place and publishes it by a word, {correlation:32,
// state:32}; a later call takes the place over.
#include "kernels/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernels/api_call.h"
#include "mark/attach.h"

// The kernel is asked which threads sleep; seldom, as that takes microseconds.
// The state stands behind the name, which is in brackets.
static bool sleeps(uint32_t tid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
  int file = ppi_fd_open(path, O_RDONLY, 0);
  if (file < 0) return false;
  ssize_t num = read(file, text, sizeof text - 1);
  close(file);
  text[num > 0 ? num : 0] = '\0';
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

static const ppi_lane *open_lane(const ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++) {
    const ppi_lane *lane = ppi_thread_lane(thread, i);
    if (lane && ppi_call_depth_of(lane, ppi_lane_word(lane))) return lane;
  }
  return NULL;
}

static const ppi_lane *look(void) {
  const ppi_lane *found = NULL;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next) {
    const ppi_lane *lane = thread == ppi_thread_self ? NULL : open_lane(thread);
    if (!lane || !sleeps(thread->tid)) continue;
    if (found) return NULL;
    found = lane;
  }
  return found;
}

static bool holds(const ppi_launcher *self, uint64_t now) {
  if (self->serial != ppi_recorder_in_force.serial) return false;
  if (self->lane) return ppi_lane_word(self->lane) == self->word;
  return now - self->looked < ppi_clock_state.ticks_per_second / 1000;
}

// find_waiting answers the lane of the only thread that has open ranges and
// sleeps, and how many are open; NULL: there is none, or more than one. A found
// lane is valid until that thread's next marker; the answer NULL, for a ms. The
// calling thread is busy, and has no ranges open.
static const ppi_lane *find_waiting(uint32_t *out_depth) {
  uint64_t now = ppi_clock_ticks();
  ppi_launcher *self = ppi_launcher_self();
  if (!self) return NULL;
  if (!holds(self, now)) {
    int kept = errno;
    self->lane = look();
    self->word = self->lane ? ppi_lane_word(self->lane) : 0;
    self->depth = self->lane ? ppi_call_depth_of(self->lane, self->word) : 0;
    self->looked = now;
    self->serial = ppi_recorder_in_force.serial;
    errno = kept;
  }
  if (!self->depth) return NULL;
  *out_depth = self->depth;
  return self->lane;
}

typedef struct launch_place {
  uint64_t word;  // atomic
  ppi_launch launch;
} launch_place;

static struct {
  launch_place *places;      // of the process, once there are any
  uint32_t settled;          // collector: all calls below have been reported
  uint32_t newest;           // atomic: the greatest correlation so far
  bool any_work;             // atomic: since the others were forgotten
  bool is_closed;            // atomic
  uint64_t cost, num_costs;  // atomic: of those that were measured
} launches;

static uint64_t word_of(uint32_t correlation, ppi_launch_state state) {
  return (uint64_t)correlation << 32 | state;
}

static launch_place *place_of(uint32_t correlation) {
  return &launches.places[correlation % PPI_LAUNCHES];
}

static ppi_launch_state state_of(uint64_t word, uint32_t correlation) {
  return word >> 32 == correlation ? (ppi_launch_state)(uint32_t)word
                                   : PPI_LAUNCH_NONE;
}

static launch_place *places(void) {
  return __atomic_load_n(&launches.places, __ATOMIC_ACQUIRE);
}

bool ppi_launches_open(void) {
  if (!launches.places)
    __atomic_store_n(&launches.places,
                     ppi_alloc_lines(PPI_LAUNCHES * sizeof(launch_place)),
                     __ATOMIC_RELEASE);
  return launches.places != NULL;
}

bool ppi_launches_are_open(void) {
  return places() && !__atomic_load_n(&launches.is_closed, __ATOMIC_RELAXED);
}

void ppi_launches_forget(void) {
  for (uint32_t i = 0; launches.places && i < PPI_LAUNCHES; i++)
    __atomic_store_n(&launches.places[i].word, 0, __ATOMIC_RELAXED);
  launches.settled = __atomic_load_n(&launches.newest, __ATOMIC_RELAXED);
  __atomic_store_n(&launches.any_work, false, __ATOMIC_RELAXED);
  __atomic_store_n(&launches.is_closed, false, __ATOMIC_RELAXED);
  __atomic_store_n(&launches.cost, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&launches.num_costs, 0, __ATOMIC_RELAXED);
}

void ppi_launch_cost(uint64_t ticks, bool is_end) {
  __atomic_fetch_add(&launches.cost, ticks, __ATOMIC_RELAXED);
  if (is_end) __atomic_fetch_add(&launches.num_costs, 1, __ATOMIC_RELAXED);
}

uint64_t ppi_launches_cost(uint64_t *out_num) {
  *out_num = __atomic_load_n(&launches.num_costs, __ATOMIC_RELAXED);
  return PPI_LAUNCH_SAMPLE * __atomic_load_n(&launches.cost, __ATOMIC_RELAXED);
}

void ppi_launches_close(void) {
  __atomic_store_n(&launches.is_closed, true, __ATOMIC_RELAXED);
}

bool ppi_launches_any(void) {
  return __atomic_load_n(&launches.any_work, __ATOMIC_RELAXED);
}

// The counter that they come from may come round.
static bool is_newer(uint32_t correlation, uint32_t than) {
  return (int32_t)(correlation - than) > 0;
}

static void note_newest(uint32_t correlation) {
  uint32_t newest = __atomic_load_n(&launches.newest, __ATOMIC_RELAXED);
  while (is_newer(correlation, newest) &&
         !__atomic_compare_exchange_n(&launches.newest, &newest, correlation,
                                      true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
}

// Its own call is not around itself.
static uint64_t top_of(const ppi_launcher *self, const ppi_lane *lane) {
  uint32_t depth = ppi_call_depth(self, lane);
  if (depth == 0 || depth > lane->num_frames) return 0;
  return ppi_lane_frames(lane)[depth - 1].start;
}

// The stack with the latest innermost range makes the call: NVTX domains have
// stacks of their own.
static const ppi_lane *innermost(const ppi_launcher *self,
                                 const ppi_thread *thread,
                                 const ppi_lane *lane) {
  uint32_t epoch = lane->stack_epoch;
  for (uint32_t i = 1; i < PPI_THREAD_STACKS; i++) {
    const ppi_lane *other = ppi_thread_lane(thread, i);
    if (other && ppi_lane_is_of(other, epoch) &&
        top_of(self, other) > top_of(self, lane))
      lane = other;
  }
  return lane;
}

const ppi_lane *ppi_launch_lane(const ppi_thread *thread, const ppi_lane *lane,
                                uint32_t *out_depth, bool *out_by_wait) {
  const ppi_launcher *self = ppi_launcher_self();
  lane = innermost(self, thread, lane);
  *out_depth = ppi_call_depth(self, lane);
  const ppi_lane *waiting = *out_depth ? NULL : find_waiting(out_depth);
  *out_by_wait = waiting;
  return waiting ? waiting : lane;
}

// A thread that waits may go on meanwhile: its flow is then the one or the
// other.
static __attribute__((no_sanitize("thread"))) uint64_t flow_of(
    const ppi_lane *lane, uint32_t depth) {
  if (depth == 0 || depth > lane->num_frames) return 0;
  const ppi_frame *frame = ppi_lane_frames(lane) + depth - 1;
  return frame->num_flows == 1 ? frame->flow : 0;
}

void ppi_launch_begin(uint32_t correlation, ppi_launch_kind kind) {
  ppi_thread *thread;
  uint32_t depth;
  bool is_by_wait;
  if (__atomic_load_n(&launches.is_closed, __ATOMIC_RELAXED)) return;
  const ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  lane = ppi_launch_lane(thread, lane, &depth, &is_by_wait);
  launch_place *place = place_of(correlation);
  __atomic_store_n(&place->word, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  uint64_t now = ppi_clock_ticks();
  place->launch = (ppi_launch){.begin = now,
                               .end = now,
                               .flow = flow_of(lane, depth),
                               .lane = lane->id,
                               .depth = (uint16_t)depth,
                               .kind = (uint8_t)kind,
                               .is_by_wait = is_by_wait};
  __atomic_store_n(&place->word, word_of(correlation, PPI_LAUNCH_OPEN),
                   __ATOMIC_RELEASE);
  if (kind != PPI_LAUNCH_MEMORY && !ppi_launches_any())
    __atomic_store_n(&launches.any_work, true, __ATOMIC_RELAXED);
  note_newest(correlation);
  ppi_leave(thread);
}

void ppi_launch_end(uint32_t correlation, bool is_submitted) {
  if (!launches.places) return;
  launch_place *place = place_of(correlation);
  uint64_t word = word_of(correlation, PPI_LAUNCH_OPEN);
  if (__atomic_load_n(&place->word, __ATOMIC_RELAXED) != word) return;
  __atomic_store_n(&place->launch.end, ppi_clock_ticks(), __ATOMIC_RELAXED);
  uint64_t next = word_of(
      correlation, is_submitted ? PPI_LAUNCH_SUBMITTED : PPI_LAUNCH_NONE);
  // Unless another call has taken the place meanwhile, or it was forgotten.
  __atomic_compare_exchange_n(&place->word, &word, next, false,
                              __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The owner of a later call may write it meanwhile; the word shows it.
__attribute__((no_sanitize("thread"))) ppi_launch_state ppi_launch_find(
    uint32_t correlation, ppi_launch *out) {
  if (!launches.places) return PPI_LAUNCH_NONE;
  const launch_place *place = place_of(correlation);
  uint64_t word = __atomic_load_n(&place->word, __ATOMIC_ACQUIRE);
  ppi_launch_state state = state_of(word, correlation);
  if (state == PPI_LAUNCH_NONE) return state;
  *out = place->launch;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  word = __atomic_load_n(&place->word, __ATOMIC_RELAXED);
  return PPI_MIN(state, state_of(word, correlation));
}

void ppi_launch_reported(uint32_t correlation, uint64_t now) {
  launch_place *place = place_of(correlation);
  if (state_of(__atomic_load_n(&place->word, __ATOMIC_ACQUIRE), correlation))
    __atomic_store_n(&place->launch.reported, now, __ATOMIC_RELAXED);
}

static bool is_settled(const ppi_launch *launch, uint64_t quiet,
                       uint64_t given_up) {
  if (launch->begin < given_up) return true;
  if (launch->kind == PPI_LAUNCH_MEMORY)
    return launch->reported || launch->begin < quiet;
  return launch->reported &&
         (launch->kind != PPI_LAUNCH_GRAPH || launch->reported < quiet);
}

uint64_t ppi_launches_oldest(uint64_t quiet, uint64_t given_up) {
  uint64_t oldest = UINT64_MAX;
  uint32_t end = __atomic_load_n(&launches.newest, __ATOMIC_ACQUIRE) + 1;
  if (end - launches.settled > PPI_LAUNCHES)
    launches.settled = end - PPI_LAUNCHES;
  for (uint32_t at = launches.settled; at != end; at++) {
    ppi_launch launch;
    bool is_awaited = ppi_launch_find(at, &launch) != PPI_LAUNCH_NONE &&
                      !is_settled(&launch, quiet, given_up);
    if (is_awaited) oldest = PPI_MIN(oldest, launch.begin);
    if (!is_awaited && at == launches.settled) launches.settled++;
  }
  return oldest;
}

void ppi_launches_lanes(void (*take)(void *taker, uint32_t lane), void *taker) {
  uint32_t end = __atomic_load_n(&launches.newest, __ATOMIC_ACQUIRE) + 1;
  if (!launches.places) return;
  for (uint32_t at = launches.settled; at != end; at++) {
    ppi_launch launch;
    if (ppi_launch_find(at, &launch) != PPI_LAUNCH_NONE)
      take(taker, launch.lane);
  }
}
