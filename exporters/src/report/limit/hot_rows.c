// SPDX-License-Identifier: Apache-2.0
//
// Finds threads that serve the same stages as others, and yet have a queue of
// their own: a partition with most of the keys, or on a slow processor. A
// server that takes from a common queue lets nobody wait while another one is
// free.
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/limit/find.h"
#include "report/limit/walk.h"

enum { LEAST_CALLS = 20 };

static bool is_other_free(const ppi_limit_model *model,
                          const ppi_station *station, uint32_t row,
                          uint64_t time_ns) {
  uint32_t last;
  for (size_t i = 0; i < station->num_rows; i++)
    if (station->rows[i] != row &&
        !ppi_row_is_taken(model, &model->rows[station->rows[i]], time_ns,
                          &last))
      return true;
  return false;
}

// Whether the request of a row's call waits for the row's call before it,
// longer than a free thread needs to wake up, with another thread free.
static bool waits_beside_free(const ppi_limit_model *model,
                              const ppi_station *station, uint32_t at,
                              size_t k) {
  const ppi_limit_row *row = &model->rows[at];
  const ppi_limit_call *call = &model->calls[row->outer[k]];
  const ppi_limit_call *before = &model->calls[row->outer[k - 1]];
  const uint64_t slack_ns = ppi_slacks_ns[PPI_NUM_SLACKS - 1];
  if (call->num != 1 || before->end_ns + slack_ns < call->start_ns)
    return false;
  const ppi_limit_unit *unit = &model->units[model->units_of[call->first]];
  uint64_t came_ns =
      ppi_unit_last_end(model, unit, unit->start_ns, call->start_ns);
  return came_ns < before->end_ns && came_ns + slack_ns < call->start_ns &&
         is_other_free(model, station, at, call->start_ns - slack_ns);
}

static bool is_hot(const ppi_limit_model *model, const ppi_station *station,
                   uint32_t at) {
  const ppi_limit_row *row = &model->rows[at];
  size_t num = 0;
  if ((double)row->working_ns < ppi_saturated * (double)model->time_ns ||
      row->num_outer < LEAST_CALLS)
    return false;
  for (size_t k = 1; k < row->num_outer; k++)
    num += waits_beside_free(model, station, at, k);
  return 2 * num >= row->num_outer;
}

ppi_limit_stage *ppi_station_stage(const ppi_station *station, uint32_t name) {
  for (size_t i = 0; i < station->num_stages; i++)
    if (station->stages[i].name == name) return &station->stages[i];
  return NULL;
}

// Takes the `k`-th row out of the station, into one of its own.
static bool take_out(ppi_limit_model *model, uint32_t group, size_t k) {
  const ppi_station new_one = {.kind = PPI_STATION_THREADS,
                               .servers = 1,
                               .name = PPI_NONE,
                               .device = PPI_NONE,
                               .beside = group};
  if (!PPI_PUSH(model->stations, model->num_stations, model->stations_capacity,
                new_one))
    return false;
  ppi_station *own = &model->stations[model->num_stations - 1];
  own->rows = ppi_alloc(sizeof *own->rows);
  if (!own->rows) return false;
  ppi_station *from = &model->stations[group];
  ppi_limit_row *row = &model->rows[from->rows[k]];
  own->rows[0] = from->rows[k];
  own->num_rows = 1;
  row->station = (uint32_t)model->num_stations - 1;
  memmove(&from->rows[k], &from->rows[k + 1],
          (--from->num_rows - k) * sizeof *from->rows);
  from->servers = (uint32_t)from->num_rows;
  for (size_t i = 0; i < row->num_parts; i++) {
    uint32_t name = model->calls[row->parts[i]].name;
    uint64_t ns = model->working_ns[row->parts[i]];
    ppi_limit_stage *was = ppi_station_stage(from, name),
                    *is = ppi_station_stage(own, name);
    was->working_ns -= ns;
    was->calls -= ns > 0;
    const ppi_limit_stage first = {name, 0, 0, PPI_NONE, 0};
    if (!is &&
        !PPI_PUSH(own->stages, own->num_stages, own->stages_capacity, first))
      return false;
    is = ppi_station_stage(own, name);
    is->working_ns += ns;
    is->calls += ns > 0;
  }
  return true;
}

bool ppi_model_take_out_hot_rows(ppi_limit_model *model) {
  const size_t num = model->num_stations;
  if (model->unit_kind != PPI_UNIT_REQUEST) return true;
  for (uint32_t i = 0; i < num; i++)
    for (size_t k = 0; k < model->stations[i].num_rows;) {
      const ppi_station *station = &model->stations[i];
      bool is_out =
          station->num_rows > 1 && is_hot(model, station, station->rows[k]);
      if (is_out && !take_out(model, i, k)) return false;
      k += !is_out;
    }
  return true;
}
