// SPDX-License-Identifier: Apache-2.0
//
// The usual, inline part of the stack markers, for mark.c, mark_cost.c and
// inject.c. Where it answers false or NULL, mark.h takes over. Between enter
// and leave.
#pragma once

#include "mark/site_id.h"
#include "mark/thread.h"

// While only watched names matter, no marker is recorded.
static inline bool ppi_mark_is_watching(const ppi_lane *lane) {
  return lane->stack_epoch ==
         __atomic_load_n(&ppi_recorder_in_force.watch_epoch, __ATOMIC_RELAXED);
}

// Counts the end of a range that began before an edge, where one is recorded.
static inline void ppi_count_before(ppi_lane *lane) {
  if (!ppi_mark_is_watching(lane)) ppi_count(&lane->begun_before, 1);
}

// Stored as one word and read as one, so that a read soon after the write need
// not wait for the cache.
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
static inline void ppi_record_set(ppi_record *record, uint32_t depth,
                                  uint32_t kind) {
  uint32_t word = depth | kind << 16;
  memcpy((char *)record + offsetof(ppi_record, depth), &word, sizeof word);
}

// A marker has three parts, with the clock second to last.
//
// ppi_frame_fits: a push is accepted only if a slot is free beyond one per open
// frame, so that every open range can always end as a record. False:
// ppi_mark_push_slow. The usual one (ppi_enter_usual) asks for as many as there
// are frames.
static inline bool ppi_frame_fits(const ppi_lane *lane, uint64_t word) {
  uint64_t depth = word & 0xffffu;
  return PPI_LIKELY(PPI_HEAD(word) + depth < lane->capacity) &&
         PPI_LIKELY(depth < lane->num_frames);
}
static inline bool ppi_frame_fits_usual(const ppi_stack *stack, uint64_t word) {
  return PPI_LIKELY(word < stack->push_limit) &&
         PPI_LIKELY((word & 0xffffu) < stack->num_frames);
}
// Frame `depth`.
static inline ppi_frame *ppi_frame_usual(const ppi_stack *stack,
                                         uint64_t depth) {
  uint64_t offset = depth * sizeof(ppi_frame);
  PPI_COMPUTED(offset);
  return (ppi_frame *)(void *)((char *)stack->frames + offset);
}
static inline void ppi_frame_fill(ppi_frame *frame, uint64_t depth,
                                  uint32_t site, uint8_t flags) {
  if (depth == 0) {
    frame->flow = 0;
    ppi_frame_set(frame, site, 0, flags);
  } else {
    uint64_t flow = frame[-1].flow;
    PPI_COMPUTED(flow);  // or gcc makes one vector of the two stores
    frame->flow = flow;
    ppi_frame_set(frame, site, frame[-1].num_flows, flags);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline void ppi_frame_begin(ppi_lane *lane, uint64_t word,
                                   ppi_frame *frame, uint64_t now) {
  frame->start = now;
  // Depth + 1 in the low bits of the same word.
  __atomic_store_n(&lane->commit, word + 1, __ATOMIC_RELEASE);
}

// Whether the innermost frame ends with one record and nothing else; false:
// ppi_mark_pop_slow. The test precedes the clock, which an unrecorded frame
// does not need.
static inline bool ppi_frame_is_plain(const ppi_frame *frame) {
  return PPI_LIKELY(ppi_frame_extras(frame) <= 1);
}
// The place of the usual record, if this chunk has one.
static inline bool ppi_record_is_near(const ppi_stack *stack, uint64_t word) {
  return PPI_LIKELY(word < stack->slot_limit);
}
static inline ppi_record *ppi_record_usual(const ppi_stack *stack,
                                           uint64_t word) {
  uint64_t offset = PPI_HEAD(word) * sizeof(ppi_record);
  PPI_COMPUTED(offset);
  return (ppi_record *)(stack->slots + offset);
}
// All but its end.
static inline void ppi_frame_record(const ppi_frame *frame, uint64_t depth,
                                    ppi_record *record) {
  record->start = frame->start;
  record->flow = frame->flow;
  uint32_t site = frame->site;
  PPI_COMPUTED(site);  // or gcc makes one vector of the next two
  record->site = site;
  ppi_record_set(record, (uint32_t)depth, PPROF_KIND_RANGE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline void ppi_frame_end(ppi_lane *lane, uint64_t word,
                                 ppi_record *record, uint64_t now) {
  record->end = now;
  // Head + 1, depth - 1.
  __atomic_store_n(&lane->commit, word + 0xffff, __ATOMIC_RELEASE);
}

// All of a usual push, and of a usual pop. False: nothing was done.
static inline bool ppi_frame_push_usual(const ppi_stack *stack, ppi_lane *lane,
                                        uint32_t site) {
  uint64_t word = lane->commit, depth = word & 0xffffu;
  if (!ppi_frame_fits_usual(stack, word) ||
      PPI_UNLIKELY(!ppi_site_is_plain(site)))
    return false;
  ppi_frame *frame = ppi_frame_usual(stack, depth);
  ppi_frame_fill(frame, depth, site, 0);
  ppi_frame_begin(lane, word, frame, ppi_clock_counter());
  return true;
}
static inline bool ppi_frame_pop_usual(const ppi_stack *stack, ppi_lane *lane,
                                       uint64_t word) {
  uint64_t depth = (word & 0xffffu) - 1;
  const ppi_frame *frame = ppi_frame_usual(stack, depth);
  if (PPI_UNLIKELY(depth >= stack->num_frames) ||
      !ppi_record_is_near(stack, word) || !ppi_frame_is_plain(frame))
    return false;
  ppi_record *record = ppi_record_usual(stack, word);
  ppi_frame_record(frame, depth, record);
  ppi_frame_end(lane, word, record, ppi_clock_counter());
  return true;
}

// The same for a name that has folded, on a lane that has room for its numbers,
// with nothing else to do.
static inline bool ppi_frame_push_folded(const ppi_stack *stack, ppi_lane *lane,
                                         uint32_t site,
                                         const pprof_numbers *numbers) {
  const uint32_t folded =
      PPI_SITE_APART | PPI_SITE_UNWATCHED | PPI_SITE_NUMBERS;
  uint64_t word = lane->commit, depth = word & 0xffffu;
  pprof_numbers *all = ppi_lane_numbers(lane);
  if ((site & ~PPI_SITE_NUMBER) != folded || !all ||
      !ppi_frame_fits_usual(stack, word))
    return false;
  all[depth] = *numbers;
  ppi_frame *frame = ppi_frame_usual(stack, depth);
  ppi_frame_fill(frame, depth, site & PPI_SITE_NUMBER, PPI_FRAME_NUMBERS);
  ppi_frame_begin(lane, word, frame, ppi_clock_counter());
  return true;
}
static inline bool ppi_frame_pop_folded(const ppi_stack *stack, ppi_lane *lane,
                                        uint64_t word) {
  uint64_t depth = (word & 0xffffu) - 1;
  const ppi_frame *frame = ppi_frame_usual(stack, depth);
  const uint64_t more = PPI_NUMBERS_RECORDS;
  if (depth >= stack->num_frames ||
      (ppi_frame_extras(frame) & ~1u) != (uint32_t)PPI_FRAME_NUMBERS << 16 ||
      !ppi_record_is_near(stack, word + (more << 16)) ||
      PPI_HEAD(word) + more + 1 + depth > lane->capacity)
    return false;
  ppi_record *record = ppi_record_usual(stack, word);
  const pprof_numbers *numbers = &ppi_lane_numbers(lane)[depth];
  ppi_numbers_record(record++, numbers, false);
  if (numbers->num > 3) ppi_numbers_record(record++, numbers, true);
  ppi_frame_record(frame, depth, record);
  ppi_frame_end(lane, word + (numbers->num > 3 ? 0x20000u : 0x10000u), record,
                ppi_clock_counter());
  return true;
}

// A whole push and a whole pop, on any lane, by any clock. False:
// ppi_mark_push_slow, ppi_mark_pop_slow.
static inline bool ppi_frame_push(ppi_lane *lane, uint32_t site) {
  uint64_t word = lane->commit;
  if (PPI_UNLIKELY(!ppi_frame_fits(lane, word)) ||
      PPI_UNLIKELY(!ppi_site_is_plain(site)))
    return false;
  ppi_frame *frame = ppi_lane_frames(lane) + PPI_DEPTH(word);
  ppi_frame_fill(frame, PPI_DEPTH(word), site, 0);
  ppi_frame_begin(lane, word, frame, ppi_clock_ticks());
  return true;
}
static inline bool ppi_frame_pop(const uint8_t *base, ppi_lane *lane) {
  uint64_t word = lane->commit;
  uint64_t depth = (uint64_t)PPI_DEPTH(word) - 1;
  if (PPI_UNLIKELY(depth >= lane->num_frames)) return false;
  const ppi_frame *frame = ppi_lane_frames(lane) + depth;
  if (!ppi_frame_is_plain(frame)) return false;
  ppi_record *record = ppi_lane_slot(base, lane, PPI_HEAD(word));
  ppi_frame_record(frame, depth, record);
  ppi_frame_end(lane, word, record, ppi_clock_ticks());
  return true;
}
