// SPDX-License-Identifier: Apache-2.0
//
// The options of all verbs, one row each.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum ppi_option_type {
  PPI_OPTION_FLAG,
  PPI_OPTION_TEXT,
  PPI_OPTION_TEXTS,  // may be repeated
  PPI_OPTION_CHOICE,
  PPI_OPTION_VIEWS,
  PPI_OPTION_NUMBER
};

// A name may have several rows in different groups, for different verbs.
struct ppi_tool_option {
  const char *name;
  char letter;  // 0: none
  enum ppi_option_type type;
  size_t offset;         // of the field in struct ppi_tool_options
  uint64_t group;        // PPI_TAKES(...)
  const char *argument;  // NULL: none; of a choice its values, between bars
  const char *fallback;  // NULL: none
  const char *help;
};

extern const struct ppi_tool_option ppi_option_rows[];
extern const size_t ppi_num_option_rows;
