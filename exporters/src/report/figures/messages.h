// SPDX-License-Identifier: Apache-2.0
//
// Times of one name's ranges by the amount of data each moved. Integers only,
// so adding and merging in any order gives equal results.
#pragma once

#include "pprof/event.h"
#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// Up to this number of different sizes, each size has a row. With more sizes,
// powers of two have rows: a row for 2^k to 2^(k+1) - 1.
#define PPI_MESSAGES_EXACT 64

typedef struct ppi_message_row {
  uint64_t key;                     // the size, or k + 1
  ppi_spread bytes;                 // of all calls in the row
  ppi_spread host, host_bytes;      // of host ranges
  ppi_spread device, device_bytes;  // of device ranges with a time
} ppi_message_row;

// All zero is the empty one.
typedef struct ppi_messages {
  ppi_message_row *rows;  // by key
  size_t num, capacity;
  bool by_power;
} ppi_messages;

// ppi_messages_add takes a range of any category that states bytes; other
// events add nothing.
bool ppi_messages_add(ppi_messages *messages, const pprof_event *event);
bool ppi_messages_merge(ppi_messages *into, const ppi_messages *from);
void ppi_messages_clear(ppi_messages *messages);
void ppi_messages_carry(ppi_carry *carry, ppi_messages *messages);

PPROF_END_C_
