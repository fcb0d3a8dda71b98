// SPDX-License-Identifier: Apache-2.0
//
// Keeps thread blocks: their owners, and their state after a fork.
#include "mark/thread_impl.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread_id.h"

__thread ppi_thread *ppi_thread_self __attribute__((tls_model("initial-exec")));

static struct {
  ppi_thread *list;
  ppi_thread *checked;  // the block that find_gone looked at last
  bool has_membarrier;
  void (*in_child)(void);
  pthread_mutex_t mutex;
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void ppi_thread_lock(void) {
  pthread_mutex_lock(&threads.mutex);
}

void ppi_thread_unlock(void) {
  pthread_mutex_unlock(&threads.mutex);
}

// While a process sleeps, and while a marker wakes it, markers read this before
// they read the page.
enum { AWAKE, ASLEEP, WAKING };
static struct {
  uint32_t state;  // atomic
  void (*wake)(void);
  pid_t pid;            // the sleeping process: a vfork child has our memory
  uint32_t epoch;       // no session's
  uint64_t num_missed;  // atomic: markers that came while another one wakes it
} sleep_now;

void ppi_thread_sleep(void (*wake)(void)) {
  // The session that a marker starts is ahead, and markers go on being counted.
  if (!wake && ppi_thread_is_waking()) return;
  if (sleep_now.epoch) ppi_epoch_replace(sleep_now.epoch, 0);
  sleep_now.epoch = wake ? ppi_epoch_next() : 0;
  sleep_now.pid = getpid();
  sleep_now.wake = wake;
  // What a session has not taken yet stays.
  if (wake) __atomic_store_n(&sleep_now.num_missed, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&sleep_now.state, wake ? ASLEEP : AWAKE, __ATOMIC_RELEASE);
  if (wake) ppi_epoch_replace(0, sleep_now.epoch);
}

bool ppi_thread_is_waking(void) {
  return __atomic_load_n(&sleep_now.state, __ATOMIC_ACQUIRE) == WAKING;
}

uint64_t ppi_thread_take_missed(void) {
  return __atomic_exchange_n(&sleep_now.num_missed, 0, __ATOMIC_RELAXED);
}

// Whether the calling thread is the one that wakes the process. Others are
// counted.
static bool begins_to_wake(ppi_intent intent) {
  uint32_t state = __atomic_load_n(&sleep_now.state, __ATOMIC_ACQUIRE);
  // The end of a parent's range does not wake the session.
  if (!ppi_is_counted(intent) || state == AWAKE || sleep_now.pid != getpid())
    return false;
  if (state == ASLEEP &&
      __atomic_compare_exchange_n(&sleep_now.state, &state, WAKING, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return true;
  if (state == WAKING)
    __atomic_fetch_add(&sleep_now.num_missed, 1, __ATOMIC_RELAXED);
  return false;
}

uint32_t ppi_thread_wake(ppi_thread *thread, ppi_intent intent) {
  uintptr_t stood = thread->busy;
  bool wakes = begins_to_wake(intent);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  if (!wakes) return 0;
  int error = errno;
  uint32_t asleep = sleep_now.epoch;
  sleep_now.wake();
  // Without a session, nothing is missed from here on.
  uint32_t waking = WAKING;
  if (__atomic_compare_exchange_n(&sleep_now.state, &waking, AWAKE, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ppi_epoch_replace(asleep, 0);
  errno = error;
  __atomic_store_n(&thread->busy, stood, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  if (!epoch) __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  return epoch;
}

static void in_forked_child(void) {
  ppi_thread *self = ppi_thread_self;
  pthread_mutex_init(&threads.mutex, NULL);
  ppi_names_in_forked_child();
  ppi_epoch_in_forked_child();
  for (ppi_thread *thread = threads.list; thread; thread = thread->next) {
    ppi_thread_take_lanes(thread);
    ppi_thread_distrust(thread);
    thread->device_depth = 0;
    thread->num_beside = 0;
    thread->joining = 0;
    // The file describes a thread of the parent.
    ppi_cpu_file_close(&thread->cpu.file);
    if (thread == self) continue;
    thread->busy = 0;
    thread->in_use = 0;
  }
  if (self) self->tid = ppi_thread_id();
  ppi_recorder_in_force.serial = 0;
  // The thread that wakes the parent may be another one.
  if (ppi_thread_is_waking()) sleep_now.state = sleep_now.epoch = 0;
  if (threads.in_child) threads.in_child();
  // Another handler has noted it already.
  if (sleep_now.epoch && sleep_now.pid == getpid())
    ppi_epoch_replace(0, sleep_now.epoch);
}

bool ppi_thread_prepare(void) {
  if (pthread_atfork(NULL, NULL, in_forked_child) != 0) return false;
  threads.has_membarrier =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
              0) == 0;
  return true;
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

static ppi_thread *reuse_block(void) {
  for (ppi_thread *thread = threads.list; thread; thread = thread->next)
    if (!__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE)) return thread;
  return NULL;
}

// Blocks come from mmap, not malloc: a marker must not depend on the state of a
// heap that a signal may have interrupted. Some processors delay a load after a
// store to the same place in another page. This place in a lane's page has data
// that a usual marker never loads.
#define BLOCK_IN_PAGE 1088u
PPI_STATIC_ASSERT(BLOCK_IN_PAGE >= offsetof(ppi_lane, own_work) &&
                      BLOCK_IN_PAGE + 64 < offsetof(ppi_lane, directory),
                  "a lane's work and flows");
PPI_STATIC_ASSERT((BLOCK_IN_PAGE + offsetof(ppi_thread, names.copies)) % 4096 <
                      1024,
                  "first names where no page ends: strcmp goes slower there");
static ppi_thread *new_block(void) {
  void *memory =
      mmap(NULL, BLOCK_IN_PAGE + sizeof(ppi_thread), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  ppi_thread *thread = (ppi_thread *)(void *)((char *)memory + BLOCK_IN_PAGE);
  thread->next = threads.list;
  thread->number = threads.list ? threads.list->number + 1 : 0;
  __atomic_store_n(&threads.list, thread, __ATOMIC_RELEASE);
  return thread;
}

// A signal handler's marker after a thread's last destructor attaches it once
// more, and then nothing reports its end. The same is true of a thread that is
// cancelled inside a marker. A few blocks in each call: with many threads, all
// would take long.
#define CHECKED_AT_ONCE 8
static ppi_thread *find_gone(uint32_t self) {
  ppi_thread *found = NULL;
  for (int i = 0; i < CHECKED_AT_ONCE && !found && threads.list; i++) {
    ppi_thread *next = threads.checked ? threads.checked->next : NULL;
    threads.checked = next ? next : threads.list;
    if (__atomic_load_n(&threads.checked->in_use, __ATOMIC_ACQUIRE) != 1)
      continue;
    uint32_t tid = threads.checked->tid;
    if (tid == self ||
        (syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH))
      found = threads.checked;
  }
  if (found)
    __atomic_store_n(&found->in_use, PPI_THREAD_TAKEN, __ATOMIC_RELAXED);
  return found;
}

void ppi_thread_set_up(ppi_thread *thread) {
  ppi_thread_take_lanes(thread);
  ppi_thread_distrust(thread);
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++) {
    ppi_stack *stack = &thread->stacks[i];
    stack->domain = stack->serial = stack->unkept.serial = 0;
  }
  thread->device_depth = 0;
  thread->num_beside = 0;
  thread->num_emitted = 0;
  thread->cpu.taken = 0;
  thread->name[0] = 0;
  thread->tid = ppi_thread_id();
  thread->fence = !threads.has_membarrier;
  __atomic_store_n(&thread->in_use, 1, __ATOMIC_RELEASE);
}

ppi_thread *ppi_thread_take_block(bool *out_is_gone) {
  ppi_thread_lock();
  ppi_thread *thread = reuse_block();
  ppi_thread *gone = thread ? NULL : find_gone(ppi_thread_id());
  if (!thread) thread = gone ? gone : new_block();
  if (thread && !gone) ppi_thread_set_up(thread);
  ppi_thread_unlock();
  *out_is_gone = gone != NULL;
  return thread;
}

void ppi_thread_interrupted(ppi_thread *thread) {
  if (__atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE) == 0) return;
  ppi_lane *lane = ppi_thread_lane(thread, 0);
  // A thread that was stuck in a marker may go on in its own session's memory.
  if (lane && thread->stacks[0].serial == ppi_recorder_in_force.serial)
    __atomic_fetch_add(&lane->interrupted, 1, __ATOMIC_RELAXED);
  else
    ppi_recorder_count_lost();
}

// The stack between a marker's caller and this test, in a build without
// inlining or with a sanitizer. A handler's frame is larger.
#if defined(__OPTIMIZE__) && !defined(PPROF_SANITIZED)
#define OWN_FRAMES 0
#else
#define OWN_FRAMES 512
#endif

// A handler runs below what it interrupts, or on the thread's other stack. A
// call from the marker's place or further up is therefore behind the marker's
// end. So is a call off the other stack while the marker stands on it: handlers
// leave that stack only by return or jump. On a stack that the program made, a
// call below counts as a handler's. The thread sanitizer calls handlers from
// inside its own functions, so the stack cannot separate them from later
// markers: the answer is false.
bool ppi_thread_was_left(ppi_thread *thread, uintptr_t here) {
#ifdef __SANITIZE_THREAD__
  (void)thread, (void)here;
  return false;
#endif
  uintptr_t stood = thread->busy;
  stack_t other;
  if (sigaltstack(NULL, &other) != 0) return false;
  bool is_there = other.ss_flags & SS_ONSTACK;
  bool stood_there = !(other.ss_flags & SS_DISABLE) &&
                     stood - (uintptr_t)other.ss_sp < other.ss_size;
  if (is_there == stood_there ? here + OWN_FRAMES < stood : is_there)
    return false;
  ppi_thread_interrupted(thread);
  ppi_leave(thread);
  return true;
}

void ppi_thread_look(void) {
  ppi_thread *thread = ppi_thread_self;
  if (thread && thread->busy)
    ppi_thread_was_left(thread, (uintptr_t)__builtin_dwarf_cfa());
}

void ppi_thread_take_lanes(ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    __atomic_store_n(&thread->stacks[i].lane, NULL, __ATOMIC_RELEASE);
}

void ppi_thread_distrust(ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    thread->stacks[i].epoch = PPI_NO_EPOCH;
}

bool ppi_thread_has_rows(const ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++)
    if (ppi_thread_lane(thread, i)) return true;
  return false;
}

ppi_thread *ppi_thread_list(void) {
  return __atomic_load_n(&threads.list, __ATOMIC_ACQUIRE);
}

size_t ppi_thread_num_busy(void) {
  size_t num = 0;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    num += __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) != 0;
  return num;
}

void ppi_thread_close_files(void) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    if (!__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE))
      ppi_cpu_file_close(&thread->cpu.file);
}
