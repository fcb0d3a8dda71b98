// SPDX-License-Identifier: Apache-2.0
//
// Defaults of a session; the keys of the YAML file
// have the same defaults.
#pragma once

#define PPI_DEFAULT_MEMORY_MIB 64
#define PPI_DEFAULT_DRAIN_MS 5  // the collector's period
#define PPI_DEFAULT_STOP_WAIT_S 1
