// SPDX-License-Identifier: Apache-2.0
//
// What a finished report holds: names and integers, free of ids and paths, so
// that reports of several processes add up. Views read it; nothing writes it
// but finish and merge.
#ifndef PPI_REPORT_H_
#define PPI_REPORT_H_

#include "event_impl.h"
#include "identity.h"
#include "pprof/report.h"
#include "report_messages.h"
#include "report_queue.h"
#include "scope.h"

#ifdef __cplusplus
extern "C" {
#endif

// A registered category's number means nothing outside its process: its name
// alone identifies it.
#define PPI_CATEGORY_REGISTERED UINT32_MAX

// One named thing: all sites of one name and category.
typedef struct ppi_report_name {
  char *name, *category_name;
  uint32_t category;
  ppi_spread host;    // host ranges
  ppi_spread submit;  // host sides of device ranges
  ppi_spread device;  // device sides
  ppi_histogram host_times, device_times;
  ppi_spread inside;      // device time per range: submitted in it, or its own
  ppi_messages messages;  // of Communication
} ppi_report_name;

typedef struct ppi_report_category {
  char *name;
  uint32_t category;
  uint64_t host_calls, host_ns;      // ranges, and their union
  uint64_t device_calls, device_ns;  // timed device ranges, and their union
} ppi_report_category;

// The types of the Model table, in the order of its rows.
typedef enum ppi_phase_kind {
  PPI_PHASE_PROFILE_STEP = 0,
  PPI_PHASE_DATALOADER,
  PPI_PHASE_FORWARD,
  PPI_PHASE_BACKWARD,
  PPI_PHASE_OPTIMIZATION,
  PPI_PHASE_PREPROCESS,
  PPI_PHASE_INFERENCE,
  PPI_PHASE_POSTPROCESS,
  PPI_PHASE_CPU_TASK,
  PPI_NUM_PHASES
} ppi_phase_kind;

typedef struct ppi_report_phase {
  ppi_spread host;    // outermost ranges
  ppi_spread device;  // device time submitted in each
} ppi_report_phase;

typedef struct ppi_report_device {
  char *name;
  uint64_t ranges, untimed;  // timed device ranges; those without a time
  uint64_t used_ns;          // what the Device table shows, of the base's time
  uint64_t more_base_ns;     // of further devices of this name in one run
  uint64_t runs_with_kernels;
  uint64_t wall_ns, busy_ns, idle_ns[PPI_NUM_IDLE];
  uint64_t steps_checked, steps_failed;
  bool failed, incomplete;
} ppi_report_device;

// The device ranges of one name and category on one device.
typedef struct ppi_report_queue {
  char *name, *category_name, *device;
  ppi_queue sums;
} ppi_report_queue;

// Sums of a lane's work amounts and counter values, added in the lane's order.
// They stay apart so that adding them up has one order.
typedef struct ppi_report_work {
  char *run, *name, *category_name;
  uint32_t lane;
  uint64_t num_values;
  double items, bytes, flops, params, value;
} ppi_report_work;

typedef struct ppi_report_note {
  char *key, *text;
} ppi_report_note;

typedef struct ppi_report_input {
  char *uuid, *host, *pid;
} ppi_report_input;

typedef struct ppi_figures {
  ppi_report_name *names;  // by category name, then name
  size_t num_names, names_capacity;
  ppi_report_category *categories;  // by name
  size_t num_categories, categories_capacity;
  ppi_report_device *devices;  // by name
  size_t num_devices, devices_capacity;
  ppi_report_queue *queues;  // by category name, name, device
  size_t num_queues, queues_capacity;
  ppi_report_work *work;  // by category name, name, run, lane
  size_t num_work, work_capacity;
  ppi_report_note *notes;  // by key, then text; no two alike
  size_t num_notes, notes_capacity;
  ppi_report_input *inputs;  // by uuid, host, pid
  size_t num_inputs, inputs_capacity;
  ppi_report_phase phases[PPI_NUM_PHASES];
  uint64_t base_ns;  // of ratios: union of steps, or else the windows
  uint64_t wall_ns;  // the windows
  uint64_t runs_with_steps, runs_without_steps, runs_with_kernels;
  // Bases of device ratios: device time in steps, or else all of it.
  uint64_t model_device_ns, general_device_ns;
  uint64_t totals[PPI_NUM_TOTALS];
} ppi_figures;

// ppi_report_figures answers NULL before finish.
const ppi_figures *ppi_report_figures(const pprof_report *report);
bool ppi_report_identity_ok(const pprof_report *report);
uint64_t ppi_report_total(const pprof_report *report, ppi_total_key key);

// Lookups that add what is missing; NULL when out of memory. `key` may be NULL
// where a text is unknown.
ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name);
ppi_report_category *ppi_figures_category(ppi_figures *figures,
                                          uint32_t category, const char *name);
ppi_report_device *ppi_figures_device(ppi_figures *figures, const char *name);
ppi_report_queue *ppi_figures_queue(ppi_figures *figures,
                                    const ppi_report_queue *key);
ppi_report_work *ppi_figures_work(ppi_figures *figures,
                                  const ppi_report_work *key);
pprof_status ppi_figures_note(ppi_figures *figures, const char *key,
                              const char *text);
pprof_status ppi_figures_input(ppi_figures *figures,
                               const ppi_report_input *input);
pprof_status ppi_figures_add(ppi_figures *into, const ppi_figures *from);
void ppi_figures_clear(ppi_figures *figures);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_H_
