// SPDX-License-Identifier: Apache-2.0
//
// An export is a sink that takes all runs and then finishes a file. It counts
// the parts of events that its format leaves out. One thread.
#pragma once

#include <stdio.h>

#include "export/names.h"
#include "report/report.h"

// The parts of a log that some formats leave out.
#define PPI_EXPORT_PARTS(X)                                \
  X(MARKS, "marks")                                        \
  X(COUNTERS, "counter values")                            \
  X(LOOSE, "ranges that end anywhere, as steps do")        \
  X(SUBMITS, "submissions of device ranges")               \
  X(STAGES, "device ranges that are no kernels or copies") \
  X(UNTIMED, "device ranges without a time")               \
  X(FLOWS, "requests of ranges")                           \
  X(WORK, "amounts of work")                               \
  X(CPU, "uses of the CPU")                                \
  X(ATTRIBUTES, "attributes of ranges")                    \
  X(NUMBERS, "numbers in names")                           \
  X(OVERLAPS, "ends that are later than what is around")
enum {
#define PPI_EXPORT_ENUM_(name, text) PPI_PART_PLACE_##name,
  PPI_EXPORT_PARTS(PPI_EXPORT_ENUM_)
#undef PPI_EXPORT_ENUM_
      PPI_NUM_PARTS
};
enum {
#define PPI_EXPORT_ENUM_(name, text) \
  PPI_PART_##name = 1 << PPI_PART_PLACE_##name,
  PPI_EXPORT_PARTS(PPI_EXPORT_ENUM_)
#undef PPI_EXPORT_ENUM_
      PPI_PART_ALL = (1 << PPI_NUM_PARTS) - 1
};

// The target: `file`, or `path` for a format that opens its own files.
typedef struct ppi_export_target {
  FILE *file;
  const char *path;
  bool replaces;       // entries of the same name in a folder
  const char *schema;  // NULL: the usual one
} ppi_export_target;

typedef struct ppi_export ppi_export;
typedef struct ppi_export_format {
  const char *name, *ending;
  const char *holds;      // in words
  const char *opened_by;  // programs of others
  unsigned parts;         // PPI_PART_... that it has
  unsigned nsys_parts;    // the same for the schema `nsys`; 0: no such schema
  bool is_folder;         // it adds to a folder, which may exist
  bool of_paths;          // it has a report with paths, of all runs
  size_t size;  // of its own structure, which begins with a ppi_export
  // What it does; NULL: nothing. False: the reason is in `error`.
  bool (*open)(ppi_export *export, const ppi_export_target *target,
               pprof_error *error);
  // The last run of the names begins. Without `take` there are no names.
  void (*begin)(ppi_export *export, const pprof_run_info *info);
  void (*take)(ppi_export *export, const pprof_event *event,
               const pprof_batch *batch);
  void (*window)(ppi_export *export, uint32_t index, bool opens,
                 uint64_t time_ns);
  void (*finish)(ppi_export *export, const pprof_totals *totals);
  // Finishes the output after the last run. IO: the reason is in `error`, or
  // errno.
  pprof_status (*close)(ppi_export *export, pprof_error *error);
  void (*clear)(ppi_export *export);
} ppi_export_format;

struct ppi_export {
  pprof_sink sink;      // takes the runs, one after the other
  pprof_sink *also;     // takes them, too; `begin` may set it; NULL: none
  pprof_status status;  // of the run, for its reader
  unsigned parts;       // PPI_PART_... that it has
  uint64_t left[PPI_NUM_PARTS];  // how many of the others came
  const ppi_export_format *format;
  FILE *file;
  pprof_report *report;  // NULL: none
  ppi_export_names names;
};

// ppi_export_make makes an export with all parts, not open yet.
void *ppi_export_make(const ppi_export_format *format, FILE *file);
// ppi_export_open makes one and opens it. NULL: the reason is in `error`.
ppi_export *ppi_export_open(const ppi_export_format *format,
                            const ppi_export_target *target,
                            pprof_error *error);
void ppi_export_destroy(ppi_export *export);
// ppi_export_run_of answers the run that is being taken.
static inline const ppi_export_run *ppi_export_run_of(
    const ppi_export *export) {
  return &export->names.runs[export->names.num_runs - 1];
}

// ppi_export_is_loose: the host range takes no part in its lane's nesting.
bool ppi_export_is_loose(const pprof_event *event, const pprof_batch *batch);
bool ppi_export_is_timed(const pprof_event *event);
// ppi_export_say_left prints the counts of left-out parts, if any.
void ppi_export_say_left(const char *format, const ppi_export *export);
// ppi_export_end answers OK if all was written to `file`, else IO with the
// reason in `error`.
pprof_status ppi_export_end(FILE *file, pprof_error *error);

// Places overlapping ranges on rows without overlap: the first one that is free
// at the range's begin. Ranges may come in any order; the order of begins needs
// the fewest rows. Ranges without a free row among so many share the last one.
enum { PPI_EXPORT_MAX_LANES = 256 };

// All zero is the empty one.
typedef struct ppi_export_lanes {
  uint64_t *ends_ns;  // of the last range of each row
  size_t num, capacity;
} ppi_export_lanes;

// ppi_export_lanes_place answers the range's row: a new row has the number
// lanes->num. *num_cut counts ranges on a row that is not free.
size_t ppi_export_lanes_place(ppi_export_lanes *lanes, uint64_t start_ns,
                              uint64_t end_ns, uint64_t *num_cut);
void ppi_export_lanes_clear(ppi_export_lanes *lanes);

// ppi_export_report makes a new report, which takes what `export` takes.
void ppi_export_report(ppi_export *export, const ppi_report_details *details);
// ppi_export_frames lists `path` and the paths around it, innermost first, and
// answers their number.
size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]);

// ppi_export_formats ends with NULL.
const ppi_export_format *const *ppi_export_formats(void);
// ppi_export_find answers NULL after a message: there is no such format.
const ppi_export_format *ppi_export_find(const char *name);
