// SPDX-License-Identifier: Apache-2.0
//
// Sums the bytes allocated and freed in each range. Sums are modulo 2^64; the
// result reads as a signed number.
#include "report/parts/allocations.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

pprof_status ppi_allocations_add(ppi_allocations *allocations,
                                 const char *place, uint64_t time_ns,
                                 int64_t bytes) {
  bool is_host = strncmp(place, "cpu", 3) == 0;
  ppi_point point = {
      .time_ns = time_ns,
      .value = (uint64_t)bytes,
      .device_class = is_host ? PPI_MEMORY_HOST : PPI_MEMORY_DEVICE};
  return ppi_scopes_add(&allocations->scopes, &point);
}

pprof_status ppi_allocations_prepare(ppi_allocations *allocations,
                                     uint64_t horizon_ns) {
  pprof_status status = ppi_scopes_prepare(&allocations->scopes, horizon_ns);
  allocations->num_left = allocations->scopes.num_settled;
  allocations->low_ns = UINT64_MAX;
  return status;
}

// Ranges come by falling end, so all ranges around the last point have come.
static void settle_last(ppi_allocations *allocations) {
  const ppi_point *point = &allocations->scopes.points[--allocations->num_left];
  if (point->time_ns >= allocations->low_ns) return;
  ppi_net_bytes change = {{0}};
  change.bytes[point->device_class] = (int64_t)point->value;
  allocations->outside.num++;
  ppi_net_add(&allocations->outside.sums, &change);
}

pprof_status ppi_allocations_meet(ppi_allocations *allocations,
                                  const ppi_buffered *range, bool is_whole,
                                  ppi_net_bytes *out) {
  const ppi_point *points = allocations->scopes.points;
  ppi_device_sums sums = {{0}};
  *out = (ppi_net_bytes){{0}};
  while (is_whole && allocations->num_left &&
         points[allocations->num_left - 1].time_ns > range->end_ns)
    settle_last(allocations);
  allocations->low_ns = PPI_MIN(allocations->low_ns, range->start_ns);
  if (!is_whole)
    return ppi_scopes_border(&allocations->scopes, range->start_ns);
  ppi_scopes_inside(&allocations->scopes, range->start_ns, range->end_ns + 1,
                    &sums);
  for (int i = 0; i < PPI_NUM_MEMORIES; i++)
    out->bytes[i] = (int64_t)sums.ns[i];
  return PPROF_STATUS_OK;
}

pprof_status ppi_allocations_carry(ppi_allocations *allocations) {
  const ppi_borders none = {.num = 0};
  while (allocations->num_left) settle_last(allocations);
  return ppi_scopes_carry(&allocations->scopes, &none);
}

void ppi_allocations_clear(ppi_allocations *allocations) {
  ppi_scopes_clear(&allocations->scopes);
  *allocations = (ppi_allocations){.num_left = 0};
}
