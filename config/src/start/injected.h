// SPDX-License-Identifier: Apache-2.0
//
// The first and last calls of an injected library. Like inject/inject.h, they
// lead from one library to the other.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// pprof_inject_attach_ starts a session as the environment says, unless one
// runs or the program started one before. Any thread, at any time; it does not
// wait for another thread that starts or stops one.
//
// Result: false: PPROF_ENABLE says no, nothing shall be attached.
PPROF_API bool pprof_inject_attach_(void);
// pprof_inject_flush_ is for the program's exit: recorded data reaches the
// files, and recording goes on. libpprof ends the session itself, last.
PPROF_API void pprof_inject_flush_(void);

PPROF_END_C_
