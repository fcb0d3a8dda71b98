// SPDX-License-Identifier: Apache-2.0
//
// The CPU use of a thread between the begins and ends of its ranges. On the
// marking thread, between enter and leave; only for sites with PPI_SITE_CPU.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// Measured frames that a thread may have open at once; further ones are not
// measured.
#define PPI_CPU_PLACES 64u

// Private memory: a frame that another thread ends has no CPU use.
typedef struct ppi_cpu_thread {
  ppi_cpu_file file;
  uint64_t taken;  // a bit for each place
  uint32_t epoch;  // of the frames that have places; others were cut
  uint32_t reserved;
  ppi_cpu_use uses[PPI_CPU_PLACES];
} ppi_cpu_thread;

// ppi_cpu_frame_begin reads the CPU use at the begin of frame `depth`, before
// the frame reads its clock. Answers PPI_FRAME_CPU.
uint8_t ppi_cpu_frame_begin(ppi_cpu_thread *cpu, ppi_lane *lane,
                            uint32_t depth);

// ppi_cpu_frames_end computes the CPU use of the measured frames from `depth`
// on, after their clock was read. It answers ppi_closing.cpu, valid until the
// next marker; NULL: no frame is measured.
const ppi_cpu_use *ppi_cpu_frames_end(ppi_cpu_thread *cpu, const ppi_lane *lane,
                                      uint32_t depth);

// The same for a cross-thread range, in its slot, which is not yet open or has
// ended. Another thread's use stays as it is.
void ppi_cpu_slot_begin(ppi_cpu_thread *cpu, ppi_slot *slot);
void ppi_cpu_slot_end(ppi_cpu_thread *cpu, ppi_slot *slot);

PPROF_END_C_
