// SPDX-License-Identifier: Apache-2.0
//
// Reads a folder of past logs: a point for each subfolder or log.
#include "verb/past.h"

#include <stdlib.h>

#include "input/input.h"
#include "input/segments.h"
#include "input/spooled.h"

static int read_log(const char *path, struct ppi_tool_runs *met,
                    ppi_samples *samples) {
  struct ppi_tool_watch watch;
  int code = ppi_tool_read_once(path, path, &samples->base, &watch, met);
  if (watch.sink_failed) ppi_tool_must(NULL);
  return code;
}

int ppi_past_read_folder(const char *path, struct ppi_tool_runs *met,
                         ppi_tool_paths *logs, ppi_samples *samples) {
  size_t first = logs->num;
  int code = ppi_tool_folder_list(path, logs, NULL);
  size_t num = logs->num - first;
  if (code != PPI_EXIT_DONE || num == 0) return code;
  struct ppi_tool_options folder = {
      .inputs = ppi_tool_must(ppi_alloc(num * sizeof *folder.inputs)),
      .num_inputs = (int)num};
  memcpy(folder.inputs, logs->items + first, num * sizeof *folder.inputs);
  code = ppi_tool_inputs_spool(&folder);
  if (code != PPI_EXIT_INPUT) ppi_tool_segments_join(&folder);
  for (int i = 0; i < folder.num_inputs && code != PPI_EXIT_INPUT; i++)
    code = ppi_tool_worse(code, read_log(folder.inputs[i], met, samples));
  ppi_free(folder.inputs);
  return code;
}

static ppi_past_point *add_point(ppi_past *past, const char *path,
                                 size_t num_warm) {
  const char *slash = strrchr(path, '/');
  const char *name = slash && slash[1] ? slash + 1 : path;
  PPI_MUST_ROOM(past->points, past->capacity, past->num + 1);
  ppi_past_point *point = &past->points[past->num++];
  point->name = ppi_tool_must(ppi_strdup(name));
  ppi_samples_init(&point->samples, num_warm);
  point->samples.wants_energy = past->wants_energy;
  char *ending = strstr(point->name, ".pplog");
  if (ending && ending != point->name) *ending = '\0';
  return point;
}

static int read_point(ppi_past *past, const char *path, size_t num_warm) {
  ppi_past_point *point = add_point(past, path, num_warm);
  ppi_tool_paths logs = {0};
  int code = ppi_tool_is_folder(path)
                 ? ppi_past_read_folder(path, NULL, &logs, &point->samples)
                 : read_log(path, NULL, &point->samples);
  ppi_tool_paths_clear(&logs);
  if (point->samples.num_runs) return code;
  ppi_samples_clear(&point->samples);
  ppi_free(point->name);
  past->num--;
  return code;
}

PPI_ORDER(by_time, ppi_past_point, PPI_UP(samples.started_ns) PPI_BY_TEXT(name))

int ppi_past_read(ppi_past *past, const char *folder, size_t num_warm,
                  bool is_one_program) {
  ppi_tool_paths logs = {0}, folders = {0};
  int code = ppi_tool_folder_list(folder, &logs, &folders);
  if (code == PPI_EXIT_DONE && is_one_program && logs.num)
    code = read_point(past, folder, num_warm);
  const ppi_tool_paths *const lists[] = {&folders, &logs};
  for (size_t k = 0; k < (is_one_program ? 1 : 2); k++)
    for (size_t i = 0; i < lists[k]->num && code != PPI_EXIT_INPUT; i++)
      code =
          ppi_tool_worse(code, read_point(past, lists[k]->items[i], num_warm));
  ppi_tool_paths_clear(&logs);
  ppi_tool_paths_clear(&folders);
  if (code != PPI_EXIT_INPUT && past->num == 0)
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: no log (*.pplog) is in it or in its folders",
                         folder);
  if (past->num) qsort(past->points, past->num, sizeof *past->points, by_time);
  return code;
}
