// SPDX-License-Identifier: Apache-2.0
//
// Counts and state of a flight recorder, as it reports them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct ppi_flight_state {
  uint64_t num_dumps;       // whole files
  uint64_t num_failed;      // could not be written; `error` is the first reason
  uint64_t num_fired;       // times that a rule was true
  uint64_t num_suppressed;  // those of them without a dump
  uint64_t num_overwritten;  // events gone from the ring
  bool triggered;            // a dump that was asked for is not complete
  char error[256];
} ppi_flight_state;
