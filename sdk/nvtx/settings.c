// SPDX-License-Identifier: Apache-2.0
//
// Defines the handlers' settings before the configuration is read.
#include "settings.h"

static const pprof_inject_settings_ no_settings;
const pprof_inject_settings_ *ppi_nvtx_settings = &no_settings;
uint32_t ppi_nvtx_extras;
