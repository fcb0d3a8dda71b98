// SPDX-License-Identifier: Apache-2.0
//
// soak_count LOG...: a line of JSON for each run of each log: what it says, and
// what was found in it.
#include <inttypes.h>
#include <pprof/log.h>
#include <stdio.h>
#include <string.h>

typedef struct counter {
  pprof_sink base;
  const char *path;
  uint64_t found;
  char uuid[64], command[512];
  char removed[32];  // records of segments before the first that is there
} counter;

static void copy(char *to, size_t size, const char *text) {
  size_t at = 0;
  for (; text && *text && at + 1 < size; text++)
    if (*text >= ' ' && *text != '"' && *text != '\\') to[at++] = *text;
  to[at] = 0;
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  counter *self = (counter *)sink;
  self->found = 0;
  copy(self->uuid, sizeof self->uuid, pprof_run_info_text(info, "uuid"));
  copy(self->command, sizeof self->command,
       pprof_run_info_text(info, "command"));
  copy(self->removed, sizeof self->removed,
       pprof_run_info_text(info, "records_before"));
  return PPROF_STATUS_OK;
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  counter *self = (counter *)sink;
  self->found += batch->num_events;
  return PPROF_STATUS_OK;
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  const counter *self = (const counter *)sink;
  static const char *const keys[] = {"recorded", "lost", "excluded",
                                     "names_overflowed"};
  printf("{\"path\": \"%s\", \"uuid\": \"%s\", \"command\": \"%s\"", self->path,
         self->uuid, self->command);
  printf(", \"removed\": %s, \"found\": %" PRIu64,
         self->removed[0] ? self->removed : "0", self->found);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    printf(", \"%s\": %" PRIu64, keys[i],
           pprof_totals_value(totals, PPROF_ALL_LANES, keys[i]));
  printf("}\n");
  return PPROF_STATUS_OK;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc; i++) {
    counter self = {{.size = sizeof(pprof_sink),
                     .begin = begin,
                     .events = events,
                     .finish = finish},
                    argv[i],
                    0,
                    "",
                    "",
                    ""};
    pprof_error error = {{0}};
    if (pprof_log_read(argv[i], &self.base, &error) == PPROF_STATUS_OK)
      continue;
    fprintf(stderr, "%s: %s\n", argv[i], error.text);
    status = 1;
  }
  return status;
}
