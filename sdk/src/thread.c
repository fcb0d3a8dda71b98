// SPDX-License-Identifier: Apache-2.0
//
// Thread blocks: attaching, leaving, catching up with edges, fork, and the
// epoch that switches all markers.
#include "thread.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t pprof_epoch_;
uint32_t *ppi_epoch_page;
__thread ppi_thread *ppi_thread_self __attribute__((tls_model("initial-exec")));
ppi_recorder ppi_recorder_in_force;

static struct {
  pthread_mutex_t mutex;
  pthread_once_t once;
  pthread_key_t key;
  ppi_thread *list;
  uint32_t last_epoch;
  bool has_membarrier;
  bool ready;
  void (*in_child)(void);
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

// Stands in while a thread is being attached, so that a signal handler's
// marker finds a busy thread and not a half-made one.
static ppi_thread attaching = {.busy = 1};

static void leave_process_lanes(void *block);

static void in_forked_child(void) {
  ppi_thread *self = ppi_thread_self;
  pthread_mutex_init(&threads.mutex, NULL);
  ppi_names_in_forked_child();
  __atomic_store_n(&pprof_epoch_, 0, __ATOMIC_RELAXED);
  if (ppi_epoch_page) {
    ppi_epoch_page[0] = ppi_epoch_page[1] = 0;
    ppi_epoch_page[2] = 1;
  }
  for (ppi_thread *thread = threads.list; thread; thread = thread->next) {
    __atomic_store_n(&thread->lane, NULL, __ATOMIC_RELAXED);
    thread->device_depth = 0;
    if (thread == self) continue;
    thread->busy = 0;
    thread->in_use = 0;
  }
  if (self && self != &attaching) self->tid = (uint32_t)gettid();
  ppi_recorder_in_force.serial = 0;
  if (threads.in_child) threads.in_child();
}

static void init(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  // Where the kernel cannot wipe (before 4.14), raw clone stays uncovered;
  // fork has its handler.
  madvise(memory, page, MADV_WIPEONFORK);
  ppi_epoch_page = memory;
  ppi_epoch_page[2] = 1;
  if (pthread_key_create(&threads.key, leave_process_lanes) != 0) return;
  if (pthread_atfork(NULL, NULL, in_forked_child) != 0) return;
  threads.has_membarrier =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
              0) == 0;
  threads.ready = true;
}

pprof_status ppi_thread_init(void) {
  pthread_once(&threads.once, init);
  return threads.ready ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

bool ppi_thread_has_membarrier(void) {
  return threads.has_membarrier;
}

void ppi_thread_set_fork_handler(void (*in_child)(void)) {
  threads.in_child = in_child;
}

void ppi_thread_barrier(void) {
  if (threads.has_membarrier)
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void ppi_epoch_publish(uint32_t epoch) {
  // Pairs with the acquire in ppi_enter: who sees the epoch sees the recorder
  // and the edge that were written before.
  __atomic_store_n(ppi_epoch_page, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&pprof_epoch_, epoch, __ATOMIC_RELEASE);
}

uint32_t ppi_epoch_next(void) {
  uint32_t epoch = ++threads.last_epoch;
  return epoch ? epoch : ++threads.last_epoch;
}

static ppi_thread *reuse_block(void) {
  for (ppi_thread *thread = threads.list; thread; thread = thread->next)
    if (!__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE)) return thread;
  return NULL;
}

// Blocks come from mmap, not malloc: a marker must not depend on the state of
// a heap that a signal may have interrupted.
static ppi_thread *new_block(void) {
  void *memory = mmap(NULL, sizeof(ppi_thread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  ppi_thread *thread = memory;
  thread->next = threads.list;
  __atomic_store_n(&threads.list, thread, __ATOMIC_RELEASE);
  return thread;
}

static ppi_thread *take_block(void) {
  pthread_mutex_lock(&threads.mutex);
  ppi_thread *thread = reuse_block();
  if (!thread) thread = new_block();
  if (thread) {
    __atomic_store_n(&thread->lane, NULL, __ATOMIC_RELAXED);
    thread->serial = 0;
    thread->device_depth = 0;
    thread->name[0] = 0;
    thread->tid = (uint32_t)gettid();
    thread->fence = !threads.has_membarrier;
    __atomic_store_n(&thread->in_use, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&threads.mutex);
  return thread;
}

ppi_thread *ppi_thread_attach(void) {
  ppi_thread_self = &attaching;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_thread *thread = NULL;
  if (ppi_thread_init() == PPROF_STATUS_OK) thread = take_block();
  if (thread && pthread_setspecific(threads.key, thread) != 0) {
    __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
    thread = NULL;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_thread_self = thread;
  return thread;
}

static void count_lost_for_want_of_lane(void) {
  __atomic_fetch_add(&ppi_recorder_in_force.spool.header->lost, 1,
                     __ATOMIC_RELAXED);
}

void ppi_thread_interrupted(ppi_thread *thread) {
  ppi_lane *lane = thread->lane;
  if (__atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE) == 0) return;
  // A lane of an earlier session lies in memory that is another's by now.
  if (lane && thread->serial == ppi_recorder_in_force.serial)
    __atomic_fetch_add(&lane->interrupted, 1, __ATOMIC_RELAXED);
  else
    count_lost_for_want_of_lane();
}

static void define_lane(const ppi_thread *thread, const ppi_lane *lane) {
  pprof_definition definition = {PPROF_DEFINITION_LANE, lane->id,    0, 0,
                                 thread->tid,           thread->name};
  ppi_names_define(ppi_recorder_in_force.names, &definition);
}

static ppi_lane *join_session(ppi_thread *thread, uint32_t epoch) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  ppi_lane *lane = ppi_lane_create(spool, epoch, thread->tid);
  if (!lane) return NULL;
  const ppi_edge *began = ppi_edge_into(spool->header, epoch);
  if (began && (began->flags & PPI_EDGE_AFTER_OFF) &&
      !(began->flags & PPI_EDGE_START))
    lane->before_left = UINT32_MAX;
  if (!thread->name[0])
    pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
  define_lane(thread, lane);
  thread->serial = ppi_recorder_in_force.serial;
  thread->device_depth = 0;
  __atomic_store_n(&thread->lane, lane, __ATOMIC_RELEASE);
  return lane;
}

static ppi_lane *lose(ppi_lane *lane, bool counts) {
  if (counts) {
    ppi_count(&lane->lost, 1);
    // Its pop will find nothing: that one was begun before.
    if (lane->before_left != UINT32_MAX)
      __atomic_fetch_add(&lane->before_left, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

ppi_lane *ppi_thread_catch_up(ppi_thread *thread, uint32_t epoch, bool counts) {
  if (epoch == 0) return NULL;
  ppi_lane *lane = thread->lane;
  if (!lane || thread->serial != ppi_recorder_in_force.serial) {
    lane = join_session(thread, epoch);
    if (!lane && counts) count_lost_for_want_of_lane();
    return lane;
  }
  uint32_t stack_epoch = __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE);
  if (stack_epoch == epoch) return lane;
  // The collector may be cutting this very stack; whoever swaps the edge word
  // does it.
  if (!__atomic_compare_exchange_n(&lane->edge, &stack_epoch, epoch, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return lose(lane, counts);
  ppi_lane_cut(&ppi_recorder_in_force.spool, lane, epoch);
  return lane;
}

uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch) {
  uint32_t id = ppi_names_site(ppi_recorder_in_force.names, site->name,
                               site->category, site->color);
  __atomic_store_n(&site->state_, (uint64_t)epoch << 32 | id, __ATOMIC_RELAXED);
  return id;
}

// A thread leaves: its open frames become ABANDONED, its lane waits for the
// collector. A marker in a later TLS destructor attaches the thread anew.
static void leave_process_lanes(void *block) {
  ppi_thread *thread = block;
  __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  ppi_lane *lane = thread->lane;
  // A raw clone's child, whose page was wiped, has no lane mapped.
  // A session that has stopped, or stops now, has no use for the lane: its
  // serial left the page before the stop looked for busy threads.
  if (lane && ppi_epoch_page[1] && ppi_epoch_page[1] == thread->serial) {
    // While nothing is recorded the collector cuts the stack at its edge.
    if (epoch && ppi_thread_catch_up(thread, epoch, false)) {
      ppi_lane_make_room(&ppi_recorder_in_force.spool, lane, 0);
      ppi_lane_close(ppi_recorder_in_force.spool.base, lane, 0,
                     (ppi_closing){ppi_clock_ticks(), PPROF_FLAG_ABANDONED,
                                   PPROF_FLAG_ABANDONED});
    }
    __atomic_store_n(&lane->state, PPI_LANE_LEFT, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&thread->lane, NULL, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  ppi_thread_self = NULL;
  __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

ppi_thread *ppi_thread_list(void) {
  return __atomic_load_n(&threads.list, __ATOMIC_ACQUIRE);
}

ppi_thread *ppi_thread_owning(const ppi_lane *lane) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    if (__atomic_load_n(&thread->lane, __ATOMIC_ACQUIRE) == lane) return thread;
  return NULL;
}

size_t ppi_thread_num_busy(void) {
  size_t num = 0;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    num += __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) != 0;
  return num;
}

void ppi_thread_release_lanes(void) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    if (!__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE))
      __atomic_store_n(&thread->lane, NULL, __ATOMIC_RELEASE);
}

void pprof_thread_name(const char *name) {
  if (!name) return;
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || thread == &attaching) return;
  size_t len = strnlen(name, sizeof thread->name - 1);
  memcpy(thread->name, name, len);
  thread->name[len] = 0;
  ppi_lane *lane = ppi_enter(&thread, false);
  if (!lane) return;
  define_lane(thread, lane);
  ppi_leave(thread);
}
