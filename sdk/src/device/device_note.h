// SPDX-License-Identifier: Apache-2.0
//
// What a report must say of devices.
#pragma once

#include <stdbool.h>

#include "event/texts.h"

PPROF_BEGIN_C_

// ppi_device_notes adds what the report of this session must say of devices,
// with times switched off or not. The collector.
void ppi_device_notes(ppi_texts *out, bool is_off);

PPROF_END_C_
