// SPDX-License-Identifier: Apache-2.0
//
// Counts what events state about themselves. One thread at a time.
#include "event/tally.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/columns.h"

// Above the 65 536 lanes of a session: a damaged log must not make us
// reserve memory by the lane number it claims.
#define MAX_LANES (1u << 17)

static pprof_status make_room(ppi_tally *tally, uint32_t lane) {
  if (lane < tally->num_lanes) return PPROF_STATUS_OK;
  if (lane >= MAX_LANES) return PPROF_STATUS_INVALID;
  return PPI_REACH(tally->lanes, tally->num_lanes, tally->capacity,
                   (size_t)lane + 1)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

pprof_status ppi_tally_add(ppi_tally *tally, uint32_t lane, ppi_total_key key,
                           uint64_t value) {
  if (value == 0) return PPROF_STATUS_OK;
  pprof_status status = make_room(tally, lane);
  if (status == PPROF_STATUS_OK) tally->lanes[lane][key] += value;
  return status;
}

pprof_status ppi_tally_add_row(ppi_tally *tally, uint32_t lane,
                               const uint64_t row[PPI_NUM_TOTALS]) {
  pprof_status status = PPROF_STATUS_OK;
  for (int key = 0; key < PPI_NUM_TOTALS && status == PPROF_STATUS_OK; key++)
    status = ppi_tally_add(tally, lane, (ppi_total_key)key, row[key]);
  return status;
}

pprof_status ppi_tally_join(ppi_tally *to, const ppi_tally *from) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < from->num_lanes && status == PPROF_STATUS_OK; i++)
    status = ppi_tally_add_row(to, (uint32_t)i, from->lanes[i]);
  return status;
}

uint64_t ppi_tally_get(const ppi_tally *tally, uint32_t lane, uint32_t key) {
  if (lane < tally->num_lanes) return tally->lanes[lane][key];
  uint64_t sum = 0;
  for (size_t i = 0; i < tally->num_lanes && lane == PPROF_ALL_LANES; i++)
    sum += tally->lanes[i][key];
  return sum;
}

static void count_flags(uint64_t *row, uint32_t flags, uint64_t num) {
  row[PPI_TOTAL_CLIPPED] += flags & PPROF_FLAG_CLIPPED ? num : 0;
  row[PPI_TOTAL_ABANDONED] += flags & PPROF_FLAG_ABANDONED ? num : 0;
  row[PPI_TOTAL_LATE] += flags & PPROF_FLAG_LATE ? num : 0;
  row[PPI_TOTAL_NO_DEVICE_TIME] += flags & PPROF_FLAG_NO_DEVICE_TIME ? num : 0;
}

static bool is_invalid(const pprof_event *event) {
  return event->end_ns < event->start_ns ||
         event->device_end_ns < event->device_start_ns;
}

// The events of `lane` from `from` on: neighbours nearly always share a lane.
// Answers their end.
static size_t count_lane(const pprof_batch *batch, size_t from, uint32_t lane,
                         uint64_t *row) {
  size_t i = from;
  for (; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->lane != lane) break;
    if (PPI_LIKELY(!(event->flags | is_invalid(event)))) continue;
    count_flags(row, event->flags, 1);
    row[PPI_TOTAL_INVALID] += is_invalid(event);
  }
  row[PPI_TOTAL_RECORDED] += i - from;
  return i;
}

static pprof_status count_columns(ppi_tally *tally,
                                  const ppi_columns *columns) {
  for (size_t i = 0; i < columns->num_shapes; i++) {
    const ppi_column_shape *shape = &columns->shapes[i];
    PPI_TRY(make_room(tally, shape->event.lane));
    uint64_t *row = tally->lanes[shape->event.lane];
    row[PPI_TOTAL_RECORDED] += shape->count;
    count_flags(row, shape->event.flags, shape->count);
  }
  for (size_t i = 0; i < columns->num_events; i++)
    if (PPI_UNLIKELY(is_invalid(&columns->events[i])))
      tally->lanes[columns->events[i].lane][PPI_TOTAL_INVALID]++;
  return PPROF_STATUS_OK;
}

pprof_status ppi_tally_batch(ppi_tally *tally, const pprof_batch *batch) {
  const ppi_columns *columns = ppi_columns_of(batch);
  if (columns) return count_columns(tally, columns);
  for (size_t i = 0; i < batch->num_events;) {
    uint32_t lane = pprof_batch_at(batch, i)->lane;
    PPI_TRY(make_room(tally, lane));
    i = count_lane(batch, i, lane, tally->lanes[lane]);
  }
  return PPROF_STATUS_OK;
}

size_t ppi_tally_append(ppi_total *items, size_t n, uint32_t lane,
                        const uint64_t *row) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
    if (row[key]) items[n++] = (ppi_total){lane, key, row[key]};
  return n;
}

pprof_status ppi_tally_items_beside(const ppi_tally *tally,
                                    const uint64_t *beside, ppi_total **out,
                                    size_t *out_num) {
  uint64_t sums[PPI_NUM_TOTALS] = {0};
  if (beside) memcpy(sums, beside, sizeof sums);
  ppi_total *items =
      ppi_alloc((tally->num_lanes + 1) * PPI_NUM_TOTALS * sizeof *items);
  if (!items) return PPROF_STATUS_NO_MEMORY;
  size_t n = 0;
  for (size_t lane = 0; lane < tally->num_lanes; lane++) {
    n = ppi_tally_append(items, n, (uint32_t)lane, tally->lanes[lane]);
    for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
      sums[key] += tally->lanes[lane][key];
  }
  *out_num = ppi_tally_append(items, n, PPROF_ALL_LANES, sums);
  *out = items;
  return PPROF_STATUS_OK;
}

static void take_missed(uint64_t *row, const uint64_t *missed) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
    row[key] -= PPI_MIN(row[key], missed[key]);
  row[PPI_TOTAL_LOST] += missed[PPI_TOTAL_RECORDED];
}

pprof_status ppi_tally_less(const pprof_totals *totals, const ppi_tally *missed,
                            ppi_total **out, size_t *out_num) {
  uint64_t run[PPI_NUM_TOTALS] = {0};
  ppi_tally tally = {0};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < totals->num_items && status == PPROF_STATUS_OK; i++) {
    const ppi_total *item = &totals->items[i];
    ppi_total_key key = (ppi_total_key)item->key;
    if (item->lane != PPROF_ALL_LANES)
      status = ppi_tally_add(&tally, item->lane, key, item->value);
    else if (!ppi_total_is_per_lane(key))
      run[key] = item->value;
  }
  if (status == PPROF_STATUS_OK && missed->num_lanes > 0)
    status = make_room(&tally, (uint32_t)missed->num_lanes - 1);
  for (size_t i = 0; i < missed->num_lanes && status == PPROF_STATUS_OK; i++)
    take_missed(tally.lanes[i], missed->lanes[i]);
  PPI_THEN(status, ppi_tally_items_beside(&tally, run, out, out_num));
  ppi_tally_clear(&tally);
  return status;
}

void ppi_tally_clear(ppi_tally *tally) {
  ppi_free(tally->lanes);
  *tally = (ppi_tally){0};
}
