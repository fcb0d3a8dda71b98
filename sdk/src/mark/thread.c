// SPDX-License-Identifier: Apache-2.0
//
// Thread blocks: attaching, leaving, names, fork.
#include "mark/thread_impl.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/masked.h"
#include "mark/emit.h"

__thread ppi_thread *ppi_thread_self __attribute__((tls_model("initial-exec")));

#define PPI_OS_NAMES 256u

// Given to a thread by its OS id, perhaps before its first marker.
typedef struct ppi_os_name {
  uint32_t tid;  // 0: nobody's
  char name[PPI_THREAD_NAME];
} ppi_os_name;

static struct {
  // Taken by busy threads only: a signal handler's marker must not wait for
  // its own thread.
  pthread_mutex_t mutex;
  pthread_once_t once;
  pthread_key_t key;
  ppi_thread *list;
  ppi_thread *checked;  // the block that find_gone looked at last
  bool has_membarrier;
  bool ready;
  void (*in_child)(void);
  bool has_os_names;
  ppi_os_name os_names[PPI_OS_NAMES];
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

// Stands in while a thread is being attached, so that a signal handler's
// marker finds a busy thread and not a half-made one.
static ppi_thread attaching = {.busy = UINTPTR_MAX};

static void leave_process_lanes(void *block);
static void leave(ppi_thread *thread);

// What markers look at before they look at the page, while a process sleeps.
static struct {
  void (*wake)(void);  // atomic
  pid_t pid;           // who sleeps: a child by vfork has our memory
  uint32_t epoch;      // no session's
} sleep_now;

void ppi_thread_sleep(void (*wake)(void)) {
  if (sleep_now.epoch) ppi_epoch_replace(sleep_now.epoch, 0);
  sleep_now.epoch = wake ? ppi_epoch_next() : 0;
  sleep_now.pid = getpid();
  __atomic_store_n(&sleep_now.wake, wake, __ATOMIC_RELEASE);
  if (wake) ppi_epoch_replace(0, sleep_now.epoch);
}

uint32_t ppi_thread_wake(ppi_thread *thread, ppi_intent intent) {
  uintptr_t stood = thread->busy;
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  // An end of what the parent began is no reason.
  if (!ppi_is_counted(intent) ||
      !__atomic_load_n(&sleep_now.wake, __ATOMIC_RELAXED) ||
      sleep_now.pid != getpid())
    return 0;
  void (*wake)(void) =
      __atomic_exchange_n(&sleep_now.wake, NULL, __ATOMIC_ACQ_REL);
  if (!wake) return 0;
  int error = errno;
  ppi_epoch_replace(sleep_now.epoch, 0);
  wake();
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
    thread->lane_epoch = PPI_NO_EPOCH;
    ppi_thread_take_lanes(thread);
    thread->device_depth = 0;
    thread->num_beside = 0;
    thread->joining = 0;
    // It tells of a thread of the parent.
    ppi_cpu_file_close(&thread->cpu.file);
    if (thread == self) continue;
    thread->busy = 0;
    thread->in_use = 0;
  }
  if (self && self != &attaching) self->tid = (uint32_t)gettid();
  ppi_recorder_in_force.serial = 0;
  if (threads.in_child) threads.in_child();
  // Another handler has said so already.
  if (sleep_now.epoch && sleep_now.pid == getpid())
    ppi_epoch_replace(0, sleep_now.epoch);
}

static void init(void) {
  if (!ppi_epoch_init()) return;
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
  thread->number = threads.list ? threads.list->number + 1 : 0;
  __atomic_store_n(&threads.list, thread, __ATOMIC_RELEASE);
  return thread;
}

// A signal handler's marker behind a thread's last destructor attaches it once
// more, and nobody says that it leaves; nor does who is cancelled inside a
// marker. A few blocks in each call: with many threads all would take long.
#define CHECKED_AT_ONCE 8
static ppi_thread *find_gone(uint32_t self) {
  ppi_thread *found = NULL;
  for (int i = 0; i < CHECKED_AT_ONCE && !found && threads.list; i++) {
    ppi_thread *next = threads.checked ? threads.checked->next : NULL;
    threads.checked = next ? next : threads.list;
    if (__atomic_load_n(&threads.checked->in_use, __ATOMIC_ACQUIRE) != 1)
      continue;
    uint32_t tid = threads.checked->tid;
    if (tid == self || (tgkill(getpid(), (pid_t)tid, 0) != 0 && errno == ESRCH))
      found = threads.checked;
  }
  if (found)
    __atomic_store_n(&found->in_use, PPI_THREAD_TAKEN, __ATOMIC_RELAXED);
  return found;
}

static void set_up_block(ppi_thread *thread) {
  ppi_thread_take_lanes(thread);
  thread->unkept.serial = 0;
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++)
    thread->domains[i].domain = thread->domains[i].unkept.serial = 0;
  thread->lane_epoch = PPI_NO_EPOCH;
  thread->serial = 0;
  thread->device_depth = 0;
  thread->num_beside = 0;
  thread->num_emitted = 0;
  thread->cpu.taken = 0;
  thread->name[0] = 0;
  thread->tid = (uint32_t)gettid();
  thread->fence = !threads.has_membarrier;
  __atomic_store_n(&thread->in_use, 1, __ATOMIC_RELEASE);
}

static ppi_thread *take_block(void) {
  ppi_thread *gone = NULL;
  pthread_mutex_lock(&threads.mutex);
  ppi_thread *thread = reuse_block();
  if (!thread) thread = gone = find_gone((uint32_t)gettid());
  if (!thread) thread = new_block();
  if (thread && !gone) set_up_block(thread);
  pthread_mutex_unlock(&threads.mutex);
  if (!gone) return thread;
  leave(gone);
  set_up_block(gone);
  __atomic_store_n(&gone->busy, 0, __ATOMIC_RELEASE);
  return gone;
}

ppi_thread *ppi_thread_attach(void) {
  ppi_calm before;
  ppi_mask_signals(&before);
  // A handler's marker may have attached the thread a moment ago.
  ppi_thread *thread = ppi_thread_self;
  if (thread) {
    ppi_unmask_signals(&before);
    return thread;
  }
  ppi_thread_self = &attaching;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (ppi_thread_init() == PPROF_STATUS_OK) thread = take_block();
  if (thread && pthread_setspecific(threads.key, thread) != 0) {
    __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
    thread = NULL;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_thread_self = thread;
  ppi_unmask_signals(&before);
  return thread;
}

// Between where a marker was called and where it asks, in a build in which
// nothing is inlined, or a sanitizer's. A handler's frame is larger.
#if defined(__OPTIMIZE__) && !defined(PPROF_SANITIZED)
#define OWN_FRAMES 0
#else
#define OWN_FRAMES 512
#endif

// A handler runs below what it interrupts, or on the thread's other stack. So
// whoever is called from where a marker stands, or from further up, is behind
// that marker's end; and so is whoever is not on the other stack while a marker
// stands there, for handlers only leave it by returning or by a jump. A stack
// of the program's own making is none of these: what is below may be a handler,
// and is taken for one.
// The thread sanitizer calls handlers from inside its own functions, so that
// nothing tells them from markers behind: there no marker was left.
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

static void copy_name(char to[PPI_THREAD_NAME], const char *name) {
  size_t len = strnlen(name, PPI_THREAD_NAME - 1);
  // No half of a UTF-8 character at the end.
  if (name[len])
    while (len && ((unsigned char)name[len] & 0xc0u) == 0x80u) len--;
  memcpy(to, name, len);
  to[len] = 0;
}

void ppi_thread_find_name(ppi_thread *thread) {
  if (__atomic_load_n(&threads.has_os_names, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&threads.mutex);
    for (uint32_t i = 0; i < PPI_OS_NAMES; i++)
      if (threads.os_names[i].tid == thread->tid)
        copy_name(thread->name, threads.os_names[i].name);
    pthread_mutex_unlock(&threads.mutex);
  }
  if (!thread->name[0])
    pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
}

static void forget_os_name(uint32_t tid) {
  if (!__atomic_load_n(&threads.has_os_names, __ATOMIC_RELAXED)) return;
  pthread_mutex_lock(&threads.mutex);
  for (uint32_t i = 0; i < PPI_OS_NAMES; i++)
    if (threads.os_names[i].tid == tid) threads.os_names[i].tid = 0;
  pthread_mutex_unlock(&threads.mutex);
}

// A thread leaves: its open frames become ABANDONED, its lanes wait for the
// collector. A marker in a later TLS destructor attaches the thread anew.
static void leave(ppi_thread *thread) {
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  ppi_thread_leave_lanes(thread, epoch);
  thread->lane_epoch = PPI_NO_EPOCH;
  if (thread->num_emitted && thread == ppi_thread_self) ppi_emit_leave(thread);
  ppi_cpu_file_close(&thread->cpu.file);
  // A block with this thread's number that is not its own: its owner is gone,
  // and the kernel has given the number again.
  if (thread == ppi_thread_self || thread->tid != (uint32_t)gettid())
    forget_os_name(thread->tid);
}

// A signal handler's marker that comes in between attaches another block: until
// `in_use` is 0 this one is nobody's to take.
static void leave_process_lanes(void *block) {
  ppi_thread *thread = block;
  __atomic_store_n(&thread->in_use, PPI_THREAD_TAKEN, __ATOMIC_RELAXED);
  leave(thread);
  ppi_thread_self = NULL;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
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

// A row that comes into being here has the name from the start.
static void name_self(ppi_thread *thread, const char *name) {
  char wanted[PPI_THREAD_NAME];
  copy_name(wanted, name);
  bool is_new = !ppi_thread_has_rows(thread);
  if (is_new) strcpy(thread->name, wanted);
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  bool is_known = strcmp(thread->name, wanted) == 0;
  if (!is_known) strcpy(thread->name, wanted);
  if (!lane) return;
  if (!is_known) {
    ppi_calm before;
    ppi_lock_masked(&threads.mutex, &before);
    ppi_thread_define_lanes(thread, wanted);
    ppi_unlock_masked(&threads.mutex, &before);
  }
  ppi_leave(thread);
}

void pprof_thread_name(const char *name) {
  if (!name) return;
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || thread == &attaching) return;
  name_self(thread, name);
}

static bool remember_name(uint32_t tid, const char *name) {
  ppi_os_name *free_place = NULL;
  for (uint32_t i = 0; i < PPI_OS_NAMES; i++) {
    ppi_os_name *known = &threads.os_names[i];
    if (known->tid == 0 && !free_place) free_place = known;
    if (known->tid == tid) free_place = known;
    if (known->tid == tid) break;
  }
  if (!free_place) return false;
  free_place->tid = tid;
  copy_name(free_place->name, name);
  __atomic_store_n(&threads.has_os_names, true, __ATOMIC_RELAXED);
  return true;
}

static void name_other(uint32_t tid, const char *name, bool *out_kept) {
  ppi_calm before;
  ppi_lock_masked(&threads.mutex, &before);
  *out_kept = remember_name(tid, name);
  bool live = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE) != 0;
  for (ppi_thread *thread = threads.list; live && thread; thread = thread->next)
    if (__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE) == 1 &&
        thread->tid == tid)
      ppi_thread_define_lanes(thread, name);
  ppi_unlock_masked(&threads.mutex, &before);
}

bool ppi_thread_name_os(uint32_t tid, const char *name) {
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || ppi_is_inside(thread)) return false;
  if (tid == thread->tid) {
    name_self(thread, name);
    return true;
  }
  bool kept = false;
  // Busy: the session stays meanwhile, and a signal handler's marker does not
  // wait for the lock that its own thread holds.
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  name_other(tid, name, &kept);
  ppi_leave(thread);
  return kept;
}
