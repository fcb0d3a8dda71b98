// SPDX-License-Identifier: Apache-2.0
//
// Attaches a thread to its markers, and begins a marker in its thread.
#pragma once

#include "mark/thread_lane.h"

PPROF_BEGIN_C_

// ppi_thread_init prepares page, membarrier and fork handlers, once.
pprof_status ppi_thread_init(void);
ppi_thread *ppi_thread_attach(void);
// ppi_thread_set_leave_handler has threads that end call `leaving` first.
void ppi_thread_set_leave_handler(void (*leaving)(void));
// ppi_thread_name_os names the thread with this OS id, now or when it comes;
// false when there is no room for another name to remember.
bool ppi_thread_name_os(uint32_t tid, const char *name);

// The usual way into a marker, of a thread that is known and in none, with a
// lane of the epoch in force, by the processor's counter. ppi_enter_usual
// answers false where any of that is not so, having done nothing, and ppi_enter
// finds out what: as a call that is the last thing the marker does, so that it
// saves no registers for it. ppi_enter_usual_in is that for a domain.
typedef struct ppi_entry {
  ppi_thread *thread;
  const ppi_stack *stack;
  ppi_lane *lane;
  uint32_t epoch;
} ppi_entry;
static inline __attribute__((always_inline)) bool ppi_enter_usual_in(
    uint32_t domain, ppi_entry *out) {
  ppi_thread *thread = ppi_thread_self;
  if (PPI_UNLIKELY(!thread) || PPI_UNLIKELY(thread->busy)) return false;
  const ppi_stack *stack = ppi_thread_stack(thread, domain);
  // As in ppi_become_busy and ppi_enter.
  ppi_stand(thread);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_lane *lane = __atomic_load_n(&stack->lane, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = ppi_epoch_usual();
  if (PPI_UNLIKELY(epoch != stack->epoch) ||
      (domain && PPI_UNLIKELY(stack->domain != domain))) {
    ppi_leave(thread);
    return false;
  }
  if (!lane) __builtin_unreachable();
  *out = (ppi_entry){thread, stack, lane, epoch};
  return true;
}
static inline __attribute__((always_inline)) bool ppi_enter_usual(
    ppi_entry *out) {
  return ppi_enter_usual_in(0, out);
}

// ppi_become_busy answers the calling thread, busy from here on; NULL when
// nothing records, or when this marker interrupts another one.
static inline __attribute__((always_inline)) ppi_thread *ppi_become_busy(
    ppi_intent intent) {
  if (ppi_is_off()) return NULL;
  ppi_thread *thread = ppi_thread_self;
  if (PPI_UNLIKELY(!thread)) {
    thread = ppi_thread_attach();
    if (!thread) return NULL;
  }
  if (ppi_is_inside(thread)) {
    if (ppi_is_counted(intent)) ppi_thread_interrupted(thread);
    return NULL;
  }
  // busy, then the epoch: pairs with the stop's epoch = 0, membarrier, busy.
  ppi_stand(thread);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return thread;
}

// ppi_begin_marker makes the thread busy and answers the epoch in force; 0 when
// nothing is to be recorded, and then the thread is not busy.
static inline __attribute__((always_inline)) uint32_t ppi_begin_marker(
    ppi_thread **out_thread, ppi_intent intent) {
  ppi_thread *thread = ppi_become_busy(intent);
  if (!thread) return 0;
  if (PPI_UNLIKELY(thread->fence)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  // Off since the first test, or a raw clone's child, where the lane is not
  // even mapped. (A lane that the collector cut is of epoch 0, too.)
  if (PPI_UNLIKELY(epoch == 0)) epoch = ppi_thread_wake(thread, intent);
  *out_thread = thread;
  return epoch;
}
static inline bool ppi_lane_is_of(const ppi_lane *lane, uint32_t epoch) {
  return lane && __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE) == epoch;
}

// ppi_enter begins a marker: NULL when nothing is to be recorded, else the
// lane; ppi_leave must follow.
static inline __attribute__((always_inline)) ppi_lane *ppi_enter(
    ppi_thread **out_thread, ppi_intent intent) {
  ppi_thread *thread = ppi_become_busy(intent);
  if (PPI_UNLIKELY(!thread)) return NULL;
  *out_thread = thread;
  // Before the epochs: in a child that a signal handler forks in between, they
  // differ.
  ppi_lane *lane = __atomic_load_n(&thread->stacks[0].lane, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  // Never 0, nor another session's: an epoch is used once.
  if (PPI_UNLIKELY(__atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE) !=
                   thread->stacks[0].epoch))
    return ppi_thread_enter_slow(thread, intent);
  if (!lane) __builtin_unreachable();
  return lane;
}

// ppi_enter_in is ppi_enter for the thread's stack in an NVTX domain; domain 0
// is the thread's own.
static inline __attribute__((always_inline)) ppi_lane *ppi_enter_in(
    uint32_t domain, ppi_thread **out_thread, ppi_intent intent) {
  if (domain == 0) return ppi_enter(out_thread, intent);
  uint32_t epoch = ppi_begin_marker(out_thread, intent);
  if (PPI_UNLIKELY(epoch == 0)) return NULL;
  ppi_thread *thread = *out_thread;
  const ppi_stack *stack = ppi_thread_stack(thread, domain);
  ppi_lane *lane = stack->lane;
  if (PPI_UNLIKELY(stack->domain != domain || stack->epoch != epoch ||
                   !ppi_lane_is_of(lane, epoch))) {
    lane = ppi_thread_catch_up_in(thread, domain, epoch, intent);
    if (!lane) __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  }
  return lane;
}

PPROF_END_C_
