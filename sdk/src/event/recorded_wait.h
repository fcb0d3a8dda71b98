// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a range of category Wait: docs/log-format.md.
#pragma once

#include <stdio.h>
#include <string.h>

#include "event/columns.h"

typedef enum ppi_wait_kind {
  PPI_WAIT_MUTEX = 1,
  PPI_WAIT_RWLOCK,
  PPI_WAIT_CONDITION,
  PPI_WAIT_SEMAPHORE,
  PPI_WAIT_JOIN,
  PPI_WAIT_BARRIER,
  PPI_WAIT_FUTEX,
  PPI_WAIT_INTERPRETER,  // for the lock of CPython
  PPI_WAIT_IDLE,         // for input from outside; its category is Idle
  PPI_NUM_WAIT_KINDS
} ppi_wait_kind;

// The places of the numbers. BY: the OS thread that ended the wait, of an open
// one the thread that it waits for; IN: the site of that thread's innermost
// range; each 0: unknown. HOW: the kind, whether its time was up, and whether
// that thread has a lower priority than the waiting one.
enum {
  PPI_WAIT_OBJECT,
  PPI_WAIT_BY,
  PPI_WAIT_IN,
  PPI_WAIT_HOW,
  PPI_WAIT_NUMBERS
};
#define PPI_WAIT_TIMED_OUT 256u
#define PPI_WAIT_LOWER 512u
#define PPI_WAIT_KIND(how) ((uint32_t)(how)&255u)

// In the order of `ppi_wait_kind`, without designators: C++ includes this.
// NULL: none has this number, or it is idle.
static inline const char *ppi_wait_kind_name(uint64_t how) {
  static const char *const kinds[] = {NULL,        "mutex",     "rwlock",
                                      "condition", "semaphore", "join",
                                      "barrier",   "futex",     "interpreter"};
  uint32_t kind = PPI_WAIT_KIND(how);
  return kind < PPI_WAIT_IDLE ? kinds[kind] : NULL;
}

// Whether one thread has the object that others wait for.
static inline bool ppi_wait_is_for_lock(uint64_t how) {
  uint32_t kind = PPI_WAIT_KIND(how);
  return kind == PPI_WAIT_MUTEX || kind == PPI_WAIT_RWLOCK ||
         kind == PPI_WAIT_SEMAPHORE || kind == PPI_WAIT_INTERPRETER;
}

// Whether the range that ended it had it until then. A semaphore's post may be
// a signal.
static inline bool ppi_wait_has_holder(uint64_t how) {
  return ppi_wait_is_for_lock(how) && PPI_WAIT_KIND(how) != PPI_WAIT_SEMAPHORE;
}

// The site's name is this prefix and the name of its object.
#define PPI_WAIT_PREFIX "wait for "
#define PPI_WAIT_INTERPRETER_NAME "the interpreter's lock"
#define PPI_WAIT_PYTHON_NAME "a Python lock"  // or what signals by one
static inline const char *ppi_wait_object(const char *site) {
  const size_t len = sizeof PPI_WAIT_PREFIX - 1;
  return strncmp(site, PPI_WAIT_PREFIX, len) == 0 ? site + len : site;
}

// The name of a row of waits: the object, and the range that had it or ended
// the wait.
#define PPI_WAIT_ROW 1024
static inline void ppi_wait_row(const char *site, uint64_t how, const char *in,
                                char out[PPI_WAIT_ROW]) {
  snprintf(out, PPI_WAIT_ROW, "%s, %s by %s", site,
           ppi_wait_has_holder(how) ? "held" : "ended", in);
}

// The numbers of a wait; NULL: it is none. `category` is that of its site.
static inline const uint64_t *ppi_wait_numbers(const pprof_event *event,
                                               uint32_t category) {
  bool is_wait = category == PPROF_CATEGORY_WAIT && event->numbers &&
                 event->numbers->num == PPI_WAIT_NUMBERS;
  return is_wait ? event->numbers->values : NULL;
}

// The numbers of event `at`, or of the wait that it continues in: a wait for
// CPython's lock ends every few milliseconds to ask again, when the thread gets
// a processor. Only whole events have numbers.
static inline const uint64_t *ppi_wait_whole(const pprof_batch *batch,
                                             size_t at, uint32_t category) {
  const uint64_t again = PPI_WAIT_INTERPRETER | PPI_WAIT_TIMED_OUT;
  const uint64_t most_ns = 20000000;
  const pprof_event *event = ppi_batch_rest(batch, at);
  const uint64_t *numbers = ppi_wait_numbers(event, category);
  while (numbers && numbers[PPI_WAIT_HOW] == again &&
         ++at < batch->num_events) {
    const pprof_event *next = ppi_batch_rest(batch, at);
    if (next->site != event->site || !next->numbers ||
        next->start_ns > event->end_ns + most_ns)
      break;
    event = next;
    numbers = ppi_wait_numbers(event, category);
  }
  return numbers;
}
