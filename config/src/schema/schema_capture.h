// SPDX-License-Identifier: Apache-2.0
//
// The key `capture`, and the keys of each kind of window.
#pragma once

#include "schema/schema_walk.h"

pprof_status ppi_walk_windows(const ppi_walk *at, const ppi_yaml_node *node);

// The keys of one kind of window, for lists.
bool ppi_window_has_key(ppi_window_kind kind, const char *name);
const char *ppi_window_needs(ppi_window_kind kind);
