// SPDX-License-Identifier: Apache-2.0
//
// A session's notes about devices.
#pragma once

#include <stdbool.h>

#include "event/texts.h"

// ppi_device_notes adds the notes about devices to this session's report, with
// or without device times. The collector.
void ppi_device_notes(ppi_texts *out, bool is_off);
