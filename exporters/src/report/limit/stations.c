// SPDX-License-Identifier: Apache-2.0
//
// Makes servers of rows: how long each is occupied and works, which rows serve
// the same stages, and which names have a limited number of calls at a time.
#include "report/limit/find.h"
#include "report/limit/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"

static const double alike = 0.5, overlaps = 1.05, one_time_occupied = 0.8;

// ---- time of rows ----

static void measure_device_row(const ppi_limit_model *model,
                               ppi_limit_row *row) {
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    uint64_t length_ns = call->end_ns - call->start_ns;
    uint64_t within_ns = ppi_call_within(model, call);
    row->occupied_ns += within_ns;
    if (length_ns)
      row->working_ns += (uint64_t)((double)within_ns * (double)call->work_ns /
                                    (double)length_ns);
  }
  row->taken_ns = row->occupied_ns;
}

static void measure_rows(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_rows; i++) {
    ppi_limit_row *row = &model->rows[i];
    if (row->is_device) {
      measure_device_row(model, row);
      continue;
    }
    for (size_t k = 0; k < row->num_outer; k++)
      row->occupied_ns += ppi_call_within(model, &model->calls[row->outer[k]]);
    row->working_ns = row->taken_ns = row->occupied_ns;
  }
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!ppi_call_is_on_thread(call) ||
        !ppi_call_is_top_wait(model, (uint32_t)i))
      continue;
    uint64_t ns =
        ppi_model_within(model, model->waits[i].from_ns, model->waits[i].to_ns);
    ppi_limit_row *row = &model->rows[call->row];
    row->working_ns -= PPI_MIN(ns, row->working_ns);
    if (!call->num) row->taken_ns -= PPI_MIN(ns, row->taken_ns);
  }
}

// ---- stations ----

static ppi_station *add_station(ppi_limit_model *model, ppi_station_kind kind) {
  if (!PPI_ROOM(model->stations, model->stations_capacity,
                model->num_stations + 1))
    return NULL;
  ppi_station *station = &model->stations[model->num_stations++];
  *station = (ppi_station){
      .kind = kind, .name = PPI_NONE, .device = PPI_NONE, .beside = PPI_NONE};
  return station;
}

static bool add_row(ppi_limit_model *model, uint32_t at, uint32_t row) {
  ppi_station *station = &model->stations[at];
  uint32_t *grown = ppi_realloc(
      station->rows, (station->num_rows + 1) * sizeof *station->rows);
  if (!grown) return false;
  station->rows = grown;
  grown[station->num_rows++] = row;
  station->servers = (uint32_t)station->num_rows;
  model->rows[row].station = at;
  return true;
}

static bool add_stage(ppi_station *station, uint32_t name, uint64_t ns) {
  return PPI_PUSH(station->stages, station->num_stages,
                  station->stages_capacity,
                  (ppi_limit_stage){name, ns, 0, PPI_NONE, ns > 0});
}

// The index of each name in the stages of one station, plus one; 0: not there.
typedef struct grouping {
  ppi_limit_model *model;
  uint32_t *places;
} grouping;

static void take_places(const grouping *of, const ppi_station *station) {
  for (size_t i = 0; i < station->num_stages; i++)
    of->places[station->stages[i].name] = (uint32_t)i + 1;
}

static void leave_places(const grouping *of, const ppi_station *station) {
  for (size_t i = 0; i < station->num_stages; i++)
    of->places[station->stages[i].name] = 0;
}

static bool add_stages(const grouping *of, const ppi_limit_row *row,
                       ppi_station *station) {
  const ppi_limit_model *model = of->model;
  bool is_done = true;
  take_places(of, station);
  for (size_t i = 0; i < row->num_parts && is_done; i++) {
    uint32_t name = model->calls[row->parts[i]].name, *place;
    uint64_t ns = model->working_ns[row->parts[i]];
    place = &of->places[name];
    if (*place) {
      station->stages[*place - 1].working_ns += ns;
      station->stages[*place - 1].calls += ns > 0;
    } else {
      is_done = add_stage(station, name, ns);
      *place = (uint32_t)station->num_stages;
    }
  }
  leave_places(of, station);
  return is_done;
}

static double all_working(const ppi_station *station) {
  double ns = 0;
  for (size_t i = 0; i < station->num_stages; i++)
    ns += (double)station->stages[i].working_ns;
  return ns;
}

// Whether half of the time of both, at least, is in the same stages; those of
// `b` have the indexes.
static bool serve_alike(const grouping *of, const ppi_station *a,
                        const ppi_station *b) {
  double a_ns = all_working(a), b_ns = all_working(b), same = 0;
  if (a_ns <= 0 || b_ns <= 0) return false;
  for (size_t i = 0; i < a->num_stages; i++) {
    uint32_t place = of->places[a->stages[i].name];
    if (place)
      same += PPI_MIN((double)a->stages[i].working_ns / a_ns,
                      (double)b->stages[place - 1].working_ns / b_ns);
  }
  return same >= alike;
}

static uint32_t find_alike(const grouping *of, const ppi_station *own,
                           const ppi_station *firsts) {
  uint32_t found = PPI_NONE;
  take_places(of, own);
  for (size_t i = 0; i < of->model->num_stations && found == PPI_NONE; i++)
    if (serve_alike(of, &firsts[i], own)) found = (uint32_t)i;
  leave_places(of, own);
  return found;
}

// The first row of a station stands for it.
static bool group_thread(const grouping *of, uint32_t at, ppi_station *firsts) {
  ppi_limit_model *model = of->model;
  ppi_station own = {0};
  ppi_limit_row *row = &model->rows[at];
  if (!add_stages(of, row, &own)) {
    ppi_free(own.stages);
    return false;
  }
  uint32_t found = find_alike(of, &own, firsts);
  if (found == PPI_NONE) {
    if (!add_station(model, PPI_STATION_THREADS)) return false;
    found = (uint32_t)model->num_stations - 1;
    firsts[found] = own;
  } else {
    ppi_free(own.stages);
  }
  return add_row(model, found, at) &&
         add_stages(of, row, &model->stations[found]);
}

static bool group_threads(const grouping *of) {
  ppi_limit_model *model = of->model;
  ppi_station *firsts = ppi_alloc((model->num_rows + 1) * sizeof *firsts);
  bool is_done = firsts != NULL;
  for (size_t i = 0; i < model->num_rows && is_done; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (!row->is_device && row->occupied_ns)
      is_done = group_thread(of, (uint32_t)i, firsts);
  }
  for (size_t i = 0; firsts && i < model->num_stations; i++)
    ppi_free(firsts[i].stages);
  ppi_free(firsts);
  return is_done;
}

// ---- devices ----

// The time of marked rows, summed and as a union.
typedef struct overlap {
  double sum_ns, union_ns;
} overlap;

static overlap overlap_of(const ppi_limit_model *model, const uint8_t *marks,
                          uint8_t mark) {
  uint64_t until_ns = 0;
  overlap out = {0, 0};
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_DEVICE) || marks[call->row] != mark) continue;
    out.sum_ns += (double)ppi_call_within(model, call);
    uint64_t from_ns = PPI_MAX(call->start_ns, until_ns);
    if (call->end_ns <= from_ns) continue;
    out.union_ns += (double)ppi_model_within(model, from_ns, call->end_ns);
    until_ns = call->end_ns;
  }
  return out;
}

// Streams that never overlap are one server.
static bool is_one_server(const overlap *of) {
  return of->sum_ns <= overlaps * of->union_ns;
}

// The overlap that chance gives independent streams. 0: these streams overlap,
// or the time is too short to decide.
static double avoided(const ppi_limit_model *model, const overlap *of,
                      double a_ns, double b_ns) {
  const double least = 0.02, most_of_chance = 0.2;
  double time_ns = (double)model->time_ns;
  double chance_ns = a_ns * b_ns / time_ns;
  bool avoid = chance_ns >= least * time_ns && is_one_server(of) &&
               of->sum_ns - of->union_ns <= most_of_chance * chance_ns;
  return avoid ? chance_ns : 0;
}

// Joins `row` to the server of the device that `row` avoids most; without one,
// it becomes a server of its own. Marks of servers begin with 1; 0: no stream
// of the device.
static uint8_t mark_stream(const ppi_limit_model *model, size_t row,
                           uint8_t *marks, uint8_t num) {
  double own_ns = (double)model->rows[row].occupied_ns, most_ns = 0;
  uint8_t best = (uint8_t)(num + 1);
  for (uint8_t mark = 1; mark <= num; mark++) {
    marks[row] = 0;
    overlap before = overlap_of(model, marks, mark);
    marks[row] = mark;
    overlap with = overlap_of(model, marks, mark);
    double ns = avoided(model, &with, before.union_ns, own_ns);
    if (ns <= most_ns) continue;
    most_ns = ns;
    best = mark;
  }
  marks[row] = best;
  return PPI_MAX(best, num);
}

// Marks streams by server; answers the number of servers.
static uint8_t mark_servers(const ppi_limit_model *model, uint32_t device,
                            uint8_t *marks) {
  enum { MOST = 32 };
  uint8_t num = 0;
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    bool is_of = row->is_device && row->device == device && row->occupied_ns;
    marks[i] = is_of;
  }
  overlap all = overlap_of(model, marks, 1);
  if (is_one_server(&all)) return 1;
  memset(marks, 0, model->num_rows);
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (!row->is_device || row->device != device || !row->occupied_ns) continue;
    if (num < MOST)
      num = mark_stream(model, i, marks, num);
    else
      marks[i] = num < UINT8_MAX ? ++num : num;
  }
  return num;
}

static bool add_device_rows(const grouping *of, uint32_t device,
                            uint8_t *marks) {
  ppi_limit_model *model = of->model;
  uint8_t num = mark_servers(model, device, marks);
  for (uint8_t mark = 1; mark <= num; mark++) {
    ppi_station *station = add_station(model, PPI_STATION_DEVICE);
    if (!station) return false;
    station->device = device;
    uint32_t at = (uint32_t)model->num_stations - 1;
    for (size_t i = 0; i < model->num_rows; i++)
      if (marks[i] == mark &&
          (!add_row(model, at, (uint32_t)i) ||
           !add_stages(of, &model->rows[i], &model->stations[at])))
        return false;
    model->stations[at].servers = 1;
  }
  return true;
}

static bool add_devices(const grouping *of) {
  ppi_limit_model *model = of->model;
  uint8_t *marks = ppi_alloc(model->num_rows + 1);
  bool is_done = marks != NULL;
  for (size_t i = 0; i < model->num_rows && is_done; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (row->is_device && row->occupied_ns && row->station == PPI_NONE)
      is_done = add_device_rows(of, row->device, marks);
  }
  ppi_free(marks);
  return is_done;
}

// ---- one at a time ----

uint32_t ppi_most_at_once(const ppi_limit_model *model, ppi_border *borders,
                          size_t num) {
  enum { MOST = 256 };
  uint64_t ns[MOST] = {0}, before_ns = 0, above_ns = 0;
  size_t open = 0;
  ppi_sort_keyed(borders, num);
  for (size_t i = 0; i < num; i++) {
    ns[PPI_MIN(open, (size_t)MOST - 1)] +=
        ppi_model_within(model, before_ns, borders[i].key);
    before_ns = borders[i].key;
    open += (size_t)(long)ppi_border_change(&borders[i]);
  }
  uint32_t most = MOST - 1;
  while (most > 0) {
    above_ns += ns[most];
    if (200 * above_ns > model->time_ns) break;
    most--;
  }
  return most;
}

// The rows of a name, and how long these are occupied.
static size_t rows_of(const ppi_limit_model *model, const ppi_limit_name *name,
                      uint8_t *seen, uint64_t *out_occupied_ns) {
  size_t num = 0;
  memset(seen, 0, model->num_rows);
  *out_occupied_ns = 0;
  for (size_t i = 0; i < name->num; i++) {
    const ppi_limit_call *call = &model->calls[model->by_name[name->first + i]];
    if (!ppi_call_is_on_thread(call) || seen[call->row]) continue;
    seen[call->row] = 1;
    num++;
    *out_occupied_ns += model->rows[call->row].occupied_ns;
  }
  return num;
}

static bool add_places(ppi_limit_model *model, ppi_station_kind kind,
                       uint32_t name, uint32_t servers, uint64_t ns) {
  ppi_station *station = add_station(model, kind);
  if (!station || !add_stage(station, name, ns)) return false;
  station->name = name;
  station->servers = servers;
  station->occupied_ns = station->working_ns = station->taken_ns = ns;
  station->is_relevant = true;
  return true;
}

bool ppi_model_add_places(ppi_limit_model *model, uint32_t name,
                          uint32_t servers, uint64_t ns) {
  if (!add_places(model, PPI_STATION_ELSEWHERE, name, servers, ns))
    return false;
  ppi_station *station = &model->stations[model->num_stations - 1];
  double servers_ns = (double)servers * (double)model->time_ns;
  if (servers_ns > 0) station->use = (double)ns / servers_ns;
  return true;
}

static bool add_one_at_a_time(ppi_limit_model *model, uint32_t at,
                              ppi_border *borders, uint8_t *seen) {
  const ppi_limit_name *name = &model->names[at];
  uint64_t occupied_ns, ns = 0;
  size_t rows = rows_of(model, name, seen, &occupied_ns), num = 0;
  double busy = (double)occupied_ns /
                ((double)PPI_MAX(rows, 1) * (double)PPI_MAX(model->time_ns, 1));
  if (rows < 2 || busy < one_time_occupied || name->waits != PPI_WAITS_NOT)
    return true;
  for (size_t i = 0; i < name->num; i++) {
    uint32_t index = model->by_name[name->first + i];
    const ppi_limit_call *call = &model->calls[index];
    if (!ppi_call_is_on_thread(call)) continue;
    borders[num++] = ppi_begin_border(call->start_ns);
    borders[num++] = ppi_end_border(call->end_ns);
    // The places inside have the rest.
    ns += name->in_line_for != PPI_NONE && call->flags & PPI_CALL_PART
              ? model->working_ns[index]
              : ppi_call_within(model, call);
  }
  uint32_t most = ppi_most_at_once(model, borders, num);
  if (!most || most >= rows) return true;
  return add_places(model, PPI_STATION_ONE_AT_A_TIME, at, most, ns);
}

uint32_t ppi_station_of_places(const ppi_limit_model *model, uint32_t name) {
  for (uint32_t i = 0; i < model->num_stations && name != PPI_NONE; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind == PPI_STATION_ONE_AT_A_TIME && station->num_stages &&
        station->stages[0].name == name)
      return i;
  }
  return PPI_NONE;
}

static bool find_one_at_a_time(ppi_limit_model *model) {
  ppi_border *borders = ppi_alloc((2 * model->num_calls + 1) * sizeof *borders);
  uint8_t *seen = ppi_alloc(model->num_rows + 1);
  bool is_done = borders && seen;
  for (size_t i = 0; i < model->num_names && is_done; i++)
    if (model->names[i].num && !ppi_name_mostly_waits(&model->names[i]))
      is_done = add_one_at_a_time(model, (uint32_t)i, borders, seen);
  ppi_free(borders);
  ppi_free(seen);
  return is_done;
}

// ---- how many rows are taken ----

static bool is_of_station(const ppi_limit_model *model,
                          const ppi_limit_call *call, uint32_t at) {
  return model->rows[call->row].station == at;
}

static size_t list_borders(const ppi_limit_model *model, uint32_t at,
                           ppi_border *borders) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & (PPI_CALL_LOOSE | PPI_CALL_STEP)) continue;
    if (!is_of_station(model, call, at)) continue;
    if (call->flags & PPI_CALL_DEVICE || call->parent == PPI_NO_CALL) {
      borders[num++] = ppi_begin_border(call->start_ns);
      borders[num++] = ppi_end_border(call->end_ns);
    }
    if (call->flags & PPI_CALL_DEVICE || call->num ||
        !ppi_call_is_top_wait(model, (uint32_t)i))
      continue;
    borders[num++] = ppi_end_border(model->waits[i].from_ns);
    borders[num++] = ppi_begin_border(model->waits[i].to_ns);
  }
  ppi_sort_keyed(borders, num);
  return num;
}

static double full_part(const ppi_limit_model *model,
                        const ppi_station *station) {
  uint64_t ns = 0;
  for (size_t i = 0; i + 1 < station->num_borders; i++)
    if (station->taken[i] >= station->servers)
      ns += ppi_model_within(model, station->borders_ns[i],
                             station->borders_ns[i + 1]);
  return model->time_ns ? (double)ns / (double)model->time_ns : 0;
}

bool ppi_station_count(const ppi_limit_model *model, ppi_station *station,
                       const ppi_border *borders, size_t num) {
  station->borders_ns = ppi_alloc((num + 1) * sizeof(uint64_t));
  station->taken = ppi_alloc((num + 1) * sizeof(uint32_t));
  if (!station->borders_ns || !station->taken) return false;
  long taken = 0;
  for (size_t k = 0; k < num; k++) {
    taken += ppi_border_change(&borders[k]);
    size_t last = station->num_borders;
    if (!last || station->borders_ns[last - 1] != borders[k].key)
      last = ++station->num_borders;
    station->borders_ns[last - 1] = borders[k].key;
    station->taken[last - 1] = taken > 0 ? (uint32_t)taken : 0;
  }
  station->full = full_part(model, station);
  return true;
}

static bool find_taken(ppi_limit_model *model) {
  ppi_border *borders = ppi_alloc((4 * model->num_calls + 1) * sizeof *borders);
  bool is_done = borders != NULL;
  for (size_t i = 0; i < model->num_stations && is_done; i++) {
    ppi_station *station = &model->stations[i];
    if (station->kind == PPI_STATION_ONE_AT_A_TIME) continue;
    is_done = ppi_station_count(model, station, borders,
                                list_borders(model, (uint32_t)i, borders));
  }
  ppi_free(borders);
  return is_done;
}

uint32_t ppi_station_taken(const ppi_station *station, uint64_t time_ns,
                           uint64_t *out_until_ns) {
  size_t at = ppi_count_below(station->borders_ns, station->num_borders,
                              sizeof *station->borders_ns, time_ns + 1);
  *out_until_ns =
      at < station->num_borders ? station->borders_ns[at] : UINT64_MAX;
  return at ? station->taken[at - 1] : 0;
}

uint64_t ppi_station_full_ns(const ppi_station *station, uint64_t from_ns,
                             uint64_t to_ns) {
  uint64_t ns = 0;
  for (uint64_t time_ns = from_ns, until_ns; time_ns < to_ns;
       time_ns = until_ns) {
    bool is_taken =
        ppi_station_taken(station, time_ns, &until_ns) >= station->servers;
    until_ns = PPI_MIN(until_ns, to_ns);
    if (is_taken) ns += until_ns - time_ns;
  }
  return ns;
}

// ---- all ----

static int compare_stages(const void *left, const void *right) {
  const ppi_limit_stage *a = left, *b = right;
  uint64_t a_ns = a->working_ns + a->in_turn_ns;
  uint64_t b_ns = b->working_ns + b->in_turn_ns;
  if (a_ns != b_ns) return a_ns > b_ns ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

static void sum_stations(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_stations; i++) {
    ppi_station *station = &model->stations[i];
    for (size_t k = 0; k < station->num_rows; k++) {
      const ppi_limit_row *row = &model->rows[station->rows[k]];
      station->occupied_ns += row->occupied_ns;
      station->working_ns += row->working_ns;
      station->taken_ns += row->taken_ns;
    }
    double servers_ns = (double)station->servers * (double)model->time_ns;
    if (servers_ns > 0) station->use = (double)station->working_ns / servers_ns;
  }
}

static void sort_stages(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_stations; i++) {
    ppi_station *station = &model->stations[i];
    if (station->num_stages > 1)
      qsort(station->stages, station->num_stages, sizeof *station->stages,
            compare_stages);
  }
}

// The stream's number on its device and the number of streams: of those with
// its greatest stage, or of all.
static size_t count_streams(const ppi_limit_model *model, size_t at,
                            bool of_stage, size_t *out_all) {
  const ppi_station *self = &model->stations[at];
  size_t before = 0;
  *out_all = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *other = &model->stations[i];
    if (other->kind != PPI_STATION_DEVICE || other->device != self->device ||
        (of_stage &&
         (!other->num_stages || other->stages[0].name != self->stages[0].name)))
      continue;
    before += i < at;
    ++*out_all;
  }
  return before;
}

// Names streams of one device that work at the same time by their stages.
static bool name_streams(ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_stations; i++) {
    ppi_station *station = &model->stations[i];
    char label[160], number[24] = "";
    size_t all;
    if (station->kind != PPI_STATION_DEVICE || !station->num_stages) continue;
    count_streams(model, i, false, &all);
    if (all < 2) continue;
    size_t before = count_streams(model, i, true, &all);
    if (all > 1)
      PPI_SAY(number, " %zu", before + 1);
    else if (station->num_rows > 1)
      PPI_SAY(number, "s");
    PPI_SAY(label, "%s (stream%s of %s)", model->rows[station->rows[0]].name,
            number, model->names[station->stages[0].name].text);
    station->label = ppi_strdup(label);
    if (!station->label) return false;
  }
  return true;
}

bool ppi_model_find_stations(ppi_limit_model *model) {
  measure_rows(model);
  grouping of = {
      .model = model,
      .places = ppi_alloc((model->num_names + 1) * sizeof(uint32_t))};
  bool is_done = of.places && ppi_model_find_stages(model) &&
                 group_threads(&of) && ppi_model_take_out_hot_rows(model) &&
                 add_devices(&of) && find_one_at_a_time(model);
  ppi_free(of.places);
  if (!is_done || !ppi_model_find_relevant(model)) return false;
  sum_stations(model);
  ppi_model_find_cpu(model);
  if (!ppi_model_find_in_turn(model) || !ppi_model_find_batches(model))
    return false;
  sort_stages(model);
  return name_streams(model) && find_taken(model);
}
