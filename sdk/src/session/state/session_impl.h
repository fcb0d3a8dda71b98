// SPDX-License-Identifier: Apache-2.0
//
// What config/ may ask of a session, beyond the public calls.
#ifndef PPI_SESSION_IMPL_H_
#define PPI_SESSION_IMPL_H_

#include "pprof/session.h"
#include "rules/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_device_mode {
  PPI_DEVICE_MODE_EVENTS = 0,
  PPI_DEVICE_MODE_OFF = 1
} ppi_device_mode;

// All: before start (BUSY afterwards); texts are copied.
pprof_status ppi_session_set_device_mode(pprof_session *session,
                                         ppi_device_mode mode);
// With `external`, a device range of a stream that captures a graph becomes
// event nodes of that graph, and each launch that is seen a range.
pprof_status ppi_session_set_graph_nodes(pprof_session *session, bool external);
// Takes `bytes` of the spool, at most half of it, for a flight recorder's ring.
pprof_status ppi_session_set_ring(pprof_session *session, uint64_t bytes);
// Adds to what pprof_run_info_text answers, e.g. "config".
pprof_status ppi_session_set_info(pprof_session *session, const char *key,
                                  const char *value);

// ppi_session_set_capture: before start, and while it runs. A change while it
// runs is an edge where it opens or closes a window or watches other markers;
// a window that is open goes on while the new rules record, too. Rules that
// did not change go on counting. INVALID as ppi_capture_check says; BUSY after
// the stop.
pprof_status ppi_session_set_capture(pprof_session *session,
                                     const ppi_capture *capture);

// ppi_session_demand opens a window for `steps` steps from the next pprof_step
// on, or now for `ns`; one of them. BUSY while a window is open or a demand
// waits for its step; INVALID while the session does not run. *out_window is
// the index that the window has or will have. Any thread.
typedef struct ppi_demand {
  uint64_t steps, ns;
} ppi_demand;
pprof_status ppi_session_demand(pprof_session *session,
                                const ppi_demand *demand, uint32_t *out_window);
// ppi_session_withdraw takes a demand back that waits for its step; false when
// none does.
bool ppi_session_withdraw(pprof_session *session);

// ppi_session_new_epoch makes every site be decided anew; a window that is open
// goes on, ranges that are open are clipped. OK where there is no epoch to
// renew; one that has to wait for the collector comes by itself.
pprof_status ppi_session_new_epoch(pprof_session *session);

// ppi_session_note adds to the run's notes (trust). Any thread; what comes
// after the totals were told is dropped.
void ppi_session_note(pprof_session *session, const char *key,
                      const char *text);

// A session of injection's makes room for one that the program starts: `yield`
// is called, without locks, when one wants to start while another runs.
void ppi_session_set_yield(void (*yield)(void));

#ifdef __cplusplus
}
#endif

#endif  // PPI_SESSION_IMPL_H_
