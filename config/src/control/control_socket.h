// SPDX-License-Identifier: Apache-2.0
//
// The socket through which a process is asked: where it lies, how it is made
// and found. Called by control.c and by the tool.
#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_CONTROL_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

// ppi_control_listen makes PID.sock in a folder that only this user may enter
// and removes those there that nobody listens to. Answers the descriptor and
// the path, which is the caller's to unlink; -1 after a failure. Where it lies
// in another folder than it should, `error` says why; else it is "".
int ppi_control_listen(char out_path[PPI_CONTROL_PATH_MAX], pprof_error *error);
// ppi_control_sweep removes those that processes of this user left when they
// were killed.
void ppi_control_sweep(void);
// ppi_control_connect finds the process `pid`. -1 and, in `error`, why not:
// there is none, it is somebody else's, it has no socket.
int ppi_control_connect(pid_t pid, pprof_error *error);
// Whether who is at the other end may ask: this user, or root.
bool ppi_control_peer_may(int fd);

// ppi_control_list answers how many processes of this user have a socket that
// somebody listens at, and their numbers, rising; `max` at most.
size_t ppi_control_list(pid_t *out, size_t max);

PPROF_END_C_
