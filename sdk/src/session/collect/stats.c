// SPDX-License-Identifier: Apache-2.0
//
// The session's statistics: the collector publishes them, any thread reads.
#include "session/collect/stats.h"

#include <string.h>
#include <unistd.h>

#include "base/uncancelled.h"
#include "deliver/totals.h"
#include "session/collect/window_session.h"
#include "session/state/cursor.h"
#include "window/window_sinks.h"

// Without memory of its own: figures that are published are whole.
static void add_up(pprof_session *session, const ppi_spool *spool,
                   uint64_t v[PPI_NUM_TOTALS]) {
  const ppi_tally *tally = &session->drain.tally;
  for (size_t lane = 0; lane < tally->num_lanes; lane++)
    for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
      v[key] += tally->lanes[lane][key];
  for (uint32_t i = 0; i < ppi_spool_num_lanes(spool); i++) {
    const ppi_lane *lane = ppi_cursor_lane(session->collect.cursors, i);
    if (!lane) continue;
    v[PPI_TOTAL_LOST] +=
        ppi_counted(&lane->lost) + ppi_counted(&lane->interrupted);
    v[PPI_TOTAL_UNMATCHED] += ppi_counted(&lane->unmatched);
    v[PPI_TOTAL_BEGUN_BEFORE] += ppi_counted(&lane->begun_before);
    v[PPI_TOTAL_EXCLUDED] += ppi_counted(&lane->excluded);
    v[PPI_TOTAL_FLOWS_LOST] += ppi_counted(&lane->flows_lost);
    v[PPI_TOTAL_DEVICE_LOST] += ppi_counted(&lane->device_lost);
  }
}

void ppi_stats_publish(pprof_session *session) {
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  pprof_stats stats = {.size = sizeof stats};
  uint64_t v[PPI_NUM_TOTALS] = {0};
  add_up(session, spool, v);
  stats.recorded = v[PPI_TOTAL_RECORDED];
  stats.lost = v[PPI_TOTAL_LOST] + ppi_counted(&spool->header->lost);
  stats.excluded = v[PPI_TOTAL_EXCLUDED];
  stats.unmatched = v[PPI_TOTAL_UNMATCHED];
  stats.abandoned = v[PPI_TOTAL_ABANDONED];
  stats.late = v[PPI_TOTAL_LATE];
  stats.invalid = v[PPI_TOTAL_INVALID];
  stats.device_lost = v[PPI_TOTAL_DEVICE_LOST];
  stats.names_overflowed = ppi_counted(&spool->header->names_overflowed);
  stats.clipped = v[PPI_TOTAL_CLIPPED];
  stats.begun_before = v[PPI_TOTAL_BEGUN_BEFORE];
  stats.flows_lost = v[PPI_TOTAL_FLOWS_LOST];
  stats.clock_error_ns = session->collect.placed.clock_error_ns;
  stats.own_cost_ns_per_marker_x1000 = spool->header->own_cost_ns_x1000;
  stats.spool_bytes = ppi_spool_bytes(spool);
  stats.crash_safe = spool->header->crash_safe;
  stats.missed = ppi_session_num_missed(session);
  for (uint32_t t = 0; t < spool->header->num_tables; t++) {
    const ppi_table *table = ppi_spool_chunk(spool, spool->header->tables[t]);
    stats.unmatched += __atomic_load_n(&table->unmatched, __ATOMIC_RELAXED);
  }
  pthread_mutex_lock(&session->wakeup.mutex);
  session->stats = stats;
  pthread_mutex_unlock(&session->wakeup.mutex);
}

pprof_status pprof_session_stats(pprof_session *session, pprof_stats *out) {
  PPI_UNCANCELLED;
  if (!session || !out || out->size < sizeof(size_t))
    return PPROF_STATUS_INVALID;
  if (session->pid && session->pid != (uint32_t)getpid())
    return PPROF_STATUS_INVALID;
  size_t size = PPI_MIN(out->size, sizeof(pprof_stats));
  pthread_mutex_lock(&session->wakeup.mutex);
  pprof_stats stats = session->stats;
  pthread_mutex_unlock(&session->wakeup.mutex);
  stats.size = out->size;
  memcpy(out, &stats, size);
  return PPROF_STATUS_OK;
}
