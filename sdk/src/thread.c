// SPDX-License-Identifier: Apache-2.0
//
// Thread blocks: attaching, leaving, catching up with edges, fork, and the
// epoch that switches all markers.
#include "thread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture.h"
#include "emit.h"

uint32_t pprof_epoch_;
// The library's own, where pprof_epoch_ is a copy in the program (without
// -fPIC): what is loaded with RTLD_DEEPBIND reads this one.
static uint32_t own_epoch __attribute__((alias("pprof_epoch_")));
uint32_t *ppi_epoch_page;
uint32_t ppi_epoch_near;
__thread ppi_thread *ppi_thread_self __attribute__((tls_model("initial-exec")));
ppi_recorder ppi_recorder_in_force;

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
  uint32_t last_epoch;
  bool has_membarrier;
  bool ready;
  void (*in_child)(void);
  bool has_os_names;
  ppi_os_name os_names[PPI_OS_NAMES];
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

// Stands in while a thread is being attached, so that a signal handler's
// marker finds a busy thread and not a half-made one.
static ppi_thread attaching = {.busy = 1};

static void leave_process_lanes(void *block);
static void leave(ppi_thread *thread);

static void forget_lanes(ppi_thread *thread, int order) {
  __atomic_store_n(&thread->lane, NULL, order);
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++)
    __atomic_store_n(&thread->domains[i].lane, NULL, order);
}

static void in_forked_child(void) {
  ppi_thread *self = ppi_thread_self;
  pthread_mutex_init(&threads.mutex, NULL);
  ppi_names_in_forked_child();
  __atomic_store_n(&pprof_epoch_, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&own_epoch, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&ppi_epoch_near, 0, __ATOMIC_RELAXED);
  if (ppi_epoch_page) {
    ppi_epoch_page[0] = ppi_epoch_page[1] = 0;
    ppi_epoch_page[2] = 1;
  }
  for (ppi_thread *thread = threads.list; thread; thread = thread->next) {
    thread->lane_epoch = PPI_NO_EPOCH;
    forget_lanes(thread, __ATOMIC_RELAXED);
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
  // Pairs with the acquire in ppi_enter: with it the recorder and the edge.
  __atomic_store_n(ppi_epoch_page, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&ppi_epoch_near, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&pprof_epoch_, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&own_epoch, epoch, __ATOMIC_RELEASE);
}

uint32_t ppi_epoch_next(void) {
  do {
    threads.last_epoch++;
  } while (threads.last_epoch == 0 || threads.last_epoch == PPI_NO_EPOCH);
  return threads.last_epoch;
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
  int before = errno;
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
  errno = before;
  return found;
}

static void set_up_block(ppi_thread *thread) {
  forget_lanes(thread, __ATOMIC_RELAXED);
  memset(thread->domains, 0, sizeof thread->domains);
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
  if (__atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE) == 0) return;
  ppi_lane *lane = ppi_thread_lane(thread, 0);
  // What was stuck in a marker may go on in its own session's memory.
  if (lane && thread->serial == ppi_recorder_in_force.serial)
    __atomic_fetch_add(&lane->interrupted, 1, __ATOMIC_RELAXED);
  else
    count_lost_for_want_of_lane();
}

static void copy_name(char to[PPI_THREAD_NAME], const char *name) {
  size_t len = strnlen(name, PPI_THREAD_NAME - 1);
  // No half of a UTF-8 character at the end.
  if (name[len])
    while (len && ((unsigned char)name[len] & 0xc0u) == 0x80u) len--;
  memcpy(to, name, len);
  to[len] = 0;
}

// The name that another thread gave this one, if any; the system's where it
// has none at all.
static void find_name(ppi_thread *thread) {
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

// A row is named after its thread, and after its domain where it has one.
static void define_lane(const ppi_thread *thread, const ppi_lane *lane,
                        uint32_t domain, const char *name) {
  char full[PPI_THREAD_NAME + 256];
  snprintf(full, sizeof full, domain ? "%s [%.200s]" : "%s", name,
           ppi_domain_name(domain));
  pprof_definition definition = {PPROF_DEFINITION_LANE, lane->id, 0, 0,
                                 thread->tid,           full};
  if (!ppi_names_define(ppi_recorder_in_force.names, &definition))
    __atomic_fetch_add(&ppi_recorder_in_force.spool.header->names_overflowed, 1,
                       __ATOMIC_RELAXED);
}

// One of a thread's lanes: its own (domain 0), or that in a domain.
typedef struct place {
  ppi_lane **lane;
  uint32_t *serial;
  uint32_t domain;
} place;

static ppi_lane *join_session(ppi_thread *thread, const place *at,
                              uint32_t epoch) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  // A checkpoint does not trust a look at this thread until its lane is here.
  __atomic_store_n(&thread->joining, 1, __ATOMIC_RELAXED);
  ppi_lane *lane = ppi_lane_create(spool, epoch, thread->tid);
  if (lane) {
    const ppi_edge *began = ppi_edge_into(spool->header, epoch);
    if (began && (began->flags & PPI_EDGE_AFTER_OFF) &&
        !(began->flags & PPI_EDGE_START))
      lane->before_left = UINT32_MAX;
    find_name(thread);
    define_lane(thread, lane, at->domain, thread->name);
    *at->serial = ppi_recorder_in_force.serial;
    if (at->domain == 0) thread->device_depth = 0;
    __atomic_store_n(at->lane, lane, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&thread->joining, 0, __ATOMIC_RELEASE);
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

// The collector may be cutting this very stack; whoever swaps the edge word
// does it.
static ppi_lane *follow(ppi_lane *lane, uint32_t epoch, bool counts) {
  uint32_t stack_epoch = __atomic_load_n(&lane->stack_epoch, __ATOMIC_ACQUIRE);
  if (stack_epoch == epoch) return lane;
  if (!__atomic_compare_exchange_n(&lane->edge, &stack_epoch, epoch, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return lose(lane, counts);
  ppi_lane_cut(&ppi_recorder_in_force.spool, lane, epoch);
  return lane;
}

bool ppi_thread_follow(ppi_lane *lane, uint32_t epoch) {
  return follow(lane, epoch, true) != NULL;
}

static ppi_lane *catch_up(ppi_thread *thread, const place *at, uint32_t epoch,
                          bool counts) {
  if (epoch == 0) return NULL;
  ppi_lane *lane = __atomic_load_n(at->lane, __ATOMIC_RELAXED);
  if (!lane || *at->serial != ppi_recorder_in_force.serial) {
    lane = join_session(thread, at, epoch);
    if (!lane && counts) count_lost_for_want_of_lane();
    return lane;
  }
  return follow(lane, epoch, counts);
}

// Where markers fence themselves, each comes by here.
ppi_lane *ppi_thread_enter_apart(ppi_thread *thread, bool counts) {
  const place own = {&thread->lane, &thread->serial, 0};
  if (thread->fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  ppi_lane *lane = NULL;
  // Off since the first look, or a raw clone's child, where the lane is not
  // even mapped. (A lane that the collector cut is of epoch 0, too.)
  if (epoch) lane = catch_up(thread, &own, epoch, counts);
  if (!lane) {
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
  } else if (!thread->fence) {
    thread->lane_epoch = epoch;
    thread->epoch_ticks =
        ppi_edge_ticks(ppi_recorder_in_force.spool.header, epoch);
  }
  return lane;
}

// The domain's place, which is its first free one from its number on; NULL:
// there are too many.
static ppi_domain_lane *find_place(ppi_thread *thread, uint32_t domain) {
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++) {
    ppi_domain_lane *at = &thread->domains[(domain + i) % PPI_DOMAIN_LANES];
    if (at->domain == 0) at->domain = domain;
    if (at->domain == domain) return at;
  }
  return NULL;
}

ppi_lane *ppi_thread_catch_up_in(ppi_thread *thread, uint32_t domain,
                                 uint32_t epoch, bool counts) {
  ppi_domain_lane *found = find_place(thread, domain);
  if (!found) {
    if (counts) count_lost_for_want_of_lane();
    return NULL;
  }
  const place at = {&found->lane, &found->serial, domain};
  return catch_up(thread, &at, epoch, counts);
}

uint32_t ppi_site_decide(uint32_t number, uint32_t epoch) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  uint32_t verdict = ppi_names_verdict(recorder->names, number);
  bool records =
      !(verdict & PPI_SITE_IS_EXCLUDED) &&
      epoch != __atomic_load_n(&recorder->watch_epoch, __ATOMIC_RELAXED);
  uint32_t more = recorder->emits;
  if (records && verdict & PPI_SITE_IS_MEASURED) more |= PPI_SITE_CPU;
  if (verdict & PPI_SITE_IS_WATCHED)
    return number | PPI_SITE_APART | more | (records ? 0 : PPI_SITE_EXCLUDED);
  if (!records) return PPROF_SITE_EXCLUDED_;
  if (!more) return number;
  return number | PPI_SITE_APART | PPI_SITE_UNWATCHED | more;
}

uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch) {
  uint32_t id = ppi_names_site(ppi_recorder_in_force.names, site->name,
                               site->category, site->color);
  if (id) id = ppi_site_decide(id, epoch);
  // Nothing is published by it: markers use the id alone, and whoever wants the
  // name asks ppi_names_site_record.
  __atomic_store_n(&site->state_, (uint64_t)epoch << 32 | id, __ATOMIC_RELAXED);
  return id;
}

// Frames that were closed a moment ago are still there to be read.
void ppi_thread_tell_last(const ppi_lane *lane, uint32_t from, uint32_t to) {
  for (uint32_t i = PPI_MIN(to, PPI_MAX_FRAMES); i-- > from;)
    if (lane->frames[i].flags & PPI_FRAME_LAST)
      ppi_capture_ended(lane->frames[i].site);
}

static void leave_lane(ppi_thread *thread, const place *at, uint32_t epoch) {
  ppi_lane *lane = __atomic_load_n(at->lane, __ATOMIC_RELAXED);
  bool is_live = false;
  // A raw clone's child, whose page was wiped, has no lane mapped.
  // A session that has stopped, or stops now, has no use for the lane: its
  // serial left the page before the stop looked for busy threads.
  uint32_t serial = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE);
  if (lane && serial && serial == *at->serial) {
    // While nothing is recorded the collector cuts the stack at its edge.
    if (epoch && catch_up(thread, at, epoch, false)) {
      uint32_t open = PPI_DEPTH(lane->commit);
      // What a thread that is gone took of its CPU nobody can ask any more.
      bool is_self = thread == ppi_thread_self;
      ppi_lane_make_room(&ppi_recorder_in_force.spool, lane, 0);
      ppi_lane_close(
          ppi_recorder_in_force.spool.base, lane, 0,
          (ppi_closing){
              ppi_clock_ticks(), PPROF_FLAG_ABANDONED, PPROF_FLAG_ABANDONED,
              is_self ? ppi_cpu_frames_end(&thread->cpu, lane, 0) : NULL});
      ppi_thread_tell_last(lane, 0, open);
    }
    is_live = true;
  }
  // First: a signal handler's marker that comes in between must not count what
  // it loses on a lane that the collector has taken the counts of.
  __atomic_store_n(at->lane, NULL, __ATOMIC_RELEASE);
  if (is_live) __atomic_store_n(&lane->state, PPI_LANE_LEFT, __ATOMIC_RELEASE);
}

// A thread leaves: its open frames become ABANDONED, its lanes wait for the
// collector. A marker in a later TLS destructor attaches the thread anew.
static void leave(ppi_thread *thread) {
  __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  leave_lane(thread, &(place){&thread->lane, &thread->serial, 0}, epoch);
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++) {
    ppi_domain_lane *in = &thread->domains[i];
    leave_lane(thread, &(place){&in->lane, &in->serial, in->domain}, epoch);
  }
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

ppi_thread *ppi_thread_owning(const ppi_lane *lane) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    for (uint32_t i = 0; i < PPI_THREAD_LANES; i++)
      if (ppi_thread_lane(thread, i) == lane) return thread;
  return NULL;
}

size_t ppi_thread_num_busy(void) {
  size_t num = 0;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    num += __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) != 0;
  return num;
}

void ppi_thread_forget_lanes(void) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    forget_lanes(thread, __ATOMIC_RELEASE);
}

void ppi_thread_close_files(void) {
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next)
    if (!__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE))
      ppi_cpu_file_close(&thread->cpu.file);
}

// Between busy = 1 and 0, while a session lives.
static void define_lanes(const ppi_thread *thread, const char *name) {
  uint32_t serial = ppi_recorder_in_force.serial;
  const ppi_lane *own = ppi_thread_lane(thread, 0);
  if (own && thread->serial == serial) define_lane(thread, own, 0, name);
  for (uint32_t i = 0; i < PPI_DOMAIN_LANES; i++) {
    const ppi_domain_lane *in = &thread->domains[i];
    const ppi_lane *lane = ppi_thread_lane(thread, i + 1);
    if (lane && in->serial == serial)
      define_lane(thread, lane, in->domain, name);
  }
}

static bool has_rows(const ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_LANES; i++)
    if (ppi_thread_lane(thread, i)) return true;
  return false;
}

// A row that comes into being here has the name from the start.
static void name_self(ppi_thread *thread, const char *name) {
  char wanted[PPI_THREAD_NAME];
  copy_name(wanted, name);
  bool is_new = !has_rows(thread);
  if (is_new) strcpy(thread->name, wanted);
  ppi_lane *lane = ppi_enter(&thread, false);
  bool is_known = strcmp(thread->name, wanted) == 0;
  if (!is_known) strcpy(thread->name, wanted);
  if (!lane) return;
  if (!is_known) define_lanes(thread, wanted);
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
  pthread_mutex_lock(&threads.mutex);
  *out_kept = remember_name(tid, name);
  bool live = __atomic_load_n(ppi_epoch_page + 1, __ATOMIC_ACQUIRE) != 0;
  for (ppi_thread *thread = threads.list; live && thread; thread = thread->next)
    if (__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE) == 1 &&
        thread->tid == tid)
      define_lanes(thread, name);
  pthread_mutex_unlock(&threads.mutex);
}

bool ppi_thread_name_os(uint32_t tid, const char *name) {
  ppi_thread *thread = ppi_thread_self;
  if (!thread) thread = ppi_thread_attach();
  if (!thread || thread->busy) return false;
  if (tid == thread->tid) {
    name_self(thread, name);
    return true;
  }
  bool kept = false;
  // Busy: the session stays meanwhile, and a signal handler's marker does not
  // wait for the lock that its own thread holds.
  __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  name_other(tid, name, &kept);
  ppi_leave(thread);
  return kept;
}
