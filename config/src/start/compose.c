// SPDX-License-Identifier: Apache-2.0
//
// Implements pprof_start and pprof_stop, and the same for a session that
// injection starts. One lock covers both; their shared state is one `run`. A
// forked child has no run: its threads are gone.
#include "start/compose.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/start_thread.h"
#include "base/thread_id.h"
#include "base/uncancelled.h"
#include "base/wait.h"
#include "mark/thread.h"
#include "session/session.h"
#include "session/state/current.h"
#include "start/injected.h"
#include "start/running_launch.h"
#include "start/running_paths.h"
#include "window/window_queue.h"

#ifndef PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP  // musl: the first word has it
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP \
  {                                             \
    {                                           \
      { PTHREAD_MUTEX_ERRORCHECK }              \
    }                                           \
  }
#endif

// An error-checking lock: a library that a start loads may call NVTX, and so
// injection, on the same thread.
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static uint32_t lock_owner;  // OS thread id, 0: none; atomic
static ppi_running *current;
static bool started_by_program;  // ever, in this process
static bool tried_to_attach;
static bool forked;
// Whether PPROF_ENABLE=1 waits for a first marker: no session began yet.
static bool waits;
// In a forked child without a run of its own: the parent's run by the program,
// which the child continues if it follows; NULL: none.
static ppi_running *parents;
static pprof_status missed;  // the answer of such a child's stop
static pprof_error missed_why;
static char last_log[PATH_MAX];  // of the run that was stopped; "": none
static uint64_t exit_wait_us;    // of the run, until its end; atomic
static pid_t exit_pid;           // its owner: a child may share our memory
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void wake(void);
static void yield_to_program(void);

static bool took_lock(int error) {
  if (error == 0)
    __atomic_store_n(&lock_owner, ppi_thread_id(), __ATOMIC_RELAXED);
  return error == 0;
}

static bool take_lock(void) {
  return took_lock(pthread_mutex_lock(&lock));
}

static void give_lock(void) {
  __atomic_store_n(&lock_owner, 0, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}

enum { MOST_PAUSES = 2000 };
static void pause_shortly(void) {
  struct timespec pause = {0, 100000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

// Injection may have the loader's lock, for which the thread with our lock may
// be waiting. So it waits only for a while; that thread's work is then enough.
// (A timed lock uses a clock that can be set.)
static bool take_lock_soon(void) {
  for (int i = 0; !took_lock(pthread_mutex_trylock(&lock)); i++) {
    if (i == MOST_PAUSES ||
        __atomic_load_n(&lock_owner, __ATOMIC_RELAXED) == ppi_thread_id())
      return false;
    pause_shortly();
  }
  return true;
}

// For a session that the program takes over itself.
static void forget_parents(void) {
  ppi_thread_sleep(NULL);
  waits = false;
  parents = NULL;
  missed = PPROF_STATUS_OK;
}

// The child sleeps until its first marker, so a child that only runs another
// program is not delayed.
static void remember_parents(ppi_running *run) {
  forget_parents();
  if (!run || (run->injected && !run->adopted) || run->alone) return;
  parents = run;
  if (run->config.fork == PPI_NVTX_FORK_FOLLOW)
    ppi_thread_sleep(wake);
  else
    missed = ppi_fail(&missed_why, PPROF_STATUS_UNAVAILABLE,
                      "nothing was recorded here: the process was forked from "
                      "one that records, and 'fork' is off");
}

static void wait_for_marker(void) {
  ppi_thread_sleep(wake);
  waits = true;
}

// A start loads libraries. A child forked in the middle of that could load
// none. The fork waits without the lock, so forks never block a start, and no
// other handler can cause a deadlock.
static void wait_before_fork(void) {
  for (int i = 0; i < MOST_PAUSES; i++) {
    uint32_t owner = __atomic_load_n(&lock_owner, __ATOMIC_RELAXED);
    if (owner == 0 || owner == ppi_thread_id()) return;
    pause_shortly();
  }
}

// The child has none of the parent's threads and must not touch its files; a
// lock that another thread had at the fork would never be released.
static void forget_in_child(void) {
  PPI_UNCANCELLED;
  static const pthread_mutex_t fresh = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  lock = fresh;
  if (current) ppi_running_in_forked_child(current);
  // A first marker of another thread may have started a session.
  bool begins = lock_owner != 0;
  lock_owner = 0;
  bool waits_too = current ? current->unasked && !current->adopted &&
                                 current->config.fork == PPI_NVTX_FORK_FOLLOW
                           : waits && (begins || !ppi_session_was_started());
  remember_parents(current ? current : parents);
  if (waits_too) wait_for_marker();
  bool follows = current ? current->injected : !started_by_program;
  tried_to_attach = !follows || (current && !ppi_nvtx_follows_forks());
  started_by_program = false;
  forked = true;
  current = NULL;
  exit_wait_us = 0;
}

static void note_log(const ppi_running *run) {
  bool is_whole = !run->config.log || run->output[0] == '/' || !run->folder[0];
  int len =
      snprintf(last_log, sizeof last_log, "%s%s%s", is_whole ? "" : run->folder,
               is_whole ? "" : "/", run->config.log ? run->output : "");
  if (len < 0 || (size_t)len >= sizeof last_log) last_log[0] = 0;
}

static pprof_status stop_locked(pprof_error *error) {
  ppi_running *run = current;
  if (!run) return PPROF_STATUS_OK;
  current = NULL;
  note_log(run);
  pprof_status status = ppi_running_finish(run, error);
  __atomic_store_n(&exit_wait_us, 0, __ATOMIC_RELAXED);
  return status;
}

// The files' names are read before the run is gone.
static pprof_status end_former(const ppi_running *next, pprof_error *error) {
  ppi_running *names = ppi_alloc(sizeof *names);
  if (!names) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  *names = *current;
  pprof_error own = {""};
  if (stop_locked(&own) != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  ppi_running_keep_older(names, next);
  ppi_free(names);
  return PPROF_STATUS_OK;
}

static void watch_forks(void) {
  pthread_atfork(wait_before_fork, NULL, forget_in_child);
}

// For a run by injection or by a forked child's first marker: the program may
// start a session as if none ran.
static bool gives_way(void) {
  return current && (current->injected || current->follows) &&
         !current->adopted;
}

// The program starts a session while such a run exists. An equal request keeps
// it. Otherwise it ends here, with files of its own, and the program's run
// replaces it.
static pprof_status take_over(ppi_running *run, bool *out_adopted,
                              pprof_error *error) {
  *out_adopted = ppi_running_is_same(run, current);
  if (*out_adopted) {
    current->adopted = true;
    current->alone = run->alone;
    return PPROF_STATUS_OK;
  }
  return end_former(run, error);
}

static pprof_status begin_run(ppi_running *run, const char *config_path,
                              bool *out_adopted, pprof_error *error) {
  pprof_status status = ppi_running_prepare(run, config_path, error);
  if (status == PPROF_STATUS_OK && current)
    status = take_over(run, out_adopted, error);
  if (status == PPROF_STATUS_OK && !*out_adopted)
    status = ppi_running_launch(run, error);
  return status;
}

static void set_current(ppi_running *run) {
  current = run;
  exit_pid = getpid();
  __atomic_store_n(&exit_wait_us, run->config.exit_wait_us, __ATOMIC_RELEASE);
  if (run->config.log)
    ppi_message(PPI_MESSAGE_INFO, "recording to %s", run->output);
}

static pprof_status follow_locked(pprof_error *error) {
  if (current || !parents || ppi_running_calls->session_current())
    return PPROF_STATUS_OK;
  ppi_running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = ppi_running_prepare_child(run, parents, error);
  if (status == PPROF_STATUS_OK) status = ppi_running_launch(run, error);
  if (status != PPROF_STATUS_OK) {
    ppi_running_destroy(run);
    return status;
  }
  parents = NULL;
  started_by_program = true;
  set_current(run);
  ppi_session_set_yield(yield_to_program);
  return PPROF_STATUS_OK;
}

static pprof_status start_locked(const char *config_path,
                                 const ppi_in_code *code, bool alone,
                                 pprof_error *error) {
  // Checked before any file is made: a second start must not touch the first
  // one's outputs.
  if (!gives_way() && (current || ppi_running_calls->session_current()))
    return ppi_fail(error, PPROF_STATUS_BUSY, "a session is running already");
  ppi_running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  run->forked = forked;
  run->alone = alone;
  run->in_code = *code;
  bool adopted = false;
  pprof_status status = begin_run(run, config_path, &adopted, error);
  if (status != PPROF_STATUS_OK || adopted) {
    ppi_running_destroy(run);
    return status;
  }
  set_current(run);
  return PPROF_STATUS_OK;
}

// PPROF_NVTX=1 records the program's NVTX calls, too, from units that have not
// looked for a tool yet. A variable that is already set stays.
static void point_nvtx_here(void) {
  static const char name[] = "libpprof_nvtx.so";
  const char *wanted = ppi_environment_nvtx();
  Dl_info own;
  char path[PATH_MAX];
  if (!wanted || strcmp(wanted, "1") != 0 ||
      secure_getenv("NVTX_INJECTION64_PATH") || !dladdr(&lock, &own) ||
      !realpath(own.dli_fname, path))
    return;
  char *slash = strrchr(path, '/');
  size_t room = sizeof path - (size_t)(slash + 1 - path);
  if (room <= sizeof name) return;
  memcpy(slash + 1, name, sizeof name);
  if (access(path, R_OK) == 0) setenv("NVTX_INJECTION64_PATH", path, 0);
}

static pprof_status start(const char *config_path, const ppi_in_code *code,
                          bool alone, pprof_error *error) {
  PPI_UNCANCELLED;
  bool enabled = true;
  ppi_message_level level;
  pprof_error own = {""};
  pthread_once(&fork_once, watch_forks);
  pprof_status status = ppi_environment_enabled(&enabled, &own);
  if (status == PPROF_STATUS_OK && !enabled) return PPROF_STATUS_OK;
  if (ppi_window_completing())
    return ppi_fail(error, PPROF_STATUS_BUSY, "a window is being reported");
  ppi_thread_look();
  point_nvtx_here();
  PPI_THEN(status, ppi_environment_log_level(&level, &own));
  if (status == PPROF_STATUS_OK) {
    if (!take_lock())
      return ppi_fail(error, PPROF_STATUS_BUSY, "a session is being started");
    started_by_program = true;
    forget_parents();
    status = start_locked(config_path, code, alone, &own);
    give_lock();
  }
  if (status == PPROF_STATUS_OK) return status;
  ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
}

pprof_status pprof_start(const char *config_path, pprof_error *error) {
  static const ppi_in_code nothing;
  return start(config_path, &nothing, false, error);
}

pprof_status pprof_start_alone_(const char *config_path, pprof_error *error) {
  static const ppi_in_code nothing;
  return start(config_path, &nothing, true, error);
}

static pprof_status start_with(const pprof_start_options *options,
                               const char *text, bool alone,
                               pprof_error *error) {
  ppi_in_code code;
  PPI_TRY(ppi_in_code_take(&code, options, error));
  code.config_text = text;
  const char *path = NULL;
  if (options->size > offsetof(pprof_start_options, config_path))
    path = options->config_path;
  return start(path, &code, alone, error);
}

pprof_status pprof_start_with(const pprof_start_options *options,
                              pprof_error *error) {
  return start_with(options, NULL, false, error);
}

pprof_status pprof_start_alone_with_(const pprof_start_options *options,
                                     pprof_error *error) {
  return start_with(options, NULL, true, error);
}

pprof_status pprof_start_alone_text_(const pprof_start_options *options,
                                     const char *text, pprof_error *error) {
  return start_with(options, text, true, error);
}

void pprof_last_log_(char *out, size_t size) {
  PPI_UNCANCELLED;
  bool locked = take_lock();
  int len = snprintf(out, size, "%s", last_log);
  if (len < 0 || (size_t)len >= size) out[0] = 0;
  if (locked) give_lock();
}

// A forked child of a recording parent has no run yet: it has marked nothing,
// or its start failed.
static pprof_status stop_unbegun(pprof_error *error) {
  pprof_status status = missed;
  if (status != PPROF_STATUS_OK) *error = missed_why;
  forget_parents();
  return status;
}

// The program stops a run by injection only after it has adopted it.
static pprof_status stop_own(pprof_error *error) {
  if (!current && parents) return stop_unbegun(error);
  if (current && current->injected && !current->adopted) return PPROF_STATUS_OK;
  return stop_locked(error);
}

pprof_status pprof_stop(pprof_error *error) {
  PPI_UNCANCELLED;
  pprof_error own = {""};
  // A stop waits for the thread of these callbacks.
  if (ppi_window_completing())
    return ppi_fail(error, PPROF_STATUS_BUSY, "a window is being reported");
  ppi_thread_look();
  if (!take_lock())
    return ppi_fail(error, PPROF_STATUS_BUSY, "a session is being started");
  pprof_status status = stop_own(&own);
  give_lock();
  if (status != PPROF_STATUS_OK) ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  if (error) *error = own;
  return status;
}

// The program starts a session of its own making: the running one ends.
static void yield_to_program(void) {
  pprof_error own = {""};
  if (!take_lock()) return;
  bool ours = gives_way();
  started_by_program = true;
  if (ours && stop_locked(&own) != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  give_lock();
}

static pprof_status begin_injected(bool unasked, pprof_error *error) {
  ppi_running *run = ppi_alloc(sizeof *run);
  if (!run) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  run->injected = true;
  run->unasked = unasked;
  run->forked = forked;
  pprof_status status = ppi_running_prepare(run, NULL, error);
  if (status == PPROF_STATUS_OK) status = ppi_running_launch(run, error);
  if (status != PPROF_STATUS_OK) {
    ppi_running_destroy(run);
    return status;
  }
  set_current(run);
  ppi_session_set_yield(yield_to_program);
  return PPROF_STATUS_OK;
}

// Acts as the parent's pprof_start, at the first marker of a forked child. With
// PPROF_ENABLE=1, it also acts for a program that never starts.
static void wake(void) {
  PPI_UNCANCELLED;
  pprof_error own = {""};
  pprof_status status = PPROF_STATUS_OK;
  if (!take_lock_soon()) return;
  if (!waits)
    status = missed = follow_locked(&missed_why);
  else if (!current && !ppi_running_calls->session_current())
    status = begin_injected(true, &own);
  if (status != PPROF_STATUS_OK)
    ppi_message(PPI_MESSAGE_ERROR, "%s", waits ? own.text : missed_why.text);
  waits = false;
  give_lock();
}

static pprof_status attach_locked(pprof_error *error) {
  if (tried_to_attach || current || started_by_program ||
      ppi_running_calls->session_current() || ppi_session_was_started())
    return PPROF_STATUS_OK;
  tried_to_attach = true;
  return begin_injected(false, error);
}

bool pprof_inject_attach_(void) {
  PPI_UNCANCELLED;
  bool enabled = true;
  pprof_error own = {""};
  pprof_status status = ppi_environment_enabled(&enabled, &own);
  if (status == PPROF_STATUS_OK && !enabled) return false;
  pthread_once(&fork_once, watch_forks);
  if (status == PPROF_STATUS_OK && take_lock_soon()) {
    status = attach_locked(&own);
    give_lock();
  }
  if (status != PPROF_STATUS_OK) ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
  return true;
}

void pprof_inject_flush_(void) {
  PPI_UNCANCELLED;
  if (!take_lock_soon()) return;
  if (current && current->injected) pprof_session_flush(current->session);
  give_lock();
}

// ---- the end of the process ----

// The finisher may outlast the waiting thread.
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  bool has_ended;
} finisher = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *finish(void *unused) {
  pprof_error own = {""};
  // If another thread is stopping the run, waits for its end.
  if (take_lock()) {
    tried_to_attach = true;
    if (stop_locked(&own) != PPROF_STATUS_OK)
      ppi_message(PPI_MESSAGE_ERROR, "%s", own.text);
    give_lock();
  }
  pthread_mutex_lock(&finisher.mutex);
  finisher.has_ended = true;
  pthread_cond_signal(&finisher.ended);
  pthread_mutex_unlock(&finisher.mutex);
  return unused;
}

// Thread sanitizers do not know joins with a deadline, and report a leak: the
// thread is joined once nothing else is waited for.
static bool join_until(pthread_t thread, uint64_t deadline_ns) {
  bool in_time = true;
  pthread_mutex_lock(&finisher.mutex);
  while (!finisher.has_ended && in_time)
    in_time = ppi_wait_until(&finisher.ended, &finisher.mutex, deadline_ns);
  bool has_ended = finisher.has_ended;
  pthread_mutex_unlock(&finisher.mutex);
  return has_ended && pthread_join(thread, NULL) == 0;
}

// Runs at exit or a return from main, after the program's atexit handlers and
// destructors, which may still mark and stop. Another thread does the work: the
// exiting thread may be inside a marker, a callback or a thread of ours, or the
// disk may not answer. The exit goes on after a bounded time; `recover`
// completes the rest.
__attribute__((destructor(101))) static void finish_at_exit(void) {
  PPI_UNCANCELLED;
  uint64_t wait_us = __atomic_load_n(&exit_wait_us, __ATOMIC_ACQUIRE);
  if (wait_us == 0 || exit_pid != getpid()) return;
  // Work that this thread itself interrupts cannot end.
  uint32_t owner = __atomic_load_n(&lock_owner, __ATOMIC_RELAXED);
  if (owner == ppi_thread_id() || ppi_window_completing()) return;
  pthread_t thread;
  const uint64_t deadline_ns = ppi_monotonic_ns() + wait_us * 1000;
  ppi_wait_init(&finisher.ended);
  if (ppi_start_thread(&thread, "pprof-exit", finish, NULL) != 0) return;
  if (join_until(thread, deadline_ns)) return;
  pthread_detach(thread);
  ppi_message(PPI_MESSAGE_WARN, "exit did not wait longer: see 'recover'");
}

// A copy that the program exports is found before this one, except by libraries
// loaded with RTLD_DEEPBIND. The function's address is never taken: without
// -fPIC it would be another one.
static bool is_second_copy(void) {
  void *program = dlopen(NULL, RTLD_NOW);
  void *first = program ? dlsym(program, "pprof_clock_inject_") : NULL;
  Dl_info theirs, ours;
  bool is_second = first && dladdr(first, &theirs) && dladdr(&lock, &ours) &&
                   theirs.dli_fbase != ours.dli_fbase;
  if (program) dlclose(program);
  if (is_second)
    ppi_message(PPI_MESSAGE_INFO,
                "%s: is a second copy of pprof beside the program's; what was "
                "loaded with RTLD_DEEPBIND marks through it, unrecorded",
                ours.dli_fname);
  return is_second;
}

// Nothing is created here: a program that marks nothing, or starts by itself,
// does not notice.
__attribute__((constructor)) static void look_at_load(void) {
  if (is_second_copy() || !ppi_environment_asks()) return;
  pthread_once(&fork_once, watch_forks);
  wait_for_marker();
}
