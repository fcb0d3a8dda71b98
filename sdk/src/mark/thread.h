// SPDX-License-Identifier: Apache-2.0
//
// A thread as markers know it: whether it is inside one (busy), its lanes, its
// open device ranges. Thread blocks are private memory, live to process end and
// are reused, so that the collector may look at any of them at any time.
#ifndef PPI_THREAD_H_
#define PPI_THREAD_H_

#include "mark/cpu_mark.h"
#include "mark/recorder.h"
#include "pprof/device.h"
#include "spool/lane.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_NAME_CACHE 256u
#define PPI_NAME_COPIES ((size_t)16384)
#define PPI_DEVICE_STACK 64u
#define PPI_THREAD_NAME 64u
#define PPI_THREAD_TAKEN 2u
// NVTX domains that one thread may use in its life; calls in further ones are
// counted lost.
#define PPI_DOMAIN_LANES 32u
// A name by its address, or by its text's hash: only a hint, content decides.
typedef struct ppi_cached_name {
  uintptr_t key;
  const char *text;  // in `name_copies`, or among the session's names
  uint32_t epoch, category, id;
  // Of an address: how often it lately held another text than before; at the
  // most that it counts to, its text is found by its hash alone.
  uint32_t changes;
} ppi_cached_name;
#define PPI_NAME_CHANGES 4u

// Pushes that found no lane, so that their pops, which may find one, are
// matched: those that are open, those that an edge would have cut, and device
// pushes. The owner's alone; of session `serial`.
typedef struct ppi_unkept {
  uint32_t serial, epoch, open, before, devices;
} ppi_unkept;

// A thread's stack in one NVTX domain: a lane like its own, under the same
// busy flag. A place is the domain's for as long as the thread lives.
typedef struct ppi_domain_lane {
  ppi_lane *lane;  // NULL, or a lane of session `serial`; as the thread's own
  uint32_t serial;
  uint32_t domain;  // 0: nobody's
  ppi_unkept unkept;
} ppi_domain_lane;

// What a thread knows of a stream's handle; used only where it is of this
// session, and only until the backend says something else.
#define PPI_KNOWN_STREAMS 8u
typedef struct ppi_known_stream {
  const void *session;  // compared only
  uint32_t serial;
  void *handle;
  pprof_stream_info info;
  uint32_t pool;  // index of its event pool
  uint32_t at;    // its place in the session's table + 1, 0: none
  uint32_t id;    // the one there
} ppi_known_stream;

typedef struct ppi_open_device_range {
  pprof_device *device;
  void *stream;
  uint64_t range;  // 0: lost, kept for the balance
} ppi_open_device_range;

// A device range beside a range of the stack in `domain`, at `level`.
typedef struct ppi_beside {
  uint32_t domain;
  int level;
  uint64_t range;
  pprof_device *device;
  void *stream;
} ppi_beside;

typedef struct ppi_thread {
  // Where on the stack the marker stands that the thread is inside of, 0: none.
  // Owner stores, others read after a membarrier.
  uintptr_t busy;
  // Owner: the epoch in which `lane` was found to be in order, PPI_NO_EPOCH:
  // look again. A marker in that epoch needs to ask nothing else.
  uint32_t lane_epoch;
  // NULL, or a lane of session `serial`, which is the one in force where one is
  // (ppi_thread_forget_lanes).
  ppi_lane *lane;
  uint32_t serial;
  uint32_t in_use;  // 1: by a thread; PPI_THREAD_TAKEN: about to be another's
  uint32_t fence;   // membarrier is missing: markers fence themselves
  uint32_t tid;
  uint32_t device_depth;
  uint32_t joining;     // a lane is being made for it
  uint32_t num_beside;  // of `beside`
  uint32_t number;      // of the block; it stays
  ppi_unkept unkept;
  // Owner: free slots of the process's table, linked, of session
  // `ranges_serial` (range_slots.h). They stay with the block.
  uint32_t range_slot, ranges_serial;
  uint64_t epoch_ticks;  // when `lane_epoch` began
  // Ranges that an NVTX tool believes open on this thread, and whose they are.
  uint32_t num_emitted, emitted_epoch;
  struct ppi_thread *next;  // all blocks, in registry order
  char name[PPI_THREAD_NAME];
  ppi_domain_lane domains[PPI_DOMAIN_LANES];
  ppi_open_device_range device_stack[PPI_DEVICE_STACK];
  ppi_beside beside[PPI_DEVICE_STACK];
  ppi_known_stream known_streams[PPI_KNOWN_STREAMS];
  ppi_cached_name names_by_address[PPI_NAME_CACHE];
  ppi_cached_name names_by_text[PPI_NAME_CACHE];
  // Texts of cached names side by side, as long as there is room: in the spool
  // they take twice as many cache lines.
  uint32_t copies_epoch, copies_used;
  char name_copies[PPI_NAME_COPIES] __attribute__((aligned(64)));
  ppi_cpu_thread cpu;
} ppi_thread;

extern PPI_HIDDEN __thread ppi_thread *ppi_thread_self
    __attribute__((tls_model("initial-exec")));

// ppi_thread_init prepares page, membarrier and fork handlers, once.
pprof_status ppi_thread_init(void);
// What a marker is: it tells what is to be counted, and balanced, where there
// is no lane for it.
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

// ppi_thread_pop_unkept takes back a device push that found no lane; false:
// there is none. Of a busy thread.
bool ppi_thread_pop_unkept(ppi_thread *thread);

ppi_thread *ppi_thread_attach(void);
void ppi_thread_interrupted(ppi_thread *thread);
// ppi_thread_enter_apart gives a busy thread a lane whose stack is of the epoch
// in force; NULL: there is none, and the thread is not busy any more.
ppi_lane *ppi_thread_enter_apart(ppi_thread *thread, ppi_intent intent);
// ppi_thread_catch_up_in does so for the thread's lane in an NVTX domain, whose
// marker has looked at the epoch; the thread stays busy.
ppi_lane *ppi_thread_catch_up_in(ppi_thread *thread, uint32_t domain,
                                 uint32_t epoch, ppi_intent intent);
// ppi_thread_follow does so within a marker, for a lane that is of this
// session; false: that marker is lost, and counted.
bool ppi_thread_follow(ppi_lane *lane, uint32_t epoch);

// The thread's lanes: 0 is its own, the rest are those of NVTX domains. NULL
// where there is none.
#define PPI_THREAD_LANES (1u + PPI_DOMAIN_LANES)
static inline ppi_lane *ppi_thread_lane(const ppi_thread *thread, uint32_t i) {
  return __atomic_load_n(i ? &thread->domains[i - 1].lane : &thread->lane,
                         __ATOMIC_ACQUIRE);
}

// ppi_stand says that the calling thread is inside a marker, and where: one
// store of the stack pointer, which costs what a constant would. What may be
// moved behind it needs a fence.
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
// ppi_thread_was_left: has a jump out of a signal handler (siglongjmp) left the
// marker that the calling thread is said to be inside of? `here`: where the
// caller was called. Then the thread is in none from here on, and that is
// counted. False also where it cannot tell.
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

// The usual way into a marker, of a thread that is known and in none, with a
// lane of the epoch in force. ppi_enter_usual answers false where any of that
// is not so, having done nothing, and ppi_enter finds out what: as a call that
// is the last thing the marker does, so that it saves no registers for it.
typedef struct ppi_entry {
  ppi_thread *thread;
  ppi_lane *lane;
  uint32_t epoch;
} ppi_entry;
static inline __attribute__((always_inline)) bool ppi_enter_usual(
    ppi_entry *out) {
  ppi_thread *thread = ppi_thread_self;
  if (PPI_UNLIKELY(!thread) || PPI_UNLIKELY(thread->busy)) return false;
  // As in ppi_become_busy and ppi_enter.
  ppi_stand(thread);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_lane *lane = __atomic_load_n(&thread->lane, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (PPI_UNLIKELY(epoch != thread->lane_epoch)) {
    ppi_leave(thread);
    return false;
  }
  if (!lane) __builtin_unreachable();
  *out = (ppi_entry){thread, lane, epoch};
  return true;
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

// A forked child of a process that records sleeps: markers come by, as if
// something recorded, to an epoch of 0. ppi_thread_sleep has the first one that
// begins something call `wake`, once, on its thread; NULL: none does.
void ppi_thread_sleep(void (*wake)(void));
// ppi_thread_wake, of a busy thread that has met an epoch of 0, answers the one
// that there is after that; 0: none, and the thread is not busy any more.
uint32_t ppi_thread_wake(ppi_thread *thread, ppi_intent intent);

// ppi_begin_marker makes the thread busy and answers the epoch in force; 0 when
// nothing is to be recorded, and then the thread is not busy.
static inline __attribute__((always_inline)) uint32_t ppi_begin_marker(
    ppi_thread **out_thread, ppi_intent intent) {
  ppi_thread *thread = ppi_become_busy(intent);
  if (!thread) return 0;
  if (PPI_UNLIKELY(thread->fence)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  // Off since the first look, or a raw clone's child, where the lane is not
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
  ppi_lane *lane = __atomic_load_n(&thread->lane, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  // Never 0, nor another session's: an epoch is used once.
  if (PPI_UNLIKELY(__atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE) !=
                   thread->lane_epoch))
    return ppi_thread_enter_apart(thread, intent);
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
  const ppi_domain_lane *place = &thread->domains[domain % PPI_DOMAIN_LANES];
  ppi_lane *lane = place->lane;
  if (PPI_UNLIKELY(place->domain != domain || !ppi_lane_is_of(lane, epoch))) {
    lane = ppi_thread_catch_up_in(thread, domain, epoch, intent);
    if (!lane) __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  }
  return lane;
}

// ppi_thread_tell_last ends the occurrences of watched names that the frames
// from `from` to before `to` were, once these are closed.
void ppi_thread_tell_last(const ppi_lane *lane, uint32_t from, uint32_t to);

// ppi_thread_barrier makes every thread's earlier stores visible to the caller
// (membarrier), or does nothing where markers fence themselves.
void ppi_thread_barrier(void);
// ppi_thread_list answers the newest block; follow ->next.
ppi_thread *ppi_thread_list(void);
// ppi_thread_owning answers the thread that has the lane, NULL when none does.
ppi_thread *ppi_thread_owning(const ppi_lane *lane);
// ppi_thread_is_naming: a lane that has left is still being named by another.
bool ppi_thread_is_naming(const ppi_lane *lane);
// ppi_thread_num_busy counts threads inside a marker now.
size_t ppi_thread_num_busy(void);
// ppi_thread_forget_lanes takes the last session's lanes from all threads, busy
// ones included. A start calls it once no marker of that session is left and
// before there is an epoch, so whatever lane a thread has while an epoch is in
// force, the collector's view included, is of that epoch's session. Nothing
// else decides whose a lane is: its memory may be anything's by then.
void ppi_thread_forget_lanes(void);
// ppi_thread_close_files closes what threads that are not busy read their CPU
// use from.
void ppi_thread_close_files(void);
bool ppi_thread_has_membarrier(void);
// ppi_thread_name_os names the thread with this OS id, now or when it comes;
// false when there is no room for another name to remember.
bool ppi_thread_name_os(uint32_t tid, const char *name);
// Called in a forked child, after this file's own clean-up.
void ppi_thread_set_fork_handler(void (*in_child)(void));

#ifdef __cplusplus
}
#endif

#endif  // PPI_THREAD_H_
