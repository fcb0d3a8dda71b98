// SPDX-License-Identifier: Apache-2.0
//
// The control thread of a running session: it waits for requests (a socket, a
// file that is touched, a signal) and for a change of the configuration's file,
// and hands them to whoever started it. docs/capture.md has the protocol.
#pragma once

#include <stddef.h>

#include "control/control_text.h"
#include "pprof/base.h"

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
  // Whether what the ticket stands for is over; then it fills in the reply.
  bool (*settled)(void *user, uint64_t ticket, ppi_control_reply *reply);
  // Whoever waited for it has gone before.
  void (*gone)(void *user, uint64_t ticket);
  // Somebody looks from now on: a descriptor for them, the caller's; -1: there
  // is nothing to see. And looks no more. Both may be NULL.
  int (*watch)(void *user);
  void (*unwatch)(void *user);
  // Each `tick_ms`; may be NULL where that is 0.
  void (*tick)(void *user);
  // The configuration's file is another one than at the start, or than at the
  // last call.
  void (*reload)(void *user);
  void (*started)(void *user);  // first; may be NULL
  // A message to whoever asked for messages; may be NULL.
  void (*warn)(void *user, const char *text);
  // The socket lies elsewhere than it should; in words.
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
  // In a forked child its parent's: what that has not read of `reload_path` is
  // another file than at the start. NULL: none.
  const ppi_control *former;
} ppi_control_options;

// ppi_control_start makes the thread if there is anything for it to wait for;
// else *out becomes NULL. A socket that cannot be made is a warning only.
pprof_status ppi_control_start(const ppi_control_options *options,
                               const ppi_control_actions *actions,
                               ppi_control **out, pprof_error *error);
// From here on neither `trigger` nor `reload` is called; one that runs is
// waited for. NULL is allowed.
void ppi_control_hush(ppi_control *control);
// Answers those who wait, ends the thread, gives the signal back.
void ppi_control_stop(ppi_control *control);
// In a forked child, which has no such thread: closes what it has of it.
void ppi_control_in_forked_child(ppi_control *control);

// control_signal.c: `*out_fd`, a pipe, has a byte for each signal from now on
// until the signal is given back, which closes it; what handled the signal
// before goes on handling it. One at a time.
pprof_status ppi_control_take_signal(int number, int *out_fd,
                                     pprof_error *error);
void ppi_control_give_signal(int number);

PPROF_END_C_
