// SPDX-License-Identifier: Apache-2.0
//
// Finds the device of a thread's open ranges, for backends that get only the
// stream from programs. Also begins device ranges for the injection.
#pragma once

#include "base/base.h"
#include "pprof/device.h"

// ppi_device_range_begin is pprof_device_range_begin for a range that has these
// PPROF_FLAG_... values from the start.
pprof_range ppi_device_range_begin(pprof_device *device, void *stream,
                                   pprof_site *site, uint8_t flags);

// ppi_device_find_open finds the device of the innermost open range of the
// calling thread on `stream`; NULL is a device, too. False: none is open.
bool ppi_device_find_open(const void *stream, pprof_device **out_device);

// ppi_device_has_open answers whether the calling thread has a range open on
// `stream` of `device`.
bool ppi_device_has_open(const pprof_device *device, const void *stream);
