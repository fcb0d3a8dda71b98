// SPDX-License-Identifier: Apache-2.0
//
// The machine beside the program: troubles, each with the stage that it hits
// most, and clocks of devices.
#pragma once

#include <string.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_CATEGORY_MACHINE "Machine"
#define PPI_CATEGORY_LOOP "EventLoop"

typedef enum ppi_machine_cause {
  PPI_MACHINE_POWER_CAP,
  PPI_MACHINE_HEAT,
  PPI_MACHINE_QUOTA,
  PPI_MACHINE_SHARED_DEVICE,
  PPI_MACHINE_STOOD_STILL,
  PPI_MACHINE_NEIGHBOURS,
  PPI_MACHINE_STEAL,
  PPI_MACHINE_SWAPPING,
  PPI_NUM_MACHINE_CAUSES
} ppi_machine_cause;

// The ids of findings, in the order of ppi_machine_cause.
static inline const char *ppi_machine_cause_id(size_t cause) {
  static const char *const ids[PPI_NUM_MACHINE_CAUSES] = {
      "power-cap",   "heat",       "quota", "shared-device",
      "stood-still", "neighbours", "steal", "swapping"};
  return ids[cause];
}

enum { PPI_MACHINE_DEVICES = 16 };

// A cause on one device or on the host (device 0).
typedef struct ppi_machine_trouble {
  uint64_t num, ns;  // stretches of time, and their total
  // The stage that lost most time in the stretches, among stages with more slow
  // calls there than by chance. "": none.
  char stage[96];
  uint64_t slow, covered;  // its slow calls, and those in the stretches
  uint64_t excess_ns;      // time of the covered calls beyond the median
  uint64_t quota_ns, swap_ns, ready_ns;  // of STOOD_STILL: from counters
} ppi_machine_trouble;

// A level weighted by time.
typedef struct ppi_machine_mean {
  double sum;  // of value * ns
  double most;
  uint64_t ns;
} ppi_machine_mean;

typedef struct ppi_machine_device {
  ppi_machine_mean sm_mhz;      // all the time
  ppi_machine_mean capped_mhz;  // at the power cap, or too hot
  double sm_max_mhz;
  bool hides_processes;  // it hides whether other processes use it
} ppi_machine_device;

// All zero is the empty one.
typedef struct ppi_machine_figures {
  uint64_t num_events;        // samples of the machine's counters
  uint64_t observed_ns;       // from the first sample to the last
  double cpu_max;             // the quota in processors; 0: none
  double processors, others;  // all, and those that other processes use
  ppi_machine_trouble troubles[PPI_NUM_MACHINE_CAUSES][PPI_MACHINE_DEVICES];
  ppi_machine_device devices[PPI_MACHINE_DEVICES];
} ppi_machine_figures;

enum { PPI_GENERATIONS = 3 };
// The begin of a collection's name in the Python ledger. Collections run at any
// time, inside of any range.
#define PPI_COLLECTION "gc generation "
static inline bool ppi_is_collection(const char *name) {
  return strncmp(name, PPI_COLLECTION, sizeof PPI_COLLECTION - 1) == 0;
}

// The begin of an import's name, from the package `pprof`.
#define PPI_IMPORT "import "
static inline bool ppi_is_import(const char *name) {
  return strncmp(name, PPI_IMPORT, sizeof PPI_IMPORT - 1) == 0;
}

// Neither is a stage, however often it comes.
static inline bool ppi_is_of_interpreter(const char *name) {
  return ppi_is_collection(name) || ppi_is_import(name);
}

// Whether a call of a runtime takes memory of a device, or gives it back.
bool ppi_is_of_device_memory(const char *call);

// Garbage collections of one generation.
typedef struct ppi_collections {
  uint64_t num, ns, longest_ns;
  uint64_t units, units_hit;
  bool are_requests;  // the units are requests; else steps
} ppi_collections;

// The callback that blocked an event loop for most of the time.
typedef struct ppi_held_loop {
  char name[96];
  uint64_t num, ns, longest_ns;
  uint64_t waited;  // requests open in the longest call, but its own
  bool are_requests;
} ppi_held_loop;

// Calls of `victim` that began while `culprit` computed on another thread.
// Other calls of the victim are shorter off the processor.
typedef struct ppi_held_lock {
  char culprit[96], victim[96];
  uint64_t inside, outside;  // calls of the victim
  uint64_t ns, of_ns;        // their extra wait, and their whole time
} ppi_held_lock;

// All zero is the empty one.
typedef struct ppi_interpreter_figures {
  ppi_collections collections[PPI_GENERATIONS];
  ppi_held_loop held;
  ppi_held_lock lock;  // the interpreter's, from CPU use
} ppi_interpreter_figures;

void ppi_interpreter_figures_add(ppi_interpreter_figures *into,
                                 const ppi_interpreter_figures *from);
void ppi_machine_figures_add(ppi_machine_figures *into,
                             const ppi_machine_figures *from);
// ppi_machine_mean_of answers the mean; 0: no time.
double ppi_machine_mean_of(const ppi_machine_mean *mean);

PPROF_END_C_
