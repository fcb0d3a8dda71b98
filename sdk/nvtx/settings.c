// SPDX-License-Identifier: Apache-2.0
//
// What the configuration asks of the handlers, before anybody has asked it.
#include "settings.h"

static const pprof_inject_settings_ no_settings;
const pprof_inject_settings_ *ppi_nvtx_settings = &no_settings;
uint32_t ppi_nvtx_extras;
