// SPDX-License-Identifier: Apache-2.0
//
// Files that the tool carries, as texts: tools/embed.sh makes lists of them.
#pragma once

typedef struct ppi_carried {
  const char *name;  // NULL: behind the last one
  const char *text;
} ppi_carried;
