// SPDX-License-Identifier: Apache-2.0
//
// Device time beside the host's, where the configuration asks for it.
#pragma once

#include <stdint.h>

void ppi_nvtx_device_push(uint32_t domain, int level);
void ppi_nvtx_stream_name(void *stream, const char *name);
void ppi_nvtx_device_in_forked_child(void);
