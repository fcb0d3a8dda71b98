// SPDX-License-Identifier: Apache-2.0
//
// A thread's state for markers: whether it is inside one (busy), its lanes, its
// open device ranges. Thread blocks are private memory, live to process end and
// are reused, so that the collector may read any of them at any time.
#pragma once

#include "mark/cpu_mark.h"
#include "mark/name_cache.h"
#include "mark/recorder.h"
#include "mark/thread_devices.h"
#include "spool/lane.h"

PPROF_BEGIN_C_

#define PPI_THREAD_NAME 64u
#define PPI_THREAD_TAKEN 2u
// NVTX domains that one thread may use in its life; calls in further ones are
// counted lost.
#define PPI_DOMAIN_LANES 32u
// Pushes that found no lane, so that their pops, which may find one, are
// matched: those that are open, those that an edge would have cut, and device
// pushes. The owner's alone; of session `serial`.
typedef struct ppi_unkept {
  uint32_t serial, epoch, open, before, devices;
} ppi_unkept;

// A thread's stack of open ranges: its own, or the one in an NVTX domain. The
// owner's, but for `lane`.
typedef struct ppi_stack {
  // The epoch in which `lane` was valid; PPI_NO_EPOCH: check again. A marker in
  // that epoch needs no further check.
  uint32_t epoch;
  uint32_t serial;
  // NULL, or a lane of session `serial`, which is the one in force where one is
  // (ppi_thread_forget_lanes). Atomic.
  ppi_lane *lane;
  // The lane as its usual markers need it (ppi_stack_refresh), while `epoch`
  // lasts. Limits are compared with its `commit`.
  ppi_frame *frames;
  uint64_t num_frames;
  uint64_t push_limit;  // below: room for that many frames' records
  uint64_t slot_limit;  // below: the next record lies behind `slots`
  uintptr_t slots;      // where slot 0 would be, were all chunks neighbours
  // 0: the thread's own; for another stack: unused. A stack keeps its domain
  // until the thread ends.
  uint32_t domain;
  ppi_unkept unkept;
} ppi_stack;
#define PPI_THREAD_STACKS (1u + PPI_DOMAIN_LANES)

typedef struct ppi_thread {
  // The stack address of the thread's current marker, 0: none. Owner stores,
  // others read after a membarrier.
  uintptr_t busy;
  ppi_stack stacks[PPI_THREAD_STACKS];  // 0: its own
  uint32_t in_use;  // 1: by a thread; PPI_THREAD_TAKEN: about to be another's
  uint32_t fence;   // membarrier is missing: markers fence themselves
  uint32_t tid;
  uint32_t device_depth;  // of `devices.stack`
  uint32_t joining;       // a lane is being made for it
  uint32_t num_beside;    // of `devices.beside`
  uint32_t number;        // of the block; it stays
  // Owner: free slots of the process's table, linked, of session
  // `ranges_serial` (range_slots.h). They stay with the block.
  uint32_t range_slot, ranges_serial;
  uint32_t range_ahead;  // a later one of them, 0: none
  // When its own stack's epoch began; 0: nothing is recorded in it.
  uint64_t epoch_ticks;
  // Ranges that an NVTX tool believes open on this thread, and their epoch.
  uint32_t num_emitted, emitted_epoch;
  struct ppi_thread *next;  // all blocks, in registry order
  char name[PPI_THREAD_NAME];
  ppi_thread_devices devices;
  ppi_name_cache names;
  ppi_cpu_thread cpu;
} ppi_thread;

PPI_STATIC_ASSERT(offsetof(ppi_thread, stacks) + offsetof(ppi_stack, domain) ==
                      64,
                  "one line");

extern PPI_HIDDEN __thread ppi_thread *ppi_thread_self
    __attribute__((tls_model("initial-exec")));

// The kind of a marker: it decides how a marker without a lane is counted and
// balanced.
typedef enum ppi_intent {
  PPI_ADDS = 0,  // to what is there, or ends it; nothing is lost
  PPI_BEGINS,    // something that is counted lost
  PPI_PUSHES,
  PPI_PUSHES_DEVICE,
  PPI_POPS
} ppi_intent;
static inline bool ppi_is_counted(ppi_intent intent) {
  return intent != PPI_ADDS && intent != PPI_POPS;
}

// NULL where there is none.
static inline ppi_lane *ppi_thread_lane(const ppi_thread *thread, uint32_t i) {
  return __atomic_load_n(&thread->stacks[i].lane, __ATOMIC_ACQUIRE);
}
// The place of the domain's stack, if it is a usual one.
static inline ppi_stack *ppi_thread_stack(ppi_thread *thread, uint32_t domain) {
  return &thread->stacks[domain ? 1 + domain % PPI_DOMAIN_LANES : 0];
}

// ppi_stand notes that the calling thread is inside a marker, and where: one
// store of the stack pointer, as cheap as a constant. Accesses with an order
// against it need a fence.
static inline __attribute__((always_inline)) void ppi_stand(
    ppi_thread *thread) {
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0" : "=m"(thread->busy));
#elif defined(__aarch64__)
  uintptr_t here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  __atomic_store_n(&thread->busy, here, __ATOMIC_RELAXED);
#else
  __atomic_store_n(&thread->busy, (uintptr_t)__builtin_frame_address(0),
                   __ATOMIC_RELAXED);
#endif
}
// ppi_thread_interrupted counts a marker that interrupts another of its thread.
void ppi_thread_interrupted(ppi_thread *thread);
// ppi_thread_was_left: has a jump out of a signal handler (siglongjmp) left the
// marker that the calling thread is noted to be inside of? `here`: where the
// caller was called. Then the thread is in none from here on, and that is
// counted. False also where it cannot decide.
bool ppi_thread_was_left(ppi_thread *thread, uintptr_t here);
// ppi_thread_look asks this for calls that are made in no handler, before they
// wait for threads inside markers.
void ppi_thread_look(void);
// ppi_is_inside: is the calling thread inside a marker?
static inline __attribute__((always_inline)) bool ppi_is_inside(
    ppi_thread *thread) {
  return PPI_UNLIKELY(thread->busy) &&
         !ppi_thread_was_left(thread, (uintptr_t)__builtin_dwarf_cfa());
}

static inline void ppi_leave(ppi_thread *thread) {
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

// The forked child of a recording process sleeps: its markers run as if it
// recorded, up to an epoch of 0. ppi_thread_sleep has the first marker that
// begins a range call `wake`, once, on its thread; NULL: none does.
void ppi_thread_sleep(void (*wake)(void));
// ppi_thread_is_waking: a marker's thread is inside `wake`. Markers of other
// threads are then lost; ppi_thread_take_missed answers how many since its last
// call.
bool ppi_thread_is_waking(void);
uint64_t ppi_thread_take_missed(void);
// ppi_thread_wake, for a busy thread that found an epoch of 0, answers the
// epoch after a wake-up; 0: none, and the thread is no longer busy.
uint32_t ppi_thread_wake(ppi_thread *thread, ppi_intent intent);

// ppi_thread_barrier makes every thread's earlier stores visible to the caller
// (membarrier), or does nothing where markers fence themselves.
void ppi_thread_barrier(void);
// ppi_thread_list answers the newest block; follow ->next.
ppi_thread *ppi_thread_list(void);
// ppi_thread_num_busy counts threads inside a marker now.
size_t ppi_thread_num_busy(void);
// ppi_thread_close_files closes the CPU use files of threads that are not busy.
void ppi_thread_close_files(void);
bool ppi_thread_has_membarrier(void);
// Called in a forked child, after this file's own clean-up.
void ppi_thread_set_fork_handler(void (*in_child)(void));

PPROF_END_C_
