// SPDX-License-Identifier: Apache-2.0
//
// Records waits as ranges with numbers on the thread's own stack. On waiting
// threads and on those that end waits.
#include "waits/waits.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "event/texts.h"
#include "inject/inject.h"
#include "mark/attach.h"
#include "mark/mark.h"
#include "mark/site_id.h"
#include "waits/object_name.h"
#include "waits/unseen.h"

// ---- objects ----

// By address; repeated lookups take no lock. An object without waiting threads
// may make room for another one.

#define PPI_OBJECT_NAME 128u

typedef struct ppi_object {
  uintptr_t address;  // under the guard; 0: free
  uint32_t users;     // atomic: threads that wait for it
  uint32_t is_named;  // by the program
  uint64_t release;   // atomic: thread << 32 | site << 12 | number
  uint64_t inner;     // atomic: of a range that ended before a release, inside
                      // of where that was: end << 32 | site
  uint32_t holder;  // atomic: of an interpreter's lock, the last thread to end
                    // a wait
  uint32_t is_interpreter;
  uint64_t used;                    // atomic: when, in turns of the table
  uint64_t num_short, short_ticks;  // atomic
  pprof_site site;
  char texts[2][PPI_OBJECT_NAME];  // its name is one of them
} ppi_object;

extern PPI_HIDDEN pprof_wait_table_ ppi_wait_table;

typedef struct ppi_short {
  const char *name;
  uint64_t num, ticks;
} ppi_short;

pprof_wait_table_ ppi_wait_table;
static ppi_object objects[PPI_WAIT_OBJECTS];
static ppi_guard guard;
static uint64_t turn;
static uint64_t num_gone, gone_ticks;  // atomic: of what made room

static ppi_object *object_at(uint32_t at) {
  return &objects[at];
}

static void objects_in_forked_child(void) {
  for (uint32_t i = 0; i < PPI_WAIT_OBJECTS; i++) objects[i].users = 0;
  guard = (ppi_guard){0};
}

static void object_give(uint32_t at) {
  __atomic_fetch_sub(&objects[at].users, 1, __ATOMIC_RELEASE);
}

// Counted first, then looked at: pairs with give_up.
static bool use(uint32_t at, uintptr_t address) {
  __atomic_fetch_add(&objects[at].users, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ppi_wait_table.keys[at], __ATOMIC_SEQ_CST) == address)
    return true;
  object_give(at);
  return false;
}

static bool give_up(uint32_t at) {
  uintptr_t key = ppi_wait_table.keys[at];
  __atomic_store_n(&ppi_wait_table.keys[at], 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&objects[at].users, __ATOMIC_SEQ_CST) == 0) return true;
  __atomic_store_n(&ppi_wait_table.keys[at], key, __ATOMIC_RELEASE);
  return false;
}

// The slot of the address, or one for it. The object with the oldest wait makes
// room; objects that the program has named go last.
static uint32_t place_of(uintptr_t address) {
  uint32_t set = ppi_wait_set(address), oldest = set;
  for (uint32_t i = set; i < set + PPI_WAIT_WAYS; i++)
    if (objects[i].address == address) return i;
  for (uint32_t i = set; i < set + PPI_WAIT_WAYS; i++) {
    if (!objects[i].address) return i;
    bool is_older = objects[i].used < objects[oldest].used;
    if (objects[oldest].is_named || (!objects[i].is_named && is_older))
      oldest = i;
  }
  return give_up(oldest) ? oldest : PPI_WAIT_UNKNOWN;
}

// A thread that reads the name meanwhile gets the other text.
static void set_name(ppi_object *object, const char *name) {
  char *text = object->texts[object->site.name == object->texts[0]];
  snprintf(text, PPI_OBJECT_NAME, PPI_WAIT_PREFIX "%.118s", name);
  __atomic_store_n(&object->site.name, text, __ATOMIC_RELEASE);
  __atomic_store_n(&object->site.state_, 0, __ATOMIC_RELEASE);
}

static void make(ppi_object *object, uintptr_t address) {
  object->address = address;
  object->is_named = object->is_interpreter = 0;
  object->release = object->inner = 0;
  object->holder = 0;
  __atomic_fetch_add(&num_gone, object->num_short, __ATOMIC_RELAXED);
  __atomic_fetch_add(&gone_ticks, object->short_ticks, __ATOMIC_RELAXED);
  object->num_short = object->short_ticks = 0;
  object->site.category = PPROF_CATEGORY_WAIT;
}

static uint32_t find_or_make(uintptr_t address, ppi_wait_kind kind,
                             const void *caller) {
  char name[PPI_OBJECT_NAME];
  uint32_t at = place_of(address);
  if (at == PPI_WAIT_UNKNOWN) return at;
  ppi_object *object = &objects[at];
  if (object->address != address) {
    make(object, address);
    object->is_interpreter =
        ppi_object_describe(address, kind, caller, name, sizeof name);
    set_name(object, name);
    if (kind == PPI_WAIT_IDLE)
      object->site.category = pprof_category_register("Idle");
  }
  __atomic_fetch_add(&object->users, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&ppi_wait_table.keys[at], address, __ATOMIC_RELEASE);
  return at;
}

// object_take answers the object's place for one that waits, which gives it
// back; PPI_WAIT_UNKNOWN: there is no room, or the table is being changed by
// the thread that a signal handler interrupts.
static uint32_t object_take(uintptr_t address, ppi_wait_kind kind,
                            const void *caller) {
  uint32_t at = ppi_wait_find(&ppi_wait_table, (const void *)address);
  if (at == PPI_WAIT_UNKNOWN || !use(at, address)) {
    if (!ppi_guard_take(&guard)) return PPI_WAIT_UNKNOWN;
    at = find_or_make(address, kind, caller);
    ppi_guard_give(&guard);
  }
  if (at != PPI_WAIT_UNKNOWN)
    __atomic_store_n(&objects[at].used,
                     __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  return at;
}

// Its key comes with the first wait: objects without waits cost nothing.
void pprof_name_object(const volatile void *address, const char *name) {
  if (!address || !name || !ppi_guard_take(&guard)) return;
  uint32_t at = place_of((uintptr_t)address);
  if (at != PPI_WAIT_UNKNOWN) {
    ppi_object *object = &objects[at];
    if (object->address != (uintptr_t)address) make(object, (uintptr_t)address);
    object->is_named = 1;
    set_name(object, name);
  }
  ppi_guard_give(&guard);
}

// ---- short waits ----

static void take_short(ppi_object *of, ppi_short *to) {
  to->num += __atomic_exchange_n(&of->num_short, 0, __ATOMIC_RELAXED);
  to->ticks += __atomic_exchange_n(&of->short_ticks, 0, __ATOMIC_RELAXED);
}

// objects_take_short takes the waits of less than a microsecond of the
// object that has most of them, or of all that are left.
static ppi_short objects_take_short(bool of_one) {
  ppi_short found = {"others", 0, 0};
  ppi_object *most = &objects[0];
  for (uint32_t i = 0; i < PPI_WAIT_OBJECTS; i++) {
    if (!of_one) take_short(&objects[i], &found);
    if (__atomic_load_n(&objects[i].num_short, __ATOMIC_RELAXED) >
        __atomic_load_n(&most->num_short, __ATOMIC_RELAXED))
      most = &objects[i];
  }
  if (of_one) take_short(most, &found);
  if (of_one && found.num) {
    found.name = ppi_wait_object(most->site.name);
    return found;
  }
  found.num += __atomic_exchange_n(&num_gone, 0, __ATOMIC_RELAXED);
  found.ticks += __atomic_exchange_n(&gone_ticks, 0, __ATOMIC_RELAXED);
  return found;
}

#define SHORTEST_PER_SECOND 1000000u  // a microsecond
#define RELEASES 0xfffu               // the number's part of a release

static bool is_in_front;  // the library that stands in front asked for it

const pprof_wait_table_ *pprof_wait_get_table_(void) {
  is_in_front = true;
  return &ppi_wait_table;
}

// A lane is not made here, which may be inside of an allocator.
static ppi_lane *enter(ppi_thread **out_thread) {
  ppi_thread *thread = ppi_thread_self;
  if (ppi_is_off() || !thread || ppi_is_inside(thread) ||
      !ppi_thread_lane(thread, 0) ||
      thread->stacks[0].serial != ppi_recorder_in_force.serial)
    return NULL;
  return ppi_enter(out_thread, PPI_ADDS);
}

static void leave(ppi_thread *thread) {
  ppi_stack_refresh(&thread->stacks[0]);
  ppi_leave(thread);
}

static void set_numbers(pprof_numbers *out, const uint64_t *values) {
  *out = (pprof_numbers){sizeof *out, PPI_WAIT_NUMBERS, PPROF_NAME_FOLDED, {0}};
  memcpy(out->values, values, sizeof out->values);
}

// An unwanted name opens nothing.
static bool push(ppi_thread *thread, ppi_lane *lane, pprof_site *site,
                 pprof_wait_ *wait) {
  uint32_t id = ppi_site_id(site, lane->stack_epoch);
  if (id == 0 || id == PPROF_SITE_EXCLUDED_) return false;
  if (!(id & PPI_SITE_APART)) id |= PPI_SITE_APART | PPI_SITE_UNWATCHED;
  set_numbers(&thread->names.numbers, wait->numbers);
  wait->token.depth = ppi_mark_push_slow(&ppi_recorder_in_force.spool, lane,
                                         id | PPI_SITE_NUMBERS);
  wait->token.lane = lane;
  wait->token.epoch = lane->stack_epoch;
  return wait->token.depth != PPI_NO_FRAME;
}

bool pprof_wait_begin_(pprof_wait_ *wait, const volatile void *object,
                       ppi_wait_kind kind, const void *caller) {
  ppi_thread *thread = ppi_thread_self;
  if (ppi_is_off() || !thread || thread->busy || pprof_inject_is_own_(caller))
    return false;
  ppi_lane *lane = enter(&thread);
  if (!lane) return false;
  wait->object = object_take((uintptr_t)object, kind, caller);
  bool begins = false;
  if (wait->object != PPI_WAIT_UNKNOWN) {
    ppi_object *known = object_at(wait->object);
    wait->releases = (uint32_t)known->release & RELEASES;
    wait->numbers[PPI_WAIT_OBJECT] = (uintptr_t)object;
    wait->numbers[PPI_WAIT_BY] =
        known->holder == thread->tid ? 0 : known->holder;
    wait->numbers[PPI_WAIT_IN] = 0;
    wait->numbers[PPI_WAIT_HOW] =
        known->is_interpreter ? PPI_WAIT_INTERPRETER : kind;
    begins = push(thread, lane, &known->site, wait);
    if (!begins) object_give(wait->object);
  }
  leave(thread);
  return begins;
}

// The wait's numbers while it is the innermost range; NULL: it is not, or has
// no room for any.
static pprof_numbers *numbers_of(const ppi_lane *lane,
                                 const pprof_wait_ *wait) {
  uint32_t depth = wait->token.depth;
  if (lane != wait->token.lane || lane->stack_epoch != wait->token.epoch ||
      PPI_DEPTH(lane->commit) != depth + 1 || depth >= lane->num_frames ||
      !(ppi_lane_frames(lane)[depth].flags & PPI_FRAME_NUMBERS))
    return NULL;
  return &ppi_lane_numbers(lane)[depth];
}

void pprof_wait_holder_(pprof_wait_ *wait, uint32_t tid) {
  ppi_thread *thread;
  if (wait->numbers[PPI_WAIT_BY] == tid) return;
  wait->numbers[PPI_WAIT_BY] = tid;
  ppi_lane *lane = enter(&thread);
  if (!lane) return;
  pprof_numbers *numbers = numbers_of(lane, wait);
  if (numbers)
    __atomic_store_n(&numbers->values[PPI_WAIT_BY], tid, __ATOMIC_RELAXED);
  ppi_leave(thread);
}

// Ends of ranges, as far as they have room beside a site.
static uint32_t coarse(uint64_t ticks) {
  return (uint32_t)(ticks >> 10);
}

// The range that an owner of the object ended since the wait began, or else the
// range of the release.
static uint32_t released_in(const ppi_object *object, uint64_t release,
                            uint64_t start) {
  uint64_t inner = __atomic_load_n(&object->inner, __ATOMIC_RELAXED);
  bool is_later = (int32_t)((uint32_t)(inner >> 32) - coarse(start)) > 0;
  return inner && is_later ? (uint32_t)inner : release >> 12 & PPI_SITE_NUMBER;
}

// The last thread that released the object, if any did since the wait began.
static void find_waker(pprof_wait_ *wait, const ppi_object *object,
                       uint64_t start, bool timed_out) {
  uint64_t release = __atomic_load_n(&object->release, __ATOMIC_ACQUIRE);
  bool is_new = (release & RELEASES) != wait->releases;
  // The present owner of the interpreter's lock took it without a wait.
  if (timed_out) {
    wait->numbers[PPI_WAIT_HOW] |= PPI_WAIT_TIMED_OUT;
    if (object->is_interpreter) wait->numbers[PPI_WAIT_BY] = 0;
  } else if (is_new) {
    wait->numbers[PPI_WAIT_BY] = release >> 32;
    wait->numbers[PPI_WAIT_IN] = released_in(object, release, start);
  }
}

// ---- priorities ----

// The first version of the kernel's struct sched_attr.
typedef struct schedule {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
} schedule;

// The place of a thread among all, the first the greatest; 0: the calling one.
static bool find_rank(uint32_t tid, int *out) {
  enum { REAL_TIME = 100, DEADLINE = 200, DEADLINE_POLICY = 6 };
  schedule of = {.size = sizeof of};
  if (syscall(SYS_sched_getattr, tid, &of, (uint32_t)sizeof of, 0) != 0)
    return false;
  *out = of.policy == DEADLINE_POLICY ? DEADLINE
         : of.policy == SCHED_IDLE    ? -REAL_TIME
         : of.priority                ? REAL_TIME + (int)of.priority
                                      : -of.nice;
  return true;
}

// Priority inversion: who has the object comes after who waits. The kernel is
// asked about long waits alone, so that short ones stay cheap.
static void find_lower(pprof_wait_ *wait, uint32_t self, uint64_t start) {
  enum { LONG_PER_SECOND = 10000 };
  uint64_t by = wait->numbers[PPI_WAIT_BY];
  uint64_t long_ticks = ppi_clock_state.ticks_per_second / LONG_PER_SECOND;
  int own, other;
  if (ppi_wait_has_holder(wait->numbers[PPI_WAIT_HOW]) && by && by != self &&
      ppi_clock_ticks() - start >= long_ticks && find_rank(0, &own) &&
      find_rank((uint32_t)by, &other) && other < own)
    wait->numbers[PPI_WAIT_HOW] |= PPI_WAIT_LOWER;
}

// A wait of less than a microsecond is counted, not recorded. With more than
// numbers it ends as any range.
static bool is_dropped(ppi_lane *lane, const pprof_wait_ *wait,
                       ppi_object *object) {
  const ppi_frame *frame = ppi_lane_frames(lane) + wait->token.depth;
  uint64_t ticks = ppi_clock_ticks() - frame->start;
  if (ticks >= ppi_clock_state.ticks_per_second / SHORTEST_PER_SECOND ||
      frame->flags != PPI_FRAME_NUMBERS)
    return false;
  __atomic_fetch_add(&object->num_short, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&object->short_ticks, ticks, __ATOMIC_RELAXED);
  ppi_lane_commit(lane, PPI_HEAD(lane->commit), wait->token.depth);
  return true;
}

static bool finish(pprof_wait_ *wait, ppi_object *object, bool timed_out) {
  ppi_thread *thread;
  ppi_lane *lane = enter(&thread);
  if (!lane) return false;
  bool is_done = false;
  pprof_numbers *numbers = numbers_of(lane, wait);
  if (numbers) {
    uint64_t start = ppi_lane_frames(lane)[wait->token.depth].start;
    find_waker(wait, object, start, timed_out);
    find_lower(wait, thread->tid, start);
    if (object->is_interpreter && !timed_out)
      __atomic_store_n(&object->holder, thread->tid, __ATOMIC_RELAXED);
    is_done = is_dropped(lane, wait, object);
    set_numbers(numbers, wait->numbers);
  }
  leave(thread);
  return is_done;
}

void pprof_wait_end_(pprof_wait_ *wait, bool timed_out) {
  ppi_object *object = object_at(wait->object);
  if (!finish(wait, object, timed_out)) pprof_scope_pop_(&wait->token);
  object_give(wait->object);
}

// The end and site of the range that ended last inside the innermost one, if it
// took longer than the time since. Mostly it ran under the lock. 0: none, or a
// wait.
static uint64_t ended_in(const ppi_lane *lane, uint64_t word) {
  uint64_t head = PPI_HEAD(word);
  if (head <= PPI_FIRST_SLOT || head % PPI_SLOTS_PER_CHUNK < 3) return 0;
  const ppi_record *last =
      ppi_lane_slot(ppi_recorder_in_force.spool.base, lane, head - 1);
  bool is_wait = head >= PPI_FIRST_SLOT + 3 &&
                 last[-1].kind == PPI_RECORD_EXT_NUMBERS &&
                 last[-2].kind == PPI_RECORD_EXT_NUMBERS;
  if (is_wait || last->kind != PPROF_KIND_RANGE ||
      last->depth != PPI_DEPTH(word) ||
      ppi_clock_ticks() - last->end > last->end - last->start)
    return 0;
  return (uint64_t)coarse(last->end) << 32 | last->site;
}

// The calling thread and its innermost range; *out_inner: what ended in it.
static uint64_t self_now(uint64_t *out_inner) {
  ppi_thread *thread;
  ppi_lane *lane = enter(&thread);
  *out_inner = 0;
  if (!lane) return (uint64_t)ppi_thread_id() << 32;
  uint32_t depth = PPI_DEPTH(lane->commit);
  uint64_t site = 0;
  if (depth && depth <= lane->num_frames)
    site = ppi_lane_frames(lane)[depth - 1].site & PPI_SITE_NUMBER;
  *out_inner = ended_in(lane, lane->commit);
  uint64_t self = (uint64_t)thread->tid << 32 | site << 12;
  ppi_leave(thread);
  return self;
}

// Two at once may count as one: a wait that began between them has a waker.
void pprof_wait_release_(uint32_t at) {
  ppi_object *object = object_at(at);
  uint64_t before = __atomic_load_n(&object->release, __ATOMIC_RELAXED);
  uint64_t inner, self = self_now(&inner);
  if (inner) __atomic_store_n(&object->inner, inner, __ATOMIC_RELAXED);
  __atomic_store_n(&object->release, self | ((before + 1) & RELEASES),
                   __ATOMIC_RELEASE);
}

// A thread that joins this one waits for its pthread_t.
static void end_joins(void) {
  uint32_t at = ppi_wait_find(&ppi_wait_table, (const void *)pthread_self());
  if (at != PPI_WAIT_UNKNOWN) pprof_wait_release_(at);
}

void ppi_waits_set(bool on, bool idle) {
  if (on) ppi_object_names_begin();
  if (on) ppi_thread_set_leave_handler(end_joins);
  __atomic_store_n(&ppi_wait_table.idle, idle, __ATOMIC_RELAXED);
  __atomic_store_n(&ppi_wait_table.on, on, __ATOMIC_RELAXED);
}

void ppi_waits_in_forked_child(void) {
  objects_in_forked_child();
}

// Waits that were too short to be ranges, by object, the most first.
static void note_short(ppi_texts *notes) {
  enum { MOST_NAMED = 8 };
  char text[512] = "shorter than 1 us and no ranges:";
  bool has_some = false;
  for (int i = 0; i < MOST_NAMED; i++) {
    ppi_short found = objects_take_short(i + 1 < MOST_NAMED);
    size_t len = strlen(text);
    if (!found.num) break;
    snprintf(
        text + len, sizeof text - len, "%s %.32s %llu (%.3f ms)",
        has_some ? "," : "", found.name, (unsigned long long)found.num,
        (double)found.ticks * 1e3 / (double)ppi_clock_state.ticks_per_second);
    has_some = true;
  }
  if (has_some) ppi_texts_add(notes, "short waits", text);
}

void ppi_waits_notes(ppi_texts *notes) {
  if (!__atomic_load_n(&ppi_wait_table.on, __ATOMIC_RELAXED)) return;
  note_short(notes);
  if (!is_in_front)
    ppi_texts_add(notes, "waits",
                  "none are recorded: the program has a copy of pprof of its "
                  "own; link it with libpprof.so");
  char unseen[256];
  if (ppi_waits_unseen(unseen, sizeof unseen))
    ppi_texts_add(notes, "waits", unseen);
}
