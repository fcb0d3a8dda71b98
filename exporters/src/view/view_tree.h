// SPDX-License-Identifier: Apache-2.0
//
// What the command line asks of the tree before there is one.
#pragma once

#include "view/view.h"

PPROF_BEGIN_C_

// ppi_tree_knows tells whether "A,B,..." are columns of its text;
// ppi_tree_columns lists them for messages, "calls|total|...".
bool ppi_tree_knows(const char *names);
const char *ppi_tree_columns(void);
// ppi_tree_wants_use: is one of them what devices did in a stage?
bool ppi_tree_wants_use(const char *names);

PPROF_END_C_
