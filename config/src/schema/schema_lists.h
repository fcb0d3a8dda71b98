// SPDX-License-Identifier: Apache-2.0
//
// Keys with lists as values: exports, globs, conditions.
#pragma once

#include "schema/schema_walk.h"

pprof_status ppi_walk_exports(const ppi_walk *at, const ppi_yaml_node *node);
pprof_status ppi_walk_globs(const ppi_walk *at, const ppi_yaml_node *node,
                            ppi_config_globs *out);
pprof_status ppi_walk_conditions(const ppi_walk *at, const ppi_yaml_node *node);
