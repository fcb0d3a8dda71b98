// SPDX-License-Identifier: Apache-2.0
//
// NVTX's extensions: payloads and counters.
#pragma once

#include "abi.h"

void ppi_nvtx_fill_extension(const nvtx_extension *extension);
