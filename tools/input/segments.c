// SPDX-License-Identifier: Apache-2.0
//
// Joins segments of runs among the inputs. One thread; the joined runs live
// until the process ends.
#include "input/segments.h"

#include <stdlib.h>
#include <unistd.h>

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
  PPI_MUST_ROOM(runs, runs_capacity, num_runs + 1);
  runs[num_runs] = (struct joined_run){.files = NULL};
  snprintf(runs[num_runs].uuid, sizeof(runs[num_runs].uuid), "%s", uuid);
  return &runs[num_runs++];
}

// The same segment twice counts once, with a message.
static void add_file(struct joined_run *run, const char *path,
                     uint32_t segment) {
  size_t at = run->num;
  while (at > 0 && run->files[at - 1].segment > segment) at--;
  if (at > 0 && run->files[at - 1].segment == segment) {
    ppi_tool_say("%s: it is in %s, too, and counts once", path,
                 run->files[at - 1].path);
    return;
  }
  PPI_MUST_ROOM(run->files, run->capacity, run->num + 1);
  struct joined_file *files = run->files;
  memmove(&files[at + 1], &files[at], (run->num - at) * sizeof(*files));
  files[at] = (struct joined_file){path, segment};
  run->num++;
}

// Lists the paths again after more files of the run were added.
static void list_paths(struct joined_run *run) {
  ppi_free(run->paths);
  run->paths = ppi_tool_must(ppi_alloc(run->num * sizeof(*run->paths)));
  for (size_t i = 0; i < run->num; i++) run->paths[i] = run->files[i].path;
}

void ppi_tool_segments_join(struct ppi_tool_options *options) {
  int num = 0;
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    ppi_log_section section;
    bool is_first = true;
    if (ppi_log_peek(path, 0, &section) == PPROF_STATUS_OK && section.segment &&
        section.uuid[0]) {
      struct joined_run *run = find_run(section.uuid);
      is_first = run->num == 0;
      add_file(run, path, section.segment);
    }
    if (is_first) options->inputs[num++] = path;
  }
  options->num_inputs = num;
  for (size_t i = 0; i < num_runs; i++) list_paths(&runs[i]);
}

// ---- a log that is named as one ----

static void gather(void *user, const char *path, uint32_t segment) {
  add_file(user, ppi_tool_must(ppi_strdup(path)), segment);
}

// Adds the .part of the same run, which has the records after the last segment.
static void gather_part(struct joined_run *run, const char *path) {
  ppi_log_section last, rest;
  char *part = NULL;
  ppi_tool_must(asprintf(&part, "%s.part", path) >= 0 ? part : NULL);
  if (ppi_log_peek(part, 0, &rest) == PPROF_STATUS_OK &&
      ppi_log_peek(run->files[run->num - 1].path, 0, &last) ==
          PPROF_STATUS_OK &&
      strcmp(last.uuid, rest.uuid) == 0)
    gather(run, part, UINT32_MAX);
  free(part);
}

static void segments_of_base(const char *path, struct ppi_tool_segments *out) {
  struct joined_run run = {.files = NULL};
  ppi_segments_each(path, gather, &run);
  if (run.num == 0) return;
  gather_part(&run, path);
  list_paths(&run);
  ppi_free(run.files);
  out->paths = out->made_paths = run.paths;
  out->num = run.num;
}

void ppi_tool_segments_of(const char *const *path,
                          struct ppi_tool_segments *out) {
  *out = (struct ppi_tool_segments){path, 1, NULL};
  for (size_t i = 0; i < num_runs; i++)
    for (size_t j = 0; j < runs[i].num; j++)
      if (runs[i].paths[j] == *path || strcmp(runs[i].paths[j], *path) == 0) {
        out->paths = runs[i].paths;
        out->num = runs[i].num;
        return;
      }
  if (access(*path, F_OK) != 0) segments_of_base(*path, out);
}

int ppi_tool_segments_each(const struct ppi_tool_options *options,
                           int (*look)(const char *path, void *user),
                           void *user) {
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    struct ppi_tool_segments segments;
    ppi_tool_segments_of(&options->inputs[i], &segments);
    for (size_t j = 0; j < segments.num; j++) {
      int answer = look(segments.paths[j], user);
      code = PPI_MAX(code, answer);
    }
    ppi_tool_segments_clear(&segments);
  }
  return code;
}

void ppi_tool_segments_clear(struct ppi_tool_segments *segments) {
  if (!segments->made_paths) return;
  for (size_t i = 0; i < segments->num; i++)
    ppi_free((char *)segments->made_paths[i]);
  ppi_free(segments->made_paths);
  segments->made_paths = NULL;
}
