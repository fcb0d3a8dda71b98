// SPDX-License-Identifier: Apache-2.0
//
// How long tests wait for a process before they call it hung, on a machine as
// busy as it may be; patience.py has the same number.
#pragma once

#define PPROF_PATIENCE_SECONDS 300
