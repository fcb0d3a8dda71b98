// SPDX-License-Identifier: Apache-2.0
//
// Maps an event's category text and name to a category, as the table of
// docs/import.md has it.
#pragma once

#include "pprof/mark.h"

// Bits of ppi_class.is, and of the dialects found in a trace.
enum {
  PPI_IS_PYTORCH = 256,
  PPI_IS_PADDLE = 512,
  PPI_IS_ORT = 1024,
  PPI_IS_ANY_DIALECT = PPI_IS_PYTORCH | PPI_IS_PADDLE | PPI_IS_ORT
};

typedef struct ppi_dialect {
  uint32_t is;
  const char *what;       // "a Paddle trace"
  bool has_day_times;     // without a base, too
  bool has_coarse_times;  // whole microseconds
  bool has_device_rows;   // processes are numbered by device
} ppi_dialect;

// ppi_dialect_of answers the first dialect among the bits; Chrome's own for
// none.
const ppi_dialect *ppi_dialect_of(uint32_t bits);

// Categories that only imported traces have.
#define PPI_CATEGORY_GPU_ANNOTATION PPROF_CATEGORY_FIRST_REGISTERED
#define PPI_CATEGORY_OVERHEAD (PPROF_CATEGORY_FIRST_REGISTERED + 1)
#define PPI_CATEGORY_DYGRAPH_LAUNCH (PPROF_CATEGORY_FIRST_REGISTERED + 2)
#define PPI_CATEGORY_STATIC_LAUNCH (PPROF_CATEGORY_FIRST_REGISTERED + 3)
#define PPI_CATEGORY_PYTHON_FUNCTION (PPROF_CATEGORY_FIRST_REGISTERED + 4)
#define PPI_CATEGORY_CUDA_SYNC (PPROF_CATEGORY_FIRST_REGISTERED + 5)
const char *ppi_import_category_name(uint32_t category);

enum {
  PPI_IS_COMMUNICATION = 1,
  PPI_IS_DEVICE = 2,
  PPI_IS_DEVICE_WITH_IDS = 4,  // if it has a correlation or a stream
  PPI_IS_FRAME = 8,            // of the profiler itself; left out
  PPI_IS_PYTHON_FRAME = 16,    // on a lane of its own
  PPI_IS_OVERHEAD = 32,        // of no process of its own
  PPI_IS_OWNER = 64,           // its External id is its own
  PPI_IS_LAUNCH = 128,         // its correlation id is that of its work
  // 256 to 1024: dialects
  PPI_IS_PROJECTED = 4096,  // spans a range's work
  PPI_IS_ASYNC = 2048,      // takes no part in its thread's nesting
  PPI_IS_CALLER = 8192,     // a Python function around operators
  PPI_IS_WORK = 16384,      // a launch that always submits work
  PPI_IS_PYTHON_FUNCTION = PPI_IS_PYTHON_FRAME | PPI_IS_CALLER
};

typedef struct ppi_class {
  uint32_t category;
  uint32_t is;  // PPI_IS_... bits
} ppi_class;

typedef struct ppi_label {
  const char *cat, *name;
  size_t cat_len, name_len;
} ppi_label;

ppi_class ppi_classify(const ppi_label *label);
// ppi_import_category finds the category with exactly this name.
bool ppi_import_category(const ppi_label *label, uint32_t *out);

// ppi_label_clean cuts the parts of a name that change with each occurrence,
// with Paddle also the duration. *out_step is the number of a step, -1: no
// step.
void ppi_label_clean(ppi_label *label, bool is_paddle, int64_t *out_step);
