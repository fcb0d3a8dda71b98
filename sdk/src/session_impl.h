// SPDX-License-Identifier: Apache-2.0
//
// What config/ may ask of a session before its start, beyond the public calls.
#ifndef PPI_SESSION_IMPL_H_
#define PPI_SESSION_IMPL_H_

#include "pprof/session.h"
#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_device_mode {
  PPI_DEVICE_MODE_EVENTS = 0,
  PPI_DEVICE_MODE_OFF = 1
} ppi_device_mode;

// All: before start (BUSY afterwards); texts are copied.
pprof_status ppi_session_set_schedule(pprof_session *session,
                                      const ppi_schedule *schedule);
pprof_status ppi_session_set_device_mode(pprof_session *session,
                                         ppi_device_mode mode);
// Adds to what pprof_run_info_text answers, e.g. "config".
pprof_status ppi_session_set_info(pprof_session *session, const char *key,
                                  const char *value);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SESSION_IMPL_H_
