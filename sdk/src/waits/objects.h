// SPDX-License-Identifier: Apache-2.0
//
// The objects that threads wait for, by address. An object without waiting
// threads may make room for another one.
#pragma once

#include "base/base.h"
#include "event/recorded_wait.h"
#include "waits/wait_table.h"

#define PPI_OBJECT_NAME 128u

typedef struct ppi_object {
  uintptr_t address;  // under the guard; 0: free
  uint32_t users;     // atomic: threads that wait for it
  uint32_t is_named;  // by the program
  uint64_t release;   // atomic: thread << 32 | site << 12 | number
  uint64_t inner;     // atomic: of a range that ended before a release, inside
                      // of where that was: end << 32 | site
  uint32_t holder;  // atomic: of an interpreter's lock, the last thread to end
                    // a wait
  uint32_t is_interpreter;
  uint64_t used;                    // atomic: when, in turns of the table
  uint64_t num_short, short_ticks;  // atomic
  pprof_site site;
  char texts[2][PPI_OBJECT_NAME];  // its name is one of them
} ppi_object;

extern PPI_HIDDEN pprof_wait_table_ ppi_wait_table;

// ppi_object_take answers the object's place for one that waits, which gives it
// back; PPI_WAIT_UNKNOWN: there is no room, or the table is being changed by
// the thread that a signal handler interrupts.
uint32_t ppi_object_take(uintptr_t address, ppi_wait_kind kind,
                         const void *caller);
void ppi_object_give(uint32_t at);
ppi_object *ppi_object_at(uint32_t at);

typedef struct ppi_short {
  const char *name;
  uint64_t num, ticks;
} ppi_short;
// ppi_objects_take_short takes the waits of less than a microsecond of the
// object that has most of them, or of all that are left.
ppi_short ppi_objects_take_short(bool of_one);
void ppi_objects_in_forked_child(void);
