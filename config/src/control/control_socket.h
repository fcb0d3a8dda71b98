// SPDX-License-Identifier: Apache-2.0
//
// The socket for requests to a process: its place, how to make it and how to
// find it. Called by control.c and by the tool.
#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_CONTROL_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

// ppi_control_listen makes PID.sock in a folder that only this user may enter,
// and removes sockets there without a listener. Answers the descriptor and the
// path, which the caller unlinks; -1 after a failure. If the socket is not in
// its usual folder, `error` has the reason; else it is "".
int ppi_control_listen(char out_path[PPI_CONTROL_PATH_MAX], pprof_error *error);
// ppi_control_sweep removes sockets that killed processes of this user left.
void ppi_control_sweep(void);
// ppi_control_connect connects to the process `pid`. -1 and, in `error`, the
// reason: no such process, another user's, or no socket.
int ppi_control_connect(pid_t pid, pprof_error *error);
// Whether the process at the other end may ask: this user's, or root's.
bool ppi_control_peer_may(int fd);

// ppi_control_list answers the number of this user's processes with a listening
// socket, and their ids, ascending; `max` at most.
size_t ppi_control_list(pid_t *out, size_t max);

PPROF_END_C_
