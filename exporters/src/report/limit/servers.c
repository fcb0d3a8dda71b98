// SPDX-License-Identifier: Apache-2.0
//
// Lists the stations that serve units, each with its stages.
#include "report/limit/rules.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/recorded_wait.h"
#include "report/limit/say.h"

static int compare_stations(const void *left, const void *right) {
  const ppi_station *a = *(const ppi_station *const *)left;
  const ppi_station *b = *(const ppi_station *const *)right;
  if (a->use < b->use || a->use > b->use) return a->use > b->use ? -1 : 1;
  return (a > b) - (a < b);
}

static void put_server(const ppi_limit_search *search,
                       const ppi_station *station, ppi_limit_server *out) {
  static const ppi_server_kind kinds[] = {
      [PPI_STATION_THREADS] = PPI_SERVER_THREADS,
      [PPI_STATION_DEVICE] = PPI_SERVER_DEVICE,
      [PPI_STATION_ONE_AT_A_TIME] = PPI_SERVER_ONE_AT_A_TIME,
      [PPI_STATION_ELSEWHERE] = PPI_SERVER_ONE_AT_A_TIME};
  const ppi_limit_model *model = search->model;
  size_t at = (size_t)(station - model->stations);
  double units = (double)PPI_MAX(model->num_counted, 1);
  double servers_ns = (double)station->servers * (double)model->time_ns;
  *out = (ppi_limit_server){
      .kind = kinds[station->kind],
      .num = station->servers,
      .is_elsewhere = station->kind == PPI_STATION_ELSEWHERE,
      .utilization = station->use,
      .batches_save = station->batches_save,
      .occupied =
          servers_ns > 0 ? (double)station->occupied_ns / servers_ns : 0,
      .demand_ns = (double)station->working_ns / units};
  if (search->blame.num_units)
    out->line_ns = search->blame.line_ns[at] / (double)search->blame.num_units;
  PPI_SAY(out->name, "%s", ppi_limit_station_name(model, (uint32_t)at));
}

static void put_demands(const ppi_limit_model *model,
                        const ppi_station *station, ppi_limit *out) {
  double units = (double)PPI_MAX(model->num_counted, 1);
  for (size_t i = 0; i < station->num_stages; i++) {
    const ppi_limit_stage *stage = &station->stages[i];
    if (out->num_demands == PPI_LIMIT_DEMANDS || !stage->working_ns) return;
    ppi_limit_demand *demand = &out->demands[out->num_demands++];
    *demand = (ppi_limit_demand){
        .server = (uint32_t)out->num_servers,
        .utilization = station->use * (double)stage->working_ns /
                       (double)station->working_ns,
        .demand_ns = (double)stage->working_ns / units};
    PPI_SAY(demand->name, "%s", model->names[stage->name].text);
  }
}

// Busy while others wait: the rest of its time is unknown. Its stages are the
// ranges that have it.
static void put_lock(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_limit_held_lock *lock = &search->lock;
  ppi_limit *out = search->out;
  const uint32_t at = (uint32_t)out->num_servers;
  double every_ns =
      (double)model->time_ns / (double)PPI_MAX(model->num_counted, 1);
  uint32_t places = lock->place == PPI_NONE ? 1 : lock->places;
  search->servers[at] = PPI_NONE;
  ppi_limit_server *server = &out->servers[out->num_servers++];
  *server = (ppi_limit_server){.kind = PPI_SERVER_LOCK,
                               .num = places,
                               .utilization = lock->use,
                               .occupied = lock->use,
                               .demand_ns = lock->use * every_ns * places,
                               .line_ns = lock->waiting * every_ns};
  PPI_SAY(server->name, "%s", ppi_wait_object(model->names[lock->name].text));
  for (size_t i = 0;
       i < lock->num_holders && out->num_demands < PPI_LIMIT_DEMANDS; i++) {
    ppi_limit_demand *demand = &out->demands[out->num_demands++];
    *demand =
        (ppi_limit_demand){.server = at,
                           .utilization = lock->use * lock->held[i],
                           .demand_ns = server->demand_ns * lock->held[i]};
    PPI_SAY(demand->name, "%s", model->names[lock->holders[i]].text);
  }
}

// Tasks of a busy event loop wait for it within their ranges: their times are
// no least ones.
static bool waits_for_loop(const ppi_limit_model *model, uint32_t name) {
  const ppi_limit_name *of = &model->names[name];
  const ppi_limit_call *call = &model->calls[model->by_name[of->first]];
  for (size_t i = 0; of->num && i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->is_relevant && station->kind == PPI_STATION_THREADS &&
        station->servers == 1 && station->use >= 0.8)
      return call->flags & PPI_CALL_LOOSE;
  }
  return false;
}

static void put_round(const ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  bool is_request = model->unit_kind == PPI_UNIT_REQUEST;
  out->every_ns =
      (double)model->time_ns / (double)PPI_MAX(model->num_counted, 1);
  if (!is_request) {
    out->under_way = 1;
    out->round_ns = out->every_ns;
  } else if (search->is_closed) {
    out->under_way = search->under_way;
    for (size_t i = 0; i < search->blame.num_pieces; i++)
      if (search->blame.pieces[i].kind == PPI_BLAME_WORK &&
          !waits_for_loop(model, search->blame.pieces[i].of))
        out->round_ns += (double)search->blame.pieces[i].ns /
                         (double)search->blame.num_units;
    // Waiting for a lock is no part of it.
    if (search->lock.name != PPI_NONE)
      out->round_ns -=
          PPI_MIN(search->lock.waiting * out->every_ns, out->round_ns);
  }
}

void ppi_limit_list_servers(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  size_t num = 0;
  const ppi_station **found =
      ppi_alloc((model->num_stations + 1) * sizeof *found);
  search->failed |= !found;
  if (!found) return;
  for (size_t i = 0; i < model->num_stations; i++)
    if (model->stations[i].is_relevant) found[num++] = &model->stations[i];
  if (num > 1) qsort(found, num, sizeof *found, compare_stations);
  bool has_lock = search->lock.name != PPI_NONE && search->lock.is_relevant;
  for (size_t i = 0; i <= num; i++) {
    if (has_lock && out->num_servers < PPI_LIMIT_SERVERS &&
        (i == num || found[i]->use <= search->lock.use)) {
      put_lock(search);
      has_lock = false;
    }
    if (i == num || out->num_servers == PPI_LIMIT_SERVERS) break;
    search->servers[out->num_servers] = (uint32_t)(found[i] - model->stations);
    put_server(search, found[i], &out->servers[out->num_servers]);
    put_demands(model, found[i], out);
    out->num_servers++;
  }
  ppi_free(found);
  put_round(search);
}
