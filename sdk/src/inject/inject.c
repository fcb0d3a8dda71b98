// SPDX-License-Identifier: Apache-2.0
//
// Implements markers for libpprof_nvtx.so, and the configuration of NVTX. The
// markers run on the marking threads and cost as much as pprof_push.
#include "inject/inject.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/guard.h"
#include "device/device_open.h"
#include "mark/attach.h"
#include "mark/emit.h"
#include "mark/frame.h"
#include "mark/mark_add.h"
#include "mark/mark_name.h"
#include "mark/pending.h"
#include "names/tails.h"

// Handlers read the settings while the next session sets them: each is atomic.
static struct {
  ppi_guard guard;
  ppi_nvtx_options options;
  pprof_inject_settings_ settings;
} nvtx = {.settings = {PPI_NVTX_PAYLOAD_COUNTER, 1, 0, 1}};

// By domain: the session it was looked up in, and whether its work is on
// streams of its own, as serial << 1 | own. Atomic.
static uint64_t streams_of[PPI_MAX_DOMAINS + 1];

static const void *owner;

// Of the last session in which each happened. Atomic.
static uint32_t used_serial, timed_serial, foreign_serial;

void ppi_nvtx_defaults(ppi_nvtx_options *out) {
  *out = (ppi_nvtx_options){.fields = 1, .cut_names = 1};
}

static void set(uint32_t *setting, uint64_t value) {
  __atomic_store_n(setting, (uint32_t)value, __ATOMIC_RELAXED);
}

static bool cuts_names(void) {
  return __atomic_load_n(&nvtx.settings.cut_names, __ATOMIC_RELAXED) != 0;
}

void ppi_nvtx_set_options(const ppi_nvtx_options *options) {
  if (!ppi_guard_take(&nvtx.guard)) return;
  nvtx.options = *options;
  set(&nvtx.settings.payload, options->payload);
  set(&nvtx.settings.fields, options->fields);
  set(&nvtx.settings.device, options->device);
  set(&nvtx.settings.cut_names, options->cut_names);
  ppi_guard_give(&nvtx.guard);
  ppi_emit_want(options->emit != 0);
}

const pprof_inject_settings_ *pprof_inject_get_settings_(void) {
  return &nvtx.settings;
}

void ppi_inject_in_forked_child(void) {
  ppi_guard_give(&nvtx.guard);
}

const char *ppi_inject_note(void) {
  uint32_t serial = ppi_recorder_in_force.serial;
  if (__atomic_load_n(&used_serial, __ATOMIC_RELAXED) != serial ||
      __atomic_load_n(&timed_serial, __ATOMIC_RELAXED) == serial ||
      ppi_inject_streams_note())
    return NULL;
  return __atomic_load_n(&nvtx.settings.device, __ATOMIC_RELAXED)
             ? "host times only: no pushed range met a CUDA context"
             : "host times only: nvtx.device is off";
}

const char *ppi_inject_streams_note(void) {
  static char note[256];
  uint64_t own = (uint64_t)ppi_recorder_in_force.serial << 1 | 1;
  size_t len = 0;
  for (uint32_t i = 1; i <= PPI_MAX_DOMAINS; i++) {
    if (__atomic_load_n(&streams_of[i], __ATOMIC_RELAXED) != own) continue;
    int added = snprintf(note + len, sizeof note - len, "%s%.60s",
                         len ? ", "
                             : "no device times: work on streams of"
                               " its own in domain ",
                         ppi_domain_name(i));
    if (added < 0 || (size_t)added >= sizeof note - len) break;
    len += (size_t)added;
  }
  return len ? note : NULL;
}

const char *ppi_inject_foreign_note(void) {
  return __atomic_load_n(&foreign_serial, __ATOMIC_RELAXED) ==
                 ppi_recorder_in_force.serial
             ? "deferred events or counter batches have times of other clocks: "
               "not recorded, each call counts as invalid"
             : NULL;
}

bool ppi_nvtx_follows_forks(void) {
  return nvtx.options.fork == PPI_NVTX_FORK_FOLLOW;
}

static void count_cut(void) {
  __atomic_fetch_add(&ppi_recorder_in_force.spool.header->names_overflowed, 1,
                     __ATOMIC_RELAXED);
}

static void count_invalid(void) {
  __atomic_fetch_add(&ppi_recorder_in_force.spool.header->invalid, 1,
                     __ATOMIC_RELAXED);
}

// Between enter and leave. Called for names that are not known yet, and for too
// long names, which are known in part.
static size_t shorten(const char *name) {
  if (strnlen(name, PPI_MAX_NAME + 1) > PPI_MAX_NAME) count_cut();
  return cuts_names() ? ppi_name_end(name) : 0;
}

// Between enter and leave. Events from NVTX are not sent to a tool again.
static inline uint32_t site_of(ppi_thread *thread, const ppi_lane *lane,
                               PPROF_INJECT_LABEL_) {
  uint32_t id = site ? ppi_site_id(site, lane->stack_epoch)
                     : ppi_mark_name(thread, lane, name, style, shorten);
  if (site && PPI_UNLIKELY(id & PPI_SITE_APART)) ppi_site_recall(site, id);
  return id & ~PPI_SITE_EMITS;
}

// The reason for a missing lane: nothing records, or this call was lost.
static int no_lane(void) {
  return __atomic_load_n(&pprof_epoch_, __ATOMIC_RELAXED)
             ? PPROF_INJECT_BAD_
             : PPROF_INJECT_NO_TOOL_;
}

PPI_STATIC_ASSERT((int)PPI_NO_FRAME == PPROF_INJECT_BAD_, "not kept");

// With all of the possible work.
static __attribute__((noinline)) int push_id(ppi_thread *thread, ppi_lane *lane,
                                             uint32_t domain, uint32_t id) {
  int level = (int)PPI_DEPTH(lane->commit);
  if (PPI_UNLIKELY(!ppi_frame_push(lane, id)))
    level = (int)ppi_mark_push_slow(&ppi_recorder_in_force.spool, lane, id);
  ppi_stack_refresh(ppi_thread_stack(thread, domain));
  ppi_leave(thread);
  return level;
}

static __attribute__((noinline)) int push_any(uint32_t domain,
                                              PPROF_INJECT_LABEL_) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_PUSHES);
  if (PPI_UNLIKELY(!lane)) return no_lane();
  return push_id(thread, lane, domain,
                 site_of(thread, lane, site, name, style));
}

// A call that leaves the usual way is the last thing in it (mark.c).
static __attribute__((noinline)) int push_folded(const ppi_stack *stack,
                                                 ppi_lane *lane, uint32_t id) {
  ppi_thread *thread = ppi_thread_self;
  int level = (int)PPI_DEPTH(lane->commit);
  if (!ppi_frame_push_folded(stack, lane, id, &thread->names.numbers))
    return push_id(thread, lane, stack->domain, id);
  ppi_leave(thread);
  return level;
}

int pprof_inject_push_(uint32_t domain, PPROF_INJECT_LABEL_) {
  ppi_entry at;
  if (PPI_UNLIKELY(!ppi_enter_usual_in(domain, &at)))
    return push_any(domain, site, name, style);
  int level = (int)PPI_DEPTH(at.lane->commit);
  uint32_t id = site_of(at.thread, at.lane, site, name, style);
  if (PPI_UNLIKELY(!ppi_frame_push_usual(at.stack, at.lane, id)))
    return push_folded(at.stack, at.lane, id);
  ppi_leave(at.thread);
  return level;
}

// Ends the timed range beside `level` of the domain, and ranges that edges and
// lost pops have left beside deeper levels.
static void end_beside(ppi_thread *thread, uint32_t domain, int level) {
  for (uint32_t i = thread->num_beside; i-- > 0;) {
    ppi_beside beside = thread->devices.beside[i];
    if (beside.domain != domain || beside.level < level) continue;
    thread->devices.beside[i] = thread->devices.beside[--thread->num_beside];
    pprof_device_range_end((pprof_range){beside.range}, beside.stream);
  }
}

// The site of the innermost range, as one that a marker can use; false when
// that range is not at `level`, or was lost.
static bool innermost_site(const pprof_inject_place_ *place, pprof_site *out) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(place->domain, &thread, PPI_ADDS);
  if (!lane) return false;
  uint32_t depth = PPI_DEPTH(lane->commit);
  // Below zero: the push was not kept.
  bool found = place->level >= 0 && depth == (uint32_t)place->level + 1 &&
               depth <= lane->num_frames &&
               !(ppi_lane_frames(lane)[depth - 1].flags & PPI_FRAME_UNRECORDED);
  if (found)
    out->state_ = (uint64_t)lane->stack_epoch << 32 |
                  ppi_lane_frames(lane)[depth - 1].site;
  ppi_leave(thread);
  return found;
}

static uint8_t pairing_of(const ppi_thread *thread,
                          const pprof_inject_place_ *place) {
  for (uint32_t i = 0; i < thread->num_beside; i++)
    if (thread->devices.beside[i].stream == place->stream &&
        thread->devices.beside[i].device == place->device)
      return PPROF_FLAG_PAIRED | PPROF_FLAG_INNER;
  return PPROF_FLAG_PAIRED;
}

// Not begun: with its end recorded at once it would be a wrong time.
static void lose_beside(uint32_t domain) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_ADDS);
  if (!lane) return;
  ppi_count(&lane->lost, 1);
  ppi_count(&lane->device_lost, 1);
  ppi_leave(thread);
}

// Libraries known by the domains they create, and those of them that work on
// streams of their own.
static const struct {
  const char *domain;
  uint32_t category;
  bool has_own_streams;
} known_domains[] = {
    {"NCCL", PPROF_CATEGORY_COMMUNICATION, true},
    {"NVSHMEM", PPROF_CATEGORY_COMMUNICATION, true},
    {"UCX", PPROF_CATEGORY_COMMUNICATION, true},
    {"UCC", PPROF_CATEGORY_COMMUNICATION, true},
    {"MPI", PPROF_CATEGORY_COMMUNICATION, true},
    {"HorovodOps", PPROF_CATEGORY_COMMUNICATION, true},
    {"TensorRT", PPROF_CATEGORY_INFERENCE, false},
    {"DALI", PPROF_CATEGORY_DATALOADER, true},
    {"nvJPEG", PPROF_CATEGORY_PREPROCESS, false},
    {"nvImageCodec", PPROF_CATEGORY_PREPROCESS, false},
    {"cuDNN", PPROF_CATEGORY_OPERATOR, false},
    {"cuBLAS", PPROF_CATEGORY_OPERATOR, false},
    {"CCCL", PPROF_CATEGORY_OPERATOR, false},
};

static const ppi_nvtx_rule *find_rule(const ppi_nvtx_rule *rules, uint64_t num,
                                      const char *name) {
  for (uint64_t i = 0; name && i < num; i++)
    if (ppi_same_words(rules[i].from, name)) return &rules[i];
  return NULL;
}

static bool is_own_by_name(const char *domain) {
  for (size_t i = 0; i < sizeof known_domains / sizeof *known_domains; i++)
    if (ppi_same_words(known_domains[i].domain, domain))
      return known_domains[i].has_own_streams;
  return false;
}

// Looked up once in a session. Without the guard it is looked up again.
static bool has_own_streams(uint32_t domain) {
  uint64_t serial = ppi_recorder_in_force.serial;
  if (domain == 0 || domain > PPI_MAX_DOMAINS) return false;
  uint64_t known = __atomic_load_n(&streams_of[domain], __ATOMIC_RELAXED);
  if (known >> 1 == serial) return known & 1;
  const char *name = ppi_domain_name(domain);
  if (!ppi_guard_take(&nvtx.guard)) return is_own_by_name(name);
  const ppi_nvtx_rule *rule =
      find_rule(nvtx.options.streams, nvtx.options.num_streams, name);
  bool own = rule ? strcmp(rule->category, "own") == 0 : is_own_by_name(name);
  ppi_guard_give(&nvtx.guard);
  __atomic_store_n(&streams_of[domain], serial << 1 | own, __ATOMIC_RELAXED);
  return own;
}

void pprof_inject_device_begin_(const pprof_inject_place_ *place) {
  ppi_thread *thread = ppi_thread_self;
  pprof_site site = {"", 0, 0, 0, {0, 0}};
  if (!thread || ppi_is_inside(thread) || has_own_streams(place->domain))
    return;
  // One push may be timed on several streams.
  end_beside(thread, place->domain, place->level + 1);
  if (!innermost_site(place, &site)) return;
  if (thread->num_beside == PPI_DEVICE_STACK) {
    lose_beside(place->domain);
    return;
  }
  pprof_range range = ppi_device_range_begin(place->device, place->stream,
                                             &site, pairing_of(thread, place));
  if (range.id == 0) return;
  PPI_STORE_ONCE(&timed_serial, ppi_recorder_in_force.serial);
  thread->devices.beside[thread->num_beside++] = (ppi_beside){
      place->domain, place->level, range.id, place->device, place->stream};
}

// A marker itself, it runs before the one that pops.
static __attribute__((noinline)) void pop_beside(uint32_t domain) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_ADDS);
  if (!lane) return;
  int level = (int)PPI_DEPTH(lane->commit) - 1;
  ppi_leave(thread);
  end_beside(thread, domain, level);
}

static __attribute__((noinline)) int pop_any(uint32_t domain) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_POPS);
  if (PPI_UNLIKELY(!lane)) return no_lane();
  int level = (int)PPI_DEPTH(lane->commit) - 1;
  const uint8_t *base = ppi_recorder_in_force.spool.base;
  if (PPI_UNLIKELY(!ppi_frame_pop(base, lane))) ppi_mark_pop_slow(base, lane);
  ppi_stack_refresh(ppi_thread_stack(thread, domain));
  ppi_leave(thread);
  return level;
}

static __attribute__((noinline)) int pop_folded(const ppi_stack *stack,
                                                ppi_lane *lane, uint64_t word) {
  bool is_popped = ppi_frame_pop_folded(stack, lane, word);
  ppi_leave(ppi_thread_self);
  return is_popped ? (int)PPI_DEPTH(word) - 1 : pop_any(stack->domain);
}

int pprof_inject_pop_(uint32_t domain) {
  ppi_thread *thread = ppi_thread_self;
  ppi_entry at;
  if (PPI_UNLIKELY(thread && thread->num_beside)) pop_beside(domain);
  if (PPI_UNLIKELY(!ppi_enter_usual_in(domain, &at))) return pop_any(domain);
  uint64_t word = at.lane->commit;
  if (PPI_UNLIKELY(!ppi_frame_pop_usual(at.stack, at.lane, word)))
    return pop_folded(at.stack, at.lane, word);
  ppi_leave(at.thread);
  return (int)PPI_DEPTH(word) - 1;
}

void pprof_inject_mark_(uint32_t domain, PPROF_INJECT_LABEL_) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_BEGINS);
  if (!lane) return;
  ppi_mark_single(lane, site_of(thread, lane, site, name, style),
                  PPROF_KIND_MARK, 0);
  ppi_leave(thread);
}

void pprof_inject_count_(uint32_t domain, const char *name, uint64_t style,
                         double value) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_BEGINS);
  if (!lane) return;
  uint32_t id = ppi_mark_name(thread, lane, name, style, ppi_mark_whole);
  ppi_mark_single(lane, id & ~PPI_SITE_EMITS, PPROF_KIND_COUNTER, value);
  ppi_leave(thread);
}

pprof_range pprof_inject_begin_(uint32_t domain, PPROF_INJECT_LABEL_) {
  pprof_range range = {0};
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_BEGINS);
  if (!lane) return range;
  range.id = ppi_range_begin(lane, site_of(thread, lane, site, name, style));
  ppi_leave(thread);
  return range;
}

void pprof_inject_flow_(uint32_t domain, uint64_t flow) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_ADDS);
  if (!lane) return;
  ppi_mark_flow(lane, flow);
  ppi_leave(thread);
}

void pprof_inject_work_(uint32_t domain, const pprof_work_amount *work) {
  ppi_thread *thread;
  ppi_lane *lane = ppi_enter_in(domain, &thread, PPI_ADDS);
  if (!lane) return;
  ppi_mark_work(lane, ppi_work_read(work));
  ppi_leave(thread);
}

void pprof_inject_bad_(void) {
  ppi_thread *thread;
  if (!ppi_begin_marker(&thread, PPI_ADDS)) return;
  count_invalid();
  ppi_leave(thread);
}

void pprof_inject_foreign_(void) {
  ppi_thread *thread;
  if (!ppi_begin_marker(&thread, PPI_ADDS)) return;
  count_invalid();
  __atomic_store_n(&foreign_serial, ppi_recorder_in_force.serial,
                   __ATOMIC_RELAXED);
  ppi_leave(thread);
}

uint32_t pprof_inject_domain_(const char *name) {
  return ppi_domain_number(name);
}

bool pprof_inject_name_thread_(uint32_t tid, const char *name) {
  return ppi_thread_name_os(tid, name);
}

const void *pprof_inject_owner_(const void *claim) {
  const void *nobody = NULL;
  __atomic_compare_exchange_n(&owner, &nobody, claim, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return nobody ? nobody : claim;
}

size_t pprof_inject_name_len_(const char *name) {
  ppi_thread *thread;
  size_t len = cuts_names() ? ppi_name_end(name) : 0;
  if (!len) len = ppi_names_kept(name);
  if (len > PPI_MAX_NAME) len = PPI_MAX_NAME;
  if (len + 4 > PPI_MAX_NAME && name[len] &&
      ppi_begin_marker(&thread, PPI_ADDS)) {
    count_cut();
    ppi_leave(thread);
  }
  return len;
}

// The linker's: this object's first and last byte.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_inside(uintptr_t address) {
  return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

bool pprof_inject_is_own_(const void *address) {
  return is_inside((uintptr_t)address) && !is_inside(getauxval(AT_PHDR));
}

static uint32_t default_category(const char *domain, const char *category) {
  if (category && *category) return ppi_category_find(category);
  for (size_t i = 0; domain && i < sizeof known_domains / sizeof *known_domains;
       i++)
    if (ppi_same_words(known_domains[i].domain, domain))
      return known_domains[i].category;
  return PPROF_CATEGORY_USER_DEFINED;
}

// Busy as in a marker: the session's end waits for it.
static void note_use(void) {
  ppi_thread *thread;
  if (!ppi_begin_marker(&thread, PPI_ADDS)) return;
  __atomic_store_n(&used_serial, ppi_recorder_in_force.serial,
                   __ATOMIC_RELAXED);
  ppi_leave(thread);
}

// Asked at the first event of each domain in a session.
uint32_t pprof_inject_category_(const char *domain, const char *category) {
  note_use();
  if (!ppi_guard_take(&nvtx.guard)) return PPROF_CATEGORY_USER_DEFINED;
  const ppi_nvtx_options *options = &nvtx.options;
  const ppi_nvtx_rule *rule =
      find_rule(options->categories, options->num_categories, category);
  if (!rule) rule = find_rule(options->domains, options->num_domains, domain);
  uint32_t found = rule ? ppi_category_find(rule->category)
                        : default_category(domain, category);
  ppi_guard_give(&nvtx.guard);
  return found;
}
