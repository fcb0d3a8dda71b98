// SPDX-License-Identifier: Apache-2.0
//
// Finds threads that wait for each other in a process, by its recorded waits.
#pragma once

#include "file/text.h"
#include "recover/forensics.h"

// ppi_stuck_deadlocks writes a line for each circle of threads that wait for
// each other, and answers the number of circles.
size_t ppi_stuck_deadlocks(const ppi_forensics *found, ppi_page *page);
// ppi_stuck_put_waits writes a line for each wait of `least_ns` or more for a
// thread that is in no circle.
void ppi_stuck_put_waits(const ppi_forensics *found, uint64_t least_ns,
                         ppi_page *page);
// ppi_stuck_holder is the lane that the open wait `item` waits for; 0: unknown.
uint32_t ppi_stuck_holder(const ppi_forensics *found,
                          const ppi_open_item *item);
// Writes a time with its unit.
void ppi_stuck_put_time(ppi_page *page, uint64_t ns);
