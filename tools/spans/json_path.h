// SPDX-License-Identifier: Apache-2.0
//
// Turns JSON into values with their paths of keys, such as
// "resourceSpans.spans.name". Arrays add nothing to a path. One thread.
#pragma once

#include "json/json.h"

PPROF_BEGIN_C_

// Keys and texts are cut here.
#define PPI_JSON_PATH_MOST 512
#define PPI_JSON_PATH_TEXT 4096

typedef struct ppi_json_path ppi_json_path;
// `text` ends with a zero; values other than strings are as the file has them.
// NULL: the object at `path` ends.
typedef void (*ppi_json_path_take)(void *context, const char *path,
                                   const char *text);

struct ppi_json_path {
  ppi_json_path_take take;
  void *context;
  char path[PPI_JSON_PATH_MOST];
  size_t len;  // length of `path` without the last key
  uint16_t lengths[PPI_JSON_MAX_DEPTH];
  size_t depth;
  bool is_text;  // the value is a string
  char text[PPI_JSON_PATH_TEXT];
  size_t text_len;
};

void ppi_json_path_begin(ppi_json_path *json, ppi_json_path_take take,
                         void *context);
// ppi_json_path_token is a ppi_json_take; `context` is a ppi_json_path.
bool ppi_json_path_token(void *context, const ppi_json_token *token);

PPROF_END_C_
