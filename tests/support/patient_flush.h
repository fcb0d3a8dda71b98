// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pprof/pprof.h"

namespace pprof_test {

// A flush waits a second for the collector; a busy machine may keep it away for
// longer.
inline pprof_status FlushPatiently(pprof_session *session) {
  pprof_status status;
  do status = pprof_session_flush(session);
  while (status == PPROF_STATUS_BUSY);
  return status;
}

}  // namespace pprof_test
