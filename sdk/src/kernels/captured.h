// SPDX-License-Identifier: Apache-2.0
//
// In which ranges the nodes of graphs were captured: a graph is captured once
// and launched often, elsewhere. Nodes are distinguished by the driver's
// number, which is never given again.
#pragma once

#include "base/base.h"

PPROF_BEGIN_C_

// So many nodes are known, and so many ranges around each.
#define PPI_MOST_CAPTURED 262144u
#define PPI_CAPTURED_DEPTH 16u

// ppi_captured_want says whether nodes are noted from now on, and forgets all
// that there are. Nothing may be noted meanwhile.
void ppi_captured_want(bool are_wanted);
bool ppi_captured_are_wanted(void);
// ppi_captured_node is called by the thread that has made the node, inside its
// open ranges; ppi_captured_copy by any, where a graph that can be launched, or
// another graph, got the like of `original`.
void ppi_captured_node(uint64_t node);
void ppi_captured_copy(uint64_t node, uint64_t original);

// ppi_captured_path answers the number of the ranges in which a node was
// captured; 0: none were open, or nothing is known of it.
uint32_t ppi_captured_path(uint64_t node);
// ppi_captured_sites answers how many they are, and which, the outermost first.
uint32_t ppi_captured_sites(uint32_t path, uint32_t out[PPI_CAPTURED_DEPTH]);
// ppi_captured_num_left answers how many nodes there was no room for.
uint64_t ppi_captured_num_left(void);

PPROF_END_C_
