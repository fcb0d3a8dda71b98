// SPDX-License-Identifier: Apache-2.0
//
// Keeps the open step as a cross-thread range.
#include "session/capture/step_range.h"

#include "mark/emit.h"
#include "mark/pending.h"

// Without a call of pprof_step the range is listed as open, but becomes a
// record only if the program ends it.
void ppi_step_open(ppi_steps *steps, uint64_t now) {
  ppi_slot_ref ref;
  steps->range = ppi_range_open(steps->site, now);
  if (!ppi_range_find(steps->range, &ref)) {
    if (steps->called) ppi_recorder_count_lost();
    return;
  }
  ref.slot->is_step = 1;
  ref.slot->provisional = !steps->called;
  steps->is_cut = now != steps->start_ticks;
  if (steps->called && ppi_recorder_in_force.emits)
    ppi_emit_step(steps->site, steps->number, true);
}

static void end_step(ppi_steps *steps, uint64_t now, uint64_t items,
                     bool is_cut) {
  ppi_slot_ref ref;
  if (ppi_recorder_in_force.emits) ppi_emit_step(0, 0, false);
  if (!steps->range || !ppi_range_find(steps->range, &ref)) return;
  steps->range = 0;
  if (!ppi_slot_end(&ref)) return;
  ref.slot->end = now;
  if (is_cut || steps->is_cut) ref.slot->flags |= PPROF_FLAG_CLIPPED;
  ref.slot->value = (double)steps->number;
  ref.slot->work.items = (double)items;
  ref.slot->has_work = items != 0;
  ref.slot->provisional = 0;
  ppi_slot_ended(&ref);
}

// A program that never called pprof_step has no steps: an ended range that is
// still provisional is no record. The collector frees its slot.
static void drop_step(ppi_steps *steps, uint64_t now) {
  ppi_slot_ref ref;
  if (!steps->range || !ppi_range_find(steps->range, &ref)) return;
  steps->range = 0;
  if (!ppi_slot_end(&ref)) return;
  ref.slot->end = now;
  ppi_slot_ended(&ref);
}

void ppi_step_end(ppi_steps *steps, uint64_t now, uint64_t items) {
  end_step(steps, now, items, false);
}

void ppi_step_cut(ppi_steps *steps, uint64_t now) {
  if (steps->called)
    end_step(steps, now, 0, true);
  else
    drop_step(steps, now);
}
