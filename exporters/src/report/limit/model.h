// SPDX-License-Identifier: Apache-2.0
//
// The limit model: rows that serve units, grouped into stations, over a steady
// window. Its parts fill it: prepare, units, window,
// pauses, waits, stations. docs/findings.md has
// definitions and sources.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/intervals.h"
#include "report/limit/limit_calls.h"

// The delay of a thread's wake-up: the least one that explains the recorded
// times.
enum { PPI_NUM_SLACKS = 7 };
static const uint64_t ppi_slacks_ns[PPI_NUM_SLACKS] = {
    60000, 150000, 400000, 1000000, 1600000, 2000000, 2500000};

typedef enum ppi_waits {
  PPI_WAITS_NOT,
  PPI_WAITS_DEVICE,  // for its own or its request's device work
  PPI_WAITS_THREAD   // for another thread
} ppi_waits;

typedef struct ppi_limit_name {
  const char *text;
  uint32_t category;
  uint64_t time_ns;   // of all its calls
  uint64_t waits_ns;  // of recorded waits in its calls
  size_t num;
  ppi_waits waits;
  uint32_t waits_for;    // a name; PPI_NONE: arrivals or a device
  uint32_t in_line_for;  // its calls wait for this name's few places; PPI_NONE
  bool has_places;       // calls of other names are in line for it
  bool is_recorded;  // its waits are recorded, with the thread that ended them
  double eps_ns;     // delay from the awaited end to the end of its calls
  uint64_t median_ns;
  size_t first;  // of `by_name`
} ppi_limit_name;

// A thread or a stream.
typedef struct ppi_limit_row {
  const char *name;
  uint32_t id;      // of the thread or stream
  uint32_t device;  // of a stream
  bool is_device;
  uint32_t station;  // PPI_NONE: none
  uint32_t *outer;   // outermost calls, by begin
  size_t num_outer;
  uint64_t first_ns, last_ns;  // their first begin and last end
  uint32_t *between;           // recorded waits outside calls, by begin
  size_t num_between;
  uint32_t *parts;  // calls that are stages: outermost or inner ones
  size_t num_parts;
  uint64_t occupied_ns, working_ns, taken_ns;  // in the window
  uint64_t cpu_ns;
  uint64_t gap_eps_ns;  // delay from an end of its calls to the end of a gap of
                        // the thread that goes round; 0: they end no gap
  bool is_linked;  // it ends recorded waits of other threads, or they end its
                   // waits
  bool is_relevant;
} ppi_limit_row;

// A part of the demand at a station.
typedef struct ppi_limit_stage {
  uint32_t name;
  uint64_t working_ns;  // in the window
  uint64_t in_turn_ns;  // waits for its own work elsewhere
  uint32_t awaits;      // the station of that work; PPI_NONE
  size_t calls;
} ppi_limit_stage;

typedef enum ppi_station_kind {
  PPI_STATION_THREADS,
  PPI_STATION_DEVICE,
  PPI_STATION_ONE_AT_A_TIME,
  PPI_STATION_ELSEWHERE  // as one at a time, on no row
} ppi_station_kind;

// Rows that serve the same stages, or a name with a limited number of calls at
// a time.
typedef struct ppi_station {
  ppi_station_kind kind;
  uint32_t servers;
  uint32_t *rows;  // as many, or more that take turns; none for one at a time
  size_t num_rows;
  uint32_t name;    // of one at a time, of places elsewhere
  uint32_t device;  // of a device
  uint32_t beside;  // of a thread with a queue of its own: those that serve the
                    // same; PPI_NONE
  char *label;      // of one of several streams that work at a time; else NULL
  uint64_t occupied_ns, working_ns, taken_ns;
  uint64_t in_turn_ns;      // waits of its rows for their own work elsewhere
  ppi_limit_stage *stages;  // by time, greatest first
  size_t num_stages, stages_capacity;
  bool is_relevant;
  double use;           // working time by servers and window: U
  double batches_save;  // the part of it that larger batches save at most
  // The number of taken rows over time: borders, each with the number after it.
  uint64_t *borders_ns;
  uint32_t *taken;
  size_t num_borders;
  double full;  // part of the time in which all servers are taken
} ppi_station;

typedef enum ppi_unit_kind {
  PPI_UNIT_NONE,
  PPI_UNIT_REQUEST,
  PPI_UNIT_STEP,
  PPI_UNIT_ITERATION
} ppi_unit_kind;

typedef struct ppi_limit_unit {
  uint64_t start_ns, end_ns;
  size_t first, num;  // of `unit_calls`: outermost and loose calls, by begin
  bool is_left_out;   // an outlier, or outside of the window
} ppi_limit_unit;

// Adjacent device work of one call becomes one item.
typedef struct ppi_limit_work {
  uint64_t start_ns, end_ns, submit_ns;
  uint64_t work_ns;   // below its length if several are one
  uint32_t launches;  // items that became this one
  uint32_t call;      // the item that it became a part of
  uint32_t around;    // the innermost call that submitted it
} ppi_limit_work;

typedef struct ppi_limit_model {
  ppi_limit_call *calls;  // by begin
  size_t num_calls;
  uint32_t *units_of;  // units that a call serves: [first, first + num)
  ppi_limit_name *names;
  size_t num_names;
  uint32_t *by_name;      // calls, name by name, by begin
  ppi_limit_work *works;  // by begin
  size_t num_works, works_capacity;
  ppi_limit_row *rows;
  size_t num_rows;
  bool are_linked;  // some rows
  const ppi_table_ids *ids;
  bool are_links;
  ppi_limit_loop *loop;  // NULL: not asked for
  uint64_t span_ns;
  // Units.
  ppi_unit_kind unit_kind;
  ppi_limit_unit *units;          // by begin
  size_t num_units, num_counted;  // counted: in the window, no outlier
  uint32_t *unit_calls;
  uint32_t *next_call;  // by call: the next call of its unit
  size_t num_outliers;  // units that are outliers
  uint64_t outliers_ns;
  size_t num_other;  // calls between iterations that fit no pattern
  uint64_t other_ns;
  uint32_t loop_thread;  // the row that goes round; PPI_NONE
  uint32_t begins_loop;  // the name that begins an iteration
  // The window: [from_ns, to_ns) without the stretches left out.
  uint64_t from_ns, to_ns, time_ns;
  ppi_intervals left_out;
  ppi_intervals pauses;
  uint64_t pause_ns;
  ppi_interval *waits;   // by call: its own waiting, or none
  uint64_t *working_ns;  // in the window, of the parts of rows
  ppi_station *stations;
  size_t num_stations, stations_capacity;
  double cpu;     // processors that all rows compute on; < 0: not known
  double queued;  // part of the rows' time that they wait for a processor
} ppi_limit_model;

// As is recorded: it is no server.
static inline bool ppi_name_mostly_waits(const ppi_limit_name *name) {
  return 2 * name->waits_ns > name->time_ns;
}

// Calls of a runtime are parts of what launches them; the interpreter's ranges
// come at any time.
static inline bool ppi_name_may_be_stage(const ppi_limit_name *name) {
  return name->category != PPROF_CATEGORY_RUNTIME &&
         !ppi_is_of_interpreter(name->text);
}

// The name of its greatest stage; "": it has none.
static inline const char *ppi_limit_station_stage(const ppi_limit_model *model,
                                                  const ppi_station *station) {
  return station->num_stages ? model->names[station->stages[0].name].text : "";
}

// The name of a thread, a device or a stream.
static inline const char *ppi_station_name(const ppi_limit_model *model,
                                           const ppi_station *station) {
  return station->label ? station->label : model->rows[station->rows[0]].name;
}
