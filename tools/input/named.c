// SPDX-License-Identifier: Apache-2.0
//
// Searches the names in a log that may still grow.
#include "input/named.h"

#include <limits.h>
#include <stdio.h>

#include "log/read/log_reader.h"
#include "pprof/event.h"
#include "recover/forensics.h"

struct name_finder {
  pprof_sink base;
  ppi_tool_name_fits fits;
  const void *user;
  char spool[PATH_MAX];  // "": the run has none
  bool found;
};

static pprof_status find_begin(pprof_sink *sink, const pprof_run_info *info) {
  struct name_finder *finder = (struct name_finder *)sink;
  const char *path = pprof_run_info_text(info, "spool");
  if (path) snprintf(finder->spool, sizeof finder->spool, "%s", path);
  return PPROF_STATUS_OK;
}

// Ends the read at the first match.
static pprof_status find_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  struct name_finder *finder = (struct name_finder *)sink;
  if (definition->kind != PPROF_DEFINITION_SITE ||
      !finder->fits(finder->user, pprof_definition_name(definition),
                    pprof_definition_parent(definition)))
    return PPROF_STATUS_OK;
  finder->found = true;
  return PPROF_STATUS_UNAVAILABLE;
}

static bool spool_has(const struct name_finder *finder) {
  ppi_forensics in;
  const ppi_definition_record *record;
  uint64_t cursor = 0;
  bool found = false;
  if (ppi_forensics_read(finder->spool, &in, NULL) == PPROF_STATUS_OK &&
      in.names.header)
    while (!found && (record = ppi_names_next(
                          &in.names, in.names.header->names_end, &cursor)))
      found = record->kind == PPROF_DEFINITION_SITE &&
              finder->fits(finder->user,
                           ppi_definition_text(record->kind, record->name),
                           record->parent);
  ppi_forensics_clear(&in);
  return found;
}

bool ppi_tool_has_name(const char *log, ppi_tool_name_fits fits,
                       const void *user) {
  struct name_finder finder = {.base = {.size = sizeof finder.base,
                                        .begin = find_begin,
                                        .define = find_define},
                               .fits = fits,
                               .user = user};
  pprof_error error;
  ppi_log_skim_all(&log, 1, &finder.base, &error);
  return finder.found || (finder.spool[0] && spool_has(&finder));
}
