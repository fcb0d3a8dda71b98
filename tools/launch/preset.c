// SPDX-License-Identifier: Apache-2.0
//
// Writes presets into folders. Presets are data: nothing here knows a server.
#include "launch/preset.h"

#include <errno.h>

#include "cli/say.h"
#include "launch/python.h"

bool ppi_tool_preset_known(const char *name) {
  return ppi_tool_carried_find(ppi_presets, "preset", name) != NULL;
}

bool ppi_tool_preset_write(const char *name, const char *folder,
                           char out[PATH_MAX]) {
  const ppi_carried *preset =
      ppi_tool_carried_find(ppi_presets, "preset", name);
  int len = snprintf(out, PATH_MAX, "%s/%s.yaml", folder, name);
  FILE *file = NULL;
  errno = ENAMETOOLONG;
  if (preset && len > 0 && len < PATH_MAX) file = fopen(out, "wxe");
  bool done = file && fputs(preset->text, file) >= 0;
  if (file && fclose(file) != 0) done = false;
  if (!done) ppi_tool_say("%s: cannot be written: %s", out, strerror(errno));
  return done;
}
