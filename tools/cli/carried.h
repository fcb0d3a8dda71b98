// SPDX-License-Identifier: Apache-2.0
//
// Files that are built into the tool, as texts: tools/embed.sh makes the lists.
#pragma once

typedef struct ppi_carried {
  const char *name;  // NULL: end of the list
  const char *text;
} ppi_carried;
