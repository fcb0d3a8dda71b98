// SPDX-License-Identifier: Apache-2.0
//
// Sort keys: their names, and the order of two cells.
#include "view/view_sort.h"

#include <string.h>

typedef struct key_name {
  ppi_report_style style;
  ppi_sort_key key;
  const char *name, *other;  // `other`: what the framework calls it; or NULL
} key_name;

static const key_name key_names[] = {
    {PPI_STYLE_PADDLE, PPI_SORT_HOST_TOTAL, "cpu-total", "CPUTotal"},
    {PPI_STYLE_PADDLE, PPI_SORT_HOST_MEAN, "cpu-avg", "CPUAvg"},
    {PPI_STYLE_PADDLE, PPI_SORT_HOST_MAX, "cpu-max", "CPUMax"},
    {PPI_STYLE_PADDLE, PPI_SORT_HOST_MIN, "cpu-min", "CPUMin"},
    {PPI_STYLE_PADDLE, PPI_SORT_DEVICE_TOTAL, "gpu-total", "GPUTotal"},
    {PPI_STYLE_PADDLE, PPI_SORT_DEVICE_MEAN, "gpu-avg", "GPUAvg"},
    {PPI_STYLE_PADDLE, PPI_SORT_DEVICE_MAX, "gpu-max", "GPUMax"},
    {PPI_STYLE_PADDLE, PPI_SORT_DEVICE_MIN, "gpu-min", "GPUMin"},
    {PPI_STYLE_PADDLE, PPI_SORT_SELF, "self", NULL},
    {PPI_STYLE_PADDLE, PPI_SORT_P50, "p50", NULL},
    {PPI_STYLE_PADDLE, PPI_SORT_P90, "p90", NULL},
    {PPI_STYLE_PADDLE, PPI_SORT_P99, "p99", NULL},
    {PPI_STYLE_PADDLE, PPI_SORT_STD, "std", NULL},
    {PPI_STYLE_PADDLE, PPI_SORT_CALLS, "calls", NULL},
    {PPI_STYLE_TORCH, PPI_SORT_HOST_MEAN, "cpu_time", NULL},
    {PPI_STYLE_TORCH, PPI_SORT_DEVICE_MEAN, "cuda_time", "device_time"},
    {PPI_STYLE_TORCH, PPI_SORT_HOST_TOTAL, "cpu_time_total", NULL},
    {PPI_STYLE_TORCH, PPI_SORT_DEVICE_TOTAL, "cuda_time_total",
     "device_time_total"},
    {PPI_STYLE_TORCH, PPI_SORT_SELF, "self_cpu_time_total", NULL},
    {PPI_STYLE_TORCH, PPI_SORT_SELF_DEVICE, "self_cuda_time_total",
     "self_device_time_total"},
    {PPI_STYLE_TORCH, PPI_SORT_CALLS, "count", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_HOST_TOTAL, "total", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_HOST_MEAN, "avg", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_P50, "med", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_HOST_MIN, "min", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_HOST_MAX, "max", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_STD, "std", NULL},
    {PPI_STYLE_NSYS, PPI_SORT_CALLS, "instances", NULL},
};

static ppi_sort_key find(ppi_report_style style, const char *name) {
  for (size_t i = 0; i < sizeof key_names / sizeof *key_names; i++) {
    const key_name *at = &key_names[i];
    if (at->style == style && (strcmp(at->name, name) == 0 ||
                               (at->other && strcmp(at->other, name) == 0)))
      return at->key;
  }
  return PPI_SORT_NONE;
}

bool ppi_sort_is_known(ppi_report_style style, const char *key) {
  return find(style, key) != PPI_SORT_NONE;
}

const char *ppi_sort_keys(ppi_report_style style) {
  static const char *const lists[] = {
      "cpu-total|cpu-avg|cpu-max|cpu-min|gpu-total|gpu-avg|gpu-max|gpu-min|"
      "self|p50|p90|p99|std|calls",
      "cpu_time|cuda_time|cpu_time_total|cuda_time_total|self_cpu_time_total|"
      "self_cuda_time_total|count",
      "total|avg|med|min|max|std|instances"};
  return lists[style];
}

ppi_sort_key ppi_sort_key_of(const ppi_report_options *options) {
  return options->sort ? find(options->style, options->sort) : PPI_SORT_NONE;
}

int ppi_sort_compare(ppi_sort_key key, const ppi_cell *left,
                     const ppi_cell *right) {
  bool is_none[] = {left->kind == PPI_CELL_NONE, right->kind == PPI_CELL_NONE};
  if (is_none[0] || is_none[1]) return is_none[0] - is_none[1];
  __int128 a = (__int128)left->value * (__int128)right->divisor;
  __int128 b = (__int128)right->value * (__int128)left->divisor;
  bool is_minimum = key == PPI_SORT_HOST_MIN || key == PPI_SORT_DEVICE_MIN;
  int order = a < b ? 1 : a > b ? -1 : 0;
  return is_minimum ? -order : order;
}
