// SPDX-License-Identifier: Apache-2.0
//
// The first reading of a log for its pictures: row lengths, the slowest calls,
// the time span.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

void ppi_survey_init(ppi_picture *picture);

// ppi_picture_span answers an event's length on its host side or device side.
// false: the event lacks that side, or its times are invalid.
bool ppi_picture_span(const pprof_event *event, bool on_device,
                      uint64_t *out_ns);
// ppi_picture_depth is the depth of a side in its row.
uint32_t ppi_picture_depth(const pprof_event *event, bool on_device);
// ppi_picture_class is the class of lengths of `ns`; ppi_picture_class_ns the
// least length of a class.
size_t ppi_picture_class(uint64_t ns);
uint64_t ppi_picture_class_ns(size_t number);

PPROF_END_C_
