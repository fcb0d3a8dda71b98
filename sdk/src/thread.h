// SPDX-License-Identifier: Apache-2.0
//
// A thread as markers know it: whether it is inside one (busy), its lane, its
// open device ranges. Thread blocks are private memory, live to process end and
// are reused, so that the collector may look at any of them at any time.
#ifndef PPI_THREAD_H_
#define PPI_THREAD_H_

#include "lane.h"
#include "names.h"
#include "pprof/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_NAME_CACHE 256u
#define PPI_DEVICE_STACK 64u

typedef struct ppi_cached_name {
  const char *pointer;  // only a hint: content decides
  uint32_t serial, category, id;
} ppi_cached_name;

typedef struct ppi_open_device_range {
  pprof_device *device;
  void *stream;
  uint64_t range;  // 0: lost, kept for the balance
} ppi_open_device_range;

typedef struct ppi_thread {
  uint32_t busy;   // owner stores, others read after a membarrier
  uint32_t fence;  // membarrier is missing: markers fence themselves
  ppi_lane *lane;  // NULL, or a lane of session `serial`
  uint32_t serial;
  uint32_t in_use;  // by a living thread
  uint32_t tid;
  uint32_t device_depth;
  struct ppi_thread *next;  // all blocks, in registry order
  char name[64];
  ppi_open_device_range device_stack[PPI_DEVICE_STACK];
  ppi_cached_name cached_names[PPI_NAME_CACHE];
} ppi_thread;

// What markers use of the session in force. Changed only while the epoch is 0
// and no thread is busy.
typedef struct ppi_recorder {
  ppi_spool spool;
  ppi_names *names;
  ppi_table *ranges;  // wandering ranges
  uint32_t serial;    // of the session, never 0, never reused
} ppi_recorder;
extern ppi_recorder ppi_recorder_in_force;

// On a page that a child of fork or clone finds wiped: [0] the second copy of
// the epoch, which markers read after busy = 1; [1] the serial of the session
// that lives, also while no window is open; [2] 1, but in such a child.
extern uint32_t *ppi_epoch_page;
extern __thread ppi_thread *ppi_thread_self
    __attribute__((tls_model("initial-exec")));

// ppi_thread_init prepares page, membarrier and fork handlers, once.
pprof_status ppi_thread_init(void);
// ppi_epoch_publish sets both copies.
void ppi_epoch_publish(uint32_t epoch);
// ppi_epoch_next answers an epoch that this process never used.
uint32_t ppi_epoch_next(void);

ppi_thread *ppi_thread_attach(void);
void ppi_thread_interrupted(ppi_thread *thread);
// ppi_thread_catch_up gives the thread a lane whose stack is of `epoch`, or
// NULL; with `counts`, a marker that is lost here is counted.
ppi_lane *ppi_thread_catch_up(ppi_thread *thread, uint32_t epoch, bool counts);

// ppi_enter begins a marker: NULL when nothing is to be recorded, else the
// lane; ppi_leave must follow. `counts`: the marker begins something, so being
// lost is counted.
static inline ppi_lane *ppi_enter(ppi_thread **out_thread, bool counts) {
  if (__atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED) == 0) return NULL;
  ppi_thread *thread = ppi_thread_self;
  if (PPI_UNLIKELY(!thread)) {
    thread = ppi_thread_attach();
    if (!thread) return NULL;
  }
  if (PPI_UNLIKELY(thread->busy)) {
    if (counts) ppi_thread_interrupted(thread);
    return NULL;
  }
  // busy, then the epoch: pairs with the stop's epoch = 0, membarrier, busy.
  __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (PPI_UNLIKELY(thread->fence)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  // Off since the first look, or a raw clone's child, where the lane is not
  // even mapped. (A lane that the collector cut is of epoch 0, too.)
  if (PPI_UNLIKELY(epoch == 0)) {
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
    return NULL;
  }
  ppi_lane *lane = thread->lane;
  if (PPI_UNLIKELY(!lane || __atomic_load_n(&lane->stack_epoch,
                                            __ATOMIC_ACQUIRE) != epoch)) {
    lane = ppi_thread_catch_up(thread, epoch, counts);
    if (!lane) {
      __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
      return NULL;
    }
  }
  *out_thread = thread;
  return lane;
}
static inline void ppi_leave(ppi_thread *thread) {
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

// ppi_site_id answers the id a site has in this epoch. Between enter and leave.
uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch);
static inline uint32_t ppi_site_id(pprof_site *site, uint32_t epoch) {
  uint64_t state = __atomic_load_n(&site->state_, __ATOMIC_RELAXED);
  if (PPI_LIKELY(state >> 32 == epoch)) return (uint32_t)state;
  return ppi_site_resolve(site, epoch);
}

// ppi_thread_barrier makes every thread's earlier stores visible to the caller
// (membarrier), or does nothing where markers fence themselves.
void ppi_thread_barrier(void);
// ppi_thread_list answers the newest block; follow ->next.
ppi_thread *ppi_thread_list(void);
ppi_thread *ppi_thread_owning(const ppi_lane *lane);
// ppi_thread_num_busy counts threads inside a marker now.
size_t ppi_thread_num_busy(void);
// ppi_thread_release_lanes forgets the lanes of all threads that are not busy.
void ppi_thread_release_lanes(void);
bool ppi_thread_has_membarrier(void);
// Called in a forked child, after this file's own clean-up.
void ppi_thread_set_fork_handler(void (*in_child)(void));

#ifdef __cplusplus
}
#endif

#endif  // PPI_THREAD_H_
