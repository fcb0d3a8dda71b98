// SPDX-License-Identifier: Apache-2.0
//
// The columns of the tree, for the command line.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// ppi_tree_columns lists the columns of its text: "calls|total|...".
const char *ppi_tree_columns(void);
// ppi_tree_wants_use: one of the columns shows the work of devices.
bool ppi_tree_wants_use(const char *names);

PPROF_END_C_
