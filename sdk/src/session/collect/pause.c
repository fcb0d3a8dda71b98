// SPDX-License-Identifier: Apache-2.0
//
// Chooses a pause, and takes it. It doubles from cycle to cycle.
#include "session/collect/pause.h"

#include "session/state/current.h"
#include "session/state/session_state.h"
#include "spool/nap.h"

// The longest pause, and the shortest wait for a window's time.
#define LONGEST_NS 50000000ull
#define SHORTEST_WAIT_NS 20000ull
// In intervals: how long at most, and while devices work. A kill loses the
// device times that were not read yet.
#define MOST_TIMES 10u
#define MOST_TIMES_WITH_WORK 4u
// More than this is much: a quarter of what would end the pause.
#define MANY_RECORDS (4 * PPI_SLOTS_PER_CHUNK)
#define MANY_OF_SLOTS 32u

static bool end_nap(void) {
  pprof_session *session = pprof_session_current();
  return session && ppi_wakeup_wake(&session->wakeup);
}

static bool is_many(uint64_t num, const ppi_table *table) {
  return num * MANY_OF_SLOTS > ppi_table_num_slots(table);
}

// Also notes how much there was.
static bool much_came(pprof_session *session) {
  ppi_collect *collect = &session->collect;
  const ppi_table *table = ppi_recorder_in_force.ranges;
  uint64_t ranges = table->next_seq;
  for (const pprof_device *d = ppi_device_list(); d; d = d->next) {
    if (!d->session) continue;
    ranges += d->session->table->next_seq;
    if (ppi_table_num_slots(d->session->table) < ppi_table_num_slots(table))
      table = d->session->table;
  }
  bool much = collect->num_records - collect->records_then > MANY_RECORDS ||
              is_many(ranges - collect->ranges_then, table);
  collect->records_then = collect->num_records;
  collect->ranges_then = ranges;
  return much;
}

static bool are_devices_calm(void) {
  bool are_calm = true;
  for (pprof_device *d = ppi_device_list(); d; d = d->next)
    if (d->session && !ppi_resolve_is_calm(d->session)) are_calm = false;
  return are_calm;
}

static uint64_t next_pause(pprof_session *session, uint64_t interval_ns,
                           bool delivered) {
  ppi_collect *collect = &session->collect;
  if (collect->is_idle) return PPI_MAX(interval_ns, LONGEST_NS);
  bool much = much_came(session), are_calm = are_devices_calm();
  if (much || !are_calm || !delivered || collect->kernels.source ||
      collect->names_turn.phase != PPI_NAMES_REST)
    return interval_ns;
  uint64_t times = collect->has_waiting ? MOST_TIMES_WITH_WORK : MOST_TIMES;
  uint64_t most_ns = PPI_MIN(times * interval_ns, LONGEST_NS);
  return PPI_MAX(interval_ns, PPI_MIN(2 * collect->pause_ns, most_ns));
}

void ppi_pause(pprof_session *session, uint64_t answered, uint64_t due_ns,
               bool delivered) {
  ppi_spool *spool = &ppi_recorder_in_force.spool;
  uint64_t interval_ns = session->settings.options.drain_interval_us * 1000ull;
  uint64_t pause_ns = next_pause(session, interval_ns, delivered);
  if (pause_ns > interval_ns) ppi_nap_begin(spool, end_nap);
  bool is_cut =
      ppi_wakeup_wait(&session->wakeup, answered,
                      PPI_MIN(pause_ns, PPI_MAX(due_ns, SHORTEST_WAIT_NS)));
  ppi_nap_end(spool);
  session->collect.pause_ns = is_cut ? 0 : pause_ns;
}
