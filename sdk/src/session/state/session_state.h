// SPDX-License-Identifier: Apache-2.0
//
// A session: the parts that its folders work on, each with a header of its own.
#pragma once

#include "deliver/run_info.h"
#include "event/tee.h"
#include "session/state/capture_state.h"
#include "session/state/collect_state.h"
#include "session/state/notes.h"
#include "session/state/settings.h"
#include "session/state/wakeup.h"

typedef enum ppi_session_phase {
  PPI_SESSION_CREATED = 0,
  PPI_SESSION_RUNNING = 1,
  PPI_SESSION_STOPPED = 2
} ppi_session_phase;

// The session's latest choice; NULL: everything is recorded.
typedef struct ppi_choice_state ppi_choice_state;

struct pprof_session {
  ppi_settings settings;
  ppi_choice_state *choice;
  ppi_session_phase phase;
  uint32_t pid;
  ppi_tee tee;
  ppi_drain drain;
  ppi_texts info;
  ppi_notes notes;
  ppi_window_state windows;
  ppi_steps steps;
  ppi_wakeup wakeup;
  ppi_collect collect;
  ppi_clock_sample first_sample;
  uint64_t stop_ticks;
  bool stuck;  // a thread never left its marker
  pprof_status result;
  pprof_stats stats;
};
