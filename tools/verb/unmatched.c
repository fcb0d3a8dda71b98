// SPDX-License-Identifier: Apache-2.0
#include "verb/unmatched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "names/glob.h"
#include "schema/schema.h"

struct ppi_tool_unmatched {
  pprof_sink base;
  ppi_config config;  // of the run; nothing is included: it is not looked at
  bool matches[PPI_CONFIG_MAX_GLOBS];
  char names[160];  // of the run, as far as there is room
  bool has_more;
};

static pprof_status begin(pprof_sink *base, const pprof_run_info *info) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  const char *text = pprof_run_info_text(info, "config");
  pprof_error error;
  memset(all->matches, 0, sizeof all->matches);
  all->names[0] = '\0';
  all->has_more = false;
  all->config.include.num = 0;
  // Hidden names match nothing.
  if (!text || !strstr(text, "\ninclude: ") || !strstr(text, "  names: keep\n"))
    return PPROF_STATUS_OK;
  if (ppi_config_defaults(&all->config) != PPROF_STATUS_OK ||
      ppi_config_read_text(&all->config, "config", text, &error) !=
          PPROF_STATUS_OK)
    all->config.include.num = 0;
  return PPROF_STATUS_OK;
}

static void note_name(struct ppi_tool_unmatched *all, const char *name) {
  size_t len = strlen(all->names), room = sizeof all->names - len;
  int more = snprintf(all->names + len, room, "%s%s", len ? ", " : "", name);
  if (more >= 0 && (size_t)more < room) return;
  all->names[len] = '\0';
  all->has_more = true;
}

static pprof_status define(pprof_sink *base,
                           const pprof_definition *definition) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  size_t num = all->config.include.num;
  if (!num || pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE)
    return PPROF_STATUS_OK;
  const char *name = pprof_definition_name(definition);
  for (size_t i = 0; i < num; i++)
    all->matches[i] |= ppi_glob_match(all->config.include.items[i], name);
  // Not what every log has: "<other>", steps.
  if (name[0] != '<' &&
      pprof_definition_parent(definition) != PPROF_CATEGORY_PROFILE_STEP)
    note_name(all, name);
  return PPROF_STATUS_OK;
}

static pprof_status finish(pprof_sink *base, const pprof_totals *totals) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  (void)totals;
  for (size_t i = 0; i < all->config.include.num && all->names[0]; i++)
    if (!all->matches[i])
      ppi_tool_say("include: '%s' matches no name; the program has: %s%s",
                   all->config.include.items[i], all->names,
                   all->has_more ? ", ..." : "");
  return PPROF_STATUS_OK;
}

struct ppi_tool_unmatched *ppi_tool_unmatched_create(void) {
  struct ppi_tool_unmatched *all = calloc(1, sizeof *all);
  if (all)
    all->base = (pprof_sink){.size = sizeof(pprof_sink),
                             .begin = begin,
                             .define = define,
                             .finish = finish};
  return all;
}

pprof_sink *ppi_tool_unmatched_sink(struct ppi_tool_unmatched *unmatched) {
  return &unmatched->base;
}

void ppi_tool_unmatched_destroy(struct ppi_tool_unmatched *unmatched) {
  free(unmatched);
}
