// SPDX-License-Identifier: Apache-2.0
//
// The inline parts of the stack markers, for the files that make markers of
// them (mark.c, inject.c). Between enter and leave.
#ifndef PPI_MARK_FRAME_H_
#define PPI_MARK_FRAME_H_

#include <string.h>

#include "mark.h"

// mark.c: what happens rarely.
bool ppi_mark_make_room(ppi_spool *spool, ppi_lane *lane, uint64_t slots);
void ppi_mark_push_lost(ppi_lane *lane, uint64_t word);
void ppi_mark_pop_with_extras(const uint8_t *base, ppi_lane *lane,
                              uint64_t end);
void ppi_mark_pop_nothing(ppi_lane *lane);
uint32_t ppi_mark_look_up(ppi_thread *thread, const char *name, uint64_t style,
                          size_t (*shorten)(const char *name));

// A push is accepted only if a slot is free beyond one per open frame, so that
// every open range can always end as a record.
static inline void ppi_frame_push(ppi_spool *spool, ppi_lane *lane,
                                  uint32_t site) {
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(PPI_HEAD(word) + depth + 1 > lane->capacity ||
                   depth >= PPI_MAX_FRAMES || site == 0) &&
      (depth >= PPI_MAX_FRAMES || site == 0 ||
       !ppi_mark_make_room(spool, lane, depth + 1u))) {
    ppi_mark_push_lost(lane, word);
    return;
  }
  ppi_frame *frame = &lane->frames[depth];
  frame->flow = 0;
  frame->flow_base = 0;
  frame->num_flows = 0;
  if (depth) {
    frame->flow = frame[-1].flow;
    frame->flow_base = frame[-1].flow_base;
    frame->num_flows = frame[-1].num_flows;
  }
  frame->site = site;
  frame->flags = 0;
  frame->start = ppi_clock_ticks();
  // Depth + 1 in the low bits of the same word.
  __atomic_store_n(&lane->commit, word + 1, __ATOMIC_RELEASE);
}

static inline void ppi_frame_pop(const uint8_t *base, ppi_lane *lane) {
  uint64_t end = ppi_clock_ticks();
  uint64_t word = lane->commit;
  uint32_t depth = PPI_DEPTH(word);
  if (PPI_UNLIKELY(depth == 0)) {
    ppi_mark_pop_nothing(lane);
    return;
  }
  if (PPI_UNLIKELY(depth > PPI_MAX_FRAMES)) {
    ppi_lane_commit(lane, PPI_HEAD(word), depth - 1);
    return;
  }
  const ppi_frame *frame = &lane->frames[depth - 1];
  if (PPI_UNLIKELY(frame->flags != 0 || frame->num_flows > 1)) {
    ppi_mark_pop_with_extras(base, lane, end);
    return;
  }
  uint64_t head = PPI_HEAD(word);
  ppi_record *record = ppi_lane_slot(base, lane, head);
  record->start = frame->start;
  record->end = end;
  record->flow = frame->flow;
  record->site = frame->site;
  record->depth = (uint16_t)(depth - 1);
  record->kind = PPROF_KIND_RANGE;
  record->flags = 0;
  ppi_lane_commit(lane, head + 1, depth - 1);
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

// ppi_mark_name answers the site with this name. The address of a name is only
// a hint (its text may have changed, its library may be gone): the content
// decides. `style` is color << 32 | category; `shorten` (NULL: none) says how
// much is kept of a name that is not known yet, 0 for all.
static inline uint32_t ppi_mark_name(ppi_thread *thread, const char *name,
                                     uint64_t style,
                                     size_t (*shorten)(const char *name)) {
  const ppi_cached_name *cached =
      ppi_name_place(thread, name, (uint32_t)style, 0);
  if (cached->pointer != name)
    cached = ppi_name_place(thread, name, (uint32_t)style, 1);
  if (PPI_LIKELY(cached->pointer == name &&
                 cached->serial == ppi_recorder_in_force.serial &&
                 cached->category == (uint32_t)style &&
                 strcmp(cached->text, name) == 0))
    return cached->id;
  return ppi_mark_look_up(thread, name, style, shorten);
}

#endif  // PPI_MARK_FRAME_H_
