// SPDX-License-Identifier: Apache-2.0
//
// Names the sort keys, and orders two cells by one.
#include "view/view_sort.h"

#include <string.h>

typedef struct key_name {
  ppi_report_style style;
  ppi_sort_key key;
  const char *name, *other;  // `other`: the framework's name; or NULL
} key_name;

// Each style's keys: each(key, name, other).
// clang-format off
#define PADDLE_KEYS(each) \
  each(HOST_TOTAL, "cpu-total", "CPUTotal") \
  each(HOST_MEAN, "cpu-avg", "CPUAvg") \
  each(HOST_MAX, "cpu-max", "CPUMax") \
  each(HOST_MIN, "cpu-min", "CPUMin") \
  each(DEVICE_TOTAL, "gpu-total", "GPUTotal") \
  each(DEVICE_MEAN, "gpu-avg", "GPUAvg") \
  each(DEVICE_MAX, "gpu-max", "GPUMax") \
  each(DEVICE_MIN, "gpu-min", "GPUMin") \
  each(SELF, "self", NULL) \
  each(P50, "p50", NULL) \
  each(P90, "p90", NULL) \
  each(P99, "p99", NULL) \
  each(STD, "std", NULL) \
  each(CALLS, "calls", NULL)
#define TORCH_KEYS(each) \
  each(HOST_MEAN, "cpu_time", NULL) \
  each(DEVICE_MEAN, "cuda_time", "device_time") \
  each(HOST_TOTAL, "cpu_time_total", NULL) \
  each(DEVICE_TOTAL, "cuda_time_total", "device_time_total") \
  each(SELF, "self_cpu_time_total", NULL) \
  each(SELF_DEVICE, "self_cuda_time_total", "self_device_time_total") \
  each(MEMORY, "cpu_memory_usage", NULL) \
  each(OWN_MEMORY, "self_cpu_memory_usage", NULL) \
  each(DEVICE_MEMORY, "cuda_memory_usage", "device_memory_usage") \
  each(OWN_DEVICE_MEMORY, "self_cuda_memory_usage", "self_device_memory_usage") \
  each(CALLS, "count", NULL)
#define NSYS_KEYS(each) \
  each(HOST_TOTAL, "total", NULL) \
  each(HOST_MEAN, "avg", NULL) \
  each(P50, "med", NULL) \
  each(HOST_MIN, "min", NULL) \
  each(HOST_MAX, "max", NULL) \
  each(STD, "std", NULL) \
  each(CALLS, "instances", NULL)
#define TREE_KEYS(each) \
  each(HOST_TOTAL, "total", NULL) \
  each(WALL, "wall", NULL) \
  each(SELF, "self", NULL) \
  each(HOST_MEAN, "avg", NULL) \
  each(STD, "std", NULL) \
  each(P50, "p50", NULL) \
  each(P99, "p99", NULL) \
  each(HOST_MAX, "max", NULL) \
  each(DEVICE_TOTAL, "device", NULL) \
  each(CALLS, "calls", NULL)
#define TREE(key, name, other) {PPI_STYLE_TREE, PPI_SORT_##key, name, other},
#define PADDLE(key, name, other) {PPI_STYLE_PADDLE, PPI_SORT_##key, name, other},
#define TORCH(key, name, other) {PPI_STYLE_TORCH, PPI_SORT_##key, name, other},
#define NSYS(key, name, other) {PPI_STYLE_NSYS, PPI_SORT_##key, name, other},
#define LISTED(key, name, other) "|" name
// clang-format on

static const key_name key_names[] = {PADDLE_KEYS(PADDLE) TORCH_KEYS(TORCH)
                                         NSYS_KEYS(NSYS) TREE_KEYS(TREE)};

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
  static const char *const lists[] = {[PPI_STYLE_PADDLE] = PADDLE_KEYS(LISTED),
                                      [PPI_STYLE_TORCH] = TORCH_KEYS(LISTED),
                                      [PPI_STYLE_NSYS] = NSYS_KEYS(LISTED),
                                      [PPI_STYLE_ANSWER] = "|none",
                                      [PPI_STYLE_TREE] = TREE_KEYS(LISTED)};
  return lists[style] + 1;
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
