// SPDX-License-Identifier: Apache-2.0
//
// What the command line asks of the tree before there is one.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// ppi_tree_columns lists the columns of its text: "calls|total|...".
const char *ppi_tree_columns(void);
// ppi_tree_wants_use: is one of them what devices did in a stage?
bool ppi_tree_wants_use(const char *names);

PPROF_END_C_
