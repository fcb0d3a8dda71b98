// SPDX-License-Identifier: Apache-2.0
//
// Descriptors in a program that closes those it does not know (closefrom(3), a
// library that makes a daemon): a number may be another file's by now. A thread
// that does nothing but write has a table of its own, which nobody else closes
// in; whoever shares the program's asks before each use. Between the asking and
// the use the program may still close and open: that is left. Any thread.
#ifndef PPI_DESCRIPTOR_H_
#define PPI_DESCRIPTOR_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a descriptor refers to. Two eventfds are alike: not for those.
typedef struct ppi_fd_id {
  uint64_t device, inode;
} ppi_fd_id;

// All zero, which is no file's, where `fd` is none.
ppi_fd_id ppi_fd_id_of(int fd);
bool ppi_fd_is(int fd, const ppi_fd_id *id);
// Closes `fd` if it is still that. 0, errno of the close, or EBADF: it was not.
int ppi_fd_close(int fd, const ppi_fd_id *id);

// ppi_fd_own_table gives the calling thread a table of its own, with the
// standard ones and `keep` (-1: none) in it. A standard one that is a pipe or a
// socket leads nowhere there, so that its other end sees when the program
// closes it. False where kernel or sandbox refuse: the table is still shared.
bool ppi_fd_own_table(int keep);

#ifdef __cplusplus
}
#endif

#endif  // PPI_DESCRIPTOR_H_
