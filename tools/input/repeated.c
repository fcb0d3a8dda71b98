// SPDX-License-Identifier: Apache-2.0
//
// Recognizes by its uuid a run that several inputs hold.
#include "input/repeated.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

bool ppi_tool_run_meet(struct ppi_tool_runs *runs, const char *uuid,
                       uint32_t segment, const char *path,
                       const char **out_path) {
  *out_path = NULL;
  if (!uuid || !uuid[0]) return false;
  for (size_t i = 0; i < runs->num; i++) {
    const struct ppi_tool_run *run = &runs->items[i];
    if (strcmp(run->uuid, uuid) != 0) continue;
    *out_path = run->path;
    if (run->segment == segment) return true;
  }
  if (!PPI_ROOM(runs->items, runs->capacity, runs->num + 1)) return false;
  struct ppi_tool_run *run = &runs->items[runs->num++];
  *run = (struct ppi_tool_run){.segment = segment, .path = path};
  snprintf(run->uuid, sizeof(run->uuid), "%s", uuid);
  return false;
}

void ppi_tool_runs_clear(struct ppi_tool_runs *runs) {
  ppi_free(runs->items);
  *runs = (struct ppi_tool_runs){.items = NULL};
}
