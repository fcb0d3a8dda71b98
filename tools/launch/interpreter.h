// SPDX-License-Identifier: Apache-2.0
//
// Finds the Python of a command, and the packages that it can import. Main
// thread only.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { PPI_INTERPRETER_WORDS = 64 };

typedef struct ppi_tool_interpreter {
  // `env` with its variables, the interpreter, its options; ends with NULL.
  const char *words[PPI_INTERPRETER_WORDS + 4];
  size_t num;
  const char *program;      // the interpreter among these words
  char text[2 * PATH_MAX];  // of a script's first lines
  char options[64];         // the relevant ones of several in one word
} ppi_tool_interpreter;

// ppi_tool_interpreter_find looks at the command's words: an interpreter, `env`
// before one, or a script that names one in its first line, as pip's console
// scripts do. False: the command is none of these.
bool ppi_tool_interpreter_find(char *const *command, ppi_tool_interpreter *out);

typedef enum ppi_tool_import {
  PPI_IMPORT_WORKS,
  PPI_IMPORT_FAILS,
  PPI_IMPORT_UNKNOWN  // the interpreter does not run
} ppi_tool_import;

// ppi_tool_interpreter_import runs the interpreter to import `package`, in this
// process's environment.
ppi_tool_import ppi_tool_interpreter_import(ppi_tool_interpreter *interpreter,
                                            const char *package);
