// SPDX-License-Identifier: Apache-2.0
//
// Finds where a stage spends its time, below its first level.
#include "report/findings/deep.h"

#include <string.h>

#include "report/figures/path_rows.h"

static bool is_of(const ppi_figures *figures, const ppi_report_path *path,
                  const ppi_costly *costly) {
  if (path->on_device || strcmp(path->name, costly->name) != 0) return false;
  const ppi_report_path *up = ppi_path_row_up(figures, path);
  return !costly->inside || (up && strcmp(up->name, costly->inside) == 0);
}

// Of the stage's places, the one with most of its time.
static const ppi_report_path *place_of(const ppi_figures *figures,
                                       const ppi_costly *costly,
                                       uint64_t *out_all_ns) {
  const ppi_report_path *found = NULL;
  *out_all_ns = 0;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_report_path *path = &figures->paths[i];
    if (!is_of(figures, path, costly)) continue;
    *out_all_ns += path->spread.sum;
    if (!found || path->spread.sum > found->spread.sum) found = path;
  }
  return found;
}

// The paths inside a path follow it directly.
static const ppi_report_path *most_in(const ppi_figures *figures,
                                      const ppi_report_path *up) {
  const ppi_report_path *end = figures->paths + figures->num_paths;
  const ppi_report_path *found = NULL;
  for (const ppi_report_path *path = up + 1;
       path < end && ppi_path_row_is_in(path, up); path++)
    if (!path->on_device && path->level == up->level + 1 &&
        (!found || path->spread.sum > found->spread.sum))
      found = path;
  return found;
}

// A call that is cut or never ended has no time of its own, so ranges inside
// may have more than its siblings.
static bool is_most(const ppi_report_path *at, const ppi_report_path *next,
                    uint64_t all_ns) {
  uint64_t ns = next->spread.sum;
  return ns && ns <= at->spread.sum && ns >= at->spread.sum / 2 &&
         ns >= all_ns / 4 && strcmp(next->name, at->name) != 0;
}

ppi_deep ppi_deep_of(const ppi_figures *figures, const ppi_costly *costly) {
  ppi_deep deep = {.way = ""};
  uint64_t all_ns;
  const ppi_report_path *at = place_of(figures, costly, &all_ns);
  while (at) {
    const ppi_report_path *next = most_in(figures, at);
    if (!next || !is_most(at, next, all_ns)) return deep;
    size_t len = strlen(deep.way);
    ppi_words_put(deep.way + len, sizeof deep.way - len, "%s%s",
                  len ? " / " : "", ppi_words_name(next->name).text);
    deep.share = (double)next->spread.sum / (double)all_ns;
    deep.name = next->name;
    at = next;
  }
  return deep;
}
