// SPDX-License-Identifier: Apache-2.0
//
// Descriptors in a program that closes those it does not know (closefrom(3), a
// library that makes a daemon): a number may be another file's by now. A thread
// that only writes has a private table, in which nobody else closes. A thread
// that shares the program's table checks before each use. One race remains: the
// program may close and open between the check and the use. Any thread.
//
// In a program with closed standard descriptors, a number below 3 would be
// printed to, or taken by dup2(/dev/null). All descriptors of sdk, exporters
// and config are made here, above those; a test looks for other makers.
#pragma once

#include <dirent.h>
#include <stdio.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Like the system's calls of the same names, with close-on-exec. `open` is no
// point of cancellation.
int ppi_fd_open(const char *path, int flags, unsigned mode);
FILE *ppi_fd_fopen(const char *path);  // to read
DIR *ppi_fd_opendir(const char *path);
int ppi_fd_pipe(int ends[2]);   // neither end waits
int ppi_fd_socket(void);        // AF_UNIX, a stream that does not wait
int ppi_fd_accept(int socket);  // does not wait
int ppi_fd_copy(int fd);
// A file in memory that may be sealed, so long.
int ppi_fd_memory(const char *name, uint64_t size);
// Puts by room for a file from `at` on, without making it longer. 0 or errno.
// Signals wait: some file systems begin again at each, and end with EINTR.
int ppi_fd_reserve(int fd, uint64_t at, uint64_t size);
// Whether to repeat a failed call: a signal or a sandbox has interrupted it,
// and not too often. `times` counts; 0 at first.
bool ppi_fd_interrupted(int *times);
struct perf_event_attr;
int ppi_fd_perf(const struct perf_event_attr *attr);  // of this thread

// Other makers of descriptors (a driver, a library being loaded) run between
// these two calls. Stand-ins, which can be neither read nor written, take the
// free standard numbers. `standing` is the answer of the first call.
unsigned ppi_fd_stand_in(void);
void ppi_fd_stand_down(unsigned standing);

// The file of a descriptor. All eventfds look equal: do not use it for them.
typedef struct ppi_fd_id {
  uint64_t device, inode;
} ppi_fd_id;

// All zero, which no file has, if `fd` is invalid.
ppi_fd_id ppi_fd_id_of(int fd);
bool ppi_fd_is(int fd, const ppi_fd_id *id);
// Closes `fd` if it still has that file. 0, errno of the close, or EBADF:
// another file.
int ppi_fd_close(int fd, const ppi_fd_id *id);

// ppi_fd_own_table gives the calling thread a table of its own, with the
// standard ones and `keep` (-1: none) in it. A standard one that is a pipe or a
// socket leads nowhere there, so that its other end sees when the program
// closes it; for one that is closed there is a stand-in. False where kernel or
// sandbox refuse: the table is still shared.
bool ppi_fd_own_table(int keep);

PPROF_END_C_
