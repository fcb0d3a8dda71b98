// SPDX-License-Identifier: Apache-2.0
//
// Names an object without a name: by its symbol, else by the place that waits
// for it. Reads the loader's mappings without its locks.
#pragma once

#include "event/recorded_wait.h"

// ppi_object_names_begin finds out how the loader is asked. It may take the
// loader's locks.
void ppi_object_names_begin(void);
// ppi_object_describe writes the name; true: it is an interpreter's lock. One
// thread at a time.
bool ppi_object_describe(uintptr_t address, ppi_wait_kind kind,
                         const void *caller, char *out, size_t size);
