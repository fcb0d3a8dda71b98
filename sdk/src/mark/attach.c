// SPDX-License-Identifier: Apache-2.0
//
// Attaches threads with their first marker, names them, and lets them leave as
// they end.
#include "mark/attach.h"

#include <pthread.h>
#include <unistd.h>

#include "base/masked.h"
#include "base/thread_id.h"
#include "mark/emit.h"
#include "mark/thread_impl.h"
#include "mark/thread_name.h"

static struct {
  pthread_once_t once;
  pthread_key_t key;
  bool is_ready;
  void (*leaving)(void);
} process = {.once = PTHREAD_ONCE_INIT};

// Stands in while a thread attaches: a signal handler's marker finds a busy
// thread, not an unfinished one.
static ppi_thread attaching = {.busy = UINTPTR_MAX};

// A thread leaves: its open frames become ABANDONED, its lanes wait for the
// collector. A marker in a later TLS destructor attaches the thread again.
static void leave(ppi_thread *thread) {
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  ppi_thread_leave_lanes(thread, epoch);
  ppi_thread_distrust(thread);
  if (thread->num_emitted && thread == ppi_thread_self) ppi_emit_leave(thread);
  ppi_cpu_file_close(&thread->cpu.file);
  // A block with this thread's number that is not its own: its owner has ended,
  // and the kernel reused the number.
  if (thread == ppi_thread_self || thread->tid != ppi_thread_id())
    ppi_thread_name_forget(thread->tid);
}

// A signal handler's marker in between attaches another block: nobody takes
// this one until `in_use` is 0.
static void leave_process_lanes(void *block) {
  ppi_thread *thread = block;
  if (thread == ppi_thread_self && process.leaving) process.leaving();
  __atomic_store_n(&thread->in_use, PPI_THREAD_TAKEN, __ATOMIC_RELAXED);
  leave(thread);
  ppi_thread_self = NULL;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

static void init(void) {
  process.is_ready =
      ppi_epoch_init() &&
      pthread_key_create(&process.key, leave_process_lanes) == 0 &&
      ppi_thread_prepare();
}

pprof_status ppi_thread_init(void) {
  pthread_once(&process.once, init);
  return process.is_ready ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

void ppi_thread_set_leave_handler(void (*leaving)(void)) {
  process.leaving = leaving;
}

static ppi_thread *take_block(void) {
  bool is_gone;
  ppi_thread *thread = ppi_thread_take_block(&is_gone);
  if (!is_gone) return thread;
  leave(thread);
  ppi_thread_set_up(thread);
  __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  return thread;
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
  if (thread && pthread_setspecific(process.key, thread) != 0) {
    __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
    thread = NULL;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ppi_thread_self = thread;
  ppi_unmask_signals(&before);
  return thread;
}

// A row made here has the name from the start.
static void name_self(ppi_thread *thread, const char *name) {
  char wanted[PPI_THREAD_NAME];
  ppi_thread_name_copy(wanted, name);
  bool is_new = !ppi_thread_has_rows(thread);
  if (is_new) strcpy(thread->name, wanted);
  ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  bool is_known = strcmp(thread->name, wanted) == 0;
  if (!is_known) strcpy(thread->name, wanted);
  if (!lane) return;
  if (!is_known) {
    ppi_calm before;
    ppi_mask_signals(&before);
    ppi_thread_lock();
    ppi_thread_define_lanes(thread, wanted);
    ppi_thread_unlock();
    ppi_unmask_signals(&before);
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

static void name_other(uint32_t tid, const char *name, bool *out_kept) {
  ppi_calm before;
  ppi_mask_signals(&before);
  ppi_thread_lock();
  *out_kept = ppi_thread_name_keep(tid, name);
  bool live = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE) != 0;
  for (ppi_thread *thread = ppi_thread_list(); live && thread;
       thread = thread->next)
    if (__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE) == 1 &&
        thread->tid == tid)
      ppi_thread_define_lanes(thread, name);
  ppi_thread_unlock();
  ppi_unmask_signals(&before);
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
  // Busy keeps the session alive, and keeps a signal handler's marker off the
  // lock that its own thread holds.
  ppi_stand(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  name_other(tid, name, &kept);
  ppi_leave(thread);
  return kept;
}
