// SPDX-License-Identifier: Apache-2.0
//
// Host calls of each row by begin, to find the ranges of a thread while another
// thread waited for it.
#pragma once

#include "report/limit/model.h"

// All zero is the empty one.
typedef struct ppi_row_calls {
  uint32_t *calls;
  size_t *first;  // by row, and one behind
} ppi_row_calls;

bool ppi_row_calls_list(const ppi_limit_model *model, ppi_row_calls *out);
void ppi_row_calls_clear(ppi_row_calls *of);
// The innermost call of a row at a time, PPI_NO_CALL: none; *until_ns: the end
// of that stretch.
uint32_t ppi_row_calls_at(const ppi_limit_model *model, const ppi_row_calls *of,
                          uint32_t row, uint64_t at_ns, uint64_t *until_ns);
// Adds the time of the row's ranges from `held.from_ns` on: by name, and by row
// after the names.
void ppi_row_calls_blame(const ppi_limit_model *model, const ppi_row_calls *of,
                         uint32_t row, ppi_interval held, double *times_ns);
// Adds, by name, the ranges that the recorded wait `wait` waits for in `in`.
// Threads that wait themselves are followed. A wait that no range ends counts
// for itself.
void ppi_row_calls_await(const ppi_limit_model *model, const ppi_row_calls *of,
                         uint32_t wait, ppi_interval in, double *times_ns);
// The same for all recorded waits of the row that begin in `in` and that other
// threads ended; answers their time in `in`.
uint64_t ppi_row_calls_await_inside(const ppi_limit_model *model,
                                    const ppi_row_calls *of, uint32_t row,
                                    ppi_interval in, double *times_ns);
static const ppi_interval ppi_row_calls_all = {0, UINT64_MAX};
// The row of an OS thread; PPI_NONE: it has none.
uint32_t ppi_row_of_thread(const ppi_limit_model *model, uint32_t tid);
// The window's time with its pauses, because a convoy looks like a pause.
double ppi_window_time(const ppi_limit_model *model, uint64_t from_ns,
                       uint64_t to_ns);

// Calls of the same request on other threads, all inside a call, which waits
// for them: each from the end of the one before it.
enum { PPI_MOST_INSIDE = 64 };
typedef struct ppi_inside {
  const ppi_limit_call *call;
  uint64_t from_ns;
} ppi_inside;
size_t ppi_calls_inside(const ppi_limit_model *model,
                        const ppi_limit_call *call, ppi_inside *out);
// Whether a call that waits for `name` ends before its request's next call of
// it begins.
bool ppi_call_gives_up(const ppi_limit_model *model, const ppi_limit_call *call,
                       uint32_t name);

// ppi_model_find_awaited finds the range that each recorded wait waits for.
bool ppi_model_find_awaited(ppi_limit_model *model);
