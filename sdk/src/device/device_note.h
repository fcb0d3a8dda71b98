// SPDX-License-Identifier: Apache-2.0
//
// What a report must say of devices.
#ifndef PPI_DEVICE_NOTE_H_
#define PPI_DEVICE_NOTE_H_

#include <stdbool.h>

#include "event/texts.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_device_notes adds what the report of this session must say of devices,
// whose times were switched off or not. The collector.
void ppi_device_notes(ppi_texts *out, bool is_off);

#ifdef __cplusplus
}
#endif

#endif  // PPI_DEVICE_NOTE_H_
