// SPDX-License-Identifier: Apache-2.0
//
// Joins segments of runs among the inputs. One thread; the joined runs live
// until the process ends.
#include "input/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "log/read/log_section.h"
#include "log/write/rotate.h"

struct joined_file {
  const char *path;
  uint32_t segment;
};

struct joined_run {
  char uuid[PPI_LOG_UUID_LEN + 1];
  struct joined_file *files;
  const char **paths;
  size_t num, capacity;
};

static struct joined_run *runs;
static size_t num_runs, runs_capacity;

static struct joined_run *find_run(const char *uuid) {
  for (size_t i = 0; i < num_runs; i++)
    if (strcmp(runs[i].uuid, uuid) == 0) return &runs[i];
  if (!PPI_ROOM(runs, runs_capacity, num_runs + 1)) return NULL;
  runs[num_runs] = (struct joined_run){.files = NULL};
  snprintf(runs[num_runs].uuid, sizeof(runs[num_runs].uuid), "%s", uuid);
  return &runs[num_runs++];
}

// The same segment twice counts once, with a message.
static bool add_file(struct joined_run *run, const char *path,
                     uint32_t segment) {
  size_t at = run->num;
  while (at > 0 && run->files[at - 1].segment > segment) at--;
  if (at > 0 && run->files[at - 1].segment == segment) {
    ppi_tool_say("%s: it is in %s, too, and counts once", path,
                 run->files[at - 1].path);
    return true;
  }
  if (!PPI_ROOM(run->files, run->capacity, run->num + 1)) return false;
  struct joined_file *files = run->files;
  memmove(&files[at + 1], &files[at], (run->num - at) * sizeof(*files));
  files[at] = (struct joined_file){path, segment};
  run->num++;
  return true;
}

// Lists the paths again after more files of the run were added.
static bool list_paths(struct joined_run *run) {
  ppi_free(run->paths);
  run->paths = ppi_alloc(run->num * sizeof(*run->paths));
  for (size_t i = 0; run->paths && i < run->num; i++)
    run->paths[i] = run->files[i].path;
  return run->paths != NULL;
}

static int no_memory(void) {
  return ppi_tool_fail(PPI_EXIT_INPUT, "out of memory");
}

int ppi_tool_segments_join(struct ppi_tool_options *options) {
  int num = 0;
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    ppi_log_section section;
    bool is_first = true;
    if (ppi_log_peek(path, 0, &section) == PPROF_STATUS_OK && section.segment &&
        section.uuid[0]) {
      struct joined_run *run = find_run(section.uuid);
      is_first = run && run->num == 0;
      if (!run || !add_file(run, path, section.segment)) return no_memory();
    }
    if (is_first) options->inputs[num++] = path;
  }
  options->num_inputs = num;
  for (size_t i = 0; i < num_runs; i++)
    if (!list_paths(&runs[i])) return no_memory();
  return PPI_EXIT_DONE;
}

// ---- a log that is named as one ----

static void gather(void *user, const char *path, uint32_t segment) {
  struct joined_run *run = user;
  char *copy = ppi_strdup(path);
  if (!copy || !add_file(run, copy, segment)) ppi_free(copy);
}

// Adds the .part of the same run, which has the records after the last segment.
static void gather_part(struct joined_run *run, const char *path) {
  ppi_log_section last, rest;
  char *part;
  if (asprintf(&part, "%s.part", path) < 0) return;
  char *copy = ppi_strdup(part);
  free(part);
  bool same = copy && ppi_log_peek(copy, 0, &rest) == PPROF_STATUS_OK &&
              ppi_log_peek(run->files[run->num - 1].path, 0, &last) ==
                  PPROF_STATUS_OK &&
              strcmp(last.uuid, rest.uuid) == 0;
  if (!same || !add_file(run, copy, UINT32_MAX)) ppi_free(copy);
}

static int segments_of_base(const char *path, struct ppi_tool_segments *out) {
  struct joined_run run = {.files = NULL};
  ppi_segments_each(path, gather, &run);
  if (run.num == 0) return PPI_EXIT_DONE;
  gather_part(&run, path);
  bool good = list_paths(&run);
  ppi_free(run.files);
  if (!good) return no_memory();
  out->paths = out->made_paths = run.paths;
  out->num = run.num;
  return PPI_EXIT_DONE;
}

int ppi_tool_segments_of(const char *const *path,
                         struct ppi_tool_segments *out) {
  *out = (struct ppi_tool_segments){path, 1, NULL};
  for (size_t i = 0; i < num_runs; i++)
    for (size_t j = 0; j < runs[i].num; j++)
      if (runs[i].paths[j] == *path || strcmp(runs[i].paths[j], *path) == 0) {
        out->paths = runs[i].paths;
        out->num = runs[i].num;
        return PPI_EXIT_DONE;
      }
  return access(*path, F_OK) == 0 ? PPI_EXIT_DONE
                                  : segments_of_base(*path, out);
}

void ppi_tool_segments_clear(struct ppi_tool_segments *segments) {
  if (!segments->made_paths) return;
  for (size_t i = 0; i < segments->num; i++)
    ppi_free((char *)segments->made_paths[i]);
  ppi_free(segments->made_paths);
  segments->made_paths = NULL;
}
