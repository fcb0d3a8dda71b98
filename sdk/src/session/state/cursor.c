// SPDX-License-Identifier: Apache-2.0
//
// Resets a lane's cursor when the lane's slot has come to another thread.
#include "session/state/cursor.h"

#include "mark/recorder.h"

ppi_lane *ppi_cursor_lane(ppi_cursor *cursors, uint32_t i) {
  ppi_lane *lane = ppi_spool_lane(&ppi_recorder_in_force.spool, i);
  if (!ppi_lane_is_used(lane)) return NULL;
  ppi_cursor *cursor = &cursors[i];
  if (cursor->serial != lane->serial)
    *cursor = (ppi_cursor){.serial = lane->serial,
                           .next = PPI_FIRST_SLOT,
                           .snapshot = PPI_FIRST_SLOT};
  return lane;
}
