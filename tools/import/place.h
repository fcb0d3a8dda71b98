// SPDX-License-Identifier: Apache-2.0
//
// Finds the processes, rows, devices and streams of a trace by the ids in its
// events. Each kind is bounded; all beyond the bound share one place.
#pragma once

#include "base/map.h"
#include "import/own.h"

#define PPI_MAX_PROCESSES 256
#define PPI_MAX_ROWS 65536
#define PPI_MAX_DEVICES 256
#define PPI_MAX_STREAMS 4096
#define PPI_MAX_PLACE_NAME 255
#define PPI_MAX_DEVICE_KIND 15
#define PPI_NO_PLACE UINT32_MAX

typedef struct ppi_process {
  int64_t number;
  bool is_text;  // its id is no integer; `number` is made up
  bool is_device;
  bool is_named;  // by its name or a pattern; its work has no categories
  bool has_device_each_row;  // of a device: the row's id is the number
  uint64_t device;           // the number of the device, if it is one
  char kind[PPI_MAX_DEVICE_KIND + 1];  // by its label; "": GPU
  char *name, *labels;                 // NULL: none given
  uint64_t key;                        // of the id
  uint64_t num_host, num_overhead, num_launches;
  uint64_t first_work;    // launch of its first device work, biased; 0: none
  uint32_t first_stream;  // the stream of that work
  bool is_host;           // it has events that only hosts have
  bool has_device_rows;   // some of its rows are a device's
  bool owns_work;         // device work names it as its owner
  ppi_own_facts *facts;   // NULL: none, or not yet
  uint64_t ended;         // of a run of our own: the latest end of a range
} ppi_process;

typedef struct ppi_row {
  uint64_t key;     // of the id
  uint64_t number;  // OS thread; made up if the id is no thread's
  char *name;       // NULL: none given
  uint32_t process;
  uint64_t num_launches, num_ranges, num_pairs;  // begins and ends
  // Pairs of a begin and an end, by category: a device's, or others.
  bool has_device_pairs, has_host_pairs;
  bool is_device;  // pairs are work of a device
  uint32_t lane;   // of a run of our own
  bool has_lane;
  bool is_projected;  // of a device: derived ranges, no work of its own
  bool is_python;     // Python functions of a thread, beside its operators
  bool is_text, is_other;
} ppi_row;

typedef struct ppi_device {
  uint64_t number;
  char kind[PPI_MAX_DEVICE_KIND + 1];  // "": GPU
} ppi_device;

typedef struct ppi_stream {
  uint32_t device, row;  // the row names it
  uint64_t number;
} ppi_stream;

typedef struct ppi_places {
  ppi_process *processes;
  size_t num_processes, processes_capacity;
  ppi_row *rows;
  size_t num_rows, rows_capacity;
  ppi_map row_ids;  // of all rows but the last ones, which are others
  ppi_device devices[PPI_MAX_DEVICES];
  size_t num_devices;
  ppi_stream streams[PPI_MAX_STREAMS];
  size_t num_streams;
  ppi_map stream_ids;
  uint32_t last_process;
  // Events beyond each bound.
  uint64_t num_rows_beyond, num_processes_beyond, num_devices_beyond;
} ppi_places;

// ppi_place_process, _row, _device and _stream add a new place, too;
// PPI_NO_PLACE: out of memory.
uint32_t ppi_place_process(ppi_places *places, const ppi_scalar *pid);
// ppi_place_number gives processes with text ids unique numbers, once all are
// known.
void ppi_place_number(ppi_places *places);
uint32_t ppi_place_row(ppi_places *places, uint32_t process,
                       const ppi_scalar *tid, bool is_python);
uint32_t ppi_place_device(ppi_places *places, const char *kind,
                          uint64_t number);
// ppi_place_device_name writes a device's name: "GPU0", "MTIA17".
void ppi_place_device_name(const char *kind, uint64_t number, char *out,
                           size_t size);
uint32_t ppi_place_stream(ppi_places *places, uint32_t device, uint64_t number,
                          uint32_t row);
// ppi_place_name replaces *name by a copy of `text`; "" leaves it.
void ppi_place_name(char **name, const ppi_scalar *text);
void ppi_places_clear(ppi_places *places);
