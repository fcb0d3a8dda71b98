// SPDX-License-Identifier: Apache-2.0
//
// Keeps a thread's CPU use at the begins of its measured ranges.
#include "mark/cpu_mark.h"

static uint8_t take_place(ppi_cpu_thread *cpu, uint32_t epoch) {
  if (cpu->epoch != epoch) {
    cpu->epoch = epoch;
    cpu->taken = 0;
  }
  if (cpu->taken == UINT64_MAX) return PPI_CPU_NO_PLACE;
  uint8_t place = (uint8_t)__builtin_ctzll(~cpu->taken);
  cpu->taken |= 1ull << place;
  return place;
}

uint8_t ppi_cpu_frame_begin(ppi_cpu_thread *cpu, ppi_lane *lane,
                            uint32_t depth) {
  uint8_t place = take_place(cpu, lane->stack_epoch);
  ppi_lane_frames(lane)[depth].cpu_place = place;
  if (place != PPI_CPU_NO_PLACE)
    ppi_cpu_use_begin(&cpu->file, &cpu->uses[place]);
  return PPI_FRAME_CPU;
}

static bool has_place(const ppi_frame *frame) {
  return frame->flags & PPI_FRAME_CPU && frame->cpu_place != PPI_CPU_NO_PLACE;
}

// The measured frame around frame `i`.
static ppi_cpu_use *use_around(ppi_cpu_thread *cpu, const ppi_frame *frame,
                               uint32_t i) {
  while (i-- > 0)
    if (has_place(--frame)) return &cpu->uses[frame->cpu_place];
  return NULL;
}

const ppi_cpu_use *ppi_cpu_frames_end(ppi_cpu_thread *cpu, const ppi_lane *lane,
                                      uint32_t depth) {
  uint32_t open = ppi_lane_num_open(lane, lane->commit);
  ppi_cpu_use now;
  bool any = false;
  for (uint32_t i = open; i-- > depth;) {
    const ppi_frame *frame = ppi_lane_frames(lane) + i;
    if (!has_place(frame)) continue;
    if (!any) ppi_cpu_use_end(&cpu->file, &now);
    any = true;
    ppi_cpu_use *use = &cpu->uses[frame->cpu_place];
    ppi_cpu_use_since(use, &now);
    cpu->taken &= ~(1ull << frame->cpu_place);
    ppi_cpu_use *around = use_around(cpu, frame, i);
    if (around) around->inner_ns += use->cpu_ns;
  }
  return any ? cpu->uses : NULL;
}

void ppi_cpu_slot_begin(ppi_cpu_thread *cpu, ppi_slot *slot) {
  slot->cpu_state = PPI_CPU_SLOT_BEGUN;
  ppi_cpu_use_begin(&cpu->file, &slot->cpu);
}

void ppi_cpu_slot_end(ppi_cpu_thread *cpu, ppi_slot *slot) {
  ppi_cpu_use now;
  if (slot->lane != slot->end_lane) return;
  ppi_cpu_use_end(&cpu->file, &now);
  ppi_cpu_use_since(&slot->cpu, &now);
  slot->cpu_state = PPI_CPU_SLOT_KNOWN;
}
