// SPDX-License-Identifier: Apache-2.0
//
// Adds spans to sums over equal bins of time.
#include "html/series.h"

#include <math.h>

#include "base/mem.h"

static pprof_status find(ppi_picture *picture, ppi_series_key key,
                         ppi_picture_series **out) {
  ppi_map_key by = {(uint64_t)key.kind << 32 | key.device, key.stage};
  size_t number = ppi_map_find(&picture->series_numbers, by);
  *out = NULL;
  if (number == SIZE_MAX && picture->num_series == PPI_PICTURE_SERIES) {
    picture->series_left_out = true;
    return PPROF_STATUS_OK;
  }
  if (number == SIZE_MAX) {
    if (!PPI_ROOM(picture->series, picture->series_capacity,
                  picture->num_series + 1))
      return PPROF_STATUS_NO_MEMORY;
    ppi_picture_series *grown = picture->series;
    number = ppi_map_number(&picture->series_numbers, by);
    if (number == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
    memset(&grown[number], 0, sizeof *grown);
    grown[number].kind = key.kind;
    grown[number].device = key.device;
    grown[number].stage = key.stage;
    picture->num_series++;
  }
  *out = &picture->series[number];
  return PPROF_STATUS_OK;
}

static size_t moment_of(const ppi_picture *picture, uint64_t time_ns) {
  uint64_t at = (time_ns - picture->start_ns) / picture->moment_ns;
  return (size_t)PPI_MIN(at, PPI_PICTURE_MOMENTS - 1u);
}

pprof_status ppi_series_add(ppi_picture *picture, ppi_series_key key,
                            ppi_stretch stretch) {
  ppi_picture_series *series;
  uint64_t from_ns = PPI_MAX(stretch.start_ns, picture->start_ns);
  uint64_t to_ns = PPI_MIN(stretch.end_ns, picture->end_ns);
  if (from_ns >= to_ns) return PPROF_STATUS_OK;
  pprof_status status = find(picture, key, &series);
  if (status != PPROF_STATUS_OK || !series) return status;
  size_t first = moment_of(picture, from_ns);
  size_t last = moment_of(picture, to_ns - 1);
  if (first == last) {
    series->part_ns[first] += to_ns - from_ns;
    return PPROF_STATUS_OK;
  }
  uint64_t edge_ns = picture->start_ns + (first + 1) * picture->moment_ns;
  series->part_ns[first] += edge_ns - from_ns;
  series->change[first + 1]++;
  series->change[last]--;
  edge_ns = picture->start_ns + last * picture->moment_ns;
  series->part_ns[last] += to_ns - edge_ns;
  return PPROF_STATUS_OK;
}

pprof_status ppi_series_add_part(ppi_picture *picture, ppi_series_key key,
                                 ppi_stretch stretch, uint64_t ns) {
  ppi_picture_series *series;
  uint64_t from_ns = PPI_MAX(stretch.start_ns, picture->start_ns);
  uint64_t to_ns = PPI_MIN(stretch.end_ns, picture->end_ns);
  if (from_ns >= to_ns) return PPROF_STATUS_OK;
  pprof_status status = find(picture, key, &series);
  if (status != PPROF_STATUS_OK || !series) return status;
  double share = (double)ns / (double)(stretch.end_ns - stretch.start_ns);
  while (from_ns < to_ns) {
    size_t at = moment_of(picture, from_ns);
    uint64_t edge_ns = picture->start_ns + (at + 1) * picture->moment_ns;
    edge_ns = PPI_MIN(edge_ns, to_ns);
    series->part_ns[at] +=
        (uint64_t)(share * (double)(edge_ns - from_ns) + 0.5);
    from_ns = edge_ns;
  }
  return PPROF_STATUS_OK;
}

uint64_t ppi_series_at(const ppi_picture *picture,
                       const ppi_picture_series *series, size_t at,
                       int64_t *level) {
  *level += series->change[at];
  double whole = (double)series->part_ns[at] / (double)picture->moment_ns;
  return (uint64_t)(1000 * ((double)*level + whole) + 0.5);
}

pprof_status ppi_series_count(ppi_picture *picture, const char *name,
                              uint64_t time_ns, double value) {
  size_t number = 0;
  if (!isfinite(value)) return PPROF_STATUS_OK;
  while (number < picture->num_counters &&
         strcmp(picture->counters[number].name, name) != 0)
    number++;
  if (number == PPI_PICTURE_COUNTERS) return PPROF_STATUS_OK;
  if (number == picture->num_counters) {
    if (!PPI_ROOM(picture->counters, picture->counters_capacity, number + 1))
      return PPROF_STATUS_NO_MEMORY;
    ppi_picture_counter *grown = picture->counters;
    memset(&grown[number], 0, sizeof *grown);
    grown[number].name = ppi_strdup(name);
    if (!grown[number].name) return PPROF_STATUS_NO_MEMORY;
    picture->num_counters++;
  }
  ppi_picture_counter *counter = &picture->counters[number];
  size_t at = moment_of(picture, time_ns);
  bool is_first = counter->num[at]++ == 0;
  counter->last[at] = value;
  if (is_first || value < counter->least[at]) counter->least[at] = value;
  if (is_first || value > counter->most[at]) counter->most[at] = value;
  return PPROF_STATUS_OK;
}
