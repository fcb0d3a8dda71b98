// SPDX-License-Identifier: Apache-2.0
//
// A thread's use of its CPU, read from the kernel.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

// Since the thread began, or between two such; counts are modulo 2^32.
typedef struct ppi_cpu_use {
  uint64_t cpu_ns, user_ns;  // user and system time together; user time
  uint64_t run_queue_ns, inner_ns;
  uint32_t voluntary, involuntary, minor_faults, major_faults;
  uint32_t known;  // PPROF_CPU_...
  uint32_t reserved;
} ppi_cpu_use;

// The kernel's file of the time that a thread waited for a CPU, one a thread,
// kept open. All zero: not opened yet.
typedef struct ppi_cpu_file {
  int32_t fd_plus_1;  // atomic; 0: not opened yet, -1: there is none
  uint32_t reserved;
  uint64_t device, inode;  // so that no file of the program's is closed
} ppi_cpu_file;

// ppi_cpu_use_begin and _end read the calling thread's use just before a range
// and just behind it; errno stays as it was.
void ppi_cpu_use_begin(ppi_cpu_file *file, ppi_cpu_use *out);
void ppi_cpu_use_end(ppi_cpu_file *file, ppi_cpu_use *out);
// ppi_cpu_use_since turns `*begun` into the use from then to `now`.
void ppi_cpu_use_since(ppi_cpu_use *begun, const ppi_cpu_use *now);
void ppi_cpu_use_export(const ppi_cpu_use *use, pprof_cpu_use *out);

// ppi_cpu_file_close closes it, once, from any thread.
void ppi_cpu_file_close(ppi_cpu_file *file);
// ppi_cpu_file_check answers NULL where the kernel has such files, or else why
// not, in `why`.
const char *ppi_cpu_file_check(char *why, size_t size);
// Tests: another path; NULL: the kernel's.
void ppi_cpu_file_inject(const char *path);

PPROF_END_C_
