// SPDX-License-Identifier: Apache-2.0
//
// Runtimes whose waits go past the C library.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_waits_unseen_note names the first one that is mapped; NULL: there is
// none. One thread at a time, until its next call. Takes the loader's lock.
const char *ppi_waits_unseen_note(void);

PPROF_END_C_
