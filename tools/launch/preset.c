// SPDX-License-Identifier: Apache-2.0
//
// Presets are data: nothing here knows a server.
#include "launch/preset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "cli/suggest.h"

static const ppi_carried *find(const char *name) {
  const ppi_carried *preset = ppi_presets;
  while (preset->name && strcmp(preset->name, name) != 0) preset++;
  return preset->name ? preset : NULL;
}

bool ppi_tool_preset_known(const char *name) {
  struct ppi_tool_guess guess = {.wrong = name, .wrong_len = strlen(name)};
  char list[256];
  size_t len = 0;
  if (find(name)) return true;
  for (const ppi_carried *at = ppi_presets; at->name; at++) {
    ppi_tool_guess_offer(&guess, at->name, strlen(at->name));
    int added = snprintf(list + len, sizeof list - len, "%s%s", len ? ", " : "",
                         at->name);
    if (added > 0 && (size_t)added < sizeof list - len) len += (size_t)added;
  }
  list[len] = 0;
  if (guess.best)
    ppi_tool_say("there is no preset '%s' (did you mean '%s'?)", name,
                 guess.best);
  else
    ppi_tool_say("there is no preset '%s'; there are %s", name, list);
  return false;
}

bool ppi_tool_preset_write(const char *name, const char *folder,
                           char out[PATH_MAX]) {
  const ppi_carried *preset = find(name);
  int len = snprintf(out, PATH_MAX, "%s/%s.yaml", folder, name);
  FILE *file = NULL;
  errno = ENAMETOOLONG;
  if (preset && len > 0 && len < PATH_MAX) file = fopen(out, "wxe");
  bool done = file && fputs(preset->text, file) >= 0;
  if (file && fclose(file) != 0) done = false;
  if (!done) ppi_tool_say("%s: cannot be written: %s", out, strerror(errno));
  return done;
}
