// SPDX-License-Identifier: Apache-2.0
//
// Gives lanes to threads: joining a session, catching up with edges, leaving,
// and balance while there is no lane.
#include "mark/thread_lane.h"

#include "base/masked.h"
#include "mark/frame.h"
#include "mark/older.h"
#include "mark/thread_impl.h"
#include "mark/thread_name.h"

// The thread that took the lane in each place last; the thread itself knows
// whether it still has it.
static ppi_thread *owners[PPI_MAX_LANES];

// A marker that stands in here while its session ends may find the lane's id
// gone with the rest of the spool.
static ppi_thread **owner_of(const ppi_lane *lane) {
  return &owners[(lane->id - 1) % PPI_MAX_LANES];
}

// The lane to which another thread gives a name: it stays its thread's.
static const ppi_lane *being_named;

// A row is named after its thread, and after its domain where it has one.
static void define_lane(ppi_lane *lane, uint32_t domain, const char *name) {
  char full[PPI_THREAD_NAME + 256], hash[PPI_NAME_HASH];
  snprintf(full, sizeof full, domain ? "%s [%.160s]" : "%s", name,
           ppi_domain_name(domain));
  pprof_definition definition = {
      PPROF_DEFINITION_LANE, lane->id, 0, 0, lane->tid, full};
  ppi_lane_set_name(
      &ppi_recorder_in_force.spool, lane,
      ppi_names_shown(ppi_recorder_in_force.names, &definition, hash));
}

// Pushes of an older epoch: the edge would have cut their ranges.
static void follow_unkept(ppi_unkept *unkept, uint32_t epoch) {
  uint32_t serial = ppi_recorder_in_force.serial;
  if (unkept->serial != serial) *unkept = (ppi_unkept){serial, epoch, 0, 0, 0};
  if (unkept->epoch == epoch) return;
  unkept->before += unkept->open;
  unkept->open = 0;
  unkept->epoch = epoch;
}

// Counts a marker without a lane.
static void leave_unkept(ppi_unkept *unkept, uint32_t epoch,
                         ppi_intent intent) {
  follow_unkept(unkept, epoch);
  if (intent == PPI_PUSHES)
    unkept->open++;
  else if (intent == PPI_PUSHES_DEVICE)
    unkept->devices++;
  else if (intent == PPI_POPS && unkept->open)
    unkept->open--;
  else if (intent == PPI_POPS && unkept->before)
    unkept->before--;
  if (ppi_is_counted(intent)) ppi_recorder_count_lost();
}

bool ppi_thread_pop_unkept(ppi_thread *thread) {
  ppi_unkept *unkept = &thread->stacks[0].unkept;
  if (unkept->serial != ppi_recorder_in_force.serial || !unkept->devices)
    return false;
  unkept->devices--;
  return true;
}

// A new lane begins with the pushes that found none.
static void take_over_unkept(ppi_lane *lane, ppi_unkept *unkept,
                             uint32_t epoch) {
  follow_unkept(unkept, epoch);
  uint32_t depth = PPI_MIN(unkept->open, PPI_MAX_DEPTH);
  for (uint32_t i = 0; i < PPI_MIN(depth, lane->num_frames); i++)
    ppi_lane_put_balance(lane, i, PPI_FRAME_LOST);
  lane->too_deep = unkept->open - depth;
  lane->before_left = unkept->before;
  lane->lost_left = 0;
  ppi_lane_commit(lane, PPI_HEAD(lane->commit), depth);
  unkept->open = unkept->before = 0;
}

static ppi_lane *join_session(ppi_thread *thread, ppi_stack *at,
                              uint32_t epoch) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  ppi_calm before;
  ppi_mask_signals(&before);
  // No checkpoint trusts its read of this thread until the lane is here.
  __atomic_store_n(&thread->joining, 1, __ATOMIC_RELAXED);
  ppi_lane *lane = ppi_lane_create(spool, epoch, thread->tid);
  if (lane) {
    take_over_unkept(lane, &at->unkept, epoch);
    if (ppi_older_has(thread->tid) || ppi_edge_was_off(spool->header))
      lane->before_left = UINT32_MAX;
    ppi_thread_name_find(thread);
    define_lane(lane, at->domain, thread->name);
    at->serial = ppi_recorder_in_force.serial;
    if (at->domain == 0) thread->device_depth = 0;
    __atomic_store_n(owner_of(lane), thread, __ATOMIC_RELEASE);
    __atomic_store_n(&at->lane, lane, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&thread->joining, 0, __ATOMIC_RELEASE);
  ppi_unmask_signals(&before);
  return lane;
}

// The pop of a lost push counts for nothing in the same epoch: the range is
// counted already.
static ppi_lane *lose(ppi_lane *lane, uint32_t epoch, ppi_intent intent) {
  uint32_t watch_epoch =
      __atomic_load_n(&ppi_recorder_in_force.watch_epoch, __ATOMIC_RELAXED);
  if (ppi_is_counted(intent)) ppi_count(&lane->lost, 1);
  if (intent == PPI_PUSHES) {
    lane->lost_epoch = epoch;
    lane->lost_left++;
  } else if (intent == PPI_POPS && lane->lost_left && lane->lost_epoch == epoch)
    lane->lost_left--;
  else if (intent == PPI_POPS && epoch != watch_epoch)
    ppi_count(&lane->begun_before, 1);  // the collector ends the range
  return NULL;
}

// The collector may be cutting this same stack; the side that swaps the edge
// word cuts all of it.
static bool cut(ppi_lane *lane, uint32_t stack_epoch, uint32_t epoch) {
  ppi_calm before;
  ppi_mask_signals(&before);
  bool is_mine =
      __atomic_compare_exchange_n(&lane->edge, &stack_epoch, epoch, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (is_mine) ppi_lane_cut(&ppi_recorder_in_force.spool, lane, epoch);
  ppi_unmask_signals(&before);
  return is_mine;
}

static ppi_lane *follow(ppi_lane *lane, uint32_t epoch, ppi_intent intent) {
  uint32_t stack_epoch = __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE);
  if (stack_epoch == epoch || cut(lane, stack_epoch, epoch)) return lane;
  return lose(lane, epoch, intent);
}

bool ppi_thread_follow(ppi_lane *lane, uint32_t epoch) {
  return follow(lane, epoch, PPI_PUSHES) != NULL;
}

static ppi_lane *catch_up(ppi_thread *thread, ppi_stack *at, uint32_t epoch,
                          ppi_intent intent) {
  if (epoch == 0) return NULL;
  ppi_lane *lane = __atomic_load_n(&at->lane, __ATOMIC_RELAXED);
  if (!lane || at->serial != ppi_recorder_in_force.serial) {
    lane = join_session(thread, at, epoch);
    if (!lane) leave_unkept(&at->unkept, epoch, intent);
    return lane;
  }
  lane = follow(lane, epoch, intent);
  if (!lane && intent == PPI_PUSHES_DEVICE) {
    follow_unkept(&at->unkept, epoch);
    at->unkept.devices++;
  }
  return lane;
}

// Another chunk may lie anywhere; a push leaves a record's room for each frame
// that there may be.
void ppi_stack_refresh(ppi_stack *stack) {
  const ppi_lane *lane = __atomic_load_n(&stack->lane, __ATOMIC_RELAXED);
  if (!lane) return;  // a child that a signal handler has forked
  uint64_t num = lane->num_frames, capacity = lane->capacity;
  uint64_t head = PPI_HEAD(lane->commit);
  uint64_t chunk_end = head - head % PPI_SLOTS_PER_CHUNK + PPI_SLOTS_PER_CHUNK;
  stack->frames = ppi_lane_frames(lane);
  stack->num_frames = num;
  stack->push_limit = capacity > num ? (capacity - num) << 16 : 0;
  stack->slot_limit = head < capacity ? chunk_end << 16 : 0;
  stack->slots =
      (uintptr_t)ppi_lane_slot(ppi_recorder_in_force.spool.base, lane, head) -
      head * sizeof(ppi_record);
}

void ppi_thread_refresh(ppi_thread *thread, const ppi_lane *lane) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    if (ppi_thread_lane(thread, i) == lane)
      ppi_stack_refresh(&thread->stacks[i]);
}

// From here on the usual way leads in. Where markers fence themselves, none
// does.
static void trust(const ppi_thread *thread, ppi_stack *stack, uint32_t epoch) {
  if (thread->fence) return;
  stack->epoch = epoch;
  ppi_stack_refresh(stack);
}

// Where markers fence themselves, each of them runs this.
ppi_lane *ppi_thread_enter_slow(ppi_thread *thread, ppi_intent intent) {
  ppi_stack *own = &thread->stacks[0];
  if (thread->fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  // Off since the first test, or a raw clone's child, where the lane is not
  // even mapped. (A lane that the collector cut is of epoch 0, too.)
  if (!epoch) epoch = ppi_thread_wake(thread, intent);
  if (!epoch) return NULL;
  ppi_lane *lane = catch_up(thread, own, epoch, intent);
  if (!lane) {
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
    return NULL;
  }
  trust(thread, own, epoch);
  thread->epoch_ticks =
      ppi_mark_is_watching(lane)
          ? 0
          : ppi_edge_ticks(ppi_recorder_in_force.spool.header, epoch);
  return lane;
}

// The domain's stack, which is the first free one from its number on; NULL:
// there are too many.
static ppi_stack *find_stack(ppi_thread *thread, uint32_t domain) {
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++) {
    ppi_stack *at = ppi_thread_stack(thread, domain + i);
    if (at == thread->stacks) continue;  // its number has gone round
    if (at->domain == 0) at->domain = domain;
    if (at->domain == domain) return at;
  }
  return NULL;
}

ppi_lane *ppi_thread_catch_up_in(ppi_thread *thread, uint32_t domain,
                                 uint32_t epoch, ppi_intent intent) {
  ppi_stack *found = find_stack(thread, domain);
  if (!found) {
    if (ppi_is_counted(intent)) ppi_recorder_count_lost();
    return NULL;
  }
  ppi_lane *lane = catch_up(thread, found, epoch, intent);
  if (lane) trust(thread, found, epoch);
  return lane;
}

// Frames that were closed a moment ago are still there to be read.
void ppi_thread_notify_last(const ppi_lane *lane, uint32_t from, uint32_t to) {
  const ppi_frame *frames = ppi_lane_frames(lane);
  for (uint32_t i = (uint32_t)PPI_MIN(to, lane->num_frames); i-- > from;)
    if (frames[i].flags & PPI_FRAME_LAST)
      ppi_recorder_in_force.watched_ended(frames[i].site);
}

static void leave_lane(ppi_thread *thread, ppi_stack *at, uint32_t epoch) {
  ppi_lane *lane = __atomic_load_n(&at->lane, __ATOMIC_RELAXED);
  bool is_live = false;
  // A raw clone's child with a wiped page has no lane mapped.
  // A session that has stopped, or stops now, has no use for the lane: its
  // serial left the page before the stop looked for busy threads.
  uint32_t serial = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE);
  if (lane && serial && serial == at->serial) {
    // While nothing is recorded the collector cuts the stack at its edge.
    if (epoch && catch_up(thread, at, epoch, PPI_ADDS)) {
      uint32_t open = PPI_DEPTH(lane->commit);
      // The CPU use of a thread that is gone cannot be read any more.
      bool is_self = thread == ppi_thread_self;
      ppi_lane_make_room(&ppi_recorder_in_force.spool, lane, 0);
      ppi_lane_close(
          ppi_recorder_in_force.spool.base, lane, 0,
          (ppi_closing){
              ppi_clock_ticks(), PPROF_FLAG_ABANDONED, PPROF_FLAG_ABANDONED,
              is_self ? ppi_cpu_frames_end(&thread->cpu, lane, 0) : NULL});
      ppi_thread_notify_last(lane, 0, open);
    }
    is_live = true;
  }
  // This comes first: the collector may have taken the lane's counts, and a
  // signal handler's marker in between must not add to them.
  __atomic_store_n(&at->lane, NULL, __ATOMIC_RELEASE);
  if (is_live) __atomic_store_n(&lane->state, PPI_LANE_LEFT, __ATOMIC_RELEASE);
}

ppi_thread *ppi_thread_owning(const ppi_lane *lane) {
  ppi_thread *thread = __atomic_load_n(owner_of(lane), __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; thread && i < PPI_THREAD_STACKS; i++)
    if (ppi_thread_lane(thread, i) == lane) return thread;
  return NULL;
}

void ppi_thread_forget_lanes(void) {
  // In a child of fork it is another thread's of the parent.
  being_named = NULL;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    ppi_thread_take_lanes(thread);
}

// The thread may leave the lane meanwhile, and the collector may give the lane
// away. Either the collector finds `being_named`, or this finds that the thread
// has left.
static void define_lane_of(const ppi_thread *thread, uint32_t i,
                           const char *name) {
  uint32_t serial = ppi_recorder_in_force.serial;
  ppi_lane *lane = ppi_thread_lane(thread, i);
  if (!lane || thread->stacks[i].serial != serial) return;
  __atomic_store_n(&being_named, lane, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&thread->stacks[i].lane, __ATOMIC_SEQ_CST) == lane)
    define_lane(lane, thread->stacks[i].domain, name);
  __atomic_store_n(&being_named, NULL, __ATOMIC_RELEASE);
}

void ppi_thread_define_lanes(const ppi_thread *thread, const char *name) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    define_lane_of(thread, i, name);
}

bool ppi_thread_is_naming(const ppi_lane *lane) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return __atomic_load_n(&being_named, __ATOMIC_SEQ_CST) == lane;
}

void ppi_thread_leave_lanes(ppi_thread *thread, uint32_t epoch) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    leave_lane(thread, &thread->stacks[i], epoch);
}
