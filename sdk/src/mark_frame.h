// SPDX-License-Identifier: Apache-2.0
//
// The inline parts of the stack markers, for the files that make markers of
// them (mark.c, inject.c). Between enter and leave.
#ifndef PPI_MARK_FRAME_H_
#define PPI_MARK_FRAME_H_

#include <string.h>

#include "mark.h"

// mark.c: what happens rarely.
// ppi_mark_push_apart pushes what ppi_frame_push left; it answers the frame's
// depth, PPI_NO_FRAME: there is none.
#define PPI_NO_FRAME UINT32_MAX
uint32_t ppi_mark_push_apart(ppi_spool *spool, ppi_lane *lane, uint32_t site);
// ppi_mark_pop_apart pops what ppi_frame_pop left, if anything.
void ppi_mark_pop_apart(const uint8_t *base, ppi_lane *lane);
// How the site of a name is looked up: `shorten` (NULL: none) says how much is
// kept of a name that is not known yet, 0 for all.
typedef size_t (*ppi_shorten)(const char *name);
uint32_t ppi_mark_look_up(const ppi_lane *lane, const char *name,
                          uint64_t style, ppi_shorten shorten);

// Keeps gcc from computing an address anew wherever it is used.
#define PPI_COMPUTED(pointer) __asm__("" : "+r"(pointer))

// What is stored as one word and read as one, so that a read soon after the
// write need not wait for it to reach the cache.
PPI_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words' order");
PPI_STATIC_ASSERT(offsetof(ppi_frame, num_flows) ==
                          offsetof(ppi_frame, site) + 4 &&
                      offsetof(ppi_frame, flags) ==
                          offsetof(ppi_frame, site) + 6,
                  "one word");
PPI_STATIC_ASSERT(offsetof(ppi_record, kind) == offsetof(ppi_record, depth) + 2,
                  "one word");
static inline void ppi_frame_set(ppi_frame *frame, uint32_t site,
                                 uint16_t num_flows, uint8_t flags) {
  uint64_t word = site | (uint64_t)num_flows << 32 | (uint64_t)flags << 48;
  memcpy((char *)frame + offsetof(ppi_frame, site), &word, sizeof word);
}
// The flows, and the flags above them: a usual frame has one at most and none.
static inline uint32_t ppi_frame_extras(const ppi_frame *frame) {
  uint32_t word;
  memcpy(&word, (const char *)frame + offsetof(ppi_frame, num_flows),
         sizeof word);
  return word;
}
static inline void ppi_record_set_range(ppi_record *record, uint32_t depth) {
  uint32_t word = depth | (uint32_t)PPROF_KIND_RANGE << 16;
  memcpy((char *)record + offsetof(ppi_record, depth), &word, sizeof word);
}

// The clock comes last. What is needed after it is as little as can be: it may
// be a call, for which a marker has to save registers.
static inline void ppi_frame_open(ppi_lane *lane, uint64_t word, uint32_t site,
                                  uint8_t flags) {
  uint32_t depth = PPI_DEPTH(word);
  ppi_frame *frame = &lane->frames[depth];
  PPI_COMPUTED(frame);
  if (depth == 0) {
    frame->flow = 0;
    frame->flow_base = 0;
    ppi_frame_set(frame, site, 0, flags);
  } else {
    frame->flow = frame[-1].flow;
    frame->flow_base = frame[-1].flow_base;
    ppi_frame_set(frame, site, frame[-1].num_flows, flags);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  frame->start = ppi_clock_ticks();
  // Depth + 1 in the low bits of the same word.
  __atomic_store_n(&lane->commit, lane->commit + 1, __ATOMIC_RELEASE);
}

// A push is accepted only if a slot is free beyond one per open frame, so that
// every open range can always end as a record. False: ppi_mark_push_apart.
static inline bool ppi_frame_push(ppi_lane *lane, uint32_t site) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(PPI_HEAD(word) + depth >= lane->capacity) ||
      PPI_UNLIKELY(depth >= PPI_MAX_FRAMES) ||
      PPI_UNLIKELY(!ppi_site_is_plain(site)))
    return false;
  ppi_frame_open(lane, word, site, 0);
  return true;
}

// False: ppi_mark_pop_apart.
static inline bool ppi_frame_pop(const uint8_t *base, ppi_lane *lane) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(depth - 1 >= PPI_MAX_FRAMES)) return false;
  const ppi_frame *frame = &lane->frames[depth - 1];
  PPI_COMPUTED(frame);
  // Before the clock, which what is not recorded has no use for.
  if (PPI_UNLIKELY(ppi_frame_extras(frame) > 1)) return false;
  ppi_record *record = ppi_lane_slot(base, lane, PPI_HEAD(word));
  PPI_COMPUTED(record);
  record->start = frame->start;
  record->flow = frame->flow;
  record->site = frame->site;
  ppi_record_set_range(record, depth - 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record->end = ppi_clock_ticks();
  // Head + 1, depth - 1.
  __atomic_store_n(&lane->commit, lane->commit + 0xffff, __ATOMIC_RELEASE);
  return true;
}

// Each name has two places in the thread's cache, so that programs which use a
// quarter of it have room for nearly all of theirs.
static inline ppi_cached_name *ppi_name_place(ppi_thread *thread,
                                              const char *name,
                                              uint32_t category,
                                              unsigned which) {
  uint64_t bits =
      ((uintptr_t)name ^ (uint64_t)category << 40) * 0x9e3779b97f4a7c15u;
  return &thread->cached_names[(bits >> (which ? 40 : 52)) % PPI_NAME_CACHE];
}

// ppi_mark_name answers the site with this name in the lane's epoch. The
// address of a name is only a hint (its text may have changed, its library may
// be gone): the content decides. `style` is color << 32 | category.
static inline uint32_t ppi_mark_name(ppi_thread *thread, const ppi_lane *lane,
                                     const char *name, uint64_t style,
                                     ppi_shorten shorten) {
  const ppi_cached_name *cached =
      ppi_name_place(thread, name, (uint32_t)style, 0);
  if (cached->pointer != name)
    cached = ppi_name_place(thread, name, (uint32_t)style, 1);
  if (PPI_LIKELY(cached->pointer == name &&
                 cached->epoch == lane->stack_epoch &&
                 cached->category == (uint32_t)style &&
                 strcmp(cached->text, name) == 0))
    return cached->id;
  return ppi_mark_look_up(lane, name, style, shorten);
}

#endif  // PPI_MARK_FRAME_H_
