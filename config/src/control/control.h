// SPDX-License-Identifier: Apache-2.0
//
// The control thread of a running session. It waits for requests (a socket, a
// touched file, a signal) and for changes of the configuration's file, and
// passes them to the session's owner. docs/capture.md has the protocol.
#pragma once

#include "control/control_text.h"

PPROF_BEGIN_C_

typedef struct ppi_control_reply {
  char text[PPI_CONTROL_LINE_MAX];  // a line without its end
  uint64_t ticket;                  // not 0: another line follows it
} ppi_control_reply;

// All on the control thread.
typedef struct ppi_control_actions {
  void *user;
  // Answers a request; nobody reads the reply to a touch or a signal.
  void (*trigger)(void *user, const ppi_trigger *trigger,
                  ppi_control_reply *reply);
  // Whether the ticket's window or dump is over; then it fills in the reply.
  bool (*settled)(void *user, uint64_t ticket, ppi_control_reply *reply);
  // The client that waited for the ticket has gone.
  void (*gone)(void *user, uint64_t ticket);
  // A viewer begins to look: answers a descriptor for it, which the caller
  // owns; -1: there is nothing to look at. Then the viewer stops. Both may be
  // NULL.
  int (*watch)(void *user);
  void (*unwatch)(void *user);
  // Each `tick_ms`; may be NULL where that is 0.
  void (*tick)(void *user);
  // The configuration's file differs from the start or from the last call.
  void (*reload)(void *user);
  void (*started)(void *user);  // first; may be NULL
  // Passes a message on if anyone asked for messages; may be NULL.
  void (*warn)(void *user, const char *text);
  // The socket is not in its usual folder; `text` explains why.
  void (*moved)(void *user, const char *text);
} ppi_control_actions;

typedef struct ppi_control ppi_control;

typedef struct ppi_control_options {
  bool socket;
  const char *touch_path;   // NULL: none; borrowed for the thread's life
  const char *reload_path;  // the same
  int signal;               // 0: none
  uint32_t look_ms;         // how often at the files; 0: 500
  uint32_t tick_ms;         // 0: no ticks
  // In a forked child: the parent's. A version of `reload_path` that it has not
  // read counts as changed. NULL: none.
  const ppi_control *former;
} ppi_control_options;

// ppi_control_start starts the thread if it has anything to wait for; else *out
// becomes NULL. A socket that cannot be made is only a warning.
pprof_status ppi_control_start(const ppi_control_options *options,
                               const ppi_control_actions *actions,
                               ppi_control **out, pprof_error *error);
// Neither `trigger` nor `reload` is called after this; a running call is waited
// for. NULL is allowed.
void ppi_control_hush(ppi_control *control);
// Answers waiting clients, ends the thread, gives the signal back.
void ppi_control_stop(ppi_control *control);
// In a forked child, which has no such thread: closes the child's copies.
void ppi_control_in_forked_child(ppi_control *control);

// control_signal.c: `*out_fd`, a pipe, gets a byte for each signal until the
// signal is given back, which closes the pipe. The previous handler still gets
// the signal. One at a time.
pprof_status ppi_control_take_signal(int number, int *out_fd,
                                     pprof_error *error);
void ppi_control_give_signal(int number);

PPROF_END_C_
