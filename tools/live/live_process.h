// SPDX-License-Identifier: Apache-2.0
//
// Finds running processes, connects to them and copies their tables from time
// to time. Main thread only.
#pragma once

#include <sys/types.h>

#include "live/live_read.h"

enum { PPI_LIVE_MAX_PROCESSES = 64, PPI_LIVE_MAX_LOOKS = 64 };

struct ppi_live_look {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  ppi_live_view view;
};

struct ppi_live_process {
  pid_t pid;
  int socket, table;  // -1: it has ended
  char command[160];  // its beginning, without the program's folder
  char name[64];      // of the program, or of the script that it runs
  struct ppi_live_look looks[PPI_LIVE_MAX_LOOKS];  // a ring
  size_t num_looks, next;
};

struct ppi_live_processes {
  struct ppi_live_process *items[PPI_LIVE_MAX_PROCESSES];
  size_t num;
  uint64_t keep_ns;  // copies older than this go, but for the last two
};

// Finds the processes of the operands: numbers, or names of programs or
// scripts. Without operands it finds all reachable processes of this user.
// Answers PPI_EXIT_DONE, or after a message PPI_EXIT_USAGE.
int ppi_live_find(const char *const *operands, int num,
                  struct ppi_live_processes *out);
void ppi_live_close(struct ppi_live_processes *all);

// Copies each table; the table of an ended process is closed, its last copy
// stays. Answers how many still run.
size_t ppi_live_look_at_all(struct ppi_live_processes *all);
// Without operands, adds new processes and drops ended ones.
void ppi_live_find_more(struct ppi_live_processes *all);

// The last copy, and the copy `window_ns` before it, or the oldest since; NULL:
// no such copy.
const ppi_live_view *ppi_live_last(const struct ppi_live_process *process);
const ppi_live_view *ppi_live_before(const struct ppi_live_process *process,
                                     uint64_t window_ns, double *out_seconds);
