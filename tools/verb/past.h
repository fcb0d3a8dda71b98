// SPDX-License-Identifier: Apache-2.0
//
// Reads a folder of past logs: of one program, or of one commit after another.
// Main thread only.
#pragma once

#include "compare/compare_samples.h"
#include "input/folder.h"
#include "input/repeated.h"

// The runs of one commit or date: the logs of a subfolder, or a log.
typedef struct ppi_past_point {
  char *name;
  ppi_samples samples;
} ppi_past_point;

typedef struct ppi_past {
  ppi_past_point *points;
  size_t num, capacity;
  bool wants_energy;  // set before the read
} ppi_past;

// ppi_past_read reads `folder`: each subfolder is a point, and so is each log
// in it; with `is_one_program` those logs are one point together. Answers
// PPI_EXIT_DONE, _DAMAGED, or _INPUT, the latter two after a message.
int ppi_past_read(ppi_past *past, const char *folder, size_t num_warm,
                  bool is_one_program);

// ppi_past_read_folder reads all logs of a folder into one sink: the runs that
// `met` lacks, or all runs if it is NULL. `logs` gets the paths, which `met`
// borrows. Answers as ppi_past_read does.
int ppi_past_read_folder(const char *path, struct ppi_tool_runs *met,
                         ppi_tool_paths *logs, ppi_samples *samples);
