// SPDX-License-Identifier: Apache-2.0
//
// The use of a CPU as extensions of a range's record in the spool.
#pragma once

#include "spool/spool.h"

// As extension records, PPI_CPU_RECORDS at most; an unknown use takes one.
#define PPI_CPU_RECORDS 2u
uint32_t ppi_cpu_pack(const ppi_cpu_use *use, ppi_record *out);
void ppi_cpu_unpack(const ppi_record *record, ppi_cpu_use *use);
