// SPDX-License-Identifier: Apache-2.0
//
// Counts kernels and copies in the program's own device ranges.
#include "report/run/event_calls.h"

#include "base/mem.h"

static ppi_device_call *call_of(ppi_run *run, uint32_t number) {
  return &run->device_calls.items[number - 1];
}

static pprof_status push(ppi_run *run, ppi_event_calls *open, uint32_t number) {
  ppi_device_call *call = call_of(run, number);
  if (!PPI_ROOM(open->numbers, open->capacity, open->num + 1))
    return PPROF_STATUS_NO_MEMORY;
  open->numbers[open->num++] = number;
  if (call->until_ns < open->horizon_ns) call->end_ns = call->until_ns;
  return PPROF_STATUS_OK;
}

pprof_status ppi_event_calls_begin(ppi_run *run, ppi_event_calls *open) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->device_calls.num_kept && !status; i++) {
    const ppi_device_call *call = &run->device_calls.items[i];
    if (call->until_ns && call->thread == open->thread)
      status = push(run, open, (uint32_t)i + 1);
  }
  return status;
}

pprof_status ppi_event_calls_add(ppi_run *run, ppi_event_calls *open,
                                 uint32_t path, const ppi_point *point) {
  const ppi_device_call_key key = {open->thread, path, point->time_ns};
  uint32_t number;
  if (point->bytes <= point->time_ns) return PPROF_STATUS_OK;
  pprof_status status =
      ppi_device_calls_at(&run->device_calls, &key, 0, &number);
  if (status != PPROF_STATUS_OK) return status;
  ppi_device_call *call = call_of(run, number);
  call->until_ns = point->bytes;
  call->thread = open->thread;
  return push(run, open, number);
}

static void drop_passed(ppi_run *run, ppi_event_calls *open, uint64_t time_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < open->num; i++)
    if (call_of(run, open->numbers[i])->until_ns >= time_ns)
      open->numbers[kept++] = open->numbers[i];
  open->num = kept;
}

// Of open calls of one path, only the innermost counts.
static bool is_inner(ppi_run *run, const ppi_event_calls *open, size_t at) {
  uint32_t path = call_of(run, open->numbers[at])->path;
  while (++at < open->num)
    if (call_of(run, open->numbers[at])->path == path) return false;
  return true;
}

pprof_status ppi_event_calls_take(ppi_run *run, ppi_event_calls *open,
                                  const ppi_point *point) {
  pprof_status status = PPROF_STATUS_OK;
  drop_passed(run, open, point->time_ns);
  for (size_t i = 0; i < open->num && !status; i++)
    if (is_inner(run, open, i))
      status = ppi_device_calls_take(&run->device_calls, open->numbers[i],
                                     &run->paths, point);
  return status;
}

void ppi_event_calls_clear(ppi_event_calls *open) {
  ppi_free(open->numbers);
}
